//! Upper bounds on the rows within some changes of a centre, where changes may have gains beside the likelihood.

use crate::engine::{ByCount, COUNTS, CodeBounds};
use crate::log_space::log_sum_exp;
use crate::{Circuit, Code, Node, OPEN};

/// Upper bounds on log p(x) + Σ gains of the changes, over the rows x that differ from a centre in a few variables.
///
/// Gains are one number a code: what a change to it adds; −∞ where it is not allowed. The gain of a variable's own code is
/// that of a change which leaves the code as it is.
#[derive(Clone, Debug, Default)]
pub struct ChangeBounds {
    pub(crate) all: ByCount<f64>,
    /// `None` where only the bounds of all rows are known.
    pub(crate) codes: Option<CodeBounds>,
    pub(crate) rounding: f64,
}

impl ChangeBounds {
    /// Over all rows with at most `changes` changes. Beyond six changes, over rows with any number.
    pub fn all(&self, changes: usize) -> f64 {
        self.all[changes.min(COUNTS - 1)]
    }

    /// Over the rows with a change to the code at `place` and at most `others` changes beside it; −∞ where it is not
    /// allowed. Places are those of the gains.
    pub fn with(&self, place: usize, others: usize) -> f64 {
        let all = self.all(others + 1);
        match &self.codes {
            None => all,
            Some(codes) => match codes.values[place][others.min(COUNTS - 1)] {
                value if value.is_finite() => {
                    ((value + codes.lost).ln() + codes.log_scales[place] + self.rounding).min(all)
                }
                // A value that overflowed bounds nothing.
                _ => all,
            },
        }
    }
}

impl Circuit {
    /// The bounds over all rows in double precision and log space.
    pub(crate) fn log_change_bounds(&self, centre: &[Code], gains: &[f64]) -> ByCount<f64> {
        let offsets = crate::circuit::offsets(self.cardinalities());
        let mut value: Vec<ByCount<f64>> = Vec::with_capacity(self.nodes().len());
        for node in self.nodes() {
            value.push(match node {
                Node::Leaf { variable, probabilities } => {
                    let own = match centre[*variable] {
                        OPEN => 0.0,
                        code => probabilities[usize::from(code)].ln(),
                    };
                    let gains = &gains[offsets[*variable]..][..probabilities.len()];
                    let changes =
                        gains.iter().zip(probabilities).filter(|(gain, _)| **gain > f64::NEG_INFINITY);
                    let most = match centre[*variable] {
                        OPEN => own,
                        _ => changes.map(|(gain, probability)| gain + probability.ln()).fold(own, f64::max),
                    };
                    std::array::from_fn(|count| if count == 0 { own } else { most })
                }
                Node::Product { children } => {
                    children.iter().fold([0.0; COUNTS], |sum, child| shared_out(&sum, &value[child.index()]))
                }
                Node::Sum { children, weights } => std::array::from_fn(|count| {
                    let terms = children.iter().zip(weights);
                    log_sum_exp(terms.map(|(child, weight)| weight.ln() + value[child.index()][count]))
                }),
            });
        }
        *value.last().expect("a circuit has a root")
    }
}

/// For every number of changes, the largest sum of a value of `a` and one of `b` over all divisions of the
/// changes.
fn shared_out(a: &ByCount<f64>, b: &ByCount<f64>) -> ByCount<f64> {
    let any = a[COUNTS - 1] + b[COUNTS - 1];
    std::array::from_fn(|count| {
        let shares = (0..=count).map(|share| a[share] + b[count - share]);
        shares.fold(if count == COUNTS - 1 { any } else { f64::NEG_INFINITY }, f64::max)
    })
}
