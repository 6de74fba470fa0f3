//! Exact search: best-first branch and bound over the features that a person may change.
//!
//! A node has some features changed and some still open. Two passes of the circuit bound every further change at once,
//! together with what it costs and with what it adds to the score ([`bound`]). Changes that cannot improve the frontier
//! are dropped for the whole subtree; of the others the most promising feature is branched on ([`search`]).

mod bound;
mod multipliers;
mod search;
#[cfg(test)]
mod tests;

use par_circuit::{Evaluator, Stop};

use crate::problem::{Frontier, SearchProblem};

/// Worths closer than this count as equal, because of rounding in single precision.
pub(crate) const TOLERANCE: f64 = 1e-4;

/// The result of an exact search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Proof {
    pub(crate) frontier: Frontier,
    /// For each number of changes from 0: what a row with at most as many might be worth that was not searched.
    /// −∞ where all were.
    pub(crate) open: Vec<f64>,
    /// How many nodes were searched.
    pub(crate) nodes: usize,
}

/// Finds the best accepted row for each number of changes up to the budget, among ways of the problem's one duration.
///
/// `known` are solutions to start from, of any duration. After `max_nodes` nodes, or once `stop` is set, it returns its
/// best so far, and bounds on what was left.
///
/// # Paper
/// Eq. (1) and (2), which the paper approximates.
pub(crate) fn solve(
    problem: &SearchProblem<'_>,
    evaluator: &mut Evaluator<'_>,
    known: Frontier,
    max_nodes: usize,
    stop: Stop<'_>,
) -> Proof {
    if problem.budget == 0 || problem.candidates.free().is_empty() {
        return Proof { frontier: known, open: vec![f64::NEG_INFINITY; problem.budget + 1], nodes: 0 };
    }
    search::Search::new(problem, evaluator, known).run(max_nodes, stop)
}
