//! Compares two models on the same people: whose decision changes, and whose way the new model no longer accepts.
//!
//! | file      | what it holds                                                        |
//! |-----------|----------------------------------------------------------------------|
//! | `models`  | what differs between the two models themselves, in words             |
//! | `person`  | one person: both answers, and the old way under the new model        |
//! | `groups`  | which group of people a row belongs to                               |
//! | `tally`   | counts and sums over people, in bounded memory                       |
//! | `report`  | the shares and means of a tally, as JSON has them                    |
//!
//! A way is judged as it is written: the cells that the old answer names, and for a feature that only the new model
//! reads the person's own cell. Costs of old and new ways are both measured by the new model, so that they are in one
//! unit.

mod groups;
mod models;
mod person;
mod report;
mod tally;

use std::ops::Range;

use par_circuit::threads;
use par_data::{Batch, Columns};
use par_model::Model;

pub use groups::{Grouping, MOST_GROUPS};
pub use models::differences;
pub use person::{BrokenWay, Outcome, PastAnswer, PastWay, Verdict};
pub use report::{CostReport, Diff, Flow, GroupReport, PeopleReport, Shortfall, WaysReport};
pub use tally::{Histogram, Tally};

use crate::request::Request;
use crate::table::TableAnswerer;

/// A model, the request that it answers, and its columns in the table of people.
pub struct Side<'m> {
    /// The model.
    pub model: &'m Model,
    /// The request of every row.
    pub request: Request,
    /// Where the table has the features of the model.
    pub columns: Columns,
}

/// The first answers that people got, by their ids; `None` for somebody who was not answered.
pub type PastAnswers<'a> = &'a (dyn Fn(&str) -> Option<PastAnswer> + Sync);

/// Compares two models on the rows of one table.
pub struct Comparer<'a> {
    old: TableAnswerer<'a>,
    new: TableAnswerer<'a>,
    past: Option<PastAnswers<'a>>,
    groupings: Vec<Grouping<'a>>,
    /// For each feature of the new model, its position in the old one.
    in_old: Vec<Option<usize>>,
    /// The scores that the old and the new model accept, as they do surer ones.
    thresholds: [f64; 2],
    /// At most so many people are listed by name.
    listed: usize,
}

/// Rows that one thread compares in a row.
const ROWS_PER_TASK: usize = 16;

impl<'a> Comparer<'a> {
    /// `header` are the columns of the table; at most `listed` people whose way breaks are listed by name.
    pub fn new(header: &[String], old: Side<'a>, new: Side<'a>, listed: usize) -> Self {
        let old_features = old.model.schema().features();
        let in_old = (new.model.schema().features().iter())
            .map(|feature| old_features.iter().position(|other| other.name == feature.name))
            .collect();
        let thresholds = [&old, &new].map(|side| side.request.threshold_for(side.model));
        let answerer =
            |side: Side<'a>| TableAnswerer::new(side.model, header, side.columns, side.request, false);
        Self {
            old: answerer(old),
            new: answerer(new),
            past: None,
            groupings: Vec::new(),
            in_old,
            thresholds,
            listed,
        }
    }

    /// The same, with the answers that people got already in place of those of the old model.
    #[must_use]
    pub fn with_past(self, past: PastAnswers<'a>) -> Self {
        Self { past: Some(past), ..self }
    }

    /// The same, with people counted by groups too.
    #[must_use]
    pub fn by_groups(self, groupings: Vec<Grouping<'a>>) -> Self {
        Self { groupings, ..self }
    }

    /// Compares some rows of a batch on all threads. `numbers` are those of the batch's rows in the table; `done` is
    /// called with how many further rows are compared, by any thread.
    pub fn compare(
        &self,
        batch: &Batch,
        rows: Range<usize>,
        numbers: &[u64],
        done: impl Fn(usize) + Send + Sync,
    ) -> Tally {
        let starts = rows.clone().step_by(ROWS_PER_TASK);
        let tallies = threads::map_with(
            starts,
            || person::Scratch::new(self.old.model(), self.new.model()),
            |scratch, start| {
                let mut tally = self.tally();
                let task = start..rows.end.min(start + ROWS_PER_TASK);
                let count = task.len();
                for row in task {
                    self.count(scratch, batch, row, numbers[row], &mut tally);
                }
                done(count);
                tally
            },
        );
        let mut all = self.tally();
        tallies.into_iter().for_each(|tally| all.add(tally));
        all
    }

    /// A tally of nobody.
    pub fn tally(&self) -> Tally {
        Tally::new(Histogram::around(self.new.model().scale(), self.thresholds[1]), self.listed)
    }

    /// What a tally says, as a document.
    pub fn report(&self, tally: &Tally) -> Diff {
        let [old, new] = [self.old.model(), self.new.model()];
        Diff::new(differences(old, new), self.thresholds, &self.groupings, tally)
    }

    /// The first column of groups with more different texts than [`MOST_GROUPS`].
    pub fn crowded(&self, tally: &Tally) -> Option<&str> {
        tally.crowded(&self.groupings)
    }

    /// The models, the old one first.
    pub fn models(&self) -> [&'a Model; 2] {
        [self.old.model(), self.new.model()]
    }
}
