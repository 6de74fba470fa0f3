use par_data::Schema;
use par_data::schema::{Mutability, upgrade};
use proptest::prelude::*;

use crate::{message, schema};

/// The upgraded text, whose schema has the same features, relations, label and columns.
#[track_caller]
fn upgraded(text: &str) -> String {
    let first = Schema::parse(text, "s.toml").expect("a schema");
    let upgraded = upgrade(text, "s.toml").expect("an upgrade");
    let second = Schema::parse(&upgraded, "s.toml").expect("an upgraded schema");
    assert_eq!((first.version(), second.version()), (1, 2));
    assert_eq!(first.features(), second.features(), "{upgraded}");
    assert_eq!(first.relations(), second.relations(), "{upgraded}");
    assert_eq!((first.label(), first.special()), (second.label(), second.special()));
    assert!(second.features().iter().all(|feature| feature.change != Mutability::Undecided));
    upgraded
}

#[test]
fn comments_order_and_layout_stay() {
    let first = r#"# People who asked for a loan.
# Second line.

name = "people"   # a name

[label]
column = "class"
classes = ["no", "yes"]
favourable = "yes"

# How old they are.
[[feature]]
name = "age"
kind = "discrete"           # whole years
immutable = true            # nobody gets younger

  [[feature]]               # indented
  name = "hours"
  kind = "continuous"       # a week
  bounds = [0, 80]

[[feature]]
kind = "ordinal"
monotone = "increasing"     # only up
immutable = false
name = "degree"
values = [
  "school",    # the lowest
  "college",
]
[feature.labels]
school = "up to twelve years"

[[feature]]
name = "debt"
kind = "continuous"
immutable = false   # they can pay it back
monotone = "none"   # or take more

[[ rule ]]   # a degree takes hours
if_increases = "degree"
must_increase = "hours"
[["rule"]]
if_increases = "debt"
must_increase = "hours"
"#;
    let second = r#"# People who asked for a loan.
# Second line.

version = 2

name = "people"   # a name

[label]
column = "class"
classes = ["no", "yes"]
favourable = "yes"

# How old they are.
[[feature]]
name = "age"
kind = "discrete"           # whole years
change = "never"            # nobody gets younger

  [[feature]]               # indented
  name = "hours"
  kind = "continuous"       # a week
  change = "free"
  bounds = [0, 80]

[[feature]]
kind = "ordinal"
# only up
change = "increase"
name = "degree"
values = [
  "school",    # the lowest
  "college",
]
[feature.labels]
school = "up to twelve years"

[[feature]]
name = "debt"
kind = "continuous"
change = "free"   # they can pay it back
# or take more

[[ relation ]]   # a degree takes hours
if_increases = "degree"
must_increase = "hours"
[["relation"]]
if_increases = "debt"
must_increase = "hours"
"#;
    assert_eq!(upgraded(first), second);
}

#[test]
fn inline_tables_are_upgraded_in_place() {
    let first = r#"version = 1
feature = [
  { name = "a", kind = "discrete", immutable = true },
  { name = "b", kind = "discrete" },
  { monotone = "decreasing", name = "c", kind = "discrete", immutable = false },
  { name = "d", immutable = false, kind = "discrete", monotone = "increasing" },
]
rule = [{ if_increases = "b", must_increase = "d" }]"#;
    let second = r#"version = 2
feature = [
  { name = "a", kind = "discrete", change = "never" },
  { name = "b", kind = "discrete", change = "free" },
  { name = "c", kind = "discrete", change = "decrease" },
  { name = "d", change = "increase", kind = "discrete" },
]
relation = [{ if_increases = "b", must_increase = "d" }]"#;
    assert_eq!(upgraded(first), second);
}

#[test]
fn line_ends_and_odd_spellings_stay() {
    let windows = "\u{feff}[[feature]]\r\nname = \"a\"\r\nkind = \"discrete\"\r\n";
    assert_eq!(
        upgraded(windows),
        "\u{feff}version = 2\r\n\r\n[[feature]]\r\nname = \"a\"\r\nkind = \"discrete\"\r\nchange = \"free\"\r\n"
    );
    assert_eq!(
        upgraded("# about a\n[[feature]]\nname = \"a\"\n\"kind\" = 'discrete'"),
        "version = 2\n\n# about a\n[[feature]]\nname = \"a\"\n\"kind\" = 'discrete'\nchange = \"free\""
    );
    assert_eq!(
        upgraded("[[feature]]\nname = \"a\"\nkind = \"discrete\"\n\"immutable\" = true"),
        "version = 2\n\n[[feature]]\nname = \"a\"\nkind = \"discrete\"\nchange = \"never\""
    );
}

#[test]
fn german_credit_is_upgraded() {
    let first = include_str!("german_credit_1.toml");
    let second = upgraded(first);
    let comments =
        |text: &str| text.lines().filter(|line| line.contains('#')).map(String::from).collect::<Vec<_>>();
    assert_eq!(comments(&second), comments(first));
    let old = ["immutable", "monotone", "[[rule]]"];
    assert!(!second.lines().any(|line| old.iter().any(|key| line.starts_with(key))), "{second}");
}

#[test]
fn what_cannot_be_upgraded_is_refused() {
    let second = "version = 2\n[[feature]]\nname = \"a\"\nkind = \"discrete\"\n";
    schema(second);
    assert_eq!(
        message(upgrade(second, "s.toml")),
        "s.toml: the schema has version 2 already\nhint: there is nothing to upgrade"
    );
    assert_eq!(
        message(upgrade("[[feature]]\nname = \"a\"\n", "s.toml")),
        "s.toml, line 2: feature `a`: `kind` is missing, expected one of `nominal`, `ordinal`, `discrete`, `continuous`"
    );
    let escaped = "[[feature]]\nname = \"a\"\nkind = \"discrete\"\n[[feature]]\nname = \"b\"\nkind = \"discrete\"\n[[\"r\\u0075le\"]]\nif_increases = \"a\"\nmust_increase = \"b\"\n";
    schema(escaped);
    assert_eq!(
        message(upgrade(escaped, "s.toml")),
        "s.toml: the schema cannot be upgraded by editing its text\nhint: write `version = 2` at the top and a `change` for each feature, and call each `[[rule]]` a `[[relation]]`"
    );
}

/// A feature of schema 1, with its lines in any order, comments and blank lines between them.
fn feature(position: usize) -> impl Strategy<Value = String> {
    let change = prop::sample::select(vec![
        vec![],
        vec!["immutable = true"],
        vec!["immutable = false"],
        vec!["monotone = \"increasing\""],
        vec!["monotone   =   'decreasing'"],
        vec!["monotone = \"none\"", "immutable = true"],
        vec!["monotone = \"increasing\"", "immutable = false"],
    ]);
    let ends = prop::collection::vec(prop::sample::select(vec!["", "  # why", "\n\n# a line\n"]), 6);
    let other = prop::sample::select(vec!["bounds = [0, 9]", "note = \"kind = 'x' # no\"", "labels.a = 'b'"]);
    (change, ends, other, any::<prop::sample::Index>()).prop_map(move |(change, ends, other, start)| {
        let kind = if other.starts_with("bounds") { "kind = \"discrete\"" } else { "kind = \"nominal\"" };
        let name = format!("name = \"f{position}\"");
        let mut lines = vec![name.as_str(), kind, other];
        lines.extend(change);
        let middle = start.index(lines.len());
        lines.rotate_left(middle);
        let lines: String = lines.iter().zip(&ends).map(|(line, end)| format!("{line}{end}\n")).collect();
        format!("[[feature]]\n{lines}")
    })
}

proptest! {
    #[test]
    fn a_schema_means_the_same_after_its_upgrade(
        features in (feature(0), feature(1), feature(2)),
        ruled in any::<bool>(),
        top in prop::sample::select(vec!["", "# about\n\n", "# about\n", "\n", "name = 'x'\n", "version = 1\n"]),
    ) {
        let rule = "[[rule]] # a rule\nif_increases = \"f0\"\nmust_increase = \"f2\"\n";
        let text = format!("{top}{}{}{}{}", features.0, features.1, features.2, if ruled { rule } else { "" });
        prop_assume!(Schema::parse(&text, "s.toml").is_ok());
        let second = upgraded(&text);
        let comments = |text: &str| text.matches('#').count();
        prop_assert_eq!(comments(&second), comments(&text), "{}", second);
        prop_assert!(upgrade(&second, "s.toml").is_err());
    }
}
