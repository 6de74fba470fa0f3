//! From a table to one person's recourse.
//!
//! Run with `cargo run --release -p par --example 02_ask_for_recourse`.
#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use par::{Answer, Config, Model, ModelBuilder, Request, answer, german_credit};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Everything is learned once: bins, classifier, circuits, generator. No row of the table is copied.
    let builder = ModelBuilder::new(german_credit::schema(), Config::default());
    let file = std::env::temp_dir().join("german_credit.par");
    builder.fit(|| Ok(german_credit::table()))?.save(&file)?;
    let model = Model::load(&file)?;

    // An applicant, as the table writes one.
    let applicant = [
        "A12", "48", "A32", "A43", "5951", "A61", "A73", "2", "A92", "A101", "2", "A121", "22", "A143",
        "A152", "1", "A173", "1", "A191", "A201",
    ];
    match answer(&model, &applicant, &Request::default())? {
        Answer::Accepted { probability, .. } => println!("accepted already, {:.0} %", 100.0 * probability),
        Answer::NotFound(none) => println!("no way found: {:?}", none.reason),
        Answer::Found(found) => {
            let way = &found.ways[0];
            println!(
                "accepted with {:.0} %, now {:.0} %",
                100.0 * way.probability,
                100.0 * found.probability
            );
            for change in &way.changes {
                println!("  {}", change.sentence());
            }
        }
    }
    Ok(())
}
