//! Our local search: replaces one change by another, or by none, as long as that improves the frontier.

use par_circuit::{Code, Evaluator, Stop};
use par_data::Choice;
use par_model::classifier::neural::offsets;

use crate::problem::{Cost, Frontier, Row, SearchProblem, Solution};

/// The buffers of the search, reused for the next person, and how much it may do.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    /// log p⁺ of all single changes of the last row, by code.
    likelihoods: Vec<f64>,
    /// All single changes of the last row.
    pub(super) singles: Vec<Single>,
    /// The log-odds of the same rows, as the classifier has them; empty until they are needed.
    pub(super) log_odds: Vec<f64>,
    better: Vec<Better>,
    /// Rows whose single changes have been tried, concatenated. The frontier only rises, so trying them again would
    /// find nothing.
    centres: Vec<Choice>,
    /// How many passes of the circuit the last search made, and the most that one makes.
    pub(crate) passes: usize,
    pub(crate) most_passes: usize,
    /// What is known of the single changes of the person's own row, from which every walk starts.
    own: Option<Scored>,
    /// What walks that stayed denied came to, for each duration and budget; see [`super::walk`].
    pub(super) reached: Vec<super::walk::Reached>,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            likelihoods: Vec::new(),
            singles: Vec::new(),
            log_odds: Vec::new(),
            better: Vec::new(),
            centres: Vec::new(),
            passes: 0,
            most_passes: usize::MAX,
            own: None,
            reached: Vec::new(),
        }
    }
}

/// A single change that would improve the frontier, if it is accepted.
#[derive(Clone, Copy, Debug)]
struct Better {
    worth: f64,
    log_prob: f64,
    changes: usize,
    feature: usize,
    choice: Choice,
}

/// All single changes of a row.
#[derive(Clone, Debug)]
struct Scored {
    codes: Vec<Code>,
    likelihoods: Vec<f64>,
}

/// So many rows are scored one by one before all single changes are scored together.
const SCORED_ALONE: usize = 8;

/// So many evaluations of single rows count as a pass.
const ROWS_A_PASS: usize = 16;

/// Of more single changes than this, only those that reach the target are put in order.
const MANY: usize = 200;

impl Memory {
    /// Forgets what is known of a person, before the next.
    pub(crate) fn forget(&mut self) {
        self.reached.clear();
        self.own = None;
    }
}

/// Improves the frontier until no replacement of one change helps, the passes are used up, or `stop` is set.
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
    let mut search = Search::new(problem, evaluator, memory, known, stop);
    if search.frontier.solutions().is_empty() {
        search.reach();
    }
    // Measured: on credit ways of least effort then take 0.83 instead of 1.22, for half as much time again; the
    // likeliest rows hardly get likelier.
    if problem.objective.likelihood < problem.objective.effort {
        search.walk_again();
    }
    let mut searched: Vec<Row> = Vec::new();
    while let Some(row) = search.next(price, &searched) {
        search.trade(&row);
        searched.push(row);
    }
    search.frontier
}

/// A solution, and others with fewer changes as long as replacing one change, or taking it back, leads to one.
pub(crate) fn fewest(
    problem: &SearchProblem<'_>,
    evaluator: &mut Evaluator<'_>,
    memory: &mut Memory,
    stop: Stop<'_>,
) -> Frontier {
    let mut search = Search::new(problem, evaluator, memory, Frontier::default(), stop);
    search.reach();
    while let Some(solution) = search.frontier.solutions().first() {
        let (row, changes) = (solution.row.clone(), solution.changes);
        search.trade_for_fewer(&row, changes);
        if search.frontier.fewest() == Some(changes) {
            break;
        }
    }
    search.frontier
}

pub(super) struct Search<'a, 'p, 'c> {
    pub(super) problem: &'a SearchProblem<'p>,
    pub(super) evaluator: &'a mut Evaluator<'c>,
    pub(super) memory: &'a mut Memory,
    pub(super) frontier: Frontier,
    pub(super) stop: Stop<'a>,
    /// Where the log-odds of each feature's codes, or choices, start.
    starts: Vec<usize>,
}

impl<'a, 'p, 'c> Search<'a, 'p, 'c> {
    fn new(
        problem: &'a SearchProblem<'p>,
        evaluator: &'a mut Evaluator<'c>,
        memory: &'a mut Memory,
        frontier: Frontier,
        stop: Stop<'a>,
    ) -> Self {
        memory.centres.clear();
        memory.passes = 0;
        Self { problem, evaluator, memory, frontier, stop, starts: Vec::new() }
    }

    /// The next solution to search around.
    fn next(&self, price: f64, searched: &[Row]) -> Option<Row> {
        if self.is_over() {
            return None;
        }
        let near = self.frontier.near(price, self.problem.objective.near);
        let mut near = near.map(|solution| &solution.row);
        near.find(|row| !searched.contains(row)).cloned()
    }

    pub(super) fn is_over(&self) -> bool {
        self.memory.passes >= self.memory.most_passes || self.stop.check().is_err()
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

    /// [`Search::trade`], until a row with fewer than `changes` changes is found.
    fn trade_for_fewer(&mut self, row: &Row, changes: usize) {
        self.single_changes(row);
        let free = self.problem.candidates.free().iter();
        for &feature in free.filter(|&&feature| row.choices[feature] != 0) {
            if self.frontier.fewest().is_some_and(|fewest| fewest < changes) || self.is_over() {
                return;
            }
            let mut reverted = row.clone();
            self.problem.set(&mut reverted, feature, 0);
            self.single_changes(&reverted);
        }
    }

    /// Adds the best of the rows that are one change away, for each number of changes. Returns whether they had not
    /// been tried before; once the passes are used up, nothing is tried.
    pub(super) fn single_changes(&mut self, centre: &Row) -> bool {
        let width = centre.choices.len();
        let is_known = |centres: &[Choice]| centres.chunks_exact(width).any(|tried| tried == centre.choices);
        if self.is_over() || is_known(&self.memory.centres) {
            return false;
        }
        self.memory.centres.extend_from_slice(&centre.choices);
        self.pass(centre);
        let mut better = std::mem::take(&mut self.memory.better);
        better.clear();
        for &Single { feature, choice, changes, log_prob, cost, .. } in &self.memory.singles {
            let worth = self.problem.worth(log_prob, cost);
            if worth > self.frontier.at_most(changes) {
                better.push(Better { worth, log_prob, changes, feature, choice });
            }
        }
        if better.len() > MANY {
            self.score_neighbours(centre);
            better.retain(|one| self.may_be_accepted(one));
        }
        better.sort_by(|a, b| {
            b.worth.total_cmp(&a.worth).then((a.feature, a.choice).cmp(&(b.feature, b.choice)))
        });
        self.add_accepted(centre, &better);
        self.memory.better = better;
        true
    }

    /// Scores all single changes of a row by the circuit.
    pub(super) fn pass(&mut self, centre: &Row) {
        let Memory { likelihoods, log_odds, own, passes, .. } = &mut *self.memory;
        log_odds.clear();
        if let Some(own) = own.as_ref().filter(|own| own.codes == centre.codes) {
            likelihoods.clone_from(&own.likelihoods);
        } else {
            *passes += 1;
            likelihoods.resize(self.problem.candidates.constraints().codes(), 0.0);
            self.evaluator.neighbours(&centre.codes, likelihoods);
            if own.is_none() && self.problem.changes(centre) == 0 {
                *own = Some(Scored { codes: centre.codes.clone(), likelihoods: likelihoods.clone() });
            }
        }
        self.list_singles(centre);
    }

    /// Lists each single change within the budget, except back to the person's own row. Rows whose consequences move
    /// need an evaluation of their own; sixteen of them count as a pass.
    fn list_singles(&mut self, centre: &Row) {
        let problem = self.problem;
        let candidates = problem.candidates;
        let made = problem.changes(centre);
        let cost = Cost::of(candidates, &centre.choices);
        let mut row = centre.clone();
        let Memory { singles, likelihoods, .. } = &mut *self.memory;
        singles.clear();
        let (mut moved, mut codes): (Vec<usize>, Vec<Code>) = (Vec::new(), Vec::new());
        for &feature in candidates.free() {
            let has_consequences = candidates.has_consequences(feature);
            let list = candidates.of(feature);
            let own = centre.choices[feature];
            let start = candidates.constraints().range(feature).start;
            for (choice, candidate) in (0..).zip(list).filter(|(choice, _)| *choice != own) {
                let changes = made - usize::from(own != 0) + usize::from(choice != 0);
                if changes > problem.budget || changes == 0 {
                    continue;
                }
                let mut log_prob = f64::NEG_INFINITY;
                if has_consequences {
                    problem.set(&mut row, feature, choice);
                    if row.is_settled {
                        moved.push(singles.len());
                        codes.extend_from_slice(&row.codes);
                    }
                    row.clone_from(centre);
                } else {
                    log_prob = likelihoods[start + usize::from(candidate.code)];
                }
                let cost = cost.replacing(&list[usize::from(own)], candidate);
                singles.push(Single { feature, choice, changes, log_prob, cost, has_consequences });
            }
        }
        if !moved.is_empty() {
            self.memory.passes += moved.len().div_ceil(ROWS_A_PASS);
            for (&place, log_prob) in moved.iter().zip(self.evaluator.log_probs(&codes)) {
                self.memory.singles[place].log_prob = log_prob;
            }
        }
    }

    /// Adds the accepted ones of single changes to the frontier.
    fn add_accepted(&mut self, centre: &Row, better: &[Better]) {
        let problem = self.problem;
        let mut row = centre.clone();
        let mut scored_alone = 0;
        for one in better {
            let &Better { worth, log_prob, changes, feature, choice } = one;
            if worth <= self.frontier.at_most(changes) {
                continue;
            }
            if scored_alone == SCORED_ALONE {
                self.score_neighbours(centre);
                scored_alone += 1;
            }
            if scored_alone > SCORED_ALONE && !self.may_be_accepted(one) {
                continue;
            }
            problem.set(&mut row, feature, choice);
            if problem.permits(&row) {
                if problem.accepts(&row) {
                    let cost = Cost::of(problem.candidates, &row.choices);
                    self.frontier.add(Solution { row: row.clone(), log_prob, cost, worth, changes });
                }
                scored_alone += usize::from(scored_alone < SCORED_ALONE);
            }
            problem.set(&mut row, feature, centre.choices[feature]);
        }
    }

    /// Whether a single change of the last row may reach the target, after [`Search::score_neighbours`].
    fn may_be_accepted(&self, &Better { feature, choice, .. }: &Better) -> bool {
        self.problem.candidates.has_consequences(feature)
            || self.problem.target.is_reached_by(self.estimate(feature, choice) + ROUNDING)
    }

    /// Scores all single changes of the last row by the classifier.
    pub(super) fn score_neighbours(&mut self, centre: &Row) {
        if self.memory.log_odds.is_empty() {
            let classifier = self.problem.target.classifier;
            if self.starts.is_empty() {
                self.starts = offsets(classifier.cardinalities());
            }
            self.memory.log_odds.resize(classifier.cardinalities().iter().sum(), 0.0);
            classifier.neighbours(self.problem.classified(centre), &mut self.memory.log_odds);
        }
    }

    /// The log-odds with another choice, up to rounding, after [`Search::score_neighbours`]. It must have no
    /// consequences.
    pub(super) fn estimate(&self, feature: usize, choice: Choice) -> f64 {
        let code = self.problem.candidates.of(feature)[usize::from(choice)].code;
        self.memory.log_odds
            [self.starts[feature] + usize::from(if self.problem.reads_values { choice } else { code })]
    }
}

/// Log-odds of all single changes are as near as this to those of the rows themselves.
const ROUNDING: f64 = 1e-3;

/// A single change of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Single {
    pub(super) feature: usize,
    pub(super) choice: Choice,
    /// How many features the person then changes.
    pub(super) changes: usize,
    /// log p⁺ of the changed row; −∞ if a consequence would be impossible.
    pub(super) log_prob: f64,
    pub(super) cost: Cost,
    pub(super) has_consequences: bool,
}
