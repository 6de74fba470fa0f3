//! All measurements, one number per line: `figures.csv`, from which every table and plot is made.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{Read, Write};
use std::path::Path;
use std::str::FromStr;

use par_answer::evaluate::percentile_99;
use par_model::Mean;
use serde::Deserialize;

use crate::error::Error;

/// The columns of the file.
pub const COLUMNS: [&str; 7] = ["table", "fold", "method", "metric", "value", "over", "of"];
/// A larger count is implausible, and sums of such counts overflow.
const MAX_COUNT: usize = 1_000_000_000_000;
/// A file with more lines is refused before it fills the memory.
const MAX_LINES: usize = 4_000_000;

/// A number, and what it measures.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The name of the case.
    pub table: String,
    /// The fold it was measured on; empty if it belongs to no fold.
    pub fold: String,
    /// The method or the part of the model: `refine`, `paper -validity/generate`, `LiCE_median`, `classifier`.
    pub method: String,
    /// The measure and its keys.
    pub metric: Metric,
    /// The number; absent for a mean over none.
    pub value: Option<f64>,
    /// The number of people or rows it is a mean over.
    pub over: usize,
    /// The number of people or rows in all.
    pub of: usize,
}

/// A measure, with keys such as a place on an axis, a group or a person: `nll`, `nll@changes=2`,
/// `sparsity@feature=sex; group=Female`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Metric {
    /// The measure's name.
    pub name: String,
    /// The keys, in a fixed order for each name.
    pub keys: Vec<(String, String)>,
}

impl Metric {
    /// A measure with keys.
    pub fn at(name: &str, keys: &[(&str, &dyn fmt::Display)]) -> Self {
        let key = |(key, value): &(&str, &dyn fmt::Display)| (key.to_string(), value.to_string());
        Self { name: name.to_string(), keys: keys.iter().map(key).collect() }
    }

    /// The value of a key.
    pub fn key(&self, name: &str) -> Option<&str> {
        self.keys.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The value of a key that is a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.key(name)?.parse().ok()
    }
}

impl From<&str> for Metric {
    fn from(name: &str) -> Self {
        Self { name: name.to_string(), keys: Vec::new() }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (place, (key, value)) in self.keys.iter().enumerate() {
            // Semicolons separate the keys.
            let value = value.replace('%', "%25").replace(';', "%3B");
            write!(f, "{}{key}={value}", if place == 0 { "@" } else { "; " })?;
        }
        Ok(())
    }
}

impl FromStr for Metric {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some((name, keys)) = text.split_once('@') else { return Ok(text.into()) };
        let key = |key: &str| {
            let (key, value) = key.split_once('=')?;
            Some((key.to_string(), value.replace("%3B", ";").replace("%25", "%")))
        };
        let keys: Option<Vec<(String, String)>> = keys.split("; ").map(key).collect();
        Ok(Self { name: name.to_string(), keys: keys.ok_or("expected NAME or NAME@KEY=VALUE; KEY=VALUE")? })
    }
}

impl TryFrom<String> for Metric {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// Collects the figures of one table and one fold.
#[derive(Clone, Debug)]
pub struct Sheet {
    table: String,
    fold: String,
    figures: Vec<Figure>,
}

impl Sheet {
    /// An empty sheet; `fold` is empty for figures of no fold.
    pub fn new(table: &str, fold: &str) -> Self {
        Self { table: table.to_string(), fold: fold.to_string(), figures: Vec::new() }
    }

    /// Adds a mean.
    pub fn mean(&mut self, method: &str, metric: impl Into<Metric>, mean: Mean) {
        let value = mean.mean.filter(|value| value.is_finite());
        self.figures.push(Figure {
            table: self.table.clone(),
            fold: self.fold.clone(),
            method: method.to_string(),
            metric: metric.into(),
            value,
            // A mean without a value is over none.
            over: value.map_or(0, |_| mean.over),
            of: mean.of,
        });
    }

    /// Adds a number over `over` of `over`.
    pub fn number(&mut self, method: &str, metric: impl Into<Metric>, value: f64, over: usize) {
        self.mean(method, metric, Mean { mean: Some(value), over, of: over });
    }

    /// Adds the median of the values, out of `of`.
    pub fn median(&mut self, method: &str, metric: impl Into<Metric>, values: Vec<f64>, of: usize) {
        let over = values.len();
        self.mean(method, metric, Mean { mean: par_answer::evaluate::median(values), over, of });
    }

    /// Adds mean, median and 99th percentile of the values, out of `of`: `mean_time`, `median_time` and `p99_time` for
    /// `time`.
    pub fn distribution(&mut self, method: &str, metric: &str, values: Vec<f64>, of: usize) {
        let over = values.len();
        self.mean(method, Metric::at(&format!("mean_{metric}"), &[]), Mean::new(values.iter().copied(), of));
        self.mean(
            method,
            Metric::at(&format!("p99_{metric}"), &[]),
            Mean { mean: percentile_99(&values), over, of },
        );
        self.median(method, Metric::at(&format!("median_{metric}"), &[]), values, of);
    }

    /// Adds median, mean, 99th percentile and maximum of the values, out of `of`: `time_us`, `time_us_mean`,
    /// `time_us_p99` and `time_us_max` for `time_us`, each with the keys that `at` gives it.
    pub fn summary(
        &mut self,
        method: &str,
        name: &str,
        at: &dyn Fn(&str) -> Metric,
        values: Vec<f64>,
        of: usize,
    ) {
        let over = values.len();
        let named = |value: &str| at(&format!("{name}_{value}"));
        let largest = values.iter().copied().max_by(f64::total_cmp);
        let p99 = percentile_99(&values);
        let mean = Mean::new(values.iter().copied(), of);
        self.median(method, at(name), values, of);
        self.mean(method, named("mean"), mean);
        self.mean(method, named("p99"), Mean { mean: p99, over, of });
        self.mean(method, named("max"), Mean { mean: largest, over, of });
    }

    /// The collected figures.
    pub fn into_figures(self) -> Vec<Figure> {
        self.figures
    }
}

/// All figures of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures(pub Vec<Figure>);

/// The mean over folds and its sample standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The mean over folds.
    pub mean: f64,
    /// The sample standard deviation; 0 for one fold.
    pub deviation: f64,
    /// The number of folds.
    pub folds: usize,
    /// The people that the means are over, summed over folds.
    pub over: usize,
    /// All people, summed over folds.
    pub of: usize,
}

impl Spread {
    /// Over the figures that have a value.
    pub fn new<'a>(figures: impl Iterator<Item = &'a Figure>) -> Option<Self> {
        let (mut values, mut over, mut of) = (Vec::new(), 0, 0);
        for figure in figures {
            values.extend(figure.value);
            over += figure.over;
            of += figure.of;
        }
        let folds = values.len();
        let mean = values.iter().sum::<f64>() / folds as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = if folds > 1 { (squares / (folds - 1) as f64).sqrt() } else { 0.0 };
        (folds > 0).then_some(Self { mean, deviation, folds, over, of })
    }
}

impl Figures {
    /// The tables, in the order in which they appear.
    pub fn tables(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let tables = self.0.iter().map(|figure| figure.table.as_str());
        tables.filter(|table| seen.insert(*table)).collect()
    }

    /// The figures of a measure by name, with any keys.
    pub fn named<'a>(
        &'a self,
        table: &'a str,
        method: &'a str,
        name: &'a str,
    ) -> impl Iterator<Item = &'a Figure> + Clone {
        self.0.iter().filter(move |figure| {
            figure.table == table && figure.method == method && figure.metric.name == name
        })
    }

    /// A measure over folds.
    pub fn spread(&self, table: &str, method: &str, metric: &Metric) -> Option<Spread> {
        Spread::new(self.named(table, method, &metric.name).filter(|figure| figure.metric == *metric))
    }

    /// Reads `figures.csv`.
    ///
    /// # Errors
    /// When the file cannot be read, or a line is invalid; the message has its number.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let origin = path.as_ref().display().to_string();
        let file =
            std::fs::File::open(path).map_err(|source| Error::Read { origin: origin.clone(), source })?;
        Self::read(file, &origin)
    }

    /// Adds the figures of another run; what both measured stays as it is here.
    pub fn merge(&mut self, Self(others): Self) {
        let name = |figure: &Figure| {
            (figure.table.clone(), figure.fold.clone(), figure.method.clone(), figure.metric.clone())
        };
        let measured: BTreeSet<_> = self.0.iter().map(name).collect();
        self.0.extend(others.into_iter().filter(|figure| !measured.contains(&name(figure))));
    }

    /// Reads what [`Figures::write`] wrote; `origin` is its name in messages.
    ///
    /// # Errors
    /// When a line is invalid; the message has its number.
    pub fn read(reader: impl Read, origin: &str) -> Result<Self, Error> {
        let mut reader = csv::ReaderBuilder::new().from_reader(reader);
        let problem =
            |line: u64, problem: String| Error::Figures { origin: origin.to_string(), line, problem };
        let header = reader.headers().map_err(|error| problem(1, error.to_string()))?;
        if header != COLUMNS[..] {
            let found = header.iter().collect::<Vec<_>>().join(",");
            return Err(problem(1, format!("expected the columns `{}`, found `{found}`", COLUMNS.join(","))));
        }
        let mut figures = Vec::new();
        for record in reader.records() {
            let line = |record: &csv::StringRecord| record.position().map_or(0, csv::Position::line);
            let record = record.map_err(|error| {
                problem(error.position().map_or(0, csv::Position::line), error.to_string())
            })?;
            if figures.len() == MAX_LINES {
                return Err(problem(line(&record), format!("there are more than {MAX_LINES} figures")));
            }
            let number = |column: usize| match &record[column] {
                "" => Ok(None),
                found => match found.parse::<f64>() {
                    Ok(number) if number.is_finite() => Ok(Some(number)),
                    _ => Err(problem(
                        line(&record),
                        format!("`{}` is `{found}`, expected a number", COLUMNS[column]),
                    )),
                },
            };
            let count = |column: usize| {
                let count = record[column].parse::<usize>().ok().filter(|count| *count <= MAX_COUNT);
                count.ok_or_else(|| {
                    let found = &record[column];
                    problem(line(&record), format!("`{}` is `{found}`, expected a count", COLUMNS[column]))
                })
            };
            let metric = record[3].parse().map_err(|expected| {
                problem(line(&record), format!("`metric` is `{}`, {expected}", &record[3]))
            })?;
            let (over, of) = (count(5)?, count(6)?);
            if over > of {
                return Err(problem(
                    line(&record),
                    format!("`over` is `{over}`, expected at most `of`, `{of}`"),
                ));
            }
            figures.push(Figure {
                table: record[0].to_string(),
                fold: record[1].to_string(),
                method: record[2].to_string(),
                metric,
                value: number(4)?,
                over,
                of,
            });
        }
        Ok(Self(figures))
    }

    /// Writes `figures.csv`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, writer: impl Write) -> std::io::Result<()> {
        let mut csv = csv::Writer::from_writer(writer);
        csv.write_record(COLUMNS)?;
        for Figure { table, fold, method, metric, value, over, of } in &self.0 {
            let value = value.map_or(String::new(), |value| value.to_string());
            let (metric, over, of) = (metric.to_string(), over.to_string(), of.to_string());
            csv.write_record([table, fold, method, &metric, &value, &over, &of])?;
        }
        csv.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures() -> Figures {
        let mut sheet = Sheet::new("credit, new", "0");
        sheet.mean("refine", "nll", Mean { mean: Some(17.25), over: 3, of: 4 });
        sheet.mean("refine", "gap", Mean { mean: None, over: 0, of: 4 });
        sheet.number("exact", Metric::at("nll", &[("changes", &2), ("who", &"a; b = 5 %3B")]), 1e-9, 4);
        Figures(sheet.into_figures())
    }

    #[test]
    fn written_figures_are_read_back() {
        let mut bytes = Vec::new();
        figures().write(&mut bytes).expect("memory");
        let text = String::from_utf8(bytes).expect("text");
        assert_eq!(text.lines().nth(2), Some("\"credit, new\",0,refine,gap,,0,4"));
        assert_eq!(
            text.lines().nth(3),
            Some("\"credit, new\",0,exact,nll@changes=2; who=a%3B b = 5 %253B,0.000000001,4,4")
        );
        let read = Figures::read(text.as_bytes(), "figures.csv").expect("figures");
        assert_eq!(read, figures());
        assert_eq!(read.0[2].metric.number("changes"), Some(2.0));
    }

    #[test]
    fn a_summary_has_four_figures() {
        let mut sheet = Sheet::new("t", "");
        let at = |name: &str| Metric::at(name, &[("columns", &9)]);
        sheet.summary("refine", "time_us", &at, vec![4.0, 1.0, 1.0], 5);
        sheet.summary("exact", "time_us", &at, Vec::new(), 5);
        let figures = sheet.into_figures();
        let value = |figure: &Figure| (figure.metric.to_string(), figure.value, figure.over, figure.of);
        let own: Vec<_> = figures.iter().map(value).collect();
        let name = |name: &str| format!("{name}@columns=9");
        assert_eq!(own[0], (name("time_us"), Some(1.0), 3, 5));
        assert_eq!(own[1], (name("time_us_mean"), Some(2.0), 3, 5));
        assert_eq!(own[2], (name("time_us_p99"), Some(4.0), 3, 5));
        assert_eq!(own[3], (name("time_us_max"), Some(4.0), 3, 5));
        assert!(own[4..].iter().all(|own| (own.1, own.2) == (None, 0)), "{own:?}");
    }

    #[test]
    fn an_invalid_line_is_named() {
        let message = |text: &str| Figures::read(text.as_bytes(), "f.csv").expect_err("wrong").to_string();
        assert_eq!(
            message("table,value\n"),
            "f.csv, line 1: expected the columns `table,fold,method,metric,value,over,of`, found `table,value`"
        );
        let header = COLUMNS.join(",");
        assert_eq!(
            message(&format!("{header}\nt,0,refine,nll,NaN,1,1\n")),
            "f.csv, line 2: `value` is `NaN`, expected a number"
        );
        assert_eq!(
            message(&format!("{header}\nt,0,refine,nll,1,1,1\nt,0,refine,nll,1,-1,1\n")),
            "f.csv, line 3: `over` is `-1`, expected a count"
        );
        assert_eq!(
            message(&format!("{header}\nt,0,refine,nll,1,1,9999999999999\n")),
            "f.csv, line 2: `of` is `9999999999999`, expected a count"
        );
        assert_eq!(
            message(&format!("{header}\nt,0,refine,nll,1,2,1\n")),
            "f.csv, line 2: `over` is `2`, expected at most `of`, `1`"
        );
        assert_eq!(
            message(&format!("{header}\nt,0,refine,nll@2,1,1,1\n")),
            "f.csv, line 2: `metric` is `nll@2`, expected NAME or NAME@KEY=VALUE; KEY=VALUE"
        );
        assert!(message(&format!("{header}\nt,0\n")).starts_with("f.csv, line 2: "));
    }

    #[test]
    fn a_spread_is_over_folds() {
        let mut all = Vec::new();
        for (fold, value) in [("0", 1.0), ("1", 2.0), ("2", 3.0)] {
            let mut sheet = Sheet::new("t", fold);
            sheet.mean("refine", "nll", Mean { mean: Some(value), over: 2, of: 5 });
            all.extend(sheet.into_figures());
        }
        let spread = Figures(all).spread("t", "refine", &"nll".into());
        assert_eq!(spread, Some(Spread { mean: 2.0, deviation: 1.0, folds: 3, over: 6, of: 15 }));
        assert_eq!(figures().spread("credit, new", "refine", &"gap".into()), None);
    }
}
