//! Charts: from values of Python to SVG files.

use par_answer::Answer;
use par_answer::evaluate::median;
use par_model::Model;
use par_plot::Axis;
use par_plot::before_after::{ChangedFeature, Values, before_after};
use par_plot::cohort::{self, FeatureChanges, Group};
use par_plot::pareto::{WayPoint, pareto};
use pyo3::prelude::*;

/// Log-likelihood by number of changes, as an SVG file; `None` without a way.
pub(crate) fn frontier(model: &Model, answer: &Answer) -> Option<String> {
    let Answer::Found(found) = answer else { return None };
    let points: Vec<(usize, f64)> =
        found.frontier.iter().map(|point| (point.changes.len(), point.log_likelihood)).collect();
    let usual = median(model.pool().log_likelihoods().to_vec());
    Some(par_plot::frontier(&points, usual)?.file())
}

/// The values of a feature before and after, and those of people.
#[derive(FromPyObject)]
pub(crate) enum ChangedValues {
    /// The person's numbers, and those of the people.
    Numbers((Option<f64>, f64, Vec<f64>)),
    /// The places of the person's categories, and how many people have each.
    Categories((Option<usize>, usize, Vec<(String, usize)>)),
}

/// One person before and after, among people: a title and the values of each feature that changes.
#[pyfunction]
pub(crate) fn draw_before_after(
    description: &str,
    people: &str,
    features: Vec<(String, ChangedValues)>,
) -> String {
    let feature = |(title, values)| {
        let values = match values {
            ChangedValues::Numbers((before, after, people)) => Values::Numbers { before, after, people },
            ChangedValues::Categories((before, after, counts)) => {
                Values::Categories { before, after, counts }
            }
        };
        ChangedFeature { title, values }
    };
    let features: Vec<ChangedFeature> = features.into_iter().map(feature).collect();
    before_after(description, people, &features)
}

/// Ways by effort and gain: (effort, gain, label, whether it is best).
#[pyfunction]
#[pyo3(signature = (gain, is_share, ways, needed=None))]
pub(crate) fn draw_pareto(
    gain: &str,
    is_share: bool,
    ways: Vec<(f64, f64, String, bool)>,
    needed: Option<f64>,
) -> String {
    let gains = ways.iter().map(|(_, gain, ..)| *gain).chain(needed);
    let axis = if is_share { Axis::shares(gain) } else { Axis::around(gain, gains, 5) };
    let way = |(effort, gain, label, is_best)| WayPoint { effort, gain, label, is_best };
    let ways: Vec<WayPoint> = ways.into_iter().map(way).collect();
    pareto(axis, needed, &ways).file()
}

/// How many of `people` change each feature: (feature, those for whom it rises, falls, becomes another category).
#[pyfunction]
pub(crate) fn draw_changes(people: usize, features: Vec<(String, [usize; 3])>) -> String {
    let feature = |(feature, counts)| FeatureChanges { feature, counts };
    cohort::changes(people, &features.into_iter().map(feature).collect::<Vec<_>>()).file()
}

/// A mean and the ends of its interval.
type Interval = [f64; 3];

/// How groups fare: (name, denied, share with a way, mean effort).
#[pyfunction]
pub(crate) fn draw_groups(groups: Vec<(String, usize, Interval, Option<Interval>)>) -> String {
    let group = |(name, denied, with_way, effort)| Group { name, denied, with_way, effort };
    cohort::groups(&groups.into_iter().map(group).collect::<Vec<_>>())
}
