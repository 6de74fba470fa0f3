//! What can be wrong with a schema.

use crate::suggest::{one_of, suggest};

/// A schema that was refused, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{origin}, line {line}: {problem}")]
pub struct SchemaError {
    /// The schema's name, usually its path.
    pub origin: String,
    /// The line of the offending text, from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: Box<SchemaProblem>,
}

/// What can be wrong with a schema. `section` is the part of it, such as ``feature `Age` ``.
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
    #[error("{section} has no key `{key}`{}", suggest(.key, .known))]
    UnknownKey {
        /// The part of the schema.
        section: String,
        /// The key.
        key: String,
        /// The keys that exist.
        known: Vec<String>,
    },
    /// A key that must be there.
    #[error("{section} lacks `{key}`, {expected}")]
    MissingKey {
        /// The part of the schema.
        section: String,
        /// The key.
        key: &'static str,
        /// What it should hold.
        expected: &'static str,
    },
    /// A value of another type.
    #[error("{section}: `{key}` is {found}, expected {expected}")]
    WrongType {
        /// The part of the schema.
        section: String,
        /// The key.
        key: &'static str,
        /// The type there is.
        found: &'static str,
        /// The type there should be.
        expected: &'static str,
    },
    /// A word outside a fixed list.
    #[error("{section}: `{key}` cannot be `{found}`{}", suggest(.found, .known))]
    UnknownWord {
        /// The part of the schema.
        section: String,
        /// The key.
        key: &'static str,
        /// The word.
        found: String,
        /// The words that exist.
        known: Vec<String>,
    },
    /// Something said twice.
    #[error("{section}: `{name}` is listed twice")]
    Repeated {
        /// The part of the schema.
        section: String,
        /// What is repeated.
        name: String,
    },
    /// One column in two roles.
    #[error("column `{column}` is {first} and also {second}\nhint: remove one of them")]
    TwoRoles {
        /// The column.
        column: String,
        /// Its first role.
        first: &'static str,
        /// Its second role.
        second: &'static str,
    },
    /// No feature at all.
    #[error("the schema lists no `[[feature]]`")]
    NoFeatures,
    /// Nothing to choose between.
    #[error("`[label]`: found {found} classes, expected at least 2")]
    TooFewClasses {
        /// How many there are.
        found: usize,
    },
    /// A number for each class, but not as many as classes.
    #[error("`[label]`: found {found} `counts`, expected one for each of {expected} classes")]
    CountsLength {
        /// How many there are.
        found: usize,
        /// How many classes.
        expected: usize,
    },
    /// A number outside its range.
    #[error("{section}: `{key}` is {found}, expected {expected}")]
    OutOfRange {
        /// The part of the schema.
        section: String,
        /// The key.
        key: &'static str,
        /// The number.
        found: String,
        /// The range.
        expected: String,
    },
    /// A range that holds nothing.
    #[error("{section}: `{key}` run from {low} down to {high}\nhint: write the lower one first")]
    EmptyRange {
        /// The part of the schema.
        section: String,
        /// The key.
        key: &'static str,
        /// The first number.
        low: String,
        /// The second number.
        high: String,
    },
    /// Two statements that do not go together.
    #[error("{section}: {first} contradicts {second}\nhint: {hint}")]
    Contradiction {
        /// The part of the schema.
        section: String,
        /// One statement.
        first: String,
        /// The other.
        second: String,
        /// How to resolve it.
        hint: &'static str,
    },
    /// `allowed` or `labels` speaks of a value that the feature does not have.
    #[error("{section}: `{key}` names `{found}`, which is not among its `values`{}", suggest(.found, .known))]
    NotAValue {
        /// The part of the schema.
        section: String,
        /// The key.
        key: &'static str,
        /// The value.
        found: String,
        /// The values that exist.
        known: Vec<String>,
    },
    /// Categories without an order under a constraint that needs one.
    #[error(
        "{section} must have an order, because {because}, but its value `{found}` is not a number\nhint: make it `ordinal` and list its `values` in order"
    )]
    NoOrder {
        /// The part of the schema.
        section: String,
        /// The constraint.
        because: &'static str,
        /// The first value that is not a number.
        found: String,
    },
    /// A rule about a feature that does not exist.
    #[error("rule {rule}: no feature `{found}`{}", suggest(.found, .known))]
    RuleFeature {
        /// The rule's number, from 1.
        rule: usize,
        /// The name.
        found: String,
        /// The features that exist.
        known: Vec<String>,
    },
    /// A rule about one feature alone.
    #[error("rule {rule}: `{name}` cannot depend on itself")]
    RuleOnItself {
        /// The rule's number, from 1.
        rule: usize,
        /// The feature.
        name: String,
    },
    /// The same rule again.
    #[error("rule {rule} repeats rule {earlier}\nhint: remove one of them")]
    RuleRepeated {
        /// The rule's number, from 1.
        rule: usize,
        /// The number of the one before it.
        earlier: usize,
    },
    /// Rules that lead back to where they began.
    #[error("the rules go round in a circle: {}\nhint: remove one of them", .cycle.join(" -> "))]
    RuleCycle {
        /// The features on the way, the first again at the end.
        cycle: Vec<String>,
    },
    /// Rules that form neither a tree nor a small group.
    #[error(
        "{} features are tied together by rules that form no tree, expected at most {limit}: {}\nhint: remove rules that follow from others",
        .features.len(), one_of(.features)
    )]
    RuleTangle {
        /// The features in the group.
        features: Vec<String>,
        /// How many there may be.
        limit: usize,
    },
}
