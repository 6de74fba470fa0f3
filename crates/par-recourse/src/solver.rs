//! From one person's row to their answer.

use par_circuit::{Code, Evaluator};
use par_data::{Batch, CellError, Columns, Decoded, Mask, Restriction};
use rayon::prelude::*;

use crate::answer::{Answer, Change, Found, Method, NotFound, Obstacle, Point, Reason, Request, Way};
use crate::bundle::Bundle;
use crate::config::LocalSearch;
use crate::decode::Decoder;
use crate::exact::{self, Proof};
use crate::generator::GeneratorScratch;
use crate::problem::{Candidate, Frontier, Problem};
use crate::refine::paper::TwoPhase;
use crate::refine::swap;

/// Answers one person after the other. Keep it: it holds the memory that answering needs.
pub struct Solver<'b> {
    bundle: &'b Bundle,
    evaluator: Evaluator<'b>,
    generator: GeneratorScratch,
    decoder: Decoder,
    memory: swap::Memory,
    /// Pairs of a feature that does not rise alone and one that has to rise with it, sorted by the latter.
    rules: Vec<(usize, usize)>,
}

/// What a search found: candidates, and how far from them better ones could be, if it looked.
struct Search {
    frontier: Frontier,
    gaps: Option<Vec<f64>>,
    /// Nodes of the exact search.
    nodes: usize,
}

impl Search {
    /// Whether it is proved that there is nothing beyond what was found.
    fn is_proved(&self) -> bool {
        self.gaps.as_ref().is_some_and(|gaps| gaps.iter().all(|gap| *gap == 0.0))
    }

    fn gap(&self, candidate: &Candidate) -> Option<f64> {
        let gaps = self.gaps.as_ref()?;
        // Fewer changes than these may be likelier than the candidate only if the search left them open.
        Some(gaps[candidate.changes])
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

impl Bundle {
    /// A solver for one thread.
    pub fn solver(&self) -> Solver<'_> {
        let rules = self.schema().rules().iter();
        let mut rules: Vec<(usize, usize)> =
            rules.map(|rule| (rule.if_increases, rule.must_increase)).collect();
        rules.sort_by_key(|&(effect, cause)| (cause, effect));
        Solver {
            bundle: self,
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
    /// When a cell does not fit its column.
    ///
    /// # Panics
    /// When there are not as many cells as features.
    pub fn recourse(&self, cells: &[&str]) -> Result<Answer, CellError> {
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
    ) -> Vec<Result<Answer, CellError>> {
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

impl Solver<'_> {
    /// The answer for one row, its cells in schema order.
    ///
    /// # Errors
    /// When a cell does not fit its column.
    ///
    /// # Panics
    /// When there are not as many cells as features, or a lock is no position of a feature.
    pub fn answer(&mut self, cells: &[&str], request: &Request) -> Result<Answer, CellError> {
        let features = cells.len();
        assert!(request.locks.iter().all(|&lock| lock < features), "locks are positions of features");
        let encoded = self.bundle.discretizer.encode_row(cells)?;
        Ok(self.answer_codes(encoded.codes(), cells, request))
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

    fn answer_codes(&mut self, factual: &[Code], cells: &[&str], request: &Request) -> Answer {
        let bundle = self.bundle;
        let probability = bundle.probability(factual);
        if probability >= bundle.threshold {
            return Answer::Accepted { probability };
        }
        let mask = bundle.constraints.mask(factual, &request.locks);
        let free = mask.free_features();
        let proposals = self.proposals(&mask, bundle.config.answers.proposals);
        let budget = request.budget.unwrap_or(bundle.config.answers.budget).min(free);
        let mut search = self.search(&self.problem(&mask, budget, &[]), &proposals, request.method);
        let searches_on = match request.method {
            Method::Generate => false,
            Method::Refine => bundle.config.answers.search == LocalSearch::Swap,
            Method::Exact => true,
        };
        let most = if request.budget.is_none() { free } else { budget };
        // What an exact search has looked through needs no second one, which would be shorter.
        let looked_through = most == budget && search.gaps.is_some();
        if search.frontier.candidates().is_empty() && searches_on && !looked_through {
            let least = budget + usize::from(search.is_proved());
            search = self.search_deeper(&mask, least, most);
        }
        let Some(best) = search.frontier.choice(bundle.config.answers.price) else {
            return Answer::NotFound(self.not_found(&mask, probability, budget, &search, request));
        };
        let mut ways = vec![self.way(&mask, cells, best, request.method, search.gap(best))];
        let budget = budget.max(best.changes);
        while ways.len() < request.count
            && let Some(way) = self.another_way(&mask, cells, budget, &proposals, &ways, request.method)
        {
            ways.push(way);
        }
        let point = |candidate: &Candidate| Point {
            changes: candidate.changes,
            log_likelihood: self.evaluator.log_prob(&candidate.row),
            row: candidate.row.clone(),
            gap: search.gap(candidate),
        };
        let frontier = search.frontier.candidates().iter().map(point).collect();
        Answer::Found(Found { probability, frontier, ways })
    }

    fn problem<'a>(&self, mask: &'a Mask<'a>, budget: usize, taken: &'a [Vec<usize>]) -> Problem<'a>
    where
        Self: 'a,
    {
        Problem { mask, classifier: &self.bundle.classifier, threshold: self.bundle.threshold, budget, taken }
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
                swap::search(problem, &mut self.evaluator, &mut self.memory, known, answers.price)
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
            Method::Generate | Method::Refine => Search { frontier, gaps: None, nodes: 0 },
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
        let Proof { frontier, gaps, nodes } = exact::solve(problem, &mut self.evaluator, known, max_nodes);
        Search { frontier, gaps: Some(gaps), nodes }
    }

    /// Where a usual search ends empty-handed: whether there is anything within `most` changes, and if so,
    /// within how few, from `least` on.
    fn search_deeper(&mut self, mask: &Mask<'_>, least: usize, most: usize) -> Search {
        let mut nodes = self.affordable(DEEPER_NODES);
        let widest = self.problem(mask, most, &[]);
        let known = swap::search(&widest, &mut self.evaluator, &mut self.memory, Frontier::default(), 0.0);
        let Some(fewest) = known.candidates().first().map(|candidate| candidate.changes) else {
            return self.prove(&widest, Frontier::default(), nodes);
        };
        for budget in least..fewest {
            let search = self.prove(&self.problem(mask, budget, &[]), Frontier::default(), nodes);
            if !search.frontier.candidates().is_empty() {
                return search;
            }
            nodes -= search.nodes;
        }
        let budget = fewest.max(least);
        self.prove(&self.problem(mask, budget, &[]), known.up_to(budget), nodes)
    }

    /// So many nodes, or fewer where they take longer.
    fn affordable(&self, nodes: usize) -> usize {
        nodes * EDGES / self.bundle.accepted.edges().max(EDGES)
    }

    /// The best way that leaves out a change of every way before it.
    fn another_way(
        &mut self,
        mask: &Mask<'_>,
        cells: &[&str],
        budget: usize,
        proposals: &[Code],
        ways: &[Way],
        method: Method,
    ) -> Option<Way> {
        let features = |way: &Way| way.changes.iter().map(|change| change.feature).collect::<Vec<usize>>();
        let taken: Vec<Vec<usize>> = ways.iter().map(features).collect();
        let search = self.search(&self.problem(mask, budget, &taken), proposals, method);
        let best = search.frontier.choice(self.bundle.config.answers.price)?;
        Some(self.way(mask, cells, best, method, search.gap(best)))
    }

    fn way(
        &mut self,
        mask: &Mask<'_>,
        cells: &[&str],
        candidate: &Candidate,
        method: Method,
        gap: Option<f64>,
    ) -> Way {
        let bundle = self.bundle;
        // Searches score rows by several paths, whose last digits differ; what is told, one of them scores.
        let log_likelihood = self.evaluator.log_prob(&candidate.row);
        let mut way = Way {
            row: candidate.row.clone(),
            cells: Vec::with_capacity(cells.len()),
            changes: Vec::with_capacity(candidate.changes),
            probability: 0.0,
            log_likelihood,
            percentile: bundle.pool.percentile(log_likelihood),
            similarity: 0.0,
            distance: 0.0,
            method,
            gap,
        };
        for (feature, (&cell, (&code, &own))) in
            cells.iter().zip(candidate.row.iter().zip(mask.factual())).enumerate()
        {
            if code == own {
                way.cells.push(cell.to_string());
                continue;
            }
            let change = bundle.change(feature, cell, own, code);
            way.cells.push(change.value.text().to_string());
            match bundle.moved_by(feature, cell, change.value.text()) {
                Some(distance) => {
                    way.similarity += distance;
                    way.distance += distance;
                }
                None => way.distance += 1.0,
            }
            way.changes.push(change);
        }
        // What counts is the row as it is written down, not the codes it was found as.
        let texts: Vec<&str> = way.cells.iter().map(String::as_str).collect();
        let written = bundle.discretizer.encode_row(&texts).expect("a decoded row can be encoded");
        way.probability = bundle.probability(written.codes());
        assert!(way.probability >= bundle.threshold, "a decoded recourse is accepted");
        way
    }

    fn not_found(
        &mut self,
        mask: &Mask<'_>,
        probability: f64,
        budget: usize,
        search: &Search,
        request: &Request,
    ) -> NotFound {
        let free = mask.free_features();
        let reason = match request.method {
            _ if free == 0 => Reason::NothingToChange,
            Method::Generate => Reason::ProposalsDenied,
            _ if search.is_proved() => Reason::OutOfReach,
            _ => Reason::SearchEnded,
        };
        let mut not_found = NotFound { probability, reason, needs_changes: None, obstacles: Vec::new() };
        if reason != Reason::ProposalsDenied {
            if request.budget.is_some() && free > budget {
                let deeper = self.search_deeper(mask, budget + 1, free);
                not_found.needs_changes = deeper.frontier.candidates().first().map(|found| found.changes);
            }
            if not_found.needs_changes.is_none() {
                not_found.obstacles = self.obstacles(mask.factual(), request);
            }
        }
        not_found
    }

    /// The smallest set of locks and constraints without which there is a way, as far as a search of limited
    /// length can tell; of equals the one with the person's own locks.
    fn obstacles(&mut self, factual: &[Code], request: &Request) -> Vec<Obstacle> {
        let restrictions = self.bundle.constraints.restrictions();
        let obstacles: Vec<Obstacle> = (request.locks.iter().copied().map(Obstacle::Lock))
            .chain(restrictions.into_iter().map(Obstacle::Schema))
            .collect();
        let sets = (1..=OBSTACLES.min(obstacles.len())).flat_map(|size| combinations(obstacles.len(), size));
        let mut nodes = self.affordable(OBSTACLE_NODES[1]);
        for set in sets.take(OBSTACLE_SETS) {
            let set: Vec<Obstacle> = set.into_iter().map(|position| obstacles[position]).collect();
            if self.is_enough(factual, request, &set, &mut nodes) {
                return set;
            }
            if nodes == 0 {
                break;
            }
        }
        Vec::new()
    }

    /// Whether there is a way without these obstacles, as far as the nodes reach.
    fn is_enough(
        &mut self,
        factual: &[Code],
        request: &Request,
        without: &[Obstacle],
        nodes: &mut usize,
    ) -> bool {
        let lifted: Vec<Restriction> = without
            .iter()
            .filter_map(|obstacle| match obstacle {
                Obstacle::Schema(restriction) => Some(*restriction),
                Obstacle::Lock(_) => None,
            })
            .collect();
        let kept = |lock: &usize| !without.contains(&Obstacle::Lock(*lock));
        let locks: Vec<usize> = request.locks.iter().copied().filter(kept).collect();
        let constraints = self.bundle.constraints.without(&lifted);
        let mask = constraints.mask(factual, &locks);
        let budget = request.budget.unwrap_or(usize::MAX).min(mask.free_features());
        let problem = self.problem(&mask, budget, &[]);
        // Most sets are far from enough, which the bounds of a single node tell.
        let mut search = self.prove(&problem, Frontier::default(), 1);
        *nodes = nodes.saturating_sub(1);
        if search.frontier.candidates().is_empty() && !search.is_proved() {
            let known =
                swap::search(&problem, &mut self.evaluator, &mut self.memory, Frontier::default(), 0.0);
            *nodes = nodes.saturating_sub(self.memory.passes(factual.len()));
            if !known.candidates().is_empty() {
                return true;
            }
            search = self.prove(&problem, known, OBSTACLE_NODES[0].min(*nodes));
            *nodes -= search.nodes;
        }
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

    /// What it means for a person that a feature, whose cell they give and whose code is `own`, becomes `code`.
    ///
    /// # Panics
    /// When `code` is neither `own` nor one of the feature's codes.
    pub fn change(&self, feature: usize, cell: &str, own: Code, code: Code) -> Change {
        let value = self.discretizer.decode(feature, code, own, cell);
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
