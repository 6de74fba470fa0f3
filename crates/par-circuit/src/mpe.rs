//! The most probable row of a box (MPE), with an upper bound.

use crate::log_space::log_sum_exp;
use crate::{Allowed, Circuit, Code, Evaluator, Node, threads};

/// The most probable row that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Mpe {
    /// Its codes.
    pub row: Vec<Code>,
    /// Its log-probability.
    pub log_prob: f64,
    /// Upper bound on the log-probability of every row of the box. The problem is NP-hard for mixtures; where
    /// `log_prob` equals this, the row is optimal.
    pub upper_bound: f64,
}

/// Children of the root, likeliest first, from which a search starts.
const STARTS: usize = 8;

impl Circuit {
    /// A probable row of a box, found by local search; `None` when all rows are impossible.
    ///
    /// The search starts from the best row when every sum takes its best child only, for the root and for
    /// each of its likeliest children. From there it changes the one code that helps most, until none does.
    ///
    /// # Panics
    /// When the box is of other variables.
    pub fn mpe(&self, allowed: &Allowed) -> Option<Mpe> {
        let mut evaluator = self.evaluator();
        let upper_bound = evaluator.upper_bound(allowed);
        let best = self.starts(allowed).into_iter().map(|start| climb(&mut evaluator, allowed, start)).fold(
            None,
            |best: Option<(f64, Vec<Code>)>, found| match best {
                Some(best) if best.0 >= found.0 => Some(best),
                _ => Some(found),
            },
        );
        let (log_prob, row) = best.filter(|(log_prob, _)| *log_prob > f64::NEG_INFINITY)?;
        Some(Mpe { row, log_prob, upper_bound: upper_bound.max(log_prob) })
    }

    /// [`Circuit::mpe`] of every box.
    ///
    /// # Panics
    /// When a box is of other variables.
    pub fn mpes(&self, boxes: &[Allowed]) -> Vec<Option<Mpe>> {
        threads::map(boxes, |allowed| self.mpe(allowed))
    }

    /// The bound of [`Evaluator::upper_bound`] in double precision and log space.
    pub(crate) fn log_upper_bound(&self, allowed: &Allowed) -> f64 {
        let value = self.log_maxima(allowed, |terms| log_sum_exp(terms.iter().copied()));
        *value.last().expect("a circuit has a root")
    }

    /// Log values when every leaf takes the greatest of its allowed probabilities; `sum` combines the
    /// weighted children of a sum.
    fn log_maxima(&self, allowed: &Allowed, sum: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        let mut value: Vec<f64> = Vec::with_capacity(self.nodes().len());
        let mut terms = Vec::new();
        for node in self.nodes() {
            value.push(match node {
                Node::Leaf { variable, probabilities } => {
                    let codes = allowed.codes(*variable);
                    codes.map(|code| probabilities[usize::from(code)]).fold(0.0, f64::max).ln()
                }
                Node::Product { children } => children.iter().map(|c| value[c.index()]).sum(),
                Node::Sum { children, weights } => {
                    terms.clear();
                    terms.extend(children.iter().zip(weights).map(|(c, w)| w.ln() + value[c.index()]));
                    sum(&terms)
                }
            });
        }
        value
    }

    /// The rows that the search starts from.
    fn starts(&self, allowed: &Allowed) -> Vec<Vec<Code>> {
        let value = self.log_maxima(allowed, |terms| terms.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        let root = self.nodes().len() - 1;
        let mut parts = vec![root];
        if let Node::Sum { children, weights } = &self.nodes()[root] {
            let mut ranked: Vec<(f64, usize)> = children
                .iter()
                .zip(weights)
                .map(|(child, weight)| (weight.ln() + value[child.index()], child.index()))
                .collect();
            ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
            parts.extend(ranked.into_iter().skip(1).take(STARTS - 1).map(|(_, child)| child));
        }
        parts.into_iter().map(|part| self.trace(allowed, &value, part)).collect()
    }

    /// The row of the best child at every sum, below a node that covers all variables.
    fn trace(&self, allowed: &Allowed, value: &[f64], start: usize) -> Vec<Code> {
        let mut row = vec![0; self.cardinalities().len()];
        let mut stack = vec![start];
        while let Some(index) = stack.pop() {
            match &self.nodes()[index] {
                Node::Leaf { variable, probabilities } => {
                    let probability = |code: &Code| probabilities[usize::from(*code)];
                    let best = allowed.codes(*variable).max_by(|a, b| {
                        // The first of equals, so that the result is deterministic.
                        probability(a).total_cmp(&probability(b)).then(b.cmp(a))
                    });
                    row[*variable] = best.expect("a box leaves every variable a code");
                }
                Node::Product { children } => stack.extend(children.iter().map(|child| child.index())),
                Node::Sum { children, weights } => {
                    let term = |&(child, weight): &(&crate::NodeId, &f64)| weight.ln() + value[child.index()];
                    let terms = children.iter().zip(weights);
                    let best = terms.max_by(|a, b| term(a).total_cmp(&term(b)).then(b.0.cmp(a.0)));
                    stack.push(best.expect("a sum has children").0.index());
                }
            }
        }
        row
    }
}

/// Makes the one change that helps most, until none helps.
fn climb(evaluator: &mut Evaluator<'_>, allowed: &Allowed, mut row: Vec<Code>) -> (f64, Vec<Code>) {
    let mut log_prob = evaluator.log_prob(&row);
    let codes: usize = allowed.cardinalities().iter().sum();
    let offsets = crate::circuit::offsets(allowed.cardinalities());
    let mut soft = vec![0.0; codes];
    let mut gradient = vec![0.0; codes];
    while log_prob > f64::NEG_INFINITY {
        soft.fill(0.0);
        for (&offset, &code) in offsets.iter().zip(&row) {
            soft[offset + usize::from(code)] = 1.0;
        }
        // The slope by a code is the probability of the row with that code over that of the row itself.
        evaluator.soft_gradient(&soft, &mut gradient);
        let changes = offsets.iter().enumerate().flat_map(|(variable, &offset)| {
            allowed.codes(variable).map(move |code| (variable, code, offset + usize::from(code)))
        });
        let best = changes.max_by(|a, b| gradient[a.2].total_cmp(&gradient[b.2]));
        let (variable, code, _) = best.expect("a box leaves every variable a code");
        let before = std::mem::replace(&mut row[variable], code);
        let changed = evaluator.log_prob(&row);
        if changed <= log_prob {
            row[variable] = before;
            break;
        }
        log_prob = changed;
    }
    (log_prob, row)
}
