//! Tests of the binary `par-bench`.

mod export;
mod growth;
mod measure;
mod report;
mod tune;
