//! How long an answer takes, ours and others', on a logarithmic axis.

use par_plot::text::duration;
use par_plot::{Axis, Chart, Shape, Sign};

use super::tall;
use crate::experiment::Experiment;
use crate::paper;
use crate::report::methods::{Method, OURS, PRESET, hollow, peers};
use crate::report::plot::{Plot, SIZE};
use crate::report::view::View;

pub(super) fn plots<'f>(view: &View<'f>, case: &'f str) -> Vec<Plot> {
    let own = |method: &Method<'_>| {
        let time = view.spread(case, method.key, "time_us")?.mean;
        Some((method.label.to_string(), method.class, method.shape, time))
    };
    let mut rows: Vec<(String, &'static str, Shape, f64)> =
        OURS.iter().chain(&PRESET).filter_map(own).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    rows.extend(peers(view, case).iter().filter_map(own));
    let published = paper::benchmark(case).map_or(&[][..], |benchmark| &benchmark.published);
    rows.extend(published.iter().map(|row| {
        (format!("{}, published", row.method), hollow("published"), Shape::Circle, 1e6 * row.seconds)
    }));
    let text = |time: f64| match time {
        time if time < 1e6 => duration(Some(time)).replace(".0 ms", " ms"),
        time => format!("{:.0} s", time / 1e6),
    };
    let x = Axis::logarithmic("median time of an answer", rows.iter().map(|row| row.3), text);
    let y = Axis::names("", rows.iter().map(|row| row.0.as_str())).reversed();
    let description = format!("How long an answer takes on {case}, by method, on a logarithmic axis");
    let mut chart = Chart::new(&description, (SIZE.0, tall(rows.len())), x, y);
    for (place, (name, class, shape, time)) in rows.iter().enumerate() {
        chart.mark(class, *shape, (*time, place as f64), &format!("{name}: {}", duration(Some(*time))));
    }
    if !published.is_empty() {
        chart.key("refine", Sign::Mark(Shape::Circle), "measured here");
        chart.key(hollow("published"), Sign::Mark(Shape::Circle), "published, other machines");
    }
    let caption = "The axis is logarithmic: every line is as many times as long as the one before it. Ours are of one \
                   thread while the other cores are busy with other folds; peers' and published times are from other \
                   machines.";
    vec![Plot::new(Experiment::Answers, case, "timings", "Time of an answer", caption).chart("", chart)]
}
