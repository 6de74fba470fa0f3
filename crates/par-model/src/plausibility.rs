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
