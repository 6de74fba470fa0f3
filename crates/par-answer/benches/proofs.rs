//! The time and the gap of the exact search: `cargo bench -p par-answer --bench proofs -- MODEL TABLE [PEOPLE [MILLISECONDS]]`.
//!
//! Answers the first denied people of the table by both orders, on one thread, each within so many milliseconds; without
//! a limit the model's own number of nodes applies. The gap is that of the first way, in the unit of its problem. Time is
//! that of the processor where Linux tells it, so that other programs do not count.

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
    let rows = table.batches(usize::MAX).next().ok_or("a table without rows")??;
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

fn measure(name: &str, order: Order, model: &Model, people: &[Vec<&str>], limit: Option<f64>) {
    let clock =
        Mutex::new(Clock { started: Instant::now(), ran: File::open("/proc/thread-self/schedstat").ok() });
    let now = || clock.lock().expect("nothing panics").milliseconds();
    let end = Mutex::new(f64::INFINITY);
    let is_over = || limit.is_some() && now() > *end.lock().expect("nothing panics");
    let mut solver = Solver::new(model).until(Stop::when(&is_over));
    let request = Request { method: Method::Exact, order: Some(order), ..Request::default() };
    let (mut times, mut gaps, mut proved, mut changes, mut worth) = (Vec::new(), Vec::new(), 0, 0, 0.0);
    for cells in people {
        let from = now();
        *end.lock().expect("nothing panics") = from + limit.unwrap_or(f64::INFINITY);
        let answer = solver.answer(cells, &request);
        times.push(now() - from);
        if let Ok(Answer::Found(found)) = answer {
            let way = &found.ways[0];
            gaps.push(way.gap.unwrap_or(f64::INFINITY));
            proved += usize::from(way.is_optimal());
            changes += way.changes.len();
            worth += way.conditional_log_likelihood - way.effort;
        }
    }
    let found = gaps.len();
    println!(
        "{name:11} {:>7} {found:>6} {proved:>7} {:>9.3} {:>9.2} {:>9.2} {:>9.2} {:>8.2} {:>8.2} {:>8.2} {:>11.4}",
        people.len(),
        times.iter().sum::<f64>() / times.len() as f64,
        quantile(&mut times, 0.5),
        quantile(&mut times, 0.9),
        quantile(&mut times, 0.99),
        quantile(&mut gaps, 0.5),
        quantile(&mut gaps, 0.9),
        changes as f64 / found as f64,
        worth / found as f64,
    );
}

fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values
        .get(((values.len() as f64 * share) as usize).min(values.len().saturating_sub(1)))
        .copied()
        .unwrap_or(f64::NAN)
}
