//! The schema: the meaning of the columns, and the constraints on changes.
//!
//! A schema is a TOML file; `docs/schema.md` has every key:
//!
//! ```
//! # use par_data::Schema;
//! let schema = Schema::parse(
//!     r#"
//!     version = 2                # without it: version 1, which keeps its meaning
//!
//!     [label]
//!     column = "class"
//!     classes = ["Bad", "Good"]
//!     favourable = "Good"
//!
//!     [[feature]]
//!     name = "Age"
//!     kind = "discrete"          # nominal, ordinal (`values` in order), discrete or continuous
//!     unit = "years"
//!     range = [0, 120]           # what the column can hold, `inf` for no end; a cell outside is an error
//!     change = "with-time"       # never, free, increase, decrease, with-time, follows; undecided if absent
//!
//!     [[feature]]
//!     name = "Housing"
//!     kind = "nominal"
//!     values = ["rent", "own"]   # learned from the training rows when not listed; `1` and `01` are two
//!     missing = true             # missing cells, and values never seen, are taken as unknown
//!     change = "free"
//!     allowed = ["own"]          # what a way may change it to
//!     effort = "very hard"
//!
//!     [[feature]]
//!     name = "Rent"
//!     kind = "continuous"
//!     change = "free"
//!     step = { down = 500 }      # from the person's own value
//!
//!     [[relation]]
//!     when = { Housing = "own" }
//!     then = { Rent = 0 }
//!
//!     [[accept]]                 # a policy beside the classifier
//!     require = { Age = "18.." }
//!     "#,
//!     "people.toml",
//! )?;
//! assert_eq!(schema.relations_in_words(), ["if Housing is own, then Rent is 0"]);
//! # Ok::<(), par_data::SchemaError>(())
//! ```
//!
//! Every `Schema` is consistent: [`Schema::parse`] refuses anything else, with the line.

mod contradictions;
mod draft;
mod feature;
mod followers;
mod label;
mod parse;
mod permitted;
mod problem;
mod relation;
mod rules;
mod section;
mod time;
mod upgrade;
mod words;

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use draft::{Decision, Draft, DraftOptions, Question, quoted, roc_area, suspicions};
pub use feature::{Actor, Direction, Effort, Feature, FeatureKind, Mutability, Step, Takes};
pub use label::{FavourableError, Goal, Label, Side};
pub use parse::{is_same_truth, parse_number, position_of, same_numbers};
pub use permitted::Permitted;
pub use problem::{SchemaError, SchemaProblem};
pub use relation::{AcceptRule, Condition, Formula, Move, Relation, Rule};
pub(crate) use rules::{MoveStates, OTHER, RuleGroup, connected, moved};
pub use time::{TimeUnit, parse_months};
pub use upgrade::upgrade;

use crate::error::{CellError, Error};
use crate::table::Batch;

/// Largest number of categories of a feature.
pub(crate) const MAX_CATEGORIES: usize = 10_000;

/// The meaning of a table's columns. It is saved and loaded as its TOML text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Schema {
    version: u8,
    source: String,
    name: Option<String>,
    file: Option<String>,
    rows: Option<u64>,
    folds: Option<u64>,
    special: SpecialColumns,
    label: Option<Label>,
    features: Vec<Feature>,
    relations: Vec<Relation>,
    /// The relations between directions, in the order of the relations.
    rules: Vec<Rule>,
    accept: Vec<AcceptRule>,
    missing_text: Vec<String>,
}

/// Columns that are neither features nor the label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpecialColumns {
    /// Identifies the row in answers.
    pub id: Option<String>,
    /// The fold whose test set holds the row.
    pub fold: Option<String>,
    /// `1` for the test rows sampled as factuals.
    pub subtest: Option<String>,
}

impl Schema {
    /// Reads a schema; `origin` is its name in messages.
    ///
    /// # Errors
    /// With the line, when the text is not TOML, a key is unknown, absent or of the wrong type, two
    /// statements contradict each other, or a statement asks for what cannot happen. Saved schemas of
    /// earlier versions may have rules of that kind: their effects cannot rise.
    pub fn parse(text: &str, origin: &str) -> Result<Self, SchemaError> {
        parse::parse(text, origin)
    }

    /// Reads a schema file.
    ///
    /// # Errors
    /// When the file cannot be read, and as [`Schema::parse`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let origin = path.display().to_string();
        let text =
            std::fs::read_to_string(path).map_err(|source| Error::read(&origin.as_str().into(), source))?;
        Ok(Self::parse(&text, &origin)?)
    }

    /// The version of the language that it is written in: 1 or 2.
    pub fn version(&self) -> u8 {
        self.version
    }

    /// Whether both say the same, in whatever version and words.
    fn means_the_same(&self, other: &Self) -> bool {
        let in_words_of =
            |schema: &Self| Self { version: other.version, source: other.source.clone(), ..schema.clone() };
        in_words_of(self) == *other
    }

    /// The TOML text of this schema.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The name of the data.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The file of the table that the schema describes.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Number of rows of that table.
    pub fn rows(&self) -> Option<u64> {
        self.rows
    }

    /// Number of folds of that table.
    pub fn folds(&self) -> Option<u64> {
        self.folds
    }

    /// The columns that are neither features nor the label.
    pub fn special(&self) -> &SpecialColumns {
        &self.special
    }

    /// The label. A schema may have none, but recourse needs it.
    pub fn label(&self) -> Option<&Label> {
        self.label.as_ref()
    }

    /// The features; codes and cells keep this order.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// The relations between features.
    pub fn relations(&self) -> &[Relation] {
        &self.relations
    }

    /// The relations that tie directions of change together.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Rules between two rises: the effect and the cause (positions) of each.
    pub fn rises(&self) -> impl Iterator<Item = [usize; 2]> {
        let pair = |rule: &Rule| [rule.when.feature, rule.then.feature];
        self.rules.iter().map(move |rule| (rule, pair(rule))).filter_map(|(rule, pair)| {
            let [effect, cause] = pair;
            (*rule == Rule::rises(effect, cause)).then_some(pair)
        })
    }

    /// The features of which nobody has said whether they can change, so that they do not.
    pub fn undecided(&self) -> impl Iterator<Item = &Feature> {
        self.features.iter().filter(|feature| feature.change == Mutability::Undecided)
    }

    /// The policies that hold beside the classifier.
    pub fn accept(&self) -> &[AcceptRule] {
        &self.accept
    }

    /// The reason why the categories of a feature must have an order, if they must.
    pub(crate) fn order_needed(&self, feature: usize) -> Option<&'static str> {
        let ruled = |rule: &Rule| rule.when.feature == feature || rule.then.feature == feature;
        if self.features[feature].direction().is_some() {
            Some("it changes in one direction only")
        } else if self.rules.iter().any(ruled) {
            Some("a rule speaks of its direction")
        } else if self.features[feature].improves.is_some() {
            Some("`improves` names a direction")
        } else {
            None
        }
    }

    /// The texts of a missing cell.
    pub fn missing_text(&self) -> &[String] {
        &self.missing_text
    }

    /// Whether the text, trimmed, means a missing cell. A text that is listed as a value never does.
    ///
    /// # Errors
    /// When it does, and the feature must not be missing.
    pub fn is_missing(&self, feature: &Feature, text: &str) -> Result<bool, CellError> {
        let missing = self.missing_text.iter().any(|missing| missing == text)
            && !feature.values.iter().any(|value| value == text);
        if missing && !feature.missing {
            return Err(CellError::Missing { column: feature.name.clone() });
        }
        Ok(missing)
    }

    /// The position of the feature called `name`.
    ///
    /// # Errors
    /// When there is none; the message suggests the nearest name.
    pub fn position(&self, name: &str) -> Result<usize, Error> {
        self.features.iter().position(|feature| feature.name == name).ok_or_else(|| Error::UnknownFeature {
            found: name.to_string(),
            known: self.features.iter().map(|feature| feature.name.clone()).collect(),
        })
    }

    /// The positions of the features with these names.
    ///
    /// # Errors
    /// As [`Schema::position`].
    pub fn positions(&self, names: &[impl AsRef<str>]) -> Result<Vec<usize>, Error> {
        names.iter().map(|name| self.position(name.as_ref())).collect()
    }

    /// Finds the schema's columns in a table's header; `origin` is the table's name in messages.
    ///
    /// # Errors
    /// When a feature has no column. The label and the special columns may be absent, as in tables of people
    /// who ask for recourse.
    pub fn columns(&self, origin: &str, header: &[String]) -> Result<Columns, Error> {
        let is_numbered = header.iter().enumerate().all(|(at, name)| *name == at.to_string());
        let find = |name: &str| {
            let by_number = || numbered_column(name).filter(|at| is_numbered && *at < header.len());
            header.iter().position(|column| column == name).or_else(by_number)
        };
        let find_special = |name: &Option<String>| name.as_deref().and_then(find);
        let features = self
            .features
            .iter()
            .map(|feature| {
                find(&feature.name).ok_or_else(|| Error::AbsentColumn {
                    origin: origin.into(),
                    column: feature.name.clone(),
                    known: header.to_vec(),
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Columns {
            origin: origin.into(),
            features,
            label: self.label.as_ref().and_then(|label| find(&label.column)),
            id: find_special(&self.special.id),
            fold: find_special(&self.special.fold),
            subtest: find_special(&self.special.subtest),
        })
    }

    /// The class of every row: a position in [`Label::classes`].
    ///
    /// # Errors
    /// When the schema or the table has no label, or a label is not one of the classes, or no number where it must be.
    pub fn classes(&self, columns: &Columns, batch: &Batch) -> Result<Vec<usize>, Error> {
        self.of_labels(columns, batch, Label::class)
    }

    /// The label of every row as a number.
    ///
    /// # Errors
    /// When the schema or the table has no label, or a label is no number.
    pub fn label_numbers(&self, columns: &Columns, batch: &Batch) -> Result<Vec<f64>, Error> {
        self.of_labels(columns, batch, Label::number)
    }

    fn of_labels<T>(
        &self,
        columns: &Columns,
        batch: &Batch,
        read: impl Fn(&Label, &str) -> Result<T, CellError>,
    ) -> Result<Vec<T>, Error> {
        let label = self.label.as_ref().ok_or(Error::NoLabel)?;
        let column = columns.label.ok_or_else(|| Error::NoLabelColumn {
            origin: Arc::clone(&columns.origin),
            column: label.column.clone(),
        })?;
        let read = |row: usize| {
            read(label, batch.cell(row, column))
                .map_err(|source| Error::Cell { place: batch.place(row), source })
        };
        (0..batch.rows()).map(read).collect()
    }
}

/// The name that a draft gives to a column of a table without column names: `column_1` is the first.
pub fn numbered_name(column: usize) -> String {
    format!("{NUMBERED}{}", column + 1)
}

/// The column that [`numbered_name`] calls so.
fn numbered_column(name: &str) -> Option<usize> {
    name.strip_prefix(NUMBERED)?.parse::<usize>().ok()?.checked_sub(1)
}

const NUMBERED: &str = "column_";

impl TryFrom<String> for Schema {
    type Error = SchemaError;

    fn try_from(text: String) -> Result<Self, SchemaError> {
        parse::parse_saved(&text)
    }
}

impl From<Schema> for String {
    fn from(schema: Schema) -> Self {
        schema.source
    }
}

/// The positions of a schema's columns in one table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Columns {
    /// The table's name in messages.
    pub origin: Arc<str>,
    /// The column of each feature, in schema order.
    pub features: Vec<usize>,
    /// The label's column, if the table has it.
    pub label: Option<usize>,
    /// The id's column, if the table has it.
    pub id: Option<usize>,
    /// The fold's column, if the table has it.
    pub fold: Option<usize>,
    /// The subtest's column, if the table has it.
    pub subtest: Option<usize>,
}

impl Columns {
    /// The cells of the features in one row, in schema order.
    pub fn cells<'a>(&self, batch: &'a Batch, row: usize) -> Vec<&'a str> {
        self.features.iter().map(|&column| batch.cell(row, column)).collect()
    }
}
