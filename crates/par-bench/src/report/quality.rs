//! The quality of bins, classifier and circuits.
//!
//! # Paper
//! Appendix, "Bin Coverage and Bin Fidelity" and "Threshold Selection for GMSC".

use std::collections::BTreeSet;

use par_plot::text::{grouped, share};
use par_plot::{Axis, Chart, Shape, Sign};

use super::CaseSection;
use super::description::ColumnDescription;
use super::interval::Proportion;
use super::measured::{FigureKey, Measured};
use super::plot::{Plot, SIZE, SMALL, alone};
use super::table::{ReportCell, ReportRow, ReportTable};
use crate::figures::Figure;
use crate::paper;

pub(super) fn show(measured: &Measured<'_>) -> CaseSection {
    let plots = [classifier(measured), validity(measured), losses(measured), calibration(measured)];
    CaseSection::new([table(measured)], plots)
}

fn table(measured: &Measured<'_>) -> Option<ReportTable> {
    let frame = measured.frame("quality");
    let bins = paper::benchmark(measured.case).and_then(|benchmark| benchmark.bins);
    let row = |row: &ColumnDescription| {
        let own = row.cell(measured, &FigureKey::default());
        let published = match row.measure.name.as_str() {
            // A published figure without ours is left out.
            _ if own.numbers.is_empty() => None,
            "coverage" => bins.map(|bins| bins.coverage),
            "fidelity" => bins.map(|bins| bins.fidelity),
            _ => None,
        };
        ReportRow::new(&row.head, vec![own, ReportCell::number(published, row.unit())])
    };
    frame.table(measured, frame.rows.iter().map(row).collect(), &[], &[])
}

/// One line per fold.
type Curves = Vec<Vec<(f64, f64)>>;

/// Values along a key, by fold; `other` selects the value of a second key.
fn curves(
    measured: &Measured<'_>,
    method: &str,
    measure: &str,
    key: &str,
    with: Option<(&str, &str)>,
) -> Curves {
    let is_own = |figure: &&&Figure| with.is_none_or(|(key, value)| figure.metric.key(key) == Some(value));
    let own: Vec<&Figure> = measured.named(method, measure).iter().filter(is_own).copied().collect();
    let folds: BTreeSet<&str> = own.iter().map(|figure| figure.fold.as_str()).collect();
    let curve = |fold: &str| {
        let point =
            |figure: &&Figure| Some((figure.metric.number(key).filter(|at| at.is_finite())?, figure.value?));
        let of_fold = own.iter().filter(|figure| figure.fold == fold);
        let mut curve: Vec<(f64, f64)> = of_fold.filter_map(point).collect();
        curve.sort_by(|one, other| one.0.total_cmp(&other.0));
        curve
    };
    folds.into_iter().map(curve).filter(|curve| !curve.is_empty()).collect()
}

/// A thin line per fold, and their mean up to the shortest.
fn draw(chart: &mut Chart, thin: &'static str, strong: &'static str, curves: &Curves) {
    for curve in curves {
        chart.line(thin, "one fold", curve);
    }
    let at = |place: usize| {
        let sum: f64 = curves.iter().map(|curve| curve[place].1).sum();
        (curves[0][place].0, sum / curves.len() as f64)
    };
    let shortest = curves.iter().map(Vec::len).min().unwrap_or(0);
    chart.line(strong, "mean over folds", &(0..shortest).map(at).collect::<Vec<_>>());
}

fn classifier(measured: &Measured<'_>) -> Option<Plot> {
    let of = |rows| curves(measured, "classifier", "loss", "pass", Some(("rows", rows)));
    let (training, validation) = (of("training"), of("validation"));
    let all = || training.iter().chain(&validation).flatten();
    all().next()?;
    let x = Axis::around("pass over the rows", all().map(|point| point.0).chain([0.0]), 6);
    let y = Axis::around("loss, nats a row", all().map(|point| point.1), 5);
    let description = format!("The loss of the classifier on {}, by pass", measured.case);
    let mut chart = Chart::new(&description, SIZE, x, y);
    draw(&mut chart, "generate thin", "generate", &training);
    draw(&mut chart, "exact thin", "exact dashed", &validation);
    chart.key("generate", Sign::Line, "training rows");
    if !validation.is_empty() {
        chart.key("exact dashed", Sign::Line, "held-out rows");
    }
    measured.plot("classifier", &[], alone(chart))
}

fn validity(measured: &Measured<'_>) -> Option<Plot> {
    let valid = curves(measured, "generator", "valid", "step", None);
    valid.first()?;
    let x = Axis::around("step", valid.iter().flatten().map(|point| point.0).chain([0.0]), 5);
    let description =
        format!("How often the generator's most probable row is accepted on {}, by step", measured.case);
    let mut chart = Chart::new(&description, SIZE, x, Axis::shares("accepted"));
    draw(&mut chart, "refine thin", "refine", &valid);
    measured.plot("generator-validity", &[], alone(chart))
}

fn losses(measured: &Measured<'_>) -> Option<Plot> {
    let terms = measured.keys(&["generator"], "loss", "term");
    let charts = terms.into_iter().filter_map(|term| {
        let curves = curves(measured, "generator", "loss", "step", Some(("term", term)));
        let points = || curves.iter().flatten();
        if points().all(|point| point.1 == 0.0) {
            return None;
        }
        let x = Axis::around("", points().map(|point| point.0).chain([0.0]), 2).ends();
        let y = Axis::around("", points().map(|point| point.1), 3);
        let description = format!("The term {term} of the generator's loss on {}, by step", measured.case);
        let mut chart = Chart::new(&description, (SMALL.0, 170.0), x, y);
        draw(&mut chart, "refine thin", "refine", &curves);
        Some((term.to_string(), chart))
    });
    measured.plot("generator-loss", &[], charts)
}

/// The calibration of the classifier.
fn calibration(measured: &Measured<'_>) -> Option<Plot> {
    let axes = (Axis::shares("mean score in the bin"), Axis::shares("accepted in truth"));
    let description = format!("The share of accepted rows by the classifier's score on {}", measured.case);
    let mut chart = Chart::new(&description, (SIZE.0, 320.0), axes.0, axes.1);
    chart.line("dashed faint", "", &[(0.0, 0.0), (1.0, 1.0)]);
    let mut points = Vec::new();
    for bin in measured.keys(&["classifier"], "calibration", "bin") {
        let own = |measure: &str| measured.each(&FigureKey::new("classifier", measure, &[("bin", &bin)]));
        let observed = Proportion::pooled(own("calibration"));
        let (mut sum, mut rows) = (0.0, 0.0);
        for figure in own("predicted") {
            let Some(value) = figure.value else { continue };
            (sum, rows) = (sum + value * figure.over as f64, rows + figure.over as f64);
        }
        let (Some(height), Some(ends)) = (observed.value(), observed.wilson()) else { continue };
        if rows > 0.0 {
            points.push((sum / rows, height, ends, observed.of));
        }
    }
    points.first()?;
    chart.line("exact", "", &points.iter().map(|point| (point.0, point.1)).collect::<Vec<_>>());
    for (score, height, ends, rows) in points {
        chart.interval("exact", score, ends);
        let title = format!("{} of {} rows", share(Some(height)), grouped(rows as u64));
        chart.mark("exact", Shape::Circle, (score, height), &title);
    }
    chart.key("exact", Sign::Mark(Shape::Circle), "test rows of all folds, 95 % interval");
    chart.key("dashed faint", Sign::Line, "as it should be");
    measured.plot("calibration", &[], alone(chart))
}
