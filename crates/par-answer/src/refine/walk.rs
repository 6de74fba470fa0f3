//! From the person's own row to a first solution: change by change toward the target.

use super::swap::{Search, Single};
use crate::problem::{Row, SearchProblem};
use par_data::Choice;

/// What a unit of log-odds short of the target costs on a walk. The first walk counts hardly anything else; the others
/// weigh it against what rows are worth, and are made if the first one reached the target with rows too unlikely.
const PULLS: [f64; 3] = [1e3, 4.0, 1.0];

/// What a nat below the floor costs on a walk.
const FLOOR_PULL: f64 = 1.0;

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
    feature: usize,
    choice: Choice,
}

impl Search<'_, '_, '_> {
    /// Walks from the person's own row until there is a solution.
    pub(super) fn reach(&mut self) {
        let problem = self.problem;
        let (months, budget) = (problem.duration.longest, problem.budget);
        let target = problem.target.scale.log_odds(problem.target.threshold);
        let is_same = |reached: &&Reached| reached.months == months && reached.budget == budget;
        // The first walk goes the same way whatever the target, until it is reached.
        if self.memory.reached.iter().find(is_same).is_some_and(|reached| reached.log_odds < target) {
            return;
        }
        for (place, pull) in PULLS.into_iter().enumerate() {
            let log_odds = self.walk(pull, target);
            if !self.frontier.solutions().is_empty() || self.is_over() {
                return;
            }
            if place == 0 && log_odds < target {
                self.memory.reached.push(Reached { months, budget, log_odds });
                return;
            }
        }
    }

    /// Makes changes until there is a solution, and returns the highest log-odds of all rows that it could have gone
    /// to.
    fn walk(&mut self, pull: f64, target: f64) -> f64 {
        let mut row = self.problem.own();
        let mut most = f64::NEG_INFINITY;
        let mut walked: Vec<Row> = Vec::new();
        // Each change may have to be replaced once more.
        while walked.len() < self.problem.budget.saturating_mul(2) && !walked.contains(&row) && !self.is_over() {
            if !self.single_changes(&row) {
                self.pass(&row);
            }
            if !self.frontier.solutions().is_empty() {
                break;
            }
            walked.push(row.clone());
            self.score_neighbours(&row);
            let Some(highest) = self.step(&mut row, pull, target) else { break };
            most = most.max(highest);
        }
        most
    }

    /// Makes the best change, or several if many are needed. Returns the highest log-odds of any single change; `None`
    /// if there is none.
    fn step(&mut self, row: &mut Row, pull: f64, target: f64) -> Option<f64> {
        let (problem, centre) = (self.problem, row.clone());
        let mut steps: Vec<Step> = Vec::with_capacity(problem.candidates.free().len());
        let mut highest = f64::NEG_INFINITY;
        self.for_single_changes(&centre, |search, single| {
            let Single { feature, choice, log_prob, cost, has_consequences, .. } = single;
            if log_prob == f64::NEG_INFINITY {
                return;
            }
            problem.set(row, feature, choice);
            let policies = if problem.candidates.keeps_policies(&row.choices) { 0.0 } else { BROKEN_POLICY };
            let log_odds =
                if has_consequences { problem.log_odds(row) } else { search.estimate(feature, choice) };
            problem.set(row, feature, centre.choices[feature]);
            highest = highest.max(log_odds);
            let short = (target - log_odds).max(0.0) + policies;
            let merit = problem.relaxed_worth(log_prob, cost, FLOOR_PULL) - pull * short;
            match steps.last_mut() {
                Some(last) if last.feature == feature && last.merit >= merit => {}
                Some(last) if last.feature == feature => *last = Step { merit, short, feature, choice },
                _ => steps.push(Step { merit, short, feature, choice }),
            }
        });
        steps.sort_by(|a, b| b.merit.total_cmp(&a.merit).then(a.feature.cmp(&b.feature)));
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
