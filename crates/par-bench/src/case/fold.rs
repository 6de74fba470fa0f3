//! A fold of a case.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use par_answer::Request;
use par_answer::evaluate::{MethodAnswers, answer_by_all_methods};
use par_circuit::Dataset;
use par_data::Batch;
use par_judge::JudgeError;
use par_model::{Mean, Model, RowError};

use super::{Case, Factual};
use crate::error::Error;
use crate::measures;

/// Rows as codes, and whether each has the favourable class.
#[derive(Clone, Debug)]
pub struct LabelledRows {
    /// The codes.
    pub rows: Dataset,
    /// One per row.
    pub accepted: Vec<bool>,
}

/// A fold of a case: the model of the rows outside it, and the factuals in it.
///
/// A row with a cell that the model cannot read, such as an unseen category, is no error: it is left out of `test`
/// and `people`, and counted.
#[derive(Debug)]
pub struct Fold<'c> {
    /// The case.
    pub case: &'c Case,
    /// The fold's name.
    pub name: &'c str,
    /// The rows outside the fold.
    pub training: Batch,
    /// The rows of the fold that the model can read.
    pub test: Batch,
    /// The rows of the fold that the model cannot read.
    pub unread: Batch,
    /// The factuals among the readable rows.
    pub people: Vec<Factual>,
    /// Fitted with the case's configuration.
    pub model: Model,
    /// What changes of codes are measured in, feature by feature; of the training rows.
    pub code_units: Vec<f64>,
    /// How long that took, on all threads.
    pub fitted_in: Duration,
    /// The positions of `people` in `test`.
    rows: Vec<usize>,
    paper: OnceLock<Model>,
    answers: OnceLock<Vec<Option<MethodAnswers>>>,
    paper_answers: OnceLock<Vec<Option<MethodAnswers>>>,
}

impl<'c> Fold<'c> {
    /// Fits the fold's model.
    ///
    /// # Errors
    /// When it cannot be fitted.
    pub fn new(case: &'c Case, name: &'c str) -> Result<Self, Error> {
        let (training, all) = (case.training(name), case.test(name));
        let started = Instant::now();
        let model = case.fit(name, &case.config, &training)?;
        let fitted_in = started.elapsed();
        let is_read = |row: &usize| {
            let cells: Vec<&str> = case.columns.cells(&all, *row);
            model.discretizer().encode_row(&cells).is_ok()
        };
        let (read, unread): (Vec<usize>, Vec<usize>) = (0..all.rows()).partition(is_read);
        let (test, unread) = (all.select(read), all.select(unread));
        let codes = case.codes(name, &model, &training)?;
        let rows: Vec<usize> = (0..test.rows()).filter(|&row| case.is_factual(&test, row)).collect();
        Ok(Self {
            case,
            name,
            training,
            people: rows.iter().map(|&row| case.person(&test, row)).collect(),
            test,
            unread,
            code_units: measures::code_units(&codes),
            model,
            fitted_in,
            rows,
            paper: OnceLock::new(),
            answers: OnceLock::new(),
            paper_answers: OnceLock::new(),
        })
    }

    /// The positions of the people whom the classifier or a policy denies.
    pub fn denied(&self) -> Vec<usize> {
        let threshold = self.model.threshold();
        let is_denied = |person: &usize| !self.model.is_accepted(&self.people[*person].cells(), threshold);
        (0..self.people.len()).filter(is_denied).collect()
    }

    /// A judge by the rows of the fold whose label is favourable and that are accepted; `None` if there are too few.
    ///
    /// # Errors
    /// When a label is none of the classes, or no circuit can be learned from the rows.
    pub fn held_out_judge(&self) -> Result<Option<par_judge::Judge<'_>>, Error> {
        let (case, threshold) = (self.case, self.model.threshold());
        // Checked with the case.
        let favourable = case.favourable().unwrap_or_default();
        let classes = case.schema.classes(&case.columns, &self.test)?;
        let rows = (0..self.test.rows()).filter(|&row| favourable.contains(&classes[row]));
        let cells = rows.map(|row| case.columns.cells(&self.test, row));
        let accepted: Vec<Vec<&str>> =
            cells.filter(|cells| self.model.is_accepted(cells, threshold)).collect();
        unless_too_few(par_judge::Judge::new(&self.model, &accepted, case.config.seed))
            .map_err(|error| self.judge_error(error))
    }

    /// The share of factuals that the model can read.
    pub fn readable(&self) -> Mean {
        let unread = self.case.people(&self.unread).len();
        let truths = self.people.iter().map(|_| true).chain((0..unread).map(|_| false));
        Mean::share(truths, self.people.len() + unread)
    }

    /// Readable rows as codes, with their classes.
    ///
    /// # Errors
    /// When the model cannot read a row.
    pub fn labelled(&self, rows: &Batch) -> Result<LabelledRows, Error> {
        let case = self.case;
        // Checked with the case.
        let favourable = case.favourable().unwrap_or_default();
        let classes = case.schema.classes(&case.columns, rows)?;
        Ok(LabelledRows {
            rows: case.codes(self.name, &self.model, rows)?,
            accepted: classes.into_iter().map(|class| favourable.contains(&class)).collect(),
        })
    }

    /// The model of the paper's preset.
    ///
    /// # Errors
    /// When it cannot be fitted.
    pub fn paper(&self) -> Result<&Model, Error> {
        if self.paper.get().is_none() {
            let config = self.case.paper_config();
            let model = self.case.fit(self.name, &config, &self.training)?;
            // No other thread sets it: a fold is one task.
            let _ = self.paper.set(model);
        }
        Ok(self.paper.get().expect("set above"))
    }

    /// The answers of the fold's model by all methods; `None` for an accepted person.
    ///
    /// # Errors
    /// When a cell cannot be read.
    pub fn answers(&self) -> Result<&[Option<MethodAnswers>], Error> {
        self.once(&self.answers, || Ok(&self.model))
    }

    /// The answers of the model of the paper's preset, by all methods.
    ///
    /// # Errors
    /// When the model cannot be fitted.
    pub fn paper_answers(&self) -> Result<&[Option<MethodAnswers>], Error> {
        self.once(&self.paper_answers, || self.paper())
    }

    fn once<'s>(
        &self,
        cell: &'s OnceLock<Vec<Option<MethodAnswers>>>,
        model: impl Fn() -> Result<&'s Model, Error>,
    ) -> Result<&'s [Option<MethodAnswers>], Error> {
        if cell.get().is_none() {
            let _ = cell.set(self.answers_by(model()?)?);
        }
        Ok(cell.get().expect("set above"))
    }

    /// The answers of a model to the fold's people, by all methods.
    ///
    /// # Errors
    /// When a cell cannot be read, which happens only with other bins.
    pub fn answers_by(&self, model: &Model) -> Result<Vec<Option<MethodAnswers>>, Error> {
        let rows: Vec<Vec<&str>> = self.people.iter().map(Factual::cells).collect();
        answer_by_all_methods(model, &rows, &Request::default())
            .map_err(|(person, source)| self.row_error(person, source))
    }

    pub(crate) fn judge_error(&self, source: JudgeError) -> Error {
        Error::Judge { case: self.case.name.clone(), fold: self.name.to_string(), source: Box::new(source) }
    }

    /// The position of a person in `test`.
    pub(crate) fn row_of(&self, person: usize) -> usize {
        self.rows[person]
    }

    pub(crate) fn row_error(&self, person: usize, source: impl Into<RowError>) -> Error {
        Error::Row { place: self.test.place(self.row_of(person)), source: Box::new(source.into()) }
    }
}

/// Too few rows are no error: there is no judge.
fn unless_too_few<T>(judge: Result<T, JudgeError>) -> Result<Option<T>, JudgeError> {
    match judge {
        Err(JudgeError::TooFewRows { .. }) => Ok(None),
        judge => judge.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_too_few_rows_are_no_judge() {
        let too_few = JudgeError::TooFewRows { found: 3, expected: 50 };
        assert_eq!(unless_too_few::<()>(Err(too_few)), Ok(None));
        assert_eq!(unless_too_few(Ok(())), Ok(Some(())));
        let failed = JudgeError::Circuit(par_circuit::LearnError::NoRows);
        assert_eq!(unless_too_few::<()>(Err(failed.clone())), Err(failed));
    }
}
