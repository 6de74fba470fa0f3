//! The distributions of several series, side by side.

use crate::axis::Axis;
use crate::chart::{Chart, Sign};
use crate::text::decimal;

/// Values with a name and a colour.
#[derive(Clone, Debug)]
pub struct Series {
    /// Their colour.
    pub class: &'static str,
    /// Their name.
    pub name: String,
    /// The values.
    pub values: Vec<f64>,
}

/// Bars of a histogram.
const BINS: usize = 21;

/// One histogram for each series, one above the other over the same axis, each with its median. `label` is
/// the axis's label, below the last one.
pub fn histograms(label: &str, width: f64, series: &[Series]) -> Vec<Chart> {
    let all = || series.iter().flat_map(|series| &series.values).copied();
    let axis = |label: &str| Axis::around(label, all(), 8);
    let (low, high) = axis("").range();
    let step = (high - low) / BINS as f64;
    let bins = |series: &Series| {
        let mut bins = [0_usize; BINS];
        for value in &series.values {
            bins[(((value - low) / step) as usize).min(BINS - 1)] += 1;
        }
        bins
    };
    let highest = series.iter().flat_map(bins).max().unwrap_or(1) as f64;
    let mut charts = Vec::new();
    for (place, own) in series.iter().enumerate() {
        let is_last = place + 1 == series.len();
        let axes =
            (axis(if is_last { label } else { "" }), Axis::around("", [0.0, 1.3 * highest], 12).ends());
        let top = axes.1.range().1;
        let description = format!("How {} is distributed: {label}", own.name);
        let mut chart =
            Chart::new(&description, (width, if is_last { 122.0 } else { 102.0 }), axes.0, axes.1);
        for (bin, count) in bins(own).into_iter().enumerate().filter(|(_, count)| *count > 0) {
            let left = low + bin as f64 * step;
            chart.bar(own.class, (left + 0.04 * step, left + 0.96 * step), count as f64);
        }
        if let Some(middle) = median(&own.values) {
            chart.vertical_line("dashed faint", middle);
            let text = format!("{}, median {}", own.name, decimal(middle, 1));
            chart.label("end", (high, top), -8.0, &text);
        }
        charts.push(chart);
    }
    charts
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        count if count % 2 == 1 => Some(sorted[middle]),
        _ => Some(sorted[middle - 1] / 2.0 + sorted[middle] / 2.0),
    }
}

/// Bars of how often each whole number occurs, for each series. `label` is the label of the numbers and
/// `counted` that of the counts; `of` is the largest possible count.
pub fn tallies(label: &str, counted: &str, size: (f64, f64), of: usize, series: &[Series]) -> Chart {
    let whole = |value: &f64| value.round().clamp(0.0, 40.0) as usize;
    let most = series.iter().flat_map(|series| &series.values).map(whole).max().unwrap_or(1).max(1);
    let tally =
        |series: &Series, count: usize| series.values.iter().filter(|value| whole(value) == count).count();
    let all = series.iter().flat_map(|series| (1..=most).map(move |count| tally(series, count)));
    let highest = all.max().unwrap_or(1).max(1);
    let y = Axis::around(counted, [0.0, highest as f64], 4);
    let description = format!("How many {counted} there are by {label}");
    let mut chart = Chart::new(&description, size, Axis::counts(label, 1..=most), y);
    let width = 0.72 / series.len().max(1) as f64;
    for (place, series) in series.iter().enumerate() {
        for count in 1..=most {
            let height = tally(series, count) as f64;
            if height > 0.0 {
                let left = count as f64 - 0.36 + width * place as f64;
                chart.bar(series.class, (left + 0.01, left + width - 0.01), height);
                if most <= 8 {
                    chart.label("middle plain", (left + width / 2.0, height), 4.0, &height.to_string());
                }
            }
        }
        chart.key(series.class, Sign::Bar, &format!("{}, {} of {of}", series.name, series.values.len()));
    }
    chart
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, values: &[f64]) -> Series {
        Series { class: "exact", name: name.to_string(), values: values.to_vec() }
    }

    #[test]
    fn a_histogram_has_its_median_and_a_bar_for_every_value() {
        let charts = histograms("nats", 400.0, &[series("a", &[1.0, 1.0, 4.0]), series("b", &[])]);
        let first = charts[0].svg().into_string();
        assert_eq!((charts.len(), first.matches("class=\"bar exact\"").count()), (2, 2));
        assert!(first.contains(">a, median 1.0</text>"), "{first}");
        assert!(!charts[1].svg().into_string().contains("median"));
    }

    #[test]
    fn a_tally_counts_whole_numbers() {
        let svg = tallies("changes", "people", (400.0, 200.0), 4, &[series("a", &[1.0, 3.0, 3.0])]).svg();
        let svg = svg.into_string();
        assert_eq!(svg.matches("class=\"bar exact\"").count(), 3, "two, and one in the key");
        assert!(svg.contains(">a, 3 of 4</text>") && svg.contains(">2</text>"), "{svg}");
        tallies("", "", (400.0, 200.0), 0, &[]);
    }

    #[test]
    fn the_median_of_an_even_number_is_between_the_middle_two() {
        assert_eq!(
            [&[][..], &[3.0], &[4.0, 1.0], &[9.0, 1.0, 2.0]].map(median),
            [None, Some(3.0), Some(2.5), Some(2.0)]
        );
    }
}
