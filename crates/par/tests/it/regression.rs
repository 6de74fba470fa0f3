//! Labels that are numbers, and sets of classes.

use par_answer::{Answer, Method, Request, Solver, answer, words};
use par_fit::Error;
use par_model::classifier::Threshold;
use par_model::classifier::inputs::Inputs;
use par_model::{Config, Model, ScoreScale};

use crate::{fit, fitting, quick, table};

const SCHEMA: &str = r#"
version = 2

[label]
column = "pay"
at_least = 2500
unit = "EUR"

[[feature]]
name = "skill"
kind = "continuous"
change = "increase"

[[feature]]
name = "job"
kind = "nominal"
values = ["a", "b", "c"]
change = "free"
"#;

/// The pay rises with skill, and job `c` adds to it.
fn rows() -> String {
    let mut text = String::from("skill,job,pay\n");
    for row in 0..400_u32 {
        let (skill, job) = ((row * 37) % 100, (row * 7) % 3);
        let pay = 1000 + 20 * skill + if job == 2 { 500 } else { 0 } + (row * 13) % 90;
        text += &format!("{skill},{},{pay}\n", ["a", "b", "c"][job as usize]);
    }
    text
}

fn regression(schema: &str) -> Model {
    let mut config = quick();
    config.classifier.learning_rate = 1e-2;
    fit(schema, &rows(), config).expect("a fit")
}

#[test]
fn a_regression_predicts_the_label_and_its_ways_reach_the_number() {
    let model = regression(SCHEMA);
    assert!(model.card().held_out_r2.expect("held-out rows") > 0.9, "{:?}", model.card());
    assert!(model.card().held_out_auc.expect("held-out rows") > 0.9);
    assert_eq!(model.card().classes, ["at least 2,500 EUR", "below 2,500 EUR"]);
    assert_eq!(model.threshold(), 2500.0);
    for (cells, expected) in [(["10", "a"], 1245.0), (["90", "c"], 3345.0)] {
        let found = model.score(&cells).expect("a score");
        assert!((found - expected).abs() < 200.0, "{cells:?} is predicted {found}");
    }
    let again = Model::from_bytes(&model.to_bytes()).expect("its own bytes");
    assert_eq!(again.score(&["10", "a"]), model.score(&["10", "a"]));
    let mut solver = Solver::new(&again);
    for method in Method::ALL {
        let request = Request { method, threshold: Some(2600.0), margin: Some(50.0), ..Request::default() };
        let Answer::Found(found) = solver.answer(&["40", "a"], &request).expect("a row") else {
            panic!("more skill is enough")
        };
        let way = &found.ways[0];
        assert!(way.probability >= if way.has_margin { 2650.0 } else { 2600.0 }, "{way:?}");
        assert!(words::decision(&model, found.probability, 2600.0).ends_with("at least 2,600 EUR is needed"));
    }
}

#[test]
fn at_most_wants_less() {
    let schema = SCHEMA.replace("at_least = 2500", "at_most = 1800").replace("\"increase\"", "\"decrease\"");
    let model = regression(&schema);
    assert!(model.card().held_out_auc.expect("held-out rows") > 0.9);
    let exact = Request { method: Method::Exact, ..Request::default() };
    let Answer::Found(found) = answer(&model, &["80", "c"], &exact).expect("a row") else {
        panic!("less skill is enough")
    };
    assert!(found.probability > 1800.0 && found.ways[0].probability <= 1800.0, "{found:?}");
    assert!(matches!(answer(&model, &["1", "a"], &exact), Ok(Answer::Accepted { .. })));
}

#[test]
fn an_external_regression_is_searched_as_it_is() {
    // A linear regression over the four numbers of the fixture: what counts is that ways are verified by it.
    let file = include_bytes!("../../../par-onnx/tests/fixtures/number_linear.onnx");
    let mut text = String::from("age,income,debt,hours,pay\n");
    for row in 0..300_u32 {
        let [age, income, debt, hours] =
            [20 + row * 7 % 50, 15 + row * 11 % 30, row * 5 % 12, 30 + row * 3 % 16];
        text += &format!("{age},{income},{debt},{hours},{}\n", 200 * income - 150 * debt);
    }
    let feature = |name: &str, change: &str| {
        format!("[[feature]]\nname = \"{name}\"\nkind = \"discrete\"\nchange = \"{change}\"\n")
    };
    let schema = format!(
        "version = 2\n[label]\ncolumn = \"pay\"\nat_least = 6000\n{}{}{}{}",
        feature("age", "never"),
        feature("income", "increase"),
        feature("debt", "decrease"),
        feature("hours", "free")
    );
    let columns =
        ["age", "income", "debt", "hours"].map(|name| format!("{{ feature = \"{name}\", as = \"number\" }}"));
    let inputs = format!("[[input]]\nname = \"X\"\ncolumns = [{}]", columns.join(", "));
    let schema = par_data::Schema::parse(&schema, "s.toml").expect("a schema");
    let builder = par_fit::ModelBuilder::new(schema, quick());
    let builder = builder.with_classifier(file.to_vec(), Inputs::parse(&inputs).expect("inputs"));
    let model = builder.fit(|| Ok(table(&text))).expect("a fit");
    assert!(model.card().held_out_r2.expect("labels") > 0.5);
    let exact = Request { method: Method::Exact, ..Request::default() };
    let Answer::Found(found) = answer(&model, &["40", "20", "6", "38"], &exact).expect("a row") else {
        panic!("more income is enough")
    };
    let way = &found.ways[0];
    let cells: Vec<&str> = way.cells.iter().map(String::as_str).collect();
    assert_eq!(model.score(&cells), Ok(way.probability));
    assert!(way.probability >= 6000.0 && way.gap == Some(0.0), "{way:?}");
    assert_eq!(
        model.scale(),
        ScoreScale::Number { center: 0.0, spread: 2048.0, side: par_data::schema::Side::AtLeast }
    );
}

#[test]
fn labels_that_are_no_numbers_or_all_on_one_side_are_refused() {
    let error =
        |rows: &str, config: Config| fit(SCHEMA, rows, config).expect_err("nothing to learn").to_string();
    let header = "skill,job,pay\n";
    for cell in ["", "NaN", "much", "inf"] {
        assert_eq!(
            error(&format!("{header}1,a,900\n2,b,{cell}\n"), quick()),
            format!(
                "t.csv, line 3, column `pay`: expected a finite number, the label, found `{cell}`\n\
                 hint: correct the cell, or leave out rows without a label"
            )
        );
    }
    assert_eq!(
        error(&format!("{header}1,a,900\n2,b,901\n"), quick()),
        "the label of every training row is below 2,500 EUR, expected rows on both sides\n\
         hint: choose another number under `[label]` in the schema"
    );
    let favourable = Config { favourable: Some(vec!["900".into()]), ..quick() };
    assert_eq!(
        error(&rows(), favourable),
        "the label is a number, which has no classes\nhint: change `at_least` under `[label]` in the schema"
    );
    let mut youden = quick();
    youden.classifier.threshold = Threshold::Youden;
    assert!(matches!(fit(SCHEMA, &rows(), youden), Err(Error::Config(_))));
}

#[test]
fn a_set_of_classes_can_be_accepted() {
    let schema = fitting::SCHEMA.replace("favourable = \"yes\"", "favourable = [\"later\", \"yes\"]");
    let model = fit(&schema, &fitting::rows(), quick()).expect("a fit");
    assert_eq!(model.card().classes, ["yes, later", "no"]);
    let joined = Config { favourable: Some(vec!["later, no".into()]), ..quick() };
    let model = fit(fitting::SCHEMA, &fitting::rows(), joined).expect("a fit");
    assert_eq!(model.card().classes, ["no, later", "yes"]);
    assert_eq!(model.favourable(), ["no", "later"]);
    let all = Config { favourable: Some(vec!["no".into(), "yes".into(), "later".into()]), ..quick() };
    assert_eq!(
        fit(fitting::SCHEMA, &fitting::rows(), all).expect_err("nobody is denied").to_string(),
        "all 3 classes are favourable, so that nobody is denied\nhint: leave out those that a person does not want"
    );
}
