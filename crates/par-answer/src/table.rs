//! Answers the rows of a table.

use std::collections::BTreeSet;
use std::time::Instant;

use par_data::{Batch, Columns, Schema};
use par_model::Model;

use crate::answer::{Answer, IfKnown, Way};
use crate::request::Request;
use crate::request::text::TextReader;
use crate::solver::Solver;
use crate::words;

/// The statuses of answers, as [`RowAnswer::status`] gives them.
pub const STATUSES: [&str; 6] =
    ["accepted", "found", "not_found", "unverified", "unverified_accepted", "error"];

/// A row of a table and its answer.
pub struct RowAnswer<'a> {
    /// The row's id in the table, or its number from 1.
    pub id: String,
    /// Its cells, in schema order.
    pub cells: Vec<&'a str>,
    /// The answer, or what is wrong with the row.
    pub answer: Result<Answer, String>,
    /// The score that counts as accepted, as do surer ones.
    pub threshold: f64,
    /// The time of the answer in microseconds, if it was measured.
    pub time_us: Option<u64>,
    /// A sentence for each cell whose value was not in the training rows, and one if the search ended before it was done.
    pub warnings: Vec<String>,
    /// How many ways were requested.
    pub count: usize,
}

/// Answers the rows of a table.
pub struct TableAnswerer<'m> {
    model: &'m Model,
    columns: Columns,
    /// Columns with options of each row, by the option's name.
    options: Vec<(&'static str, usize)>,
    request: Request,
    time: bool,
}

impl<'m> TableAnswerer<'m> {
    /// `header` are the columns of the table.
    pub fn new(model: &'m Model, header: &[String], columns: Columns, request: Request, time: bool) -> Self {
        let is_feature = |name: &str| model.schema().features().iter().any(|feature| feature.name == name);
        let find = |&(column, option): &(&'static str, &'static str)| {
            let place = header.iter().position(|name| name.trim() == column)?;
            (!is_feature(column)).then_some((option, place))
        };
        let options = OPTION_COLUMNS.iter().filter_map(find).collect();
        Self { model, columns, options, request, time }
    }

    /// The model that answers.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// The positions of the columns with options of each row.
    pub fn option_columns(&self) -> impl Iterator<Item = usize> {
        self.options.iter().map(|(_, place)| *place)
    }

    /// The id of a row; `number`, its number in the table, without an id column.
    pub fn id(&self, batch: &Batch, row: usize, number: u64) -> String {
        self.columns.id.map_or_else(|| number.to_string(), |column| batch.cell(row, column).to_string())
    }

    /// The cells of a row, in schema order.
    pub fn cells<'a>(&self, batch: &'a Batch, row: usize) -> Vec<&'a str> {
        self.columns.cells(batch, row)
    }

    /// Answers a row; `number` is its number in the table.
    pub fn answer<'a>(
        &self,
        solver: &mut Solver<'_>,
        batch: &'a Batch,
        row: usize,
        number: u64,
    ) -> RowAnswer<'a> {
        let id = self.id(batch, row, number);
        let cells = self.cells(batch, row);
        // In a browser `Instant::now` panics.
        let started = self.time.then(Instant::now);
        let mut answer = match self.request(batch, row) {
            Ok(request) => RowAnswer::new(solver, id, cells, &request),
            Err(error) => RowAnswer::unread(self.request.threshold_for(self.model), id, cells, error),
        };
        answer.time_us = started.map(|started| started.elapsed().as_micros() as u64);
        answer
    }

    /// The request of one row, with its own options.
    fn request(&self, batch: &Batch, row: usize) -> Result<Request, String> {
        let mut own = TextReader::new(self.model, usize::MAX);
        for &(option, place) in &self.options {
            let parts = batch.cell(row, place).split(';').map(str::trim).filter(|part| !part.is_empty());
            for part in parts {
                let column = || {
                    OPTION_COLUMNS.iter().find(|(_, other)| *other == option).map_or("", |(name, _)| *name)
                };
                own.option(option, part).map_err(|error| format!("column `{}`: {error}", column()))?;
            }
        }
        let own = own.finish().map_err(|error| error.to_string())?;
        let mut request = self.request.clone();
        request.locks =
            request.locks.into_iter().chain(own.locks).collect::<BTreeSet<_>>().into_iter().collect();
        // The last weight of a feature counts.
        request.efforts.extend(own.efforts);
        request.margin = own.margin.or(request.margin);
        request.max_effort = own.max_effort.or(request.max_effort);
        request.within = own.within.or(request.within);
        Ok(request)
    }
}

/// Columns of a table with options of each row, several parts with `;` between, and the names of the options.
const OPTION_COLUMNS: [(&str, &str); 5] = [
    ("locks", "lock"),
    ("efforts", "effort"),
    ("margin", "margin"),
    ("max_effort", "max_effort"),
    ("within", "within"),
];

impl<'a> RowAnswer<'a> {
    /// Answers a row, its cells in schema order.
    ///
    /// # Panics
    /// As [`Solver::answer`].
    pub fn new(solver: &mut Solver<'_>, id: String, cells: Vec<&'a str>, request: &Request) -> Self {
        let model = solver.model();
        let answer = solver.answer(&cells, request).map_err(|error| error.to_string());
        let threshold = request.threshold_for(model);
        let warnings = words::warnings(model, &cells);
        let mut person = Self { id, cells, answer, threshold, time_us: None, warnings, count: request.count };
        if person.search_ended() {
            person.warnings.push(words::SEARCH_ENDED.to_string());
        }
        person
    }

    /// The answer to a row that cannot be read.
    pub fn unread(threshold: f64, id: String, cells: Vec<&'a str>, error: String) -> Self {
        Self { id, cells, answer: Err(error), threshold, time_us: None, warnings: Vec::new(), count: 1 }
    }

    /// The status, in one word: `found`, `accepted`, `not_found`, `error`, or an unverified form.
    pub fn status(&self) -> &'static str {
        match &self.answer {
            Ok(Answer::Accepted { verified: false, .. }) => "unverified_accepted",
            Ok(Answer::Accepted { .. }) => "accepted",
            Ok(Answer::Found(found)) if !found.verified => "unverified",
            Ok(Answer::Found(_)) => "found",
            Ok(Answer::NotFound(_)) => "not_found",
            Err(_) => "error",
        }
    }

    /// Why there is no way, on one line: the name of the reason, and what would help.
    pub fn reason(&self, schema: &Schema) -> Option<String> {
        match &self.answer {
            Ok(Answer::NotFound(not_found)) => {
                let name = not_found.reason.name();
                let remedy = words::remedy(schema, not_found).map(|remedy| format!(": {remedy}"));
                Some(format!("{name}{}", remedy.unwrap_or_default()))
            }
            Err(error) => Some(words::without_hint(error).to_string()),
            Ok(_) => None,
        }
    }

    /// The score of the row as it is.
    pub fn probability(&self) -> Option<f64> {
        match &self.answer {
            Ok(Answer::Accepted { probability, .. }) => Some(*probability),
            Ok(Answer::Found(found)) => Some(found.probability),
            Ok(Answer::NotFound(not_found)) => Some(not_found.probability),
            Err(_) => None,
        }
    }

    /// The policies (positions in the schema) that the row as it is breaks.
    pub fn broken_policies(&self) -> &[usize] {
        match &self.answer {
            Ok(Answer::Found(found)) => &found.broken_policies,
            Ok(Answer::NotFound(not_found)) => &not_found.broken_policies,
            Ok(Answer::Accepted { .. }) | Err(_) => &[],
        }
    }

    /// Whether the search ended before it was done.
    pub fn search_ended(&self) -> bool {
        self.answer.as_ref().is_ok_and(Answer::search_ended)
    }

    /// What unknown cells would decide.
    pub fn unknown(&self) -> &[IfKnown] {
        match &self.answer {
            Ok(Answer::Found(found)) => &found.unknown,
            Ok(Answer::NotFound(not_found)) => &not_found.unknown,
            Ok(Answer::Accepted { .. }) | Err(_) => &[],
        }
    }

    /// The ways that were found.
    pub fn ways(&self) -> &[Way] {
        self.answer.as_ref().map_or(&[], Answer::ways)
    }
}
