//! The charts, a file each.

mod ablations;
mod amortization;
mod calibration;
mod distributions;
mod encoder;
mod fairness;
mod growth;
mod learning;
mod local_search;
mod pareto;
mod people;
mod robustness;
mod timings;

use super::plot::Plot;
use super::view::View;

/// What makes the charts of one kind of a case.
type Draw = for<'v, 'f> fn(&'v View<'f>, &'f str) -> Vec<Plot>;

/// All charts, in the order in which a page shows them; those that there are no figures for are left out.
pub(super) fn plots(view: &View<'_>) -> Vec<Plot> {
    let draws: [Draw; 12] = [
        pareto::plots,
        timings::plots,
        distributions::plots,
        people::plots,
        ablations::plots,
        encoder::plots,
        robustness::plots,
        learning::plots,
        calibration::plots,
        fairness::plots,
        amortization::plots,
        growth::plots,
    ];
    let mut plots = local_search::plots(view);
    for draw in draws {
        plots.extend(view.cases().iter().flat_map(|case| draw(view, case)));
    }
    plots
}

/// The height of a chart with so many names at its left.
fn tall(names: usize) -> f64 {
    56.0 + 22.0 * names as f64
}
