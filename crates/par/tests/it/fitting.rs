//! From odd tables to models.

use par_answer::{Answer, Request, Solver, answer, words};
use par_circuit::Stop;
use par_data::german_credit;
use par_fit::{ModelBuilder, refit};
use par_model::classifier::Threshold;
use par_model::{Config, Model};

use crate::{fit, german, quick};

pub(crate) const SCHEMA: &str = r#"
[label]
column = "decision"
classes = ["no", "yes", "later"]
favourable = "yes"

[[feature]]
name = "savings"
kind = "continuous"
missing = true

[[feature]]
name = "plan"
kind = "nominal"
values = ["a", "b", "c"]
missing = true

[[feature]]
name = "country"
kind = "nominal"
values = ["here"]
"#;

/// The decision is `yes` for savings above 50 or plan `c`; every third of the others gets `later`.
pub(crate) fn rows() -> String {
    let mut text = String::from("savings,plan,country,decision\n");
    for row in 0..300_u32 {
        let (savings, plan) = ((row * 37) % 100, ["a", "b", "c"][(row as usize * 7) % 3]);
        let decision = match savings > 50 || plan == "c" {
            true => "yes",
            false if row % 3 == 0 => "later",
            false => "no",
        };
        let savings = if row % 23 == 0 { String::new() } else { savings.to_string() };
        let plan = if row % 29 == 0 { "" } else { plan };
        text += &format!("{savings},{plan},here,{decision}\n");
    }
    text
}

#[test]
fn missing_values_constant_columns_and_a_third_class_can_be_fitted() {
    let model = fit(SCHEMA, &rows(), quick()).expect("a fit");
    assert_eq!(model.card().classes, ["yes", "no, later"]);
    let Answer::Found(found) = answer(&model, &["10", "", "here"], &Request::default()).expect("a row")
    else {
        panic!("more savings are enough");
    };
    let [change] = found.ways[0].changes.as_slice() else { panic!("one change is enough: {found:?}") };
    assert_eq!(change.feature, 0, "an unknown plan stays unknown");
    assert_eq!(found.ways[0].cells[1], "");
    let accepted = answer(&model, &["90", "", "here"], &Request::default()).expect("a row");
    assert!(matches!(accepted, Answer::Accepted { .. }));
}

#[test]
fn another_class_can_be_the_target() {
    let config = Config { favourable: Some(vec!["later".into()]), ..quick() };
    let model = fit(SCHEMA, &rows(), config).expect("a fit");
    assert_eq!(model.card().classes, ["later", "no, yes"]);
    let error = fit(SCHEMA, &rows(), Config { favourable: Some(vec!["latr".into()]), ..quick() })
        .expect_err("no class");
    assert_eq!(error.to_string(), "the label has no class `latr`, did you mean `later`?");
}

#[test]
fn tables_labels_and_settings_without_a_fit_are_refused() {
    let header = "savings,plan,country,decision\n";
    let error = |rows: &str| fit(SCHEMA, rows, quick()).expect_err("nothing to learn").to_string();
    assert!(error(header).contains("no rows"), "{}", error(header));
    let one_class = format!("{header}1,a,here,yes\n2,b,here,yes\n");
    assert!(error(&one_class).contains("every training row"), "{}", error(&one_class));
    let unlabelled =
        SCHEMA.split("[[feature]]").skip(1).map(|part| format!("[[feature]]{part}")).collect::<String>();
    let error = fit(&unlabelled, &rows(), quick()).expect_err("no label").to_string();
    assert!(error.starts_with("the schema names no label"), "{error}");
    let mut config = quick();
    config.circuits.hclt.states = 0;
    let error = fit(SCHEMA, &rows(), config).expect_err("no states").to_string();
    assert!(error.starts_with("`circuits`: ") && error.contains("states"), "{error}");
    let mut config = quick();
    config.answers.price = -1.0;
    let error = fit(SCHEMA, &rows(), config).expect_err("a negative price").to_string();
    assert_eq!(error, "`answers.price` is -1, expected a finite number, at least 0");
    for share in [-0.1, 1.5, f64::NAN] {
        let mut config = quick();
        config.answers.min_percentile = share;
        let error = fit(SCHEMA, &rows(), config).expect_err("no share").to_string();
        assert_eq!(error, format!("`answers.min_percentile` is {share}, expected 0 to 1"));
    }
}

#[test]
fn youden_chooses_the_threshold_on_held_out_rows() {
    let mut config = quick();
    config.classifier.threshold = Threshold::Youden;
    let model =
        ModelBuilder::new(german_credit::schema(), config).fit(|| Ok(german_credit::table())).expect("a fit");
    let threshold = model.threshold();
    // Seven in ten rows are good risks, so the best balance of both errors is above one half.
    assert!((0.5..0.95).contains(&threshold), "{threshold}");
    assert!(((threshold * 100.0).round() / 100.0 - threshold).abs() < 1e-9, "{threshold} is on the grid");
}

/// Rows held out to choose the threshold may have categories that no other row has.
#[test]
fn youden_skips_rows_with_categories_that_only_held_out_rows_have() {
    let schema = SCHEMA.replace("values = [\"a\", \"b\", \"c\"]\nmissing = true", "");
    let mut rows = String::from("savings,plan,country,decision\n");
    for row in 0..200 {
        let plan = if row % 10 == 0 { format!("rare {row}") } else { "usual".to_string() };
        rows += &format!("{row},{plan},here,{}\n", if row > 90 { "yes" } else { "no" });
    }
    let mut config = quick();
    config.classifier.threshold = Threshold::Youden;
    let model = fit(&schema, &rows, config).expect("a fit");
    assert_eq!(model.discretizer().domains()[1].cardinality(), 21);
}

#[test]
fn a_fit_without_changeable_features_is_refused() {
    let error = "nothing can change: every feature is immutable\n\
                 hint: let one change in the schema, or take it out of the configuration's `immutable`";
    let names = ["savings", "plan", "country"];
    let immutable = Some(names.map(String::from).to_vec());
    let refused = fit(SCHEMA, &rows(), Config { immutable, ..quick() }).expect_err("nothing can change");
    assert_eq!(refused.to_string(), error);
    let schema = SCHEMA.replace("[[feature]]", "[[feature]]\nimmutable = true");
    assert_eq!(fit(&schema, &rows(), quick()).expect_err("nothing can change").to_string(), error);
    let model = fit(SCHEMA, &rows(), quick()).expect("a fit");
    let refused = refit(&model, &names, &mut |_| {}, Stop::never()).expect_err("nothing can change");
    assert_eq!(refused.to_string(), error);
}

#[test]
fn cells_out_of_range_are_refused_and_values_unseen_in_training_are_warned_about() {
    let schema = SCHEMA.replace("kind = \"continuous\"", "kind = \"continuous\"\nrange = [0, 1000]");
    let model = fit(&schema, &rows(), quick()).expect("a fit");
    assert_eq!(
        answer(&model, &["-48", "a", "here"], &Request::default()).expect_err("no such savings").to_string(),
        "column `savings`: expected a number from 0 to 1000, found `-48`\n\
         hint: correct the cell, or the feature's `range` in the schema"
    );
    assert_eq!(words::warnings(&model, &["10", "a", "here"]), Vec::<String>::new());
    let _ = answer(&model, &["500", "d", "here"], &Request::default()).expect("an answer");
    assert_eq!(
        words::warnings(&model, &["500", "d", "here"]),
        [
            "`savings` is 500, outside the training rows' 0 to 100, and counts as the nearest value among them",
            "`plan` is d, which training never saw, and counts as unknown",
        ]
    );
    // Ranges and observed values are stored in the file.
    let opened = Model::from_bytes(&model.to_bytes()).expect("its own bytes");
    assert_eq!(words::warnings(&opened, &["500", "a", "here"]).len(), 1);
    assert!(answer(&opened, &["-48", "a", "here"], &Request::default()).is_err());

    let outside = rows().replacen("\n37,", "\n1e17,", 1);
    assert_eq!(
        fit(&schema, &outside, quick()).expect_err("no such savings").to_string(),
        "t.csv, line 3, column `savings`: expected a number from 0 to 1000, found `1e17`\n\
         hint: correct the cell, or the feature's `range` in the schema"
    );
}

#[test]
fn the_classifier_distinguishes_categories_that_are_the_same_number() {
    let schema = SCHEMA.replace("values = [\"a\", \"b\", \"c\"]\nmissing = true", "");
    let mut rows = String::from("savings,plan,country,decision\n");
    for row in 0..400_usize {
        let plan = ["1", "01", "1.1", "1.10"][row * 7 % 4];
        let decision = if matches!(plan, "1" | "1.10") { "yes" } else { "no" };
        rows += &format!("{},{plan},here,{decision}\n", row * 37 % 100);
    }
    let model = fit(&schema, &rows, quick()).expect("a fit");
    assert_eq!(model.discretizer().domains()[1].cardinality(), 4);
    assert!(model.card().auc.is_some_and(|auc| auc > 0.98), "{:?}", model.card().auc);
}

#[test]
fn the_same_seed_makes_the_same_bytes_on_any_number_of_threads() {
    let on_threads = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let method = ModelBuilder::new(german_credit::schema(), Config { seed, ..quick() });
        pool.install(|| method.fit(|| Ok(german_credit::table())).expect("a fit")).to_bytes()
    };
    let one = on_threads(1, 3);
    assert!(one == on_threads(2, 3), "two threads make other bytes");
    assert!(one != on_threads(2, 4), "another seed makes the same bytes");
}

#[test]
fn a_model_can_be_fitted_anew_for_other_immutable_features_without_data() {
    let model = german();
    let other = refit(model, &["Duration", "Purpose"], &mut |_| {}, Stop::never()).expect("a refit");
    let locked = ["Duration", "Purpose"].map(|name| model.schema().position(name).expect("a feature"));
    for cells in crate::denied(20) {
        let answer = Solver::new(&other).answer(&cells, &Request::default()).expect("its own row");
        let changes = answer.ways().iter().flat_map(|way| &way.changes);
        assert!(changes.into_iter().all(|change| !locked.contains(&change.feature)));
    }
    let error =
        refit(model, &["Durration"], &mut |_| {}, Stop::never()).expect_err("no such feature").to_string();
    assert!(error.contains("did you mean `Duration`?"), "{error}");
}
