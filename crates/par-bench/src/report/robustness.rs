//! Whether answers hold when the classifier is retrained.
//!
//! # Paper
//! Appendix, "Robustness to Classifier Change".

use par_plot::{Axis, Chart, Shape, Sign};

use super::CaseSection;
use super::measured::{FigureKey, Measured};
use super::methods::{Colour, MarkStyle, MethodStyle, OURS, PEER, PRESET, peers};
use super::plot::{Dot, alone, draw, named};
use super::table::{ReportCell, ReportRow, ReportTable};
use crate::experiment::lasting::PREFIX as LASTING;
use crate::experiment::peers::LICE_PEOPLE;
use crate::experiment::robustness::{LICE, PAR_BESIDE_LICE, PREFIX};
use crate::figures::Metric;

pub(super) fn show(measured: &Measured<'_>) -> CaseSection {
    let native = measured.methods.iter().filter_map(|&key| {
        let look = if key == PAR_BESIDE_LICE { PRESET[1].look } else { PEER };
        Some(MethodStyle { key, label: key.strip_prefix(PREFIX)?, look })
    });
    let lasting: Vec<MethodStyle<'_>> = (measured.methods.iter())
        .filter_map(|&key| Some(MethodStyle { key, label: key.strip_prefix(LASTING)?, look: OURS[2].look }))
        .collect();
    let cost = cost(measured, &lasting);
    let mut methods: Vec<MethodStyle<'_>> =
        OURS.into_iter().chain(lasting).chain(PRESET).chain(native).chain(peers(measured)).collect();
    methods.retain(|method| !measured.keys(&[method.key], "score", "classifier").is_empty());
    let [score, kept] = ["score", "kept"].map(|measure| table(measured, &methods, measure));
    let scores = |table| chart(table, "mean score", Axis::around("mean score", [0.0, 1.0], 5));
    let shares = |table| chart(table, "share still accepted", Axis::shares("share still accepted"));
    let charts = score.as_ref().map(scores).into_iter().chain(kept.as_ref().map(shares));
    let plot = measured.plot("robustness", &[], charts.flat_map(alone));
    CaseSection::new([score, kept, cost], [plot])
}

/// What lasting answers cost beside plain ones.
fn cost(measured: &Measured<'_>, lasting: &[MethodStyle<'_>]) -> Option<ReportTable> {
    let frame = measured.frame("cost");
    let row = |method: &MethodStyle<'_>| frame.row(measured, method.label, &FigureKey::method(method.key));
    frame.table(measured, lasting.iter().map(row).collect(), &[], &[])
}

fn table(measured: &Measured<'_>, methods: &[MethodStyle<'_>], measure: &str) -> Option<ReportTable> {
    let mut frame = measured.frame(measure).clone();
    let unit = frame.each.unit();
    let keys: Vec<&str> = methods.iter().map(|method| method.key).collect();
    for name in measured.keys(&keys, measure, "classifier") {
        frame.columns.push(frame.each.like(name, Metric::at(measure, &[("classifier", &name)])));
        frame.counted.iter_mut().for_each(|counted| counted.by.push(name.to_string()));
    }
    let is_recorded = |method: &MethodStyle<'_>| method.look == PEER && !method.key.starts_with(PREFIX);
    let row = |method: &MethodStyle<'_>| {
        let name = format!("{}{}", method.label, if is_recorded(method) { ", recorded" } else { "" });
        let mut row = frame.row(measured, name, &FigureKey::method(method.key)).drawn(method.look);
        // Mean and worst over classifiers follow the count.
        let means: Vec<f64> = row.cells[3..].iter().filter_map(ReportCell::mean).collect();
        let mean = (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64);
        row.cells[1] = ReportCell::number(mean, unit);
        row.cells[2] = ReportCell::number(means.into_iter().min_by(f64::total_cmp), unit);
        row
    };
    let mut rows: Vec<ReportRow> = methods.iter().map(row).collect();
    if measure == "kept" {
        let at = FigureKey::new("classifier", "agreement", &[]);
        let cells = frame.columns[2..].iter().map(|column| column.cell(measured, &at));
        let cells = vec![ReportCell::default(); 3].into_iter().chain(cells).collect();
        rows.push(ReportRow::new("test rows decided alike", cells));
    }
    let notes = [
        ("recorded", methods.iter().any(is_recorded)),
        ("lice", methods.iter().any(|method| method.key == LICE)),
    ];
    let when: Vec<&str> = notes.into_iter().filter(|(_, holds)| *holds).map(|(note, _)| note).collect();
    frame.table(measured, rows, &when, &[("lice", LICE_PEOPLE.to_string())])
}

/// A mark for each classifier, by method.
fn chart(table: &ReportTable, label: &str, x: Axis) -> Chart {
    let rows: Vec<(&ReportRow, f64)> =
        table.below("mean").filter_map(|(row, cell)| Some((row, cell.mean()?))).collect();
    let first = table.columns.iter().position(|head| head == "worst").map_or(1, |place| place + 1);
    let mut marks = Vec::new();
    for (line, (row, mean)) in rows.iter().enumerate() {
        let colour = row.look.colour;
        let small =
            MarkStyle { colour: Colour { line: colour.small, ..colour }, shape: Shape::Circle, ..row.look };
        for (head, cell) in table.columns[first..].iter().zip(&row.cells[first - 1..]) {
            let Some(at) = cell.mean() else { continue };
            marks.push(Dot { line, look: small, at, ends: None, title: head.clone() });
        }
        let look = MarkStyle { shape: Shape::Diamond, ..row.look };
        marks.push(Dot { line, look, at: *mean, ends: None, title: "mean".to_string() });
    }
    let description =
        format!("{label} of answers on {} under classifiers that were trained again, by method", table.case);
    let mut chart = named(&description, x, rows.iter().map(|(row, _)| &row.name));
    draw(&mut chart, marks);
    chart.key("small", Sign::Mark(Shape::Circle), "one classifier");
    chart.key("", Sign::Mark(Shape::Diamond), "their mean");
    chart
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::figures::{Figures, Sheet};

    #[test]
    fn native_and_recorded_methods_are_told_apart() {
        let shown = |methods: &[&str]| {
            let mut sheet = Sheet::new("credit", "0");
            for method in methods {
                for measure in ["score", "kept", "validity"] {
                    sheet.number(method, Metric::at(measure, &[("classifier", &"seed 1")]), 0.7, 9);
                }
            }
            let figures = Figures(sheet.into_figures());
            let mut cases = Measured::by_case(&figures);
            cases[0].topic = Experiment::Robustness;
            show(&cases[0]).tables.remove(0)
        };
        let names = |table: &ReportTable| table.rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>();
        let table = shown(&["refine", "LiCE_median", LICE, PAR_BESIDE_LICE]);
        let expected = ["refine", "LiCE (median)", "PAR (+LS), LiCE's people", "LiCE_median, recorded"]
            .map(String::from);
        assert_eq!(names(&table), expected);
        let has_note =
            |table: &ReportTable, start: &str| table.notes.iter().any(|note| note.starts_with(start));
        assert!(has_note(&table, "LiCE is asked about the first 5 denied people"), "{:?}", table.notes);
        assert!(has_note(&table, "Recorded answers"));
        let native = shown(&["refine", "robustness/FACE (knn)"]);
        assert_eq!(names(&native), ["refine", "FACE (knn)"]);
        assert!(!has_note(&native, "LiCE is asked") && !has_note(&native, "Recorded answers"));
    }
}
