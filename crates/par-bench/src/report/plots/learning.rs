//! How classifier and generator learned.

use std::collections::BTreeSet;

use par_plot::{Axis, Chart, Sign};

use crate::experiment::Experiment;
use crate::figures::Figure;
use crate::report::plot::{Layout, Plot, SIZE, SMALL};
use crate::report::view::View;

pub(super) fn plots<'f>(view: &View<'f>, case: &'f str) -> Vec<Plot> {
    [classifier(view, case), validity(view, case), losses(view, case)].into_iter().flatten().collect()
}

/// Values along a key, fold by fold: of the measure whose other key has this value.
fn curves<'f>(
    view: &View<'f>,
    case: &'f str,
    method: &'f str,
    metric: &'f str,
    key: &str,
    with: (&str, &str),
) -> Vec<Vec<(f64, f64)>> {
    let own: Vec<&Figure> = view
        .named(case, method, metric)
        .iter()
        .copied()
        .filter(|figure| with.0.is_empty() || figure.metric.key(with.0) == Some(with.1))
        .collect();
    let folds: BTreeSet<&str> = own.iter().map(|figure| figure.fold.as_str()).collect();
    let curve = |fold: &str| {
        let point =
            |figure: &&&Figure| Some((figure.metric.number(key).filter(|at| at.is_finite())?, figure.value?));
        let mut curve: Vec<(f64, f64)> =
            own.iter().filter(|figure| figure.fold == fold).filter_map(|figure| point(&figure)).collect();
        curve.sort_by(|one, other| one.0.total_cmp(&other.0));
        curve
    };
    folds.into_iter().map(curve).filter(|curve| !curve.is_empty()).collect()
}

/// The mean over folds, as far as all of them go.
fn mean(curves: &[Vec<(f64, f64)>]) -> Vec<(f64, f64)> {
    let shortest = curves.iter().map(Vec::len).min().unwrap_or(0);
    let at = |place: usize| {
        let sum: f64 = curves.iter().map(|curve| curve[place].1).sum();
        (curves[0][place].0, sum / curves.len() as f64)
    };
    (0..shortest).map(at).collect()
}

fn draw(chart: &mut Chart, thin: &'static str, strong: &'static str, curves: &[Vec<(f64, f64)>]) {
    for curve in curves {
        chart.line(thin, "one fold", curve);
    }
    chart.line(strong, "mean over folds", &mean(curves));
}

fn classifier<'f>(view: &View<'f>, case: &'f str) -> Option<Plot> {
    let of = |rows| curves(view, case, "classifier", "loss", "pass", ("rows", rows));
    let (training, validation) = (of("training"), of("validation"));
    let all = || training.iter().chain(&validation).flatten();
    all().next()?;
    let x = Axis::around("pass over the rows", all().map(|point| point.0).chain([0.0]), 6);
    let y = Axis::around("loss, nats a row", all().map(|point| point.1), 5);
    let mut chart = Chart::new(&format!("The loss of the classifier on {case}, by pass"), SIZE, x, y);
    draw(&mut chart, "generate thin", "generate", &training);
    draw(&mut chart, "exact thin", "exact dashed", &validation);
    chart.key("generate", Sign::Line, "training rows");
    if !validation.is_empty() {
        chart.key("exact dashed", Sign::Line, "rows held back");
    }
    let caption =
        "Its mean loss a row, a thin line a fold. The pass with the lowest loss on rows held back is kept.";
    Some(Plot::new(Experiment::Quality, case, "classifier", "Classifier: learning", caption).chart("", chart))
}

fn validity<'f>(view: &View<'f>, case: &'f str) -> Option<Plot> {
    let valid = curves(view, case, "generator", "valid", "step", ("", ""));
    valid.first()?;
    let x = Axis::around("step", valid.iter().flatten().map(|point| point.0).chain([0.0]), 5);
    let description = format!("How often the generator's most probable row is accepted on {case}, by step");
    let mut chart = Chart::new(&description, SIZE, x, Axis::shares("accepted"));
    draw(&mut chart, "refine thin", "refine", &valid);
    let caption = "How often its most probable row is accepted, of drawn people it has not learned from; a thin line a fold.";
    Some(
        Plot::new(Experiment::Quality, case, "generator-validity", "Generator: validity", caption)
            .chart("", chart),
    )
}

fn losses<'f>(view: &View<'f>, case: &'f str) -> Option<Plot> {
    let charts = view.keys(case, "generator", "loss", "term").into_iter().filter_map(|term| {
        let curves = curves(view, case, "generator", "loss", "step", ("term", term));
        let points = || curves.iter().flatten();
        if points().all(|point| point.1 == 0.0) {
            return None;
        }
        let x = Axis::around("", points().map(|point| point.0).chain([0.0]), 2).ends();
        let y = Axis::around("", points().map(|point| point.1), 3);
        let mut chart = Chart::new(
            &format!("The term {term} of the generator's loss on {case}, by step"),
            (SMALL.0, 170.0),
            x,
            y,
        );
        draw(&mut chart, "refine thin", "refine", &curves);
        Some((term.to_string(), chart))
    });
    let caption = "The terms by step, unweighted, each on its own scale; the total is their weighted sum.";
    let plot = Plot::new(Experiment::Quality, case, "generator-loss", "Generator: loss", caption);
    plot.charts(charts, Layout::Thirds).if_any()
}
