//! Rows and the scores that onnxruntime gives them.

use par_onnx::{Choice, Graph, Scale, Value};
use serde::Deserialize;
use serde_json::Value as Json;

/// What onnxruntime makes of a graph.
#[derive(Deserialize)]
pub(crate) struct Scored {
    widths: Vec<usize>,
    #[serde(default)]
    output: Option<String>,
    accepted: usize,
    scale: Scale,
    rows: Vec<Vec<Json>>,
    scores: Vec<f64>,
}

impl Scored {
    /// Says what is wrong with the first row whose score is another here.
    pub(crate) fn check(&self, bytes: &[u8]) -> Result<(), String> {
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
            let is_close = (own - score).abs() <= tolerance;
            if !is_close {
                return Err(format!("row {number} scores {own}, expected {score}"));
            }
        }
        Ok(())
    }

    /// Says what is wrong if the graph ends in something else than the scores are.
    pub(crate) fn check_end(&self, bytes: &[u8]) -> Result<(), String> {
        let graph = Graph::from_bytes(bytes).map_err(|error| error.to_string())?;
        let model = |scale| {
            let choice = Choice { output: self.output.clone(), accepted: self.accepted, scale };
            // Not a number is not even equal to itself, but its text is.
            format!("{:?}", graph.model(&self.widths, &choice))
        };
        let mut outputs = graph.outputs().iter();
        let listed = outputs.find(|output| self.output.as_ref().is_none_or(|name| output.name == *name));
        if listed.map(|output| output.scale) != Some(self.scale) || model(None) != model(Some(self.scale)) {
            return Err(format!("the graph does not end in {}", self.scale));
        }
        Ok(())
    }

    /// Checks that both classes have the same log-odds but for the sign.
    pub(crate) fn check_other(&self, graph: &Graph) {
        let model = |accepted| {
            let choice = Choice { output: self.output.clone(), accepted, scale: None };
            graph.model(&self.widths, &choice).expect("a model")
        };
        let (zero, one) = (model(0), model(1));
        for row in &self.rows {
            let values: Vec<Value<'_>> = row.iter().map(value).collect();
            assert_eq!(zero.log_odds(&values), -one.log_odds(&values));
        }
    }
}

fn value(json: &Json) -> Value<'_> {
    match json {
        Json::String(text) => Value::Text(text),
        other => Value::Number(other.as_f64().map_or(f32::NAN, |number| number as f32)),
    }
}
