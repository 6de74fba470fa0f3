//! Fits that are stopped from outside.

use std::sync::atomic::{AtomicUsize, Ordering};

use par_circuit::Stop;
use par_data::{Schema, german_credit};
use par_fit::{Error, ModelBuilder, Stage, refit};
use par_model::classifier::Threshold;
use par_model::{Config, Model};

use crate::{external, fitting, german, quick, table};

/// Work that is told to stop when it asks after `questions` others, and how often it asked.
fn stopped_after<R>(questions: usize, work: impl Fn(Stop<'_>) -> R) -> (R, usize) {
    let asked = AtomicUsize::new(0);
    let is_over = || asked.fetch_add(1, Ordering::Relaxed) >= questions;
    (work(Stop::when(&is_over)), asked.into_inner())
}

/// All parts of a fit, each as short as it can be.
fn quicker() -> Config {
    let mut config = quick();
    config.classifier.epochs = 3;
    config.circuits.em.max_passes = 5;
    config.generator.examples = 100;
    config.generator.steps = 10;
    config
}

/// Stops work at many moments, and sees that it ends soon and as it should; and that being asked changes nothing.
fn check(name: &str, work: impl Fn(Stop<'_>) -> Result<Model, Error>) {
    let (watched, all) = stopped_after(usize::MAX, &work);
    let alone = work(Stop::never()).expect("a model");
    assert!(watched.expect("a model").to_bytes() == alone.to_bytes(), "{name}");
    for questions in [0, 1, 2, 10].into_iter().chain((1..8).map(|part| all * part / 8)).chain([all - 1]) {
        let (stopped, asked) = stopped_after(questions, &work);
        assert!(matches!(stopped, Err(Error::Stopped(_))), "{name}, {questions} of {all}: {stopped:?}");
        // Whatever other threads had begun, or were about to, may ask once more.
        assert!(asked <= questions + 100, "{name}: {asked} for {questions} of {all}");
    }
}

fn fit(builder: &ModelBuilder, rows: &str, stop: Stop<'_>) -> Result<Model, Error> {
    let columns = Schema::parse(fitting::SCHEMA, "s.toml").expect("a schema");
    let columns = columns.columns("t.csv", table(rows).columns()).expect("its own columns");
    builder.fit_rows(&columns, || Ok(table(rows).batches(50)), &mut |_| {}, stop)
}

#[test]
fn a_fit_stops_soon_after_whichever_question_says_so() {
    let schema = Schema::parse(fitting::SCHEMA, "s.toml").expect("a schema");
    let mut config = quicker();
    check("a fixed threshold", |stop| {
        fit(&ModelBuilder::new(schema.clone(), config.clone()), &fitting::rows(), stop)
    });
    config.classifier.threshold = Threshold::Youden;
    check("a threshold to choose", |stop| {
        fit(&ModelBuilder::new(schema.clone(), config.clone()), &fitting::rows(), stop)
    });
    check("scores", |stop| {
        fit(&ModelBuilder::new(schema.clone(), quicker()).with_scores("decision", 3), &fitting::rows(), stop)
    });
}

#[test]
fn a_fit_around_an_external_classifier_stops_too() {
    let (file, inputs) = external::classifier("boosting");
    let builder = ModelBuilder::new(german_credit::schema(), quicker()).with_classifier(file, inputs);
    let columns = german_credit::table();
    let columns = german_credit::schema().columns("t.csv", columns.columns()).expect("its own columns");
    check("boosting", |stop| {
        builder.fit_rows(&columns, || Ok(german_credit::table().batches(100)), &mut |_| {}, stop)
    });
}

#[test]
fn a_refit_stops_too() {
    check("a refit", |stop| refit(german(), &["Age"], &mut |_| {}, stop));
}

#[test]
fn a_fit_says_that_it_was_stopped_and_nothing_else() {
    // The rows that are left when reading ends early would be refused.
    let schema = Schema::parse(fitting::SCHEMA, "s.toml").expect("a schema");
    let error = fit(&ModelBuilder::new(schema, quick()), &fitting::rows(), Stop::when(&|| true));
    assert_eq!(error.expect_err("stopped").to_string(), "stopped before it was done");
}

#[test]
fn whoever_hears_of_a_stage_can_stop_the_fit_there() {
    let stages = AtomicUsize::new(0);
    let mut tell = |stage: Stage<'_>| {
        if matches!(stage, Stage::Generator(_)) {
            stages.fetch_add(1, Ordering::Relaxed);
        }
    };
    let third_step = || stages.load(Ordering::Relaxed) == 3;
    let stopped = refit(german(), &["Age"], &mut tell, Stop::when(&third_step));
    assert!(matches!(stopped, Err(Error::Stopped(_))));
    assert_eq!(stages.into_inner(), 3);
}
