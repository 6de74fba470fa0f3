//! Why a file is no model, or a row has no score.

use crate::classifier::ExternalError;
use crate::container::ContainerError;

/// Why a row has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// A cell does not fit its column.
    #[error(transparent)]
    Cell(#[from] par_data::CellError),
    /// The classifier gives the row no score.
    #[error(
        "the classifier's log-odds are {found}, expected a number\nhint: look for a number far beyond those of the training rows"
    )]
    NoScore {
        /// What it gives.
        found: f64,
    },
}

/// Why a file is no model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// It cannot be written.
    #[cfg(feature = "files")]
    #[error(transparent)]
    Write(#[from] par_files::Error),
    /// It is larger than any model.
    #[error("the file has {found} bytes, expected at most {expected}")]
    TooLarge {
        /// Its size.
        found: u64,
        /// The largest size.
        expected: u64,
    },
    /// It is not a model, or not a whole one.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// Its description cannot be read.
    #[error("the model's description cannot be read: {0}")]
    Description(#[from] serde_json::Error),
    /// The classifier in it cannot be read.
    #[error("the classifier in the model cannot be read: {0}")]
    External(#[from] ExternalError),
    /// A circuit in it cannot be read.
    #[error("a circuit in the model cannot be read: {0}")]
    Circuit(#[from] par_circuit::FormatError),
    /// Its parts do not fit each other.
    #[error("the model's parts do not belong together: {0}")]
    Mismatch(&'static str),
}
