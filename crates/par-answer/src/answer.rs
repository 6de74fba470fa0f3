//! The answer to one person: the ways forward, or why there is none.

use par_circuit::Code;
use par_data::{Decoded, Restriction};
use par_model::classifier::Representative;

use crate::request::Method;

/// What a way is best at, among all that is shown beside it: the other ways and the frontier. Equals share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BestAt {
    /// Nothing shown has fewer changes.
    FewestChanges,
    /// Nothing shown is likelier among accepted rows.
    MostCommon,
    /// Nothing shown has a higher probability of acceptance.
    Surest,
}

impl BestAt {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::FewestChanges => "fewest_changes",
            Self::MostCommon => "most_common",
            Self::Surest => "surest",
        }
    }
}

/// Where a request ends. Finding no way is an answer, not an error.
#[must_use]
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The row is accepted as it is.
    Accepted {
        /// The probability of acceptance.
        probability: f64,
        /// As [`Found::verified`].
        verified: bool,
    },
    /// There are ways forward.
    Found(Found),
    /// No way was found.
    NotFound(NotFound),
}

impl Answer {
    /// The ways that were found.
    pub fn ways(&self) -> &[Way] {
        match self {
            Self::Found(found) => &found.ways,
            Self::Accepted { .. } | Self::NotFound(_) => &[],
        }
    }
}

/// Ways forward.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The probability of acceptance of the row as it is.
    pub probability: f64,
    /// Whether the classifier itself accepts the ways; false where only a surrogate is available.
    pub verified: bool,
    /// In the order that was asked for.
    pub ways: Vec<Way>,
    /// What more changes would buy: the likeliest rows found, by their number of changes.
    pub frontier: Vec<Point>,
    /// Whether it is proved that fewer changes than the fewest of the frontier are not enough. One change is always the
    /// fewest; more are proved by [`Method::Exact`], or where a search had to look for more changes than usual.
    pub fewest_proved: bool,
}

/// A row that this person could become and be accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// Its codes.
    pub row: Vec<Code>,
    /// Its cells as a table writes them, in schema order.
    pub cells: Vec<String>,
    /// What is different, in schema order.
    pub changes: Vec<Change>,
    /// Its probability of acceptance.
    pub probability: f64,
    /// log p⁺ of the row.
    pub log_likelihood: f64,
    /// The share of accepted rows that are no likelier.
    pub percentile: f64,
    /// Over numeric features, the sum of |change| / median absolute deviation.
    pub similarity: f64,
    /// The same, and one for every other feature that changes.
    pub distance: f64,
    /// How it was found.
    pub method: Method,
    /// Which value of its bin each changed code stands for. What is proved is proved for these values.
    pub representative: Representative,
    /// How much likelier, in nats, a row with at most as many changes could be; zero when it is proved that
    /// there is none, absent when nobody looked. A further way is judged among those that leave out a change
    /// of every way before it.
    pub gap: Option<f64>,
    /// What it is best at.
    pub best_at: Vec<BestAt>,
}

impl Way {
    /// Whether it is proved that no row with at most as many changes is likelier.
    pub fn is_optimal(&self) -> bool {
        self.gap == Some(0.0)
    }
}

/// One feature that becomes another.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Its position in the schema.
    pub feature: usize,
    /// Its name.
    pub name: String,
    /// What it is, in the schema's words.
    pub from: String,
    /// What it becomes, in the schema's words.
    pub to: String,
    /// What it becomes, for a program.
    pub value: Decoded,
}

impl Change {
    /// In plain words: `Savings account: below 100 DM → 500 to under 1000 DM`.
    pub fn sentence(&self) -> String {
        format!("{}: {} → {}", self.name, self.from, self.to)
    }
}

/// The likeliest row found with a number of changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// What is different, in schema order.
    pub changes: Vec<Change>,
    /// log p⁺ of the row.
    pub log_likelihood: f64,
    /// Its probability of acceptance.
    pub probability: f64,
    /// Its codes.
    pub row: Vec<Code>,
    /// Which value of its bin each changed code stands for.
    pub representative: Representative,
    /// As [`Way::gap`].
    pub gap: Option<f64>,
}

/// Why there is no way, and what would have to give.
#[derive(Clone, Debug, PartialEq)]
pub struct NotFound {
    /// The probability of acceptance of the row as it is.
    pub probability: f64,
    /// Why.
    pub reason: Reason,
    /// The smallest number of changes known to do, if the budget alone stands in the way.
    pub needs_changes: Option<usize>,
    /// The smallest set of the person's own locks and limits without which a way is known; empty when none was found.
    pub obstacles: Vec<Obstacle>,
    /// For an auditor: the smallest set with something of the schema without which a way is known, together with the
    /// person's own locks and limits where both have to give. Empty when none was found, or what the person set
    /// themselves is enough; absent unless [`Request::auditor`](crate::Request::auditor) asks for it.
    pub schema_obstacles: Option<Vec<Obstacle>>,
}

/// Why there is no way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Locks, limits and constraints leave nothing to change.
    NothingToChange,
    /// Every row within the limits is denied: this is proved, of bins for their nearest, median and farthest values where
    /// the classifier looks at values.
    OutOfReach,
    /// The search ended before it found a way or proved that there is none.
    SearchEnded,
    /// The generator proposed nothing that is accepted; a search was not asked for.
    ProposalsDenied,
}

impl Reason {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::NothingToChange => "nothing_to_change",
            Self::OutOfReach => "out_of_reach",
            Self::SearchEnded => "search_ended",
            Self::ProposalsDenied => "proposals_denied",
        }
    }
}

/// Something that stands in a person's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A lock of the request, on a feature.
    Lock(usize),
    /// A limit of the request, on a feature.
    Limit(usize),
    /// A constraint of the schema.
    Schema(Restriction),
}

impl Obstacle {
    /// The names of all kinds of obstacles in files.
    pub const NAMES: [&str; 7] = ["lock", "limit", "monotone", "immutable", "allowed", "rule", "constraint"];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lock(_) => "lock",
            Self::Limit(_) => "limit",
            Self::Schema(Restriction::Monotone(_)) => "monotone",
            Self::Schema(Restriction::Immutable(_)) => "immutable",
            Self::Schema(Restriction::Allowed(_)) => "allowed",
            Self::Schema(Restriction::Rule(_)) => "rule",
            Self::Schema(_) => "constraint",
        }
    }

    /// The feature (position) that it keeps where it is.
    pub fn feature(self) -> Option<usize> {
        match self {
            Self::Lock(feature)
            | Self::Limit(feature)
            | Self::Schema(
                Restriction::Monotone(feature)
                | Restriction::Immutable(feature)
                | Restriction::Allowed(feature),
            ) => Some(feature),
            Self::Schema(Restriction::Rule(rule)) => Some(rule.if_increases),
            Self::Schema(_) => None,
        }
    }
}
