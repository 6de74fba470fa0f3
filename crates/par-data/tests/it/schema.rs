use par_data::Schema;
use par_data::schema::{Direction, Rule};
use proptest::prelude::*;

use crate::{columns, message, schema, table};

const LABEL: &str = "[label]\ncolumn = \"class\"\nclasses = [\"no\", \"yes\"]\nfavourable = \"yes\"\n";

fn refused(text: &str) -> String {
    message(Schema::parse(text, "s.toml"))
}

/// A schema of discrete features and rules, `effect -> cause`.
fn ruled(features: &[&str], rules: &[(&str, &str)]) -> String {
    let features =
        features.iter().map(|name| format!("[[feature]]\nname = \"{name}\"\nkind = \"discrete\"\n"));
    let rules = rules.iter().map(|(effect, cause)| {
        format!("[[rule]]\nif_increases = \"{effect}\"\nmust_increase = \"{cause}\"\n")
    });
    features.chain(rules).collect()
}

#[test]
fn every_key_is_understood() {
    let text = r#"
name = "people"
file = "people.csv"
rows = 3
folds = 5
missing_text = ["?", -1]

[columns]
id = "id"
fold = "fold"
subtest = "subtest"

[label]
column = "class"
classes = [0, 1]
favourable = 0
paper_favourable = "1"
counts = [2, 1]

[[feature]]
name = "age"
kind = "discrete"
bounds = [18, 99.5]
range = [0, inf]
observed = [20, 70]
unit = "years"
bins = 4
missing = true
monotone = "increasing"
note = "free text"

[[feature]]
name = "education"
kind = "ordinal"
values = ["school", "college"]
allowed = ["college"]
immutable = false
labels = { school = "up to twelve years" }

[[rule]]
if_increases = "education"
must_increase = "age"
"#;
    let schema = schema(text);
    assert_eq!((schema.name(), schema.file()), (Some("people"), Some("people.csv")));
    assert_eq!((schema.rows(), schema.folds()), (Some(3), Some(5)));
    assert_eq!(schema.special().subtest.as_deref(), Some("subtest"));
    let label = schema.label().expect("a label");
    assert_eq!(
        (label.classes.as_slice(), &label.favourable[..]),
        (&["0".to_string(), "1".to_string()][..], &[0][..])
    );
    assert_eq!(label.paper_favourable, Some(1));
    let [age, education] = schema.features() else { panic!("two features") };
    assert_eq!((age.bounds, age.bins, age.missing), (Some([18.0, 99.5]), Some(4), true));
    assert_eq!(age.range, Some([0.0, f64::INFINITY]));
    assert_eq!((age.direction(), age.unit.as_deref()), (Some(Direction::Increase), Some("years")));
    assert_eq!(education.allowed.as_deref(), Some(&["college".to_string()][..]));
    assert_eq!(education.labels["school"], "up to twelve years");
    assert_eq!(schema.rules(), [Rule::rises(1, 0)]);
}

#[test]
fn a_schema_is_saved_as_its_text() {
    let schema = schema(&format!("{LABEL}{}", ruled(&["a", "b"], &[("a", "b")])));
    let saved = serde_json::to_string(&schema).expect("text");
    assert_eq!(serde_json::from_str::<Schema>(&saved).expect("a schema"), schema);
    assert!(message(serde_json::from_str::<Schema>("\"name = 1\"")).starts_with("saved schema, line 1: "));
}

#[test]
fn a_rule_that_requires_an_impossible_rise_is_refused_but_opens_in_a_model() {
    let rule = "[[rule]]\nif_increases = \"degree\"\nmust_increase = \"age\"\n";
    let with = |line: &str| {
        format!(
            "[[feature]]\nname = \"age\"\nkind = \"discrete\"\n{line}\n[[feature]]\nname = \"degree\"\nkind = \"discrete\"\n{rule}"
        )
    };
    let hint =
        "hint: remove the rule and let `degree` rise alone, make `degree` immutable, or let `age` rise";
    for (line, because) in
        [("immutable = true", "it is immutable"), ("monotone = \"decreasing\"", "it can only fall")]
    {
        let text = with(line);
        assert_eq!(refused(&text), format!("s.toml, line 8: rule 1: `age` must rise, but {because}\n{hint}"));
        let saved = serde_json::to_string(&text).expect("text");
        let opened = serde_json::from_str::<Schema>(&saved).expect("a schema of an earlier version");
        assert_eq!(opened.rules().len(), 1);
    }
    schema(&with("monotone = \"increasing\""));
}

#[test]
fn a_range_that_contradicts_the_rest_is_refused() {
    let age = |lines: &str| format!("[[feature]]\nname = \"age\"\nkind = \"discrete\"\n{lines}\n");
    for (lines, problem) in [
        ("range = [120, 0]", "`range`: there is no number from 120 to 0\nhint: write the lower one first"),
        (
            "range = [inf, inf]",
            "`range`: there is no number from inf to inf\nhint: write the lower one first",
        ),
        (
            "range = [0, nan]",
            "`range` is [0, nan], expected two numbers, `-inf` or `inf` where there is no end",
        ),
        ("range = [0]", "`range` is [0], expected two numbers, `-inf` or `inf` where there is no end"),
        ("bounds = [-1, 99]\nrange = [0, inf]", "`bounds` is [-1, 99], expected within the range 0 to inf"),
        (
            "observed = [0, 130]\nrange = [0, 120]",
            "`observed` is [0, 130], expected within the range 0 to 120",
        ),
        (
            "allowed = [130]\nrange = [0, 120]",
            "`allowed` is 130, expected a number within the range 0 to 120",
        ),
    ] {
        assert_eq!(refused(&age(lines)), format!("s.toml, line 4: feature `age`: {problem}"));
    }
    assert_eq!(
        refused("[[feature]]\nname = \"job\"\nkind = \"nominal\"\nrange = [0, 1]\n"),
        "s.toml, line 4: feature `job`: `range` contradicts `kind = \"nominal\"`\n\
         hint: give categories `values` or `allowed`, or make the feature `discrete` or `continuous`"
    );
}

#[test]
fn text_that_is_not_toml_is_refused() {
    assert_eq!(
        refused("name = \"x\"\nrows = \n"),
        "s.toml, line 2: not TOML: string values must be quoted, expected literal string"
    );
}

#[test]
fn an_unknown_key_is_refused_with_the_nearest_one() {
    let text = "[[feature]]\nname = \"age\"\nkind = \"discrete\"\nimutable = true\n";
    assert_eq!(
        refused(text),
        "s.toml, line 4: `[[feature]]`: unknown key `imutable`, did you mean `immutable`? The keys are `name`, `kind`, `values`, `labels`, `bounds`, `range`, `observed`, `unit`, `missing`, `bins`, `allowed`, `note`, `immutable`, `monotone`"
    );
    assert_eq!(
        refused("[labels]\ncolumn = \"class\"\n"),
        "s.toml, line 1: the schema: unknown key `labels`, did you mean `label`? The keys are `version`, `name`, `file`, `rows`, `folds`, `missing_text`, `columns`, `label`, `feature`, `rule`"
    );
    assert_eq!(
        refused("[columns]\nweight = \"w\"\n"),
        "s.toml, line 2: `[columns]`: unknown key `weight`, expected one of `id`, `fold`, `subtest`"
    );
}

#[test]
fn an_absent_key_is_refused() {
    assert_eq!(refused("name = \"x\"\n"), "s.toml, line 1: the schema: no `[[feature]]` is listed");
    assert_eq!(
        refused("\n[[feature]]\nkind = \"discrete\"\n"),
        "s.toml, line 2: `[[feature]]`: `name` is missing, expected the column's name"
    );
    assert_eq!(
        refused("[[feature]]\nname = \"age\"\n"),
        "s.toml, line 2: feature `age`: `kind` is missing, expected one of `nominal`, `ordinal`, `discrete`, `continuous`"
    );
    assert_eq!(
        refused("[[feature]]\nname = \"size\"\nkind = \"ordinal\"\nmonotone = \"increasing\"\n"),
        "s.toml, line 2: feature `size`: `values` is missing, expected its categories in order"
    );
    assert_eq!(
        refused("[label]\ncolumn = \"class\"\nclasses = [\"no\", \"yes\"]\n"),
        "s.toml, line 1: `[label]`: `favourable` is missing, expected the class a person wants, or a list of some"
    );
}

#[test]
fn a_value_of_the_wrong_type_is_refused() {
    let feature = "[[feature]]\nname = \"age\"\nkind = \"discrete\"\n";
    assert_eq!(
        refused(&format!("{feature}immutable = \"yes\"\n")),
        "s.toml, line 4: feature `age`: `immutable` is text, expected true or false"
    );
    assert_eq!(
        refused(&format!("{feature}bounds = 3\n")),
        "s.toml, line 4: feature `age`: `bounds` is a number, expected a list"
    );
    assert_eq!(
        refused(&format!("{feature}bounds = [1, \"high\"]\n")),
        "s.toml, line 4: feature `age`: `bounds` is [1, high], expected two finite numbers"
    );
    assert_eq!(
        refused(&format!("rows = -1\n{feature}")),
        "s.toml, line 1: the schema: `rows` is a number, expected a whole number"
    );
    assert_eq!(
        refused("label = \"class\"\n"),
        "s.toml, line 1: the schema: `label` is text, expected a table"
    );
}

#[test]
fn an_unknown_word_is_refused() {
    assert_eq!(
        refused("[[feature]]\nname = \"age\"\nkind = \"continous\"\n"),
        "s.toml, line 3: feature `age`: `kind` cannot be `continous`, did you mean `continuous`?"
    );
    assert_eq!(
        refused("[[feature]]\nname = \"age\"\nkind = \"discrete\"\nmonotone = \"up\"\n"),
        "s.toml, line 4: feature `age`: `monotone` cannot be `up`, expected one of `none`, `increasing`, `decreasing`"
    );
    assert_eq!(
        refused(&LABEL.replace("= \"yes\"", "= \"Yes\"")),
        "s.toml, line 4: `[label]`: `favourable` cannot be `Yes`, did you mean `yes`?"
    );
}

#[test]
fn contradictions_are_refused() {
    let feature = |rest: &str| refused(&format!("[[feature]]\nname = \"age\"\n{rest}\n"));
    assert_eq!(
        feature("kind = \"discrete\"\nimmutable = true\nmonotone = \"increasing\""),
        "s.toml, line 5: feature `age`: `monotone = \"increasing\"` contradicts `immutable = true`\nhint: drop one of them"
    );
    assert_eq!(
        feature("kind = \"discrete\"\nimmutable = true\nallowed = [3]"),
        "s.toml, line 5: feature `age`: `allowed` contradicts `immutable = true`\nhint: drop one of them"
    );
    assert_eq!(
        feature("kind = \"discrete\"\nvalues = [1, 2]"),
        "s.toml, line 4: feature `age`: `values` contradicts `kind = \"discrete\"`\nhint: give numbers `bounds` or `allowed`, or make the feature `nominal` or `ordinal`"
    );
    assert_eq!(
        feature("kind = \"nominal\"\nbounds = [1, 2]"),
        "s.toml, line 4: feature `age`: `bounds` contradicts `kind = \"nominal\"`\nhint: give categories `values` or `allowed`, or make the feature `discrete` or `continuous`"
    );
    assert_eq!(
        feature("kind = \"discrete\"\nbounds = [9, 1]"),
        "s.toml, line 4: feature `age`: `bounds`: there is no number from 9 to 1\nhint: write the lower one first"
    );
    assert_eq!(
        feature("kind = \"discrete\"\nbounds = [0, inf]"),
        "s.toml, line 4: feature `age`: `bounds` is [0, inf], expected two finite numbers"
    );
    assert_eq!(
        feature("kind = \"discrete\"\nbounds = [0, 9]\nallowed = [\n  3,\n  12]"),
        "s.toml, line 7: feature `age`: `allowed` is 12, expected a number within the bounds 0 to 9"
    );
    assert_eq!(
        feature("kind = \"ordinal\"\nvalues = [\"low\", \"high\"]\nallowed = [\"hihg\"]"),
        "s.toml, line 5: feature `age`: `allowed` names `hihg`, which is not among its `values`, did you mean `high`?"
    );
    assert_eq!(
        feature(
            "kind = \"nominal\"\nvalues = [\"a1\", \"a2\"]\n[feature.labels]\na1 = \"one\"\na3 = \"three\""
        ),
        "s.toml, line 7: feature `age`: `labels` names `a3`, which is not among its `values`, expected one of `a1`, `a2`"
    );
    assert_eq!(
        feature("kind = \"nominal\"\nvalues = [\"a\", \"b\", \"a\"]"),
        "s.toml, line 4: feature `age`: `a` is listed twice"
    );
    assert_eq!(
        feature("kind = \"discrete\"\nbins = 1"),
        "s.toml, line 4: feature `age`: `bins` is 1, expected 2 to 1000"
    );
}

#[test]
fn a_column_has_one_role() {
    let feature = "[[feature]]\nname = \"class\"\nkind = \"discrete\"\n";
    assert_eq!(
        refused(&format!("{LABEL}{feature}")),
        "s.toml, line 6: feature `class`: column `class` is the label already\nhint: remove one of them"
    );
    assert_eq!(
        refused(&format!("{feature}{feature}")),
        "s.toml, line 5: feature `class`: column `class` is a feature already\nhint: remove one of them"
    );
    assert_eq!(
        refused(&format!("[columns]\nfold = \"class\"\n{LABEL}")),
        "s.toml, line 4: `[label]`: column `class` is the fold already\nhint: remove one of them"
    );
}

#[test]
fn a_label_has_classes() {
    assert_eq!(
        refused("[label]\ncolumn = \"class\"\nclasses = [\"no\"]\nfavourable = \"no\"\n"),
        "s.toml, line 3: `[label]`: found 1 classes, expected at least 2"
    );
    assert_eq!(
        refused(&format!("{LABEL}counts = [1, 2, 3]\n")),
        "s.toml, line 5: `[label]`: found 3 `counts`, expected one for each of 2 classes"
    );
}

#[test]
fn categories_without_an_order_are_refused_under_a_constraint() {
    let nominal = |values: &str, rest: &str| {
        format!("[[feature]]\nname = \"size\"\nkind = \"nominal\"\nvalues = {values}\n{rest}\n")
    };
    assert_eq!(
        refused(&nominal("[\"S\", \"M\"]", "monotone = \"increasing\"")),
        "s.toml, line 5: feature `size`: an order is needed, because it changes in one direction only, but the value `S` is not a number\nhint: make it `ordinal` and list its `values` in order"
    );
    let rule = "[[feature]]\nname = \"age\"\nkind = \"discrete\"\n[[rule]]\nif_increases = \"size\"\nmust_increase = \"age\"";
    assert_eq!(
        refused(&nominal("[\"1\", \"M\"]", rule)),
        "s.toml, line 8: feature `size`: an order is needed, because a rule speaks of its direction, but the value `M` is not a number\nhint: make it `ordinal` and list its `values` in order"
    );
    schema(&nominal("[\"2\", \"10\"]", "monotone = \"increasing\""));
}

#[test]
fn rules_name_two_different_features_once() {
    assert_eq!(
        refused(&ruled(&["age", "size"], &[("size", "Aage")])),
        "s.toml, line 9: rule 1: no feature `Aage`, did you mean `age`?"
    );
    assert_eq!(
        refused(&ruled(&["age"], &[("age", "age")])),
        "s.toml, line 4: rule 1: `age` cannot depend on itself"
    );
    assert_eq!(
        refused(&ruled(&["age", "size"], &[("size", "age"), ("size", "age")])),
        "s.toml, line 10: rule 2: repeats rule 1\nhint: remove one of them"
    );
}

#[test]
fn a_rule_cycle_is_refused_by_name() {
    assert_eq!(
        refused(&ruled(&["a", "b", "c", "d"], &[("d", "a"), ("a", "b"), ("b", "c"), ("c", "a")])),
        "s.toml, line 22: rule 4: goes round in a circle: a -> b -> c -> a\nhint: remove one of them"
    );
}

#[test]
fn a_large_tangle_of_rules_is_refused_and_a_large_tree_is_not() {
    let names: Vec<String> = (0..17).map(|n| format!("f{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut rules: Vec<(&str, &str)> = names.windows(2).map(|pair| (pair[0], pair[1])).collect();
    schema(&ruled(&names, &rules));
    rules.push(("f0", "f2"));
    assert_eq!(
        refused(&ruled(&names, &rules)),
        "s.toml, line 100: rule 17: ties together 17 features without forming a tree, expected at most 16: `f0`, `f1`, `f2`, `f3`, `f4`, `f5`, `f6`, `f7` and 9 more\nhint: remove rules that follow from others"
    );
}

#[test]
fn a_tangle_of_rises_and_falls_is_limited_by_its_patterns() {
    let tangle = |features: usize| {
        let mut text = "version = 2\n".to_string();
        for feature in 0..features {
            text += &format!("[[feature]]\nname = \"f{feature}\"\nkind = \"discrete\"\nchange = \"free\"\n");
        }
        for next in 1..features {
            let rule = |when: &str, then: &str| {
                format!("[[relation]]\nif_{when}s = \"f{}\"\nmust_{then} = \"f{next}\"\n", next - 1)
            };
            text += &(rule("increase", "decrease") + &rule("decrease", "increase"));
        }
        text
    };
    schema(&tangle(10));
    assert_eq!(
        refused(&tangle(11)),
        "s.toml, line 103: relation 20: ties together 11 features without forming a tree, expected at most 10: `f0`, `f1`, `f2`, `f3`, `f4`, `f5`, `f6`, `f7` and 3 more\nhint: remove rules that follow from others"
    );
}

#[test]
fn a_schema_that_names_an_absent_column_is_refused() {
    let schema = schema(&ruled(&["age", "hours"], &[]));
    let found = columns(&schema, &table("Age,hours\n1,2\n"));
    assert_eq!(message(found), "t.csv: no column `age`, which the schema names, did you mean `Age`?");
    let found = columns(&schema, &table("age,class\n1,2\n"));
    assert_eq!(message(found), "t.csv: no column `hours`, which the schema names, found `age`, `class`");
}

#[test]
fn a_name_that_is_no_feature_is_refused_with_the_nearest_one() {
    let schema = schema(&ruled(&["age", "hours"], &[]));
    assert_eq!(schema.positions(&["hours", "age"]).expect("both"), [1, 0]);
    assert_eq!(message(schema.positions(&["hous"])), "no feature `hous`, did you mean `hours`?");
}

#[test]
fn an_absent_schema_file_is_refused() {
    assert_eq!(message(Schema::load("nowhere/s.toml")), "nowhere/s.toml: no such file");
}

proptest! {
    #[test]
    fn a_damaged_schema_is_a_schema_or_an_error(
        at in any::<prop::sample::Index>(),
        length in 0usize..20,
        with in "[\\[\\]{}=\"a-z0-9.\\n-]{0,6}",
    ) {
        let mut text = format!("{LABEL}{}", ruled(&["a", "b", "c"], &[("a", "b"), ("c", "b")]));
        let start = at.index(text.len());
        text.replace_range(start..(start + length).min(text.len()), &with);
        let _ = Schema::parse(&text, "s.toml");
    }
}
