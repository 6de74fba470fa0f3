//! Which features' logits the neighbourhood moves.
//!
//! # Paper
//! "Logit Change Analysis": blockwise mean absolute changes.

use par_plot::{Axis, Chart, Shape, Sign};

use super::tall;
use crate::experiment::Experiment;
use crate::report::plot::{Plot, SIZE};
use crate::report::tables::ENCODERS;
use crate::report::view::View;

pub(super) fn plots<'f>(view: &View<'f>, case: &'f str) -> Vec<Plot> {
    let looks = [("preset", Shape::Diamond), ("refine", Shape::Circle)];
    let mut names: Vec<&str> = Vec::new();
    for (method, _) in ENCODERS {
        for name in view.keys(case, method, "logit_change", "feature") {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let spread = |method: &str, name: &str| view.spread_at(case, method, "logit_change", "feature", name);
    let highest = |name: &&&str| {
        ENCODERS
            .iter()
            .filter_map(|(method, _)| spread(method, name))
            .map(|spread| spread.mean + spread.deviation)
            .fold(0.0, f64::max)
    };
    if names.is_empty() {
        return Vec::new();
    }
    let x = Axis::around("mean change of a logit", names.iter().map(|name| highest(&name)).chain([0.0]), 5);
    let y = Axis::names("", names.iter().copied()).reversed();
    let description = format!("How far the logits of every feature move without neighbours on {case}");
    let mut chart = Chart::new(&description, (SIZE.0, tall(names.len())), x, y);
    for ((method, label), (class, shape)) in ENCODERS.iter().zip(looks) {
        for (place, name) in names.iter().enumerate() {
            let Some(spread) = spread(method, name) else { continue };
            let place = place as f64;
            let ends = ((spread.mean - spread.deviation).max(0.0), spread.mean + spread.deviation);
            chart.interval_across(class, ends, place).mark(class, shape, (spread.mean, place), name);
            chart.key(class, Sign::Mark(shape), label);
        }
    }
    let caption = "The mean |change| of a feature's logits when the same generator is told of no neighbours, mean and \
                   standard deviation over folds. Far right: the neighbourhood decides most about it.";
    vec![Plot::new(Experiment::Encoder, case, "encoder", "Whose logits move", caption).chart("", chart)]
}
