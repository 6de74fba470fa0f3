//! Bounds on the rows of a ball: every value is eight, one for each number of variables below it that may
//! change.

use super::vectorised::{Kernel, vectorised};
use super::{Plan, Real, StepKind};
use crate::{Ball, OPEN};

/// Numbers of changes that are bounded: 0, 1, …, 6, and any number.
pub(crate) const COUNTS: usize = 8;

/// An upper bound for each number of changes; they never fall.
pub(crate) type ByCount<T> = [T; COUNTS];

/// Scratch memory for the bounds of a ball.
#[derive(Clone, Debug)]
pub(crate) struct BallBounds<T> {
    /// For each leaf, its value at the centre and the largest that it may take.
    leaves: Vec<[T; 2]>,
    values: Vec<ByCount<T>>,
}

impl<T: Real> BallBounds<T> {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            leaves: vec![[T::default(); 2]; plan.leaf_places],
            values: vec![[T::default(); COUNTS]; plan.values],
        }
    }

    /// For each number of changes, the logarithm of the circuit's value when every child of a sum makes the
    /// changes that are best for it, without rounding errors; `None` where this precision cannot hold it.
    pub(crate) fn bounds(&mut self, plan: &Plan, ball: &Ball) -> Option<ByCount<f64>> {
        let mut log_scale = 0.0;
        let mut boost = 1.0;
        vectorised(BallKernel { plan, ball, memory: self, log_scale: &mut log_scale, boost: &mut boost });
        let root = self.values[plan.root];
        let held = root.iter().all(|value| plan.trusts(*value, boost));
        held.then(|| root.map(|value| value.into().ln() + log_scale))
    }
}

struct BallKernel<'a, T> {
    plan: &'a Plan,
    ball: &'a Ball,
    memory: &'a mut BallBounds<T>,
    log_scale: &'a mut f64,
    boost: &'a mut f64,
}

impl<T: Real> Kernel for BallKernel<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Self { plan, ball, memory: BallBounds { leaves, values }, log_scale, boost } = self;
        for (variable, table) in plan.tables.iter().enumerate() {
            let leaves = &mut leaves[table.first_leaf..][..table.leaves.len()];
            let own = ball.centre()[variable];
            if own == OPEN {
                leaves.fill([T::ONE; 2]);
                continue;
            }
            let own = usize::from(own);
            let line = |code: usize| &table.leaf_ratios[code * table.places()..][..table.leaves.len()];
            let alternatives = || ball.alternatives(variable).iter().copied().map(usize::from);
            let largest = alternatives().map(|code| table.scales[code]).fold(table.scales[own], f64::max);
            let weight = |code: usize| T::from((table.scales[code] / largest) as f32);
            *log_scale += largest.ln();
            *boost *= alternatives().map(|code| table.boosts[code]).fold(table.boosts[own], f64::max);
            let own_weight = weight(own);
            for (leaf, &ratio) in leaves.iter_mut().zip(line(own)) {
                *leaf = [own_weight * T::from(ratio); 2];
            }
            for code in alternatives() {
                let weight = weight(code);
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
                            let weight = T::from(weight);
                            for (output, &value) in output.iter_mut().zip(&value) {
                                *output += weight * value;
                            }
                        }
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn larger<T: Real>(a: T, b: T) -> T {
    if b > a { b } else { a }
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
