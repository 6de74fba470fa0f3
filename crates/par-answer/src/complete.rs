//! Completes a denied row: makes further changes until it is accepted, then takes back those that are not needed.

use par_circuit::{Evaluator, Stop};
use par_data::{Choice, Mask};
use par_model::classifier::neural::offsets;

use crate::problem::{Row, SearchProblem};

/// Completes rows; keep it, to reuse its buffers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completer {
    /// How many nats of log p⁺ the row loses with each code of each feature in place of its own.
    losses: Vec<f64>,
    log_odds: Vec<f64>,
    /// The steps from the row at the start.
    first_steps: Vec<Step>,
    steps: Vec<Step>,
    /// Changed features, each with what it costs.
    changed: Vec<(f64, usize)>,
}

/// What changes cost, beside their gain in log-odds.
pub(crate) struct Guide<'a, 'c> {
    /// For each code of each feature, its [preference](preferences) by a generator, if there is one.
    pub(crate) preferences: Option<&'a [f64]>,
    /// Tells how many nats of log p⁺ a change costs, if that counts.
    pub(crate) evaluator: Option<&'a mut Evaluator<'c>>,
    /// What every change costs, in nats.
    pub(crate) price: f64,
    /// What a unit of effort costs, in nats.
    pub(crate) effort: f64,
    pub(crate) stop: Stop<'a>,
}

/// A change that may be made next.
#[derive(Clone, Copy, Debug)]
struct Step {
    feature: usize,
    choice: Choice,
    /// The place of its code among those of all features.
    code: usize,
    /// The place of its code, or of its choice, among all that the classifier reads.
    input: usize,
    /// How much it is preferred whatever its gain, in nats.
    preference: f64,
    /// The logarithm of what it adds to the score, perhaps before the last changes; −∞ if that is nothing.
    log_gain: f64,
    /// Whether the row after it could not be offered, perhaps before the last changes.
    breaks: bool,
}

/// How much a nat of a generator's preferences counts: measured on tables of 50 and 200 columns, where more leads to
/// more changes and less leaves more people without an answer.
const PREFERENCE: f64 = 0.3;
/// The lowest preference of a generator: even what it nearly rules out can be the only way.
const LEAST_PREFERENCE: f64 = -20.0;
/// How much less a step is preferred if its row could not be offered: a last resort, since a further one may mend it.
const BROKEN: f64 = 1e3;
/// The least cost of a change, in nats.
const LEAST_COST: f64 = 0.1;
/// The steps between two passes of the circuit grow by one for every so many made: of dozens none changes much.
const STEPS_BEFORE_ONE_MORE: usize = 4;
/// The least gain of a step, in log-odds.
const LEAST_GAIN: f64 = 1e-6;

/// The log-probability of each code by a generator's logits, among the codes of its feature that the mask permits.
pub(crate) fn preferences(mask: &Mask<'_>, logits: &[f64]) -> Vec<f64> {
    let mut preferences = vec![LEAST_PREFERENCE; logits.len()];
    for feature in 0..mask.factual().len() {
        let start = mask.range(feature).start;
        let places = || mask.codes(feature).map(|code| start + usize::from(code));
        let highest = places().map(|place| logits[place]).fold(f64::NEG_INFINITY, f64::max);
        let total = highest + places().map(|place| (logits[place] - highest).exp()).sum::<f64>().ln();
        places().for_each(|place| preferences[place] = (logits[place] - total).max(LEAST_PREFERENCE));
    }
    preferences
}

impl Completer {
    /// Measures all single changes of the person's own row.
    pub(crate) fn start(&mut self, problem: &SearchProblem<'_>) {
        let own = problem.own();
        self.list_steps(problem);
        self.measure_gains(problem, &own, problem.score(&own));
        std::mem::swap(&mut self.first_steps, &mut self.steps);
    }

    /// Completes the person's own row, after [`Completer::start`] for the same problem; `None` if no change that is left
    /// helps, or once it is stopped.
    ///
    /// The next change is the one that adds the most log-odds, as far as they are needed, for what it costs.
    pub(crate) fn complete(&mut self, problem: &SearchProblem<'_>, mut guide: Guide<'_, '_>) -> Option<Row> {
        let mut row = problem.own();
        if !row.is_settled || !problem.permits_on_the_way(&row) {
            return None;
        }
        let target = problem.target_log_odds();
        let mut score = problem.score(&row);
        self.steps.clone_from(&self.first_steps);
        self.prefer(problem, &row, &mut guide);
        let mut is_measured = true;
        let (mut made, mut last_pass, mut next_pass) = (0, 0, 1);
        while !(problem.permits(&row) && problem.accepts(&row)) {
            if guide.stop.check().is_err() {
                return None;
            }
            // Every step adds to the score, so that this ends.
            match self.best_step(problem, &mut row, score, target, guide.stop) {
                Some(Step { feature, choice, .. }) => {
                    problem.set(&mut row, feature, choice);
                    score = problem.score(&row);
                    is_measured = false;
                    made += 1;
                    if guide.evaluator.is_some() && made == next_pass {
                        self.prefer(problem, &row, &mut guide);
                        (last_pass, next_pass) = (made, made + 1 + made / STEPS_BEFORE_ONE_MORE);
                    }
                }
                None if is_measured => return None,
                None => {
                    self.measure_gains(problem, &row, score);
                    is_measured = true;
                }
            }
        }
        if guide.evaluator.is_some() && last_pass < made {
            self.prefer(problem, &row, &mut guide);
        }
        self.take_back(problem, &mut row, &guide);
        Some(row)
    }

    fn list_steps(&mut self, problem: &SearchProblem<'_>) {
        let (candidates, constraints) = (problem.candidates, problem.candidates.constraints());
        let inputs = offsets(problem.target.classifier.cardinalities());
        self.steps.clear();
        for &feature in candidates.free() {
            let start = constraints.range(feature).start;
            let choices = (0..).zip(candidates.of(feature)).skip(1);
            self.steps.extend(choices.map(|(choice, candidate)| Step {
                feature,
                choice,
                code: start + usize::from(candidate.code),
                input: inputs[feature]
                    + usize::from(if problem.reads_values { choice } else { candidate.code }),
                preference: 0.0,
                log_gain: f64::NEG_INFINITY,
                breaks: false,
            }));
        }
    }

    /// How much every step from a row is preferred whatever its gain: the less it costs, the more.
    fn prefer(&mut self, problem: &SearchProblem<'_>, row: &Row, guide: &mut Guide<'_, '_>) {
        self.losses.resize(problem.candidates.constraints().codes(), 0.0);
        match &mut guide.evaluator {
            Some(evaluator) => {
                let own = evaluator.neighbours(&row.codes, &mut self.losses);
                self.losses.iter_mut().for_each(|loss| *loss = own - *loss);
            }
            None => self.losses.fill(0.0),
        }
        for step in &mut self.steps {
            let effort = problem.candidates.of(step.feature)[usize::from(step.choice)].effort;
            let cost = guide.price + self.losses[step.code].max(0.0) + guide.effort * effort;
            step.preference = guide.preference(step.code) - cost.max(LEAST_COST).ln();
        }
    }

    /// What every step alone would add to the score of a row.
    fn measure_gains(&mut self, problem: &SearchProblem<'_>, row: &Row, score: f64) {
        let classifier = problem.target.classifier;
        self.log_odds.resize(classifier.cardinalities().iter().sum(), 0.0);
        classifier.neighbours(problem.classified(row), &mut self.log_odds);
        let breaks_policy = problem.log_odds(row) != score;
        for step in &mut self.steps {
            let is_unknown = breaks_policy || problem.moves_others(step.feature);
            step.breaks = false;
            // What the classifier alone does not tell is measured when the step comes first.
            step.log_gain =
                if is_unknown { f64::INFINITY } else { log_gain(self.log_odds[step.input] - score) };
        }
    }

    /// The best step from a row, unless it is stopped. Gains are measured again only while a step comes first by its last
    /// one.
    fn best_step(
        &mut self,
        problem: &SearchProblem<'_>,
        row: &mut Row,
        score: f64,
        target: f64,
        stop: Stop<'_>,
    ) -> Option<Step> {
        let needed = (target - score).max(LEAST_GAIN).ln();
        let merit = |step: &Step| {
            let penalty = if step.breaks { BROKEN } else { 0.0 };
            step.preference + step.log_gain.min(needed) - penalty
        };
        let steps = &mut self.steps;
        while stop.check().is_ok() {
            let (mut best, mut first, mut second) = (None, f64::NEG_INFINITY, f64::NEG_INFINITY);
            for (place, merit) in steps.iter().map(merit).enumerate() {
                if merit > first {
                    (best, first, second) = (Some(place), merit, first);
                } else if merit > second {
                    second = merit;
                }
            }
            let step = &mut steps[best?];
            let before = row.choices[step.feature];
            problem.set(row, step.feature, step.choice);
            let is_possible = before != step.choice && row.is_settled && problem.permits_on_the_way(row);
            step.log_gain =
                if is_possible { log_gain(problem.score(row) - score) } else { f64::NEG_INFINITY };
            step.breaks = is_possible && !problem.permits(row);
            problem.set(row, step.feature, before);
            if step.log_gain > f64::NEG_INFINITY && merit(step) >= second {
                return Some(*step);
            }
        }
        None
    }

    /// Takes back the changes that are not needed, the most costly first, until it is stopped.
    fn take_back(&mut self, problem: &SearchProblem<'_>, row: &mut Row, guide: &Guide<'_, '_>) {
        let candidates = problem.candidates;
        self.changed.clear();
        for &feature in candidates.free().iter().filter(|&&feature| row.choices[feature] != 0) {
            let start = candidates.constraints().range(feature).start;
            let place = |code: u16| start + usize::from(code);
            let (own, chosen) = (candidates.of(feature)[0], candidates.chosen(&row.choices, feature));
            let preferred = guide.preference(place(own.code)) - guide.preference(place(chosen.code));
            let cost = guide.effort * chosen.effort - self.losses[place(own.code)] + preferred;
            self.changed.push((cost, feature));
        }
        self.changed.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        // One that others depended on may be taken back after them.
        let mut is_any_taken = true;
        while std::mem::take(&mut is_any_taken) {
            for &(_, feature) in &self.changed {
                if guide.stop.check().is_err() {
                    return;
                }
                let choice = row.choices[feature];
                if choice == 0 {
                    continue;
                }
                problem.set(row, feature, 0);
                if problem.permits(row) && problem.accepts(row) {
                    is_any_taken = true;
                } else {
                    problem.set(row, feature, choice);
                }
            }
        }
    }
}

impl Guide<'_, '_> {
    /// How much the generator prefers a code, by its place, as far as that counts.
    fn preference(&self, code: usize) -> f64 {
        self.preferences.map_or(0.0, |preferences| PREFERENCE * preferences[code])
    }
}

fn log_gain(gain: f64) -> f64 {
    if gain > LEAST_GAIN { gain.ln() } else { f64::NEG_INFINITY }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use par_circuit::Code;
    use par_data::{Candidates, Constraints, OwnRow, Reach, Wishes};
    use par_model::test_world::{Linear, World};
    use par_model::{ScoreScale, Target};
    use proptest::prelude::*;

    use super::*;
    use crate::problem::Objective;

    /// A person whose codes must rise by `needed` together.
    struct Case {
        world: World,
        constraints: Constraints,
        classifier: Linear,
        factual: Vec<Code>,
        taken: Vec<Vec<usize>>,
    }

    impl Case {
        fn new(world: World, factual: &[Code], needed: f64) -> Self {
            let own: f64 = factual.iter().map(|&code| f64::from(code) - 0.5).sum();
            Self {
                constraints: Constraints::new(&world.discretizer()),
                classifier: world.classifier(-own - needed + 0.25),
                world,
                factual: factual.to_vec(),
                taken: Vec::new(),
            }
        }

        /// Ten features of three codes.
        fn wide(needed: f64) -> Self {
            Self::new(
                World { cardinalities: vec![3; 10], lines: vec![""; 10], rules: Vec::new() },
                &[0; 10],
                needed,
            )
        }

        fn candidates(&self) -> Candidates<'_> {
            let own = OwnRow::typical(&self.constraints, self.factual.clone());
            self.constraints.candidates(&own, &Wishes::default(), Reach::Codes)
        }

        fn problem<'a>(&'a self, candidates: &'a Candidates<'a>, budget: usize) -> SearchProblem<'a> {
            SearchProblem {
                candidates,
                duration: None,
                target: Target {
                    classifier: &self.classifier,
                    threshold: 0.5,
                    scale: ScoreScale::Probability,
                },
                reads_values: false,
                objective: Objective::likeliest(0.0, f64::NEG_INFINITY),
                log_given: &[0.0],
                budget,
                taken: &self.taken,
            }
        }

        fn complete(&self, preferences: &[f64], budget: usize) -> Option<Vec<Code>> {
            let candidates = self.candidates();
            let problem = self.problem(&candidates, budget);
            completed(&problem, guide(preferences)).map(|row| row.codes)
        }
    }

    fn completed(problem: &SearchProblem<'_>, guide: Guide<'_, '_>) -> Option<Row> {
        let mut completer = Completer::default();
        completer.start(problem);
        completer.complete(problem, guide)
    }

    fn guide(preferences: &[f64]) -> Guide<'_, '_> {
        Guide {
            preferences: Some(preferences),
            evaluator: None,
            price: 1.0,
            effort: 0.0,
            stop: Stop::never(),
        }
    }

    #[test]
    fn a_row_is_changed_until_it_is_accepted_and_no_further() {
        let case = Case::wide(14.0);
        let codes = case.complete(&[0.0; 30], 10).expect("ten changes are enough");
        assert_eq!(codes, [2, 2, 2, 2, 2, 2, 2, 0, 0, 0]);
        assert_eq!(case.complete(&[0.0; 30], 6), None, "seven changes are needed");
        assert_eq!(Case::wide(21.0).complete(&[0.0; 30], 10), None, "no row rises so far");
    }

    #[test]
    fn preferred_codes_come_first_unless_others_gain_much_more() {
        let case = Case::wide(2.0);
        let mut preferences = [-9.0; 30];
        preferences[3 * 7 + 1] = -0.5;
        preferences[3 * 8 + 1] = -0.5;
        assert_eq!(case.complete(&preferences, 10), Some(vec![0, 0, 0, 0, 0, 0, 0, 1, 1, 0]));
        preferences.fill(-2.0);
        preferences[3 * 7 + 1] = -0.5;
        assert_eq!(case.complete(&preferences, 10), Some(vec![2, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    }

    /// Whenever it is stopped, there is no row or one that is accepted, and nothing more is scored.
    #[test]
    fn a_stopped_completion_has_an_accepted_row_or_none() {
        let case = Case::wide(14.0);
        let candidates = case.candidates();
        let problem = case.problem(&candidates, 10);
        let mut rows = [0, 0];
        for most in 0..40 {
            let checks = AtomicUsize::new(0);
            let is_over = || checks.fetch_add(1, Ordering::Relaxed) >= most;
            let row = completed(&problem, Guide { stop: Stop::when(&is_over), ..guide(&[0.0; 30]) });
            assert!(row.as_ref().is_none_or(|row| problem.accepts(row)), "{row:?}");
            assert!(checks.into_inner() <= most + 2, "it goes on after {most} checks");
            rows[usize::from(row.is_some())] += 1;
        }
        assert!(rows.iter().all(|rows| *rows > 5), "{rows:?}");
    }

    /// The last change makes the first one superfluous, which the generator likes least.
    #[test]
    fn a_change_that_is_not_needed_is_taken_back() {
        let case = Case::wide(2.0);
        let mut preferences = [-9.0; 30];
        preferences[1] = -0.5;
        preferences[5] = -3.0;
        assert_eq!(case.complete(&preferences, 10), Some(vec![0, 2, 0, 0, 0, 0, 0, 0, 0, 0]));
    }

    #[test]
    fn the_circuit_guides_to_likely_rows() {
        let case = Case::wide(14.0);
        let circuit = case.world.circuit(true);
        let candidates = case.candidates();
        let problem = case.problem(&candidates, 10);
        let mut evaluator = circuit.evaluator();
        let guide = Guide {
            preferences: None,
            evaluator: Some(&mut evaluator),
            price: 1.25,
            effort: 0.0,
            stop: Stop::never(),
        };
        let row = completed(&problem, guide).expect("a row");
        let plain = case.complete(&[0.0; 30], 10).expect("a row");
        assert!(evaluator.log_prob(&row.codes) >= evaluator.log_prob(&plain));
    }

    #[test]
    fn preferences_are_log_probabilities_of_the_codes_that_are_free() {
        let constraints = Constraints::new(
            &World { cardinalities: vec![3, 2], lines: vec!["monotone = \"increasing\"", ""], rules: vec![] }
                .discretizer(),
        );
        let found = preferences(&constraints.mask(&[1, 0], &[]), &[9.0, 1.0, 1.0, 1000.0, -1000.0]);
        let half = 0.5_f64.ln();
        let expected = [LEAST_PREFERENCE, half, half, 0.0, LEAST_PREFERENCE];
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12));
    }

    proptest! {
        #[test]
        fn a_completed_row_is_accepted_may_be_offered_and_needs_every_change(
            factual in prop::collection::vec(0..3_u16, 6),
            lines in prop::collection::vec(0..4_usize, 6),
            has_rules in any::<bool>(),
            is_taken in any::<bool>(),
            needed in 0.5..9.0_f64,
            preferences in prop::collection::vec(-9.0..0.0_f64, 18),
            (budget, effort) in (1..7_usize, 0.0..2.0_f64),
        ) {
            let kinds = ["", "", "monotone = \"increasing\"", "immutable = true"];
            let rules = if has_rules { vec![(0, 1), (2, 1)] } else { Vec::new() };
            let lines = lines.iter().map(|&kind| kinds[kind]).collect();
            let mut case = Case::new(World { cardinalities: vec![3; 6], lines, rules }, &factual, needed);
            case.taken = if is_taken { vec![vec![0, 3], vec![4]] } else { Vec::new() };
            let candidates = case.candidates();
            let problem = case.problem(&candidates, budget);
            if let Some(row) = completed(&problem, Guide { effort, ..guide(&preferences) }) {
                prop_assert!(problem.permits(&row) && problem.accepts(&row));
                for &feature in candidates.free().iter().filter(|&&feature| row.choices[feature] != 0) {
                    let mut without = row.clone();
                    problem.set(&mut without, feature, 0);
                    prop_assert!(!(problem.permits(&without) && problem.accepts(&without)));
                }
            } else if !has_rules && !is_taken && budget == 6 {
                let free = candidates.free().iter();
                let most: f64 = free.map(|&feature| 2.0 - f64::from(factual[feature])).sum();
                prop_assert!(most < needed - 0.25, "raising all codes is enough");
            }
        }
    }
}
