//! What the report shows of each experiment, as `report.toml` describes it: words, tables of measures, plots.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use par_plot::Chart;
use par_plot::text::grouped;
use serde::Deserialize;

use super::measured::{At, Measured};
use super::plot::{Layout, Plot};
use super::table::{Cell, Row, Source, Table, Unit};
use crate::experiment::Experiment;
use crate::figures::Metric;

/// All of it.
#[derive(Debug, Deserialize)]
struct Description {
    /// Sentences of several tables, by name.
    words: BTreeMap<String, String>,
    #[serde(flatten)]
    topics: BTreeMap<String, Topic>,
}

static DESCRIPTION: LazyLock<Description> =
    LazyLock::new(|| toml::from_str(include_str!("report.toml")).expect("a description of the report"));

/// How an experiment is reported.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Topic {
    /// What it asks.
    pub(crate) title: String,
    /// How to read the answer.
    pub(crate) words: String,
    #[serde(default)]
    tables: BTreeMap<String, Frame>,
    #[serde(default)]
    plots: BTreeMap<String, Picture>,
}

/// A table before its rows are known.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Frame {
    title: String,
    /// The head of the names of rows.
    head: String,
    pub(crate) counted: Option<Counted>,
    pub(crate) columns: Vec<Column>,
    /// What there is a further column of for every value of a key.
    #[serde(default)]
    pub(crate) each: Column,
    /// Rows that are always the same: a measure each.
    #[serde(default)]
    pub(crate) rows: Vec<Column>,
    notes: Vec<Note>,
}

/// A column that says over how many of how many a row is, and the heads of those that know: the first with figures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Counted {
    head: String,
    pub(crate) by: Vec<String>,
}

/// A measure under a head, and how it is written: without decimals it is a time. What a row says of its place counts
/// more.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Column {
    pub(crate) head: String,
    /// Whose it is.
    pub(crate) of: String,
    pub(crate) measure: Metric,
    /// Another measure that is written beside it, after a stroke.
    beside: Option<String>,
    decimals: Option<usize>,
    percent: Option<usize>,
}

/// A sentence below a table; with a condition, only where that holds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    when: Option<String>,
    text: String,
}

/// A plot before it is drawn.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Picture {
    title: String,
    caption: String,
    #[serde(default)]
    layout: Layout,
}

/// What is filled in for the names in braces.
pub(crate) type Filled<'a> = &'a [(&'a str, String)];

fn fill(text: &str, with: Filled<'_>) -> String {
    with.iter().fold(text.to_string(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

impl Topic {
    pub(crate) fn of(experiment: Experiment) -> &'static Self {
        &DESCRIPTION.topics[experiment.name()]
    }
}

impl Measured<'_> {
    /// A table of the topic, before its rows are known.
    pub(crate) fn frame(&self, name: &str) -> &'static Frame {
        &Topic::of(self.topic).tables[name]
    }

    /// A plot of the topic; there is none without a chart.
    pub(crate) fn plot(
        &self,
        name: &'static str,
        with: Filled<'_>,
        charts: impl IntoIterator<Item = (String, Chart)>,
    ) -> Option<Plot> {
        plot(self.topic, self.case, name, with, charts)
    }
}

/// A plot of a topic and a case, or of all cases.
pub(crate) fn plot(
    topic: Experiment,
    case: &str,
    name: &'static str,
    with: Filled<'_>,
    charts: impl IntoIterator<Item = (String, Chart)>,
) -> Option<Plot> {
    let Picture { title, caption, layout, .. } = &Topic::of(topic).plots[name];
    let (case, title, caption) = (case.to_string(), title.clone(), fill(caption, with));
    let plot =
        Plot { topic, case, name, title, caption, charts: charts.into_iter().collect(), layout: *layout };
    (!plot.charts.is_empty()).then_some(plot)
}

impl Column {
    /// A measure at another place, under its own head and written alike.
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

    /// The place of a row, with what it leaves open.
    pub(crate) fn at(&self, row: &At) -> At {
        let filled = |own: &String, other: &String| if own.is_empty() { other.clone() } else { own.clone() };
        let keys = if row.metric.keys.is_empty() { &self.measure.keys } else { &row.metric.keys };
        let metric = Metric { name: filled(&row.metric.name, &self.measure.name), keys: keys.clone() };
        At { method: filled(&row.method, &self.of), metric }
    }

    /// What was measured at the place of a row.
    pub(crate) fn cell(&self, measured: &Measured<'_>, row: &At) -> Cell {
        let (at, unit) = (self.at(row), self.unit());
        let Some(beside) = &self.beside else { return measured.cell(&at, unit) };
        let other = measured.spread(&At::new(&at.method, beside, &[]));
        let (Some(one), Some(other)) = (measured.spread(&at), other) else { return Cell::none() };
        let text = format!("{} / {}", unit.number(one.mean), unit.number(other.mean));
        Cell { numbers: vec![one.into(), other.into()], ..Cell::text(text) }
    }
}

impl Frame {
    /// What was measured at a place.
    pub(crate) fn row(&self, measured: &Measured<'_>, name: impl Into<String>, at: &At) -> Row {
        let cells: Vec<Cell> = self.columns.iter().map(|column| column.cell(measured, at)).collect();
        let Some(Counted { by, .. }) = &self.counted else { return Row::new(name, cells) };
        let place = |head: &String| self.columns.iter().position(|column| column.head == *head);
        Row::new(name, counted(cells, &by.iter().filter_map(place).collect::<Vec<_>>()))
    }

    /// A table without the rows and columns that say nothing; there is none where nothing was measured. Notes with a
    /// condition are those of `when`.
    pub(crate) fn table(
        &self,
        measured: &Measured<'_>,
        mut rows: Vec<Row>,
        when: &[&str],
        with: Filled<'_>,
    ) -> Option<Table> {
        let words = DESCRIPTION.words.iter().map(|(name, text)| (name.as_str(), text.clone()));
        let with: Vec<(&str, String)> =
            words.chain([("folds", measured.over_folds())]).chain(with.iter().cloned()).collect();
        let with = with.as_slice();
        rows.retain(|row| row.cells.iter().any(Cell::says_something));
        rows.iter().find(|row| row.source == Source::Measured)?;
        let counted = self.counted.as_ref().map(|counted| &counted.head);
        let heads: Vec<&String> =
            counted.into_iter().chain(self.columns.iter().map(|column| &column.head)).collect();
        let says_something =
            |column: &usize| rows.iter().any(|row| row.cells.get(*column).is_some_and(Cell::says_something));
        let kept: Vec<usize> = (0..heads.len()).filter(says_something).collect();
        for row in &mut rows {
            row.cells = kept.iter().map(|column| row.cells[*column].clone()).collect();
        }
        let columns = kept.iter().map(|column| heads[*column].clone());
        let holds =
            |note: &&Note| note.when.as_ref().is_none_or(|condition| when.contains(&condition.as_str()));
        let notes = self.notes.iter().filter(holds).map(|note| fill(&note.text, with));
        Some(Table {
            topic: measured.topic,
            case: measured.case.to_string(),
            title: fill(&self.title, with),
            notes: notes.filter(|note| !note.is_empty()).collect(),
            columns: std::iter::once(fill(&self.head, with)).chain(columns).collect(),
            rows,
        })
    }
}

/// The cells after one that says over how many of how many they are, and of how many folds, so that not every cell
/// has to; some of them know it.
fn counted(mut cells: Vec<Cell>, known: &[usize]) -> Vec<Cell> {
    let counts = |place: &usize| cells[*place].numbers.first().and_then(|number| number.over.zip(number.of));
    let answered = known.iter().find_map(counts);
    let answered =
        answered.map_or_else(String::new, |(over, of)| format!("{} of {}", grouped(over), grouped(of)));
    for cell in &mut cells {
        if let Some(rest) = cell.note.strip_prefix(&answered) {
            cell.note = rest.trim_start_matches(", ").to_string();
        }
    }
    let is_folds = |cell: &&Cell| cell.note.ends_with(" folds") && !cell.note.contains(", ");
    let folds = cells.iter().find(is_folds).map_or_else(String::new, |cell| cell.note.clone());
    cells.iter_mut().filter(|cell| cell.note == folds).for_each(|cell| cell.note.clear());
    cells.insert(0, Cell::text(answered).noted(folds));
    cells
}

/// A sentence of several tables.
#[cfg(test)]
pub(crate) fn word(name: &str) -> &'static str {
    &DESCRIPTION.words[name]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{Figures, Sheet, Spread};

    fn table(heads: &[&str], rows: Vec<Row>) -> Option<Table> {
        let notes =
            "notes = [{ text = 'What differs.' }, { when = 'never', text = 'x' }, { text = '{none}' }]";
        let heads: Vec<String> = heads.iter().map(|head| format!("{{ head = '{head}' }}")).collect();
        let columns = format!("columns = [{}]", heads.join(", "));
        let frame: Frame = toml::from_str(&format!("title = 'answers'\nhead = 'method'\n{columns}\n{notes}"))
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

    #[test]
    fn columns_that_say_nothing_are_left_out() {
        let rows = vec![
            Row::new("refine", vec![Cell::none(), Cell::text("1")]),
            Row::new("exact", vec![Cell::none(); 2]),
        ];
        let table = table(&["gap", "nll"], rows).expect("a table");
        assert_eq!((table.columns, table.rows.len()), (vec!["method".to_string(), "nll".to_string()], 1));
        assert_eq!(table.rows[0].cells, [Cell::text("1")]);
    }

    #[test]
    fn a_table_of_nothing_measured_is_none() {
        let published = Row::new("PAR", vec![Cell::text("1")]).from(Source::Published);
        let rows = vec![Row::new("refine", vec![Cell::none()]), published];
        assert_eq!(table(&["nll"], rows), None);
    }

    #[test]
    fn how_many_are_answered_is_said_once() {
        let spread = Spread { mean: 1.0, deviation: 0.0, folds: 4, over: 16, of: 106 };
        let cell = Cell::spread(Some(spread), Unit::Plain(0), 5);
        let cells = counted(vec![cell, Cell::text("2").noted("3 of 106")], &[0]);
        let notes: Vec<&str> = cells.iter().map(|cell| cell.note.as_str()).collect();
        assert_eq!((cells[0].text.as_str(), notes), ("16 of 106", vec!["4 of 5 folds", "", "3 of 106"]));
    }

    #[test]
    fn a_table_lines_up_and_its_notes_follow() {
        let met = Cell { met: Some(true), ..Cell::text("≤ 10") };
        let rows = vec![
            Row::new("refine", vec![Cell::text("9.40 ± 0.37").noted("3 of 4"), Cell::text("0.1")]),
            Row::new("aim", vec![met, Cell::default()]),
        ];
        let built = table(&["NLL", "gap"], rows).expect("a table");
        assert_eq!(
            built.text(),
            "cre dit: answers\n  method                   NLL  gap\n  refine  9.40 ± 0.37 (3 of 4)  0.1\n  \
             aim                ≤ 10, met\n  What differs.\n"
        );
    }
}
