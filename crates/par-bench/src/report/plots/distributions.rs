//! How likelihoods and numbers of changes are distributed over people.

use par_plot::distributions::{Series, histograms, tallies};

use crate::experiment::Experiment;
use crate::figures::Figure;
use crate::report::methods::{Method, OURS};
use crate::report::plot::{Layout, Plot, SIZE};
use crate::report::view::View;

pub(super) fn plots<'f>(view: &View<'f>, case: &'f str) -> Vec<Plot> {
    let series = |metric: &'f str| {
        let values = |method: &Method<'static>| {
            let own = view.named(case, method.key, metric).iter();
            own.filter(|figure| figure.metric.key("person").is_some())
                .filter_map(|figure| figure.value)
                .collect()
        };
        let series = |method: &Method<'static>| Series {
            class: method.class,
            name: method.label.to_string(),
            values: values(method),
        };
        OURS.iter().map(series).filter(|series| !series.values.is_empty()).collect::<Vec<Series>>()
    };
    let (nll, sparsity) = (series("nll"), series("sparsity"));
    let mut plots = Vec::new();
    if !nll.is_empty() {
        let charts = histograms("NLL of the recourse, nats; lower is more plausible", SIZE.0, &nll);
        let caption =
            "How plausible the answers are: denied people of all folds by the NLL of their recourse.";
        let plot = Plot::new(Experiment::Answers, case, "nll", "Plausibility, person by person", caption);
        plots.push(plot.charts(charts.into_iter().map(|chart| (String::new(), chart)), Layout::Stack));
    }
    if !sparsity.is_empty() {
        let denied =
            denied(view, case).max(sparsity.iter().map(|series| series.values.len()).max().unwrap_or(0));
        let chart = tallies("changes", "people", SIZE, denied, &sparsity);
        let caption = "How many of the denied people have to change how many features.";
        let plot =
            Plot::new(Experiment::Answers, case, "changes", "Number of changes, person by person", caption);
        plots.push(plot.chart("", chart));
    }
    plots
}

/// How many people are denied, over all folds.
fn denied<'f>(view: &View<'f>, case: &'f str) -> usize {
    let own = view.named(case, OURS[2].key, "validity").iter();
    own.filter(|figure: &&&Figure| figure.metric.keys.is_empty()).map(|figure| figure.of).sum()
}
