//! Learning circuits from rows: [`learn`] with a [`LearnConfig`].

mod auto;
mod base_rates;
mod chow_liu;
mod cluster;
mod columns;
mod em;
mod hclt;
mod learn_spn;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::auto::Trial;
pub use self::em::EmConfig;
pub use self::hclt::HcltConfig;
pub use self::learn_spn::LearnSpnConfig;
use crate::{Circuit, Dataset, LearnError, Stop};

/// An algorithm that learns a circuit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Learner {
    /// LearnSPN, then EM.
    LearnSpn,
    /// A hidden Chow-Liu tree, trained by EM.
    Hclt,
    /// Several of both, mixed by their held-out likelihood.
    #[default]
    Auto,
}

impl fmt::Display for Learner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::LearnSpn => "learnspn",
            Self::Hclt => "hclt",
            Self::Auto => "auto",
        })
    }
}

/// Settings of [`learn`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LearnConfig {
    /// The algorithm; [`Learner::Auto`] unless told.
    pub learner: Learner,
    /// For [`Learner::LearnSpn`].
    pub learn_spn: LearnSpnConfig,
    /// For [`Learner::Hclt`].
    pub hclt: HcltConfig,
    /// For all learners; `max_passes = 0` skips EM.
    pub em: EmConfig,
    /// [`Learner::Auto`] adds no member that would take the mixture beyond this many edges; 500,000 unless
    /// told. If every circuit has more, the smallest is returned.
    pub max_edges: usize,
    /// The same rows, settings and seed give the same circuit on any number of threads.
    pub seed: u64,
}

impl Default for LearnConfig {
    fn default() -> Self {
        Self {
            learner: Learner::default(),
            learn_spn: LearnSpnConfig::default(),
            hclt: HcltConfig::default(),
            em: EmConfig::default(),
            max_edges: 500_000,
            seed: 0,
        }
    }
}

impl LearnConfig {
    /// # Errors
    /// When a setting is out of its range.
    pub fn check(&self) -> Result<(), LearnError> {
        self.learn_spn.check()?;
        self.hclt.check()?;
        self.em.check()
    }
}

/// A learned circuit, and the trials that led to it.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The circuit.
    pub circuit: Circuit,
    /// Mean log-probability of the held-out rows, under circuits that were not trained on them; of the
    /// training rows where there were fewer than five.
    pub held_out: f64,
    /// All trials, in order.
    pub trials: Vec<Trial>,
}

/// Learns a circuit from rows.
///
/// Without `valid`, some of the rows are held out for scoring, and the circuits are trained on the others.
///
/// ```
/// use par_circuit::Dataset;
/// use par_circuit::learn::{LearnConfig, learn};
///
/// // The second column copies the first.
/// let rows = (0..200).flat_map(|row| [row % 2, row % 2]).collect();
/// let rows = Dataset::new(vec![2, 2], rows)?;
/// let learned = learn(&rows, None, &LearnConfig::default())?;
/// assert!(learned.circuit.mean_log_prob(&rows) > -0.75);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When there are no rows, `valid` has other variables, or a setting is out of range.
pub fn learn(rows: &Dataset, valid: Option<&Dataset>, config: &LearnConfig) -> Result<Learned, LearnError> {
    learn_with_progress(rows, valid, config, &mut |_| {}, Stop::never())
}

/// [`learn`], which reports every finished trial to `progress` and which `stop` can end.
///
/// # Errors
/// As [`learn`], and [`LearnError::Stopped`].
pub fn learn_with_progress(
    rows: &Dataset,
    valid: Option<&Dataset>,
    config: &LearnConfig,
    progress: &mut dyn FnMut(&Trial),
    stop: Stop<'_>,
) -> Result<Learned, LearnError> {
    if rows.is_empty() {
        return Err(LearnError::NoRows);
    }
    if valid.is_some_and(|valid| valid.cardinalities() != rows.cardinalities()) {
        return Err(LearnError::OtherVariables);
    }
    config.check()?;
    Ok(auto::learn(rows, valid.filter(|valid| !valid.is_empty()), config, progress, stop)?)
}
