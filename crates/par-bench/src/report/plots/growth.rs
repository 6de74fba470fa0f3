//! How costs grow with the table and with the circuit.

use par_plot::text::{duration, grouped};
use par_plot::{Axis, Chart, Shape, Sign};

use crate::experiment::Experiment;
use crate::report::methods::{EXACT, OURS, hollow};
use crate::report::plot::{Layout, Plot, SIZE};
use crate::report::tables::AXES;
use crate::report::view::View;

/// A class, a shape, a name, and microseconds by size.
type Line = (&'static str, Shape, &'static str, Vec<(f64, f64)>);

pub(super) fn plots<'f>(view: &View<'f>, case: &'f str) -> Vec<Plot> {
    let charts =
        AXES.iter().filter_map(|(key, words)| Some((format!("By {words}"), chart(view, case, key, words)?)));
    let caption = "Both axes are logarithmic: a straight line is a power, and where ten times the size takes ten times as \
                   long, cost grows in proportion. Learning is on all threads, answers are medians on one. An outline is a \
                   time of searches of which some were stopped: it would be longer.";
    let plot = Plot::new(Experiment::Growth, case, "growth", "How costs grow", caption);
    plot.charts(charts, Layout::Panels).if_any().into_iter().collect()
}

fn chart<'f>(view: &View<'f>, case: &'f str, key: &'static str, words: &str) -> Option<Chart> {
    let points = |method: &'f str, metric: &'f str, scale: f64| -> Vec<(f64, f64)> {
        let along = view.along(case, method, metric, key);
        along
            .iter()
            .map(|(at, spread)| (*at, scale * spread.mean))
            .filter(|(at, value)| *at > 0.0 && *value > 0.0)
            .collect()
    };
    let mut lines: Vec<Line> =
        vec![("preset dashed", Shape::Diamond, "learning", points("fit", "seconds", 1e6))];
    lines.extend(
        OURS.map(|method| (method.class, method.shape, method.label, points(method.key, "time_us", 1.0))),
    );
    lines.retain(|line| !line.3.is_empty());
    let all = || lines.iter().flat_map(|line| &line.3);
    all().next()?;
    let count = |count: f64| grouped(count.round() as u64);
    let time = |time: f64| match time {
        time if time < 1e6 => duration(Some(time)).replace(".0 ms", " ms"),
        time => format!("{} s", grouped((time / 1e6).round() as u64)),
    };
    let axes = (
        Axis::logarithmic(words, all().map(|point| point.0), count),
        Axis::logarithmic("time", all().map(|point| point.1), time),
    );
    let mut chart = Chart::new(&format!("Costs on {case} by {words}"), SIZE, axes.0, axes.1);
    let proved = view.along(case, EXACT.key, "optimal", key);
    let is_stopped = |name: &str, at: f64| {
        name == EXACT.label && proved.iter().any(|(own, share)| *own == at && share.mean < 1.0)
    };
    for (class, shape, name, points) in &lines {
        let colour = class.split(' ').next().unwrap_or_default();
        chart.line(class, name, points);
        chart.key(colour, Sign::Mark(*shape), name);
        for point in points {
            let title = format!("{name}, {} {words}: {}", count(point.0), duration(Some(point.1)));
            let stopped = is_stopped(name, point.0);
            chart.mark(if stopped { hollow(colour) } else { colour }, *shape, *point, &title);
            if stopped {
                chart.key(hollow(colour), Sign::Mark(*shape), "exact, some stopped before their end");
            }
        }
    }
    Some(chart)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{Figures, Metric, Sheet};

    #[test]
    fn times_of_searches_that_were_stopped_are_outlines() {
        let mut sheet = Sheet::new("t", "");
        for (rows, proved) in [(100, 1.0), (1000, 0.5)] {
            let at = |name| Metric::at(name, &[("rows", &rows)]);
            sheet.number("exact", at("time_us"), 900.0, 2);
            sheet.number("exact", at("optimal"), proved, 2);
            sheet.number("refine", at("time_us"), 90.0, 2);
        }
        let figures = Figures(sheet.into_figures());
        let svg = plots(&View::new(&figures), "t")[0].charts[0].1.svg().into_string();
        assert_eq!(svg.matches("class=\"mark exact hollow\"").count(), 2, "one and its key: {svg}");
        assert!(!svg.contains("refine hollow"), "{svg}");
    }
}
