//! Refinement: from a proposal to a better row nearby, within the candidates and the budget.

pub(crate) mod paper;
pub(crate) mod swap;
mod walk;

use par_circuit::{Circuit, Code, Evaluator, Stop};
use par_data::{Constraints, Mask, OwnRow, Reach, Wishes};
use par_model::{AnswerConfig, Target};

use crate::complete::{Completer, Guide};
use crate::problem::{Frontier, Objective, SearchProblem};

/// With more edges than this in the accepted circuit, passes and nodes take longer, and proportionally fewer are made.
const EDGES: usize = 4_000;

/// So many passes or nodes, or fewer if each takes the `work` of more than 4,000 edges, so that they take about the same
/// time; at least 1.
pub(crate) fn affordable(count: usize, work: usize) -> usize {
    (count.saturating_mul(EDGES) / work.max(EDGES)).max(1)
}

/// Finds the likeliest row that `refine` would offer for a mask, without proposals, or one with more changes than its
/// budget if it would offer none: the teacher of a generator.
pub struct Refiner<'a> {
    constraints: &'a Constraints,
    target: Target<'a>,
    answers: &'a AnswerConfig,
    evaluator: Evaluator<'a>,
    memory: swap::Memory,
    completer: Completer,
    stop: Stop<'a>,
}

impl<'a> Refiner<'a> {
    /// A refiner for one thread.
    pub fn new(
        constraints: &'a Constraints,
        accepted: &'a Circuit,
        target: Target<'a>,
        answers: &'a AnswerConfig,
        stop: Stop<'a>,
    ) -> Self {
        let (evaluator, mut memory) = (accepted.evaluator(), swap::Memory::default());
        memory.most_passes = affordable(answers.passes, accepted.edges());
        Self { constraints, target, answers, evaluator, memory, completer: Completer::default(), stop }
    }

    /// The best row for the factual of a mask, if one is found.
    pub fn best(&mut self, mask: &Mask<'_>) -> Option<Vec<Code>> {
        let factual = mask.factual();
        let own = OwnRow::typical(self.constraints, factual.to_vec());
        let locks: Vec<usize> = (0..factual.len()).filter(|&feature| !mask.is_free(feature)).collect();
        let wishes = Wishes { locks: &locks, ..Wishes::default() };
        let candidates = self.constraints.candidates(&own, &wishes, Reach::Codes);
        let problem = SearchProblem {
            candidates: &candidates,
            duration: Some(0),
            target: self.target,
            reads_values: false,
            objective: Objective::likeliest(0.0, f64::NEG_INFINITY),
            log_given: &[0.0],
            budget: self.answers.budget.min(candidates.free_features()),
            taken: &[],
        };
        let (price, none) = (self.answers.price, Frontier::default());
        self.memory.forget();
        let found = swap::search(&problem, &mut self.evaluator, &mut self.memory, none, price, self.stop);
        if let Some(best) = found.choice(price) {
            return Some(best.row.codes.clone());
        }
        // Whoever needs more changes than the budget is taught them as they are.
        let wide = SearchProblem { budget: candidates.free_features(), ..problem };
        self.completer.start(&wide);
        let evaluator = Some(&mut self.evaluator);
        let guide = Guide { preferences: None, evaluator, price, effort: 0.0, stop: self.stop };
        self.completer.complete(&wide, guide).map(|row| row.codes)
    }
}
