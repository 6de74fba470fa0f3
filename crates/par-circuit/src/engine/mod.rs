//! Evaluation of circuits: a plan compiled for speed, in linear space and single precision, over blocks of
//! rows.
//!
//! A plan has two stages: *units* are products of leaves; *steps* are sums and products of earlier values,
//! each for a block of rows at once. Sums over the same inputs are one step, a small matrix product.
//!
//! Leaves are stored twice. For observed codes, eight units are a tile, whose leaves are contiguous for each
//! code, so that one load a row and variable serves all eight. For soft rows, boxes and gradients, all leaves
//! of a variable are contiguous for each code, for matrix products with weights of codes.
//!
//! Leaves hold the ratio of their probability to a *scale* of the code, so that the largest ratio is one to two; the
//! logarithms of the scales are added at the end. So no leaf raises a value that has become small by more than two, and no
//! soft one by more than four.
//!
//! A row that under- or overflow may have distorted ([`Plan::trusts`]) is evaluated again in double precision
//! by the same loops, and by the caller in log space if that does not suffice.

mod ball;
mod batch;
mod compile;
mod flow;
mod row;
mod vectorised;

pub(crate) use ball::{BallBounds, ByCount, COUNTS, CodeBounds};
pub(crate) use batch::{HardBlock, SoftBlock};
pub(crate) use flow::{Flow, FlowBlock};
pub(crate) use row::RowScratch;
pub use vectorised::{Kernel, vectorised};

use std::iter::{Product, Sum};
use std::ops::{AddAssign, Mul, MulAssign};

use crate::{Code, NodeId, OPEN};

/// Rows in a block: two AVX registers, or four of SSE.
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

    /// The smallest normal number: digits are lost below it.
    const SMALLEST: f64;

    /// Below the largest number, with a margin.
    const LARGEST: f64;

    /// Values between this and its inverse leave room for slopes.
    const MODERATE: f64;

    /// A relative error that is ignored.
    const NEGLIGIBLE: f64;

    /// `1 / self`.
    fn inverse(self) -> Self;

    /// The nearest number of this precision.
    fn rounded(number: f64) -> Self;
}

impl Real for f32 {
    const ONE: Self = 1.0;
    const SMALLEST: f64 = Self::MIN_POSITIVE as f64;
    const LARGEST: f64 = 1e30;
    const MODERATE: f64 = 1e28;
    const NEGLIGIBLE: f64 = 1e-7;

    fn inverse(self) -> Self {
        self.recip()
    }

    fn rounded(number: f64) -> Self {
        number as Self
    }
}

impl Real for f64 {
    const ONE: Self = 1.0;
    const SMALLEST: f64 = Self::MIN_POSITIVE;
    const LARGEST: f64 = 1e300;
    const MODERATE: f64 = 1e280;
    const NEGLIGIBLE: f64 = 1e-9;

    fn inverse(self) -> Self {
        self.recip()
    }

    fn rounded(number: f64) -> Self {
        number
    }
}

/// A circuit compiled for evaluation.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    tables: Vec<LeafTable>,
    /// Entries of each tile: those of tile `t` end at `tile_ends[t]`.
    tile_ends: Vec<u32>,
    entries: Vec<TileEntry>,
    /// Leaves of each unit: those of unit `u` end at `unit_ends[u]`.
    unit_ends: Vec<u32>,
    unit_leaves: Vec<u32>,
    /// Number of places for the leaves of all variables.
    leaf_places: usize,
    steps: Vec<PlanStep>,
    /// For each step, the positions of the values that it reads.
    inputs: Vec<u32>,
    /// Weights of the sum steps, `[input][output]` each.
    weights: Vec<f32>,
    /// The sum node of each output of the sum steps, in order.
    sums: Vec<NodeId>,
    values: usize,
    root: usize,
    /// Number of operations below the root, at most.
    operations: f64,
    /// Whether a parameter is so small that single precision, in which all are stored, loses digits of it.
    has_tiny_parameters: bool,
    /// Upper bound on the relative error of the root's value by rounding.
    rounding: f64,
}

/// The leaves of one variable.
#[derive(Clone, Debug)]
struct LeafTable {
    cardinality: usize,
    /// Tiles in a line of `ratios`.
    columns: usize,
    /// Probability over scale, `[code][column]`; after the last code comes a line of ones, for open.
    ratios: Vec<Tile>,
    /// The leaf nodes, once for each unit that has them.
    leaves: Vec<NodeId>,
    /// Position of the first among the leaves of all variables; they are padded to a multiple of eight.
    first_leaf: usize,
    /// Probability over scale, `[code][leaf]`; the padding is zero.
    leaf_ratios: Vec<f32>,
    /// The largest ratio of each code, at least one; for open it is one.
    boosts: Vec<f64>,
    /// For each code its probability in the circuit when the plan was compiled.
    marginals: Vec<f64>,
    /// One a code: its marginal times the power of two that makes its largest ratio one to two. Powers of two change no
    /// digit of what is computed.
    scales: Vec<f64>,
    /// Their logarithms, and 0 for open.
    log_scales: Vec<f64>,
}

impl LeafTable {
    /// The line of `ratios` for a code.
    fn line(&self, code: Code) -> usize {
        if code == OPEN { self.cardinality } else { usize::from(code) }
    }

    /// Places for its leaves, padded.
    #[inline(always)]
    fn places(&self) -> usize {
        self.leaves.len().next_multiple_of(TILE)
    }

    /// The scale of soft evidence, by which the largest leaf is about one: its expectation under the marginals times a
    /// power of two. 0 where it is impossible.
    #[inline(always)]
    fn soft_scale(&self, soft: &[f32]) -> f64 {
        let (mut expected, mut largest) = (0.0, 0.0);
        for ((&soft, marginal), scale) in soft.iter().zip(&self.marginals).zip(&self.scales) {
            expected += f64::from(soft) * marginal;
            largest += f64::from(soft) * scale;
        }
        if expected > 0.0 { expected * power_of_two(largest / expected) } else { 0.0 }
    }

    /// The lines of `leaf_ratios` of a group of codes; the last code is repeated to fill the group.
    #[inline(always)]
    fn leaf_lines<const N: usize>(&self, group: usize) -> [&[f32]; N] {
        let places = self.places();
        let line = |code: usize| &self.leaf_ratios[code.min(self.cardinality - 1) * places..][..places];
        std::array::from_fn(|position| line(group * N + position))
    }
}

/// The leaves of one variable in one tile.
#[derive(Clone, Copy, Debug)]
struct TileEntry {
    variable: u32,
    column: u32,
    /// The leaf nodes behind the units; [`NO_LEAF`] where a unit does not have the variable.
    leaves: [u32; TILE],
}

/// The largest power of two that is not above a positive number.
#[inline(always)]
fn power_of_two(number: f64) -> f64 {
    f64::from_bits(number.to_bits() & (0x7ff << 52))
}

/// Marks a place in a tile without a leaf.
const NO_LEAF: u32 = u32::MAX;

/// A sum or product of earlier values, or several of the same form.
#[derive(Clone, Copy, Debug)]
struct PlanStep {
    kind: StepKind,
    output: u32,
    /// Number of outputs.
    width: u32,
    inputs: u32,
    arity: u32,
}

#[derive(Clone, Copy, Debug)]
enum StepKind {
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
    fn entries(&self, tile: usize) -> &[TileEntry] {
        let start = if tile == 0 { 0 } else { self.tile_ends[tile - 1] as usize };
        &self.entries[start..self.tile_ends[tile] as usize]
    }

    /// The positions of a unit's leaves among those of all variables.
    #[inline(always)]
    fn unit_leaves(&self, unit: usize) -> &[u32] {
        let start = if unit == 0 { 0 } else { self.unit_ends[unit - 1] as usize };
        &self.unit_leaves[start..self.unit_ends[unit] as usize]
    }

    #[inline(always)]
    fn inputs(&self, step: &PlanStep) -> &[u32] {
        &self.inputs[step.inputs as usize..][..step.arity as usize]
    }

    #[inline(always)]
    fn weights(&self, step: &PlanStep, start: u32) -> &[f32] {
        &self.weights[start as usize..][..(step.arity * step.width) as usize]
    }

    /// The logarithm of the scale of a row.
    pub(crate) fn log_scale(&self, row: &[Code]) -> f64 {
        let scale = |(table, &code): (&LeafTable, &Code)| table.log_scales[table.line(code)];
        self.tables.iter().zip(row).map(scale).sum()
    }

    /// The product of the boosts of a row's codes: the largest factor by which leaves can raise a value.
    pub(crate) fn boost(&self, row: &[Code]) -> f64 {
        self.tables.iter().zip(row).map(|(table, &code)| table.boosts[table.line(code)]).product()
    }

    /// Whether underflow below the root is negligible for its value, and nothing overflowed.
    ///
    /// An operation loses less than the smallest number to underflow. Up to the root that loss is multiplied
    /// by weights, which sum to one, and by leaves of other variables, whose product is at most the boost.
    pub(crate) fn trusts<T: Real>(&self, value: T, boost: f64) -> bool {
        let lost = self.lost::<T>(boost);
        let value = value.into();
        value > 0.0 && value * T::NEGLIGIBLE >= lost && value <= T::LARGEST
    }

    /// Whether this precision may hold the value of a row with this boost: where it cannot, evaluating it would be in
    /// vain.
    pub(crate) fn may_trust<T: Real>(&self, boost: f64) -> bool {
        self.lost::<T>(boost) <= T::LARGEST * T::NEGLIGIBLE
    }

    /// [`Plan::may_trust`], for slopes.
    pub(crate) fn may_trust_slopes<T: Real>(&self, boost: f64) -> bool {
        self.lost::<T>(boost) <= T::NEGLIGIBLE
    }

    /// Whether slopes, which start at the inverse of the root's value, are right as well.
    pub(crate) fn trusts_slopes<T: Real>(&self, value: T, boost: f64) -> bool {
        self.trusts(value, boost) && self.may_trust_slopes::<T>(boost) && boost <= T::LARGEST * value.into()
    }

    /// Upper bound on the loss of the root's value by underflow.
    fn lost<T: Real>(&self, boost: f64) -> f64 {
        let smallest = if self.has_tiny_parameters { f32::SMALLEST } else { T::SMALLEST };
        self.operations * smallest * boost
    }

    /// Upper bound on the relative error of a value by rounding.
    pub(crate) fn rounding(&self) -> f64 {
        self.rounding
    }

    /// The same for what is found by a pass up and one down: contexts are products of values, and sums over parents.
    pub(crate) fn rounding_of_contexts(&self) -> f64 {
        2.0 * self.rounding + self.sums.len() as f64 * f64::from(f32::EPSILON)
    }
}
