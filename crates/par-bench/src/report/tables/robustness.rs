//! Whether answers hold when the classifier is trained again.
//!
//! # Paper
//! Appendix, "Robustness to Classifier Change".

use super::{after_answered, over_folds};
use crate::experiment::Experiment;
use crate::report::methods::{Method, OURS, PRESET, peers};
use crate::report::table::{Cell, Row, Table, Unit};
use crate::report::view::View;

/// Everybody whose answers were judged by other classifiers.
pub(crate) fn methods<'f>(view: &View<'f>, case: &'f str) -> Vec<Method<'f>> {
    let mut all: Vec<Method<'f>> = OURS.into_iter().chain(PRESET).chain(peers(view, case)).collect();
    all.retain(|method| !view.keys(case, method.key, "score", "classifier").is_empty());
    all
}

pub(super) fn tables<'f>(view: &View<'f>, case: &'f str) -> Vec<Table> {
    let score =
        table(view, case, "score", "mean score under classifiers that were trained again", Unit::Plain(2));
    let kept = table(view, case, "kept", "share still accepted, %", Unit::Percent(1));
    [score, kept].into_iter().flatten().collect()
}

fn table<'f>(view: &View<'f>, case: &'f str, metric: &'f str, title: &str, unit: Unit) -> Option<Table> {
    let methods = methods(view, case);
    let mut classifiers: Vec<&str> = Vec::new();
    for method in &methods {
        for name in view.keys(case, method.key, metric, "classifier") {
            if !classifiers.contains(&name) {
                classifiers.push(name);
            }
        }
    }
    let row = |method: &Method<'f>| {
        let spreads: Vec<_> = classifiers
            .iter()
            .map(|name| view.spread_at(case, method.key, metric, "classifier", name))
            .collect();
        let means: Vec<f64> = spreads.iter().flatten().map(|spread| spread.mean).collect();
        let mean = (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64);
        let worst = means.iter().copied().min_by(f64::total_cmp);
        let mut cells = vec![Cell::number(mean, unit), Cell::number(worst, unit)];
        cells.extend(spreads.iter().map(|spread| Cell::spread(*spread, unit, view.folds(case))));
        Row::new(method.label, after_answered(spreads.iter().flatten().next(), cells))
    };
    let mut rows: Vec<Row> = methods.iter().map(row).collect();
    rows.extend(agreement(view, case, metric, &classifiers));
    let columns: Vec<&str> =
        ["method", "answered", "mean", "worst"].into_iter().chain(classifiers.iter().copied()).collect();
    let table = Table::new(Experiment::Robustness, case, title, &columns, rows)?;
    Some(table.noted([
        format!(
            "{} Answers, bins and threshold stay as they are; the classifier is trained again with other random \
             numbers (seed), on other samples of the same rows (bootstrap), and in other shapes. Mean and worst are \
             over these classifiers. {}",
            over_folds(view.folds(case)),
            match metric {
                "kept" => "Over the answers that our classifier accepts.",
                _ => "Over all answers.",
            }
        ),
    ]))
}

/// How often a classifier that was trained again decides as the deployed one.
fn agreement(view: &View<'_>, case: &str, metric: &str, classifiers: &[&str]) -> Option<Row> {
    if metric != "kept" {
        return None;
    }
    let spread = |name: &&str| view.spread_at(case, "classifier", "agreement", "classifier", name);
    let cells = classifiers.iter().map(|name| Cell::spread(spread(name), Unit::Percent(1), view.folds(case)));
    let blank = || Cell::default();
    let cells = [blank(), blank(), blank()].into_iter().chain(cells).collect();
    Some(Row::new("test rows decided alike", cells))
}
