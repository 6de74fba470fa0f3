//! Schemas of version 2 that are refused, and texts that are almost schemas.

use par_data::Schema;
use proptest::prelude::*;

use crate::message;

const CASES: &str = include_str!("bad_schemas.txt");

/// Features and relations that are fine, for statements that are not.
const FEATURES: &str = r#"version = 2
feature = [
  { name = "age", kind = "discrete", unit = "years", range = [0, 120], change = "with-time" },
  { name = "sex", kind = "nominal", values = ["f", "m"], change = "never" },
  { name = "job", kind = "nominal", values = ["none", "part", "full"], change = "free" },
  { name = "level", kind = "ordinal", values = ["low", "mid", "high"], change = "increase" },
  { name = "income", kind = "continuous", range = [0, inf], bounds = [500, 9000], change = "increase" },
  { name = "debt", kind = "continuous", range = [-9, inf], special = [-9], change = "decrease" },
  { name = "limit", kind = "continuous", range = [-500, -100], change = "free" },
  { name = "ratio", kind = "continuous", range = [0, 10], change = "follows" },
  { name = "band", kind = "ordinal", values = ["young", "old"], change = "follows" },
  { name = "unknown", kind = "discrete" },
]
[[relation]]
ratio = ["debt", "income"]
gives = "ratio"
[[relation]]
lookup = "age"
gives = "band"
table = [["..30", "young"], ["30..", "old"]]
"#;

#[test]
fn every_contradiction_is_refused_with_its_line_and_a_hint() {
    assert_eq!(crate::schema(FEATURES).relations().len(), 2, "fine without the bad statements");
    let mut cases = 0;
    for case in CASES.split("\n=== ").skip(1) {
        let (kind, case) = case.split_once('\n').expect("a kind");
        let (text, expected) = case.split_once("\n--- ").expect("a message");
        let whole = match kind {
            "feature" => format!("version = 2\n[[feature]]\nname = \"x\"\n{text}\n"),
            "relation" => format!("{FEATURES}{text}\n"),
            "label" => format!("{FEATURES}[label]\ncolumn = \"y\"\n{text}\n"),
            _ => text.to_string(),
        };
        let found = message(Schema::parse(&whole, "s.toml"));
        assert_eq!(found, format!("s.toml, {}", expected.trim_end()), "{kind}\n{text}");
        cases += 1;
    }
    assert!(cases > 100, "{cases} cases");
}

/// A value where a schema expects one, right or not.
fn value() -> impl Strategy<Value = String> {
    let plain = prop::sample::select(vec![
        "\"a\"",
        "\"b\"",
        "\"c\"",
        "\"d\"",
        "\"low\"",
        "\"0..9\"",
        "\"..\"",
        "\"9..1\"",
        "\"x|y\"",
        "0",
        "1",
        "-9",
        "2.5",
        "inf",
        "nan",
        "true",
        "[]",
        "{}",
        "\"never\"",
        "\"free\"",
        "\"increase\"",
        "\"follows\"",
        "\"with-time\"",
        "\"6 months per 2\"",
        "\"leave\"",
        "\"years\"",
        "\"ordinal\"",
        "\"discrete\"",
        "1979-05-27",
    ])
    .prop_map(String::from);
    plain.prop_recursive(2, 8, 3, |inner| {
        let keys = prop::sample::select(vec!["a", "b", "c", "d", "up", "down", "grid", "\"-9\"", "low"]);
        let table = prop::collection::btree_map(keys, inner.clone(), 0..3).prop_map(|entries| {
            let entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            format!("{{ {} }}", entries.join(", "))
        });
        let list = prop::collection::vec(inner, 0..3).prop_map(|items| format!("[{}]", items.join(", ")));
        prop_oneof![table, list]
    })
}

/// A table with some of these keys.
fn section(header: &'static str, keys: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::collection::btree_map(prop::sample::select(keys), value(), 0..4).prop_map(move |entries| {
        let lines: String = entries.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
        format!("{header}{lines}")
    })
}

fn almost_a_schema() -> impl Strategy<Value = String> {
    let number = section(
        "[[feature]]\nname = \"a\"\nkind = \"discrete\"\nchange = \"free\"\n",
        &[
            "bounds",
            "range",
            "special",
            "step",
            "transitions",
            "effort",
            "per",
            "takes",
            "allowed",
            "unit",
            "who",
        ],
    );
    let ordinal = section(
        "[[feature]]\nname = \"b\"\nkind = \"ordinal\"\nvalues = [\"low\", \"a\", \"b\"]\nchange = \"increase\"\n",
        &["step", "transitions", "forbid", "effort", "takes", "improves", "allowed", "labels"],
    );
    let follower =
        section("[[feature]]\nname = \"c\"\nkind = \"continuous\"\n", &["change", "unit", "range"]);
    let other =
        section("[[feature]]\nname = \"d\"\nkind = \"discrete\"\n", &["change", "improves", "special"]);
    let relation = section(
        "[[relation]]\n",
        &[
            "at_most",
            "sum",
            "ratio",
            "lookup",
            "gives",
            "table",
            "when",
            "then",
            "together",
            "at_most_changes",
            "of",
            "if_increases",
            "if_decreases",
            "must_increase",
            "must_decrease",
        ],
    );
    let accept = section("[[accept]]\n", &["when", "require", "because"]);
    let statements = prop::collection::vec(prop_oneof![relation, accept], 0..4);
    (number, ordinal, follower, other, statements).prop_map(
        |(number, ordinal, follower, other, statements)| {
            format!("version = 2\n{number}{ordinal}{follower}{other}{}", statements.concat())
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_almost_a_schema_is_one_or_an_error_with_a_line(text in almost_a_schema()) {
        if let Err(error) = Schema::parse(&text, "s.toml") {
            prop_assert!((1..=text.lines().count() + 1).contains(&error.line), "{error}\n{text}");
        }
    }

    #[test]
    fn a_damaged_schema_is_a_schema_or_an_error(
        at in any::<prop::sample::Index>(),
        length in 0usize..30,
        with in "[\\[\\]{}=\"a-z0-9.,\\n-]{0,6}",
    ) {
        let mut text = FEATURES.to_string();
        let start = at.index(text.len());
        text.replace_range(start..(start + length).min(text.len()), &with);
        let _ = Schema::parse(&text, "s.toml");
    }
}
