//! Accepted rows: which are near a factual, and how plausible they are.

use par_circuit::{Code, Dataset, Kernel, OPEN, vectorised};
use serde::{Deserialize, Serialize};

use crate::setting::{SettingError, check_setting};

/// The size of the pool, and how many neighbours the generator sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PoolConfig {
    /// Rows of the pool. In `1..=1000000`; 2000 by default.
    pub size: usize,
    /// The neighbours of a factual that the generator sees, K. In `0..=1000`; 10 by default. With 0 it knows nothing
    /// about the neighbourhood.
    pub neighbours: usize,
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self { size: 2000, neighbours: 10 }
    }
}

impl PoolConfig {
    /// # Errors
    /// When a setting is out of its range.
    pub fn check(&self) -> Result<(), SettingError> {
        let Self { size, neighbours } = *self;
        check_setting("pool.size", size, "1 to 1000000", (1..=1_000_000).contains(&size))?;
        check_setting("pool.neighbours", neighbours, "0 to 1000", neighbours <= 1000)
    }
}

/// Rows drawn from the accepted circuit that the classifier accepts too, the most plausible first. May be empty.
///
/// # Paper
/// The pool A = {x ~ p⁺ : f(x) = +} of "Neighborhood Encoder", with its log p⁺(x).
#[derive(Clone, Debug, PartialEq)]
pub struct AcceptedPool {
    rows: Dataset,
    /// One per row, descending.
    log_likelihoods: Vec<f64>,
    /// The codes again, column by column.
    columns: PoolColumns,
    neighbours: usize,
}

/// Codes column by column, as narrow as possible: one instruction then compares more of them.
#[derive(Clone, Debug, PartialEq)]
enum PoolColumns {
    /// For at most 255 features of at most 255 codes, so that 255 is never a code.
    Narrow(Vec<u8>),
    Wide(Vec<Code>),
}

impl PoolColumns {
    fn new(rows: &Dataset) -> Self {
        let column = |feature: usize| rows.rows().map(move |row| row[feature]);
        let codes = (0..rows.width()).flat_map(column);
        let narrow = rows.width() <= 255 && rows.cardinalities().iter().all(|codes| *codes <= 255);
        if narrow {
            Self::Narrow(codes.map(|code| code as u8).collect())
        } else {
            Self::Wide(codes.collect())
        }
    }
}

impl AcceptedPool {
    fn new(rows: Dataset, log_likelihoods: Vec<f64>, neighbours: usize) -> Self {
        let columns = PoolColumns::new(&rows);
        Self { rows, log_likelihoods, columns, neighbours }
    }

    /// A stored pool: its rows, their log-likelihoods, and how many neighbours the generator sees.
    ///
    /// `None` when a code is [`OPEN`], or the log-likelihoods are not one per row, finite and descending.
    pub fn from_parts(rows: Dataset, log_likelihoods: Vec<f64>, neighbours: usize) -> Option<Self> {
        let fits = log_likelihoods.len() == rows.len()
            && !rows.codes().contains(&OPEN)
            && log_likelihoods.iter().all(|value| value.is_finite())
            && log_likelihoods.is_sorted_by(|left, right| left >= right);
        fits.then(|| Self::new(rows, log_likelihoods, neighbours))
    }

    /// The rows, the most plausible first.
    pub fn rows(&self) -> &Dataset {
        &self.rows
    }

    /// log p⁺ of each row, descending.
    pub fn log_likelihoods(&self) -> &[f64] {
        &self.log_likelihoods
    }

    /// How many neighbours the generator sees, K.
    pub fn neighbours(&self) -> usize {
        self.neighbours
    }

    /// The same rows with another number of neighbours.
    pub fn with_neighbours(&self, neighbours: usize) -> Self {
        Self { neighbours, ..self.clone() }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.log_likelihoods.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.log_likelihoods.is_empty()
    }

    /// The `count` rows that differ from `factual` in the fewest features, the nearest first; ties go to the more
    /// plausible. A code that is [`OPEN`] differs from all.
    ///
    /// # Panics
    /// When the row has another number of features.
    pub fn nearest<'s>(
        &self,
        factual: &[Code],
        count: usize,
        search: &'s mut NeighbourSearch,
    ) -> &'s [Neighbour] {
        assert_eq!(factual.len(), self.rows.width(), "one code per feature");
        search.found.clear();
        if self.is_empty() || count == 0 {
            return &search.found;
        }
        let found = &mut search.found;
        match &self.columns {
            PoolColumns::Narrow(codes) => {
                let own = factual.iter().map(|&code| u8::try_from(code).unwrap_or(u8::MAX));
                search.own.clear();
                search.own.extend(own);
                let distances = &mut search.narrow;
                distances.clear();
                distances.resize(self.len(), 0);
                vectorised(CountDifferences { codes, own: &search.own, distances });
                vectorised(TakeNearest { distances, count, found });
            }
            PoolColumns::Wide(codes) => {
                let distances = &mut search.wide;
                distances.clear();
                distances.resize(self.len(), 0);
                vectorised(CountDifferences { codes, own: factual, distances });
                vectorised(TakeNearest { distances, count, found });
            }
        }
        found.sort_unstable_by_key(|neighbour| (neighbour.distance, neighbour.row));
        &search.found
    }
}

/// A row of the pool, and its distance from a factual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Its position in the pool.
    pub row: usize,
    /// In how many features it differs: its Hamming distance.
    pub distance: usize,
}

/// Memory for [`AcceptedPool::nearest`].
#[derive(Clone, Debug, Default)]
pub struct NeighbourSearch {
    own: Vec<u8>,
    narrow: Vec<u8>,
    wide: Vec<u32>,
    found: Vec<Neighbour>,
}

/// Counts for each row the features in which it differs.
struct CountDifferences<'a, C, D> {
    /// Column by column.
    codes: &'a [C],
    own: &'a [C],
    distances: &'a mut [D],
}

impl<C: Copy + PartialEq, D: Copy + From<bool> + std::ops::AddAssign> Kernel for CountDifferences<'_, C, D> {
    #[inline(always)]
    fn run(self) {
        for (column, &own) in self.codes.chunks_exact(self.distances.len()).zip(self.own) {
            for (distance, code) in self.distances.iter_mut().zip(column) {
                *distance += D::from(*code != own);
            }
        }
    }
}

/// Finds the smallest distances; of ties, the first.
struct TakeNearest<'a, D> {
    distances: &'a [D],
    count: usize,
    found: &'a mut Vec<Neighbour>,
}

/// Distances that are compared at once.
const TOGETHER: usize = 64;

impl<D: Copy + PartialOrd + Into<u32> + TryFrom<u32>> Kernel for TakeNearest<'_, D> {
    #[inline(always)]
    fn run(self) {
        let Self { distances, count, found } = self;
        let nearer = |limit: D| -> usize {
            let chunks = distances.chunks(TOGETHER);
            chunks.map(|chunk| chunk.iter().map(|&at| u8::from(at < limit)).sum::<u8>() as usize).sum()
        };
        // The largest distance among the nearest; not all rows at it may fit.
        let mut last: u32 = 0;
        while let Ok(limit) = D::try_from(last + 1) {
            if nearer(limit) >= count.min(distances.len()) {
                break;
            }
            last += 1;
        }
        let Ok(limit) = D::try_from(last) else { return };
        let mut ties = count - nearer(limit).min(count);
        for (chunk, start) in distances.chunks(TOGETHER).zip((0..).step_by(TOGETHER)) {
            if chunk.iter().fold(false, |any, &at| any | (at <= limit)) {
                for (row, &distance) in (start..).zip(chunk) {
                    let tie = distance == limit;
                    if distance < limit || tie && ties > 0 {
                        ties -= usize::from(tie);
                        found.push(Neighbour { row, distance: distance.into() as usize });
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stored_parts_must_be_those_of_a_pool() {
        let rows = |codes: &[Code]| Dataset::new(vec![2], codes.to_vec()).expect("rows");
        let fits =
            |codes, values: &[f64]| AcceptedPool::from_parts(rows(codes), values.to_vec(), 3).is_some();
        assert!(fits(&[0, 1], &[-1.0, -2.0]));
        assert!(!fits(&[0, 1], &[-1.0]));
        assert!(!fits(&[0, 1], &[-2.0, -1.0]));
        assert!(!fits(&[0, OPEN], &[-1.0, -2.0]));
        assert!(!fits(&[0, 1], &[-1.0, f64::NEG_INFINITY]));
    }

    #[test]
    fn settings_out_of_range_are_named() {
        assert_eq!(PoolConfig::default().check(), Ok(()));
        let message = PoolConfig { size: 0, neighbours: 1 }.check().expect_err("no rows").to_string();
        assert_eq!(message, "`pool.size` is 0, expected 1 to 1000000");
        let message = PoolConfig { size: 1, neighbours: 1001 }.check().expect_err("too many").to_string();
        assert_eq!(message, "`pool.neighbours` is 1001, expected 0 to 1000");
    }

    /// Compares the nearest rows with those that sorting finds.
    fn check_nearest(cardinality: usize, width: usize, codes: Vec<Code>, factual: &[Code], count: usize) {
        let rows = Dataset::new(vec![cardinality; width], codes).expect("rows");
        let differences =
            |row: &[Code]| row.iter().zip(factual).filter(|(left, right)| left != right).count();
        let mut expected: Vec<Neighbour> = (rows.rows().map(differences).enumerate())
            .map(|(row, distance)| Neighbour { row, distance })
            .collect();
        expected.sort_by_key(|neighbour| neighbour.distance);
        expected.truncate(count);
        let likelihoods = (0..rows.len()).map(|row| -(row as f64)).collect();
        let pool = AcceptedPool::from_parts(rows, likelihoods, count).expect("a pool");
        assert_eq!(pool.nearest(factual, count, &mut NeighbourSearch::default()), expected);
    }

    proptest! {
        #[test]
        fn the_nearest_rows_are_those_that_sorting_finds(
            wide in any::<bool>(),
            width in 1..6_usize,
            (codes, factual) in (prop::collection::vec(0..4_u16, 0..1000), prop::collection::vec(0..5_u16, 6)),
            count in 0..20_usize,
        ) {
            let codes = codes[..codes.len() / width * width].to_vec();
            let factual: Vec<Code> =
                factual[..width].iter().map(|&code| if code == 4 { OPEN } else { code }).collect();
            check_nearest(if wide { 1000 } else { 4 }, width, codes, &factual, count);
        }
    }
}
