//! Rows stored by column, and contingency tables over subsets of them.

use crate::{Code, Dataset, OPEN};

/// Codes of rows, column after column.
pub(crate) struct ColumnMajor {
    cardinalities: Vec<usize>,
    columns: Vec<Vec<Code>>,
}

impl ColumnMajor {
    pub(crate) fn new(rows: &Dataset) -> Self {
        let column = |variable| rows.codes().iter().skip(variable).step_by(rows.width()).copied();
        Self {
            cardinalities: rows.cardinalities().to_vec(),
            columns: (0..rows.width()).map(|variable| column(variable).collect()).collect(),
        }
    }

    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    pub(crate) fn cardinality(&self, variable: usize) -> usize {
        self.cardinalities[variable]
    }

    pub(crate) fn of(&self, variable: usize) -> &[Code] {
        &self.columns[variable]
    }

    /// How often each category occurs among the rows.
    pub(crate) fn counts(&self, variable: usize, rows: &[u32]) -> Vec<f64> {
        let mut counts = vec![0_u32; self.cardinalities[variable]];
        let column = &self.columns[variable];
        for &row in rows {
            let code = column[row as usize];
            if code != OPEN {
                counts[usize::from(code)] += 1;
            }
        }
        counts.into_iter().map(f64::from).collect()
    }

    /// How often each pair of categories occurs among the rows in which both are known.
    pub(crate) fn joint_counts(&self, first: usize, second: usize, rows: &[u32]) -> JointCounts {
        let (firsts, seconds) = (self.cardinalities[first], self.cardinalities[second]);
        let (first, second) = (&self.columns[first], &self.columns[second]);
        let pairs = rows.iter().map(|&row| (first[row as usize], second[row as usize]));
        let pairs = pairs.filter(|&(a, b)| a != OPEN && b != OPEN);
        JointCounts::new(pairs, firsts, seconds)
    }
}

/// Pairs of categories, at most, for a dense table; larger ones are mostly empty.
const LARGEST_TABLE: usize = 1 << 16;

/// The pairs that occur, how often, and the margins.
pub(crate) struct JointCounts {
    pairs: Vec<(Code, Code, f64)>,
    firsts: Vec<f64>,
    seconds: Vec<f64>,
    total: f64,
}

impl JointCounts {
    fn new(pairs: impl Iterator<Item = (Code, Code)>, firsts: usize, seconds: usize) -> Self {
        let mut counts =
            Self { pairs: Vec::new(), firsts: vec![0.0; firsts], seconds: vec![0.0; seconds], total: 0.0 };
        if firsts * seconds <= LARGEST_TABLE {
            let mut table = vec![0_u32; firsts * seconds];
            pairs.for_each(|(a, b)| table[usize::from(a) * seconds + usize::from(b)] += 1);
            for (cell, &count) in table.iter().enumerate().filter(|(_, count)| **count > 0) {
                counts.add((cell / seconds) as Code, (cell % seconds) as Code, f64::from(count));
            }
        } else {
            let mut pairs: Vec<(Code, Code)> = pairs.collect();
            pairs.sort_unstable();
            for alike in pairs.chunk_by(|a, b| a == b) {
                counts.add(alike[0].0, alike[0].1, alike.len() as f64);
            }
        }
        counts
    }

    fn add(&mut self, first: Code, second: Code, count: f64) {
        self.pairs.push((first, second, count));
        self.firsts[usize::from(first)] += count;
        self.seconds[usize::from(second)] += count;
        self.total += count;
    }

    /// Mutual information in nats; 0 where no row has both values.
    pub(crate) fn mutual_information(&self) -> f64 {
        let term = |&(first, second, count): &(Code, Code, f64)| {
            let apart = self.firsts[usize::from(first)] * self.seconds[usize::from(second)];
            count * (count * self.total / apart).ln()
        };
        let sum: f64 = self.pairs.iter().map(term).sum();
        if self.total > 0.0 { (sum / self.total).max(0.0) } else { 0.0 }
    }

    /// The statistic of the G-test of independence, and its degrees of freedom, which count only categories
    /// that occur.
    pub(crate) fn g_test(&self) -> (f64, f64) {
        let seen = |margin: &[f64]| margin.iter().filter(|&&count| count > 0.0).count() as f64;
        let freedom = (seen(&self.firsts) - 1.0).max(0.0) * (seen(&self.seconds) - 1.0).max(0.0);
        (2.0 * self.total * self.mutual_information(), freedom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(codes: &[Code]) -> ColumnMajor {
        ColumnMajor::new(&Dataset::new(vec![2, 3], codes.to_vec()).expect("rows"))
    }

    #[test]
    fn two_equal_bits_share_one_bit_of_information() {
        let joint = columns(&[0, 0, 1, 1, 0, 0, 1, 1]).joint_counts(0, 1, &[0, 1, 2, 3]);
        assert!((joint.mutual_information() - 2.0_f64.ln()).abs() < 1e-12);
        let (statistic, freedom) = joint.g_test();
        assert!((statistic - 8.0 * 2.0_f64.ln()).abs() < 1e-12);
        assert_eq!(freedom, 1.0, "the third category never occurs");
    }

    #[test]
    fn pairs_of_many_categories_count_the_same() {
        let codes: Vec<Code> = (0..400).flat_map(|row| [row % 7, (row % 90 * row % 90) % 11]).collect();
        let counts = |cardinality: usize| {
            let rows = Dataset::new(vec![cardinality; 2], codes.clone()).expect("rows");
            let all: Vec<u32> = (0..400).collect();
            ColumnMajor::new(&rows).joint_counts(0, 1, &all).g_test()
        };
        assert_eq!(counts(11), counts(60_000));
    }

    #[test]
    fn rows_that_miss_a_cell_do_not_count() {
        let columns = columns(&[0, OPEN, OPEN, 1, 1, 2]);
        assert_eq!(columns.counts(0, &[0, 1, 2]), [1.0, 1.0]);
        let joint = columns.joint_counts(0, 1, &[0, 1]);
        assert_eq!(joint.mutual_information(), 0.0);
        assert_eq!(joint.g_test(), (0.0, 0.0));
    }
}
