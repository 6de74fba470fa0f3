//! Parquet files, a few thousand rows of each column at a time, every value as text.

mod column;
mod guard;
mod pages;
mod times;
mod values;

use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, Repetition};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};

use self::column::ColumnCells;
use self::guard::guarded;
use self::values::BadValue;
use super::position::ReadPosition;
use super::{Batch, BatchRow, MAX_CELL_BYTES, RowPlace};
use crate::error::Error;

/// Rows that are read of one column before the next: their cells stay in the processor's cache.
const ROWS_AT_ONCE: usize = 4096;

/// Of wide tables fewer rows are read at once, with about so many cells.
const CELLS_AT_ONCE: usize = 1 << 22;

/// Of columns with long cells fewer rows are read at once: about as many as have so many bytes in all columns.
const CHUNK_BYTES: usize = 64 << 20;

/// Cells of up to so many bytes are copied in one step.
const SHORT: usize = 16;

/// Reads the footer; returns the column names and a reader of the rows.
pub(super) fn open(
    origin: &Arc<str>,
    file: File,
    max_row: usize,
) -> Result<(Vec<String>, ParquetReader), Error> {
    let failed = |source| read_error(origin, source);
    let file = guarded(|| SerializedFileReader::new(file)).map_err(failed)?;
    let metadata = file.metadata().file_metadata();
    let fields = metadata.schema().get_fields();
    let is_nested = |field: &&Arc<parquet::schema::types::Type>| {
        let info = field.get_basic_info();
        !field.is_primitive() || (info.has_repetition() && info.repetition() == Repetition::REPEATED)
    };
    if let Some(nested) = fields.iter().find(is_nested) {
        return Err(Error::NestedColumn { origin: Arc::clone(origin), name: nested.name().to_string() });
    }
    check_chunks(&file).map_err(failed)?;
    check_rows(&file).map_err(failed)?;
    let described = metadata.schema_descr();
    for column in described.columns() {
        values::check(column).map_err(|(found, expected)| Error::ColumnType {
            origin: Arc::clone(origin),
            name: column.name().to_string(),
            found,
            expected,
        })?;
    }
    let columns: Vec<String> = fields.iter().map(|field| field.name().to_string()).collect();
    let position = ReadPosition::new(u64::try_from(metadata.num_rows()).ok());
    let most = CHUNK_BYTES / columns.len().max(1);
    let cells = (0..columns.len()).map(|place| ColumnCells::new(described.column(place), most)).collect();
    let rows = ParquetReader {
        origin: Arc::clone(origin),
        file,
        next_group: 0,
        rows_left: 0,
        rows_at_once: (CELLS_AT_ONCE / columns.len().max(1)).min(ROWS_AT_ONCE),
        max_row,
        columns: cells,
        text: Vec::new(),
        read: 0,
        position,
    };
    Ok((columns, rows))
}

/// Refuses columns that are compressed as we do not read them, or whose cells are too long on average.
fn check_chunks(file: &SerializedFileReader<File>) -> Result<(), ParquetError> {
    let columns = file.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns);
    for column in columns {
        let name = column.column_descr().name();
        let bytes = column.uncompressed_size() / column.num_values().max(1);
        if bytes > 2 * MAX_CELL_BYTES as i64 {
            return Err(ParquetError::General(format!(
                "column `{name}` has {bytes} bytes a cell, expected at most {MAX_CELL_BYTES}\nhint: drop it"
            )));
        }
        let found = match column.compression() {
            Compression::BROTLI(_) => "Brotli",
            Compression::LZO => "LZO",
            _ => continue,
        };
        return Err(ParquetError::General(format!(
            "column `{name}` is compressed by {found}, expected Snappy, gzip, LZ4, Zstandard or nothing\n\
             hint: write the table with one of these"
        )));
    }
    Ok(())
}

/// Refuses files whose parts differ about how many rows there are: some would be passed over.
fn check_rows(file: &SerializedFileReader<File>) -> Result<(), ParquetError> {
    let differ = |what: String, rows: i64, part: String| {
        ParquetError::General(format!(
            "the file is damaged: {what} has {rows} rows, and {part}\nhint: write the table again"
        ))
    };
    let metadata = file.metadata();
    let mut rows = 0_i64;
    for (place, group) in metadata.row_groups().iter().enumerate() {
        rows = rows.saturating_add(group.num_rows());
        // Nested columns, which have more values than rows, are refused.
        let mut columns = group.columns().iter();
        if let Some(column) = columns.find(|column| column.num_values() != group.num_rows()) {
            let part =
                format!("its column `{}` {} values", column.column_descr().name(), column.num_values());
            return Err(differ(format!("row group {}", place + 1), group.num_rows(), part));
        }
    }
    let stated = metadata.file_metadata().num_rows();
    if stated == rows { Ok(()) } else { Err(differ("it".into(), stated, format!("its row groups {rows}"))) }
}

fn read_error(origin: &Arc<str>, source: ParquetError) -> Error {
    Error::read(origin, io::Error::other(source))
}

pub(super) struct ParquetReader {
    origin: Arc<str>,
    file: SerializedFileReader<File>,
    next_group: usize,
    /// Rows of the current group that are in no batch yet.
    rows_left: usize,
    /// The most rows that are read of one column before the next.
    rows_at_once: usize,
    /// The most bytes of a row.
    max_row: usize,
    columns: Vec<ColumnCells>,
    /// The cells of some rows, one row after the other.
    text: Vec<u8>,
    read: u64,
    position: ReadPosition,
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
            guarded(|| self.open_group()).map_err(|source| read_error(&self.origin, source))?;
        }
        let mut rows = most.min(self.rows_at_once).min(self.rows_left);
        let mut row_bytes = 0;
        for column in &mut self.columns {
            let most = self.rows_at_once.min(self.rows_left);
            let read = column.read(most).map_err(|source| read_error(&self.origin, source))?;
            rows = rows.min(read);
            row_bytes += column.next_bytes();
            // Before the other columns are read.
            if row_bytes > self.max_row {
                return Err(Error::RecordTooLong { place: self.next_place(), limit: self.max_row });
            }
        }
        if rows == 0 {
            return Err(self.bad_cell());
        }
        self.append_rows(batch, rows);
        self.rows_left -= rows;
        self.read += rows as u64;
        self.position.advance(rows as u64);
        Ok(true)
    }

    /// The error about the next row.
    fn bad_cell(&self) -> Error {
        let place = self.next_place();
        let bad = |(index, column): (usize, &ColumnCells)| Some((index + 1, column.bad()?));
        let (column, bad) = self.columns.iter().enumerate().find_map(bad).expect("a column has no next cell");
        match bad {
            BadValue::NotUtf8 => Error::NotUtf8 { place, column },
            BadValue::TooLong => Error::CellTooLong { place, column, limit: MAX_CELL_BYTES },
            BadValue::OutOfRange { found, expected } => Error::OutOfRange { place, column, found, expected },
        }
    }

    fn next_place(&self) -> RowPlace {
        RowPlace { origin: Arc::clone(&self.origin), unit: "row", position: self.read + 1 }
    }

    /// Adds the next rows, which were read of all columns.
    fn append_rows(&mut self, batch: &mut Batch, rows: usize) {
        let columns: Vec<(&[u8], &[usize])> = self.columns.iter().map(|column| column.cells(rows)).collect();
        let bytes: usize = columns.iter().map(|(_, ends)| ends[rows] - ends[0]).sum();
        self.text.resize(bytes + SHORT, 0);
        let before = batch.text.len();
        let mut end = 0;
        for row in 0..rows {
            batch.rows.push(BatchRow { first_cell: batch.ends.len(), position: self.read + row as u64 + 1 });
            for (text, ends) in &columns {
                let (start, len) = (ends[row], ends[row + 1] - ends[row]);
                // Most cells are short, and a copy whose length is known beforehand is the quicker one.
                if len <= SHORT {
                    self.text[end..end + SHORT].copy_from_slice(&text[start..start + SHORT]);
                } else {
                    self.text[end..end + len].copy_from_slice(&text[start..start + len]);
                }
                end += len;
                batch.ends.push(before + end);
            }
        }
        batch.text.push_str(std::str::from_utf8(&self.text[..bytes]).expect("every cell is text"));
        if self.text.capacity() > 2 * CHUNK_BYTES {
            self.text = Vec::new();
        }
        for column in &mut self.columns {
            column.take(rows);
        }
    }

    fn open_group(&mut self) -> Result<(), ParquetError> {
        let group = self.file.get_row_group(self.next_group)?;
        self.next_group += 1;
        self.rows_left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        for (place, column) in self.columns.iter_mut().enumerate() {
            column.open_group(&*group, place)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::properties::{EnabledStatistics, WriterProperties};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;

    /// A reader of a file whose rows share one long cell, but for the first.
    fn sharing(rows: usize, bytes: usize) -> ParquetReader {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.parquet");
        let schema =
            Arc::new(parse_message_type("message table { REQUIRED BINARY name; }").expect("a schema"));
        let properties = WriterProperties::builder()
            .set_dictionary_page_size_limit(2 * MAX_CELL_BYTES)
            .set_statistics_enabled(EnabledStatistics::None)
            .build();
        let file = File::create(&path).expect("a file");
        let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).expect("a writer");
        let mut group = writer.next_row_group().expect("a group");
        let mut column = group.next_column().expect("no error").expect("a column");
        let mut cells = vec![ByteArray::from("short")];
        cells.extend(std::iter::repeat_n(ByteArray::from("x".repeat(bytes).as_str()), rows - 1));
        column.typed::<ByteArrayType>().write_batch(&cells, None, None).expect("cells");
        column.close().expect("closed");
        group.close().expect("closed");
        writer.close().expect("closed");
        assert!(path.metadata().expect("a file").len() < 2 * bytes as u64);
        open(&"t.parquet".into(), File::open(&path).expect("a file"), 64 << 20).expect("a table").1
    }

    #[test]
    fn a_long_value_that_many_rows_share_is_refused_at_the_first() {
        let mut reader = sharing(100, MAX_CELL_BYTES + 1);
        let mut batch = Batch::new("t.parquet", 1);
        assert!(reader.read_into(&mut batch, 100).expect("a short cell"));
        assert_eq!((batch.rows(), batch.cell(0, 0)), (1, "short"));
        let error = reader.read_into(&mut batch, 100).expect_err("a long cell");
        assert_eq!(
            error.to_string(),
            "t.parquet, row 2: cell 1 is longer than 1048576 bytes\nhint: shorten it, or drop its column"
        );
        assert!(reader.columns[0].capacity() < 4 * MAX_CELL_BYTES);
    }

    #[test]
    fn a_row_that_is_too_long_is_refused_before_all_of_it_is_read() {
        let schema = "message table { REQUIRED BINARY a; REQUIRED BINARY b; REQUIRED BINARY c; }";
        let schema = Arc::new(parse_message_type(schema).expect("a schema"));
        let file = tempfile::tempfile().expect("a file");
        let own = file.try_clone().expect("the same file");
        let mut writer = SerializedFileWriter::new(own, schema, Arc::default()).expect("a writer");
        let mut group = writer.next_row_group().expect("a group");
        while let Some(mut column) = group.next_column().expect("no error") {
            let cells = ["x".repeat(300), "x".repeat(600)].map(|cell| ByteArray::from(cell.as_str()));
            column.typed::<ByteArrayType>().write_batch(&cells, None, None).expect("cells");
            column.close().expect("closed");
        }
        group.close().expect("closed");
        writer.close().expect("closed");
        let mut reader = open(&"t.parquet".into(), file, 1000).expect("a table").1;
        reader.columns.iter_mut().for_each(|column| column.most_bytes = 500);
        let mut batch = Batch::new("t.parquet", 3);
        assert!(reader.read_into(&mut batch, 100).expect("a row"));
        assert_eq!((batch.rows(), batch.text.len()), (1, 900));
        let error = reader.read_into(&mut batch, 100).expect_err("a long row").to_string();
        assert!(error.starts_with("t.parquet, row 2: the row is longer than 1000 bytes\n"), "{error}");
        assert_eq!(reader.columns[2].next_bytes(), 0, "it is not read");
    }

    #[test]
    fn fewer_rows_of_long_cells_are_read_at_once() {
        let mut reader = sharing(200, MAX_CELL_BYTES);
        let mut rows = 0;
        loop {
            let mut batch = Batch::new("t.parquet", 1);
            if !reader.read_into(&mut batch, 200).expect("cells") {
                break;
            }
            rows += batch.rows();
            assert!(batch.text.len() <= CHUNK_BYTES + MAX_CELL_BYTES);
            assert!(reader.columns[0].capacity() <= 2 * (CHUNK_BYTES + MAX_CELL_BYTES));
        }
        assert_eq!(rows, 200);
    }
}
