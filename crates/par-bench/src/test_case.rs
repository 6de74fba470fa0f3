//! A small table for tests.

use std::io::Cursor;

use par_data::{Schema, Table, TableOptions};
use par_model::Config;

use crate::case::{Case, Fold};

/// An immutable feature, one that only rises, and two free ones.
pub(crate) const SCHEMA: &str = r#"
[label]
column = "paid"
classes = ["no", "yes"]
favourable = "yes"

[[feature]]
name = "town"
kind = "nominal"
immutable = true

[[feature]]
name = "age"
kind = "continuous"
monotone = "increasing"

[[feature]]
name = "income"
kind = "continuous"
missing = true

[[feature]]
name = "job"
kind = "nominal"
"#;

/// The same with a clock, and a consequence of it.
pub(crate) const MOVING: &str = r#"
version = 2
name = "moving"

[label]
column = "paid"
classes = ["no", "yes"]
favourable = "yes"

[[feature]]
name = "town"
kind = "nominal"
change = "never"

[[feature]]
name = "age"
kind = "discrete"
unit = "years"
change = "with-time"

[[feature]]
name = "band"
kind = "ordinal"
values = ["young", "middle", "old"]
change = "follows"

[[feature]]
name = "job"
kind = "nominal"
change = "free"

[[relation]]
lookup = "age"
gives = "band"
table = [["..29", "young"], ["30..44", "middle"], ["45..", "old"]]
"#;

/// Three hundred people in two folds, some without an income, and a configuration with a quick fit.
pub(crate) fn case(schema: &str) -> Case {
    let mut rows = String::from("town,age,band,income,job,paid,fold\n");
    for row in 0..300_u64 {
        let draw = |salt: u64, below: u64| ((row * 31 + salt) * 2_654_435_761 % 1_000_003) % below;
        let (age, income, job) = (20 + draw(1, 40), 10 + draw(2, 80), draw(3, 4));
        let paid = if age + income + 10 * job + draw(4, 30) > 90 { "yes" } else { "no" };
        let band = if age < 30 {
            "young"
        } else if age < 45 {
            "middle"
        } else {
            "old"
        };
        let income = if draw(5, 20) == 0 { String::new() } else { income.to_string() };
        rows += &format!("t{},{age},{band},{income},j{job},{paid},{}\n", draw(6, 3), row % 2);
    }
    let schema = Schema::parse(schema, "s.toml").expect("a schema");
    let mut config = Config::default();
    config.generator.hidden = [8, 8];
    config.generator.examples = 100;
    config.generator.steps = 10;
    config.pool.size = 100;
    let table = Table::from_reader("t.csv", Cursor::new(rows), &TableOptions::default()).expect("a table");
    Case::new("t", schema, config, table, "fold", None).expect("a case")
}

/// The first fold, with few people.
pub(crate) fn fold(case: &Case) -> Fold<'_> {
    let mut fold = Fold::new(case, &case.folds()[0]).expect("a fold");
    fold.people.truncate(24);
    fold
}
