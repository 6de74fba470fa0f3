//! How the columns of a table become the inputs of an external classifier.
//!
//! A TOML file lists the places of every input tensor:
//!
//! ```toml
//! [output]                     # all optional
//! name = "probabilities"       # the output that holds the score; by default the only one
//! accepted = 1                 # the accepted column, or the class of its only column; 1 by default. `[0, 2]`: several
//! scale = "probability"        # or "log-odds", or "number" of a regression; by default that of the last operator
//! decision = "sum"             # of more than two classes: or "largest"
//!
//! [[input]]
//! name = "float_input"         # a tensor that the classifier expects
//! columns = [                  # in the order of its places
//!   { feature = "age", as = "number" },
//!   { feature = "hours", as = "scale", shift = 1.0, divide = 98.0 },      # (x − shift) / divide
//!   { feature = "gain", as = "standardize", mean = 1079.1, deviation = 7452.0 },  # by default of the training rows
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
//! One-hot takes a place for each of `values`; categories in `zeros` have no place of their own: a dropped first
//! category, or categories that the classifier ignores. A feature may be listed several times, or not at all if the
//! classifier does not read it.
//!
//! `missing` is the value of a missing cell, and is required if the schema lets the feature be missing:
//!
//! | `as`                             | `missing` is a number           | `missing` is a text                      |
//! |----------------------------------|---------------------------------|------------------------------------------|
//! | `number`, `scale`, `standardize` | the cell, scaled like any other | `"nan"`: not a number                    |
//! | `zero-one`                       | the number at its place         | `"nan"`                                  |
//! | `one-hot`, `label`               | the number at each place        | a listed value that it counts as, `"nan"` |
//! | `text`                           |                                 | the text itself                          |
//!
//! One-hot is by default zero at all places for a missing cell. If the schema takes unseen categories as unknown, a
//! category counts as missing when `one-hot` or `label` does not list it, or when it is passed as a number and is none.
//! A tensor of whole numbers cuts off fractions.

mod column;
mod draft;
mod encoder;
mod encoding;
mod error;
mod moments;
#[cfg(test)]
mod tests;

use par_data::{Batch, Columns, Schema};
use par_onnx::{Decision, Input, Scale, ScoreChoice};
use serde::{Deserialize, Deserializer, Serialize};

pub use self::draft::draft;
pub use self::encoding::Encoding;
pub use self::error::{ColumnProblem, InputsError};

use self::column::{Column, Form};
use crate::scale::ScoreScale;

/// How the columns of a table become the inputs of a classifier, and which of its outputs is the score. Columns are
/// consistent in themselves; [`Inputs::encoding`] checks them against schema and classifier.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    accepted: Option<Accepted>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scale: Option<Scale>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decision: Option<Decision>,
}

/// The accepted column, or several.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Accepted {
    One(usize),
    Several(Vec<usize>),
}

impl<'de> Deserialize<'de> for Accepted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "`accepted` must be a column, or a list of columns, counted from 0")]
        enum Form {
            One(usize),
            Several(Vec<usize>),
        }
        match Form::deserialize(deserializer)? {
            Form::One(column) => Ok(Self::One(column)),
            Form::Several(columns) => {
                let is_repeated = (1..columns.len()).any(|place| columns[..place].contains(&columns[place]));
                match columns.is_empty() || is_repeated {
                    true => Err(serde::de::Error::custom(format!(
                        "`accepted` is {columns:?}, expected at least one column, and each once"
                    ))),
                    false => Ok(Self::Several(columns)),
                }
            }
        }
    }
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

    /// Which of the classifier's outputs is the score.
    ///
    /// # Errors
    /// When they are said to be probabilities of a label that is a number, or numbers of a label of classes.
    pub fn choice(&self, scale: ScoreScale) -> Result<ScoreChoice, InputsError> {
        let stated = self.output.scale;
        if stated.is_some_and(|stated| (stated == Scale::Number) != scale.is_number()) {
            return Err(InputsError::Scale { is_number: scale.is_number() });
        }
        Ok(ScoreChoice {
            output: self.output.name.clone(),
            accepted: self.accepted(),
            scale: if scale.is_number() { Some(Scale::Number) } else { stated },
            decision: self.output.decision.unwrap_or_default(),
        })
    }

    /// The accepted columns, if the file says which.
    pub fn accepted(&self) -> Option<Vec<usize>> {
        self.output.accepted.as_ref().map(|accepted| match accepted {
            Accepted::One(column) => vec![*column],
            Accepted::Several(columns) => columns.clone(),
        })
    }

    /// Whether a mean or a deviation has to be taken from the training rows.
    pub fn needs_rows(&self) -> bool {
        self.columns().any(|column| {
            matches!(
                column.form,
                Form::Standardize { mean: None, .. } | Form::Standardize { deviation: None, .. }
            )
        })
    }

    /// The same, with absent means and deviations taken from training rows, in one pass over them.
    ///
    /// Missing cells are left out, unless `missing` is a number: then they count as that number. The deviation is that
    /// of a population, and 1 where it is 0.
    ///
    /// # Errors
    /// When a feature does not exist, there is no row, a column has no number, or a cell is not a number.
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

    /// The encoding of cells for a classifier with these inputs.
    ///
    /// # Errors
    /// When a column does not fit the schema or the classifier, or lacks a mean or a deviation.
    pub fn encoding(&self, schema: &Schema, inputs: &[Input]) -> Result<Encoding, InputsError> {
        Encoding::new(&self.input, schema, inputs)
    }

    fn columns(&self) -> impl Iterator<Item = &Column> {
        self.input.iter().flat_map(|entry| &entry.columns)
    }
}
