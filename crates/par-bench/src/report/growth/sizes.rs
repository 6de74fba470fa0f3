//! Tables of any width and length: what a fit and an answer cost.

use std::collections::BTreeSet;

use par_plot::text::{duration, grouped};
use par_plot::{Axis, Chart, Sign};

use crate::figures::Figure;
use crate::report::measured::{FigureKey, Measured, number};
use crate::report::methods::OURS;
use crate::report::plot::{Plot, SIZE};
use crate::report::table::{ReportCell, ReportRow, ReportTable, Unit};

/// The stages of a fit, in the order of the table's columns.
const STAGES: [&str; 6] = ["read", "classifier", "circuits", "pool", "generator", "all"];

/// A number of columns and of rows, as written in figures.
type Size<'f> = (&'f str, &'f str);

/// The measured sizes, by rows and then by columns.
fn sizes<'f>(measured: &Measured<'f>) -> Vec<Size<'f>> {
    let figures = ["memory_mb", "seconds", "stopped"].map(|name| measured.named("fit", name));
    let size = |figure: &&'f Figure| Some((figure.metric.key("columns")?, figure.metric.key("rows")?));
    let sizes: BTreeSet<Size<'f>> = figures.into_iter().flatten().filter_map(size).collect();
    let mut sizes: Vec<Size<'f>> = sizes.into_iter().collect();
    let place = |size: &Size<'_>| [size.1, size.0].map(|text| number(text).unwrap_or(f64::INFINITY));
    sizes.sort_by(|one, other| {
        let (one, other) = (place(one), place(other));
        one[0].total_cmp(&other[0]).then(one[1].total_cmp(&other[1]))
    });
    sizes
}

fn name((columns, rows): Size<'_>) -> String {
    let whole = |text: &str| number(text).map_or_else(|| text.to_string(), |number| grouped(number as u64));
    format!("{} × {}", whole(columns), whole(rows))
}

fn key(method: &str, name: &str, (columns, rows): Size<'_>) -> FigureKey {
    FigureKey::new(method, name, &[("columns", &columns), ("rows", &rows)])
}

pub(super) fn fit(measured: &Measured<'_>) -> Option<ReportTable> {
    let row = |size: Size<'_>| {
        let stage = |name: &str, stage: &str| {
            let mut key = key("fit", name, size);
            key.metric.keys.push(("stage".to_string(), stage.to_string()));
            key
        };
        let mut cells: Vec<ReportCell> =
            STAGES.iter().map(|own| measured.cell(&stage("seconds", own), Unit::Plain(2))).collect();
        cells.push(measured.cell(&stage("cpu_seconds", "all"), Unit::Plain(2)));
        for (name, decimals) in [("stopped", 0), ("memory_mb", 0), ("edges", 0)] {
            cells.push(measured.cell(&key("fit", name, size), Unit::Plain(decimals)));
        }
        ReportRow::new(name(size), cells)
    };
    measured.frame("sizes_fit").table(measured, sizes(measured).into_iter().map(row).collect(), &[], &[])
}

pub(super) fn answers(measured: &Measured<'_>) -> Option<ReportTable> {
    let frame = measured.frame("sizes");
    let sizes = sizes(measured);
    let rows = sizes.iter().flat_map(|&size| {
        let row = move |method: &str| {
            frame.row(measured, format!("{}, {method}", name(size)), &key(method, "", size))
        };
        OURS.map(|method| row(method.key))
    });
    let known = sizes.iter().filter_map(|&size| {
        let known = measured.spread(&key("any", "known", size))?;
        let people = (known.mean * known.over as f64).round() as usize;
        Some(format!("{} of {} at {}", grouped(people), grouped(known.over), name(size)))
    });
    let known: Vec<String> = known.collect();
    let known = format!("Of those asked, any method knows a way for {}.", known.join("; "));
    frame.table(measured, rows.collect(), &[], &[("known", known)])
}

pub(super) fn by_changes(measured: &Measured<'_>) -> Option<ReportTable> {
    let frame = measured.frame("needed");
    let mut rows = Vec::new();
    for size in sizes(measured) {
        let is_own = |figure: &&&Figure| {
            figure.metric.key("columns") == Some(size.0) && figure.metric.key("rows") == Some(size.1)
        };
        for method in OURS {
            let figures = measured.named(method.key, "time_us").iter().filter(is_own);
            for needed in figures.filter_map(|figure| figure.metric.key("needed")) {
                let mut key = key(method.key, "", size);
                key.metric.keys.push(("needed".to_string(), needed.to_string()));
                rows.push(frame.row(measured, format!("{}, {}, {needed}", name(size), method.label), &key));
            }
        }
    }
    frame.table(measured, rows, &[], &[])
}

/// Medians and 99th percentiles over columns, a chart for each number of rows.
pub(super) fn plot(measured: &Measured<'_>) -> Option<Plot> {
    let has_clock = !measured.named("refine", "cpu_us").is_empty();
    let (measure, clock) = if has_clock { ("cpu_us", "processor time") } else { ("time_us", "time") };
    let sizes = sizes(measured);
    let mut lengths: Vec<&str> = sizes.iter().map(|size| size.1).collect();
    lengths.dedup();
    let charts = lengths.into_iter().filter_map(|rows| {
        let own: Vec<Size<'_>> = sizes.iter().copied().filter(|size| size.1 == rows).collect();
        let title = format!("{} rows", number(rows).map_or_else(String::new, |rows| grouped(rows as u64)));
        Some((title, chart(measured, &own, measure, clock)?))
    });
    measured.plot("sizes", &[("clock", clock.to_string())], charts)
}

fn chart(measured: &Measured<'_>, sizes: &[Size<'_>], measure: &str, clock: &str) -> Option<Chart> {
    let points = |method: &str, name: &str| -> Vec<(f64, f64)> {
        let point = |size: &Size<'_>| {
            let metric = key(method, name, *size);
            Some((number(size.0)?, measured.spread(&metric)?.mean)).filter(|(_, time)| *time > 0.0)
        };
        sizes.iter().filter_map(point).collect()
    };
    let p99 = format!("{measure}_p99");
    let lines: Vec<_> = OURS.map(|own| (own, points(own.key, measure), points(own.key, &p99))).into();
    let all = || lines.iter().flat_map(|(_, median, p99)| median.iter().chain(p99));
    // One width is a table, not a curve.
    let widths: BTreeSet<u64> = all().map(|point| point.0 as u64).collect();
    if widths.len() < 2 {
        return None;
    }
    let count = |count: f64| grouped(count.round() as u64);
    let time = |time: f64| match time {
        time if time < 1e6 => duration(Some(time)).replace(".0 ms", " ms"),
        time => format!("{} s", grouped((time / 1e6).round() as u64)),
    };
    let x = Axis::logarithmic("columns", all().map(|point| point.0), count);
    let y = Axis::logarithmic(clock, all().map(|point| point.1), time);
    let mut chart = Chart::new(&format!("{clock} of an answer on {} by columns", measured.case), SIZE, x, y);
    for (own, median, p99) in &lines {
        chart.line(own.look.class(), own.label, median);
        chart.line(own.look.colour.dashed, &format!("{}, p99", own.label), p99);
        if !median.is_empty() {
            chart.key(own.look.class(), Sign::Mark(own.look.shape), own.label);
        }
        for (points, which) in [(median, "median"), (p99, "p99")] {
            for point in points {
                let title = format!(
                    "{}, {} columns, {which}: {}",
                    own.label,
                    count(point.0),
                    duration(Some(point.1))
                );
                chart.mark(own.look.class(), own.look.shape, *point, &title);
            }
        }
    }
    Some(chart)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::figures::{Figures, Metric, Sheet};

    fn figures(has_clock: bool) -> Figures {
        let mut sheet = Sheet::new("synthetic", "");
        for columns in [20, 10] {
            let size = [("columns", &columns as &dyn std::fmt::Display), ("rows", &1000)];
            let at = |name: &str| Metric::at(name, &size);
            sheet.number("fit", at("memory_mb"), 70.0, 1);
            if columns == 20 {
                sheet.number("fit", at("stopped"), 600.0, 1000);
            }
            sheet.number("any", at("known"), 0.5, 4);
            for name in ["time_us", "cpu_us"].into_iter().take(if has_clock { 2 } else { 1 }) {
                sheet.summary("refine", name, &at, vec![1.0, 2.0, 5.0, 9.0], 8);
            }
            let needed = |name: &str| Metric::at(name, &[size[0], size[1], ("needed", &"3 to 4")]);
            sheet.summary("refine", "time_us", &needed, vec![5.0], 1);
        }
        Figures(sheet.into_figures())
    }

    #[test]
    fn sizes_are_shown_in_order_with_their_times() {
        let figures = figures(true);
        let mut cases = Measured::by_case(&figures);
        cases[0].topic = Experiment::Growth;
        let text = answers(&cases[0]).expect("a table").text();
        let narrow = text.find("10 × 1,000, refine").expect("ten columns");
        assert!(narrow < text.find("20 × 1,000, refine").expect("twenty columns"), "{text}");
        assert!(text.contains("4 of 8"), "{text}");
        assert!(text.contains("4 µs / 4 µs / 9 µs / 9 µs"), "{text}");
        assert!(text.contains("any method knows a way for 2 of 4 at 10 × 1,000; 2 of 4 at"), "{text}");
        let text = fit(&cases[0]).expect("a table").text();
        assert!(text.contains("stopped after, s") && text.contains("600"), "{text}");
        let text = by_changes(&cases[0]).expect("a table").text();
        assert!(text.contains("10 × 1,000, refine, 3 to 4"), "{text}");
    }

    #[test]
    fn percentiles_are_dashed_lines_beside_medians() {
        for (has_clock, axis) in [(true, "processor time"), (false, "time")] {
            let figures = figures(has_clock);
            let mut cases = Measured::by_case(&figures);
            cases[0].topic = Experiment::Growth;
            let plot = plot(&cases[0]).expect("a plot");
            assert_eq!(plot.charts.len(), 1);
            let svg = plot.charts[0].1.svg().into_string();
            assert!(svg.contains("refine dashed") && svg.contains(&format!(">{axis}<")), "{svg}");
        }
    }
}
