//! How plausible rows are beside accepted ones, given what a person cannot change.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use par_circuit::{Circuit, Code, Evaluator, OPEN};

use crate::pool::AcceptedPool;

/// The conditional log-likelihoods of the pool's rows given some features: what the row of a person who cannot change
/// these features is compared with.
///
/// The likelihood of a whole row is partly that of who somebody is. log p⁺(x_M | x_I) is that of what they can change,
/// M, given what they cannot, I.
#[derive(Clone, Debug, PartialEq)]
pub struct Plausibility {
    /// For each feature, whether it is given.
    given: Vec<bool>,
    /// One per row of the pool, descending.
    log_likelihoods: Vec<f64>,
}

impl Plausibility {
    /// That of the pool's rows under the accepted circuit.
    fn new(accepted: &Circuit, pool: &AcceptedPool, given: Vec<bool>) -> Self {
        let mut evaluator = accepted.evaluator();
        let mut rows = pool.rows().codes().to_vec();
        for row in rows.chunks_exact_mut(given.len()) {
            keep(&given, row);
        }
        let log_given = evaluator.log_probs(&rows);
        let mut log_likelihoods: Vec<f64> =
            pool.log_likelihoods().iter().zip(log_given).map(|(whole, given)| whole - given).collect();
        log_likelihoods.sort_by(|a, b| b.total_cmp(a));
        Self { given, log_likelihoods }
    }

    /// log p⁺ of the given features of a row.
    pub fn log_given(&self, evaluator: &mut Evaluator<'_>, row: &[Code]) -> f64 {
        let mut row = row.to_vec();
        keep(&self.given, &mut row);
        evaluator.log_prob(&row)
    }

    /// The share of accepted rows that are no likelier, given what is given; 0 if there are none.
    pub fn percentile(&self, log_likelihood: f64) -> f64 {
        let above = self.log_likelihoods.partition_point(|value| *value > log_likelihood);
        (self.log_likelihoods.len() - above) as f64 / self.log_likelihoods.len().max(1) as f64
    }

    /// The lowest log-likelihood of an accepted row whose percentile is at least this share; −∞ for a share of 0 or
    /// if there are no rows.
    pub fn floor(&self, share: f64) -> f64 {
        let rows = self.log_likelihoods.len();
        let place = (share * rows as f64).ceil() as usize;
        match place.min(rows) {
            0 => f64::NEG_INFINITY,
            place => self.log_likelihoods[rows - place],
        }
    }
}

/// Leaves the features of a row open that are not given.
fn keep(given: &[bool], row: &mut [Code]) {
    for (code, _) in row.iter_mut().zip(given).filter(|(_, given)| !**given) {
        *code = OPEN;
    }
}

/// The most sets of given features of a model whose plausibility is kept.
const MOST_SETS: usize = 256;

/// The plausibilities of a model's pool, computed when they are first asked for.
#[derive(Debug, Default)]
pub(crate) struct Plausibilities(Mutex<HashMap<Vec<bool>, Arc<Plausibility>>>);

impl Clone for Plausibilities {
    /// None: what is computed from the model is not part of it.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Plausibilities {
    pub(crate) fn given(
        &self,
        accepted: &Circuit,
        pool: &AcceptedPool,
        given: Vec<bool>,
    ) -> Arc<Plausibility> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&given) {
            return known.clone();
        }
        // Two threads may compute the same: better than that one waits.
        let new = Arc::new(Plausibility::new(accepted, pool, given.clone()));
        let mut known = lock();
        if known.len() >= MOST_SETS {
            known.clear();
        }
        known.insert(given, new.clone());
        new
    }
}

#[cfg(test)]
mod tests {
    use par_circuit::Dataset;

    use super::*;
    use crate::test_world::World;

    fn sorted(log_likelihoods: &[f64]) -> Plausibility {
        Plausibility { given: Vec::new(), log_likelihoods: log_likelihoods.to_vec() }
    }

    #[test]
    fn a_percentile_counts_the_rows_that_are_at_most_as_likely() {
        let four = sorted(&[-1.0, -2.0, -2.0, -4.0]);
        assert_eq!([0.0, -2.0, -3.0, -5.0].map(|value| four.percentile(value)), [1.0, 0.75, 0.25, 0.0]);
        assert_eq!(sorted(&[]).percentile(0.0), 0.0);
    }

    #[test]
    fn a_floor_is_the_lowest_row_with_such_a_percentile() {
        let four = sorted(&[-1.0, -2.0, -2.0, -4.0]);
        assert_eq!(
            [0.1, 0.25, 0.3, 0.75, 0.8, 1.0].map(|share| four.floor(share)),
            [-4.0, -4.0, -2.0, -2.0, -1.0, -1.0]
        );
        assert_eq!([four.floor(0.0), sorted(&[]).floor(0.5)], [f64::NEG_INFINITY; 2]);
    }

    #[test]
    fn the_given_features_are_divided_out() {
        let world = World { cardinalities: vec![3, 2, 4], lines: vec![""; 3], rules: Vec::new() };
        let circuit = world.circuit(true);
        let mut evaluator = circuit.evaluator();
        let rows: Vec<[Code; 3]> = vec![[2, 1, 3], [2, 0, 3], [0, 1, 1]];
        let log_prob = |evaluator: &mut Evaluator<'_>, row: &[Code]| evaluator.log_prob(row);
        let mut whole: Vec<f64> = rows.iter().map(|row| log_prob(&mut evaluator, row)).collect();
        let codes = Dataset::new(vec![3, 2, 4], rows.concat()).expect("rows");
        whole.sort_by(|a, b| b.total_cmp(a));
        let pool = AcceptedPool::from_parts(codes, whole, 1).expect("a pool");
        let plausibility = Plausibility::new(&circuit, &pool, vec![true, false, false]);
        // By listing: p(x1, x2 | x0) sums to one over x1 and x2.
        for first in 0..3 {
            let row = |rest: Code| [first, rest % 2, rest / 2];
            let sum: f64 = (0..8)
                .map(|rest| {
                    let given = plausibility.log_given(&mut evaluator, &row(rest));
                    (log_prob(&mut evaluator, &row(rest)) - given).exp()
                })
                .sum();
            assert!((sum - 1.0).abs() < 1e-6, "{sum}");
        }
        let best = rows
            .iter()
            .map(|row| log_prob(&mut evaluator, row) - plausibility.log_given(&mut circuit.evaluator(), row));
        let best = best.fold(f64::NEG_INFINITY, f64::max);
        assert!((plausibility.log_likelihoods[0] - best).abs() < 1e-6);
        let nothing = Plausibility::new(&circuit, &pool, vec![false; 3]);
        assert_eq!(nothing.log_likelihoods, pool.log_likelihoods());
    }

    #[test]
    fn sets_are_computed_once_and_not_copied() {
        let world = World { cardinalities: vec![2, 2], lines: vec![""; 2], rules: Vec::new() };
        let circuit = world.circuit(true);
        let codes = Dataset::new(vec![2, 2], vec![1, 1]).expect("a row");
        let pool = AcceptedPool::from_parts(codes, vec![-0.5], 1).expect("a pool");
        let known = Plausibilities::default();
        let first = known.given(&circuit, &pool, vec![true, false]);
        assert!(Arc::ptr_eq(&first, &known.given(&circuit, &pool, vec![true, false])));
        assert!(!Arc::ptr_eq(&first, &known.given(&circuit, &pool, vec![false, true])));
        assert!(!Arc::ptr_eq(&first, &known.clone().given(&circuit, &pool, vec![true, false])));
    }
}
