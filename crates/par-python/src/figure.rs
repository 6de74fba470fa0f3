//! The chart of likelihood against changes.

use par_answer::Answer;
use par_answer::evaluate::median;
use par_model::Model;

/// Log-likelihood by number of changes, as an SVG file; `None` without a way.
pub(crate) fn frontier(model: &Model, answer: &Answer) -> Option<String> {
    let Answer::Found(found) = answer else { return None };
    let points: Vec<(usize, f64)> =
        found.frontier.iter().map(|point| (point.changes.len(), point.log_likelihood)).collect();
    let usual = median(model.pool().log_likelihoods().to_vec());
    Some(par_plot::frontier(&points, usual)?.file())
}
