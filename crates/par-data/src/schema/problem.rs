//! Reasons why a schema is refused.

use crate::constraints::LimitError;
use crate::suggest::{all, listed, suggest, suggest_key};

/// A refused schema, with the place of the problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{origin}, line {line}: {section}: {problem}")]
pub struct SchemaError {
    /// The schema's name, usually its path.
    pub origin: String,
    /// The line of the offending text, from 1.
    pub line: usize,
    /// The part of the schema, such as ``feature `Age` ``.
    pub section: String,
    /// The problem.
    pub problem: Box<SchemaProblem>,
}

/// A problem in one section of a schema.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaProblem {
    /// The text is not TOML.
    #[error("{message}")]
    Syntax {
        /// The parser's message.
        message: String,
    },
    /// A key that does not exist in this section.
    #[error("unknown key `{key}`{}", suggest_key(.key, .known))]
    UnknownKey {
        /// The key.
        key: String,
        /// The keys that exist.
        known: Vec<String>,
    },
    /// A key of schema version 1, in version 2.
    #[error("`{key}` belongs to schema version 1\nhint: write {instead}")]
    KeyOfVersion1 {
        /// The key.
        key: String,
        /// What version 2 writes.
        instead: &'static str,
    },
    /// A key of schema version 2, in version 1.
    #[error(
        "`{key}` belongs to schema version 2, and this schema has version 1\nhint: write `version = 2` at the top and a `change` for each feature, or run `par schema upgrade`"
    )]
    KeyOfVersion2 {
        /// The key.
        key: String,
    },
    /// A required key is missing.
    #[error("`{key}` is missing, expected {expected}")]
    MissingKey {
        /// The key.
        key: &'static str,
        /// The value that it needs.
        expected: &'static str,
    },
    /// A value of another type.
    #[error("`{key}` is {found}, expected {expected}")]
    WrongType {
        /// The key.
        key: &'static str,
        /// The type found.
        found: &'static str,
        /// The type expected.
        expected: &'static str,
    },
    /// A word that is not in a fixed list.
    #[error("`{key}` cannot be `{found}`{}", suggest(.found, .known))]
    UnknownWord {
        /// The key.
        key: &'static str,
        /// The word.
        found: String,
        /// The words that exist.
        known: Vec<String>,
    },
    /// A value that is listed twice.
    #[error("`{name}` is listed twice")]
    Repeated {
        /// The value.
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
    /// There are no features.
    #[error("no `[[feature]]` is listed")]
    NoFeatures,
    /// A label with fewer than two classes.
    #[error("found {found} classes, expected at least 2")]
    TooFewClasses {
        /// Number of classes.
        found: usize,
    },
    /// `counts` has another length than `classes`.
    #[error("found {found} `counts`, expected one for each of {expected} classes")]
    CountsLength {
        /// Number of counts.
        found: usize,
        /// Number of classes.
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
    /// A range without numbers.
    #[error("`{key}`: there is no number from {low} to {high}\nhint: write the lower one first")]
    EmptyRange {
        /// The key.
        key: &'static str,
        /// The first number.
        low: String,
        /// The second number.
        high: String,
    },
    /// Two statements that contradict each other.
    #[error("{first} contradicts {second}\nhint: {hint}")]
    Contradiction {
        /// One statement.
        first: String,
        /// The other.
        second: String,
        /// How to resolve it.
        hint: String,
    },
    /// A statement that nothing can meet, or that says nothing.
    #[error("{statement}, but {because}\nhint: {hint}")]
    Impossible {
        /// The statement.
        statement: String,
        /// Why it cannot be met, or is met by everything.
        because: String,
        /// How to resolve it.
        hint: String,
    },
    /// `allowed` or `labels` names a value that the feature does not have.
    #[error("`{key}` names `{found}`, which is not among its `values`{}", suggest(.found, .known))]
    NotAValue {
        /// The key.
        key: &'static str,
        /// The value.
        found: String,
        /// The values that exist.
        known: Vec<String>,
    },
    /// Categories without an order, with a constraint that needs one.
    #[error(
        "an order is needed, because {because}, but the value `{found}` is not a number\nhint: make it `ordinal` and list its `values` in order"
    )]
    NoOrder {
        /// The constraint.
        because: &'static str,
        /// The first value that is not a number.
        found: String,
    },
    /// A key about changes of a feature of which nobody has said that it changes.
    #[error(
        "`{key}` speaks of changes, but `change` does not say whether it can change\nhint: write `change = \"free\"`, `\"increase\"` or `\"decrease\"`, or drop `{key}`"
    )]
    ChangeUndecided {
        /// The key.
        key: String,
    },
    /// A clock without a unit of time.
    #[error(
        "`change = \"with-time\"` needs a unit of time, found {}\nhint: write `unit = \"months\"`, or `days`, `weeks`, `quarters`, `years`",
        .found.as_ref().map_or("none".to_string(), |unit| format!("`unit = \"{unit}\"`"))
    )]
    ClockUnit {
        /// The unit, if there is one.
        found: Option<String>,
    },
    /// A step of length 0.
    #[error("a step of 0 lets it never change\nhint: write `change = \"never\"`, or a larger step")]
    NoStep,
    /// Transitions that leave no move.
    #[error("no category may become another one\nhint: allow one of them, or write `change = \"never\"`")]
    NoTransition,
    /// A transition from a number that is not special.
    #[error("`transitions` names `{found}`, which is not among its `special` values{}\nhint: list it under `special`", suggest(.found, .known))]
    NotSpecial {
        /// The number.
        found: String,
        /// The special values.
        known: Vec<String>,
    },
    /// A duration that cannot be read.
    #[error(
        "`takes` is `{found}`, expected a duration\nhint: write it as `6 months`, `30 days`, or `1 year per 500` where it grows with the distance"
    )]
    Duration {
        /// The text.
        found: String,
    },
    /// A relation without a key that says its kind.
    #[error("no kind of relation is named, expected one of {}", all(.kinds))]
    NoRelation {
        /// The keys, one for each kind.
        kinds: Vec<String>,
    },
    /// A relation of too few or too many features.
    #[error("`{key}` lists {found}, expected {expected} features")]
    FeatureCount {
        /// The key.
        key: &'static str,
        /// Their number.
        found: usize,
        /// The number expected.
        expected: &'static str,
    },
    /// Features whose values have no common order.
    #[error(
        "`{first}` and `{second}` cannot be compared\nhint: both are `discrete` or `continuous`, or both are `ordinal` with the same `values`"
    )]
    NotComparable {
        /// The first.
        first: String,
        /// The second.
        second: String,
    },
    /// A computation with categories.
    #[error("`{key}` computes with numbers, but `{name}` is {kind}")]
    NotNumeric {
        /// The computation.
        key: &'static str,
        /// The feature.
        name: String,
        /// Its kind.
        kind: &'static str,
    },
    /// A list without values in a condition.
    #[error("`{name}`: the list of values is empty\nhint: list at least one, or drop the condition")]
    NoValues {
        /// The feature.
        name: String,
    },
    /// A set of values in a condition that cannot be read.
    #[error(transparent)]
    Values(LimitError),
    /// A rule about a feature that does not exist.
    #[error("no feature `{found}`{}", suggest(.found, .known))]
    RuleFeature {
        /// The name.
        found: String,
        /// The features that exist.
        known: Vec<String>,
    },
    /// A rule between a feature and itself.
    #[error("`{name}` cannot depend on itself")]
    RuleOnItself {
        /// The feature.
        name: String,
    },
    /// A rule, with others, that requires one feature to rise and to fall.
    #[error(
        "if `{when}` {moves}s, `{name}` must both rise and fall\nhint: remove one of the rules that lead there"
    )]
    RuleTorn {
        /// The feature that so cannot move.
        when: String,
        /// `rise` or `fall`.
        moves: &'static str,
        /// The feature that would have to do both.
        name: String,
    },
    /// A rule that requires a rise or a fall that cannot happen.
    #[error(
        "`{name}` must {must}, but {because}\nhint: remove the rule and let `{effect}` {when} alone, {keep}, or let `{name}` {must}"
    )]
    RuleImpossible {
        /// The feature that must rise or fall.
        name: String,
        /// `rise` or `fall`.
        must: &'static str,
        /// Why it cannot.
        because: &'static str,
        /// The feature that may rise or fall only with it.
        effect: String,
        /// `rise` or `fall`.
        when: &'static str,
        /// How to say that the effect does not change.
        keep: String,
    },
    /// The same rule or relation again.
    #[error("repeats {kind} {earlier}\nhint: remove one of them")]
    Repeats {
        /// `rule` or `relation`.
        kind: &'static str,
        /// The number of the first one.
        earlier: usize,
    },
    /// Rules or computations that form a cycle.
    #[error("goes round in a circle: {}\nhint: remove one of them", .cycle.join(" -> "))]
    Cycle {
        /// The features of the cycle; the first is repeated at the end.
        cycle: Vec<String>,
    },
    /// A connected group of rules that is neither a tree nor small.
    #[error(
        "ties together {} features without forming a tree, expected at most {limit}: {}\nhint: remove rules that follow from others",
        .features.len(), listed(.features)
    )]
    RuleTangle {
        /// The features in the group.
        features: Vec<String>,
        /// Largest number of features of such a group.
        limit: usize,
    },
}
