//! Tests of the binary `par-bench`.

mod export;
mod measure;
mod report;
mod tune;
