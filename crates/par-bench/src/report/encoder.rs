//! The effect of the neighbourhood.
//!
//! # Paper
//! Q3, and "Logit Change Analysis" in the appendix: blockwise mean absolute changes.

use par_plot::{Axis, Sign};

use super::CaseSection;
use super::measured::{FigureKey, Measured};
use super::methods::{LEARNING, REFINE};
use super::plot::{Dot, Plot, alone, draw, named};
use super::table::{CellNumber, FigureSource, ReportCell, ReportRow, ReportTable, Unit};
use crate::paper;

/// The encoders in figures; below, the heads of their logit changes.
const ENCODERS: [&str; 2] = ["paper/encoder", "ours/encoder"];
const CHANGES: [&str; 2] = ["paper's preset: mean change of a logit", "ours: mean change of a logit"];

pub(super) fn show(measured: &Measured<'_>) -> CaseSection {
    let features = features(measured);
    let plot = features.as_ref().and_then(|table| moved(measured, table));
    CaseSection::new([logits(measured), features, answers(measured)], [plot])
}

fn logits(measured: &Measured<'_>) -> Option<ReportTable> {
    let frame = measured.frame("logits");
    let labels = ["paper's preset", "ours"].into_iter().zip(ENCODERS);
    let mut rows: Vec<ReportRow> =
        labels.map(|(label, method)| frame.row(measured, label, &FigureKey::method(method))).collect();
    if let Some(published) = paper::benchmark(measured.case).and_then(|benchmark| benchmark.encoder) {
        let [least, most] = published.relative_l1;
        let cells = vec![range(least, Some(most)), range(published.moved, published.moved_most)];
        rows.push(ReportRow::new("published, least to most", cells).from(FigureSource::Published));
    }
    frame.table(measured, rows, &[], &[])
}

fn range(least: f64, most: Option<f64>) -> ReportCell {
    let write = |share: f64| Unit::Percent(0).number(share);
    let text = match most {
        Some(most) => format!("{} to {}", write(least), write(most)),
        None => format!("over {}", write(least)),
    };
    let numbers = [least].into_iter().chain(most).map(CellNumber::plain).collect();
    ReportCell { numbers, ..ReportCell::text(text) }
}

fn features(measured: &Measured<'_>) -> Option<ReportTable> {
    let frame = measured.frame("features");
    let names = measured.keys(&ENCODERS, "logit_change", "feature").into_iter();
    let rows = names.map(|name| frame.row(measured, name, &FigureKey::key("feature", name))).collect();
    frame.table(measured, rows, &[], &[])
}

/// The logit change of every feature.
fn moved(measured: &Measured<'_>, table: &ReportTable) -> Option<Plot> {
    let mut marks = Vec::new();
    for (head, look) in [(CHANGES[0], LEARNING), (CHANGES[1], REFINE.look)] {
        for (line, (row, cell)) in table.below(head).enumerate() {
            let Some([at, deviation]) = cell.pair() else { continue };
            let ends = Some(((at - deviation).max(0.0), at + deviation));
            marks.push(Dot { line, look, at, ends, title: row.name.clone() });
        }
    }
    let highest = marks.iter().filter_map(|dot| Some(dot.ends?.1));
    let x = Axis::around("mean change of a logit", highest.chain([0.0]), 5);
    let keys: Vec<_> = [(LEARNING, "paper's preset"), (REFINE.look, "ours")]
        .into_iter()
        .filter(|(look, _)| marks.iter().any(|dot| dot.look == *look))
        .collect();
    let description =
        format!("How far the logits of every feature move without neighbours on {}", table.case);
    let mut chart = named(&description, x, table.rows.iter().map(|row| &row.name));
    draw(&mut chart, marks);
    for (look, name) in keys {
        chart.key(look.class(), Sign::Mark(look.shape), name);
    }
    measured.plot("encoder", &[], alone(chart))
}

fn answers(measured: &Measured<'_>) -> Option<ReportTable> {
    let frame = measured.frame("answers");
    let mut rows = Vec::new();
    for preset in ["paper", "ours"] {
        for stage in ["generate", "refine"] {
            for (variant, words) in [("full", "with neighbours"), ("-neighbours", "trained without")] {
                let at = FigureKey::method(&format!("{preset} {variant}/{stage}"));
                rows.push(frame.row(measured, format!("{preset}, {stage}, {words}"), &at));
            }
        }
    }
    frame.table(measured, rows, &[], &[])
}
