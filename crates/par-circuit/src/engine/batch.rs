//! Blocks of rows: values of observed rows, values and gradients of soft ones.

use super::vectorised::{Kernel, vectorised};
use super::{LANES, Lanes, LeafTable, NO_LEAF, Plan, PlanStep, Real, StepKind, TILE, Tile, TileEntry};
use crate::{Code, OPEN};

/// Evaluates blocks of rows of codes.
#[derive(Clone, Debug)]
pub(crate) struct HardBlock<'a, T> {
    plan: &'a Plan,
    /// For each variable, the start of each row's line in the variable's table.
    pub(super) lines: Vec<[u32; LANES]>,
    /// What every leaf of a row is multiplied by; `None` for one.
    pub(super) lifts: Option<Lanes<T>>,
    pub(super) values: Vec<Lanes<T>>,
}

impl<'a, T: Real> HardBlock<'a, T> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        let lines = vec![[0; LANES]; plan.tables.len()];
        Self { plan, lines, lifts: None, values: vec![[T::default(); LANES]; plan.values] }
    }

    /// The value of each row, relative to its scale, of at most [`LANES`] rows of codes.
    pub(crate) fn values(&mut self, rows: &[Code]) -> &Lanes<T> {
        self.set_rows(rows);
        self.evaluate();
        &self.values[self.plan.root]
    }

    /// Evaluates the block again with some rows open, whose value is then one.
    pub(super) fn open_rows(&mut self, is_open: impl Fn(usize) -> bool) {
        for (lines, table) in self.lines.iter_mut().zip(&self.plan.tables) {
            let open = (table.line(OPEN) * table.columns) as u32;
            for lane in (0..LANES).filter(|&lane| is_open(lane)) {
                lines[lane] = open;
            }
        }
        if let Some(lifts) = &mut self.lifts {
            (0..LANES).filter(|&lane| is_open(lane)).for_each(|lane| lifts[lane] = T::ONE);
        }
        self.evaluate();
    }

    pub(super) fn evaluate(&mut self) {
        let Self { plan, lines, lifts, values } = self;
        vectorised(HardRows { plan, lines, lifts: *lifts, values });
    }

    fn set_rows(&mut self, rows: &[Code]) {
        let width = self.plan.tables.len();
        debug_assert!(rows.len() <= LANES * width);
        for (variable, (lines, table)) in self.lines.iter_mut().zip(&self.plan.tables).enumerate() {
            let open = table.line(OPEN);
            let codes = rows.iter().skip(variable).step_by(width).map(|&code| table.line(code));
            for (line, start) in lines.iter_mut().zip(codes.chain(std::iter::repeat(open))) {
                *line = (start * table.columns) as u32;
            }
        }
    }
}

struct HardRows<'a, T> {
    plan: &'a Plan,
    lines: &'a [[u32; LANES]],
    lifts: Option<Lanes<T>>,
    values: &'a mut [Lanes<T>],
}

impl<T: Real> Kernel for HardRows<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Self { plan, lines, lifts, values } = self;
        match lifts {
            None => hard_units(plan, values, |entry, half| leaves(plan, entry, lines, half)),
            Some(lifts) => {
                hard_units(plan, values, |entry, half| lifted_leaves(plan, entry, lines, half, &lifts));
            }
        }
        forward(plan, values);
    }
}

/// The values of the units: for every row the product of its leaves, eight units at a time.
#[inline(always)]
fn hard_units<T: Real>(
    plan: &Plan,
    values: &mut [Lanes<T>],
    leaves: impl Fn(&TileEntry, usize) -> [Tile<T>; TILE],
) {
    for tile in 0..plan.tiles() {
        let entries = plan.entries(tile);
        let values = &mut values[tile * TILE..][..TILE];
        for half in (0..LANES).step_by(TILE) {
            let mut products = leaves(&entries[0], half);
            for entry in &entries[1..] {
                for (product, leaf) in products.iter_mut().zip(&leaves(entry, half)) {
                    multiply(product, leaf);
                }
            }
            for (value, unit) in values.iter_mut().zip(transpose(&products)) {
                value[half..half + TILE].copy_from_slice(&unit);
            }
        }
    }
}

/// The leaves of an entry for eight rows of the block.
#[inline(always)]
fn leaves<T: Real>(plan: &Plan, entry: &TileEntry, lines: &[[u32; LANES]], half: usize) -> [Tile<T>; TILE] {
    let ratios = &plan.tables[entry.variable as usize].ratios;
    let lines = &lines[entry.variable as usize];
    let mut leaves = [[T::default(); TILE]; TILE];
    for (leaf, &line) in leaves.iter_mut().zip(&lines[half..half + TILE]) {
        *leaf = ratios[(line + entry.column) as usize].map(T::from);
    }
    leaves
}

/// The same, each multiplied by what its row is lifted by.
#[inline(always)]
fn lifted_leaves<T: Real>(
    plan: &Plan,
    entry: &TileEntry,
    lines: &[[u32; LANES]],
    half: usize,
    lifts: &Lanes<T>,
) -> [Tile<T>; TILE] {
    let mut leaves = leaves::<T>(plan, entry, lines, half);
    for (leaves, &lift) in leaves.iter_mut().zip(&lifts[half..half + TILE]) {
        for (leaf, &node) in leaves.iter_mut().zip(&entry.leaves) {
            *leaf *= if node == NO_LEAF { T::ONE } else { lift };
        }
    }
    leaves
}

/// Transposes eight rows of eight units.
#[inline(always)]
pub(super) fn transpose<T: Real>(rows: &[Tile<T>; TILE]) -> [Tile<T>; TILE] {
    let mut turned = [[T::default(); TILE]; TILE];
    for (i, row) in rows.iter().enumerate() {
        for (j, &value) in row.iter().enumerate() {
            turned[j][i] = value;
        }
    }
    turned
}

/// The values of the steps, from the values of the units.
#[inline(always)]
fn forward<T: Real>(plan: &Plan, values: &mut [Lanes<T>]) {
    for step in &plan.steps {
        let inputs = plan.inputs(step);
        let (done, outputs) = values.split_at_mut(step.output as usize);
        let outputs = &mut outputs[..step.width as usize];
        match step.kind {
            StepKind::Product => product(inputs, done, outputs),
            StepKind::Sum { weights } => sum(inputs, plan.weights(step, weights), done, outputs),
        }
    }
}

#[inline(always)]
fn product<T: Real>(inputs: &[u32], done: &[Lanes<T>], outputs: &mut [Lanes<T>]) {
    for (j, output) in outputs.iter_mut().enumerate() {
        let mut product = done[inputs[0] as usize + j];
        for &input in &inputs[1..] {
            multiply(&mut product, &done[input as usize + j]);
        }
        *output = product;
    }
}

/// Outputs summed side by side, so that an input is loaded once for all of them.
const ABREAST: usize = 4;

#[inline(always)]
fn sum<T: Real>(inputs: &[u32], weights: &[f32], done: &[Lanes<T>], outputs: &mut [Lanes<T>]) {
    let width = outputs.len();
    let mut groups = outputs.chunks_exact_mut(ABREAST);
    for (group, outputs) in groups.by_ref().enumerate() {
        let mut sums = [[T::default(); LANES]; ABREAST];
        for (&input, weights) in inputs.iter().zip(weights.chunks_exact(width)) {
            let value = &done[input as usize];
            let weights = &weights[group * ABREAST..][..ABREAST];
            for (sum, &weight) in sums.iter_mut().zip(weights) {
                add_scaled(sum, weight, value);
            }
        }
        outputs.copy_from_slice(&sums);
    }
    let first = width - width % ABREAST;
    for (j, output) in groups.into_remainder().iter_mut().enumerate() {
        let mut sum = [T::default(); LANES];
        for (&input, weights) in inputs.iter().zip(weights.chunks_exact(width)) {
            add_scaled(&mut sum, weights[first + j], &done[input as usize]);
        }
        *output = sum;
    }
}

#[inline(always)]
fn multiply<T: Real, const N: usize>(product: &mut [T; N], factor: &[T; N]) {
    for (product, &factor) in product.iter_mut().zip(factor) {
        *product *= factor;
    }
}

#[inline(always)]
fn add_scaled<T: Real>(sum: &mut Lanes<T>, weight: f32, value: &Lanes<T>) {
    let weight = T::from(weight);
    for (sum, &value) in sum.iter_mut().zip(value) {
        *sum += weight * value;
    }
}

/// Adds to `slopes`, from the root down, the derivative of the root's value by every value.
///
/// # Paper
/// The sum and product rules of appendix "Tractable Gradient Computation".
#[inline(always)]
pub(super) fn backward<T: Real>(
    plan: &Plan,
    values: &[Lanes<T>],
    slopes: &mut [Lanes<T>],
    scratch: &mut [Lanes<T>],
) {
    for step in plan.steps.iter().rev() {
        let inputs = plan.inputs(step);
        let (below, above) = slopes.split_at_mut(step.output as usize);
        let above = &above[..step.width as usize];
        match step.kind {
            StepKind::Sum { weights } => {
                let weights = plan.weights(step, weights);
                for (&input, weights) in inputs.iter().zip(weights.chunks_exact(above.len())) {
                    let mut slope = below[input as usize];
                    for (&weight, above) in weights.iter().zip(above) {
                        add_scaled(&mut slope, weight, above);
                    }
                    below[input as usize] = slope;
                }
            }
            StepKind::Product => backward_product(step, inputs, values, below, above, scratch),
        }
    }
}

/// The slope of each factor is the product of all others: of those before it, kept by the forward pass, and
/// of those after it, multiplied up here.
#[inline(always)]
fn backward_product<T: Real>(
    step: &PlanStep,
    inputs: &[u32],
    values: &[Lanes<T>],
    below: &mut [Lanes<T>],
    above: &[Lanes<T>],
    before: &mut [Lanes<T>],
) {
    for j in 0..step.width as usize {
        let mut product = [T::ONE; LANES];
        for (before, &input) in before.iter_mut().zip(inputs) {
            *before = product;
            multiply(&mut product, &values[input as usize + j]);
        }
        let mut after = above[j];
        for (before, &input) in before.iter().zip(inputs).rev() {
            let slope = &mut below[input as usize + j];
            for lane in 0..LANES {
                slope[lane] += before[lane] * after[lane];
            }
            multiply(&mut after, &values[input as usize + j]);
        }
    }
}

/// Evaluates blocks of soft rows, with their gradients.
pub(crate) struct SoftBlock<'a, T> {
    plan: &'a Plan,
    /// Where the codes of each variable begin in a soft row.
    offsets: Vec<usize>,
    codes: usize,
    /// The weights of the rows, `[code]`; those of a variable are divided by its scale.
    weights: Vec<Lanes<T>>,
    /// The scale of each variable and row.
    scales: Vec<[f64; LANES]>,
    /// For each row, an upper bound on the factor by which leaves can raise a value.
    boosts: [f64; LANES],
    /// Values of the leaves; after the backward pass, their slopes.
    leaves: Vec<Lanes<T>>,
    values: Vec<Lanes<T>>,
    slopes: Vec<Lanes<T>>,
    scratch: Vec<Lanes<T>>,
    gradient: Vec<Lanes<T>>,
}

impl<'a, T: Real> SoftBlock<'a, T> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        let cardinalities: Vec<usize> = plan.tables.iter().map(|table| table.cardinality).collect();
        let codes = cardinalities.iter().sum();
        let zeros = |length| vec![[T::default(); LANES]; length];
        Self {
            plan,
            offsets: crate::circuit::offsets(&cardinalities),
            codes,
            weights: zeros(codes),
            scales: vec![[1.0; LANES]; plan.tables.len()],
            boosts: [1.0; LANES],
            leaves: zeros(plan.leaf_places),
            values: zeros(plan.values),
            slopes: zeros(plan.values),
            scratch: zeros(plan.widest_product()),
            gradient: zeros(codes),
        }
    }

    /// Log-probability of each of at most [`LANES`] soft rows, and its gradient; `None` for a row that this
    /// precision cannot hold, whose gradient stays as it is.
    pub(crate) fn gradients(&mut self, soft: &[f32], gradients: &mut [f32]) -> Vec<Option<f64>> {
        let rows = soft.len() / self.codes;
        self.set_rows(soft);
        vectorised(SoftForward(self));
        let roots = self.values[self.plan.root];
        let trusted = |lane: usize| self.plan.trusts_slopes(roots[lane], self.boosts[lane]);
        let trusted: Vec<bool> = (0..rows).map(trusted).collect();
        self.slopes.fill([T::default(); LANES]);
        for lane in (0..rows).filter(|&lane| trusted[lane]) {
            self.slopes[self.plan.root][lane] = roots[lane].inverse();
        }
        vectorised(SoftBackward(self));
        for (lane, gradient) in gradients.chunks_exact_mut(self.codes).enumerate() {
            if trusted[lane] {
                self.write_gradient(lane, gradient);
            }
        }
        let log_prob = |lane: usize| {
            let log_scale = self.scales.iter().map(|scale| scale[lane].ln()).sum::<f64>();
            Into::<f64>::into(roots[lane]).ln() + log_scale
        };
        (0..rows).map(|lane| trusted[lane].then(|| log_prob(lane))).collect()
    }

    /// Divides each variable's weights by their scale, so that the largest of its leaves is about one.
    fn set_rows(&mut self, soft: &[f32]) {
        let mut rows = soft.chunks_exact(self.codes);
        for lane in 0..LANES {
            let row = rows.next();
            self.boosts[lane] = 1.0;
            for (variable, table) in self.plan.tables.iter().enumerate() {
                let start = self.offsets[variable];
                let weights = &mut self.weights[start..][..table.cardinality];
                let Some(row) = row else {
                    weights.iter_mut().for_each(|weight| weight[lane] = T::default());
                    continue;
                };
                let soft = &row[start..][..table.cardinality];
                let scale = table.soft_scale(soft);
                let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
                let mut boost = 0.0;
                let terms = soft.iter().zip(&table.scales).zip(&table.boosts);
                for (weight, ((&soft, scale), most)) in weights.iter_mut().zip(terms) {
                    let share = f64::from(soft) * scale * inverse;
                    weight[lane] = T::from(share as f32);
                    boost += share * most;
                }
                self.scales[variable][lane] = scale;
                self.boosts[lane] *= boost;
            }
        }
    }

    fn write_gradient(&self, lane: usize, gradient: &mut [f32]) {
        for (variable, table) in self.plan.tables.iter().enumerate() {
            let start = self.offsets[variable];
            let inverse = 1.0 / self.scales[variable][lane];
            let raw = &self.gradient[start..][..table.cardinality];
            let gradient = &mut gradient[start..][..table.cardinality];
            for (gradient, (raw, scale)) in gradient.iter_mut().zip(raw.iter().zip(&table.scales)) {
                *gradient = (Into::<f64>::into(raw[lane]) * scale * inverse) as f32;
            }
        }
    }
}

struct SoftForward<'a, 'b, T>(&'b mut SoftBlock<'a, T>);

impl<T: Real> Kernel for SoftForward<'_, '_, T> {
    #[inline(always)]
    fn run(self) {
        let SoftBlock { plan, offsets, weights, leaves, values, .. } = self.0;
        for (table, &offset) in plan.tables.iter().zip(offsets.iter()) {
            let weights = &weights[offset..][..table.cardinality];
            soft_leaves(table, weights, &mut leaves[table.first_leaf..][..table.places()]);
        }
        for (unit, value) in values[..plan.unit_ends.len()].iter_mut().enumerate() {
            let mut product = [T::ONE; LANES];
            for &leaf in plan.unit_leaves(unit) {
                multiply(&mut product, &leaves[leaf as usize]);
            }
            *value = product;
        }
        forward(plan, values);
    }
}

/// The values of a variable's leaves under soft weights: a small matrix product.
///
/// # Paper
/// l_j(q_j) = Σ_c q_{j,c} θ_{j,c}, appendix "Tractable Gradient Computation".
#[inline(always)]
fn soft_leaves<T: Real>(table: &LeafTable, weights: &[Lanes<T>], leaves: &mut [Lanes<T>]) {
    let places = leaves.len();
    for (group, leaves) in leaves.chunks_exact_mut(ABREAST).enumerate() {
        let mut sums = [[T::default(); LANES]; ABREAST];
        for (line, weight) in table.leaf_ratios.chunks_exact(places).zip(weights) {
            let ratios = &line[group * ABREAST..][..ABREAST];
            for (sum, &ratio) in sums.iter_mut().zip(ratios) {
                add_scaled(sum, ratio, weight);
            }
        }
        leaves.copy_from_slice(&sums);
    }
}

struct SoftBackward<'a, 'b, T>(&'b mut SoftBlock<'a, T>);

impl<T: Real> Kernel for SoftBackward<'_, '_, T> {
    #[inline(always)]
    fn run(self) {
        let SoftBlock { plan, offsets, leaves, values, slopes, scratch, gradient, .. } = self.0;
        backward(plan, values, slopes, scratch);
        for (unit, slope) in slopes[..plan.unit_ends.len()].iter().enumerate() {
            leaf_slopes(plan.unit_leaves(unit), slope, leaves, scratch);
        }
        for (table, &offset) in plan.tables.iter().zip(offsets.iter()) {
            let slopes = &leaves[table.first_leaf..][..table.places()];
            soft_gradient(table, slopes, &mut gradient[offset..][..table.cardinality]);
        }
    }
}

/// Replaces each leaf's value by its slope: the unit's slope times the unit's other leaves.
#[inline(always)]
fn leaf_slopes<T: Real>(unit: &[u32], slope: &Lanes<T>, leaves: &mut [Lanes<T>], before: &mut [Lanes<T>]) {
    let mut product = *slope;
    for (before, &leaf) in before.iter_mut().zip(unit) {
        *before = product;
        multiply(&mut product, &leaves[leaf as usize]);
    }
    let mut after = [T::ONE; LANES];
    for (before, &leaf) in before.iter().zip(unit).rev() {
        let value = std::mem::replace(&mut leaves[leaf as usize], *before);
        multiply(&mut leaves[leaf as usize], &after);
        multiply(&mut after, &value);
    }
}

/// The slope of each code: its ratios in the leaves times their slopes, a matrix product again.
#[inline(always)]
fn soft_gradient<T: Real>(table: &LeafTable, slopes: &[Lanes<T>], gradient: &mut [Lanes<T>]) {
    for (group, gradient) in gradient.chunks_mut(ABREAST).enumerate() {
        let lines: [&[f32]; ABREAST] = table.leaf_lines(group);
        let mut sums = [[T::default(); LANES]; ABREAST];
        for (leaf, slope) in slopes.iter().enumerate() {
            for (sum, line) in sums.iter_mut().zip(&lines) {
                add_scaled(sum, line[leaf], slope);
            }
        }
        let length = gradient.len();
        gradient.copy_from_slice(&sums[..length]);
    }
}

impl Plan {
    /// The largest number of factors of a product, in the steps or in a unit.
    pub(super) fn widest_product(&self) -> usize {
        let steps = self.steps.iter().map(|step| step.arity as usize);
        let units = (0..self.unit_ends.len()).map(|unit| self.unit_leaves(unit).len());
        steps.chain(units).max().unwrap_or(0)
    }
}
