//! Why rows cannot judge.

use par_circuit::LearnError;
use par_data::CellError;

/// Why there is no judge.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// There are too few held-out accepted rows.
    #[error("{found} held-out accepted rows cannot judge answers, expected at least {expected}")]
    TooFewRows {
        /// How many there are.
        found: usize,
        /// How many there must be.
        expected: usize,
    },
    /// A cell of a held-out row does not fit its column.
    #[error("{source}")]
    Row {
        /// The row's place among the held-out rows.
        place: usize,
        /// What does not fit.
        source: CellError,
    },
    /// No circuit was learned from the held-out rows.
    #[error(transparent)]
    Circuit(#[from] LearnError),
}
