//! Refinement: from a proposal to a better candidate nearby, within the mask and the budget.

pub(crate) mod paper;
pub(crate) mod swap;

use par_circuit::{Circuit, Code, Evaluator, Stop};
use par_data::Mask;
use par_model::{AnswerConfig, Target};

use crate::problem::{Frontier, SearchProblem};

/// Finds the row that `refine` would offer for a mask, without proposals: the teacher of a generator.
pub struct Refiner<'a> {
    target: Target<'a>,
    answers: &'a AnswerConfig,
    evaluator: Evaluator<'a>,
    memory: swap::Memory,
    stop: Stop<'a>,
}

impl<'a> Refiner<'a> {
    /// A refiner for one thread.
    pub fn new(accepted: &'a Circuit, target: Target<'a>, answers: &'a AnswerConfig, stop: Stop<'a>) -> Self {
        Self { target, answers, evaluator: accepted.evaluator(), memory: swap::Memory::default(), stop }
    }

    /// The best row for the factual of a mask, if one is found.
    pub fn best(&mut self, mask: &Mask<'_>) -> Option<Vec<Code>> {
        let price = self.answers.price;
        let budget = self.answers.budget.min(mask.free_features());
        let problem = SearchProblem { mask, target: self.target, budget, taken: &[] };
        let none = Frontier::default();
        let found = swap::search(&problem, &mut self.evaluator, &mut self.memory, none, price, self.stop);
        found.choice(price).map(|best| best.row.clone())
    }
}
