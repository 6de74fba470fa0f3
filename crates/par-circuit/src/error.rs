//! Errors of circuits, data sets, learning and stored circuits.

use crate::{NodeId, Stopped};

/// Reasons why nodes are not a circuit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CircuitError {
    /// There are no variables or no nodes.
    #[error("a circuit needs at least one variable and one node")]
    Empty,
    /// A variable has no category, or more than codes can number.
    #[error("variable {variable} has {found} categories, expected 1 to {}", crate::MAX_CARDINALITY)]
    Cardinality {
        /// Position of the variable.
        variable: usize,
        /// Number of categories found.
        found: usize,
    },
    /// There are more variables than leaves could cover.
    #[error("{variables} variables need at least as many nodes, found {nodes}")]
    TooFewNodes {
        /// How many variables there are.
        variables: usize,
        /// How many nodes there are.
        nodes: usize,
    },
    /// Evaluation would take too much memory.
    #[error("the circuit is too large: {what} would take {found} numbers, expected at most {limit}")]
    TooLarge {
        /// Which part is too large.
        what: &'static str,
        /// Numbers that it would hold.
        found: u64,
        /// Numbers that it may hold.
        limit: u64,
    },
    /// A leaf names a variable that does not exist.
    #[error("node {node}: variable {variable} does not exist, the circuit has {variables}")]
    UnknownVariable {
        /// The leaf.
        node: NodeId,
        /// The variable that it names.
        variable: usize,
        /// How many variables there are.
        variables: usize,
    },
    /// A leaf has too few or too many probabilities.
    #[error("node {node}: expected {expected} probabilities, found {found}")]
    LeafLength {
        /// The leaf.
        node: NodeId,
        /// Categories of its variable.
        expected: usize,
        /// Probabilities it has.
        found: usize,
    },
    /// Probabilities or weights are negative, not finite, or do not sum to one.
    #[error("node {node}: {what} must be finite, at least 0 and sum to 1, found a sum of {sum}")]
    NotADistribution {
        /// The node.
        node: NodeId,
        /// `probabilities` or `weights`.
        what: &'static str,
        /// Their sum.
        sum: f64,
    },
    /// An inner node has no children.
    #[error("node {node} has no children")]
    NoChildren {
        /// The node.
        node: NodeId,
    },
    /// A child comes after its parent, so the nodes are not in topological order.
    #[error("node {node}: child {child} does not come before it")]
    ChildAfterParent {
        /// The parent.
        node: NodeId,
        /// The child.
        child: NodeId,
    },
    /// A node lists the same child twice.
    #[error("node {node} lists child {child} twice")]
    RepeatedChild {
        /// The parent.
        node: NodeId,
        /// The child.
        child: NodeId,
    },
    /// A sum has another number of weights than of children.
    #[error("node {node}: expected {expected} weights, one a child, found {found}")]
    WeightCount {
        /// The sum.
        node: NodeId,
        /// Its children.
        expected: usize,
        /// Its weights.
        found: usize,
    },
    /// The children of a sum have different scopes.
    #[error("sum {node} is not smooth: child {child} has another scope than the first child")]
    NotSmooth {
        /// The sum.
        node: NodeId,
        /// The first child that differs.
        child: NodeId,
    },
    /// The children of a product share a variable.
    #[error("product {node} is not decomposable: two children share variable {variable}")]
    NotDecomposable {
        /// The product.
        node: NodeId,
        /// The shared variable.
        variable: usize,
    },
    /// The root, the last node, leaves variables out.
    #[error("the root does not cover variable {variable}")]
    RootScope {
        /// The first variable missing.
        variable: usize,
    },
    /// Circuits of different variables cannot be mixed.
    #[error("the parts of a mixture have different variables")]
    OtherVariables,
    /// A node is not used by any other and is not the root.
    #[error("node {node} is not reached from the root")]
    Unreachable {
        /// The node.
        node: NodeId,
    },
}

/// Reasons why codes are not a data set.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// No variable, or one with no or too many categories.
    #[error("variable {variable} has {found} categories, expected 1 to {}", crate::MAX_CARDINALITY)]
    Cardinality {
        /// Position of the variable.
        variable: usize,
        /// Number of categories found.
        found: usize,
    },
    /// There are no variables.
    #[error("a data set needs at least one variable")]
    NoVariables,
    /// The codes do not fill whole rows.
    #[error("{found} codes do not fill whole rows of {width}")]
    Ragged {
        /// Codes given.
        found: usize,
        /// Variables.
        width: usize,
    },
    /// A code is past the last category of its variable.
    #[error("row {row}, variable {variable}: code {found}, expected below {cardinality} or OPEN")]
    Code {
        /// Row, from 0.
        row: usize,
        /// Variable, from 0.
        variable: usize,
        /// The code.
        found: u16,
        /// Categories of the variable.
        cardinality: usize,
    },
}

/// Reasons why no circuit was learned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// There are no rows to learn from.
    #[error("there are no rows to learn from")]
    NoRows,
    /// Validation rows have other variables than training rows.
    #[error("validation rows have other variables or categories than the training rows")]
    OtherVariables,
    /// A setting is out of its range.
    #[error("`{name}` is {found}, expected {expected}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        found: f64,
        /// Its range, in words.
        expected: &'static str,
    },
    /// Learning was stopped from outside.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Reasons why bytes or text are not a stored circuit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The file is not a stored circuit.
    #[error("not a circuit: expected it to begin with `{expected}`")]
    Magic {
        /// The bytes or words that a stored circuit begins with.
        expected: &'static str,
    },
    /// The file was written by another version.
    #[error("circuit format version {found} is not known, this program reads version {supported}")]
    Version {
        /// Version of the file.
        found: u32,
        /// Version this program reads.
        supported: u32,
    },
    /// The file ends before the circuit does.
    #[error("the circuit is truncated: expected {expected} more bytes, found {found}")]
    Truncated {
        /// Bytes that should follow.
        expected: u64,
        /// Bytes that do follow.
        found: u64,
    },
    /// Bytes follow the circuit.
    #[error("{found} bytes follow the end of the circuit")]
    TrailingBytes {
        /// How many.
        found: usize,
    },
    /// The content was changed after it was written.
    #[error("the circuit was changed after it was written: checksum {found:08x}, expected {expected:08x}")]
    Checksum {
        /// Checksum stored in the file.
        expected: u32,
        /// Checksum of what the file holds.
        found: u32,
    },
    /// A node of an unknown kind.
    #[error("node {node}: unknown kind {found}")]
    Kind {
        /// The node.
        node: NodeId,
        /// The kind found.
        found: u8,
    },
    /// A line of the text form cannot be read.
    #[error("line {line}: {what}")]
    Line {
        /// Line, from 1.
        line: usize,
        /// The reason.
        what: String,
    },
    /// The file is whole, but its nodes are not a circuit.
    #[error(transparent)]
    Circuit(#[from] CircuitError),
}
