//! Throughput, latency and memory of the service: `cargo bench -p par-serve`.
//!
//! Clients and service share the machine: the service is a process of its own, the clients are one thread. Each connection asks, waits
//! for the answer and asks again: one denied person of German Credit at a time, refined. The service logs as `par serve` does, to
//! /dev/null. `-- --minutes N` measures memory for that long; `-- --overload` sends four and fourteen times as many requests as
//! are admitted.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

mod child;
mod load;
mod streams;

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use par_data::german_credit;
use par_fit::ModelBuilder;
use par_model::{Config, Model};

use crate::child::{Child, cpu};
use crate::load::{Load, questions};

/// The promises, on two cores that the clients share.
const BUDGETS: &str = "budgets: at least 5,000 answers/s with 8 and 64 connections, p99 below 20 ms";
/// Requests that are admitted under overload.
const LET_IN: usize = 64;

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(model) = std::env::var_os(child::MODEL) {
        return child::serve(model.into());
    }
    // Cargo passes `--bench` too.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let number = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1)?.parse::<f64>().ok()
    };
    let folder = tempfile::TempDir::new()?;
    let file = folder.path().join("german.par");
    let model =
        ModelBuilder::new(german_credit::schema(), Config::default()).fit(|| Ok(german_credit::table()))?;
    model.save(&file)?;
    let time = Duration::from_secs_f64(number("--seconds").unwrap_or(5.0));
    if let Some(minutes) = number("--minutes") {
        return endure(&model, &file, Duration::from_secs_f64(60.0 * minutes));
    }
    if arguments.iter().any(|argument| argument == "--overload") {
        return overload(&model, &file, time);
    }
    answer(&model, &file, time)
}

/// Throughput and latency by connections; then streams.
fn answer(model: &Model, file: &Path, time: Duration) -> Result<(), Box<dyn Error>> {
    let questions = questions(model)?;
    println!("{} denied people, one at a time, {} s each\n", questions.len(), time.as_secs_f64());
    println!(
        "{:>11} {:>9} {:>8} {:>8} {:>8} {:>10} {:>10} {:>9} {:>9}",
        "", "answers", "p50", "p99", "p99.9", "service", "clients", "before", "after"
    );
    println!(
        "{:>11} {:>9} {:>8} {:>8} {:>8} {:>10} {:>10} {:>9} {:>9}",
        "connections", "/s", "ms", "ms", "ms", "CPU µs", "CPU µs", "RSS MB", "RSS MB"
    );
    let child = Child::start(file, &[])?;
    Load { address: child.address, connections: 2, time: time / 5 }.run(&questions)?;
    for connections in [1, 8, 64] {
        let (cpu_before, own_before, memory) = (child.cpu(), cpu("self"), child.memory());
        let took = Load { address: child.address, connections, time }.run(&questions)?;
        let each = |before: f64, after: f64| 1e6 * (after - before) / took.answered.len() as f64;
        println!(
            "{connections:>11} {:>9.0} {:>8.3} {:>8.3} {:>8.3} {:>10.0} {:>10.0} {:>9.1} {:>9.1}",
            took.answered.len() as f64 / took.seconds,
            took.percentile(0.5),
            took.percentile(0.99),
            took.percentile(0.999),
            each(cpu_before, child.cpu()),
            each(own_before, cpu("self")),
            memory,
            child.memory(),
        );
        if took.refused > 0 {
            println!("{:>11} {} were refused", "", took.refused);
        }
    }
    println!("{BUDGETS}\n");
    streams::measure(model, &child)
}

/// Measures whether memory grows.
fn endure(model: &Model, file: &Path, time: Duration) -> Result<(), Box<dyn Error>> {
    let questions = questions(model)?;
    let child = Child::start(file, &[])?;
    println!("8 connections; RSS of the service in MB at the start: {:.1}", child.memory());
    println!("{:>9} {:>9} {:>8} {:>8}", "seconds", "answers/s", "p99 ms", "RSS MB");
    let part = Duration::from_secs(10).min(time);
    let mut passed = 0.0;
    while passed < time.as_secs_f64() {
        let took = Load { address: child.address, connections: 8, time: part }.run(&questions)?;
        passed += took.seconds;
        let rate = took.answered.len() as f64 / took.seconds;
        println!("{passed:>9.0} {rate:>9.0} {:>8.3} {:>8.1}", took.percentile(0.99), child.memory());
    }
    Ok(())
}

/// Measures overload, and whether the service recovers from it.
fn overload(model: &Model, file: &Path, time: Duration) -> Result<(), Box<dyn Error>> {
    let questions = questions(model)?;
    let child = Child::start(file, &[("MAX_REQUESTS", LET_IN)])?;
    println!(
        "{LET_IN} requests are let in at a time, others wait a moment; who is refused asks again at once\n"
    );
    println!(
        "{:>11} {:>10} {:>10} {:>9} {:>8} {:>8} {:>8}",
        "connections", "answers/s", "refused/s", "refused %", "p50 ms", "p99 ms", "RSS MB"
    );
    for connections in [8, 4 * LET_IN, 14 * LET_IN, 8] {
        let took = Load { address: child.address, connections, time }.run(&questions)?;
        let (answered, refused) = (took.answered.len() as f64, took.refused as f64);
        println!(
            "{connections:>11} {:>10.0} {:>10.0} {:>9.1} {:>8.3} {:>8.3} {:>8.1}",
            answered / took.seconds,
            refused / took.seconds,
            100.0 * refused / (answered + refused),
            took.percentile(0.5),
            took.percentile(0.99),
            child.memory(),
        );
    }
    Ok(())
}
