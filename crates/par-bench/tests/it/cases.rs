//! Tables that are refused.

use par_bench::{Case, Experiment, Fold};

use crate::{applicants, case, case_of, figures, quick, schema, table};

fn refused(text: &str, fold: &str, factuals: Option<&str>) -> String {
    let case = Case::new("applicants", schema(), quick(), table(text), fold, factuals);
    case.and_then(|case| case.check()).expect_err("an invalid case").to_string()
}

#[test]
fn a_table_without_valid_folds_is_refused() {
    let text = applicants();
    assert_eq!(refused(&text, "folds", None), "applicants.csv: no column `folds`, did you mean `fold`?");
    assert_eq!(
        refused(&text.replace(",no,", ",yes,"), "decision", None),
        "applicants.csv: `decision` has one value, expected 2 to 100 folds\n\
         hint: name a column that says for every row in which fold it is tested"
    );
    assert_eq!(
        refused(&text, "id", None),
        "applicants.csv: `id` has 216 values, expected 2 to 100 folds\n\
         hint: name a column that says for every row in which fold it is tested"
    );
    assert_eq!(
        refused(&text.replacen(",yes,0\n", ",yes,\n", 1), "fold", None),
        "applicants.csv, line 2: `fold` is empty, expected a fold"
    );
    let header = text.lines().next().expect("a header");
    assert_eq!(
        refused(&format!("{header}\n"), "fold", None),
        "applicants.csv: `fold` has 0 values, expected 2 to 100 folds\n\
         hint: name a column that says for every row in which fold it is tested"
    );
}

#[test]
fn labels_are_checked_before_learning() {
    let text = applicants();
    assert_eq!(
        refused(&text.replacen(",yes,", ",maybe,", 1), "fold", None),
        "applicants.csv, line 2, column `decision`: no class `maybe`, expected one of `no`, `yes`"
    );
    let unlabelled = text.replacen("decision", "verdict", 1);
    assert!(
        refused(&unlabelled, "fold", None).contains("`decision`"),
        "{}",
        refused(&unlabelled, "fold", None)
    );
    // Outside the first fold, all rows are accepted.
    let one_class = text.replace(",no,1\n", ",yes,1\n").replace(",no,2\n", ",yes,2\n");
    assert_eq!(
        refused(&one_class, "fold", None),
        "applicants.csv: every row outside fold `0` is accepted, expected rows of both classes"
    );
    let mut case = case();
    case.config.favourable = Some(vec!["Yes".to_string()]);
    assert_eq!(
        case.check().expect_err("no such class").to_string(),
        "applicants.csv: the label has no class `Yes`, did you mean `yes`?"
    );
}

#[test]
fn factuals_have_a_one() {
    let text = applicants();
    assert_eq!(
        refused(&text, "fold", Some("height")),
        "applicants.csv: `height` has no 1, so there is no factual\n\
         hint: name a column with a 1 for every factual, or none to answer all rows"
    );
    let case =
        Case::new("applicants", schema(), quick(), table(&text), "fold", Some("debt")).expect("a case");
    let people = case.people(&case.test("0"));
    assert!(people.len() == 18 && people.iter().all(|person| person.cells[3] == "1"), "{}", people.len());
}

#[test]
fn folds_may_have_any_names_and_numbers_are_sorted() {
    let names = ["the first; one", "10", "9"];
    let mut text = applicants();
    for (place, name) in names.iter().enumerate() {
        text = text.replace(&format!(",{place}\n"), &format!(",{name}\n"));
    }
    let case = case_of(&text);
    assert_eq!(case.folds(), ["9", "10", "the first; one"]);
    let folds: Vec<String> = figures(&case, &[Experiment::Quality])
        .named("applicants", "bins", "coverage")
        .map(|figure| figure.fold.clone())
        .collect();
    assert_eq!(folds, case.folds());
}

#[test]
fn a_fold_learns_only_from_the_other_rows() {
    let case = case();
    let fold = Fold::new(&case, "1").expect("a fold");
    assert_eq!(
        (fold.training.rows(), fold.test.rows(), fold.people.len(), fold.unread.rows()),
        (144, 72, 72, 0)
    );
    assert_eq!(fold.model.card().rows.iter().sum::<usize>(), 144);
    let of_fold = |rows: &par_data::Batch, row| rows.cell(row, 8) == "1";
    assert!((0..144).all(|row| !of_fold(&fold.training, row)) && (0..72).all(|row| of_fold(&fold.test, row)));
}
