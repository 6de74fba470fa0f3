//! Tests of the binary `par-bench`.

mod measure;
mod report;
mod tune;
