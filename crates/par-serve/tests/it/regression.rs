//! A model whose scores are predicted numbers.

use std::io::Cursor;

use par_data::{Schema, Table, TableOptions};
use par_fit::ModelBuilder;
use serde_json::json;

use crate::running::{Running, model};

const SCHEMA: &str = r#"
version = 2

[label]
column = "pay"
at_least = 2500
unit = "EUR"

[[feature]]
name = "skill"
kind = "discrete"
change = "increase"

[[feature]]
name = "city"
kind = "nominal"
values = ["Ulm", "Kiel"]
change = "never"
"#;

/// Serves the regression, the only model.
fn serving() -> Running {
    let rows: String = (0..300)
        .map(|row| format!("{},{},{}\n", row % 10, ["Ulm", "Kiel"][row % 2], 1500 + 200 * (row % 10)))
        .collect();
    let table = || {
        let text = format!("skill,city,pay\n{rows}");
        Table::from_reader("t.csv", Cursor::new(text), &TableOptions::default())
    };
    let mut config = model().config().clone();
    config.classifier.learning_rate = 1e-2;
    let schema = Schema::parse(SCHEMA, "s.toml").expect("a schema");
    let fitted = ModelBuilder::new(schema, config).fit(table).expect("a model");
    Running::with_fitted(&fitted)
}

#[test]
fn a_regression_is_described_and_answered_in_the_unit_of_its_label() {
    let service = serving();
    let schema = service.get("/v1/schema").json();
    assert_eq!((&schema["threshold"], &schema["number"]["side"]), (&json!(2500.0), &json!("at_least")));
    assert_eq!(schema["number"]["unit"], "EUR");
    assert_eq!(schema["label"]["accepted"], "at least 2,500 EUR");

    let row = json!({"skill": 2, "city": "Ulm"});
    let response = service.post("/v1/recourse", &json!({"row": row, "threshold": 2900, "margin": 10}));
    let answer = &response.json()["answers"][0];
    assert_eq!((&answer["status"], &answer["threshold"]), (&json!("found"), &json!(2900.0)), "{answer}");
    let words = answer["score_words"].as_str().expect("words");
    assert!(words.starts_with("predicted 1,9") && words.ends_with("at least 2,900 EUR is needed"), "{words}");
    assert!(answer["ways"][0]["probability"].as_f64().expect("a number") >= 2900.0, "{answer}");

    let refused = service.post("/v1/recourse", &json!({"row": row, "threshold": "much"}));
    assert_eq!(refused.status, 422, "{}", refused.text());
    assert!(refused.text().contains("a number, in the unit of the label"), "{}", refused.text());

    let people = service.get("/v1/people?count=3").json();
    for person in people["people"].as_array().expect("people") {
        assert!(person["probability"].as_f64().expect("a number") < 2500.0, "{person}");
    }
}
