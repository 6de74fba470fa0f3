//! Shares of people, with how sure they are.

use serde::{Deserialize, Serialize};

/// The 0.975 quantile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// So many of so many.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// How many are counted.
    pub yes: u64,
    /// Of how many.
    pub of: u64,
    /// The share; `None` if it is of none.
    pub share: Option<f64>,
    /// Its 95 % confidence interval, as [`wilson`].
    pub interval: Option<[f64; 2]>,
}

impl Share {
    /// The share of `yes` among `of`.
    pub fn new(yes: u64, of: u64) -> Self {
        let share = (of > 0).then(|| yes as f64 / of as f64);
        let interval = wilson(yes as f64, of as f64).map(|(low, high)| [low, high]);
        Self { yes, of, share, interval }
    }
}

/// Wilson's score interval of 95 % for the share of `yes` among `of`; `None` if it is of none.
pub fn wilson(yes: f64, of: f64) -> Option<(f64, f64)> {
    if of <= 0.0 {
        return None;
    }
    let (share, square) = (yes / of, Z * Z);
    let centre = share + square / (2.0 * of);
    let reach = Z * (share * (1.0 - share) / of + square / (4.0 * of * of)).sqrt();
    let scale = 1.0 + square / of;
    Some((((centre - reach) / scale).max(0.0), ((centre + reach) / scale).min(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_none_is_no_share() {
        assert_eq!(Share::new(0, 0), Share { yes: 0, of: 0, share: None, interval: None });
    }

    #[test]
    fn an_interval_stays_within_zero_and_one() {
        let all = Share::new(10, 10);
        let [low, high] = all.interval.expect("a share of ten");
        // 10 / (10 + z²), a known closed form.
        assert!((low - 10.0 / (10.0 + Z * Z)).abs() < 1e-12, "{low}");
        assert!(high <= 1.0 && high > 1.0 - 1e-12, "{high}");
        assert_eq!(all.share, Some(1.0));
    }
}
