//! Every fixture has the same scores here as in onnxruntime. `make.py` beside the fixtures made both.

use std::fs;
use std::path::{Path, PathBuf};

use par_onnx::{Choice, Graph, Scale, Value};
use serde::Deserialize;
use serde_json::Value as Json;

#[derive(Deserialize)]
struct Expected {
    widths: Vec<usize>,
    output: Option<String>,
    accepted: usize,
    scale: Scale,
    rows: Vec<Vec<Json>>,
    scores: Vec<f64>,
}

impl Expected {
    /// The first row whose score is another, with both scores.
    fn differs(&self, bytes: &[u8]) -> Result<(), String> {
        let graph = Graph::from_bytes(bytes).map_err(|error| error.to_string())?;
        let choice = Choice { output: self.output.clone(), accepted: self.accepted, scale: Some(self.scale) };
        let model = graph.model(&self.widths, &choice).map_err(|error| error.to_string())?;
        for (number, (row, &score)) in self.rows.iter().zip(&self.scores).enumerate() {
            let values: Vec<Value<'_>> = row.iter().map(value).collect();
            let log_odds = model.log_odds(&values);
            let (own, tolerance) = match self.scale {
                Scale::Probability => (1.0 / (1.0 + (-log_odds).exp()), 1e-5),
                Scale::LogOdds => (log_odds, 1e-5 * score.abs().max(1.0)),
            };
            if !((own - score).abs() <= tolerance) {
                return Err(format!("row {number} scores {own}, expected {score}"));
            }
        }
        Ok(())
    }
}

fn value(json: &Json) -> Value<'_> {
    match json {
        Json::String(text) => Value::Text(text),
        other => Value::Number(other.as_f64().map_or(f32::NAN, |number| number as f32)),
    }
}

fn expectations(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder of fixtures");
    let paths = entries.map(|entry| entry.expect("an entry of the folder").path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|own| own == "json")).collect();
    paths.sort();
    paths
}

#[test]
fn every_fixture_scores_as_in_onnxruntime() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let folder = std::env::var("SCRATCH").map_or(folder, PathBuf::from);
    let mut problems = Vec::new();
    let paths = expectations(&folder);
    for path in &paths {
        let text = fs::read_to_string(path).expect("a fixture");
        let expected: Expected = serde_json::from_str(&text).expect("what the rows of a fixture score");
        let bytes = fs::read(path.with_extension("onnx")).expect("the graph of a fixture");
        if let Err(problem) = expected.differs(&bytes) {
            problems.push(format!("{}: {problem}", path.display()));
        }
    }
    assert!(paths.len() > 10, "found {} fixtures", paths.len());
    assert!(problems.is_empty(), "{} of {}\n{}", problems.len(), paths.len(), problems.join("\n"));
}
