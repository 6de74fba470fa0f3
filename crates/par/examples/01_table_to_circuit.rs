//! From a raw table to a circuit of the accepted class, and the likelihood of a person.
//!
//! Run with `cargo run --release -p par --example 01_table_to_circuit`.
#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use par_circuit::Dataset;
use par_circuit::learn::{LearnConfig, learn};
use par_data::{Constraints, Discretizer, DiscretizerConfig, german_credit};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The schema describes the columns; the bins are learned from the training rows.
    let schema = german_credit::schema();
    let table = german_credit::table();
    let columns = schema.columns(table.origin(), table.columns())?;
    let rows = table.batches(1000).next().expect("the table has rows")?;
    let discretizer = Discretizer::fit(&schema, &columns, [Ok(rows.clone())], &DiscretizerConfig::default())?;

    // A circuit of the accepted rows.
    let encoded = discretizer.encode(&columns, &rows)?;
    let label = schema.label().expect("the schema has a label");
    let accepted = std::iter::zip(encoded.rows(), schema.classes(&columns, &rows)?)
        .filter(|(_, class)| label.wants(*class))
        .flat_map(|(row, _)| row.to_vec());
    let accepted = Dataset::new(discretizer.cardinalities(), accepted.collect())?;
    let circuit = learn(&accepted, None, &LearnConfig::default())?.circuit;

    // How likely is the second applicant among the accepted, and what may change about them?
    let person = encoded.rows().nth(1).expect("there are two rows");
    let constraints = Constraints::new(&discretizer);
    let mask = constraints.mask(person, &[schema.position("Duration")?]);
    println!("log-likelihood {:.2}", circuit.evaluator().log_prob(person));
    println!("{} of {} features may change", mask.free_features(), constraints.features());
    Ok(())
}
