//! What a later model says of a promised row.

use std::path::Path;

use par_answer::words;
use par_data::OwnRow;
use par_model::{Model, ModelError};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::hex::Hex;
use crate::record::Terms;
use crate::sealed::Sealed;

pub(crate) fn sha256(bytes: &[u8]) -> Hex<32> {
    Hex(Sha256::digest(bytes).into())
}

/// A model and the SHA-256 of its file.
pub struct HashedModel {
    model: Model,
    sha256: Hex<32>,
}

impl HashedModel {
    /// Reads a model file.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        Self::from_bytes(&Model::load_bytes(path)?)
    }

    /// Reads a model from the bytes of its file.
    ///
    /// # Errors
    /// As [`Model::from_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        Ok(Self { model: Model::from_bytes(bytes)?, sha256: sha256(bytes) })
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The SHA-256 of its file.
    pub fn sha256(&self) -> Hex<32> {
        self.sha256
    }

    /// Refuses a model in which a surrogate of the classifier decides.
    pub(crate) fn check_verifies(&self) -> Result<(), Error> {
        if self.model.classifier().verifies() { Ok(()) } else { Err(Error::Surrogate) }
    }
}

/// Whether a later model accepts the promised row as written, by its own threshold and policies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LaterVerdict {
    /// Whether it does.
    pub kept: bool,
    /// Whether it is the model that made the promise.
    pub same_model: bool,
    /// Whether it has the schema of that model.
    pub same_schema: bool,
    /// Its score of the row; `None` if it cannot read the row.
    pub score: Option<f64>,
    /// Its threshold.
    pub threshold: f64,
    /// How far the score is beyond the threshold, in the unit of scores; below 0 if it does not reach it.
    pub margin: Option<f64>,
    /// Its policies that the row breaks, in words.
    pub not_met: Vec<String>,
    /// Columns that it needs and the promise does not have.
    pub missing_columns: Vec<String>,
    /// Columns of the promise that it does not read.
    pub unread_columns: Vec<String>,
    /// Why it cannot read the row.
    pub problem: Option<String>,
    /// Values that it never saw in training, and what they count as.
    pub warnings: Vec<String>,
    /// The verdict in words.
    pub sentence: String,
}

impl LaterVerdict {
    /// What the model says of the way in a sealed file that opens the promise. Columns are matched by name.
    pub(crate) fn new(later: &HashedModel, promise: &Terms, sealed: &Sealed) -> Self {
        let model = &later.model;
        let names = || model.schema().features().iter().map(|feature| &feature.name);
        let mut verdict = Self {
            kept: false,
            same_model: later.sha256 == promise.model,
            same_schema: sha256(model.schema().source().as_bytes()) == promise.schema,
            score: None,
            threshold: model.threshold(),
            margin: None,
            not_met: Vec::new(),
            missing_columns: names().filter(|name| !sealed.columns.contains(name)).cloned().collect(),
            unread_columns: (sealed.columns.iter())
                .filter(|column| names().all(|name| name != *column))
                .cloned()
                .collect(),
            problem: None,
            warnings: Vec::new(),
            sentence: String::new(),
        };
        let cell = |name: &String| {
            let place = sealed.columns.iter().position(|column| column == name)?;
            Some(sealed.way.cells[place].as_str())
        };
        match names().map(cell).collect::<Option<Vec<&str>>>() {
            Some(cells) => verdict.score(model, &cells),
            None => {
                let columns: Vec<String> =
                    verdict.missing_columns.iter().map(|column| format!("`{column}`")).collect();
                verdict.problem =
                    Some(format!("it needs {}, which the promised row does not have", columns.join(", ")));
            }
        }
        verdict.sentence = verdict.words(model);
        verdict
    }

    /// Scores the row, its cells in the order of the model's schema.
    fn score(&mut self, model: &Model, cells: &[&str]) {
        self.warnings = words::warnings(model, cells);
        let scored = model.discretizer().encode_row(cells).map_err(Into::into).and_then(|codes| {
            let score = model.row_score(cells, codes.codes())?;
            Ok((score, OwnRow::new(model.discretizer(), cells, codes.into_codes())))
        });
        match scored {
            Ok((score, own)) => {
                let reaches = model.scale().reaches(score, self.threshold);
                let distance = (score - self.threshold).abs();
                let broken = model.constraints().broken_policies(&own);
                self.score = Some(score);
                self.margin = Some(if reaches { distance } else { -distance });
                self.not_met =
                    broken.into_iter().map(|policy| words::policy(model.schema(), policy)).collect();
                self.kept = reaches && self.not_met.is_empty();
            }
            Err(error) => {
                let error: par_model::RowError = error;
                self.problem = Some(words::without_hint(&error.to_string()).to_string());
            }
        }
    }

    fn words(&self, model: &Model) -> String {
        let kept = if self.kept { "kept" } else { "not kept" };
        let (Some(score), Some(margin)) = (self.score, self.margin) else {
            return format!("{kept}: {}", self.problem.as_deref().unwrap_or_default());
        };
        let decision = words::decision(model, score, self.threshold);
        let side = if margin < 0.0 { "short of it" } else { "beyond it" };
        let mut sentence = format!("{kept}: {decision}, {} {side}", model.score_words(margin.abs()));
        for policy in &self.not_met {
            sentence += &format!("; not met: {policy}");
        }
        sentence
    }
}
