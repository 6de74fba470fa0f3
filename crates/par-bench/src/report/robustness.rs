//! Whether answers hold when the classifier is trained again.
//!
//! # Paper
//! Appendix, "Robustness to Classifier Change".

use par_plot::{Axis, Chart, Shape, Sign};

use super::Shown;
use super::measured::{At, Measured};
use super::methods::{Colour, Look, Method, OURS, PRESET, peers};
use super::plot::{Dot, alone, draw, named};
use super::table::{Cell, Row, Table};
use crate::figures::Metric;

pub(super) fn show(measured: &Measured<'_>) -> Shown {
    let mut methods: Vec<Method<'_>> = OURS.into_iter().chain(PRESET).chain(peers(measured)).collect();
    methods.retain(|method| !measured.keys(&[method.key], "score", "classifier").is_empty());
    let [score, kept] = ["score", "kept"].map(|measure| table(measured, &methods, measure));
    let scores = |table| chart(table, "mean score", Axis::around("mean score", [0.0, 1.0], 5));
    let shares = |table| chart(table, "share still accepted", Axis::shares("share still accepted"));
    let charts = score.as_ref().map(scores).into_iter().chain(kept.as_ref().map(shares));
    let plot = measured.plot("robustness", &[], charts.flat_map(alone));
    Shown::new([score, kept], [plot])
}

fn table(measured: &Measured<'_>, methods: &[Method<'_>], measure: &str) -> Option<Table> {
    let mut frame = measured.frame(measure).clone();
    let unit = frame.each.unit();
    let keys: Vec<&str> = methods.iter().map(|method| method.key).collect();
    for name in measured.keys(&keys, measure, "classifier") {
        frame.columns.push(frame.each.like(name, Metric::at(measure, &[("classifier", &name)])));
        frame.counted.iter_mut().for_each(|counted| counted.by.push(name.to_string()));
    }
    let row = |method: &Method<'_>| {
        let mut row = frame.row(measured, method.label, &At::method(method.key)).drawn(method.look);
        // After how many are answered, mean and worst of all classifiers.
        let means: Vec<f64> = row.cells[3..].iter().filter_map(Cell::mean).collect();
        let mean = (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64);
        row.cells[1] = Cell::number(mean, unit);
        row.cells[2] = Cell::number(means.into_iter().min_by(f64::total_cmp), unit);
        row
    };
    let mut rows: Vec<Row> = methods.iter().map(row).collect();
    if measure == "kept" {
        let at = At::new("classifier", "agreement", &[]);
        let cells = frame.columns[2..].iter().map(|column| column.cell(measured, &at));
        let cells = vec![Cell::default(); 3].into_iter().chain(cells).collect();
        rows.push(Row::new("test rows decided alike", cells));
    }
    frame.table(measured, rows, &[], &[])
}

/// How answers fare under each classifier, method by method.
fn chart(table: &Table, label: &str, x: Axis) -> Chart {
    let rows: Vec<(&Row, f64)> =
        table.below("mean").filter_map(|(row, cell)| Some((row, cell.mean()?))).collect();
    let first = table.columns.iter().position(|head| head == "worst").map_or(1, |place| place + 1);
    let mut marks = Vec::new();
    for (line, (row, mean)) in rows.iter().enumerate() {
        let colour = row.look.colour;
        let small =
            Look { colour: Colour { line: colour.small, ..colour }, shape: Shape::Circle, ..row.look };
        for (head, cell) in table.columns[first..].iter().zip(&row.cells[first - 1..]) {
            let Some(at) = cell.mean() else { continue };
            marks.push(Dot { line, look: small, at, ends: None, title: head.clone() });
        }
        let look = Look { shape: Shape::Diamond, ..row.look };
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
