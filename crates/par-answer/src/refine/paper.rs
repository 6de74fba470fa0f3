//! The paper's local search, line by line: its appendix "Local Search and Post-Processing".

use par_circuit::{Code, Evaluator};

use crate::problem::{Row, SearchProblem};

/// Resets features that rose although their cause did not.
///
/// # Paper
/// Algorithm "RepairCausality". `rules` are its pairs of an effect v and its cause u, causes in order.
/// Departure: none. If rules form a chain, one pass may leave a rule broken, which `Feasible` then detects.
pub(crate) fn repair_causality(candidate: &mut [Code], factual: &[Code], rules: &[(usize, usize)]) {
    for &(effect, cause) in rules {
        if candidate[cause] <= factual[cause] && candidate[effect] > factual[effect] {
            candidate[effect] = factual[effect];
        }
    }
}

/// The local search of one person's problem.
pub(crate) struct TwoPhase<'a, 'e, 'c> {
    pub(crate) problem: SearchProblem<'a>,
    /// Pairs of an effect and its cause, sorted by the cause.
    pub(crate) rules: &'a [(usize, usize)],
    pub(crate) evaluator: &'e mut Evaluator<'c>,
    /// How far log p⁺ may fall when a change is taken back (Δ_max); without bound if `None`.
    pub(crate) delta_max: Option<f64>,
}

impl TwoPhase<'_, '_, '_> {
    /// Repairs a proposal and takes back superfluous changes. The result may still be denied.
    ///
    /// # Paper
    /// Algorithm "Strict Two-Phase Local Search". Departures: the budget is at most that of the request, and `Feasible`
    /// uses the candidates, which know locks, bounds, steps and relations besides the paper's constraints.
    pub(crate) fn search(&mut self, proposal: &[Code]) -> Vec<Code> {
        let budget = self.problem.budget;
        // Line 1.
        self.problem.budget = budget.min(self.changes(proposal));
        let row = self.search_within_budget(proposal);
        self.problem.budget = budget;
        row
    }

    /// How many features differ from the factual.
    fn changes(&self, row: &[Code]) -> usize {
        row.iter().zip(self.problem.own().codes).filter(|(code, own)| *code != own).count()
    }

    /// The row of these codes, if it may be offered: `Feasible`.
    fn permitted(&self, row: &[Code]) -> Option<Row> {
        self.problem.row(row).filter(|row| self.problem.permits(row))
    }

    fn search_within_budget(&mut self, proposal: &[Code]) -> Vec<Code> {
        let factual = self.problem.own().codes;
        // Lines 2 and 3.
        let mut row = proposal.to_vec();
        for (feature, code) in row.iter_mut().enumerate() {
            if !self.problem.candidates.is_free(feature) {
                *code = factual[feature];
            }
        }
        repair_causality(&mut row, &factual, self.rules);
        // Lines 4 to 6.
        let (row, known) = match self.permitted(&row) {
            Some(permitted) => (row, permitted),
            None => (factual.clone(), self.problem.own()),
        };
        // Lines 7 to 10.
        if self.problem.accepts(&known) {
            return self.sparsify(row);
        }
        let score = self.problem.score(&known);
        // Lines 11 to 30.
        let mut best = (score, self.evaluator.log_prob(&row), row.clone());
        let mut valid: Option<(f64, usize, f64, Vec<Code>)> = None;
        for &feature in self.problem.candidates.free() {
            for code in 0..self.problem.candidates.constraints().range(feature).len() as Code {
                if code == row[feature] {
                    continue;
                }
                let mut changed = row.clone();
                changed[feature] = code;
                repair_causality(&mut changed, &factual, self.rules);
                let Some(candidate) = self.permitted(&changed) else { continue };
                let score = self.problem.score(&candidate);
                let log_prob = self.evaluator.log_prob(&candidate.codes);
                if self.problem.accepts(&candidate) {
                    let key = (-score, self.problem.changes(&candidate), -log_prob);
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
        let factual = self.problem.own().codes;
        let mut log_prob = self.evaluator.log_prob(&row);
        loop {
            let mut changed: Vec<usize> =
                (0..row.len()).filter(|&feature| row[feature] != factual[feature]).collect();
            changed.sort_by_key(|&feature| row[feature].abs_diff(factual[feature]));
            let reverted = changed.into_iter().find_map(|feature| {
                let mut reverted = row.clone();
                reverted[feature] = factual[feature];
                repair_causality(&mut reverted, &factual, self.rules);
                let candidate = self.permitted(&reverted).filter(|row| self.problem.accepts(row))?;
                let reverted_log_prob = self.evaluator.log_prob(&candidate.codes);
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

#[cfg(test)]
mod tests {
    use par_data::{Constraints, OwnRow, Reach, Wishes};
    use par_model::test_world::World;
    use par_model::{ScoreScale, Target};

    use super::*;
    use crate::problem::Objective;

    #[test]
    fn repair_lets_effects_fall_back_when_their_cause_did_not_rise() {
        let factual = [2, 2, 2, 2];
        // Features 1 and 2 rise only with feature 0.
        let rules = [(1, 0), (2, 0)];
        let repaired = |mut row: [Code; 4]| {
            repair_causality(&mut row, &factual, &rules);
            row
        };
        assert_eq!(
            repaired([2, 3, 4, 5]),
            [2, 2, 2, 5],
            "lines 2 to 5: the cause stayed, both effects clamp"
        );
        assert_eq!(repaired([1, 3, 2, 2]), [1, 2, 2, 2], "line 2: a cause that fell did not rise");
        assert_eq!(repaired([3, 3, 4, 2]), [3, 3, 4, 2], "line 2: the cause rose, effects may");
        assert_eq!(repaired([2, 1, 0, 2]), [2, 1, 0, 2], "line 4: effects that fall need no cause");
    }

    /// Four features of four codes; a row is accepted if its codes sum to `enough`. The circuit favours high codes.
    struct Case {
        world: World,
        constraints: Constraints,
        enough: i32,
    }

    impl Case {
        fn new(enough: i32, rules: Vec<(usize, usize)>) -> Self {
            let world =
                World { cardinalities: vec![4; 4], lines: vec!["", "", "", "immutable = true"], rules };
            Self { constraints: Constraints::new(&world.discretizer()), world, enough }
        }

        fn run<T>(
            &self,
            factual: [Code; 4],
            delta_max: Option<f64>,
            run: impl FnOnce(&mut TwoPhase<'_, '_, '_>) -> T,
        ) -> T {
            // The classifier counts each code minus one half.
            let classifier = self.world.classifier(2.0 - f64::from(self.enough) + 1e-3);
            let circuit = self.world.circuit(true);
            let own = OwnRow::typical(&self.constraints, factual.to_vec());
            let candidates = self.constraints.candidates(&own, &Wishes::default(), Reach::Codes);
            let problem = SearchProblem {
                candidates: &candidates,
                duration: None,
                target: Target { classifier: &classifier, threshold: 0.5, scale: ScoreScale::Probability },
                reads_values: false,
                objective: Objective::likeliest(0.0, f64::NEG_INFINITY),
                log_given: &[0.0],
                budget: 4,
                taken: &[],
            };
            let evaluator = &mut circuit.evaluator();
            run(&mut TwoPhase { problem, rules: &self.world.rules, evaluator, delta_max })
        }

        fn search(&self, factual: [Code; 4], proposal: [Code; 4]) -> Vec<Code> {
            self.run(factual, None, |two_phase| two_phase.search(&proposal))
        }

        fn sparsify(&self, factual: [Code; 4], row: [Code; 4], delta_max: Option<f64>) -> Vec<Code> {
            self.run(factual, delta_max, |two_phase| two_phase.sparsify(row.to_vec()))
        }
    }

    #[test]
    fn sparsify_takes_the_smallest_changes_back_first_while_the_row_stays_accepted() {
        let case = Case::new(3, Vec::new());
        // Lines 4 to 6: feature 1 moved least; without it 3 + 2 is enough, then without 2 as well.
        assert_eq!(case.sparsify([0, 0, 0, 0], [3, 1, 2, 0], None), [3, 0, 0, 0]);
        // Line 11: without any of them the sum falls short.
        assert_eq!(case.sparsify([0, 0, 0, 0], [1, 1, 1, 0], None), [1, 1, 1, 0]);
        // Line 5: nothing to take back.
        assert_eq!(case.sparsify([0, 0, 3, 0], [0, 0, 3, 0], None), [0, 0, 3, 0]);
    }

    #[test]
    fn sparsify_does_not_take_back_what_makes_the_row_too_unlikely() {
        let case = Case::new(3, Vec::new());
        // Lines 13 to 17: taking back a change from 1 to 0 costs less than 1.2 nats, one from 3 to 0 more.
        assert_eq!(case.sparsify([0, 0, 0, 0], [1, 3, 3, 0], Some(1.2)), [0, 3, 3, 0]);
        assert_eq!(case.sparsify([0, 0, 0, 0], [1, 3, 3, 0], Some(9.0)), [0, 0, 3, 0]);
        assert_eq!(case.sparsify([0, 0, 0, 0], [1, 3, 3, 0], Some(0.0)), [1, 3, 3, 0]);
    }

    #[test]
    fn sparsify_repairs_rules_when_it_takes_a_cause_back() {
        // Feature 1 rises only with feature 0. Line 8: without feature 0, feature 1 goes as well.
        let case = Case::new(3, vec![(1, 0)]);
        assert_eq!(case.sparsify([0, 0, 0, 0], [1, 2, 3, 0], None), [0, 0, 3, 0]);
    }

    #[test]
    fn an_accepted_proposal_is_only_made_sparser() {
        let case = Case::new(3, Vec::new());
        // Lines 7 to 9; line 2 puts the immutable feature back first.
        assert_eq!(case.search([0, 0, 0, 0], [3, 1, 0, 2]), [3, 0, 0, 0]);
    }

    #[test]
    fn a_denied_proposal_is_repaired_by_one_change_within_its_own_budget() {
        let case = Case::new(5, Vec::new());
        // Lines 12 to 27: of the rows one change away, (3, 3, 0, 0) has the highest score within a budget of
        // two changes; then line 34 finds nothing to take back.
        assert_eq!(case.search([0, 0, 0, 0], [3, 1, 0, 0]), [3, 3, 0, 0]);
        // With a budget of three, two rows have the highest score and as many changes, so that line 25 takes
        // the likelier; line 34 takes the superfluous change back.
        let found = case.search([0, 0, 0, 0], [2, 1, 1, 0]);
        assert_eq!(found.iter().filter(|code| **code != 0).count(), 2, "{found:?}");
    }

    #[test]
    fn one_proposals_budget_is_not_the_next_ones() {
        let case = Case::new(5, Vec::new());
        let found = case.run([0, 0, 0, 0], None, |two_phase| {
            assert_eq!(two_phase.search(&[0, 0, 0, 0]), [0, 0, 0, 0]);
            two_phase.search(&[3, 1, 0, 0])
        });
        assert_eq!(found, [3, 3, 0, 0]);
    }

    #[test]
    fn an_irreparable_proposal_takes_the_change_with_the_highest_score() {
        let case = Case::new(8, Vec::new());
        // Lines 28 and 32: nothing within one change is accepted; the best is the highest score.
        assert_eq!(case.search([0, 0, 0, 0], [0, 2, 0, 0]), [0, 3, 0, 0]);
    }

    #[test]
    fn an_infeasible_proposal_is_replaced_by_the_factual() {
        // Feature 0 may not fall, so lines 4 to 6 go back to the factual; the budget is still two.
        let lines = vec!["monotone = \"increasing\"", "", "", ""];
        let world = World { cardinalities: vec![4; 4], lines, rules: Vec::new() };
        let case = Case { constraints: Constraints::new(&world.discretizer()), world, enough: 4 };
        assert_eq!(case.search([1, 0, 0, 0], [0, 3, 0, 0]), [1, 3, 0, 0]);
    }
}
