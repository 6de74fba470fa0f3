//! Trains classifiers and measures them.

mod measures;
mod training;
mod versions;

use par_model::setting::SettingError;

pub use self::measures::{
    CalibrationBin, accuracy, auc, brier, calibration, calibration_error, inverted_auc, r_squared,
    youden_threshold,
};
pub use self::training::{train_classifier, train_regression, train_surrogate};
pub use self::versions::train_versions;

/// Why no classifier could be trained.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClassifierError {
    /// A setting is out of its range.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// There are no training rows.
    #[error("there are no training rows")]
    NoRows,
    /// All training rows have the same class.
    #[error("every training row is {}, expected rows of both classes", if *.accepted { "accepted" } else { "denied" })]
    OneClass {
        /// Whether that class is the accepted one.
        accepted: bool,
    },
    /// The loss became infinite or NaN.
    #[error("training diverged in epoch {epoch}\nhint: lower `learning_rate`, which is {learning_rate}")]
    Diverged {
        /// The epoch, from 1.
        epoch: usize,
        /// The setting.
        learning_rate: f64,
    },
    /// Training was stopped.
    #[error(transparent)]
    Stopped(#[from] par_circuit::Stopped),
}
