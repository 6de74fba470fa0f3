//! Reads a binary classifier from an ONNX file.
//!
//! A file holds a graph of operators over tensors. What recourse needs of it is one number a row, the log-odds of
//! one class, in a form that can also be differentiated and bounded. So the graph is not run as it stands, but
//! brought into one of two shapes first:
//!
//! | step | item                  | takes                               | gives                                      |
//! |------|-----------------------|-------------------------------------|--------------------------------------------|
//! | 1    | [`Graph::from_bytes`] | the bytes of a file                 | its inputs, outputs and classes            |
//! | 2    | [`Graph::model`]      | which output and class is meant     | a [`Model`]                                |
//! | 3    | [`Model::sources`]    | one input each                      | numbers: scaled, one-hot, looked up        |
//! | 4    | [`Model::body`]       | the numbers of all sources          | log-odds, by [`Layers`] or by [`Trees`]    |
//!
//! This crate knows nothing of tables, codes or recourse.

mod error;
mod graph;
#[cfg(test)]
mod handmade;
mod lower;
mod model;
mod node;
mod outputs;
mod proto;
mod tensor;

pub use error::Error;
pub use graph::{Choice, Graph, Input, InputKind, Output, Scale};
pub use model::{
    Activation, Body, Comparison, Dense, Layers, Link, Model, Source, Step, TreeNode, Trees, Value,
};
