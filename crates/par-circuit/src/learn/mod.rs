//! From rows to circuits: [`learn`] with a [`LearnConfig`].

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

/// A way to learn a circuit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Learner {
    /// LearnSPN, then EM.
    LearnSpn,
    /// A hidden Chow-Liu tree, trained by EM.
    Hclt,
    /// Several of both, mixed as far as held-out rows ask for it.
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

/// How to learn a circuit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LearnConfig {
    /// Which way; [`Learner::Auto`] unless told.
    pub learner: Learner,
    /// For [`Learner::LearnSpn`].
    pub learn_spn: LearnSpnConfig,
    /// For [`Learner::Hclt`].
    pub hclt: HcltConfig,
    /// For all of them; `max_passes = 0` leaves EM out.
    pub em: EmConfig,
    /// [`Learner::Auto`] stops mixing before a circuit has more edges than this; 500,000 unless told. Where
    /// even the smallest trial has more, that is the one.
    pub max_edges: usize,
    /// Same rows, same settings, same seed: the same circuit, on any number of threads.
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

/// A circuit, and how it was found.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The circuit.
    pub circuit: Circuit,
    /// Mean log-probability of rows that its parts were not trained on when they were chosen; of the
    /// training rows themselves where there were fewer than five, and none could be spared.
    pub held_out: f64,
    /// What was tried, in order.
    pub trials: Vec<Trial>,
}

/// Learns a circuit from rows.
///
/// Without `valid`, some of the rows are held out to choose by, and the rest trained on.
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

/// [`learn`], telling of every trial as it ends, unless it is stopped.
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
