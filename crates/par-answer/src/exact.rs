//! Exact search: branch and bound over the features that a person may change.
//!
//! A node has some features changed and some still open. One pass of the circuit gives the likelihood of every single
//! further change. A node is pruned if the bound on the worth of all rows within the remaining changes is below the
//! frontier, or the bound on their score below the threshold.

use par_circuit::{Ball, Evaluator, Stop};
use par_data::Choice;

use crate::problem::{Cost, Frontier, Row, SearchProblem, Solution};

/// Worths closer than this count as equal, because of rounding in single precision.
pub(crate) const TOLERANCE: f64 = 1e-4;

/// The result of an exact search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Proof {
    pub(crate) frontier: Frontier,
    /// For each number of changes from 0: what a row with at most as many might be worth that was not searched.
    /// −∞ where all were.
    pub(crate) open: Vec<f64>,
    /// How many nodes were searched.
    pub(crate) nodes: usize,
}

/// Finds the best accepted row for each number of changes up to the budget.
///
/// `known` are solutions to start from. After `max_nodes` nodes, or once `stop` is set, it returns its best so far.
///
/// # Paper
/// Eq. (1) and (2), which the paper approximates.
pub(crate) fn solve(
    problem: &SearchProblem<'_>,
    evaluator: &mut Evaluator<'_>,
    known: Frontier,
    max_nodes: usize,
    stop: Stop<'_>,
) -> Proof {
    let row = problem.own();
    let free = problem.candidates.free().to_vec();
    let mut least: Vec<f64> = free.iter().map(|&feature| least_effort(problem, feature)).collect();
    least.sort_by(f64::total_cmp);
    let mut least_efforts = vec![0.0];
    least_efforts.extend(least.iter().scan(0.0, |sum, effort| {
        *sum += effort;
        Some(*sum)
    }));
    let mut search = Search {
        problem,
        evaluator,
        order: free,
        neighbours: vec![0.0; problem.candidates.constraints().codes()],
        codes: problem.ball_of_codes(),
        choices: problem.reads_values.then(|| problem.ball_of_choices()),
        consequences: problem.consequences(),
        least_efforts,
        row,
        cost: Cost::default(),
        frontier: known,
        open: vec![f64::NEG_INFINITY; problem.budget + 1],
        nodes: 0,
        max_nodes,
        stop,
    };
    search.run();
    for changes in 1..search.open.len() {
        search.open[changes] = search.open[changes].max(search.open[changes - 1]);
    }
    Proof { frontier: search.frontier, open: search.open, nodes: search.nodes }
}

fn least_effort(problem: &SearchProblem<'_>, feature: usize) -> f64 {
    let others = problem.candidates.of(feature)[1..].iter();
    others.map(|candidate| candidate.effort).fold(f64::INFINITY, f64::min)
}

struct Search<'a, 'p, 'c> {
    problem: &'a SearchProblem<'p>,
    evaluator: &'a mut Evaluator<'c>,
    /// Features that may change, the most promising first.
    order: Vec<usize>,
    /// The log-likelihoods of all single changes at the current node.
    neighbours: Vec<f64>,
    /// The rows of the current node, as codes.
    codes: Ball,
    /// The same as choices, if the classifier reads them.
    choices: Option<Ball>,
    /// How many features may move as consequences: they are free, so that bounds allow so many changes more.
    consequences: usize,
    /// For each number of changes, the least effort of any.
    least_efforts: Vec<f64>,
    /// The current row, and what its values cost.
    row: Row,
    cost: Cost,
    frontier: Frontier,
    /// For each number of changes, what a row of the nodes that were left unsearched might be worth.
    open: Vec<f64>,
    nodes: usize,
    max_nodes: usize,
    stop: Stop<'a>,
}

impl Search<'_, '_, '_> {
    fn run(&mut self) {
        if self.problem.budget == 0 {
            return;
        }
        let row = self.row.clone();
        self.evaluator.neighbours(&row.codes, &mut self.neighbours);
        let promise = |feature: usize| {
            let others = self.problem.candidates.of(feature)[1..].iter();
            let worth = others.map(|candidate| {
                let log_prob = self.neighbours[self.place(feature, candidate.code)];
                let (objective, own) = (&self.problem.objective, &self.problem.candidates.of(feature)[0]);
                objective.likelihood * log_prob - objective.price(Cost::default().replacing(own, candidate))
            });
            worth.fold(f64::NEG_INFINITY, f64::max)
        };
        let mut ranked: Vec<(f64, usize)> =
            self.order.iter().map(|&feature| (promise(feature), feature)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.order = ranked.into_iter().map(|(_, feature)| feature).collect();
        self.branch(0, 0);
    }

    /// Searches the current node, `made` changes deep, whose features in `order` from `first` on are open.
    fn branch(&mut self, first: usize, made: usize) {
        if self.is_over() {
            self.leave(made);
            return;
        }
        self.nodes += 1;
        let mut depth = (self.problem.budget - made).min(self.order.len() - first);
        if depth > 1 {
            depth = self.promising(made, depth);
            if depth > 0 && !self.may_be_accepted(depth) {
                return;
            }
        }
        if depth > 0 {
            self.last_changes(first, made);
        }
        if depth > 1 {
            self.further_changes(first, made, depth);
        }
    }

    fn is_over(&self) -> bool {
        self.nodes >= self.max_nodes || self.stop.check().is_err()
    }

    /// The place of a code among those of all features.
    fn place(&self, feature: usize, code: par_circuit::Code) -> usize {
        self.problem.candidates.constraints().range(feature).start + usize::from(code)
    }

    /// The most further changes, up to `depth`, that may still improve the frontier.
    fn promising(&mut self, made: usize, depth: usize) -> usize {
        let log_probs = self.evaluator.ball_bounds(&self.codes);
        let better = |further: &usize| {
            self.bound(&log_probs, *further) > self.frontier.at_most(made + further) + TOLERANCE
        };
        (1..=depth).rev().find(better).unwrap_or(0)
    }

    /// What a row of the current node with exactly `further` changes more is worth at most, by bounds on log p⁺.
    fn bound(&self, log_probs: &[f64], further: usize) -> f64 {
        let log_prob = log_probs[(further + self.consequences).min(log_probs.len() - 1)];
        // Further values are at best not rare at all.
        let effort = self.cost.effort + self.least_efforts[further.min(self.least_efforts.len() - 1)];
        self.problem.worth(log_prob, Cost { effort, ..self.cost })
    }

    fn may_be_accepted(&mut self, changes: usize) -> bool {
        let ball = self.choices.as_mut().unwrap_or(&mut self.codes);
        ball.changes = changes + self.consequences;
        let (_, most) = self.problem.target.classifier.log_odds_bounds(ball);
        self.problem.target.is_reached_by(most)
    }

    /// Records the bounds of a node that is left unsearched.
    fn leave(&mut self, made: usize) {
        let log_probs = self.evaluator.ball_bounds(&self.codes);
        for changes in made + 1..=self.problem.budget {
            self.open[changes] = self.open[changes].max(self.bound(&log_probs, changes - made));
        }
    }

    /// Adds the best of the accepted rows that are one change away.
    fn last_changes(&mut self, first: usize, made: usize) {
        let Self { problem, evaluator, row, neighbours, .. } = self;
        let candidates = problem.candidates;
        evaluator.neighbours(&row.codes, neighbours);
        let mut better: Vec<(f64, f64, usize, Choice)> = Vec::new();
        let known = self.frontier.at_most(made + 1);
        let mut changed = row.clone();
        for &feature in &self.order[first..] {
            let start = candidates.constraints().range(feature).start;
            let list = candidates.of(feature);
            for (choice, candidate) in (0..).zip(list).skip(1) {
                let log_prob = match candidates.has_consequences(feature) {
                    false => neighbours[start + usize::from(candidate.code)],
                    true => {
                        problem.set(&mut changed, feature, choice);
                        if changed.is_settled {
                            evaluator.log_prob(&changed.codes)
                        } else {
                            f64::NEG_INFINITY
                        }
                    }
                };
                let worth = problem.worth(log_prob, self.cost.replacing(&list[0], candidate));
                if worth > known {
                    better.push((worth, log_prob, feature, choice));
                }
            }
            problem.set(&mut changed, feature, 0);
        }
        better.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.2, a.3).cmp(&(b.2, b.3))));
        for (worth, log_prob, feature, choice) in better {
            problem.set(&mut changed, feature, choice);
            if problem.permits(&changed) && problem.accepts(&changed) {
                // The rows after it are worth no more.
                let cost = Cost::of(candidates, &changed.choices);
                self.frontier.add(Solution { row: changed, log_prob, cost, worth, changes: made + 1 });
                return;
            }
            problem.set(&mut changed, feature, 0);
        }
    }

    /// Makes each possible change in turn; features are changed in order, so that no row is searched twice.
    fn further_changes(&mut self, first: usize, made: usize, depth: usize) {
        for place in first..self.order.len() {
            let feature = self.order[place];
            self.set_open(feature, false);
            for choice in 1..self.problem.candidates.of(feature).len() as Choice {
                self.move_to(feature, choice);
                self.branch(place + 1, made + 1);
            }
            self.move_to(feature, 0);
            // Stop if rows that leave this feature unchanged cannot improve the frontier.
            if self.is_over() {
                self.leave(made);
                break;
            }
            if self.promising(made, depth.min(self.order.len() - place - 1)) < 2 {
                break;
            }
        }
        for place in first..self.order.len() {
            self.set_open(self.order[place], true);
        }
    }

    fn set_open(&mut self, feature: usize, open: bool) {
        self.codes.set_open(feature, open);
        if let Some(choices) = &mut self.choices {
            choices.set_open(feature, open);
        }
    }

    /// Changes a feature of the current row, and the centres of both balls with it.
    fn move_to(&mut self, feature: usize, choice: Choice) {
        let list = self.problem.candidates.of(feature);
        let before = &list[usize::from(self.row.choices[feature])];
        self.cost = self.cost.replacing(before, &list[usize::from(choice)]);
        self.problem.set(&mut self.row, feature, choice);
        let has_consequences = self.problem.candidates.has_consequences(feature);
        let moved = if has_consequences { 0..self.row.codes.len() } else { feature..feature + 1 };
        for feature in moved {
            let (code, choice) = (self.row.codes[feature], self.row.choices[feature]);
            let is_consequence = self.problem.is_consequence(feature);
            if self.codes.centre()[feature] != code {
                self.codes.move_to(feature, code);
                // A consequence stays open: where it comes from is among what it may become.
                if is_consequence {
                    self.codes.offer(feature, &self.problem.codes_of(feature));
                }
            }
            if let Some(choices) = &mut self.choices
                && choices.centre()[feature] != choice
            {
                choices.move_to(feature, choice);
                if is_consequence {
                    choices.offer(feature, &self.problem.choices_of(feature));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use par_circuit::{Circuit, Code, Node, NodeId};
    use par_data::{Candidates, Constraints, OwnRow, Reach, UNKNOWN, Wishes};
    use par_model::classifier::NeuralClassifier;
    use par_model::test_world::World;
    use par_model::{ScoreScale, Target};
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::problem::Objective;
    use crate::refine::swap;

    /// A person of a random world, with few enough rows to list all of them.
    struct Case {
        circuit: Circuit,
        classifier: NeuralClassifier,
        constraints: Constraints,
        factual: Vec<Code>,
        locks: Vec<usize>,
        threshold: f64,
        taken: Vec<Vec<usize>>,
        objective: Objective,
    }

    impl Case {
        fn new(seed: u64) -> Self {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let cardinalities: Vec<usize> = (0..5).map(|_| rng.random_range(1..=4)).collect();
            let lines = ["", "monotone = \"increasing\"", "immutable = true"];
            let lines = (0..5).map(|_| lines[[0, 0, 1, 2][rng.random_range(0..4)]]).collect();
            let rules = if rng.random_bool(0.5) { vec![(0, 1), (2, 1)] } else { Vec::new() };
            let world = World { cardinalities: cardinalities.clone(), lines, rules };
            let code = |&cardinality: &usize| match rng.random_bool(0.1) {
                true => UNKNOWN,
                false => rng.random_range(0..cardinality) as Code,
            };
            Self {
                factual: cardinalities.iter().map(code).collect(),
                circuit: mixture(&cardinalities, &mut rng),
                classifier: network(&cardinalities, &mut rng),
                constraints: Constraints::new(&world.discretizer()),
                locks: (0..5).filter(|_| rng.random_bool(0.1)).collect(),
                threshold: rng.random_range(0.2..0.9),
                taken: if rng.random_bool(0.3) { vec![vec![0], vec![1, 3]] } else { Vec::new() },
                objective: match rng.random_range(0..3) {
                    0 => Objective::likeliest(0.0, f64::NEG_INFINITY),
                    1 => Objective::likeliest(2.0, rng.random_range(-9.0..-4.0)),
                    _ => Objective::least_effort(rng.random_range(-9.0..-4.0)),
                },
            }
        }

        fn candidates(&self) -> Candidates<'_> {
            let own = OwnRow::typical(&self.constraints, self.factual.clone());
            let wishes = Wishes { locks: &self.locks, ..Wishes::default() };
            self.constraints.candidates(&own, &wishes, Reach::Codes)
        }

        fn problem<'a>(&'a self, candidates: &'a Candidates<'a>, budget: usize) -> SearchProblem<'a> {
            let Self { classifier, threshold, taken, objective, .. } = self;
            SearchProblem {
                candidates,
                duration: &candidates.durations()[0],
                target: Target { classifier, threshold: *threshold, scale: ScoreScale::Probability },
                reads_values: false,
                objective: *objective,
                log_given: -0.5,
                budget,
                taken,
            }
        }

        /// The highest worth of an accepted row with 1 to `changes` changes.
        fn best(&self, problem: &SearchProblem<'_>, changes: usize) -> f64 {
            let mut rows = vec![problem.own()];
            for feature in 0..self.factual.len() {
                let choices = 0..problem.candidates.of(feature).len() as Choice;
                let with = |row: &Row, choice| {
                    let mut row = row.clone();
                    problem.set(&mut row, feature, choice);
                    row
                };
                rows = rows.iter().flat_map(|row| choices.clone().map(|choice| with(row, choice))).collect();
            }
            let mut evaluator = self.circuit.evaluator();
            rows.iter()
                .filter(|row| (1..=changes).contains(&problem.changes(row)))
                .filter(|row| problem.permits(row) && problem.accepts(row))
                .map(|row| {
                    let cost = Cost::of(problem.candidates, &row.choices);
                    problem.worth(evaluator.log_prob(&row.codes), cost)
                })
                .fold(f64::NEG_INFINITY, f64::max)
        }
    }

    /// How much more than the frontier a row with at most as many changes might be worth.
    fn gap(proof: &Proof, changes: usize) -> f64 {
        let room = proof.open[changes] - proof.frontier.at_most(changes);
        if room > TOLERANCE { room } else { 0.0 }
    }

    fn mixture(cardinalities: &[usize], rng: &mut ChaCha8Rng) -> Circuit {
        let mut nodes = Vec::new();
        let mut products = Vec::new();
        for _ in 0..3 {
            let first = nodes.len() as u32;
            for (variable, &cardinality) in cardinalities.iter().enumerate() {
                let weights: Vec<f64> = (0..cardinality).map(|_| rng.random_range(0.01..1.0)).collect();
                let total: f64 = weights.iter().sum();
                let probabilities = weights.iter().map(|weight| weight / total).collect();
                nodes.push(Node::Leaf { variable, probabilities });
            }
            let children = (first..nodes.len() as u32).map(NodeId).collect();
            nodes.push(Node::Product { children });
            products.push(NodeId(nodes.len() as u32 - 1));
        }
        nodes.push(Node::Sum { children: products.into(), weights: [0.5, 0.3, 0.2].into() });
        Circuit::new(cardinalities.to_vec(), nodes).expect("a circuit")
    }

    fn network(cardinalities: &[usize], rng: &mut ChaCha8Rng) -> NeuralClassifier {
        let codes: usize = cardinalities.iter().sum();
        let count = (codes + 1) * 6 + 7 * 4 + 5;
        let parameters = (0..count).map(|_| rng.random_range(-1.0..1.0)).collect();
        NeuralClassifier::from_parameters(cardinalities.to_vec(), &[6, 4], parameters).expect("a network")
    }

    proptest! {
        #[test]
        fn the_frontier_is_that_of_listing_all_rows(seed: u64, budget in 0..=5_usize) {
            let case = Case::new(seed);
            let candidates = case.candidates();
            let problem = case.problem(&candidates, budget);
            let mut evaluator = case.circuit.evaluator();
            let proof = solve(&problem, &mut evaluator, Frontier::default(), usize::MAX, Stop::never());
            prop_assert!((0..=budget).all(|changes| gap(&proof, changes) == 0.0));
            for changes in 0..=budget {
                let (found, best) = (proof.frontier.at_most(changes), case.best(&problem, changes));
                prop_assert!(found == best || (found - best).abs() <= 2.0 * TOLERANCE, "{changes}: {found}, {best}");
            }
            for solution in proof.frontier.solutions() {
                prop_assert!(problem.permits(&solution.row) && problem.accepts(&solution.row));
                prop_assert_eq!(problem.changes(&solution.row), solution.changes);
            }
        }

        #[test]
        fn candidates_to_start_from_change_the_work_and_not_the_answer(seed: u64) {
            let case = Case::new(seed);
            let candidates = case.candidates();
            let problem = case.problem(&candidates, 4);
            let mut evaluator = case.circuit.evaluator();
            let mut memory = swap::Memory::default();
            let known =
                swap::search(&problem, &mut evaluator, &mut memory, Frontier::default(), 1.0, Stop::never());
            for changes in 0..=4 {
                prop_assert!(known.at_most(changes) <= case.best(&problem, changes) + TOLERANCE);
            }
            for solution in known.solutions() {
                prop_assert!(problem.permits(&solution.row) && problem.accepts(&solution.row));
            }
            let cold = solve(&problem, &mut evaluator, Frontier::default(), usize::MAX, Stop::never());
            let warm = solve(&problem, &mut evaluator, known, usize::MAX, Stop::never());
            prop_assert!(warm.nodes <= cold.nodes);
            for changes in 0..=4 {
                let (cold, warm) = (cold.frontier.at_most(changes), warm.frontier.at_most(changes));
                prop_assert!(cold == warm || (cold - warm).abs() <= 2.0 * TOLERANCE);
            }
        }

        #[test]
        fn an_unfinished_search_bounds_its_gap(seed: u64, nodes in 0..8_usize) {
            let case = Case::new(seed);
            let candidates = case.candidates();
            let problem = case.problem(&candidates, 4);
            let proof = solve(&problem, &mut case.circuit.evaluator(), Frontier::default(), nodes, Stop::never());
            prop_assert!(proof.nodes <= nodes);
            for changes in 0..=4 {
                let gap = gap(&proof, changes);
                let (found, best) = (proof.frontier.at_most(changes), case.best(&problem, changes));
                let close = best <= found + gap + 2.0 * TOLERANCE;
                prop_assert!(best == found || gap.is_infinite() || close, "{best} is above {found} by more than {gap}");
            }
        }
    }
}
