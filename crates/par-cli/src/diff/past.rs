//! The ways that people were told, from the table that `par recourse --out` writes.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use par_answer::diff::{Outcome, PastAnswer, PastWay};
use par_answer::write::column_name;
use par_data::{Batch, TableOptions, found_instead};
use par_model::Model;

use crate::rows::open_table;

/// Rows of a batch.
const BATCH: usize = 4096;

/// Past answers by id. The table's text is kept as it was read, which takes less memory than answers would.
pub(super) struct PastWays {
    batches: Vec<Batch>,
    /// The lines of each person, in the order of their ranks: batch and row.
    lines: HashMap<String, Vec<(usize, usize)>>,
    columns: PastColumns,
}

struct PastColumns {
    id: usize,
    rank: usize,
    status: usize,
    probability: usize,
    changes: usize,
    months: usize,
    features: Vec<usize>,
}

impl PastColumns {
    fn new(origin: &str, header: &[String], model: &Model) -> Result<Self> {
        let find = |name: &str| {
            header.iter().position(|column| column.trim() == name).ok_or_else(|| {
                anyhow!(
                    "{origin}: no column `{name}`, expected a table that `par recourse --out` writes with the old \
                     model{}",
                    found_instead(name, header)
                )
            })
        };
        let own = |name: &str| find(&column_name(model.schema(), name));
        let features = model.schema().features().iter().map(|feature| find(&feature.name));
        Ok(Self {
            id: own("id")?,
            rank: own("rank")?,
            status: own("status")?,
            probability: own("probability")?,
            changes: own("changes")?,
            months: own("months")?,
            features: features.collect::<Result<_>>()?,
        })
    }

    fn outcome(&self, batch: &Batch, row: usize) -> Result<Outcome> {
        Ok(match batch.cell(row, self.status) {
            "accepted" | "unverified_accepted" => Outcome::Accepted,
            "found" | "unverified" => Outcome::WithWay,
            "not_found" => Outcome::WithoutWay,
            "error" => Outcome::Unreadable,
            other => bail!(
                "{}, column `status`: `{other}` is no status, expected one that `par recourse` writes",
                batch.place(row)
            ),
        })
    }

    fn way(&self, batch: &Batch, row: usize) -> Result<PastWay> {
        Ok(PastWay {
            cells: self.features.iter().map(|&column| batch.cell(row, column).to_string()).collect(),
            score: number(batch, row, self.probability, "probability")?,
            changes: number(batch, row, self.changes, "changes")?,
            months: number(batch, row, self.months, "months")?,
        })
    }
}

/// The number in a cell; `None` if it is empty.
fn number<T: std::str::FromStr>(batch: &Batch, row: usize, column: usize, name: &str) -> Result<Option<T>> {
    let cell = batch.cell(row, column).trim();
    match cell.is_empty() {
        true => Ok(None),
        false => cell
            .parse()
            .map(Some)
            .map_err(|_| anyhow!("{}, column `{name}`: expected a number, found `{cell}`", batch.place(row))),
    }
}

impl PastWays {
    /// Reads and checks a whole table.
    pub(super) fn read(path: &Path, model: &Model) -> Result<Self> {
        let table = open_table(path, &TableOptions::default())?;
        let columns = PastColumns::new(table.origin(), table.columns(), model)?;
        let mut past = Self { batches: Vec::new(), lines: HashMap::new(), columns };
        for batch in table.batches(BATCH) {
            let batch = batch?;
            (0..batch.rows()).try_for_each(|row| past.add(&batch, row))?;
            past.batches.push(batch);
        }
        Ok(past)
    }

    /// Checks a row of the batch that is added next, and notes whose it is.
    fn add(&mut self, batch: &Batch, row: usize) -> Result<()> {
        let id = batch.cell(row, self.columns.id);
        let outcome = self.columns.outcome(batch, row)?;
        let rank: Option<usize> = number(batch, row, self.columns.rank, "rank")?;
        let lines = self.lines.entry(id.to_string()).or_default();
        let expected = if outcome == Outcome::WithWay { Some(lines.len() + 1) } else { None };
        if rank != expected || (expected.is_none() && !lines.is_empty()) {
            let words =
                |rank: Option<usize>| rank.map_or("no rank".to_string(), |rank| format!("rank {rank}"));
            bail!(
                "{}: `{id}` has {} after {} lines before it, expected {}\n\
                 hint: an id stands for one person, whose ways follow each other by rank",
                batch.place(row),
                words(rank),
                lines.len(),
                if expected.is_none() && !lines.is_empty() {
                    "no further line".to_string()
                } else {
                    words(expected)
                }
            );
        }
        self.columns.way(batch, row)?;
        lines.push((self.batches.len(), row));
        Ok(())
    }

    /// The answer that somebody got.
    pub(super) fn answer(&self, id: &str) -> Option<PastAnswer> {
        let lines = self.lines.get(id)?;
        let &(batch, row) = lines.first()?;
        let outcome = self.columns.outcome(&self.batches[batch], row).ok()?;
        let way = |&(batch, row): &(usize, usize)| self.columns.way(&self.batches[batch], row).ok();
        let ways =
            if outcome == Outcome::WithWay { lines.iter().filter_map(way).collect() } else { Vec::new() };
        Some(PastAnswer { outcome, ways })
    }
}
