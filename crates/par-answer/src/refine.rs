//! Refinement: from a proposal to a better row nearby, within the candidates and the budget.

pub(crate) mod paper;
pub(crate) mod swap;

use par_circuit::{Circuit, Code, Evaluator, Stop};
use par_data::{Constraints, Mask, OwnRow, Reach, Wishes};
use par_model::{AnswerConfig, Target};

use crate::complete::{Completer, Guide};
use crate::problem::{Cost, Frontier, Objective, SearchProblem, Solution};

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
        Self {
            constraints,
            target,
            answers,
            evaluator: accepted.evaluator(),
            memory: swap::Memory::default(),
            completer: Completer::default(),
            stop,
        }
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
            duration: candidates.durations().first()?,
            target: self.target,
            reads_values: false,
            objective: Objective::likeliest(0.0, f64::NEG_INFINITY),
            log_given: 0.0,
            budget: self.answers.budget.min(candidates.free_features()),
            taken: &[],
        };
        let price = self.answers.price;
        let wide = SearchProblem { budget: candidates.free_features(), ..problem };
        self.completer.start(&wide);
        let likely = Guide { preferences: None, evaluator: Some(&mut self.evaluator), price, effort: 0.0 };
        let likely = self.completer.complete(&wide, likely);
        let few = match &likely {
            Some(row) if wide.changes(row) <= problem.budget => likely.clone(),
            _ => {
                let few = Guide { preferences: None, evaluator: None, price: 1.0, effort: 0.0 };
                self.completer.complete(&problem, few)
            }
        };
        // Whoever needs more changes than the budget is taught them as they are.
        let Some(row) = few else { return likely.map(|row| row.codes) };
        let log_prob = self.evaluator.log_prob(&row.codes);
        let (cost, changes) = (Cost::of(&candidates, &row.choices), problem.changes(&row));
        let mut known = Frontier::default();
        known.add(Solution { worth: problem.worth(log_prob, cost), row, log_prob, cost, changes });
        let found = swap::search(&problem, &mut self.evaluator, &mut self.memory, known, price, self.stop);
        found.choice(price).map(|best| best.row.codes.clone())
    }
}
