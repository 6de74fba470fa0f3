//! Scoring all single changes of a row, by a classifier and by the lower bound over all classifiers near it:
//! `cargo bench -p par-model`.
//!
//! People and candidates are those of German Credit; networks over codes have random weights. One thread.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::hint::black_box;
use std::time::Instant;

use par_data::{Constraints, Discretizer, DiscretizerConfig, Limits, OwnRow, Reach, Wishes, german_credit};
use par_model::ScoreScale;
use par_model::classifier::{Classifier, DeployedClassifier, ExternalClassifier, Inputs, NeuralClassifier};
use par_model::network::Network;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const DELTA: f64 = 0.01;

fn main() {
    let (schema, table) = (german_credit::schema(), german_credit::table());
    let columns = schema.columns(table.origin(), table.columns()).expect("its own schema");
    let batch = table.batches(1000).next().expect("rows").expect("cells");
    let rows = || [Ok(batch.clone())];
    let discretizer =
        Discretizer::fit(&schema, &columns, rows(), &DiscretizerConfig::default()).expect("bins");
    let trained = |hidden: &[usize]| {
        let cardinalities = discretizer.cardinalities();
        let codes = cardinalities.iter().sum();
        let widths: Vec<usize> = [codes].into_iter().chain(hidden.iter().copied()).chain([1]).collect();
        let network = Network::new(&widths, &mut ChaCha8Rng::seed_from_u64(1));
        let parameters = network.parameters().to_vec();
        DeployedClassifier::Trained(
            NeuralClassifier::from_parameters(cardinalities, hidden, parameters).expect("a network"),
        )
    };
    let external = |file: &[u8], inputs: &str| {
        let inputs = Inputs::parse(inputs).expect("inputs");
        let inputs = inputs.standardized(&schema, &columns, rows()).expect("numbers");
        let external = ExternalClassifier::new(file.to_vec(), inputs, &discretizer, ScoreScale::Probability);
        DeployedClassifier::External(Box::new(external.expect("a classifier")))
    };
    let classifiers = [
        ("network over codes, 20-10-1", trained(&[20, 10])),
        ("network over codes, 64-64-1", trained(&[64, 64])),
        (
            "network.onnx",
            external(
                include_bytes!("../tests/fixtures/external/network.onnx"),
                include_str!("../tests/fixtures/external/network.toml"),
            ),
        ),
        (
            "boosting.onnx",
            external(
                include_bytes!("../tests/fixtures/external/boosting.onnx"),
                include_str!("../tests/fixtures/external/boosting.toml"),
            ),
        ),
    ];
    let constraints = Constraints::new(&discretizer);
    println!("microseconds, medians over people; δ = {DELTA}\n");
    println!("| classifier | prepared | certified | neighbours | certified | times |");
    println!("|---|---|---|---|---|---|");
    for (name, deployed) in &classifiers {
        let mut times: [Vec<f64>; 4] = Default::default();
        for person in 0..200 {
            let cells: Vec<&str> =
                columns.features.iter().map(|&column| batch.cell(person, column)).collect();
            let codes = discretizer.encode_row(&cells).expect("codes").into_codes();
            let own = OwnRow::new(&discretizer, &cells, codes.clone());
            let wishes = Wishes { limits: &Limits::NONE, ..Wishes::default() };
            let candidates = constraints.candidates(&own, &wishes, Reach::AllValues);
            let (prepared, plain) = timed(|| deployed.of_person(&cells, &candidates).expect("inputs"));
            let (prepared_too, certified) =
                timed(|| deployed.certified(&cells, &candidates, DELTA).expect("inputs"));
            let row = if deployed.reads_values() { vec![0; cells.len()] } else { codes };
            let found = [prepared, prepared_too, neighbours(&*plain, &row), neighbours(&*certified, &row)];
            times.iter_mut().zip(found).for_each(|(times, time)| times.push(time));
        }
        let [prepared, prepared_too, plain, certified] = times.map(median);
        println!(
            "| {name} | {prepared:.1} | {prepared_too:.1} | {plain:.1} | {certified:.1} | {:.1} |",
            certified / plain
        );
    }
}

/// The median of several calls, after one that fills caches.
fn neighbours(classifier: &dyn Classifier, row: &[u16]) -> f64 {
    let mut log_odds = vec![0.0; classifier.cardinalities().iter().sum()];
    classifier.neighbours(row, &mut log_odds);
    let once = |_| timed(|| classifier.neighbours(black_box(row), black_box(&mut log_odds))).0;
    median((0..11).map(once).collect())
}

/// Microseconds, and the result.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let started = Instant::now();
    let result = work();
    (started.elapsed().as_secs_f64() * 1e6, result)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}
