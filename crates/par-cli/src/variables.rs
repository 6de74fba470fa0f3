//! The variables of a circuit, and the codes of a table's cells.

use anyhow::{Result, anyhow, bail};
use clap::ValueEnum;
use par_circuit::Dataset;
use par_data::{Batch, CellError, Columns, Discretizer, Encoded, Error, Schema, UNKNOWN, suggest};
use serde::{Deserialize, Serialize};

use crate::rows::SelectedRows;

/// The variables of a circuit, and how they are found in a table.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Variables {
    pub(crate) discretizer: Discretizer,
    /// Whether tables begin with a line of column names.
    pub(crate) header: bool,
    /// The number of columns of the training table. Without a header, columns are found by position, so every
    /// table must have as many.
    pub(crate) width: usize,
    /// Whether they come from a schema. Otherwise each different text is a category, and only an empty cell is
    /// missing.
    pub(crate) described: bool,
}

/// What to do with a value that was not in the training table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Unseen {
    /// Stop, unless the schema has `missing = true`: then sum it out and count it
    Error,
    /// Sum over all values that it could have, and count it
    Missing,
}

/// The codes of rows, and the numbers of cells outside their domains.
pub(crate) struct Codes {
    pub(crate) rows: Dataset,
    /// Cells that are missing or unseen, which are summed out.
    pub(crate) open: u64,
    /// Cells that are unseen.
    pub(crate) unseen: u64,
    /// Unseen numbers that count as the nearest known one.
    pub(crate) snapped: u64,
}

impl Variables {
    pub(crate) fn schema(&self) -> &Schema {
        self.discretizer.schema()
    }

    /// The columns of a table that hold the variables.
    pub(crate) fn columns(&self, rows: &SelectedRows) -> Result<Columns> {
        let (expected, found) = (self.width, rows.columns().len());
        if !self.header && found != expected {
            bail!(
                "{}: expected {expected} columns, found {found}\n\
                 hint: without column names, a table needs all columns of the training table; \
                 if it has them, look for a delimiter that is not quoted in its first line",
                rows.origin()
            );
        }
        self.schema().columns(rows.origin(), rows.columns()).map_err(|error| match error {
            Error::AbsentColumn { origin, column, known } => {
                anyhow!("{origin}: no column `{column}`{}", suggest(&column, &known))
            }
            other => other.into(),
        })
    }

    /// The codes of all rows at once.
    pub(crate) fn dataset(&self, rows: SelectedRows) -> Result<Dataset> {
        self.read(rows, |_, _| ())
    }

    /// The codes of the rows to learn from. Learns from the same rows how common the numbers within bins are.
    pub(crate) fn training_dataset(&mut self, rows: SelectedRows) -> Result<Dataset> {
        if !self.described {
            return self.dataset(rows);
        }
        let mut numbers = vec![Vec::new(); self.discretizer.domains().len()];
        let add = |columns: &Columns, batch: &Batch| {
            self.discretizer.add_numbers(columns, batch, &mut numbers);
        };
        let dataset = self.read(rows, add)?;
        self.discretizer.learn_values(numbers);
        Ok(dataset)
    }

    /// The codes of all rows at once. `also` sees each batch after it is encoded.
    fn read(&self, mut rows: SelectedRows, mut also: impl FnMut(&Columns, &Batch)) -> Result<Dataset> {
        let columns = self.columns(&rows)?;
        let mut codes = Vec::new();
        for batch in &mut rows {
            let batch = batch?;
            codes.append(&mut self.discretizer.encode(&columns, &batch)?.into_codes());
            also(&columns, &batch);
        }
        if codes.is_empty() {
            return Err(rows.none_passed());
        }
        Ok(Dataset::new(self.discretizer.cardinalities(), codes)?)
    }

    /// The codes of a batch that may hold unseen values.
    pub(crate) fn codes(&self, columns: &Columns, batch: &Batch, unseen: Unseen) -> Result<Codes> {
        let mut counts = CellCounts::default();
        let codes = match self.discretizer.encode(columns, batch) {
            Ok(encoded) => {
                if !self.described && unseen == Unseen::Error && encoded.unseen() > 0 {
                    self.refuse_unseen(columns, batch, &encoded)?;
                }
                counts.add(&encoded);
                encoded.into_codes()
            }
            Err(Error::Cell { source: CellError::UnknownCategory { .. }, .. })
                if unseen == Unseen::Missing =>
            {
                self.open_unseen(columns, batch, &mut counts)?
            }
            Err(Error::Cell { place, source: CellError::UnknownCategory { column, found, known } }) => {
                return Err(never_seen(&place, &column, &found, &known));
            }
            Err(error) => return Err(error.into()),
        };
        let rows = Dataset::new(self.discretizer.cardinalities(), codes)?;
        let snapped = counts.outside - counts.encoded_open;
        Ok(Codes { rows, open: counts.open, unseen: counts.unseen, snapped })
    }

    /// Without a schema, only an empty cell may have an unknown code.
    fn refuse_unseen(&self, columns: &Columns, batch: &Batch, encoded: &Encoded) -> Result<()> {
        for (row, codes) in encoded.rows().enumerate() {
            for (feature, _) in codes.iter().enumerate().filter(|(_, code)| **code == UNKNOWN) {
                let cell = batch.cell(row, columns.features[feature]);
                if !cell.trim().is_empty() {
                    let known = crate::domain_text::contents(&self.discretizer.domains()[feature]);
                    let column = &self.schema().features()[feature].name;
                    return Err(never_seen(&batch.place(row), column, cell, &known));
                }
            }
        }
        Ok(())
    }

    /// Encodes row by row: each unseen category is replaced by a known one to encode the rest, then opened.
    fn open_unseen(&self, columns: &Columns, batch: &Batch, counts: &mut CellCounts) -> Result<Vec<u16>> {
        let mut all = Vec::with_capacity(batch.rows() * columns.features.len());
        for row in 0..batch.rows() {
            let mut cells: Vec<String> =
                columns.features.iter().map(|&column| batch.cell(row, column).to_string()).collect();
            let mut opened = Vec::new();
            let encoded = loop {
                let texts: Vec<&str> = cells.iter().map(String::as_str).collect();
                match self.discretizer.encode_row(&texts) {
                    Ok(encoded) => break encoded,
                    Err(CellError::UnknownCategory { column, known, .. }) => {
                        let feature = self.schema().position(&column)?;
                        cells[feature].clone_from(&known[0]);
                        opened.push(feature);
                    }
                    Err(source) => return Err(Error::Cell { place: batch.place(row), source }.into()),
                }
            };
            counts.add(&encoded);
            counts.open += opened.len() as u64;
            counts.unseen += opened.len() as u64;
            let first = all.len();
            all.extend_from_slice(encoded.codes());
            opened.into_iter().for_each(|feature| all[first + feature] = UNKNOWN);
        }
        Ok(all)
    }
}

#[derive(Default)]
struct CellCounts {
    open: u64,
    unseen: u64,
    encoded_open: u64,
    outside: u64,
}

impl CellCounts {
    fn add(&mut self, encoded: &Encoded) {
        let open = encoded.codes().iter().filter(|&&code| code == UNKNOWN).count() as u64;
        self.open += open;
        self.unseen += encoded.unseen();
        self.encoded_open += open;
        self.outside += encoded.coverage().outside().iter().sum::<u64>();
    }
}

fn never_seen(place: &impl std::fmt::Display, column: &str, found: &str, known: &[String]) -> anyhow::Error {
    anyhow!(
        "{place}, column `{column}`: the circuit has never seen `{found}`{}\n\
         hint: correct the cell, or sum it out with `--unseen missing`",
        suggest(found, known)
    )
}
