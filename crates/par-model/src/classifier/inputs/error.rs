//! Why columns cannot become the inputs of a classifier.

use par_data::{found_instead, suggest};

/// Messages list at most this many columns; the rest is summed.
const LISTED: usize = 12;

/// Why columns cannot become the inputs of a classifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputsError {
    /// The file is not valid TOML, or has wrong keys or values.
    #[error("{}{message}", .line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    Form {
        /// The line, from 1, if it is known.
        line: Option<usize>,
        /// What is wrong there.
        message: String,
    },
    /// A scale of scores that does not fit the label.
    #[error(
        "`scale` under `[output]` does not fit the schema: its label is {}",
        if *.is_number { "a number\nhint: write `scale = \"number\"`, or leave it out" } else { "classes\nhint: write `scale = \"probability\"` or `\"log-odds\"`; for a number, the schema says `at_least` or `at_most`" }
    )]
    Scale {
        /// Whether the label is a number.
        is_number: bool,
    },
    /// An entry for a tensor that the classifier does not expect.
    #[error("the classifier has no input `{found}`{}", suggest(.found, .known))]
    UnknownInput {
        /// The name of the entry.
        found: String,
        /// The inputs of the classifier.
        known: Vec<String>,
    },
    /// Two entries for one tensor.
    #[error("input `{name}` is listed twice\nhint: list all of its columns under one `[[input]]`")]
    RepeatedInput {
        /// The name.
        name: String,
    },
    /// A tensor without an entry.
    #[error(
        "the classifier's input `{name}` is not described\nhint: add an `[[input]]` of this name, with its `columns`"
    )]
    AbsentInput {
        /// The name.
        name: String,
    },
    /// More or fewer places than the tensor has.
    #[error("input `{name}` has {}, but its columns give {found}: {}", places(*.expected), counted(.columns))]
    Width {
        /// The name.
        name: String,
        /// How many places the tensor has.
        expected: usize,
        /// How many its columns give.
        found: usize,
        /// The feature of each column, and how many places it gives.
        columns: Vec<(String, usize)>,
    },
    /// An entry without columns.
    #[error("input `{name}` has no columns\nhint: list the columns at its places")]
    NoColumns {
        /// The name.
        name: String,
    },
    /// A column that does not fit the schema or the tensor.
    #[error("input `{input}`, column {position}: {problem}")]
    Column {
        /// The name of the input.
        input: String,
        /// Which of its columns, from 1.
        position: usize,
        /// What is wrong with it.
        problem: Box<ColumnProblem>,
    },
}

/// Why a column does not fit the schema or the tensor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnProblem {
    /// The schema does not know the feature.
    #[error("no feature `{found}`{}", suggest(.found, .known))]
    UnknownFeature {
        /// The name.
        found: String,
        /// The features that exist.
        known: Vec<String>,
    },
    /// A category that is no number, passed as a number.
    #[error(
        "`{feature}` is passed as `{form}`, but its value `{found}` is not a number\nhint: use `one-hot`, `zero-one` or `label`, or `text` for an input of texts"
    )]
    NotNumeric {
        /// The feature.
        feature: String,
        /// The `as` of its column.
        form: &'static str,
        /// The first category that is no number.
        found: String,
    },
    /// A continuous feature, or one in bins, passed as categories.
    #[error(
        "`{feature}` is {kind}, and `as = \"{form}\"` is for categories\nhint: use `number`, `scale` or `standardize`, or list its values in the schema as `nominal` or `ordinal`"
    )]
    NotCategories {
        /// The feature.
        feature: String,
        /// Its kind: `continuous`, or `divided into bins`.
        kind: &'static str,
        /// The `as` of its column.
        form: &'static str,
    },
    /// Texts for a tensor of numbers, numbers for a tensor of texts, or fractions for one of whole numbers.
    #[error("`as = \"{form}\"` of `{feature}` gives {found}, but the input holds {expected}{hint}")]
    Kind {
        /// The feature.
        feature: String,
        /// The `as` of its column.
        form: &'static str,
        /// What the column gives.
        found: &'static str,
        /// What the tensor holds.
        expected: &'static str,
        /// How to fix it.
        hint: &'static str,
    },
    /// A category without a place.
    #[error(
        "`{feature}` has the category `{found}`, which is not listed{}\nhint: add it to `values`{}",
        found_instead(.found, .listed),
        if *.form == "one-hot" { ", or to `zeros` if it has no place of its own" } else { "" }
    )]
    Uncovered {
        /// The feature.
        feature: String,
        /// The `as` of its column.
        form: &'static str,
        /// The category.
        found: String,
        /// The categories that are listed.
        listed: Vec<String>,
    },
    /// `one` or `missing` names a category that does not exist.
    #[error("`{key}` of `{feature}` is `{found}`{}", suggest(.found, .known))]
    NotAValue {
        /// The feature.
        feature: String,
        /// The key.
        key: &'static str,
        /// Its value.
        found: String,
        /// The values it could have.
        known: Vec<String>,
    },
    /// A feature that may be missing, without `missing`.
    #[error(
        "`{feature}` may be missing\nhint: set the value of a missing cell, such as `missing = {example}`"
    )]
    MissingUnsaid {
        /// The feature.
        feature: String,
        /// A value that `missing` could have.
        example: &'static str,
    },
    /// A missing cell that the tensor cannot hold.
    #[error("`missing` of `{feature}` is `{found}`, expected {expected}")]
    MissingKind {
        /// The feature.
        feature: String,
        /// Its value.
        found: String,
        /// The values it could have.
        expected: &'static str,
    },
    /// A mean or a deviation that is still to be taken from the training rows.
    #[error(
        "`mean` and `deviation` of `{feature}` are not known yet\nhint: set both, or take them from training rows"
    )]
    NeedsRows {
        /// The feature.
        feature: String,
    },
    /// A number that is too large once it is scaled.
    #[error("`{feature}` cannot be {found}: scaled, it is more than single precision holds")]
    TooLarge {
        /// The feature.
        feature: String,
        /// The number.
        found: String,
    },
}

fn places(count: usize) -> String {
    if count == 1 { "1 place".to_string() } else { format!("{count} places") }
}

/// How many places each column gives; the end of a long list is summed.
fn counted(columns: &[(String, usize)]) -> String {
    let shown: Vec<String> =
        columns.iter().take(LISTED).map(|(feature, places)| format!("`{feature}` {places}")).collect();
    match columns.len().saturating_sub(LISTED) {
        0 => shown.join(", "),
        more => {
            let rest: usize = columns[LISTED..].iter().map(|(_, places)| places).sum();
            format!("{} and {more} more columns {rest}", shown.join(", "))
        }
    }
}
