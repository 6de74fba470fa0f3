//! Reasons why a file is refused.

use crate::graph::Scale;

/// Reasons why a file is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not an ONNX file.
    #[error("this is no ONNX file: {reason}")]
    NotOnnx {
        /// The reason.
        reason: String,
    },
    /// The file exceeds a limit.
    #[error("there are more than {limit} {what}, which is the limit")]
    TooLarge {
        /// The quantity that is limited.
        what: String,
        /// The limit.
        limit: usize,
    },
    /// The operator is not supported.
    #[error(
        "{node}: the operator `{operator}` of `{domain}` is not supported\nhint: supported are {supported}"
    )]
    Operator {
        /// The node.
        node: String,
        /// Its name.
        operator: String,
        /// Its domain.
        domain: String,
        /// The supported operators.
        supported: String,
    },
    /// The attribute is not supported, or has an unsupported value.
    #[error("{node}: the attribute `{attribute}` is {found}, expected {expected}")]
    Attribute {
        /// The node.
        node: String,
        /// Its name.
        attribute: String,
        /// Its value.
        found: String,
        /// The supported values.
        expected: String,
    },
    /// The operator does not support such a tensor.
    #[error("{node}: found {found}, expected {expected}")]
    Operand {
        /// The node.
        node: String,
        /// The tensor found.
        found: String,
        /// The tensor expected.
        expected: String,
    },
    /// No earlier node computes the tensor.
    #[error("{node}: nothing before it makes the tensor `{tensor}`")]
    Undefined {
        /// The node.
        node: String,
        /// The tensor's name.
        tensor: String,
    },
    /// An operator combines numbers of different layers.
    #[error(
        "{node}: joins {found}\nhint: only layers one after the other are supported, without connections that skip one"
    )]
    Joins {
        /// The node.
        node: String,
        /// The numbers found.
        found: String,
    },
    /// A constant tensor of an unsupported type or size.
    #[error("the tensor `{tensor}` has {found}, expected {expected}")]
    Tensor {
        /// Its name.
        tensor: String,
        /// The type or size found.
        found: String,
        /// The type or size expected.
        expected: String,
    },
    /// A weight is not finite.
    #[error("{node}: a weight is not finite")]
    NotFinite {
        /// The node.
        node: String,
    },
    /// The nodes of an ensemble do not form a tree.
    #[error("{node}: tree `{tree}` is no tree: {reason}")]
    NotATree {
        /// The node of the ensemble.
        node: String,
        /// The tree's number.
        tree: i64,
        /// The reason.
        reason: String,
    },
    /// An input that is neither numbers nor texts.
    #[error("the input `{input}` expects {found}, expected numbers or texts")]
    InputKind {
        /// Its name.
        input: String,
        /// Its type.
        found: String,
    },
    /// The number of widths is not the number of inputs.
    #[error("there are widths of {found} inputs, expected {expected}")]
    Widths {
        /// Number of widths.
        found: usize,
        /// Number of inputs.
        expected: usize,
    },
    /// The width is not the one in the file.
    #[error("the input `{input}` is given {found} values a row, expected {expected}")]
    Width {
        /// The input's name.
        input: String,
        /// The width given.
        found: usize,
        /// The width in the file.
        expected: String,
    },
    /// No output has that name.
    #[error("no output `{found}` holds scores, expected one of {known}")]
    NoOutput {
        /// The name given.
        found: String,
        /// The names of the outputs.
        known: String,
    },
    /// No output holds scores.
    #[error("no output of the graph holds scores\nhint: labels are none; export the probabilities too")]
    NoScores,
    /// Several outputs hold scores.
    #[error("several outputs hold scores: {known}\nhint: say which one is meant")]
    SeveralOutputs {
        /// Their names.
        known: String,
    },
    /// The output is not a score of each class.
    #[error("the output `{output}` has {found}, expected one column of scores, or one a class")]
    Columns {
        /// Its name.
        output: String,
        /// Its columns.
        found: String,
    },
    /// The accepted classes are none, all of them, or not there.
    #[error("`accepted` is {found:?} for the output `{output}`, expected {expected}")]
    Accepted {
        /// The output's name.
        output: String,
        /// The columns.
        found: Vec<usize>,
        /// What can be accepted.
        expected: String,
    },
    /// The scores are on another scale than the one given.
    #[error("the scores of `{output}` are said to be {stated}, but the graph ends in {found}{hint}")]
    Scale {
        /// The output's name.
        output: String,
        /// The scale given.
        stated: Scale,
        /// The last operator of the graph.
        found: String,
        /// A hint.
        hint: String,
    },
}
