//! What every term of the loss is for.
//!
//! # Paper
//! Q2: table 2, and the appendix's tables of ablations.

use super::{SIMILARITY, after_answered, answered, measures, over_folds};
use crate::experiment::Experiment;
use crate::paper::{self, PublishedAblation};
use crate::report::table::{Cell, Row, Source, Table, Unit};
use crate::report::view::View;

const MEASURES: [(&str, Unit); 5] = [
    ("nll", Unit::Plain(2)),
    ("score", Unit::Plain(2)),
    ("validity", Unit::Percent(1)),
    ("similarity", Unit::Plain(2)),
    ("sparsity", Unit::Plain(2)),
];
const COLUMNS: [&str; 7] = ["training", "answered", "NLL", "score", "validity %", "similarity", "sparsity"];
/// Both experiments name their methods alike; this one is that of the encoder.
const NEIGHBOURS: &str = "-neighbours";

/// A way of training the generator, before or after local search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ablation<'f> {
    /// In figures: `paper -validity/generate`.
    pub(crate) method: &'f str,
    /// Whose settings: `paper`, `ours`.
    pub(crate) preset: &'f str,
    /// What is left out: `-validity`; `full` for nothing.
    pub(crate) name: &'f str,
}

impl Ablation<'_> {
    /// Whether nothing is left out.
    pub(crate) fn is_full(&self) -> bool {
        self.name == "full"
    }
}

/// The ablations of a case, `stage` being `generate`, before local search, or `refine`, after it.
pub(crate) fn ablations<'f>(view: &View<'f>, case: &'f str, stage: &str) -> Vec<Ablation<'f>> {
    let ablation = |method: &'f str| {
        let (variant, own) = method.rsplit_once('/')?;
        let (preset, name) = variant.split_once(' ')?;
        (own == stage && name != NEIGHBOURS).then_some(Ablation { method, preset, name })
    };
    view.methods(case).iter().copied().filter_map(ablation).collect()
}

pub(super) fn tables<'f>(view: &View<'f>, case: &'f str) -> Vec<Table> {
    [("generate", "without local search"), ("refine", "with local search")]
        .into_iter()
        .filter_map(|(stage, title)| table(view, case, stage, title))
        .collect()
}

fn table<'f>(view: &View<'f>, case: &'f str, stage: &str, title: &str) -> Option<Table> {
    let book: &[PublishedAblation] = paper::benchmark(case).map_or(&[], |benchmark| &benchmark.ablations);
    let mut rows = Vec::new();
    let mut has_published = false;
    for ablation in ablations(view, case, stage) {
        let name = format!("{} {}", ablation.preset, ablation.name);
        let cells = measures(view, case, ablation.method, &MEASURES);
        rows.push(Row::new(name, after_answered(answered(view, case, ablation.method).as_ref(), cells)));
        for row in book.iter().filter(|row| row.method() == ablation.method) {
            rows.push(published(row));
            has_published = true;
        }
    }
    let table =
        Table::new(Experiment::Ablations, case, &format!("terms of the loss, {title}"), &COLUMNS, rows)?;
    let mut notes = vec![format!(
        "{} Each row is a generator that was trained anew without what its name leaves out (ppt: plausibility and \
         proximity together); bins, classifier, circuits and seed stay as they are.",
        over_folds(view.folds(case))
    )];
    notes.push(
        match stage {
            "generate" => {
                "Figures are of the generator's most probable row, whether or not the classifier accepts it."
            }
            _ => "Figures are of what local search makes of it: a valid answer, or none.",
        }
        .to_string(),
    );
    notes.push(
        "“paper” is the paper's preset and its LearnSPN circuits, “ours” our objective and circuits: the NLL of one is \
         not to be compared with that of the other."
            .to_string(),
    );
    if has_published {
        notes.push(
            "Published rows follow the row of the same name, with their place in the paper. A check mark is read as \
             enabled in all of its tables: the appendix's caption says the opposite, but its row of check marks \
             alone has the figures of the full objective. Some rows stand there twice with other figures; all are \
             given. Rows 8 to 13 of the appendix look like figures after local search, with nearly all valid and as \
             few changes as PAR (+LS). The classifier and the denied people are the paper's own."
                .to_string(),
        );
        notes.push(
            "The paper publishes no weights; those of the preset are ours. L₋ weighs a twentieth of L₊ in it, \
             so that leaving it out changes little, and how much is valid without L_val depends on that \
             choice."
                .to_string(),
        );
        notes.push(SIMILARITY.to_string());
    }
    Some(table.noted(notes))
}

fn published(row: &PublishedAblation) -> Row {
    let cells = vec![
        Cell::default(),
        Cell::published(Some(row.nll), Unit::Plain(2)),
        Cell::published(Some(row.score), Unit::Plain(2)),
        Cell::published(Some(row.validity), Unit::Percent(1)),
        Cell::published(row.similarity, Unit::Plain(2)),
        Cell::published(row.sparsity, Unit::Plain(2)),
    ];
    Row { source: Source::Published, ..Row::new(format!("published, {}", row.place), cells) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{Figures, Sheet};

    #[test]
    fn published_rows_follow_the_row_of_the_same_name() {
        let mut sheet = Sheet::new("credit", "0");
        for name in [
            "paper full/generate",
            "paper -validity/generate",
            "paper -neighbours/generate",
            "paper/generate",
        ] {
            sheet.number(name, "nll", 18.0, 1);
        }
        sheet.number("paper -validity/refine", "nll", 17.0, 1);
        let figures = Figures(sheet.into_figures());
        let tables = tables(&View::new(&figures), "credit");
        let names: Vec<&str> = tables[0].rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "paper full",
                "published, appendix, row 1",
                "paper -validity",
                "published, table 2, row 2",
                "published, appendix, row 7"
            ]
        );
        assert_eq!(tables[0].rows[3].cells[1].text, "18.88 ± 0.59");
        assert_eq!(tables[1].rows.len(), 1, "nothing is published after local search");
        let tells = |table: &Table| table.notes.iter().any(|note| note == SIMILARITY);
        assert!(tells(&tables[0]) && !tells(&tables[1]), "published similarity is another measure");
    }
}
