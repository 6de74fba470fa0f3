//! Changes against likelihood: what more changes buy, and where every method stands.

use par_plot::labels::{self, Label};
use par_plot::{Axis, Chart, Shape, Sign};

use crate::experiment::Experiment;
use crate::paper;
use crate::report::methods::{FRONTIER, Method, OURS, PRESET, PUBLISHED, hollow, peers};
use crate::report::plot::{Plot, SIZE};
use crate::report::view::View;
use par_plot::text::decimal;

/// A method's place.
struct Point {
    class: &'static str,
    shape: Shape,
    at: (f64, f64),
    name: String,
    /// Whether its likelihood is so far from all others' that it stands at the edge.
    is_beyond: bool,
}

pub(super) fn plots<'f>(view: &View<'f>, case: &'f str) -> Vec<Plot> {
    let place = |method: &Method<'_>, class: &'static str| {
        let at =
            (view.spread(case, method.key, "sparsity")?.mean, view.spread(case, method.key, "nll")?.mean);
        Some(Point { class, shape: method.shape, at, name: method.label.to_string(), is_beyond: false })
    };
    let peers = peers(view, case);
    let mut points: Vec<Point> = OURS.iter().filter_map(|method| place(method, method.class)).collect();
    points.extend(PRESET.iter().filter_map(|method| place(method, hollow(method.class))));
    if points.is_empty() {
        return Vec::new();
    }
    points.extend(published(case));
    points.extend(peers.iter().filter_map(|method| place(method, method.class)));
    let frontier: Vec<(f64, f64)> = view
        .along(case, FRONTIER, "nll", "changes")
        .iter()
        .map(|(changes, nll)| (*changes, nll.mean))
        .collect();

    let fence = fence(points.iter().map(|point| point.at.1).chain(frontier.iter().map(|at| at.1)));
    for point in &mut points {
        point.is_beyond = point.class == "peer" && point.at.1 > fence;
    }
    let near = points.iter().filter(|point| !point.is_beyond).map(|point| point.at.1);
    let y = Axis::around("mean NLL, nats", near.chain(frontier.iter().map(|at| at.1)), 6);
    let top = y.range().1;
    let most =
        points.iter().map(|point| point.at.0).chain(frontier.iter().map(|at| at.0)).fold(0.0, f64::max);
    let x = Axis::around("features that change, mean", [0.0, most + 0.5], 8);
    let width = |axis: &Axis| axis.range().1 - axis.range().0;
    let reach = (0.03 * width(&x), 0.03 * width(&y));
    let description = format!("Mean NLL against the mean number of changes on {case}, by method");
    let mut chart = Chart::new(&description, (SIZE.0, if peers.is_empty() { 380.0 } else { 470.0 }), x, y);
    if !frontier.is_empty() {
        chart.line("exact", "the best with at most so many changes", &frontier);
        chart.key("exact", Sign::Line, "the best with at most so many changes");
    }
    for point in &points {
        let title =
            format!("{}: {} changes, NLL {}", point.name, decimal(point.at.0, 2), decimal(point.at.1, 2));
        let shape = if point.is_beyond { Shape::Triangle } else { point.shape };
        chart.mark(point.class, shape, (point.at.0, point.at.1.min(top)), &title);
    }
    for point in points.iter_mut().filter(|point| point.is_beyond) {
        point.name = format!("{}, NLL {}", point.name, decimal(point.at.1, 1));
        point.at.1 = top;
    }
    labels::write(&mut chart, &names(&points, reach), &[&frontier]);
    let has = |class: &str| points.iter().any(|point| point.class == class);
    for (class, shape, text) in [
        ("refine", Shape::Circle, "ours"),
        ("preset hollow", Shape::Circle, "paper's preset, its own circuit"),
        ("published hollow", Shape::Circle, "published, its own circuit and people"),
        ("peer", Shape::Cross, "others, scored here"),
    ] {
        if has(class) {
            chart.key(class, Sign::Mark(shape), text);
        }
    }
    if points.iter().any(|point| point.is_beyond) {
        chart.key("peer", Sign::Mark(Shape::Triangle), "others, further up than the chart");
    }
    let caption = "Further down is more plausible, further left is less to do; the line is the best there is, person by \
                   person, averaged over those who can be accepted with so many changes. A method that \
                   lets some change more than others can lie below it. Outlines are likelihoods \
                   of another circuit, so that only their place from left to right is comparable.";
    vec![
        Plot::new(Experiment::Answers, case, "pareto", "Changes against likelihood", caption)
            .chart("", chart),
    ]
}

/// Above it, a likelihood is so far from all others' that an axis which shows it shows nothing else: Tukey's outer end
/// of what is usual, one and a half times as far beyond the middle half as that is wide, and never less than a nat.
fn fence(likelihoods: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = likelihoods.collect();
    sorted.sort_by(f64::total_cmp);
    let at =
        |share: f64| sorted.get((share * sorted.len() as f64) as usize).copied().unwrap_or(f64::INFINITY);
    let (low, high) = (at(0.25), at(0.75));
    high + (1.5 * (high - low)).max(1.0)
}

/// The names of points. Others' that are all but in the same place have one name together.
fn names(points: &[Point], reach: (f64, f64)) -> Vec<Label> {
    let is_near = |one: &Point, other: &Point| {
        (one.at.0 - other.at.0).abs() < reach.0 && (one.at.1 - other.at.1).abs() < reach.1
    };
    let mut heaps: Vec<Vec<&Point>> = Vec::new();
    for point in points {
        let is_peer = point.class == "peer";
        let heap = heaps
            .iter_mut()
            .find(|heap| is_peer && heap.iter().any(|own| own.class == "peer" && is_near(own, point)));
        match heap {
            Some(heap) => heap.push(point),
            None => heaps.push(vec![point]),
        }
    }
    let text = |heap: &[&Point]| match heap {
        [one] => one.name.replace("paper's preset, ", "preset "),
        [one, other] => format!("{}, {}", one.name, other.name),
        heap => format!("{} and {} like it", heap[0].name, heap.len() - 1),
    };
    let label = |heap: &Vec<&Point>| Label { class: colour(heap[0].class), at: heap[0].at, text: text(heap) };
    heaps.iter().map(label).collect()
}

/// What is published of the paper's method.
fn published(case: &str) -> Vec<Point> {
    let rows = paper::benchmark(case).map_or(&[][..], |benchmark| &benchmark.published);
    let point = |(row, shape): (&paper::Published, Shape)| {
        let at = (row.sparsity?[0], row.nll?[0]);
        Some(Point {
            class: "published hollow",
            shape,
            at,
            name: format!("{}, published", row.method),
            is_beyond: false,
        })
    };
    let own = rows.iter().filter(|row| PUBLISHED.contains(&row.method.as_str()));
    own.zip([Shape::Triangle, Shape::Circle]).filter_map(point).collect()
}

/// The colour of a mark's name.
fn colour(class: &'static str) -> &'static str {
    class.split(' ').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_far_from_all_others_is_beyond_the_fence() {
        let usual = [9.0, 9.1, 9.2, 10.0, 11.0, 12.0, 15.0];
        assert!((15.0..24.0).contains(&fence(usual.into_iter().chain([24.0]))));
        assert_eq!(fence([3.0].into_iter()), 4.0);
        assert_eq!(fence([].into_iter()), f64::INFINITY);
    }

    #[test]
    fn others_in_the_same_place_have_one_name_together() {
        let point = |class, at, name: &str| Point {
            class,
            shape: Shape::Cross,
            at,
            name: name.to_string(),
            is_beyond: false,
        };
        let mut points = vec![point("refine", (1.0, 20.0), "refine"), point("peer", (1.0, 20.0), "a")];
        points.extend([point("peer", (1.1, 20.1), "b"), point("peer", (5.0, 20.0), "d")]);
        let texts = |points: &[Point]| -> Vec<String> {
            names(points, (0.3, 0.3)).into_iter().map(|label| label.text).collect()
        };
        assert_eq!(texts(&points), ["refine", "a, b", "d"]);
        points.push(point("peer", (0.9, 20.0), "c"));
        assert_eq!(texts(&points), ["refine", "a and 2 like it", "d"]);
    }
}
