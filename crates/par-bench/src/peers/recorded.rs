//! Answers of other programs, read from a table.
//!
//! Its columns are `method`, `fold`, `id`, `k`, `time_s` and the features, in any order; others are ignored. A column that
//! has the name of a feature gets the prefix of our own tables: `par_method` beside a feature `method`.
//!
//! `k` counts a method's answers to a person from 0; -1 with empty cells means none was found. An empty cell does not
//! change. Only `k` = 0 is scored: the method's own first choice, not the best of ten.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use par_answer::write::column_name;
use par_data::{Batch, Feature, Table, TableOptions, found_instead, suggest};

use crate::case::{Case, Factual};
use crate::error::Error;
use crate::method::{Method, Reply};

/// More methods suggest another kind of file.
const MAX_METHODS: usize = 100;
const ROWS_AT_ONCE: usize = 4096;
/// The columns other than features.
const COLUMNS: [&str; 5] = ["method", "fold", "id", "k", "time_s"];
/// Names that figures use already.
const RESERVED: [&str; 10] = [
    "generate",
    "refine",
    "exact",
    "people",
    "frontier",
    "factual",
    "bins",
    "classifier",
    "generator",
    "fit",
];

/// The answers of another program, read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    name: String,
    /// By fold and id.
    answers: BTreeMap<(String, String), RecordedAnswer>,
}

/// One answer of a file.
#[derive(Clone, Debug, PartialEq)]
struct RecordedAnswer {
    /// In schema order; an absent cell does not change. `None` if no answer was found.
    cells: Option<Vec<Option<String>>>,
    microseconds: Option<f64>,
}

impl Recorded {
    /// The name of the method.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The method with its answers to the people of a fold.
    pub fn of_fold<'r>(&'r self, fold: &'r str) -> RecordedFold<'r> {
        RecordedFold { recorded: self, fold }
    }

    /// Adds the answers to a checksum.
    pub(crate) fn hash_into(&self, hasher: &mut crc32fast::Hasher) {
        let answers =
            self.answers.iter().map(|(person, answer)| (person, &answer.cells, answer.microseconds));
        let text = serde_json::to_string(&(&self.name, answers.collect::<Vec<_>>()));
        hasher.update(text.expect("texts and numbers").as_bytes());
    }
}

/// The answers of another program to the people of one fold.
#[derive(Clone, Copy, Debug)]
pub struct RecordedFold<'r> {
    recorded: &'r Recorded,
    fold: &'r str,
}

impl RecordedFold<'_> {
    fn recorded(&self, person: &Factual) -> Option<&RecordedAnswer> {
        self.recorded.answers.get(&(self.fold.to_string(), person.id.clone()))
    }
}

impl Method for RecordedFold<'_> {
    fn name(&self) -> &str {
        self.recorded.name()
    }

    fn answer(&mut self, person: &Factual) -> Option<Vec<String>> {
        let cells = self.recorded(person)?.cells.as_ref()?.iter().zip(&person.cells);
        Some(cells.map(|(cell, own)| cell.as_ref().unwrap_or(own).clone()).collect())
    }

    /// The time is the file's.
    fn reply(&mut self, person: &Factual) -> Reply {
        let microseconds = self.recorded(person).and_then(|answer| answer.microseconds);
        Reply { cells: self.answer(person), microseconds }
    }
}

/// Reads the answers of other methods to the people of a case.
///
/// # Errors
/// When the file cannot be read, lacks a column, names a fold or an id that the case does not have, or has an
/// invalid cell; and when the case's table has no ids.
pub fn load(path: impl AsRef<Path>, case: &Case) -> Result<Vec<Recorded>, Error> {
    read(Table::open(path, &TableOptions::default())?, case)
}

/// Reads the answers of other methods from an opened table.
///
/// # Errors
/// As [`load`].
pub fn read(table: Table, case: &Case) -> Result<Vec<Recorded>, Error> {
    let layout = PeerColumns::new(&table, case)?;
    let known = KnownPeople::new(case, table.origin())?;
    let mut methods: BTreeMap<String, BTreeMap<(String, String), PersonLines>> = BTreeMap::new();
    // In order of appearance.
    let mut names: Vec<String> = Vec::new();
    for batch in table.batches(ROWS_AT_ONCE) {
        let batch = batch?;
        for row in 0..batch.rows() {
            let origin = &layout.origin;
            let problem =
                |problem| Error::Peers { origin: origin.clone(), line: batch.position(row), problem };
            let line = layout.line(&batch, row, case).map_err(problem)?;
            known.check(line.fold, line.id).map_err(problem)?;
            if !methods.contains_key(line.method) {
                if names.len() == MAX_METHODS {
                    return Err(problem(format!("there are more than {MAX_METHODS} methods")));
                }
                names.push(line.method.to_string());
            }
            let people = methods.entry(line.method.to_string()).or_default();
            let seen = people.entry((line.fold.to_string(), line.id.to_string())).or_default();
            seen.add(&line, batch.position(row)).map_err(|expected| {
                let PeerLine { method, fold, id, k, .. } = line;
                problem(format!("`{method}`, fold `{fold}`, id `{id}`, k `{k}`: {expected}"))
            })?;
        }
    }
    let record = |name: String| {
        let mut answers = BTreeMap::new();
        for ((fold, id), seen) in methods.remove(&name).unwrap_or_default() {
            match (seen.first.or(seen.none_found), seen.others.first_key_value()) {
                (Some(answer), _) => {
                    answers.insert((fold, id), answer);
                }
                (None, Some((k, line))) => {
                    let problem =
                        format!("`{name}`, fold `{fold}`, id `{id}`: there is a k `{k}` and no k `0`");
                    return Err(Error::Peers { origin: layout.origin.clone(), line: *line, problem });
                }
                (None, None) => {}
            }
        }
        Ok(Recorded { name, answers })
    };
    names.into_iter().map(record).collect()
}

/// The positions of the columns.
struct PeerColumns {
    origin: String,
    columns: [usize; 5],
    features: Vec<usize>,
}

/// A line of the file.
struct PeerLine<'l> {
    method: &'l str,
    fold: &'l str,
    id: &'l str,
    k: i64,
    microseconds: Option<f64>,
    /// An absent cell does not change.
    cells: Vec<Option<&'l str>>,
}

impl PeerColumns {
    fn new(table: &Table, case: &Case) -> Result<Self, Error> {
        let (origin, header) = (table.origin().to_string(), table.columns());
        let find = |name: &str| {
            header.iter().position(|own| own.trim() == name).ok_or_else(|| {
                let problem = format!("no column `{name}`{}", found_instead(name, header));
                Error::Peers { origin: origin.clone(), line: 1, problem }
            })
        };
        let mut columns = [0; 5];
        for (column, name) in columns.iter_mut().zip(COLUMNS) {
            *column = find(&column_name(&case.schema, name))?;
        }
        let features = case.schema.features().iter().map(|feature| find(&feature.name));
        let features = features.collect::<Result<_, _>>()?;
        Ok(Self { origin, columns, features })
    }

    fn line<'l>(&self, batch: &'l Batch, row: usize, case: &Case) -> Result<PeerLine<'l>, String> {
        let [method, fold, id, k, time] = self.columns.map(|column| batch.cell(row, column).trim());
        if method.is_empty() {
            return Err("`method` is empty, expected a name".to_string());
        }
        if RESERVED.contains(&method) || method.contains('/') {
            return Err(format!(
                "`method` is `{method}`, which is reserved, as are names with a slash\nhint: use another name"
            ));
        }
        let k = match k.parse::<i64>() {
            Ok(k) if k >= -1 => k,
            _ => return Err(format!("`k` is `{k}`, expected a whole number from -1")),
        };
        let microseconds = match time.parse::<f64>() {
            Ok(seconds) if (0.0..1e9).contains(&seconds) => Some(seconds * 1e6),
            _ if time.is_empty() => None,
            _ => return Err(format!("`time_s` is `{time}`, expected seconds")),
        };
        let mut cells = Vec::with_capacity(self.features.len());
        for (feature, &column) in case.schema.features().iter().zip(&self.features) {
            cells.push(cell(feature, batch.cell(row, column).trim(), k)?);
        }
        Ok(PeerLine { method, fold, id, k, microseconds, cells })
    }
}

/// A cell of an answer; absent if it does not change.
fn cell<'l>(feature: &Feature, text: &'l str, k: i64) -> Result<Option<&'l str>, String> {
    let name = &feature.name;
    if text.is_empty() {
        return Ok(None);
    }
    if k < 0 {
        return Err(format!(
            "`k` is `-1`, nothing was found, but `{name}` is `{text}`, expected an empty cell"
        ));
    }
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
    if feature.kind.is_numeric() && !feature.missing && !is_number {
        return Err(format!("`{name}` is `{text}`, expected a number"));
    }
    Ok(Some(text))
}

/// The people of each fold of the case.
struct KnownPeople<'c> {
    folds: &'c [String],
    people: BTreeSet<(&'c str, &'c str)>,
}

impl<'c> KnownPeople<'c> {
    fn new(case: &'c Case, origin: &str) -> Result<Self, Error> {
        let problem = |problem: String| Error::Folds { origin: case.columns.origin.to_string(), problem };
        let ids = case.ids().ok_or_else(|| {
            problem(format!(
                "has no ids, so the answers in {origin} cannot be matched to its rows\n\
                 hint: name its column of ids as `id` under `[columns]` in the schema"
            ))
        })?;
        let mut people = BTreeSet::new();
        for (fold, id) in ids {
            if !people.insert((fold, id)) {
                return Err(problem(format!(
                    "two rows of fold `{fold}` have the id `{id}`, so the answers in \
                     {origin} cannot be matched to them"
                )));
            }
        }
        Ok(Self { folds: case.folds(), people })
    }

    fn check(&self, fold: &str, id: &str) -> Result<(), String> {
        if !self.folds.iter().any(|own| own == fold) {
            return Err(format!("no fold `{fold}`{}", suggest(fold, self.folds)));
        }
        match self.people.contains(&(fold, id)) {
            true => Ok(()),
            false => Err(format!("no row of fold `{fold}` has the id `{id}`")),
        }
    }
}

/// The lines of a method for one person, as far as the file was read.
#[derive(Default)]
struct PersonLines {
    first: Option<RecordedAnswer>,
    /// The line with `k` = -1.
    none_found: Option<RecordedAnswer>,
    /// Further answers: `k` and line.
    others: BTreeMap<i64, u64>,
}

impl PersonLines {
    fn add(&mut self, line: &PeerLine<'_>, position: u64) -> Result<(), &'static str> {
        let is_again = match line.k {
            -1 => self.none_found.is_some(),
            0 => self.first.is_some(),
            k => self.others.contains_key(&k),
        };
        if is_again {
            return Err("occurs twice");
        }
        let microseconds = line.microseconds;
        match line.k {
            -1 => self.none_found = Some(RecordedAnswer { cells: None, microseconds }),
            0 => {
                let cells = line.cells.iter().map(|cell| cell.map(str::to_string)).collect();
                self.first = Some(RecordedAnswer { cells: Some(cells), microseconds });
            }
            k => {
                self.others.insert(k, position);
            }
        }
        match self.none_found.is_some() && (self.first.is_some() || !self.others.is_empty()) {
            true => Err("there is an answer, and a line that says there is none"),
            false => Ok(()),
        }
    }
}
