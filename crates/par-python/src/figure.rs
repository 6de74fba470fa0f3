//! What more changes buy, drawn.

use par_recourse::metrics::median;
use par_recourse::{Answer, Bundle};

/// Log-likelihood by number of changes, as an SVG file; absent where there is no way.
pub(crate) fn frontier(bundle: &Bundle, answer: &Answer) -> Option<String> {
    let Answer::Found(found) = answer else { return None };
    let points: Vec<(usize, f64)> =
        found.frontier.iter().map(|point| (point.changes, point.log_likelihood)).collect();
    let usual = median(bundle.pool().log_likelihoods().to_vec());
    Some(par_plot::frontier(&points, usual)?.file())
}
