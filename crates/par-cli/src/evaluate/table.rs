//! The people of a table, read whole.

use std::path::Path;

use anyhow::Result;
use par_data::{Batch, Columns};
use par_model::Model;

use crate::model_file;
use crate::rows::{Condition, SelectedRows};

/// All rows of a table that pass some conditions.
pub(super) struct PeopleTable {
    pub(super) origin: String,
    pub(super) columns: Columns,
    pub(super) batches: Vec<Batch>,
}

impl PeopleTable {
    /// Reads the rows that pass; there must be one.
    pub(super) fn read(model: &Model, path: &Path, conditions: &[Condition]) -> Result<Self> {
        let mut rows = SelectedRows::open(path, true, conditions)?;
        let columns = model_file::columns(model, &rows)?;
        let batches: Vec<Batch> = rows.by_ref().collect::<Result<_, _>>()?;
        if batches.is_empty() {
            return Err(rows.none_passed());
        }
        Ok(Self { origin: rows.origin().to_string(), columns, batches })
    }

    /// The cells of each row, in schema order.
    pub(super) fn cells(&self) -> Vec<Vec<&str>> {
        self.rows().map(|(batch, row)| self.columns.cells(batch, row)).collect()
    }

    /// Where a row stands, by its position among all.
    pub(super) fn place(&self, position: usize) -> String {
        self.rows().nth(position).map_or(self.origin.clone(), |(batch, row)| batch.place(row).to_string())
    }

    fn rows(&self) -> impl Iterator<Item = (&Batch, usize)> {
        self.batches.iter().flat_map(|batch| (0..batch.rows()).map(move |row| (batch, row)))
    }
}
