//! What the neighbourhood is for.
//!
//! # Paper
//! Q3, and "Logit Change Analysis" in the appendix.

use super::{after_answered, answered, measures, over_folds};
use crate::experiment::Experiment;
use crate::paper;
use crate::report::table::{Cell, Number, Row, Source, Table, Unit};
use crate::report::view::View;

/// Methods in figures and for readers.
pub(crate) const ENCODERS: [(&str, &str); 2] =
    [("paper/encoder", "paper's preset"), ("ours/encoder", "ours")];

pub(super) fn tables<'f>(view: &View<'f>, case: &'f str) -> Vec<Table> {
    [logits(view, case), features(view, case), answers(view, case)].into_iter().flatten().collect()
}

fn logits(view: &View<'_>, case: &str) -> Option<Table> {
    let shares = [("relative_l1", Unit::Percent(1)), ("moved", Unit::Percent(1))];
    let mut rows: Vec<Row> = ENCODERS
        .iter()
        .map(|(method, label)| Row::new(*label, measures(view, case, method, &shares)))
        .collect();
    if let Some(published) = paper::benchmark(case).and_then(|benchmark| benchmark.encoder) {
        let [least, most] = published.relative_l1;
        let cells = vec![range(least, Some(most)), range(published.moved, published.moved_most)];
        rows.push(Row { source: Source::Published, ..Row::new("published, least to most", cells) });
    }
    let columns = ["generator", "relative ℓ1 change %", "logits moved by more than 0.5, %"];
    let table =
        Table::new(Experiment::Encoder, case, "how far logits move without neighbours", &columns, rows)?;
    Some(table.noted([
        format!(
            "{} The same generator, told of its neighbours and told of none, for denied people who share all immutable \
             features with another of them; over how many of the denied stands with each mean.",
            over_folds(view.folds(case))
        ),
    ]))
}

fn range(least: f64, most: Option<f64>) -> Cell {
    let write = |share: f64| Unit::Percent(0).number(share);
    let text = match most {
        Some(most) => format!("{} to {}", write(least), write(most)),
        None => format!("over {}", write(least)),
    };
    let numbers = [least].into_iter().chain(most).map(Number::plain).collect();
    Cell { numbers, ..Cell::text(text) }
}

fn features<'f>(view: &View<'f>, case: &'f str) -> Option<Table> {
    let mut names: Vec<&str> = Vec::new();
    for (method, _) in ENCODERS {
        for name in view.keys(case, method, "logit_change", "feature") {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let cell = |method: &str, metric: &str, feature: &str, unit| {
        Cell::spread(view.spread_at(case, method, metric, "feature", feature), unit, view.folds(case))
    };
    let row = |feature: &&str| {
        let cells = ENCODERS.iter().flat_map(|(method, _)| {
            [
                cell(method, "logit_change", feature, Unit::Plain(2)),
                cell(method, "moved", feature, Unit::Percent(0)),
            ]
        });
        let asked = ENCODERS
            .iter()
            .find_map(|(method, _)| view.spread_at(case, method, "logit_change", "feature", feature));
        Row::new(*feature, after_answered(asked.as_ref(), cells.collect()))
    };
    let columns = [
        "feature",
        "people",
        "paper's preset: mean change of a logit",
        "moved %",
        "ours: mean change of a logit",
        "moved %",
    ];
    let rows = names.iter().map(row).collect();
    let table = Table::new(Experiment::Encoder, case, "the same, feature by feature", &columns, rows)?;
    Some(table.noted([over_folds(view.folds(case))]))
}

fn answers(view: &View<'_>, case: &str) -> Option<Table> {
    let columns = ["training", "answered", "validity %", "NLL", "score", "similarity", "sparsity"];
    let all = [
        ("validity", Unit::Percent(1)),
        ("nll", Unit::Plain(2)),
        ("score", Unit::Plain(2)),
        ("similarity", Unit::Plain(2)),
        ("sparsity", Unit::Plain(2)),
    ];
    let mut rows = Vec::new();
    for preset in ["paper", "ours"] {
        for stage in ["generate", "refine"] {
            for (variant, words) in [("full", "with neighbours"), ("-neighbours", "trained without")] {
                let method = &format!("{preset} {variant}/{stage}");
                let cells = measures(view, case, method, &all);
                let cells = after_answered(answered(view, case, method).as_ref(), cells);
                rows.push(Row::new(format!("{preset}, {stage}, {words}"), cells));
            }
        }
    }
    let table = Table::new(Experiment::Encoder, case, "answers with and without neighbours", &columns, rows)?;
    Some(table.noted([
        format!(
            "{} Trained anew without neighbours, which the paper does not measure; with them as in the ablations. \
             “generate” is the most probable row, accepted or not.",
            over_folds(view.folds(case))
        ),
    ]))
}
