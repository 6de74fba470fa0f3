//! Locked features, several ways to choose from, and what more changes gain.
//!
//! Run with `cargo run --release -p par --example 03_locks_and_choices`.
#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use par::{Answer, Config, Method, ModelBuilder, Request, Solver, german_credit};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model =
        ModelBuilder::new(german_credit::schema(), Config::default()).fit(|| Ok(german_credit::table()))?;
    let applicant = [
        "A12", "48", "A32", "A43", "5951", "A61", "A73", "2", "A92", "A101", "2", "A121", "22", "A143",
        "A152", "1", "A173", "1", "A191", "A201",
    ];

    // Amount and duration of the credit stay. Three ways, each proved to be the likeliest.
    let locks = model.schema().positions(&["Credit amount", "Duration"])?;
    let request = Request { method: Method::Exact, locks, count: 3, ..Request::default() };
    let mut solver = Solver::new(&model);
    if let Answer::Found(found) = solver.answer(&applicant, &request)? {
        for way in &found.ways {
            println!(
                "likelier than {:.0} % of accepted people, given what cannot change:",
                100.0 * way.percentile
            );
            way.changes.iter().for_each(|change| println!("  {}", change.sentence()));
        }
        println!("the likeliest accepted row, by number of changes:");
        for point in &found.frontier {
            println!("  {} changes: {:.2} nats", point.changes.len(), point.log_likelihood);
        }
    }

    // With everything locked there is no way, and the answer names the obstacles.
    let locks = (0..model.schema().features().len()).collect();
    if let Answer::NotFound(none) = solver.answer(&applicant, &Request { locks, ..Request::default() })? {
        println!("{:?}: lifting {:?} would help", none.reason, none.obstacles);
    }
    Ok(())
}
