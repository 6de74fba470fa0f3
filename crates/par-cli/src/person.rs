//! Finds one person in a table.

use anyhow::{Result, bail};
use par_answer::table::TableAnswerer;
use par_data::Batch;

use crate::aligned::grouped;
use crate::rows::SelectedRows;

/// The row with this id. Two such rows are an error: the answer might be for the other person.
pub(crate) fn find(
    id: &str,
    answerer: &TableAnswerer<'_>,
    rows: &mut SelectedRows,
    id_column: Option<&str>,
) -> Result<(Batch, usize, u64)> {
    let wanted = id.trim();
    let mut found: Option<(Batch, usize, u64)> = None;
    let mut before = 0;
    for batch in rows.by_ref() {
        let batch = batch?;
        for row in 0..batch.rows() {
            let number = before + row as u64 + 1;
            if answerer.id(&batch, row, number).trim() != wanted {
                continue;
            }
            if let Some((first, at, _)) = &found {
                bail!(
                    "{}: `{wanted}` names a second row, the first is {}\n\
                     hint: leave all but one of them out of the table",
                    batch.place(row),
                    first.place(*at)
                );
            }
            found = Some((batch.clone(), row, number));
        }
        before += batch.rows() as u64;
    }
    if let Some(found) = found {
        return Ok(found);
    }
    if rows.read() == 0 {
        return Err(rows.none_passed());
    }
    let (origin, read) = (rows.origin(), grouped(rows.read()));
    match id_column {
        Some(column) => bail!("{origin}: none of {read} rows has `{wanted}` in column `{column}`"),
        None => bail!(
            "{origin}: no row `{wanted}`, expected a number from 1 to {read}\n\
             hint: the table has no id column, so that rows go by their number"
        ),
    }
}
