//! Rows with their scores by onnxruntime.

use par_onnx::{Graph, Scale, ScoreChoice, Value};
use serde::Deserialize;
use serde_json::Value as Json;

/// Rows of a graph, with their scores by onnxruntime.
#[derive(Deserialize)]
pub(crate) struct ScoredRows {
    widths: Vec<usize>,
    #[serde(default)]
    output: Option<String>,
    accepted: Accepted,
    scale: Scale,
    rows: Vec<Vec<Json>>,
    scores: Vec<f64>,
}

/// One column, or several together.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Accepted {
    One(usize),
    Some(Vec<usize>),
}

impl ScoredRows {
    fn choice(&self, scale: Option<Scale>) -> ScoreChoice {
        let accepted = match &self.accepted {
            Accepted::One(column) => vec![*column],
            Accepted::Some(columns) => columns.clone(),
        };
        ScoreChoice { output: self.output.clone(), accepted: Some(accepted), scale, ..ScoreChoice::default() }
    }

    /// The first row whose score differs, as an error.
    pub(crate) fn check(&self, bytes: &[u8]) -> Result<(), String> {
        let graph = Graph::from_bytes(bytes).map_err(|error| error.to_string())?;
        let choice = self.choice(Some(self.scale));
        let classifier = graph.classifier(&self.widths, &choice).map_err(|error| error.to_string())?;
        for (number, (row, &score)) in self.rows.iter().zip(&self.scores).enumerate() {
            let values: Vec<Value<'_>> = row.iter().map(value).collect();
            let log_odds = classifier.log_odds(&values);
            let (own, tolerance) = match self.scale {
                Scale::Probability => (1.0 / (1.0 + (-log_odds).exp()), 1e-5),
                Scale::LogOdds | Scale::Number => (log_odds, 1e-5 * score.abs().max(1.0)),
            };
            let is_close = (own - score).abs() <= tolerance;
            if !is_close {
                return Err(format!("row {number} scores {own}, expected {score}"));
            }
        }
        Ok(())
    }

    /// An error if the graph's scale is not that of the scores.
    pub(crate) fn check_end(&self, bytes: &[u8]) -> Result<(), String> {
        let graph = Graph::from_bytes(bytes).map_err(|error| error.to_string())?;
        let classifier = |scale| {
            // NaN is not equal to itself, but its text is.
            format!("{:?}", graph.classifier(&self.widths, &self.choice(scale)))
        };
        // Nothing in a graph tells a predicted number from log-odds.
        if self.scale == Scale::Number {
            return Ok(());
        }
        let mut outputs = graph.outputs().iter();
        let listed = outputs.find(|output| self.output.as_ref().is_none_or(|name| output.name == *name));
        if listed.map(|output| output.scale) != Some(self.scale)
            || classifier(None) != classifier(Some(self.scale))
        {
            return Err(format!("the graph does not end in {}", self.scale));
        }
        Ok(())
    }

    /// Checks that the log-odds of the two classes differ in the sign only.
    pub(crate) fn check_other(&self, graph: &Graph) {
        let classifier = |accepted| {
            let choice = ScoreChoice { accepted: Some(vec![accepted]), ..self.choice(None) };
            graph.classifier(&self.widths, &choice).expect("a classifier")
        };
        let (zero, one) = (classifier(0), classifier(1));
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
