//! A table that is to be measured on, in the sense in which it is asked, and its folds.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use par_data::{Batch, Columns, Schema, Table, suggest};
use par_recourse::metrics::{Asked, ask};
use par_recourse::{Bundle, Config, Recourse};

use crate::error::Error;
use crate::method::Recorded;

/// A column with more values than this holds no folds.
const MAX_FOLDS: usize = 100;

/// A table, its schema and how it is asked.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name in figures.
    pub name: String,
    /// What its columns mean.
    pub schema: Schema,
    /// Where they stand.
    pub columns: Columns,
    /// How bundles are made.
    pub config: Config,
    /// What other methods answered the same people.
    pub peers: Vec<Recorded>,
    rows: Arc<Batch>,
    fold: usize,
    factuals: Option<usize>,
    folds: Vec<String>,
}

/// Somebody who asks: a row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Person {
    /// As the table calls them; the row's place where it has no ids.
    pub id: String,
    /// Their cells, in schema order.
    pub cells: Vec<String>,
}

impl Person {
    /// Their cells, in schema order.
    pub fn cells(&self) -> Vec<&str> {
        self.cells.iter().map(String::as_str).collect()
    }
}

impl Case {
    /// A case over all rows of a table. `fold` is the column whose values are the folds; in `factuals`, where there
    /// is such a column, those who are asked about have a 1.
    ///
    /// # Errors
    /// When the table cannot be read, lacks a column, or has fewer than two folds or more than a hundred.
    pub fn new(
        name: &str,
        schema: Schema,
        config: Config,
        table: Table,
        fold: &str,
        factuals: Option<&str>,
    ) -> Result<Self, Error> {
        let (origin, header) = (table.origin().to_string(), table.columns().to_vec());
        let columns = schema.columns(&origin, &header)?;
        let problem = |problem: String| Error::Folds { origin: origin.clone(), problem };
        let find = |column: &str| {
            let place = header.iter().position(|own| own.trim() == column);
            place.ok_or_else(|| problem(format!("no column `{column}`{}", suggest(column, &header))))
        };
        let (fold, factuals) = (find(fold)?, factuals.map(find).transpose()?);
        let mut rows = Batch::new(origin.as_str(), header.len());
        for batch in table.batches(usize::MAX) {
            rows = batch?;
        }
        let labels: BTreeSet<&str> = (0..rows.rows()).map(|row| rows.cell(row, fold).trim()).collect();
        let mut folds: Vec<String> = labels.into_iter().map(str::to_string).collect();
        if !(2..=MAX_FOLDS).contains(&folds.len()) {
            let (column, found) = (&header[fold], folds.len());
            return Err(problem(format!(
                "`{column}` has {found} values, expected 2 to {MAX_FOLDS} folds\n\
                 hint: name a column that says for every row in which fold it is tested"
            )));
        }
        // Numbers in their order, where all are.
        folds.sort_by_key(|fold| fold.parse::<u64>().unwrap_or(u64::MAX));
        Ok(Self {
            name: name.to_string(),
            schema,
            columns,
            config,
            peers: Vec::new(),
            rows: Arc::new(rows),
            fold,
            factuals,
            folds,
        })
    }

    /// The same table, asked in another sense. Its rows are shared.
    #[must_use]
    pub fn asked_as(&self, name: &str, config: Config) -> Self {
        Self { name: name.to_string(), config, ..self.clone() }
    }

    /// The folds, by name.
    pub fn folds(&self) -> &[String] {
        &self.folds
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows.rows()
    }

    /// The rows outside a fold, to learn from.
    pub fn training(&self, fold: &str) -> Batch {
        let mut rows = Batch::clone(&self.rows);
        rows.retain(|batch, row| batch.cell(row, self.fold).trim() != fold);
        rows
    }

    /// The rows of a fold.
    pub fn test(&self, fold: &str) -> Batch {
        let mut rows = Batch::clone(&self.rows);
        rows.retain(|batch, row| batch.cell(row, self.fold).trim() == fold);
        rows
    }

    /// Those of some rows who are asked about.
    pub fn people(&self, rows: &Batch) -> Vec<Person> {
        let is_asked = |row: &usize| self.factuals.is_none_or(|column| rows.cell(*row, column).trim() == "1");
        (0..rows.rows()).filter(is_asked).map(|row| self.person(rows, row)).collect()
    }

    /// A row as somebody who asks.
    pub fn person(&self, rows: &Batch, row: usize) -> Person {
        let id = match self.columns.id {
            Some(id) => rows.cell(row, id).trim().to_string(),
            None => rows.position(row).to_string(),
        };
        let cells = self.columns.features.iter().map(|&column| rows.cell(row, column).to_string());
        Person { id, cells: cells.collect() }
    }

    /// Takes all that figures of this case depend on into a checksum.
    pub(crate) fn hash_into(&self, hasher: &mut crc32fast::Hasher) {
        let config = serde_json::to_string(&self.config).expect("a configuration has only text keys");
        for text in [self.name.as_str(), self.schema.source(), config.as_str()] {
            hasher.update(text.as_bytes());
        }
        for column in (self.columns.features.iter().copied()).chain([self.fold]).chain(self.factuals) {
            hasher.update(&column.to_le_bytes());
            (0..self.rows.rows()).for_each(|row| hasher.update(self.rows.cell(row, column).as_bytes()));
        }
        self.peers.iter().for_each(|peer| peer.hash_into(hasher));
    }

    /// A bundle made from some rows.
    pub(crate) fn fit(&self, fold: &str, config: &Config, rows: &Batch) -> Result<Bundle, Error> {
        let method = Recourse::new(self.schema.clone(), config.clone());
        method
            .fit_rows(&self.columns, || Ok([Ok(rows.clone())]), &mut |_| {})
            .map_err(|source| self.fit_error(fold, source))
    }

    pub(crate) fn fit_error(&self, fold: &str, source: par_recourse::Error) -> Error {
        Error::Fit { case: self.name.clone(), fold: fold.to_string(), source: Box::new(source) }
    }
}

/// A fold of a case: what is learned from the rows outside it, and who is asked about in it.
#[derive(Debug)]
pub struct Fold<'c> {
    /// The case.
    pub case: &'c Case,
    /// The fold's name.
    pub name: &'c str,
    /// The rows outside the fold.
    pub training: Batch,
    /// All rows in it.
    pub test: Batch,
    /// Those of them who are asked about.
    pub people: Vec<Person>,
    /// Made by the case's configuration.
    pub bundle: Bundle,
    pub(crate) paper: OnceLock<Bundle>,
    asked: OnceLock<Vec<Option<Asked>>>,
}

impl<'c> Fold<'c> {
    /// Makes the fold's bundle.
    ///
    /// # Errors
    /// When it cannot be made, or somebody in the fold has a cell that it cannot read.
    pub fn new(case: &'c Case, name: &'c str) -> Result<Self, Error> {
        let (training, test) = (case.training(name), case.test(name));
        let bundle = case.fit(name, &case.config, &training)?;
        let people = case.people(&test);
        Ok(Self {
            case,
            name,
            training,
            test,
            people,
            bundle,
            paper: OnceLock::new(),
            asked: OnceLock::new(),
        })
    }

    /// The bundle of the paper's preset, with the bins, the classifier and the threshold of the case's own.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn paper(&self) -> Result<&Bundle, Error> {
        if self.paper.get().is_none() {
            let Config { seed, favourable, immutable, bins, classifier, .. } = self.case.config.clone();
            let config = Config { seed, favourable, immutable, bins, classifier, ..Config::paper() };
            let bundle = self.case.fit(self.name, &config, &self.training)?;
            // Nobody else sets it: a fold is one task.
            let _ = self.paper.set(bundle);
        }
        Ok(self.paper.get().expect("it was set just now"))
    }

    /// What the fold's bundle tells its people, by all methods.
    ///
    /// # Errors
    /// When a cell cannot be read.
    pub fn asked(&self) -> Result<&[Option<Asked>], Error> {
        if self.asked.get().is_none() {
            let asked = self.ask(&self.bundle)?;
            let _ = self.asked.set(asked);
        }
        Ok(self.asked.get().expect("it was set just now"))
    }

    /// What a bundle tells the fold's people, by all methods.
    ///
    /// # Errors
    /// When a cell cannot be read.
    pub fn ask(&self, bundle: &Bundle) -> Result<Vec<Option<Asked>>, Error> {
        let rows: Vec<Vec<&str>> = self.people.iter().map(Person::cells).collect();
        ask(bundle, &rows).map_err(|(person, source)| self.row_error(person, source))
    }

    pub(crate) fn row_error(&self, person: usize, source: par_data::CellError) -> Error {
        let id = &self.people[person].id;
        let row = (0..self.test.rows()).find(|&row| self.case.person(&self.test, row).id == *id);
        Error::Row { place: self.test.place(row.unwrap_or(0)), source }
    }
}
