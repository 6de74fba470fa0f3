//! Why a promise cannot be issued, read or checked.

use std::io;
use std::path::PathBuf;

use crate::date::Date;

/// Why a promise cannot be issued, read or checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read.
    #[error("{}: cannot be opened: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Something that is not a file.
    #[error("{}: is {found}, expected {expected}", path.display())]
    NoFile {
        /// Its path.
        path: PathBuf,
        /// What it is.
        found: &'static str,
        /// What was expected.
        expected: &'static str,
    },
    /// A file is too large.
    #[error("{}: has more than {most} bytes, expected {expected}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most bytes that are read.
        most: u64,
        /// What was expected.
        expected: &'static str,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] par_files::Error),
    /// A folder cannot be created.
    #[error("{}: the folder cannot be created: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The operating system has no randomness.
    #[error("the operating system gives no random numbers: {0}")]
    Randomness(getrandom::Error),
    /// Others can read or write a private key.
    #[error(
        "{}: others can read or change this private key (its mode is {mode:03o}), expected a file for its owner alone \
         (600)\nhint: `chmod 600` closes it; if somebody may have read it, make another key",
        path.display()
    )]
    OpenKey {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// A file is not the key that is needed.
    #[error("{}: is no {expected} key: {reason}\nhint: `par promise keygen` makes a key, and its public key beside it", path.display())]
    NoKey {
        /// The file.
        path: PathBuf,
        /// `public` or `private`.
        expected: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A file is no record, or no sealed file.
    #[error("{}: is no {expected}: {source}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What was expected.
        expected: &'static str,
        /// What is wrong with it.
        source: FormatError,
    },
    /// The classifier itself is not in the model.
    #[error(
        "the model was made from scores, so that a surrogate of the classifier decides: it can neither make promises nor \
         say whether they are kept\nhint: fit a model with the classifier itself, `par fit --classifier`"
    )]
    Surrogate,
    /// The way was found for a threshold at which the model itself does not accept.
    #[error(
        "a promise at the threshold {asked} would be broken at once: the model accepts from {own} on\n\
         hint: leave `--threshold` out, or ask for a surer one"
    )]
    Threshold {
        /// The threshold of the request.
        asked: f64,
        /// The threshold of the model.
        own: f64,
    },
    /// A promise would end before it begins.
    #[error("a promise cannot expire on {expires}, before it is issued on {issued}")]
    Dates {
        /// The first day.
        issued: Date,
        /// The last day.
        expires: Date,
    },
    /// A folder holds no record.
    #[error("{}: holds no records, expected files called `ID.record.json`\nhint: `par promise issue` writes them", .0.display())]
    NoRecords(PathBuf),
}

/// Why bytes are no record, or no sealed file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// It is no JSON, or has other fields. The message may quote them: what is in a file must not steer a terminal.
    #[error("{}", .0.to_string().replace(char::is_control, " "))]
    Json(#[from] serde_json::Error),
    /// It is of another version.
    #[error("its version is {found}, this program reads version {expected}")]
    Version {
        /// Its version.
        found: u64,
        /// The version that is read.
        expected: u32,
    },
    /// It expires before it is issued.
    #[error("it expires on {expires}, before it is issued on {issued}")]
    Dates {
        /// The first day.
        issued: Date,
        /// The last day.
        expires: Date,
    },
    /// Its threshold is no number.
    #[error("its threshold is `{}`, expected a number", .0.replace(char::is_control, " "))]
    Threshold(String),
    /// A row has more or fewer cells than columns.
    #[error("the row of the {row} has {found} cells, expected {expected}, one for each column")]
    Cells {
        /// `person` or `way`.
        row: &'static str,
        /// How many cells it has.
        found: usize,
        /// How many columns there are.
        expected: usize,
    },
}
