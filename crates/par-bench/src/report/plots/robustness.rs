//! How answers fare under classifiers that were trained again.

use par_plot::{Axis, Chart, Shape, Sign};

use super::tall;
use crate::experiment::Experiment;
use crate::report::methods::Method;
use crate::report::plot::{Layout, Plot, SIZE};
use crate::report::tables::robust_methods;
use crate::report::view::View;

pub(super) fn plots<'f>(view: &View<'f>, case: &'f str) -> Vec<Plot> {
    let methods = robust_methods(view, case);
    if methods.is_empty() {
        return Vec::new();
    }
    let charts = [("score", "mean score"), ("kept", "share still accepted")]
        .map(|(metric, label)| (String::new(), chart(view, case, &methods, metric, label)));
    let caption = "A faint dot a classifier, the diamond their mean. The nearer to the right and the closer together, the \
                   less an answer depends on which classifier happens to be deployed.";
    let plot =
        Plot::new(Experiment::Robustness, case, "robustness", "Answers under other classifiers", caption);
    vec![plot.charts(charts, Layout::Panels)]
}

fn chart<'f>(view: &View<'f>, case: &'f str, methods: &[Method<'f>], metric: &'f str, label: &str) -> Chart {
    let y = Axis::names("", methods.iter().map(|method| method.label)).reversed();
    let x = match metric {
        "score" => Axis::around(label, [0.0, 1.0], 5),
        _ => Axis::shares(label),
    };
    let description =
        format!("{label} of answers on {case} under classifiers that were trained again, by method");
    let mut chart = Chart::new(&description, (SIZE.0, tall(methods.len())), x, y);
    for (place, method) in methods.iter().enumerate() {
        let place = place as f64;
        let mut means = Vec::new();
        for name in view.keys(case, method.key, metric, "classifier") {
            let Some(spread) = view.spread_at(case, method.key, metric, "classifier", name) else { continue };
            chart.mark(small(method.class), Shape::Circle, (spread.mean, place), name);
            means.push(spread.mean);
        }
        if !means.is_empty() {
            let mean = means.iter().sum::<f64>() / means.len() as f64;
            chart.mark(method.class, Shape::Diamond, (mean, place), "mean");
        }
    }
    chart.key("small", Sign::Mark(Shape::Circle), "one classifier").key(
        "",
        Sign::Mark(Shape::Diamond),
        "their mean",
    );
    chart
}

fn small(class: &str) -> &'static str {
    match class {
        "generate" => "generate small",
        "refine" => "refine small",
        "exact" => "exact small",
        "preset" => "preset small",
        _ => "peer small",
    }
}
