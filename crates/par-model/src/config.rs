//! The settings of a model, and the presets.

use par_circuit::LearnError;
use par_circuit::learn::{EmConfig, HcltConfig, LearnConfig, LearnSpnConfig, Learner};
use par_data::DiscretizerConfig;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
    /// The accepted class, or a list of several; the schema's `favourable` ones by default. All others are denied.
    #[serde(deserialize_with = "one_or_several", serialize_with = "text_or_list")]
    pub favourable: Option<Vec<String>>,
    /// Further features that never change, by name, besides those that cannot change by the schema.
    pub immutable: Option<Vec<String>>,
    /// Which training rows the circuits of both classes are learned from.
    pub density: Density,
    /// Of a longer table, so many rows are learned from, drawn at random; 200,000 unless told, 0 for all. Categories,
    /// extremes and the counts of the classes are those of all rows.
    pub sample: usize,
    /// How numbers are divided into bins.
    pub bins: DiscretizerConfig,
    /// The classifier.
    pub classifier: ClassifierConfig,
    /// How many other versions of the classifier are trained, each on rows drawn with replacement, so that requests can ask
    /// for ways that all or most of them accept. At most 100; 0 by default.
    pub versions: usize,
    /// The circuits of both classes. By default hidden trees of 8 states over 4 groups of at least 500 rows: a few
    /// hundredths of a nat from the best that `auto` mixes, and several times smaller.
    pub circuits: LearnConfig,
    /// The pool of accepted rows.
    pub pool: PoolConfig,
    /// The generator.
    pub generator: GeneratorConfig,
    /// How answers are searched for, and which ways they offer.
    pub answers: AnswerConfig,
}

/// Fewer rows would not be worth learning from.
const LEAST_SAMPLE: usize = 100;
/// More versions would take longer to train than they add.
const MOST_VERSIONS: usize = 100;

impl Default for Config {
    fn default() -> Self {
        Self {
            seed: 0,
            favourable: None,
            immutable: None,
            density: Density::default(),
            sample: 200_000,
            bins: DiscretizerConfig::default(),
            classifier: ClassifierConfig::default(),
            versions: 0,
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
    /// The paper's settings: LearnSPN without EM, its generator inputs and losses, one decoded row, its local search.
    /// The paper does not give Δ_max; at one nat the answers are about as sparse as its own.
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
                effort_weight: 0.0,
                margin: 0.0,
                min_percentile: 0.0,
                order: Order::Likelihood,
                values: Values::Nearest,
                ..AnswerConfig::default()
            },
            ..Self::default()
        }
    }

    /// These settings, overridden by `settings`, section by section.
    ///
    /// # Errors
    /// When a setting is unknown, of another type, or out of its range.
    pub fn laid_over(&self, settings: toml::Table) -> Result<Self, ConfigError> {
        let form = |message: &str| ConfigError::Form { message: message.trim_end().replace('\n', ", ") };
        let mut all = toml::Table::try_from(self).map_err(|error| form(&error.to_string()))?;
        merge(&mut all, settings);
        let config: Self = all.try_into().map_err(|error: toml::de::Error| form(&error.to_string()))?;
        config.check()?;
        Ok(config)
    }

    /// Checks every setting except those of the bins, which fitting checks.
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let is_large = self.sample == 0 || self.sample >= LEAST_SAMPLE;
        check_setting("sample", self.sample, "0 for all rows, or at least 100", is_large)?;
        self.classifier.check()?;
        check_setting("versions", self.versions, "at most 100", self.versions <= MOST_VERSIONS)?;
        self.circuits.check().map_err(ConfigError::Circuits)?;
        self.pool.check()?;
        self.generator.check()?;
        Ok(self.answers.check()?)
    }
}

/// A single name as text, several as a list.
fn text_or_list<S: Serializer>(names: &Option<Vec<String>>, serializer: S) -> Result<S::Ok, S::Error> {
    match names.as_deref() {
        None => serializer.serialize_none(),
        Some([name]) => serializer.serialize_some(name),
        Some(names) => serializer.serialize_some(names),
    }
}

/// A text, or a list of texts.
fn one_or_several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected the name of a class, or a list of names")]
    enum Names {
        One(String),
        Several(Vec<String>),
    }
    Ok(Option::deserialize(deserializer)?.map(|names| match names {
        Names::One(name) => vec![name],
        Names::Several(names) => names,
    }))
}

fn merge(settings: &mut toml::Table, others: toml::Table) {
    for (key, other) in others {
        match (settings.get_mut(&key), other) {
            (Some(toml::Value::Table(section)), toml::Value::Table(other)) => merge(section, other),
            (_, other) => {
                settings.insert(key, other);
            }
        }
    }
}

/// Which training rows the circuit of a class is learned from.
///
/// # Paper
/// The paper leaves open whether p⁺ and p⁻ follow the labels or the classifier's decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Density {
    /// Rows whose label is the class.
    #[default]
    Labels,
    /// Rows that the classifier assigns to the class. An external classifier then needs no labels.
    Decisions,
}

/// How answers are searched for, and which ways they offer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnswerConfig {
    /// The most changes of a way; more only for a person who would otherwise have none. At least 1; 4 by default.
    pub budget: usize,
    /// How many nats likelier each further change must make the row. At least 0; 1.25 by default: three and a half
    /// times as likely.
    pub price: f64,
    /// How many of the generator's most probable rows are tried. In `1..=1000`; 24 by default.
    pub proposals: usize,
    /// The local search of `refine`; `swap` by default.
    pub search: LocalSearch,
    /// How far log p⁺ may fall when the paper's local search takes a change back (Δ_max); without bound by default.
    pub delta_max: Option<f64>,
    /// The most nodes of an exact search, which then returns its best so far. A node takes some ten microseconds with
    /// ten or twenty features, half a millisecond with a hundred. At least 1; 200,000 by default.
    pub nodes: usize,
    /// The most passes over the accepted circuit of a search of `refine`, each of which scores all single changes of a
    /// row; on circuits of more than 4,000 edges proportionally fewer. At least 1; 400 by default.
    pub passes: usize,
    /// What a unit of effort costs, in nats. At least 0; 1 by default.
    pub effort_weight: f64,
    /// How far above the threshold a way should be; of a regression in spreads, each the power of two next to the label's
    /// standard deviation. In `0..1`; 0.05 by default.
    pub margin: f64,
    /// The share of accepted people beside whom a way must be no rarer, given what the person cannot change. In
    /// `0..=1`; 0.01 by default. Without such a way there is none; with 0 every accepted row counts.
    pub min_percentile: f64,
    /// Which way comes first if the request has no order; `balanced` by default.
    pub order: Order,
    /// Which number of a bin ways in the order by likelihood name; `common` by default. Ways of least effort name the
    /// nearest.
    pub values: Values,
}

/// Which number of a bin a way names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Values {
    /// One that is common among accepted people, near the same place among them as the person's own number has in its
    /// own bin.
    #[default]
    Common,
    /// The nearest to the person's own.
    Nearest,
}

/// Which way comes first, and which further ones are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// First the way of least effort among those that are plausible and sure; if there is none, the likeliest that is
    /// worth its changes and its effort. No way is shown that another dominates in effort, changes, probability,
    /// plausibility and time.
    #[default]
    Balanced,
    /// First the likeliest way whose changes are each worth their price, whatever its effort.
    Likelihood,
}

impl Order {
    /// All orders.
    pub const ALL: [Self; 2] = [Self::Balanced, Self::Likelihood];

    /// The order of that name.
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
            Self::Balanced => "The least effort of all that are plausible and sure",
            Self::Likelihood => "The likeliest, where each change is worth its price",
        }
    }
}

/// A local search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LocalSearch {
    /// Replaces one change by another as long as that improves the row.
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
            passes: 400,
            effort_weight: 1.0,
            margin: 0.05,
            min_percentile: 0.01,
            order: Order::default(),
            values: Values::default(),
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
        at_least_one("answers.passes", self.passes)?;
        let proposals = self.proposals;
        check_setting("answers.proposals", proposals, "1 to 1000", (1..=1000).contains(&proposals))?;
        amount("answers.price", self.price)?;
        amount("answers.effort_weight", self.effort_weight)?;
        let margin = self.margin;
        check_setting("answers.margin", margin, "at least 0 and below 1", (0.0..1.0).contains(&margin))?;
        let share = self.min_percentile;
        check_setting("answers.min_percentile", share, "0 to 1", (0.0..=1.0).contains(&share))?;
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
    /// A setting is unknown or of another type.
    #[error("{message}")]
    Form {
        /// The setting, and what was expected.
        message: String,
    },
}
