//! Why a file gives no model.

use crate::graph::Scale;

/// Why a file gives no model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are no ONNX file.
    #[error("this is no ONNX file: {reason}")]
    NotOnnx {
        /// What is wrong.
        reason: String,
    },
    /// There is more of something than a file may have.
    #[error("there are more than {limit} {what}, which is the limit")]
    TooLarge {
        /// What there is too much of.
        what: String,
        /// How much there may be.
        limit: usize,
    },
    /// An operator that cannot be brought into a model.
    #[error(
        "{node}: the operator `{operator}` of `{domain}` is not supported\nhint: supported are {supported}"
    )]
    Operator {
        /// Where it stands.
        node: String,
        /// Its name.
        operator: String,
        /// Its domain.
        domain: String,
        /// Those that can.
        supported: String,
    },
    /// An attribute that cannot be followed.
    #[error("{node}: the attribute `{attribute}` is {found}, expected {expected}")]
    Attribute {
        /// Where it stands.
        node: String,
        /// Its name.
        attribute: String,
        /// Its value.
        found: String,
        /// What it may be.
        expected: String,
    },
    /// A tensor that an operator cannot work on.
    #[error("{node}: found {found}, expected {expected}")]
    Operand {
        /// Where the operator stands.
        node: String,
        /// What it was given.
        found: String,
        /// What it needs.
        expected: String,
    },
    /// A tensor that is used before it is made.
    #[error("{node}: nothing before it makes the tensor `{tensor}`")]
    Undefined {
        /// Where the operator stands.
        node: String,
        /// The tensor's name.
        tensor: String,
    },
    /// Numbers meet that went through different layers.
    #[error(
        "{node}: joins {found}\nhint: only layers one after the other are supported, without connections that skip one"
    )]
    Joins {
        /// Where the operator stands.
        node: String,
        /// What meets.
        found: String,
    },
    /// A constant tensor that cannot be read.
    #[error("the tensor `{tensor}` has {found}, expected {expected}")]
    Tensor {
        /// Its name.
        tensor: String,
        /// What it holds.
        found: String,
        /// What can be read.
        expected: String,
    },
    /// A weight is not finite.
    #[error("{node}: a weight is not finite")]
    NotFinite {
        /// Where it stands.
        node: String,
    },
    /// A tree of an ensemble is none.
    #[error("{node}: tree `{tree}` is no tree: {reason}")]
    NotATree {
        /// Where the ensemble stands.
        node: String,
        /// The tree's number.
        tree: i64,
        /// What is wrong.
        reason: String,
    },
    /// An input that no row can be given to.
    #[error("the input `{input}` expects {found}, expected numbers or texts")]
    InputKind {
        /// Its name.
        input: String,
        /// What it expects.
        found: String,
    },
    /// Not as many widths as inputs.
    #[error("there are widths of {found} inputs, expected {expected}")]
    Widths {
        /// How many were given.
        found: usize,
        /// How many inputs there are.
        expected: usize,
    },
    /// Another width than the file's.
    #[error("the input `{input}` is given {found} values a row, expected {expected}")]
    Width {
        /// The input's name.
        input: String,
        /// How many it is given.
        found: usize,
        /// How many it expects.
        expected: String,
    },
    /// No output has that name.
    #[error("no output `{found}` holds scores, expected one of {known}")]
    NoOutput {
        /// What was asked for.
        found: String,
        /// Those there are.
        known: String,
    },
    /// No output may hold scores.
    #[error("no output of the graph holds scores\nhint: labels are none; export the probabilities too")]
    NoScores,
    /// Several outputs may hold scores.
    #[error("several outputs hold scores: {known}\nhint: say which one is meant")]
    SeveralOutputs {
        /// Their names.
        known: String,
    },
    /// An output is no score of two classes.
    #[error("the output `{output}` has {found}, expected one or two columns of scores")]
    Columns {
        /// Its name.
        output: String,
        /// What it has.
        found: String,
    },
    /// A column that no score of two classes has.
    #[error("the accepted class of `{output}` is `{found}`, expected `0` or `1`")]
    Accepted {
        /// The output's name.
        output: String,
        /// The class.
        found: usize,
    },
    /// Scores are not what they are said to be.
    #[error("the scores of `{output}` are said to be {told}, but the graph ends in {found}{hint}")]
    Scale {
        /// The output's name.
        output: String,
        /// What they are said to be.
        told: Scale,
        /// What the graph ends in.
        found: String,
        /// The remedy.
        hint: String,
    },
}
