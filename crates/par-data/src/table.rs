//! A table file, read once from front to back as batches of text cells.
//!
//! A cell is text in both formats: CSV cells as they are, Parquet values as CSV would write each. So there is one path
//! from here on, and unchanged values are written as they were read.

mod csv;
#[cfg(feature = "parquet")]
mod numbers;
#[cfg(feature = "parquet")]
mod parquet;
mod position;
mod sample;

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use self::position::Counted;
pub use self::position::ReadPosition;
pub use self::sample::RowSample;
use crate::error::Error;

/// Largest number of columns; a file with more is probably not a table.
pub(crate) const MAX_COLUMNS: usize = 10_000;
/// Longest cell; a quote is probably not closed in a longer one.
pub(crate) const MAX_CELL_BYTES: usize = 1 << 20;

/// How a table is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableOptions {
    /// Whether the first CSV line holds the column names; `true` unless told. Without a header the columns
    /// are named `0`, `1`, and so on.
    pub header: bool,
    /// Longest row, in bytes, about; 64 MiB unless told. In CSV a quote is probably not closed in a longer one.
    pub max_row: usize,
    /// The byte between the cells of a CSV row; guessed from the first line if `None`.
    pub delimiter: Option<u8>,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self { header: true, max_row: 64 << 20, delimiter: None }
    }
}

/// An opened table: its columns are known, its rows are not read yet.
pub struct Table {
    origin: Arc<str>,
    columns: Vec<String>,
    rows: RowReader,
    position: ReadPosition,
}

enum RowReader {
    Csv(csv::CsvReader),
    #[cfg(feature = "parquet")]
    Parquet(parquet::ParquetReader),
}

impl Table {
    /// Opens a CSV file, plain or gzipped, or a Parquet file, by its first bytes.
    ///
    /// Unless told, the delimiter is a comma, or the semicolon or tab of a first line without commas.
    ///
    /// # Errors
    /// When the file is absent, empty, truncated or not UTF-8, two columns have the same name, or it is a
    /// Parquet file and the feature `parquet` is off.
    pub fn open(path: impl AsRef<Path>, options: &TableOptions) -> Result<Self, Error> {
        let path = path.as_ref();
        let origin: Arc<str> = path.display().to_string().into();
        let mut file = File::open(path).map_err(|source| Error::read(&origin, source))?;
        let mut magic = Vec::with_capacity(4);
        (&mut file).take(4).read_to_end(&mut magic).map_err(|source| Error::read(&origin, source))?;
        if magic == b"PAR1" || path.extension().is_some_and(|extension| extension == "parquet") {
            return Self::from_parquet(origin, file, options);
        }
        let bytes = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|file| file.len());
        let position = ReadPosition::new(bytes);
        // The bytes read are chained, since a pipe cannot be rewound.
        let all = Counted { inner: io::Cursor::new(magic).chain(file), position: position.clone() };
        Self::from_csv(origin, Box::new(all), options, position)
    }

    /// Reads CSV, plain or gzipped, from a reader; `origin` is its name in messages.
    ///
    /// # Errors
    /// As [`Table::open`].
    pub fn from_reader(
        origin: &str,
        reader: impl Read + Send + 'static,
        options: &TableOptions,
    ) -> Result<Self, Error> {
        Self::from_csv(origin.into(), Box::new(reader), options, ReadPosition::new(None))
    }

    fn from_csv(
        origin: Arc<str>,
        reader: Box<dyn Read + Send>,
        options: &TableOptions,
        position: ReadPosition,
    ) -> Result<Self, Error> {
        let (columns, rows) = csv::open(&origin, reader, options)?;
        Self::new(origin, columns, RowReader::Csv(rows), position)
    }

    #[cfg(feature = "parquet")]
    fn from_parquet(origin: Arc<str>, file: File, options: &TableOptions) -> Result<Self, Error> {
        let (columns, rows) = parquet::open(&origin, file, options.max_row)?;
        let position = rows.position().clone();
        Self::new(origin, columns, RowReader::Parquet(rows), position)
    }

    #[cfg(not(feature = "parquet"))]
    fn from_parquet(origin: Arc<str>, _file: File, _options: &TableOptions) -> Result<Self, Error> {
        Err(Error::ParquetNotBuilt { origin })
    }

    fn new(
        origin: Arc<str>,
        columns: Vec<String>,
        rows: RowReader,
        position: ReadPosition,
    ) -> Result<Self, Error> {
        if columns.len() > MAX_COLUMNS {
            return Err(Error::TooManyColumns { origin, found: columns.len(), limit: MAX_COLUMNS });
        }
        let mut seen = HashSet::new();
        if let Some(name) = columns.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(Error::RepeatedColumn { origin, name: name.clone() });
        }
        Ok(Self { origin, columns, rows, position })
    }

    /// The table's name in messages: its path as given.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The column names in file order. The index column that pandas writes has an empty name.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// How far the table is read.
    pub fn position(&self) -> &ReadPosition {
        &self.position
    }

    /// Leaves the cells of all but the needed columns empty where that saves reading them: in Parquet files.
    #[must_use]
    #[cfg_attr(
        not(feature = "parquet"),
        expect(unused_variables, reason = "only Parquet uses them, and this build leaves it out")
    )]
    pub fn only(mut self, needed: &[usize]) -> Self {
        match &mut self.rows {
            RowReader::Csv(_) => {}
            #[cfg(feature = "parquet")]
            RowReader::Parquet(rows) => rows.only(needed),
        }
        self
    }

    /// The rows from first to last, at most `rows_per_batch` at a time (at least one), fewer where they have more than
    /// 64 MiB of text. A table without rows has no batch.
    pub fn batches(self, rows_per_batch: usize) -> Batches {
        Batches {
            table: self,
            rows_per_batch: rows_per_batch.max(1),
            most_bytes: BATCH_BYTES,
            sizes: BatchSizes::default(),
            done: false,
        }
    }

    /// All rows.
    ///
    /// # Errors
    /// As the batches.
    pub fn into_batch(self) -> Result<Batch, Error> {
        let none = Batch::new(Arc::clone(&self.origin), self.columns.len());
        let mut all = Batches { most_bytes: usize::MAX, ..self.batches(usize::MAX) };
        all.next().unwrap_or(Ok(none))
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("origin", &self.origin)
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

/// The most bytes of text of a batch, but for its last row.
const BATCH_BYTES: usize = 64 << 20;

/// The iterator of [`Table::batches`]. It ends after the first error.
#[derive(Debug)]
pub struct Batches {
    table: Table,
    rows_per_batch: usize,
    /// After so many bytes of text a batch ends.
    most_bytes: usize,
    /// Those of the batch before.
    sizes: BatchSizes,
    done: bool,
}

/// How much a batch holds, so that the next one, which is about as large, need not grow.
#[derive(Clone, Copy, Debug, Default)]
struct BatchSizes {
    bytes: usize,
    cells: usize,
    rows: usize,
}

impl Iterator for Batches {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let mut batch = Batch {
            unit: match self.table.rows {
                RowReader::Csv(_) => "line",
                #[cfg(feature = "parquet")]
                RowReader::Parquet(_) => "row",
            },
            text: String::with_capacity(self.sizes.bytes),
            ends: Vec::with_capacity(self.sizes.cells),
            rows: Vec::with_capacity(self.sizes.rows),
            ..Batch::new(Arc::clone(&self.table.origin), self.table.columns.len())
        };
        while batch.rows() < self.rows_per_batch && batch.text.len() <= self.most_bytes {
            let read = match &mut self.table.rows {
                RowReader::Csv(rows) => rows.read_into(&mut batch),
                #[cfg(feature = "parquet")]
                RowReader::Parquet(rows) => {
                    let most = self.rows_per_batch - batch.rows();
                    rows.read_into(&mut batch, most)
                }
            };
            match read {
                Ok(true) => {}
                Ok(false) => {
                    self.done = true;
                    break;
                }
                Err(error) => {
                    self.done = true;
                    return Some(Err(error));
                }
            }
        }
        self.sizes = BatchSizes { bytes: batch.text.len(), cells: batch.ends.len(), rows: batch.rows() };
        (batch.rows() > 0).then_some(Ok(batch))
    }
}

/// Some rows of a table: text cells in one string, and the place of each row in the file.
#[derive(Clone, Debug)]
pub struct Batch {
    origin: Arc<str>,
    unit: &'static str,
    width: usize,
    text: String,
    /// The end of each cell in `text`; it starts at the end of the cell before it.
    ends: Vec<usize>,
    rows: Vec<BatchRow>,
}

#[derive(Clone, Copy, Debug)]
struct BatchRow {
    first_cell: usize,
    position: u64,
}

impl Batch {
    /// An empty batch of `width` columns, for rows that are not from a file.
    pub fn new(origin: impl Into<Arc<str>>, width: usize) -> Self {
        Self {
            origin: origin.into(),
            unit: "row",
            width,
            text: String::new(),
            ends: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; `position` is its number in messages.
    ///
    /// # Errors
    /// When it has more or fewer cells than the batch has columns; the row is then not added.
    pub fn push<'a>(&mut self, position: u64, cells: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
        let first_cell = self.ends.len();
        let text_before = self.text.len();
        for cell in cells {
            self.text.push_str(cell);
            self.ends.push(self.text.len());
        }
        let found = self.ends.len() - first_cell;
        if found != self.width {
            self.ends.truncate(first_cell);
            self.text.truncate(text_before);
            let place = RowPlace { origin: Arc::clone(&self.origin), unit: self.unit, position };
            return Err(Error::RowLength { place, expected: self.width, found });
        }
        self.rows.push(BatchRow { first_cell, position });
        Ok(())
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The text of one cell.
    ///
    /// # Panics
    /// When `row` or `column` lies outside the batch.
    pub fn cell(&self, row: usize, column: usize) -> &str {
        assert!(column < self.width, "column {column} of {}", self.width);
        let cell = self.rows[row].first_cell + column;
        let start = if cell == 0 { 0 } else { self.ends[cell - 1] };
        &self.text[start..self.ends[cell]]
    }

    /// The line of the file on which the row begins (CSV, from 1), or its number (from 1).
    pub fn position(&self, row: usize) -> u64 {
        self.rows[row].position
    }

    /// The row's file and position, for messages.
    pub fn place(&self, row: usize) -> RowPlace {
        RowPlace { origin: Arc::clone(&self.origin), unit: self.unit, position: self.rows[row].position }
    }

    /// A batch of some of the rows, by their numbers in this batch. They keep their positions; the other rows
    /// take no memory.
    ///
    /// # Panics
    /// When a row lies outside the batch.
    #[must_use]
    pub fn select(&self, rows: impl IntoIterator<Item = usize>) -> Self {
        let mut selected = Self { unit: self.unit, ..Self::new(Arc::clone(&self.origin), self.width) };
        for row in rows {
            selected.push_row_of(self, row);
        }
        selected
    }

    /// Adds a row of another batch of the same table; it keeps its position.
    fn push_row_of(&mut self, other: &Self, row: usize) {
        let BatchRow { first_cell: first, position } = other.rows[row];
        let first_cell = self.ends.len();
        let start = if first == 0 { 0 } else { other.ends[first - 1] };
        let ends = &other.ends[first..first + other.width];
        let before = self.text.len();
        self.text.push_str(&other.text[start..ends.last().copied().unwrap_or(start)]);
        self.ends.extend(ends.iter().map(|end| before + end - start));
        self.rows.push(BatchRow { first_cell, position });
    }

    /// Removes the rows for which `keep`, called with their number in this batch, returns `false`. The others
    /// keep their positions.
    pub fn retain(&mut self, mut keep: impl FnMut(&Self, usize) -> bool) {
        let kept = (0..self.rows()).filter(|&row| keep(self, row)).map(|row| self.rows[row]).collect();
        self.rows = kept;
    }
}

/// The place of a row, for messages: `credit.csv, line 7`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowPlace {
    origin: Arc<str>,
    unit: &'static str,
    position: u64,
}

impl RowPlace {
    /// What to do about a cell or a row that is too long.
    pub(crate) fn hint_if_long(&self) -> &'static str {
        if self.unit == "line" {
            "look for a quote that is never closed"
        } else {
            "shorten it, or drop its column"
        }
    }
}

impl fmt::Display for RowPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} {}", self.origin, self.unit, self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retained_rows_keep_their_cells_and_positions() {
        let mut batch = Batch::new("rows", 2);
        for (position, cells) in [(1, ["a", "0"]), (2, ["b", "1"]), (3, ["c", "0"])] {
            batch.push(position, cells).expect("two cells");
        }
        batch.retain(|batch, row| batch.cell(row, 1) == "0");
        assert_eq!(batch.rows(), 2);
        assert_eq!((batch.cell(1, 0), batch.position(1)), ("c", 3));

        let last = batch.select([1]);
        assert_eq!((last.rows(), last.cell(0, 0), last.place(0)), (1, "c", batch.place(1)));
        assert_eq!((last.text.as_str(), last.ends.len()), ("c0", 2));
    }

    #[test]
    fn a_refused_row_leaves_no_trace() {
        let mut batch = Batch::new("rows", 2);
        let error = batch.push(1, ["a"]).expect_err("one cell of two");
        assert_eq!(
            error.to_string(),
            "rows, row 1: expected 2 cells, found 1\nhint: look for a delimiter that is not quoted, or a row that is cut off"
        );
        batch.push(2, ["b", "c"]).expect("two cells");
        assert_eq!(batch.cell(0, 1), "c");
    }
}
