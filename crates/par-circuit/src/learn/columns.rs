//! The same rows, column by column, and tables of counts over slices of them.

use crate::{Code, Dataset, OPEN};

/// Rows of codes, one variable after the other.
pub(crate) struct Columns {
    cardinalities: Vec<usize>,
    columns: Vec<Vec<Code>>,
}

impl Columns {
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

    /// How often each pair of categories occurs among the rows that know both, the second variable's
    /// categories side by side.
    pub(crate) fn joint_counts(&self, first: usize, second: usize, rows: &[u32]) -> JointCounts {
        let width = self.cardinalities[second];
        let mut counts = vec![0_u32; self.cardinalities[first] * width];
        let (first, second) = (&self.columns[first], &self.columns[second]);
        for &row in rows {
            let (a, b) = (first[row as usize], second[row as usize]);
            if a != OPEN && b != OPEN {
                counts[usize::from(a) * width + usize::from(b)] += 1;
            }
        }
        JointCounts::new(counts, width)
    }
}

/// A table of pair counts with its margins.
pub(crate) struct JointCounts {
    counts: Vec<u32>,
    firsts: Vec<f64>,
    seconds: Vec<f64>,
    total: f64,
}

impl JointCounts {
    fn new(counts: Vec<u32>, width: usize) -> Self {
        let mut seconds = vec![0.0; width];
        let line = |line: &[u32]| {
            for (second, &count) in seconds.iter_mut().zip(line) {
                *second += f64::from(count);
            }
            line.iter().map(|&count| f64::from(count)).sum()
        };
        let firsts: Vec<f64> = counts.chunks_exact(width).map(line).collect();
        let total = firsts.iter().sum();
        Self { counts, firsts, seconds, total }
    }

    /// Mutual information in nats; 0 where no row knows both.
    pub(crate) fn mutual_information(&self) -> f64 {
        let mut sum = 0.0;
        for (line, &first) in self.counts.chunks_exact(self.seconds.len()).zip(&self.firsts) {
            for (&count, &second) in line.iter().zip(&self.seconds) {
                if count > 0 {
                    let count = f64::from(count);
                    sum += count * (count * self.total / (first * second)).ln();
                }
            }
        }
        if self.total > 0.0 { (sum / self.total).max(0.0) } else { 0.0 }
    }

    /// The statistic of the G-test of independence, and its degrees of freedom: those of the categories
    /// that do occur.
    pub(crate) fn g_test(&self) -> (f64, f64) {
        let seen = |margin: &[f64]| margin.iter().filter(|&&count| count > 0.0).count() as f64;
        let freedom = (seen(&self.firsts) - 1.0).max(0.0) * (seen(&self.seconds) - 1.0).max(0.0);
        (2.0 * self.total * self.mutual_information(), freedom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(codes: &[Code]) -> Columns {
        Columns::new(&Dataset::new(vec![2, 3], codes.to_vec()).expect("rows"))
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
    fn rows_that_miss_a_cell_do_not_count() {
        let columns = columns(&[0, OPEN, OPEN, 1, 1, 2]);
        assert_eq!(columns.counts(0, &[0, 1, 2]), [1.0, 1.0]);
        let joint = columns.joint_counts(0, 1, &[0, 1]);
        assert_eq!(joint.mutual_information(), 0.0);
        assert_eq!(joint.g_test(), (0.0, 0.0));
    }
}
