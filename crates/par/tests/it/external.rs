//! External classifiers, and answers that they verify on the rows as written.

use std::path::PathBuf;
use std::sync::OnceLock;

use par_answer::{Answer, Method, Request, Solver, answer};
use par_circuit::Stop;
use par_data::schema::Step;
use par_data::{Schema, german_credit};
use par_fit::{Error, ModelBuilder, refit};
use par_model::classifier::inputs::Inputs;
use par_model::classifier::{DeployedClassifier, ExternalError, file_hash};
use par_model::{Config, Density, Model, Order, RowError};

use crate::{applicant, applicants, assert_legal, fitting, quick, some_methods, table};

/// A file made by `par-model/tests/fixtures/external/make.py`.
fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../par-model/tests/fixtures/external").join(name)
}

pub(crate) fn classifier(name: &str) -> (Vec<u8>, Inputs) {
    let inputs = std::fs::read_to_string(fixture(&format!("{name}.toml"))).expect("inputs");
    let file = std::fs::read(fixture(&format!("{name}.onnx"))).expect("a classifier");
    (file, Inputs::parse(&inputs).expect("inputs"))
}

fn fitted(schema: Schema, name: &str, config: Config) -> Result<Model, Error> {
    let (file, inputs) = classifier(name);
    let recourse = ModelBuilder::new(schema, config).with_classifier(file, inputs);
    recourse.fit(|| Ok(german_credit::table()))
}

/// German Credit, where every feature may change, with classifiers that scikit-learn trained: two networks, and
/// boosted trees.
pub(crate) fn models() -> &'static [Model; 3] {
    static MODELS: OnceLock<[Model; 3]> = OnceLock::new();
    let fitted = |name| fitted(german_credit::unconstrained_schema(), name, quick()).expect("a fit");
    MODELS.get_or_init(|| ["network", "flat", "boosting"].map(fitted))
}

/// The first people that a model denies.
pub(crate) fn denied(model: &Model, count: usize) -> impl Iterator<Item = Vec<&'static str>> {
    let is_denied = |cells: &Vec<&str>| model.score(cells).expect("its own row") < model.threshold();
    (0..applicants().1.rows()).map(applicant).filter(is_denied).take(count)
}

#[test]
fn every_way_is_accepted_by_the_external_classifier_as_written() {
    for model in models() {
        let mut solver = Solver::new(model);
        for (place, cells) in denied(model, 40).enumerate() {
            for &method in some_methods(place) {
                let request = Request { method, count: 2, ..Request::default() };
                let answer = solver.answer(&cells, &request).expect("its own row");
                assert!(method == Method::Generate || !answer.ways().is_empty(), "{method:?} finds nothing");
                for way in answer.ways() {
                    let written: Vec<&str> = way.cells.iter().map(String::as_str).collect();
                    let score = model.score(&written).expect("a row of the table");
                    assert!(score >= model.threshold() && score == way.probability, "{method:?}: {score}");
                    assert_legal(model, &cells, &request, way);
                }
            }
        }
    }
}

/// Steps, grids, transitions and rules look at values, which an external classifier reads.
#[test]
fn ways_keep_the_constraints_of_the_schema_on_values() {
    let model = fitted(german_credit::schema(), "network", quick()).expect("a fit");
    let [duration, amount] =
        ["Duration", "Credit amount"].map(|name| model.schema().position(name).expect("a feature"));
    let [months, amounts] = [duration, amount].map(|feature| model.schema().features()[feature].step);
    let keeps = |step: Step, from: f64, to: f64| {
        let (down, grid) = (step.down.expect("a step"), step.grid.expect("a grid"));
        to < from && to >= from - down && to % grid == 0.0
    };
    let mut solver = Solver::new(&model);
    let (mut found, mut shorter, mut smaller) = (0, 0, 0);
    for cells in denied(&model, 60) {
        for method in [Method::Refine, Method::Exact] {
            let request = Request { method, count: 3, ..Request::default() };
            for way in solver.answer(&cells, &request).expect("its own row").ways() {
                assert_legal(&model, &cells, &request, way);
                let moved = |feature: usize| -> Option<[f64; 2]> {
                    let is_changed = way.changes.iter().any(|change| change.feature == feature);
                    let numbers = [cells[feature], &way.cells[feature]];
                    is_changed.then(|| numbers.map(|text| text.parse().expect("a number")))
                };
                if let Some([from, to]) = moved(duration) {
                    assert!(keeps(months, from, to), "{from} to {to} months");
                    assert!(moved(amount).is_some(), "a shorter loan comes with a smaller one");
                    shorter += 1;
                }
                if let Some([from, to]) = moved(amount) {
                    assert!(keeps(amounts, from, to), "{from} to {to} DM");
                    smaller += 1;
                }
                found += 1;
            }
        }
    }
    assert!(found > 60 && shorter > 5 && smaller > 10, "{found}: {shorter} shorter, {smaller} smaller");
}

#[test]
fn a_change_is_a_range_only_if_the_classifier_accepts_all_of_it() {
    let (mut ranges, mut numbers) = (0, 0);
    for model in &models()[..2] {
        for cells in denied(model, 150) {
            let answer = answer(model, &cells, &Request::default()).expect("its own row");
            let Some(way) = answer.ways().first() else { continue };
            let named: Vec<(usize, [f64; 2])> =
                way.changes.iter().filter_map(|change| Some((change.feature, change.range?))).collect();
            for change in &way.changes {
                let number = change.value.parse::<f64>().ok();
                match (change.range, number) {
                    (Some([low, high]), Some(number)) => assert!((low..=high).contains(&number)),
                    (Some(range), None) => panic!("{} has the range {range:?}", change.value),
                    (None, number) => numbers += usize::from(number.is_some()),
                }
            }
            ranges += named.len();
            // Moves all numbers at once, each to its own place in its range.
            for draw in 0..25_usize {
                let mut written = way.cells.clone();
                for (place, (feature, [low, high])) in named.iter().enumerate() {
                    let share = [0.0, 0.25, 0.5, 0.75, 1.0][draw / 5_usize.pow(place as u32 % 2) % 5];
                    written[*feature] = (low + share * (high - low)).to_string();
                }
                let written: Vec<&str> = written.iter().map(String::as_str).collect();
                let score = model.score(&written).expect("a row of the table");
                assert!(score >= model.threshold(), "{written:?} is denied");
            }
        }
    }
    assert!(ranges > 10 && numbers > 10, "{ranges} ranges, {numbers} numbers");
}

#[test]
fn everything_from_the_least_of_all_changes_on_is_enough() {
    let (mut tightened, mut crossing) = (0, 0);
    for model in models() {
        for (place, cells) in denied(model, 90).enumerate() {
            let order = Order::ALL[place % 2];
            let request = Request { order: Some(order), ..Request::default() };
            let answer = answer(model, &cells, &request).expect("its own row");
            let Some(way) = answer.ways().first() else { continue };
            let number = |text: &str| text.parse::<f64>().expect("a number");
            let ends: Vec<(usize, [f64; 2])> = (way.changes.iter())
                .filter_map(|change| Some((change.feature, [change.least?, number(&change.value)])))
                .collect();
            for (feature, [least, value]) in &ends {
                let own = number(cells[*feature]);
                assert!(
                    (own < *least && least < value) || (own > *least && least > value),
                    "{least} is no less"
                );
                let code = |number: f64| model.discretizer().domains()[*feature].code_of_number(number).0;
                crossing += usize::from(code(*least) != code(*value));
                tightened += 1;
            }
            for draw in 0..25_usize {
                let mut written = way.cells.clone();
                for (place, (feature, [least, value])) in ends.iter().enumerate() {
                    let share = [0.0, 0.25, 0.5, 0.75, 1.0][draw / 5_usize.pow(place as u32 % 2) % 5];
                    written[*feature] = (least + share * (value - least)).to_string();
                }
                let written: Vec<&str> = written.iter().map(String::as_str).collect();
                let score = model.score(&written).expect("a row of the table");
                let needed =
                    if way.has_margin { model.threshold() + model.margin() } else { model.threshold() };
                assert!(score >= needed, "{written:?} has {score}");
            }
        }
    }
    assert!(tightened > 50 && crossing > 10, "{tightened} are tightened, {crossing} across bins");
}

#[test]
fn a_model_stores_its_external_classifier_and_answers_the_same_after_reading() {
    for (model, name) in models().iter().zip(["network", "flat", "boosting"]) {
        let bytes = model.to_bytes();
        let again = Model::from_bytes(&bytes).expect("a model");
        assert!(again.to_bytes() == bytes);
        assert_eq!(again.classifier().hash(), file_hash(&classifier(name).0));
        for cells in denied(model, 10) {
            assert_eq!(
                answer(&again, &cells, &Request::default()),
                answer(model, &cells, &Request::default())
            );
        }
        let refitted = refit(&again, &["Age"], &mut |_| {}, Stop::never()).expect("made without data");
        assert_eq!(refitted.classifier().hash(), model.classifier().hash());
    }
}

#[test]
fn the_same_classifier_makes_the_same_bytes_on_any_number_of_threads() {
    let fit = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| fitted(german_credit::schema(), "boosting", quick()).expect("a fit").to_bytes())
    };
    assert!(fit(1) == fit(3));
}

#[test]
fn trees_have_a_surrogate_whose_agreement_is_measured() {
    let [network, _, boosting] = models();
    assert!(network.card().agreement.is_none() && network.classifier().network().is_none());
    let agreement = boosting.card().agreement.expect("a surrogate");
    assert!(agreement.over > 1000 && agreement.mean.expect("rows") > 0.85, "{agreement:?}");
}

#[test]
fn the_classifier_of_a_model_can_be_replaced() {
    let [network, ..] = models();
    let (file, inputs) = classifier("boosting");
    let other = network.with_classifier(file, inputs).expect("a classifier of the same table");
    assert_ne!(other.classifier().hash(), network.classifier().hash());
    let mut found = 0;
    for cells in denied(&other, 20) {
        for way in answer(&other, &cells, &Request::default()).expect("its own row").ways() {
            let written: Vec<&str> = way.cells.iter().map(String::as_str).collect();
            assert!(other.score(&written).expect("a row of the table") >= other.threshold());
            found += 1;
        }
    }
    assert!(found > 15, "{found}");

    // Training a generator needs gradients, so the trees get a surrogate first.
    let refitted = refit(&other, &["Age"], &mut |_| {}, Stop::never()).expect("made without data");
    assert!(refitted.card().agreement.is_some() && refitted.classifier().network().is_some());
}

/// German Credit with the scores of a classifier in a last column, or with its decisions.
fn scored(decisions: bool) -> String {
    let scores = std::fs::read_to_string(fixture("boosting.csv")).expect("scores");
    let cell = |score: &str| match score.parse::<f64>() {
        Ok(score) if decisions => if score >= 0.5 { "Good" } else { "Bad" }.to_string(),
        _ => score.to_string(),
    };
    let text = include_str!("../../../par-data/data/german_credit.csv");
    text.lines().zip(scores.lines()).map(|(line, score)| format!("{line},{}\n", cell(score))).collect()
}

#[test]
fn a_surrogate_is_trained_on_a_column_of_scores_or_decisions_and_answers_are_unverified() {
    for decisions in [false, true] {
        let text = scored(decisions);
        let recourse = ModelBuilder::new(german_credit::schema(), quick()).with_scores("score", 22);
        let model = recourse.fit(|| Ok(table(&text))).expect("a fit");
        assert!(!model.classifier().verifies());
        let agreement = model.card().agreement.expect("a surrogate");
        assert!((100..300).contains(&agreement.over), "{agreement:?}");
        // Eight in ten are accepted, so accepting everyone would agree that often.
        assert!(agreement.mean.expect("rows") > 0.86, "{agreement:?}");
        let model = Model::from_bytes(&model.to_bytes()).expect("a model");
        let cells = denied(&model, 1).next().expect("a denied person");
        let Ok(Answer::Found(found)) = answer(&model, &cells, &Request::default()) else {
            panic!("there is a way")
        };
        assert!(!found.verified);
        assert!(
            matches!(model.classifier(), DeployedClassifier::Surrogate { column, .. } if column == "score")
        );
    }
}

/// If the classes are called 0 and 1, a column of 0 and 1 holds classes, not scores: here 0 is favourable.
#[test]
fn decisions_that_are_numbers_are_taken_as_classes() {
    let classes =
        |text: &str| text.replace("\"no\", \"yes\", \"later\"", "\"1\", \"0\"").replace("\"yes\"", "\"0\"");
    let schema = Schema::parse(&classes(fitting::SCHEMA), "s.toml").expect("a schema");
    let line = |line: &str| match line.rsplit_once(',').expect("a label") {
        (cells, "decision") => format!("{cells},decision,said\n"),
        (cells, "yes") => format!("{cells},0,0\n"),
        (cells, _) => format!("{cells},1,1\n"),
    };
    let rows: String = fitting::rows().lines().map(line).collect();
    let recourse = ModelBuilder::new(schema, quick()).with_scores("said", 4);
    let model = recourse.fit(|| Ok(table(&rows))).expect("a fit");
    assert!(model.card().auc.expect("labels") > 0.9, "{:?}", model.card().auc);
    assert!(model.score(&["90", "c", "here"]).expect("a row") > 0.5);
    assert!(model.score(&["10", "a", "here"]).expect("a row") < 0.5);
}

#[test]
fn a_cell_that_is_not_a_score_is_reported() {
    let scores = scored(false);
    let first =
        format!(",{}\n", scores.lines().nth(1).and_then(|line| line.rsplit(',').next()).expect("a score"));
    let text = scores.replacen(&first, ",1.5\n", 1);
    let recourse = ModelBuilder::new(german_credit::schema(), quick()).with_scores("score", 22);
    let error = recourse.fit(|| Ok(table(&text))).expect_err("no score").to_string();
    assert!(error.starts_with("t.csv, line 2, column `score`: expected a score from 0 to 1"), "{error}");
}

#[test]
fn circuits_of_decisions_need_no_label() {
    let text = include_str!("../../../par-data/data/german_credit.csv");
    let unlabelled: String =
        text.lines().map(|line| line.rsplit_once(',').expect("a label").0.to_string() + "\n").collect();
    let (file, inputs) = classifier("network");
    let fit = |density: Density| {
        let config = Config { density, ..quick() };
        let recourse = ModelBuilder::new(german_credit::schema(), config);
        recourse.with_classifier(file.clone(), inputs.clone()).fit(|| Ok(table(&unlabelled)))
    };
    let model = fit(Density::Decisions).expect("a fit");
    assert_eq!(model.card().classes, ["accepted", "denied"]);
    assert_eq!(Some(model.card().rows[1]), model.card().denies);
    assert_eq!(model.card().auc, None);
    assert!(fit(Density::Labels).is_err());
}

#[test]
fn decisions_that_are_all_the_same_are_refused() {
    let mut config = Config { density: Density::Decisions, ..quick() };
    config.classifier.threshold = par_model::classifier::Threshold::Fixed(1e-9);
    let error =
        fitted(german_credit::schema(), "network", config).expect_err("every row is accepted").to_string();
    assert!(error.starts_with("the classifier accepts every training row"), "{error}");
}

#[test]
fn a_number_beyond_single_precision_is_refused() {
    let [network, ..] = models();
    let mut cells = applicant(1);
    cells[4] = "1e200";
    let error = answer(network, &cells, &Request::default()).expect_err("too large for single precision");
    assert!(matches!(error, RowError::Cell(_)), "{error}");
}

#[test]
fn an_invalid_classifier_is_refused() {
    let (file, inputs) = classifier("network");
    let refused = |file: &[u8]| {
        let recourse = ModelBuilder::new(german_credit::schema(), quick())
            .with_classifier(file.to_vec(), inputs.clone());
        match recourse.fit(|| Ok(german_credit::table())) {
            Err(Error::External(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(refused(b"not a model"), ExternalError::Onnx(_)));
    assert!(matches!(refused(b""), ExternalError::Onnx(_)));
    for length in (0..file.len()).step_by(file.len() / 23) {
        refused(&file[..length]);
    }
    let (flat, _) = classifier("flat");
    assert!(matches!(refused(&flat), ExternalError::Inputs(_)), "the inputs are another classifier's");
}
