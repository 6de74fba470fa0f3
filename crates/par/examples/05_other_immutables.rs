//! Refits a model for other immutable features, without the data.
//!
//! Run with `cargo run --release -p par --example 05_other_immutables`.
#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use par::{Config, ModelBuilder, Stage, Stop, german_credit, refit};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model =
        ModelBuilder::new(german_credit::schema(), Config::default()).fit(|| Ok(german_credit::table()))?;
    let mut last = None;
    let immutable = ["Age", "Personal status and sex", "foreign worker", "Purpose"];
    let mut watch = |stage: Stage<'_>| {
        if let Stage::Generator(progress) = stage
            && let Some(held_out) = progress.point.and_then(|point| point.held_out)
        {
            last = Some(held_out.valid);
        }
    };
    let other = refit(&model, &immutable, &mut watch, Stop::never())?;
    println!("{:.0} % of held-out factuals get an accepted row at once", 100.0 * last.unwrap_or(f64::NAN));
    println!("immutable: {}", immutable.join(", "));
    println!("{} KB, as before {} KB", other.to_bytes().len() / 1000, model.to_bytes().len() / 1000);
    Ok(())
}
