//! From the person's own row to a first solution: change by change toward the target.

use par_data::Choice;

use super::swap::{Search, Single};
use crate::problem::{Cost, Row, SearchProblem};

/// What counts on a walk, beside nats below the floor: each of those costs one.
#[derive(Clone, Copy)]
struct Pull {
    /// What a unit of log-odds short of the target costs.
    log_odds: f64,
    /// The weight of what a row is worth.
    worth: f64,
}

/// On the first walk hardly anything but the target counts.
const TO_TARGET: Pull = Pull { log_odds: 1e3, worth: 1.0 };

/// Where that leads to unlikely rows, target and floor count, and what rows are worth only among equals. Measured: where
/// their worth counts as much, fewer people have a way of least effort, or any.
const TO_LIKELY_ROWS: Pull = Pull { log_odds: 4.0, worth: 1e-3 };

/// The least and the most that log-odds cost on a second walk.
const PRICES: (f64, f64) = (0.25, 1e3);

/// How many rows a search abreast keeps for each number of changes. Measured on random tables and on seven of others: six
/// take a fifth more time, and find hardly more ways within the budget and fewer beyond it.
const BEAM: usize = 2;

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
    /// Walks from the person's own row until there is a solution.
    pub(super) fn reach(&mut self) {
        let problem = self.problem;
        let (months, budget) = (problem.longest(), problem.budget);
        let is_same = |reached: &&Reached| reached.months == months && reached.budget == budget;
        // The first walk goes much the same way whatever the aim, until it reaches the target.
        if self.memory.reached.iter().find(is_same).is_some_and(|reached| reached.log_odds < self.target) {
            return;
        }
        let log_odds = self.walk();
        if !self.frontier.solutions().is_empty() || self.is_over() {
            return;
        }
        if log_odds < self.target {
            if problem.taken.is_empty() {
                self.memory.reached.push(Reached { months, budget, log_odds });
            }
            return;
        }
        // The target is within reach, but not by likely rows.
        self.walk_abreast(TO_LIKELY_ROWS, BEAM);
    }

    /// Walks once more, weighing log-odds at the price that the best solution pays for them: where that is one large
    /// change, several small ones may be worth more.
    pub(super) fn walk_again(&mut self, beam: usize) {
        let (problem, own) = (self.problem, self.problem.own());
        let Some(best) = self.frontier.solutions().last() else { return };
        let cost = Cost::of(problem.candidates, &own.choices);
        let log_prob = self.evaluator.log_prob(&own.codes);
        let worth = problem.relaxed_worth(log_prob, own.duration, cost, 1.0);
        let short = (self.target - problem.log_odds(&own)).max(f64::MIN_POSITIVE);
        let log_odds = ((worth - best.worth) / short).clamp(PRICES.0, PRICES.1);
        self.walk_abreast(Pull { log_odds, worth: 1.0 }, beam);
    }

    /// Looks around the best `beam` rows with no change, with one, and so on.
    fn walk_abreast(&mut self, pull: Pull, beam: usize) {
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
                let changes = problem.changes(row);
                let (steps, _) = self.steps(row, pull);
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
    fn walk(&mut self) -> f64 {
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
            let Some(highest) = self.step(&mut row) else { break };
            most = most.max(highest);
        }
        most
    }

    /// The best single change of each feature, the best first, and the highest log-odds of any.
    fn steps(&self, centre: &Row, pull: Pull) -> (Vec<Step>, f64) {
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
            let short = (self.target - log_odds).max(0.0) + policies;
            let merit = problem.relaxed_worth(log_prob, duration, cost, pull.worth) - pull.log_odds * short;
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
    fn step(&mut self, row: &mut Row) -> Option<f64> {
        let (problem, centre) = (self.problem, row.clone());
        let (steps, highest) = self.steps(&centre, TO_TARGET);
        let first = self.first_permitted(row, &steps)?;
        let made = steps[first];
        problem.set(row, made.feature, made.choice);
        let short = (self.target - problem.score(&centre)).max(0.0);
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
    use par_data::schema::Side;
    use par_data::{Constraints, OwnRow, Reach, Wishes};
    use par_model::test_world::World;
    use par_model::{ScoreScale, Target};

    use super::*;
    use crate::problem::{Frontier, Objective};
    use crate::refine::swap::{Memory, fewest, reach, search};

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
            let first = fewest(problem, evaluator, memory, Frontier::default(), Stop::never());
            let again = search(problem, evaluator, memory, Frontier::default(), 0.0, Stop::never());
            [first.fewest(), again.fewest()]
        })
    }

    /// Where many changes are needed, only promising pairs of them are scored.
    #[test]
    fn no_change_in_place_of_another_is_better_than_what_is_found() {
        let likeliest = Objective::likeliest(0.0, f64::NEG_INFINITY);
        let least_effort = Objective::least_effort(f64::NEG_INFINITY);
        let cases = [(15, likeliest, 5), (20, likeliest, 5), (28, likeliest, 5), (6, least_effort, 2)];
        for (enough, objective, changes) in cases {
            with_problem(enough, 12, |problem, evaluator| {
                let problem = &SearchProblem { objective, ..*problem };
                let mut memory = Memory::default();
                let found = search(problem, evaluator, &mut memory, Frontier::default(), 0.0, Stop::never());
                let best = found.choice(0.0).expect("twelve changes are enough");
                assert!(best.changes >= changes, "{enough}: {} changes", best.changes);
                let mut tried = 0;
                for taken in (0..12).filter(|&feature| best.row.choices[feature] != 0) {
                    for (other, choice) in (0..12).flat_map(|other| (0..4).map(move |choice| (other, choice)))
                    {
                        let mut row = best.row.clone();
                        problem.set(&mut row, taken, 0);
                        problem.set(&mut row, other, choice);
                        if problem.permits(&row) && problem.accepts(&row) {
                            let cost = Cost::of(problem.candidates, &row.choices);
                            let worth = problem.worth(evaluator.log_prob(&row.codes), 0, cost);
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
    fn the_target_of_a_regression_is_near_its_threshold_however_far_that_is() {
        with_problem(4, 3, |problem, _| {
            for threshold in [-3e9, 20.0, 3e9] {
                let scale = ScoreScale::Number { center: 0.0, spread: 1.0, side: Side::AtLeast };
                let target = Target { threshold, scale, ..problem.target };
                let log_odds = SearchProblem { target, ..*problem }.target_log_odds();
                assert!(log_odds < threshold && log_odds > threshold - 10.0, "{log_odds} for {threshold}");
            }
        });
    }

    /// Rows that cost too much are passed over before they are scored.
    #[test]
    fn a_frontier_of_many_rows_has_the_best_of_them() {
        for objective in [|floor| Objective::likeliest(1.0, floor), Objective::least_effort] {
            with_problem(4, 3, |problem, evaluator| {
                // Some of the rows are less likely.
                let floor = evaluator.log_prob(&problem.own().codes) + 1.0;
                let problem = &SearchProblem { objective: objective(floor), ..*problem };
                let changes = |feature: usize| (1..4).map(move |choice| (feature, choice));
                let with = |row: &Row, (feature, choice)| {
                    let mut row = row.clone();
                    problem.set(&mut row, feature, choice);
                    row
                };
                let mut rows = vec![problem.own()];
                for feature in 0..12 {
                    let further = rows.iter().filter(|row| problem.changes(row) < 3);
                    let further: Vec<Row> =
                        further.flat_map(|row| changes(feature).map(|change| with(row, change))).collect();
                    rows.extend(further);
                }
                let mut expected = [f64::NEG_INFINITY; 4];
                for row in rows.iter().filter(|row| problem.permits(row) && problem.accepts(row)) {
                    let cost = Cost::of(problem.candidates, &row.choices);
                    let worth = problem.worth(evaluator.log_prob(&row.codes), 0, cost);
                    for best in &mut expected[problem.changes(row)..] {
                        *best = best.max(worth);
                    }
                }
                let mut frontier = Frontier::default();
                problem.add_solutions(&mut frontier, rows.into_iter(), evaluator);
                let found = [0, 1, 2, 3].map(|changes| frontier.at_most(changes));
                let is_near =
                    |(found, expected): (&f64, &f64)| found == expected || (found - expected).abs() < 1e-5;
                assert!(found.iter().zip(&expected).all(is_near), "{found:?}, not {expected:?}");
                assert!(found[3] > f64::NEG_INFINITY);
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
    fn a_walk_comes_to_rows_that_are_likely_enough() {
        with_problem(9, 4, |problem, evaluator| {
            let likeliest_with = |floor: f64, evaluator: &mut Evaluator<'_>| {
                let problem = SearchProblem { objective: Objective::likeliest(0.0, floor), ..*problem };
                let found = reach(&problem, evaluator, &mut Memory::default(), Stop::never());
                found.choice(0.0).map(|best| best.log_prob)
            };
            // Each time likelier rows are asked for than the walk came to.
            let mut found: Vec<f64> = Vec::new();
            while let Some(log_prob) =
                likeliest_with(found.last().map_or(f64::NEG_INFINITY, |last| last + 1e-6), evaluator)
            {
                found.push(log_prob);
            }
            assert!(found.len() > 1, "{found:?}");
            let exhausted =
                crate::exact::solve(problem, evaluator, Frontier::default(), 100_000, Stop::never());
            let best = exhausted.frontier.choice(0.0).expect("four changes are enough").log_prob;
            assert!(best - found[found.len() - 1] < 1e-6, "{best} after {found:?}");
        });
    }

    #[test]
    fn a_walk_that_stays_denied_is_not_made_again() {
        let mut memory = Memory::default();
        assert_eq!(changes(30, 4, &mut memory), [None, None]);
        let reached = std::mem::take(&mut memory.reached);
        memory.forget();
        memory.reached = reached;
        assert_eq!(changes(30, 4, &mut memory), [None, None]);
        assert_eq!(memory.passes, 0, "it is known that the target is out of reach");
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
