//! The descriptions in `report.toml`: the words, tables and plots of each experiment.

use std::collections::BTreeMap;
use std::iter;
use std::sync::LazyLock;

use par_plot::Chart;
use par_plot::text::grouped;
use serde::Deserialize;

use super::measured::{FigureKey, Measured};
use super::plot::{Plot, PlotLayout};
use super::table::{FigureSource, ReportCell, ReportRow, ReportTable, Unit};
use crate::experiment::Experiment;
use crate::figures::{Metric, Spread};

/// The contents of `report.toml`.
#[derive(Debug, Deserialize)]
struct ReportDescription {
    /// Sentences that several tables share, by name.
    words: BTreeMap<String, String>,
    #[serde(flatten)]
    topics: BTreeMap<String, Topic>,
}

static DESCRIPTION: LazyLock<ReportDescription> =
    LazyLock::new(|| toml::from_str(include_str!("report.toml")).expect("the embedded file is valid"));

/// The description of an experiment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Topic {
    /// Its question.
    pub(crate) title: String,
    /// An introduction to its results.
    pub(crate) words: String,
    #[serde(default)]
    tables: BTreeMap<String, TableDescription>,
    #[serde(default)]
    plots: BTreeMap<String, PlotDescription>,
}

/// A table before its rows are known.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableDescription {
    title: String,
    /// The head of the first column, the names of rows.
    head: String,
    pub(crate) counted: Option<CountColumn>,
    pub(crate) columns: Vec<ColumnDescription>,
    /// The measure that has a further column for every value of a key.
    #[serde(default)]
    pub(crate) each: ColumnDescription,
    /// Fixed rows: one measure each.
    #[serde(default)]
    pub(crate) rows: Vec<ColumnDescription>,
    notes: Vec<Note>,
}

/// A column with the counts of a row, taken from the first of the columns in `by` that has figures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CountColumn {
    head: String,
    pub(crate) by: Vec<String>,
}

/// A measure under a head, and its unit: a time if there are no decimals. Keys of the row override its own.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ColumnDescription {
    pub(crate) head: String,
    /// The method.
    pub(crate) of: String,
    pub(crate) measure: Metric,
    /// Further measures in the same cell, after slashes.
    beside: Vec<String>,
    decimals: Option<usize>,
    percent: Option<usize>,
}

/// A sentence below a table, possibly with a condition.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    when: Option<String>,
    text: String,
}

/// A plot before it is drawn.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlotDescription {
    title: String,
    caption: String,
    #[serde(default)]
    layout: PlotLayout,
}

/// The texts for the names in braces.
pub(crate) type Placeholders<'a> = &'a [(&'a str, String)];

fn fill(text: &str, with: Placeholders<'_>) -> String {
    with.iter().fold(text.to_string(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

impl Topic {
    pub(crate) fn of(experiment: Experiment) -> &'static Self {
        &DESCRIPTION.topics[experiment.name()]
    }
}

impl Measured<'_> {
    /// The description of one of its tables.
    pub(crate) fn frame(&self, name: &str) -> &'static TableDescription {
        &Topic::of(self.topic).tables[name]
    }

    /// One of its plots; `None` without a chart.
    pub(crate) fn plot(
        &self,
        name: &'static str,
        with: Placeholders<'_>,
        charts: impl IntoIterator<Item = (String, Chart)>,
    ) -> Option<Plot> {
        plot(self.topic, self.case, name, with, charts)
    }
}

/// The plot of a case, or of all cases.
pub(crate) fn plot(
    topic: Experiment,
    case: &str,
    name: &'static str,
    with: Placeholders<'_>,
    charts: impl IntoIterator<Item = (String, Chart)>,
) -> Option<Plot> {
    let PlotDescription { title, caption, layout, .. } = &Topic::of(topic).plots[name];
    let (case, title, caption) = (case.to_string(), title.clone(), fill(caption, with));
    let plot =
        Plot { topic, case, name, title, caption, charts: charts.into_iter().collect(), layout: *layout };
    (!plot.charts.is_empty()).then_some(plot)
}

impl ColumnDescription {
    /// Another measure under another head, in the same unit.
    pub(crate) fn like(&self, head: impl Into<String>, measure: Metric) -> Self {
        Self { head: head.into(), measure, ..self.clone() }
    }

    pub(crate) fn unit(&self) -> Unit {
        match (self.decimals, self.percent) {
            (Some(decimals), _) => Unit::Plain(decimals),
            (None, Some(decimals)) => Unit::Percent(decimals),
            (None, None) => Unit::Time,
        }
    }

    /// The key of a row, completed by the column's.
    pub(crate) fn at(&self, row: &FigureKey) -> FigureKey {
        let filled = |own: &String, other: &String| if own.is_empty() { other.clone() } else { own.clone() };
        let keys = if row.metric.keys.is_empty() { &self.measure.keys } else { &row.metric.keys };
        let metric = Metric { name: filled(&row.metric.name, &self.measure.name), keys: keys.clone() };
        FigureKey { method: filled(&row.method, &self.of), metric }
    }

    /// The cell of this column in a row.
    pub(crate) fn cell(&self, measured: &Measured<'_>, row: &FigureKey) -> ReportCell {
        let (at, unit) = (self.at(row), self.unit());
        if self.beside.is_empty() {
            return measured.cell(&at, unit);
        }
        let beside = |name: &String| Metric { name: name.clone(), keys: at.metric.keys.clone() };
        let others =
            self.beside.iter().map(|name| FigureKey { method: at.method.clone(), metric: beside(name) });
        let spreads: Vec<Spread> =
            iter::once(at.clone()).chain(others).filter_map(|key| measured.spread(&key)).collect();
        if spreads.is_empty() {
            return ReportCell::none();
        }
        let texts: Vec<String> = spreads.iter().map(|spread| unit.number(spread.mean)).collect();
        let numbers = spreads.into_iter().map(Into::into).collect();
        ReportCell { numbers, ..ReportCell::text(texts.join(" / ")) }
    }
}

impl TableDescription {
    /// The row with this key.
    pub(crate) fn row(&self, measured: &Measured<'_>, name: impl Into<String>, at: &FigureKey) -> ReportRow {
        let cells: Vec<ReportCell> = self.columns.iter().map(|column| column.cell(measured, at)).collect();
        let Some(CountColumn { by, .. }) = &self.counted else { return ReportRow::new(name, cells) };
        let place = |head: &String| self.columns.iter().position(|column| column.head == *head);
        ReportRow::new(name, counted(cells, &by.iter().filter_map(place).collect::<Vec<_>>()))
    }

    /// The table without empty rows and columns; `None` if nothing was measured. `when` holds the conditions that are
    /// met.
    pub(crate) fn table(
        &self,
        measured: &Measured<'_>,
        mut rows: Vec<ReportRow>,
        when: &[&str],
        with: Placeholders<'_>,
    ) -> Option<ReportTable> {
        let words = DESCRIPTION.words.iter().map(|(name, text)| (name.as_str(), text.clone()));
        let with: Vec<(&str, String)> =
            words.chain([("folds", measured.over_folds())]).chain(with.iter().cloned()).collect();
        let with = with.as_slice();
        rows.retain(|row| row.cells.iter().any(ReportCell::is_filled));
        rows.iter().find(|row| row.source == FigureSource::Measured)?;
        let counted = self.counted.as_ref().map(|counted| &counted.head);
        let heads: Vec<&String> =
            counted.into_iter().chain(self.columns.iter().map(|column| &column.head)).collect();
        let is_filled =
            |column: &usize| rows.iter().any(|row| row.cells.get(*column).is_some_and(ReportCell::is_filled));
        let filled: Vec<usize> = (0..heads.len()).filter(is_filled).collect();
        for row in &mut rows {
            row.cells = filled.iter().map(|column| row.cells[*column].clone()).collect();
        }
        let columns = filled.iter().map(|column| heads[*column].clone());
        let holds =
            |note: &&Note| note.when.as_ref().is_none_or(|condition| when.contains(&condition.as_str()));
        let notes = self.notes.iter().filter(holds).map(|note| fill(&note.text, with));
        Some(ReportTable {
            topic: measured.topic,
            case: measured.case.to_string(),
            title: fill(&self.title, with),
            notes: notes.filter(|note| !note.is_empty()).collect(),
            columns: iter::once(fill(&self.head, with)).chain(columns).collect(),
            rows,
        })
    }
}

/// Puts a cell with the counts before the cells, and removes them from the others. `known` are the cells that have
/// the counts.
fn counted(mut cells: Vec<ReportCell>, known: &[usize]) -> Vec<ReportCell> {
    let counts = |place: &usize| cells[*place].numbers.first().and_then(|number| number.over.zip(number.of));
    let answered = known.iter().find_map(counts);
    let answered =
        answered.map_or_else(String::new, |(over, of)| format!("{} of {}", grouped(over), grouped(of)));
    for cell in &mut cells {
        if let Some(rest) = cell.note.strip_prefix(&answered) {
            cell.note = rest.trim_start_matches(", ").to_string();
        }
    }
    let is_folds = |cell: &&ReportCell| cell.note.ends_with(" folds") && !cell.note.contains(", ");
    let folds = cells.iter().find(is_folds).map_or_else(String::new, |cell| cell.note.clone());
    cells.iter_mut().filter(|cell| cell.note == folds).for_each(|cell| cell.note.clear());
    cells.insert(0, ReportCell::text(answered).noted(folds));
    cells
}

/// A sentence that several tables share.
#[cfg(test)]
pub(crate) fn word(name: &str) -> &'static str {
    &DESCRIPTION.words[name]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{Figures, Sheet, Spread};

    fn table(heads: &[&str], rows: Vec<ReportRow>) -> Option<ReportTable> {
        let notes =
            "notes = [{ text = 'What differs.' }, { when = 'never', text = 'x' }, { text = '{none}' }]";
        let heads: Vec<String> = heads.iter().map(|head| format!("{{ head = '{head}' }}")).collect();
        let columns = format!("columns = [{}]", heads.join(", "));
        let frame: TableDescription =
            toml::from_str(&format!("title = 'answers'\nhead = 'method'\n{columns}\n{notes}"))
                .expect("a frame");
        let mut sheet = Sheet::new("cre\ndit", "0");
        sheet.number("refine", "nll", 1.0, 1);
        let figures = Figures(sheet.into_figures());
        frame.table(&Measured::by_case(&figures)[0], rows, &[], &[("none", String::new())])
    }

    #[test]
    fn every_experiment_is_described() {
        for experiment in Experiment::ALL {
            assert!(!Topic::of(experiment).words.is_empty() && !Topic::of(experiment).words.contains('\n'));
        }
    }

    /// The default circuits may have LearnSPN's among their members, so the judge's is not of another kind.
    #[test]
    fn the_circuit_of_the_judge_is_described_by_how_it_is_learned() {
        let notes = &Topic::of(Experiment::Peers).tables["peers"].notes;
        let judge = notes.iter().find(|note| note.text.starts_with("The judge is")).expect("a note");
        assert!(judge.text.contains("LearnSPN") && !judge.text.contains("of another kind"));
    }

    #[test]
    fn empty_columns_are_left_out() {
        let rows = vec![
            ReportRow::new("refine", vec![ReportCell::none(), ReportCell::text("1")]),
            ReportRow::new("exact", vec![ReportCell::none(); 2]),
        ];
        let table = table(&["gap", "nll"], rows).expect("a table");
        assert_eq!((table.columns, table.rows.len()), (vec!["method".to_string(), "nll".to_string()], 1));
        assert_eq!(table.rows[0].cells, [ReportCell::text("1")]);
    }

    #[test]
    fn a_table_without_figures_is_none() {
        let published = ReportRow::new("PAR", vec![ReportCell::text("1")]).from(FigureSource::Published);
        let rows = vec![ReportRow::new("refine", vec![ReportCell::none()]), published];
        assert_eq!(table(&["nll"], rows), None);
    }

    #[test]
    fn the_number_of_answers_is_shown_once() {
        let spread = Spread { mean: 1.0, deviation: 0.0, folds: 4, over: 16, of: 106 };
        let cell = ReportCell::spread(Some(spread), Unit::Plain(0), 5);
        let cells = counted(vec![cell, ReportCell::text("2").noted("3 of 106")], &[0]);
        let notes: Vec<&str> = cells.iter().map(|cell| cell.note.as_str()).collect();
        assert_eq!((cells[0].text.as_str(), notes), ("16 of 106", vec!["4 of 5 folds", "", "3 of 106"]));
    }

    #[test]
    fn a_table_is_aligned_and_its_notes_follow() {
        let met = ReportCell { met: Some(true), ..ReportCell::text("≤ 10") };
        let rows = vec![
            ReportRow::new(
                "refine",
                vec![ReportCell::text("9.40 ± 0.37").noted("3 of 4"), ReportCell::text("0.1")],
            ),
            ReportRow::new("aim", vec![met, ReportCell::default()]),
        ];
        let built = table(&["NLL", "gap"], rows).expect("a table");
        assert_eq!(
            built.text(),
            "cre dit: answers\n  method                   NLL  gap\n  refine  9.40 ± 0.37 (3 of 4)  0.1\n  \
             aim                ≤ 10, met\n  What differs.\n"
        );
    }
}
