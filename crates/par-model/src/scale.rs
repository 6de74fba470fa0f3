//! What a score is, and how it follows from log-odds.

use par_data::schema::Side;
use serde::{Deserialize, Serialize};

use crate::classifier::probability;

/// What the score of a model is, and how it follows from the log-odds that classifiers compute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreScale {
    /// The probability of acceptance.
    #[default]
    Probability,
    /// A predicted number, in the unit of the label: `center` plus, or for [`Side::AtMost`] minus, `spread` times the
    /// log-odds.
    Number {
        /// The number for log-odds of zero.
        center: f64,
        /// The difference that a unit of log-odds makes; above 0.
        spread: f64,
        /// The side of the threshold that is accepted.
        side: Side,
    },
}

impl ScoreScale {
    /// The scale of numbers with this standard deviation. The spread is the next power of two, so that a classifier
    /// is scaled without rounding.
    pub fn number(center: f64, deviation: f64, side: Side) -> Self {
        let usable = deviation > 0.0 && deviation.is_finite();
        let exponent = if usable { deviation.log2().round().clamp(-100.0, 100.0) } else { 0.0 };
        Self::Number { center, spread: exponent.exp2(), side }
    }

    /// The scale of an external classifier of the same label: it predicts numbers as they are.
    pub fn of_external(self) -> Self {
        match self {
            Self::Number { spread, side, .. } => Self::Number { center: 0.0, spread, side },
            Self::Probability => Self::Probability,
        }
    }

    /// Whether scores are predicted numbers.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Number { .. })
    }

    /// The score for log-odds.
    pub fn score(self, log_odds: f64) -> f64 {
        match self {
            Self::Probability => probability(log_odds),
            Self::Number { center, spread, side: Side::AtLeast } => center + spread * log_odds,
            Self::Number { center, spread, side: Side::AtMost } => center - spread * log_odds,
        }
    }

    /// The log-odds for a score; finite for a probability of 0 or 1 too.
    pub fn log_odds(self, score: f64) -> f64 {
        match self {
            Self::Probability => {
                let probability = score.clamp(1e-9, 1.0 - 1e-9);
                (probability / (1.0 - probability)).ln()
            }
            Self::Number { center, spread, side: Side::AtLeast } => (score - center) / spread,
            Self::Number { center, spread, side: Side::AtMost } => (center - score) / spread,
        }
    }

    /// Whether a score reaches a threshold.
    pub fn reaches(self, score: f64, threshold: f64) -> bool {
        match self {
            Self::Probability => score >= threshold,
            Self::Number { side, .. } => side.reaches(score, threshold),
        }
    }

    /// The score in a unit in which more is surer, and a hundredth is hardly noticed: a probability, or a number in
    /// spreads.
    pub fn sureness(self, score: f64) -> f64 {
        match self {
            Self::Probability => score,
            Self::Number { .. } => self.log_odds(score),
        }
    }

    /// The threshold that is `by` harder to reach; near a probability of 1 it is less.
    pub fn harder(self, threshold: f64, by: f64) -> f64 {
        match self {
            Self::Probability => (threshold + by).min(f64::midpoint(threshold, 1.0)),
            Self::Number { side: Side::AtLeast, .. } => threshold + by,
            Self::Number { side: Side::AtMost, .. } => threshold - by,
        }
    }

    /// The least score that is surer than this one.
    pub fn next(self, score: f64) -> f64 {
        match self {
            Self::Number { side: Side::AtMost, .. } => score.next_down(),
            Self::Probability | Self::Number { .. } => score.next_up(),
        }
    }

    /// Whether a score can reach the threshold.
    pub fn is_possible(self, threshold: f64) -> bool {
        match self {
            Self::Probability => threshold <= 1.0,
            Self::Number { .. } => threshold.is_finite(),
        }
    }

    /// Whether a number can be a threshold.
    pub fn is_threshold(self, number: f64) -> bool {
        match self {
            Self::Probability => number > 0.0 && number < 1.0,
            Self::Number { .. } => number.is_finite(),
        }
    }

    /// Whether a number can be a margin.
    pub fn is_margin(self, number: f64) -> bool {
        match self {
            Self::Probability => (0.0..1.0).contains(&number),
            Self::Number { .. } => number >= 0.0 && number.is_finite(),
        }
    }

    /// What a threshold is, in words.
    pub fn threshold_words(self) -> &'static str {
        match self {
            Self::Probability => "a number above 0 and below 1",
            Self::Number { .. } => "a number, in the unit of the label",
        }
    }

    /// What a margin is, in words.
    pub fn margin_words(self) -> &'static str {
        match self {
            Self::Probability => "a number, at least 0 and below 1",
            Self::Number { .. } => "a number from 0, in the unit of the label",
        }
    }

    /// A setting that is a share of a probability, such as 0.05, in the unit of scores.
    pub fn in_unit(self, share: f64) -> f64 {
        match self {
            Self::Probability => share,
            Self::Number { spread, .. } => share * spread,
        }
    }

    /// How many decimals of a score are shown: a hundredth of the spread is.
    pub fn decimals(self) -> usize {
        match self {
            Self::Probability => 3,
            Self::Number { spread, .. } => (2.0 - spread.log10().floor()).clamp(0.0, 12.0) as usize,
        }
    }

    /// Whether the numbers can be those of a model.
    pub(crate) fn is_sound(self) -> bool {
        match self {
            Self::Probability => true,
            Self::Number { center, spread, .. } => center.is_finite() && spread > 0.0 && spread.is_finite(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_and_log_odds_are_inverse_and_rise_together() {
        let at_least = ScoreScale::number(52_000.0, 15_000.0, Side::AtLeast);
        let at_most = ScoreScale::number(120.0, 0.3, Side::AtMost);
        for scale in [ScoreScale::Probability, at_least, at_most] {
            for log_odds in [-3.0, -0.25, 0.0, 1.5] {
                let score = scale.score(log_odds);
                assert!((scale.log_odds(score) - log_odds).abs() < 1e-9, "{scale:?}");
                let surer = scale.score(log_odds + 0.1);
                assert!(scale.reaches(surer, score) && !scale.reaches(score, surer), "{scale:?}");
                assert!(scale.reaches(scale.next(score), score) && scale.reaches(score, score), "{scale:?}");
                assert!(scale.sureness(surer) > scale.sureness(score), "{scale:?}");
                assert!(!scale.reaches(score, scale.harder(score, 0.01)), "{scale:?}");
            }
        }
        assert_eq!(at_least, ScoreScale::Number { center: 52_000.0, spread: 16_384.0, side: Side::AtLeast });
        assert_eq!((at_least.decimals(), at_most.decimals()), (0, 3));
    }

    #[test]
    fn a_label_without_spread_has_a_scale_too() {
        for deviation in [0.0, f64::NAN, f64::INFINITY] {
            assert!(ScoreScale::number(1.0, deviation, Side::AtLeast).is_sound());
        }
    }
}
