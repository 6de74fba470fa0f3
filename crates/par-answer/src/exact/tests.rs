//! The search against listing all rows.

use par_circuit::{Circuit, Code, Node, NodeId};
use par_data::{Candidates, Choice, Constraints, OwnRow, Reach, UNKNOWN, Wishes};
use par_model::classifier::NeuralClassifier;
use par_model::test_world::World;
use par_model::{ScoreScale, Target};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::bound::Bounder;
use super::multipliers::{Multipliers, Unit};
use super::*;
use crate::problem::{Cost, Objective, Row};
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
            duration: Some(0),
            target: Target { classifier, threshold: *threshold, scale: ScoreScale::Probability },
            reads_values: false,
            objective: *objective,
            log_given: &[-0.5],
            budget,
            taken,
        }
    }

    /// All combinations of candidates.
    fn rows(&self, problem: &SearchProblem<'_>) -> Vec<Row> {
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
        rows
    }

    /// The accepted rows that may be offered, and what they are worth; −∞ below the floor.
    fn accepted(&self, problem: &SearchProblem<'_>) -> Vec<(Row, f64)> {
        let mut evaluator = self.circuit.evaluator();
        let mut rows = self.rows(problem);
        rows.retain(|row| problem.changes(row) > 0 && problem.permits(row) && problem.accepts(row));
        let worth = |row: &Row| {
            problem.worth(evaluator.log_prob(&row.codes), 0, Cost::of(problem.candidates, &row.choices))
        };
        let worths: Vec<f64> = rows.iter().map(worth).collect();
        rows.into_iter().zip(worths).collect()
    }

    /// The highest worth of an accepted row with 1 to `changes` changes.
    fn best(&self, problem: &SearchProblem<'_>, changes: usize) -> f64 {
        let within = |(row, _): &(Row, f64)| problem.changes(row) <= changes;
        let accepted = self.accepted(problem).into_iter().filter(within);
        accepted.map(|(_, worth)| worth).fold(f64::NEG_INFINITY, f64::max)
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

    /// For any multipliers, also when some changes are closed or made.
    #[test]
    fn bounds_hold_for_every_row(seed: u64, score in 0.0..4.0, floor in 0.0..2.0, first: u8, closed: u8) {
        let case = Case::new(seed);
        let candidates = case.candidates();
        let problem = case.problem(&candidates, 4);
        let mut evaluator = case.circuit.evaluator();
        let mut bounder = Bounder::new(&problem, &mut evaluator);
        prop_assume!(!bounder.changes.is_empty());
        let count = bounder.changes.len();
        let made: Vec<usize> = if first % 2 == 0 { vec![usize::from(first) % count] } else { Vec::new() };
        let is_made = |feature| made.iter().any(|&made| bounder.changes[made].feature == feature);
        let mut open: Vec<bool> =
            (0..count).map(|change| !is_made(bounder.changes[change].feature)).collect();
        open[usize::from(closed) % count] = false;
        let has = |row: &Row, change: usize| {
            row.choices[bounder.changes[change].feature] == bounder.changes[change].choice
        };
        // The rows of the node, with their further changes.
        let rows: Vec<(Vec<usize>, f64, f64)> = (case.accepted(&problem).into_iter())
            .filter(|(_, worth)| *worth > f64::NEG_INFINITY)
            .map(|(row, worth)| {
                let conditional = case.circuit.evaluator().log_prob(&row.codes) - problem.log_given[0];
                let further = (0..count).filter(|&change| has(&row, change) && !made.contains(&change));
                (made.iter().all(|&made| has(&row, made)), further.collect::<Vec<_>>(), worth, conditional)
            })
            .filter(|(has_made, further, ..)| *has_made && further.iter().all(|&change| open[change]))
            .map(|(_, further, worth, conditional)| (further, worth, conditional))
            .collect();
        let has_floor = problem.objective.floor > f64::NEG_INFINITY;
        bounder.enter(&made, &open, 4 - made.len());
        let features = bounder.features.clone();
        for unit in [Unit::Worth, Unit::Likelihood] {
            let floor = if unit == Unit::Worth && has_floor { floor } else { 0.0 };
            let multipliers = Multipliers { score, floor };
            let alone = bounder.bound_all(&open, unit, multipliers);
            let (pass, lanes) = bounder.bound_each(&open, unit, multipliers);
            prop_assert_eq!(alone, lanes);
            for (further, worth, conditional) in rows.iter().filter(|(further, ..)| !further.is_empty()) {
                let value = if unit == Unit::Worth { *worth } else { *conditional };
                prop_assert!(bounder.may_reach(further.len()));
                for bound in &lanes[further.len() - 1..] {
                    prop_assert!(*bound >= value - 1e-5, "{bound} bounds {value}");
                }
                prop_assert!(bounder.worth(unit, lanes[further.len() - 1]) >= worth - 1e-5);
                for &change in further {
                    let place = features.iter().position(|range| range.contains(&change)).expect("a feature");
                    prop_assert!(bounder.may_reach_with(change, place, further.len() - 1));
                    let bound = bounder.with(&pass, change, further.len() - 1);
                    prop_assert!(bound >= value - 1e-5, "{bound} bounds {value} with a change");
                }
            }
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
