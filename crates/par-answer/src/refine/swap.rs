//! Our local search: trade one change for another, or for none, as long as that pays.

use par_circuit::{Code, Evaluator, Stop};

use crate::problem::{Candidate, Frontier, Problem};

/// How many nats a candidate may be worth less than the best and still be searched around: at 0 the
/// answers on gmsc are 0.4 nats less likely, beyond 1 they hardly get likelier and take longer.
const NEAR: f64 = 1.0;

/// What the search needs to remember, for one person after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    neighbours: Vec<f64>,
    better: Vec<(f64, usize, Code)>,
    row: Vec<Code>,
    /// Rows whose single changes have been tried, one after the other. The frontier only rises, so trying
    /// them again would find nothing.
    centres: Vec<Code>,
}

impl Memory {
    /// Passes of the circuit that the last search made, over rows of so many features.
    pub(crate) fn passes(&self, features: usize) -> usize {
        self.centres.len() / features
    }
}

/// Improves what is known until no trade of one change for another helps, or it is told to stop.
///
/// At a candidate, every one of its changes is taken back in turn, and none; from each of these rows every
/// single change is tried at once, by one pass of the circuit. The likeliest accepted rows go on the
/// frontier, by their number of changes, and the search goes on until it has been at all that are [`NEAR`]
/// the one most worth offering.
pub(crate) fn search(
    problem: &Problem<'_>,
    evaluator: &mut Evaluator<'_>,
    memory: &mut Memory,
    known: Frontier,
    price: f64,
    stop: Stop<'_>,
) -> Frontier {
    memory.centres.clear();
    let mut search = Search { problem, evaluator, memory, frontier: known, stop };
    if search.frontier.candidates().is_empty() {
        search.reach();
    }
    let mut searched: Vec<Vec<Code>> = Vec::new();
    while let Some(row) = search.next(price, &searched) {
        search.trade(&row);
        searched.push(row);
    }
    search.frontier
}

struct Search<'a, 'p, 'c> {
    problem: &'a Problem<'p>,
    evaluator: &'a mut Evaluator<'c>,
    memory: &'a mut Memory,
    frontier: Frontier,
    stop: Stop<'a>,
}

impl Search<'_, '_, '_> {
    /// Where to search next.
    fn next(&self, price: f64, searched: &[Vec<Code>]) -> Option<Vec<Code>> {
        self.stop.check().ok()?;
        let mut near = self.frontier.near(price, NEAR).map(|candidate| &candidate.row);
        near.find(|row| !searched.contains(row)).cloned()
    }

    fn trade(&mut self, row: &[Code]) {
        let factual = self.problem.factual();
        self.single_changes(row);
        let mut reverted = row.to_vec();
        for feature in (0..row.len()).filter(|&feature| row[feature] != factual[feature]) {
            reverted[feature] = factual[feature];
            self.single_changes(&reverted);
            reverted[feature] = row[feature];
        }
    }

    /// Takes the best of the rows that are one change away, for each number of changes.
    fn single_changes(&mut self, centre: &[Code]) {
        let Self { problem, evaluator, memory, frontier, .. } = self;
        let Memory { neighbours, better, row, centres } = &mut **memory;
        if centres.chunks_exact(centre.len()).any(|tried| tried == centre) {
            return;
        }
        centres.extend_from_slice(centre);
        let factual = problem.factual();
        let made = problem.changes(centre);
        neighbours.resize(problem.mask.range(centre.len() - 1).end, 0.0);
        evaluator.neighbours(centre, neighbours);
        better.clear();
        for feature in 0..centre.len() {
            let legal = problem.mask.legal(feature);
            for (code, log_prob) in (0..).zip(&neighbours[problem.mask.range(feature)]) {
                let changes = made - usize::from(centre[feature] != factual[feature])
                    + usize::from(code != factual[feature]);
                let worth_it = legal[usize::from(code)]
                    && code != centre[feature]
                    && changes <= problem.budget
                    && *log_prob > frontier.at_most(changes);
                if worth_it {
                    better.push((*log_prob, feature, code));
                }
            }
        }
        better.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        row.clear();
        row.extend_from_slice(centre);
        for &(log_prob, feature, code) in &*better {
            let before = std::mem::replace(&mut row[feature], code);
            let changes = problem.changes(row);
            if log_prob > frontier.at_most(changes)
                && changes > 0
                && problem.permits(row)
                && problem.target.accepts(row)
            {
                frontier.add(Candidate { row: row.clone(), log_prob, changes });
            }
            row[feature] = before;
        }
    }

    /// From the person's own row, makes the change that comes nearest to acceptance, until it is reached.
    fn reach(&mut self) {
        let mut row = self.problem.factual().to_vec();
        for _ in 0..self.problem.budget {
            let tried = self.memory.centres.len();
            self.single_changes(&row);
            // Where it has been before it would only go round in a circle.
            let is_round = self.memory.centres.len() == tried;
            if !self.frontier.candidates().is_empty() || is_round || self.stop.check().is_err() {
                return;
            }
            let mut best: Option<(f64, usize, Code)> = None;
            for feature in 0..row.len() {
                let before = row[feature];
                for code in self.problem.mask.codes(feature).filter(|&code| code != before) {
                    row[feature] = code;
                    let log_odds = self.problem.target.classifier.log_odds(&row);
                    let nearer = best.is_none_or(|(most, ..)| log_odds > most);
                    if nearer && self.problem.permits(&row) {
                        best = Some((log_odds, feature, code));
                    }
                }
                row[feature] = before;
            }
            let Some((_, feature, code)) = best else { return };
            row[feature] = code;
        }
    }
}
