//! The search for the settings of a generator that answer best, over folds.
//!
//! Bins, classifier and circuits of a fold are learned once, by the starting configuration; a trial makes
//! another pool and another generator of them, without data. What is tuned stands in `tune/space.rs`; what is
//! tried, and what is given up early, in `tune/search.rs`.
//!
//! The people who are asked about are those that a configuration is chosen by, as in the paper. Figures on the same
//! folds are therefore better afterwards than those on people whom nobody has asked about.
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
use search::Plan;
use space::{Point, SETTINGS};

use crate::case::{Case, Fold};
use crate::error::Error;

/// What it counts, in nats, to leave somebody without an answer who could have one. No answer counts more, so that
/// finding a poor one is never worse than finding none.
pub const PENALTY: f64 = 10.0;

/// What is searched for.
#[derive(Clone, Copy, Debug)]
pub struct Tune<'c> {
    /// On what; its configuration is where the search starts, and the first trial.
    pub case: &'c Case,
    /// How many configurations are tried, at least the first.
    pub trials: usize,
    /// Whose answers are to be good. The local search hides much of what a generator does badly.
    pub method: Method,
    /// Of the search; that of generators is the configuration's.
    pub seed: u64,
}

/// How far a search has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Trials on a fold that are done.
    pub done: usize,
    /// How many there will be at most.
    pub of: usize,
    /// The trial of the last one, counted from 0.
    pub trial: usize,
    /// How many trials there will be.
    pub trials: usize,
    /// The best objective of a complete trial.
    pub best: Option<f64>,
}

/// A configuration, and how it did.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Its number. The start is 0.
    pub number: usize,
    /// What was tried.
    pub config: Config,
    /// How it did on each of the folds that it was run on, in their order.
    pub runs: Vec<Run>,
    /// Whether it was given up before the last fold.
    pub pruned: bool,
    point: Point,
}

/// How a trial did on a fold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// The mean regret, in nats, over those who can have an answer: how much −log p⁺ and the price of all changes
    /// exceed those of the exact answer, at most [`PENALTY`].
    pub objective: f64,
    /// How many these are.
    pub people: usize,
    /// The share of the denied with an answer.
    pub validity: Mean,
    /// −log p⁺ of answers.
    pub nll: Mean,
    /// Features that change.
    pub sparsity: Mean,
    /// How far numbers move.
    pub similarity: Mean,
    /// How much likelier the exact answer with as many changes is.
    pub gap: Mean,
    /// What making the generator and asking it took, while others did the same.
    pub seconds: f64,
}

/// All trials of a search.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The folds, those left out in whom nobody could be helped.
    pub folds: Vec<String>,
    /// In their order; the first is the start.
    pub trials: Vec<Trial>,
    best: usize,
}

/// What stays of a fold for all trials.
struct Ground<'c> {
    name: &'c str,
    model: Model,
    /// The cells of those who are denied.
    denied: Vec<Vec<String>>,
    /// What the model tells them.
    asked: Vec<MethodAnswers>,
    /// How long the model took.
    seconds: f64,
}

const EXACT: usize = Method::Exact as usize;

impl Tune<'_> {
    /// Searches, and tells after each trial on a fold how far it is.
    ///
    /// # Errors
    /// When a model cannot be made, a row cannot be read, or no fold has anybody who could be helped.
    pub fn run(&self, tell: &(dyn Fn(Progress) + Sync)) -> Result<Tuned, Error> {
        let case = self.case;
        let grounds: Result<Vec<Ground<'_>>, Error> =
            case.folds().par_iter().map(|fold| Ground::new(case, fold)).collect();
        let grounds: Vec<Ground<'_>> = grounds?.into_iter().filter(Ground::is_of_use).collect();
        if grounds.is_empty() {
            let problem =
                "none of those asked about is denied and has a recourse, so that there is nothing to tune by";
            return Err(Error::Folds { origin: case.name.clone(), problem: problem.to_string() });
        }
        let measure = |config: &Config, fold: usize| {
            let ground = &grounds[fold];
            match *config == case.config {
                true => Ok(ground.run(&ground.asked, self.method, ground.seconds)),
                false => {
                    ground.measure(config, self.method).map_err(|source| case.fit_error(ground.name, source))
                }
            }
        };
        let plan =
            Plan { start: &case.config, trials: self.trials.max(1), folds: grounds.len(), seed: self.seed };
        let trials = plan.search(&measure, tell)?;
        let best = search::best(&trials).expect("the start is complete");
        Ok(Tuned { folds: grounds.iter().map(|ground| ground.name.to_string()).collect(), trials, best })
    }
}

impl<'c> Ground<'c> {
    fn new(case: &'c Case, name: &'c str) -> Result<Self, Error> {
        let started = Instant::now();
        let fold = Fold::new(case, name)?;
        let seconds = started.elapsed().as_secs_f64();
        let asked = fold.ask(&fold.model)?;
        let denied = fold.people.into_iter().zip(asked);
        let (denied, asked) = denied.filter_map(|(person, asked)| Some((person.cells, asked?))).unzip();
        Ok(Self { name, model: fold.model, denied, asked, seconds })
    }

    /// Whether there is anybody who can have an answer.
    fn is_of_use(&self) -> bool {
        self.asked.iter().any(|asked| asked.way(EXACT).is_some())
    }

    /// Makes a generator and asks it.
    fn measure(&self, config: &Config, method: Method) -> Result<Run, par_fit::Error> {
        let started = Instant::now();
        let model = with_config(&self.model, config.clone(), &mut |_| {}, Stop::never())?;
        let request = Request { method, order: Some(Order::Likelihood), ..Request::default() };
        let ask = |solver: &mut Solver<'_>, (cells, asked): (&Vec<String>, &MethodAnswers)| {
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            let answer = solver.answer(&cells, &request).expect("the fold's own model has read the row");
            let mut asked = asked.clone();
            asked.answers[method as usize] = answer;
            asked
        };
        let asked: Vec<MethodAnswers> =
            self.denied.par_iter().zip(&self.asked).map_init(|| Solver::new(&model), ask).collect();
        Ok(self.run(&asked, method, started.elapsed().as_secs_f64()))
    }

    fn run(&self, asked: &[MethodAnswers], method: Method, seconds: f64) -> Run {
        let (place, denied) = (method as usize, asked.len());
        let price = self.model.config().answers.price;
        let regrets = Mean::new(asked.iter().filter_map(|asked| regret(asked, place, price)), denied);
        let mean = |value: fn(&Way) -> f64| {
            Mean::new(asked.iter().filter_map(|asked| asked.way(place)).map(value), denied)
        };
        Run {
            objective: regrets.mean.unwrap_or(PENALTY),
            people: regrets.over,
            validity: Mean::share(asked.iter().map(|asked| asked.way(place).is_some()), denied),
            nll: mean(|way| -way.log_likelihood),
            sparsity: mean(|way| way.changes.len() as f64),
            similarity: mean(|way| way.similarity),
            gap: Mean::new(asked.iter().filter_map(|asked| asked.gap(place)), denied),
            seconds,
        }
    }
}

/// How much worse than the exact answer a method's is; nothing to say of those who can have none.
fn regret(asked: &MethodAnswers, method: usize, price: f64) -> Option<f64> {
    let cost = |way: &Way| price * way.changes.len() as f64 - way.log_likelihood;
    let least = cost(asked.way(EXACT)?);
    Some(asked.way(method).map_or(PENALTY, |way| (cost(way) - least).min(PENALTY)))
}

impl Trial {
    /// The mean over the folds that it was run on, each counting the same; lower is better.
    pub fn objective(&self) -> f64 {
        self.objective_after(self.runs.len())
    }

    fn objective_after(&self, folds: usize) -> f64 {
        let runs = &self.runs[..folds];
        runs.iter().map(|run| run.objective).sum::<f64>() / runs.len().max(1) as f64
    }

    /// A measure over the folds that it was run on, each person counting the same.
    pub fn mean(&self, measure: impl Fn(&Run) -> Mean) -> Mean {
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
    pub fn start(&self) -> &Trial {
        &self.trials[0]
    }

    /// The complete trial with the lowest objective: the start, if nothing is below it.
    pub fn best(&self) -> &Trial {
        &self.trials[self.best]
    }

    /// How many trials were given up.
    pub fn pruned(&self) -> usize {
        self.trials.iter().filter(|trial| trial.pruned).count()
    }

    /// Settings in which the best differs from the start: name, the start's, the best's.
    pub fn changes(&self) -> Vec<(&'static str, String, String)> {
        let texts = |setting: &space::Setting| {
            let [from, to] = [self.start(), self.best()].map(|trial| setting.text(&trial.config));
            (setting.name(), from, to)
        };
        SETTINGS.iter().map(texts).filter(|(_, from, to)| from != to).collect()
    }

    /// Writes all trials as CSV, a line for each and each fold that it was run on. `people` are those that the
    /// objective is a mean over, `denied` those that the validity is of; other means are over those with an answer.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_history(&self, writer: impl Write) -> std::io::Result<()> {
        let mut csv = csv::Writer::from_writer(writer);
        let measures =
            ["objective", "people", "denied", "validity", "nll", "sparsity", "similarity", "gap", "seconds"];
        let names = SETTINGS.iter().map(space::Setting::name);
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
