//! Rows of codes, checked when they are constructed.

use crate::error::DatasetError;
use crate::{Code, MAX_CARDINALITY, OPEN};

/// Rows of codes of the same variables, row after row.
///
/// Every code is below its variable's number of categories, or [`OPEN`] where the value is missing.
///
/// ```
/// use par_circuit::{Dataset, OPEN};
///
/// let rows = Dataset::new(vec![2, 3], vec![0, 2, 1, OPEN])?;
/// assert_eq!(rows.len(), 2);
/// assert_eq!(rows.row(1), [1, OPEN]);
/// assert!(Dataset::new(vec![2, 3], vec![0, 3]).is_err());
/// # Ok::<(), par_circuit::DatasetError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    cardinalities: Vec<usize>,
    codes: Vec<Code>,
}

impl Dataset {
    /// `codes` row after row; `cardinalities` says how many categories each variable has.
    ///
    /// # Errors
    /// When there are no variables, a cardinality is 0 or past [`MAX_CARDINALITY`], the codes do not
    /// fill whole rows, or a code is not below its cardinality.
    pub fn new(cardinalities: Vec<usize>, codes: Vec<Code>) -> Result<Self, DatasetError> {
        if cardinalities.is_empty() {
            return Err(DatasetError::NoVariables);
        }
        for (variable, &found) in cardinalities.iter().enumerate() {
            if !(1..=MAX_CARDINALITY).contains(&found) {
                return Err(DatasetError::Cardinality { variable, found });
            }
        }
        let width = cardinalities.len();
        if !codes.len().is_multiple_of(width) {
            return Err(DatasetError::Ragged { found: codes.len(), width });
        }
        for (row, cells) in codes.chunks_exact(width).enumerate() {
            for (variable, (&found, &cardinality)) in cells.iter().zip(&cardinalities).enumerate() {
                if usize::from(found) >= cardinality && found != OPEN {
                    return Err(DatasetError::Code { row, variable, found, cardinality });
                }
            }
        }
        Ok(Self { cardinalities, codes })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.codes.len() / self.width()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// Number of variables.
    pub fn width(&self) -> usize {
        self.cardinalities.len()
    }

    /// Number of categories of each variable.
    pub fn cardinalities(&self) -> &[usize] {
        &self.cardinalities
    }

    /// The codes of one row.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, row: usize) -> &[Code] {
        &self.codes[row * self.width()..][..self.width()]
    }

    /// The rows, one after the other.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[Code]> {
        self.codes.chunks_exact(self.width())
    }

    /// All codes, row after row.
    pub fn codes(&self) -> &[Code] {
        &self.codes
    }

    /// The rows at the given positions, in that order.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn select(&self, rows: &[usize]) -> Self {
        let codes = rows.iter().flat_map(|&row| self.row(row)).copied().collect();
        Self { cardinalities: self.cardinalities.clone(), codes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_codes_that_are_not_a_data_set() {
        assert_eq!(Dataset::new(vec![], vec![]), Err(DatasetError::NoVariables));
        assert_eq!(
            Dataset::new(vec![2, 0], vec![]),
            Err(DatasetError::Cardinality { variable: 1, found: 0 })
        );
        assert_eq!(Dataset::new(vec![2, 2], vec![0, 1, 1]), Err(DatasetError::Ragged { found: 3, width: 2 }));
        assert_eq!(
            Dataset::new(vec![2, 2], vec![0, 1, 1, 2]),
            Err(DatasetError::Code { row: 1, variable: 1, found: 2, cardinality: 2 })
        );
    }
}
