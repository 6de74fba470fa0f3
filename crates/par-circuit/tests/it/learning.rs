//! Circuits learned from ordinary and degenerate rows.

use par_circuit::learn::{
    EmConfig, HcltConfig, LearnConfig, LearnSpnConfig, Learner, Trial, learn, learn_with_progress,
};
use par_circuit::{Code, Dataset, Evidence, LearnError, Node, OPEN, Stop};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rows of a hidden class that five columns reveal and a sixth does not.
pub(crate) fn classes(rows: usize, seed: u64) -> Dataset {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut codes: Vec<Code> = Vec::new();
    for _ in 0..rows {
        let class: Code = rng.random_range(0..3);
        for _ in 0..5 {
            codes.push(if rng.random_bool(0.8) { class } else { rng.random_range(0..3) });
        }
        codes.push(rng.random_range(0..4));
    }
    Dataset::new(vec![3, 3, 3, 3, 3, 4], codes).expect("rows")
}

pub(crate) fn config(learner: Learner) -> LearnConfig {
    let hclt = HcltConfig { states: 4, groups: 1 };
    LearnConfig { learner, learn_spn: LearnSpnConfig::fine(), hclt, ..LearnConfig::default() }
}

pub(crate) const LEARNERS: [Learner; 3] = [Learner::LearnSpn, Learner::Hclt, Learner::Auto];

/// Mean log-probability of the rows under independent columns with the rates of the training rows.
fn independent(train: &Dataset, test: &Dataset) -> f64 {
    let mut total = 0.0;
    for (variable, &cardinality) in train.cardinalities().iter().enumerate() {
        let mut counts = vec![0.1; cardinality];
        train.rows().for_each(|row| counts[usize::from(row[variable])] += 1.0);
        let sum: f64 = counts.iter().sum();
        total += test.rows().map(|row| (counts[usize::from(row[variable])] / sum).ln()).sum::<f64>();
    }
    total / test.len() as f64
}

#[test]
fn every_learner_finds_the_hidden_class() {
    let (train, test) = (classes(3000, 1), classes(1000, 2));
    let floor = independent(&train, &test);
    for learner in LEARNERS {
        let learned = learn(&train, None, &config(learner)).expect("a circuit");
        let score = learned.circuit.mean_log_prob(&test);
        assert!(score > floor + 1.0, "{learner}: {score}, independent {floor}");
        assert!((score - learned.held_out).abs() < 0.15, "{learner}: {score}, held out {}", learned.held_out);
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let rows = classes(600, 3);
    for learner in LEARNERS {
        let bytes = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| learn(&rows, None, &config(learner)).expect("a circuit").circuit.to_bytes())
        };
        assert!(bytes(1) == bytes(3), "{learner}");
    }
}

#[test]
fn every_trial_is_reported_and_returned() {
    let mut reported = Vec::new();
    let mut report = |trial: &Trial| reported.push(trial.name.clone());
    let learned =
        learn_with_progress(&classes(300, 4), None, &config(Learner::Auto), &mut report, Stop::never());
    let learned = learned.expect("a circuit");
    let returned: Vec<String> = learned.trials.iter().map(|trial| trial.name.clone()).collect();
    assert_eq!(reported, returned);
    let weights: f64 = learned.trials.iter().map(|trial| trial.weight).sum();
    assert!((weights - 1.0).abs() < 1e-9);
}

#[test]
fn auto_keeps_within_its_edges() {
    let rows = classes(600, 5);
    let config = LearnConfig { max_edges: 300, ..config(Learner::Auto) };
    let learned = learn(&rows, None, &config).expect("a circuit");
    assert!(learned.circuit.edges() <= 300 + learned.trials.len(), "{} edges", learned.circuit.edges());
}

#[test]
fn em_makes_the_rows_likelier() {
    let rows = classes(1000, 6);
    let with_passes = |max_passes: usize| {
        let em = EmConfig { max_passes, ..EmConfig::default() };
        let learned = learn(&rows, Some(&rows), &LearnConfig { em, ..config(Learner::Hclt) });
        learned.expect("a circuit").circuit.mean_log_prob(&rows)
    };
    let (before, after) = (with_passes(0), with_passes(30));
    assert!(after > before + 0.01, "{before} before, {after} after");
}

#[test]
fn independent_columns_become_one_product_of_leaves() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let codes = (0..6000).map(|_| rng.random_range(0..3)).collect();
    let rows = Dataset::new(vec![3; 3], codes).expect("rows");
    let learned = learn(&rows, None, &config(Learner::LearnSpn)).expect("a circuit");
    let is_leaf = |node: &&Node| matches!(node, Node::Leaf { .. });
    assert_eq!(learned.circuit.nodes().iter().filter(is_leaf).count(), 3);
    assert_eq!(learned.circuit.edges(), 3);
}

#[test]
fn constant_and_duplicate_columns_are_learned() {
    let codes = (0..500).flat_map(|row| [0, row % 4, row % 4, row % 2]).collect();
    let rows = Dataset::new(vec![1, 4, 4, 2], codes).expect("rows");
    for learner in LEARNERS {
        let circuit = learn(&rows, None, &config(learner)).expect("a circuit").circuit;
        // Four equally likely rows: 1.386 nats.
        let score = circuit.mean_log_prob(&rows);
        assert!(score > -1.75, "{learner}: {score}");
    }
}

#[test]
fn twenty_rows_suffice_to_learn() {
    let (train, test) = (classes(20, 8), classes(1000, 9));
    let uniform = -(3.0_f64.ln() * 5.0 + 4.0_f64.ln());
    for learner in LEARNERS {
        let score = learn(&train, None, &config(learner)).expect("a circuit").circuit.mean_log_prob(&test);
        // Each column alone is uniform; LearnSPN needs more rows than these to find a dependence.
        let floor = if learner == Learner::LearnSpn { uniform - 0.1 } else { uniform + 0.1 };
        assert!(score > floor, "{learner}: {score}, uniform {uniform}");
    }
}

#[test]
fn one_row_and_one_variable_are_enough() {
    let row = Dataset::new(vec![2, 3], vec![1, 2]).expect("rows");
    let column = Dataset::new(vec![3], vec![0, 1, 1, 2, 1, 1]).expect("rows");
    for learner in LEARNERS {
        for rows in [&row, &column] {
            let circuit = learn(rows, None, &config(learner)).expect("a circuit").circuit;
            assert!(circuit.mean_log_prob(rows).is_finite(), "{learner}");
        }
    }
}

#[test]
fn missing_cells_are_summed_out() {
    let mut rng = ChaCha8Rng::seed_from_u64(10);
    let full = classes(3000, 11);
    let blank = |&code: &Code| if rng.random_bool(0.2) { OPEN } else { code };
    let holes =
        Dataset::new(full.cardinalities().to_vec(), full.codes().iter().map(blank).collect()).expect("rows");
    let test = classes(1000, 12);
    for learner in LEARNERS {
        let circuit = learn(&holes, None, &config(learner)).expect("a circuit").circuit;
        let score = circuit.mean_log_prob(&test);
        assert!(score > independent(&full, &test) + 1.0, "{learner}: {score}");
    }
}

#[test]
fn a_category_never_seen_keeps_a_little_probability() {
    let rows = Dataset::new(vec![3, 3], (0..400).flat_map(|row| [row % 2, row % 2]).collect()).expect("rows");
    for learner in LEARNERS {
        let circuit = learn(&rows, None, &config(learner)).expect("a circuit").circuit;
        let unseen = circuit.log_prob(&Evidence::from_row(&[2, 0]));
        assert!(unseen.is_finite() && unseen < -4.0, "{learner}: {unseen}");
    }
}

#[test]
fn all_cells_missing_gives_a_uniform_circuit() {
    let rows = Dataset::new(vec![4], vec![OPEN; 50]).expect("rows");
    let circuit = learn(&rows, None, &config(Learner::Hclt)).expect("a circuit").circuit;
    assert!((circuit.log_prob(&Evidence::from_row(&[3])) - 0.25_f64.ln()).abs() < 1e-6);
}

#[test]
fn settings_out_of_range_are_refused() {
    let rows = classes(10, 1);
    let refusal = |config: LearnConfig| learn(&rows, None, &config).expect_err("out of range").to_string();
    let learn_spn = LearnSpnConfig { min_rows: 1, ..LearnSpnConfig::default() };
    assert_eq!(
        refusal(LearnConfig { learn_spn, ..config(Learner::Auto) }),
        "`min_rows` is 1, expected at least 2"
    );
    let learn_spn = LearnSpnConfig { significance: 1.5, ..LearnSpnConfig::default() };
    assert_eq!(
        refusal(LearnConfig { learn_spn, ..config(Learner::Auto) }),
        "`significance` is 1.5, expected at least 0, below 1"
    );
    let hclt = HcltConfig { states: 0, groups: 1 };
    assert_eq!(refusal(LearnConfig { hclt, ..config(Learner::Hclt) }), "`states` is 0, expected 1 to 4096");
    let em = EmConfig { leaf_prior: 0.0, ..EmConfig::default() };
    assert_eq!(
        refusal(LearnConfig { em, ..config(Learner::Hclt) }),
        "`leaf_prior` is 0, expected a positive number"
    );
    let em = EmConfig { gain: -1.0, ..EmConfig::default() };
    assert_eq!(
        refusal(LearnConfig { em, ..config(Learner::Hclt) }),
        "`gain` is -1, expected at least 0, below 1"
    );
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    let empty = Dataset::new(vec![2], vec![]).expect("no rows");
    assert_eq!(learn(&empty, None, &LearnConfig::default()).expect_err("nothing"), LearnError::NoRows);
    let one = Dataset::new(vec![2], vec![0]).expect("a row");
    let other = Dataset::new(vec![3], vec![0]).expect("a row");
    let refusal = learn(&one, Some(&other), &LearnConfig::default()).expect_err("other variables");
    assert_eq!(refusal, LearnError::OtherVariables);
}
