//! The next cells of a column as text, as many as a chunk may hold.

use parquet::errors::ParquetError;
use parquet::file::reader::RowGroupReader;
use parquet::schema::types::ColumnDescPtr;

use super::values::{self, BadValue, Values};
use super::{ROWS_AT_ONCE, SHORT};

/// The next cells of one column.
pub(super) struct ColumnCells {
    description: ColumnDescPtr,
    /// Of the current group.
    values: Option<Box<dyn Values>>,
    /// Its cells are not needed, and empty.
    pub(super) is_skipped: bool,
    /// The cells one after the other, and [`SHORT`] bytes more.
    text: Vec<u8>,
    /// Zero, and where each cell ends.
    ends: Vec<usize>,
    /// So many of the cells are in batches.
    taken: usize,
    /// Why there is no cell after these.
    bad: Option<BadValue>,
    /// No cell but the first is read beyond so many bytes.
    pub(super) most_bytes: usize,
}

impl ColumnCells {
    pub(super) fn new(description: ColumnDescPtr, most_bytes: usize) -> Self {
        Self {
            description,
            values: None,
            is_skipped: false,
            text: Vec::new(),
            ends: vec![0],
            taken: 0,
            bad: None,
            most_bytes,
        }
    }

    pub(super) fn open_group(
        &mut self,
        group: &dyn RowGroupReader,
        place: usize,
    ) -> Result<(), ParquetError> {
        self.values = match self.is_skipped {
            true => None,
            false => Some(values::open(group, place, &self.description)?),
        };
        Ok(())
    }

    /// Reads some of the next `rows` cells if all that were read are taken; returns how many can be taken.
    pub(super) fn read(&mut self, rows: usize) -> Result<usize, ParquetError> {
        if self.ready() > 0 || self.bad.is_some() {
            return Ok(self.ready());
        }
        if self.text.capacity() > 4 * self.most_bytes + ROWS_AT_ONCE {
            self.text = Vec::new();
        }
        self.text.clear();
        self.ends.clear();
        self.ends.push(0);
        self.taken = 0;
        match &mut self.values {
            Some(values) => {
                self.bad = values.write(rows, self.most_bytes, &mut self.text, &mut self.ends)?;
                self.check_text();
            }
            None => self.ends.resize(rows + 1, 0),
        }
        let bytes = self.ends.last().copied().unwrap_or(0);
        self.text.resize(bytes + SHORT, 0);
        Ok(self.ready())
    }

    fn ready(&self) -> usize {
        self.ends.len() - 1 - self.taken
    }

    /// Why no cell can be taken.
    pub(super) fn bad(&self) -> Option<BadValue> {
        if self.ready() == 0 { self.bad.clone() } else { None }
    }

    /// How long the next cell is, if it can be taken.
    pub(super) fn next_bytes(&self) -> usize {
        self.ends.get(self.taken + 1).map_or(0, |end| end - self.ends[self.taken])
    }

    /// The text of all cells and, of the next ones, where the first begins and each ends.
    pub(super) fn cells(&self, rows: usize) -> (&[u8], &[usize]) {
        (&self.text, &self.ends[self.taken..=self.taken + rows])
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.text.capacity()
    }

    pub(super) fn take(&mut self, rows: usize) {
        self.taken += rows;
    }

    /// Leaves the cells before the first that is no text.
    fn check_text(&mut self) {
        let ends = &self.ends;
        // All at once is quicker; what is text as a whole may still end within a character.
        let is_text = std::str::from_utf8(&self.text)
            .is_ok_and(|text| text.is_ascii() || ends.iter().all(|&end| text.is_char_boundary(end)));
        if !is_text {
            let is_bad = |ends: &[usize]| std::str::from_utf8(&self.text[ends[0]..ends[1]]).is_err();
            let first = ends.windows(2).position(is_bad).expect("a cell is no text");
            self.ends.truncate(first + 1);
            self.bad = Some(BadValue::NotUtf8);
        }
    }
}
