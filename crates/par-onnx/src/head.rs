//! From the parts of a classifier of several classes to the log-odds that its class is an accepted one.

/// How the parts of a classifier become its log-odds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// The only part is the log-odds.
    Single,
    /// Softmax: the parts are the score of each accepted class minus that of each other class, `others` for an
    /// accepted class. The log-odds are ln Σ e^accepted − ln Σ e^other.
    Softmax {
        /// The number of classes that are not accepted.
        others: usize,
    },
    /// The same parts; the log-odds are the largest accepted score minus the largest other one.
    Largest {
        /// The number of classes that are not accepted.
        others: usize,
    },
    /// One sigmoid a class, divided by their sum: the parts are the scores of the classes, the accepted ones first.
    OneVsRest {
        /// The number of accepted classes.
        accepted: usize,
    },
}

impl Head {
    /// The log-odds for the values of all parts.
    pub fn log_odds(self, parts: &[f64]) -> f64 {
        match self {
            Self::Single => parts[0],
            Self::Softmax { others } => {
                let against_all = |own: &[f64]| -log_sum_exp(own.iter().map(|difference| -difference));
                log_sum_exp(parts.chunks_exact(others).map(against_all))
            }
            Self::Largest { others } => {
                let least = |own: &[f64]| own.iter().copied().fold(f64::INFINITY, lesser);
                parts.chunks_exact(others).map(least).fold(f64::NEG_INFINITY, greater)
            }
            Self::OneVsRest { accepted } => {
                let (accepted, others) = parts.split_at(accepted);
                let sum = |scores: &[f64]| log_sum_exp(scores.iter().map(|&score| log_sigmoid(score)));
                sum(accepted) - sum(others)
            }
        }
    }

    /// Whether the log-odds rise with a part; otherwise they fall.
    pub fn rises_with(self, part: usize) -> bool {
        match self {
            Self::OneVsRest { accepted } => part < accepted,
            Self::Single | Self::Softmax { .. } | Self::Largest { .. } => true,
        }
    }

    /// Bounds on the log-odds, for lower and upper bounds of all parts: they rise, or fall, with each.
    pub fn bounds(self, parts: &[(f64, f64)]) -> (f64, f64) {
        let end = |is_upper: bool| {
            let part = |(place, &(lower, upper)): (usize, &(f64, f64))| {
                if is_upper == self.rises_with(place) { upper } else { lower }
            };
            self.log_odds(&parts.iter().enumerate().map(part).collect::<Vec<f64>>())
        };
        match self {
            Self::Single => parts[0],
            Self::Largest { .. } => (end(false), end(true)),
            // Room for the rounding of sums of exponentials.
            Self::Softmax { .. } | Self::OneVsRest { .. } => {
                let slack = |end: f64| 1e-12 * (1.0 + end.abs());
                let (lower, upper) = (end(false), end(true));
                (lower - slack(lower), upper + slack(upper))
            }
        }
    }

    /// The slope of the log-odds by each part.
    pub fn slopes(self, parts: &[f64]) -> Vec<f64> {
        match self {
            Self::Single => vec![1.0],
            Self::Softmax { others } => {
                let rows: Vec<f64> = parts
                    .chunks_exact(others)
                    .map(|own| -log_sum_exp(own.iter().map(|difference| -difference)))
                    .collect();
                let all = log_sum_exp(rows.iter().copied());
                let slope = |(place, difference): (usize, &f64)| {
                    let row = rows[place / others];
                    (row - all).exp() * (row - difference).exp()
                };
                parts.iter().enumerate().map(slope).collect()
            }
            Self::Largest { .. } => {
                let log_odds = self.log_odds(parts);
                let place = parts.iter().position(|&part| part == log_odds);
                (0..parts.len()).map(|part| f64::from(u8::from(Some(part) == place))).collect()
            }
            Self::OneVsRest { accepted } => {
                let sums = [&parts[..accepted], &parts[accepted..]]
                    .map(|scores| log_sum_exp(scores.iter().map(|&score| log_sigmoid(score))));
                let slope = |(place, &score): (usize, &f64)| {
                    let (sum, sign) = if place < accepted { (sums[0], 1.0) } else { (sums[1], -1.0) };
                    sign * (log_sigmoid(score) - sum).exp() * log_sigmoid(-score).exp()
                };
                parts.iter().enumerate().map(slope).collect()
            }
        }
    }
}

/// ln Σ eˣ, without overflow; NaN if one is NaN.
fn log_sum_exp(numbers: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = numbers.clone().fold(f64::NEG_INFINITY, greater);
    if largest.is_infinite() || largest.is_nan() {
        return largest;
    }
    largest + numbers.map(|number| (number - largest).exp()).sum::<f64>().ln()
}

/// ln(1 / (1 + e⁻ˣ)).
fn log_sigmoid(x: f64) -> f64 {
    x.min(0.0) - (-x.abs()).exp().ln_1p()
}

/// The larger number; `f64::max` would ignore NaN.
fn greater(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// The smaller number; `f64::min` would ignore NaN.
fn lesser(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every head over the scores of four classes, of which the first two are accepted.
    fn heads(scores: &[f64; 4]) -> [(Head, Vec<f64>); 3] {
        let differences: Vec<f64> =
            [0, 1].into_iter().flat_map(|own| [2, 3].map(|other| scores[own] - scores[other])).collect();
        [
            (Head::Softmax { others: 2 }, differences.clone()),
            (Head::Largest { others: 2 }, differences),
            (Head::OneVsRest { accepted: 2 }, scores.to_vec()),
        ]
    }

    proptest! {
        #[test]
        fn log_odds_are_those_of_the_shares(scores in prop::array::uniform4(-20.0..20.0_f64)) {
            let share = |weight: fn(f64) -> f64| {
                let weights = scores.map(weight);
                ((weights[0] + weights[1]) / (weights[2] + weights[3])).ln()
            };
            let [softmax, largest, one_vs_rest] = heads(&scores).map(|(head, parts)| head.log_odds(&parts));
            prop_assert!((softmax - share(f64::exp)).abs() < 1e-9);
            prop_assert!((one_vs_rest - share(|x| 1.0 / (1.0 + (-x).exp()))).abs() < 1e-9);
            let expected = scores[0].max(scores[1]) - scores[2].max(scores[3]);
            prop_assert!((largest - expected).abs() < 1e-12);
        }

        #[test]
        fn bounds_hold_for_everything_between(
            ends in prop::collection::vec((-9.0..9.0_f64, 0.0..9.0_f64), 4),
            shares in prop::collection::vec(0.0..=1.0_f64, 4),
        ) {
            for (head, _) in heads(&[0.0; 4]) {
                let parts: Vec<(f64, f64)> = ends.iter().map(|&(low, width)| (low, low + width)).collect();
                let inside: Vec<f64> =
                    ends.iter().zip(&shares).map(|((low, width), share)| low + width * share).collect();
                let (lower, upper) = head.bounds(&parts);
                let log_odds = head.log_odds(&inside);
                prop_assert!(lower <= log_odds && log_odds <= upper, "{head:?}");
            }
        }

        #[test]
        fn slopes_are_those_of_finite_differences(scores in prop::array::uniform4(-4.0..4.0_f64)) {
            for (head, parts) in heads(&scores) {
                for (part, slope) in head.slopes(&parts).into_iter().enumerate() {
                    let moved = |by: f64| {
                        let mut parts = parts.clone();
                        parts[part] += by;
                        head.log_odds(&parts)
                    };
                    let found = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                    let is_tie = matches!(head, Head::Largest { .. }) && found != 0.0 && (found - 1.0).abs() > 1e-3;
                    prop_assert!(is_tie || (found - slope).abs() < 1e-4, "{head:?}: {found} is not {slope}");
                }
            }
        }
    }

    #[test]
    fn a_score_that_is_not_a_number_is_not_hidden() {
        for (head, mut parts) in heads(&[0.0, 1.0, 2.0, 3.0]) {
            parts[1] = f64::NAN;
            assert!(head.log_odds(&parts).is_nan(), "{head:?}");
        }
    }
}
