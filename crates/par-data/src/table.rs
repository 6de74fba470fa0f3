//! A raw table, read once from front to back as batches of text cells.
//!
//! Whatever the file, a cell is text: CSV cells as they stand, Parquet values written out. So there is
//! one path from here on, and a value that nobody changes comes out as it went in.

mod csv;
#[cfg(feature = "parquet")]
mod parquet;

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use crate::error::Error;

/// More columns than this are taken for a file that is no table.
pub(crate) const MAX_COLUMNS: usize = 10_000;
/// A longer cell is taken for a broken quote.
pub(crate) const MAX_CELL_BYTES: usize = 1 << 20;

/// How to read a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableOptions {
    /// Whether the first CSV line holds the column names; `true` unless told. Without a header the
    /// columns are called `0`, `1`, and so on.
    pub header: bool,
    /// Bytes of a row of a CSV file, about; 64 MiB unless told. A longer one is taken for a broken quote.
    pub max_row: usize,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self { header: true, max_row: 64 << 20 }
    }
}

/// An opened table: its columns are known, its rows not yet read.
pub struct Table {
    origin: Arc<str>,
    columns: Vec<String>,
    rows: Rows,
}

enum Rows {
    Csv(csv::CsvRows),
    #[cfg(feature = "parquet")]
    Parquet(parquet::ParquetRows),
}

impl Table {
    /// Opens a CSV file, plain or gzipped, or a Parquet file; its first bytes tell which.
    ///
    /// The delimiter is a comma, or the semicolon or tab of a first line without commas.
    ///
    /// # Errors
    /// When the file is absent, empty, truncated or not UTF-8, when two columns share a name, and
    /// when a Parquet file meets a build without the `parquet` feature.
    pub fn open(path: impl AsRef<Path>, options: &TableOptions) -> Result<Self, Error> {
        let path = path.as_ref();
        let origin: Arc<str> = path.display().to_string().into();
        let mut file = File::open(path).map_err(|source| Error::read(&origin, source))?;
        let mut magic = Vec::with_capacity(4);
        (&mut file).take(4).read_to_end(&mut magic).map_err(|source| Error::read(&origin, source))?;
        if magic == b"PAR1" || path.extension().is_some_and(|extension| extension == "parquet") {
            return Self::from_parquet(origin, file);
        }
        // Not rewound, since a pipe cannot be.
        Self::from_csv(origin, Box::new(io::Cursor::new(magic).chain(file)), options)
    }

    /// Reads CSV, plain or gzipped, from anything; `origin` is its name in messages.
    ///
    /// # Errors
    /// As [`Table::open`].
    pub fn from_reader(
        origin: &str,
        reader: impl Read + Send + 'static,
        options: &TableOptions,
    ) -> Result<Self, Error> {
        Self::from_csv(origin.into(), Box::new(reader), options)
    }

    fn from_csv(
        origin: Arc<str>,
        reader: Box<dyn Read + Send>,
        options: &TableOptions,
    ) -> Result<Self, Error> {
        let (columns, rows) = csv::open(&origin, reader, options)?;
        Self::new(origin, columns, Rows::Csv(rows))
    }

    #[cfg(feature = "parquet")]
    fn from_parquet(origin: Arc<str>, file: File) -> Result<Self, Error> {
        let (columns, rows) = parquet::open(&origin, file)?;
        Self::new(origin, columns, Rows::Parquet(rows))
    }

    #[cfg(not(feature = "parquet"))]
    fn from_parquet(origin: Arc<str>, _file: File) -> Result<Self, Error> {
        Err(Error::ParquetNotBuilt { origin })
    }

    fn new(origin: Arc<str>, columns: Vec<String>, rows: Rows) -> Result<Self, Error> {
        if columns.len() > MAX_COLUMNS {
            return Err(Error::TooManyColumns { origin, found: columns.len(), limit: MAX_COLUMNS });
        }
        let mut seen = HashSet::new();
        if let Some(name) = columns.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(Error::RepeatedColumn { origin, name: name.clone() });
        }
        Ok(Self { origin, columns, rows })
    }

    /// What the table is called in messages: its path as given.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The column names in file order. The index column that pandas writes has the
    /// empty name.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The rows from first to last, at most `rows_per_batch` at a time (at least one). A table with
    /// a header and nothing else yields no batch.
    pub fn batches(self, rows_per_batch: usize) -> Batches {
        Batches { table: self, rows_per_batch: rows_per_batch.max(1), done: false }
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

/// The stream of [`Table::batches`]. It ends at the first error.
#[derive(Debug)]
pub struct Batches {
    table: Table,
    rows_per_batch: usize,
    done: bool,
}

impl Iterator for Batches {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let mut batch = Batch {
            unit: match self.table.rows {
                Rows::Csv(_) => "line",
                #[cfg(feature = "parquet")]
                Rows::Parquet(_) => "row",
            },
            ..Batch::new(Arc::clone(&self.table.origin), self.table.columns.len())
        };
        while batch.rows() < self.rows_per_batch {
            let read = match &mut self.table.rows {
                Rows::Csv(rows) => rows.read_into(&mut batch),
                #[cfg(feature = "parquet")]
                Rows::Parquet(rows) => rows.read_into(&mut batch),
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
        (batch.rows() > 0).then_some(Ok(batch))
    }
}

/// Some rows of a table: text cells in one arena, each row with its place in the file.
#[derive(Clone, Debug)]
pub struct Batch {
    origin: Arc<str>,
    unit: &'static str,
    width: usize,
    text: String,
    /// Where each cell ends in `text`; it begins where the cell before it ends.
    ends: Vec<usize>,
    rows: Vec<BatchRow>,
}

#[derive(Clone, Copy, Debug)]
struct BatchRow {
    first_cell: usize,
    position: u64,
}

impl Batch {
    /// A batch of `width` columns and no rows yet, for rows that come from no file.
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
    /// When it has more or fewer cells than the batch has columns; the row is then left out.
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
            let place = Place { origin: Arc::clone(&self.origin), unit: self.unit, position };
            return Err(Error::RowLength { place, expected: self.width, found });
        }
        self.rows.push(BatchRow { first_cell, position });
        Ok(())
    }

    /// How many rows there are.
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
    pub fn place(&self, row: usize) -> Place {
        Place { origin: Arc::clone(&self.origin), unit: self.unit, position: self.rows[row].position }
    }

    /// A batch of some of the rows, by their numbers in this batch, which takes no more room than they do. They keep
    /// their positions.
    ///
    /// # Panics
    /// When a row lies outside the batch.
    #[must_use]
    pub fn select(&self, rows: impl IntoIterator<Item = usize>) -> Self {
        let mut selected = Self { unit: self.unit, ..Self::new(Arc::clone(&self.origin), self.width) };
        for row in rows {
            let first_cell = selected.ends.len();
            for column in 0..self.width {
                selected.text.push_str(self.cell(row, column));
                selected.ends.push(selected.text.len());
            }
            selected.rows.push(BatchRow { first_cell, position: self.position(row) });
        }
        selected
    }

    /// Leaves out the rows for which `keep` says no, by their number in this batch. The others keep
    /// their positions.
    pub fn retain(&mut self, mut keep: impl FnMut(&Self, usize) -> bool) {
        let kept = (0..self.rows()).filter(|&row| keep(self, row)).map(|row| self.rows[row]).collect();
        self.rows = kept;
    }
}

/// Where a row stands: `credit.csv, line 7`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    origin: Arc<str>,
    unit: &'static str,
    position: u64,
}

impl fmt::Display for Place {
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
