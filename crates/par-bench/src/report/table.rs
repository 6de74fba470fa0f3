//! A table of figures: columns are measures, rows are methods or other places where these were measured.

use par_plot::text::{Align, aligned, decimal, duration, grouped, wrapped};
use serde::Serialize;

use super::interval::Difference;
use super::methods::Look;
use crate::experiment::Experiment;
use crate::figures::Spread;

/// Notes are wrapped at this many characters, in text.
const WIDTH: usize = 110;

/// A table of figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// The experiment it is of.
    #[serde(serialize_with = "topic_name")]
    pub topic: Experiment,
    /// The case.
    pub case: String,
    /// What it shows.
    pub title: String,
    /// All that a reader has to know to compare its figures.
    pub notes: Vec<String>,
    /// The heads of its columns; the first is that of the names of rows.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Vec<Row>,
}

fn topic_name<S: serde::Serializer>(topic: &Experiment, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(topic.name())
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What it is of.
    pub name: String,
    /// Where its figures come from.
    pub source: Source,
    /// One a column after the first.
    pub cells: Vec<Cell>,
    /// How it is drawn.
    #[serde(skip)]
    pub(crate) look: Look,
}

/// Where figures come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Measured here.
    Measured,
    /// Stated by the paper.
    Published,
    /// What is aimed at.
    Aim,
}

/// A cell of a table: text, and the numbers behind it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cell {
    /// What is read first; a dash where there is nothing to say.
    pub text: String,
    /// What stands below it, in smaller letters: over how many of how many, an interval.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The numbers, where it has any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<Number>,
    /// Whether what is aimed at is met, in a cell that tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
    /// How far it is from everybody else's.
    #[serde(skip)]
    pub(crate) gap: Option<Difference>,
}

/// A number of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Number {
    /// The mean over folds, or the number alone.
    pub mean: f64,
    /// The sample standard deviation over folds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// Over how many people, rows or whatever is counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<usize>,
    /// Of how many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<usize>,
}

impl Number {
    /// A number that is a mean of nothing.
    pub(crate) fn plain(mean: f64) -> Self {
        Self { mean, deviation: None, over: None, of: None }
    }
}

impl From<Spread> for Number {
    fn from(spread: Spread) -> Self {
        let deviation = (spread.folds > 1).then_some(spread.deviation);
        Self { mean: spread.mean, deviation, over: Some(spread.over), of: Some(spread.of) }
    }
}

/// How the numbers of a column are written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    /// With so many decimals.
    Plain(usize),
    /// A share of one as a percentage, with so many decimals.
    Percent(usize),
    /// Microseconds, with the unit that suits them.
    Time,
}

impl Unit {
    /// A number alone.
    pub(crate) fn number(self, value: f64) -> String {
        match self {
            _ if !value.is_finite() => "–".to_string(),
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

impl Cell {
    /// Words.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Nothing is known.
    pub(crate) fn none() -> Self {
        Self::text("–")
    }

    /// A mean over folds and its deviation, and over how many of how many people where it is not all; `folds` is how
    /// many there could be.
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
        let number = Number { deviation: Some(deviation), ..Number::plain(mean) };
        Self { text: unit.with_deviation(mean, deviation), numbers: vec![number], ..Self::default() }
    }

    /// A number alone.
    pub(crate) fn number(value: Option<f64>, unit: Unit) -> Self {
        let Some(value) = value.filter(|value| value.is_finite()) else { return Self::none() };
        Self { text: unit.number(value), numbers: vec![Number::plain(value)], ..Self::default() }
    }

    pub(crate) fn says_something(&self) -> bool {
        !matches!(self.text.as_str(), "" | "–")
    }

    /// The first of its numbers, which is what a plot shows.
    pub(crate) fn mean(&self) -> Option<f64> {
        self.numbers.first().map(|number| number.mean)
    }

    /// Its first number and the standard deviation over folds.
    pub(crate) fn pair(&self) -> Option<[f64; 2]> {
        self.numbers.first().map(|number| [number.mean, number.deviation.unwrap_or(0.0)])
    }

    /// The same with a note.
    pub(crate) fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

impl Row {
    /// A row of what was measured here.
    pub(crate) fn new(name: impl Into<String>, cells: Vec<Cell>) -> Self {
        Self { name: name.into(), source: Source::Measured, cells, look: Look::default() }
    }

    /// The same from elsewhere.
    pub(crate) fn from(self, source: Source) -> Self {
        Self { source, ..self }
    }

    /// The same, drawn so.
    pub(crate) fn drawn(self, look: Look) -> Self {
        Self { look, ..self }
    }

    /// The same with nothing where nothing is known: for a row that has but few of the measures.
    pub(crate) fn sparse(mut self) -> Self {
        let unknown = self.cells.iter_mut().filter(|cell| !cell.says_something());
        unknown.for_each(|cell| *cell = Cell::default());
        self
    }
}

impl Table {
    /// The cells below a head, each with its row; none where the table has no such column.
    pub(crate) fn below<'t>(&'t self, head: &str) -> impl Iterator<Item = (&'t Row, &'t Cell)> {
        let place = self.columns.iter().position(|column| column == head);
        let cell = move |row: &'t Row| Some((row, row.cells.get(place?.checked_sub(1)?)?));
        self.rows.iter().filter_map(cell)
    }

    /// A table as lines: its title, its rows, its notes.
    pub(crate) fn text(&self) -> String {
        let cell = |cell: &Cell| {
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
    fn a_cell_has_mean_deviation_and_over_how_many() {
        let spread = Spread { mean: 0.98745, deviation: 0.0219, folds: 4, over: 380, of: 1388 };
        let cell = Cell::spread(Some(spread), Unit::Percent(2), 5);
        assert_eq!((cell.text.as_str(), cell.note.as_str()), ("98.75 ± 2.19", "380 of 1,388, 4 of 5 folds"));
        let one = Spread { mean: -2.5, deviation: 0.0, folds: 1, over: 3, of: 3 };
        let cell = Cell::spread(Some(one), Unit::Plain(1), 1);
        assert_eq!((cell.text.as_str(), cell.note.as_str()), ("−2.5", ""));
        assert_eq!(Cell::spread(None, Unit::Time, 5).text, "–");
        assert_eq!(Cell::published(Some([11.76, 1.85]), Unit::Plain(2)).text, "11.76 ± 1.85");
        assert_eq!(Cell::number(Some(36_555.7), Unit::Plain(0)).text, "36,556");
        assert_eq!(Cell::number(Some(f64::NAN), Unit::Plain(2)).text, "–");
    }
}
