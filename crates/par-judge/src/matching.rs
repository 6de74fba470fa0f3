//! Accepted people with the same immutable features as an answer.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::space::{Columns, Row, Value};

/// For each answer the accepted rows whose immutable features are nearest to its own.
pub(crate) struct Matches {
    /// For each answer its place in `nearest`.
    of: Vec<usize>,
    nearest: Vec<Nearest>,
    accepted: usize,
}

/// The accepted rows that are nearest to some immutable values.
struct Nearest {
    distance: f64,
    rows: Vec<usize>,
}

impl Matches {
    /// Compares the features at the places `immutable`.
    pub(crate) fn new(answers: &[&Row], accepted: &[&Row], immutable: &[usize]) -> Self {
        let immutable_of = |row: &Row| -> Vec<Value> { immutable.iter().map(|&at| row.values[at]).collect() };
        let others: Vec<Vec<Value>> = accepted.iter().map(|row| immutable_of(row)).collect();
        let others = Columns::new(&others.iter().map(Vec::as_slice).collect::<Vec<_>>(), immutable.len());
        let mut places: BTreeMap<Vec<[u64; 2]>, usize> = BTreeMap::new();
        let mut nearest = Vec::new();
        let of = answers
            .iter()
            .map(|answer| {
                let own = immutable_of(answer);
                *places.entry(own.iter().map(key).collect()).or_insert_with(|| {
                    nearest.push(Nearest::new(&own, &others));
                    nearest.len() - 1
                })
            })
            .collect();
        Self { of, nearest, accepted: accepted.len() }
    }

    /// For each answer, whether an accepted row has the same immutable features.
    pub(crate) fn are_exact(&self) -> impl Iterator<Item = bool> {
        self.of.iter().map(|&place| self.nearest[place].distance == 0.0)
    }

    /// For each answer one of its nearest rows: at random one of those that the fewest answers before it have.
    pub(crate) fn draw(&self, rng: &mut ChaCha8Rng) -> Vec<usize> {
        let shuffled = |length: usize, rng: &mut ChaCha8Rng| {
            let mut order: Vec<usize> = (0..length).collect();
            order.shuffle(rng);
            order
        };
        let rank = shuffled(self.accepted, rng);
        let mut uses = vec![0_usize; self.accepted];
        let mut drawn = vec![0; self.of.len()];
        for answer in shuffled(self.of.len(), rng) {
            let rows = &self.nearest[self.of[answer]].rows;
            let row = *rows.iter().min_by_key(|&&row| (uses[row], rank[row])).expect("a nearest row");
            uses[row] += 1;
            drawn[answer] = row;
        }
        drawn
    }
}

impl Nearest {
    fn new(own: &[Value], others: &Columns) -> Self {
        let mut distances = Vec::with_capacity(others.len());
        others.distances(own, &mut distances);
        let distance = distances.iter().copied().fold(f64::INFINITY, f64::min);
        let rows = (0..others.len()).filter(|&row| distances[row] == distance).collect();
        Self { distance, rows }
    }
}

/// The same for equal values.
fn key(value: &Value) -> [u64; 2] {
    match value {
        Value::Number(number) => [0, number.to_bits()],
        Value::Code(code) => [1, u64::from(*code)],
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn matches_share_immutable_features_or_are_nearest() {
        let row = |number: f64, code: u16| Row {
            values: vec![Value::Number(number), Value::Code(code)],
            codes: Vec::new(),
        };
        let accepted = [row(0.0, 0), row(0.0, 1), row(2.0, 2), row(5.0, 0)];
        let answers = [row(0.0, 9), row(0.0, 8), row(2.0, 7), row(4.0, 7)];
        let (accepted, answers) = (accepted.each_ref(), answers.each_ref());
        let matches = Matches::new(&answers, &accepted, &[0]);
        assert_eq!(matches.are_exact().collect::<Vec<_>>(), [true, true, true, false]);
        for seed in 0..10 {
            let mut drawn = matches.draw(&mut ChaCha8Rng::seed_from_u64(seed));
            // No row is drawn twice while there is another.
            drawn[..2].sort_unstable();
            assert_eq!(drawn, [0, 1, 2, 3]);
        }
        let matches = Matches::new(&answers, &accepted, &[]);
        assert!(matches.are_exact().all(|exact| exact));
        let mut drawn = matches.draw(&mut ChaCha8Rng::seed_from_u64(0));
        drawn.sort_unstable();
        assert_eq!(drawn, [0, 1, 2, 3]);
    }
}
