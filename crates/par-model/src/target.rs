//! The score that a row must reach to be accepted.

use par_circuit::Code;

use crate::classifier::Classifier;
use crate::scale::ScoreScale;

/// A score over codes and the threshold that it must reach.
///
/// # Paper
/// f(x) = 1 of Eq. (1), decided at τ.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// Scores rows of codes.
    pub classifier: &'a dyn Classifier,
    /// The lowest score that is accepted, τ; for [`par_data::schema::Side::AtMost`] the highest.
    pub threshold: f64,
    /// What the score is.
    pub scale: ScoreScale,
}

impl Target<'_> {
    /// The score of a row.
    pub fn score(&self, row: &[Code]) -> f64 {
        self.scale.score(self.classifier.log_odds(row))
    }

    /// Whether the score of a row reaches the threshold.
    pub fn accepts(&self, row: &[Code]) -> bool {
        self.is_reached_by(self.classifier.log_odds(row))
    }

    /// Whether log-odds reach the threshold.
    pub fn is_reached_by(&self, log_odds: f64) -> bool {
        self.scale.reaches(self.scale.score(log_odds), self.threshold)
    }
}
