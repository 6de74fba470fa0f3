//! The answer to one person: ways, or why there is none.

use par_circuit::Code;
use par_data::Restriction;
use par_data::schema::Actor;

use crate::request::Method;

/// What a way is best at among the ways and the frontier of its answer. Equals share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BestAt {
    /// Nothing shown takes less effort.
    LeastEffort,
    /// Nothing shown has fewer changes.
    FewestChanges,
    /// Nothing shown is likelier among accepted rows.
    MostCommon,
    /// Nothing shown has a surer score.
    Surest,
    /// Nothing shown takes less time, and something takes more.
    Soonest,
    /// All versions of the classifier accept it, and not all of something else shown.
    Lasting,
}

impl BestAt {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::LeastEffort => "least_effort",
            Self::FewestChanges => "fewest_changes",
            Self::MostCommon => "most_common",
            Self::Surest => "surest",
            Self::Soonest => "soonest",
            Self::Lasting => "lasting",
        }
    }
}

/// The problem that a way solves. The gap of a way is in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solves {
    /// The least effort of all ways that are plausible and sure, in units of effort.
    LeastEffort,
    /// The highest log p⁺, less the price of its changes and its effort, in nats.
    Likeliest,
}

impl Solves {
    /// All problems.
    pub const ALL: [Self; 2] = [Self::LeastEffort, Self::Likeliest];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::LeastEffort => "least_effort",
            Self::Likeliest => "likeliest",
        }
    }
}

/// The answer to a request. Finding no way is an answer, not an error.
#[must_use]
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The row is accepted as it is.
    Accepted {
        /// The score: the probability of acceptance, or the predicted number.
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

    /// Whether the search ended before it was done.
    pub fn search_ended(&self) -> bool {
        match self {
            Self::Found(found) => found.search_ended,
            Self::NotFound(not_found) => not_found.search_ended,
            Self::Accepted { .. } => false,
        }
    }
}

/// The ways that were found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The score of the row as it is: the probability of acceptance, or the predicted number.
    pub probability: f64,
    /// The policies (positions in the schema) that the row as it is breaks.
    pub broken_policies: Vec<usize>,
    /// Whether the classifier itself accepts the ways; false where only a surrogate is available.
    pub verified: bool,
    /// In the request's order. None dominates another.
    pub ways: Vec<Way>,
    /// The best rows found for the problem of the first way, by number of changes: what more changes gain.
    pub frontier: Vec<Point>,
    /// Whether it is proved that fewer changes than the fewest of the frontier are not enough, where the problem of
    /// the first way asks only for acceptance with its margin. True for one change; otherwise proved by
    /// [`Method::Exact`] alone.
    pub fewest_proved: bool,
    /// Whether the search ended before it was done, by the request's deadline or because it was stopped: there may be
    /// more or better ways. The gaps of ways are what was known then.
    pub search_ended: bool,
    /// What unknown cells would decide.
    pub unknown: Vec<IfKnown>,
    /// The first way of the same request without what ways must withstand ([`Request::robust`](crate::Request::robust),
    /// `certify`, `slack`): the differences are what that costs. `None` if the request asks for none of it.
    pub plain: Option<Box<Way>>,
}

/// How many versions of the classifier accept a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepting {
    /// How many accept it.
    pub versions: usize,
    /// How many there are.
    pub of: usize,
}

impl Accepting {
    /// Whether all versions accept it.
    pub fn all(self) -> bool {
        self.versions == self.of
    }

    /// The share that accepts it.
    pub fn share(self) -> f64 {
        self.versions as f64 / self.of as f64
    }
}

/// A row that this person could become and be accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// Its codes.
    pub row: Vec<Code>,
    /// Its cells as a table writes them, in schema order.
    pub cells: Vec<String>,
    /// The features that the person changes, in schema order.
    pub changes: Vec<Change>,
    /// The features that change with them: clocks and consequences.
    pub consequences: Vec<Change>,
    /// Its score: the probability of acceptance, or the predicted number.
    pub probability: f64,
    /// Whether the score is beyond the threshold by the request's margin, as is all that it must withstand.
    pub has_margin: bool,
    /// How many versions of the classifier accept it, besides the deployed one; `None` for a model without versions.
    pub accepting: Option<Accepting>,
    /// It is accepted by every network, or all trees, within so much of the deployed one; found by halving. `None` unless the
    /// request has [`certify`](crate::Request::certify).
    pub certified: Option<f64>,
    /// Whether the request asks it to last ([`robust`](crate::Request::robust), `certify` or `slack`): its gap is then to
    /// others that do.
    pub must_last: bool,
    /// log p⁺ of the row.
    pub log_likelihood: f64,
    /// log p⁺ of the row, given what the person cannot change.
    pub conditional_log_likelihood: f64,
    /// The share of accepted rows that are no likelier, given the same features of theirs.
    pub percentile: f64,
    /// What the changes cost the person together.
    pub effort: f64,
    /// How many months it takes: as long as its longest change.
    pub months: u32,
    /// The sum of |change| / median absolute deviation over numeric features.
    pub similarity: f64,
    /// The similarity, plus one for every other feature that changes.
    pub distance: f64,
    /// How it was found.
    pub method: Method,
    /// The problem that it solves.
    pub solves: Solves,
    /// How much better, in the unit of the problem, a row with at most as many changes could be; 0 if none is, which is
    /// proved among all combinations of candidates; `None` without a proof. A further way is compared only with rows
    /// that leave out a change of every way before it.
    pub gap: Option<f64>,
    /// What it is best at.
    pub best_at: Vec<BestAt>,
    /// How different its changes are from those of the most similar way before it: 1 if they share no feature; `None`
    /// for the first way.
    pub difference: Option<f64>,
}

impl Way {
    /// Whether it is proved that no row with at most as many changes solves its problem better.
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
    /// The new value, as a table writes it.
    pub value: String,
    /// The lowest and the highest number that would do as well, where that is known.
    pub range: Option<[f64; 2]>,
    /// The number nearest to the person's own from which on it is proved to be enough, up to the new value, together with
    /// the `least` of the other changes. Only for a classifier that reads numbers; `None` where it is the new value.
    pub least: Option<f64>,
    /// What it costs the person.
    pub effort: f64,
    /// How many months it takes.
    pub months: u32,
    /// The score if only this changes, with its consequences; `None` for a consequence, and where
    /// it cannot change alone.
    pub alone: Option<f64>,
    /// Whether it makes something worse that the schema says should improve.
    pub is_harm: bool,
    /// Who acts on it.
    pub who: Actor,
}

impl Change {
    /// The change in words: `Savings account: below 100 DM → 500 to under 1000 DM`.
    pub fn sentence(&self) -> String {
        format!("{}: {} → {}", self.name, self.from, self.to)
    }
}

/// The best row found with a number of changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The features that the person changes, in schema order, and their new values as a table writes them.
    pub changes: Vec<(usize, String)>,
    /// log p⁺ of the row.
    pub log_likelihood: f64,
    /// As [`Way::conditional_log_likelihood`].
    pub conditional_log_likelihood: f64,
    /// As [`Way::percentile`].
    pub percentile: f64,
    /// Its score: the probability of acceptance, or the predicted number.
    pub probability: f64,
    /// What the changes cost the person together.
    pub effort: f64,
    /// How many months it takes.
    pub months: u32,
    /// Its codes.
    pub row: Vec<Code>,
    /// As [`Way::gap`].
    pub gap: Option<f64>,
}

/// An unknown cell that would decide: with some values the row is accepted as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct IfKnown {
    /// The feature (position).
    pub feature: usize,
    /// Its name.
    pub name: String,
    /// The values with which the row is accepted, in words: `at least 2000 DM`.
    pub values: String,
}

/// Why there is no way, and what would help.
#[derive(Clone, Debug, PartialEq)]
pub struct NotFound {
    /// The score of the row as it is: the probability of acceptance, or the predicted number.
    pub probability: f64,
    /// The policies (positions in the schema) that the row as it is breaks.
    pub broken_policies: Vec<usize>,
    /// Why there is no way.
    pub reason: Reason,
    /// Whether the request asks for ways that last, so that the reason is about those alone.
    pub must_last: bool,
    /// The smallest number of changes known to be enough, if only the budget is an obstacle.
    pub needs_changes: Option<usize>,
    /// The smallest set of the person's own wishes without which a way is known; empty if none was found.
    pub obstacles: Vec<Obstacle>,
    /// For an auditor: the smallest set of obstacles with at least one of the schema without which a way is known.
    /// Empty if none was found, or the person's own obstacles are enough; `None` unless
    /// [`Request::auditor`](crate::Request::auditor) is set.
    pub schema_obstacles: Option<Vec<Obstacle>>,
    /// For an expert: accepted rows that this person could become, but that are rarer than
    /// [`Request::min_percentile`](crate::Request::min_percentile) allows.
    pub unusual: Vec<Way>,
    /// Whether the search ended before it was done, by the request's deadline or because it was stopped: there may be a
    /// way.
    pub search_ended: bool,
    /// What unknown cells would decide.
    pub unknown: Vec<IfKnown>,
}

impl NotFound {
    /// What is accepted but unusual, if an auditor asked.
    pub fn unusual_for_auditor(&self) -> Option<&[Way]> {
        self.schema_obstacles.is_some().then_some(&self.unusual)
    }
}

/// Why there is no way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No cell of the row is known.
    AllUnknown,
    /// Locks, limits and constraints leave nothing to change.
    NothingToChange,
    /// Proved: every combination of candidates is denied.
    OutOfReach,
    /// Proved: every accepted combination of candidates is rarer than the request allows.
    OnlyUnusual,
    /// The search ended before it found a way or proved that there is none.
    SearchEnded,
    /// No proposal of the generator can be offered, nor what it is completed or walked to; [`Method::Generate`] does not
    /// search further.
    ProposalsDenied,
}

impl Reason {
    /// All reasons.
    pub const ALL: [Self; 6] = [
        Self::AllUnknown,
        Self::NothingToChange,
        Self::OutOfReach,
        Self::OnlyUnusual,
        Self::SearchEnded,
        Self::ProposalsDenied,
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::AllUnknown => "all_unknown",
            Self::NothingToChange => "nothing_to_change",
            Self::OutOfReach => "out_of_reach",
            Self::OnlyUnusual => "only_unusual",
            Self::SearchEnded => "search_ended",
            Self::ProposalsDenied => "proposals_denied",
        }
    }
}

/// A wish of the request or a constraint of the schema without which there would be a way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Obstacle {
    /// A lock of the request, on a feature.
    Lock(usize),
    /// A limit of the request, on a feature.
    Limit(usize),
    /// The request's most effort. So much is known to be enough; `None` until it is known.
    MaxEffort(Option<f64>),
    /// The request's most time. So many months are known to be enough; `None` until it is known.
    Within(Option<u32>),
    /// The request's wish that nothing gets worse.
    NoHarm,
    /// The request's share of versions that must accept.
    Robust,
    /// The request's certificate.
    Certify,
    /// The request's wish that a change may fall a step short.
    Slack,
    /// A constraint of the schema.
    Schema(Restriction),
}

impl Obstacle {
    /// The names of all kinds of obstacles in files.
    pub const NAMES: [&str; 17] = [
        "lock",
        "limit",
        "max_effort",
        "within",
        "no_harm",
        "robust",
        "certify",
        "slack",
        "monotone",
        "immutable",
        "allowed",
        "step",
        "transitions",
        "rule",
        "relation",
        "policy",
        "constraint",
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lock(_) => "lock",
            Self::Limit(_) => "limit",
            Self::MaxEffort(_) => "max_effort",
            Self::Within(_) => "within",
            Self::NoHarm => "no_harm",
            Self::Robust => "robust",
            Self::Certify => "certify",
            Self::Slack => "slack",
            Self::Schema(Restriction::Monotone(_)) => "monotone",
            Self::Schema(Restriction::Immutable(_)) => "immutable",
            Self::Schema(Restriction::Allowed(_)) => "allowed",
            Self::Schema(Restriction::Step(_)) => "step",
            Self::Schema(Restriction::Transitions(_)) => "transitions",
            Self::Schema(Restriction::Rule(_)) => "rule",
            Self::Schema(Restriction::Relation(_)) => "relation",
            Self::Schema(Restriction::Policy(_)) => "policy",
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
                | Restriction::Allowed(feature)
                | Restriction::Step(feature)
                | Restriction::Transitions(feature),
            ) => Some(feature),
            Self::Schema(Restriction::Rule(rule)) => Some(rule.when.feature),
            Self::MaxEffort(_)
            | Self::Within(_)
            | Self::NoHarm
            | Self::Robust
            | Self::Certify
            | Self::Slack
            | Self::Schema(_) => None,
        }
    }
}
