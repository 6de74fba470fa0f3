//! From the person's own row to a first solution: change by change toward the target.

use par_data::Choice;

use super::swap::{Search, Single};
use crate::problem::{Cost, Row, SearchProblem};

/// What a unit of log-odds short of the target costs: so much on the first walk that hardly anything else counts.
const PULL: f64 = 1e3;

/// The same in the search abreast, which weighs it against what rows are worth. Measured: with 1 fewer ways of least effort
/// are found, and a second search with 1 after one with 4 finds hardly any more.
const BEAM_PULL: f64 = 4.0;

/// The least of all pulls.
const LEAST_PULL: f64 = 0.25;

/// How many rows a search abreast keeps for each number of changes, at least and at most: one for so many passes.
const BEAM: (usize, usize) = (2, 6);
const PASSES_A_ROW: usize = 25;

/// What a nat below the floor costs on a walk.
pub(super) const FLOOR_PULL: f64 = 1.0;

/// A row that breaks a policy counts as so much short of the target.
const BROKEN_POLICY: f64 = 1e3;

/// As long as more than so many of the best change would be needed, a walk makes several before it looks again.
const SEVERAL: f64 = 4.0;

/// The highest log-odds of all rows next to a walk that stayed denied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reached {
    months: u32,
    budget: usize,
    log_odds: f64,
}

/// A change of a walk.
#[derive(Clone, Copy)]
struct Step {
    merit: f64,
    /// How much of what was short of the target is left.
    short: f64,
    /// How many features the person then changes.
    changes: usize,
    feature: usize,
    choice: Choice,
}

impl Search<'_, '_, '_> {
    /// The log-odds that reach the target.
    fn target(&self) -> f64 {
        self.problem.target.scale.log_odds(self.problem.target.threshold)
    }

    /// Walks from the person's own row until there is a solution.
    pub(super) fn reach(&mut self) {
        let problem = self.problem;
        let (months, budget) = (problem.longest(), problem.budget);
        let target = self.target();
        let is_same = |reached: &&Reached| reached.months == months && reached.budget == budget;
        // The first walk goes the same way whatever the target, until it is reached.
        if self.memory.reached.iter().find(is_same).is_some_and(|reached| reached.log_odds < target) {
            return;
        }
        let log_odds = self.walk(target);
        if !self.frontier.solutions().is_empty() || self.is_over() {
            return;
        }
        if log_odds < target {
            self.memory.reached.push(Reached { months, budget, log_odds });
            return;
        }
        // The target is within reach, but not by likely rows.
        let beam = (self.memory.most_passes / PASSES_A_ROW).clamp(BEAM.0, BEAM.1);
        self.walk_abreast(BEAM_PULL, target, beam);
    }

    /// Walks once more, weighing log-odds at the price that the best solution pays for them: where that is one large
    /// change, several small ones may be worth more.
    pub(super) fn walk_again(&mut self, beam: usize) {
        let (problem, own) = (self.problem, self.problem.own());
        let Some(best) = self.frontier.solutions().last() else { return };
        let target = self.target();
        let cost = Cost::of(problem.candidates, &own.choices);
        let log_prob = self.evaluator.log_prob(&own.codes);
        let worth = problem.relaxed_worth(log_prob, own.duration, cost, FLOOR_PULL);
        let short = (target - problem.log_odds(&own)).max(f64::MIN_POSITIVE);
        let pull = ((worth - best.worth) / short).clamp(LEAST_PULL, PULL);
        self.walk_abreast(pull, target, beam);
    }

    /// Looks around the best `beam` rows with no change, with one, and so on.
    fn walk_abreast(&mut self, pull: f64, target: f64, beam: usize) {
        let problem = self.problem;
        let mut rows = vec![problem.own()];
        for _ in 0..problem.budget {
            let mut next: Vec<(usize, Step)> = Vec::new();
            for (place, row) in rows.iter().enumerate() {
                if self.is_over() {
                    return;
                }
                if !self.single_changes(row) {
                    self.pass(row);
                }
                self.score_neighbours(row);
                let changes = problem.changes(row);
                let (steps, _) = self.steps(row, pull, target);
                let is_further = |step: &&Step| step.changes > changes;
                next.extend(steps.iter().filter(is_further).take(2 * beam).map(|&step| (place, step)));
            }
            next.sort_by(|(a_place, a), (b_place, b)| {
                b.merit.total_cmp(&a.merit).then((a_place, a.feature).cmp(&(b_place, b.feature)))
            });
            let mut kept: Vec<Row> = Vec::with_capacity(beam);
            for (place, step) in next {
                let mut row = rows[place].clone();
                problem.set(&mut row, step.feature, step.choice);
                if is_on_the_way(problem, &row) && !kept.contains(&row) {
                    kept.push(row);
                }
                if kept.len() == beam {
                    break;
                }
            }
            rows = kept;
        }
    }

    /// Makes changes until there is a solution, and returns the highest log-odds of all rows that it could have gone
    /// to.
    fn walk(&mut self, target: f64) -> f64 {
        let mut row = self.problem.own();
        let mut most = f64::NEG_INFINITY;
        let mut walked: Vec<Row> = Vec::new();
        // Each change may have to be replaced once more.
        while walked.len() < self.problem.budget.saturating_mul(2)
            && !walked.contains(&row)
            && !self.is_over()
        {
            if !self.single_changes(&row) {
                self.pass(&row);
            }
            if !self.frontier.solutions().is_empty() {
                break;
            }
            walked.push(row.clone());
            self.score_neighbours(&row);
            let Some(highest) = self.step(&mut row, target) else { break };
            most = most.max(highest);
        }
        most
    }

    /// The best single change of each feature, the best first, and the highest log-odds of any.
    fn steps(&self, centre: &Row, pull: f64, target: f64) -> (Vec<Step>, f64) {
        let (problem, mut row) = (self.problem, centre.clone());
        let mut steps: Vec<Step> = Vec::with_capacity(problem.candidates.free().len());
        let mut highest = f64::NEG_INFINITY;
        for &single in self.within_budget() {
            let Single { feature, choice, changes, log_prob, duration, cost, .. } = single;
            if log_prob == f64::NEG_INFINITY {
                continue;
            }
            let mut policies = 0.0;
            if problem.candidates.constraints().has_policies() {
                problem.set(&mut row, feature, choice);
                policies = if problem.candidates.keeps_policies(&row.choices) { 0.0 } else { BROKEN_POLICY };
                row.clone_from(centre);
            }
            let log_odds = self.estimate(&single);
            highest = highest.max(log_odds);
            let short = (target - log_odds).max(0.0) + policies;
            let merit = problem.relaxed_worth(log_prob, duration, cost, FLOOR_PULL) - pull * short;
            let step = Step { merit, short, changes, feature, choice };
            match steps.last_mut() {
                Some(last) if last.feature == feature && last.merit >= merit => {}
                Some(last) if last.feature == feature => *last = step,
                _ => steps.push(step),
            }
        }
        steps.sort_by(|a, b| b.merit.total_cmp(&a.merit).then(a.feature.cmp(&b.feature)));
        (steps, highest)
    }

    /// Makes the best change, or several if many are needed. Returns the highest log-odds of any single change; `None`
    /// if there is none.
    fn step(&mut self, row: &mut Row, target: f64) -> Option<f64> {
        let (problem, centre) = (self.problem, row.clone());
        let (steps, highest) = self.steps(&centre, PULL, target);
        let first = self.first_permitted(row, &steps)?;
        let made = steps[first];
        problem.set(row, made.feature, made.choice);
        let short = (target - problem.score(&centre)).max(0.0);
        let mut gained = short - made.short;
        if gained > 0.0 && short > SEVERAL * gained {
            for step in steps.iter().filter(|step| step.feature != made.feature) {
                if gained >= short / 2.0 || step.short >= short {
                    break;
                }
                let before = row.choices[step.feature];
                problem.set(row, step.feature, step.choice);
                match is_on_the_way(problem, row) {
                    true => gained += short - step.short,
                    false => problem.set(row, step.feature, before),
                }
            }
        }
        Some(highest)
    }

    /// The first step after which a row may be offered; without any, the first that may lie on the way: a further change
    /// may mend a broken relation.
    fn first_permitted(&self, row: &mut Row, steps: &[Step]) -> Option<usize> {
        let problem = self.problem;
        let mut on_the_way = None;
        for (place, step) in steps.iter().enumerate() {
            let before = row.choices[step.feature];
            problem.set(row, step.feature, step.choice);
            let (is_permitted, may_follow) = (problem.permits(row), is_on_the_way(problem, row));
            problem.set(row, step.feature, before);
            if is_permitted {
                return Some(place);
            }
            on_the_way = on_the_way.or(may_follow.then_some(place));
        }
        on_the_way
    }
}

fn is_on_the_way(problem: &SearchProblem<'_>, row: &Row) -> bool {
    row.is_settled && problem.permits_on_the_way(row)
}

#[cfg(test)]
mod tests {
    use par_circuit::{Evaluator, Stop};
    use par_data::{Constraints, OwnRow, Reach, Wishes};
    use par_model::test_world::World;
    use par_model::{ScoreScale, Target};

    use super::*;
    use crate::problem::{Frontier, Objective};
    use crate::refine::swap::{Memory, fewest, search};

    /// Runs with the problem of somebody with twelve codes of 0, where a row is accepted if its codes, 0 to 3, sum to
    /// `enough`.
    fn with_problem<T>(
        enough: i32,
        budget: usize,
        run: impl FnOnce(&SearchProblem<'_>, &mut Evaluator<'_>) -> T,
    ) -> T {
        let world = World { cardinalities: vec![4; 12], lines: vec![""; 12], rules: Vec::new() };
        let constraints = Constraints::new(&world.discretizer());
        // The classifier counts each code minus one half.
        let classifier = world.classifier(6.0 - f64::from(enough) + 1e-3);
        let circuit = world.circuit(true);
        let own = OwnRow::typical(&constraints, vec![0; 12]);
        let candidates = constraints.candidates(&own, &Wishes::default(), Reach::Codes);
        let problem = SearchProblem {
            candidates: &candidates,
            duration: None,
            target: Target { classifier: &classifier, threshold: 0.5, scale: ScoreScale::Probability },
            reads_values: false,
            objective: Objective::likeliest(0.0, f64::NEG_INFINITY),
            log_given: &[0.0],
            budget,
            taken: &[],
        };
        run(&problem, &mut circuit.evaluator())
    }

    /// The fewest changes found within a budget, and then again.
    fn changes(enough: i32, budget: usize, memory: &mut Memory) -> [Option<usize>; 2] {
        with_problem(enough, budget, |problem, evaluator| {
            let first = fewest(problem, evaluator, memory, Stop::never());
            let again = search(problem, evaluator, memory, Frontier::default(), 0.0, Stop::never());
            [first.fewest(), again.fewest()]
        })
    }

    /// Where many changes are needed, only promising pairs of them are scored.
    #[test]
    fn no_change_in_place_of_another_is_better_than_what_is_found() {
        for enough in [15, 20, 28] {
            with_problem(enough, 12, |problem, evaluator| {
                let mut memory = Memory::default();
                let found = search(problem, evaluator, &mut memory, Frontier::default(), 0.0, Stop::never());
                let best = found.choice(0.0).expect("twelve changes are enough");
                assert!(best.changes > 4, "{enough}: {} changes", best.changes);
                let mut tried = 0;
                for taken in (0..12).filter(|&feature| best.row.choices[feature] != 0) {
                    for (other, choice) in (0..12).flat_map(|other| (0..4).map(move |choice| (other, choice)))
                    {
                        let mut row = best.row.clone();
                        problem.set(&mut row, taken, 0);
                        problem.set(&mut row, other, choice);
                        if problem.permits(&row) && problem.accepts(&row) {
                            let worth = problem.worth(evaluator.log_prob(&row.codes), 0, Cost::default());
                            assert!(worth <= best.worth + 1e-6, "{:?} after {:?}", row.codes, best.row.codes);
                            tried += 1;
                        }
                    }
                }
                assert!(tried > 0, "{enough}");
            });
        }
    }

    #[test]
    fn a_walk_makes_as_many_changes_as_are_needed_in_few_passes() {
        for (enough, needed) in [(3, 1), (6, 2), (12, 4), (30, 10), (36, 12)] {
            let mut memory = Memory::default();
            memory.most_passes = 60;
            assert_eq!(changes(enough, 12, &mut memory)[0], Some(needed), "{enough}");
        }
    }

    #[test]
    fn a_walk_that_stays_denied_is_not_made_again() {
        let mut memory = Memory::default();
        assert_eq!(changes(30, 4, &mut memory), [None, None]);
        assert_eq!(memory.passes, 0, "the second search knows that the target is out of reach");
        memory.forget();
        assert_eq!(changes(12, 4, &mut memory), [Some(4), Some(4)]);
    }

    #[test]
    fn a_search_ends_when_its_passes_are_used_up() {
        let mut memory = Memory::default();
        memory.most_passes = 2;
        assert_eq!(
            changes(30, 12, &mut memory),
            [None, Some(10)],
            "the second goes on from what is remembered"
        );
        assert_eq!(memory.passes, 2);
    }
}
