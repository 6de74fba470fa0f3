//! Whether the effect of the terms of the paper's loss depends on its weights.

use super::CaseSection;
use super::measured::{FigureKey, Measured};
use super::table::{FigureSource, ReportCell, ReportRow, ReportTable, Unit};
use crate::paper::{self, Benchmark};

pub(super) fn show(measured: &Measured<'_>) -> CaseSection {
    CaseSection::new([table(measured)], [])
}

fn table(measured: &Measured<'_>) -> Option<ReportTable> {
    let frame = measured.frame("weights");
    let mut rows: Vec<ReportRow> = measured
        .keys(&["paper full/generate"], "validity", "weights")
        .into_iter()
        .map(|name| frame.row(measured, name, &FigureKey::new("", "", &[("weights", &name)])))
        .collect();
    if rows.is_empty() {
        return None;
    }
    rows.extend(paper::benchmark(measured.case).map(published));
    frame.table(measured, rows, &[], &[])
}

/// What is published of the same rows: table 2, and the appendix for those that it lacks.
fn published(benchmark: &Benchmark) -> ReportRow {
    let row = |name: &str| benchmark.ablations.iter().find(|row| row.name == name);
    let validity = |name| ReportCell::published(row(name).map(|row| row.validity), Unit::Percent(0));
    let nll = |name| ReportCell::published(row(name).map(|row| row.nll), Unit::Plain(1));
    let [no_plausibility, nothing] = ["-p+ -p-", "-p+ -p- -validity"];
    let encoder = |text: &dyn Fn(&paper::PublishedEncoder) -> String| {
        ReportCell::text(benchmark.encoder.as_ref().map_or_else(|| "–".to_string(), text))
    };
    let percent = |share: f64| Unit::Percent(0).number(share);
    let cells = vec![
        validity("full"),
        nll("full"),
        validity("-validity"),
        validity(no_plausibility),
        nll(no_plausibility),
        validity(nothing),
        nll("-p+"),
        encoder(&|own| own.relative_l1.map(percent).join("–")),
        encoder(&|own| {
            std::iter::once(own.moved).chain(own.moved_most).map(percent).collect::<Vec<_>>().join("–")
        }),
    ];
    ReportRow::new("published", cells).from(FigureSource::Published)
}
