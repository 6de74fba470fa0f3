//! Errors of tables, schemas and cells.

use std::io;
use std::sync::Arc;

use crate::schema::{FavourableError, SchemaError};
use crate::suggest::{found_instead, suggest};
use crate::table::RowPlace;

/// All errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file does not exist.
    #[error("{origin}: no such file")]
    NoSuchFile {
        /// The path as given.
        origin: Arc<str>,
    },
    /// The file cannot be read.
    #[error("{origin}: cannot be read: {source}")]
    Read {
        /// The path as given.
        origin: Arc<str>,
        /// The error of the operating system or the file format.
        source: io::Error,
    },
    /// A gzip file ends before its content does.
    #[error(
        "{origin}, line {line}: the gzip data end too early\nhint: the file is cut off; copy or download it again"
    )]
    TruncatedGzip {
        /// The path as given.
        origin: Arc<str>,
        /// The last line that could be read.
        line: u64,
    },
    /// The file is empty.
    #[error("{origin}: the file is empty\nhint: expected a line of column names, then rows")]
    EmptyFile {
        /// The path as given.
        origin: Arc<str>,
    },
    /// The table has no rows.
    #[error("{origin}: no rows to learn from\nhint: expected at least one row below the column names")]
    NoRows {
        /// The table.
        origin: Arc<str>,
    },
    /// No column can be a feature.
    #[error(
        "{origin}: no column can be a feature\nhint: a feature has two or more different values, and as text not hundreds"
    )]
    NothingToDescribe {
        /// The table.
        origin: Arc<str>,
    },
    /// The column that should be the label is not there.
    #[error("{origin}: no column `{column}` for the label{}", found_instead(.column, .known))]
    AbsentLabel {
        /// The table.
        origin: Arc<str>,
        /// The column that should be the label.
        column: String,
        /// The columns in the table.
        known: Vec<String>,
    },
    /// The column that should be the label has too few values, or too many.
    #[error(
        "{origin}: column `{column}` cannot be the label: expected 2 to {most} different values, found {found}\nhint: if it is a number that must be reached, say `--at-least` or `--at-most` that number"
    )]
    NoClasses {
        /// The table.
        origin: Arc<str>,
        /// The column that should be the label.
        column: String,
        /// Number of different values.
        found: String,
        /// Largest number of classes.
        most: usize,
    },
    /// The classes that should be favourable cannot be.
    #[error("{origin}, label `{column}`: {source}")]
    Favourable {
        /// The table.
        origin: Arc<str>,
        /// The label's column.
        column: String,
        /// Why.
        source: FavourableError,
    },
    /// A number that the label must reach, of a label that is not named.
    #[error(
        "{origin}: a number must be reached by a label that is not named\nhint: name its column with `--label`"
    )]
    UnnamedGoal {
        /// The table.
        origin: Arc<str>,
    },
    /// No column that can be a label has the value that should be favourable.
    #[error("{origin}: no column that could be the label has the value `{found}`\nhint: name the label, too")]
    NoLabelHas {
        /// The table.
        origin: Arc<str>,
        /// The value that should be favourable.
        found: String,
    },
    /// A Parquet file, in a build without the feature `parquet`.
    #[error(
        "{origin}: this build does not read Parquet\nhint: build with `--features parquet`, or convert to CSV"
    )]
    ParquetNotBuilt {
        /// The path as given.
        origin: Arc<str>,
    },
    /// A Parquet column holds lists or records.
    #[error("{origin}: column `{name}` is nested, expected one value in each cell\nhint: flatten or drop it")]
    NestedColumn {
        /// The path as given.
        origin: Arc<str>,
        /// The column.
        name: String,
    },
    /// A Parquet column of values that cannot be written as text.
    #[error("{origin}: column `{name}` is {found}, expected {expected}\nhint: convert or drop it")]
    ColumnType {
        /// The path as given.
        origin: Arc<str>,
        /// The column.
        name: String,
        /// Its type.
        found: String,
        /// What can be written.
        expected: &'static str,
    },
    /// More columns than a table has: probably another kind of file.
    #[error("{origin}: found {found} columns, expected at most {limit}")]
    TooManyColumns {
        /// The table.
        origin: Arc<str>,
        /// Number of columns.
        found: usize,
        /// Largest number of columns.
        limit: usize,
    },
    /// Two columns have the same name.
    #[error("{origin}: two columns are called `{name}`\nhint: rename or drop one")]
    RepeatedColumn {
        /// The table.
        origin: Arc<str>,
        /// Their name.
        name: String,
    },
    /// A row is longer or shorter than the header.
    #[error(
        "{place}: expected {expected} cells, found {found}\nhint: look for a delimiter that is not quoted, or a row that is cut off"
    )]
    RowLength {
        /// The row.
        place: RowPlace,
        /// The number of columns.
        expected: usize,
        /// The number of cells.
        found: usize,
    },
    /// A row so long that a quote was probably not closed.
    #[error("{place}: the row is longer than {limit} bytes\nhint: {}", place.hint_if_long())]
    RecordTooLong {
        /// The row.
        place: RowPlace,
        /// The limit in bytes.
        limit: usize,
    },
    /// The file ends within a quote.
    #[error(
        "{place}: the file ends within a quote that this row opens\nhint: look for a quote that is never closed, or a file that is cut off"
    )]
    OpenQuote {
        /// The row.
        place: RowPlace,
    },
    /// A cell so long that a quote was probably not closed.
    #[error("{place}: cell {column} is longer than {limit} bytes\nhint: {}", place.hint_if_long())]
    CellTooLong {
        /// The row.
        place: RowPlace,
        /// Its cell, from 1.
        column: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// Bytes that are not UTF-8.
    #[error("{place}: cell {column} is not UTF-8\nhint: save the table as UTF-8")]
    NotUtf8 {
        /// The row.
        place: RowPlace,
        /// Its cell, from 1.
        column: usize,
    },
    /// A value of a Parquet file that cannot be written as text.
    #[error(
        "{place}: cell {column} is out of range: found {found}, expected {expected}\nhint: leave it empty if there is no value"
    )]
    OutOfRange {
        /// The row.
        place: RowPlace,
        /// Its cell, from 1.
        column: usize,
        /// The value.
        found: String,
        /// What can be written.
        expected: &'static str,
    },
    /// A cell that does not fit its column.
    #[error("{place}, {source}")]
    Cell {
        /// The row.
        place: RowPlace,
        /// The reason.
        source: CellError,
    },
    /// The schema names a column that the table does not have.
    #[error("{origin}: no column `{column}`, which the schema names{}", found_instead(.column, .known))]
    AbsentColumn {
        /// The table.
        origin: Arc<str>,
        /// The column in the schema.
        column: String,
        /// The columns in the table.
        known: Vec<String>,
    },
    /// Classes are needed, but the schema has no label.
    #[error(
        "the schema has no `[label]`\nhint: add one, with `column`, `classes` and `favourable`, or `at_least` a number"
    )]
    NoLabel,
    /// Classes are needed, but the table has no label column.
    #[error("{origin}: no column `{column}`, the schema's label")]
    NoLabelColumn {
        /// The table.
        origin: Arc<str>,
        /// The label's column.
        column: String,
    },
    /// There is no feature of this name.
    #[error("no feature `{found}`{}", suggest(.found, .known))]
    UnknownFeature {
        /// The name given.
        found: String,
        /// The features of the schema.
        known: Vec<String>,
    },
    /// All cells of a column are missing.
    #[error(
        "{origin}: column `{column}` has no value in any of {rows} rows\nhint: remove the feature from the schema"
    )]
    AllMissing {
        /// The table.
        origin: Arc<str>,
        /// The column.
        column: String,
        /// Number of rows.
        rows: u64,
    },
    /// A text column with too many distinct values.
    #[error(
        "{origin}: column `{column}` has more than {limit} different values\nhint: group them, or remove the feature from the schema"
    )]
    TooManyCategories {
        /// The table.
        origin: Arc<str>,
        /// The column.
        column: String,
        /// The limit.
        limit: usize,
    },
    /// Categories that are not numbers have no order, but a constraint needs one.
    #[error(
        "{origin}: `{column}` must have an order, because {because}, but its value `{found}` is not a number\nhint: make it `ordinal` in the schema and list its `values` in order"
    )]
    LearnedWithoutOrder {
        /// The table.
        origin: Arc<str>,
        /// The column.
        column: String,
        /// The constraint on it.
        because: &'static str,
        /// The first value that is not a number.
        found: String,
    },
    /// Two categories are the same number, but a constraint needs an order.
    #[error(
        "{origin}: `{column}` must have an order, because {because}, but its values `{first}` and `{second}` are the same number\nhint: make it `discrete` if they are the same, or else `ordinal`, and list its `values` in order"
    )]
    NoOrderBetween {
        /// The table.
        origin: Arc<str>,
        /// The column.
        column: String,
        /// The constraint on it.
        because: &'static str,
        /// One value.
        first: String,
        /// Another value that is the same number.
        second: String,
    },
    /// `allowed` lists a value that does not occur in the training rows.
    #[error("{origin}: column `{column}` never holds `{found}`, which `allowed` names{}", suggest(.found, .known))]
    AllowedNeverSeen {
        /// The table.
        origin: Arc<str>,
        /// The column.
        column: String,
        /// The value in `allowed`.
        found: String,
        /// The values in the table.
        known: Vec<String>,
    },
    /// `allowed` lists a fraction, but all training values are whole.
    #[error(
        "{origin}: column `{column}` holds whole numbers only, but `allowed` names `{found}`\nhint: list whole numbers"
    )]
    AllowedNotWhole {
        /// The table.
        origin: Arc<str>,
        /// The column.
        column: String,
        /// The number in `allowed`.
        found: String,
    },
    /// A setting outside its range.
    #[error("`{key}` is {found}, expected {expected}")]
    Setting {
        /// The setting.
        key: &'static str,
        /// Its value.
        found: usize,
        /// The range.
        expected: &'static str,
    },
    /// A saved discretizer that `fit` cannot have produced.
    #[error("saved discretizer, feature `{feature}`: {problem}\nhint: the model file is damaged; fit again")]
    Damaged {
        /// The feature.
        feature: String,
        /// What is invalid about its domain.
        problem: &'static str,
    },
    /// A schema of the latest version is to be upgraded.
    #[error("{origin}: the schema has version {version} already\nhint: there is nothing to upgrade")]
    AlreadyUpgraded {
        /// The schema.
        origin: Arc<str>,
        /// Its version.
        version: u8,
    },
    /// A schema whose text cannot be edited.
    #[error(
        "{origin}: the schema cannot be upgraded by editing its text\nhint: write `version = 2` at the top and a `change` for each feature, and call each `[[rule]]` a `[[relation]]`"
    )]
    NotUpgraded {
        /// The schema.
        origin: Arc<str>,
    },
    /// The schema is invalid.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

impl Error {
    pub(crate) fn read(origin: &Arc<str>, source: io::Error) -> Self {
        let origin = Arc::clone(origin);
        match source.kind() {
            io::ErrorKind::NotFound => Self::NoSuchFile { origin },
            _ => Self::Read { origin, source },
        }
    }

    pub(crate) fn gzip(origin: &Arc<str>, line: u64, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::UnexpectedEof => Self::TruncatedGzip { origin: Arc::clone(origin), line },
            _ => Self::read(origin, source),
        }
    }
}

/// A cell that does not fit its column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CellError {
    /// The cell is missing, but the feature may not be.
    #[error(
        "column `{column}`: the value is missing\nhint: fill it in, or set `missing = true` for this feature in the schema"
    )]
    Missing {
        /// The column.
        column: String,
    },
    /// Text, infinity or NaN in place of a number.
    #[error(
        "column `{column}`: expected a finite number, found `{found}`\nhint: correct the cell, list the text under `missing_text`, or make the feature `nominal`"
    )]
    NotANumber {
        /// The column.
        column: String,
        /// The cell.
        found: String,
    },
    /// A number outside the feature's range.
    #[error(
        "column `{column}`: expected {expected}, found `{found}`\nhint: correct the cell, or the feature's `range` in the schema"
    )]
    OutOfRange {
        /// The column.
        column: String,
        /// The cell.
        found: String,
        /// The range, in words.
        expected: String,
    },
    /// A value that is not one of the feature's categories.
    #[error(
        "column `{column}`: no category `{found}`{}\nhint: correct the cell, add the value to the schema, or set `missing = true` to take it as unknown",
        suggest(.found, .known)
    )]
    UnknownCategory {
        /// The column.
        column: String,
        /// The cell.
        found: String,
        /// The categories.
        known: Vec<String>,
    },
    /// A label that is no number, where the schema says `at_least` or `at_most`.
    #[error(
        "column `{column}`: expected a finite number, the label, found `{found}`\nhint: correct the cell, or leave out rows without a label"
    )]
    LabelNotANumber {
        /// The column.
        column: String,
        /// The cell.
        found: String,
    },
    /// A label that is not one of the classes.
    #[error("column `{column}`: no class `{found}`{}", suggest(.found, .known))]
    UnknownClass {
        /// The column.
        column: String,
        /// The cell.
        found: String,
        /// The classes.
        known: Vec<String>,
    },
}
