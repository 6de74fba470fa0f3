//! The circuit compiled for speed: linear domain, single precision, blocks of rows.
//!
//! A plan has two stages. Below, *units* are products of leaves. Above, *steps* are sums and products of
//! earlier values, each for a block of rows at once; sums over the same inputs are one step, a small
//! matrix product.
//!
//! Leaves are stored twice. For observed codes, eight units make a tile, whose leaves lie side by side
//! for each code, so that one load a row and variable serves eight of them. For anything else, the leaves
//! of a variable lie side by side for each code without gaps, for matrix products with the codes' weights.
//!
//! Leaves hold the ratio of their probability to a *scale*, the circuit's own marginal, so that a row's
//! value is near one and single precision neither under- nor overflows; the logarithms of the scales
//! are added back. A row whose value leaves the safe range all the same is computed again, in double
//! precision by the same loops, and if that does not hold it either, in log space by the caller.

mod batch;
mod compile;
mod flow;
mod single;
mod vectorised;

pub(crate) use batch::HardBlock;
pub(crate) use batch::SoftBlock;
pub(crate) use flow::{Flow, FlowBlock};
pub(crate) use single::Single;

use std::ops::{AddAssign, Mul, MulAssign};

use crate::{Code, NodeId, OPEN};

/// Rows in a block: two AVX registers, or four of the older ones.
pub(crate) const LANES: usize = 16;

/// Units in a tile.
pub(crate) const TILE: usize = 8;

/// One value for each row of a block.
pub(crate) type Lanes<T = f32> = [T; LANES];

/// One value for each unit of a tile.
pub(crate) type Tile<T = f32> = [T; TILE];

/// The precision of a block: single, or double for the rows that single precision cannot hold.
pub(crate) trait Real:
    Copy + Default + Send + From<f32> + Into<f64> + Mul<Output = Self> + MulAssign + AddAssign
{
    const ONE: Self;

    /// Whether a row's value is far enough from under- and overflow to be trusted.
    fn is_safe(self) -> bool;

    /// Whether it is so far from them that slopes, which begin at its inverse, can be trusted too.
    fn is_moderate(self) -> bool;

    /// `1 / self`.
    fn inverse(self) -> Self;
}

impl Real for f32 {
    const ONE: Self = 1.0;

    fn is_safe(self) -> bool {
        self > 1e-30 && self < 1e30
    }

    fn is_moderate(self) -> bool {
        self > 1e-12 && self < 1e12
    }

    fn inverse(self) -> Self {
        self.recip()
    }
}

impl Real for f64 {
    const ONE: Self = 1.0;

    fn is_safe(self) -> bool {
        self > 1e-280 && self < 1e280
    }

    fn is_moderate(self) -> bool {
        self > 1e-120 && self < 1e120
    }

    fn inverse(self) -> Self {
        self.recip()
    }
}

/// A circuit compiled for evaluation.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    tables: Vec<Table>,
    /// Entries of each tile: those of tile `t` end at `tile_ends[t]`.
    tile_ends: Vec<u32>,
    entries: Vec<Entry>,
    /// Leaves of each unit: those of unit `u` end at `unit_ends[u]`.
    unit_ends: Vec<u32>,
    unit_leaves: Vec<u32>,
    /// How many places the leaves of all variables take.
    leaf_places: usize,
    steps: Vec<Step>,
    /// Values that the steps read.
    inputs: Vec<u32>,
    /// Weights of the sum steps, `[input][output]` each.
    weights: Vec<f32>,
    /// The sum nodes behind the outputs of the sum steps, in order.
    sums: Vec<NodeId>,
    values: usize,
    root: usize,
    /// Relative error that rounding may have added to the root, at most.
    rounding: f64,
}

/// The leaves of one variable.
#[derive(Clone, Debug)]
struct Table {
    cardinality: usize,
    /// Tiles in a line of `ratios`.
    columns: usize,
    /// Probability over scale, `[code][column]`; the line after the last code is all ones, for open.
    ratios: Vec<Tile>,
    /// The leaf nodes, each as often as units have it.
    leaves: Vec<NodeId>,
    /// Where they begin among the leaves of all variables; there is room for a multiple of eight.
    first_leaf: usize,
    /// Probability over scale, `[code][leaf]`, with zeros in the places left over.
    leaf_ratios: Vec<f32>,
    /// One a code: the circuit's marginal when it was compiled.
    scales: Vec<f64>,
    /// Their logarithms, and 0 for open.
    log_scales: Vec<f64>,
}

impl Table {
    /// The line of `ratios` for a code.
    fn line(&self, code: Code) -> usize {
        if code == OPEN { self.cardinality } else { usize::from(code) }
    }

    /// How many places its leaves take.
    #[inline(always)]
    fn places(&self) -> usize {
        self.leaves.len().next_multiple_of(TILE)
    }

    /// The lines of `leaf_ratios` of a group of codes; past the last code it is repeated.
    #[inline(always)]
    fn leaf_lines<const N: usize>(&self, group: usize) -> [&[f32]; N] {
        let places = self.places();
        let line = |code: usize| &self.leaf_ratios[code.min(self.cardinality - 1) * places..][..places];
        std::array::from_fn(|position| line(group * N + position))
    }
}

/// The leaves of one variable in one tile.
#[derive(Clone, Copy, Debug)]
struct Entry {
    variable: u32,
    column: u32,
    /// The leaf nodes behind the units; [`NO_LEAF`] where a unit does not have the variable.
    leaves: [u32; TILE],
}

/// Marks a place in a tile without a leaf.
const NO_LEAF: u32 = u32::MAX;

/// A sum or product of earlier values, or several alike.
#[derive(Clone, Copy, Debug)]
struct Step {
    kind: Kind,
    output: u32,
    /// How many values it makes.
    width: u32,
    inputs: u32,
    arity: u32,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// `output + j` is the product over inputs `i` of the values `i + j`.
    Product,
    /// `output + j` is the sum over inputs `i` of `weights[i][j]` times the value `i`.
    Sum { weights: u32 },
}

impl Plan {
    /// Number of variables.
    pub(crate) fn variables(&self) -> usize {
        self.tables.len()
    }

    /// Number of tiles.
    fn tiles(&self) -> usize {
        self.tile_ends.len()
    }

    /// The entries of a tile.
    #[inline(always)]
    fn entries(&self, tile: usize) -> &[Entry] {
        let start = if tile == 0 { 0 } else { self.tile_ends[tile - 1] as usize };
        &self.entries[start..self.tile_ends[tile] as usize]
    }

    /// The leaves of a unit, among those of all variables.
    #[inline(always)]
    fn unit_leaves(&self, unit: usize) -> &[u32] {
        let start = if unit == 0 { 0 } else { self.unit_ends[unit - 1] as usize };
        &self.unit_leaves[start..self.unit_ends[unit] as usize]
    }

    #[inline(always)]
    fn inputs(&self, step: &Step) -> &[u32] {
        &self.inputs[step.inputs as usize..][..step.arity as usize]
    }

    #[inline(always)]
    fn weights(&self, step: &Step, start: u32) -> &[f32] {
        &self.weights[start as usize..][..(step.arity * step.width) as usize]
    }

    /// The logarithm of what a row's value was divided by.
    pub(crate) fn log_scale(&self, row: &[Code]) -> f64 {
        let scale = |(table, &code): (&Table, &Code)| table.log_scales[table.line(code)];
        self.tables.iter().zip(row).map(scale).sum()
    }

    /// Relative error that rounding may have added to a value, at most.
    pub(crate) fn rounding(&self) -> f64 {
        self.rounding
    }
}
