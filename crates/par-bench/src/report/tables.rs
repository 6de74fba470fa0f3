//! The tables, a file a topic.

mod ablations;
mod answers;
mod density;
mod encoder;
mod fairness;
mod growth;
mod quality;
mod robustness;

use super::table::{Cell, Table, Unit};
use super::view::View;
use crate::experiment::Experiment;
use crate::figures::Spread;
use par_plot::text::grouped;

pub(super) use ablations::{Ablation, ablations};
pub(super) use encoder::ENCODERS;
pub(super) use fairness::{Gaps, Group, groups};
pub(super) use growth::{AXES, fit_seconds, time};
pub(super) use robustness::methods as robust_methods;

/// Why our similarity is not to be read beside that of PAR's published rows.
const SIMILARITY: &str = "Similarity is how far raw numbers move, in median absolute deviations, without categories, in our rows \
     and in the published ones of the baselines. That of PAR's published rows is over the codes of all \
     features: it is another measure, and not to be compared with ours.";

/// The tables of a topic, case by case; those that there are no figures for are left out.
pub(super) fn tables(view: &View<'_>, topic: Experiment) -> Vec<Table> {
    let of = match topic {
        Experiment::Answers => answers::tables,
        Experiment::Ablations => ablations::tables,
        Experiment::Encoder => encoder::tables,
        Experiment::Robustness => robustness::tables,
        Experiment::Quality => quality::tables,
        Experiment::Density => density::tables,
        Experiment::Fairness => fairness::tables,
        Experiment::Growth => growth::tables,
    };
    view.cases().iter().flat_map(|case| of(view, case)).collect()
}

/// The cells of a method for some measures.
fn measures(view: &View<'_>, case: &str, method: &str, measures: &[(&str, Unit)]) -> Vec<Cell> {
    let cell =
        |(name, unit): &(&str, Unit)| Cell::spread(view.spread(case, method, *name), *unit, view.folds(case));
    measures.iter().map(cell).collect()
}

/// Over whom the measures of a method are that need an answer.
fn answered(view: &View<'_>, case: &str, method: &str) -> Option<Spread> {
    view.spread(case, method, "score").or_else(|| view.spread(case, method, "nll"))
}

/// The cells after one that says how many of the denied have an answer, right or wrong, and of how many folds, so that
/// not every cell has to.
fn after_answered(answered: Option<&Spread>, mut cells: Vec<Cell>) -> Vec<Cell> {
    let answered = answered
        .map_or_else(String::new, |spread| format!("{} of {}", grouped(spread.over), grouped(spread.of)));
    for cell in &mut cells {
        if let Some(rest) = cell.note.strip_prefix(&answered) {
            cell.note = rest.trim_start_matches(", ").to_string();
        }
    }
    let folds = cells
        .iter()
        .find(|cell| cell.note.ends_with(" folds") && !cell.note.contains(", "))
        .map(|cell| cell.note.clone());
    let folds = folds.unwrap_or_default();
    for cell in cells.iter_mut().filter(|cell| cell.note == folds) {
        cell.note.clear();
    }
    cells.insert(0, Cell::text(answered).noted(folds));
    cells
}

/// How many folds there are, in words.
fn over_folds(folds: usize) -> String {
    match folds {
        0 | 1 => "Figures of one run.".to_string(),
        folds => format!("Mean ± sample standard deviation over {folds} folds."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_many_are_answered_is_said_once() {
        let spread = Spread { mean: 1.0, deviation: 0.0, folds: 4, over: 16, of: 106 };
        let cell = Cell::spread(Some(spread), Unit::Plain(0), 5);
        let other = Cell::text("2").noted("3 of 106");
        let cells = after_answered(Some(&spread), vec![cell, other]);
        let notes: Vec<&str> = cells.iter().map(|cell| cell.note.as_str()).collect();
        assert_eq!((cells[0].text.as_str(), notes), ("16 of 106", vec!["4 of 5 folds", "", "3 of 106"]));
    }
}
