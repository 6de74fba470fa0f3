//! The request of one person, read from [`json`] or from [`text`].

pub mod json;
pub mod text;

use std::time::Duration;

use par_data::schema::{Effort, parse_number};
use par_data::{Limits, Wishes};
use par_model::{Model, Order, Values};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an answer is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// By the generator; where none of its proposals can be offered, change by change to a first row that can.
    Generate,
    /// By the generator and a local search.
    #[default]
    Refine,
    /// By both, and a branch and bound that proves the answer.
    Exact,
}

impl Method {
    /// All methods, the fastest first.
    pub const ALL: [Self; 3] = [Self::Generate, Self::Refine, Self::Exact];

    /// The method of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Generate => "generate",
            Self::Refine => "refine",
            Self::Exact => "exact",
        }
    }

    /// What it does, in a few words.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Generate => {
                "By the generator, not improved; without an accepted proposal, change by change"
            }
            Self::Refine => "By the generator and a local search",
            Self::Exact => "By both and a branch and bound that proves the answer",
        }
    }
}

/// What one person asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// How to search; [`Method::Refine`] by default.
    pub method: Method,
    /// Features (positions) that this person keeps, besides the schema's immutable ones.
    pub locks: Vec<usize>,
    /// The values that features may change to, besides the schema's constraints. Keeping a value is always allowed.
    pub limits: Limits,
    /// The most changes of a way. By default the model's budget, and more only if there is no other way.
    pub budget: Option<usize>,
    /// The score that counts as accepted, or a surer one: a probability in `0..=1`, or of a regression a number in the
    /// unit of the label; the model's by default.
    pub threshold: Option<f64>,
    /// How far beyond the threshold a way should be, in `0..1` or in the unit of the label; the model's margin by
    /// default. Where no way is, ways that reach the threshold are offered, and marked.
    pub margin: Option<f64>,
    /// The share of accepted people, in `0..=1`, beside whom a way must be no rarer, given what the person cannot
    /// change; the model's by default. Where only rarer ways are known, there is none.
    pub min_percentile: Option<f64>,
    /// Features (positions) whose effort has another weight for this person.
    pub efforts: Vec<(usize, f64)>,
    /// The most effort of a way.
    pub max_effort: Option<f64>,
    /// The most months of a way.
    pub within: Option<u32>,
    /// Whether nothing may get worse, where the schema says which direction is better.
    pub no_harm: bool,
    /// The share of the classifier's versions that must accept a way, above 0 and at most 1, besides the deployed one; without it
    /// only the deployed one must. A model without versions has none to ask.
    pub robust: Option<f64>,
    /// A way must be accepted by every network whose weights differ by at most this share of the largest weight of
    /// their layer; of trees by all whose thresholds differ by at most this share of the spread of their column. Above 0
    /// and at most 1.
    pub certify: Option<f64>,
    /// Whether a way must stay accepted when any one of its changes falls a step short.
    pub slack: bool,
    /// How many ways to find, at least 1. Each leaves out a change of every way before it.
    pub count: usize,
    /// Which way comes first; the model's order by default.
    pub order: Option<Order>,
    /// The time after which the search ends with what it has; none by default. The answer then depends on how fast the
    /// machine is. Without a clock, as in a browser, it is ignored.
    pub deadline: Option<Duration>,
    /// Whether to name obstacles of the schema if there is no way: for an auditor, not for the applicant, who cannot
    /// change them.
    pub auditor: bool,
}

impl Request {
    /// The threshold of the request; by default that of the model.
    pub fn threshold_for(&self, model: &Model) -> f64 {
        self.threshold.unwrap_or(model.threshold())
    }

    /// The lowest percentile of a way; by default that of the model.
    pub fn min_percentile_for(&self, model: &Model) -> f64 {
        self.min_percentile.unwrap_or(model.config().answers.min_percentile)
    }

    /// The order of the request; by default that of the model.
    pub(crate) fn order_for(&self, model: &Model) -> Order {
        self.order.unwrap_or(model.config().answers.order)
    }

    /// What the person asks for, besides the schema's constraints.
    pub fn wishes_for(&self, model: &Model) -> Wishes<'_> {
        Wishes {
            locks: &self.locks,
            limits: &self.limits,
            efforts: &self.efforts,
            max_effort: self.max_effort,
            within: self.within,
            no_harm: self.no_harm,
            common: self.order_for(model) == Order::Likelihood
                && model.config().answers.values == Values::Common,
        }
    }
}

impl Default for Request {
    fn default() -> Self {
        Self {
            method: Method::default(),
            locks: Vec::new(),
            limits: Limits::default(),
            budget: None,
            threshold: None,
            margin: None,
            min_percentile: None,
            efforts: Vec::new(),
            max_effort: None,
            within: None,
            no_harm: false,
            robust: None,
            certify: None,
            slack: false,
            count: 1,
            order: None,
            deadline: None,
            auditor: false,
        }
    }
}

/// The names of the options of a request, in JSON and in text.
pub const OPTIONS: [&str; 18] = [
    "method",
    "count",
    "order",
    "budget",
    "threshold",
    "margin",
    "min_percentile",
    "lock",
    "limit",
    "effort",
    "max_effort",
    "within",
    "no_harm",
    "robust",
    "certify",
    "slack",
    "deadline",
    "auditor",
];

/// The highest budget: far more than any number of features.
pub const MAX_BUDGET: usize = 1_000_000_000;

/// A value that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[error("`{path}`: expected {expected}, found {found}")]
pub struct Problem {
    /// Its place, as a JSON pointer; `?name` for a parameter of a URL.
    pub path: String,
    /// The value found there.
    pub found: String,
    /// The values expected there.
    pub expected: String,
}

/// What the lowest percentile is, in words.
const MIN_PERCENTILE: &str = "a number from 0 to 1";
/// What the share of versions that must accept is, in words.
const ROBUST: &str = "true, false, or a share above 0 and at most 1";
/// What is expected instead, where a model has no other versions of its classifier.
const NO_VERSIONS: &str =
    "nothing: the model has no other versions of its classifier; `par fit --versions 8` trains some";
/// How far weights or thresholds may move, in words.
const CERTIFY: &str = "a share above 0 and at most 1";
/// What the most effort is, in words.
const MAX_EFFORT: &str = "a number above 0";
/// What a duration is, in words.
const DURATION: &str = "a duration such as `6 months` or `1 year`";
/// What the weight of an effort is, in words.
const EFFORT: &str = "easy, some, hard, very hard or a number above 0";

/// What a deadline is, in words.
const DEADLINE: &str = "a time such as `50ms` or `2s`: a whole number of ms or s, up to `9999s`";

/// Whether a number is a share of something, and not none of it.
fn is_share(number: f64) -> bool {
    number > 0.0 && number <= 1.0
}

/// The time of a deadline: a whole number of milliseconds or seconds.
fn deadline(text: &str) -> Option<Duration> {
    let (number, time): (&str, fn(u64) -> Duration) = match text.strip_suffix("ms") {
        Some(number) => (number, Duration::from_millis),
        None => (text.strip_suffix('s')?, Duration::from_secs),
    };
    let digits = if text.ends_with("ms") { 7 } else { 4 };
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
    (is_number && number.len() <= digits).then(|| number.parse().ok().map(time))?
}

/// The weight of an effort, by its word.
fn effort_word(text: &str) -> Option<f64> {
    Effort::WORDS.iter().find(|(word, _)| *word == text).map(|(_, weight)| *weight)
}

/// The weight of an effort, by its word or as a number.
fn effort_weight(text: &str) -> Option<f64> {
    let text = text.trim();
    effort_word(text).or_else(|| parse_number(text).filter(|weight| *weight > 0.0))
}

/// The whole months that a duration holds; `None` beyond a century.
fn whole_months(months: f64) -> Option<u32> {
    (months <= 1200.0).then_some((months + 1e-9).floor() as u32)
}

fn count_words(most: usize) -> String {
    match most {
        usize::MAX => "a whole number, at least 1".to_string(),
        most => format!("a whole number from 1 to {most}"),
    }
}
