//! The measures of an answer against computations by hand, and against the measures of our own answers.

use par_answer::evaluate::answer_by_all_methods;
use par_answer::{Method, Request};
use par_bench::measures::{AnswerMeasures, Measurer, code_units};
use par_circuit::Dataset;
use par_data::{Schema, UNKNOWN, german_credit};
use par_fit::ModelBuilder;
use par_model::{Config, Model};

use crate::{model, quick, table};

/// A cook of 30 with a middle degree and much debt.
const COOK: [&str; 6] = ["cook", "middle", "30", "3", "f", "160"];

fn measured(model: &Model, change: &[(usize, &str)]) -> AnswerMeasures {
    let mut answer = COOK;
    change.iter().for_each(|&(place, cell)| answer[place] = cell);
    Measurer::new(model, &UNITS).measure(&COOK, &answer).expect("cells that can be read")
}

/// One for each feature of the cook's table.
const UNITS: [f64; 6] = [1.0, 2.0, 4.0, 1.0, 1.0, 1.0];

const JOB: usize = 0;
const DEGREE: usize = 1;
const AGE: usize = 2;
const DEBT: usize = 3;
const SEX: usize = 4;
const HEIGHT: usize = 5;

#[test]
fn distances_are_in_median_absolute_deviations_plus_one_per_category() {
    let model = model();
    let none = measured(&model, &[]);
    assert_eq!((none.similarity, none.distance, none.sparsity), (0.0, 0.0, 0.0));
    // The median absolute deviation of debts of 0 to 3 is 1, of ages of 20, 30 and 40 it is 10.
    let less = measured(&model, &[(JOB, "nurse"), (DEGREE, "high"), (AGE, "40"), (DEBT, "0")]);
    assert_eq!((less.similarity, less.distance, less.sparsity), (1.0 + 3.0, 1.0 + 3.0 + 2.0, 4.0));
    assert!(less.actionable && less.causal);

    let codes = |cells: &[&str]| model.discretizer().encode_row(cells).expect("a row").into_codes();
    let row = codes(&["nurse", "high", "40", "0", "f", "160"]);
    assert_eq!(less.score, model.probability(&row));
    assert_eq!(less.valid, less.score >= model.threshold());
    assert_eq!(less.nll, -model.accepted().evaluator().log_prob(&row));
}

#[test]
fn similarity_in_codes_counts_the_codes_between_of_every_feature() {
    let model = model();
    assert_eq!(measured(&model, &[]).similarity_codes, 0.0);
    // From cook (code 1) to nurse (2); from middle to high in units of 2; from 30 to 40 in units of 4; from 3 to 0.
    let less = measured(&model, &[(JOB, "nurse"), (DEGREE, "high"), (AGE, "40"), (DEBT, "0")]);
    let codes = |cells: &[&str]| model.discretizer().encode_row(cells).expect("a row").into_codes();
    let (own, row) = (codes(&COOK), codes(&["nurse", "high", "40", "0", "f", "160"]));
    let step = |place: usize| f64::from(own[place].abs_diff(row[place]));
    assert_eq!(less.similarity_codes, step(JOB) + step(DEGREE) / 2.0 + step(AGE) / 4.0 + step(DEBT));
    assert!([JOB, DEGREE, AGE, DEBT].into_iter().all(|place| step(place) > 0.0));
}

#[test]
fn the_unit_of_codes_is_their_median_absolute_deviation_or_one() {
    // Deviations from the median 2: 2, 1, 0, 1, 2; from the median 0: 0, 0, 0, 0, 1; the unknown code does not count.
    let rows = [0, 0, 1, 0, 2, 0, 3, UNKNOWN, 4, 1];
    let rows = Dataset::new(vec![5, 2], rows.to_vec()).expect("codes");
    assert_eq!(code_units(&rows), [1.0, 1.0]);
    let wide = Dataset::new(vec![9], vec![0, 2, 4, 6, 8]).expect("codes");
    assert_eq!(code_units(&wide), [2.0]);
}

#[test]
fn an_immutable_number_that_changes_within_its_bin_is_noticed() {
    let model = model();
    let taller = measured(&model, &[(HEIGHT, "161")]);
    assert!(!taller.actionable);
    assert!(taller.similarity > 0.0 && taller.similarity == taller.distance);
    // The code is unchanged.
    assert_eq!(taller.sparsity, 0.0);
    assert!(!measured(&model, &[(SEX, "m")]).actionable);
}

#[test]
fn special_values_neither_rise_nor_fall_and_policies_decide_too() {
    let schema = r#"
version = 2
name = "accounts"

[label]
column = "decision"
classes = ["no", "yes"]
favourable = "yes"

[[feature]]
name = "account"
kind = "discrete"
special = [-9, -8]
transitions = { "-9" = "leave" }
change = "decrease"

[[feature]]
name = "debt"
kind = "discrete"
change = "free"

[[relation]]
if_increases = "account"
must_increase = "debt"

[[accept]]
require = { debt = "..2" }
"#;
    let rows = (0..240).map(|id| {
        let account = [-9, -8, 1, 2, 3, 4][id % 6];
        let decision = if id / 6 % 10 == 0 { "no" } else { "yes" };
        format!("{account},{},{decision}\n", id / 6 % 5)
    });
    let text = "account,debt,decision\n".to_string() + &rows.collect::<String>();
    let schema = Schema::parse(schema, "accounts.toml").expect("a schema");
    let model = ModelBuilder::new(schema, quick()).fit(|| Ok(table(&text))).expect("a fit");
    let mut measurer = Measurer::new(&model, &[1.0; 2]);
    let mut measured = |own: [&str; 2], answer: [&str; 2]| measurer.measure(&own, &answer).expect("a row");

    let leaves = measured(["-9", "1"], ["2", "1"]);
    assert!(leaves.actionable && leaves.causal, "-9 may be left, and 2 is not above it");
    assert!(!measured(["-8", "1"], ["2", "1"]).actionable, "-8 may not be left");
    assert!(!measured(["2", "1"], ["-9", "1"]).actionable, "nothing becomes special, though -9 is below 2");
    assert!(!measured(["-8", "1"], ["-9", "1"]).actionable);
    assert!(measured(["-8", "1"], ["-8", "0"]).actionable, "it stays");
    assert!(measured(["3", "1"], ["2", "1"]).actionable);

    let (kept, broken) = (measured(["3", "3"], ["3", "2"]), measured(["3", "3"], ["3", "3"]));
    assert!(kept.score >= model.threshold() && kept.valid, "{kept:?}");
    assert!(broken.score >= model.threshold() && !broken.valid, "{broken:?}");
}

#[test]
fn a_number_in_another_notation_is_unchanged() {
    let model = model();
    assert_eq!(measured(&model, &[(HEIGHT, "160.0"), (AGE, " 30.0")]), measured(&model, &[]));
    assert_eq!(
        Measurer::new(&model, &UNITS)
            .measure(&["cook", "low", "20", "0", "f", "160"], &["cook", "low", "20", "-0", "f", "160"]),
        Measurer::new(&model, &UNITS)
            .measure(&["cook", "low", "20", "0", "f", "160"], &["cook", "low", "20", "0", "f", "160"])
    );
}

#[test]
fn directions_and_rules_are_measured_separately() {
    let model = model();
    let said = |change: &[(usize, &str)]| {
        let measured = measured(&model, change);
        (measured.actionable, measured.causal)
    };
    assert_eq!(said(&[(AGE, "20")]), (false, true));
    assert_eq!(said(&[(DEGREE, "low")]), (false, true));
    // A higher degree requires a higher age.
    assert_eq!(said(&[(DEGREE, "high")]), (true, false));
    assert_eq!(said(&[(DEGREE, "high"), (AGE, "20")]), (false, false));
    assert_eq!(said(&[(DEGREE, "high"), (AGE, "40")]), (true, true));
    // A higher age within the same bin counts.
    assert_eq!(said(&[(DEGREE, "high"), (AGE, "31")]), (true, true));
}

#[test]
fn an_unseen_category_cannot_be_measured() {
    let model = model();
    let mut answer = COOK;
    answer[JOB] = "pilot";
    let error = Measurer::new(&model, &UNITS).measure(&COOK, &answer).expect_err("`pilot` is unseen");
    assert_eq!(
        error.to_string(),
        "column `job`: no category `pilot`, expected one of `clerk`, `cook`, `nurse`\n\
         hint: correct the cell, add the value to the schema, or set `missing = true` to take it as unknown"
    );
}

#[test]
fn the_measures_agree_with_the_measures_of_our_answers() {
    let mut config = Config::default();
    config.generator.examples = 500;
    config.generator.steps = 60;
    config.pool.size = 300;
    let model =
        ModelBuilder::new(german_credit::schema(), config).fit(|| Ok(german_credit::table())).expect("a fit");
    let table = german_credit::table();
    let columns = model.schema().columns(table.origin(), table.columns()).expect("its own columns");
    let batch = table.batches(300).next().expect("rows").expect("whole rows");
    let cells = |row| columns.cells(&batch, row);
    let rows: Vec<Vec<&str>> = (0..batch.rows()).map(cells).collect();
    let answers = answer_by_all_methods(&model, &rows, &Request::default()).expect("its own rows");
    let units = vec![1.0; model.schema().features().len()];
    let mut measurer = Measurer::new(&model, &units);
    let mut count = 0;
    for (cells, answers) in
        rows.iter().zip(&answers).filter_map(|(cells, answers)| Some((cells, answers.as_ref()?)))
    {
        for way in Method::ALL.into_iter().filter_map(|method| answers.way(method as usize)) {
            let answer: Vec<&str> = way.cells.iter().map(String::as_str).collect();
            let measured = measurer.measure(cells, &answer).expect("our own answer");
            assert!(measured.valid && measured.actionable && measured.causal, "{answer:?}");
            assert!(
                (measured.nll + way.log_likelihood).abs() < 1e-9,
                "{} {}",
                measured.nll,
                way.log_likelihood
            );
            assert_eq!(
                (measured.similarity, measured.distance, measured.sparsity, measured.score),
                (way.similarity, way.distance, way.changes.len() as f64, way.probability)
            );
            assert!((measured.effort - way.effort).abs() < 1e-9, "{} {}", measured.effort, way.effort);
            assert!((measured.conditional_nll + way.conditional_log_likelihood).abs() < 1e-9);
            assert_eq!(measured.percentile, way.percentile);
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}
