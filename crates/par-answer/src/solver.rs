//! Answers one person.

mod obstacles;
mod ways;

use par_circuit::{Code, Evaluator, Stop, threads};
use par_data::{Batch, CellError, Columns, Limits, Mask};
use par_model::classifier::Representative;
use par_model::generator::GeneratorScratch;
use par_model::{LocalSearch, Model, RowError, Target};

use crate::answer::{Answer, Change};
use crate::decode::Decoder;
use crate::exact::{self, Proof};
use crate::problem::{Candidate, Frontier, SearchProblem};
use crate::refine::paper::TwoPhase;
use crate::refine::swap;
use crate::request::{Method, Request};

/// Answers one person after the other; keep it, to reuse its buffers.
pub struct Solver<'m> {
    model: &'m Model,
    stop: Stop<'m>,
    evaluator: Evaluator<'m>,
    generator: GeneratorScratch,
    decoder: Decoder,
    memory: swap::Memory,
    /// Pairs of an effect and its cause, sorted by the cause: the effect rises only if the cause does.
    rules: Vec<(usize, usize)>,
}

/// One person and their target.
#[derive(Clone, Copy)]
pub(crate) struct Person<'a> {
    pub(crate) cells: &'a [&'a str],
    /// The rows that they may become.
    pub(crate) mask: &'a Mask<'a>,
    /// The limits of the request.
    pub(crate) limits: &'a Limits,
    /// The classifier over this person's codes, and the lowest score at which a row is offered.
    pub(crate) target: Target<'a>,
    /// Which value of its bin a code stands for.
    pub(crate) representative: Representative,
}

/// The result of a search: candidates, and with a proof how much likelier others could be.
struct SearchResult {
    frontier: Frontier,
    gaps: Option<Vec<f64>>,
    /// Proved: there is no way with this many changes or fewer.
    ruled_out: usize,
    /// How many nodes the exact search took.
    nodes: usize,
}

impl SearchResult {
    /// The result of a search without a proof.
    fn unproved(frontier: Frontier) -> Self {
        Self { frontier, gaps: None, ruled_out: 0, nodes: 0 }
    }

    /// Whether it is proved that fewer changes are not enough.
    fn rules_out_fewer_than(&self, changes: usize) -> bool {
        changes <= self.ruled_out + 1
    }

    /// Whether the frontier is proved.
    fn is_proved(&self) -> bool {
        self.gaps.as_ref().is_some_and(|gaps| gaps.iter().all(|gap| *gap == 0.0))
    }

    fn gap(&self, candidate: &Candidate) -> Option<f64> {
        let gaps = self.gaps.as_ref()?;
        gaps.get(candidate.changes).copied()
    }
}

/// Nodes of the exact searches for a person without a way after the usual search: about half a second.
const DEEPER_NODES: usize = 20_000;
/// With more edges than this in the accepted circuit, nodes take longer, and proportionally fewer are used.
const EDGES: usize = 4_000;
/// A bound over two tree nodes takes as long as one over an edge of a circuit.
const TREE_NODES_AN_EDGE: usize = 2;

/// The answer for one row, its cells in schema order.
///
/// # Errors
/// When a cell does not fit its column, or the classifier has no score for the row.
///
/// # Panics
/// When there are not as many cells as features.
pub fn answer(model: &Model, cells: &[&str], request: &Request) -> Result<Answer, RowError> {
    Solver::new(model).answer(cells, request)
}

/// The answers for all rows of a batch, on all threads, in the order of the rows. `request` returns the request of a
/// row.
///
/// A row whose cells do not fit gets an error; the others get their answers.
pub fn answer_batch(
    model: &Model,
    columns: &Columns,
    batch: &Batch,
    request: impl Fn(usize) -> Request + Sync,
) -> Vec<Result<Answer, RowError>> {
    threads::map_with(
        0..batch.rows(),
        || Solver::new(model),
        |solver, row| {
            let cells: Vec<&str> = columns.cells(batch, row);
            solver.answer(&cells, &request(row))
        },
    )
}

impl<'m> Solver<'m> {
    /// A solver for one thread.
    pub fn new(model: &'m Model) -> Self {
        let rules = model.schema().rules().iter();
        let mut rules: Vec<(usize, usize)> =
            rules.map(|rule| (rule.when.feature, rule.then.feature)).collect();
        rules.sort_by_key(|&(effect, cause)| (cause, effect));
        Self {
            model,
            stop: Stop::never(),
            evaluator: model.accepted().evaluator(),
            generator: GeneratorScratch::default(),
            decoder: Decoder::default(),
            memory: swap::Memory::default(),
            rules,
        }
    }

    /// The model that answers.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// The same, but once `stop` is set searches end as if they had run out of nodes.
    #[must_use]
    pub fn until(self, stop: Stop<'m>) -> Self {
        Self { stop, ..self }
    }

    /// Whether `stop` is set, so that the last answer may be incomplete.
    pub fn is_stopped(&self) -> bool {
        self.stop.check().is_err()
    }
}

impl Solver<'_> {
    /// The answer for one row, its cells in schema order.
    ///
    /// # Errors
    /// When a cell does not fit its column, or the classifier has no score for the row.
    ///
    /// # Panics
    /// When there are not as many cells as features, a lock is not the position of a feature, or the limits belong to
    /// another model.
    pub fn answer(&mut self, cells: &[&str], request: &Request) -> Result<Answer, RowError> {
        let model = self.model;
        let features = cells.len();
        assert!(request.locks.iter().all(|&lock| lock < features), "locks are positions of features");
        let encoded = model.discretizer().encode_row(cells)?;
        let factual = encoded.codes();
        let probability = model.classifier().probability(cells, factual)?;
        let threshold = request.threshold_for(model);
        if probability >= threshold {
            return Ok(Answer::Accepted { probability, verified: model.classifier().verifies() });
        }
        let offered_from = model.classifier().offered_from(threshold);
        let limits = &request.limits;
        let mask = model.constraints().mask_within(factual, &request.locks, limits);
        let proposals = self.proposals(&mask, model.config().answers.proposals);
        let mut first = None;
        let mut is_proved = true;
        for &representative in model.classifier().representatives() {
            let classifier = model.classifier_for(cells, factual, representative, limits)?;
            let target = Target { classifier: &*classifier, threshold: offered_from };
            let person = Person { cells, mask: &mask, limits, target, representative };
            let search = self.search_for(person, &proposals, request);
            if let Some(found) = self.found(person, probability, &search, &proposals, request) {
                return Ok(Answer::Found(found));
            }
            is_proved &= search.is_proved();
            first.get_or_insert((classifier, representative));
            if mask.free_features() == 0 {
                break;
            }
        }
        let (classifier, representative) = first.expect("a classifier has at least one representative");
        let target = Target { classifier: &*classifier, threshold: offered_from };
        let person = Person { cells, mask: &mask, limits, target, representative };
        Ok(Answer::NotFound(self.not_found(person, probability, is_proved, request)))
    }

    /// The generator's most probable legal row as cells, whether or not it is accepted: the first proposal of
    /// `generate`. Unchanged features keep their text.
    ///
    /// # Errors
    /// When a cell does not fit its column.
    ///
    /// # Panics
    /// When there are not as many cells as features.
    ///
    /// # Paper
    /// "A hard recourse is obtained by taking the per-feature argmax".
    pub fn propose(&mut self, cells: &[&str]) -> Result<Vec<String>, CellError> {
        let model = self.model;
        let encoded = model.discretizer().encode_row(cells)?;
        let mask = model.constraints().mask(encoded.codes(), &[]);
        let row = self.proposals(&mask, 1);
        let own = mask.factual();
        let text = |feature: usize| match cells[feature] {
            cell if row[feature] == own[feature] => cell.to_string(),
            cell => model.discretizer().decode(feature, row[feature], own[feature], cell).text().to_string(),
        };
        Ok((0..row.len()).map(text).collect())
    }

    /// The most changes of the usual search.
    fn budget(&self, person: Person<'_>, request: &Request) -> usize {
        request.budget.unwrap_or(self.model.config().answers.budget).min(person.mask.free_features())
    }

    /// The search of the request's method, followed by a deeper one if it finds nothing.
    fn search_for(&mut self, person: Person<'_>, proposals: &[Code], request: &Request) -> SearchResult {
        let answers = &self.model.config().answers;
        let budget = self.budget(person, request);
        let mut search = self.search(&problem(person, budget, &[]), proposals, request.method);
        self.verify(person, &mut search);
        let may_go_deeper = match request.method {
            Method::Generate => false,
            Method::Refine => answers.search == LocalSearch::Swap,
            Method::Exact => true,
        };
        let most = if request.budget.is_none() { person.mask.free_features() } else { budget };
        // After an exact search within the same budget, a second one would have fewer nodes.
        let is_exhausted = most == budget && search.gaps.is_some();
        if search.frontier.candidates().is_empty() && may_go_deeper && !is_exhausted {
            let least = budget + usize::from(search.is_proved());
            search = self.search_deeper(person, least, most);
            self.verify(person, &mut search);
        }
        search
    }

    /// Keeps the candidates whose rows, as written, the classifier accepts. Removing one invalidates the proof: the
    /// search skipped rows that were less likely than it.
    fn verify(&self, person: Person<'_>, search: &mut SearchResult) {
        // This classifier reads codes only, so the search has already asked it.
        if person.representative == Representative::Any {
            return;
        }
        let before = search.frontier.candidates().len();
        search.frontier.retain(|candidate| {
            let changes = self.changes(person, candidate, person.representative);
            let score = self.model.score(&written(person, &changes));
            score.is_ok_and(|probability| probability >= person.target.threshold)
        });
        if search.frontier.candidates().len() < before {
            search.gaps = None;
        }
    }

    /// The generator's `count` most probable legal rows, the best first, concatenated.
    fn proposals(&mut self, mask: &Mask<'_>, count: usize) -> Vec<Code> {
        let log_likelihood = self.evaluator.log_prob(mask.factual());
        let logits =
            self.model.generator().logits(self.model.pool(), mask, log_likelihood, &mut self.generator);
        self.decoder.best_rows(mask, logits, count).to_vec()
    }

    fn search(&mut self, problem: &SearchProblem<'_>, proposals: &[Code], method: Method) -> SearchResult {
        let answers = &self.model.config().answers;
        let frontier = match (method, answers.search) {
            (Method::Generate, _) => self.accepted_frontier(problem, proposals),
            (_, LocalSearch::Swap) => {
                let known = self.accepted_frontier(problem, proposals);
                swap::search(problem, &mut self.evaluator, &mut self.memory, known, answers.price, self.stop)
            }
            (_, LocalSearch::Paper) => {
                let mut two_phase = TwoPhase {
                    problem: *problem,
                    rules: &self.rules,
                    evaluator: &mut self.evaluator,
                    delta_max: answers.delta_max,
                };
                let proposals = proposals.chunks_exact(problem.factual().len());
                let refined: Vec<Code> = proposals.flat_map(|proposal| two_phase.search(proposal)).collect();
                self.accepted_frontier(problem, &refined)
            }
        };
        match method {
            Method::Exact => self.prove(problem, frontier, answers.nodes),
            Method::Generate | Method::Refine => SearchResult::unproved(frontier),
        }
    }

    /// The frontier of the rows that are accepted and may be offered.
    fn accepted_frontier(&mut self, problem: &SearchProblem<'_>, rows: &[Code]) -> Frontier {
        let width = problem.factual().len();
        let accepted = |row: &&[Code]| problem.permits(row) && problem.target.accepts(row);
        let accepted: Vec<Code> = rows.chunks_exact(width).filter(accepted).flatten().copied().collect();
        let log_probs = self.evaluator.log_probs(&accepted);
        let mut frontier = Frontier::default();
        for (row, log_prob) in accepted.chunks_exact(width).zip(log_probs) {
            frontier.add(Candidate { row: row.to_vec(), log_prob, changes: problem.changes(row) });
        }
        frontier
    }

    fn prove(&mut self, problem: &SearchProblem<'_>, known: Frontier, max_nodes: usize) -> SearchResult {
        let Proof { frontier, gaps, nodes } =
            exact::solve(problem, &mut self.evaluator, known, max_nodes, self.stop);
        let proved = gaps.iter().take_while(|gap| **gap == 0.0).count();
        // The first gap is for no change at all, so n proved gaps rule out n − 1 changes.
        let ruled_out = frontier.fewest().unwrap_or(usize::MAX).min(proved).saturating_sub(1);
        SearchResult { frontier, gaps: Some(gaps), ruled_out, nodes }
    }

    /// For a person without a way after the usual search: looks for the fewest changes, up to `most`. Keeps all
    /// candidates with up to `least` changes; beyond that, only those with the fewest.
    fn search_deeper(&mut self, person: Person<'_>, least: usize, most: usize) -> SearchResult {
        let all_nodes = self.affordable(DEEPER_NODES);
        let widest = problem(person, most, &[]);
        let none = Frontier::default();
        let mut known = swap::search(&widest, &mut self.evaluator, &mut self.memory, none, 0.0, self.stop);
        if known.candidates().is_empty() {
            let mut search = self.prove(&widest, Frontier::default(), all_nodes);
            let Some(fewest) = search.frontier.fewest() else { return search };
            if search.rules_out_fewer_than(fewest) {
                search.frontier = search.frontier.up_to(fewest.max(least));
                return search;
            }
            // The nodes went into sets of many changes: spend as many again on few.
            known = search.frontier;
        }
        let fewest = known.fewest().expect("the frontier has a candidate");
        let (mut nodes, mut ruled_out) = (all_nodes, 0);
        for budget in least..fewest {
            let mut search = self.prove(&problem(person, budget, &[]), Frontier::default(), nodes);
            ruled_out = search.ruled_out.max(ruled_out);
            search.ruled_out = ruled_out;
            self.verify(person, &mut search);
            if !search.frontier.candidates().is_empty() {
                return search;
            }
            nodes -= search.nodes;
        }
        let budget = fewest.max(least);
        let mut search = self.prove(&problem(person, budget, &[]), known.up_to(budget), nodes);
        search.ruled_out = search.ruled_out.max(ruled_out);
        search
    }

    /// `nodes`, or fewer if circuit and trees are large, so that they take about the same time.
    fn affordable(&self, nodes: usize) -> usize {
        let work = self.model.accepted().edges() + self.model.classifier().tree_nodes() / TREE_NODES_AN_EDGE;
        nodes * EDGES / work.max(EDGES)
    }
}

fn problem<'a>(person: Person<'a>, budget: usize, taken: &'a [Vec<usize>]) -> SearchProblem<'a> {
    SearchProblem { mask: person.mask, target: person.target, budget, taken }
}

/// The person's row with the changes made, as a table writes it. Unchanged features keep their text.
fn written<'a>(person: Person<'a>, changes: &'a [Change]) -> Vec<&'a str> {
    let mut cells = person.cells.to_vec();
    changes.iter().for_each(|change| cells[change.feature] = change.value.text());
    cells
}
