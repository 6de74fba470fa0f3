//! One row at a time: registers hold units in place of rows.

use super::vectorised::{Kernel, vectorised};
use super::{LeafTable, Plan, Real, StepKind, TILE, Tile};
use crate::{Allowed, Code, OPEN};

/// Scratch memory for the evaluation of one row.
#[derive(Clone, Debug)]
pub(crate) struct RowScratch<T> {
    /// Values of the leaves of a soft row or a box; after the backward pass, their slopes.
    leaves: Vec<T>,
    /// The scale of each variable, beyond the plan's scales.
    scales: Vec<f64>,
    /// Upper bound on the factor by which leaves can raise a value.
    boost: f64,
    values: Vec<T>,
    slopes: Vec<T>,
    scratch: Vec<T>,
    /// The codes of the current variable with their weights.
    weights: Vec<(usize, T)>,
}

impl<T: Real> RowScratch<T> {
    pub(crate) fn new(plan: &Plan) -> Self {
        let zero = T::default();
        Self {
            leaves: vec![zero; plan.leaf_places],
            scales: vec![1.0; plan.tables.len()],
            boost: 1.0,
            values: vec![zero; plan.values],
            slopes: vec![zero; plan.values],
            scratch: vec![zero; plan.widest_product()],
            weights: Vec::new(),
        }
    }

    /// Log-probability of a row of codes; `None` where this precision cannot hold it.
    pub(crate) fn hard(&mut self, plan: &Plan, row: &[Code]) -> Option<f64> {
        let boost = plan.boost(row);
        if !plan.may_trust::<T>(boost) {
            return None;
        }
        vectorised(HardRow { plan, row, values: &mut self.values });
        let root = self.values[plan.root];
        plan.trusts(root, boost).then(|| root.into().ln() + plan.log_scale(row))
    }

    /// Log-probability of a soft row; `None` where this precision cannot hold it.
    pub(crate) fn soft(&mut self, plan: &Plan, soft: &[f32]) -> Option<f64> {
        vectorised(SoftLeaves { plan, soft, single: self });
        self.evaluate(plan)
    }

    /// [`RowScratch::soft`], and its gradient; `None` where this precision cannot hold them.
    pub(crate) fn gradient(&mut self, plan: &Plan, soft: &[f32], gradient: &mut [f32]) -> Option<f64> {
        let log_prob = self.soft(plan, soft)?;
        self.slopes(plan, gradient).then_some(log_prob)
    }

    /// The gradient of the logarithm of the last value; `false` where this precision cannot hold it.
    fn slopes(&mut self, plan: &Plan, gradient: &mut [f32]) -> bool {
        let root = self.values[plan.root];
        let held = plan.trusts_slopes(root, self.boost);
        if held {
            self.slopes.fill(T::default());
            self.slopes[plan.root] = root.inverse();
            vectorised(Backward { plan, single: self, gradient });
        }
        held
    }

    /// Log-probability of a row, and for each code of each variable the factor by which it would change the
    /// probability; `None` where this precision cannot hold them.
    pub(crate) fn ratios(&mut self, plan: &Plan, row: &[Code], ratios: &mut [f32]) -> Option<f64> {
        self.boost = plan.boost(row);
        if !plan.may_trust_slopes::<T>(self.boost) {
            return None;
        }
        for (variable, (table, &code)) in plan.tables.iter().zip(row).enumerate() {
            let leaves = &mut self.leaves[table.first_leaf..][..table.places()];
            if code == OPEN {
                leaves.fill(T::ONE);
                self.scales[variable] = 1.0;
                continue;
            }
            let line = &table.leaf_ratios[usize::from(code) * table.places()..][..table.places()];
            leaves.iter_mut().zip(line).for_each(|(leaf, &ratio)| *leaf = T::from(ratio));
            self.scales[variable] = table.scales[usize::from(code)];
        }
        let log_prob = self.evaluate(plan)?;
        self.slopes(plan, ratios).then_some(log_prob)
    }

    /// Logarithm of the circuit's value when every leaf takes the largest of its allowed probabilities,
    /// without rounding errors; `None` where this precision cannot hold it.
    pub(crate) fn largest(&mut self, plan: &Plan, allowed: &Allowed) -> Option<f64> {
        vectorised(LargestLeaves { plan, allowed, single: self });
        self.evaluate(plan)
    }

    fn evaluate(&mut self, plan: &Plan) -> Option<f64> {
        vectorised(UnitProducts { plan, leaves: &self.leaves, values: &mut self.values });
        let root = self.values[plan.root];
        let log_scale = || self.scales.iter().map(|scale| scale.ln()).sum::<f64>();
        plan.trusts(root, self.boost).then(|| root.into().ln() + log_scale())
    }
}

struct HardRow<'a, T> {
    plan: &'a Plan,
    row: &'a [Code],
    values: &'a mut [T],
}

impl<T: Real> Kernel for HardRow<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Self { plan, row, values } = self;
        for (tile, units) in (0..plan.tiles()).zip(values.chunks_exact_mut(TILE)) {
            let mut product = [T::ONE; TILE];
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

struct UnitProducts<'a, T> {
    plan: &'a Plan,
    leaves: &'a [T],
    values: &'a mut [T],
}

impl<T: Real> Kernel for UnitProducts<'_, T> {
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
fn multiply<T: Real>(product: &mut Tile<T>, factor: &Tile) {
    for (product, &factor) in product.iter_mut().zip(factor) {
        *product *= T::from(factor);
    }
}

#[inline(always)]
fn forward<T: Real>(plan: &Plan, values: &mut [T]) {
    for step in &plan.steps {
        let inputs = plan.inputs(step);
        let (done, outputs) = values.split_at_mut(step.output as usize);
        let outputs = &mut outputs[..step.width as usize];
        match step.kind {
            StepKind::Product => {
                for (j, output) in outputs.iter_mut().enumerate() {
                    *output = inputs.iter().map(|&input| done[input as usize + j]).product();
                }
            }
            StepKind::Sum { weights } => {
                let weights = plan.weights(step, weights);
                if let [output] = outputs {
                    let terms = inputs.iter().zip(weights);
                    *output = terms.map(|(&input, &weight)| T::from(weight) * done[input as usize]).sum();
                    continue;
                }
                if let Ok(outputs) = <&mut [T; TILE]>::try_from(&mut *outputs) {
                    let mut sums = [T::default(); TILE];
                    for (&input, weights) in inputs.iter().zip(weights.as_chunks::<TILE>().0) {
                        let value = done[input as usize];
                        for (sum, &weight) in sums.iter_mut().zip(weights) {
                            *sum += T::from(weight) * value;
                        }
                    }
                    *outputs = sums;
                    continue;
                }
                outputs.fill(T::default());
                for (&input, weights) in inputs.iter().zip(weights.chunks_exact(outputs.len())) {
                    let value = done[input as usize];
                    for (output, &weight) in outputs.iter_mut().zip(weights) {
                        *output += T::from(weight) * value;
                    }
                }
            }
        }
    }
}

struct SoftLeaves<'a, T> {
    plan: &'a Plan,
    soft: &'a [f32],
    single: &'a mut RowScratch<T>,
}

impl<T: Real> Kernel for SoftLeaves<'_, T> {
    #[inline(always)]
    fn run(self) {
        let mut rest = self.soft;
        let RowScratch { leaves, scales, boost, weights, .. } = self.single;
        *boost = 1.0;
        for (table, total) in self.plan.tables.iter().zip(scales) {
            let (soft, after) = rest.split_at(table.cardinality);
            rest = after;
            *total = table.soft_scale(soft);
            let inverse = if *total > 0.0 { 1.0 / *total } else { 0.0 };
            weights.clear();
            let mut most = 0.0;
            let terms = soft.iter().zip(&table.scales).map(|(&soft, scale)| f64::from(soft) * scale);
            for (code, term) in terms.enumerate().filter(|(_, term)| *term != 0.0) {
                weights.push((code, T::from((term * inverse) as f32)));
                most += term * inverse * table.boosts[code];
            }
            *boost *= most;
            fold_codes(table, weights, leaves, |sum, term| *sum += term);
        }
    }
}

struct LargestLeaves<'a, T> {
    plan: &'a Plan,
    allowed: &'a Allowed,
    single: &'a mut RowScratch<T>,
}

impl<T: Real> Kernel for LargestLeaves<'_, T> {
    #[inline(always)]
    fn run(self) {
        let RowScratch { leaves, scales, boost, weights, .. } = self.single;
        *boost = 1.0;
        for (variable, (table, largest)) in self.plan.tables.iter().zip(scales).enumerate() {
            let codes = self.allowed.codes(variable).map(usize::from);
            *largest = codes.clone().map(|code| table.scales[code]).fold(0.0, f64::max);
            let inverse = 1.0 / *largest;
            weights.clear();
            weights.extend(codes.clone().map(|code| (code, T::from((table.scales[code] * inverse) as f32))));
            *boost *= codes.map(|code| table.boosts[code]).fold(1.0, f64::max);
            fold_codes(table, weights, leaves, |max, term| *max = if term > *max { term } else { *max });
        }
    }
}

/// Folds the weighted ratios of each leaf of a variable, from zero, eight leaves at a time.
#[inline(always)]
fn fold_codes<T: Real>(
    table: &LeafTable,
    weights: &[(usize, T)],
    leaves: &mut [T],
    fold: impl Fn(&mut T, T),
) {
    let places = table.places();
    let leaves = &mut leaves[table.first_leaf..][..places];
    for (tile, leaves) in leaves.chunks_exact_mut(TILE).enumerate() {
        let mut folded = [T::default(); TILE];
        for &(code, weight) in weights {
            let ratios = &table.leaf_ratios[code * places + tile * TILE..][..TILE];
            for (folded, &ratio) in folded.iter_mut().zip(ratios) {
                fold(folded, weight * T::from(ratio));
            }
        }
        leaves.copy_from_slice(&folded);
    }
}

struct Backward<'a, T> {
    plan: &'a Plan,
    single: &'a mut RowScratch<T>,
    gradient: &'a mut [f32],
}

impl<T: Real> Kernel for Backward<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Self { plan, single, gradient } = self;
        let RowScratch { leaves, scales, values, slopes, scratch, .. } = single;
        backward(plan, values, slopes, scratch);
        for (unit, &slope) in slopes[..plan.unit_ends.len()].iter().enumerate() {
            let unit = plan.unit_leaves(unit);
            let mut product = slope;
            for (before, &leaf) in scratch.iter_mut().zip(unit) {
                *before = product;
                product *= leaves[leaf as usize];
            }
            let mut after = T::ONE;
            for (&before, &leaf) in scratch.iter().zip(unit).rev() {
                let value = std::mem::replace(&mut leaves[leaf as usize], before * after);
                after *= value;
            }
        }
        let mut rest = gradient;
        for (table, total) in plan.tables.iter().zip(scales) {
            let (gradient, after) = rest.split_at_mut(table.cardinality);
            rest = after;
            let slopes = &leaves[table.first_leaf..][..table.places()];
            slopes_of_codes(table, slopes, 1.0 / *total, gradient);
        }
    }
}

/// Codes whose slopes are summed side by side, so that the sums do not wait for each other.
const ABREAST: usize = 4;

/// For each code, its ratios in the leaves times their slopes, times its scale and `scale`.
#[inline(always)]
fn slopes_of_codes<T: Real>(table: &LeafTable, slopes: &[T], scale: f64, gradient: &mut [f32]) {
    for (group, gradient) in gradient.chunks_mut(ABREAST).enumerate() {
        let lines: [&[f32]; ABREAST] = table.leaf_lines(group);
        let mut sums = [[T::default(); TILE]; ABREAST];
        for (tile, slopes) in slopes.chunks_exact(TILE).enumerate() {
            for (sum, line) in sums.iter_mut().zip(&lines) {
                let ratios = &line[tile * TILE..][..TILE];
                for ((sum, &ratio), &slope) in sum.iter_mut().zip(ratios).zip(slopes) {
                    *sum += T::from(ratio) * slope;
                }
            }
        }
        let scales = table.scales[group * ABREAST..].iter();
        for ((gradient, sum), own) in gradient.iter_mut().zip(sums).zip(scales) {
            *gradient = (sum.into_iter().sum::<T>().into() * own * scale) as f32;
        }
    }
}

#[inline(always)]
fn backward<T: Real>(plan: &Plan, values: &[T], slopes: &mut [T], before: &mut [T]) {
    for step in plan.steps.iter().rev() {
        let inputs = plan.inputs(step);
        let (below, above) = slopes.split_at_mut(step.output as usize);
        let above = &above[..step.width as usize];
        match step.kind {
            StepKind::Sum { weights } => {
                let weights = plan.weights(step, weights);
                for (&input, weights) in inputs.iter().zip(weights.chunks_exact(above.len())) {
                    below[input as usize] += dot(weights, above);
                }
            }
            StepKind::Product => {
                for (j, &above) in above.iter().enumerate() {
                    let mut product = T::ONE;
                    for (before, &input) in before.iter_mut().zip(inputs) {
                        *before = product;
                        product *= values[input as usize + j];
                    }
                    let mut after = above;
                    for (&before, &input) in before.iter().zip(inputs).rev() {
                        below[input as usize + j] += before * after;
                        after *= values[input as usize + j];
                    }
                }
            }
        }
    }
}

/// A dot product in eight running sums, which fill a register.
#[inline(always)]
fn dot<T: Real>(a: &[f32], b: &[T]) -> T {
    let mut sums = [T::default(); TILE];
    let (a_tiles, b_tiles) = (a.chunks_exact(TILE), b.chunks_exact(TILE));
    let rest = a_tiles.remainder().iter().zip(b_tiles.remainder());
    let mut total: T = rest.map(|(&a, &b)| T::from(a) * b).sum();
    for (a, b) in a_tiles.zip(b_tiles) {
        for unit in 0..TILE {
            sums[unit] += T::from(a[unit]) * b[unit];
        }
    }
    // By halves, so that additions do not wait for each other.
    for half in [4, 2, 1] {
        for unit in 0..half {
            let other = sums[unit + half];
            sums[unit] += other;
        }
    }
    total += sums[0];
    total
}
