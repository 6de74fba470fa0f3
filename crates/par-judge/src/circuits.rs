//! The likelihood under circuits that were learned from held-out rows.

use par_circuit::learn::{LearnConfig, LearnSpnConfig, Learner, learn};
use par_circuit::{Circuit, Dataset, LearnError, threads};

/// Parts of the held-out rows; each is scored by a circuit of the others.
const FOLDS: usize = 5;

/// How the circuit of the judge is learned: by LearnSPN, or as a hidden Chow-Liu tree if the model's circuits were learned
/// by LearnSPN alone. A mixture chosen by held-out likelihood may have members of both kinds, which a model does not
/// tell: then the circuits share a kind, and only the rows are others.
pub(crate) fn learning(of_model: Learner, seed: u64) -> LearnConfig {
    let learner = match of_model {
        Learner::LearnSpn => Learner::Hclt,
        Learner::Hclt | Learner::Auto => Learner::LearnSpn,
    };
    LearnConfig { learner, learn_spn: LearnSpnConfig::fine(), seed, ..LearnConfig::default() }
}

/// A circuit of all rows.
pub(crate) fn circuit(rows: &Dataset, config: &LearnConfig) -> Result<Circuit, LearnError> {
    Ok(learn(rows, None, config)?.circuit)
}

/// −log p of every row by a circuit that did not see it. The order of the rows must be random.
pub(crate) fn cross_fitted(rows: &Dataset, config: &LearnConfig) -> Result<Vec<f64>, LearnError> {
    let parts = threads::map(0..FOLDS, |fold| {
        let (held_out, training): (Vec<usize>, Vec<usize>) =
            (0..rows.len()).partition(|row| row % FOLDS == fold);
        let circuit = circuit(&rows.select(&training), config)?;
        Ok(circuit.log_probs(&rows.select(&held_out)))
    });
    let parts: Vec<Vec<f64>> = parts.into_iter().collect::<Result<_, LearnError>>()?;
    Ok(parts.concat().into_iter().map(|log_prob| -log_prob).collect())
}
