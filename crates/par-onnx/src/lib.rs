//! Reads a classifier, or a regression, from an ONNX file.
//!
//! A file holds a graph of operators over tensors. Recourse needs one number a row, the log-odds of a set of
//! classes or a predicted number, in a form that can be differentiated and bounded. So the graph is not run, but
//! lowered to parts of one of two forms, one part unless there are more than two classes:
//!
//! | step | item                        | takes                            | gives                                |
//! |------|-----------------------------|----------------------------------|--------------------------------------|
//! | 1    | [`Graph::from_bytes`]       | the bytes of a file              | its inputs, outputs and classes      |
//! | 2    | [`Graph::classifier`]       | an output and its accepted columns | an [`OnnxClassifier`]              |
//! | 3    | [`OnnxClassifier::sources`] | one input each                   | numbers: scaled, one-hot, looked up  |
//! | 4    | [`OnnxClassifier::parts`]   | the numbers of all sources       | scores, by [`Layers`] or [`Trees`]   |
//! | 5    | [`OnnxClassifier::head`]    | the scores of all parts          | the log-odds                         |
//!
//! This crate knows nothing of tables, codes or recourse.

mod classifier;
mod error;
mod graph;
mod head;
mod lower;
mod node;
mod outputs;
mod proto;
mod tensor;
#[cfg(test)]
mod test_graph;

pub use classifier::{
    Activation, Body, Comparison, Dense, Layers, Link, OnnxClassifier, Source, Step, TreeNode, Trees, Value,
};
pub use error::Error;
pub use graph::{Decision, Graph, Input, InputKind, Output, Scale, ScoreChoice};
pub use head::Head;
