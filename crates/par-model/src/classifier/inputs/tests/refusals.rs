use par_data::{Discretizer, DiscretizerConfig};
use par_onnx::InputKind;

use super::{columns, encoded, input, numbers, schema, table};
use crate::classifier::inputs::Inputs;

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
fn an_invalid_file_of_inputs_is_refused_with_its_line() {
    assert_eq!(not_read("[[input]\n"), "line 1: unclosed array table, expected `]`");
    assert_eq!(not_read("\n[inptu]\n"), "line 2: unknown field `inptu`, expected `output` or `input`");
    assert_eq!(not_read("[[input]]\nname = \"x\"\n"), "line 1: missing field `columns`");
    let columns = "line 2: `accepted` must be a column, or a list of columns, counted from 0";
    assert_eq!(not_read("[output]\naccepted = -2\n"), columns);
    assert_eq!(not_read("[output]\naccepted = \"yes\"\n"), columns);
    for found in ["[]", "[1, 1]"] {
        let expected = format!("line 2: `accepted` is {found}, expected at least one column, and each once");
        assert_eq!(not_read(&format!("[output]\naccepted = {found}\n")), expected);
    }
    assert_eq!(
        not_read("[output]\n\nscale = \"logit\"\n"),
        "line 3: unknown variant `logit`, expected one of `probability`, `log-odds`, `number`"
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
fn entries_must_match_the_inputs_of_the_classifier() {
    let refused = |text: &str| {
        let classifier =
            [input("numbers", Some(1), InputKind::Number), input("words", Some(1), InputKind::Text)];
        let inputs = Inputs::parse(text).expect("inputs");
        inputs.encoding(&schema(), &classifier).expect_err("it is refused").to_string()
    };
    let numbers = "[[input]]\nname = \"numbers\"\ncolumns = [{ feature = \"age\", as = \"number\" }]\n";
    assert_eq!(
        refused("[[input]]\nname = \"number\"\ncolumns = []"),
        "the classifier has no input `number`, did you mean `numbers`?"
    );
    assert_eq!(
        refused(&format!("{numbers}{numbers}")),
        "input `numbers` is listed twice\nhint: list all of its columns under one `[[input]]`"
    );
    assert_eq!(
        refused(numbers),
        "the classifier's input `words` is not described\nhint: add an `[[input]]` of this name, with its `columns`"
    );
    assert_eq!(
        refused("[[input]]\nname = \"numbers\"\ncolumns = []"),
        "input `numbers` has no columns\nhint: list the columns at its places"
    );
}

#[test]
fn a_wrong_width_is_refused_with_the_places_of_each_column() {
    let inputs = columns(
        r#"{ feature = "age", as = "number" },
           { feature = "job", as = "one-hot", values = ["clerk", "cook", "nurse"] }"#,
    );
    let refused = |inputs: &Inputs, width| {
        let classifier = [input("x", Some(width), InputKind::Number)];
        inputs.encoding(&schema(), &classifier).expect_err("it is refused").to_string()
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
         hint: set both, or take them from training rows"
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
         hint: pass it as `number`, `one-hot`, `zero-one` or `label`, as the classifier was trained"
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
fn a_feature_that_may_be_missing_needs_a_fitting_missing_value() {
    let unsaid = |feature: &str, example: &str| {
        format!(
            "input `x`, column 1: `{feature}` may be missing\n\
             hint: set the value of a missing cell, such as `missing = {example}`"
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
fn the_values_of_the_training_rows_are_checked() {
    let rows =
        "age,hours,sex,job,grade,town\n30,1,Male,cook,1,Ulm\n31,2,Male,cook,1,Bonn\n32,3,Male,cook,2,7\n";
    let schema = schema();
    let table = table(rows);
    let at = schema.columns(table.origin(), table.columns()).expect("columns");
    let config = DiscretizerConfig { bins: 2, max_values: 3 };
    let discretizer = Discretizer::fit(&schema, &at, table.batches(8), &config).expect("a fit");
    let check = |text: &str| numbers(text).of_rows(&discretizer).map(|_| ());
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
fn bins_cannot_be_passed_as_categories() {
    let schema = schema();
    let table =
        table("age,hours,sex,job,grade,town\n1,1,Male,cook,1,a\n2,2,Male,cook,1,a\n3,3,Male,cook,2,a\n");
    let at = schema.columns(table.origin(), table.columns()).expect("columns");
    let config = DiscretizerConfig { bins: 2, max_values: 2 };
    let discretizer = Discretizer::fit(&schema, &at, table.batches(8), &config).expect("a fit");
    let age = numbers(r#"{ feature = "age", as = "zero-one", one = "2" }"#);
    assert_eq!(
        age.of_rows(&discretizer).expect_err("it is refused").to_string(),
        "input `x`, column 1: `age` is divided into bins, and `as = \"zero-one\"` is for categories\n\
         hint: use `number`, `scale` or `standardize`, or list its values in the schema as `nominal` or `ordinal`"
    );
}
