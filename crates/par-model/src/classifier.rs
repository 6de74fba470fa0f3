//! The classifier: decides who is accepted.

pub mod inputs;

mod bounds;
mod certificate;
mod composed;
mod config;
mod deployed;
mod external;
pub mod neural;
mod robust;
mod trees;

use par_circuit::{Ball, Code};

pub use self::config::{Balance, ClassifierConfig, Threshold};
pub use self::deployed::DeployedClassifier;
pub use self::external::{ExternalClassifier, ExternalError, WrittenRow, file_hash};
pub use self::inputs::{Encoding, Inputs, InputsError};
pub use self::neural::NeuralClassifier;
pub use self::robust::{RobustClassifier, Version, denials};

/// A classifier over rows of codes.
///
/// Scores are log-odds of acceptance, which do not saturate near 0 and 1; a row is accepted when the score that they
/// are on the model's [scale](crate::ScoreScale), usually their [`probability`], reaches the threshold. A code may be unknown, [`par_circuit::OPEN`]; in soft rows the
/// weights of an unknown feature are all zero.
pub trait Classifier: Send + Sync {
    /// How many codes each feature has.
    fn cardinalities(&self) -> &[usize];

    /// The log-odds that a row is accepted.
    fn log_odds(&self, row: &[Code]) -> f64;

    /// For each code of each feature, in order, the log-odds of the row with this code in place of its own, up to
    /// rounding.
    ///
    /// # Panics
    /// When `log_odds` has not one place a code.
    fn neighbours(&self, row: &[Code], log_odds: &mut [f64]) {
        one_by_one(self, row, log_odds);
    }

    /// The log-odds of a soft row, which holds a weight q_{j,c} for every code of every feature. Writes the gradient
    /// by each weight.
    fn log_odds_gradient(&self, soft: &[f32], gradient: &mut [f32]) -> f64;

    /// A lower and an upper bound on the log-odds of every row in the ball.
    fn log_odds_bounds(&self, ball: &Ball) -> (f64, f64);

    /// An upper bound on the log-odds of every row in the ball to which each change adds a fixed amount; `None` if the
    /// classifier has none that is tighter than a constant.
    fn relaxation(&self, _ball: &Ball) -> Option<Relaxation> {
        None
    }
}

/// An upper bound on the log-odds of the rows of a ball: the sum of `centre` and of the gain of every change.
#[derive(Clone, Debug, PartialEq)]
pub struct Relaxation {
    /// No row has higher log-odds.
    pub most: f64,
    /// The bound at the centre of the ball.
    pub centre: f64,
    /// What every alternative of the ball adds, feature by feature.
    pub gains: Vec<f64>,
}

impl<C: Classifier + ?Sized> Classifier for &C {
    fn cardinalities(&self) -> &[usize] {
        (**self).cardinalities()
    }

    fn log_odds(&self, row: &[Code]) -> f64 {
        (**self).log_odds(row)
    }

    fn neighbours(&self, row: &[Code], log_odds: &mut [f64]) {
        (**self).neighbours(row, log_odds);
    }

    fn log_odds_gradient(&self, soft: &[f32], gradient: &mut [f32]) -> f64 {
        (**self).log_odds_gradient(soft, gradient)
    }

    fn log_odds_bounds(&self, ball: &Ball) -> (f64, f64) {
        (**self).log_odds_bounds(ball)
    }

    fn relaxation(&self, ball: &Ball) -> Option<Relaxation> {
        (**self).relaxation(ball)
    }
}

/// The log-odds of all single changes of a row, one by one.
fn one_by_one<C: Classifier + ?Sized>(classifier: &C, row: &[Code], log_odds: &mut [f64]) {
    let cardinalities = classifier.cardinalities();
    assert_eq!(log_odds.len(), cardinalities.iter().sum::<usize>(), "one place a code");
    let (mut changed, mut places) = (row.to_vec(), log_odds.iter_mut());
    for (feature, &cardinality) in cardinalities.iter().enumerate() {
        for (code, place) in (0..cardinality as Code).zip(places.by_ref()) {
            changed[feature] = code;
            *place = classifier.log_odds(&changed);
        }
        changed[feature] = row[feature];
    }
}

/// The probability of acceptance for these log-odds.
pub fn probability(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}
