//! The German Credit table: 1,000 loan applicants, 20 features, good and bad risks. It is part of the binary.
//!
//! "Statlog (German Credit Data)", Hofmann, H. (1994), UCI Machine Learning Repository,
//! <https://doi.org/10.24432/C5NC77>, CC BY 4.0; we named the columns and spelled out the codes.

use crate::schema::Schema;
use crate::table::{Table, TableOptions};

/// The table as a CSV file.
pub const CSV: &str = include_str!("../data/german_credit.csv");

/// The table: `id`, the features, `class`.
pub fn table() -> Table {
    Table::from_reader("german_credit.csv", CSV.as_bytes(), &TableOptions::default())
        .expect("the embedded table has a header")
}

/// Its schema.
pub fn schema() -> Schema {
    let text = include_str!("../data/german_credit.toml");
    Schema::parse(text, "german_credit.toml").expect("the embedded schema is consistent")
}

/// Its schema without constraints: every feature may change, in every direction. For tests and benchmarks of
/// searches, which are hard only where much may change.
pub fn unconstrained_schema() -> Schema {
    let schema = schema();
    let (features, _relations) = schema.source().split_once("[[relation]]").expect("it has a relation");
    let is_constraint = |line: &&str| ["allowed", "step"].iter().any(|key| line.starts_with(key));
    let free = |line| if str::starts_with(line, "change") { "change = \"free\"" } else { line };
    let lines: Vec<&str> = features.lines().filter(|line| !is_constraint(line)).map(free).collect();
    Schema::parse(&lines.join("\n"), "german_credit.toml").expect("fewer constraints contradict nothing")
}
