//! Calibrates the weights of the paper's loss, which it does not publish, to its published full rows.
//!
//! Bins, classifier and circuits of a fold are learned once; a trial trains another generator. Its most probable rows for
//! denied people are compared with what is published of PAR before local search with the complete objective: its row of
//! table 1 and the appendix's row "full". No ablation takes part, so the ablations can be read afterwards.
//!
//! The people are denied training rows that are no factuals: nobody of whom a figure is reported chooses a weight.
//!
//! Weights fit if their misfit is at most [`BAR`] published deviations. The published rows contradict each other a little,
//! so that no row at all fits them without a misfit.
//!
//! # Paper
//! "Total Objective" and "Hyperparameter Tuning": settings are chosen table by table, so weights are too. Only ratios of
//! weights matter to Adam, and λ_ppt multiplies α and λ₊: so λ_ppt and λ₊ stay 1.

use std::sync::atomic::{AtomicUsize, Ordering};

use par_answer::Solver;
use par_circuit::{Dataset, Stop};
use par_data::Batch;
use par_fit::with_config;
use par_model::Model;
use par_model::generator::LossConfig;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::case::{Case, Factual};
use crate::error::Error;
use crate::measures::{AnswerMeasure, AnswerMeasures, Measurer, code_units};
use crate::paper::{self, Benchmark};

/// Trials that run at the same time. A generation ends before the next is drawn, so that the result does not depend on
/// the number of threads.
const GENERATION: usize = 8;
/// The second half of the trials steps from so many of the best.
const PARENTS: usize = 4;
/// A step, as a share of a setting's range.
const STEP: f64 = 0.12;
/// Generators are trained on so many folds, the first ones: more trials are worth more than more folds.
const FOLDS: usize = 2;
/// The deviation of a published mean that has none, or a smaller one.
const LEAST_DEVIATION: f64 = 0.02;
/// Weights fit up to this misfit. Classifier and people differ from the paper's, so that nothing can fit closely.
pub const BAR: f64 = 2.0;

/// A calibrated setting: its name, its range, in which it is log-uniform, and its place.
type Setting = (&'static str, [f64; 2], fn(&mut LossConfig) -> &mut f64);

/// All calibrated settings.
const SETTINGS: [Setting; 6] = [
    ("validity", [0.05, 50.0], |loss| &mut loss.validity),
    ("alpha", [0.1, 0.95], |loss| &mut loss.alpha),
    ("denied", [0.01, 3.0], |loss| &mut loss.denied),
    ("sparsity", [0.01, 10.0], |loss| &mut loss.sparsity),
    ("entropy", [0.001, 1.0], |loss| &mut loss.entropy),
    ("budget", [1.0, 12.0], |loss| &mut loss.budget),
];

/// A search for the weights of one of the paper's tables.
#[derive(Clone, Copy, Debug)]
pub struct Calibrate<'c> {
    /// The case; its preset is the first trial.
    pub case: &'c Case,
    /// The number of trials, at least 1.
    pub trials: usize,
    /// The most people of a fold.
    pub people: usize,
    /// The seed of the search; generators have the configuration's.
    pub seed: u64,
}

/// Weights, and how far from the published rows they lead.
#[derive(Clone, Debug)]
pub struct CalibrationTrial {
    /// Its number; the start is 0.
    pub number: usize,
    /// The weights.
    pub loss: LossConfig,
    /// The measures over all people.
    pub row: FullRow,
    /// The root of the mean squared difference from the published means, in their deviations.
    pub misfit: f64,
}

/// The measures of a generator's most probable rows, in this order.
pub const MEASURES: [&str; 5] = ["validity", "NLL", "score", "similarity, codes", "sparsity"];

/// [`MEASURES`] by their names in figures.
pub(crate) const FULL_ROW: [AnswerMeasure; 5] = [
    ("validity", |measured| f64::from(u8::from(measured.valid))),
    ("nll", |measured| measured.nll),
    ("score", |measured| measured.score),
    ("similarity_codes", |measured| measured.similarity_codes),
    ("sparsity", |measured| measured.sparsity),
];

/// The means of [`MEASURES`].
pub type FullRow = [f64; 5];

/// A place in [`MEASURES`], the published mean and its deviation.
type Aim = (usize, [f64; 2]);

/// The part of a fold that all trials share.
struct CalibrationFold {
    model: Model,
    code_units: Vec<f64>,
    people: Vec<Factual>,
}

impl Calibrate<'_> {
    /// Runs all trials and returns them, the best first. `on_trial` is told how many have ended.
    ///
    /// # Errors
    /// When nothing is published of the case, a model cannot be fitted, or nobody is denied.
    pub fn run(&self, on_trial: &(dyn Fn(usize) + Sync)) -> Result<Vec<CalibrationTrial>, Error> {
        let case = self.case;
        let problem =
            |problem: &str| Error::Folds { origin: case.name.clone(), problem: problem.to_string() };
        let aims = paper::benchmark(&case.name).map(aims).filter(|aims| !aims.is_empty());
        let aims = aims
            .ok_or_else(|| problem("is none of the paper's tables, so there is nothing to calibrate to"))?;
        let folds: Vec<CalibrationFold> =
            case.folds().par_iter().take(FOLDS).map(|fold| self.fold(fold)).collect::<Result<_, _>>()?;
        if folds.iter().all(|fold| fold.people.is_empty()) {
            return Err(problem(
                "no training row is denied and no factual, so there is nobody to calibrate with",
            ));
        }
        let mut trials: Vec<CalibrationTrial> = Vec::with_capacity(self.trials);
        let done = AtomicUsize::new(0);
        while trials.len() < self.trials.max(1) {
            let numbers = trials.len()..(trials.len() + GENERATION).min(self.trials.max(1));
            let drawn: Vec<(usize, LossConfig)> =
                numbers.map(|number| (number, self.draw(number, &trials))).collect();
            let measured = drawn.into_par_iter().map(|(number, loss)| {
                let row = self.measure(&folds, &loss)?;
                on_trial(done.fetch_add(1, Ordering::Relaxed) + 1);
                Ok(CalibrationTrial { number, loss, row, misfit: misfit(&aims, &row) })
            });
            trials.extend(measured.collect::<Result<Vec<_>, Error>>()?);
            // Stable: the first of equals stays first.
            trials.sort_by(|left, right| left.misfit.total_cmp(&right.misfit));
        }
        Ok(trials)
    }

    fn fold(&self, name: &str) -> Result<CalibrationFold, Error> {
        let case = self.case;
        let training = case.training(name);
        let model = case.fit(name, &case.paper_config(), &training)?;
        let codes = case.codes(name, &model, &training)?;
        let people = people(case, &training, &model, &codes, self.people);
        Ok(CalibrationFold { code_units: code_units(&codes), people, model })
    }

    /// The weights of a trial; `known` are the earlier ones, the best first.
    fn draw(&self, number: usize, known: &[CalibrationTrial]) -> LossConfig {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(number as u64);
        let mut loss = self.case.preset.clone();
        if number == 0 {
            return loss;
        }
        let is_near = 2 * number >= self.trials && !known.is_empty();
        if is_near {
            loss = known[number % known.len().min(PARENTS)].loss.clone();
        }
        for (_, [low, high], field) in SETTINGS {
            let value = field(&mut loss);
            let at = match is_near {
                true => (*value / low).ln() / (high / low).ln() + STEP * triangular(&mut rng),
                false => rng.random_range(0.0..1.0),
            };
            *value = rounded(low * (high / low).powf(at.clamp(0.0, 1.0)));
        }
        loss
    }

    /// The measures of a generator with these weights, over the people of all folds.
    fn measure(&self, folds: &[CalibrationFold], loss: &LossConfig) -> Result<FullRow, Error> {
        let case = self.case;
        let measured: Vec<Vec<AnswerMeasures>> = folds
            .par_iter()
            .zip(case.folds())
            .map(|(fold, name)| fold.measure(loss).map_err(|source| case.fit_error(name, source)))
            .collect::<Result<_, _>>()?;
        let measured: Vec<AnswerMeasures> = measured.concat();
        let mean =
            |(_, measure): AnswerMeasure| measured.iter().map(measure).sum::<f64>() / measured.len() as f64;
        Ok(FULL_ROW.map(mean))
    }
}

impl CalibrationTrial {
    /// The calibrated settings by name, and their values.
    pub fn settings(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let mut loss = self.loss.clone();
        SETTINGS.into_iter().map(move |(name, _, field)| (name, *field(&mut loss)))
    }
}

impl CalibrationFold {
    fn measure(&self, loss: &LossConfig) -> Result<Vec<AnswerMeasures>, par_fit::Error> {
        let mut config = self.model.config().clone();
        config.generator.loss = loss.clone();
        let model = with_config(&self.model, config, &mut |_| {}, Stop::never())?;
        Ok(measured(&model, &self.code_units, &self.people))
    }
}

/// Denied training rows that are no factuals, at most so many.
pub(crate) fn people(
    case: &Case,
    training: &Batch,
    model: &Model,
    codes: &Dataset,
    most: usize,
) -> Vec<Factual> {
    let is_denied = |row: &usize| model.probability(codes.row(*row)) < model.threshold();
    let others = (0..training.rows()).filter(|&row| !case.is_sampled(training, row));
    let denied: Vec<usize> = others.filter(is_denied).collect();
    // Evenly spaced, since a table may be sorted.
    let stride = denied.len().div_ceil(most.max(1)).max(1);
    denied.iter().step_by(stride).map(|&row| case.person(training, row)).collect()
}

/// The measures of a generator's most probable rows for training rows.
pub(crate) fn measured(model: &Model, code_units: &[f64], people: &[Factual]) -> Vec<AnswerMeasures> {
    let (mut solver, mut measurer) = (Solver::new(model), Measurer::new(model, code_units));
    let measured = people.iter().map(|person| {
        let cells = person.cells();
        let answer = solver.propose(&cells).expect("a training row can be read");
        let answer: Vec<&str> = answer.iter().map(String::as_str).collect();
        measurer.measure(&cells, &answer).expect("a proposal can be read")
    });
    measured.collect()
}

/// The published full rows of a table, before local search.
fn aims(benchmark: &Benchmark) -> Vec<Aim> {
    let similarity = |similarity: Option<[f64; 2]>| similarity.filter(|_| benchmark.similarity_is_of_codes);
    let table = benchmark.published.iter().filter(|row| row.method == "PAR");
    let table =
        table.map(|row| [Some([row.validity, 0.0]), row.nll, None, similarity(row.similarity), row.sparsity]);
    let full = benchmark.ablations.iter().filter(|row| row.name == "full");
    let full = full.map(|row| {
        [Some(row.validity), Some(row.nll), Some(row.score), similarity(row.similarity), row.sparsity]
    });
    let of_row = |row: [Option<[f64; 2]>; 5]| {
        row.into_iter().enumerate().filter_map(|(measure, aim)| Some((measure, aim?)))
    };
    table.chain(full).flat_map(of_row).collect()
}

/// The root of the mean squared difference from the aims, in their deviations.
fn misfit(aims: &[Aim], row: &FullRow) -> f64 {
    let squared = aims.iter().map(|(measure, [mean, deviation])| {
        ((row[*measure] - mean) / deviation.max(LEAST_DEVIATION)).powi(2)
    });
    (squared.sum::<f64>() / aims.len() as f64).sqrt()
}

/// The misfit of weights by the means of [`FULL_ROW`] over folds; `None` without one of them.
pub(crate) fn misfit_of(benchmark: &Benchmark, mean: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let mut row = FullRow::default();
    for (place, (name, _)) in row.iter_mut().zip(FULL_ROW) {
        *place = mean(name)?;
    }
    Some(misfit(&aims(benchmark), &row))
}

/// From −1 to 1, most often near 0.
fn triangular(rng: &mut impl Rng) -> f64 {
    rng.random_range(0.0..1.0) - rng.random_range(0.0..1.0)
}

/// To three significant digits, as a reader would write it.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().expect("a number just written")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_case;

    #[test]
    fn a_misfit_is_in_published_deviations() {
        let aims = aims(paper::benchmark("credit").expect("a table"));
        // Validity, NLL, similarity and sparsity of table 1; the same and the score of the appendix.
        assert_eq!(aims.iter().map(|(measure, _)| *measure).collect::<Vec<_>>(), [0, 1, 3, 4, 0, 1, 2, 3, 4]);
        let published = [0.9544, 18.18, 0.797, 10.49, 6.92];
        let near = misfit(&aims, &published);
        assert!(near < 0.3, "the two published rows agree: {near}");
        // One deviation off in one of nine.
        let mut off = published;
        off[2] += 0.09;
        let expected = (near.powi(2) + 1.0 / 9.0).sqrt();
        assert!((misfit(&aims, &off) - expected).abs() < 1e-9);
        let gmsc = super::aims(paper::benchmark("gmsc-paper").expect("a table"));
        assert!(
            gmsc.iter().all(|(measure, _)| MEASURES[*measure] != "similarity, codes"),
            "it fits neither measure"
        );
    }

    #[test]
    fn without_a_measure_there_is_no_misfit() {
        let table = paper::benchmark("credit").expect("a table");
        let means = |missing: &'static str| misfit_of(table, |name| (name != missing).then_some(1.0));
        assert_eq!((means("score"), means("").is_some()), (None, true));
    }

    #[test]
    fn weights_that_lead_nearer_to_the_published_rows_come_first() {
        let case = test_case::case(test_case::SCHEMA);
        let case = case.configured_as("credit", case.config.clone());
        let found = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| Calibrate { case: &case, trials: 5, people: 8, seed: 3 }.run(&|_| {}))
                .expect("trials")
        };
        let trials = found(2);
        assert!(trials.is_sorted_by(|one, next| one.misfit <= next.misfit));
        let start = trials.iter().find(|trial| trial.number == 0).expect("the start");
        assert_eq!(start.loss, LossConfig::paper());
        for (place, (name, [low, high], _)) in SETTINGS.iter().enumerate() {
            let drawn = trials.iter().filter(|trial| trial.number > 0);
            let values: Vec<f64> = drawn.filter_map(|trial| Some(trial.settings().nth(place)?.1)).collect();
            assert!(
                values.iter().all(|value| (0.99 * low..=1.01 * high).contains(value)),
                "{name}: {values:?}"
            );
        }
        let key = |trials: &[CalibrationTrial]| {
            trials.iter().map(|trial| (trial.number, trial.row)).collect::<Vec<_>>()
        };
        assert_eq!(key(&trials), key(&found(1)));
    }

    #[test]
    fn a_table_of_which_nothing_is_published_is_refused() {
        let case = test_case::case(test_case::SCHEMA);
        let error =
            Calibrate { case: &case, trials: 1, people: 1, seed: 0 }.run(&|_| {}).expect_err("no aims");
        assert!(error.to_string().contains("none of the paper's tables"), "{error}");
    }
}
