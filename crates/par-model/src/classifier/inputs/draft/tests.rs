use std::collections::BTreeSet;

use par_data::Schema;
use par_data::schema::quoted;
use par_onnx::{Input, InputKind, Output, Scale};
use proptest::prelude::*;

use super::draft;
use crate::classifier::inputs::{Inputs, InputsError};

const SCHEMA: &str = r#"
[label]
column = "class"
classes = ["no", "yes"]
favourable = "yes"
[[feature]]
name = "age"
kind = "discrete"
[[feature]]
name = "sex"
kind = "nominal"
values = ["f", "m"]
[[feature]]
name = "home-town"
kind = "nominal"
values = ["Bonn", "Kiel", "Ulm"]
missing = true
[[feature]]
name = "grade"
kind = "ordinal"
values = ["1", "2", "3", "4"]
"#;

fn schema() -> Schema {
    Schema::parse(SCHEMA, "s.toml").expect("a schema")
}

fn input(name: &str, width: Option<usize>, kind: InputKind) -> Input {
    Input { name: name.to_string(), width, kind }
}

fn output(name: &str, classes: &[&str], scale: Scale) -> Output {
    Output { name: name.to_string(), classes: classes.iter().map(ToString::to_string).collect(), scale }
}

/// The draft from the first `[[input]]` on.
#[track_caller]
fn drafted(inputs: &[Input]) -> String {
    let text = draft(&schema(), inputs, &[]);
    Inputs::parse(&text).expect("a draft can be read");
    text[text.find("[[input]]").expect("an input")..].to_string()
}

/// The draft for one input of numbers of this width, which it must fit.
#[track_caller]
fn of_width(width: usize) -> String {
    let inputs = [input("x", Some(width), InputKind::Number)];
    let text = drafted(&inputs);
    Inputs::parse(&text).expect("a draft").encoding(&schema(), &inputs).expect("it fits");
    text
}

#[test]
fn a_draft_marks_its_guesses() {
    let inputs = [input("float_input", Some(9), InputKind::Number)];
    let outputs = [output("label", &[], Scale::LogOdds), output("p", &["no", "yes"], Scale::Probability)];
    let text = draft(&schema(), &inputs, &outputs);
    let (advice, rest) = text.split_once("\n\n").expect("advice, then the draft");
    assert!(advice.lines().all(|line| line.starts_with('#')), "{advice}");
    assert_eq!(
        rest,
        r#"[output]
name = "p"  # a guess; there are also "label"
accepted = 1  # the class "yes"
scale = "probability"

[[input]]
name = "float_input"  # 9 places, numbers
# Guess: a place for each category, but one place where there are two. Check the order of the values.
# Guess: the columns are in the order of the schema.
columns = [
  { feature = "age", as = "number" },
  { feature = "sex", as = "zero-one", one = "m" },
  { feature = "home-town", as = "one-hot", values = ["Bonn", "Kiel", "Ulm"], missing = 0 },  # missing: a guess
  { feature = "grade", as = "one-hot", values = ["1", "2", "3", "4"] },
]
"#
    );
}

#[test]
fn inputs_are_recognised_by_their_names() {
    let inputs = [
        input("home_town", Some(1), InputKind::Text),
        input("grade", Some(3), InputKind::Number),
        input("Age", None, InputKind::Integer),
    ];
    assert_eq!(
        drafted(&inputs),
        r#"[[input]]
name = "home_town"  # 1 place, texts
columns = [
  { feature = "home-town", as = "text", missing = "nan" },  # missing: a guess
]

[[input]]
name = "grade"  # 3 places, numbers
# Guess: a place for each category but the first. Check the order of the values.
columns = [
  { feature = "grade", as = "one-hot", values = ["2", "3", "4"], zeros = ["1"] },
]

[[input]]
name = "Age"  # whole numbers, as many as the columns give
columns = [
  { feature = "age", as = "number" },
]

# Features that the classifier does not read: "sex"
"#
    );
}

#[test]
fn inputs_of_other_names_follow_the_order_of_the_schema() {
    let inputs = ["in_0", "in_1", "in_2", "in_3"].map(|name| input(name, Some(1), InputKind::Number));
    let text = drafted(&inputs);
    assert_eq!(
        &text[text.find("[[input]]\nname = \"in_2\"").expect("the third")..],
        r#"[[input]]
name = "in_2"  # 1 place, numbers
# Guess: the inputs are in the order of the schema.
# Guess: categories as 0, 1, 2 and so on. Check the order of the values.
columns = [
  { feature = "home-town", as = "label", values = ["Bonn", "Kiel", "Ulm"], missing = "nan" },  # missing: a guess
]

[[input]]
name = "in_3"  # 1 place, numbers
# Guess: the inputs are in the order of the schema.
columns = [
  { feature = "grade", as = "number" },
]
"#
    );
}

#[test]
fn a_width_tells_how_categories_are_coded() {
    let columns = |width| {
        let text = of_width(width);
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("  {")).collect();
        let town = lines[2].split(", missing").next().expect("what it is").to_string();
        let form = |line: &str| line.split('"').nth(3).expect("a form").to_string();
        (form(lines[1]), town, form(lines[3]))
    };
    let of = |form: &str, values: &str| {
        format!("  {{ feature = \"home-town\", as = \"{form}\", values = {values}")
    };
    let all = r#"["Bonn", "Kiel", "Ulm"]"#;
    let but_the_first = r#"["Kiel", "Ulm"], zeros = ["Bonn"]"#;
    let forms = |sex: &str, town, grade: &str| (sex.to_string(), town, grade.to_string());
    assert_eq!(columns(4), forms("label", of("label", all), "number"));
    assert_eq!(columns(10), forms("one-hot", of("one-hot", all), "one-hot"));
    assert_eq!(columns(9), forms("zero-one", of("one-hot", all), "one-hot"));
    assert_eq!(columns(7), forms("one-hot", of("one-hot", but_the_first), "one-hot"));
    assert_eq!(columns(6), forms("zero-one", of("one-hot", all), "number"));
    assert_eq!(columns(5), forms("one-hot", of("one-hot", but_the_first), "number"));
}

#[test]
fn a_width_with_two_explanations_gets_a_note() {
    let text = of_width(7);
    assert!(
        text.contains(
            "# Guess: a place for each category but the first. Check the order of the values.\n\
             # It could also be: a place for each category; numeric ones as numbers.\n"
        ),
        "{text}"
    );
    assert!(!of_width(9).contains("It could also be"));
}

#[test]
fn two_inputs_can_be_the_numbers_and_the_categories() {
    let inputs = [input("a", Some(3), InputKind::Text), input("b", Some(1), InputKind::Number)];
    assert_eq!(
        drafted(&inputs),
        r#"[[input]]
name = "a"  # 3 places, texts
# Guess: all categories, in the order of the schema.
columns = [
  { feature = "sex", as = "text" },
  { feature = "home-town", as = "text", missing = "nan" },  # missing: a guess
  { feature = "grade", as = "text" },
]

[[input]]
name = "b"  # 1 place, numbers
# Guess: all numbers, in the order of the schema.
columns = [
  { feature = "age", as = "number" },
]
"#
    );
}

#[test]
fn a_width_without_explanation_gets_a_note() {
    let notes = |inputs: &[Input]| {
        let text = drafted(inputs);
        let is_note = |line: &&str| line.starts_with('#') || *line == "columns = []";
        text.lines().filter(is_note).map(String::from).collect::<Vec<String>>()
    };
    let wanted = "# These columns give 10 places, the input has 50. Correct them, and check their order.";
    assert_eq!(notes(&[input("x", Some(50), InputKind::Number)]), [wanted]);
    assert_eq!(
        notes(&[input("x", None, InputKind::Number)]),
        ["# Guess: all features, in the order of the schema. The classifier does not state the width."]
    );
    let two = [input("x", Some(50), InputKind::Number), input("y", Some(9), InputKind::Number)];
    assert_eq!(notes(&two), [wanted, "# Its columns are not known: list them.", "columns = []"]);
}

#[test]
fn values_that_the_schema_does_not_list_are_asked_for() {
    let schema =
        Schema::parse("[[feature]]\nname = \"town\"\nkind = \"nominal\"", "s.toml").expect("a schema");
    let text = draft(&schema, &[input("town", Some(1), InputKind::Number)], &[]);
    assert!(
        text.ends_with(
            "# The schema does not list the values of \"town\": if they are not numbers, list them here.\n\
             columns = [\n  { feature = \"town\", as = \"number\" },\n]\n"
        ),
        "{text}"
    );
}

#[test]
fn the_favourable_class_is_found_among_the_classes() {
    let accepted = |schema: &str, classes: &[&str]| {
        let schema = Schema::parse(schema, "s.toml").expect("a schema");
        let text = draft(&schema, &[], &[output("p", classes, Scale::LogOdds)]);
        text.lines().find(|line| line.starts_with("accepted")).expect("a line").to_string()
    };
    assert_eq!(accepted(SCHEMA, &["yes", "no"]), "accepted = 0  # the class \"yes\"");
    assert_eq!(
        accepted(SCHEMA, &["0", "1"]),
        "accepted = 1  # a guess: the class \"yes\" by its place in the schema"
    );
    assert_eq!(
        accepted("[[feature]]\nname = \"age\"\nkind = \"discrete\"", &[]),
        "accepted = 1  # a guess: the schema names no favourable class"
    );
    let numbers = SCHEMA.replace("[\"no\", \"yes\"]", "[1, 0]").replace("\"yes\"", "0");
    assert_eq!(accepted(&numbers, &["0.0", "1.0"]), "accepted = 0  # the class \"0\"");
    assert_eq!(
        accepted(&numbers, &[]),
        "accepted = 1  # a guess: the class \"0\" by its place in the schema"
    );
}

#[test]
fn the_columns_of_several_favourable_classes_are_found_and_a_number_needs_none() {
    let drafted = |label: &str, classes: &[&str]| {
        let feature = "[[feature]]\nname = \"age\"\nkind = \"discrete\"\n";
        let schema = Schema::parse(&format!("{label}{feature}"), "s.toml").expect("a schema");
        let text = draft(&schema, &[], &[output("p", classes, Scale::LogOdds)]);
        Inputs::parse(&text).expect("a draft can be read");
        let (_, end) = text.split_once("name = \"p\"\n").expect("an output");
        end.lines().take_while(|line| !line.is_empty()).map(String::from).collect::<Vec<_>>().join("\n")
    };
    let label = "[label]\ncolumn = \"y\"\nclasses = [\"a\", \"b\", \"c\"]\nfavourable = [\"b\", \"c\"]\n";
    assert_eq!(
        drafted(label, &["c", "a", "b"]),
        "accepted = [2, 0]  # the classes \"b\", \"c\"; their probabilities are added up\nscale = \"log-odds\""
    );
    assert_eq!(
        drafted(label, &[]),
        "accepted = [1, 2]  # a guess: the classes \"b\", \"c\" by place in the schema; their probabilities are added up\n\
         scale = \"log-odds\""
    );
    assert_eq!(drafted("[label]\ncolumn = \"y\"\nat_least = 5\n", &[]), "scale = \"number\"");
}

#[test]
fn a_classifier_without_scores_gets_a_note() {
    let text = draft(&schema(), &[], &[]);
    assert!(text.contains("[output]\n# The classifier has no output that can be a score.\n"), "{text}");
    Inputs::parse(&text).expect("a draft can be read");
}

/// A feature of a random schema: kind, values, whether it may be missing.
#[derive(Clone, Debug)]
struct Random {
    kind: &'static str,
    values: BTreeSet<String>,
    missing: bool,
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,6}",
        "[0-9]{1,2}",
        Just("\"quoted\" \\ back\\slash".to_string()),
        Just("a.b = [c] # {d}, '''".to_string()),
        Just("größe 大小 \u{1F600}".to_string()),
        Just("line\nbreak\ttab\r\u{7f}\u{0}".to_string()),
        any::<String>(),
    ]
}

fn features() -> impl Strategy<Value = Vec<(String, Random)>> {
    let values = prop::collection::btree_set(text().prop_map(|text| text.trim().to_string()), 1..5);
    let kind =
        prop_oneof![Just("discrete"), Just("continuous"), Just("nominal"), Just("ordinal"), Just("open")];
    let feature =
        (kind, values, any::<bool>()).prop_map(|(kind, values, missing)| Random { kind, values, missing });
    prop::collection::btree_map(text(), feature, 1..6).prop_map(|features| features.into_iter().collect())
}

fn random_schema(features: &[(String, Random)]) -> Schema {
    let section = |(name, feature): &(String, Random)| {
        let values: Vec<String> = feature.values.iter().map(|value| quoted(value)).collect();
        let values = format!("values = [{}]\n", values.join(", "));
        let (kind, values) = match feature.kind {
            "open" => ("nominal", ""),
            "nominal" | "ordinal" => (feature.kind, values.as_str()),
            numeric => (numeric, ""),
        };
        let (name, missing) = (quoted(name), feature.missing);
        format!("[[feature]]\nname = {name}\nkind = \"{kind}\"\n{values}missing = {missing}\n")
    };
    Schema::parse(&features.iter().map(section).collect::<String>(), "s.toml").expect("a schema")
}

fn kind() -> impl Strategy<Value = InputKind> {
    prop_oneof![Just(InputKind::Number), Just(InputKind::Integer), Just(InputKind::Text)]
}

proptest! {
    #[test]
    fn one_input_for_each_feature_fits(
        features in features(),
        kinds in prop::collection::vec((kind(), any::<bool>()), 6),
    ) {
        let schema = random_schema(&features);
        let inputs: Vec<Input> = features
            .iter()
            .zip(kinds)
            .map(|((name, _), (kind, is_open))| input(name, (!is_open).then_some(1), kind))
            .collect();
        let text = draft(&schema, &inputs, &[]);
        let encoding = Inputs::parse(&text).expect("a draft can be read").encoding(&schema, &inputs);
        let encoding = encoding.unwrap_or_else(|error| panic!("{error}\n{text}"));
        let places: Vec<usize> = (0..encoding.len()).map(|place| encoding.feature(place)).collect();
        prop_assert_eq!(places, (0..features.len()).collect::<Vec<usize>>());
    }

    #[test]
    fn one_input_whose_width_can_be_explained_fits(features in features(), is_text: bool, reading in 0..4_usize) {
        let schema = random_schema(&features);
        let places = |(_, feature): &(String, Random)| match (feature.kind, feature.values.len()) {
            _ if is_text => 1,
            ("nominal" | "ordinal", values) => match (reading, values) {
                (0, _) | (2, 2) => 1,
                (1 | 2, values) => values,
                _ => values - 1,
            },
            _ => 1,
        };
        let width: usize = features.iter().map(places).sum();
        prop_assume!(width > 0);
        let kind = if is_text { InputKind::Text } else { InputKind::Number };
        let inputs = [input("\u{7}", Some(width), kind)];
        let text = draft(&schema, &inputs, &[]);
        let encoding = Inputs::parse(&text).expect("a draft can be read").encoding(&schema, &inputs);
        let encoding = encoding.unwrap_or_else(|error| panic!("{error}\n{text}"));
        prop_assert_eq!(encoding.widths(), vec![width]);
    }

    #[test]
    fn the_draft_for_any_classifier_at_worst_has_a_wrong_width(
        features in features(),
        inputs in prop::collection::btree_map(text(), (prop::option::of(0..9_usize), kind()), 0..5),
        outputs in prop::collection::vec((text(), prop::collection::vec(text(), 0..3)), 0..3),
    ) {
        let schema = random_schema(&features);
        let inputs: Vec<Input> =
            inputs.into_iter().map(|(name, (width, kind))| input(&name, width, kind)).collect();
        let outputs: Vec<Output> = outputs
            .into_iter()
            .map(|(name, classes)| Output { name, classes, scale: Scale::Probability })
            .collect();
        let text = draft(&schema, &inputs, &outputs);
        match Inputs::parse(&text).expect("a draft can be read").encoding(&schema, &inputs) {
            Ok(_) | Err(InputsError::Width { .. } | InputsError::NoColumns { .. }) => {}
            Err(error) => prop_assert!(false, "{}\n{}", error, text),
        }
    }
}
