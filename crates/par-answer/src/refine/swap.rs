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
    singles: Vec<Single>,
    /// The rows of those in which several places differ, as the classifier reads them, concatenated.
    moved: Vec<Code>,
    /// The log-odds of all rows that differ from the last one in one place, and of those that moved.
    log_odds: Vec<f64>,
    moved_log_odds: Vec<f64>,
    /// Single changes that would improve the frontier, if they are accepted, each with what it is worth.
    better: Vec<(f64, usize)>,
    /// Rows whose single changes have been tried, concatenated. The frontier only rises, so trying them again would
    /// find nothing.
    centres: Vec<Choice>,
    /// How many passes of the circuit the last search made, and the most that one makes.
    pub(crate) passes: usize,
    pub(crate) most_passes: usize,
    /// What the circuit and the classifier said of all single changes of rows of this person: searches for other aims come
    /// by them again.
    by_circuit: Remembered,
    by_classifier: Remembered,
    /// What walks that stayed denied came to, for each longest duration and budget; see [`super::walk`].
    pub(super) reached: Vec<super::walk::Reached>,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            likelihoods: Vec::new(),
            singles: Vec::new(),
            moved: Vec::new(),
            log_odds: Vec::new(),
            moved_log_odds: Vec::new(),
            better: Vec::new(),
            centres: Vec::new(),
            passes: 0,
            most_passes: usize::MAX,
            by_circuit: Remembered::default(),
            by_classifier: Remembered::default(),
            reached: Vec::new(),
        }
    }
}

/// Rows, each with a number for every single change of it.
#[derive(Clone, Debug, Default)]
struct Remembered(Vec<(Vec<Code>, Vec<f64>)>);

impl Remembered {
    /// Writes the numbers of a row: as they are remembered, or measured.
    fn recall(&mut self, row: &[Code], numbers: &mut Vec<f64>, measure: impl FnOnce(&mut Vec<f64>)) {
        if let Some((_, known)) = self.0.iter().find(|(known, _)| known == row) {
            numbers.clone_from(known);
            return;
        }
        measure(numbers);
        if self.0.len() < REMEMBERED {
            self.0.push((row.to_vec(), numbers.clone()));
        }
    }
}

/// So many pairs of changes are scored.
const PAIRS: usize = 32;

/// So many pairs take as long as a pass to find and to score.
const PAIRS_A_PASS: usize = 6;

/// What two changes do together may be more than the sum of what each does alone, by so much log-odds and so many nats.
const UNSURE: f64 = 0.5;

/// So many evaluations of single rows count as a pass.
const ROWS_A_PASS: usize = 16;

/// So many rows are remembered with their single changes.
const REMEMBERED: usize = 64;

/// Who needs more changes than this gains more by trades than by a second walk of as many passes. Measured on tables of
/// 200 columns.
const WALKED_AGAIN: usize = 4;

impl Memory {
    /// Forgets what is known of a person, before the next.
    pub(crate) fn forget(&mut self) {
        self.reached.clear();
        self.by_circuit.0.clear();
        self.by_classifier.0.clear();
    }
}

/// Improves the frontier until no replacement of one change helps, the passes are used up, or `stop` is set.
///
/// At a solution one pass of the circuit scores every single change, and tells which changes to take back for which
/// others; the most promising of these pairs are scored. The best accepted rows go on the frontier, by number of changes.
/// The search ends once every solution near the one most worth offering has been visited, by a walk or by this search;
/// pairs are not tried at rows that a walk has visited.
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
    let is_for_effort = problem.objective.is_for_effort;
    let changes = search.frontier.solutions().last().map_or(0, |best| best.changes);
    if is_for_effort && changes <= WALKED_AGAIN {
        // Clocks that move with some changes make for more ways than one walk finds.
        search.walk_again(if problem.has_clocks() { 2 } else { 1 });
    }
    search.trade_all(price);
    if problem.has_clocks() && !is_for_effort {
        search.visit_durations(price);
        search.trade_all(price);
    }
    search.frontier
}

/// The solutions next to a walk to the target.
pub(crate) fn reach(
    problem: &SearchProblem<'_>,
    evaluator: &mut Evaluator<'_>,
    memory: &mut Memory,
    stop: Stop<'_>,
) -> Frontier {
    let mut search = Search::new(problem, evaluator, memory, Frontier::default(), stop);
    search.reach();
    search.frontier
}

/// A known solution, or one that is found, and others with fewer changes as long as replacing one change, or taking it
/// back, leads to one.
pub(crate) fn fewest(
    problem: &SearchProblem<'_>,
    evaluator: &mut Evaluator<'_>,
    memory: &mut Memory,
    known: Frontier,
    stop: Stop<'_>,
) -> Frontier {
    let mut search = Search::new(problem, evaluator, memory, known, stop);
    if search.frontier.solutions().is_empty() {
        search.reach();
    }
    while let Some(solution) = search.frontier.solutions().first() {
        let (row, changes) = (solution.row.clone(), solution.changes);
        search.trade(&row, changes - 1);
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
    /// As [`SearchProblem::target_log_odds`].
    pub(super) target: f64,
    /// Log-odds of all single changes are as near as this to those of the rows themselves.
    rounding: f64,
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
        let target = problem.target_log_odds();
        let starts = offsets(problem.target.classifier.cardinalities());
        let rounding = ROUNDING * (1.0 + target.abs());
        Self { problem, evaluator, memory, frontier, stop, target, rounding, starts }
    }

    /// Searches around solutions until it has been at all near the one most worth offering.
    fn trade_all(&mut self, price: f64) {
        let mut searched: Vec<Row> = Vec::new();
        while let Some(row) = self.next(price, &searched) {
            self.trade(&row, usize::MAX);
            searched.push(row);
        }
    }

    /// Searches around the best single change of the best solution to each other duration: after more time, other
    /// changes are worth making.
    fn visit_durations(&mut self, price: f64) {
        let problem = self.problem;
        let Some(best) = self.frontier.choice(price).map(|best| best.row.clone()) else { return };
        if self.is_over() {
            return;
        }
        self.pass(&best);
        let mut starts: Vec<Option<(f64, usize, Choice)>> = vec![None; problem.candidates.durations().len()];
        for &Single { feature, choice, log_prob, duration, cost, .. } in self.within_budget() {
            let worth = problem.relaxed_worth(log_prob, duration, cost, 1.0);
            let most = starts[duration].map_or(f64::NEG_INFINITY, |(most, ..)| most);
            if duration != best.duration && worth > most {
                starts[duration] = Some((worth, feature, choice));
            }
        }
        for (_, feature, choice) in starts.into_iter().flatten() {
            let mut row = best.clone();
            problem.set(&mut row, feature, choice);
            self.trade(&row, usize::MAX);
        }
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

    /// Looks around a row, and for a change in place of another.
    fn trade(&mut self, row: &Row, most_changes: usize) {
        let is_new = self.single_changes(row);
        match self.problem.changes(row) {
            // Without its only change it is the person's own.
            1 => {
                self.single_changes(&self.problem.own());
            }
            // Measured: where a walk has been, pairs improve nothing.
            _ if is_new => self.pairs_of_changes(row, most_changes),
            _ => {}
        }
    }

    /// Adds the best of the rows that take one change back and make another, with at most so many changes. After
    /// [`Search::single_changes`].
    fn pairs_of_changes(&mut self, centre: &Row, most_changes: usize) {
        let pairs = self.promising_pairs(centre, most_changes);
        self.memory.passes += 1 + pairs.len().div_ceil(PAIRS_A_PASS);
        let singles = &self.memory.singles;
        let rows = pairs.iter().map(|pair| {
            let mut row = centre.clone();
            for single in pair.singles.map(|place| singles[place]) {
                self.problem.set(&mut row, single.feature, single.choice);
            }
            row
        });
        self.problem.add_solutions(&mut self.frontier, rows, self.evaluator);
    }

    /// Pairs of a change that is taken back and another, by what single changes do to the row, added up.
    fn promising_pairs(&self, centre: &Row, most_changes: usize) -> Vec<Pair> {
        let problem = self.problem;
        let singles = &self.memory.singles;
        let Some(any) = problem.candidates.free().first() else { return Vec::new() };
        let place = problem.candidates.constraints().range(*any).start + usize::from(centre.codes[*any]);
        let (log_prob, log_odds) = (self.memory.likelihoods[place], problem.log_odds(centre));
        let (made, cost) = (problem.changes(centre), Cost::of(problem.candidates, &centre.choices));
        // A pair takes back one or two changes, and makes one or none.
        let known = [2, 1, 0].map(|fewer| match made - fewer {
            0 => f64::INFINITY,
            changes if changes > most_changes.min(problem.budget) => f64::INFINITY,
            changes => self.frontier.at_most(changes),
        });
        let objective = &problem.objective;
        let alone = |(place, single): (usize, &Single)| {
            let conditional = single.log_prob - problem.log_given[single.duration];
            Alone {
                log_odds: self.estimate(single),
                conditional,
                worth: objective.worth_anywhere(conditional, single.cost),
                known: known[single.changes + 1 - made],
                is_back: single.choice == 0,
                feature: single.feature,
                place,
            }
        };
        let own = log_prob - problem.log_given[centre.duration];
        let own_worth = objective.worth_anywhere(own, cost);
        let backs = singles.iter().enumerate().filter(|(_, single)| single.choice == 0);
        let backs: Vec<Alone> = backs.map(alone).collect();
        let most = |of: fn(&Alone) -> f64| backs.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        // What another change has to come to alone, beside whichever is taken back.
        let needed = self.target - (most(|back| back.log_odds) - log_odds);
        let least_conditional = objective.floor - (most(|back| back.conditional) - own);
        let most_gained = most(|back| back.worth) - own_worth;
        let may_do = |other: &Alone| {
            other.log_odds >= needed - UNSURE
                && other.conditional + UNSURE >= least_conditional
                && other.worth + most_gained + objective.likelihood * UNSURE > other.known
        };
        let others: Vec<Alone> = singles.iter().enumerate().map(alone).filter(may_do).collect();
        let (mut pairs, mut sure_pairs): (Vec<Pair>, usize) = (Vec::new(), 0);
        for back in &backs {
            let needed = self.target - (back.log_odds - log_odds);
            let (likelier, gained) = (back.conditional - own, back.worth - own_worth);
            for other in &others {
                let is_sure = other.log_odds >= needed - self.rounding;
                // Those that are not sure come after those that are.
                if !is_sure && (other.log_odds < needed - UNSURE || sure_pairs >= PAIRS) {
                    continue;
                }
                // Two that are taken back are a pair once.
                if back.feature == other.feature || other.is_back && back.place > other.place {
                    continue;
                }
                let worth = |more: f64| {
                    let is_likely = other.conditional + likelier + more >= objective.floor;
                    let worth = other.worth + gained + objective.likelihood * more;
                    (is_likely && worth > other.known).then_some(worth)
                };
                let sure = if is_sure { worth(0.0) } else { None };
                sure_pairs += usize::from(sure.is_some());
                let hopeful = || if sure_pairs < PAIRS { worth(UNSURE) } else { None };
                if let Some(worth) = sure.or_else(hopeful) {
                    pairs.push(Pair { is_sure: sure.is_some(), worth, singles: [back.place, other.place] });
                }
            }
        }
        let best_first = |a: &Pair, b: &Pair| {
            let order = b.is_sure.cmp(&a.is_sure).then(b.worth.total_cmp(&a.worth));
            order.then(a.singles.cmp(&b.singles))
        };
        if pairs.len() > PAIRS {
            pairs.select_nth_unstable_by(PAIRS, best_first);
            pairs.truncate(PAIRS);
        }
        pairs.sort_by(best_first);
        pairs
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
        for (place, single) in self.memory.singles.iter().enumerate() {
            let worth = self.problem.worth(single.log_prob, single.duration, single.cost);
            let is_better =
                single.changes <= self.problem.budget && worth > self.frontier.at_most(single.changes);
            // Up to rounding, the classifier accepts it.
            if is_better && self.estimate(single) >= self.target - self.rounding {
                better.push((worth, place));
            }
        }
        better.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.add_accepted(centre, &better);
        self.memory.better = better;
        true
    }

    /// Scores all single changes of a row by the circuit and by the classifier.
    pub(super) fn pass(&mut self, centre: &Row) {
        let Memory { likelihoods, by_circuit, passes, .. } = &mut *self.memory;
        by_circuit.recall(&centre.codes, likelihoods, |likelihoods| {
            *passes += 1;
            likelihoods.resize(self.problem.candidates.constraints().codes(), 0.0);
            self.evaluator.neighbours(&centre.codes, likelihoods);
        });
        self.list_singles(centre);
        let Memory { log_odds, moved, moved_log_odds, by_classifier, .. } = &mut *self.memory;
        let classifier = self.problem.target.classifier;
        let read = self.problem.classified(centre);
        by_classifier.recall(read, log_odds, |log_odds| {
            log_odds.resize(classifier.cardinalities().iter().sum(), 0.0);
            classifier.neighbours(read, log_odds);
        });
        moved_log_odds.clear();
        moved_log_odds.extend(moved.chunks_exact(centre.codes.len()).map(|row| classifier.log_odds(row)));
    }

    /// Lists each single change within the budget, and one beyond it where pairs are looked for, except back to the person's
    /// own row. Rows in which several codes differ need an evaluation of their own; sixteen of them count as a pass.
    fn list_singles(&mut self, centre: &Row) {
        let problem = self.problem;
        let candidates = problem.candidates;
        let made = problem.changes(centre);
        let most = problem.budget.saturating_add(usize::from(made > 1));
        let cost = Cost::of(candidates, &centre.choices);
        let mut row = centre.clone();
        let Memory { singles, likelihoods, moved, .. } = &mut *self.memory;
        singles.clear();
        moved.clear();
        let (mut waiting, mut codes): (Vec<usize>, Vec<Code>) = (Vec::new(), Vec::new());
        for &feature in candidates.free() {
            let moves_others = problem.moves_others(feature);
            let list = candidates.of(feature);
            let own = centre.choices[feature];
            let start = candidates.constraints().range(feature).start;
            for (choice, candidate) in (0..).zip(list).filter(|(choice, _)| *choice != own) {
                let changes = made - usize::from(own != 0) + usize::from(choice != 0);
                if changes > most || changes == 0 {
                    continue;
                }
                let cost = cost.replacing(&list[usize::from(own)], candidate);
                let mut single = Single {
                    feature,
                    choice,
                    changes,
                    log_prob: likelihoods[start + usize::from(candidate.code)],
                    reading: Reading::One(match problem.reads_values {
                        true => self.starts[feature] + usize::from(choice),
                        false => start + usize::from(candidate.code),
                    }),
                    duration: centre.duration,
                    cost,
                };
                if moves_others {
                    problem.set(&mut row, feature, choice);
                    (single.log_prob, single.duration) = (f64::NEG_INFINITY, row.duration);
                    if row.is_settled {
                        let place = one_difference(problem, &row, centre, feature);
                        match place {
                            Some(place) => single.log_prob = likelihoods[place],
                            None => {
                                waiting.push(singles.len());
                                codes.extend_from_slice(&row.codes);
                            }
                        }
                        single.reading = match place.filter(|_| !problem.reads_values) {
                            Some(place) => Reading::One(place),
                            None => {
                                moved.extend_from_slice(problem.classified(&row));
                                Reading::Several(moved.len() / row.codes.len() - 1)
                            }
                        };
                    }
                    row.clone_from(centre);
                }
                singles.push(single);
            }
        }
        if !waiting.is_empty() {
            self.memory.passes += waiting.len().div_ceil(ROWS_A_PASS);
            for (&place, log_prob) in waiting.iter().zip(self.evaluator.log_probs(&codes)) {
                self.memory.singles[place].log_prob = log_prob;
            }
        }
    }

    /// The single changes of the last row that the budget allows.
    pub(super) fn within_budget(&self) -> impl Iterator<Item = &Single> {
        self.memory.singles.iter().filter(|single| single.changes <= self.problem.budget)
    }

    /// Adds those of single changes that are accepted and may be offered to the frontier, the best first.
    fn add_accepted(&mut self, centre: &Row, better: &[(f64, usize)]) {
        let problem = self.problem;
        let mut row = centre.clone();
        for &(worth, place) in better {
            let Single { feature, choice, changes, log_prob, .. } = self.memory.singles[place];
            if worth <= self.frontier.at_most(changes) {
                continue;
            }
            problem.set(&mut row, feature, choice);
            if problem.permits(&row) && problem.accepts(&row) {
                let cost = Cost::of(problem.candidates, &row.choices);
                self.frontier.add(Solution { row: row.clone(), log_prob, cost, worth, changes });
            }
            problem.set(&mut row, feature, centre.choices[feature]);
        }
    }

    /// The log-odds of a single change of the last row, up to rounding.
    pub(super) fn estimate(&self, single: &Single) -> f64 {
        match single.reading {
            Reading::One(place) => self.memory.log_odds[place],
            Reading::Several(row) => self.memory.moved_log_odds[row],
        }
    }
}

/// The place, among all codes, of the one code that differs between a row and the centre, or of a code of `feature` that
/// both have; `None` if several differ.
fn one_difference(problem: &SearchProblem<'_>, row: &Row, centre: &Row, feature: usize) -> Option<usize> {
    let mut differing = (0..row.codes.len()).filter(|&other| row.codes[other] != centre.codes[other]);
    let first = differing.next().unwrap_or(feature);
    let place = problem.candidates.constraints().range(first).start + usize::from(row.codes[first]);
    differing.next().is_none().then_some(place)
}

/// Rounding of log-odds near 0; it grows with them.
const ROUNDING: f64 = 1e-3;

/// A single change of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Single {
    pub(super) feature: usize,
    pub(super) choice: Choice,
    /// How many features the person then changes.
    pub(super) changes: usize,
    /// log p⁺ of the changed row; −∞ if a clock or a consequence would be impossible.
    pub(super) log_prob: f64,
    /// That of the changed row.
    pub(super) duration: usize,
    pub(super) cost: Cost,
    reading: Reading,
}

/// A row with a single change, as far as pairs look at it.
#[derive(Clone, Copy, Debug)]
struct Alone {
    log_odds: f64,
    /// Its log p⁺, given what the person cannot change.
    conditional: f64,
    /// What it is worth, likely enough or not.
    worth: f64,
    /// The best known worth with as many changes as if another were taken back too.
    known: f64,
    is_back: bool,
    feature: usize,
    /// Its place among the single changes.
    place: usize,
}

/// A change that is taken back and another, as far as each alone tells.
#[derive(Clone, Copy, Debug)]
struct Pair {
    /// Whether they improve the frontier if they do no more together than alone.
    is_sure: bool,
    /// What the row may be worth.
    worth: f64,
    /// Their places among the single changes.
    singles: [usize; 2],
}

/// What the classifier reads of a single change.
#[derive(Clone, Copy, Debug)]
enum Reading {
    /// One code, or choice, in place of another, at this place among all.
    One(usize),
    /// Several; this row among those that moved.
    Several(usize),
}
