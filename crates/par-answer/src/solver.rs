//! Answers one person.

mod generate;
mod lasting;
mod obstacles;
mod tighten;
mod unknown;
mod ways;

use std::ops::RangeInclusive;
use std::time::Instant;

use par_circuit::{Code, Evaluator, Stop, threads};
use par_data::{Batch, Candidates, CellError, Choice, Columns, Mask, OwnRow, Reach, UNKNOWN, Wishes};
use par_model::classifier::Classifier;
use par_model::generator::GeneratorScratch;
use par_model::{LocalSearch, Model, Order, Plausibility, RowError, ScoreScale, Target};

use self::lasting::Demands;
use crate::answer::{Answer, NotFound, Reason, Solves};
use crate::complete::Completer;
use crate::decode::Decoder;
use crate::exact::{self, TOLERANCE};
use crate::problem::{Frontier, Objective, Row, SearchProblem};
use crate::refine::affordable;
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
    completer: Completer,
    memory: swap::Memory,
    /// The work of a pass or a node, in edges of the accepted circuit.
    work: usize,
    /// Pairs of an effect and its cause, sorted by the cause: the effect rises only if the cause does.
    rules: Vec<(usize, usize)>,
}

/// One person: their row, what they may become, and who decides.
#[derive(Clone, Copy)]
pub(crate) struct Person<'a> {
    pub(crate) cells: &'a [&'a str],
    pub(crate) own: &'a OwnRow,
    /// The policies that their row breaks.
    pub(crate) broken_policies: &'a [usize],
    /// The score of their row.
    pub(crate) probability: f64,
    pub(crate) candidates: &'a Candidates<'a>,
    /// How plausible rows are, given what this person cannot change.
    pub(crate) plausibility: &'a Plausibility,
    /// log p⁺ of what they cannot change, after each duration of the candidates.
    pub(crate) log_given: &'a [f64],
    /// What searches ask: the deployed classifier, and what a way must withstand besides. Over choices if it reads
    /// values, otherwise over codes.
    pub(crate) classifier: &'a dyn Classifier,
    pub(crate) reads_values: bool,
    pub(crate) demands: Demands,
    /// The generator's most probable legal rows of codes, the best first, concatenated.
    pub(crate) proposals: &'a [Code],
    /// The codes that the generator may propose, and its logits.
    pub(crate) mask: &'a Mask<'a>,
    pub(crate) logits: &'a [f64],
}

/// What a search is for.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Aim {
    pub(crate) objective: Objective,
    pub(crate) solves: Solves,
    /// The score at which a row is offered, or a surer one.
    pub(crate) threshold: f64,
    pub(crate) scale: ScoreScale,
    /// Whether that is the request's margin above its threshold.
    pub(crate) has_margin: bool,
    /// How much more each change must be worth.
    pub(crate) price: f64,
}

impl<'a> Person<'a> {
    fn problem(self, aim: &Aim, budget: usize, taken: &'a [Vec<usize>]) -> SearchProblem<'a> {
        SearchProblem {
            candidates: self.candidates,
            duration: None,
            log_given: self.log_given,
            target: Target { classifier: self.classifier, threshold: aim.threshold, scale: aim.scale },
            reads_values: self.reads_values,
            objective: aim.objective,
            budget,
            taken,
        }
    }
}

/// The result of a search: solutions, and with a proof what others could be worth.
#[derive(Default)]
struct SearchResult {
    frontier: Frontier,
    /// For each number of changes, what a row with at most as many that was not searched could be worth; `None` without
    /// a proof.
    open: Option<Vec<f64>>,
    /// How many nodes the exact search took.
    nodes: usize,
}

impl SearchResult {
    /// The result of a search without a proof.
    fn unproved(frontier: Frontier) -> Self {
        Self { frontier, open: None, nodes: 0 }
    }

    /// How much better a row with at most as many changes could be; `None` without a proof.
    fn gap(&self, changes: usize) -> Option<f64> {
        let open = *self.open.as_ref()?.get(changes)?;
        let room = open - self.frontier.at_most(changes);
        Some(if room > TOLERANCE { room } else { 0.0 })
    }

    /// Whether the frontier is proved.
    fn is_proved(&self) -> bool {
        let changes = self.open.as_ref().map_or(0, Vec::len);
        changes > 0 && (0..changes).all(|changes| self.gap(changes) == Some(0.0))
    }

    /// Whether it is proved that no row with fewer changes than this reaches the target and may be offered.
    fn rules_out_fewer_than(&self, changes: usize) -> bool {
        let is_closed =
            |open: &Vec<f64>| open.get(changes - 1).is_some_and(|open| *open == f64::NEG_INFINITY);
        changes <= 1
            || self.frontier.fewest().is_none_or(|fewest| fewest >= changes)
                && self.open.as_ref().is_some_and(is_closed)
    }
}

/// Nodes of the exact searches for each of up to three aims, for a person without a way after the usual search of `exact`;
/// as many again where they found something without a proof.
const DEEPER_NODES: usize = 7_000;
/// Nodes for a person for whom `refine` finds nothing: hardly longer than its searches. They rule out what is far out of
/// reach, and reach what a walk misses where scores jump.
const RULING_OUT_NODES: usize = 80;
/// A bound over two tree nodes takes as long as one over an edge of a circuit.
const TREE_NODES_AN_EDGE: usize = 2;
/// A way is plausible if so many accepted people are less so.
const PLAUSIBLE: f64 = 0.1;

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
        let rises = model.schema().rises();
        let mut rules: Vec<(usize, usize)> = rises.map(|[effect, cause]| (effect, cause)).collect();
        rules.sort_by_key(|&(effect, cause)| (cause, effect));
        let trees = model.classifier().tree_nodes() / TREE_NODES_AN_EDGE;
        Self {
            model,
            stop: Stop::never(),
            evaluator: model.accepted().evaluator(),
            generator: GeneratorScratch::default(),
            decoder: Decoder::default(),
            completer: Completer::default(),
            memory: swap::Memory::default(),
            work: model.accepted().edges() + trees,
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
    /// When there are not as many cells as features, a position of the request is not that of a feature, or the limits
    /// belong to another model.
    pub fn answer(&mut self, cells: &[&str], request: &Request) -> Result<Answer, RowError> {
        let stop = self.stop;
        // In a browser `Instant::now` panics.
        let has_clock = !cfg!(all(target_family = "wasm", target_os = "unknown"));
        self.stop = stop.by(request.deadline.filter(|_| has_clock).map(|time| Instant::now() + time));
        let mut answer = self.search_answer(cells, request);
        if let Ok(answer) = &mut answer {
            self.add_plain(cells, request, answer);
        }
        if self.is_stopped() {
            match &mut answer {
                Ok(Answer::Found(found)) => found.search_ended = true,
                Ok(Answer::NotFound(not_found)) => not_found.search_ended = true,
                Ok(Answer::Accepted { .. }) | Err(_) => {}
            }
        }
        self.stop = stop;
        answer
    }

    fn search_answer(&mut self, cells: &[&str], request: &Request) -> Result<Answer, RowError> {
        let model = self.model;
        let (constraints, deployed) = (model.constraints(), model.classifier());
        let features = cells.len();
        let weighted = request.efforts.iter().map(|(feature, _)| feature);
        assert!(
            request.locks.iter().chain(weighted).all(|&feature| feature < features),
            "positions of features"
        );
        let codes = model.discretizer().encode_row(cells)?.into_codes();
        let probability = model.row_score(cells, &codes)?;
        let own = OwnRow::new(model.discretizer(), cells, codes);
        let broken_policies = constraints.broken_policies(&own);
        if model.scale().reaches(probability, request.threshold_for(model)) && broken_policies.is_empty() {
            return Ok(Answer::Accepted { probability, verified: deployed.verifies() });
        }
        if own.codes().iter().all(|code| *code == UNKNOWN) {
            return Ok(Answer::NotFound(NotFound::all_unknown(
                probability,
                broken_policies,
                request.auditor,
            )));
        }
        let demands = Demands::of(request, model);
        let reads_values = demands.read_values(model);
        let reaches: &[Reach] =
            if reads_values { &[Reach::Values, Reach::AllValues] } else { &[Reach::Codes] };
        let plausibility = model.plausibility(&request.locks);
        let mut not_found = None;
        for (place, &reach) in reaches.iter().enumerate() {
            let candidates = constraints.candidates(&own, &request.wishes_for(model), reach);
            let classifier = self.demanding(cells, &candidates, demands)?;
            let mask = candidates.mask(&candidates.durations()[0]);
            let (proposals, logits) = self.proposals(&mask, model.config().answers.proposals);
            let log_given = self.log_given(&plausibility, &candidates);
            let person = Person {
                cells,
                own: &own,
                broken_policies: &broken_policies,
                probability,
                candidates: &candidates,
                plausibility: &plausibility,
                log_given: &log_given,
                classifier: &*classifier,
                reads_values,
                demands,
                proposals: &proposals,
                mask: &mask,
                logits: &logits,
            };
            let (search, aim) = self.search_in_time(person, request);
            if let Some(found) = self.found(person, &search, &aim, request) {
                return Ok(Answer::Found(found));
            }
            if place + 1 == reaches.len() {
                let beyond = self.search_beyond_budget(person, request);
                let needs_changes = beyond.frontier.fewest();
                // What is found only now within the budget was missed before.
                let missed = beyond.frontier.up_to(self.budget(person, request));
                let aim = self.last_aim(&plausibility, request);
                if let Some(found) = self.found(person, &SearchResult::unproved(missed), &aim, request) {
                    return Ok(Answer::Found(found));
                }
                not_found = Some(self.not_found(person, search.is_proved(), needs_changes, request));
                break;
            }
        }
        Ok(Answer::NotFound(not_found.expect("the last reach gives an answer")))
    }

    /// The generator's most probable legal row as cells, whether or not it is accepted: the first proposal of
    /// `generate`; the person's own row if that breaks a relation. Unchanged features keep their text.
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
        let codes = model.discretizer().encode_row(cells)?.into_codes();
        let own = OwnRow::new(model.discretizer(), cells, codes);
        let candidates = model.constraints().candidates(&own, &Wishes::default(), Reach::Codes);
        let (row, _) = self.proposals(&candidates.mask(&candidates.durations()[0]), 1);
        let choice = |feature: usize| {
            let list = candidates.of(feature);
            list.iter().position(|candidate| candidate.code == row[feature]).unwrap_or(0) as u16
        };
        let mut choices: Vec<u16> = (0..row.len()).map(choice).collect();
        if !candidates.settle(&mut choices) || !candidates.keeps_relations(&choices) {
            choices.clone_from(&candidates.durations()[0].row);
        }
        let text = |feature: usize| candidates.text(model.discretizer(), &choices, feature, cells[feature]);
        Ok((0..row.len()).map(text).collect())
    }

    /// log p⁺ of what a person cannot change, after each duration.
    fn log_given(&mut self, plausibility: &Plausibility, candidates: &Candidates<'_>) -> Vec<f64> {
        let own = candidates.durations().iter().map(|duration| candidates.codes(&duration.row));
        own.map(|codes| plausibility.log_given(&mut self.evaluator, &codes)).collect()
    }

    /// What a request searches for, in this order, until something is found.
    fn aims(&self, plausibility: &Plausibility, request: &Request) -> Vec<Aim> {
        let (model, answers) = (self.model, &self.model.config().answers);
        let threshold = request.threshold_for(model);
        let scale = model.scale();
        let offered_from = model.classifier().offered_from(threshold, scale);
        let with_margin = scale.harder(threshold, request.margin.unwrap_or(model.margin()));
        let has_room = !scale.reaches(offered_from, with_margin);
        let sure = if has_room { with_margin } else { offered_from };
        let order = request.order_for(model);
        let effort = if order == Order::Balanced { answers.effort_weight } else { 0.0 };
        let min_percentile = request.min_percentile_for(model);
        let likeliest = Aim {
            objective: Objective::likeliest(effort, plausibility.floor(min_percentile)),
            solves: Solves::Likeliest,
            threshold: sure,
            scale,
            has_margin: true,
            price: answers.price,
        };
        let mut aims = Vec::with_capacity(3);
        if order == Order::Balanced {
            let objective = Objective::least_effort(plausibility.floor(min_percentile.max(PLAUSIBLE)));
            aims.push(Aim { objective, solves: Solves::LeastEffort, price: 0.0, ..likeliest });
        }
        aims.push(likeliest);
        if has_room {
            aims.push(Aim { threshold: offered_from, has_margin: false, ..likeliest });
        }
        aims
    }

    /// What a request searches for at last: acceptance, without its margin.
    fn last_aim(&self, plausibility: &Plausibility, request: &Request) -> Aim {
        *self.aims(plausibility, request).last().expect("a request has an aim")
    }

    /// The most changes of the usual search.
    fn budget(&self, person: Person<'_>, request: &Request) -> usize {
        request.budget.unwrap_or(self.model.config().answers.budget).min(person.candidates.free_features())
    }

    /// [`Solver::search_for`]; before a deadline after that of each faster method, so that there is something to offer when
    /// the time is over.
    fn search_in_time(&mut self, person: Person<'_>, request: &Request) -> (SearchResult, Aim) {
        if request.deadline.is_none() {
            return self.search_for(person, request);
        }
        let aims = self.aims(person.plausibility, request);
        let place = |aim: &Aim| aims.iter().position(|other| other == aim);
        let [first, others @ ..] = Method::ALL;
        let of = |method| Request { method, ..request.clone() };
        let (mut best, mut best_aim) = self.search_for(person, &of(first));
        for method in others.into_iter().take(request.method as usize) {
            let (mut search, aim) = self.search_for(person, &of(method));
            let is_cut = self.is_stopped();
            if !best.frontier.solutions().is_empty() {
                if search.frontier.solutions().is_empty() || is_cut && place(&best_aim) < place(&aim) {
                    continue;
                }
                if is_cut && best_aim == aim {
                    // A search that is stopped early knows less than the one before it.
                    let most = search.open.as_ref().map_or(usize::MAX, |open| open.len() - 1);
                    for solution in best.frontier.up_to(most).solutions() {
                        search.frontier.add(solution.clone());
                    }
                }
            }
            (best, best_aim) = (search, aim);
        }
        (best, best_aim)
    }

    /// The searches of the request's aims until one finds something, followed by deeper ones if none does.
    fn search_for(&mut self, person: Person<'_>, request: &Request) -> (SearchResult, Aim) {
        self.memory.forget();
        if request.method == Method::Generate {
            return self.generate(person, request);
        }
        let budget = self.budget(person, request);
        let aims = self.aims(person.plausibility, request);
        let last = *aims.last().expect("a request has an aim");
        let mut search = SearchResult::default();
        for aim in &aims {
            search = self.search(person, aim, budget, &[], request.method);
            if !search.frontier.solutions().is_empty() {
                return (search, *aim);
            }
        }
        let may_go_deeper =
            request.method == Method::Exact || self.model.config().answers.search == LocalSearch::Swap;
        let most = if request.budget.is_none() { person.candidates.free_features() } else { budget };
        // Who cannot reach the last aim cannot reach those before it.
        let is_ruled_out = search.is_proved();
        let least = budget + usize::from(is_ruled_out);
        if may_go_deeper && least <= most {
            // After an exact search within the same budget, a second one would have fewer nodes.
            let is_exhausted = most == budget && search.open.is_some();
            let method = if is_exhausted { Method::Refine } else { request.method };
            for aims in aims.chunk_by(|a, b| a.threshold == b.threshold) {
                let likeliest = aims.last().expect("a chunk has an aim");
                let completed = self.completed_within(person, likeliest, most);
                for aim in aims {
                    let known = self.offered(person, aim, most, &completed).frontier;
                    let from_nothing = !is_exhausted && (method == Method::Exact || *aim == last);
                    let mut deeper =
                        self.search_deeper(person, aim, known, least..=most, method, from_nothing);
                    if let Some(open) = deeper.open.as_mut().filter(|_| is_ruled_out) {
                        open[..=budget].fill(f64::NEG_INFINITY);
                    }
                    if !deeper.frontier.solutions().is_empty() {
                        return (deeper, *aim);
                    }
                    if !is_exhausted {
                        search = deeper;
                    }
                }
            }
        }
        (search, last)
    }

    /// For a person without a way within a budget of their own: ways with more changes. Not for `generate`, which does not
    /// search.
    fn search_beyond_budget(&mut self, person: Person<'_>, request: &Request) -> SearchResult {
        let (free, budget) = (person.candidates.free_features(), self.budget(person, request));
        if request.budget.is_none() || free <= budget || request.method == Method::Generate {
            return SearchResult::default();
        }
        let aim = self.last_aim(person.plausibility, request);
        let completed = self.completed_within(person, &aim, free);
        let known = self.offered(person, &aim, free, &completed).frontier;
        self.search_deeper(person, &aim, known, budget + 1..=free, request.method, true)
    }

    /// Keeps the solutions whose rows, as written, are accepted and withstand what they must. Removing one invalidates the
    /// proof: the search skipped rows that were worth less.
    fn verify(&self, person: Person<'_>, aim: &Aim, search: &mut SearchResult) {
        // A classifier that reads codes has already been asked by the search.
        if !person.reads_values && person.demands.are_none() {
            return;
        }
        let before = search.frontier.solutions().len();
        search.frontier.retain(|solution| {
            let score = self.withstood(person, solution);
            score.is_ok_and(|score| aim.scale.reaches(score, aim.threshold))
        });
        if search.frontier.solutions().len() < before {
            search.open = None;
        }
    }

    /// The deployed classifier's score of a row of choices as written.
    fn score(&self, person: Person<'_>, choices: &[Choice]) -> Result<f64, RowError> {
        if !self.model.classifier().reads_values() {
            return Ok(self.model.probability(&person.candidates.codes(choices)));
        }
        let cells = self.written(person, choices);
        self.model.score(&cells.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The cells of a row of choices as a table writes them. Unchanged features keep their text.
    fn written(&self, person: Person<'_>, choices: &[Choice]) -> Vec<String> {
        let discretizer = self.model.discretizer();
        let cells = person.cells.iter().enumerate();
        cells.map(|(feature, cell)| person.candidates.text(discretizer, choices, feature, cell)).collect()
    }

    /// The generator's `count` most probable legal rows, the best first, concatenated, and its logits.
    fn proposals(&mut self, mask: &Mask<'_>, count: usize) -> (Vec<Code>, Vec<f64>) {
        let log_likelihood = self.evaluator.log_prob(mask.factual());
        let logits =
            self.model.generator().logits(self.model.pool(), mask, log_likelihood, &mut self.generator);
        (self.decoder.best_rows(mask, logits, count).to_vec(), logits.to_vec())
    }

    /// The search of a method.
    fn search(
        &mut self,
        person: Person<'_>,
        aim: &Aim,
        budget: usize,
        taken: &[Vec<usize>],
        method: Method,
    ) -> SearchResult {
        let answers = &self.model.config().answers;
        let problem = &person.problem(aim, budget, taken);
        let frontier = match (method, answers.search) {
            (Method::Generate, _) => self.accepted_frontier(problem, person.proposals),
            (_, LocalSearch::Swap) => {
                let known = self.accepted_frontier(problem, person.proposals);
                self.memory.most_passes = self.passes();
                swap::search(problem, &mut self.evaluator, &mut self.memory, known, aim.price, self.stop)
            }
            (_, LocalSearch::Paper) => {
                let mut two_phase = TwoPhase {
                    problem: *problem,
                    rules: &self.rules,
                    evaluator: &mut self.evaluator,
                    delta_max: answers.delta_max,
                };
                let proposals = person.proposals.chunks_exact(problem.candidates.features());
                let proposals = proposals.take_while(|_| self.stop.check().is_ok());
                let refined: Vec<Code> = proposals.flat_map(|proposal| two_phase.search(proposal)).collect();
                self.accepted_frontier(problem, &refined)
            }
        };
        let mut search = match method {
            Method::Exact => self.prove(problem, frontier, answers.nodes),
            Method::Generate | Method::Refine => SearchResult::unproved(frontier),
        };
        self.verify(person, aim, &mut search);
        search
    }

    /// The frontier of the rows of codes that are accepted and may be offered.
    fn accepted_frontier(&mut self, problem: &SearchProblem<'_>, rows: &[Code]) -> Frontier {
        let rows = rows.chunks_exact(problem.candidates.features()).filter_map(|codes| problem.row(codes));
        self.frontier_of(problem, rows)
    }

    /// The frontier of the rows that are accepted and may be offered.
    fn frontier_of(&mut self, problem: &SearchProblem<'_>, rows: impl Iterator<Item = Row>) -> Frontier {
        let mut frontier = Frontier::default();
        problem.add_solutions(&mut frontier, rows, &mut self.evaluator);
        frontier
    }

    /// Searches exactly, one duration after the other: clocks stand elsewhere after each.
    fn prove(&mut self, problem: &SearchProblem<'_>, known: Frontier, max_nodes: usize) -> SearchResult {
        let durations = problem.candidates.durations().len();
        let (mut frontier, mut open) = (known, vec![f64::NEG_INFINITY; problem.budget + 1]);
        let mut nodes = 0;
        for duration in 0..durations {
            let share = (max_nodes - nodes).div_ceil(durations - duration);
            let problem = problem.after(duration);
            let proof = exact::solve(&problem, &mut self.evaluator, frontier, share, self.stop);
            open.iter_mut().zip(&proof.open).for_each(|(open, other)| *open = open.max(*other));
            nodes += proof.nodes;
            frontier = proof.frontier;
        }
        SearchResult { frontier, open: Some(open), nodes }
    }

    /// For a person without a way after the usual search: looks for the fewest changes within `changes`, by local search,
    /// from what is known and accepted as written. Keeps all solutions with at most as many changes as `changes` starts
    /// with; of others, only those with the fewest. If it finds nothing, an exact search may begin from nothing.
    fn search_deeper(
        &mut self,
        person: Person<'_>,
        aim: &Aim,
        known: Frontier,
        changes: RangeInclusive<usize>,
        method: Method,
        from_nothing: bool,
    ) -> SearchResult {
        let problem = |budget| person.problem(aim, budget, &[]);
        let widest = problem(*changes.end());
        self.memory.most_passes = self.passes();
        let verified = known.clone();
        let known = swap::fewest(&widest, &mut self.evaluator, &mut self.memory, known, self.stop);
        if known.solutions().is_empty() && !from_nothing {
            return SearchResult::default();
        }
        let mut search = match method {
            Method::Exact => self.prove_deeper(problem, aim, known, changes, self.affordable(DEEPER_NODES)),
            Method::Generate | Method::Refine => self.refine_deeper(problem, aim, known, changes),
        };
        self.verify(person, aim, &mut search);
        if search.frontier.solutions().is_empty() && !verified.solutions().is_empty() {
            // What was better by the search's own measure is not accepted as written.
            return SearchResult::unproved(verified);
        }
        search
    }

    /// By local search: the best rows with the fewest changes that are known, or that a few nodes come to.
    fn refine_deeper<'a>(
        &mut self,
        problem: impl Fn(usize) -> SearchProblem<'a>,
        aim: &Aim,
        mut known: Frontier,
        changes: RangeInclusive<usize>,
    ) -> SearchResult {
        if known.solutions().is_empty() {
            let search = self.prove(&problem(*changes.end()), known, self.affordable(RULING_OUT_NODES));
            if search.frontier.solutions().is_empty() {
                return search;
            }
            known = search.frontier;
        }
        let budget = known.fewest().expect("the frontier has a solution").max(*changes.start());
        let (narrow, known) = (problem(budget), known.up_to(budget));
        SearchResult::unproved(swap::search(
            &narrow,
            &mut self.evaluator,
            &mut self.memory,
            known,
            aim.price,
            self.stop,
        ))
    }

    /// By exact search.
    fn prove_deeper<'a>(
        &mut self,
        problem: impl Fn(usize) -> SearchProblem<'a>,
        aim: &Aim,
        mut known: Frontier,
        changes: RangeInclusive<usize>,
        all_nodes: usize,
    ) -> SearchResult {
        let (least, most) = changes.into_inner();
        if known.solutions().is_empty() {
            let mut search = self.prove(&problem(most), known, all_nodes);
            let Some(fewest) = search.frontier.fewest() else { return search };
            if search.rules_out_fewer_than(fewest) {
                search.frontier = search.frontier.up_to(fewest.max(least));
                return search;
            }
            // The nodes went into sets of many changes: spend as many again on few.
            known = search.frontier;
        }
        let fewest = known.fewest().expect("the frontier has a solution");
        let (mut nodes, mut ruled_out) = (all_nodes, 0);
        for budget in least..fewest {
            if self.is_stopped() {
                break;
            }
            let search = self.prove(&problem(budget), Frontier::default(), nodes);
            nodes -= search.nodes;
            if search.frontier.solutions().is_empty() {
                ruled_out = if search.is_proved() { budget } else { ruled_out };
            } else if search.is_proved() {
                return search;
            } else {
                known = search.frontier;
                break;
            }
        }
        let budget = known.fewest().expect("the frontier has a solution").max(least);
        let (narrow, known) = (problem(budget), known.up_to(budget));
        let known = swap::search(&narrow, &mut self.evaluator, &mut self.memory, known, aim.price, self.stop);
        let mut search = self.prove(&narrow, known, nodes);
        if let Some(open) = &mut search.open {
            open[..=ruled_out].fill(f64::NEG_INFINITY);
        }
        search
    }

    /// `count` nodes or passes, or fewer if circuit and trees are large, so that they take about the same time.
    fn affordable(&self, count: usize) -> usize {
        affordable(count, self.work)
    }

    /// The most passes of a local search.
    fn passes(&self) -> usize {
        self.affordable(self.model.config().answers.passes)
    }
}

impl NotFound {
    /// The answer to a row without a known cell.
    fn all_unknown(probability: f64, broken_policies: Vec<usize>, auditor: bool) -> Self {
        Self {
            probability,
            broken_policies,
            reason: Reason::AllUnknown,
            must_last: false,
            needs_changes: None,
            obstacles: Vec::new(),
            schema_obstacles: auditor.then(Vec::new),
            unusual: Vec::new(),
            search_ended: false,
            unknown: Vec::new(),
        }
    }
}
