//! The program as a person at a terminal meets it.

mod measure;
mod report;
mod tune;
