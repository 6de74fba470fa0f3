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
//! value is near one; the logarithms of the scales are added back. A row whose value under- or overflow
//! could have touched ([`Plan::trusts`]) is computed again, in double precision by the same loops, and if
//! that does not hold it either, in log space by the caller.

mod ball;
mod batch;
mod compile;
mod flow;
mod single;
mod vectorised;

pub(crate) use ball::{BallBounds, ByCount, COUNTS};
pub(crate) use batch::{HardBlock, SoftBlock};
pub(crate) use flow::{Flow, FlowBlock, is_moderate};
pub(crate) use single::Single;
pub use vectorised::{Kernel, vectorised};

use std::iter::{Product, Sum};
use std::ops::{AddAssign, Mul, MulAssign};

use crate::{Code, NodeId, OPEN};

/// Rows in a block: two AVX registers, or four of the older ones.
pub(crate) const LANES: usize = 16;

/// Units in a tile.
pub(crate) const TILE: usize = 8;

/// One value for each row of a block.
pub(crate) type Lanes<T> = [T; LANES];

/// One value for each unit of a tile.
pub(crate) type Tile<T = f32> = [T; TILE];

/// The precision of a computation: single, or double for the rows that single precision cannot hold.
pub(crate) trait Real:
    Copy
    + Default
    + PartialOrd
    + Send
    + From<f32>
    + Into<f64>
    + Mul<Output = Self>
    + MulAssign
    + AddAssign
    + Sum
    + Product
{
    const ONE: Self;

    /// The smallest number with all its digits: what is below may be lost.
    const SMALLEST: f64;

    /// A number far enough below the largest.
    const LARGEST: f64;

    /// Values below this and above its inverse leave room for slopes.
    const MODERATE: f64;

    /// A relative error that does not matter.
    const NEGLIGIBLE: f64;

    /// `1 / self`.
    fn inverse(self) -> Self;
}

impl Real for f32 {
    const ONE: Self = 1.0;
    const SMALLEST: f64 = Self::MIN_POSITIVE as f64;
    const LARGEST: f64 = 1e30;
    const MODERATE: f64 = 1e12;
    const NEGLIGIBLE: f64 = 1e-7;

    fn inverse(self) -> Self {
        self.recip()
    }
}

impl Real for f64 {
    const ONE: Self = 1.0;
    const SMALLEST: f64 = Self::MIN_POSITIVE;
    const LARGEST: f64 = 1e300;
    const MODERATE: f64 = 1e120;
    const NEGLIGIBLE: f64 = 1e-9;

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
    /// How often a value is made of others, at most.
    operations: f64,
    /// Whether a parameter is too small for single precision, in which all are kept, to hold its digits.
    has_tiny_parameters: bool,
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
    /// The largest ratio of each code, at least one; one for open.
    boosts: Vec<f64>,
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

    /// How much a row's other factors can lift a value at most: the product of its codes' boosts.
    pub(crate) fn boost(&self, row: &[Code]) -> f64 {
        self.tables.iter().zip(row).map(|(table, &code)| table.boosts[table.line(code)]).product()
    }

    /// Whether no underflow on the way to the root's value could matter to it, and no overflow came about.
    ///
    /// What an operation loses to underflow is below the smallest number. From there to the root it is
    /// multiplied by weights, which sum to one, and by the values of other variables' leaves, whose
    /// product is below the boost.
    pub(crate) fn trusts<T: Real>(&self, value: T, boost: f64) -> bool {
        let lost = self.lost::<T>(boost);
        let value = value.into();
        value > 0.0 && value * T::NEGLIGIBLE >= lost && value <= T::LARGEST
    }

    /// Whether slopes, which begin at the inverse of the root's value, can be trusted as well.
    pub(crate) fn trusts_slopes<T: Real>(&self, value: T, boost: f64) -> bool {
        let small = self.lost::<T>(boost) <= T::NEGLIGIBLE;
        self.trusts(value, boost) && small && boost <= T::LARGEST * value.into()
    }

    /// What underflow may have cost the root's value, at most.
    fn lost<T: Real>(&self, boost: f64) -> f64 {
        let smallest = if self.has_tiny_parameters { f32::SMALLEST } else { T::SMALLEST };
        self.operations * smallest * boost
    }

    /// Relative error that rounding may have added to a value, at most.
    pub(crate) fn rounding(&self) -> f64 {
        self.rounding
    }
}
