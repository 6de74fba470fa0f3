//! From one person's row to their answer.

use par_circuit::{Code, Evaluator, Stop};
use par_data::{Batch, CellError, Columns, Decoded, Limits, Mask};
use rayon::prelude::*;

use crate::answer::{
    Answer, BestAt, Change, Found, Method, NotFound, Obstacle, Order, Point, Reason, Request, Way,
};
use crate::bundle::Bundle;
use crate::classifier::{Classifier, DeployedClassifier, Representative, limited_codes, probability};
use crate::config::LocalSearch;
use crate::decode::Decoder;
use crate::error::RowError;
use crate::exact::{self, Proof};
use crate::generator::GeneratorScratch;
use crate::offers::{Offer, Offers};
use crate::problem::{Candidate, Frontier, Problem};
use crate::refine::paper::TwoPhase;
use crate::refine::swap;

#[cfg(test)]
mod tests;

/// Answers one person after the other. Keep it: it holds the memory that answering needs.
pub struct Solver<'b> {
    bundle: &'b Bundle,
    /// From which probability on the row that is being answered counts as accepted.
    threshold: f64,
    stop: Stop<'b>,
    evaluator: Evaluator<'b>,
    generator: GeneratorScratch,
    decoder: Decoder,
    memory: swap::Memory,
    /// Pairs of a feature that does not rise alone and one that has to rise with it, sorted by the latter.
    rules: Vec<(usize, usize)>,
}

/// One person, and the classifier as they meet it.
#[derive(Clone, Copy)]
struct Person<'a> {
    cells: &'a [&'a str],
    /// What they may change.
    mask: &'a Mask<'a>,
    /// What the values that codes stand for are within.
    limits: &'a Limits,
    classifier: &'a dyn Classifier,
    /// What the codes that it is asked about stand for.
    representative: Representative,
}

/// What a search found: candidates, and how far from them better ones could be, if it looked.
struct Search {
    frontier: Frontier,
    gaps: Option<Vec<f64>>,
    /// With so many changes or fewer, it is proved that there is no way.
    ruled_out: usize,
    /// Nodes of the exact search.
    nodes: usize,
}

impl Search {
    /// What a search found that proves nothing.
    fn unproved(frontier: Frontier) -> Self {
        Self { frontier, gaps: None, ruled_out: 0, nodes: 0 }
    }

    /// Whether it is proved that fewer changes are not enough.
    fn rules_out_fewer_than(&self, changes: usize) -> bool {
        changes <= self.ruled_out + 1
    }

    /// Whether it is proved that there is nothing beyond what was found.
    fn is_proved(&self) -> bool {
        self.gaps.as_ref().is_some_and(|gaps| gaps.iter().all(|gap| *gap == 0.0))
    }

    fn gap(&self, candidate: &Candidate) -> Option<f64> {
        let gaps = self.gaps.as_ref()?;
        // Fewer changes than these may be likelier than the candidate only if the search left them open.
        gaps.get(candidate.changes).copied()
    }
}

/// Nodes of exact searches for those whom the usual search leaves without an answer, about half a second.
const DEEPER_NODES: usize = 20_000;
/// Sets of obstacles that are tried to name the smallest, at most; each is a search of its own.
const OBSTACLE_SETS: usize = 500;
/// Obstacles in a set, at most.
const OBSTACLES: usize = 3;
/// Nodes of the exact search that decides whether a set is enough, and of all searches for sets together.
const OBSTACLE_NODES: [usize; 2] = [500, 30_000];
/// Where the accepted circuit has more edges than this, nodes take longer, and there are as many fewer.
const EDGES: usize = 4_000;
/// Bounds over two nodes of trees take as long as those over one edge of a circuit.
const TREE_NODES_AN_EDGE: usize = 2;

impl Bundle {
    /// A solver for one thread.
    pub fn solver(&self) -> Solver<'_> {
        let rules = self.schema().rules().iter();
        let mut rules: Vec<(usize, usize)> =
            rules.map(|rule| (rule.if_increases, rule.must_increase)).collect();
        rules.sort_by_key(|&(effect, cause)| (cause, effect));
        Solver {
            bundle: self,
            threshold: self.threshold,
            stop: Stop::never(),
            evaluator: self.accepted.evaluator(),
            generator: GeneratorScratch::default(),
            decoder: Decoder::default(),
            memory: swap::Memory::default(),
            rules,
        }
    }

    /// The answer for one row, its cells in schema order.
    ///
    /// # Errors
    /// When a cell does not fit its column, or the classifier has no score for the row.
    ///
    /// # Panics
    /// When there are not as many cells as features.
    pub fn recourse(&self, cells: &[&str]) -> Result<Answer, RowError> {
        self.solver().answer(cells, &Request::default())
    }

    /// The answers for all rows of a batch, on all threads, in the order of the rows. `request` says what
    /// each row asks for.
    ///
    /// Rows whose cells do not fit have an error in their place, and do not keep the others from theirs.
    ///
    /// ```
    /// # use par_data::german_credit;
    /// # use par_recourse::{Bundle, Config, Method, Recourse, Request};
    /// # let mut config = Config::default();
    /// # config.generator.steps = 20;
    /// # let schema = german_credit::schema();
    /// # let bundle = Recourse::new(schema.clone(), config).fit(|| Ok(german_credit::table()))?;
    /// # let file = std::env::temp_dir().join("recourse_batch.par");
    /// bundle.save(&file)?;
    /// let bundle = Bundle::load(&file)?;
    ///
    /// let table = german_credit::table();
    /// let columns = bundle.schema().columns(table.origin(), table.columns())?;
    /// for batch in table.batches(500) {
    ///     let batch = batch?;
    ///     let request = |_| Request { method: Method::Generate, ..Request::default() };
    ///     let answers = bundle.recourse_batch(&columns, &batch, request);
    ///     assert_eq!(answers.len(), batch.rows());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn recourse_batch(
        &self,
        columns: &Columns,
        batch: &Batch,
        request: impl Fn(usize) -> Request + Sync,
    ) -> Vec<Result<Answer, RowError>> {
        (0..batch.rows())
            .into_par_iter()
            .map_init(
                || self.solver(),
                |solver, row| {
                    let cells: Vec<&str> =
                        columns.features.iter().map(|&column| batch.cell(row, column)).collect();
                    solver.answer(&cells, &request(row))
                },
            )
            .collect()
    }
}

impl<'b> Solver<'b> {
    /// The same, with searches that end where they are when they are told to stop, as if they had run out of nodes.
    #[must_use]
    pub fn until(self, stop: Stop<'b>) -> Self {
        Self { stop, ..self }
    }

    /// Whether searches are told to stop by now, so that the last answer may be less than there is.
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
    /// When there are not as many cells as features, a lock is no position of a feature, or the limits are of another
    /// bundle.
    pub fn answer(&mut self, cells: &[&str], request: &Request) -> Result<Answer, RowError> {
        let bundle = self.bundle;
        let features = cells.len();
        assert!(request.locks.iter().all(|&lock| lock < features), "locks are positions of features");
        let encoded = bundle.discretizer.encode_row(cells)?;
        let factual = encoded.codes();
        let probability = bundle.classifier.probability(cells, factual)?;
        self.threshold = request.threshold.unwrap_or(bundle.threshold);
        if probability >= self.threshold {
            return Ok(Answer::Accepted { probability, verified: bundle.classifier.verifies() });
        }
        let limits = &request.limits;
        let mask = bundle.constraints.mask_within(factual, &request.locks, limits);
        let proposals = self.proposals(&mask, bundle.config.answers.proposals);
        let mut first = None;
        let mut is_proved = true;
        for &representative in bundle.classifier.representatives() {
            let classifier = bundle.of_person(cells, factual, representative, limits)?;
            let person = Person { cells, mask: &mask, limits, classifier: &*classifier, representative };
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
        let (classifier, representative) = first.expect("codes stand for something");
        let person = Person { cells, mask: &mask, limits, classifier: &*classifier, representative };
        Ok(Answer::NotFound(self.not_found(person, probability, is_proved, request)))
    }

    /// The generator's most probable legal row as cells, whether or not it is accepted: what `generate` offers where it
    /// looks at one row alone, before the classifier has been asked. Features that stay keep their text.
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
        let bundle = self.bundle;
        let encoded = bundle.discretizer.encode_row(cells)?;
        let mask = bundle.constraints.mask(encoded.codes(), &[]);
        let row = self.proposals(&mask, 1);
        let own = mask.factual();
        let text = |feature: usize| match cells[feature] {
            cell if row[feature] == own[feature] => cell.to_string(),
            cell => bundle.discretizer.decode(feature, row[feature], own[feature], cell).text().to_string(),
        };
        Ok((0..row.len()).map(text).collect())
    }

    /// How many features may change at most, unless that leaves a person without an answer.
    fn budget(&self, person: Person<'_>, request: &Request) -> usize {
        request.budget.unwrap_or(self.bundle.config.answers.budget).min(person.mask.free_features())
    }

    /// The search that is asked for, and where it is left empty-handed, a deeper one.
    fn search_for(&mut self, person: Person<'_>, proposals: &[Code], request: &Request) -> Search {
        let answers = &self.bundle.config.answers;
        let budget = self.budget(person, request);
        let mut search = self.search(&self.problem(person, budget, &[]), proposals, request.method);
        self.verify(person, &mut search);
        let searches_on = match request.method {
            Method::Generate => false,
            Method::Refine => answers.search == LocalSearch::Swap,
            Method::Exact => true,
        };
        let most = if request.budget.is_none() { person.mask.free_features() } else { budget };
        // What an exact search has looked through needs no second one, which would be shorter.
        let looked_through = most == budget && search.gaps.is_some();
        if search.frontier.candidates().is_empty() && searches_on && !looked_through {
            let least = budget + usize::from(search.is_proved());
            search = self.search_deeper(person, least, most);
            self.verify(person, &mut search);
        }
        search
    }

    /// Keeps the candidates whose rows, as they are written down, the classifier itself accepts. If one has to go, the
    /// search has proved nothing: what it passed over for it was never looked at.
    fn verify(&self, person: Person<'_>, search: &mut Search) {
        // Over codes the classifier is itself.
        if person.representative == Representative::Any {
            return;
        }
        let before = search.frontier.candidates().len();
        search.frontier.retain(|candidate| {
            let changes = self.changes(person, candidate, person.representative);
            let score = self.bundle.score(&written(person, &changes));
            score.is_ok_and(|probability| probability >= self.offered_from())
        });
        if search.frontier.candidates().len() < before {
            search.gaps = None;
        }
    }

    /// The probability from which on a row is offered.
    fn offered_from(&self) -> f64 {
        self.bundle.classifier.offered_from(self.threshold)
    }

    /// The ways to tell, if the search found one.
    fn found(
        &mut self,
        person: Person<'_>,
        probability: f64,
        search: &Search,
        proposals: &[Code],
        request: &Request,
    ) -> Option<Found> {
        let order = request.order.unwrap_or(self.bundle.config.answers.order);
        let (mut ways, frontier) = match order {
            Order::Balanced => self.balanced(person, search, proposals, request)?,
            Order::Likelihood => self.likeliest(person, search, proposals, request)?,
        };
        say_what_is_best(&mut ways, &frontier);
        let verified = self.bundle.classifier.verifies();
        let fewest_proved =
            frontier.first().is_some_and(|fewest| search.rules_out_fewer_than(fewest.changes));
        Some(Found { probability, verified, ways, frontier, fewest_proved, limits: person.limits.clone() })
    }

    /// The likeliest way that is worth its changes, and further ones of the same kind.
    fn likeliest(
        &mut self,
        person: Person<'_>,
        search: &Search,
        proposals: &[Code],
        request: &Request,
    ) -> Option<(Vec<Way>, Vec<Point>)> {
        let best = search.frontier.choice(self.bundle.config.answers.price)?;
        let mut ways = vec![self.way(person, best, request.method, search.gap(best))];
        let budget = self.budget(person, request).max(best.changes);
        while ways.len() < request.count
            && !self.is_stopped()
            && let Some(way) = self.another_way(person, budget, proposals, &ways, request.method)
        {
            ways.push(way);
        }
        let frontier = search.frontier.candidates().iter().map(|candidate| Point {
            changes: candidate.changes,
            log_likelihood: self.evaluator.log_prob(&candidate.row),
            probability: probability(person.classifier.log_odds(&candidate.row)),
            row: candidate.row.clone(),
            representative: person.representative,
            gap: search.gap(candidate),
        });
        Some((ways, frontier.collect()))
    }

    /// Ways of which none is dominated, first one that nothing shown beats in changes and probability.
    fn balanced(
        &mut self,
        person: Person<'_>,
        search: &Search,
        proposals: &[Code],
        request: &Request,
    ) -> Option<(Vec<Way>, Vec<Point>)> {
        let Request { method, count, .. } = *request;
        let price = self.bundle.config.answers.price;
        let mut offers = Offers::default();
        for candidate in search.frontier.candidates() {
            offers.add(self.offer(person, candidate, search.gap(candidate), &[]));
        }
        let budget = self.budget(person, request).max(offers.shown(price, 1).first()?.candidate.changes);
        let enough = self.offered_from();
        let mut wanted = enough;
        // Every way takes two searches at most: one among all rows and, if it finds nothing new, one among surer ones.
        for _ in 0..2 * count {
            let shown = offers.shown(price, count);
            if shown.len() >= count || wanted > 1.0 || self.is_stopped() {
                break;
            }
            let taken: Vec<Vec<usize>> = shown.iter().map(|offer| offer.features.clone()).collect();
            let problem = Problem { threshold: wanted, ..self.problem(person, budget, &taken) };
            let mut further = self.search(&problem, proposals, method);
            self.verify(person, &mut further);
            let mut is_new = false;
            for candidate in further.frontier.candidates() {
                let gap = further.gap(candidate).filter(|_| wanted == enough);
                is_new |= offers.add(self.offer(person, candidate, gap, &taken));
            }
            wanted = match wanted == enough {
                _ if is_new => enough,
                true if !further.frontier.candidates().is_empty() => offers.surest().next_up(),
                _ => break,
            };
        }
        let shown = offers.shown(price, count);
        let ways = shown.iter().enumerate().map(|(place, offer)| {
            let is_before = |set: &Vec<usize>| shown[..place].iter().any(|before| before.features == *set);
            // What was proved among rows that leave out changes of other ways than those before it is not said.
            let gap = offer.gap.filter(|_| offer.without.iter().all(is_before));
            self.way(person, &offer.candidate, method, gap)
        });
        let ways = ways.collect();
        let frontier = offers.frontier().into_iter().map(|offer| Point {
            changes: offer.candidate.changes,
            log_likelihood: offer.candidate.log_prob,
            probability: offer.probability,
            row: offer.candidate.row.clone(),
            representative: person.representative,
            gap: search.gap(&offer.candidate).filter(|gap| gap.is_finite()),
        });
        Some((ways, frontier.collect()))
    }

    /// A candidate as it would be shown.
    fn offer(
        &mut self,
        person: Person<'_>,
        candidate: &Candidate,
        gap: Option<f64>,
        without: &[Vec<usize>],
    ) -> Offer {
        let changes = self.changes(person, candidate, person.representative);
        let score = self.bundle.score(&written(person, &changes));
        Offer {
            candidate: Candidate { log_prob: self.evaluator.log_prob(&candidate.row), ..candidate.clone() },
            probability: score.expect("a decoded row can be encoded"),
            features: changes.iter().map(|change| change.feature).collect(),
            gap,
            without: without.to_vec(),
        }
    }

    fn problem<'a>(&self, person: Person<'a>, budget: usize, taken: &'a [Vec<usize>]) -> Problem<'a> {
        Problem {
            mask: person.mask,
            classifier: person.classifier,
            threshold: self.offered_from(),
            budget,
            taken,
        }
    }

    /// The generator's most probable rows, at most so many, one after the other, the best first.
    fn proposals(&mut self, mask: &Mask<'_>, count: usize) -> Vec<Code> {
        let Bundle { generator, pool, .. } = self.bundle;
        let log_likelihood = self.evaluator.log_prob(mask.factual());
        let logits = generator.logits(pool, mask, log_likelihood, &mut self.generator);
        self.decoder.best_rows(mask, logits, count).to_vec()
    }

    fn search(&mut self, problem: &Problem<'_>, proposals: &[Code], method: Method) -> Search {
        let answers = &self.bundle.config.answers;
        let frontier = match (method, answers.search) {
            (Method::Generate, _) => self.accepted_ones(problem, proposals),
            (_, LocalSearch::Swap) => {
                let known = self.accepted_ones(problem, proposals);
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
                self.accepted_ones(problem, &refined)
            }
        };
        match method {
            Method::Exact => self.prove(problem, frontier, answers.nodes),
            Method::Generate | Method::Refine => Search::unproved(frontier),
        }
    }

    /// Those of the rows that are accepted and may be offered.
    fn accepted_ones(&mut self, problem: &Problem<'_>, rows: &[Code]) -> Frontier {
        let width = problem.factual().len();
        let accepted = |row: &&[Code]| problem.permits(row) && problem.accepts(row);
        let accepted: Vec<Code> = rows.chunks_exact(width).filter(accepted).flatten().copied().collect();
        let log_probs = self.evaluator.log_probs(&accepted);
        let mut frontier = Frontier::default();
        for (row, log_prob) in accepted.chunks_exact(width).zip(log_probs) {
            frontier.add(Candidate { row: row.to_vec(), log_prob, changes: problem.changes(row) });
        }
        frontier
    }

    fn prove(&mut self, problem: &Problem<'_>, known: Frontier, max_nodes: usize) -> Search {
        let Proof { frontier, gaps, nodes } =
            exact::solve(problem, &mut self.evaluator, known, max_nodes, self.stop);
        let proved = gaps.iter().take_while(|gap| **gap == 0.0).count();
        // The first gap is that of the person's own row, which is denied: one proof less counts.
        let ruled_out = frontier.fewest().unwrap_or(usize::MAX).min(proved).saturating_sub(1);
        Search { frontier, gaps: Some(gaps), ruled_out, nodes }
    }

    /// Where a usual search ends empty-handed: whether there is anything within `most` changes, and if so, within how
    /// few. Up to `least` changes all that is found counts; beyond that, only the fewest changes.
    fn search_deeper(&mut self, person: Person<'_>, least: usize, most: usize) -> Search {
        let all_nodes = self.affordable(DEEPER_NODES);
        let widest = self.problem(person, most, &[]);
        let none = Frontier::default();
        let mut known = swap::search(&widest, &mut self.evaluator, &mut self.memory, none, 0.0, self.stop);
        if known.candidates().is_empty() {
            let mut search = self.prove(&widest, Frontier::default(), all_nodes);
            let Some(fewest) = search.frontier.fewest() else { return search };
            if search.rules_out_fewer_than(fewest) {
                search.frontier = search.frontier.up_to(fewest.max(least));
                return search;
            }
            // The nodes went into sets of many changes: as many again look for few.
            known = search.frontier;
        }
        let fewest = known.fewest().expect("something is known");
        let (mut nodes, mut ruled_out) = (all_nodes, 0);
        for budget in least..fewest {
            let mut search = self.prove(&self.problem(person, budget, &[]), Frontier::default(), nodes);
            ruled_out = search.ruled_out.max(ruled_out);
            search.ruled_out = ruled_out;
            self.verify(person, &mut search);
            if !search.frontier.candidates().is_empty() {
                return search;
            }
            nodes -= search.nodes;
        }
        let budget = fewest.max(least);
        let mut search = self.prove(&self.problem(person, budget, &[]), known.up_to(budget), nodes);
        search.ruled_out = search.ruled_out.max(ruled_out);
        search
    }

    /// So many nodes, or fewer where they take longer.
    fn affordable(&self, nodes: usize) -> usize {
        let work = self.bundle.accepted.edges() + self.bundle.classifier.tree_nodes() / TREE_NODES_AN_EDGE;
        nodes * EDGES / work.max(EDGES)
    }

    /// The best way that leaves out a change of every way before it.
    fn another_way(
        &mut self,
        person: Person<'_>,
        budget: usize,
        proposals: &[Code],
        ways: &[Way],
        method: Method,
    ) -> Option<Way> {
        let features = |way: &Way| way.changes.iter().map(|change| change.feature).collect::<Vec<usize>>();
        let taken: Vec<Vec<usize>> = ways.iter().map(features).collect();
        let mut search = self.search(&self.problem(person, budget, &taken), proposals, method);
        self.verify(person, &mut search);
        let best = search.frontier.choice(self.bundle.config.answers.price)?;
        Some(self.way(person, best, method, search.gap(best)))
    }

    fn way(&mut self, person: Person<'_>, candidate: &Candidate, method: Method, gap: Option<f64>) -> Way {
        let bundle = self.bundle;
        // Searches score rows by several paths, whose last digits differ; what is told, one of them scores.
        let log_likelihood = self.evaluator.log_prob(&candidate.row);
        let mut changes = self.changes(person, candidate, person.representative);
        let (mut similarity, mut distance) = (0.0, 0.0);
        for change in &changes {
            match bundle.moved_by(change.feature, person.cells[change.feature], change.value.text()) {
                Some(moved) => {
                    similarity += moved;
                    distance += moved;
                }
                None => distance += 1.0,
            }
        }
        // What counts is the row as it is written down, not the codes it was found as.
        let cells = written(person, &changes);
        let probability = bundle.score(&cells).expect("a decoded row can be encoded");
        assert!(probability >= self.offered_from(), "a decoded recourse is accepted");
        let cells: Vec<String> = cells.into_iter().map(String::from).collect();
        if person.representative == Representative::Nearest {
            let anywhere = self.changes(person, candidate, Representative::Any);
            if self.accepts_throughout(&cells, &anywhere) {
                changes = anywhere;
            }
        }
        Way {
            row: candidate.row.clone(),
            cells,
            changes,
            probability,
            log_likelihood,
            percentile: bundle.pool.percentile(log_likelihood),
            // However far away a number is, how far it moves is one too.
            similarity: f64::min(similarity, f64::MAX),
            distance: f64::min(distance, f64::MAX),
            method,
            representative: person.representative,
            gap,
            best_at: Vec::new(),
        }
    }

    /// What is different in a candidate's row.
    fn changes(
        &self,
        person: Person<'_>,
        candidate: &Candidate,
        representative: Representative,
    ) -> Vec<Change> {
        let codes = candidate.row.iter().zip(person.mask.factual()).enumerate();
        let changed = codes.filter(|(_, (code, own))| code != own);
        changed
            .map(|(feature, (&code, &own))| {
                let cell = person.cells[feature];
                self.bundle.change(feature, cell, own, code, representative, person.limits)
            })
            .collect()
    }

    /// Whether it is proved that a row is accepted wherever within their intervals its changes end.
    fn accepts_throughout(&self, cells: &[String], changes: &[Change]) -> bool {
        let DeployedClassifier::Given(given) = &self.bundle.classifier else { return true };
        let ranges: Vec<(usize, [&str; 2])> = changes
            .iter()
            .filter_map(|change| match &change.value {
                Decoded::Interval { lowest, highest, .. } => {
                    Some((change.feature, [lowest.text.as_str(), highest.text.as_str()]))
                }
                _ => None,
            })
            .collect();
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let least = given.least_log_odds(&cells, &ranges);
        least.is_some_and(|least| probability(least) >= self.offered_from())
    }

    fn not_found(
        &mut self,
        person: Person<'_>,
        probability: f64,
        is_proved: bool,
        request: &Request,
    ) -> NotFound {
        let (free, budget) = (person.mask.free_features(), self.budget(person, request));
        let reason = match request.method {
            _ if free == 0 => Reason::NothingToChange,
            Method::Generate => Reason::ProposalsDenied,
            _ if is_proved => Reason::OutOfReach,
            _ => Reason::SearchEnded,
        };
        let mut not_found = NotFound {
            probability,
            reason,
            needs_changes: None,
            obstacles: Vec::new(),
            schema_obstacles: request.auditor.then(Vec::new),
        };
        if reason != Reason::ProposalsDenied {
            if request.budget.is_some() && free > budget {
                let mut deeper = self.search_deeper(person, budget + 1, free);
                self.verify(person, &mut deeper);
                not_found.needs_changes = deeper.frontier.fewest();
            }
            if not_found.needs_changes.is_none() {
                let mut nodes = self.affordable(OBSTACLE_NODES[1]);
                not_found.obstacles = self.own_obstacles(person, request, &mut nodes);
                if let Some(schema_obstacles) = &mut not_found.schema_obstacles
                    && not_found.obstacles.is_empty()
                {
                    *schema_obstacles = self.schema_obstacles(person, request, &mut nodes);
                }
            }
        }
        not_found
    }

    /// The smallest set of the person's own locks and limits without which there is a way, as far as a search of limited
    /// length can tell.
    fn own_obstacles(&mut self, person: Person<'_>, request: &Request, nodes: &mut usize) -> Vec<Obstacle> {
        // Nobody is told to unlock what the schema does not let change anyway.
        let can_change = |one: &Obstacle| {
            one.feature().is_some_and(|feature| !self.bundle.constraints.is_immutable(feature))
        };
        let own: Vec<Obstacle> = own(request).filter(can_change).collect();
        let smallest = self.smallest_set(person, request, &own, |_| true, nodes);
        if !smallest.is_empty() || own.len() <= OBSTACLES || !self.is_enough(person, request, &own, nodes) {
            return smallest;
        }
        // More than a small set has to give: all of it, but for what may stay.
        let mut set = own;
        let mut place = set.len();
        while place > 0 {
            place -= 1;
            let obstacle = set.remove(place);
            if !self.is_enough(person, request, &set, nodes) {
                set.insert(place, obstacle);
            }
        }
        set
    }

    /// The same with something of the schema; of equals the one with more of the person's own.
    fn schema_obstacles(
        &mut self,
        person: Person<'_>,
        request: &Request,
        nodes: &mut usize,
    ) -> Vec<Obstacle> {
        let restrictions = self.bundle.constraints.restrictions().into_iter().map(Obstacle::Schema);
        let obstacles: Vec<Obstacle> = own(request).chain(restrictions).collect();
        let has_schema = |set: &[Obstacle]| set.iter().any(|one| matches!(one, Obstacle::Schema(_)));
        self.smallest_set(person, request, &obstacles, has_schema, nodes)
    }

    /// The first of the smallest sets that are of interest and enough; empty when none was found.
    fn smallest_set(
        &mut self,
        person: Person<'_>,
        request: &Request,
        obstacles: &[Obstacle],
        is_of_interest: impl Fn(&[Obstacle]) -> bool,
        nodes: &mut usize,
    ) -> Vec<Obstacle> {
        let sets = (1..=OBSTACLES.min(obstacles.len()))
            .flat_map(|size| combinations(obstacles.len(), size))
            .map(|set| set.into_iter().map(|position| obstacles[position]).collect::<Vec<_>>())
            .filter(|set| is_of_interest(set));
        for set in sets.take(OBSTACLE_SETS) {
            if *nodes == 0 || self.is_stopped() {
                break;
            }
            if self.is_enough(person, request, &set, nodes) {
                return set;
            }
        }
        Vec::new()
    }

    /// Whether there is a way without these obstacles, as far as the nodes reach.
    fn is_enough(
        &mut self,
        person: Person<'_>,
        request: &Request,
        without: &[Obstacle],
        nodes: &mut usize,
    ) -> bool {
        let (mut unlocked, mut unlimited, mut lifted) = (Vec::new(), Vec::new(), Vec::new());
        for obstacle in without {
            match *obstacle {
                Obstacle::Lock(feature) => unlocked.push(feature),
                Obstacle::Limit(feature) => unlimited.push(feature),
                Obstacle::Schema(restriction) => lifted.push(restriction),
            }
        }
        let locks: Vec<usize> =
            request.locks.iter().copied().filter(|lock| !unlocked.contains(lock)).collect();
        let limits = request.limits.without(&unlimited);
        let constraints = self.bundle.constraints.without(&lifted);
        let factual = person.mask.factual();
        let mask = constraints.mask_within(factual, &locks, &limits);
        let mut person = Person { mask: &mask, limits: &limits, ..person };
        // Without a limit, codes of its feature stand for other values.
        let classifier;
        if !unlimited.is_empty() {
            classifier = self.bundle.of_person(person.cells, factual, person.representative, &limits);
            let Ok(classifier) = &classifier else { return false };
            person.classifier = &**classifier;
        }
        let budget = request.budget.unwrap_or(usize::MAX).min(mask.free_features());
        let problem = self.problem(person, budget, &[]);
        // Most sets are far from enough, which the bounds of a single node tell.
        let mut search = self.prove(&problem, Frontier::default(), 1);
        *nodes = nodes.saturating_sub(1);
        if search.frontier.candidates().is_empty() && !search.is_proved() {
            let none = Frontier::default();
            let known = swap::search(&problem, &mut self.evaluator, &mut self.memory, none, 0.0, self.stop);
            *nodes = nodes.saturating_sub(self.memory.passes(person.cells.len()));
            search = match known.candidates() {
                [] => self.prove(&problem, known, OBSTACLE_NODES[0].min(*nodes)),
                _ => Search::unproved(known),
            };
            *nodes -= search.nodes;
        }
        self.verify(person, &mut search);
        !search.frontier.candidates().is_empty()
    }
}

impl Bundle {
    /// How far a numeric feature moves from one cell to another, in median absolute deviations; `None` when a cell
    /// is no number.
    pub fn moved_by(&self, feature: usize, from: &str, to: &str) -> Option<f64> {
        let summary = self.discretizer.domains()[feature].summary()?;
        let number = |cell: &str| cell.trim().parse::<f64>().ok();
        Some((number(to)? - number(from)?).abs() / summary.mad)
    }

    /// The classifier over codes for one person, whose cells have the codes `factual` and whose limits the values of
    /// other codes are within.
    fn of_person(
        &self,
        cells: &[&str],
        factual: &[Code],
        representative: Representative,
        limits: &Limits,
    ) -> Result<Box<dyn Classifier + '_>, RowError> {
        let limited = match representative {
            Representative::Any => Vec::new(),
            _ => limited_codes(&self.discretizer, limits, cells, factual, representative),
        };
        self.classifier.of_person(cells, factual, representative, &limited)
    }

    /// What it means for a person that a feature, whose cell they give and whose code is `own`, becomes `code`, which
    /// stands for a value of its bin, within the person's limits.
    ///
    /// # Panics
    /// When `code` is neither `own` nor one of the feature's codes.
    pub fn change(
        &self,
        feature: usize,
        cell: &str,
        own: Code,
        code: Code,
        representative: Representative,
        limits: &Limits,
    ) -> Change {
        let decoded = self.discretizer.decode_within(feature, code, own, cell, limits);
        let value = representative.told(decoded, code < own);
        let described = &self.schema().features()[feature];
        let label = |text: &str| described.labels.get(text).map_or(text, String::as_str).to_string();
        let mut to = match &value {
            Decoded::Interval { lowest, highest, .. } if lowest.text != highest.text => {
                format!("{} to {}", lowest.text, highest.text)
            }
            other => label(other.text()),
        };
        if let Some(unit) = &described.unit {
            to = format!("{to} {unit}");
        }
        Change { feature, name: described.name.clone(), from: label(cell.trim()), to, value }
    }
}

/// The row that changes make of a person's, as a table writes it. Features that stay keep their text.
fn written<'a>(person: Person<'a>, changes: &'a [Change]) -> Vec<&'a str> {
    let mut cells = person.cells.to_vec();
    changes.iter().for_each(|change| cells[change.feature] = change.value.text());
    cells
}

/// Says of each way what it is best at, among all ways and points.
fn say_what_is_best(ways: &mut [Way], frontier: &[Point]) {
    let is_way = |point: &&Point| ways.iter().any(|way| way.row == point.row);
    let shown: Vec<(usize, f64, f64)> = ways
        .iter()
        .map(|way| (way.changes.len(), way.log_likelihood, way.probability))
        .chain(
            frontier
                .iter()
                .filter(|point| !is_way(point))
                .map(|point| (point.changes, point.log_likelihood, point.probability)),
        )
        .collect();
    for way in ways {
        let fewest = shown.iter().all(|(changes, ..)| way.changes.len() <= *changes);
        let most_common = shown.iter().all(|(_, log_likelihood, _)| way.log_likelihood >= *log_likelihood);
        let surest = shown.iter().all(|(.., probability)| way.probability >= *probability);
        let virtues =
            [(fewest, BestAt::FewestChanges), (most_common, BestAt::MostCommon), (surest, BestAt::Surest)];
        way.best_at = virtues.into_iter().filter(|(has_it, _)| *has_it).map(|(_, virtue)| virtue).collect();
    }
}

/// What a person set themselves.
fn own(request: &Request) -> impl Iterator<Item = Obstacle> {
    let locks = request.locks.iter().copied().map(Obstacle::Lock);
    locks.chain(request.limits.features().map(Obstacle::Limit))
}

/// All sets of `size` positions below `count`, in order.
fn combinations(count: usize, size: usize) -> impl Iterator<Item = Vec<usize>> {
    let mut next: Option<Vec<usize>> = (size <= count).then(|| (0..size).collect());
    std::iter::from_fn(move || {
        let current = next.take()?;
        let movable = (0..size).rev().find(|&place| current[place] < count - size + place);
        next = movable.map(|place| {
            let mut after = current.clone();
            let start = after[place] + 1;
            after[place..].iter_mut().zip(start..).for_each(|(position, value)| *position = value);
            after
        });
        Some(current)
    })
}
