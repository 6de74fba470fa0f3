//! Errors of reading a model and of scoring a row.

use crate::classifier::ExternalError;
use crate::container::ContainerError;

/// Why a row has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// A cell does not fit its column.
    #[error(transparent)]
    Cell(#[from] par_data::CellError),
    /// The classifier cannot score the row.
    #[error(
        "the classifier's log-odds are {found}, expected a number\nhint: look for a number far beyond those of the training rows"
    )]
    NoScore {
        /// Its log-odds, which are not finite.
        found: f64,
    },
    /// A certificate was asked for classifiers that are not near.
    #[error(
        "δ is {found}, expected a number from 0 to 1\nhint: δ is a share of each layer's largest weight, or of each column's spread; 0.01 is a small one"
    )]
    Delta {
        /// How far classifiers may differ.
        found: f64,
    },
}

/// Why a model cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The file cannot be written.
    #[cfg(feature = "files")]
    #[error(transparent)]
    Write(#[from] par_files::Error),
    /// The file is larger than any model.
    #[error("the file has {found} bytes, expected at most {expected}")]
    TooLarge {
        /// Its size.
        found: u64,
        /// The largest size.
        expected: u64,
    },
    /// The bytes are not a complete model.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// The description cannot be read.
    #[error("the model's description cannot be read: {0}")]
    Description(#[from] serde_json::Error),
    /// The external classifier cannot be read.
    #[error("the classifier in the model cannot be read: {0}")]
    External(#[from] ExternalError),
    /// A circuit cannot be read.
    #[error("a circuit in the model cannot be read: {0}")]
    Circuit(#[from] par_circuit::FormatError),
    /// The parts do not fit each other.
    #[error("the model's parts do not belong together: {0}")]
    Mismatch(&'static str),
}
