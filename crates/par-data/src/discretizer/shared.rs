//! Statistics that at least [`SHARED`] people share, so that a model tells nothing about a single one.

use super::decode::Interval;

/// The fewest people who share a number that a model stores.
pub(super) const SHARED: usize = 10;

/// The lowest of the sorted numbers, rounded down until [`SHARED`] people lie within two units of it.
pub(super) fn lowest(sorted: &[f64]) -> f64 {
    let (low, last) = (sorted[0], sorted[SHARED.min(sorted.len()) - 1]);
    let rounded = units(low).map(|unit| (unit, unit.times((low / unit.size).floor())));
    let is_shared = |(unit, rounded): &(Unit, f64)| last <= rounded + 2.0 * unit.size;
    rounded.into_iter().find(is_shared).map_or(low, |(_, rounded)| rounded)
}

/// The highest of the sorted numbers, rounded up likewise.
pub(super) fn highest(sorted: &[f64]) -> f64 {
    let mirrored: Vec<f64> = sorted.iter().rev().take(SHARED).map(|number| -number).collect();
    0.0 - lowest(&mirrored)
}

/// The number among `sorted`, all within the interval, that most people have, if [`SHARED`] have it; of several the
/// lowest.
pub(super) fn most_common(sorted: &[f64]) -> Option<f64> {
    let runs = sorted.chunk_by(|a, b| a == b);
    let most = runs.reduce(|most, run| if run.len() > most.len() { run } else { most })?;
    (most.len() >= SHARED).then_some(most[0])
}

/// A statistic of the numbers, rounded within the interval until [`SHARED`] of them round to it, or as far as the
/// interval allows.
pub(super) fn rounded(statistic: f64, numbers: &[f64], interval: Interval) -> f64 {
    let mut shared = statistic;
    for unit in units(statistic) {
        let rounded = unit.times((statistic / unit.size).round());
        if !interval.contains(rounded) {
            break;
        }
        shared = rounded;
        let near = |number: &&f64| (**number - rounded).abs() <= unit.size / 2.0;
        if numbers.iter().filter(near).count() >= SHARED {
            break;
        }
    }
    shared + 0.0
}

/// The share of people at each code. In tables with many people the counts up to each code are rounded to multiples of
/// [`SHARED`]: sums stay right, however rare each code is.
pub(super) fn shares(counts: &[usize]) -> Vec<f64> {
    let people: usize = counts.iter().sum();
    let unit = if people >= SHARED * SHARED { SHARED as f64 } else { 1.0 };
    let rounded = |count: usize| (count as f64 / unit).round() * unit;
    let total = rounded(people).max(1.0);
    let mut before = 0;
    let mut share = |&count: &usize| {
        let share = (rounded(before + count) - rounded(before)) / total;
        before += count;
        share
    };
    counts.iter().map(&mut share).collect()
}

/// A round number to count in.
#[derive(Clone, Copy)]
struct Unit {
    size: f64,
    decimals: usize,
}

impl Unit {
    /// A multiple of the unit, without the rounding errors of a product.
    fn times(self, count: f64) -> f64 {
        let product = count * self.size;
        format!("{product:.*}", self.decimals).parse().unwrap_or(product) + 0.0
    }
}

/// 1, 2 and 5 times powers of ten, from the precision of a number to beyond its size.
fn units(number: f64) -> impl Iterator<Item = Unit> {
    let size = if number == 0.0 { 0 } else { number.abs().log10().floor() as i32 };
    (size - 9..=size.max(0) + 9).flat_map(|power| {
        let decimals = usize::try_from(-power).unwrap_or(0);
        [1.0, 2.0, 5.0].map(|digit| Unit { size: digit * 10f64.powi(power), decimals })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_are_rounded_outward_until_ten_people_are_near() {
        let mut numbers: Vec<f64> = (0..100).map(|n| 1000.0 + f64::from(n)).collect();
        numbers[0] = 17.25;
        numbers[99] = 5_431.0;
        assert_eq!((lowest(&numbers), highest(&numbers)), (0.0, 10_000.0));
        let even: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!((lowest(&even), highest(&even)), (0.0, 1000.0));
        let same = [3.0; 20];
        assert_eq!((lowest(&same), highest(&same)), (3.0, 3.0));
    }

    #[test]
    fn the_most_common_number_needs_ten_people() {
        let mut numbers = vec![1.5; 9];
        numbers.extend([2.5; 10]);
        numbers.extend([3.5; 10]);
        assert_eq!(most_common(&numbers), Some(2.5));
        assert_eq!(most_common(&numbers[..9]), None);
        assert_eq!(most_common(&[]), None);
    }

    #[test]
    fn medians_are_rounded_within_their_bin() {
        let numbers: Vec<f64> = (0..40).map(|n| 1234.5 + f64::from(n)).collect();
        let bin = |low, high| Interval { low, high, closed: false };
        assert_eq!(rounded(1253.5, &numbers, bin(1234.5, 1275.0)), 1250.0);
        assert_eq!(rounded(1253.5, &numbers, bin(1251.0, 1255.0)), 1254.0, "a narrow bin leaves little room");
        assert_eq!(rounded(7.0, &[7.0; 12], bin(7.0, 8.0)), 7.0);
    }

    #[test]
    fn shares_hide_small_counts_of_large_tables() {
        assert_eq!(shares(&[1, 3]), [0.25, 0.75]);
        assert_eq!(shares(&[4, 96, 100]), [0.0, 0.5, 0.5]);
        let of_many_rare_codes = shares(&[1; 200]);
        assert!((of_many_rare_codes.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!((of_many_rare_codes[..100].iter().sum::<f64>() - 0.5).abs() < 1e-9);
    }
}
