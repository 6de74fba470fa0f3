use par_data::{
    Code, Discretizer, DiscretizerConfig, Domain, DomainSurvey, Novelty, RowSample, Schema, UNKNOWN,
};
use proptest::prelude::*;

use crate::{all_rows, columns, fit, fit_with, message, schema, table};

/// A schema of one feature `x` of this kind, with further lines.
fn one(kind: &str, rest: &str) -> Schema {
    schema(&format!("[[feature]]\nname = \"x\"\nkind = \"{kind}\"\n{rest}\n"))
}

fn column(cells: &[&str]) -> String {
    std::iter::once("x").chain(cells.iter().copied()).map(|cell| format!("\"{cell}\"\n")).collect()
}

fn numbers(numbers: impl IntoIterator<Item = f64>) -> String {
    std::iter::once("x\n".to_string())
        .chain(numbers.into_iter().map(|number| format!("{number}\n")))
        .collect()
}

fn code(discretizer: &Discretizer, cell: &str) -> Code {
    discretizer.encode_row(&[cell]).expect("a code").codes()[0]
}

fn outside(discretizer: &Discretizer, cell: &str) -> u64 {
    discretizer.encode_row(&[cell]).expect("a code").coverage().outside()[0]
}

#[test]
fn many_numbers_are_binned_at_their_quantiles() {
    let discretizer =
        fit(&one("continuous", "bins = 4"), table(&numbers((0..=100).map(f64::from)))).expect("a fit");
    let Domain::Bins { edges, medians, summary, .. } = &discretizer.domains()[0] else { panic!("bins") };
    assert_eq!(edges, &[0.0, 25.0, 50.0, 75.0, 100.0]);
    assert_eq!(medians, &[10.0, 40.0, 60.0, 90.0], "rounded until ten numbers round to them");
    assert_eq!((summary.median, summary.mad), (50.0, 25.0));
    let codes: Vec<Code> =
        ["-7", "0", "24.9", "25", "75", "100", "1e9"].iter().map(|cell| code(&discretizer, cell)).collect();
    assert_eq!(codes, [0, 0, 0, 1, 3, 3, 3]);
    assert_eq!(outside(&discretizer, "1e9"), 0, "every number is inside a bin");
}

#[test]
fn few_numbers_keep_a_code_each_and_others_snap_to_them() {
    for kind in ["discrete", "continuous"] {
        let discretizer = fit(&one(kind, ""), table("x\n4\n1\n2.0\n4\n")).expect("a fit");
        assert_eq!(discretizer.cardinalities(), [3]);
        let codes: Vec<Code> =
            ["1", "2", "3", "3.5", "-9", "99"].map(|cell| code(&discretizer, cell)).to_vec();
        assert_eq!(codes, [0, 1, 1, 2, 0, 2], "a tie goes down");
        assert_eq!((outside(&discretizer, "2.00"), outside(&discretizer, "3")), (0, 1));
    }
}

#[test]
fn a_column_of_mostly_zeros_still_gets_bins() {
    let zeros = std::iter::repeat_n(0.0, 970);
    let discretizer =
        fit(&one("continuous", ""), table(&numbers(zeros.chain((1..=30).map(f64::from))))).expect("a fit");
    let Domain::Bins { edges, .. } = &discretizer.domains()[0] else { panic!("bins") };
    assert_eq!(edges, &[0.0, 3.0, 6.0, 9.0, 12.0, 15.0, 18.0, 21.0, 24.0, 27.0, 30.0]);
}

#[test]
fn a_bin_that_no_value_falls_into_is_joined_to_the_one_below() {
    let config = DiscretizerConfig { bins: 4, max_values: 2 };
    let discretizer = fit_with(&one("discrete", ""), table("x\n1\n1\n2\n2\n3\n3\n"), &config).expect("a fit");
    let Domain::Bins { edges, medians, .. } = &discretizer.domains()[0] else { panic!("bins") };
    assert_eq!((edges.as_slice(), medians.as_slice()), (&[1.0, 2.0, 2.75, 3.0][..], &[1.0, 2.0, 3.0][..]));
}

#[test]
fn one_value_makes_one_code() {
    let discretizer = fit(&one("continuous", ""), table("x\n5\n5\n")).expect("a fit");
    assert_eq!(discretizer.cardinalities(), [1]);
    assert_eq!(discretizer.domains()[0].summary().expect("numbers").mad, 1.0);
}

#[test]
fn settings_have_ranges() {
    for (config, expected) in [
        (DiscretizerConfig { bins: 1, max_values: 20 }, "`bins` is 1, expected 2 to 1000"),
        (DiscretizerConfig { bins: 10, max_values: 0 }, "`max_values` is 0, expected 1 to 1000"),
    ] {
        assert_eq!(message(fit_with(&one("discrete", ""), table("x\n1\n"), &config)), expected);
    }
}

#[test]
fn categories_match_by_text_and_then_by_number() {
    let discretizer =
        fit(&one("ordinal", "values = [\"low\", 2, \"10\"]"), table("x\nlow\n2\n")).expect("a fit");
    let codes: Vec<Code> = ["low", " low ", "2", "2.0", "1e1"].map(|cell| code(&discretizer, cell)).to_vec();
    assert_eq!(codes, [0, 0, 1, 1, 2]);
}

#[test]
fn an_unlisted_vocabulary_is_learned() {
    let discretizer = fit(&one("nominal", ""), table("x\nb\na\n b\n")).expect("a fit");
    assert_eq!(
        discretizer.domains(),
        [Domain::Categories { values: vec!["a".to_string(), "b".to_string()], ordered: false }]
    );
    let discretizer = fit(&one("nominal", "monotone = \"increasing\""), table("x\n10\n9\n")).expect("a fit");
    assert_eq!(
        discretizer.domains(),
        [Domain::Categories { values: vec!["9".to_string(), "10".to_string()], ordered: true }]
    );
}

#[test]
fn a_learned_vocabulary_without_order_is_refused_under_a_constraint() {
    let fitted = fit(&one("nominal", "monotone = \"increasing\""), table("x\n10\nmany\n"));
    assert_eq!(
        message(fitted),
        "t.csv: `x` must have an order, because it changes in one direction only, but its value `many` is not a number\nhint: make it `ordinal` in the schema and list its `values` in order"
    );
}

#[test]
fn an_allowed_value_that_was_never_seen_is_refused() {
    let fitted = fit(&one("nominal", "allowed = [\"bleu\"]"), table("x\nblue\nred\n"));
    assert_eq!(
        message(fitted),
        "t.csv: column `x` never holds `bleu`, which `allowed` names, did you mean `blue`?"
    );
}

#[test]
fn missing_cells_are_unknown_where_the_schema_says_so() {
    let discretizer =
        fit(&one("discrete", "missing = true"), table(&column(&["1", "", "NA", "2"]))).expect("a fit");
    assert_eq!((code(&discretizer, ""), code(&discretizer, " nan ")), (UNKNOWN, UNKNOWN));
    assert_eq!(outside(&discretizer, ""), 1);

    let strict = fit(&one("discrete", ""), table(&column(&["1", "2", ""])));
    let expected = "t.csv, line 4, column `x`: the value is missing\nhint: fill it in, or set `missing = true` for this feature in the schema";
    assert_eq!(message(strict), expected);
}

#[test]
fn a_listed_value_is_never_missing() {
    let discretizer = fit(&one("nominal", "values = [\"NA\", \"EU\"]"), table("x\nNA\nEU\n")).expect("a fit");
    assert_eq!((code(&discretizer, "NA"), outside(&discretizer, "NA")), (0, 0));
}

#[test]
fn an_all_missing_column_is_refused() {
    for kind in ["continuous", "nominal"] {
        let fitted = fit(&one(kind, "missing = true"), table(&column(&["", "NA"])));
        let expected =
            "t.csv: column `x` has no value in any of 2 rows\nhint: remove the feature from the schema";
        assert_eq!(message(fitted), expected);
    }
}

#[test]
fn a_table_without_rows_is_refused() {
    let expected = "t.csv: no rows to learn from\nhint: expected at least one row below the column names";
    assert_eq!(message(fit(&one("discrete", ""), table("x\n"))), expected);
}

#[test]
fn text_where_a_number_belongs_is_refused() {
    let hint = "\nhint: correct the cell, list the text under `missing_text`, or make the feature `nominal`";
    for (cell, line) in [("many", 3), ("inf", 3), ("1,5", 3)] {
        let fitted = fit(&one("continuous", ""), table(&column(&["1", cell])));
        let expected =
            format!("t.csv, line {line}, column `x`: expected a finite number, found `{cell}`{hint}");
        assert_eq!(message(fitted), expected);
    }
}

#[test]
fn an_unseen_category_and_a_number_where_a_category_belongs_are_refused() {
    let colours = one("nominal", "values = [\"red\", \"green\"]");
    let discretizer = fit(&colours, table("x\nred\n")).expect("a fit");
    let hint = "\nhint: correct the cell, add the value to the schema, or set `missing = true` to take it as unknown";
    let encode = |cell: &str| {
        let table = table(&column(&["red", cell]));
        let columns = columns(&colours, &table).expect("a column");
        message(discretizer.encode(&columns, &all_rows(table)))
    };
    assert_eq!(
        encode("gren"),
        format!("t.csv, line 3, column `x`: no category `gren`, did you mean `green`?{hint}")
    );
    assert_eq!(
        encode("7"),
        format!("t.csv, line 3, column `x`: no category `7`, expected one of `red`, `green`{hint}")
    );
    assert_eq!(
        message(discretizer.encode_row(&["7"])),
        format!("column `x`: no category `7`, expected one of `red`, `green`{hint}")
    );
    let lenient = fit(&one("nominal", "missing = true"), table("x\nred\n")).expect("a fit");
    assert_eq!((code(&lenient, "blue"), outside(&lenient, "blue")), (UNKNOWN, 1));
}

#[test]
fn a_number_that_the_column_cannot_hold_is_refused() {
    let hint = "\nhint: correct the cell, or the feature's `range` in the schema";
    let ages = one("discrete", "range = [0, 120]\nbounds = [18, 100]");
    let discretizer = fit(&ages, table("x\n30\n41\n")).expect("a fit");
    assert_eq!(
        message(discretizer.encode_row(&["-5"])),
        format!("column `x`: expected a number from 0 to 120, found `-5`{hint}")
    );
    assert_eq!(code(&discretizer, "0"), 0, "bounds restrict moves, not cells");
    assert_eq!(
        message(fit(&ages, table("x\n30\n1e17\n"))),
        format!("t.csv, line 3, column `x`: expected a number from 0 to 120, found `1e17`{hint}")
    );
    for (range, cell, expected) in [("[0, inf]", "-48", "from 0 up"), ("[-inf, 5]", "6", "up to 5")] {
        let open = fit(&one("continuous", &format!("range = {range}")), table("x\n1\n")).expect("a fit");
        assert_eq!(
            message(open.encode_row(&[cell])),
            format!("column `x`: expected a number {expected}, found `{cell}`{hint}")
        );
    }
}

#[test]
fn unseen_values_are_recognised() {
    let numbers = fit(&one("discrete", "missing = true"), table("x\n1\n2\n4\n")).expect("a fit");
    assert_eq!(numbers.novelty(0, "9"), Some(Novelty::Outside { low: 0.0, high: 4.0 }));
    assert_eq!(numbers.novelty(0, "2.4"), Some(Novelty::Between { nearest: 2.0 }));
    assert_eq!(["2", " 4.0", "NA", "many"].map(|cell| numbers.novelty(0, cell)), [None; 4]);
    let bins =
        fit(&one("discrete", "bins = 2"), table(&self::numbers((0..=10).map(f64::from)))).expect("a fit");
    assert_eq!(bins.novelty(0, "-48"), Some(Novelty::Outside { low: 0.0, high: 10.0 }));
    assert_eq!(bins.novelty(0, "2.5"), None);
    let words = fit(&one("nominal", "missing = true"), table("x\nred\n")).expect("a fit");
    assert_eq!((words.novelty(0, "blue"), words.novelty(0, "red")), (Some(Novelty::Category), None));
}

/// pandas writes `True` to CSV, and to Parquet what reads as `true`.
#[test]
fn a_truth_value_is_known_in_any_case_unless_that_is_a_category_too() {
    let truths = fit(&one("nominal", ""), table("x\nTrue\nFalse\n")).expect("a fit");
    let codes = |discretizer: &Discretizer, cells: [&str; 3]| cells.map(|cell| code(discretizer, cell));
    let [false_code, true_code] = ["False", "True"].map(|cell| code(&truths, cell));
    assert_eq!(codes(&truths, ["true", "false", "TRUE"]), [true_code, false_code, true_code]);
    let both = fit(&one("nominal", ""), table("x\nTrue\ntrue\n")).expect("a fit");
    assert_ne!(code(&both, "True"), code(&both, "true"));
    both.encode_row(&["TRUE"]).expect_err("it may be either");
    let words = fit(&one("nominal", ""), table("x\nRed\n")).expect("a fit");
    words.encode_row(&["red"]).expect_err("another word");
}

#[test]
fn categories_that_are_the_same_number_stay_apart() {
    let cells = "x\n1\n01\n1.1\n1.10\n2\n";
    for rest in ["", "values = [\"01\", \"1\", \"1.1\", \"1.10\", \"2\"]"] {
        let discretizer = fit(&one("nominal", rest), table(cells)).expect("a fit");
        let codes = ["01", "1", "1.1", "1.10", "2"].map(|cell| code(&discretizer, cell));
        assert_eq!(codes, [0, 1, 2, 3, 4], "{rest}");
        assert_eq!(code(&discretizer, "2.0"), 4, "the only one with this number");
        assert_eq!(
            message(discretizer.encode_row(&["1.0"])),
            "column `x`: no category `1.0`, did you mean `1.1`?\nhint: correct the cell, add the value to the schema, \
             or set `missing = true` to take it as unknown"
        );
    }
    let ordinal = fit(&one("ordinal", "values = [\"1\", \"01\"]"), table("x\n1\n")).expect("a fit");
    assert_eq!(["1", "01"].map(|cell| code(&ordinal, cell)), [0, 1]);
    let numbers = fit(&one("discrete", ""), table(cells)).expect("a fit");
    assert_eq!(
        ["01", "1", "1.10", "1.1"].map(|cell| code(&numbers, cell)),
        [0, 0, 1, 1],
        "the schema says numbers"
    );
}

#[test]
fn an_order_between_categories_that_are_the_same_number_is_refused() {
    assert_eq!(
        message(fit(&one("nominal", "monotone = \"increasing\""), table("x\n1\n2\n01\n"))),
        "t.csv: `x` must have an order, because it changes in one direction only, but its values `01` and `1` are the same number\n\
         hint: make it `discrete` if they are the same, or else `ordinal`, and list its `values` in order"
    );
}

#[test]
fn classes_that_are_the_same_number_stay_apart() {
    let schema = schema(
        "[label]\ncolumn = \"y\"\nclasses = [\"1\", \"01\", \"2\"]\nfavourable = \"1\"\n[[feature]]\nname = \"x\"\nkind = \"discrete\"\n",
    );
    let classes = |text: &str| {
        let table = table(text);
        let columns = columns(&schema, &table).expect("a column");
        schema.classes(&columns, &all_rows(table))
    };
    assert_eq!(classes("x,y\n5,1\n5,01\n5,2.0\n").expect("classes"), [0, 1, 2]);
    assert_eq!(
        message(classes("x,y\n5,1.0\n")),
        "t.csv, line 2, column `y`: no class `1.0`, expected one of `1`, `01`, `2`"
    );
}

#[test]
fn an_unseen_class_is_refused() {
    let schema = schema(
        "[label]\ncolumn = \"y\"\nclasses = [0, 1]\nfavourable = 1\n[[feature]]\nname = \"x\"\nkind = \"discrete\"\n",
    );
    let classes = |text: &str| {
        let table = table(text);
        let columns = columns(&schema, &table).expect("a column");
        schema.classes(&columns, &all_rows(table))
    };
    assert_eq!(classes("x,y\n5,1.0\n5,0\n").expect("classes"), [1, 0]);
    assert_eq!(
        message(classes("x,y\n5,2\n")),
        "t.csv, line 2, column `y`: no class `2`, expected one of `0`, `1`"
    );
    assert_eq!(message(classes("x\n5\n")), "t.csv: no column `y`, the schema's label");
}

#[test]
fn a_code_stands_for_its_category_its_number_or_the_median_of_its_bin() {
    let words = fit(&one("nominal", "values = [\"A1\", \"A2\"]"), table("x\nA1\n")).expect("a fit");
    assert_eq!([0, 1].map(|code| words.typical_text(0, code)), ["A1", "A2"]);
    let special = "version = 2\n[[feature]]\nname = \"x\"\nkind = \"continuous\"\nspecial = [-9]\n";
    let values = fit(&schema(special), table("x\n1\n2.5\n-9\n")).expect("a fit");
    assert_eq!([0, 1, 2].map(|code| values.typical_text(0, code)), ["1", "2.5", "-9"]);
    let bins = |rest: &str| {
        let column = table(&numbers((0..=1000).map(|n| f64::from(n) / 10.0)));
        let bins = fit(&one("continuous", &format!("bins = 4\n{rest}")), column).expect("a fit");
        (0..4).map(|code| bins.typical_text(0, code)).collect::<Vec<_>>()
    };
    assert_eq!(bins(""), ["12", "37", "62", "88"]);
    assert_eq!(bins("bounds = [15, 80]"), ["15", "37", "62", "80"], "within the bounds");
    assert_eq!(bins("allowed = [20, 40.5, 45, 60, 99]"), ["20", "40.5", "60", "99"], "an allowed number");
}

#[test]
fn a_fitted_discretizer_survives_saving() {
    let schema = schema(
        "[[feature]]\nname = \"x\"\nkind = \"continuous\"\n[[feature]]\nname = \"y\"\nkind = \"nominal\"\n[[feature]]\nname = \"z\"\nkind = \"discrete\"\n",
    );
    let rows: String = (0..100).map(|n| format!("{},{},{}\n", f64::from(n) / 7.0, n % 3, n % 5)).collect();
    let discretizer = fit(&schema, table(&format!("x,y,z\n{rows}"))).expect("a fit");
    let saved = serde_json::to_value(&discretizer).expect("a value");
    let loaded: Discretizer = serde_json::from_value(saved.clone()).expect("a discretizer");
    assert_eq!(loaded, discretizer);

    let damaged = |pointer: &str, value: serde_json::Value| {
        let mut saved = saved.clone();
        *saved.pointer_mut(pointer).expect("a place to damage") = value;
        message(serde_json::from_value::<Discretizer>(saved))
    };
    let hint = "\nhint: the model file is damaged; fit again";
    for (pointer, value, problem) in [
        ("/domains/0/Bins/edges/3", 1e9.into(), "its edges do not ascend"),
        ("/domains/0/Bins/medians/0", 13.0.into(), "a median lies outside its bin"),
        ("/domains/0/Bins/medians", Vec::<f64>::new().into(), "its domain is empty"),
        ("/domains/0/Bins/summary/mad", 0.0.into(), "its summary is impossible"),
    ] {
        assert_eq!(damaged(pointer, value), format!("saved discretizer, feature `x`: {problem}{hint}"));
    }
    let swapped = saved.pointer("/domains/1").expect("categories").clone();
    assert_eq!(
        damaged("/domains/0", swapped),
        format!("saved discretizer, feature `x`: its domain is of another kind{hint}")
    );
    assert_eq!(
        damaged("/domains/1/Categories/values/0", "1".into()),
        format!("saved discretizer, feature `y`: a category is repeated{hint}")
    );
    assert_eq!(
        damaged("/domains", Vec::<f64>::new().into()),
        format!("saved discretizer, feature `x`: features and domains differ in number{hint}")
    );
}

#[test]
fn damaged_values_of_a_saved_discretizer_are_refused() {
    let schema = schema("[[feature]]\nname = \"x\"\nkind = \"discrete\"\nbins = 2\n");
    let rows: String = (0..100).map(|number| format!("{number}\n")).collect();
    let mut discretizer = fit(&schema, table(&format!("x\n{rows}"))).expect("a fit");
    discretizer.learn_values(vec![(0..100).chain([7; 20]).map(f64::from).collect()]);
    let saved = serde_json::to_value(&discretizer).expect("a value");
    let loaded: Discretizer = serde_json::from_value(saved.clone()).expect("a discretizer");
    assert_eq!(loaded, discretizer);

    let all = saved.pointer("/values/0/0").expect("values").clone();
    for (pointer, value) in [
        ("/values/0", vec![all].into()),
        ("/values/0/0/edges", Vec::<f64>::new().into()),
        ("/values/0/0/edges/0", 1.0.into()),
        ("/values/0/0/pieces", Vec::<f64>::new().into()),
        ("/values/0/0/pieces/0", 0.0.into()),
        ("/values/0/0/pieces/0", (-0.25).into()),
        ("/values/0/0/spikes/0/0", 77.0.into()),
        ("/values/0/0/spikes/0/1", 0.9.into()),
    ] {
        let mut saved = saved.clone();
        *saved.pointer_mut(pointer).expect("a place to damage") = value;
        assert_eq!(
            message(serde_json::from_value::<Discretizer>(saved)),
            "saved discretizer, feature `x`: how common its numbers are is impossible\n\
             hint: the model file is damaged; fit again",
            "{pointer}"
        );
    }
}

proptest! {
    #[test]
    fn the_number_that_a_code_stands_for_encodes_to_it(
        values in prop::collection::vec(-50_000i64..50_000, 2..200),
        decimals in 0u32..4,
        bins in 2usize..12,
        bounds in prop::option::of((-60.0f64..0.0, 0.0f64..60.0)),
    ) {
        let scale = 10f64.powi(decimals as i32);
        let column = numbers(values.iter().map(|value| *value as f64 / scale));
        let rest = bounds.map_or(String::new(), |(low, high)| format!("bounds = [{low:?}, {high:?}]"));
        let config = DiscretizerConfig { bins, max_values: 1 };
        let discretizer = fit_with(&one("continuous", &rest), table(&column), &config).expect("a fit");
        for code in 0..discretizer.cardinalities()[0] as Code {
            prop_assert_eq!(self::code(&discretizer, &discretizer.typical_text(0, code)), code);
        }
    }

    #[test]
    fn every_bin_holds_training_values(values in prop::collection::vec(0u8..40, 2..300), bins in 2usize..20) {
        let config = DiscretizerConfig { bins, max_values: 2 };
        let column = numbers(values.iter().copied().map(f64::from));
        let discretizer = fit_with(&one("discrete", ""), table(&column), &config).expect("a fit");
        let mut counts = vec![0; discretizer.cardinalities()[0]];
        for value in values {
            counts[usize::from(code(&discretizer, &value.to_string()))] += 1;
        }
        prop_assert!(counts.iter().all(|count| *count > 0), "{:?}", counts);
    }
}

/// 3,000 rows: a vocabulary with rare words, few and many different numbers, and extremes that are rare.
fn long_table() -> String {
    let row = |row: u32| {
        let word = if row == 2_999 { "rare" } else { ["a", "b", "c"][row as usize % 3] };
        let few = if row == 1_717 { 9 } else { row % 7 };
        let many = if row == 1_234 { -500.125 } else { f64::from(row * 37 % 1000) / 4.0 };
        let still = if row % 100 == 99 { row } else { 0 };
        format!("{word},{few},{many},{still}\n")
    };
    "word,few,many,still\n".to_string() + &(0..3000).map(row).collect::<String>()
}

const LONG_SCHEMA: &str = r#"
[[feature]]
name = "word"
kind = "nominal"

[[feature]]
name = "few"
kind = "discrete"

[[feature]]
name = "many"
kind = "continuous"

[[feature]]
name = "still"
kind = "discrete"
"#;

fn fit_sample(limit: usize) -> Discretizer {
    let (schema, config, text) = (schema(LONG_SCHEMA), DiscretizerConfig::default(), long_table());
    let columns = columns(&schema, &table(&text)).expect("its own columns");
    let mut all = DomainSurvey::new(&schema, &config).expect("settings in range");
    let mut sample = RowSample::new(limit, 0);
    for batch in table(&text).batches(101) {
        let batch = batch.expect("whole rows");
        let mut survey = DomainSurvey::new(&schema, &config).expect("settings in range");
        survey.add(&schema, &columns, &batch).expect("cells that fit");
        all.merge(&schema, &columns, survey).expect("few categories");
        sample.add(&batch);
    }
    assert_eq!(all.rows(), 3000);
    Discretizer::fit_sample(&schema, &columns, all, &sample.into_batches(), &config).expect("a fit")
}

#[test]
fn a_sample_of_all_rows_gives_the_same_domains() {
    let expected = fit(&schema(LONG_SCHEMA), table(&long_table())).expect("a fit");
    assert_eq!(fit_sample(3000), expected);
}

#[test]
fn what_few_rows_have_is_known_of_all_rows() {
    let expected = fit(&schema(LONG_SCHEMA), table(&long_table())).expect("a fit");
    // Ten rows may hold zeros alone in the last column.
    for limit in [10, 30, 500] {
        let found = fit_sample(limit);
        let [words, few, many, still] = [0, 1, 2, 3].map(|place| &found.domains()[place]);
        assert_eq!(words, &expected.domains()[0]);
        let values = |domain: &Domain| match domain {
            Domain::Values { values, .. } => values.clone(),
            other => panic!("few numbers have a code each: {other:?}"),
        };
        assert_eq!(values(few), values(&expected.domains()[1]));
        let shares =
            |discretizer: &Discretizer| serde_json::to_value(discretizer).expect("JSON")["shares"][1].clone();
        assert_eq!(shares(&found), shares(&expected), "counts are those of all rows");
        for (own, place) in [(many, 2), (still, 3)] {
            let (own, all) = (own.summary(), expected.domains()[place].summary());
            let (own, all) = (own.expect("numbers"), all.expect("numbers"));
            assert_eq!((own.low, own.high, own.decimals), (all.low, all.high, all.decimals));
        }
        let text = serde_json::to_string(&found).expect("JSON");
        serde_json::from_str::<Discretizer>(&text).expect("domains that a fit can have produced");
    }
}
