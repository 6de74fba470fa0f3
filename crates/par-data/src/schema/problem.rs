//! What can be wrong with a schema.

use crate::suggest::{listed, suggest};

/// A schema that was refused, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{origin}, line {line}: {section}: {problem}")]
pub struct SchemaError {
    /// The schema's name, usually its path.
    pub origin: String,
    /// The line of the offending text, from 1.
    pub line: usize,
    /// The part of the schema, such as ``feature `Age` ``.
    pub section: String,
    /// What is wrong there.
    pub problem: Box<SchemaProblem>,
}

/// What can be wrong with a part of a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaProblem {
    /// Not TOML.
    #[error("{message}")]
    Syntax {
        /// The parser's words.
        message: String,
    },
    /// A key that means nothing here.
    #[error("unknown key `{key}`{}", suggest(.key, .known))]
    UnknownKey {
        /// The key.
        key: String,
        /// The keys that exist.
        known: Vec<String>,
    },
    /// A key that must be there.
    #[error("`{key}` is missing, expected {expected}")]
    MissingKey {
        /// The key.
        key: &'static str,
        /// What it should hold.
        expected: &'static str,
    },
    /// A value of another type.
    #[error("`{key}` is {found}, expected {expected}")]
    WrongType {
        /// The key.
        key: &'static str,
        /// The type there is.
        found: &'static str,
        /// The type there should be.
        expected: &'static str,
    },
    /// A word outside a fixed list.
    #[error("`{key}` cannot be `{found}`{}", suggest(.found, .known))]
    UnknownWord {
        /// The key.
        key: &'static str,
        /// The word.
        found: String,
        /// The words that exist.
        known: Vec<String>,
    },
    /// Something said twice.
    #[error("`{name}` is listed twice")]
    Repeated {
        /// What is repeated.
        name: String,
    },
    /// One column in two roles.
    #[error("column `{column}` is {first} already\nhint: remove one of them")]
    TwoRoles {
        /// The column.
        column: String,
        /// The role it has.
        first: &'static str,
    },
    /// No feature at all.
    #[error("no `[[feature]]` is listed")]
    NoFeatures,
    /// Nothing to choose between.
    #[error("found {found} classes, expected at least 2")]
    TooFewClasses {
        /// How many there are.
        found: usize,
    },
    /// A number for each class, but not as many as classes.
    #[error("found {found} `counts`, expected one for each of {expected} classes")]
    CountsLength {
        /// How many there are.
        found: usize,
        /// How many classes.
        expected: usize,
    },
    /// A number outside its range.
    #[error("`{key}` is {found}, expected {expected}")]
    OutOfRange {
        /// The key.
        key: &'static str,
        /// The number.
        found: String,
        /// The range.
        expected: String,
    },
    /// A range that holds nothing.
    #[error("`{key}`: there is no number from {low} to {high}\nhint: write the lower one first")]
    EmptyRange {
        /// The key.
        key: &'static str,
        /// The first number.
        low: String,
        /// The second number.
        high: String,
    },
    /// Two statements that do not go together.
    #[error("{first} contradicts {second}\nhint: {hint}")]
    Contradiction {
        /// One statement.
        first: String,
        /// The other.
        second: String,
        /// How to resolve it.
        hint: &'static str,
    },
    /// `allowed` or `labels` speaks of a value that the feature does not have.
    #[error("`{key}` names `{found}`, which is not among its `values`{}", suggest(.found, .known))]
    NotAValue {
        /// The key.
        key: &'static str,
        /// The value.
        found: String,
        /// The values that exist.
        known: Vec<String>,
    },
    /// Categories without an order under a constraint that needs one.
    #[error(
        "an order is needed, because {because}, but the value `{found}` is not a number\nhint: make it `ordinal` and list its `values` in order"
    )]
    NoOrder {
        /// The constraint.
        because: &'static str,
        /// The first value that is not a number.
        found: String,
    },
    /// A rule about a feature that does not exist.
    #[error("no feature `{found}`{}", suggest(.found, .known))]
    RuleFeature {
        /// The name.
        found: String,
        /// The features that exist.
        known: Vec<String>,
    },
    /// A rule about one feature alone.
    #[error("`{name}` cannot depend on itself")]
    RuleOnItself {
        /// The feature.
        name: String,
    },
    /// A rule that asks for a rise that cannot be.
    #[error(
        "`{name}` must rise, but {because}\nhint: remove the rule and let `{effect}` rise alone, make `{effect}` immutable, or let `{name}` rise"
    )]
    RuleImpossible {
        /// The feature that must rise.
        name: String,
        /// Why it cannot.
        because: &'static str,
        /// The feature that could rise only with it.
        effect: String,
    },
    /// The same rule again.
    #[error("repeats rule {earlier}\nhint: remove one of them")]
    RuleRepeated {
        /// The number of the one before it.
        earlier: usize,
    },
    /// Rules that lead back to where they began.
    #[error("goes round in a circle: {}\nhint: remove one of them", .cycle.join(" -> "))]
    RuleCycle {
        /// The features on the way, the first again at the end.
        cycle: Vec<String>,
    },
    /// Rules that form neither a tree nor a small group.
    #[error(
        "ties together {} features without forming a tree, expected at most {limit}: {}\nhint: remove rules that follow from others",
        .features.len(), listed(.features)
    )]
    RuleTangle {
        /// The features in the group.
        features: Vec<String>,
        /// How many there may be.
        limit: usize,
    },
}
