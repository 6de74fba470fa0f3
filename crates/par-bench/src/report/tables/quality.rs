//! How good bins, classifier and circuits are.
//!
//! # Paper
//! Appendix, "Bin Coverage and Bin Fidelity" and "Threshold Selection for GMSC".

use super::over_folds;
use crate::experiment::Experiment;
use crate::paper;
use crate::report::table::{Cell, Row, Table, Unit};
use crate::report::view::View;

/// A row: its name, the method and the measure in figures, how it is written.
type Measure = (&'static str, &'static str, &'static str, Unit);

const MEASURES: [Measure; 14] = [
    ("bins: coverage of cells", "bins", "coverage", Unit::Plain(6)),
    ("bins: fidelity of rows", "bins", "fidelity", Unit::Plain(6)),
    ("classifier: threshold", "classifier", "threshold", Unit::Plain(2)),
    ("classifier: threshold by Youden's J", "classifier", "youden", Unit::Plain(2)),
    ("classifier: area under the ROC curve", "classifier", "auc", Unit::Plain(3)),
    ("classifier: accuracy", "classifier", "accuracy", Unit::Plain(3)),
    ("classifier: Brier score", "classifier", "brier", Unit::Plain(3)),
    ("classifier: calibration error", "classifier", "calibration_error", Unit::Plain(3)),
    ("circuit of the accepted: log-likelihood", "circuit of the accepted", "log_likelihood", Unit::Plain(2)),
    ("circuit of the accepted: edges", "circuit of the accepted", "edges", Unit::Plain(0)),
    ("circuit of the accepted: parameters", "circuit of the accepted", "parameters", Unit::Plain(0)),
    ("circuit of the denied: log-likelihood", "circuit of the denied", "log_likelihood", Unit::Plain(2)),
    ("circuit of the denied: edges", "circuit of the denied", "edges", Unit::Plain(0)),
    ("circuit of the denied: parameters", "circuit of the denied", "parameters", Unit::Plain(0)),
];

pub(super) fn tables<'f>(view: &View<'f>, case: &'f str) -> Vec<Table> {
    let bins = paper::benchmark(case).and_then(|benchmark| benchmark.bins);
    let row = |(name, method, metric, unit): &Measure| {
        let published = match *metric {
            "coverage" => Cell::number(bins.map(|bins| bins.coverage), *unit),
            "fidelity" => Cell::number(bins.map(|bins| bins.fidelity), *unit),
            _ => Cell::none(),
        };
        let own = Cell::spread(view.spread(case, method, *metric), *unit, view.folds(case));
        // A published figure beside nothing has nothing to be compared with.
        let published = if own.numbers.is_empty() { Cell::none() } else { published };
        Row::new(*name, vec![own, published])
    };
    let rows = MEASURES.iter().map(row).collect();
    let columns = ["measure", "here", "published"];
    let table = Table::new(Experiment::Quality, case, "bins, classifier and circuits", &columns, rows);
    let notes = [format!(
        "{} All on the rows of the fold, which nothing has learned from. Coverage: the share of cells inside the bins' \
         domains; fidelity: the share of rows all of whose cells are. Log-likelihoods are means over the rows of the \
         class, in nats a row.",
        over_folds(view.folds(case))
    )];
    table.map(|table| table.noted(notes)).into_iter().collect()
}
