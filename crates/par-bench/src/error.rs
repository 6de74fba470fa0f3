//! What can go wrong when answers are measured.

use par_data::table::RowPlace;

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A table or schema is wrong.
    #[error(transparent)]
    Data(#[from] par_data::Error),
    /// A model cannot be made.
    #[error("{case}, fold {fold}: {source}")]
    Fit {
        /// The case.
        case: String,
        /// The fold.
        fold: String,
        /// Why.
        source: Box<par_fit::Error>,
    },
    /// A row of a fold cannot be read by what was learned from the other folds.
    #[error("{place}: {source}")]
    Row {
        /// Where it stands.
        place: RowPlace,
        /// Why.
        source: Box<par_model::RowError>,
    },
    /// A table cannot be parted into folds.
    #[error("{origin}: {problem}")]
    Folds {
        /// The table.
        origin: String,
        /// What is wrong, and how to mend it.
        problem: String,
    },
    /// A file of figures is wrong.
    #[error("{origin}, line {line}: {problem}")]
    Figures {
        /// The file.
        origin: String,
        /// The line.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// Answers of another method are wrong.
    #[error("{origin}, line {line}: {problem}")]
    Peers {
        /// The file.
        origin: String,
        /// The line.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// A file cannot be read.
    #[error("{origin}: {source}")]
    Read {
        /// The file.
        origin: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] par_files::Error),
}
