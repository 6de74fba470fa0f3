//! Relations between features, and policies beside the classifier.

use super::{Direction, Permitted};

/// A relation between features, checked on values.
///
/// A relation that the person's own row breaks binds only once one of its features changes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Relation {
    /// The first is at most the second.
    AtMost([usize; 2]),
    /// A feature is computed from others.
    Follows {
        /// The feature that is computed.
        feature: usize,
        /// How.
        formula: Formula,
    },
    /// Where all conditions of `when` hold, all of `then` hold.
    When {
        /// The conditions that bind.
        when: Vec<Condition>,
        /// The conditions that then hold.
        then: Vec<Condition>,
    },
    /// The features change all together, or none does.
    Together(Vec<usize>),
    /// At most so many of the features change.
    AtMostChanges {
        /// The most that change.
        most: usize,
        /// The features.
        of: Vec<usize>,
    },
    /// If one feature moves in a direction, another moves in a direction.
    Rule(Rule),
}

impl Relation {
    /// Whether both relations mean the same, in whatever order their features are listed.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        let sorted = |features: &[usize]| {
            let mut features = features.to_vec();
            features.sort_unstable();
            features
        };
        match (self, other) {
            (Self::Together(own), Self::Together(others)) => sorted(own) == sorted(others),
            (Self::AtMostChanges { of: own, most }, Self::AtMostChanges { of: others, most: other }) => {
                most == other && sorted(own) == sorted(others)
            }
            _ => self == other,
        }
    }

    /// The features (positions) that it ties together.
    pub fn features(&self) -> Vec<usize> {
        let conditions =
            |some: &[Condition]| some.iter().map(|condition| condition.feature).collect::<Vec<_>>();
        match self {
            Self::AtMost(pair) => pair.to_vec(),
            Self::Follows { feature, formula } => [formula.sources(), &[*feature]].concat(),
            Self::When { when, then } => [conditions(when), conditions(then)].concat(),
            Self::Together(features) | Self::AtMostChanges { of: features, .. } => features.clone(),
            Self::Rule(rule) => vec![rule.when.feature, rule.then.feature],
        }
    }
}

/// How a feature is computed from others (positions).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Formula {
    /// The sum.
    Sum(Vec<usize>),
    /// The first less the second.
    Difference([usize; 2]),
    /// The first divided by the second.
    Ratio([usize; 2]),
    /// The product.
    Product(Vec<usize>),
    /// The value beside the first set that holds the source's value.
    Lookup {
        /// The source.
        of: [usize; 1],
        /// Sets of values of the source, each with a value of the result.
        table: Vec<(Permitted, String)>,
    },
}

impl Formula {
    /// The features that it is computed from.
    pub fn sources(&self) -> &[usize] {
        match self {
            Self::Sum(sources) | Self::Product(sources) => sources,
            Self::Difference(sources) | Self::Ratio(sources) => sources,
            Self::Lookup { of, .. } => of,
        }
    }
}

/// A feature has one of some values.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The feature (position).
    pub feature: usize,
    /// The values.
    pub values: Permitted,
}

/// A policy beside the classifier: a row is accepted only if it also keeps every such rule.
#[derive(Clone, Debug, PartialEq)]
pub struct AcceptRule {
    /// It binds rows where all of these hold; all rows if there are none.
    pub when: Vec<Condition>,
    /// What an accepted row has. An unknown cell does not have it.
    pub require: Vec<Condition>,
    /// The rule in words, for people.
    pub because: Option<String>,
}

/// A feature and a direction in which it moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The feature (position).
    pub feature: usize,
    /// The direction.
    pub direction: Direction,
}

/// If `when` happens, `then` happens too.
///
/// # Paper
/// Appendix, Causal Masking: the pair `(e, c)`, effect and cause, where the effect rises only if the cause rises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The effect (e): it happens only if the cause does.
    pub when: Move,
    /// The cause (c).
    pub then: Move,
}

impl Rule {
    /// `effect` rises only if `cause` rises.
    pub fn rises(effect: usize, cause: usize) -> Self {
        let rise = |feature| Move { feature, direction: Direction::Increase };
        Self { when: rise(effect), then: rise(cause) }
    }
}
