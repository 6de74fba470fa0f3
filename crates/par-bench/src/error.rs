//! The errors of measuring.

use std::path::PathBuf;

use par_data::table::RowPlace;

/// Why an experiment failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A table or schema is wrong.
    #[error(transparent)]
    Data(#[from] par_data::Error),
    /// A model cannot be fitted.
    #[error("{case}, fold {fold}: {source}")]
    Fit {
        /// The case.
        case: String,
        /// The fold.
        fold: String,
        /// Why.
        source: Box<par_fit::Error>,
    },
    /// Held-out rows cannot judge answers.
    #[error("{case}, fold {fold}: {source}")]
    Judge {
        /// The case.
        case: String,
        /// The fold.
        fold: String,
        /// Why.
        source: Box<par_judge::JudgeError>,
    },
    /// The program that solves LiCE's programs failed.
    #[error("{}: {problem}", program.display())]
    Solver {
        /// The program.
        program: PathBuf,
        /// The problem.
        problem: String,
    },
    /// The model of the other folds cannot read a row.
    #[error("{place}: {source}")]
    Row {
        /// The row's place in the table.
        place: RowPlace,
        /// Why.
        source: Box<par_model::RowError>,
    },
    /// A table cannot be split into folds.
    #[error("{origin}: {problem}")]
    Folds {
        /// The table.
        origin: String,
        /// The problem, with a hint.
        problem: String,
    },
    /// A file of figures is wrong.
    #[error("{origin}, line {line}: {problem}")]
    Figures {
        /// The file.
        origin: String,
        /// The line.
        line: u64,
        /// The problem.
        problem: String,
    },
    /// Answers of another method are wrong.
    #[error("{origin}, line {line}: {problem}")]
    Peers {
        /// The file.
        origin: String,
        /// The line.
        line: u64,
        /// The problem.
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
