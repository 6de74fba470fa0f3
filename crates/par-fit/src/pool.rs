//! Draws the accepted pool.

use par_circuit::{Circuit, Code, Dataset, Stop, Stopped};
use par_model::Target;
use par_model::pool::{AcceptedPool, PoolConfig};
use rayon::prelude::*;

/// The most rows drawn for each row of the pool.
const DRAWS_A_ROW: u64 = 50;
/// Rows drawn and scored together.
const DRAWN_AT_ONCE: u64 = 4096;

/// Draws rows from the circuit of accepted rows and keeps those that reach the target. The pool is smaller than
/// configured, or empty, if few of them do.
///
/// # Errors
/// When it is stopped.
///
/// # Panics
/// When the circuit and the target have different features.
pub fn draw_pool(
    accepted: &Circuit,
    target: Target<'_>,
    config: &PoolConfig,
    seed: u64,
    stop: Stop<'_>,
) -> Result<AcceptedPool, Stopped> {
    assert_eq!(accepted.cardinalities(), target.classifier.cardinalities(), "the same features");
    let sampler = accepted.sampler();
    let limit = (config.size as u64).saturating_mul(DRAWS_A_ROW).max(DRAWN_AT_ONCE);
    let width = accepted.cardinalities().len();
    let mut codes: Vec<Code> = Vec::new();
    let mut drawn = 0;
    while drawn < limit && codes.len() < config.size * width {
        stop.check()?;
        let rows = sampler.rows(drawn..drawn + DRAWN_AT_ONCE, seed);
        drawn += DRAWN_AT_ONCE;
        let accepted: Vec<&[Code]> =
            rows.codes().par_chunks_exact(width).filter(|row| target.accepts(row)).collect();
        codes.extend(accepted.into_iter().flatten());
    }
    codes.truncate(config.size * width);
    let rows = dataset(accepted.cardinalities(), codes);
    let mut log_likelihoods = Vec::new();
    for codes in rows.codes().chunks(DRAWN_AT_ONCE as usize * width) {
        stop.check()?;
        log_likelihoods.extend(accepted.log_probs(&dataset(accepted.cardinalities(), codes.to_vec())));
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&left, &right| {
        let plausible = log_likelihoods[right].total_cmp(&log_likelihoods[left]);
        plausible.then_with(|| rows.row(left).cmp(rows.row(right)))
    });
    let log_likelihoods = order.iter().map(|&row| log_likelihoods[row]).collect();
    let pool = AcceptedPool::from_parts(rows.select(&order), log_likelihoods, config.neighbours);
    Ok(pool.expect("drawn rows have finite likelihoods, and are sorted"))
}

fn dataset(cardinalities: &[usize], codes: Vec<Code>) -> Dataset {
    Dataset::new(cardinalities.to_vec(), codes).expect("drawn codes fit their features")
}

#[cfg(test)]
mod tests {
    use par_circuit::{Ball, Node, NodeId};
    use par_model::classifier::Classifier;
    use par_model::pool::NeighbourSearch;

    use super::*;

    /// Accepts rows whose first code is one of these.
    struct Accepts(Vec<usize>, Vec<Code>);

    impl Classifier for Accepts {
        fn cardinalities(&self) -> &[usize] {
            &self.0
        }

        fn log_odds(&self, row: &[Code]) -> f64 {
            if self.1.contains(&row[0]) { 1.0 } else { -1.0 }
        }

        fn log_odds_gradient(&self, _: &[f32], _: &mut [f32]) -> f64 {
            unreachable!("a pool only scores rows")
        }

        fn log_odds_bounds(&self, _: &Ball) -> (f64, f64) {
            unreachable!("a pool only scores rows")
        }
    }

    fn circuit() -> Circuit {
        let leaf =
            |variable, probabilities: &[f64]| Node::Leaf { variable, probabilities: probabilities.into() };
        let root = Node::Product { children: [NodeId(0), NodeId(1)].into() };
        Circuit::new(vec![2, 3], vec![leaf(0, &[0.6, 0.4]), leaf(1, &[0.2, 0.5, 0.3]), root])
            .expect("a circuit")
    }

    fn pool(accepted: &[Code], size: usize) -> AcceptedPool {
        let config = PoolConfig { size, ..PoolConfig::default() };
        let accepts = Accepts(vec![2, 3], accepted.to_vec());
        let pool = draw_pool(
            &circuit(),
            Target { classifier: &accepts, threshold: 0.5, scale: par_model::ScoreScale::Probability },
            &config,
            1,
            Stop::never(),
        );
        pool.expect("not stopped")
    }

    #[test]
    fn only_accepted_rows_are_kept_the_most_plausible_first() {
        let pool = pool(&[1], 300);
        assert_eq!(pool.len(), 300);
        assert!(pool.rows().rows().all(|row| row[0] == 1));
        assert!(pool.log_likelihoods().is_sorted_by(|left, right| left >= right));
        assert_eq!(pool.rows().row(0), [1, 1]);
        assert!((pool.log_likelihoods()[0] - 0.2_f64.ln()).abs() < 1e-6);
    }

    #[test]
    fn the_pool_is_empty_if_the_classifier_denies_everyone() {
        let pool = pool(&[], 300);
        assert!(pool.is_empty());
        assert_eq!(pool.nearest(&[0, 0], 5, &mut NeighbourSearch::default()), []);
    }
}
