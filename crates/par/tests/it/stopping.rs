//! Stopping a fit.

use std::sync::atomic::{AtomicUsize, Ordering};

use par_circuit::Stop;
use par_data::{Schema, german_credit};
use par_fit::{Error, ModelBuilder, Stage, refit};
use par_model::classifier::Threshold;
use par_model::{Config, Model};

use crate::{external, fitting, german, quick, table};

/// Runs `work` with a stop that is set after `checks` checks, and counts the checks that it made.
fn stopped_after<R>(checks: usize, work: impl Fn(Stop<'_>) -> R) -> (R, usize) {
    let made = AtomicUsize::new(0);
    let is_over = || made.fetch_add(1, Ordering::Relaxed) >= checks;
    (work(Stop::when(&is_over)), made.into_inner())
}

/// All parts of a fit, each as short as possible.
fn quicker() -> Config {
    let mut config = quick();
    config.classifier.epochs = 3;
    config.circuits.em.max_passes = 5;
    config.generator.examples = 100;
    config.generator.steps = 10;
    config
}

/// Stops `work` at many moments and checks that it ends soon, with the right error; a stop that is never set changes
/// nothing.
fn check(name: &str, work: impl Fn(Stop<'_>) -> Result<Model, Error>) {
    let (watched, all) = stopped_after(usize::MAX, &work);
    let alone = work(Stop::never()).expect("a model");
    assert!(watched.expect("a model").to_bytes() == alone.to_bytes(), "{name}");
    for checks in [0, 1, 2, 10].into_iter().chain((1..8).map(|part| all * part / 8)).chain([all - 1]) {
        let (stopped, made) = stopped_after(checks, &work);
        assert!(matches!(stopped, Err(Error::Stopped(_))), "{name}, {checks} of {all}: {stopped:?}");
        // Tasks that other threads have started may check once more.
        assert!(made <= checks + 100, "{name}: {made} for {checks} of {all}");
    }
}

fn fit(builder: &ModelBuilder, rows: &str, stop: Stop<'_>) -> Result<Model, Error> {
    let columns = Schema::parse(fitting::SCHEMA, "s.toml").expect("a schema");
    let columns = columns.columns("t.csv", table(rows).columns()).expect("its own columns");
    builder.fit_rows(&columns, || Ok(table(rows).batches(50)), &mut |_| {}, stop)
}

#[test]
fn a_fit_stops_soon_after_any_check() {
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
fn a_fit_with_an_external_classifier_stops_too() {
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
fn a_stopped_fit_reports_no_other_error() {
    // The rows read before the stop would be refused.
    let schema = Schema::parse(fitting::SCHEMA, "s.toml").expect("a schema");
    let error = fit(&ModelBuilder::new(schema, quick()), &fitting::rows(), Stop::when(&|| true));
    assert_eq!(error.expect_err("stopped").to_string(), "stopped before it was done");
}

#[test]
fn the_progress_callback_can_stop_the_fit() {
    let stages = AtomicUsize::new(0);
    let mut count = |stage: Stage<'_>| {
        if matches!(stage, Stage::Generator(_)) {
            stages.fetch_add(1, Ordering::Relaxed);
        }
    };
    let third_step = || stages.load(Ordering::Relaxed) == 3;
    let stopped = refit(german(), &["Age"], &mut count, Stop::when(&third_step));
    assert!(matches!(stopped, Err(Error::Stopped(_))));
    assert_eq!(stages.into_inner(), 3);
}
