//! Rows of a table, spread evenly over it, in memory that does not grow with the table.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::schema::parse::{MISSING_TEXT, parse_number};

/// Most rows that are kept.
const MOST_ROWS: usize = 200_000;
/// Most cells that are kept, so that wide tables have fewer rows.
const MOST_CELLS: usize = 4_000_000;
/// Fewest rows that are kept of a table that has them.
const FEWEST_ROWS: usize = 1_000;

/// A cell, as far as comparing cells needs it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SampledCell {
    Missing,
    Number(f64),
    /// The hash of a text.
    Text(u64),
}

impl SampledCell {
    pub(super) fn new(cell: &str) -> Self {
        let text = cell.trim();
        if MISSING_TEXT.contains(&text) {
            return Self::Missing;
        }
        parse_number(text).map_or_else(
            || {
                let mut hasher = DefaultHasher::new();
                text.hash(&mut hasher);
                Self::Text(hasher.finish())
            },
            // Minus zero is zero.
            |number| Self::Number(number + 0.0),
        )
    }

    /// Its number, if it is one.
    pub(super) fn number(self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number),
            Self::Missing | Self::Text(_) => None,
        }
    }

    /// A key by which cells are sorted and told apart: missing cells first, then numbers in their order.
    pub(super) fn key(self) -> (u8, u64) {
        match self {
            Self::Missing => (0, 0),
            Self::Number(number) => {
                let bits = number.to_bits();
                (1, if number < 0.0 { !bits } else { bits | 1 << 63 })
            }
            Self::Text(hash) => (2, hash),
        }
    }
}

/// Every n-th row of a table, n as small as memory allows.
pub(super) struct Sample {
    columns: Vec<Vec<SampledCell>>,
    capacity: usize,
    stride: u64,
    seen: u64,
}

impl Sample {
    pub(super) fn new(columns: usize) -> Self {
        let capacity = (MOST_CELLS / columns.max(1)).clamp(FEWEST_ROWS, MOST_ROWS);
        Self { columns: vec![Vec::new(); columns], capacity, stride: 1, seen: 0 }
    }

    pub(super) fn add<'a>(&mut self, cells: impl Iterator<Item = &'a str>) {
        let is_kept = self.seen.is_multiple_of(self.stride);
        self.seen += 1;
        if !is_kept {
            return;
        }
        if self.rows() == self.capacity {
            for column in &mut self.columns {
                let mut is_even = false;
                column.retain(|_| {
                    is_even = !is_even;
                    is_even
                });
            }
            self.stride *= 2;
            if !(self.seen - 1).is_multiple_of(self.stride) {
                return;
            }
        }
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(SampledCell::new(cell));
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// Number of rows of the table.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    pub(super) fn column(&self, column: usize) -> &[SampledCell] {
        &self.columns[column]
    }

    /// The numbers of a column; NaN for a cell that is none.
    pub(super) fn numbers(&self, column: usize) -> Vec<f64> {
        let number = |cell: &SampledCell| match cell {
            SampledCell::Number(number) => *number,
            SampledCell::Missing | SampledCell::Text(_) => f64::NAN,
        };
        self.columns[column].iter().map(number).collect()
    }

    /// Each cell as the position of its value among the column's values in ascending order.
    pub(super) fn codes(&self, column: usize) -> Vec<usize> {
        let keys: Vec<(u8, u64)> = self.columns[column].iter().map(|cell| cell.key()).collect();
        let mut distinct = keys.clone();
        distinct.sort_unstable();
        distinct.dedup();
        keys.iter().map(|key| distinct.partition_point(|other| other < key)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_evenly_and_bounded() {
        let mut sample = Sample { capacity: 10, ..Sample::new(1) };
        for row in 0..95 {
            sample.add(std::iter::once(row.to_string().as_str()));
        }
        assert_eq!(sample.numbers(0), [0.0, 16.0, 32.0, 48.0, 64.0, 80.0]);
        assert_eq!((sample.seen(), sample.rows()), (95, 6));
    }

    #[test]
    fn codes_are_in_the_order_of_numbers() {
        let mut sample = Sample::new(1);
        for cell in ["2", "-1", "", "-7", "2.0", "0", "-0", "x"] {
            sample.add(std::iter::once(cell));
        }
        assert_eq!(sample.codes(0), [4, 2, 0, 1, 4, 3, 3, 5]);
    }
}
