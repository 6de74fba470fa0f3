//! Tests of the public API against enumeration, finite differences and the plain path.

mod learning;
mod queries;
mod random;
mod stopping;
mod storage;
