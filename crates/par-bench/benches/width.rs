//! The time of a search's parts and of answers, by the number of columns:
//! `cargo bench -p par-bench --bench width [-- COLUMNS…]`, with 20, 50 and 200 columns unless told.
//!
//! Fits a small model to a random table of each width, once, and prints microseconds on one thread: the median, and of
//! answers the 99th percentile too. `par-bench growth` measures whole tables.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use par_answer::evaluate::{median, percentile_99};
use par_answer::{Method, Order, Request, Solver};
use par_bench::factors::FactorTable;
use par_circuit::{Ball, ChangeBounds, Code, Stop};
use par_fit::ModelBuilder;
use par_model::{Config, Model};

const COLUMNS: [usize; 3] = [20, 50, 200];
/// Rows to learn from, and rows after them whose denied are asked about.
const ROWS: [u64; 2] = [2000, 400];
const PEOPLE: usize = 30;
/// The generator is trained for so many steps, fewer than by default: its time does not depend on them.
const STEPS: usize = 200;
const NODES: usize = 500;
/// A part is measured for at most so long, at least once.
const LONGEST: Duration = Duration::from_secs(10);

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo passes `--bench`.
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let mut widths = COLUMNS.to_vec();
    if !arguments.is_empty() {
        let width = |text: &String| {
            let columns = text.parse().ok().filter(|columns| (2..=5000).contains(columns));
            columns.ok_or_else(|| format!("`{text}`: expected a number of columns from 2 to 5000"))
        };
        widths = arguments.iter().map(width).collect::<Result<_, _>>()?;
    }
    println!(
        "{:>7} {:>6} {:>8} {:>10} {:>9} {:>10} {:>9} {:>18} {:>18} {:>18}",
        "", "", "", "neighbours", "", "bounds", "", "generate", "refine", "exact"
    );
    println!(
        "{:>7} {:>6} {:>8} {:>10} {:>9} {:>10} {:>9} {:>18} {:>18} {:>18}",
        "columns",
        "fit, s",
        "edges",
        "circuit",
        "network",
        "circuit",
        "network",
        "median / p99",
        "median / p99",
        "median / p99"
    );
    for columns in widths {
        measure(columns)?;
    }
    Ok(())
}

fn measure(columns: usize) -> Result<(), Box<dyn Error>> {
    let factors = FactorTable::new(columns, 0);
    let schema = factors.schema();
    let table = || factors.table(0..ROWS[0]);
    let own = schema.columns("factors.csv", table().columns())?;
    let mut config = Config::default();
    config.generator.steps = STEPS;
    config.answers.nodes = NODES;
    let started = Instant::now();
    let model = ModelBuilder::new(schema, config).fit_rows(
        &own,
        || Ok(table().batches(usize::MAX)),
        &mut |_| {},
        Stop::never(),
    )?;
    let fit = started.elapsed().as_secs_f64();

    let test = factors.table(ROWS[0]..ROWS[0] + ROWS[1]).into_batch()?;
    let cells = (0..test.rows()).map(|row| own.cells(&test, row));
    let is_denied = |cells: &Vec<&str>| model.score(cells).is_ok_and(|score| score < model.threshold());
    let people: Vec<Vec<&str>> = cells.filter(is_denied).take(PEOPLE).collect();
    let encode = |cells: &Vec<&str>| Ok(model.discretizer().encode_row(cells)?.into_codes());
    let rows: Vec<Vec<Code>> = people.iter().map(encode).collect::<Result<_, par_data::CellError>>()?;

    let parts = parts(&model, &rows);
    let [circuit, network, circuit_bounds, network_bounds] =
        parts.map(|times| median(times).unwrap_or(f64::NAN));
    let answers = Method::ALL.map(|method| {
        let times = answers(&model, &people, method);
        let p99 = percentile_99(&times).unwrap_or(f64::NAN);
        format!("{:.0} / {p99:.0}", median(times).unwrap_or(f64::NAN))
    });
    println!(
        "{columns:>7} {fit:>6.1} {:>8} {circuit:>10.1} {network:>9.1} {circuit_bounds:>10.1} {network_bounds:>9.1} {:>18} {:>18} {:>18}",
        model.accepted().edges(),
        answers[0],
        answers[1],
        answers[2],
    );
    Ok(())
}

/// All single changes by the circuit and by the classifier; bounds around each of them by the circuit, and over up to
/// four changes by the classifier.
fn parts(model: &Model, rows: &[Vec<Code>]) -> [Vec<f64>; 4] {
    let cardinalities = model.discretizer().cardinalities();
    let codes = cardinalities.iter().sum();
    let (mut log_probs, mut log_odds) = (vec![0.0; codes], vec![0.0; codes]);
    let mut evaluator = model.accepted().evaluator();
    let classifier = model.classifier().typical();
    let ball = |row: &Vec<Code>| {
        let mut ball = Ball::new(&cardinalities, row.clone(), 4);
        for (feature, &cardinality) in cardinalities.iter().enumerate() {
            if !model.constraints().is_immutable(feature) {
                ball.offer(feature, &(0..cardinality as Code).collect::<Vec<_>>());
            }
        }
        ball
    };
    let balls: Vec<Ball> = rows.iter().map(ball).collect();
    let mut gains = vec![0.0; codes];
    for feature in (0..cardinalities.len()).filter(|&feature| model.constraints().is_immutable(feature)) {
        gains[model.constraints().range(feature)].fill(f64::NEG_INFINITY);
    }
    let mut bounds = ChangeBounds::default();
    let neighbours = times(rows, |row| {
        evaluator.neighbours(row, &mut log_probs);
    });
    [
        neighbours,
        times(rows, |row| classifier.neighbours(row, &mut log_odds)),
        times(rows, |row| evaluator.bound_each_change(row, &gains, &mut bounds)),
        times(&balls, |ball| {
            black_box(classifier.log_odds_bounds(ball));
        }),
    ]
}

fn answers(model: &Model, people: &[Vec<&str>], method: Method) -> Vec<f64> {
    let mut solver = Solver::new(model);
    let request = Request { method, order: Some(Order::Likelihood), ..Request::default() };
    times(people, |cells| {
        let _ = black_box(solver.answer(cells, &request));
    })
}

/// Microseconds for each of a list, until the time is over. The first is done once before, so that caches are warm.
fn times<T>(list: &[T], mut work: impl FnMut(&T)) -> Vec<f64> {
    list.iter().take(1).for_each(&mut work);
    let begun = Instant::now();
    let mut times = Vec::new();
    for one in list {
        if begun.elapsed() > LONGEST && !times.is_empty() {
            break;
        }
        let started = Instant::now();
        work(one);
        times.push(started.elapsed().as_secs_f64() * 1e6);
    }
    times
}
