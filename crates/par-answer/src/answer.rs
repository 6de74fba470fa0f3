//! The answer to one person: ways, or why there is none.

use par_circuit::Code;
use par_data::{Decoded, Restriction};
use par_model::classifier::Representative;

use crate::request::Method;

/// What a way is best at among the ways and the frontier of its answer. Equals share it.
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

/// The answer to a request. Finding no way is an answer, not an error.
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
    /// Ways were found.
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

/// The ways that were found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The probability of acceptance of the row as it is.
    pub probability: f64,
    /// Whether the classifier itself accepts the ways; false where only a surrogate is available.
    pub verified: bool,
    /// In the request's order.
    pub ways: Vec<Way>,
    /// The likeliest rows found, by number of changes: what more changes gain.
    pub frontier: Vec<Point>,
    /// Whether it is proved that fewer changes than the fewest of the frontier are not enough. True for one change;
    /// otherwise proved by [`Method::Exact`], or by a search beyond the usual budget.
    pub fewest_proved: bool,
}

/// A row that this person could become and be accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// Its codes.
    pub row: Vec<Code>,
    /// Its cells as a table writes them, in schema order.
    pub cells: Vec<String>,
    /// The features that change, in schema order.
    pub changes: Vec<Change>,
    /// Its probability of acceptance.
    pub probability: f64,
    /// log p⁺ of the row.
    pub log_likelihood: f64,
    /// The share of the pool's rows that are no likelier.
    pub percentile: f64,
    /// The sum of |change| / median absolute deviation over numeric features.
    pub similarity: f64,
    /// The similarity, plus one for every other feature that changes.
    pub distance: f64,
    /// How it was found.
    pub method: Method,
    /// Which value of its bin each changed code stands for. Proofs hold for these values.
    pub representative: Representative,
    /// How much likelier, in nats, a row with at most as many changes could be; 0 if none is, which is proved; `None`
    /// without a proof. A further way is compared only with rows that leave out a change of every way before it.
    pub gap: Option<f64>,
    /// What it is best at.
    pub best_at: Vec<BestAt>,
}

impl Way {
    /// Whether it is proved that no row with at most as many changes is likelier.
    pub fn is_optimal(&self) -> bool {
        self.gap == Some(0.0)
    }

    /// As [`Way::is_optimal`]; `None` if no proof was sought.
    pub fn optimal(&self) -> Option<bool> {
        self.gap.map(|_| self.is_optimal())
    }
}

/// One feature that changes from a value to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Its position in the schema.
    pub feature: usize,
    /// Its name.
    pub name: String,
    /// The person's value, in the schema's words.
    pub from: String,
    /// The new value, in the schema's words.
    pub to: String,
    /// The new value, for programs.
    pub value: Decoded,
}

impl Change {
    /// The change in words: `Savings account: below 100 DM → 500 to under 1000 DM`.
    pub fn sentence(&self) -> String {
        format!("{}: {} → {}", self.name, self.from, self.to)
    }
}

/// The likeliest row found with a number of changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The features that change, in schema order.
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

/// Why there is no way, and what would help.
#[derive(Clone, Debug, PartialEq)]
pub struct NotFound {
    /// The probability of acceptance of the row as it is.
    pub probability: f64,
    /// Why there is no way.
    pub reason: Reason,
    /// The smallest number of changes known to be enough, if only the budget is an obstacle.
    pub needs_changes: Option<usize>,
    /// The smallest set of the person's own locks and limits without which a way is known; empty if none was found.
    pub obstacles: Vec<Obstacle>,
    /// For an auditor: the smallest set of obstacles with at least one of the schema without which a way is known.
    /// Empty if none was found, or the person's own obstacles are enough; `None` unless
    /// [`Request::auditor`](crate::Request::auditor) is set.
    pub schema_obstacles: Option<Vec<Obstacle>>,
}

/// Why there is no way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Locks, limits and constraints leave nothing to change.
    NothingToChange,
    /// Proved: every row that this person may become is denied. For an external classifier the proof covers the
    /// nearest, the median and the farthest value of each bin.
    OutOfReach,
    /// The search ended before it found a way or proved that there is none.
    SearchEnded,
    /// The classifier denies all proposals of the generator, and [`Method::Generate`] does not search.
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

/// A lock, a limit or a constraint of the schema without which there would be a way.
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

    /// The feature (position) that it restricts.
    pub fn feature(self) -> Option<usize> {
        match self {
            Self::Lock(feature)
            | Self::Limit(feature)
            | Self::Schema(
                Restriction::Monotone(feature)
                | Restriction::Immutable(feature)
                | Restriction::Allowed(feature),
            ) => Some(feature),
            Self::Schema(Restriction::Rule(rule)) => Some(rule.when.feature),
            Self::Schema(_) => None,
        }
    }
}
