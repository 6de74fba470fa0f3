//! Uses an external classifier, trained by scikit-learn on raw columns: it decides, and it verifies the answers.
//!
//! Run with `cargo run --release -p par --example 06_bring_a_classifier`.
#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use par::{Answer, Config, Inputs, ModelBuilder, Request, answer, german_credit};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let network = include_bytes!("../../par-model/tests/fixtures/external/network.onnx");
    let inputs = Inputs::parse(include_str!("../../par-model/tests/fixtures/external/network.toml"))?;
    let model = ModelBuilder::new(german_credit::schema(), Config::default())
        .with_classifier(network.to_vec(), inputs)
        .fit(|| Ok(german_credit::table()))?;
    println!("classifier {}…", &model.classifier().hash()[..12]);

    let applicant = [
        "A12", "48", "A32", "A43", "5951", "A61", "A73", "2", "A92", "A101", "2", "A121", "22", "A143",
        "A152", "1", "A173", "1", "A191", "A201",
    ];
    println!("scores {:.3}", model.score(&applicant)?);
    if let Answer::Found(found) = answer(&model, &applicant, &Request::default())? {
        let way = &found.ways[0];
        for change in &way.changes {
            println!("  {}", change.sentence());
        }
        // The row as written, scored by the network itself.
        let written: Vec<&str> = way.cells.iter().map(String::as_str).collect();
        println!("would score {:.3}", model.score(&written)?);
    }
    Ok(())
}
