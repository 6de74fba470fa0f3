//! One axis of a chart: its range, its ticks and its label.

use std::ops::RangeInclusive;

use crate::text::decimal;

/// Largest value that is drawn, so that the difference of two values does not overflow.
const LARGEST: f64 = 1e12;
/// Smallest value of a logarithmic axis.
const SMALLEST: f64 = 1e-9;

/// One axis of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    pub(crate) label: String,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) ticks: Vec<(f64, String)>,
    pub(crate) kind: AxisKind,
}

/// How values are laid out along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AxisKind {
    Linear,
    Logarithmic,
    /// One position for each of some names.
    Names,
}

impl Axis {
    /// Round numbers around all values; from 0 to 1 if there are none.
    pub fn around(label: &str, values: impl IntoIterator<Item = f64>, about: usize) -> Self {
        let (mut low, mut high) = ends(values.into_iter().map(|value| value.clamp(-LARGEST, LARGEST)));
        if low > high {
            (low, high) = (0.0, 1.0);
        } else if high - low <= low.abs() * 1e-9 {
            let room = if low == 0.0 { 1.0 } else { low.abs() / 10.0 };
            (low, high) = (low - room, high + room);
        }
        let step = step(low, high, about);
        let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
        let text = |tick: f64| tick_text(tick, step);
        Self::new(label, (low, high), with_texts(ticks(low, high, step), text), AxisKind::Linear)
    }

    /// Shares of one, as percentages.
    pub fn shares(label: &str) -> Self {
        let text = |tick: f64| format!("{:.0} %", 100.0 * tick);
        Self::new(label, (0.0, 1.0), with_texts(ticks(0.0, 1.0, 0.25), text), AxisKind::Linear)
    }

    /// Whole numbers, each with room for a bar.
    pub fn counts(label: &str, counts: RangeInclusive<usize>) -> Self {
        let range = (*counts.start() as f64 - 0.5, *counts.end() as f64 + 0.5);
        let ticks = counts.map(|count| (count as f64, count.to_string())).collect();
        Self::new(label, range, ticks, AxisKind::Linear)
    }

    /// Powers of ten around all positive values; other values are drawn at the low end. If there are few
    /// powers, 2 and 5 times each power too.
    pub fn logarithmic(
        label: &str,
        values: impl IntoIterator<Item = f64>,
        text: impl Fn(f64) -> String,
    ) -> Self {
        let positive = values.into_iter().filter(|value| *value > 0.0);
        let (low, high) = ends(positive.map(|value| value.clamp(SMALLEST, LARGEST)));
        let (low, high) = if low > high { (1.0, 10.0) } else { (low, high) };
        // A value that differs from a power of ten in its last digit only counts as that power.
        let first = (low.log10() + 1e-9).floor() as i32;
        let last = ((high.log10() - 1e-9).ceil() as i32).max(first + 1);
        let power = |exponent: i32| 10_f64.powi(exponent);
        let range = (power(first), power(last));
        let exponents = (first..=last).step_by(usize::try_from((last - first) / 7 + 1).unwrap_or(1));
        let factors: &[f64] = if last - first <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let ticks = exponents.flat_map(|exponent| factors.iter().map(move |factor| factor * power(exponent)));
        let ticks = ticks.filter(|tick| *tick <= range.1 * (1.0 + 1e-9)).collect();
        Self::new(label, range, with_texts(ticks, text), AxisKind::Logarithmic)
    }

    /// Names at the positions 0, 1, and so on.
    pub fn names(label: &str, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let ticks: Vec<(f64, String)> =
            names.into_iter().enumerate().map(|(place, name)| (place as f64, name.into())).collect();
        let range = (-0.5, ticks.len().max(1) as f64 - 0.5);
        Self::new(label, range, ticks, AxisKind::Names)
    }

    /// A range without ticks.
    pub fn bare(label: &str, low: f64, high: f64) -> Self {
        Self::new(label, (low, high), Vec::new(), AxisKind::Linear)
    }

    fn new(label: &str, (low, high): (f64, f64), ticks: Vec<(f64, String)>, kind: AxisKind) -> Self {
        Self { label: label.to_string(), low, high, ticks, kind }
    }

    /// Ticks at the two ends only.
    #[must_use]
    pub fn ends(mut self) -> Self {
        if self.ticks.len() > 2 {
            self.ticks.drain(1..self.ticks.len() - 1);
        }
        self
    }

    /// Reverses the direction: the low end is at the top or at the right, as for names that are read from the
    /// top.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        (self.low, self.high) = (self.high, self.low);
        self
    }

    /// The low and the high end.
    pub fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// The position of a value along the axis, from 0 to 1.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let share = match self.kind {
            AxisKind::Logarithmic => {
                let value = value.max(self.low.min(self.high));
                (value / self.low).log10() / (self.high / self.low).log10()
            }
            AxisKind::Linear | AxisKind::Names => (value - self.low) / (self.high - self.low),
        };
        if share.is_finite() { share } else { 0.0 }
    }
}

/// The smallest and the largest finite value.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|value| value.is_finite());
    finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

/// The step for about `about` ticks or fewer: 1, 2 or 5 times a power of ten.
fn step(low: f64, high: f64, about: usize) -> f64 {
    let least = (high - low) / about.max(1) as f64;
    let power = 10_f64.powf(least.log10().floor());
    // A step that differs from a round one in the last digit of the division only counts as round.
    let fits = |factor: &f64| factor * power >= least * (1.0 - 1e-9);
    [1.0, 2.0, 5.0].into_iter().find(fits).unwrap_or(10.0) * power
}

/// The multiples of a step within a range.
fn ticks(low: f64, high: f64, step: f64) -> Vec<f64> {
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    (first..=last).map(|tick| tick as f64 * step).collect()
}

fn with_texts(ticks: Vec<f64>, text: impl Fn(f64) -> String) -> Vec<(f64, String)> {
    ticks.into_iter().map(|tick| (tick, text(tick))).collect()
}

/// A tick with as many decimals as the step.
fn tick_text(tick: f64, step: f64) -> String {
    let decimals = usize::try_from(-(step.log10() + 1e-9).floor() as i32).unwrap_or(0);
    decimal(tick, decimals)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_and_enclose_the_values() {
        for (values, about, expected) in [
            ([0.0, 1.0], 5, vec!["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
            ([0.3, 0.7], 2, vec!["0.2", "0.4", "0.6", "0.8"]),
            ([-21.3, -14.9], 4, vec!["−22", "−20", "−18", "−16", "−14"]),
            ([-0.02, 0.02], 2, vec!["−0.02", "0.00", "0.02"]),
            ([1.0, 1000.0], 4, vec!["0", "500", "1000"]),
            ([3e-7, 9e-7], 3, vec!["0.0000002", "0.0000004", "0.0000006", "0.0000008", "0.0000010"]),
        ] {
            let axis = Axis::around("", values, about);
            assert_eq!(texts(&axis), expected);
            assert!(axis.low <= values[0] && axis.high >= values[1]);
        }
    }

    #[test]
    fn an_axis_has_room_even_for_one_value_or_none() {
        for values in
            [vec![], vec![0.0], vec![-3.0, -3.0], vec![f64::NAN, 7.0], vec![1e12], vec![-1e308, 1e308]]
        {
            let plain = Axis::around("", values.clone(), 4);
            let logarithmic = Axis::logarithmic("", values, |tick| tick.to_string());
            for axis in [plain, logarithmic] {
                assert!(axis.low < axis.high && axis.ticks.len() >= 2, "{axis:?}");
                assert!(axis.low.is_finite() && axis.high.is_finite(), "{axis:?}");
                assert!(
                    [f64::NAN, f64::MAX, f64::MIN, 0.0].iter().all(|value| axis.share(*value).is_finite())
                );
            }
        }
    }

    #[test]
    fn counts_have_a_tick_each_and_shares_are_percentages() {
        assert_eq!(texts(&Axis::counts("", 1..=4)), ["1", "2", "3", "4"]);
        assert_eq!(texts(&Axis::shares("")), ["0 %", "25 %", "50 %", "75 %", "100 %"]);
        assert_eq!(texts(&Axis::shares("").ends()), ["0 %", "100 %"]);
    }

    #[test]
    fn a_logarithmic_axis_has_equal_steps_for_equal_factors() {
        let axis = Axis::logarithmic("", [3.0, 20_000.0, 0.0, -1.0], |tick| format!("{tick}"));
        assert_eq!(texts(&axis), ["1", "10", "100", "1000", "10000", "100000"]);
        let shares = [1.0, 10.0, 1000.0, 100_000.0, 0.0].map(|value| (10.0 * axis.share(value)).round());
        assert_eq!(shares, [0.0, 2.0, 6.0, 10.0, 0.0]);
        let axis = Axis::logarithmic("", [2.0, 30.0], |tick| format!("{tick}"));
        assert_eq!(texts(&axis), ["1", "2", "5", "10", "20", "50", "100"]);
        let wide = Axis::logarithmic("", [1e-6, 1e12], |tick| format!("{tick:e}"));
        assert!(wide.ticks.len() <= 8, "{wide:?}");
    }

    #[test]
    fn names_have_a_place_each_and_may_be_read_from_the_top() {
        let axis = Axis::names("", ["a", "b"]);
        assert_eq!((texts(&axis), axis.range()), (vec!["a", "b"], (-0.5, 1.5)));
        assert_eq!((axis.share(0.0), axis.reversed().share(0.0)), (0.25, 0.75));
        assert_eq!(Axis::names("", [""; 0]).range(), (-0.5, 0.5));
    }
}
