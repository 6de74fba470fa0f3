//! How well domains that were learned from training rows cover other rows.

/// Counts of cells outside the learned domains, over any number of batches.
///
/// A missing cell, an unseen category and a number that snapped to its nearest neighbour are outside; every
/// finite number is inside a binned feature.
///
/// # Paper
/// Appendix, Bin Coverage and Bin Fidelity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    rows: u64,
    whole_rows: u64,
    outside: Vec<u64>,
}

impl Coverage {
    /// No rows yet, of this many features.
    pub fn new(features: usize) -> Self {
        Self { rows: 0, whole_rows: 0, outside: vec![0; features] }
    }

    /// Counts one cell outside its domain.
    pub(crate) fn count_outside(&mut self, feature: usize) {
        self.outside[feature] += 1;
    }

    /// Counts one row; `whole` if all of its cells are inside.
    pub(crate) fn count_row(&mut self, whole: bool) {
        self.rows += 1;
        self.whole_rows += u64::from(whole);
    }

    /// Adds the counts of other rows of the same features.
    pub fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.whole_rows += other.whole_rows;
        for (count, more) in self.outside.iter_mut().zip(&other.outside) {
            *count += more;
        }
    }

    /// Number of rows counted.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// For each feature, the number of rows with a cell outside its domain.
    pub fn outside(&self) -> &[u64] {
        &self.outside
    }

    /// Bin coverage: the share of cells inside their domains. `None` before the first row.
    pub fn coverage(&self) -> Option<f64> {
        let cells = self.rows * self.outside.len() as u64;
        let inside = cells - self.outside.iter().sum::<u64>();
        (cells > 0).then(|| inside as f64 / cells as f64)
    }

    /// Bin fidelity: the share of rows with every cell inside. `None` before the first row.
    pub fn fidelity(&self) -> Option<f64> {
        (self.rows > 0).then(|| self.whole_rows as f64 / self.rows as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_counts_cells_and_fidelity_counts_rows() {
        let mut coverage = Coverage::new(2);
        assert_eq!((coverage.coverage(), coverage.fidelity()), (None, None));
        for outside in [&[][..], &[1], &[0, 1], &[]] {
            outside.iter().for_each(|&feature| coverage.count_outside(feature));
            coverage.count_row(outside.is_empty());
        }
        assert_eq!(coverage.outside(), [1, 2]);
        assert_eq!((coverage.coverage(), coverage.fidelity()), (Some(0.625), Some(0.5)));

        let mut twice = coverage.clone();
        twice.merge(&coverage);
        assert_eq!((twice.rows(), twice.coverage()), (8, Some(0.625)));
    }
}
