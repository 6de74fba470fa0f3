//! Tunes the settings of the generator over folds.
//!
//! Bins, classifier and circuits of a fold are learned once, with the starting configuration; a trial draws another
//! pool and trains another generator, without data. `tune/space.rs` has the settings and their ranges, `tune/search.rs`
//! the search and its pruning.
//!
//! A configuration is chosen by the test people of the folds, as in the paper. Figures on the same folds are therefore
//! optimistic.
//!
//! # Paper
//! "Hyperparameter Tuning": folds are run independently, configurations with poor intermediate performance are pruned
//! early, and the final setting is chosen by aggregate fold-level metrics. The paper says neither what is
//! searched nor by which measure; ours is the regret.

mod search;
mod space;

use std::io::Write;
use std::time::Instant;

use par_answer::evaluate::MethodAnswers;
use par_answer::{Method, Order, Request, Solver, Way};
use par_circuit::Stop;
use par_fit::with_config;
use par_model::{Config, Mean, Model};
use rayon::prelude::*;
use search::SearchPlan;
use space::{SETTINGS, SearchPoint};

use crate::case::{Case, Fold};
use crate::error::Error;

/// The regret in nats of a missing answer where there is one. It is also the largest regret, so that a poor answer is
/// never worse than none.
pub const PENALTY: f64 = 10.0;

/// A search for settings.
#[derive(Clone, Copy, Debug)]
pub struct Tune<'c> {
    /// The case; its configuration is the start of the search, and the first trial.
    pub case: &'c Case,
    /// The number of trials, at least 1.
    pub trials: usize,
    /// The method whose answers are tuned. Local search hides much of what a generator does badly.
    pub method: Method,
    /// The seed of the search; generators have the configuration's.
    pub seed: u64,
}

/// The progress of a search.
#[derive(Clone, Copy, Debug)]
pub struct TuneProgress {
    /// Finished runs: trials on a fold.
    pub done: usize,
    /// The most runs that there will be.
    pub of: usize,
    /// The trial of the last run, counted from 0.
    pub trial: usize,
    /// The number of trials.
    pub trials: usize,
    /// The best objective of a complete trial.
    pub best: Option<f64>,
}

/// A configuration and its results.
#[derive(Clone, Debug)]
pub struct TuneTrial {
    /// Its number; the start is 0.
    pub number: usize,
    /// The configuration.
    pub config: Config,
    /// Its results on the folds that it was run on, in order.
    pub runs: Vec<FoldRun>,
    /// Whether it was pruned before the last fold.
    pub pruned: bool,
    point: SearchPoint,
}

/// The results of a trial on a fold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoldRun {
    /// The mean regret in nats, over denied people with an exact answer: how much −log p⁺ plus the price of all changes
    /// exceeds that of the exact answer, at most [`PENALTY`].
    pub objective: f64,
    /// The number of these people.
    pub people: usize,
    /// The share of denied people with an answer.
    pub validity: Mean,
    /// −log p⁺ of answers.
    pub nll: Mean,
    /// Features that change.
    pub sparsity: Mean,
    /// How far numbers move.
    pub similarity: Mean,
    /// How much likelier the exact answer with as many changes is.
    pub gap: Mean,
    /// The time of training and answering, while other folds ran.
    pub seconds: f64,
}

/// All trials of a search.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The folds with at least one denied person who has a recourse.
    pub folds: Vec<String>,
    /// In order; the first is the start.
    pub trials: Vec<TuneTrial>,
    best: usize,
}

/// The part of a fold that all trials share.
struct TuneFold<'c> {
    name: &'c str,
    model: Model,
    /// The cells of the denied people.
    denied: Vec<Vec<String>>,
    /// The model's answers to them.
    answers: Vec<MethodAnswers>,
    /// The time of fitting the model.
    seconds: f64,
}

const EXACT: usize = Method::Exact as usize;

impl Tune<'_> {
    /// Runs the search, and reports progress after each trial on a fold.
    ///
    /// # Errors
    /// When a model cannot be fitted, a row cannot be read, or no fold has a denied person with a recourse.
    pub fn run(&self, on_progress: &(dyn Fn(TuneProgress) + Sync)) -> Result<Tuned, Error> {
        let case = self.case;
        let folds: Result<Vec<TuneFold<'_>>, Error> =
            case.folds().par_iter().map(|fold| TuneFold::new(case, fold)).collect();
        let folds: Vec<TuneFold<'_>> = folds?.into_iter().filter(TuneFold::has_recourse).collect();
        if folds.is_empty() {
            let problem = "no factual is denied and has a recourse, so there is nothing to tune by";
            return Err(Error::Folds { origin: case.name.clone(), problem: problem.to_string() });
        }
        let measure = |config: &Config, fold: usize| {
            let fold = &folds[fold];
            match *config == case.config {
                true => Ok(fold.run(&fold.answers, self.method, fold.seconds)),
                false => {
                    fold.measure(config, self.method).map_err(|source| case.fit_error(fold.name, source))
                }
            }
        };
        let plan = SearchPlan {
            start: &case.config,
            trials: self.trials.max(1),
            folds: folds.len(),
            seed: self.seed,
        };
        let trials = plan.search(&measure, on_progress)?;
        let best = search::best(&trials).expect("the start is never pruned");
        Ok(Tuned { folds: folds.iter().map(|fold| fold.name.to_string()).collect(), trials, best })
    }
}

impl<'c> TuneFold<'c> {
    fn new(case: &'c Case, name: &'c str) -> Result<Self, Error> {
        let started = Instant::now();
        let fold = Fold::new(case, name)?;
        let seconds = started.elapsed().as_secs_f64();
        let answers = fold.answers_by(&fold.model)?;
        let denied = fold.people.into_iter().zip(answers);
        let (denied, answers) = denied.filter_map(|(person, answers)| Some((person.cells, answers?))).unzip();
        Ok(Self { name, model: fold.model, denied, answers, seconds })
    }

    /// Whether any denied person has a recourse.
    fn has_recourse(&self) -> bool {
        self.answers.iter().any(|answers| answers.way(EXACT).is_some())
    }

    /// Trains a generator and measures its answers.
    fn measure(&self, config: &Config, method: Method) -> Result<FoldRun, par_fit::Error> {
        let started = Instant::now();
        let model = with_config(&self.model, config.clone(), &mut |_| {}, Stop::never())?;
        let request = Request {
            method,
            order: Some(Order::Likelihood),
            margin: Some(0.0),
            min_percentile: Some(0.0),
            ..Request::default()
        };
        let answer = |solver: &mut Solver<'_>, (cells, answers): (&Vec<String>, &MethodAnswers)| {
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            let answer = solver.answer(&cells, &request).expect("the fold's model has read this row");
            let mut answers = answers.clone();
            answers.answers[method as usize] = Some(answer);
            answers
        };
        let answers: Vec<MethodAnswers> =
            self.denied.par_iter().zip(&self.answers).map_init(|| Solver::new(&model), answer).collect();
        Ok(self.run(&answers, method, started.elapsed().as_secs_f64()))
    }

    fn run(&self, answers: &[MethodAnswers], method: Method, seconds: f64) -> FoldRun {
        let (place, denied) = (method as usize, answers.len());
        let price = self.model.config().answers.price;
        let regrets = Mean::new(answers.iter().filter_map(|answers| regret(answers, place, price)), denied);
        let mean = |value: fn(&Way) -> f64| {
            Mean::new(answers.iter().filter_map(|answers| answers.way(place)).map(value), denied)
        };
        FoldRun {
            objective: regrets.mean.unwrap_or(PENALTY),
            people: regrets.over,
            validity: Mean::share(answers.iter().map(|answers| answers.way(place).is_some()), denied),
            nll: mean(|way| -way.log_likelihood),
            sparsity: mean(|way| way.changes.len() as f64),
            similarity: mean(|way| way.similarity),
            gap: Mean::new(answers.iter().filter_map(|answers| answers.gap(place)), denied),
            seconds,
        }
    }
}

/// The regret of a method's answer against the exact one; `None` without an exact answer.
fn regret(answers: &MethodAnswers, method: usize, price: f64) -> Option<f64> {
    let cost = |way: &Way| price * way.changes.len() as f64 - way.log_likelihood;
    let least = cost(answers.way(EXACT)?);
    Some(answers.way(method).map_or(PENALTY, |way| (cost(way) - least).min(PENALTY)))
}

impl TuneTrial {
    /// The mean over its folds, with equal weights; lower is better.
    pub fn objective(&self) -> f64 {
        self.objective_after(self.runs.len())
    }

    fn objective_after(&self, folds: usize) -> f64 {
        let runs = &self.runs[..folds];
        runs.iter().map(|run| run.objective).sum::<f64>() / runs.len().max(1) as f64
    }

    /// A measure over its folds, with equal weights for people.
    pub fn mean(&self, measure: impl Fn(&FoldRun) -> Mean) -> Mean {
        let (mut sum, mut over, mut of) = (0.0, 0, 0);
        for mean in self.runs.iter().map(measure) {
            sum += mean.mean.unwrap_or(0.0) * mean.over as f64;
            over += mean.over;
            of += mean.of;
        }
        Mean { mean: (over > 0).then(|| sum / over as f64), over, of }
    }
}

impl Tuned {
    /// The starting configuration.
    pub fn start(&self) -> &TuneTrial {
        &self.trials[0]
    }

    /// The complete trial with the lowest objective; the start, if none is lower.
    pub fn best(&self) -> &TuneTrial {
        &self.trials[self.best]
    }

    /// The number of pruned trials.
    pub fn pruned(&self) -> usize {
        self.trials.iter().filter(|trial| trial.pruned).count()
    }

    /// The settings in which the best differs from the start: name, old value, new value.
    pub fn changes(&self) -> Vec<(&'static str, String, String)> {
        let texts = |setting: &space::TunedSetting| {
            let [from, to] = [self.start(), self.best()].map(|trial| setting.text(&trial.config));
            (setting.name(), from, to)
        };
        SETTINGS.iter().map(texts).filter(|(_, from, to)| from != to).collect()
    }

    /// Writes all trials as CSV, one line per trial and fold. `people` counts the people of the objective, `denied` those
    /// of the validity; other means are over people with an answer.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_history(&self, writer: impl Write) -> std::io::Result<()> {
        let mut csv = csv::Writer::from_writer(writer);
        let measures =
            ["objective", "people", "denied", "validity", "nll", "sparsity", "similarity", "gap", "seconds"];
        let names = SETTINGS.iter().map(space::TunedSetting::name);
        csv.write_record(["trial", "fold", "pruned"].into_iter().chain(names).chain(measures))?;
        for trial in &self.trials {
            for (fold, run) in self.folds.iter().zip(&trial.runs) {
                let mean = |mean: Mean| mean.mean.map_or(String::new(), |mean| mean.to_string());
                let mut record = vec![trial.number.to_string(), fold.clone(), trial.pruned.to_string()];
                record.extend(SETTINGS.iter().map(|setting| setting.text(&trial.config)));
                record.extend([
                    run.objective.to_string(),
                    run.people.to_string(),
                    run.validity.of.to_string(),
                ]);
                record.extend([run.validity, run.nll, run.sparsity, run.similarity, run.gap].map(mean));
                record.push(format!("{:.3}", run.seconds));
                csv.write_record(record)?;
            }
        }
        csv.flush()
    }
}

#[cfg(test)]
mod tests;
