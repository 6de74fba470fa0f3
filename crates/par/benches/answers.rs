//! The time of a fit and of an answer: `cargo bench -p par --bench answers [-- FOLDER [EXTERNAL]]`.
//!
//! Uses the embedded German Credit table, or the tables of FOLDER, each NAME.csv.gz with its NAME.toml. Answers the
//! rows of fold 0 (without folds, every fifth row) and learns from all others, on one thread unless stated otherwise.
//! Single answers are in the order by likelihood: median, mean and 99th percentile in microseconds. Batches are refined
//! in that order and in the default one. With EXTERNAL, made by `benches/external/train.py`, also with the classifiers in
//! it.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use par_answer::evaluate::{median, percentile_99};
use par_answer::{Method, Order, Request, Solver, answer_batch};
use par_circuit::Stop;
use par_data::{Batch, Columns, Schema, Table, TableOptions, german_credit};
use par_fit::ModelBuilder;
use par_model::classifier::Threshold;
use par_model::classifier::inputs::Inputs;
use par_model::{Config, Model};

/// The most denied people, and the rows that repeat them to measure throughput.
const PEOPLE: usize = 200;
const BATCH: usize = 20_000;

/// What is shown of times, in microseconds.
const SHOWN: &str = "median / mean / p99";

/// Median milliseconds per row in the paper's table 1: PAR, PAR (+LS), and LiCE, which is exact too.
const PUBLISHED: [(&str, [f64; 3]); 3] = [
    ("adult", [195.0, 1134.0, 17_700.0]),
    ("credit", [92.0, 1018.0, 2930.0]),
    ("gmsc", [209.0, 1261.0, 122_500.0]),
];

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo passes `--bench` before the folder.
    let mut folders =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).map(PathBuf::from);
    let (folder, external) = (folders.next(), folders.next());
    println!(
        "{:12} {:>6} {:>22} {:>22} {:>24} {:>13} {:>9} {:>11}",
        "", "fit", "generate", "refine", "exact", "by likelihood", "default", "all threads"
    );
    println!(
        "{:12} {:>6} {SHOWN:>22} {SHOWN:>22} {SHOWN:>24} {:>12} {:>9} {:>11}",
        "table", "s", "rows/s", "rows/s", "rows/s"
    );
    match folder {
        None => {
            let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../par-model/tests/fixtures/external");
            measure("credit", &german_credit::schema(), german_credit::table(), None)?;
            for kind in ["network", "boosting"] {
                let external = classifier(
                    &fixtures.join(format!("{kind}.onnx")),
                    &fixtures.join(format!("{kind}.toml")),
                )?;
                measure(kind, &german_credit::schema(), german_credit::table(), Some(external))?;
            }
        }
        Some(folder) => {
            for name in names(&folder)? {
                let schema = Schema::load(folder.join(format!("{name}.toml")))?;
                let open = || Table::open(folder.join(format!("{name}.csv.gz")), &TableOptions::default());
                measure(&name, &schema, open()?, None)?;
                let external = external.as_ref().map(|folder| folder.join(&name).join("0"));
                for kind in ["mlp", "gb", "rf"] {
                    let Some(external) = &external else { continue };
                    let external =
                        classifier(&external.join(format!("{kind}.onnx")), &external.join("inputs.toml"))?;
                    measure(&format!("{name}, {kind}"), &schema, open()?, Some(external))?;
                }
            }
        }
    }
    println!(
        "\npublished (PAR, PAR (+LS), LiCE; µs a row on the authors' machines, other classifiers and bins):"
    );
    for (name, published) in PUBLISHED {
        let [par, search, lice] = published.map(|milliseconds| milliseconds * 1e3);
        println!("{name:12} {:>6} {par:>22.0} {search:>22.0} {lice:>24.0}", "");
    }
    Ok(())
}

fn names(folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut names: Vec<String> = std::fs::read_dir(folder)?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".csv.gz").map(String::from))
        .collect();
    names.sort();
    Ok(names)
}

fn classifier(file: &Path, inputs: &Path) -> Result<(Vec<u8>, Inputs), Box<dyn Error>> {
    Ok((std::fs::read(file)?, Inputs::parse(&std::fs::read_to_string(inputs)?)?))
}

fn measure(
    name: &str,
    schema: &Schema,
    table: Table,
    external: Option<(Vec<u8>, Inputs)>,
) -> Result<(), Box<dyn Error>> {
    let columns = schema.columns(table.origin(), table.columns())?;
    let rows = table.into_batch()?;
    let (mut training, mut test) = (rows.clone(), rows);
    training.retain(|batch, row| !is_test(&columns, batch, row));
    test.retain(|batch, row| is_test(&columns, batch, row));

    let mut config = Config::default();
    if name.starts_with("adult") {
        config.bins.bins = 12;
    }
    // Without balance the classifiers deny hardly anyone at one half.
    if name.starts_with("gmsc") && external.is_some() {
        config.classifier.threshold = Threshold::Fixed(0.94);
    }
    let mut recourse = ModelBuilder::new(schema.clone(), config);
    if let Some((file, inputs)) = external {
        recourse = recourse.with_classifier(file, inputs);
    }
    let started = Instant::now();
    let model = recourse.fit_rows(&columns, || Ok([Ok(training.clone())]), &mut |_| {}, Stop::never())?;
    let fit = started.elapsed().as_secs_f64();

    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let people = denied(&model, &columns, &test)?;
    let [generate, refine, exact] = Method::ALL.map(|method| one.install(|| times(&model, &people, method)));
    let batch = repeated(&columns, &people, &test)?;
    let [by_likelihood, by_default] = [Some(Order::Likelihood), None]
        .map(|order| one.install(|| rows_a_second(&model, &columns, &batch, order)));
    let together = rows_a_second(&model, &columns, &batch, None);
    println!(
        "{name:12} {fit:>6.1} {generate:>22} {refine:>22} {exact:>24} {by_likelihood:>13.0} {by_default:>9.0} {together:>11.0}"
    );
    Ok(())
}

fn is_test(columns: &Columns, batch: &Batch, row: usize) -> bool {
    match columns.fold {
        Some(fold) => batch.cell(row, fold) == "0",
        None => row.is_multiple_of(5),
    }
}

/// The cells of the first denied rows.
fn denied<'a>(
    model: &Model,
    columns: &Columns,
    rows: &'a Batch,
) -> Result<Vec<Vec<&'a str>>, Box<dyn Error>> {
    let mut people = Vec::new();
    for row in 0..rows.rows() {
        let cells: Vec<&str> = columns.cells(rows, row);
        if people.len() < PEOPLE && model.score(&cells)? < model.threshold() {
            people.push(cells);
        }
    }
    Ok(people)
}

/// Of single answers, in microseconds.
fn times(model: &Model, people: &[Vec<&str>], method: Method) -> String {
    let mut solver = Solver::new(model);
    let request = Request { method, order: Some(Order::Likelihood), ..Request::default() };
    let mut times: Vec<f64> = Vec::new();
    for cells in people {
        let started = Instant::now();
        let _ = std::hint::black_box(solver.answer(cells, &request));
        times.push(started.elapsed().as_secs_f64() * 1e6);
    }
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let p99 = percentile_99(&times).unwrap_or(f64::NAN);
    format!("{:.0} / {mean:.0} / {p99:.0}", median(times).unwrap_or(f64::NAN))
}

/// A batch that repeats the same people.
fn repeated(columns: &Columns, people: &[Vec<&str>], like: &Batch) -> Result<Batch, Box<dyn Error>> {
    let width = columns.features.iter().max().map_or(0, |last| last + 1);
    let mut batch = Batch::new(like.place(0).to_string(), width);
    for (position, cells) in people.iter().cycle().take(BATCH).enumerate() {
        let mut row = vec![""; width];
        columns.features.iter().zip(cells).for_each(|(&column, &cell)| row[column] = cell);
        batch.push(position as u64, row)?;
    }
    Ok(batch)
}

fn rows_a_second(model: &Model, columns: &Columns, batch: &Batch, order: Option<Order>) -> f64 {
    let started = Instant::now();
    let answers = answer_batch(model, columns, batch, |_| Request { order, ..Request::default() });
    answers.len() as f64 / started.elapsed().as_secs_f64()
}
