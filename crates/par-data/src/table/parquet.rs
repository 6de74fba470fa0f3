//! Parquet files, row by row, every value as text.

use std::fmt::Write;
use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::record::reader::RowIter;

use super::{Batch, MAX_CELL_BYTES, RowPlace};
use crate::error::Error;

/// Reads the footer; returns the column names and a reader of the rows.
pub(super) fn open(origin: &Arc<str>, file: File) -> Result<(Vec<String>, ParquetReader), Error> {
    let failed = |source| read_error(origin, source);
    let reader = SerializedFileReader::new(file).map_err(failed)?;
    let fields = reader.metadata().file_metadata().schema().get_fields();
    if let Some(nested) = fields.iter().find(|field| !field.is_primitive()) {
        return Err(Error::NestedColumn { origin: Arc::clone(origin), name: nested.name().to_string() });
    }
    let columns = fields.iter().map(|field| field.name().to_string()).collect();
    let rows = RowIter::from_file_into(Box::new(reader));
    Ok((columns, ParquetReader { origin: Arc::clone(origin), rows, read: 0, cells: Vec::new() }))
}

fn read_error(origin: &Arc<str>, source: ParquetError) -> Error {
    Error::read(origin, io::Error::other(source))
}

pub(super) struct ParquetReader {
    origin: Arc<str>,
    rows: RowIter<'static>,
    read: u64,
    /// The texts of one row; kept so that their memory is reused.
    cells: Vec<String>,
}

impl ParquetReader {
    /// Adds the next row to `batch`; `false` at the end of the file.
    pub(super) fn read_into(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        let Some(row) = self.rows.next() else {
            return Ok(false);
        };
        let row = row.map_err(|source| read_error(&self.origin, source))?;
        self.read += 1;
        self.cells.resize(row.len(), String::new());
        for (column, (cell, (_, field))) in self.cells.iter_mut().zip(row.get_column_iter()).enumerate() {
            cell.clear();
            let place = || RowPlace { origin: Arc::clone(&self.origin), unit: "row", position: self.read };
            if !write_text(cell, field) {
                return Err(Error::NotUtf8 { place: place(), column: column + 1 });
            }
            if cell.len() > MAX_CELL_BYTES {
                return Err(Error::CellTooLong { place: place(), column: column + 1, limit: MAX_CELL_BYTES });
            }
        }
        batch.push(self.read, self.cells.iter().map(String::as_str))?;
        Ok(true)
    }
}

/// Writes a value as in a CSV cell; `false` for bytes that are not text.
fn write_text(cell: &mut String, field: &Field) -> bool {
    let written = match field {
        Field::Null => Ok(()),
        Field::Str(text) => cell.write_str(text),
        Field::Bytes(bytes) => match std::str::from_utf8(bytes.data()) {
            Ok(text) => cell.write_str(text),
            Err(_) => return false,
        },
        // Rust writes the shortest text that parses to the same number, without `.0`.
        Field::Float(number) => write!(cell, "{number}"),
        Field::Double(number) => write!(cell, "{number}"),
        other => write!(cell, "{other}"),
    };
    written.is_ok()
}
