mod refusals;

use par_data::schema::Side;
use par_data::{CellError, Discretizer, DiscretizerConfig, Schema, Table, TableOptions};
use par_onnx::{Decision, Input, InputKind, Scale, ScoreChoice, Source, Step, Value};

use super::{Encoding, Inputs, InputsError};
use crate::scale::ScoreScale;

const SCHEMA: &str = r#"
[[feature]]
name = "age"
kind = "discrete"
[[feature]]
name = "hours"
kind = "continuous"
missing = true
[[feature]]
name = "sex"
kind = "nominal"
values = ["Female", "Male"]
[[feature]]
name = "job"
kind = "nominal"
values = ["clerk", "cook", "nurse"]
missing = true
[[feature]]
name = "grade"
kind = "ordinal"
values = ["1", "2", "3"]
[[feature]]
name = "town"
kind = "nominal"
"#;

fn schema() -> Schema {
    Schema::parse(SCHEMA, "s.toml").expect("a schema")
}

fn table(text: &'static str) -> Table {
    Table::from_reader("t.csv", text.as_bytes(), &TableOptions::default()).expect("a table")
}

fn input(name: &str, width: Option<usize>, kind: InputKind) -> Input {
    Input { name: name.to_string(), width, kind }
}

/// Columns of one input called `x`.
fn columns(columns: &str) -> Inputs {
    Inputs::parse(&format!("[[input]]\nname = \"x\"\ncolumns = [\n{columns}\n]")).expect("inputs")
}

fn encoded(text: &str, kind: InputKind) -> Result<Encoding, InputsError> {
    columns(text).encoding(&schema(), &[input("x", None, kind)])
}

#[track_caller]
fn numbers(text: &str) -> Encoding {
    encoded(text, InputKind::Number).expect("it fits")
}

/// The numbers at all places of one feature for a cell.
#[track_caller]
fn places(encoding: &Encoding, cell: &str) -> Vec<f32> {
    let number = |place| match encoding.value(place, cell) {
        Ok(Value::Number(number)) => number,
        other => panic!("{other:?}"),
    };
    (0..encoding.len()).map(number).collect()
}

#[test]
fn the_score_is_by_default_the_second_column_of_the_only_output() {
    let choice =
        |text: &str| Inputs::parse(text).expect("inputs").choice(ScoreScale::Probability).expect("a choice");
    assert_eq!(choice(""), ScoreChoice::default());
    let log_odds = |accepted, decision| ScoreChoice {
        output: Some("p".to_string()),
        accepted: Some(accepted),
        scale: Some(Scale::LogOdds),
        decision,
    };
    let text = "[output]\nname = \"p\"\nscale = \"log-odds\"\n";
    assert_eq!(choice(&format!("{text}accepted = 0")), log_odds(vec![0], Decision::Sum));
    let several = choice(&format!("{text}accepted = [2, 0]\ndecision = \"largest\""));
    assert_eq!(several, log_odds(vec![2, 0], Decision::Largest));
}

#[test]
fn the_scale_of_scores_must_fit_the_label() {
    let number = ScoreScale::number(0.0, 1.0, Side::AtLeast);
    let of = |scale: &str| Inputs::parse(&format!("[output]\nscale = \"{scale}\"")).expect("inputs");
    assert_eq!(of("number").choice(number).expect("a choice").scale, Some(Scale::Number));
    assert_eq!(
        Inputs::parse("").expect("inputs").choice(number).expect("a choice").scale,
        Some(Scale::Number)
    );
    assert_eq!(
        of("probability").choice(number).expect_err("refused").to_string(),
        "`scale` under `[output]` does not fit the schema: its label is a number\n\
         hint: write `scale = \"number\"`, or leave it out"
    );
    let refused = of("number").choice(ScoreScale::Probability).expect_err("refused").to_string();
    assert!(refused.starts_with("`scale` under `[output]` does not fit the schema: its label is classes\n"));
}

#[test]
fn saved_inputs_are_read_back_unchanged() {
    let inputs = Inputs::parse(
        r#"
        output = { name = "p", accepted = 0, scale = "probability" }
        [[input]]
        name = "x"
        columns = [
          { feature = "age", as = "number" },
          { feature = "age", as = "scale", shift = 0.1, divide = -3 },
          { feature = "age", as = "standardize" },
          { feature = "age", as = "standardize", mean = 0.30000000000000004, deviation = 2, missing = 7.5 },
          { feature = "sex", as = "zero-one", one = "Male", missing = nan },
          { feature = "job", as = "one-hot", values = [1, "a", true], zeros = [2.5] },
          { feature = "job", as = "label", values = ["b"], missing = "b" },
        ]
        [[input]]
        name = "y"
        columns = [{ feature = "town", as = "text", missing = "" }]
        "#,
    )
    .expect("inputs");
    let json = serde_json::to_string(&inputs).expect("JSON");
    assert_eq!(serde_json::from_str::<Inputs>(&json).expect("the same"), inputs);
    let text = toml::to_string(&inputs).expect("TOML");
    assert_eq!(Inputs::parse(&text).expect("the same"), inputs);
    assert!(json.contains(r#""values":["1","a","true"],"zeros":["2.5"]"#), "{json}");
    assert!(json.contains(r#""one":"Male","missing":"nan""#), "{json}");
}

#[test]
fn numbers_pass_and_are_scaled_in_double_precision() {
    let age = numbers(
        r#"{ feature = "age", as = "number" },
           { feature = "age", as = "scale", shift = 1.0, divide = 98.0 },
           { feature = "age", as = "standardize", mean = 38.5, deviation = 13.7 }"#,
    );
    let expected = [40.0, 39.0 / 98.0, 1.5 / 13.7].map(|number: f64| number as f32);
    assert_eq!(places(&age, " 40 "), expected);
    assert_eq!((age.len(), age.widths(), age.is_empty()), (3, vec![3], false));
}

#[test]
fn categories_are_found_by_text_and_then_by_number() {
    let grade = numbers(
        r#"{ feature = "grade", as = "number" },
           { feature = "grade", as = "zero-one", one = "2" },
           { feature = "grade", as = "one-hot", values = ["2", "3"], zeros = ["1"] },
           { feature = "grade", as = "label", values = ["3", "2", "1"] }"#,
    );
    assert_eq!(places(&grade, "1"), [1.0, 0.0, 0.0, 0.0, 2.0]);
    assert_eq!(places(&grade, " 2.0"), [2.0, 1.0, 1.0, 0.0, 1.0]);
    assert_eq!(places(&grade, "3e0"), [3.0, 0.0, 0.0, 1.0, 0.0]);
}

#[test]
fn zero_one_tells_apart_categories_of_the_same_number() {
    let text = "[[feature]]\nname = \"grade\"\nkind = \"nominal\"\nvalues = [\"2\", \"2.0\"]";
    let schema = Schema::parse(text, "s.toml").expect("a schema");
    let one = columns(r#"{ feature = "grade", as = "zero-one", one = "2" }"#);
    let encoding = one.encoding(&schema, &[input("x", Some(1), InputKind::Number)]).expect("it fits");
    assert_eq!((places(&encoding, "2"), places(&encoding, "2.0")), (vec![1.0], vec![0.0]));
}

#[test]
fn a_few_distinct_numbers_can_be_categories() {
    let age = numbers(r#"{ feature = "age", as = "one-hot", values = [30, 40] }"#);
    assert_eq!(places(&age, "40.0"), [0.0, 1.0]);
    let unknown = CellError::UnknownCategory {
        column: "age".to_string(),
        found: "35".to_string(),
        known: vec!["30".to_string(), "40".to_string()],
    };
    assert_eq!(age.value(0, "35"), Err(unknown));
    let not_a_number = CellError::NotANumber { column: "age".to_string(), found: "old".to_string() };
    assert_eq!(age.value(0, "old"), Err(not_a_number));
}

#[test]
fn texts_are_passed_trimmed() {
    let town = encoded(r#"{ feature = "town", as = "text" }"#, InputKind::Text).expect("it fits");
    assert_eq!(town.value(0, " Ulm "), Ok(Value::Text("Ulm")));
    let job =
        encoded(r#"{ feature = "job", as = "text", missing = " ?" }"#, InputKind::Text).expect("it fits");
    assert_eq!(
        (job.value(0, "NA"), job.value(0, "pilot")),
        (Ok(Value::Text(" ?")), Ok(Value::Text("pilot")))
    );
}

/// The classifier compares texts: `2.0` and `true` would be none of those that it knows.
#[test]
fn categories_are_passed_as_they_are_listed() {
    let grade = encoded(r#"{ feature = "grade", as = "text" }"#, InputKind::Text).expect("it fits");
    assert_eq!(grade.value(0, " 2.0"), Ok(Value::Text("2")));

    let town = encoded(r#"{ feature = "town", as = "text" }"#, InputKind::Text).expect("it fits");
    let rows = "age,hours,sex,job,grade,town\n1,1,Male,cook,1,True\n2,2,Male,cook,1,False\n";
    let table = table(rows);
    let at = schema().columns(table.origin(), table.columns()).expect("columns");
    let discretizer = Discretizer::fit(&schema(), &at, table.batches(8), &DiscretizerConfig::default());
    let town = town.of_rows(&discretizer.expect("a fit")).expect("it fits");
    assert_eq!(
        ["True", "true", "FALSE", "Ulm"].map(|cell| town.value(0, cell)),
        ["True", "True", "False", "Ulm"].map(|text| Ok(Value::Text(text)))
    );
}

/// It was trained on a table in which they were written in another way.
#[test]
fn texts_are_passed_as_the_classifier_tells_them_apart() {
    let step = |text: &str| Step::EqualsText(text.to_string());
    let source = |text: &str| Source { input: 0, steps: vec![step(text)] };
    let grade = encoded(r#"{ feature = "grade", as = "text" }"#, InputKind::Text).expect("it fits");
    let grade = grade.of_sources(&["1.0", "2.0", "True"].map(source));
    assert_eq!(
        ["1", "2", "3.0", "true", "x"].map(|cell| grade.value(0, cell)),
        ["1.0", "2.0", "3", "True", "x"].map(|text| Ok(Value::Text(text)))
    );
    let pairs = vec![("1".to_string(), 0.5), ("1.0".to_string(), 1.5)];
    let both = Source { input: 0, steps: vec![Step::LookupText(pairs, 0.0)] };
    let grade = encoded(r#"{ feature = "grade", as = "text" }"#, InputKind::Text).expect("it fits");
    let grade = grade.of_sources(&[both]);
    assert_eq!(
        ["1", "1.0", "1.00"].map(|cell| grade.value(0, cell)),
        ["1", "1.0", "1"].map(|text| Ok(Value::Text(text)))
    );
}

#[test]
fn a_missing_number_counts_as_missing_says_and_is_scaled() {
    let hours = numbers(
        r#"{ feature = "hours", as = "number", missing = 40 },
           { feature = "hours", as = "scale", shift = 10, divide = 2, missing = 40 },
           { feature = "hours", as = "standardize", mean = 41, deviation = 0.5, missing = 40 }"#,
    );
    assert_eq!(places(&hours, ""), [40.0, 15.0, -2.0]);
    let hours = numbers(r#"{ feature = "hours", as = "scale", divide = 2, missing = "nan" }"#);
    assert!(places(&hours, "NA")[0].is_nan());
}

#[test]
fn a_missing_category_is_a_number_at_each_place_or_counts_as_a_listed_one() {
    let job = |form: &str, missing: &str| {
        let values = r#"values = ["clerk", "cook", "nurse"]"#;
        let job = numbers(&format!("{{ feature = \"job\", as = \"{form}\", {values}{missing} }}"));
        [places(&job, "nan"), places(&job, "pilot")]
    };
    assert_eq!(job("one-hot", ""), [[0.0; 3]; 2]);
    assert_eq!(job("one-hot", ", missing = 0.5"), [[0.5; 3]; 2]);
    assert_eq!(job("one-hot", ", missing = \"cook\""), [[0.0, 1.0, 0.0]; 2]);
    assert!(job("one-hot", ", missing = \"nan\"").iter().flatten().all(|number| number.is_nan()));
    assert_eq!(job("label", ", missing = -1"), [[-1.0]; 2]);
    assert_eq!(job("label", ", missing = \"nurse\""), [[2.0]; 2]);

    let job = numbers(r#"{ feature = "job", as = "zero-one", one = "cook", missing = 0.5 }"#);
    assert_eq!(
        (places(&job, ""), places(&job, "pilot"), places(&job, "cook")),
        (vec![0.5], vec![0.0], vec![1.0])
    );
}

#[test]
fn an_unseen_category_counts_as_missing_where_a_number_is_needed() {
    let text = "[[feature]]\nname = \"grade\"\nkind = \"nominal\"\nmissing = true";
    let schema = Schema::parse(text, "s.toml").expect("a schema");
    let inputs = columns(r#"{ feature = "grade", as = "standardize", missing = 8 }"#);
    let table = table("grade\n2\nlow\n\"\"\n6\n");
    let at = schema.columns(table.origin(), table.columns()).expect("columns");
    let inputs = inputs.standardized(&schema, &at, table.batches(8)).expect("rows");
    let encoding = inputs.encoding(&schema, &[input("x", Some(1), InputKind::Number)]).expect("it fits");
    let expected = (2.0 / 6.0_f64.sqrt()) as f32;
    assert_eq!(places(&encoding, "8"), [expected]);
    assert_eq!((places(&encoding, "high"), places(&encoding, "")), (vec![expected], vec![expected]));
}

#[test]
fn missing_cells_can_have_a_place_of_their_own() {
    let job = numbers(
        r#"{ feature = "job", as = "one-hot", values = ["clerk", "cook", "nurse", "nan"], missing = "nan" }"#,
    );
    assert_eq!(places(&job, ""), [0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn tensors_of_whole_numbers_cut_off_fractions() {
    let hours = encoded(r#"{ feature = "hours", as = "number", missing = -1 }"#, InputKind::Integer)
        .expect("it fits");
    assert_eq!(
        (places(&hours, "3.7"), places(&hours, "-3.7"), places(&hours, "")),
        (vec![3.0], vec![-3.0], vec![-1.0])
    );
}

#[test]
fn cells_that_do_not_fit_are_refused() {
    let both = numbers(
        r#"{ feature = "age", as = "scale", divide = 1e-9 }, { feature = "grade", as = "label", values = [1, 2, 3] }"#,
    );
    let age = |found: &str| CellError::NotANumber { column: "age".to_string(), found: found.to_string() };
    assert_eq!(both.value(0, "x"), Err(age("x")));
    assert_eq!(both.value(0, "1e39"), Err(age("1e39")));
    assert_eq!(both.value(0, "1e38"), Err(age("1e38")));
    assert_eq!(both.value(0, ""), Err(CellError::Missing { column: "age".to_string() }));
    assert_eq!(
        both.value(1, "4").expect_err("no such grade").to_string(),
        "column `grade`: no category `4`, expected one of `1`, `2`, `3`\n\
         hint: correct the cell, add the value to the schema, or set `missing = true` to take it as unknown"
    );
}

#[test]
fn places_follow_the_order_of_the_classifier() {
    let inputs = Inputs::parse(
        r#"
        [[input]]
        name = "b"
        columns = [{ feature = "town", as = "text" }]
        [[input]]
        name = "a"
        columns = [
          { feature = "job", as = "one-hot", values = ["clerk", "cook", "nurse"] },
          { feature = "age", as = "number" },
        ]
        "#,
    )
    .expect("inputs");
    let classifier = [input("a", Some(4), InputKind::Number), input("b", Some(1), InputKind::Text)];
    let encoding = inputs.encoding(&schema(), &classifier).expect("it fits");
    assert_eq!(encoding.widths(), [4, 1]);
    let features: Vec<usize> = (0..encoding.len()).map(|place| encoding.feature(place)).collect();
    assert_eq!(features, [3, 3, 3, 0, 5]);
    assert_eq!(encoding.unused(&schema()), [1, 2, 4]);
}

#[test]
fn means_and_deviations_are_those_of_the_rows() {
    let inputs = columns(
        r#"{ feature = "age", as = "standardize" },
           { feature = "hours", as = "standardize", missing = "nan" },
           { feature = "hours", as = "standardize", missing = 60 },
           { feature = "grade", as = "standardize" },
           { feature = "age", as = "standardize", mean = 100, deviation = 10 },
           { feature = "age", as = "standardize", mean = 100 }"#,
    );
    assert!(inputs.needs_rows());
    let table = table("age,hours,sex,job,grade,town\n20,10,,,2,\n40,,,,2,\n30,20,,,2,\n30,30,,,2,\n");
    let schema = schema();
    let at = schema.columns(table.origin(), table.columns()).expect("columns");
    let known = inputs.standardized(&schema, &at, table.batches(3)).expect("rows");
    assert!(!known.needs_rows());

    let encoding = known.encoding(&schema, &[input("x", Some(6), InputKind::Number)]).expect("it fits");
    let number = |place, cell| match encoding.value(place, cell) {
        Ok(Value::Number(number)) => number,
        other => panic!("{other:?}"),
    };
    let deviations =
        [50.0_f64.sqrt(), (200.0_f64 / 3.0).sqrt(), 350.0_f64.sqrt(), 1.0, 10.0, 50.0_f64.sqrt()];
    let means = [30.0, 20.0, 30.0, 2.0, 100.0, 100.0];
    for place in 0..6 {
        let expected = ((50.0 - means[place]) / deviations[place]) as f32;
        assert!((number(place, "50") - expected).abs() < 1e-6 * expected.abs(), "{place}");
    }
    assert_eq!(number(2, ""), number(2, "60"));
}

#[test]
fn rows_are_not_read_if_all_means_and_deviations_are_known() {
    let inputs = columns(r#"{ feature = "age", as = "standardize", mean = 1, deviation = 2 }"#);
    let table = table("age,hours,sex,job,grade,town\n");
    let at = schema().columns(table.origin(), table.columns()).expect("columns");
    let untouched = std::iter::from_fn(|| panic!("no row is needed"));
    assert_eq!(inputs.standardized(&schema(), &at, untouched).expect("nothing to do"), inputs);
}
