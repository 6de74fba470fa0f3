//! Parquet files, a few thousand rows of each column at a time, every value as text.

use std::fmt::Write;
use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::basic::{ConvertedType, Repetition};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::ColumnDescPtr;

use super::numbers::{write_float, write_whole};
use super::position::ReadPosition;
use super::{Batch, BatchRow, MAX_CELL_BYTES, RowPlace};
use crate::error::Error;

/// Rows that are read of one column before the next: their cells stay in the processor's cache.
const ROWS_AT_ONCE: usize = 4096;

/// Reads the footer; returns the column names and a reader of the rows.
pub(super) fn open(origin: &Arc<str>, file: File) -> Result<(Vec<String>, ParquetReader), Error> {
    let failed = |source| read_error(origin, source);
    let file = SerializedFileReader::new(file).map_err(failed)?;
    let metadata = file.metadata().file_metadata();
    let fields = metadata.schema().get_fields();
    let is_nested = |field: &&Arc<parquet::schema::types::Type>| {
        let info = field.get_basic_info();
        !field.is_primitive() || (info.has_repetition() && info.repetition() == Repetition::REPEATED)
    };
    if let Some(nested) = fields.iter().find(is_nested) {
        return Err(Error::NestedColumn { origin: Arc::clone(origin), name: nested.name().to_string() });
    }
    let columns: Vec<String> = fields.iter().map(|field| field.name().to_string()).collect();
    let position = ReadPosition::new(u64::try_from(metadata.num_rows()).ok());
    let described = metadata.schema_descr();
    let cells = (0..columns.len()).map(|place| ColumnCells::new(described.column(place))).collect();
    let rows = ParquetReader {
        origin: Arc::clone(origin),
        file,
        next_group: 0,
        rows_left: 0,
        columns: cells,
        read: 0,
        position,
    };
    Ok((columns, rows))
}

fn read_error(origin: &Arc<str>, source: ParquetError) -> Error {
    Error::read(origin, io::Error::other(source))
}

pub(super) struct ParquetReader {
    origin: Arc<str>,
    file: SerializedFileReader<File>,
    next_group: usize,
    /// Rows of the current group that are not read yet.
    rows_left: usize,
    columns: Vec<ColumnCells>,
    read: u64,
    position: ReadPosition,
}

/// The next cells of one column.
struct ColumnCells {
    description: ColumnDescPtr,
    /// In the current group.
    reader: Option<ColumnReader>,
    /// Its cells are not needed, and empty.
    is_skipped: bool,
    text: String,
    ends: Vec<usize>,
    levels: Vec<i16>,
}

/// A cell that is no text, or too long a one.
struct BadCell {
    row: usize,
    column: usize,
    is_long: bool,
}

impl ParquetReader {
    pub(super) fn position(&self) -> &ReadPosition {
        &self.position
    }

    /// Leaves the cells of other columns empty, and does not read them.
    pub(super) fn only(&mut self, needed: &[usize]) {
        for (place, column) in self.columns.iter_mut().enumerate() {
            column.is_skipped = !needed.contains(&place);
        }
    }

    /// Adds at most `most` rows to `batch`; `false` at the end of the file.
    pub(super) fn read_into(&mut self, batch: &mut Batch, most: usize) -> Result<bool, Error> {
        while self.rows_left == 0 {
            if self.next_group == self.file.num_row_groups() {
                return Ok(false);
            }
            self.open_group().map_err(|source| read_error(&self.origin, source))?;
        }
        let rows = most.min(ROWS_AT_ONCE).min(self.rows_left);
        let mut bad: Option<BadCell> = None;
        for (place, column) in self.columns.iter_mut().enumerate() {
            let found = column.read(rows).map_err(|source| read_error(&self.origin, source))?;
            let before = |other: &BadCell| found.as_ref().is_some_and(|(row, _)| *row < other.row);
            if let Some((row, is_long)) = found.filter(|_| bad.as_ref().is_none_or(before)) {
                bad = Some(BadCell { row, column: place + 1, is_long });
            }
        }
        if let Some(BadCell { row, column, is_long }) = bad {
            let position = self.read + row as u64 + 1;
            let place = RowPlace { origin: Arc::clone(&self.origin), unit: "row", position };
            return Err(match is_long {
                true => Error::CellTooLong { place, column, limit: MAX_CELL_BYTES },
                false => Error::NotUtf8 { place, column },
            });
        }
        for row in 0..rows {
            batch.rows.push(BatchRow { first_cell: batch.ends.len(), position: self.read + row as u64 + 1 });
            for column in &self.columns {
                batch.text.push_str(column.cell(row));
                batch.ends.push(batch.text.len());
            }
        }
        self.rows_left -= rows;
        self.read += rows as u64;
        self.position.advance(rows as u64);
        Ok(true)
    }

    fn open_group(&mut self) -> Result<(), ParquetError> {
        let group = self.file.get_row_group(self.next_group)?;
        self.next_group += 1;
        self.rows_left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        for (place, column) in self.columns.iter_mut().enumerate() {
            column.reader = match column.is_skipped {
                true => None,
                false => Some(group.get_column_reader(place)?),
            };
        }
        Ok(())
    }
}

impl ColumnCells {
    fn new(description: ColumnDescPtr) -> Self {
        let (text, ends, levels) = (String::new(), Vec::new(), Vec::new());
        Self { description, reader: None, is_skipped: false, text, ends, levels }
    }

    fn cell(&self, row: usize) -> &str {
        if self.is_skipped {
            return "";
        }
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.text[start..self.ends[row]]
    }

    /// Reads the next cells; returns the row of the first that is no text or, with `true`, too long.
    fn read(&mut self, rows: usize) -> Result<Option<(usize, bool)>, ParquetError> {
        self.text.clear();
        self.ends.clear();
        let Some(mut reader) = self.reader.take() else { return Ok(None) };
        let bad = match &mut reader {
            ColumnReader::BoolColumnReader(reader) => {
                self.write(reader, rows, |text, _, value| Ok(write!(text, "{value}").is_ok()))
            }
            ColumnReader::Int32ColumnReader(reader) => {
                self.write(reader, rows, |text, column, value| match column.converted_type() {
                    ConvertedType::NONE | ConvertedType::INT_32 => Ok(write_whole(text, i64::from(*value))),
                    _ => Ok(write_field(text, &Field::convert_int32(column, *value))),
                })
            }
            ColumnReader::Int64ColumnReader(reader) => {
                self.write(reader, rows, |text, column, value| match column.converted_type() {
                    ConvertedType::NONE | ConvertedType::INT_64 => Ok(write_whole(text, *value)),
                    _ => Ok(write_field(text, &Field::convert_int64(column, *value))),
                })
            }
            ColumnReader::Int96ColumnReader(reader) => self.write(reader, rows, |text, column, value| {
                Ok(write_field(text, &Field::convert_int96(column, *value)))
            }),
            ColumnReader::FloatColumnReader(reader) => {
                self.write(reader, rows, |text, _, value| Ok(write!(text, "{value}").is_ok()))
            }
            ColumnReader::DoubleColumnReader(reader) => {
                self.write(reader, rows, |text, _, value| Ok(write_float(text, *value)))
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                self.write(reader, rows, |text, column, value| match column.converted_type() {
                    ConvertedType::DECIMAL => {
                        Ok(write_field(text, &Field::convert_byte_array(column, value.clone())?))
                    }
                    _ => Ok(write_bytes(text, value.data())),
                })
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                self.write(reader, rows, |text, column, value| {
                    let bytes: ByteArray = value.clone().into();
                    Ok(write_field(text, &Field::convert_byte_array(column, bytes)?))
                })
            }
        };
        self.reader = Some(reader);
        bad
    }

    /// Writes the next values as text, absent ones as none; `write` returns whether a value is text.
    fn write<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        rows: usize,
        write: impl Fn(&mut String, &ColumnDescPtr, &T::T) -> Result<bool, ParquetError>,
    ) -> Result<Option<(usize, bool)>, ParquetError> {
        let column = &self.description;
        let is_optional = column.max_def_level() > 0;
        let mut values: Vec<T::T> = Vec::with_capacity(rows);
        self.levels.clear();
        let mut read = 0;
        while read < rows {
            let levels = is_optional.then_some(&mut self.levels);
            let (records, _, _) = reader.read_records(rows - read, levels, None, &mut values)?;
            if records == 0 {
                return Err(ParquetError::EOF("a column has fewer values than the file has rows".into()));
            }
            read += records;
        }
        let mut values = values.iter();
        let mut bad = None;
        for row in 0..rows {
            let before = self.text.len();
            if !is_optional || self.levels[row] > 0 {
                let ended = || ParquetError::EOF("a column has fewer values than it says".into());
                let value = values.next().ok_or_else(ended)?;
                let is_text = write(&mut self.text, column, value)?;
                let is_long = self.text.len() - before > MAX_CELL_BYTES;
                if bad.is_none() && (!is_text || is_long) {
                    bad = Some((row, is_long));
                }
            }
            self.ends.push(self.text.len());
        }
        Ok(bad)
    }
}

/// Writes a value as in a CSV cell; `false` for bytes that are not text.
fn write_field(text: &mut String, field: &Field) -> bool {
    match field {
        Field::Null => true,
        Field::Str(value) => text.write_str(value).is_ok(),
        Field::Bytes(bytes) => write_bytes(text, bytes.data()),
        other => write!(text, "{other}").is_ok(),
    }
}

fn write_bytes(text: &mut String, bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map(|value| text.push_str(value)).is_ok()
}
