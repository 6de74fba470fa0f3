//! A table of figures: columns are measures, rows are methods or values of a key.

use par_plot::text::{Align, aligned, decimal, duration, grouped, wrapped};
use serde::Serialize;

use super::interval::Difference;
use super::methods::MarkStyle;
use crate::experiment::Experiment;
use crate::figures::Spread;

/// In text, notes are wrapped at this many characters.
const WIDTH: usize = 110;

/// A table of figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportTable {
    /// Its experiment.
    #[serde(serialize_with = "topic_name")]
    pub topic: Experiment,
    /// The case.
    pub case: String,
    /// Its title.
    pub title: String,
    /// What a reader needs to know to compare its figures.
    pub notes: Vec<String>,
    /// The heads of its columns; the first is for the names of rows.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Vec<ReportRow>,
}

fn topic_name<S: serde::Serializer>(topic: &Experiment, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(topic.name())
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportRow {
    /// Its name.
    pub name: String,
    /// The source of its figures.
    pub source: FigureSource,
    /// One per column after the first.
    pub cells: Vec<ReportCell>,
    /// Its mark in plots.
    #[serde(skip)]
    pub(crate) look: MarkStyle,
}

/// The source of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FigureSource {
    /// Measured here.
    Measured,
    /// Stated by the paper.
    Published,
    /// An aim of ours.
    Aim,
}

/// A cell of a table: text, and the numbers behind it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReportCell {
    /// The main text; a dash if the cell is empty.
    pub text: String,
    /// The small text below: counts, an interval.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The numbers behind the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<CellNumber>,
    /// Whether the aim is met, in a row of aims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
    /// The gap of a group to all others.
    #[serde(skip)]
    pub(crate) gap: Option<Difference>,
}

/// A number of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CellNumber {
    /// The mean over folds, or a single number.
    pub mean: f64,
    /// The sample standard deviation over folds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// The number of people or rows it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<usize>,
    /// The number of people or rows in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<usize>,
}

impl CellNumber {
    /// A number that is not a mean.
    pub(crate) fn plain(mean: f64) -> Self {
        Self { mean, deviation: None, over: None, of: None }
    }
}

impl From<Spread> for CellNumber {
    fn from(spread: Spread) -> Self {
        let deviation = (spread.folds > 1).then_some(spread.deviation);
        Self { mean: spread.mean, deviation, over: Some(spread.over), of: Some(spread.of) }
    }
}

/// Numbers from here on are written by their order of magnitude.
const LONGEST: f64 = 1e12;

/// The format of a column's numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    /// With so many decimals.
    Plain(usize),
    /// A share of one as a percentage, with so many decimals.
    Percent(usize),
    /// Microseconds, in a readable unit.
    Time,
}

impl Unit {
    /// A number as text.
    pub(crate) fn number(self, value: f64) -> String {
        match self {
            _ if !value.is_finite() => "–".to_string(),
            _ if value.abs() >= LONGEST => format!("{value:.1e}"),
            Self::Plain(0) if value >= 999.5 => grouped(value.round() as u64),
            Self::Plain(decimals) => decimal(value, decimals),
            Self::Percent(decimals) => decimal(100.0 * value, decimals),
            Self::Time => duration(Some(value)),
        }
    }

    fn with_deviation(self, mean: f64, deviation: f64) -> String {
        match self {
            Self::Time => self.number(mean),
            Self::Plain(_) | Self::Percent(_) => {
                format!("{} ± {}", self.number(mean), self.number(deviation))
            }
        }
    }
}

impl ReportCell {
    /// A cell of text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// An empty cell.
    pub(crate) fn none() -> Self {
        Self::text("–")
    }

    /// A mean over folds with its deviation, and with counts if they are incomplete; `folds` is the number of all folds.
    pub(crate) fn spread(spread: Option<Spread>, unit: Unit, folds: usize) -> Self {
        let Some(spread) = spread else { return Self::none() };
        let text = match spread.folds > 1 {
            true => unit.with_deviation(spread.mean, spread.deviation),
            false => unit.number(spread.mean),
        };
        let mut notes = Vec::new();
        if spread.over != spread.of {
            notes.push(format!("{} of {}", grouped(spread.over), grouped(spread.of)));
        }
        if spread.folds < folds {
            notes.push(format!("{} of {folds} folds", spread.folds));
        }
        Self { text, note: notes.join(", "), numbers: vec![spread.into()], ..Self::default() }
    }

    /// A published mean and its deviation.
    pub(crate) fn published(pair: Option<[f64; 2]>, unit: Unit) -> Self {
        let Some([mean, deviation]) = pair else { return Self::none() };
        let number = CellNumber { deviation: Some(deviation), ..CellNumber::plain(mean) };
        Self { text: unit.with_deviation(mean, deviation), numbers: vec![number], ..Self::default() }
    }

    /// A single number.
    pub(crate) fn number(value: Option<f64>, unit: Unit) -> Self {
        let Some(value) = value.filter(|value| value.is_finite()) else { return Self::none() };
        Self { text: unit.number(value), numbers: vec![CellNumber::plain(value)], ..Self::default() }
    }

    pub(crate) fn is_filled(&self) -> bool {
        !matches!(self.text.as_str(), "" | "–")
    }

    /// Its first number, which plots show.
    pub(crate) fn mean(&self) -> Option<f64> {
        self.numbers.first().map(|number| number.mean)
    }

    /// Its first number and the standard deviation over folds.
    pub(crate) fn pair(&self) -> Option<[f64; 2]> {
        self.numbers.first().map(|number| [number.mean, number.deviation.unwrap_or(0.0)])
    }

    /// Adds a note.
    pub(crate) fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

impl ReportRow {
    /// A row of figures measured here.
    pub(crate) fn new(name: impl Into<String>, cells: Vec<ReportCell>) -> Self {
        Self { name: name.into(), source: FigureSource::Measured, cells, look: MarkStyle::default() }
    }

    /// Sets the source.
    pub(crate) fn from(self, source: FigureSource) -> Self {
        Self { source, ..self }
    }

    /// Sets the mark.
    pub(crate) fn drawn(self, look: MarkStyle) -> Self {
        Self { look, ..self }
    }

    /// Removes the dashes of empty cells, for a row with few measures.
    pub(crate) fn sparse(mut self) -> Self {
        let unknown = self.cells.iter_mut().filter(|cell| !cell.is_filled());
        unknown.for_each(|cell| *cell = ReportCell::default());
        self
    }
}

impl ReportTable {
    /// The cells of the column with this head, each with its row.
    pub(crate) fn below<'t>(&'t self, head: &str) -> impl Iterator<Item = (&'t ReportRow, &'t ReportCell)> {
        let place = self.columns.iter().position(|column| column == head);
        let cell = move |row: &'t ReportRow| Some((row, row.cells.get(place?.checked_sub(1)?)?));
        self.rows.iter().filter_map(cell)
    }

    /// The table as text: title, rows, notes.
    pub(crate) fn text(&self) -> String {
        let cell = |cell: &ReportCell| {
            let met = cell.met.map_or("", |met| if met { ", met" } else { ", missed" });
            let note = if cell.note.is_empty() { String::new() } else { format!(" ({})", cell.note) };
            format!("{}{met}{note}", cell.text)
        };
        let mut rows = vec![self.columns.clone()];
        for row in &self.rows {
            rows.push(std::iter::once(row.name.clone()).chain(row.cells.iter().map(cell)).collect());
        }
        let mut text = format!("{}: {}", self.case, self.title).replace(char::is_control, " ") + "\n";
        text.push_str(&aligned([Align::Left, Align::Right], &rows));
        text.extend(self.notes.iter().map(|note| wrapped(note, "  ", WIDTH)));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_mean_deviation_and_counts() {
        let spread = Spread { mean: 0.98745, deviation: 0.0219, folds: 4, over: 380, of: 1388 };
        let cell = ReportCell::spread(Some(spread), Unit::Percent(2), 5);
        assert_eq!((cell.text.as_str(), cell.note.as_str()), ("98.75 ± 2.19", "380 of 1,388, 4 of 5 folds"));
        let one = Spread { mean: -2.5, deviation: 0.0, folds: 1, over: 3, of: 3 };
        let cell = ReportCell::spread(Some(one), Unit::Plain(1), 1);
        assert_eq!((cell.text.as_str(), cell.note.as_str()), ("−2.5", ""));
        assert_eq!(ReportCell::spread(None, Unit::Time, 5).text, "–");
        assert_eq!(ReportCell::published(Some([11.76, 1.85]), Unit::Plain(2)).text, "11.76 ± 1.85");
        assert_eq!(ReportCell::number(Some(36_555.7), Unit::Plain(0)).text, "36,556");
        assert_eq!(ReportCell::number(Some(f64::NAN), Unit::Plain(2)).text, "–");
    }
}
