//! Our local search: replaces one change by another, or by none, as long as that improves the frontier.

use par_circuit::{Evaluator, Stop};
use par_data::Choice;

use crate::problem::{Cost, Frontier, Row, SearchProblem, Solution};

/// The buffers of the search, reused for the next person.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    neighbours: Vec<f64>,
    better: Vec<Better>,
    /// Rows whose single changes have been tried, concatenated. The frontier only rises, so trying them again would
    /// find nothing.
    centres: Vec<Choice>,
}

/// A single change that would improve the frontier, if it is accepted.
#[derive(Clone, Copy, Debug)]
struct Better {
    worth: f64,
    log_prob: f64,
    feature: usize,
    choice: Choice,
}

impl Memory {
    /// How many passes of the circuit the last search made, for rows of `features` features.
    pub(crate) fn passes(&self, features: usize) -> usize {
        self.centres.len() / features
    }
}

/// Improves the frontier until no replacement of one change helps, or `stop` is set.
///
/// At a solution, and at each row that takes one of its changes back, one pass of the circuit scores every single
/// change. The best accepted rows go on the frontier, by number of changes. The search ends when it has been at all
/// solutions near the one most worth offering.
pub(crate) fn search(
    problem: &SearchProblem<'_>,
    evaluator: &mut Evaluator<'_>,
    memory: &mut Memory,
    known: Frontier,
    price: f64,
    stop: Stop<'_>,
) -> Frontier {
    memory.centres.clear();
    let mut search = Search { problem, evaluator, memory, frontier: known, stop };
    if search.frontier.solutions().is_empty() {
        search.reach();
    }
    let mut searched: Vec<Row> = Vec::new();
    while let Some(row) = search.next(price, &searched) {
        search.trade(&row);
        searched.push(row);
    }
    search.frontier
}

struct Search<'a, 'p, 'c> {
    problem: &'a SearchProblem<'p>,
    evaluator: &'a mut Evaluator<'c>,
    memory: &'a mut Memory,
    frontier: Frontier,
    stop: Stop<'a>,
}

impl Search<'_, '_, '_> {
    /// The next solution to search around.
    fn next(&self, price: f64, searched: &[Row]) -> Option<Row> {
        self.stop.check().ok()?;
        let near = self.frontier.near(price, self.problem.objective.near);
        let mut near = near.map(|solution| &solution.row);
        near.find(|row| !searched.contains(row)).cloned()
    }

    fn trade(&mut self, row: &Row) {
        self.single_changes(row);
        let free = self.problem.candidates.free().iter();
        for &feature in free.filter(|&&feature| row.choices[feature] != 0) {
            let mut reverted = row.clone();
            self.problem.set(&mut reverted, feature, 0);
            self.single_changes(&reverted);
        }
    }

    /// Adds the best of the rows that are one change away, for each number of changes.
    fn single_changes(&mut self, centre: &Row) {
        let Self { problem, evaluator, memory, frontier, .. } = self;
        let Memory { neighbours, better, centres } = &mut **memory;
        let width = centre.choices.len();
        if centres.chunks_exact(width).any(|tried| tried == centre.choices) {
            return;
        }
        centres.extend_from_slice(&centre.choices);
        let candidates = problem.candidates;
        let constraints = candidates.constraints();
        let made = problem.changes(centre);
        let cost = Cost::of(candidates, &centre.choices);
        neighbours.resize(constraints.codes(), 0.0);
        evaluator.neighbours(&centre.codes, neighbours);
        better.clear();
        let mut row = centre.clone();
        for &feature in candidates.free() {
            let has_consequences = candidates.has_consequences(feature);
            let list = candidates.of(feature);
            let own = centre.choices[feature];
            let start = constraints.range(feature).start;
            for (choice, candidate) in (0..).zip(list).filter(|(choice, _)| *choice != own) {
                let changes = made - usize::from(own != 0) + usize::from(choice != 0);
                if changes > problem.budget || changes == 0 {
                    continue;
                }
                let log_prob = match has_consequences {
                    false => neighbours[start + usize::from(candidate.code)],
                    true => {
                        problem.set(&mut row, feature, choice);
                        let log_prob =
                            if row.is_settled { evaluator.log_prob(&row.codes) } else { f64::NEG_INFINITY };
                        problem.set(&mut row, feature, own);
                        log_prob
                    }
                };
                let worth = problem.worth(log_prob, cost.replacing(&list[usize::from(own)], candidate));
                if worth > frontier.at_most(changes) {
                    better.push(Better { worth, log_prob, feature, choice });
                }
            }
        }
        better.sort_by(|a, b| {
            b.worth.total_cmp(&a.worth).then((a.feature, a.choice).cmp(&(b.feature, b.choice)))
        });
        for &Better { worth, log_prob, feature, choice } in &*better {
            problem.set(&mut row, feature, choice);
            let changes = problem.changes(&row);
            if worth > frontier.at_most(changes) && problem.permits(&row) && problem.accepts(&row) {
                let cost = Cost::of(candidates, &row.choices);
                frontier.add(Solution { row: row.clone(), log_prob, cost, worth, changes });
            }
            problem.set(&mut row, feature, centre.choices[feature]);
        }
    }

    /// From the person's own row on, makes the change with the highest score until a solution is found.
    fn reach(&mut self) {
        let mut row = self.problem.own();
        for _ in 0..self.problem.budget {
            let tried = self.memory.centres.len();
            self.single_changes(&row);
            // From a row that was tried before, the search would only repeat itself.
            let is_cycle = self.memory.centres.len() == tried;
            if !self.frontier.solutions().is_empty() || is_cycle || self.stop.check().is_err() {
                return;
            }
            let Some((feature, choice)) = self.nearest_to_accepted(&row) else { return };
            self.problem.set(&mut row, feature, choice);
        }
    }

    /// The single change after which the score is highest.
    fn nearest_to_accepted(&self, centre: &Row) -> Option<(usize, Choice)> {
        let (problem, mut row) = (self.problem, centre.clone());
        let mut best: Option<((bool, f64), usize, Choice)> = None;
        for &feature in problem.candidates.free() {
            let before = row.choices[feature];
            let choices = 0..problem.candidates.of(feature).len() as Choice;
            for choice in choices.filter(|choice| *choice != before) {
                problem.set(&mut row, feature, choice);
                if row.is_settled && problem.permits_on_the_way(&row) {
                    // A row that breaks a relation is a last resort: a further change may mend it.
                    let score = (problem.permits(&row), problem.score(&row));
                    if best.is_none_or(|(most, ..)| score > most) {
                        best = Some((score, feature, choice));
                    }
                }
            }
            problem.set(&mut row, feature, before);
        }
        best.map(|(_, feature, choice)| (feature, choice))
    }
}
