//! One feature: its values, and what may happen to it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{TimeUnit, parse_number};
use crate::error::CellError;

/// One column that the classifier sees.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Feature {
    /// The column's name.
    pub name: String,
    /// The kind of its values.
    pub kind: FeatureKind,
    /// The categories, in order if `ordinal`. Empty for numbers, and where the training rows provide them.
    pub values: Vec<String>,
    /// A description of each category, for people.
    pub labels: BTreeMap<String, String>,
    /// The lowest and highest number that a recourse may name.
    pub bounds: Option<[f64; 2]>,
    /// The lowest and highest number that a cell can hold; either may be infinite. The bounds lie within.
    pub range: Option<[f64; 2]>,
    /// The unit of the numbers, for people.
    pub unit: Option<String>,
    /// Whether missing cells and unseen categories are encoded as unknown.
    pub missing: bool,
    /// Number of quantile bins, if not the configuration's.
    pub bins: Option<usize>,
    /// What may happen to it.
    pub change: Mutability,
    /// The values that a recourse may move to; all if `None`.
    pub allowed: Option<Vec<String>>,
    /// How far it may move from the person's own value.
    pub step: Step,
    /// From a category, the categories that it may become; all from a category that is not listed.
    pub transitions: BTreeMap<String, Vec<String>>,
    /// From a category, the categories that it may not become.
    pub forbidden: BTreeMap<String, Vec<String>>,
    /// Numbers that mean something else, such as "no such account". Nothing is advised to become one.
    pub special: Vec<f64>,
    /// What a change of it costs the person.
    pub effort: Effort,
    /// How long a change of it takes; no time if `None`.
    pub takes: Option<Takes>,
    /// The direction in which the world calls it better.
    pub improves: Option<Direction>,
    /// Who acts on it.
    pub who: Actor,
}

impl Feature {
    /// Whether nobody acts on it: it stays, moves with time, or follows from others.
    pub fn is_immutable(&self) -> bool {
        !matches!(self.change, Mutability::Free | Mutability::Increase | Mutability::Decrease)
    }

    /// The only direction in which it may change, if there is one.
    pub fn direction(&self) -> Option<Direction> {
        match self.change {
            Mutability::Increase => Some(Direction::Increase),
            Mutability::Decrease => Some(Direction::Decrease),
            _ => None,
        }
    }

    /// The unit of a clock's numbers, if it is one.
    pub fn clock(&self) -> Option<TimeUnit> {
        let unit = self.unit.as_deref().filter(|_| self.change == Mutability::WithTime);
        unit.and_then(TimeUnit::parse)
    }

    /// Whether one category may become another, by `allowed`, `transitions` and `forbid`. Its direction is not
    /// checked.
    pub fn may_become(&self, from: &str, to: &str) -> bool {
        let listed = |list: Option<&Vec<String>>| list.map(|list| list.iter().any(|value| value == to));
        listed(self.allowed.as_ref()).unwrap_or(true)
            && listed(self.transitions.get(from)).unwrap_or(true)
            && !listed(self.forbidden.get(from)).unwrap_or(false)
    }

    /// Whether a special number may become an ordinary one.
    pub fn may_leave(&self, special: f64) -> bool {
        self.transitions.contains_key(&special.to_string())
    }

    /// The number in a cell.
    ///
    /// # Errors
    /// When it is not a finite number, or not within the [`range`](Feature::range).
    pub fn number(&self, cell: &str) -> Result<f64, CellError> {
        let number = parse_number(cell)
            .ok_or_else(|| CellError::NotANumber { column: self.name.clone(), found: cell.to_string() })?;
        match self.range {
            Some([low, high]) if number < low || number > high => Err(CellError::OutOfRange {
                column: self.name.clone(),
                found: cell.to_string(),
                expected: self.expected_number(),
            }),
            _ => Ok(number),
        }
    }

    /// The numbers that a cell may hold, for people: `a number from 0 to 120`.
    pub fn expected_number(&self) -> String {
        let [low, high] = self.range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        match (low.is_finite(), high.is_finite()) {
            (true, true) => format!("a number from {low} to {high}"),
            (true, false) => format!("a number from {low} up"),
            (false, true) => format!("a number up to {high}"),
            (false, false) => "a number".to_string(),
        }
    }
}

/// The kind of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureKind {
    /// Categories without an order.
    Nominal,
    /// Categories listed in order.
    Ordinal,
    /// Numbers, usually whole and few.
    Discrete,
    /// Numbers.
    Continuous,
}

impl FeatureKind {
    /// Its name in the schema's TOML.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nominal => "nominal",
            Self::Ordinal => "ordinal",
            Self::Discrete => "discrete",
            Self::Continuous => "continuous",
        }
    }

    /// Whether the cells are numbers.
    pub fn is_numeric(self) -> bool {
        matches!(self, Self::Discrete | Self::Continuous)
    }
}

/// What may happen to a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutability {
    /// Nobody can change it.
    Never,
    /// Nobody has said whether it can change, so that it does not.
    Undecided,
    /// The person can act on it, in any direction.
    Free,
    /// The person can act on it, and it only rises.
    Increase,
    /// The person can act on it, and it only falls.
    Decrease,
    /// A clock: it moves by the duration of a way, and only so.
    WithTime,
    /// A consequence: it is computed from others by a relation.
    Follows,
}

impl Mutability {
    /// The words for it in the schema's TOML; there is none for undecided.
    pub const WORDS: [(&str, Self); 6] = [
        ("never", Self::Never),
        ("free", Self::Free),
        ("increase", Self::Increase),
        ("decrease", Self::Decrease),
        ("with-time", Self::WithTime),
        ("follows", Self::Follows),
    ];

    /// Its name in the schema's TOML, or `undecided`.
    pub fn name(self) -> &'static str {
        Self::WORDS.iter().find(|(_, change)| *change == self).map_or("undecided", |(word, _)| word)
    }
}

/// Up or down, in the order of the codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Up.
    Increase,
    /// Down.
    Decrease,
}

impl Direction {
    /// Its names in the schema's TOML.
    pub const WORDS: [(&str, Self); 2] = [("increase", Self::Increase), ("decrease", Self::Decrease)];

    /// Its name in the schema's TOML.
    pub fn name(self) -> &'static str {
        match self {
            Self::Increase => "increase",
            Self::Decrease => "decrease",
        }
    }
}

/// How far a feature may move from the person's own value: numbers in the column's unit, ordered categories in places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Step {
    /// The farthest it may rise.
    pub up: Option<f64>,
    /// The farthest it may fall.
    pub down: Option<f64>,
    /// The least that it moves, if it moves.
    pub at_least: Option<f64>,
    /// New values are multiples of it.
    pub grid: Option<f64>,
}

/// What a change of a feature costs the person: the weight times the size of the change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Effort {
    /// 1 for `easy`, 2 for `some`, 4 for `hard`, 8 for `very hard`. Above 0.
    pub weight: f64,
    /// The distance of size 1. Without it the size is the shift in percentile among all people.
    pub per: Option<f64>,
}

impl Effort {
    /// The words for weights.
    pub const WORDS: [(&str, f64); 4] = [("easy", 1.0), ("some", 2.0), ("hard", 4.0), ("very hard", 8.0)];
}

impl Default for Effort {
    fn default() -> Self {
        Self { weight: 2.0, per: None }
    }
}

/// How long a change takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Takes {
    /// In months.
    pub months: f64,
    /// The distance that takes this long; any distance if `None`.
    pub per: Option<f64>,
}

/// Who acts on a feature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Actor {
    /// The person.
    #[default]
    Applicant,
    /// The lender: it is a term of the request, and a change of it is a counter-offer.
    Lender,
}

impl Actor {
    /// Their names in the schema's TOML.
    pub const WORDS: [(&str, Self); 2] = [("applicant", Self::Applicant), ("lender", Self::Lender)];

    /// Its name in the schema's TOML.
    pub fn name(self) -> &'static str {
        match self {
            Self::Applicant => "applicant",
            Self::Lender => "lender",
        }
    }
}
