//! One row at a time: the registers hold units in place of rows.

use super::vectorised::{Kernel, vectorised};
use super::{Kind, Plan, Real, TILE, Table, Tile};
use crate::{Allowed, Code};

/// What evaluating one row needs to remember.
#[derive(Clone, Debug)]
pub(crate) struct Single {
    /// Values of the leaves, then what reaches them, of rows that are not observed codes.
    leaves: Vec<f32>,
    /// What the leaves of a variable were divided by, beyond the scales.
    scales: Vec<f64>,
    values: Vec<f32>,
    slopes: Vec<f32>,
    scratch: Vec<f32>,
    /// Codes of the variable at hand with their weights.
    weights: Vec<(usize, f32)>,
}

impl Single {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            leaves: vec![0.0; plan.leaf_places],
            scales: vec![1.0; plan.tables.len()],
            values: vec![0.0; plan.values],
            slopes: vec![0.0; plan.values],
            scratch: vec![0.0; plan.widest_product()],
            weights: Vec::new(),
        }
    }

    /// Log-probability of a row of codes; `None` where single precision cannot hold it.
    pub(crate) fn hard(&mut self, plan: &Plan, row: &[Code]) -> Option<f64> {
        vectorised(Hard { plan, row, values: &mut self.values });
        let root = self.values[plan.root];
        root.is_safe().then(|| f64::from(root).ln() + plan.log_scale(row))
    }

    /// Log-probability of a soft row; `None` where single precision cannot hold it.
    pub(crate) fn soft(&mut self, plan: &Plan, soft: &[f32]) -> Option<f64> {
        vectorised(SoftLeaves { plan, soft, single: self });
        self.evaluate(plan)
    }

    /// The gradient of the last [`Single::soft`], which gave a value.
    pub(crate) fn gradient(&mut self, plan: &Plan, gradient: &mut [f32]) {
        self.slopes.fill(0.0);
        self.slopes[plan.root] = 1.0 / self.values[plan.root];
        vectorised(Backward { plan, single: self, gradient });
    }

    /// Logarithm of the circuit's value when every leaf takes the largest of its allowed probabilities,
    /// rounding aside; `None` where single precision cannot hold it.
    pub(crate) fn largest(&mut self, plan: &Plan, allowed: &Allowed) -> Option<f64> {
        vectorised(LargestLeaves { plan, allowed, single: self });
        self.evaluate(plan)
    }

    fn evaluate(&mut self, plan: &Plan) -> Option<f64> {
        vectorised(Units { plan, leaves: &self.leaves, values: &mut self.values });
        let root = self.values[plan.root];
        let log_scale = || self.scales.iter().map(|scale| scale.ln()).sum::<f64>();
        root.is_safe().then(|| f64::from(root).ln() + log_scale())
    }
}

struct Hard<'a> {
    plan: &'a Plan,
    row: &'a [Code],
    values: &'a mut [f32],
}

impl Kernel for Hard<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { plan, row, values } = self;
        for (tile, units) in (0..plan.tiles()).zip(values.chunks_exact_mut(TILE)) {
            let mut product = [1.0; TILE];
            for entry in plan.entries(tile) {
                let table = &plan.tables[entry.variable as usize];
                let line = table.line(row[entry.variable as usize]);
                multiply(&mut product, &table.ratios[line * table.columns + entry.column as usize]);
            }
            units.copy_from_slice(&product);
        }
        forward(plan, values);
    }
}

struct Units<'a> {
    plan: &'a Plan,
    leaves: &'a [f32],
    values: &'a mut [f32],
}

impl Kernel for Units<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { plan, leaves, values } = self;
        for (unit, value) in values[..plan.unit_ends.len()].iter_mut().enumerate() {
            *value = plan.unit_leaves(unit).iter().map(|&leaf| leaves[leaf as usize]).product();
        }
        forward(plan, values);
    }
}

#[inline(always)]
fn multiply(product: &mut Tile, factor: &Tile) {
    for (product, factor) in product.iter_mut().zip(factor) {
        *product *= factor;
    }
}

#[inline(always)]
fn forward(plan: &Plan, values: &mut [f32]) {
    for step in &plan.steps {
        let inputs = plan.inputs(step);
        let (done, outputs) = values.split_at_mut(step.output as usize);
        let outputs = &mut outputs[..step.width as usize];
        match step.kind {
            Kind::Product => {
                for (j, output) in outputs.iter_mut().enumerate() {
                    *output = inputs.iter().map(|&input| done[input as usize + j]).product();
                }
            }
            Kind::Sum { weights } => {
                let weights = plan.weights(step, weights);
                if let [output] = outputs {
                    let terms = inputs.iter().zip(weights);
                    *output = terms.map(|(&input, weight)| weight * done[input as usize]).sum();
                    continue;
                }
                outputs.fill(0.0);
                for (&input, weights) in inputs.iter().zip(weights.chunks_exact(outputs.len())) {
                    let value = done[input as usize];
                    for (output, weight) in outputs.iter_mut().zip(weights) {
                        *output += weight * value;
                    }
                }
            }
        }
    }
}

struct SoftLeaves<'a> {
    plan: &'a Plan,
    soft: &'a [f32],
    single: &'a mut Single,
}

impl Kernel for SoftLeaves<'_> {
    #[inline(always)]
    fn run(self) {
        let mut rest = self.soft;
        let Single { leaves, scales, weights, .. } = self.single;
        for (table, total) in self.plan.tables.iter().zip(scales) {
            let (soft, after) = rest.split_at(table.cardinality);
            rest = after;
            let terms = soft.iter().zip(&table.scales).map(|(&soft, scale)| f64::from(soft) * scale);
            *total = terms.clone().sum();
            let inverse = if *total > 0.0 { 1.0 / *total } else { 0.0 };
            weights.clear();
            let used = terms.enumerate().filter(|(_, term)| *term != 0.0);
            weights.extend(used.map(|(code, term)| (code, (term * inverse) as f32)));
            fold_codes(table, weights, leaves, |sum, term| sum + term);
        }
    }
}

struct LargestLeaves<'a> {
    plan: &'a Plan,
    allowed: &'a Allowed,
    single: &'a mut Single,
}

impl Kernel for LargestLeaves<'_> {
    #[inline(always)]
    fn run(self) {
        let Single { leaves, scales, weights, .. } = self.single;
        for (variable, (table, largest)) in self.plan.tables.iter().zip(scales).enumerate() {
            let codes = self.allowed.codes(variable).map(usize::from);
            *largest = codes.clone().map(|code| table.scales[code]).fold(0.0, f64::max);
            let inverse = 1.0 / *largest;
            weights.clear();
            weights.extend(codes.map(|code| (code, (table.scales[code] * inverse) as f32)));
            fold_codes(table, weights, leaves, |max, term| if term > max { term } else { max });
        }
    }
}

/// Gives every leaf of a variable what its weighted ratios fold to, from zero, eight leaves at a time.
#[inline(always)]
fn fold_codes(table: &Table, weights: &[(usize, f32)], leaves: &mut [f32], fold: impl Fn(f32, f32) -> f32) {
    let places = table.places();
    let leaves = &mut leaves[table.first_leaf..][..places];
    for (tile, leaves) in leaves.chunks_exact_mut(TILE).enumerate() {
        let mut folded = [0.0; TILE];
        for &(code, weight) in weights {
            let ratios = &table.leaf_ratios[code * places + tile * TILE..][..TILE];
            for (folded, ratio) in folded.iter_mut().zip(ratios) {
                *folded = fold(*folded, weight * ratio);
            }
        }
        leaves.copy_from_slice(&folded);
    }
}

struct Backward<'a> {
    plan: &'a Plan,
    single: &'a mut Single,
    gradient: &'a mut [f32],
}

impl Kernel for Backward<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { plan, single, gradient } = self;
        let Single { leaves, scales, values, slopes, scratch, .. } = single;
        backward(plan, values, slopes, scratch);
        for (unit, &slope) in slopes[..plan.unit_ends.len()].iter().enumerate() {
            let unit = plan.unit_leaves(unit);
            let mut product = slope;
            for (before, &leaf) in scratch.iter_mut().zip(unit) {
                *before = product;
                product *= leaves[leaf as usize];
            }
            let mut after = 1.0;
            for (before, &leaf) in scratch.iter().zip(unit).rev() {
                let value = std::mem::replace(&mut leaves[leaf as usize], before * after);
                after *= value;
            }
        }
        let mut rest = gradient;
        for (table, total) in plan.tables.iter().zip(scales) {
            let (gradient, after) = rest.split_at_mut(table.cardinality);
            rest = after;
            let slopes = &leaves[table.first_leaf..][..table.places()];
            slopes_of_codes(table, slopes, gradient);
            let inverse = 1.0 / *total;
            for (gradient, scale) in gradient.iter_mut().zip(&table.scales) {
                *gradient *= (scale * inverse) as f32;
            }
        }
    }
}

/// Codes whose slopes are summed side by side, so that no sum waits for another.
const ABREAST: usize = 4;

/// For each code, its ratios in the leaves times what reaches them.
#[inline(always)]
fn slopes_of_codes(table: &Table, slopes: &[f32], gradient: &mut [f32]) {
    for (group, gradient) in gradient.chunks_mut(ABREAST).enumerate() {
        let lines: [&[f32]; ABREAST] = table.leaf_lines(group);
        let mut sums = [[0.0; TILE]; ABREAST];
        for (tile, slopes) in slopes.chunks_exact(TILE).enumerate() {
            for (sum, line) in sums.iter_mut().zip(&lines) {
                let ratios = &line[tile * TILE..][..TILE];
                for ((sum, ratio), slope) in sum.iter_mut().zip(ratios).zip(slopes) {
                    *sum += ratio * slope;
                }
            }
        }
        for (gradient, sum) in gradient.iter_mut().zip(&sums) {
            *gradient = sum.iter().sum();
        }
    }
}

#[inline(always)]
fn backward(plan: &Plan, values: &[f32], slopes: &mut [f32], before: &mut [f32]) {
    for step in plan.steps.iter().rev() {
        let inputs = plan.inputs(step);
        let (below, above) = slopes.split_at_mut(step.output as usize);
        let above = &above[..step.width as usize];
        match step.kind {
            Kind::Sum { weights } => {
                let weights = plan.weights(step, weights);
                for (&input, weights) in inputs.iter().zip(weights.chunks_exact(above.len())) {
                    below[input as usize] += dot(weights, above);
                }
            }
            Kind::Product => {
                for (j, &above) in above.iter().enumerate() {
                    let mut product = 1.0;
                    for (before, &input) in before.iter_mut().zip(inputs) {
                        *before = product;
                        product *= values[input as usize + j];
                    }
                    let mut after = above;
                    for (before, &input) in before.iter().zip(inputs).rev() {
                        below[input as usize + j] += before * after;
                        after *= values[input as usize + j];
                    }
                }
            }
        }
    }
}

/// A dot product in eight running sums, so that it can use a whole register.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; TILE];
    let (a_tiles, b_tiles) = (a.chunks_exact(TILE), b.chunks_exact(TILE));
    let rest: f32 = a_tiles.remainder().iter().zip(b_tiles.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_tiles.zip(b_tiles) {
        for unit in 0..TILE {
            sums[unit] += a[unit] * b[unit];
        }
    }
    sums.iter().sum::<f32>() + rest
}
