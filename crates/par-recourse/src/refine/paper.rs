//! The paper's local search, to the letter: its appendix "Local Search and Post-Processing".

use par_circuit::{Code, Evaluator};

use crate::problem::Problem;

/// Lets features that rose although what has to rise with them did not fall back to the person's own.
///
/// # Paper
/// Algorithm "RepairCausality". `rules` are its pairs of an effect v and its cause u, causes in order.
/// Departure: none; where rules form a chain, one pass may leave a rule broken, which `Feasible` then sees.
pub(crate) fn repair_causality(candidate: &mut [Code], factual: &[Code], rules: &[(usize, usize)]) {
    for &(effect, cause) in rules {
        if candidate[cause] <= factual[cause] && candidate[effect] > factual[effect] {
            candidate[effect] = factual[effect];
        }
    }
}

/// The local search of one person's problem.
pub(crate) struct TwoPhase<'a, 'e, 'c> {
    pub(crate) problem: Problem<'a>,
    /// Pairs of an effect and its cause, sorted by the cause.
    pub(crate) rules: &'a [(usize, usize)],
    pub(crate) evaluator: &'e mut Evaluator<'c>,
    /// How much log p⁺ may fall when a change is taken back (Δ_max); any amount when absent.
    pub(crate) delta_max: Option<f64>,
}

impl TwoPhase<'_, '_, '_> {
    /// Repairs a proposal and takes back what is superfluous. The row that comes out may still be denied.
    ///
    /// # Paper
    /// Algorithm "Strict Two-Phase Local Search". Departures: the budget is also that of the request; and
    /// `Feasible` asks the mask, which knows locks, bounds and allowed values besides the paper's constraints.
    pub(crate) fn search(&mut self, proposal: &[Code]) -> Vec<Code> {
        let factual = self.problem.factual().to_vec();
        // Lines 1 to 3.
        let mut row = proposal.to_vec();
        for (feature, code) in row.iter_mut().enumerate() {
            if !self.problem.mask.is_free(feature) {
                *code = factual[feature];
            }
        }
        self.problem.budget = self.problem.budget.min(self.problem.changes(proposal));
        repair_causality(&mut row, &factual, self.rules);
        // Lines 4 to 6.
        if !self.problem.permits(&row) {
            row = factual.clone();
        }
        // Lines 7 to 10.
        let score = self.problem.classifier.log_odds(&row);
        if self.problem.suffices(score) {
            return self.sparsify(row);
        }
        // Lines 11 to 30.
        let mut best = (score, self.evaluator.log_prob(&row), row.clone());
        let mut valid: Option<(f64, usize, f64, Vec<Code>)> = None;
        for feature in (0..row.len()).filter(|&feature| self.problem.mask.is_free(feature)) {
            for code in 0..self.problem.mask.legal(feature).len() as Code {
                if code == row[feature] {
                    continue;
                }
                let mut changed = row.clone();
                changed[feature] = code;
                repair_causality(&mut changed, &factual, self.rules);
                if !self.problem.permits(&changed) {
                    continue;
                }
                let score = self.problem.classifier.log_odds(&changed);
                let log_prob = self.evaluator.log_prob(&changed);
                if self.problem.suffices(score) {
                    let key = (-score, self.problem.changes(&changed), -log_prob);
                    if valid.as_ref().is_none_or(|known| key < (known.0, known.1, known.2)) {
                        valid = Some((key.0, key.1, key.2, changed));
                    }
                } else if (score, log_prob) > (best.0, best.1) {
                    best = (score, log_prob, changed);
                }
            }
        }
        // Lines 31 to 34.
        match valid {
            Some((.., row)) => self.sparsify(row),
            None => best.2,
        }
    }

    /// Takes changes back, one at a time, while the row stays accepted and likely enough.
    ///
    /// # Paper
    /// Algorithm "Sparsify".
    pub(crate) fn sparsify(&mut self, mut row: Vec<Code>) -> Vec<Code> {
        let factual = self.problem.factual().to_vec();
        let mut log_prob = self.evaluator.log_prob(&row);
        loop {
            let mut changed: Vec<usize> =
                (0..row.len()).filter(|&feature| row[feature] != factual[feature]).collect();
            changed.sort_by_key(|&feature| row[feature].abs_diff(factual[feature]));
            let reverted = changed.into_iter().find_map(|feature| {
                let mut reverted = row.clone();
                reverted[feature] = factual[feature];
                repair_causality(&mut reverted, &factual, self.rules);
                if !self.problem.permits(&reverted) || !self.problem.accepts(&reverted) {
                    return None;
                }
                let reverted_log_prob = self.evaluator.log_prob(&reverted);
                let falls_too_far = |most| reverted_log_prob < log_prob - most;
                (!self.delta_max.is_some_and(falls_too_far)).then_some((reverted, reverted_log_prob))
            });
            match reverted {
                Some(reverted) => (row, log_prob) = reverted,
                None => return row,
            }
        }
    }
}
