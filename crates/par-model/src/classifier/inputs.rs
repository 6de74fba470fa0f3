//! How the columns of a table become the inputs of a classifier that somebody else has trained.
//!
//! A TOML file says it, tensor by tensor, place by place:
//!
//! ```toml
//! [output]                     # all optional
//! name = "probabilities"       # the output that holds the score; the only one unless told
//! accepted = 1                 # its column, or the class of its only column, that is accepted; 1 unless told
//! scale = "probability"        # or "log-odds"; as the classifier ends unless told
//!
//! [[input]]
//! name = "float_input"         # a tensor that the classifier expects
//! columns = [                  # in the order of its places
//!   { feature = "age", as = "number" },
//!   { feature = "hours", as = "scale", shift = 1.0, divide = 98.0 },      # (x − shift) / divide
//!   { feature = "gain", as = "standardize", mean = 1079.1, deviation = 7452.0 },  # of the training rows unless told
//!   { feature = "sex", as = "zero-one", one = "Male" },                   # 1 for this value, 0 for all others
//!   { feature = "workclass", as = "one-hot", values = ["Private", "State-gov"], zeros = ["Never-worked"] },
//!   { feature = "education", as = "label", values = ["11th", "HS-grad"] },  # 0, 1, 2 … in this order
//!   { feature = "income", as = "number", missing = "nan" },
//! ]
//!
//! [[input]]
//! name = "job"
//! columns = [{ feature = "job", as = "text" }]                            # for tensors of texts
//! ```
//!
//! One-hot takes a place for each of `values`; categories in `zeros` have no place of their own, such as one that
//! was dropped, or those that the classifier ignores. A feature may stand several times, or not at all: then the
//! classifier does not look at it.
//!
//! `missing` says what a missing cell counts as, and must be there if the schema lets the feature be missing:
//!
//! | `as`                             | `missing` is a number           | `missing` is a text                      |
//! |----------------------------------|---------------------------------|------------------------------------------|
//! | `number`, `scale`, `standardize` | the cell, scaled like any other | `"nan"`: not a number                    |
//! | `zero-one`                       | what stands at its place        | `"nan"`                                  |
//! | `one-hot`, `label`               | what stands at each place       | a listed value that it counts as, `"nan"` |
//! | `text`                           |                                 | the text itself                          |
//!
//! One-hot is zero everywhere for a missing cell unless told. Where the schema takes categories that were never seen
//! as unknown, those that are not listed under `one-hot` or `label`, or are no numbers but passed as such, are taken
//! as missing. A tensor of whole numbers cuts off fractions.

mod column;
mod draft;
mod encoder;
mod encoding;
mod error;
mod moments;
#[cfg(test)]
mod tests;

use par_data::{Batch, Columns, Schema};
use par_onnx::{Input, Scale, ScoreChoice};
use serde::{Deserialize, Deserializer, Serialize};

pub use self::draft::draft;
pub use self::encoding::Encoding;
pub use self::error::{ColumnProblem, InputsError};

use self::column::{Column, Form};

/// How the columns of a table become the inputs of a classifier, and which of its outputs is the score. A column
/// that contradicts itself cannot be in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inputs {
    #[serde(default, skip_serializing_if = "Output::is_default")]
    output: Output,
    #[serde(default)]
    input: Vec<Entry>,
}

/// Which number is the score.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Output {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, deserialize_with = "zero_or_one", skip_serializing_if = "Option::is_none")]
    accepted: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scale: Option<Scale>,
}

/// One tensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    columns: Vec<Column>,
}

impl Output {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

fn zero_or_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    let accepted = i64::deserialize(deserializer)?;
    match usize::try_from(accepted).ok().filter(|accepted| *accepted <= 1) {
        Some(accepted) => Ok(Some(accepted)),
        None => Err(serde::de::Error::custom(format!("`accepted` is {accepted}, expected 0 or 1"))),
    }
}

impl Inputs {
    /// Reads a file.
    ///
    /// # Errors
    /// With the line, when the text is not TOML, a key is unknown, absent or of the wrong type, a number is out of
    /// its range, or a value is listed twice.
    pub fn parse(text: &str) -> Result<Self, InputsError> {
        toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| {
                let before = &text.as_bytes()[..span.start.min(text.len())];
                before.iter().filter(|byte| **byte == b'\n').count() + 1
            });
            InputsError::Form { line, message: error.message().to_string() }
        })
    }

    /// Which number of the classifier's outputs is the score.
    pub fn choice(&self) -> ScoreChoice {
        ScoreChoice {
            output: self.output.name.clone(),
            accepted: self.output.accepted.unwrap_or(1),
            scale: self.output.scale,
        }
    }

    /// Whether a mean or a deviation is to be that of the training rows.
    pub fn needs_rows(&self) -> bool {
        self.columns().any(|column| {
            matches!(
                column.form,
                Form::Standardize { mean: None, .. } | Form::Standardize { deviation: None, .. }
            )
        })
    }

    /// The same with means and deviations of training rows where none are said, in one pass over the rows.
    ///
    /// Cells that are missing are left out, unless `missing` is a number: then they count as that, as they will be
    /// scaled. The deviation is that of a population, and 1 where it is 0.
    ///
    /// # Errors
    /// When there is no such feature, no row, or no number in any row, and when a cell is not a number.
    pub fn standardized(
        &self,
        schema: &Schema,
        columns: &Columns,
        batches: impl IntoIterator<Item = Result<Batch, par_data::Error>>,
    ) -> Result<Self, par_data::Error> {
        if !self.needs_rows() {
            return Ok(self.clone());
        }
        let mut inputs = self.clone();
        let entries = inputs.input.iter_mut().flat_map(|entry| &mut entry.columns);
        moments::fill_in(entries, schema, columns, batches)?;
        Ok(inputs)
    }

    /// The way from cells to the places of a classifier with these inputs.
    ///
    /// # Errors
    /// When this does not fit the schema or the classifier, and when means or deviations are not known yet.
    pub fn encoding(&self, schema: &Schema, inputs: &[Input]) -> Result<Encoding, InputsError> {
        Encoding::new(&self.input, schema, inputs)
    }

    fn columns(&self) -> impl Iterator<Item = &Column> {
        self.input.iter().flat_map(|entry| &entry.columns)
    }
}
