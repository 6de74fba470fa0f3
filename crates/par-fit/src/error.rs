//! The errors of a fit.

use par_circuit::{LearnError, Stopped};
use par_model::ConfigError;
use par_model::classifier::ExternalError;

use crate::classifier::ClassifierError;

/// Why a fit failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A table or schema is wrong.
    #[error(transparent)]
    Data(#[from] par_data::Error),
    /// The classifier cannot be trained.
    #[error(transparent)]
    Classifier(ClassifierError),
    /// The external classifier cannot be used.
    #[error(transparent)]
    External(#[from] ExternalError),
    /// Versions of a classifier that is not trained here.
    #[error(
        "{count} versions of the classifier are to be trained, but the classifier is supplied\nhint: train them as it was trained, and add each as a file"
    )]
    VersionsOfSupplied {
        /// How many.
        count: usize,
    },
    /// The external classifier has no score for a row.
    #[error(
        "{place}: the classifier's log-odds are {found}, expected a number\nhint: scale numbers as the classifier expects them, and set `missing` in the inputs to the value of a missing cell"
    )]
    NoScore {
        /// The row.
        place: par_data::table::RowPlace,
        /// The log-odds, which are not finite.
        found: f64,
    },
    /// A cell of the column of scores holds none.
    #[error(
        "{place}, column `{column}`: expected {}, found `{found}`\nhint: a score is {}",
        if *.is_number { "a finite number" } else { "a score from 0 to 1, or a class of the label" },
        if *.is_number { "the number that the classifier predicts" } else { "the probability of acceptance" }
    )]
    Score {
        /// The row.
        place: par_data::table::RowPlace,
        /// The column of scores.
        column: String,
        /// The cell.
        found: String,
        /// Whether scores are predicted numbers.
        is_number: bool,
    },
    /// The external classifier scores rows of the favourable class lower than others, beyond chance.
    #[error(
        "the classifier tells the classes apart the wrong way round: its AUC for `{favourable}` is {auc:.3} on the {rows} training rows, and random scores have 0.5\nhint: {scored}"
    )]
    Inverted {
        /// The AUC of its scores for the favourable class.
        auc: f64,
        /// The number of training rows.
        rows: usize,
        /// The favourable class.
        favourable: String,
        /// Where the scores come from.
        scored: ScoredBy,
    },
    /// The circuits are to be learned from the classifier's decisions, which are the same for all training rows.
    #[error(
        "the classifier {} every training row, so nothing can be learned from its decisions\nhint: choose another threshold, or learn the circuits from the labels",
        if *.accepted { "accepts" } else { "denies" }
    )]
    OneDecision {
        /// Whether it accepts all of them.
        accepted: bool,
    },
    /// A circuit cannot be learned.
    #[error("the circuit of the {class} class: {source}")]
    Circuit {
        /// `accepted` or `denied`.
        class: &'static str,
        /// Why.
        source: LearnError,
    },
    /// A setting cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The schema has no label.
    #[error(
        "the schema names no label\nhint: name under `[label]` the column of the decision and its `favourable` class"
    )]
    NoLabel,
    /// No feature may change.
    #[error("nothing can change{}", undecided_words(.undecided))]
    NothingCanChange {
        /// The features of which the schema does not say whether they can change.
        undecided: Vec<String>,
    },
    /// The favourable classes of the configuration cannot be.
    #[error(transparent)]
    Favourable(#[from] par_data::schema::FavourableError),
    /// The labels of all training rows are on one side of the number to reach.
    #[error(
        "the label of every training row is {side}, expected rows on both sides\nhint: choose another number under `[label]` in the schema"
    )]
    OneSide {
        /// The side, in words.
        side: String,
    },
    /// Rows cannot be made into codes.
    #[error(transparent)]
    Codes(#[from] par_circuit::DatasetError),
    /// The fit was stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Where the scores of training rows come from. Its text says how to fix scores of the wrong class.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScoredBy {
    /// An output of an ONNX file.
    #[error(
        "{}; or see which class is `favourable`",
        match .accepted[..] {
            [one @ 0..=1] => format!("`accepted = {one}` under `[output]` of the inputs is likely the other class, try `accepted = {}`", 1 - one),
            _ => format!("`accepted = {accepted:?}` under `[output]` of the inputs are likely other classes"),
        }
    )]
    Output {
        /// The columns or classes that count as accepted.
        accepted: Vec<usize>,
    },
    /// A predicted number.
    #[error("see whether it predicts the label, and whether the schema means `at_least` or `at_most`")]
    Number,
    /// A column of the table.
    #[error(
        "column `{column}` likely holds the probability p of the other class, give 1 - p; or see which class is `favourable`"
    )]
    Column {
        /// Its name.
        column: String,
    },
}

impl From<ClassifierError> for Error {
    fn from(error: ClassifierError) -> Self {
        match error {
            ClassifierError::Stopped(stopped) => Self::Stopped(stopped),
            error => Self::Classifier(error),
        }
    }
}

impl Error {
    pub(crate) fn of_circuit(class: &'static str, source: LearnError) -> Self {
        match source {
            LearnError::Stopped(stopped) => Self::Stopped(stopped),
            source => Self::Circuit { class, source },
        }
    }
}

/// The undecided features, in the middle of a message.
fn undecided_words(undecided: &[String]) -> String {
    match undecided {
        [] => ": every feature is immutable\nhint: let one change in the schema, or take it out of the configuration's \
               `immutable`"
            .to_string(),
        names => format!(
            ": the schema does not say whether these can: {}\nhint: say what a person can change, such as \
             `change = \"increase\"`; `par schema init --ask` asks what is most useful",
            names.join(", ")
        ),
    }
}
