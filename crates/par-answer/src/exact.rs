//! Exact search: branch and bound over the features that a person may change.
//!
//! A node has some features changed and some still open. One pass of the circuit gives the likelihood of every single
//! further change. A node is pruned if the circuit's bound is below the frontier, or the classifier's below the
//! threshold, for all rows within the remaining changes.

use par_circuit::{Ball, Code, Evaluator, Stop};

use crate::problem::{Candidate, Frontier, SearchProblem};

/// Log-likelihoods closer than this count as equal, because of rounding in single precision.
pub(crate) const TOLERANCE: f64 = 1e-4;

/// The result of an exact search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Proof {
    pub(crate) frontier: Frontier,
    /// For each number of changes from 0: how far above the frontier, in nats, a row with at most as many might be.
    /// All zero: the frontier is proved. Infinite: nothing was found, but the search did not finish.
    pub(crate) gaps: Vec<f64>,
    /// How many nodes were searched.
    pub(crate) nodes: usize,
}

/// Finds the likeliest accepted row for each number of changes up to the budget.
///
/// `known` are candidates to start from. After `max_nodes` nodes, or once `stop` is set, it returns its best so far.
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
    let ball = problem.ball();
    let mut search = Search {
        problem,
        evaluator,
        order: Vec::new(),
        neighbours: vec![0.0; ball.cardinalities().iter().sum()],
        ball,
        frontier: known,
        open_bounds: vec![f64::NEG_INFINITY; problem.budget + 1],
        nodes: 0,
        max_nodes,
        stop,
    };
    search.run();
    let gaps = (0..=problem.budget).map(|changes| search.gap(changes)).collect();
    Proof { frontier: search.frontier, gaps, nodes: search.nodes }
}

struct Search<'a, 'p, 'c> {
    problem: &'a SearchProblem<'p>,
    evaluator: &'a mut Evaluator<'c>,
    /// Features that may change, the most promising first.
    order: Vec<usize>,
    /// The log-likelihoods of all single changes at the current node.
    neighbours: Vec<f64>,
    ball: Ball,
    frontier: Frontier,
    /// For each number of changes, the highest bound of the nodes that were left unsearched.
    open_bounds: Vec<f64>,
    nodes: usize,
    max_nodes: usize,
    stop: Stop<'a>,
}

impl Search<'_, '_, '_> {
    fn run(&mut self) {
        if self.problem.budget == 0 {
            return;
        }
        let factual = self.ball.centre().to_vec();
        self.evaluator.neighbours(&factual, &mut self.neighbours);
        let promise = |feature: usize| {
            let alternatives = self.ball.alternatives(feature).iter();
            alternatives.map(|&code| self.log_prob_of(feature, code)).fold(f64::NEG_INFINITY, f64::max)
        };
        let open = (0..factual.len()).filter(|&feature| self.ball.is_open(feature));
        let mut ranked: Vec<(f64, usize)> = open.map(|feature| (promise(feature), feature)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.order = ranked.into_iter().map(|(_, feature)| feature).collect();
        self.branch(0, 0);
    }

    /// Searches the current node, `made` changes deep, whose features in `order` from `first` on are open.
    fn branch(&mut self, first: usize, made: usize) {
        if self.is_over() {
            let bounds = self.evaluator.ball_bounds(&self.ball);
            self.leave(&bounds, made);
            return;
        }
        self.nodes += 1;
        let mut depth = (self.problem.budget - made).min(self.order.len() - first);
        if depth > 1 {
            let bounds = self.evaluator.ball_bounds(&self.ball);
            depth = self.promising(&bounds, made, depth);
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

    /// The log-likelihood of the current row with one change.
    fn log_prob_of(&self, feature: usize, code: Code) -> f64 {
        self.neighbours[self.problem.mask.range(feature).start + usize::from(code)]
    }

    /// The most further changes that may still improve the frontier.
    fn promising(&self, bounds: &[f64], made: usize, depth: usize) -> usize {
        let better = |further: &usize| {
            let bound = bounds[(*further).min(bounds.len() - 1)];
            bound > self.frontier.at_most(made + further) + TOLERANCE
        };
        (1..=depth).rev().find(better).unwrap_or(0)
    }

    fn may_be_accepted(&mut self, changes: usize) -> bool {
        self.ball.changes = changes;
        let (_, most) = self.problem.target.classifier.log_odds_bounds(&self.ball);
        self.problem.target.is_reached_by(most)
    }

    /// Records the bounds of a node that is left unsearched.
    fn leave(&mut self, bounds: &[f64], made: usize) {
        for changes in made + 1..=self.problem.budget {
            let bound = bounds[(changes - made).min(bounds.len() - 1)];
            self.open_bounds[changes] = self.open_bounds[changes].max(bound);
        }
    }

    /// Adds the likeliest of the accepted rows that are one change away.
    fn last_changes(&mut self, first: usize, made: usize) {
        self.evaluator.neighbours(self.ball.centre(), &mut self.neighbours);
        let mut better: Vec<(f64, usize, Code)> = Vec::new();
        let known = self.frontier.at_most(made + 1);
        for &feature in &self.order[first..] {
            for &code in self.ball.alternatives(feature) {
                let log_prob = self.log_prob_of(feature, code);
                if log_prob > known {
                    better.push((log_prob, feature, code));
                }
            }
        }
        better.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut row = self.ball.centre().to_vec();
        for (log_prob, feature, code) in better {
            let before = std::mem::replace(&mut row[feature], code);
            if self.problem.permits(&row) && self.problem.target.accepts(&row) {
                // The rows after it are no likelier.
                self.frontier.add(Candidate { row, log_prob, changes: made + 1 });
                return;
            }
            row[feature] = before;
        }
    }

    /// Makes each possible change in turn; features are changed in order, so that no row is searched twice.
    fn further_changes(&mut self, first: usize, made: usize, depth: usize) {
        for place in first..self.order.len() {
            let feature = self.order[place];
            let codes = self.ball.alternatives(feature).to_vec();
            self.ball.set_open(feature, false);
            let own = self.ball.centre()[feature];
            for code in codes {
                self.ball.move_to(feature, code);
                self.branch(place + 1, made + 1);
            }
            self.ball.move_to(feature, own);
            // Stop if rows that leave this feature unchanged cannot improve the frontier.
            let bounds = self.evaluator.ball_bounds(&self.ball);
            if self.is_over() {
                self.leave(&bounds, made);
                break;
            }
            if self.promising(&bounds, made, depth.min(self.order.len() - place - 1)) < 2 {
                break;
            }
        }
        for &feature in &self.order[first..] {
            self.ball.set_open(feature, true);
        }
    }

    fn gap(&self, changes: usize) -> f64 {
        let open = self.open_bounds[..=changes].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let room = open - self.frontier.at_most(changes);
        if room > TOLERANCE { room } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use par_circuit::{Circuit, Node, NodeId};
    use par_data::{Constraints, Mask, UNKNOWN};
    use par_model::Target;
    use par_model::classifier::NeuralClassifier;
    use par_model::test_world::World;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
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
            }
        }

        fn problem<'a>(&'a self, mask: &'a Mask<'a>, budget: usize) -> SearchProblem<'a> {
            let Self { classifier, threshold, taken, .. } = self;
            let target = Target { classifier, threshold: *threshold };
            SearchProblem { mask, target, budget, taken }
        }

        /// The highest log-likelihood of an accepted row with 1 to `changes` changes.
        fn best(&self, problem: &SearchProblem<'_>, changes: usize) -> f64 {
            let mut rows = vec![Vec::new()];
            for feature in 0..self.factual.len() {
                let mut codes: Vec<Code> = problem.mask.codes(feature).collect();
                if codes.is_empty() {
                    codes.push(UNKNOWN);
                }
                rows = rows
                    .iter()
                    .flat_map(|row| codes.iter().map(|code| [row, &[*code][..]].concat()))
                    .collect();
            }
            let mut evaluator = self.circuit.evaluator();
            rows.iter()
                .filter(|row| (1..=changes).contains(&problem.changes(row)))
                .filter(|row| problem.permits(row) && problem.target.accepts(row))
                .map(|row| evaluator.log_prob(row))
                .fold(f64::NEG_INFINITY, f64::max)
        }
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
            let mask = case.constraints.mask(&case.factual, &case.locks);
            let problem = case.problem(&mask, budget);
            let mut evaluator = case.circuit.evaluator();
            let proof = solve(&problem, &mut evaluator, Frontier::default(), usize::MAX, Stop::never());
            prop_assert!(proof.gaps.iter().all(|gap| *gap == 0.0));
            for changes in 0..=budget {
                let (found, best) = (proof.frontier.at_most(changes), case.best(&problem, changes));
                prop_assert!(found == best || (found - best).abs() <= 2.0 * TOLERANCE, "{changes}: {found}, {best}");
            }
            for candidate in proof.frontier.candidates() {
                prop_assert!(problem.permits(&candidate.row) && problem.target.accepts(&candidate.row));
                prop_assert_eq!(problem.changes(&candidate.row), candidate.changes);
            }
        }

        #[test]
        fn candidates_to_start_from_change_the_work_and_not_the_answer(seed: u64) {
            let case = Case::new(seed);
            let mask = case.constraints.mask(&case.factual, &case.locks);
            let problem = case.problem(&mask, 4);
            let mut evaluator = case.circuit.evaluator();
            let mut memory = swap::Memory::default();
            let known =
                swap::search(&problem, &mut evaluator, &mut memory, Frontier::default(), 1.0, Stop::never());
            for changes in 0..=4 {
                prop_assert!(known.at_most(changes) <= case.best(&problem, changes) + TOLERANCE);
            }
            for candidate in known.candidates() {
                prop_assert!(problem.permits(&candidate.row) && problem.target.accepts(&candidate.row));
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
            let mask = case.constraints.mask(&case.factual, &case.locks);
            let problem = case.problem(&mask, 4);
            let proof = solve(&problem, &mut case.circuit.evaluator(), Frontier::default(), nodes, Stop::never());
            prop_assert!(proof.nodes <= nodes);
            for (changes, gap) in proof.gaps.iter().enumerate() {
                let (found, best) = (proof.frontier.at_most(changes), case.best(&problem, changes));
                let close = best <= found + gap + 2.0 * TOLERANCE;
                prop_assert!(best == found || gap.is_infinite() || close, "{best} is above {found} by more than {gap}");
            }
        }
    }
}
