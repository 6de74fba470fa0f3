//! Reads a binary classifier from an ONNX file.
//!
//! A file holds a graph of operators over tensors. Recourse needs one number a row, the log-odds of one
//! class, in a form that can be differentiated and bounded. So the graph is not run, but lowered to one of
//! two forms:
//!
//! | step | item                        | takes                            | gives                                |
//! |------|-----------------------------|----------------------------------|--------------------------------------|
//! | 1    | [`Graph::from_bytes`]       | the bytes of a file              | its inputs, outputs and classes      |
//! | 2    | [`Graph::classifier`]       | an output and the accepted class | an [`OnnxClassifier`]                |
//! | 3    | [`OnnxClassifier::sources`] | one input each                   | numbers: scaled, one-hot, looked up  |
//! | 4    | [`OnnxClassifier::body`]    | the numbers of all sources       | log-odds, by [`Layers`] or [`Trees`] |
//!
//! This crate knows nothing of tables, codes or recourse.

mod classifier;
mod error;
mod graph;
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
pub use graph::{Graph, Input, InputKind, Output, Scale, ScoreChoice};
