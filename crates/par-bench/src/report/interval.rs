//! 95 % confidence intervals for shares, and for differences between groups.

use crate::figures::Figure;

/// The 0.975 quantile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;
/// Below this count a mean is not close to normal.
const LEAST: f64 = 10.0;

/// A difference and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Difference {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Difference {
    /// Whether zero is outside the interval.
    pub(crate) fn is_clear(self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// A share: `yes` of `of`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Proportion {
    pub(crate) yes: f64,
    pub(crate) of: f64,
}

impl Proportion {
    /// The shares of several folds, pooled.
    pub(crate) fn pooled<'a>(figures: impl IntoIterator<Item = &'a Figure>) -> Self {
        let mut pooled = Self::default();
        for figure in figures {
            let Some(value) = figure.value.filter(|value| (0.0..=1.0).contains(value)) else { continue };
            pooled = pooled.with(Self { yes: (value * figure.over as f64).round(), of: figure.over as f64 });
        }
        pooled
    }

    /// The union of both.
    pub(crate) fn with(self, other: Self) -> Self {
        Self { yes: self.yes + other.yes, of: self.of + other.of }
    }

    /// The share; `None` if it is of none.
    pub(crate) fn value(self) -> Option<f64> {
        (self.of > 0.0).then(|| self.yes / self.of)
    }

    /// Wilson's score interval.
    pub(crate) fn wilson(self) -> Option<(f64, f64)> {
        par_model::wilson(self.yes, self.of)
    }

    /// The difference to another share, with Newcombe's interval, which combines Wilson's of both.
    pub(crate) fn minus(self, other: Self) -> Option<Difference> {
        let (one, two) = (self.value()?, other.value()?);
        let ((low, high), (other_low, other_high)) = (self.wilson()?, other.wilson()?);
        let value = one - two;
        Some(Difference {
            value,
            low: value - (one - low).hypot(other_high - two),
            high: value + (high - one).hypot(two - other_low),
        })
    }
}

/// The mean of a sample, and the sum of squares around it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SampleMoments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl SampleMoments {
    /// A sample with this mean and sample standard deviation.
    pub(crate) fn new(count: usize, mean: f64, deviation: f64) -> Self {
        let count = count as f64;
        Self { count, mean, squares: (count - 1.0).max(0.0) * deviation * deviation }
    }

    /// The union of both.
    pub(crate) fn with(self, other: Self) -> Self {
        let count = self.count + other.count;
        if count == 0.0 {
            return self;
        }
        let apart = other.mean - self.mean;
        Self {
            count,
            mean: self.mean + apart * other.count / count,
            squares: self.squares + other.squares + apart * apart * self.count * other.count / count,
        }
    }

    /// The mean; `None` for an empty sample.
    pub(crate) fn mean(self) -> Option<f64> {
        (self.count > 0.0).then_some(self.mean)
    }

    /// The size of the sample.
    pub(crate) fn count(self) -> usize {
        self.count as usize
    }

    /// The difference to another mean, with an interval by Welch's standard error and the normal distribution; `None`
    /// if one of the samples is too small.
    pub(crate) fn minus(self, other: Self) -> Option<Difference> {
        if self.count < LEAST || other.count < LEAST {
            return None;
        }
        let error = |sample: Self| sample.squares / (sample.count - 1.0) / sample.count;
        let reach = Z * (error(self) + error(other)).sqrt();
        let value = self.mean - other.mean;
        let finite = value.is_finite() && reach.is_finite();
        finite.then_some(Difference { value, low: value - reach, high: value + reach })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 5e-5
    }

    #[test]
    fn wilson_agrees_with_a_worked_example() {
        // Newcombe (1998), "Two-sided confidence intervals for the single proportion", table 1, method 3.
        for (yes, of, low, high) in
            [(81.0, 263.0, 0.2553, 0.3662), (15.0, 148.0, 0.0624, 0.1605), (0.0, 20.0, 0.0, 0.1611)]
        {
            let (found_low, found_high) = Proportion { yes, of }.wilson().expect("a share");
            assert!(close(found_low, low) && close(found_high, high), "{found_low} {found_high}");
        }
        assert_eq!(Proportion::default().wilson(), None);
    }

    #[test]
    fn newcombe_agrees_with_a_worked_example() {
        // Newcombe (1998), "Interval estimation for the difference between independent proportions", table II,
        // method 10.
        for (one, other, low, high) in [
            ((56.0, 70.0), (48.0, 80.0), 0.0524, 0.3339),
            ((9.0, 10.0), (3.0, 10.0), 0.1705, 0.8090),
            ((10.0, 10.0), (0.0, 20.0), 0.6791, 1.0),
        ] {
            let share = |(yes, of)| Proportion { yes, of };
            let found = share(one).minus(share(other)).expect("shares");
            assert!(close(found.low, low) && close(found.high, high), "{found:?}");
        }
        assert_eq!(Proportion { yes: 1.0, of: 2.0 }.minus(Proportion::default()), None);
    }

    #[test]
    fn welch_agrees_with_a_computation_by_hand() {
        // Standard error: √(4/25 + 9/36) = 0.640312.
        let (one, other) = (SampleMoments::new(25, 5.0, 2.0), SampleMoments::new(36, 3.0, 3.0));
        let found = one.minus(other).expect("samples");
        assert!(close(found.low, 2.0 - 1.959964 * 0.640312) && close(found.high, 2.0 + 1.959964 * 0.640312));
        assert!(found.is_clear() && !one.minus(one).expect("samples").is_clear());
        assert_eq!(one.minus(SampleMoments::new(1, 3.0, 0.0)), None);
    }

    #[test]
    fn pooling_parts_gives_the_mean_and_deviation_of_the_whole() {
        // 1, 2, 3 and 5, 9: mean 4, squares 9 + 4 + 1 + 1 + 25 = 40.
        let pooled = SampleMoments::new(3, 2.0, 1.0).with(SampleMoments::new(2, 7.0, 8_f64.sqrt()));
        assert!(close(pooled.mean, 4.0) && close(pooled.squares, 40.0) && pooled.count() == 5, "{pooled:?}");
        assert_eq!(SampleMoments::default().with(SampleMoments::default()).mean(), None);
        assert_eq!(SampleMoments::default().with(pooled), pooled);
    }
}
