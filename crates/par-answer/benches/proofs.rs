//! The time and the gap of the exact search: `cargo bench -p par-answer --bench proofs -- MODEL TABLE [PEOPLE [MILLISECONDS]]`.
//!
//! Answers the first denied people of the table by both orders, on one thread, each within so many milliseconds; without
//! a limit the model's own number of nodes applies. The gap is that of the first way, in the unit of its problem; people
//! whose first way has up to six changes are shown by themselves, too. Time is that of the processor where Linux tells
//! it, so that other programs do not count.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::error::Error;
use std::fs::File;
use std::io::{Read, Seek};
use std::sync::Mutex;
use std::time::Instant;

use par_answer::{Answer, Method, Order, Request, Solver};
use par_circuit::Stop;
use par_data::{Table, TableOptions};
use par_model::Model;

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo passes `--bench` before the rest.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let [model, table, rest @ ..] = words.as_slice() else {
        return Err("expected MODEL TABLE [PEOPLE [MILLISECONDS]]".into());
    };
    let people: usize = rest.first().map_or(Ok(100), |text| text.parse())?;
    let limit: Option<f64> = rest.get(1).map(|text| text.parse()).transpose()?;
    let model = Model::load(model)?;
    let table = Table::open(table, &TableOptions::default())?;
    let columns = model.schema().columns(table.origin(), table.columns())?;
    let rows = table.into_batch()?;
    let denied: Vec<Vec<&str>> = (0..rows.rows())
        .map(|row| columns.cells(&rows, row))
        .filter(|cells: &Vec<&str>| model.score(cells).is_ok_and(|score| score < model.threshold()))
        .take(people)
        .collect();
    println!(
        "{:11} {:>7} {:>6} {:>7} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8} {:>8} {:>11}",
        "order",
        "people",
        "found",
        "proved",
        "mean ms",
        "p50 ms",
        "p90 ms",
        "p99 ms",
        "gap p50",
        "gap p90",
        "changes",
        "worth"
    );
    for (name, order) in [("balanced", Order::Balanced), ("likelihood", Order::Likelihood)] {
        measure(name, order, &model, &denied, limit);
    }
    Ok(())
}

/// Milliseconds since it was made.
struct Clock {
    started: Instant,
    /// What Linux knows of this thread; its first number is the nanoseconds that it ran.
    ran: Option<File>,
}

impl Clock {
    fn milliseconds(&mut self) -> f64 {
        let mut text = String::new();
        let ran = self.ran.as_mut().and_then(|file| {
            file.rewind().ok()?;
            file.read_to_string(&mut text).ok()?;
            text.split_whitespace().next()?.parse::<f64>().ok()
        });
        ran.unwrap_or_else(|| self.started.elapsed().as_secs_f64() * 1e9) / 1e6
    }
}

/// Up to so many changes bounds tell their number.
const TOLD_APART: usize = 6;

/// One person's answer.
struct Answered {
    milliseconds: f64,
    /// `None` without a way.
    way: Option<FirstWay>,
}

struct FirstWay {
    gap: f64,
    is_proved: bool,
    changes: usize,
    worth: f64,
}

fn measure(name: &str, order: Order, model: &Model, people: &[Vec<&str>], limit: Option<f64>) {
    let clock =
        Mutex::new(Clock { started: Instant::now(), ran: File::open("/proc/thread-self/schedstat").ok() });
    let now = || clock.lock().expect("nothing panics").milliseconds();
    let end = Mutex::new(f64::INFINITY);
    let is_over = || limit.is_some() && now() > *end.lock().expect("nothing panics");
    let mut solver = Solver::new(model).until(Stop::when(&is_over));
    let request = Request { method: Method::Exact, order: Some(order), ..Request::default() };
    let answered: Vec<Answered> = people
        .iter()
        .map(|cells| {
            let from = now();
            *end.lock().expect("nothing panics") = from + limit.unwrap_or(f64::INFINITY);
            let answer = solver.answer(cells, &request);
            let milliseconds = now() - from;
            let way = match &answer {
                Ok(Answer::Found(found)) => Some(&found.ways[0]),
                _ => None,
            };
            let way = way.map(|way| FirstWay {
                gap: way.gap.unwrap_or(f64::INFINITY),
                is_proved: way.is_optimal(),
                changes: way.changes.len(),
                worth: way.conditional_log_likelihood - way.effort,
            });
            Answered { milliseconds, way }
        })
        .collect();
    let needs_few = |way: &FirstWay| way.changes <= TOLD_APART;
    print_line(name, answered.iter());
    print_line(
        &format!("  up to {TOLD_APART}"),
        answered.iter().filter(|one| one.way.as_ref().is_some_and(needs_few)),
    );
    print_line("  more", answered.iter().filter(|one| one.way.as_ref().is_some_and(|way| !needs_few(way))));
}

fn print_line<'a>(name: &str, answered: impl Iterator<Item = &'a Answered> + Clone) {
    let ways: Vec<&FirstWay> = answered.clone().filter_map(|one| one.way.as_ref()).collect();
    let mut times: Vec<f64> = answered.map(|one| one.milliseconds).collect();
    let mut gaps: Vec<f64> = ways.iter().map(|way| way.gap).collect();
    let mean = |values: &mut dyn Iterator<Item = f64>, count: usize| values.sum::<f64>() / count as f64;
    println!(
        "{name:11} {:>7} {:>6} {:>7} {:>9.3} {:>9.2} {:>9.2} {:>9.2} {:>8.2} {:>8.2} {:>8.2} {:>11.4}",
        times.len(),
        ways.len(),
        ways.iter().filter(|way| way.is_proved).count(),
        mean(&mut times.iter().copied(), times.len()),
        quantile(&mut times, 0.5),
        quantile(&mut times, 0.9),
        quantile(&mut times, 0.99),
        quantile(&mut gaps, 0.5),
        quantile(&mut gaps, 0.9),
        mean(&mut ways.iter().map(|way| way.changes as f64), ways.len()),
        mean(&mut ways.iter().map(|way| way.worth), ways.len()),
    );
}

fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values
        .get(((values.len() as f64 * share) as usize).min(values.len().saturating_sub(1)))
        .copied()
        .unwrap_or(f64::NAN)
}
