//! A uniform sample of the rows of a table, taken while it is read.

use super::Batch;

/// At most so many rows of a table, each as likely as any other, in the order of the table.
///
/// Each row has a pseudo-random rank by its number alone, and those of the lowest ranks stay: the same rows for a seed,
/// however they are cut into batches. A table that is not longer than the limit stays whole.
#[derive(Debug)]
pub struct RowSample {
    limit: usize,
    seed: u64,
    read: u64,
    /// A row of this rank or a higher one does not stay.
    bound: Option<u64>,
    ranks: Vec<u64>,
    rows: Option<Batch>,
}

/// Rows of each batch of a sample.
const ROWS_PER_BATCH: usize = 8192;

impl RowSample {
    /// A sample of at most `limit` rows.
    pub fn new(limit: usize, seed: u64) -> Self {
        Self { limit, seed, read: 0, bound: None, ranks: Vec::new(), rows: None }
    }

    /// Adds the next rows of the table.
    pub fn add(&mut self, batch: &Batch) {
        let rows = self.rows.get_or_insert_with(|| batch.select([]));
        for row in 0..batch.rows() {
            let rank = rank(self.read + row as u64, self.seed);
            if self.bound.is_none_or(|bound| rank < bound) {
                rows.push_row_of(batch, row);
                self.ranks.push(rank);
            }
        }
        self.read += batch.rows() as u64;
        // A quarter more rows than stay, so that they are seldom moved.
        if self.ranks.len() > self.limit + self.limit / 4 {
            self.drop_highest();
        }
    }

    /// The number of rows that were added, whether they stayed or not.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// The sampled rows.
    pub fn into_batches(mut self) -> Vec<Batch> {
        self.drop_highest();
        let Some(rows) = self.rows else { return Vec::new() };
        let starts = (0..rows.rows()).step_by(ROWS_PER_BATCH);
        starts.map(|start| rows.select(start..rows.rows().min(start + ROWS_PER_BATCH))).collect()
    }

    fn drop_highest(&mut self) {
        let Some(rows) = self.rows.as_mut().filter(|_| self.ranks.len() > self.limit) else { return };
        let mut sorted = self.ranks.clone();
        let (_, &mut bound, _) = sorted.select_nth_unstable(self.limit);
        *rows = rows.select((0..rows.rows()).filter(|&row| self.ranks[row] < bound));
        self.ranks.retain(|rank| *rank < bound);
        self.bound = Some(bound);
    }
}

/// The rank of the row with this number. No two rows have the same: every step can be undone.
fn rank(number: u64, seed: u64) -> u64 {
    // The finalizer of SplitMix64, twice, with the seed between.
    mix(mix(number).wrapping_add(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(first: u64, last: u64) -> Batch {
        let mut batch = Batch::new("rows", 1);
        for number in first..last {
            batch.push(number + 1, [number.to_string().as_str()]).expect("one cell");
        }
        batch
    }

    fn sampled(rows: u64, per_batch: u64, limit: usize, seed: u64) -> Vec<u64> {
        let mut sample = RowSample::new(limit, seed);
        for first in (0..rows).step_by(per_batch as usize) {
            sample.add(&numbers(first, rows.min(first + per_batch)));
        }
        assert_eq!(sample.read(), rows);
        let batches = sample.into_batches();
        let cells = batches.iter().flat_map(|batch| (0..batch.rows()).map(|row| batch.cell(row, 0)));
        cells.map(|cell| cell.parse().expect("a number")).collect()
    }

    #[test]
    fn a_table_within_the_limit_stays_whole() {
        for rows in [0, 1, 99, 100] {
            assert_eq!(sampled(rows, 7, 100, 1), (0..rows).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn the_sample_depends_on_the_seed_and_not_on_the_batches() {
        let once = sampled(10_000, 10_000, 300, 1);
        assert_eq!(once.len(), 300);
        assert!(once.windows(2).all(|pair| pair[0] < pair[1]), "the order of the table");
        for per_batch in [1, 64, 999] {
            assert_eq!(sampled(10_000, per_batch, 300, 1), once);
        }
        assert_ne!(sampled(10_000, 64, 300, 2), once);
    }

    #[test]
    fn all_parts_of_a_table_are_sampled_alike() {
        let sample = sampled(50_000, 1000, 5000, 3);
        for part in 0..10 {
            let own = sample.iter().filter(|number| **number / 5000 == part).count();
            // 500 are expected, with a standard deviation of 20.
            assert!((400..600).contains(&own), "{own} of part {part}");
        }
    }
}
