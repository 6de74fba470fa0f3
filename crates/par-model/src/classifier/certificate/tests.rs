//! No classifier within δ scores below the bound; where the least one is known, the bound is its score.

use par_circuit::{Ball, Code, OPEN};
use par_data::{Constraints, Limits};
use par_onnx::{Activation, Body, Comparison, Head, Layers, OnnxClassifier, TreeNode};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::composed::ComposedClassifier;
use super::super::external::tests::{FILES, German, random_choices};
use super::super::neural::tests::{ACTIVATIONS, random, with_activation};
use super::super::one_by_one;
use super::super::{Classifier, DeployedClassifier, NeuralClassifier};
use super::*;
use crate::error::RowError;

fn certified(network: &NeuralClassifier, delta: f64, end: End) -> CertifiedNetwork<'_> {
    let addends = Addends::of_codes(network, network.cardinalities());
    let parameters = ParameterBox::new(network.layers(), &network.activations, delta);
    CertifiedNetwork::new(parameters, addends, end).expect("finite scores")
}

/// How far a parameter is moved, as a share of what is allowed: anywhere, or to one of the ends.
fn share(rng: &mut ChaCha8Rng, is_corner: bool) -> f64 {
    match is_corner {
        true => [-1.0, 1.0][usize::from(rng.random::<bool>())],
        false => rng.random_range(-1.0..=1.0),
    }
}

/// The output of a random network of the box, in double precision, for inputs of the first layer.
fn perturbed(
    layers: &[(Vec<f64>, Vec<f64>)],
    activations: &[Activation],
    inputs: &[f64],
    delta: f64,
    rng: &mut ChaCha8Rng,
) -> f64 {
    let is_corner = rng.random();
    let mut values = inputs.to_vec();
    for (place, (weights, biases)) in layers.iter().enumerate() {
        let radius = delta * weights.iter().fold(0.0_f64, |largest, weight| largest.max(weight.abs()));
        let mut outputs: Vec<f64> = biases.iter().map(|bias| bias + radius * share(rng, is_corner)).collect();
        for (value, weights) in values.iter().zip(weights.chunks_exact(outputs.len())) {
            for (output, weight) in outputs.iter_mut().zip(weights) {
                *output += value * (weight + radius * share(rng, is_corner));
            }
        }
        if let Some(activation) = activations.get(place) {
            outputs.iter_mut().for_each(|output| *output = activation.value(*output));
        }
        values = outputs;
    }
    values[0]
}

fn doubles(numbers: &[f32]) -> Vec<f64> {
    numbers.iter().map(|&number| f64::from(number)).collect()
}

fn one_hot(cardinalities: &[usize], row: &[Code]) -> Vec<f64> {
    let codes = cardinalities.iter().zip(row);
    codes
        .flat_map(|(&codes, &own)| (0..codes as Code).map(move |code| f64::from(u8::from(code == own))))
        .collect()
}

const CARDINALITIES: [usize; 4] = [3, 5, 2, 4];

fn random_row(rng: &mut ChaCha8Rng) -> Vec<Code> {
    let code = |&codes: &usize| match rng.random_bool(0.1) {
        true => OPEN,
        false => rng.random_range(0..codes) as Code,
    };
    CARDINALITIES.iter().map(code).collect()
}

/// A ball around a random row, and some rows in it.
fn random_ball(rng: &mut ChaCha8Rng) -> (Ball, Vec<Vec<Code>>) {
    let centre = random_row(rng);
    let mut ball = Ball::new(&CARDINALITIES, centre.clone(), rng.random_range(0..4));
    for (feature, &codes) in CARDINALITIES.iter().enumerate() {
        let offered: Vec<Code> = (0..codes as Code).filter(|_| rng.random_bool(0.7)).collect();
        ball.offer(feature, &offered);
    }
    let mut rows = vec![centre.clone()];
    for _ in 0..60 {
        let mut row = centre.clone();
        for _ in 0..ball.changes {
            let feature = rng.random_range(0..row.len());
            if let [_, ..] = ball.alternatives(feature) {
                let others = ball.alternatives(feature);
                row[feature] = others[rng.random_range(0..others.len())];
            }
        }
        assert!(ball.contains(&row));
        rows.push(row);
    }
    (ball, rows)
}

fn check_ball(classifier: &dyn Classifier, ball: &Ball, rows: &[Vec<Code>]) {
    let (lower, upper) = classifier.log_odds_bounds(ball);
    let places: Vec<(usize, Code)> = (0..ball.centre().len())
        .flat_map(|feature| ball.alternatives(feature).iter().map(move |&code| (feature, code)))
        .collect();
    let relaxation = classifier.relaxation(ball);
    for row in rows {
        let found = classifier.log_odds(row);
        assert!(lower <= found && found <= upper, "{found} is not in {lower}, {upper}");
        if let Some(relaxation) = &relaxation {
            let made =
                places.iter().zip(&relaxation.gains).filter(|((feature, code), _)| row[*feature] == *code);
            let bound = relaxation.centre + made.map(|(_, gain)| gain).sum::<f64>();
            assert!(found <= bound && found <= relaxation.most, "{found} is above {bound}");
        }
    }
}

fn check_neighbours(classifier: &dyn Classifier, row: &[Code]) {
    let codes = classifier.cardinalities().iter().sum();
    let (mut found, mut expected) = (vec![0.0; codes], vec![0.0; codes]);
    classifier.neighbours(row, &mut found);
    one_by_one(classifier, row, &mut expected);
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{found}, not {expected}");
    }
}

proptest! {
    #[test]
    fn no_network_of_the_box_scores_below_the_bound(
        hidden in prop::sample::select(vec![vec![], vec![6], vec![8, 5], vec![5, 6, 4]]),
        activation in prop::sample::select(ACTIVATIONS.to_vec()),
        delta in prop::sample::select(vec![0.0, 1e-3, 0.03, 0.3, 1.0]),
        seed: u64,
    ) {
        let network = with_activation(&CARDINALITIES, &hidden, seed, activation);
        let [lowest, highest] = [End::Lowest, End::Highest].map(|end| certified(&network, delta, end));
        let layers: Vec<_> =
            network.layers().map(|layer| (doubles(layer.weights), doubles(layer.biases))).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for _ in 0..5 {
            let row = random_row(&mut rng);
            let ends = [&lowest, &highest].map(|end| end.log_odds(&row));
            let inputs = one_hot(&CARDINALITIES, &row);
            for _ in 0..20 {
                let found = perturbed(&layers, &network.activations, &inputs, delta, &mut rng);
                prop_assert!(ends[0] <= found && found <= ends[1], "{found} is not in {ends:?}");
            }
        }
    }

    #[test]
    fn bounds_over_balls_contain_the_certified_scores(
        hidden in prop::sample::select(vec![vec![], vec![6], vec![8, 5]]),
        activation in prop::sample::select(ACTIVATIONS.to_vec()),
        delta in prop::sample::select(vec![0.0, 0.01, 0.2]),
        seed: u64,
    ) {
        let network = with_activation(&CARDINALITIES, &hidden, seed, activation);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (ball, rows) = random_ball(&mut rng);
        for end in [End::Lowest, End::Highest] {
            let certified = certified(&network, delta, end);
            check_ball(&certified, &ball, &rows);
            check_neighbours(&certified, &rows[1]);
        }
    }

    #[test]
    fn the_bound_falls_as_the_box_grows(seed: u64, small in 0.0..1.0_f64, large in 0.0..1.0_f64) {
        let network = random(&CARDINALITIES, &[6, 4], seed);
        let row = random_row(&mut ChaCha8Rng::seed_from_u64(seed));
        let [larger, smaller] =
            [small.min(large), small.max(large)].map(|delta| certified(&network, delta, End::Lowest).log_odds(&row));
        prop_assert!(smaller <= larger);
    }
}

#[test]
fn without_a_box_the_bound_is_the_score() {
    for (seed, hidden) in (0..).zip([&[][..], &[5], &[20, 10]]) {
        let network = random(&CARDINALITIES, hidden, seed);
        for row in [[0, 1, 1, 3], [2, OPEN, 0, 0]] {
            let (found, expected) =
                (certified(&network, 0.0, End::Lowest).log_odds(&row), network.log_odds(&row));
            assert!((found - expected).abs() < 1e-5, "{found}, not {expected}");
        }
    }
}

/// Three inputs are moved by 0.1 · 8 each: two codes, and the bias.
#[test]
fn one_layer_attains_the_bound_at_a_corner() {
    let network = NeuralClassifier::from_parameters(vec![2, 2], &[], vec![1.0, 2.0, 4.0, -8.0, 16.0])
        .expect("four weights and a bias");
    let found = certified(&network, 0.1, End::Lowest).log_odds(&[1, 0]);
    assert!((found - (22.0 - 3.0 * 0.8)).abs() < 1e-9, "{found}");
    let unknown = certified(&network, 0.1, End::Lowest).log_odds(&[OPEN, 0]);
    assert!((unknown - (20.0 - 2.0 * 0.8)).abs() < 1e-9, "{unknown}");
}

/// The first layer is 3 and 1 before its radius of 2 · 0.2: units 2.6 and 1.4 are the worst. The second has weights 2 and
/// −1, moved by 0.2: 1.8 · 2.6 − 1.2 · 1.4 − 0.2.
#[test]
fn two_layers_attain_the_bound_where_signs_are_known() {
    let parameters = vec![2.0, 1.0, 0.0, 0.0, 1.0, 0.0, 2.0, -1.0, 0.0];
    let network = NeuralClassifier::from_parameters(vec![2], &[2], parameters).expect("two layers");
    let bound = certified(&network, 0.1, End::Lowest);
    assert!((bound.log_odds(&[0]) - (1.8 * 2.6 - 1.2 * 1.4 - 0.2)).abs() < 1e-6);
    // One network of the box scores as the bound says, so that the bound of the ball, which is that network's, is tight.
    let ball = Ball::new(&[2], vec![0], 1);
    assert!((bound.corner_log_odds(&[0]) - bound.log_odds(&[0])).abs() < 1e-5);
    assert_eq!(bound.log_odds_bounds(&ball), (bound.log_odds(&[0]), bound.log_odds(&[0])));
}

/// Every fixture with all its parameters or thresholds moved, as the numbers of a row score by it.
fn moved_score(
    german: &German,
    onnx: &OnnxClassifier,
    numbers: &[f64],
    delta: f64,
    rng: &mut ChaCha8Rng,
) -> f64 {
    match &onnx.parts()[0] {
        Body::Layers(Layers { dense, activations }) => {
            let layers: Vec<_> =
                dense.iter().map(|dense| (doubles(&dense.weights), doubles(&dense.biases))).collect();
            perturbed(&layers, activations, numbers, delta, rng)
        }
        Body::Trees(trees) => {
            let (mut trees, is_corner) = (trees.clone(), rng.random());
            for node in &mut trees.nodes {
                if let TreeNode::Branch { source, comparison: Comparison::AtMost(threshold), .. } = node {
                    let source = &onnx.sources()[*source as usize];
                    let summary = german.discretizer.domains()[source.input].summary();
                    // Every feature is one input as it is, and scaled within the file.
                    if let (Some(summary), Some(slope)) = (summary, source.slope()) {
                        let radius = delta * summary.mad * slope.abs();
                        // Rounded inward.
                        let moved = f64::from(*threshold) + radius * share(rng, is_corner);
                        let toward =
                            if moved < f64::from(*threshold) { f32::next_up } else { f32::next_down };
                        let single = moved as f32;
                        let is_outside = (f64::from(single) - f64::from(*threshold)).abs() > radius;
                        *threshold = if is_outside { toward(single) } else { single };
                    }
                }
            }
            trees.log_odds(&numbers.iter().map(|&number| number as f32).collect::<Vec<_>>())
        }
    }
}

#[test]
fn no_external_classifier_near_a_file_scores_below_the_bound() {
    let german = German::new();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for (name, file, inputs) in FILES {
        let external = german.external(file, inputs);
        let deployed = DeployedClassifier::External(Box::new(external.clone()));
        for person in (0..1000).step_by(83) {
            let cells = german.cells(person);
            let codes = german.discretizer.encode_row(&cells).expect("codes").into_codes();
            let numbers = external.numbers(&cells);
            for delta in [0.0, 0.002, 0.02, 0.2] {
                let bound = deployed.certified_log_odds(&cells, &codes, delta).expect("a bound");
                for _ in 0..50 {
                    let found = moved_score(&german, external.onnx(), &numbers, delta, &mut rng);
                    assert!(bound <= found, "{name}, δ = {delta}: {found} is below {bound}");
                }
                if delta == 0.0 {
                    let own = external.log_odds(&cells).expect("inputs");
                    assert!((own - bound).abs() < 1e-6, "{name}: {bound}, not {own}");
                }
            }
        }
    }
}

#[test]
fn for_a_person_choices_are_certified_as_the_row_as_written() {
    let german = German::new();
    let constraints = Constraints::new(&german.discretizer);
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for (name, file, inputs) in FILES {
        let deployed = DeployedClassifier::External(Box::new(german.external(file, inputs)));
        for (person, delta) in (0..1000).step_by(97).zip([0.0, 0.01, 0.1].into_iter().cycle()) {
            let cells = german.cells(person);
            let candidates = german.candidates(&constraints, &cells, &Limits::NONE);
            let certified = deployed.certified(&cells, &candidates, delta).expect("inputs");
            for _ in 0..10 {
                let row = random_choices(&candidates, 4, &mut rng);
                let written: Vec<String> = (0..row.len())
                    .map(|feature| candidates.text(&german.discretizer, &row, feature, cells[feature]))
                    .collect();
                let written: Vec<&str> = written.iter().map(String::as_str).collect();
                let codes = german.discretizer.encode_row(&written).expect("codes").into_codes();
                let expected = deployed.certified_log_odds(&written, &codes, delta).expect("a bound");
                let found = certified.log_odds(&row);
                assert!((found - expected).abs() < 1e-9, "{name}: {found}, not {expected}");
                check_neighbours(&*certified, &row);
            }
            let counts = candidates.counts();
            let mut ball = Ball::new(&counts, vec![0; counts.len()], 3);
            for (feature, &count) in counts.iter().enumerate() {
                ball.offer(feature, &(0..count as Code).collect::<Vec<_>>());
            }
            let rows: Vec<Vec<Code>> = (0..50).map(|_| random_choices(&candidates, 3, &mut rng)).collect();
            check_ball(&*certified, &ball, &rows);
        }
    }
}

/// The head of one-vs-rest falls with the other classes, so that their highest scores count.
#[test]
fn parts_that_the_head_falls_with_take_their_highest_scores() {
    let networks: Vec<NeuralClassifier> = (0..3).map(|seed| random(&CARDINALITIES, &[4], seed)).collect();
    let head = Head::OneVsRest { accepted: 1 };
    let ends = [End::Lowest, End::Highest, End::Highest];
    let parts = networks
        .iter()
        .zip(ends)
        .map(|(network, end)| -> Box<dyn Classifier> { Box::new(certified(network, 0.05, end)) });
    let composed = ComposedClassifier::new(parts.collect(), head, None);
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for _ in 0..20 {
        let row = random_row(&mut rng);
        let inputs = one_hot(&CARDINALITIES, &row);
        let bound = composed.log_odds(&row);
        for _ in 0..50 {
            let scores: Vec<f64> = networks
                .iter()
                .map(|network| {
                    let layers: Vec<_> = network
                        .layers()
                        .map(|layer| (doubles(layer.weights), doubles(layer.biases)))
                        .collect();
                    perturbed(&layers, &network.activations, &inputs, 0.05, &mut rng)
                })
                .collect();
            assert!(bound <= head.log_odds(&scores) + 1e-12);
        }
        check_neighbours(&composed, &row);
        let (ball, rows) = random_ball(&mut rng);
        check_ball(&composed, &ball, &rows);
    }
}

#[test]
fn the_largest_delta_is_next_to_the_boundary() {
    let german = German::new();
    let network = random(&german.discretizer.cardinalities(), &[6, 4], 5);
    let mut deployed = vec![DeployedClassifier::Trained(network)];
    deployed.extend(
        FILES.map(|(_, file, inputs)| DeployedClassifier::External(Box::new(german.external(file, inputs)))),
    );
    for deployed in &deployed {
        for person in (0..1000).step_by(199) {
            let cells = german.cells(person);
            let codes = german.discretizer.encode_row(&cells).expect("codes").into_codes();
            let at = |delta| deployed.certified_log_odds(&cells, &codes, delta).expect("a bound");
            let least = at(0.0) - 0.5;
            let up_to = deployed.certified_up_to(&cells, &codes, least, 1e-6).expect("a row");
            assert!(up_to > 0.0 && at(up_to) >= least);
            assert!(up_to == 1.0 || at(up_to + 1e-6) < least, "{up_to} is not the largest");
            let none = deployed.certified_up_to(&cells, &codes, at(0.0) + 1.0, 1e-6);
            assert_eq!(none, Ok(0.0));
            let any = deployed.certified_up_to(&cells, &codes, f64::NEG_INFINITY, f64::NAN);
            assert_eq!(any, Ok(1.0));
        }
    }
}

#[test]
fn only_a_delta_from_0_to_1_is_certified() {
    let network = random(&[3, 2], &[4], 1);
    let deployed = DeployedClassifier::Trained(network);
    for found in [-0.1, 1.1, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(deployed.certified_log_odds(&["", ""], &[0, 1], found), Err(RowError::Delta { found }));
    }
    let error = deployed.certified_log_odds(&["", ""], &[0, 1], f64::NAN).expect_err("no number");
    assert_eq!(
        error.to_string(),
        "δ is NaN, expected a number from 0 to 1\nhint: δ is a share of each layer's largest weight, or of each \
         column's spread; 0.01 is a small one"
    );
}

#[test]
fn numbers_too_large_for_a_score_are_refused() {
    let german = German::new();
    let constraints = Constraints::new(&german.discretizer);
    let amount = german.discretizer.schema().position("Credit amount").expect("a feature");
    for (name, file, inputs) in &FILES[..2] {
        let deployed = DeployedClassifier::External(Box::new(german.external(file, inputs)));
        let mut cells = german.cells(0);
        let codes = german.discretizer.encode_row(&cells).expect("codes").into_codes();
        cells[amount] = "3e38";
        let found = deployed.certified_log_odds(&cells, &codes, 0.5);
        assert!(found.is_err() || found.as_ref().is_ok_and(|bound| bound.is_finite()), "{name}: {found:?}");
        let candidates = german.candidates(&constraints, &cells, &Limits::NONE);
        if let Ok(certified) = deployed.certified(&cells, &candidates, 0.5) {
            assert!(!certified.log_odds(&vec![0; cells.len()]).is_nan(), "{name}");
        }
        let least = deployed.certified_up_to(&cells, &codes, 0.0, 1e-3);
        assert!(!matches!(least, Ok(delta) if delta.is_nan()), "{name}");
        assert!(matches!(deployed.certified_log_odds(&["x"; 20], &codes, 0.5), Err(RowError::Cell(_))));
    }
}
