//! Probabilistic circuits over categorical variables: learn them from rows of codes, and query them.
//!
//! | step | module or type                       | takes                   | gives                       |
//! |------|--------------------------------------|-------------------------|-----------------------------|
//! | 1    | [`Dataset`]                          | codes of rows           | checked rows                |
//! | 2    | [`learn`]                            | rows                    | a [`Circuit`]               |
//! | 3    | [`Circuit::log_probs`], [`Evaluator`] | rows, soft rows, boxes | likelihoods, slopes, bounds |
//! | 4    | [`Sampler`], [`Circuit::mpe`]        | evidence, boxes         | rows                        |
//! | 5    | [`Circuit::to_bytes`], [`Circuit::to_text`] | a circuit        | a file                      |
//!
//! A [`Circuit`] is smooth and decomposable because its constructor refuses anything else, so that every
//! query is exact. This crate knows nothing of recourse.

mod allowed;
mod ball;
mod batch;
mod changes;
mod circuit;
mod dataset;
mod engine;
mod error;
mod evaluator;
mod evidence;
mod format;
pub mod learn;
mod log_space;
mod mpe;
mod sample;
mod soft;
mod stop;
pub mod threads;

pub use allowed::Allowed;
pub use ball::Ball;
pub use changes::ChangeBounds;
pub use circuit::{Circuit, Node, NodeId};
pub use dataset::Dataset;
pub use engine::{Kernel, vectorised};
pub use error::{CircuitError, DatasetError, FormatError, LearnError};
pub use evaluator::Evaluator;
pub use evidence::{Evidence, Observation};
pub use mpe::Mpe;
pub use sample::Sampler;
pub use soft::SoftEvaluator;
pub use stop::{Stop, Stopped};

/// A category of a variable, counted from 0.
pub type Code = u16;

/// The code of an unknown value: its variable is summed out.
pub const OPEN: Code = Code::MAX;

/// How many categories a variable may have.
pub const MAX_CARDINALITY: usize = Code::MAX as usize;
