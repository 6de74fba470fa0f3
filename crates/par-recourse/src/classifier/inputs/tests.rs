use par_data::{CellError, Discretizer, DiscretizerConfig, Schema, Table, TableOptions};
use par_onnx::{Choice, Input, InputKind, Scale, Value};

use super::{Encoding, Inputs, InputsError};

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

#[track_caller]
fn not_read(text: &str) -> String {
    Inputs::parse(text).expect_err("it is refused").to_string()
}

#[track_caller]
fn column_not_read(column: &str) -> String {
    not_read(&format!("[[input]]\nname = \"x\"\ncolumns = [\n{column}\n]"))
}

#[track_caller]
fn refused(text: &str, kind: InputKind) -> String {
    encoded(text, kind).expect_err("it is refused").to_string()
}

/// What stands at all places of one feature for a cell.
#[track_caller]
fn places(encoding: &Encoding, cell: &str) -> Vec<f32> {
    let number = |place| match encoding.value(place, cell) {
        Ok(Value::Number(number)) => number,
        other => panic!("{other:?}"),
    };
    (0..encoding.len()).map(number).collect()
}

#[test]
fn the_score_is_the_second_column_of_the_only_output_unless_told() {
    let choice = |text| Inputs::parse(text).expect("inputs").choice();
    assert_eq!(choice(""), Choice { output: None, accepted: 1, scale: None });
    assert_eq!(
        choice("[output]\nname = \"p\"\naccepted = 0\nscale = \"log-odds\""),
        Choice { output: Some("p".to_string()), accepted: 0, scale: Some(Scale::LogOdds) }
    );
}

#[test]
fn what_is_saved_is_what_was_read() {
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
fn another_category_of_the_same_number_is_not_the_one() {
    let text = "[[feature]]\nname = \"grade\"\nkind = \"nominal\"\nvalues = [\"2\", \"2.0\"]";
    let schema = Schema::parse(text, "s.toml").expect("a schema");
    let one = columns(r#"{ feature = "grade", as = "zero-one", one = "2" }"#);
    let encoding = one.encoding(&schema, &[input("x", Some(1), InputKind::Number)]).expect("it fits");
    assert_eq!((places(&encoding, "2"), places(&encoding, "2.0")), (vec![1.0], vec![0.0]));
}

#[test]
fn numbers_that_are_few_can_be_categories() {
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
fn texts_pass_without_the_spaces_around_them() {
    let town = encoded(r#"{ feature = "town", as = "text" }"#, InputKind::Text).expect("it fits");
    assert_eq!(town.value(0, " Ulm "), Ok(Value::Text("Ulm")));
    let job =
        encoded(r#"{ feature = "job", as = "text", missing = " ?" }"#, InputKind::Text).expect("it fits");
    assert_eq!(
        (job.value(0, "NA"), job.value(0, "pilot")),
        (Ok(Value::Text(" ?")), Ok(Value::Text("pilot")))
    );
}

#[test]
fn a_missing_number_counts_as_the_one_that_is_said_and_is_scaled() {
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
fn a_missing_category_is_a_number_at_each_place_or_counts_as_another() {
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
fn a_place_can_be_kept_for_missing_cells() {
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
fn places_stand_in_the_order_of_the_network() {
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
    let network = [input("a", Some(4), InputKind::Number), input("b", Some(1), InputKind::Text)];
    let encoding = inputs.encoding(&schema(), &network).expect("it fits");
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
fn rows_are_not_read_when_everything_is_known() {
    let inputs = columns(r#"{ feature = "age", as = "standardize", mean = 1, deviation = 2 }"#);
    let table = table("age,hours,sex,job,grade,town\n");
    let at = schema().columns(table.origin(), table.columns()).expect("columns");
    let untouched = std::iter::from_fn(|| panic!("no row is needed"));
    assert_eq!(inputs.standardized(&schema(), &at, untouched).expect("nothing to do"), inputs);
}

#[test]
fn rows_that_give_no_mean_are_refused() {
    let refused = |column: &str, rows: &'static str| {
        let table = table(rows);
        let at = schema().columns(table.origin(), table.columns()).expect("columns");
        let error = columns(column).standardized(&schema(), &at, table.batches(8));
        error.expect_err("it is refused").to_string()
    };
    let hours = r#"{ feature = "hours", as = "standardize", missing = "nan" }"#;
    assert_eq!(
        refused(hours, "age,hours,sex,job,grade,town\n"),
        "t.csv: no rows to learn from\nhint: expected at least one row below the column names"
    );
    assert_eq!(
        refused(hours, "age,hours,sex,job,grade,town\n1,,,,,\n"),
        "t.csv: column `hours` has no value in any of 1 rows\nhint: remove the feature from the schema"
    );
    assert_eq!(
        refused(hours, "age,hours,sex,job,grade,town\n1,1,,,,\n1,many,,,,\n"),
        "t.csv, line 3, column `hours`: expected a finite number, found `many`\n\
         hint: correct the cell, list the text under `missing_text`, or make the feature `nominal`"
    );
    assert_eq!(
        refused(r#"{ feature = "agee", as = "standardize" }"#, "age,hours,sex,job,grade,town\n1,1,,,,\n"),
        "no feature `agee`, did you mean `age`?"
    );
}

#[test]
fn what_is_no_file_of_inputs_is_refused_with_its_line() {
    assert_eq!(not_read("[[input]\n"), "line 1: unclosed array table, expected `]`");
    assert_eq!(not_read("\n[inptu]\n"), "line 2: unknown field `inptu`, expected `output` or `input`");
    assert_eq!(not_read("[[input]]\nname = \"x\"\n"), "line 1: missing field `columns`");
    assert_eq!(not_read("[output]\naccepted = 2\n"), "line 2: `accepted` is 2, expected 0 or 1");
    assert_eq!(
        not_read("[output]\n\nscale = \"logit\"\n"),
        "line 3: unknown variant `logit`, expected `probability` or `log-odds`"
    );
}

#[test]
fn a_column_that_contradicts_itself_is_refused_with_its_line() {
    assert_eq!(
        column_not_read("\"age\""),
        "line 4: invalid type: string \"age\", expected a table such as `{ feature = \"age\", as = \"number\" }`"
    );
    let of_age = |rest: &str| column_not_read(&format!("{{ feature = \"age\", {rest} }}"));
    assert_eq!(
        of_age("az = \"number\""),
        "line 4: unknown field `az`, expected one of `feature`, `as`, `shift`, `divide`, `mean`, `deviation`, `one`, \
         `values`, `zeros`, `missing`"
    );
    assert_eq!(of_age("missing = 1"), "line 4: missing field `as`");
    assert_eq!(
        of_age("as = \"onehot\""),
        "line 4: feature `age`: `as` cannot be `onehot`, did you mean `one-hot`?"
    );
    assert_eq!(
        of_age("as = \"number\", divide = 2"),
        "line 4: feature `age`: `divide` means nothing to `as = \"number\"`\nhint: remove one of them"
    );
    assert_eq!(
        of_age("as = \"scale\", shift = 1"),
        "line 4: feature `age`: `divide` is missing, expected what the number is divided by"
    );
    assert_eq!(
        of_age("as = \"scale\", divide = 0"),
        "line 4: feature `age`: `divide` is 0, expected a finite number other than 0"
    );
    assert_eq!(
        of_age("as = \"scale\", divide = 1, shift = inf"),
        "line 4: feature `age`: `shift` is inf, expected a finite number"
    );
    assert_eq!(
        of_age("as = \"standardize\", mean = nan"),
        "line 4: feature `age`: `mean` is NaN, expected a finite number"
    );
    assert_eq!(
        of_age("as = \"standardize\", deviation = -1"),
        "line 4: feature `age`: `deviation` is -1, expected a finite number above 0"
    );
    assert_eq!(
        of_age("as = \"zero-one\""),
        "line 4: feature `age`: `one` is missing, expected the value that becomes 1"
    );
    assert_eq!(
        of_age("as = \"one-hot\""),
        "line 4: feature `age`: `values` is missing, expected a value for each place"
    );
    assert_eq!(
        of_age("as = \"label\", values = []"),
        "line 4: feature `age`: `values` is empty, expected the values that become 0, 1, 2 and so on"
    );
    assert_eq!(
        of_age("as = \"label\", values = [\"a\", \" a\"]"),
        "line 4: feature `age`: `a` is listed twice"
    );
    assert_eq!(
        of_age("as = \"one-hot\", values = [1], zeros = [\"1\"]"),
        "line 4: feature `age`: `1` is listed twice"
    );
    assert_eq!(
        of_age("as = \"number\", missing = -inf"),
        "line 4: feature `age`: `missing` is -inf, expected a finite number or a text"
    );
    assert_eq!(
        of_age("as = \"number\", missing = [1]"),
        "line 4: invalid type: sequence, expected a number or a text"
    );
    let many: Vec<String> = (0..10_001).map(|value| value.to_string()).collect();
    assert_eq!(
        of_age(&format!("as = \"label\", values = [{}]", many.join(", "))),
        "line 4: feature `age`: 10001 values are listed, expected at most 10000"
    );
}

#[test]
fn entries_and_the_inputs_of_the_network_belong_together() {
    let refused = |text: &str| {
        let network =
            [input("numbers", Some(1), InputKind::Number), input("words", Some(1), InputKind::Text)];
        let inputs = Inputs::parse(text).expect("inputs");
        inputs.encoding(&schema(), &network).expect_err("it is refused").to_string()
    };
    let numbers = "[[input]]\nname = \"numbers\"\ncolumns = [{ feature = \"age\", as = \"number\" }]\n";
    assert_eq!(
        refused("[[input]]\nname = \"number\"\ncolumns = []"),
        "the network has no input `number`, did you mean `numbers`?"
    );
    assert_eq!(
        refused(&format!("{numbers}{numbers}")),
        "input `numbers` stands twice\nhint: list all of its columns under one `[[input]]`"
    );
    assert_eq!(
        refused(numbers),
        "the network's input `words` is not described\nhint: add an `[[input]]` of this name, with its `columns`"
    );
    assert_eq!(
        refused("[[input]]\nname = \"numbers\"\ncolumns = []"),
        "input `numbers` has no columns\nhint: list what stands at its places"
    );
}

#[test]
fn another_width_is_refused_with_what_each_column_gives() {
    let inputs = columns(
        r#"{ feature = "age", as = "number" },
           { feature = "job", as = "one-hot", values = ["clerk", "cook", "nurse"] }"#,
    );
    let refused = |inputs: &Inputs, width| {
        let network = [input("x", Some(width), InputKind::Number)];
        inputs.encoding(&schema(), &network).expect_err("it is refused").to_string()
    };
    assert_eq!(refused(&inputs, 5), "input `x` has 5 places, but its columns give 4: `age` 1, `job` 3");
    assert_eq!(refused(&inputs, 1), "input `x` has 1 place, but its columns give 4: `age` 1, `job` 3");
    let many = columns(&r#"{ feature = "age", as = "one-hot", values = [1, 2] },"#.repeat(20));
    let message = refused(&many, 39);
    assert!(message.ends_with("`age` 2, `age` 2 and 8 more columns 16"), "{message}");
}

#[test]
fn a_column_that_does_not_fit_the_schema_is_refused() {
    let refused = |text| refused(text, InputKind::Number);
    assert_eq!(
        refused(r#"{ feature = "age", as = "number" }, { feature = "houres", as = "number" }"#),
        "input `x`, column 2: no feature `houres`, did you mean `hours`?"
    );
    assert_eq!(
        refused(r#"{ feature = "sex", as = "standardize", mean = 0, deviation = 1 }"#),
        "input `x`, column 1: `sex` is passed as `standardize`, but its value `Female` is not a number\n\
         hint: use `one-hot`, `zero-one` or `label`, or `text` for an input of texts"
    );
    assert_eq!(
        refused(r#"{ feature = "hours", as = "label", values = [1] }"#),
        "input `x`, column 1: `hours` is continuous, and `as = \"label\"` is for categories\n\
         hint: use `number`, `scale` or `standardize`, or list its values in the schema as `nominal` or `ordinal`"
    );
    assert_eq!(
        refused(r#"{ feature = "job", as = "one-hot", values = ["clerk", "Cook"], zeros = ["nurse"] }"#),
        "input `x`, column 1: `job` has the category `cook`, which is not listed, did you mean `Cook`?\n\
         hint: add it to `values`, or to `zeros` if it has no place of its own"
    );
    assert_eq!(
        refused(r#"{ feature = "grade", as = "label", values = [1, 2] }"#),
        "input `x`, column 1: `grade` has the category `3`, which is not listed, found `1`, `2`\n\
         hint: add it to `values`"
    );
    assert_eq!(
        refused(r#"{ feature = "sex", as = "zero-one", one = "male" }"#),
        "input `x`, column 1: `one` of `sex` is `male`, did you mean `Male`?"
    );
    assert_eq!(
        refused(r#"{ feature = "age", as = "standardize", mean = 1 }"#),
        "input `x`, column 1: `mean` and `deviation` of `age` are not known yet\n\
         hint: say both, or take them from training rows"
    );
    assert_eq!(
        refused(r#"{ feature = "grade", as = "scale", divide = 1e-99 }"#),
        "input `x`, column 1: `grade` cannot be 1: scaled, it is more than single precision holds"
    );
}

#[test]
fn a_column_that_the_tensor_cannot_hold_is_refused() {
    assert_eq!(
        refused(r#"{ feature = "town", as = "text" }"#, InputKind::Number),
        "input `x`, column 1: `as = \"text\"` of `town` gives texts, but the input holds numbers\n\
         hint: pass it as `number`, `one-hot`, `zero-one` or `label`, as the network was trained"
    );
    assert_eq!(
        refused(r#"{ feature = "age", as = "number" }"#, InputKind::Text),
        "input `x`, column 1: `as = \"number\"` of `age` gives numbers, but the input holds texts\n\
         hint: pass it as `text`"
    );
    assert_eq!(
        refused(r#"{ feature = "age", as = "scale", divide = 2 }"#, InputKind::Integer),
        "input `x`, column 1: `as = \"scale\"` of `age` gives fractions, but the input holds whole numbers\n\
         hint: pass it as `number`"
    );
}

#[test]
fn what_may_be_missing_must_be_said_and_fit() {
    let unsaid = |feature: &str, example: &str| {
        format!(
            "input `x`, column 1: `{feature}` may be missing\n\
             hint: say what a missing cell is, such as `missing = {example}`"
        )
    };
    for (column, kind, example) in [
        (
            r#"{ feature = "job", as = "label", values = ["clerk", "cook", "nurse"] }"#,
            InputKind::Number,
            "\"nan\"",
        ),
        (
            r#"{ feature = "job", as = "label", values = ["clerk", "cook", "nurse"] }"#,
            InputKind::Integer,
            "-1",
        ),
        (r#"{ feature = "job", as = "zero-one", one = "cook" }"#, InputKind::Number, "0"),
        (r#"{ feature = "job", as = "text" }"#, InputKind::Text, "\"nan\""),
    ] {
        assert_eq!(refused(column, kind), unsaid("job", example));
    }
    assert_eq!(
        refused(r#"{ feature = "hours", as = "number" }"#, InputKind::Number),
        unsaid("hours", "\"nan\"")
    );

    let said = |feature: &str, form: &str, missing: &str, kind| {
        refused(&format!("{{ feature = \"{feature}\", as = {form}, missing = {missing} }}"), kind)
    };
    assert_eq!(
        said("hours", "\"number\"", "\"none\"", InputKind::Number),
        "input `x`, column 1: `missing` of `hours` is `none`, expected a number or `nan`"
    );
    assert_eq!(
        said("job", "\"text\"", "0", InputKind::Text),
        "input `x`, column 1: `missing` of `job` is `0`, expected a text"
    );
    for missing in ["0.5", "\"nan\""] {
        let found = missing.trim_matches('"');
        assert_eq!(
            said("hours", "\"number\"", missing, InputKind::Integer),
            format!(
                "input `x`, column 1: `missing` of `hours` is `{found}`, \
                 expected a whole number, since the input holds whole numbers"
            )
        );
    }
    assert_eq!(
        said("job", "\"one-hot\", values = [\"clerk\", \"cook\", \"nurse\"]", "\"cooc\"", InputKind::Number),
        "input `x`, column 1: `missing` of `job` is `cooc`, did you mean `cook`?"
    );
    assert_eq!(
        said("hours", "\"scale\", divide = 1e-9", "1e38", InputKind::Number),
        "input `x`, column 1: `hours` cannot be 100000000000000000000000000000000000000: \
         scaled, it is more than single precision holds"
    );
}

#[test]
fn what_training_rows_hold_is_checked() {
    let rows =
        "age,hours,sex,job,grade,town\n30,1,Male,cook,1,Ulm\n31,2,Male,cook,1,Bonn\n32,3,Male,cook,2,7\n";
    let schema = schema();
    let table = table(rows);
    let at = schema.columns(table.origin(), table.columns()).expect("columns");
    let config = DiscretizerConfig { bins: 2, max_values: 3 };
    let discretizer = Discretizer::fit(&schema, &at, table.batches(8), &config).expect("a fit");
    let check = |text: &str| numbers(text).check(&discretizer);
    let refused = |text: &str| check(text).expect_err("it is refused").to_string();

    assert_eq!(
        check(
            r#"{ feature = "town", as = "one-hot", values = ["Ulm", "7.0"], zeros = ["Bonn", "Kiel"] },
               { feature = "age", as = "label", values = [30, 31, 32, 33] },
               { feature = "hours", as = "number", missing = 0 },
               { feature = "town", as = "zero-one", one = "Ulm" }"#
        ),
        Ok(())
    );
    assert_eq!(
        refused(
            r#"{ feature = "sex", as = "zero-one", one = "Male" }, { feature = "town", as = "label", values = ["Ulm", "Bon"] }"#
        ),
        "input `x`, column 2: `town` has the category `7`, which is not listed, found `Ulm`, `Bon`\n\
         hint: add it to `values`"
    );
    assert_eq!(
        refused(r#"{ feature = "town", as = "number" }"#),
        "input `x`, column 1: `town` is passed as `number`, but its value `Bonn` is not a number\n\
         hint: use `one-hot`, `zero-one` or `label`, or `text` for an input of texts"
    );
    assert_eq!(
        refused(r#"{ feature = "age", as = "one-hot", values = [30, 31] }"#),
        "input `x`, column 1: `age` has the category `32`, which is not listed, found `30`, `31`\n\
         hint: add it to `values`, or to `zeros` if it has no place of its own"
    );
    assert_eq!(
        refused(r#"{ feature = "age", as = "scale", divide = 1e-50 }"#),
        "input `x`, column 1: `age` cannot be 30: scaled, it is more than single precision holds"
    );
}

#[test]
fn bins_are_no_categories() {
    let schema = schema();
    let table =
        table("age,hours,sex,job,grade,town\n1,1,Male,cook,1,a\n2,2,Male,cook,1,a\n3,3,Male,cook,2,a\n");
    let at = schema.columns(table.origin(), table.columns()).expect("columns");
    let config = DiscretizerConfig { bins: 2, max_values: 2 };
    let discretizer = Discretizer::fit(&schema, &at, table.batches(8), &config).expect("a fit");
    let age = numbers(r#"{ feature = "age", as = "zero-one", one = "2" }"#);
    assert_eq!(
        age.check(&discretizer).expect_err("it is refused").to_string(),
        "input `x`, column 1: `age` is divided into bins, and `as = \"zero-one\"` is for categories\n\
         hint: use `number`, `scale` or `standardize`, or list its values in the schema as `nominal` or `ordinal`"
    );
}
