//! Likelihoods, slopes, samples, most probable rows and bounds.

use par_circuit::learn::{EmConfig, HcltConfig, LearnConfig, Learner, learn};
use par_circuit::{Allowed, Ball, ChangeBounds, Circuit, Code, Dataset, Evidence, Node, NodeId, OPEN};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::random::{self, assert_close, completions, enumerate};

proptest! {
    #[test]
    fn probabilities_sum_to_one(seed: u64) {
        let total: f64 = enumerate(&random::circuit(seed)).iter().map(|(_, probability)| probability).sum();
        assert_close(total, 1.0, 1e-9);
    }

    #[test]
    fn marginals_agree_with_enumeration(seed: u64) {
        let circuit = random::circuit(seed);
        let row = random::row(&circuit, 0.5, seed);
        let rows = completions(&row, circuit.cardinalities());
        let expected: f64 = rows.iter().map(|row| circuit.log_prob(&Evidence::from_row(row)).exp()).sum();
        assert_close(circuit.log_prob(&Evidence::from_row(&row)).exp(), expected, 1e-12);
    }

    #[test]
    fn the_fast_paths_agree_with_the_plain_one(seed: u64) {
        let circuit = random::circuit(seed);
        let rows: Vec<Vec<Code>> = (0..40).map(|i| random::row(&circuit, 0.3, seed ^ i)).collect();
        let batch = Dataset::new(circuit.cardinalities().to_vec(), rows.concat()).expect("rows");
        let mut evaluator = circuit.evaluator();
        for (row, together) in rows.iter().zip(circuit.log_probs(&batch)) {
            let expected = circuit.log_prob(&Evidence::from_row(row));
            assert_close(evaluator.log_prob(row), expected, 1e-5);
            assert_close(together, expected, 1e-5);
        }
        for (row, together) in rows.iter().zip(evaluator.log_probs(&rows.concat())) {
            assert_close(together, circuit.log_prob(&Evidence::from_row(row)), 1e-5);
        }
    }

    #[test]
    fn soft_slopes_agree_with_the_plain_path(seed: u64) {
        let circuit = random::circuit(seed);
        let rows: Vec<Vec<f32>> = (0..20).map(|i| random::soft(&circuit, seed ^ i)).collect();
        let soft = rows.concat();
        let mut together = vec![f32::NAN; soft.len()];
        let log_probs = circuit.soft_gradients(&soft, &mut together);
        let mut evaluator = circuit.evaluator();
        for ((row, log_prob), together) in rows.iter().zip(log_probs).zip(together.chunks(rows[0].len())) {
            let evidence = Evidence::from_soft(row, circuit.cardinalities());
            let expected = circuit.log_prob(&evidence);
            let mut alone = vec![f32::NAN; row.len()];
            assert_close(evaluator.log_prob_soft(row), expected, 1e-5);
            assert_close(evaluator.soft_gradient(row, &mut alone), expected, 1e-5);
            assert_close(log_prob, expected, 1e-5);
            for ((slope, alone), together) in circuit.gradient(&evidence).iter().zip(&alone).zip(together) {
                assert_close(f64::from(*alone), *slope, 1e-4 * (1.0 + slope.abs()));
                assert_close(f64::from(*together), *slope, 1e-4 * (1.0 + slope.abs()));
            }
        }
    }

    /// The paper's proposition: the slope by a category is the value with that category put in.
    #[test]
    fn slopes_agree_with_one_evaluation_a_category(seed: u64) {
        let circuit = random::circuit(seed);
        let soft = random::soft(&circuit, seed);
        let evidence = Evidence::from_soft(&soft, circuit.cardinalities());
        let log_prob = circuit.log_prob(&evidence);
        prop_assume!(log_prob > f64::NEG_INFINITY);
        let gradient = circuit.gradient(&evidence);
        let mut offset = 0;
        for &cardinality in circuit.cardinalities() {
            for code in 0..cardinality {
                let mut with_code = soft.clone();
                with_code[offset..offset + cardinality].fill(0.0);
                with_code[offset + code] = 1.0;
                let with_code = circuit.log_prob(&Evidence::from_soft(&with_code, circuit.cardinalities()));
                let expected = (with_code - log_prob).exp();
                assert_close(gradient[offset + code], expected, 1e-9 * (1.0 + expected));
            }
            // The value is linear in the weights of each variable, so slopes times weights sum to it.
            let weights = soft[offset..].iter().zip(&gradient[offset..]).take(cardinality);
            assert_close(weights.map(|(&q, slope)| f64::from(q) * slope).sum(), 1.0, 1e-9);
            offset += cardinality;
        }
    }

    #[test]
    fn slopes_agree_with_finite_differences(seed: u64) {
        let circuit = random::circuit(seed);
        let soft: Vec<f32> = random::soft(&circuit, seed).iter().map(|weight| weight + 0.25).collect();
        let log_prob = |soft: &[f32]| circuit.log_prob(&Evidence::from_soft(soft, circuit.cardinalities()));
        let gradient = circuit.gradient(&Evidence::from_soft(&soft, circuit.cardinalities()));
        for (position, slope) in gradient.iter().enumerate() {
            let (mut below, mut above) = (soft.clone(), soft.clone());
            below[position] -= 1.0 / 1024.0;
            above[position] += 1.0 / 1024.0;
            let expected = (log_prob(&above) - log_prob(&below)) * 512.0;
            assert_close(*slope, expected, 1e-3 * (1.0 + slope.abs()));
        }
    }

    #[test]
    fn the_most_probable_row_lies_under_the_bound_and_in_the_box(seed: u64) {
        let circuit = random::circuit(seed);
        let allowed = random_box(&circuit, seed);
        let inside = enumerate(&circuit).into_iter().filter(|(row, _)| allowed.contains(row));
        let best = inside.map(|(_, probability)| probability.ln()).fold(f64::NEG_INFINITY, f64::max);
        let bound = circuit.evaluator().upper_bound(&allowed);
        prop_assert!(bound >= best, "{bound} bounds {best}");
        match circuit.mpe(&allowed) {
            None => prop_assert_eq!(best, f64::NEG_INFINITY),
            Some(mpe) => {
                prop_assert!(allowed.contains(&mpe.row));
                prop_assert!(mpe.log_prob <= best + 1e-5, "{} is at most {best}", mpe.log_prob);
                prop_assert!(mpe.upper_bound >= best);
            }
        }
        prop_assert_eq!(circuit.upper_bounds(&[allowed.clone(), allowed]), vec![bound; 2]);
    }

    #[test]
    fn rows_within_a_number_of_changes_lie_under_its_bound(
        seed: u64,
        // Of large gains, single precision holds some and loses the rest.
        scale in prop_oneof![0.0..8.0, 8.0..4000.0],
    ) {
        let circuit = random::circuit(seed);
        let ball = random_ball(&circuit, seed);
        let gains = random_gains(&ball, scale, seed);
        let (mut all, mut each) = (ChangeBounds::default(), ChangeBounds::default());
        let mut evaluator = circuit.evaluator();
        evaluator.bound_changes(ball.centre(), &gains, &mut all);
        evaluator.bound_each_change(ball.centre(), &gains, &mut each);
        let offsets = offsets(&circuit);
        for (row, probability) in enumerate(&circuit) {
            let changed: Vec<usize> = (0..row.len())
                .filter(|&variable| row[variable] != ball.centre()[variable])
                .map(|variable| offsets[variable] + usize::from(row[variable]))
                .collect();
            let value = probability.ln() + changed.iter().map(|&place| gains[place]).sum::<f64>();
            for changes in changed.len()..9 {
                prop_assert!(all.all(changes) >= value - 1e-9, "{} bounds {value}", all.all(changes));
                prop_assert_eq!(all.all(changes), each.all(changes));
                for &place in &changed {
                    let bound = each.with(place, changes - 1);
                    prop_assert!(bound >= value - 1e-9, "{bound} bounds {value} with {place}");
                }
            }
        }
        let centre = circuit.log_prob(&Evidence::from_row(ball.centre()));
        prop_assert!(all.all(0) >= centre - 1e-4);
        if scale < 8.0 {
            assert_close(all.all(0), centre, 1e-4);
        }
    }

    #[test]
    fn without_gains_the_bound_over_any_number_of_changes_is_that_of_the_box(seed: u64) {
        let circuit = random::circuit(seed);
        let ball = random_ball(&circuit, seed);
        let mut bounds = ChangeBounds::default();
        circuit.evaluator().bound_changes(ball.centre(), &random_gains(&ball, 0.0, seed), &mut bounds);
        assert_close(bounds.all(usize::MAX), circuit.evaluator().upper_bound(&ball.hull()), 1e-4);
    }

    #[test]
    fn a_single_change_is_bounded_exactly(seed: u64, scale in 0.0..8.0) {
        let circuit = random::circuit(seed);
        let ball = random_ball(&circuit, seed);
        let gains = random_gains(&ball, scale, seed);
        let mut evaluator = circuit.evaluator();
        let mut bounds = ChangeBounds::default();
        evaluator.bound_each_change(ball.centre(), &gains, &mut bounds);
        // Around an impossible row only the bounds over all rows are known.
        prop_assume!(bounds.all(0) > f64::NEG_INFINITY);
        let mut neighbours = vec![0.0; gains.len()];
        evaluator.neighbours(ball.centre(), &mut neighbours);
        for (place, &gain) in gains.iter().enumerate().filter(|(_, gain)| **gain > f64::NEG_INFINITY) {
            // Far below the bound of all rows, underflow counts.
            if neighbours[place] + gain > bounds.all(1) - 10.0 {
                assert_close(bounds.with(place, 0), neighbours[place] + gain, 1e-3);
            }
        }
    }

    #[test]
    fn neighbours_are_the_rows_with_one_other_code(seed: u64) {
        let circuit = random::circuit(seed);
        let row = random::row(&circuit, 0.3, seed);
        let mut neighbours = vec![0.0; circuit.cardinalities().iter().sum()];
        let own = circuit.evaluator().neighbours(&row, &mut neighbours);
        assert_close(own, circuit.log_prob(&Evidence::from_row(&row)), 1e-4);
        let mut place = 0;
        for (variable, &cardinality) in circuit.cardinalities().iter().enumerate() {
            for code in 0..cardinality as Code {
                let mut changed = row.clone();
                changed[variable] = code;
                assert_close(neighbours[place], circuit.log_prob(&Evidence::from_row(&changed)), 1e-4);
                place += 1;
            }
        }
    }

    #[test]
    fn the_bound_of_one_row_is_its_probability(seed: u64) {
        let circuit = random::circuit(seed);
        let row = random::row(&circuit, 0.0, seed);
        let mut only = Allowed::all(circuit.cardinalities());
        row.iter().enumerate().for_each(|(variable, &code)| only.restrict(variable, &[code]));
        assert_close(circuit.evaluator().upper_bound(&only), circuit.log_prob(&Evidence::from_row(&row)), 1e-4);
    }
}

fn random_ball(circuit: &Circuit, seed: u64) -> Ball {
    let allowed = random_box(circuit, seed);
    let mut ball = Ball::new(circuit.cardinalities(), random::row(circuit, 0.0, seed), 0);
    for variable in 0..circuit.cardinalities().len() {
        ball.offer(variable, &allowed.codes(variable).collect::<Vec<_>>());
    }
    ball
}

/// Gains of up to `scale` in either direction for the changes of a ball.
fn random_gains(ball: &Ball, scale: f64, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut gains = Vec::new();
    for (variable, &cardinality) in ball.cardinalities().iter().enumerate() {
        gains.extend((0..cardinality as Code).map(
            |code| match ball.alternatives(variable).contains(&code) {
                true => scale * rng.random_range(-1.0..1.0),
                false => f64::NEG_INFINITY,
            },
        ));
    }
    gains
}

/// The place of each variable's first code.
fn offsets(circuit: &Circuit) -> Vec<usize> {
    let starts = circuit.cardinalities().iter().scan(0, |sum, cardinality| {
        *sum += cardinality;
        Some(*sum - cardinality)
    });
    starts.collect()
}

fn random_box(circuit: &Circuit, seed: u64) -> Allowed {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut allowed = Allowed::all(circuit.cardinalities());
    for (variable, &cardinality) in circuit.cardinalities().iter().enumerate() {
        let codes: Vec<Code> = (0..cardinality as Code).filter(|_| rng.random_bool(0.6)).collect();
        if !codes.is_empty() {
            allowed.restrict(variable, &codes);
        }
    }
    allowed
}

#[test]
fn the_search_nearly_always_finds_the_most_probable_row() {
    let found = |seed: &u64| {
        let circuit = random::circuit(*seed);
        let best = enumerate(&circuit).into_iter().map(|(_, probability)| probability).fold(0.0, f64::max);
        let mpe = circuit.mpe(&Allowed::all(circuit.cardinalities())).expect("some row is possible");
        mpe.log_prob >= best.ln() - 1e-5
    };
    let found = (0..1000).filter(found).count();
    assert!(found >= 990, "{found} of 1000");
}

/// A mixture whose most probable row is not that of its heaviest part.
#[test]
fn the_most_probable_row_may_come_from_a_lighter_part() {
    let leaf =
        |variable, probabilities: [f64; 3]| Node::Leaf { variable, probabilities: probabilities.into() };
    let product = |a, b| Node::Product { children: [NodeId(a), NodeId(b)].into() };
    let nodes = vec![
        leaf(0, [0.34, 0.33, 0.33]),
        leaf(1, [0.34, 0.33, 0.33]),
        product(0, 1),
        leaf(0, [0.01, 0.98, 0.01]),
        leaf(1, [0.01, 0.98, 0.01]),
        product(3, 4),
        Node::Sum { children: [NodeId(2), NodeId(5)].into(), weights: [0.6, 0.4].into() },
    ];
    let circuit = Circuit::new(vec![3, 3], nodes).expect("a circuit");
    let mpe = circuit.mpe(&Allowed::all(&[3, 3])).expect("rows are possible");
    assert_eq!(mpe.row, [1, 1]);
    assert_close(mpe.log_prob, (0.6 * 0.33 * 0.33 + 0.4 * 0.98 * 0.98_f64).ln(), 1e-6);
}

#[test]
fn sample_frequencies_agree_with_probabilities() {
    for seed in 0..20 {
        let circuit = random::circuit(seed);
        let count = 20_000;
        let rows = circuit.sampler().rows(0..count, seed);
        for (row, probability) in enumerate(&circuit) {
            let share = rows.rows().filter(|sample| **sample == *row).count() as f64 / count as f64;
            let deviation = (probability * (1.0 - probability) / count as f64).sqrt();
            assert_close(share, probability, 5.0 * deviation);
        }
    }
}

#[test]
fn conditional_samples_keep_the_known_codes_and_follow_the_posterior() {
    for seed in 0..20 {
        let circuit = random::circuit(seed);
        let known = random::row(&circuit, 0.6, seed);
        let count = 20_000;
        let Some(samples) = circuit.conditional_samples(&known, count, seed) else {
            assert_eq!(circuit.log_prob(&Evidence::from_row(&known)), f64::NEG_INFINITY);
            continue;
        };
        let evidence = circuit.log_prob(&Evidence::from_row(&known));
        for row in completions(&known, circuit.cardinalities()) {
            let posterior = (circuit.log_prob(&Evidence::from_row(&row)) - evidence).exp();
            let share = samples.rows().filter(|sample| **sample == *row).count() as f64 / count as f64;
            let deviation = (posterior * (1.0 - posterior) / count as f64).sqrt();
            assert_close(share, posterior, 5.0 * deviation + 1e-12);
        }
    }
}

#[test]
fn a_sampled_row_does_not_depend_on_the_range() {
    let circuit = random::circuit(7);
    let sampler = circuit.sampler();
    let all = sampler.rows(0..3000, 1);
    let some = sampler.rows(1500..2500, 1);
    assert!((0..1000).all(|position| some.row(position) == all.row(1500 + position)));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let circuit = random::circuit(11);
    let answers = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let rows = circuit.sampler().rows(0..5000, 3);
            let soft: Vec<f32> = (0..300).flat_map(|seed| random::soft(&circuit, seed)).collect();
            let mut gradients = vec![0.0; soft.len()];
            let soft = circuit.soft_gradients(&soft, &mut gradients);
            (circuit.log_probs(&rows), soft, gradients, rows)
        })
    };
    assert_eq!(answers(1), answers(3));
}

/// Ratios to the marginals beyond the range of single precision, and for some rows of double precision.
#[test]
fn rows_far_from_the_marginals_are_still_right() {
    for variables in [60, 200, 1200] {
        let bit = |variable, one: f64| Node::Leaf { variable, probabilities: [1.0 - one, one].into() };
        let mut nodes: Vec<Node> = (0..variables).map(|v| bit(v, 0.001)).collect();
        nodes.push(Node::Product { children: (0..variables as u32).map(NodeId).collect() });
        nodes.extend((0..variables).map(|v| bit(v, 0.999)));
        let first = variables as u32 + 1;
        nodes.push(Node::Product { children: (first..first + variables as u32).map(NodeId).collect() });
        let roots = [NodeId(variables as u32), NodeId(2 * variables as u32 + 1)];
        nodes.push(Node::Sum { children: roots.into(), weights: [0.999, 0.001].into() });
        let circuit = Circuit::new(vec![2; variables], nodes).expect("a circuit");
        let half: Vec<Code> = (0..variables).map(|v| (v % 2) as Code).collect();
        let rows = [vec![1; variables], half, vec![0; variables], vec![OPEN; variables]].concat();
        let rows = Dataset::new(vec![2; variables], rows).expect("rows");
        for (row, log_prob) in rows.rows().zip(circuit.log_probs(&rows)) {
            let expected = circuit.log_prob(&Evidence::from_row(row));
            let tolerance = 1e-7 * variables as f64 * (1.0 + expected.abs());
            assert_close(log_prob, expected, tolerance);
            assert_close(circuit.evaluator().log_prob(row), expected, tolerance);
        }
    }
}

/// The child that explains the row underflows in single precision, while another child, whose value is far
/// too small, does not.
#[test]
fn a_part_that_underflows_on_the_way_still_counts() {
    let (rare, common) = (12, 10);
    let variables = rare + common;
    let bit = |variable, one: f64| Node::Leaf { variable, probabilities: [1.0 - one, one].into() };
    let mut nodes: Vec<Node> = (0..variables).map(|v| bit(v, if v < rare { 5e-5 } else { 0.9999 })).collect();
    nodes.extend((0..variables).map(|v| bit(v, if v < rare { 0.5 } else { 2e-7 })));
    let all = |first: usize| (first..first + variables).map(|id| NodeId(id as u32)).collect();
    nodes.extend([Node::Product { children: all(0) }, Node::Product { children: all(variables) }]);
    let roots = [NodeId(2 * variables as u32), NodeId(2 * variables as u32 + 1)];
    nodes.push(Node::Sum { children: roots.into(), weights: [1e-4, 1.0 - 1e-4].into() });
    let circuit = Circuit::new(vec![2; variables], nodes).expect("a circuit");

    let row = vec![1; variables];
    let evidence = Evidence::from_row(&row);
    let expected = circuit.log_prob(&evidence);
    let rows = Dataset::new(vec![2; variables], row.clone()).expect("a row");
    let mut evaluator = circuit.evaluator();
    assert_close(circuit.log_probs(&rows)[0], expected, 1e-4);
    assert_close(evaluator.log_prob(&row), expected, 1e-4);
    let other = vec![0; variables];
    let together = evaluator.log_probs(&[other.clone(), row.clone()].concat());
    assert_close(together[0], circuit.log_prob(&Evidence::from_row(&other)), 1e-4);
    assert_close(together[1], expected, 1e-4);
    let mut only = Allowed::all(&vec![2; variables]);
    (0..variables).for_each(|variable| only.restrict(variable, &[1]));
    let bound = evaluator.upper_bound(&only);
    assert!(bound >= expected && bound < expected + 1e-3, "{bound} bounds {expected}");
    let soft: Vec<f32> = row.iter().flat_map(|_| [0.0, 1.0]).collect();
    let (mut alone, mut together) = (vec![0.0; soft.len()], vec![0.0; soft.len()]);
    assert_close(evaluator.soft_gradient(&soft, &mut alone), expected, 1e-4);
    assert_close(circuit.soft_gradients(&soft, &mut together)[0], expected, 1e-4);
    for ((slope, alone), together) in circuit.gradient(&evidence).iter().zip(alone).zip(together) {
        assert_close(f64::from(alone), *slope, 1e-4 * (1.0 + slope));
        assert_close(f64::from(together), *slope, 1e-4 * (1.0 + slope));
    }
}

/// Such a probability has lost most of its digits in single precision, in which parameters are stored.
#[test]
fn a_probability_too_small_for_single_precision_still_counts() {
    let bit = |variable, one: f64| Node::Leaf { variable, probabilities: [1.0 - one, one].into() };
    let product = |a, b| Node::Product { children: [NodeId(a), NodeId(b)].into() };
    let nodes = vec![
        bit(0, 1.7e-44),
        bit(1, 0.5),
        product(0, 1),
        bit(0, 0.5),
        bit(1, 0.0),
        product(3, 4),
        Node::Sum { children: [NodeId(2), NodeId(5)].into(), weights: [0.5, 0.5].into() },
    ];
    let circuit = Circuit::new(vec![2, 2], nodes).expect("a circuit");
    let expected = circuit.log_prob(&Evidence::from_row(&[1, 1]));
    let rows = Dataset::new(vec![2, 2], vec![1, 1]).expect("a row");
    assert_close(circuit.log_probs(&rows)[0], expected, 1e-6);
    assert_close(circuit.evaluator().log_prob(&[1, 1]), expected, 1e-6);
    assert_close(circuit.evaluator().log_prob_soft(&[0.0, 1.0, 0.0, 1.0]), expected, 1e-6);
}

#[test]
#[should_panic(expected = "one weight a code")]
fn log_prob_soft_takes_one_row() {
    let circuit = random::circuit(1);
    circuit.evaluator().log_prob_soft(&vec![1.0; 2 * circuit.cardinalities().iter().sum::<usize>()]);
}

/// Hidden trees, whose sums share inputs, and unlikely rows of many columns.
#[test]
fn the_fast_paths_agree_with_the_plain_one_on_hidden_trees() {
    for (states, seed) in [(1, 1), (3, 2), (4, 3), (9, 4)] {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let columns = 60;
        let codes = (0..300).flat_map(|row| {
            let rare = row % 50 == 0;
            let share = |column| if rare == (column < columns / 2) { 0.02 } else { 0.6 };
            (0..columns).map(|column| Code::from(rng.random_bool(share(column)))).collect::<Vec<_>>()
        });
        let rows = Dataset::new(vec![2; columns], codes.collect()).expect("rows");
        let config = LearnConfig {
            learner: Learner::Hclt,
            hclt: HcltConfig { states, groups: 2 },
            em: EmConfig { max_passes: 5, ..EmConfig::default() },
            ..LearnConfig::default()
        };
        let circuit = learn(&rows, Some(&rows), &config).expect("a circuit").circuit;
        let odd: Vec<Code> = (0..100 * columns).map(|_| rng.random_range(0..2)).collect();
        let odd = Dataset::new(vec![2; columns], odd).expect("rows");
        let soft: Vec<f32> =
            odd.codes().iter().flat_map(|&code| [1.0 - f32::from(code), f32::from(code)]).collect();
        let mut together = vec![0.0; soft.len()];
        let soft_log_probs = circuit.soft_gradients(&soft, &mut together);
        let mut alone = vec![0.0; 2 * columns];
        let mut evaluator = circuit.evaluator();
        for (position, (row, log_prob)) in odd.rows().zip(circuit.log_probs(&odd)).enumerate() {
            let evidence = Evidence::from_row(row);
            let expected = circuit.log_prob(&evidence);
            assert_close(log_prob, expected, 1e-4);
            assert_close(evaluator.log_prob(row), expected, 1e-4);
            assert_close(soft_log_probs[position], expected, 1e-4);
            let span = position * 2 * columns..(position + 1) * 2 * columns;
            assert_close(evaluator.soft_gradient(&soft[span.clone()], &mut alone), expected, 1e-4);
            for ((slope, alone), together) in
                circuit.gradient(&evidence).iter().zip(&alone).zip(&together[span])
            {
                assert_close(f64::from(*alone), *slope, 1e-3 * (1.0 + slope));
                assert_close(f64::from(*together), *slope, 1e-3 * (1.0 + slope));
            }
        }
    }
}

#[test]
fn impossible_evidence_is_minus_infinity_and_has_no_slope() {
    let circuit = Circuit::new(vec![2], vec![Node::Leaf { variable: 0, probabilities: [1.0, 0.0].into() }])
        .expect("a circuit");
    let rows = Dataset::new(vec![2], vec![1, 0]).expect("rows");
    assert_eq!(circuit.log_probs(&rows), [f64::NEG_INFINITY, 0.0]);
    let mut gradient = [f32::NAN; 4];
    let log_probs = circuit.soft_gradients(&[0.0, 1.0, 0.0, 0.0], &mut gradient);
    assert_eq!(log_probs, [f64::NEG_INFINITY; 2]);
    assert_eq!(gradient, [0.0; 4]);
    let mut only = Allowed::all(&[2]);
    only.restrict(0, &[1]);
    assert_eq!(circuit.mpe(&only), None);
    assert_eq!(circuit.mpes(&[only]), [None]);
}

#[test]
#[should_panic(expected = "every code is below its cardinality")]
fn a_code_past_the_last_category_is_a_mistake_of_the_caller() {
    random::circuit(1).evaluator().log_prob(&vec![9; random::circuit(1).cardinalities().len()]);
}
