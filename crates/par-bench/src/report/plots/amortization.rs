//! Total cost against the number of people: when learning once pays.

use par_plot::labels::{self, Label};
use par_plot::text::grouped;
use par_plot::{Axis, Chart, Sign};

use crate::experiment::Experiment;
use crate::paper;
use crate::report::methods::{OURS, PUBLISHED};
use crate::report::plot::{Plot, SIZE};
use crate::report::tables::{fit_seconds, time};
use crate::report::view::View;

/// People that answers are asked for, at most.
const MOST: f64 = 1e6;

/// A line: its class, its name, whether that is written beside it, seconds before the first answer and for each.
struct Line {
    class: &'static str,
    name: String,
    is_named: bool,
    once: f64,
    each: f64,
}

pub(super) fn plots<'f>(view: &View<'f>, case: &'f str) -> Vec<Plot> {
    let once = fit_seconds(view, case);
    let mut lines: Vec<Line> = OURS
        .iter()
        .filter_map(|method| {
            let each = time(view, case, method.key)? / 1e6;
            Some(Line { class: method.class, name: method.label.to_string(), is_named: true, once, each })
        })
        .collect();
    if once <= 0.0 || lines.is_empty() {
        return Vec::new();
    }
    lines.extend(published(case));
    let curve = |line: &Line| -> Vec<(f64, f64)> {
        // Between powers too, where a sum bends.
        let steps = 4.0 * MOST.log10();
        let people = (0..=steps as u32).map(|step| MOST.powf(f64::from(step) / steps));
        people.map(|people| (people, line.once + people * line.each)).collect()
    };
    let ends = lines.iter().flat_map(|line| curve(line).into_iter().map(|point| point.1).collect::<Vec<_>>());
    let people = |count: f64| match count {
        count if count > MOST => String::new(),
        count if count == MOST => "1 million".to_string(),
        count => grouped(count as u64),
    };
    // Beyond the last there is room for names.
    let x = Axis::logarithmic("people", [1.0, 100.0 * MOST], people);
    let y = Axis::logarithmic("total time", ends, span);
    let description = format!("Total time on {case} against the number of people, with learning, by method");
    let mut chart = Chart::new(&description, (SIZE.0, 400.0), x, y);
    let mut names = Vec::new();
    for line in &lines {
        let points = curve(line);
        chart.line(line.class, &line.name, &points);
        if line.is_named {
            let at = points[points.len() - 1];
            names.push(Label {
                class: line.class.split(' ').next().unwrap_or_default(),
                at,
                text: line.name.clone(),
            });
        }
    }
    labels::write(&mut chart, &names, &[]);
    chart.key("refine", Sign::Line, "ours: learning once, then answers");
    if lines.iter().any(|line| line.class.starts_with("published")) {
        chart.key("published dashed", Sign::Line, "published: seconds an answer, learning not counted");
    }
    let crossing = crossing(&lines);
    let others = match lines.iter().any(|line| line.class.starts_with("published")) {
        true => {
            "learning included for ours and left out for the published methods, whose times are from other machines"
        }
        false => "learning included",
    };
    let caption = format!(
        "What it takes altogether to answer so many people, {others}; both axes are logarithmic.{crossing}"
    );
    vec![Plot::new(Experiment::Growth, case, "amortization", "When learning pays", caption).chart("", chart)]
}

/// The published methods: the paper's own, and the others faintly, of which the fastest, the slowest and LiCE are named.
fn published(case: &str) -> Vec<Line> {
    let rows = paper::benchmark(case).map_or(&[][..], |benchmark| &benchmark.published);
    let others = || rows.iter().filter(|row| !PUBLISHED.contains(&row.method.as_str()));
    let fastest = others().map(|row| row.seconds).min_by(f64::total_cmp);
    let slowest = others().map(|row| row.seconds).max_by(f64::total_cmp);
    let line = |row: &paper::Published| {
        let own = PUBLISHED.contains(&row.method.as_str());
        let end = Some(row.seconds) == fastest || Some(row.seconds) == slowest;
        Line {
            class: if own { "published dashed" } else { "published dashed thin" },
            name: row.method.clone(),
            is_named: own || end || row.method == "LiCE",
            once: 0.0,
            each: row.seconds,
        }
    };
    rows.iter().map(line).collect()
}

/// From how many people on ours is cheaper than the published method after local search.
fn crossing(lines: &[Line]) -> String {
    let find = |name: &str| lines.iter().find(|line| line.name == name);
    let (Some(refine), Some(published)) = (find("refine"), find(PUBLISHED[1])) else { return String::new() };
    let people = (refine.once / (published.each - refine.each)).ceil();
    match people.is_finite() && people > 0.0 {
        true => format!(
            " refine, learning and all, is cheaper than the published {} from {} people on.",
            PUBLISHED[1],
            grouped(people as u64)
        ),
        false => String::new(),
    }
}

/// Seconds with the unit that suits them.
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
