//! Whether circuits are better learned from labels or from decisions.

use super::CaseSection;
use super::description::ColumnDescription;
use super::measured::{FigureKey, Measured};
use super::table::{ReportCell, ReportRow, ReportTable};
use crate::figures::{Figure, Spread};

/// The names of the densities in figures.
const DENSITIES: [&str; 2] = ["labels", "decisions"];

pub(super) fn show(measured: &Measured<'_>) -> CaseSection {
    CaseSection::new(["refine", "circuit"].map(|of| table(measured, of)), [])
}

/// The figures of each density, and the difference between them.
fn table(measured: &Measured<'_>, of: &str) -> Option<ReportTable> {
    let frame = measured.frame(of);
    let methods = DENSITIES.map(|density| FigureKey::method(&format!("{density}/{of}")));
    let named = DENSITIES.into_iter().zip(&methods);
    let mut rows: Vec<ReportRow> = named.map(|(density, at)| frame.row(measured, density, at)).collect();
    let difference = |column: &ColumnDescription| {
        let spread = difference(measured, methods.each_ref().map(|at| column.at(at)));
        let mut cell = ReportCell::spread(spread, column.unit(), measured.folds());
        // The two may answer different people, so the counts do not belong to the difference.
        cell.numbers.iter_mut().for_each(|number| (number.over, number.of) = (None, None));
        cell
    };
    let blank = frame.counted.as_ref().map(|_| ReportCell::default());
    let cells = blank.into_iter().chain(frame.columns.iter().map(difference)).collect();
    rows.push(ReportRow::new("decisions − labels", cells));
    frame.table(measured, rows, &[], &[])
}

/// By how much the second measure is more than the first, over the folds that have both.
fn difference(measured: &Measured<'_>, measures: [FigureKey; 2]) -> Option<Spread> {
    let [before, after] = measures.map(|at| measured.each(&at));
    let pair = |after: &&Figure| {
        let before = before.iter().find(|before| before.fold == after.fold)?;
        Some(Figure { value: Some(after.value? - before.value?), over: 0, of: 0, ..(*after).clone() })
    };
    let differences: Vec<Figure> = after.iter().filter_map(pair).collect();
    Spread::new(differences.iter())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::figures::{Figures, Sheet};

    #[test]
    fn a_difference_is_over_the_folds_that_have_both() {
        let mut all = Vec::new();
        for (fold, values) in [("0", [1.0, 1.5]), ("1", [5.0, 6.5]), ("2", [9.0, f64::NAN])] {
            let mut sheet = Sheet::new("t", fold);
            for (density, value) in DENSITIES.into_iter().zip(values) {
                sheet.number(&format!("{density}/refine"), "score", value, 4);
            }
            all.extend(sheet.into_figures());
        }
        let figures = Figures(all);
        let mut cases = Measured::by_case(&figures);
        cases[0].topic = Experiment::Density;
        let tables = show(&cases[0]).tables;
        let texts: Vec<Vec<&str>> = tables[0]
            .rows
            .iter()
            .map(|row| row.cells.iter().map(|cell| cell.text.as_str()).collect())
            .collect();
        assert_eq!(tables.len(), 1);
        assert_eq!(tables[0].columns, ["circuits of", "answered", "score"]);
        // The means themselves differ by −1: labels have 5 over three folds, decisions 4 over two.
        assert_eq!(texts[2], ["", "1.000 ± 0.707"]);
        assert_eq!(tables[0].rows[2].cells[1].note, "2 of 3 folds");
    }
}
