//! The effect of every term of the loss.
//!
//! # Paper
//! Q2: table 2, and the appendix's tables of ablations.

use par_plot::{Axis, Chart, Sign};

use super::CaseSection;
use super::measured::{FigureKey, Measured};
use super::plot::Plot;
use super::table::{FigureSource, ReportCell, ReportRow, ReportTable, Unit};
use crate::paper::{self, PublishedAblation};

/// Before and after local search.
const STAGES: [&str; 2] = ["generate", "refine"];
/// A method of the encoder's experiment, whose methods have names of the same form.
const NEIGHBOURS: &str = "-neighbours";

pub(super) fn show(measured: &Measured<'_>) -> CaseSection {
    CaseSection::new(STAGES.map(|stage| table(measured, stage)), [map(measured)])
}

/// A variant of training the generator, before or after local search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ablation<'f> {
    /// Its name in figures: `paper -validity/generate`.
    method: &'f str,
    /// The settings: `paper`, `ours`.
    preset: &'f str,
    /// The terms left out: `-validity`; `full` for none.
    name: &'f str,
}

/// The ablations of a case, before or after local search.
fn ablations<'f>(measured: &Measured<'f>, stage: &str) -> Vec<Ablation<'f>> {
    let ablation = |method: &'f str| {
        let (variant, own) = method.rsplit_once('/')?;
        let (preset, name) = variant.split_once(' ')?;
        (own == stage && name != NEIGHBOURS).then_some(Ablation { method, preset, name })
    };
    measured.methods.iter().copied().filter_map(ablation).collect()
}

fn table(measured: &Measured<'_>, stage: &str) -> Option<ReportTable> {
    let frame = measured.frame("terms");
    let book: &[PublishedAblation] =
        paper::benchmark(measured.case).map_or(&[], |benchmark| &benchmark.ablations);
    let mut rows = Vec::new();
    for Ablation { method, preset, name } in ablations(measured, stage) {
        rows.push(frame.row(measured, format!("{preset} {name}"), &FigureKey::method(method)));
        rows.extend(book.iter().filter(|row| row.method() == method).map(published));
    }
    let search = if stage == STAGES[0] { "without" } else { "with" };
    let is_published = rows.iter().any(|row| row.source == FigureSource::Published);
    let when = [search, if is_published { "published" } else { "" }];
    let preset = paper::benchmark(measured.case).and_then(|benchmark| benchmark.presets.first());
    let denied = preset.map_or_else(String::new, |preset| preset.denied.to_string());
    frame.table(measured, rows, &when, &[("stage", search.to_string()), ("denied", denied)])
}

fn published(row: &PublishedAblation) -> ReportRow {
    let pair = |pair| ReportCell::published(pair, Unit::Plain(2));
    let validity = ReportCell::published(Some(row.validity), Unit::Percent(1));
    let (nll, score) = (pair(Some(row.nll)), pair(Some(row.score)));
    // Published similarity is over codes.
    let (codes, raw) = (pair(row.similarity), ReportCell::default());
    let cells = vec![ReportCell::default(), nll, score, validity, codes, raw, pair(row.sparsity)];
    ReportRow::new(format!("published, {}", row.place), cells).from(FigureSource::Published)
}

/// Just wide enough for the names of measures, so that letters are large enough on a phone.
const WIDTH: f64 = 475.0;
/// The measures of the map: metric, title, unit, and whether more is better.
const MAPPED: [(&str, &str, Unit, bool); 5] = [
    ("validity", "validity %", Unit::Percent(0), true),
    ("nll", "NLL", Unit::Plain(1), false),
    ("score", "score", Unit::Plain(2), true),
    ("similarity_codes", "similarity", Unit::Plain(1), false),
    ("sparsity", "sparsity", Unit::Plain(1), false),
];

/// The change of each measure without a term, as a map.
fn map(measured: &Measured<'_>) -> Option<Plot> {
    let mut charts = Vec::new();
    for (preset, title) in [("paper", "Paper's preset"), ("ours", "Ours")] {
        for (stage, when) in STAGES.into_iter().zip(["before local search", "after local search"]) {
            let mut rows = ablations(measured, stage);
            rows.retain(|ablation| ablation.preset == preset);
            charts.extend(chart(measured, &rows).map(|chart| (format!("{title}, {when}"), chart)));
        }
    }
    measured.plot("ablations", &[], charts)
}

fn chart(measured: &Measured<'_>, rows: &[Ablation<'_>]) -> Option<Chart> {
    let full = rows.iter().find(|ablation| ablation.name == "full")?;
    let names = rows.iter().map(|own| if own == full { "full objective" } else { own.name });
    let axes = (Axis::names("", MAPPED.map(|(_, head, ..)| head)), Axis::names("", names).reversed());
    let description = format!(
        "Measures of generators on {} that were trained without some terms of the loss",
        measured.case
    );
    let mut chart = Chart::new(&description, (WIDTH, 32.0 + 25.0 * rows.len() as f64), axes.0, axes.1);
    for (place, (measure, _, unit, more_is_better)) in MAPPED.into_iter().enumerate() {
        let spread =
            |ablation: &Ablation<'_>| measured.spread(&FigureKey::new(ablation.method, measure, &[]));
        let value = |ablation: &Ablation<'_>| spread(ablation).map(|spread| spread.mean);
        let base = value(full);
        let gain = |ablation: &Ablation<'_>| {
            let change = value(ablation)? - base?;
            Some(if more_is_better { change } else { -change })
        };
        // The deviation between folds is the smallest scale.
        let least = spread(full).map_or(0.0, |spread| spread.deviation);
        let largest = rows.iter().filter_map(gain).map(f64::abs).fold(least, f64::max);
        for (row, ablation) in rows.iter().enumerate() {
            let Some(own) = value(ablation) else { continue };
            let share = gain(ablation).filter(|_| largest > 0.0).map_or(0.0, |gain| gain / largest);
            let text = |value: f64| unit.number(value);
            // Values that are printed alike count as equal.
            let is_same = base.is_some_and(|base| text(base) == text(own));
            let (class, sign) = if is_same { colour(0.0) } else { colour(share) };
            chart.cell(class, (place as f64, row as f64), &(text(own) + sign));
        }
    }
    chart.key("worse l3", Sign::Bar, "▾ much worse").key("worse l1", Sign::Bar, "▾ worse");
    chart.key("better l1", Sign::Bar, "▴ better").key("better l3", Sign::Bar, "▴ much better");
    Some(chart)
}

/// The colour of a change from −1 (much worse) to 1 (much better), and a sign for readers who cannot see it.
fn colour(share: f64) -> (&'static str, &'static str) {
    match share {
        share if share < -0.67 => ("worse l3", " ▾"),
        share if share < -0.33 => ("worse l2", " ▾"),
        share if share < -0.05 => ("worse l1", " ▾"),
        share if share <= 0.05 => ("l0", ""),
        share if share <= 0.33 => ("better l1", " ▴"),
        share if share <= 0.67 => ("better l2", " ▴"),
        _ => ("better l3", " ▴"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::figures::{Figures, Sheet};
    use crate::report::description::word;

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
        let mut cases = Measured::by_case(&figures);
        cases[0].topic = Experiment::Ablations;
        let tables = STAGES.map(|stage| table(&cases[0], stage).expect("a table"));
        let denied = paper::benchmark("credit").expect("a table").presets[0].denied;
        let weight = format!("L₋ weighs {denied} times as much as L₊");
        assert!(tables[0].notes.iter().any(|note| note.contains(&weight)), "{:?}", tables[0].notes);
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
        let tells = |table: &ReportTable| table.notes.iter().any(|note| note == word("similarity"));
        assert!(tells(&tables[0]) && !tells(&tables[1]), "there are two measures of similarity");
    }
}
