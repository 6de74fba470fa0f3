//! Whether circuits are better learned from labels or from decisions.

use std::fmt::Display;

use super::{after_answered, answered, over_folds};
use crate::experiment::Experiment;
use crate::figures::{Figure, Metric, Spread};
use crate::report::table::{Cell, Row, Table, Unit};
use crate::report::view::View;

/// What circuits were learned from, in figures.
const DENSITIES: [&str; 2] = ["labels", "decisions"];

/// A column: its head, the measure with its place, how it is written.
type Measure = (&'static str, &'static str, &'static [(&'static str, &'static str)], Unit);

const ANSWERS: [Measure; 11] = [
    ("validity %", "validity", &[], Unit::Percent(1)),
    ("NLL, p⁺ of labels", "nll", &[("circuit", "labels")], Unit::Plain(2)),
    ("NLL, p⁺ of decisions", "nll", &[("circuit", "decisions")], Unit::Plain(2)),
    ("score", "score", &[], Unit::Plain(3)),
    ("kept %", "kept", &[], Unit::Percent(1)),
    ("sparsity", "sparsity", &[], Unit::Plain(2)),
    ("similarity", "similarity", &[], Unit::Plain(2)),
    ("distance", "distance", &[], Unit::Plain(2)),
    ("nearest favourable", "nearest", &[("rows", "favourable")], Unit::Plain(2)),
    ("nearest accepted", "nearest", &[("rows", "accepted")], Unit::Plain(2)),
    ("nearest of both", "nearest", &[("rows", "both")], Unit::Plain(2)),
];

const CIRCUITS: [Measure; 6] = [
    ("favourable", "log_likelihood", &[("rows", "favourable")], Unit::Plain(2)),
    ("accepted", "log_likelihood", &[("rows", "accepted")], Unit::Plain(2)),
    ("both", "log_likelihood", &[("rows", "both")], Unit::Plain(2)),
    ("p⁺ of all accepted rows, %", "accepted", &[], Unit::Percent(1)),
    (
        "accepted, given that",
        "log_likelihood",
        &[("rows", "accepted"), ("given", "accepted")],
        Unit::Plain(2),
    ),
    ("both, given that", "log_likelihood", &[("rows", "both"), ("given", "accepted")], Unit::Plain(2)),
];

/// The name of the row of differences.
const DIFFERENCE: &str = "decisions − labels";

pub(super) fn tables<'f>(view: &View<'f>, case: &'f str) -> Vec<Table> {
    [answers(view, case), circuits(view, case)].into_iter().flatten().collect()
}

fn answers<'f>(view: &View<'f>, case: &'f str) -> Option<Table> {
    let methods = DENSITIES.map(|density| format!("{density}/refine"));
    let row = |(density, method): (&str, &String)| {
        let cells = cells(view, case, method, &ANSWERS);
        Row::new(density, after_answered(answered(view, case, method).as_ref(), cells))
    };
    let mut rows: Vec<Row> = DENSITIES.into_iter().zip(&methods).map(row).collect();
    let mut differences = differences(view, case, &methods, &ANSWERS);
    differences.insert(0, Cell::default());
    rows.push(Row::new(DIFFERENCE, differences));
    let columns: Vec<&str> = ["circuits of", "answered"].into_iter().chain(heads(&ANSWERS)).collect();
    let title = "answers by circuits of labels and of decisions";
    let table = Table::new(Experiment::Density, case, title, &columns, rows)?;
    Some(table.noted([format!(
        "{} A difference is taken fold by fold. Both have the same bins and the same classifier, and answer the same \
         people. Each p⁺ judges both, and favours its own. Kept: the share that classifiers that were trained again \
         accept. Nearest: in how many codes an answer differs from the nearest other row of the fold whose label is \
         favourable, that the classifier accepts, or of which both hold.",
        over_folds(view.folds(case))
    )]))
}

fn circuits<'f>(view: &View<'f>, case: &'f str) -> Option<Table> {
    let methods = DENSITIES.map(|density| format!("{density}/circuit"));
    let row = |(density, method): (&str, &String)| Row::new(density, cells(view, case, method, &CIRCUITS));
    let mut rows: Vec<Row> = DENSITIES.into_iter().zip(&methods).map(row).collect();
    rows.push(Row::new(DIFFERENCE, differences(view, case, &methods, &CIRCUITS)));
    let columns: Vec<&str> = std::iter::once("circuits of").chain(heads(&CIRCUITS)).collect();
    let table = Table::new(Experiment::Density, case, "log-likelihood of held-out rows", &columns, rows)?;
    Some(table.noted([format!(
        "{} Of p⁺, in nats a row, over the rows of the fold whose label is favourable, that the classifier accepts, and \
         of which both hold. An answer is always accepted, so that only likelihoods given that a row is matter to it: \
         log p⁺ less the logarithm of what p⁺ gives all accepted rows together.",
        over_folds(view.folds(case))
    )]))
}

fn heads(measures: &[Measure]) -> impl Iterator<Item = &'static str> {
    measures.iter().map(|measure| measure.0)
}

fn cells(view: &View<'_>, case: &str, method: &str, measures: &[Measure]) -> Vec<Cell> {
    let cell = |measure: &Measure| {
        Cell::spread(view.spread(case, method, metric(measure)), measure.3, view.folds(case))
    };
    measures.iter().map(cell).collect()
}

/// What changes from the first method to the second.
fn differences<'f>(view: &View<'f>, case: &'f str, methods: &[String; 2], measures: &[Measure]) -> Vec<Cell> {
    let cell = |measure: &Measure| {
        let spread = difference(view, case, methods, &metric(measure));
        let mut cell = Cell::spread(spread, measure.3, view.folds(case));
        // Those whom one answers need not be those whom the other does.
        cell.numbers.iter_mut().for_each(|number| (number.over, number.of) = (None, None));
        cell
    };
    measures.iter().map(cell).collect()
}

fn metric((_, name, keys, _): &Measure) -> Metric {
    let keys: Vec<(&str, &dyn Display)> = keys.iter().map(|(key, value)| (*key, value as _)).collect();
    Metric::at(name, &keys)
}

/// By how much the second method's measure is more than the first's, over the folds that have both.
fn difference(view: &View<'_>, case: &str, methods: &[String; 2], metric: &Metric) -> Option<Spread> {
    let [before, after] = methods.each_ref().map(|method| view.each(case, method, metric));
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
        let tables = tables(&View::new(&figures), "t");
        let texts: Vec<Vec<&str>> = tables[0]
            .rows
            .iter()
            .map(|row| row.cells.iter().map(|cell| cell.text.as_str()).collect())
            .collect();
        assert_eq!(tables.len(), 1);
        assert_eq!(tables[0].columns, ["circuits of", "answered", "score"]);
        // Though the mean of labels over three folds is 5 and that of decisions over two is 4.
        assert_eq!(texts[2], ["", "1.000 ± 0.707"]);
        assert_eq!(tables[0].rows[2].cells[1].note, "2 of 3 folds");
    }
}
