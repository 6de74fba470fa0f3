//! Measures answers: learns from four fifths of a table and answers the rest.
//!
//! Run with `cargo run --release -p par --example 04_measure_answers`.
#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use par::{Config, ModelBuilder, Stop, evaluate, german_credit};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = german_credit::schema();
    let table = german_credit::table();
    let columns = schema.columns(table.origin(), table.columns())?;
    let rows = table.into_batch()?;
    let (mut training, mut test) = (rows.clone(), rows);
    training.retain(|batch, row| batch.position(row) % 5 != 0);
    test.retain(|batch, row| batch.position(row) % 5 == 0);

    let method = ModelBuilder::new(schema, Config::default());
    let model = method.fit_rows(&columns, || Ok([Ok(training.clone())]), &mut |_| {}, Stop::never())?;
    let person = |row| columns.cells(&test, row);
    let people: Vec<Vec<&str>> = (0..test.rows()).map(person).collect();
    let evaluation = evaluate(&model, &people).map_err(|(row, error)| format!("row {row}: {error}"))?;
    println!("{} of {} denied", evaluation.denied, evaluation.rows);
    for metrics in &evaluation.methods {
        println!(
            "{:9} found {} of {}, {:.2} nats, {:.2} changes, {:.3} nats from the best",
            metrics.method.name(),
            metrics.nll.over,
            metrics.nll.of,
            metrics.nll.mean.unwrap_or(f64::NAN),
            metrics.sparsity.mean.unwrap_or(f64::NAN),
            metrics.gap.mean.unwrap_or(f64::NAN),
        );
    }
    Ok(())
}
