//! Tests against the scores of onnxruntime, and of refused files.

mod fixtures;
mod operators;
mod refused;
mod scored;
