//! Changes against likelihood: the frontier and every method.

use par_plot::labels::{self, PointLabel};
use par_plot::text::decimal;
use par_plot::{Axis, Chart, Shape, Sign};

use super::answers::{NLL, SPARSITY, published_name};
use super::measured::Measured;
use super::methods::{FRONTIER, MarkStyle, PEER, PRESET, PUBLISHED, PUBLISHED_LOOK, peers};
use super::plot::{Plot, SIZE, alone};
use super::table::{FigureSource, ReportTable};

/// A method's mean number of changes and likelihood.
struct MethodPoint {
    look: MarkStyle,
    at: (f64, f64),
    name: String,
    /// Whether its likelihood is an outlier, drawn at the edge.
    is_beyond: bool,
}

/// Every method of table 1, and the frontier.
pub(super) fn plot(measured: &Measured<'_>, table: &ReportTable) -> Option<Plot> {
    let published = PUBLISHED.map(published_name);
    let mut points = Vec::new();
    for ((row, nll), (_, changes)) in table.below(NLL).zip(table.below(SPARSITY)) {
        let (Some(changes), Some(nll)) = (changes.mean(), nll.mean()) else { continue };
        let mut look = row.look;
        match row.source {
            // An outline marks the likelihood of another circuit.
            FigureSource::Measured => look.is_hollow = look.colour == PRESET[0].look.colour,
            FigureSource::Published if row.name == published[0] => look.shape = Shape::Triangle,
            FigureSource::Published if row.name == published[1] => {}
            FigureSource::Published | FigureSource::Aim => continue,
        }
        points.push(MethodPoint { look, at: (changes, nll), name: row.name.clone(), is_beyond: false });
    }
    // Without a point of ours there is no plot.
    points.iter().find(|point| point.look != PEER && point.look.colour != PUBLISHED_LOOK.colour)?;
    // Peers come last: their marks may overlap, and clusters share a name.
    points.sort_by_key(|point| point.look == PEER);
    let frontier = measured.along(FRONTIER, "nll", "changes");

    let fence = fence(points.iter().map(|point| point.at.1).chain(frontier.iter().map(|at| at.1)));
    for point in &mut points {
        point.is_beyond = point.look == PEER && point.at.1 > fence;
    }
    let near = points.iter().filter(|point| !point.is_beyond).map(|point| point.at.1);
    let y = Axis::around("mean NLL, nats", near.chain(frontier.iter().map(|at| at.1)), 6);
    let top = y.range().1;
    let most =
        points.iter().map(|point| point.at.0).chain(frontier.iter().map(|at| at.0)).fold(0.0, f64::max);
    let x = Axis::around("features that change, mean", [0.0, most + 0.5], 8);
    let width = |axis: &Axis| axis.range().1 - axis.range().0;
    let reach = (0.03 * width(&x), 0.03 * width(&y));
    let description = format!("Mean NLL against the mean number of changes on {}, by method", measured.case);
    let height = if peers(measured).is_empty() { 380.0 } else { 470.0 };
    let mut chart = Chart::new(&description, (SIZE.0, height), x, y);
    if !frontier.is_empty() {
        chart.line("exact", "the best with at most so many changes", &frontier);
        chart.key("exact", Sign::Line, "the best with at most so many changes");
    }
    for point in &mut points {
        let title =
            format!("{}: {} changes, NLL {}", point.name, decimal(point.at.0, 2), decimal(point.at.1, 2));
        let shape = if point.is_beyond { Shape::Triangle } else { point.look.shape };
        chart.mark(point.look.class(), shape, (point.at.0, point.at.1.min(top)), &title);
        if point.is_beyond {
            point.name = format!("{}, NLL {}", point.name, decimal(point.at.1, 1));
            point.at.1 = top;
        }
    }
    labels::write(&mut chart, &names(&points, reach), &[&frontier]);
    for (class, shape, text) in [
        ("refine", Shape::Circle, "ours"),
        ("preset hollow", Shape::Circle, "paper's preset, its own circuit"),
        ("published hollow", Shape::Circle, "published, its own circuit and people"),
        ("peer", Shape::Cross, "others, scored here"),
    ] {
        if points.iter().any(|point| point.look.class() == class) {
            chart.key(class, Sign::Mark(shape), text);
        }
    }
    if points.iter().any(|point| point.is_beyond) {
        chart.key("peer", Sign::Mark(Shape::Triangle), "others, further up than the chart");
    }
    measured.plot("pareto", &[], alone(chart))
}

/// Likelihoods above it are outliers, which would stretch the axis: Tukey's upper fence, 1.5 interquartile ranges above
/// the third quartile, and at least a nat above it.
fn fence(likelihoods: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = likelihoods.collect();
    sorted.sort_by(f64::total_cmp);
    let at =
        |share: f64| sorted.get((share * sorted.len() as f64) as usize).copied().unwrap_or(f64::INFINITY);
    let (low, high) = (at(0.25), at(0.75));
    high + (1.5 * (high - low)).max(1.0)
}

/// The names of points. Peers at nearly the same place share one name.
fn names(points: &[MethodPoint], reach: (f64, f64)) -> Vec<PointLabel> {
    let is_near = |one: &MethodPoint, other: &MethodPoint| {
        (one.at.0 - other.at.0).abs() < reach.0 && (one.at.1 - other.at.1).abs() < reach.1
    };
    let mut heaps: Vec<Vec<&MethodPoint>> = Vec::new();
    for point in points {
        let is_peer = point.look == PEER;
        let heap = heaps
            .iter_mut()
            .find(|heap| is_peer && heap.iter().any(|own| own.look == PEER && is_near(own, point)));
        match heap {
            Some(heap) => heap.push(point),
            None => heaps.push(vec![point]),
        }
    }
    let text = |heap: &[&MethodPoint]| match heap {
        [one] => one.name.replace("paper's preset, ", "preset "),
        [one, other] => format!("{}, {}", one.name, other.name),
        heap => format!("{} and {} like it", heap[0].name, heap.len() - 1),
    };
    let label = |heap: &Vec<&MethodPoint>| PointLabel {
        class: heap[0].look.colour.line,
        at: heap[0].at,
        text: text(heap),
    };
    heaps.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::super::methods::REFINE;
    use super::*;

    #[test]
    fn outliers_are_beyond_the_fence() {
        let usual = [9.0, 9.1, 9.2, 10.0, 11.0, 12.0, 15.0];
        assert!((15.0..24.0).contains(&fence(usual.into_iter().chain([24.0]))));
        assert_eq!(fence([3.0].into_iter()), 4.0);
        assert_eq!(fence([].into_iter()), f64::INFINITY);
    }

    #[test]
    fn peers_at_the_same_place_share_one_name() {
        let point = |look, at, name: &str| MethodPoint { look, at, name: name.to_string(), is_beyond: false };
        let mut points = vec![point(REFINE.look, (1.0, 20.0), "refine"), point(PEER, (1.0, 20.0), "a")];
        points.extend([point(PEER, (1.1, 20.1), "b"), point(PEER, (5.0, 20.0), "d")]);
        let texts = |points: &[MethodPoint]| -> Vec<String> {
            names(points, (0.3, 0.3)).into_iter().map(|label| label.text).collect()
        };
        assert_eq!(texts(&points), ["refine", "a, b", "d"]);
        points.push(point(PEER, (0.9, 20.0), "c"));
        assert_eq!(texts(&points), ["refine", "a and 2 like it", "d"]);
    }
}
