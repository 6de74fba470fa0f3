//! A chart of the best log-likelihood by number of changes.

use crate::axis::Axis;
use crate::chart::{Chart, Sign};

/// Log-likelihood by number of changes. `usual` is that of the median accepted person, if it is known. `None`
/// if there are no points.
pub fn frontier(points: &[(usize, f64)], usual: Option<f64>) -> Option<Chart> {
    let most = points.iter().map(|(changes, _)| *changes).max()?;
    let x = Axis::counts("changes", 1..=most);
    let y = Axis::around("log-likelihood, nats", points.iter().map(|(_, value)| *value).chain(usual), 5);
    let mut chart =
        Chart::new("The log-likelihood of the best row by the number of changes", (440.0, 280.0), x, y);
    let points: Vec<(f64, f64)> = points.iter().map(|&(changes, value)| (changes as f64, value)).collect();
    chart.line("exact strong", "the best row", &points);
    for &point in &points {
        chart.point("exact", point);
    }
    if let Some(usual) = usual {
        chart.horizontal_line("dashed faint", usual);
    }
    chart.key("exact strong", Sign::Line, "the best row found");
    chart.key("dashed faint", Sign::Line, "the median accepted person");
    Some(chart)
}

#[cfg(test)]
mod tests {
    use super::frontier;

    #[test]
    fn a_frontier_has_a_point_for_each_number_of_changes_and_a_level_to_compare_with() {
        let chart = frontier(&[(1, -20.0), (2, -18.0), (4, -17.5)], Some(-15.0)).expect("points");
        let svg = chart.svg().into_string();
        assert_eq!(svg.matches("class=\"mark exact\"").count(), 3, "{svg}");
        assert!(svg.contains("the median accepted person"), "{svg}");
        assert!(frontier(&[], Some(-15.0)).is_none());
    }
}
