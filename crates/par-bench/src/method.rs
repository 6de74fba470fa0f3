//! Methods of recourse, ours and others', behind one trait.

use std::time::Instant;

use par_answer::evaluate::MethodAnswers;
use par_answer::{Method as Own, Request, Solver};
use par_model::Model;

use crate::case::Factual;

/// A method of recourse, ready to answer the people of one fold.
pub trait Method {
    /// Its name in figures.
    fn name(&self) -> &str;

    /// The row that a person could become, its cells in schema order; `None` if the method found none. The row may be
    /// denied: that is for the judge to say.
    fn answer(&mut self, person: &Factual) -> Option<Vec<String>>;

    /// The answer to a person and its time, which is taken here unless it is known from elsewhere.
    fn reply(&mut self, person: &Factual) -> Reply {
        let started = Instant::now();
        let cells = self.answer(person);
        Reply { cells, microseconds: Some(started.elapsed().as_secs_f64() * 1e6) }
    }
}

/// The answer of a method to one person.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The row that the person could become, in schema order; absent if none was found.
    pub cells: Option<Vec<String>>,
    /// The time it took, if known.
    pub microseconds: Option<f64>,
}

impl Reply {
    /// The cells of the row, if one was found.
    pub fn cells(&self) -> Option<Vec<&str>> {
        Some(self.cells.as_ref()?.iter().map(String::as_str).collect())
    }
}

/// One of our methods, which answers anew, on one thread.
pub struct OwnMethod<'m> {
    name: String,
    request: Request,
    solver: Solver<'m>,
}

impl<'m> OwnMethod<'m> {
    /// A method of a model, with a name in figures.
    pub fn new(name: String, method: Own, model: &'m Model) -> Self {
        Self { name, request: Request { method, ..Request::default() }, solver: Solver::new(model) }
    }
}

impl Method for OwnMethod<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&mut self, person: &Factual) -> Option<Vec<String>> {
        // A cell that the model cannot read has no answer.
        let answer = self.solver.answer(&person.cells(), &self.request).ok()?;
        Some(answer.ways().first()?.cells.clone())
    }
}

/// The replies of one of our methods, taken from answers of all three; none to an accepted person.
pub(crate) fn own_replies(method: Own, answers: &[Option<MethodAnswers>]) -> Vec<Reply> {
    let place = method as usize;
    let reply = |answers: &MethodAnswers| Reply {
        cells: answers.way(place).map(|way| way.cells.clone()),
        microseconds: Some(answers.microseconds[place]),
    };
    answers.iter().map(|answers| answers.as_ref().map(reply).unwrap_or_default()).collect()
}
