//! What one person asks for, and how it is read: from [`json`], or from [`text`].

pub mod json;
pub mod text;

use par_data::Limits;
use par_model::Order;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an answer is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// By the generator alone.
    Generate,
    /// By the generator and a local search.
    #[default]
    Refine,
    /// By both and a branch and bound that proves the answer.
    Exact,
}

impl Method {
    /// All of them, the quickest first.
    pub const ALL: [Self; 3] = [Self::Generate, Self::Refine, Self::Exact];

    /// The one of that name.
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
            Self::Generate => "By the generator alone",
            Self::Refine => "By the generator and a local search",
            Self::Exact => "By both and a branch and bound that proves the answer",
        }
    }
}

/// What one person asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// How to search; [`Method::Refine`] unless told.
    pub method: Method,
    /// Features (positions) that this person cannot change, besides those that nobody can.
    pub locks: Vec<usize>,
    /// What this person lets features move to, besides what the schema says for everybody. What they have they may keep.
    pub limits: Limits,
    /// How many features may change at most. Unless told, as few as the model's configuration says, and
    /// more only if there is no other way.
    pub budget: Option<usize>,
    /// The probability of acceptance from which on a row counts as accepted, in `0..=1`; the model's unless told.
    pub threshold: Option<f64>,
    /// How many ways to find, at least 1. Each leaves out a change of every way before it.
    pub count: usize,
    /// Which of them comes first; the model's configuration says it unless told.
    pub order: Option<Order>,
    /// Whether, where there is no way, to look for what of the schema stands in it: for an auditor, and not for the
    /// applicant, who is never told to change what nobody can.
    pub auditor: bool,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            method: Method::default(),
            locks: Vec::new(),
            limits: Limits::default(),
            budget: None,
            threshold: None,
            count: 1,
            order: None,
            auditor: false,
        }
    }
}

/// The names of the options of a request, in JSON and in text.
pub const OPTIONS: [&str; 8] =
    ["method", "count", "order", "budget", "threshold", "lock", "limit", "auditor"];

/// The highest budget: far more than there are features.
pub const MAX_BUDGET: usize = 1_000_000_000;

/// A value that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[error("`{path}`: expected {expected}, found {found}")]
pub struct Problem {
    /// Where it stands, as a JSON pointer; `?name` for a parameter of an address.
    pub path: String,
    /// What stands there.
    pub found: String,
    /// What could stand there.
    pub expected: String,
}

fn count_words(most: usize) -> String {
    match most {
        usize::MAX => "a whole number, at least 1".to_string(),
        most => format!("a whole number from 1 to {most}"),
    }
}
