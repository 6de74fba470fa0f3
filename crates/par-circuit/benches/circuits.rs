//! Benchmarks of learning and queries, on circuits of three sizes: `cargo bench -p par-circuit`.
//!
//! Rows are drawn from a mixture over nine columns with as many categories as the Adult table has. One
//! thread, unless a line says otherwise.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::time::{Duration, Instant};

use par_circuit::learn::{EmConfig, HcltConfig, LearnConfig, LearnSpnConfig, Learner, learn};
use par_circuit::{Allowed, Circuit, Code, Dataset, Evidence};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const CARDINALITIES: [usize; 9] = [10, 9, 16, 7, 15, 6, 5, 2, 6];

fn main() {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let rows = rows(40_000, 1);
    println!("{} rows of {} columns; learnspn without EM\n", rows.len(), rows.width());
    header();
    for min_rows in [4000, 480, 70] {
        one.install(|| {
            let config = learn_spn(min_rows);
            let (time, circuit) = timed(|| learn(&rows, Some(&rows), &config).expect("a circuit").circuit);
            line(&format!("learnspn, {min_rows} rows"), time, &circuit, &rows);
        });
    }
    for states in [8, 16, 32] {
        one.install(|| {
            let em = EmConfig { max_passes: 10, patience: 10, ..EmConfig::default() };
            let hclt = HcltConfig { states, groups: 1 };
            let config = LearnConfig { learner: Learner::Hclt, hclt, em, ..LearnConfig::default() };
            let (time, circuit) = timed(|| learn(&rows, Some(&rows), &config).expect("a circuit").circuit);
            line(&format!("hclt, {states} states, 10 passes"), time, &circuit, &rows);
        });
    }
    let circuit = learn(&rows, Some(&rows), &learn_spn(480)).expect("a circuit").circuit;
    let hard = throughput(rows.len(), || drop(circuit.log_probs(&rows)));
    println!("\non all threads, learnspn, 480 rows: {} rows/s hard", quantity(hard));
}

fn learn_spn(min_rows: usize) -> LearnConfig {
    LearnConfig {
        learner: Learner::LearnSpn,
        learn_spn: LearnSpnConfig { min_rows, min_columns: 2, ..LearnSpnConfig::default() },
        em: EmConfig { max_passes: 0, ..EmConfig::default() },
        ..LearnConfig::default()
    }
}

fn header() {
    println!(
        "{:28} {:>6} {:>8} {:>10} {:>10} {:>9} {:>9} {:>9} {:>9} {:>10}",
        "circuit", "edges", "learn", "hard", "soft+grad", "1 hard", "1 soft", "1 bound", "plain", "samples"
    );
    println!(
        "{:28} {:>6} {:>8} {:>10} {:>10} {:>9} {:>9} {:>9} {:>9} {:>10}",
        "", "", "s", "rows/s", "rows/s", "µs", "µs", "µs", "µs", "rows/s"
    );
}

fn line(name: &str, learning: Duration, circuit: &Circuit, rows: &Dataset) {
    let hard = throughput(rows.len(), || drop(circuit.log_probs(rows)));

    let codes: usize = CARDINALITIES.iter().sum();
    let soft = soft_rows(4096, codes);
    let mut gradients = vec![0.0; soft.len()];
    let with_gradient = throughput(4096, || drop(circuit.soft_gradients(&soft, &mut gradients)));

    let mut evaluator = circuit.evaluator();
    let mut position = 0;
    let mut next = || {
        position = (position + 1) % rows.len();
        rows.row(position)
    };
    let one_hard = latency(|| evaluator.log_prob(next()));
    let one_soft = latency(|| evaluator.soft_gradient(&soft[..codes], &mut gradients[..codes]));
    let mut allowed = Allowed::all(&CARDINALITIES);
    allowed.restrict(0, &[3]);
    let one_bound = latency(|| evaluator.upper_bound(&allowed));
    let plain = latency(|| circuit.log_prob(&Evidence::from_row(next())));
    let sampler = circuit.sampler();
    let samples = throughput(100_000, || drop(sampler.rows(0..100_000, 1)));

    println!(
        "{name:28} {:>6} {:>8.2} {:>10} {:>10} {one_hard:>9.2} {one_soft:>9.2} {one_bound:>9.2} {plain:>9.1} {:>10}",
        circuit.edges(),
        learning.as_secs_f64(),
        quantity(hard),
        quantity(with_gradient),
        quantity(samples),
    );
}

/// Rows of a mixture of six hundred components, each with one likely category a column.
fn rows(count: usize, seed: u64) -> Dataset {
    const KINDS: usize = 600;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let kinds: Vec<[Code; 9]> = (0..KINDS)
        .map(|_| CARDINALITIES.map(|cardinality| rng.random_range(0..cardinality as Code)))
        .collect();
    let mut codes = Vec::new();
    for _ in 0..count {
        // The first components are common, the last ones rare.
        let kind = &kinds[(KINDS as f64 * rng.random::<f64>().powi(2)) as usize];
        for (&favourite, cardinality) in kind.iter().zip(CARDINALITIES) {
            let code =
                if rng.random_bool(0.7) { favourite } else { rng.random_range(0..cardinality as Code) };
            codes.push(code);
        }
    }
    Dataset::new(CARDINALITIES.to_vec(), codes).expect("codes of their columns")
}

fn soft_rows(count: usize, codes: usize) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    (0..count * codes).map(|_| rng.random::<f32>()).collect()
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

/// Items a second: the best of several runs, since other work on the machine only slows a run down.
fn throughput(items: usize, mut work: impl FnMut()) -> f64 {
    let runs = (0..7).map(|_| timed(&mut work).0.as_secs_f64());
    items as f64 / runs.fold(f64::INFINITY, f64::min)
}

/// Microseconds a call: the best of several runs of many calls.
fn latency<T>(mut work: impl FnMut() -> T) -> f64 {
    const CALLS: usize = 2000;
    let mut run = || {
        for _ in 0..CALLS {
            std::hint::black_box(work());
        }
    };
    1e6 / throughput(CALLS, &mut run)
}

fn quantity(number: f64) -> String {
    match number {
        1e6.. => format!("{:.2} M", number / 1e6),
        1e3.. => format!("{:.0} k", number / 1e3),
        _ => format!("{number:.0}"),
    }
}
