//! What fits and answers cost, and how that grows with columns, training rows, bins and the size of the circuit.
//!
//! Everything is measured sequentially, alone on the machine. Models are fitted on all threads; answers are timed on one,
//! and in batches on one and on all. There are two parts:
//!
//! - [`plan`]: random tables of many sizes, and tables with folds as one size each: time and memory of a fit; time,
//!   validity and gaps of answers, together and by the number of changes that a person needs;
//! - here: curves along training rows, bins and circuits on the first fold of a table.
//!
//! For curves to end in a minute or two:
//!
//! - bins and circuits vary over at most 20,000 training rows, evenly spaced in larger tables;
//! - at most 40 denied people are answered at a point, each up to five times, for at most two seconds per method; the
//!   time is the median over them, and `over` is their number;
//! - along a curve an exact search stops after 2,000 nodes, except with all training rows; `optimal` is the share that
//!   ended before.
//!
//! `edges` is the size of the circuit of accepted rows, on which times depend most. It is not monotone in the rows: up to
//! 2,000 accepted rows it is a mixture of five circuits, above that one circuit.
//!
//! # Paper
//! The runtime of table 1.

mod asked;
mod fitting;
mod memory;
pub mod plan;

use std::hint::black_box;
use std::time::{Duration, Instant};

use par_answer::{Method, Request, Solver, answer_batch};
use par_circuit::Stop;
use par_circuit::learn::Learner;
use par_data::Batch;
use par_fit::ModelBuilder;
use par_model::{Config, Mean, Model};

use self::fitting::StageTimes;
pub use self::plan::{GrowthPlan, TableSize};
use super::fairness::evenly_spaced;
use crate::case::{Case, Factual};
use crate::error::Error;
use crate::figures::{Metric, Sheet};

/// The training rows are divided by these.
const PARTS: [usize; 4] = [16, 8, 4, 2];
/// Fewer training rows are too few to learn from.
const LEAST_ROWS: usize = 100;
/// At most this many training rows, where something else varies.
const ROWS: usize = 20_000;
const BINS: [usize; 4] = [4, 8, 16, 32];
/// States of the hidden variables of a circuit.
const STATES: [usize; 5] = [2, 4, 8, 16, 32];
/// The name of synthetic tables in figures.
pub const SYNTHETIC: &str = "synthetic";

/// At most this many people are answered at a point of a curve.
const PEOPLE: usize = 40;
/// The same outside of curves.
const ALL_PEOPLE: usize = 200;
/// Each is answered at most so often.
const PASSES: usize = 5;
/// A method is timed for at most so long at a point.
const LONGEST: Duration = Duration::from_secs(2);
/// At most this many nodes of an exact search along a curve.
const NODES: usize = 2000;
/// Batches are repeated until so much time has passed.
const BATCH_TIME: Duration = Duration::from_millis(if cfg!(test) { 20 } else { 1000 });
/// At most this many rows in a batch.
const BATCH_ROWS: usize = 20_000;

/// Measures the first fold of a case: as one size, or along curves.
pub(super) fn measure(case: &Case, plan: &GrowthPlan, sheet: &mut Sheet) -> Result<(), Error> {
    if plan.curves { curves(case, sheet) } else { plan.measure_case(case, sheet) }
}

fn curves(case: &Case, sheet: &mut Sheet) -> Result<(), Error> {
    let Some(trial) = TimedFold::new(case) else { return Ok(()) };
    sheet.number("fit", "threads", rayon::current_num_threads() as f64, 1);
    let training = case.training(trial.fold);
    let (model, spent) = trial.fit(&case.config, &training)?;
    spent.write(&model, training.rows(), |name, stage| Metric::at(name, &[("stage", &stage)]), sheet);
    trial.time_answers(&model, ALL_PEOPLE, |name| Metric::at(name, &[("alone", &1)]), sheet);
    trial.batches(&model, sheet);

    for part in PARTS {
        let rows = every(&training, part);
        // A part of the rows may be unfit to learn from: all of one class, or with an empty column.
        if rows.rows() >= LEAST_ROWS
            && let Ok(fitted) = trial.fit(&trial.limited(), &rows)
        {
            trial.point(&fitted, "rows", rows.rows(), rows.rows(), sheet);
        }
    }
    trial.point(&(model, spent), "rows", training.rows(), training.rows(), sheet);

    let training = every(&training, training.rows().div_ceil(ROWS).max(1));
    for bins in BINS {
        let mut config = trial.limited();
        config.bins.bins = bins;
        if let Ok(fitted) = trial.fit(&config, &training) {
            trial.point(&fitted, "bins", bins, training.rows(), sheet);
        }
    }
    for states in STATES {
        let mut config = trial.limited();
        config.circuits.learner = Learner::Hclt;
        config.circuits.hclt.states = states;
        let Ok((model, spent)) = trial.fit(&config, &training) else { continue };
        let at = |name: &str| Metric::at(name, &[("states", &states)]);
        sheet.number("fit", at("seconds"), spent.all(), training.rows());
        let edges = model.accepted().edges();
        sheet.number("fit", at("edges"), edges as f64, 1);
        trial.time_answers(&model, PEOPLE, |name| Metric::at(name, &[("edges", &edges)]), sheet);
    }
    Ok(())
}

/// A fold of a case, which many models answer.
struct TimedFold<'c> {
    case: &'c Case,
    fold: &'c str,
    test: Batch,
    people: Vec<Factual>,
}

impl<'c> TimedFold<'c> {
    /// The first fold, if there is one.
    fn new(case: &'c Case) -> Option<Self> {
        let fold = case.folds().first()?;
        let test = case.test(fold);
        let people = case.people(&test);
        Some(Self { case, fold, test, people })
    }

    /// The case's configuration, with a limit on exact searches.
    fn limited(&self) -> Config {
        let mut config = self.case.config.clone();
        config.answers.nodes = config.answers.nodes.min(NODES);
        config
    }

    /// Fits a model and takes the time.
    fn fit(&self, config: &Config, rows: &Batch) -> Result<(Model, StageTimes), Error> {
        let method = ModelBuilder::new(self.case.schema.clone(), config.clone());
        let mut spent = StageTimes::start();
        let mut progress = |stage: par_fit::Stage<'_>| spent.on(&stage);
        let model = method
            .fit_rows(&self.case.columns, || Ok([Ok(rows.clone())]), &mut progress, Stop::never())
            .map_err(|source| self.case.fit_error(self.fold, source))?;
        spent.end();
        Ok((model, spent))
    }

    /// Adds a point of a curve: the time of the fit, the size of the circuit, the times of answers.
    fn point(
        &self,
        (model, spent): &(Model, StageTimes),
        key: &str,
        value: usize,
        rows: usize,
        sheet: &mut Sheet,
    ) {
        let at = |name: &str| Metric::at(name, &[(key, &value)]);
        sheet.number("fit", at("seconds"), spent.all(), rows);
        sheet.number("fit", at("edges"), model.accepted().edges() as f64, 1);
        self.time_answers(model, PEOPLE, at, sheet);
    }

    /// Times all methods on denied people, one after the other on this thread.
    fn time_answers(&self, model: &Model, most: usize, at: impl Fn(&str) -> Metric, sheet: &mut Sheet) {
        let denied: Vec<usize> =
            (0..self.people.len()).filter(|&person| is_denied(model, &self.people[person].cells())).collect();
        let sampled = evenly_spaced(&denied, most);
        let rows: Vec<Vec<&str>> = sampled.iter().map(|&person| self.people[person].cells()).collect();
        for method in Method::ALL {
            let (times, proved) = times(model, &rows, method);
            sheet.summary(method.name(), "time_us", &at, times, denied.len());
            if method == Method::Exact {
                sheet.mean(method.name(), at("optimal"), Mean::share(proved.into_iter(), denied.len()));
            }
        }
    }

    /// Adds the denied rows answered per second in batches, on one thread and on all.
    fn batches(&self, model: &Model, sheet: &mut Sheet) {
        let denied = self.test.select((0..self.test.rows()).filter(|&row| {
            let cells = self.case.person(&self.test, row).cells;
            is_denied(model, &cells.iter().map(String::as_str).collect::<Vec<_>>())
        }));
        let rows = every(&denied, denied.rows().div_ceil(BATCH_ROWS).max(1));
        let all = rayon::current_num_threads();
        let mut threads = vec![1, all];
        threads.dedup();
        for method in [Method::Generate, Method::Refine] {
            for &threads in &threads {
                // Without further threads there is no figure for them.
                let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build() else { continue };
                let request = |_| Request { method, ..Request::default() };
                let (started, mut answered) = (Instant::now(), 0);
                while started.elapsed() < BATCH_TIME && rows.rows() > 0 {
                    let answers = pool.install(|| answer_batch(model, &self.case.columns, &rows, request));
                    answered += black_box(answers).len();
                }
                let rate = answered as f64 / started.elapsed().as_secs_f64();
                let metric = Metric::at("rows_per_second", &[("threads", &threads)]);
                sheet.number(method.name(), metric, rate, answered);
            }
        }
    }
}

/// Microseconds per row, the minimum over its passes, because other load only adds time; and whether each way found
/// is proved best. Rows that the time did not suffice for are absent.
fn times(model: &Model, rows: &[Vec<&str>], method: Method) -> (Vec<f64>, Vec<bool>) {
    let request = Request { method, ..Request::default() };
    let mut solver = Solver::new(model);
    let mut times = vec![f64::INFINITY; rows.len()];
    let mut proved = vec![None; rows.len()];
    let begun = Instant::now();
    for (place, cells) in (0..PASSES).flat_map(|_| rows.iter().enumerate()) {
        // At least one row is timed.
        if begun.elapsed() > LONGEST && times[0].is_finite() {
            break;
        }
        let started = Instant::now();
        let answer = black_box(solver.answer(cells, &request));
        times[place] = times[place].min(started.elapsed().as_secs_f64() * 1e6);
        proved[place] = answer.ok().and_then(|answer| Some(answer.ways().first()?.is_optimal()));
    }
    times.retain(|time| time.is_finite());
    (times, proved.into_iter().flatten().collect())
}

/// Whether a row is denied; false if the model cannot read it.
fn is_denied(model: &Model, cells: &[&str]) -> bool {
    let encoded = model.discretizer().encode_row(cells);
    encoded.is_ok_and(|encoded| model.probability(encoded.codes()) < model.threshold())
}

/// Every `step`-th row.
fn every(rows: &Batch, step: usize) -> Batch {
    rows.select((0..rows.rows()).step_by(step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Figures;
    use crate::synthetic::Synthetic;

    fn quick() -> Config {
        let mut config = Config::default();
        config.generator.examples = 100;
        config.generator.steps = 5;
        config.pool.size = 100;
        config.circuits.em.max_passes = 3;
        config
    }

    fn case(people: Synthetic) -> Case {
        Case::new("people", people.schema(), quick(), people.table(), "fold", None).expect("folds")
    }

    fn value(figures: &Figures, method: &str, metric: &str) -> Option<f64> {
        let metric: Metric = metric.parse().expect("a metric");
        let spread = figures.spread("people", method, &metric)?;
        assert!(spread.mean > 0.0, "{metric}");
        Some(spread.mean)
    }

    #[test]
    fn every_curve_has_its_points() {
        let mut sheet = Sheet::new("people", "");
        curves(&case(Synthetic { rows: 1000, features: 3, seed: 0 }), &mut sheet).expect("figures");
        let figures = Figures(sheet.into_figures());
        let seconds = |stage: &str| value(&figures, "fit", &format!("seconds@stage={stage}")).expect(stage);
        let sum: f64 = fitting::STAGES.iter().map(|stage| seconds(stage)).sum();
        assert!((sum - seconds("all")).abs() < 1e-6);
        // A sixteenth of 800 training rows is too few.
        for (rows, expected) in [(50, false), (100, true), (200, true), (400, true), (800, true)] {
            assert_eq!(value(&figures, "fit", &format!("seconds@rows={rows}")).is_some(), expected, "{rows}");
        }
        for method in Method::ALL.map(Method::name) {
            for at in ["alone=1", "rows=800", "bins=4", "bins=32"] {
                assert!(value(&figures, method, &format!("time_us@{at}")).is_some(), "{method} {at}");
            }
        }
        let edges = figures.named("people", "exact", "time_us").filter_map(|own| own.metric.number("edges"));
        let edges: Vec<f64> = edges.collect();
        assert_eq!(edges.len(), STATES.len());
        assert!(edges.windows(2).all(|pair| pair[0] < pair[1]), "{edges:?}");
        assert!(value(&figures, "refine", "rows_per_second@threads=1").is_some());
        assert!(value(&figures, "generate", "rows_per_second@threads=1").is_some());
    }

    #[test]
    fn without_denied_people_there_are_no_times() {
        let mut case = case(Synthetic { rows: 300, features: 2, seed: 0 });
        case.config.classifier.threshold = par_model::classifier::Threshold::Fixed(1e-9);
        let trial = TimedFold::new(&case).expect("a fold");
        let (model, _) = trial.fit(&case.config, &case.training(trial.fold)).expect("a model");
        let mut sheet = Sheet::new("people", "");
        trial.time_answers(&model, PEOPLE, |name| name.into(), &mut sheet);
        let figures = sheet.into_figures();
        assert_eq!(figures.len(), 13);
        assert!(figures.iter().all(|figure| (figure.value, figure.over, figure.of) == (None, 0, 0)));
    }

    #[test]
    fn a_limited_case_differs_only_in_its_exact_search() {
        let mut case = case(Synthetic { rows: 50, features: 2, seed: 0 });
        let limited = TimedFold::new(&case).expect("a fold").limited();
        assert_eq!(limited.answers.nodes, NODES);
        case.config.answers.nodes = NODES;
        assert_eq!(limited, case.config);
    }
}
