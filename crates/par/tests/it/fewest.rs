//! Answers in random worlds with few enough rows to list all of them.

use std::io::Cursor;
use std::sync::atomic::{AtomicUsize, Ordering};

use par_answer::{Answer, Method, Order, Request, Solver, Solves, answer, words};
use par_circuit::{Code, Stop};
use par_data::{Choice, OwnRow, Reach, Schema, Table, TableOptions, Wishes};
use par_fit::ModelBuilder;
use par_model::classifier::{DeployedClassifier, NeuralClassifier};
use par_model::{Config, Model, ModelParts};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How many features a world has, and how many codes each of them.
const FEATURES: usize = 5;
const CODES: usize = 3;
/// The features of a world that has too many rows to list them.
const MANY: usize = 16;

/// A model in which all features may change, fitted to noise; tests replace its classifier.
fn model(features: usize) -> Model {
    let mut schema =
        String::from("[label]\ncolumn = \"class\"\nclasses = [\"no\", \"yes\"]\nfavourable = \"yes\"\n");
    let mut rows = String::new();
    for feature in 0..features {
        schema += &format!("[[feature]]\nname = \"f{feature}\"\nkind = \"discrete\"\n");
        rows += &format!("f{feature},");
    }
    rows += "class\n";
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for _ in 0..200 {
        let codes: Vec<usize> = (0..features).map(|_| rng.random_range(0..CODES)).collect();
        codes.iter().for_each(|code| rows += &format!("{code},"));
        rows += if codes.iter().sum::<usize>() + rng.random_range(0..3) > features + 1 {
            "yes\n"
        } else {
            "no\n"
        };
    }
    let mut config = Config::default();
    (config.generator.examples, config.generator.steps, config.pool.size) = (50, 5, 50);
    config.answers.budget = 1;
    let table =
        || Table::from_reader("t.csv", Cursor::new(rows.clone().into_bytes()), &TableOptions::default());
    let schema = Schema::parse(&schema, "s.toml").expect("a schema");
    ModelBuilder::new(schema, config).fit(table).expect("a fit")
}

/// A network of random weights.
fn network(features: usize, seed: u64) -> DeployedClassifier {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let count = (features * CODES + 1) * 6 + 7 * 4 + 5;
    let parameters = (0..count).map(|_| rng.random_range(-2.0..2.0)).collect();
    let network = NeuralClassifier::from_parameters(vec![CODES; features], &[6, 4], parameters);
    DeployedClassifier::Trained(network.expect("a network"))
}

/// All rows.
fn rows() -> impl Iterator<Item = Vec<Code>> {
    let count = CODES.pow(FEATURES as u32);
    (0..count).map(|row| (0..FEATURES as u32).map(|f| (row / CODES.pow(f) % CODES) as Code).collect())
}

/// A denied person of a random world.
struct Denied<'a> {
    model: &'a Model,
    cells: &'a [&'a str],
    factual: &'a [Code],
    /// So high that few rows reach it, and a greedy search fails.
    threshold: f64,
}

impl Denied<'_> {
    /// Asks for acceptance alone, so that fewer changes can be ruled out.
    fn request(&self) -> Request {
        let (order, margin) = (Some(Order::Likelihood), Some(0.0));
        Request {
            threshold: Some(self.threshold),
            order,
            margin,
            min_percentile: Some(0.0),
            ..Request::default()
        }
    }

    /// The least effort of all combinations of candidates with so many changes that are likely enough and accepted, by
    /// listing them. Of about equal ones the likeliest, as the search has it.
    fn least_effort(&self, floor: f64, changes: usize) -> f64 {
        let own = OwnRow::new(self.model.discretizer(), self.cells, self.factual.to_vec());
        let candidates = self.model.constraints().candidates(&own, &Wishes::default(), Reach::Codes);
        let mut evaluator = self.model.accepted().evaluator();
        let counts = candidates.counts();
        let mut least = f64::INFINITY;
        for mut place in 1..counts.iter().product::<usize>() {
            let choice = |count: &usize| {
                let choice = place % count;
                place /= count;
                choice as Choice
            };
            let row: Vec<Choice> = counts.iter().map(choice).collect();
            if row.iter().filter(|choice| **choice != 0).count() > changes {
                continue;
            }
            let codes = candidates.codes(&row);
            let log_prob = evaluator.log_prob(&codes);
            if log_prob >= floor && self.model.probability(&codes) >= self.threshold {
                least = least.min(candidates.effort(&row) - 1e-3 * log_prob);
            }
        }
        least
    }

    /// The fewest changes that lead to an accepted row, by listing all rows.
    fn fewest(&self) -> usize {
        let changes =
            |row: &Vec<Code>| row.iter().zip(self.factual).filter(|(code, own)| code != own).count();
        let accepted = rows().filter(|row| self.model.probability(row) >= self.threshold);
        accepted.map(|row| changes(&row)).min().expect("some rows are accepted")
    }
}

/// Calls `check` for every denied person in some random worlds.
fn for_all_denied(mut check: impl FnMut(Denied<'_>)) {
    let parts = model(FEATURES).into_parts();
    for seed in 0..40 {
        let parts = ModelParts { classifier: network(FEATURES, seed), ..parts.clone() };
        let model = Model::new(parts).expect("parts of one schema");
        let mut probabilities: Vec<f64> = rows().map(|row| model.probability(&row)).collect();
        probabilities.sort_by(f64::total_cmp);
        let threshold = probabilities[probabilities.len() - 4];
        for factual in rows().filter(|row| model.probability(row) < threshold).step_by(9) {
            let texts: Vec<String> = factual.iter().map(ToString::to_string).collect();
            let cells: Vec<&str> = texts.iter().map(String::as_str).collect();
            check(Denied { model: &model, cells: &cells, factual: &factual, threshold });
        }
    }
}

/// A greedy search fails in the first world for `[0, 0, 2, 0, 0]`: it finds a likelier row with four changes, where two
/// are enough.
#[test]
fn without_a_budget_the_first_way_of_an_exact_search_has_the_fewest_changes() {
    let mut people = 0;
    for_all_denied(|denied| {
        let request = Request { method: Method::Exact, ..denied.request() };
        let Ok(Answer::Found(found)) = answer(denied.model, denied.cells, &request) else {
            panic!("everyone has a way")
        };
        let fewest = denied.fewest();
        assert_eq!(found.ways[0].changes.len(), fewest, "{:?}", denied.factual);
        assert_eq!(found.frontier[0].changes.len(), fewest);
        assert!(found.fewest_proved);
        people += 1;
    });
    assert!(people > 500, "{people}");
}

/// A walk and a few nodes miss what lies behind rows that are worse.
#[test]
fn refine_finds_a_way_for_nearly_everyone_and_proves_no_number_of_changes_but_one() {
    let (mut people, mut missed, mut with_fewest) = (0, 0, 0);
    for_all_denied(|denied| {
        people += 1;
        let Ok(Answer::Found(found)) = answer(denied.model, denied.cells, &denied.request()) else {
            missed += 1;
            return;
        };
        let changes = found.frontier[0].changes.len();
        assert_eq!(found.fewest_proved, changes == 1, "{:?}", denied.factual);
        with_fewest += usize::from(changes == denied.fewest());
    });
    assert!(people > 500, "{people}");
    assert!(missed * 200 <= people, "{missed} of {people}");
    assert!(with_fewest * 100 >= people * 95, "{with_fewest} of {people}");
}

/// Calls `check` with a solver for people of random worlds of many features, who have a budget of a few changes.
fn for_people_with_a_budget(nodes: usize, mut check: impl FnMut(&mut Solver<'_>, &[&str], Request)) {
    let mut parts = model(MANY).into_parts();
    parts.config.answers.nodes = nodes;
    for seed in 0..30 {
        let parts = ModelParts { classifier: network(MANY, seed), ..parts.clone() };
        let model = Model::new(parts).expect("parts of one schema");
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut row = || (0..MANY).map(|_| rng.random_range(0..CODES) as Code).collect::<Vec<_>>();
        let mut probabilities: Vec<f64> = (0..20_000).map(|_| model.probability(&row())).collect();
        probabilities.sort_by(f64::total_cmp);
        let threshold = probabilities[probabilities.len() - 2];
        let mut solver = Solver::new(&model);
        for budget in [2, 3, 4, 5].repeat(5) {
            let texts: Vec<String> = row().iter().map(ToString::to_string).collect();
            let cells: Vec<&str> = texts.iter().map(String::as_str).collect();
            let denied = Denied { model: &model, cells: &cells, factual: &[], threshold };
            check(&mut solver, &cells, Request { budget: Some(budget), ..denied.request() });
        }
    }
}

/// A search beyond the budget comes back to rows within it that the search within it missed: those are ways.
#[test]
fn who_is_told_to_need_more_changes_needs_more_than_the_budget() {
    let (mut found, mut more) = (0, 0);
    for_people_with_a_budget(200_000, |solver, cells, request| {
        match solver.answer(cells, &request).expect("a row of the world") {
            Answer::Accepted { .. } => {}
            Answer::Found(_) => found += 1,
            Answer::NotFound(none) => {
                let needs = none.needs_changes.unwrap_or(usize::MAX);
                assert!(Some(needs) > request.budget, "{cells:?} needs {needs} changes: {request:?}");
                more += usize::from(needs < usize::MAX);
            }
        }
    });
    assert!(found > 50 && more > 50, "{found} found, {more} need more");
}

#[test]
fn an_exact_search_of_few_nodes_finds_a_way_wherever_refine_does() {
    let (mut found, mut unproved) = (0, 0);
    for_people_with_a_budget(3, |solver, cells, request| {
        let Ok(Answer::Found(_)) = solver.answer(cells, &request) else { return };
        let exact = Request { method: Method::Exact, ..request };
        let answer = solver.answer(cells, &exact).expect("a row of the world");
        assert!(matches!(answer, Answer::Found(_)), "{cells:?}: {exact:?}");
        found += 1;
        unproved += usize::from(!answer.ways()[0].is_optimal());
    });
    assert!(found > 50 && unproved > 20, "{found} found, {unproved} without a proof");
}

#[test]
fn the_first_way_has_the_least_effort_of_all_plausible_and_sure_combinations_of_candidates() {
    let (mut least, mut likeliest) = (0, 0);
    for_all_denied(|denied| {
        let request = Request {
            method: Method::Exact,
            budget: Some(FEATURES),
            threshold: Some(denied.threshold),
            margin: Some(0.0),
            min_percentile: Some(0.0),
            ..Request::default()
        };
        let answer = answer(denied.model, denied.cells, &request).expect("a row of the world");
        let way = &answer.ways()[0];
        assert!(way.is_optimal() && way.has_margin);
        let plausibility = denied.model.plausibility(&[]);
        let log_given = plausibility.log_given(&mut denied.model.accepted().evaluator(), denied.factual);
        let floor = log_given + plausibility.floor(0.1);
        // Single changes are scored in single precision, so that rows next to the floor may count or not.
        let [strict, lenient] =
            [floor + 1e-4, floor - 1e-4].map(|floor| denied.least_effort(floor, way.changes.len()));
        match way.solves {
            Solves::LeastEffort => {
                let worth = way.effort - 1e-3 * way.log_likelihood;
                assert!(lenient - 2e-4 <= worth && worth <= strict + 2e-4, "{lenient} to {strict}: {way:?}");
                // Hardly less effort is not worth a further change.
                let any = denied.least_effort(floor + 1e-4, FEATURES);
                assert!(0.95 * way.effort <= any + 0.02, "{any}: {way:?}");
                least += 1;
            }
            Solves::Likeliest => {
                assert_eq!(strict, f64::INFINITY, "{way:?} although others are plausible");
                likeliest += 1;
            }
        }
    });
    assert!(least > 300 && likeliest > 30, "{least} plausible, {likeliest} not");
}

#[test]
fn a_stopped_search_does_not_rule_out_fewer_changes() {
    let mut unproved = 0;
    for_all_denied(|denied| {
        // Enough checks for a local search to find a candidate.
        let checks = AtomicUsize::new(0);
        let stopped = || checks.fetch_add(1, Ordering::Relaxed) > 30;
        let mut solver = Solver::new(denied.model).until(Stop::when(&stopped));
        let request = Request { method: Method::Exact, ..denied.request() };
        let answer = solver.answer(denied.cells, &request).expect("a row of the world");
        let Answer::Found(found) = answer else { return };
        let changes = found.frontier[0].changes.len();
        assert!(!found.fewest_proved || changes == denied.fewest(), "{:?}", denied.factual);
        unproved += usize::from(!found.fewest_proved);
        if !found.fewest_proved && changes > 1 {
            let words = format!("not ruled out: fewer than {changes} changes could be enough");
            assert_eq!(words::fewest(&found), Some(words));
        }
    });
    assert!(unproved > 100, "{unproved}");
}
