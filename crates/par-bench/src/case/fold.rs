//! A fold of a case.

use std::sync::OnceLock;

use par_answer::evaluate::{MethodAnswers, answer_by_all_methods};
use par_circuit::{Code, Dataset};
use par_data::Batch;
use par_model::generator::GeneratorConfig;
use par_model::{Config, Mean, Model, RowError};

use super::{Case, Person};
use crate::error::Error;

/// Rows as codes, and whether each is of the class that counts as accepted.
#[derive(Clone, Debug)]
pub struct Labelled {
    /// The codes.
    pub rows: Dataset,
    /// One a row.
    pub accepted: Vec<bool>,
}

/// A fold of a case: what is learned from the rows outside it, and who is asked about in it.
///
/// A row of the fold with a cell that the model cannot read, a category that no training row has for instance, stops
/// nothing: it is left out of `test` and of `people`, and counted.
#[derive(Debug)]
pub struct Fold<'c> {
    /// The case.
    pub case: &'c Case,
    /// The fold's name.
    pub name: &'c str,
    /// The rows outside the fold.
    pub training: Batch,
    /// All rows in it that can be read.
    pub test: Batch,
    /// The rows in it that cannot.
    pub unread: Batch,
    /// Those of the rows that can be read who are asked about.
    pub people: Vec<Person>,
    /// Made by the case's configuration.
    pub model: Model,
    /// Where the people stand among the rows that can be read.
    rows: Vec<usize>,
    paper: OnceLock<Model>,
    asked: OnceLock<Vec<Option<MethodAnswers>>>,
    asked_by_paper: OnceLock<Vec<Option<MethodAnswers>>>,
}

impl<'c> Fold<'c> {
    /// Makes the fold's model.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(case: &'c Case, name: &'c str) -> Result<Self, Error> {
        let (training, all) = (case.training(name), case.test(name));
        let model = case.fit(name, &case.config, &training)?;
        let is_read = |row: &usize| {
            let cells: Vec<&str> =
                case.columns.features.iter().map(|&column| all.cell(*row, column)).collect();
            model.discretizer().encode_row(&cells).is_ok()
        };
        let (read, unread): (Vec<usize>, Vec<usize>) = (0..all.rows()).partition(is_read);
        let (test, unread) = (all.select(read), all.select(unread));
        let rows: Vec<usize> = (0..test.rows()).filter(|&row| case.is_asked(&test, row)).collect();
        Ok(Self {
            case,
            name,
            training,
            people: rows.iter().map(|&row| case.person(&test, row)).collect(),
            test,
            unread,
            model,
            rows,
            paper: OnceLock::new(),
            asked: OnceLock::new(),
            asked_by_paper: OnceLock::new(),
        })
    }

    /// Of those who are to be asked about, the share who can be read.
    pub fn readable(&self) -> Mean {
        let unread = self.case.people(&self.unread).len();
        let truths = self.people.iter().map(|_| true).chain((0..unread).map(|_| false));
        Mean::share(truths, self.people.len() + unread)
    }

    /// Rows that the model can read, as codes.
    ///
    /// # Errors
    /// When it cannot read one.
    pub fn labelled(&self, rows: &Batch) -> Result<Labelled, Error> {
        let (case, discretizer) = (self.case, self.model.discretizer());
        let codes: Vec<Code> = discretizer.encode(&case.columns, rows)?.into_codes();
        let favourable = case.favourable();
        let classes = case.schema.classes(&case.columns, rows)?;
        let rows = Dataset::new(discretizer.cardinalities(), codes)
            .map_err(|source| case.fit_error(self.name, source.into()))?;
        Ok(Labelled { rows, accepted: classes.into_iter().map(|class| Some(class) == favourable).collect() })
    }

    /// The model of the paper's preset, with the bins, the classifier and the threshold of the case's own, and as long
    /// a training on as many samples.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn paper(&self) -> Result<&Model, Error> {
        if self.paper.get().is_none() {
            let own = self.case.config.clone();
            let GeneratorConfig { conditioning, locked, loss, .. } = GeneratorConfig::paper();
            let generator = GeneratorConfig { conditioning, locked, loss, ..own.generator };
            let Config { circuits, answers, .. } = Config::paper();
            let config = Config { circuits, generator, answers, ..own };
            let model = self.case.fit(self.name, &config, &self.training)?;
            // Nobody else sets it: a fold is one task.
            let _ = self.paper.set(model);
        }
        Ok(self.paper.get().expect("it was set just now"))
    }

    /// What the fold's model tells its people, by all methods.
    ///
    /// # Errors
    /// When a cell cannot be read.
    pub fn asked(&self) -> Result<&[Option<MethodAnswers>], Error> {
        self.once(&self.asked, || Ok(&self.model))
    }

    /// What the model of the paper's preset tells them, by all methods.
    ///
    /// # Errors
    /// When the model cannot be made.
    pub fn asked_by_paper(&self) -> Result<&[Option<MethodAnswers>], Error> {
        self.once(&self.asked_by_paper, || self.paper())
    }

    fn once<'s>(
        &self,
        kept: &'s OnceLock<Vec<Option<MethodAnswers>>>,
        model: impl Fn() -> Result<&'s Model, Error>,
    ) -> Result<&'s [Option<MethodAnswers>], Error> {
        if kept.get().is_none() {
            let _ = kept.set(self.ask(model()?)?);
        }
        Ok(kept.get().expect("it was set just now"))
    }

    /// What a model tells the fold's people, by all methods.
    ///
    /// # Errors
    /// When a cell cannot be read, which only happens to a model with other bins.
    pub fn ask(&self, model: &Model) -> Result<Vec<Option<MethodAnswers>>, Error> {
        let rows: Vec<Vec<&str>> = self.people.iter().map(Person::cells).collect();
        answer_by_all_methods(model, &rows).map_err(|(person, source)| self.row_error(person, source))
    }

    /// Where one of the people stands among the rows that can be read.
    pub(crate) fn row_of(&self, person: usize) -> usize {
        self.rows[person]
    }

    pub(crate) fn row_error(&self, person: usize, source: impl Into<RowError>) -> Error {
        Error::Row { place: self.test.place(self.row_of(person)), source: Box::new(source.into()) }
    }
}
