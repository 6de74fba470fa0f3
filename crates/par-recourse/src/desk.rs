//! Where the rows of a table are answered, and what is told: as lines of a table, as JSON, as text.
//!
//! | file        | what it makes of a person                          |
//! |-------------|----------------------------------------------------|
//! | `lines`     | lines of the tidy table, one for every way         |
//! | `described` | one object for programs                            |
//! | `text`      | everything about them and their answer, to be read |

mod described;
mod lines;
mod text;

use std::collections::BTreeSet;
use std::time::Instant;

use par_data::{Batch, Columns, Schema};

pub use self::described::{Described, DescribedPoint};
pub use self::lines::{COLUMNS, Line, column_name, csv_header, csv_lines, names, renamed};
use crate::answer::{Answer, Request, Way};
use crate::bundle::Bundle;
use crate::solver::Solver;
use crate::words;

/// A row of a table, and the answer to it.
pub struct Person<'a> {
    /// What the table calls them, or the row's number from 1.
    pub id: String,
    /// Their cells, in schema order.
    pub cells: Vec<&'a str>,
    /// The answer, or what is wrong with the row.
    pub answer: Result<Answer, String>,
    /// The probability from which on they count as accepted.
    pub threshold: f64,
    /// How long it took, if anybody asked.
    pub time_us: Option<u64>,
}

/// Takes the rows of a table and answers them.
pub struct Desk<'b> {
    bundle: &'b Bundle,
    columns: Columns,
    /// The column with the locks of each row.
    locks: Option<usize>,
    request: Request,
    time: bool,
}

impl<'b> Desk<'b> {
    /// `header` are the columns of the table.
    pub fn new(
        bundle: &'b Bundle,
        header: &[String],
        columns: Columns,
        request: Request,
        time: bool,
    ) -> Self {
        let is_feature = bundle.schema().features().iter().any(|feature| feature.name == LOCKS);
        let locks = header.iter().position(|column| column.trim() == LOCKS).filter(|_| !is_feature);
        Self { bundle, columns, locks, request, time }
    }

    /// Who answers.
    pub fn bundle(&self) -> &'b Bundle {
        self.bundle
    }

    /// The column with the locks of each row, if there is one.
    pub fn locks(&self) -> Option<usize> {
        self.locks
    }

    /// What the table calls a row; `number` is its number in the table.
    pub fn id(&self, batch: &Batch, row: usize, number: u64) -> String {
        self.columns.id.map_or_else(|| number.to_string(), |column| batch.cell(row, column).to_string())
    }

    /// Answers a row; `number` is its number in the table.
    pub fn answer<'a>(
        &self,
        solver: &mut Solver<'_>,
        batch: &'a Batch,
        row: usize,
        number: u64,
    ) -> Person<'a> {
        let cells: Vec<&str> = self.columns.features.iter().map(|&column| batch.cell(row, column)).collect();
        let started = Instant::now();
        let answer = match self.request(batch, row) {
            Ok(request) => solver.answer(&cells, &request).map_err(|error| error.to_string()),
            Err(error) => Err(error),
        };
        let threshold = self.request.threshold.unwrap_or(self.bundle.threshold());
        let time_us = self.time.then(|| started.elapsed().as_micros() as u64);
        Person { id: self.id(batch, row, number), cells, answer, threshold, time_us }
    }

    /// What the person of a row asks for.
    fn request(&self, batch: &Batch, row: usize) -> Result<Request, String> {
        let mut request = self.request.clone();
        if let Some(column) = self.locks {
            let names = batch.cell(row, column).split(';').map(str::trim).filter(|name| !name.is_empty());
            let own = self.bundle.schema().positions(&names.collect::<Vec<_>>());
            let own = own.map_err(|error| format!("column `{LOCKS}`: {error}"))?;
            request.locks =
                request.locks.into_iter().chain(own).collect::<BTreeSet<_>>().into_iter().collect();
        }
        Ok(request)
    }
}

/// The column with the locks of each row.
const LOCKS: &str = "locks";

impl Person<'_> {
    /// What became of them, in one word.
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

    /// Why there is no way, on one line: the name of the reason, and what would have to give.
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

    /// The probability that the row is accepted as it is.
    pub fn probability(&self) -> Option<f64> {
        match &self.answer {
            Ok(Answer::Accepted { probability, .. }) => Some(*probability),
            Ok(Answer::Found(found)) => Some(found.probability),
            Ok(Answer::NotFound(not_found)) => Some(not_found.probability),
            Err(_) => None,
        }
    }

    /// The ways that were found.
    pub fn ways(&self) -> &[Way] {
        self.answer.as_ref().map_or(&[], Answer::ways)
    }
}
