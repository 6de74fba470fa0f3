//! Everything that can be told when a model is made, and the presets.

use par_circuit::LearnError;
use par_circuit::learn::{EmConfig, HcltConfig, LearnConfig, LearnSpnConfig, Learner};
use par_data::DiscretizerConfig;
use serde::{Deserialize, Serialize};

use crate::classifier::ClassifierConfig;
use crate::generator::GeneratorConfig;
use crate::pool::PoolConfig;
use crate::setting::{SettingError, check_setting};

/// How a model is made and how it answers. Saved with the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Same rows, same configuration, same seed: the same model, on any number of threads.
    pub seed: u64,
    /// The class that counts as accepted; the schema's `favourable` one unless told. All others are denied.
    pub favourable: Option<String>,
    /// Features that nobody can change, by name; those that the schema calls immutable unless told.
    pub immutable: Option<Vec<String>>,
    /// From which rows the circuits of the accepted and the denied class are learned.
    pub density: Density,
    /// How finely numbers are told apart.
    pub bins: DiscretizerConfig,
    /// The classifier.
    pub classifier: ClassifierConfig,
    /// The circuits of both classes. Hidden trees of 8 states over 4 groups of at least 500 rows unless
    /// told: a few hundredths of a nat from the best that `auto` mixes, and several times smaller.
    pub circuits: LearnConfig,
    /// The pool of accepted rows.
    pub pool: PoolConfig,
    /// The generator.
    pub generator: GeneratorConfig,
    /// What is offered.
    pub answers: AnswerConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            seed: 0,
            favourable: None,
            immutable: None,
            density: Density::default(),
            bins: DiscretizerConfig::default(),
            classifier: ClassifierConfig::default(),
            circuits: LearnConfig {
                learner: Learner::Hclt,
                hclt: HcltConfig { states: 8, groups: 4 },
                ..LearnConfig::default()
            },
            pool: PoolConfig::default(),
            generator: GeneratorConfig::default(),
            answers: AnswerConfig::default(),
        }
    }
}

impl Config {
    /// As the paper does it: LearnSPN without EM, its inputs to the generator, its losses alone, one decoded
    /// row, its local search. The paper does not give Δ_max; at one nat the answers are about as sparse as its own.
    pub fn paper() -> Self {
        Self {
            circuits: LearnConfig {
                learner: Learner::LearnSpn,
                learn_spn: LearnSpnConfig::default(),
                em: EmConfig { max_passes: 0, ..EmConfig::default() },
                ..LearnConfig::default()
            },
            generator: GeneratorConfig::paper(),
            answers: AnswerConfig {
                budget: 1000,
                price: 0.0,
                proposals: 1,
                search: LocalSearch::Paper,
                delta_max: Some(1.0),
                order: Order::Likelihood,
                ..AnswerConfig::default()
            },
            ..Self::default()
        }
    }

    /// The same with other settings in the place of its own, section by section.
    ///
    /// # Errors
    /// When there is no such setting, it is of another type, or out of its range.
    pub fn laid_over(&self, settings: toml::Table) -> Result<Self, ConfigError> {
        let form = |message: &str| ConfigError::Form { message: message.trim_end().replace('\n', ", ") };
        let mut all = toml::Table::try_from(self).map_err(|error| form(&error.to_string()))?;
        lay_over(&mut all, settings);
        let config: Self = all.try_into().map_err(|error: toml::de::Error| form(&error.to_string()))?;
        config.check()?;
        Ok(config)
    }

    /// # Errors
    /// When a setting is out of its range. Those of the bins are checked when they are fitted.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.classifier.check()?;
        self.circuits.check().map_err(ConfigError::Circuits)?;
        self.pool.check()?;
        self.generator.check()?;
        Ok(self.answers.check()?)
    }
}

fn lay_over(settings: &mut toml::Table, others: toml::Table) {
    for (key, other) in others {
        match (settings.get_mut(&key), other) {
            (Some(toml::Value::Table(section)), toml::Value::Table(other)) => lay_over(section, other),
            (_, other) => {
                settings.insert(key, other);
            }
        }
    }
}

/// Which training rows a circuit of a class is learned from.
///
/// # Paper
/// The paper leaves open whether p⁺ and p⁻ are those of the labels or of the classifier's decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Density {
    /// Those whose label is of the class.
    #[default]
    Labels,
    /// Those that the classifier decides to be of the class. No label is needed then for a classifier that was given.
    Decisions,
}

/// What is offered to a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnswerConfig {
    /// How many features change at most, where fewer do not leave a person without an answer. At least 1; 4
    /// unless told.
    pub budget: usize,
    /// By how many nats each further change has to make the row likelier. At least 0; 1.25 unless told: three
    /// and a half times as likely.
    pub price: f64,
    /// How many of the generator's most probable rows are looked at. In `1..=1000`; 24 unless told.
    pub proposals: usize,
    /// The local search of `refine`; `swap` unless told.
    pub search: LocalSearch,
    /// How much log p⁺ may fall when the paper's local search takes a change back (Δ_max); any amount unless
    /// told.
    pub delta_max: Option<f64>,
    /// Nodes after which an exact search stops with what it has. A node takes some ten microseconds on tables
    /// of ten or twenty features, half a millisecond on a hundred. At least 1; 200,000 unless told.
    pub nodes: usize,
    /// Which way comes first, unless a request says it; `balanced` unless told.
    pub order: Order,
}

/// Which way comes first, and which further ones are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// First comes a way that nothing shown beats in both: none of the others, and no point of the frontier, has fewer
    /// changes and at least its probability. No way is shown that another one found equals or betters in changes,
    /// probability and likelihood at once.
    #[default]
    Balanced,
    /// The likeliest first, where each change has to be worth its price, whatever the probability.
    Likelihood,
}

impl Order {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Balanced, Self::Likelihood];

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.name() == name)
    }

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Balanced => "balanced",
            Self::Likelihood => "likelihood",
        }
    }

    /// Which way comes first, in a few words.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Balanced => "One that nothing shown beats in both changes and probability",
            Self::Likelihood => "The likeliest, where each change is worth its price",
        }
    }
}

/// A local search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LocalSearch {
    /// Trades one change for another as long as that pays.
    Swap,
    /// The paper's two phases.
    Paper,
}

impl Default for AnswerConfig {
    fn default() -> Self {
        Self {
            budget: 4,
            price: 1.25,
            proposals: 24,
            search: LocalSearch::Swap,
            delta_max: None,
            nodes: 200_000,
            order: Order::default(),
        }
    }
}

impl AnswerConfig {
    fn check(&self) -> Result<(), SettingError> {
        let at_least_one = |key, count: usize| check_setting(key, count, "at least 1", count >= 1);
        let amount = |key, amount: f64| {
            check_setting(key, amount, "a finite number, at least 0", amount >= 0.0 && amount.is_finite())
        };
        at_least_one("answers.budget", self.budget)?;
        at_least_one("answers.nodes", self.nodes)?;
        let proposals = self.proposals;
        check_setting("answers.proposals", proposals, "1 to 1000", (1..=1000).contains(&proposals))?;
        amount("answers.price", self.price)?;
        self.delta_max.map_or(Ok(()), |most| amount("answers.delta_max", most))
    }
}

/// Why settings cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A setting of the circuits is out of its range.
    #[error("`circuits`: {0}")]
    Circuits(LearnError),
    /// A setting is out of its range.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// There is no such setting, or it is of another type.
    #[error("{message}")]
    Form {
        /// Which, and what was expected.
        message: String,
    },
}
