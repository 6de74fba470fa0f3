//! How costs grow with the table and with the circuit.

use par_plot::text::{duration, grouped};
use par_plot::{Axis, Chart, Shape, Sign};

use crate::experiment::Experiment;
use crate::report::methods::OURS;
use crate::report::plot::{Layout, Plot, SIZE};
use crate::report::tables::AXES;
use crate::report::view::View;

/// A class, a shape, a name, and microseconds by size.
type Line = (&'static str, Shape, &'static str, Vec<(f64, f64)>);

pub(super) fn plots<'f>(view: &View<'f>, case: &'f str) -> Vec<Plot> {
    let charts =
        AXES.iter().filter_map(|(key, words)| Some((format!("By {words}"), chart(view, case, key, words)?)));
    let caption = "Both axes are logarithmic: a straight line is a power, and where ten times the size takes ten times as \
                   long, cost grows in proportion. Learning is on all threads, answers are medians on one.";
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
    for (class, shape, name, points) in &lines {
        chart.line(class, name, points);
        for point in points {
            let title = format!("{name}, {} {words}: {}", count(point.0), duration(Some(point.1)));
            chart.mark(class.split(' ').next().unwrap_or_default(), *shape, *point, &title);
        }
        chart.key(class.split(' ').next().unwrap_or_default(), Sign::Mark(*shape), name);
    }
    Some(chart)
}
