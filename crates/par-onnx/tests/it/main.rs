//! Graphs against what onnxruntime makes of them, and files that are refused.

mod fixtures;
mod operators;
mod refused;
mod scored;
