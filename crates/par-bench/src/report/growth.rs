//! What fits and answers cost, and how that grows.
//!
//! # Paper
//! The runtime of table 1.

mod sizes;

use par_plot::labels::{self, PointLabel};
use par_plot::text::{duration, grouped};
use par_plot::{Axis, Chart, Sign};

use super::CaseSection;
use super::description::ColumnDescription;
use super::measured::{FigureKey, Measured, number};
use super::methods::{EXACT, LEARNING, MarkStyle, OURS, PUBLISHED, PUBLISHED_LOOK, REFINE};
use super::plot::{Plot, SIZE, alone};
use super::table::{ReportCell, ReportRow, ReportTable, Unit};
use crate::figures::Metric;
use crate::paper;

pub(super) fn show(measured: &Measured<'_>) -> CaseSection {
    let tables = [fit(measured), answers(measured)];
    let grown = AXES.iter().map(|(key, words)| along(measured, key, words));
    let sizes = [sizes::fit(measured), sizes::answers(measured), sizes::by_changes(measured)];
    let plots = [amortization(measured), growth(measured), sizes::plot(measured)];
    CaseSection::new(tables.into_iter().chain(grown).chain(sizes), plots)
}

/// The axes along which time grows.
const AXES: [(&str, &str); 4] = [
    ("rows", "training rows"),
    ("bins", "bins of a number"),
    ("states", "states of a hidden variable"),
    ("edges", "edges of the circuit"),
];

/// The stage that is the sum of all.
const ALL: &str = "all";

/// Seconds of a stage of a fit.
fn seconds(measured: &Measured<'_>, stage: &str) -> Option<f64> {
    measured.spread(&FigureKey::new("fit", "seconds", &[("stage", &stage)])).map(|spread| spread.mean)
}

/// Seconds of a fit, by stage.
fn stages<'f>(measured: &Measured<'f>) -> Vec<(&'f str, f64)> {
    let stages = measured.keys(&["fit"], "seconds", "stage").into_iter().filter(|stage| *stage != ALL);
    stages.filter_map(|stage| Some((stage, seconds(measured, stage)?))).collect()
}

/// Seconds of a fit, over all stages.
fn fit_seconds(measured: &Measured<'_>) -> f64 {
    let all = seconds(measured, ALL);
    all.unwrap_or_else(|| stages(measured).iter().map(|(_, seconds)| seconds).sum())
}

fn fit(measured: &Measured<'_>) -> Option<ReportTable> {
    let (stages, total) = (stages(measured), fit_seconds(measured));
    let row = |stage: &str, seconds: f64| {
        let share = (total > 0.0).then(|| seconds / total);
        ReportRow::new(
            stage,
            vec![
                ReportCell::number(Some(seconds), Unit::Plain(2)),
                ReportCell::number(share, Unit::Percent(0)),
            ],
        )
    };
    let mut rows: Vec<ReportRow> = stages.iter().map(|(stage, seconds)| row(stage, *seconds)).collect();
    if rows.len() > 1 {
        rows.push(row(ALL, total));
    }
    measured.frame("fit").table(measured, rows, &[], &[])
}

fn answers(measured: &Measured<'_>) -> Option<ReportTable> {
    let mut frame = measured.frame("answers").clone();
    for count in measured.keys(&OURS.map(|method| method.key), "rows_per_second", "threads") {
        let head = match count {
            "1" => "denied rows a second, 1 thread".to_string(),
            count => format!("{count} threads"),
        };
        let speed = Metric::at("rows_per_second", &[("threads", &count)]);
        frame.columns.push(frame.each.like(head, speed));
    }
    let rows = OURS.iter().map(|method| frame.row(measured, method.label, &FigureKey::method(method.key)));
    frame.table(measured, rows.collect(), &[], &[])
}

fn along(measured: &Measured<'_>, key: &str, words: &str) -> Option<ReportTable> {
    let frame = measured.frame("along");
    let keys = |column: &ColumnDescription| measured.keys(&[&column.of], &column.measure.name, key);
    let values = frame.columns.iter().flat_map(keys);
    let mut places: Vec<(f64, &str)> = values.filter_map(|text| Some((number(text)?, text))).collect();
    places.sort_by(|one, other| one.0.total_cmp(&other.0));
    places.dedup();
    let name = |place: f64| Unit::Plain(0).number(place);
    let rows =
        places.iter().map(|(place, text)| frame.row(measured, name(*place), &FigureKey::key(key, text)));
    let stopped = match measured.along(EXACT.key, "optimal", key).is_empty() {
        true => "",
        false => " An exact search that does not end in time is stopped, so its time is a lower bound.",
    };
    let with = [("axis", words.to_string()), ("stopped", stopped.to_string())];
    frame.table(measured, rows.collect(), &[], &with)
}

/// Growth with the table and with the circuit.
fn growth(measured: &Measured<'_>) -> Option<Plot> {
    let charts = AXES
        .iter()
        .filter_map(|(key, words)| Some((format!("By {words}"), growth_chart(measured, key, words)?)));
    measured.plot("growth", &[], charts)
}

fn growth_chart(measured: &Measured<'_>, key: &str, words: &str) -> Option<Chart> {
    let points = |method: &str, measure: &str, scale: f64| -> Vec<(f64, f64)> {
        let along = measured.along(method, measure, key).into_iter();
        along.map(|(at, mean)| (at, scale * mean)).filter(|(at, time)| *at > 0.0 && *time > 0.0).collect()
    };
    let mut lines = vec![("preset dashed", LEARNING, "learning", points("fit", "seconds", 1e6))];
    lines.extend(OURS.map(|own| (own.look.class(), own.look, own.label, points(own.key, "time_us", 1.0))));
    lines.retain(|line| !line.3.is_empty());
    let all = || lines.iter().flat_map(|line| &line.3);
    all().next()?;
    let count = |count: f64| grouped(count.round() as u64);
    let time = |time: f64| match time {
        time if time < 1e6 => duration(Some(time)).replace(".0 ms", " ms"),
        time => format!("{} s", grouped((time / 1e6).round() as u64)),
    };
    let x = Axis::logarithmic(words, all().map(|point| point.0), count);
    let y = Axis::logarithmic("time", all().map(|point| point.1), time);
    let mut chart = Chart::new(&format!("Costs on {} by {words}", measured.case), SIZE, x, y);
    let proved = measured.along(EXACT.key, "optimal", key);
    for (class, look, name, points) in &lines {
        chart.line(class, name, points);
        chart.key(look.class(), Sign::Mark(look.shape), name);
        for point in points {
            let title = format!("{name}, {} {words}: {}", count(point.0), duration(Some(point.1)));
            let is_stopped = *name == EXACT.label && proved.iter().any(|own| own.0 == point.0 && own.1 < 1.0);
            let look = MarkStyle { is_hollow: is_stopped, ..*look };
            chart.mark(look.class(), look.shape, *point, &title);
            if is_stopped {
                chart.key(look.class(), Sign::Mark(look.shape), "exact, some stopped before their end");
            }
        }
    }
    Some(chart)
}

/// The largest number of people on the axis.
const MOST: f64 = 1e6;

/// A line of the amortization chart: its style and name, the seconds before the first answer and per answer.
struct CostLine {
    class: &'static str,
    look: MarkStyle,
    name: String,
    is_named: bool,
    once: f64,
    each: f64,
}

/// Total time against the number of people: from where on a fit pays.
fn amortization(measured: &Measured<'_>) -> Option<Plot> {
    let once = fit_seconds(measured);
    // Timed alone on the machine, or otherwise during the folds.
    let time = |method: &str| {
        let alone = measured.spread(&FigureKey::new(method, "time_us", &[("alone", &1)]));
        alone.map(|spread| spread.mean).or_else(|| measured.mean(method, "median_time_us"))
    };
    let ours = OURS.iter().filter_map(|method| {
        let (look, each) = (method.look, time(method.key)? / 1e6);
        Some(CostLine {
            class: look.class(),
            look,
            name: method.label.to_string(),
            is_named: true,
            once,
            each,
        })
    });
    let mut lines: Vec<CostLine> = ours.filter(|_| once > 0.0).collect();
    lines.first()?;
    lines.extend(published(measured.case));
    let has_published = lines.iter().any(|line| line.look == PUBLISHED_LOOK);
    let curve = |line: &CostLine| -> Vec<(f64, f64)> {
        // Points between powers of ten, because the curve bends there.
        let steps = 4.0 * MOST.log10();
        let people = (0..=steps as u32).map(|step| MOST.powf(f64::from(step) / steps));
        people.map(|people| (people, line.once + people * line.each)).collect()
    };
    let people = |count: f64| match count {
        count if count > MOST => String::new(),
        count if count == MOST => "1 million".to_string(),
        count => grouped(count as u64),
    };
    // The axis extends beyond the last point, for the names.
    let x = Axis::logarithmic("people", [1.0, 100.0 * MOST], people);
    let y = Axis::logarithmic("total time", lines.iter().flat_map(curve).map(|point| point.1), span);
    let description =
        format!("Total time on {} against the number of people, with learning, by method", measured.case);
    let mut chart = Chart::new(&description, (SIZE.0, 400.0), x, y);
    let mut names = Vec::new();
    for line in &lines {
        let points = curve(line);
        chart.line(line.class, &line.name, &points);
        if line.is_named {
            let at = points[points.len() - 1];
            names.push(PointLabel { class: line.look.colour.line, at, text: line.name.clone() });
        }
    }
    labels::write(&mut chart, &names, &[]);
    chart.key(REFINE.look.class(), Sign::Line, "ours: learning once, then answers");
    if has_published {
        chart.key("published dashed", Sign::Line, "published: seconds an answer, learning not counted");
    }
    let others = match has_published {
        true => {
            "learning included for ours and left out for the published methods, whose times are from other machines"
        }
        false => "learning included",
    };
    let crossing = crossing(&lines).unwrap_or_default();
    let with = [("others", others.to_string()), ("crossing", crossing)];
    measured.plot("amortization", &with, alone(chart))
}

/// The published methods: the paper's own, and the others faintly; of these the fastest, slowest and LiCE are named.
fn published(case: &str) -> Vec<CostLine> {
    let rows = paper::benchmark(case).map_or(&[][..], |benchmark| &benchmark.published);
    let is_own = |row: &paper::Published| PUBLISHED.contains(&row.method.as_str());
    let others = || rows.iter().filter(|row| !is_own(row)).map(|row| row.seconds);
    let ends = [others().min_by(f64::total_cmp), others().max_by(f64::total_cmp)];
    let line = |row: &paper::Published| CostLine {
        class: if is_own(row) { "published dashed" } else { "published dashed thin" },
        look: PUBLISHED_LOOK,
        name: row.method.clone(),
        is_named: is_own(row) || ends.contains(&Some(row.seconds)) || row.method == "LiCE",
        once: 0.0,
        each: row.seconds,
    };
    rows.iter().map(line).collect()
}

/// The number of people from which ours is cheaper than the published method after local search.
fn crossing(lines: &[CostLine]) -> Option<String> {
    let find = |name: &str| lines.iter().find(|line| line.name == name);
    let (refine, published) = (find(REFINE.label)?, find(PUBLISHED[1])?);
    let people = (refine.once / (published.each - refine.each)).ceil();
    (people.is_finite() && people > 0.0).then(|| {
        format!(
            " refine, learning and all, is cheaper than the published {} from {} people on.",
            PUBLISHED[1],
            grouped(people as u64)
        )
    })
}

/// Seconds in a readable unit.
fn span(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 0.9e-3 => format!("{:.0} µs", 1e6 * seconds),
        seconds if seconds < 0.9 => format!("{:.0} ms", 1e3 * seconds),
        seconds if seconds < 0.9e4 => format!("{} s", grouped(seconds.round() as u64)),
        seconds if seconds < 0.9e6 => format!("{:.0} h", seconds / 3600.0),
        seconds if seconds < 0.9e8 => format!("{:.0} days", seconds / 86_400.0),
        seconds => format!("{} years", grouped((seconds / 31_557_600.0).round() as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::figures::{Figures, Sheet};

    #[test]
    fn times_of_stopped_searches_are_outlines() {
        let mut sheet = Sheet::new("t", "");
        for (rows, proved) in [(100, 1.0), (1000, 0.5)] {
            let at = |name| Metric::at(name, &[("rows", &rows)]);
            sheet.number("exact", at("time_us"), 900.0, 2);
            sheet.number("exact", at("optimal"), proved, 2);
            sheet.number("refine", at("time_us"), 90.0, 2);
        }
        let figures = Figures(sheet.into_figures());
        let mut cases = Measured::by_case(&figures);
        cases[0].topic = Experiment::Growth;
        let plot = growth(&cases[0]).expect("a plot");
        let svg = plot.charts[0].1.svg().into_string();
        assert_eq!(svg.matches("class=\"mark exact hollow\"").count(), 2, "one and its key: {svg}");
        assert!(!svg.contains("refine hollow"), "{svg}");
    }
}
