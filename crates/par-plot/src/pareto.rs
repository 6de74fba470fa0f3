//! What ways cost against what they give.

use crate::axis::Axis;
use crate::chart::{Chart, Shape, Sign};
use crate::labels::{self, PointLabel};

/// A way of a person.
#[derive(Clone, Debug)]
pub struct WayPoint {
    /// What it costs.
    pub effort: f64,
    /// What it gives, of which more is better.
    pub gain: f64,
    /// A short label, such as `2 changes`.
    pub label: String,
    /// Whether no other way costs as little or less and gives as much or more.
    pub is_best: bool,
}

/// Ways by effort; a line joins those that are best. `gain` is the name of the vertical axis, and `needed` the least gain
/// with which a person is accepted, if there is one.
pub fn pareto(gain: Axis, needed: Option<f64>, ways: &[WayPoint]) -> Chart {
    let x = Axis::around("effort", ways.iter().map(|way| way.effort).chain([0.0]), 6);
    let mut chart = Chart::new("What the ways of a person cost and give", (480.0, 300.0), x, gain);
    let mut best: Vec<&WayPoint> = ways.iter().filter(|way| way.is_best).collect();
    best.sort_by(|one, other| one.effort.total_cmp(&other.effort));
    let line: Vec<(f64, f64)> = best.iter().map(|way| (way.effort, way.gain)).collect();
    if let Some(needed) = needed {
        chart.horizontal_line("dashed faint", needed);
        chart.key("dashed faint", Sign::Line, "accepted from here on");
    }
    chart.line("exact thin", "", &line);
    for way in ways {
        let class = if way.is_best { "exact" } else { "published hollow" };
        chart.mark(class, Shape::Circle, (way.effort, way.gain), &way.label);
    }
    let named: Vec<PointLabel> = ways
        .iter()
        .map(|way| PointLabel {
            class: if way.is_best { "exact light" } else { "published light" },
            at: (way.effort, way.gain),
            text: way.label.clone(),
        })
        .collect();
    labels::write(&mut chart, &named, &[&line]);
    chart.key("exact", Sign::Mark(Shape::Circle), "no other way is better at both");
    if best.len() < ways.len() {
        chart.key("published hollow", Sign::Mark(Shape::Circle), "another way is");
    }
    chart
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_that_another_one_beats_are_hollow() {
        let way = |effort, gain, is_best| WayPoint { effort, gain, label: "1 change".into(), is_best };
        let ways = [way(1.0, 0.5, true), way(2.0, 0.9, true), way(3.0, 0.6, false)];
        let svg = pareto(Axis::shares("probability"), Some(0.5), &ways).svg().into_string();
        assert_eq!(
            svg.matches("class=\"mark published hollow\"").count(),
            2,
            "one, and one in the key: {svg}"
        );
        assert!(svg.contains("accepted from here on"), "{svg}");
        let all_best = pareto(Axis::shares(""), None, &ways[..2]).svg().into_string();
        assert!(!all_best.contains("another way is"), "{all_best}");
    }
}
