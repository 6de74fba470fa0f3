//! The inputs, the size and the training of a generator.

use serde::{Deserialize, Serialize};

use crate::setting::{SettingError, check_setting};

/// The generator's inputs from a factual, besides log p⁺(x) and the neighbourhood embedding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Conditioning {
    /// The codes of the features that the schema marks immutable.
    ///
    /// # Paper
    /// "Recourse Generator": z = \[x_I, log p⁺(x), h\].
    Paper,
    /// The codes of all features, and which of them are free to change: a person's own locks need no retraining.
    Extended,
}

/// How a generator is built and trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GeneratorConfig {
    /// The inputs from a factual; `extended` by default.
    pub conditioning: Conditioning,
    /// Widths of the two hidden layers. Each in `1..=4096`; 128 by default.
    pub hidden: [usize; 2],
    /// Width of both layers that describe one neighbour, ψ. In `1..=4096`; 32 by default.
    pub encoder: usize,
    /// Width of the neighbourhood embedding h. In `1..=4096`; 16 by default.
    pub embedding: usize,
    /// Denied rows to learn from. In `1..=1000000`; 8000 by default.
    pub examples: usize,
    /// Steps of Adam. In `0..=1000000`; 1000 by default: on the benchmark tables, twice as many answer no better.
    pub steps: usize,
    /// Examples per step. In `1..=100000`; 64 by default.
    pub batch: usize,
    /// Learning rate of the first step. In `0.0..=1.0`, above 0; 0.002 by default.
    pub learning_rate: f64,
    /// The share of the learning rate that is left at the last step. In `0.0..=1.0`; 0.05 by default.
    pub decay: f64,
    /// The share of examples with random locks beyond the schema's. In `0.0..=1.0`; 0.5 by default.
    pub locked: f64,
    /// The most features that such an example locks, as a share. In `0.0..=1.0`; 0.7 by default.
    pub lock_rate: f64,
    /// How often an example's code is unknown where values may be missing. In `0.0..=1.0`; 0.05 by default.
    pub unknown_rate: f64,
    /// Steps between the points of the learning curves. At least 1; 50 by default.
    pub record_every: usize,
    /// The weights of the objective.
    pub loss: LossConfig,
}

impl Default for GeneratorConfig {
    fn default() -> Self {
        Self {
            conditioning: Conditioning::Extended,
            hidden: [128, 128],
            encoder: 32,
            embedding: 16,
            examples: 8000,
            steps: 1000,
            batch: 64,
            learning_rate: 2e-3,
            decay: 0.05,
            locked: 0.5,
            lock_rate: 0.7,
            unknown_rate: 0.05,
            record_every: 50,
            loss: LossConfig::default(),
        }
    }
}

impl GeneratorConfig {
    /// The paper's inputs and losses alone: no teacher, no random locks.
    pub fn paper() -> Self {
        Self { conditioning: Conditioning::Paper, locked: 0.0, loss: LossConfig::paper(), ..Self::default() }
    }

    /// # Errors
    /// When a setting is out of its range.
    pub fn check(&self) -> Result<(), SettingError> {
        let width = |key, width: usize| check_setting(key, width, "1 to 4096", (1..=4096).contains(&width));
        let count = |key, count: usize, least: usize, most: usize, expected| {
            check_setting(key, count, expected, (least..=most).contains(&count))
        };
        let share =
            |key, share: f64| check_setting(key, share, "a number from 0 to 1", (0.0..=1.0).contains(&share));
        self.hidden.iter().try_for_each(|&hidden| width("generator.hidden", hidden))?;
        width("generator.encoder", self.encoder)?;
        width("generator.embedding", self.embedding)?;
        count("generator.examples", self.examples, 1, 1_000_000, "1 to 1000000")?;
        count("generator.steps", self.steps, 0, 1_000_000, "0 to 1000000")?;
        count("generator.batch", self.batch, 1, 100_000, "1 to 100000")?;
        count("generator.record_every", self.record_every, 1, usize::MAX, "at least 1")?;
        let rate = self.learning_rate;
        check_setting(
            "generator.learning_rate",
            rate,
            "a number above 0, at most 1",
            rate > 0.0 && rate <= 1.0,
        )?;
        share("generator.decay", self.decay)?;
        share("generator.locked", self.locked)?;
        share("generator.lock_rate", self.lock_rate)?;
        share("generator.unknown_rate", self.unknown_rate)?;
        self.loss.check()
    }
}

/// The weight of each term of the objective. A term of weight 0 is not computed.
///
/// # Paper
/// λ_val L_val + λ_ppt (α L_prox + (1 − α)(λ₊ L₊ + λ₋ L₋)) + λ_sparse L_sparse + λ_ent L_ent of "Total
/// Objective". The paper gives no values. Departures: the term for teaching, and `at_threshold`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LossConfig {
    /// λ_val. In `0.0..=1000000.0`, as are all weights; 5 by default.
    pub validity: f64,
    /// Whether L_val measures the distance from the threshold instead of from even odds (as in the paper); the same for
    /// a threshold of 0.5. `true` by default.
    pub at_threshold: bool,
    /// α, between plausibility at 0 and proximity at 1. In `0.0..=1.0`; 0.5 by default.
    pub alpha: f64,
    /// λ_ppt; 1 by default.
    pub plausibility_proximity: f64,
    /// λ₊; 1 by default.
    pub accepted: f64,
    /// λ₋; 0.05 by default.
    pub denied: f64,
    /// λ_sparse; 0.5 by default.
    pub sparsity: f64,
    /// λ_ent; 0.1 by default.
    pub entropy: f64,
    /// B, the changes that cost nothing; 3 by default.
    pub budget: f64,
    /// The weight of the cross-entropy towards a teacher's recourse; 2 by default.
    pub teaching: f64,
}

impl Default for LossConfig {
    fn default() -> Self {
        Self { at_threshold: true, teaching: 2.0, ..Self::paper() }
    }
}

impl LossConfig {
    /// The paper's terms alone.
    pub fn paper() -> Self {
        Self {
            validity: 5.0,
            at_threshold: false,
            alpha: 0.5,
            plausibility_proximity: 1.0,
            accepted: 1.0,
            denied: 0.05,
            sparsity: 0.5,
            entropy: 0.1,
            budget: 3.0,
            teaching: 0.0,
        }
    }

    fn check(&self) -> Result<(), SettingError> {
        let weights = [
            ("generator.loss.validity", self.validity),
            ("generator.loss.plausibility_proximity", self.plausibility_proximity),
            ("generator.loss.accepted", self.accepted),
            ("generator.loss.denied", self.denied),
            ("generator.loss.sparsity", self.sparsity),
            ("generator.loss.entropy", self.entropy),
            ("generator.loss.budget", self.budget),
            ("generator.loss.teaching", self.teaching),
        ];
        for (key, weight) in weights {
            check_setting(key, weight, "a number from 0 to 1000000", (0.0..=1e6).contains(&weight))?;
        }
        check_setting(
            "generator.loss.alpha",
            self.alpha,
            "a number from 0 to 1",
            (0.0..=1.0).contains(&self.alpha),
        )
    }

    /// The weight of L_prox in the objective.
    pub fn proximity_weight(&self) -> f64 {
        self.plausibility_proximity * self.alpha
    }

    /// The weight of L₊ in the objective.
    pub fn accepted_weight(&self) -> f64 {
        self.plausibility_proximity * (1.0 - self.alpha) * self.accepted
    }

    /// The weight of L₋ in the objective.
    pub fn denied_weight(&self) -> f64 {
        self.plausibility_proximity * (1.0 - self.alpha) * self.denied
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_presets_are_within_their_ranges() {
        assert_eq!(GeneratorConfig::default().check(), Ok(()));
        assert_eq!(GeneratorConfig::paper().check(), Ok(()));
        assert_eq!(GeneratorConfig::paper().loss.teaching, 0.0);
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let message = |config: GeneratorConfig| config.check().expect_err("a wrong setting").to_string();
        let mut config = GeneratorConfig { hidden: [128, 0], ..GeneratorConfig::default() };
        assert_eq!(message(config.clone()), "`generator.hidden` is 0, expected 1 to 4096");
        config.hidden = [1, 1];
        config.loss.alpha = 1.5;
        assert_eq!(message(config.clone()), "`generator.loss.alpha` is 1.5, expected a number from 0 to 1");
        config.loss.alpha = 1.0;
        config.loss.entropy = f64::NAN;
        assert_eq!(
            message(config.clone()),
            "`generator.loss.entropy` is NaN, expected a number from 0 to 1000000"
        );
        config.loss.entropy = 1e7;
        assert_eq!(
            message(config),
            "`generator.loss.entropy` is 10000000, expected a number from 0 to 1000000"
        );
    }

    #[test]
    fn unknown_keys_are_refused() {
        assert!(serde_json::from_str::<GeneratorConfig>(r#"{"loss": {"beta": 1}}"#).is_err());
        let config: GeneratorConfig = serde_json::from_str(r#"{"conditioning": "paper"}"#).expect("a config");
        assert_eq!(config.conditioning, Conditioning::Paper);
    }
}
