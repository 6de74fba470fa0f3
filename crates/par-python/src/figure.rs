//! What more changes buy, drawn.

use par_plot::{Axis, Chart, Sign};
use par_recourse::metrics::median;
use par_recourse::{Answer, Bundle};

/// Log-likelihood by number of changes, as an SVG file; absent where there is no way.
pub(crate) fn frontier(bundle: &Bundle, answer: &Answer) -> Option<String> {
    let Answer::Found(found) = answer else { return None };
    let most = found.frontier.iter().map(|point| point.changes).max()?;
    let usual = median(bundle.pool().log_likelihoods().to_vec());
    let values = found.frontier.iter().map(|point| point.log_likelihood).chain(usual);
    let x = Axis::counts("changes", 1..=most);
    let y = Axis::around("log-likelihood, nats", values, 5);
    let mut chart =
        Chart::new("The log-likelihood of the likeliest row by the number of changes", (440.0, 280.0), x, y);
    let points: Vec<(f64, f64)> =
        found.frontier.iter().map(|point| (point.changes as f64, point.log_likelihood)).collect();
    chart.line("exact strong", "the likeliest row", &points);
    for &point in &points {
        chart.point("exact", point);
    }
    if let Some(usual) = usual {
        chart.level("dashed faint", usual);
    }
    chart.key("exact strong", Sign::Line, "the likeliest row found");
    chart.key("dashed faint", Sign::Line, "the median accepted person");
    Some(chart.file())
}
