//! Bounds on the rows within some changes of a centre: every value is eight, one for each number of variables below it
//! that may change.
//!
//! A pass up bounds all rows. A pass down gives each value its *context*: what it is multiplied by on the way to the
//! root, by the number of changes outside of it. A leaf's context times its probability of a code bounds the rows with
//! that change, for all codes at once.

use super::vectorised::{Kernel, vectorised};
use super::{Plan, Real, StepKind};
use crate::{Code, OPEN};

/// Numbers of changes that are bounded: 0, 1, …, 6, and any number.
pub(crate) const COUNTS: usize = 8;

/// An upper bound for each number of changes; they never fall.
pub(crate) type ByCount<T> = [T; COUNTS];

/// The least logarithm of a weight: e to it is a normal number in single precision.
const LEAST_LOG_WEIGHT: f64 = -80.0;

/// Scratch memory for the bounds around a centre.
#[derive(Clone, Debug)]
pub(crate) struct BallBounds<T> {
    /// For each leaf, its value at the centre and the largest that it may take.
    leaves: Vec<[T; 2]>,
    values: Vec<ByCount<T>>,
    /// For each code, the logarithm of its scale and its gain, less the largest of its variable; −∞ where it is not
    /// allowed.
    log_weights: Vec<f64>,
    contexts: Vec<ByCount<T>>,
    leaf_contexts: Vec<ByCount<T>>,
    /// Scratch: the context of a product, times the inputs before each.
    before: Vec<ByCount<T>>,
    log_scale: f64,
    boost: f64,
}

/// Bounds on the rows with a change to each code.
#[derive(Clone, Debug, Default)]
pub(crate) struct CodeBounds {
    /// For each code, by the number of changes beside it, over its scale.
    pub(crate) values: Vec<ByCount<f64>>,
    /// For each code, the logarithm of its scale, with its gain; −∞ where it is not allowed.
    pub(crate) log_scales: Vec<f64>,
    /// What underflow may have cost each value.
    pub(crate) lost: f64,
}

impl<T: Real> BallBounds<T> {
    pub(crate) fn new(plan: &Plan) -> Self {
        let codes = plan.tables.iter().map(|table| table.cardinality).sum();
        let widest_unit = (0..plan.unit_ends.len()).map(|unit| plan.unit_leaves(unit).len()).max();
        let widest_step = plan.steps.iter().map(|step| step.arity as usize).max();
        let nothing = [T::default(); COUNTS];
        Self {
            leaves: vec![[T::default(); 2]; plan.leaf_places],
            values: vec![nothing; plan.values],
            log_weights: vec![f64::NEG_INFINITY; codes],
            contexts: Vec::new(),
            leaf_contexts: Vec::new(),
            before: vec![nothing; widest_unit.max(widest_step).unwrap_or(0)],
            log_scale: 0.0,
            boost: 1.0,
        }
    }

    /// For each number of changes, the logarithm of the circuit's value when every child of a sum makes the
    /// changes that are best for it, without rounding errors; `None` where this precision cannot hold it.
    ///
    /// A change to a code multiplies by e to its gain; −∞ where it is not allowed.
    pub(crate) fn bounds(&mut self, plan: &Plan, centre: &[Code], gains: &[f64]) -> Option<ByCount<f64>> {
        vectorised(Upward { plan, centre, gains, memory: self });
        let root = self.values[plan.root];
        let held = root.iter().all(|value| plan.trusts(*value, self.boost));
        held.then(|| root.map(|value| value.into().ln() + self.log_scale))
    }

    /// After [`BallBounds::bounds`]: those of the rows with a change to each code. `false` where this precision cannot
    /// hold them.
    pub(crate) fn each_code(&mut self, plan: &Plan, bounds: &mut CodeBounds) -> bool {
        if self.boost > T::LARGEST {
            return false;
        }
        let nothing = [T::default(); COUNTS];
        self.contexts.clear();
        self.contexts.resize(plan.values, nothing);
        self.leaf_contexts.resize(plan.leaf_places, nothing);
        bounds.values.clear();
        bounds.values.resize(self.log_weights.len(), [0.0; COUNTS]);
        bounds.log_scales.clear();
        bounds.log_scales.extend(self.log_weights.iter().map(|log_weight| log_weight + self.log_scale));
        // Contexts take three products for each one on the way up, and codes one for each leaf.
        bounds.lost = 8.0 * plan.lost::<T>(self.boost);
        vectorised(Downward { plan, memory: self, bounds: &mut bounds.values });
        true
    }
}

struct Upward<'a, T> {
    plan: &'a Plan,
    centre: &'a [Code],
    gains: &'a [f64],
    memory: &'a mut BallBounds<T>,
}

impl<T: Real> Kernel for Upward<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Self { plan, centre, gains, memory } = self;
        let BallBounds { leaves, values, log_weights, log_scale, boost, .. } = memory;
        (*log_scale, *boost) = (0.0, 1.0);
        let mut start = 0;
        for (table, &own) in plan.tables.iter().zip(centre) {
            let leaves = &mut leaves[table.first_leaf..][..table.leaves.len()];
            let gains = &gains[start..start + table.cardinality];
            let log_weights = &mut log_weights[start..start + table.cardinality];
            start += table.cardinality;
            log_weights.fill(f64::NEG_INFINITY);
            if own == OPEN {
                leaves.fill([T::ONE; 2]);
                continue;
            }
            let own = usize::from(own);
            let line = |code: usize| &table.leaf_ratios[code * table.places()..][..table.leaves.len()];
            let changes = || gains.iter().enumerate().filter(|(_, gain)| **gain > f64::NEG_INFINITY);
            let largest = changes()
                .map(|(code, gain)| table.log_scales[code] + gain)
                .fold(table.log_scales[own], f64::max);
            *log_scale += largest;
            *boost *= changes().map(|(code, _)| table.boosts[code]).fold(table.boosts[own], f64::max);
            // Raised to what single precision holds, which keeps it a bound.
            let weight = |log_weight: f64| T::from(log_weight.max(LEAST_LOG_WEIGHT).exp() as f32);
            let own_weight = weight(table.log_scales[own] - largest);
            for (leaf, &ratio) in leaves.iter_mut().zip(line(own)) {
                *leaf = [own_weight * T::from(ratio); 2];
            }
            for (code, gain) in changes() {
                log_weights[code] = table.log_scales[code] + gain - largest;
                let weight = weight(log_weights[code]);
                for ([_, most], &ratio) in leaves.iter_mut().zip(line(code)) {
                    *most = larger(*most, weight * T::from(ratio));
                }
            }
        }
        for (unit, value) in values[..plan.unit_ends.len()].iter_mut().enumerate() {
            let mut product = [T::ONE; COUNTS];
            for &leaf in plan.unit_leaves(unit) {
                product = times_leaf(&product, leaves[leaf as usize]);
            }
            *value = product;
        }
        for step in &plan.steps {
            let inputs = plan.inputs(step);
            let (done, outputs) = values.split_at_mut(step.output as usize);
            let outputs = &mut outputs[..step.width as usize];
            match step.kind {
                StepKind::Product => {
                    for (j, output) in outputs.iter_mut().enumerate() {
                        let (first, rest) = inputs.split_first().expect("a product has inputs");
                        *output = rest.iter().fold(done[*first as usize + j], |product, &input| {
                            times(&product, &done[input as usize + j])
                        });
                    }
                }
                StepKind::Sum { weights } => {
                    outputs.fill([T::default(); COUNTS]);
                    let weights = plan.weights(step, weights).chunks_exact(outputs.len());
                    for (&input, weights) in inputs.iter().zip(weights) {
                        let value = done[input as usize];
                        for (output, &weight) in outputs.iter_mut().zip(weights) {
                            add_times(output, &value, T::from(weight));
                        }
                    }
                }
            }
        }
    }
}

struct Downward<'a, T> {
    plan: &'a Plan,
    memory: &'a mut BallBounds<T>,
    bounds: &'a mut [ByCount<f64>],
}

impl<T: Real> Kernel for Downward<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Self { plan, memory, bounds } = self;
        let BallBounds { leaves, values, log_weights, contexts, leaf_contexts, before, .. } = memory;
        contexts[plan.root] = [T::ONE; COUNTS];
        for step in plan.steps.iter().rev() {
            let inputs = plan.inputs(step);
            let (below, above) = contexts.split_at_mut(step.output as usize);
            let above = &above[..step.width as usize];
            match step.kind {
                StepKind::Sum { weights } => {
                    let weights = plan.weights(step, weights).chunks_exact(above.len());
                    for (&input, weights) in inputs.iter().zip(weights) {
                        for (above, &weight) in above.iter().zip(weights) {
                            add_times(&mut below[input as usize], above, T::from(weight));
                        }
                    }
                }
                StepKind::Product => {
                    let (&last, others) = inputs.split_last().expect("a product has inputs");
                    for (j, above) in above.iter().enumerate() {
                        let mut product = *above;
                        for (before, &input) in before.iter_mut().zip(others) {
                            *before = product;
                            product = times(&product, &values[input as usize + j]);
                        }
                        add(&mut below[last as usize + j], &product);
                        let mut after = values[last as usize + j];
                        for (place, &input) in others.iter().enumerate().rev() {
                            add(&mut below[input as usize + j], &times(&before[place], &after));
                            if place > 0 {
                                after = times(&after, &values[input as usize + j]);
                            }
                        }
                    }
                }
            }
        }
        for (unit, context) in contexts[..plan.unit_ends.len()].iter().enumerate() {
            let Some((&last, others)) = plan.unit_leaves(unit).split_last() else { continue };
            let mut product = *context;
            for (before, &leaf) in before.iter_mut().zip(others) {
                *before = product;
                product = times_leaf(&product, leaves[leaf as usize]);
            }
            leaf_contexts[last as usize] = product;
            let mut after = times_leaf(&[T::ONE; COUNTS], leaves[last as usize]);
            for (place, &leaf) in others.iter().enumerate().rev() {
                leaf_contexts[leaf as usize] = times(&before[place], &after);
                if place > 0 {
                    after = times_leaf(&after, leaves[leaf as usize]);
                }
            }
        }
        let mut start = 0;
        for table in &plan.tables {
            let contexts = &leaf_contexts[table.first_leaf..][..table.leaves.len()];
            for code in (0..table.cardinality).filter(|code| log_weights[start + code] > f64::NEG_INFINITY) {
                let ratios = &table.leaf_ratios[code * table.places()..][..contexts.len()];
                let mut sum = [T::default(); COUNTS];
                for (context, &ratio) in contexts.iter().zip(ratios) {
                    add_times(&mut sum, context, T::from(ratio));
                }
                bounds[start + code] = sum.map(Into::into);
            }
            start += table.cardinality;
        }
    }
}

#[inline(always)]
fn larger<T: Real>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

#[inline(always)]
fn add<T: Real>(sum: &mut ByCount<T>, value: &ByCount<T>) {
    for (sum, &value) in sum.iter_mut().zip(value) {
        *sum += value;
    }
}

#[inline(always)]
fn add_times<T: Real>(sum: &mut ByCount<T>, value: &ByCount<T>, factor: T) {
    for (sum, &value) in sum.iter_mut().zip(value) {
        *sum += factor * value;
    }
}

/// Multiplies by a leaf: unchanged, or changed to its maximum at the cost of one change.
#[inline(always)]
fn times_leaf<T: Real>(value: &ByCount<T>, [own, most]: [T; 2]) -> ByCount<T> {
    let mut product = value.map(|value| value * own);
    for count in 1..COUNTS {
        product[count] = larger(product[count], value[count - 1] * most);
    }
    product[COUNTS - 1] = larger(product[COUNTS - 1], value[COUNTS - 1] * most);
    product
}

/// Multiplies two factors, under the best division of the changes between them.
#[inline(always)]
fn times<T: Real>(a: &ByCount<T>, b: &ByCount<T>) -> ByCount<T> {
    let mut product = b.map(|b| a[0] * b);
    for shift in 1..COUNTS {
        for count in shift..COUNTS {
            product[count] = larger(product[count], a[shift] * b[count - shift]);
        }
    }
    product[COUNTS - 1] = larger(product[COUNTS - 1], a[COUNTS - 1] * b[COUNTS - 1]);
    product
}
