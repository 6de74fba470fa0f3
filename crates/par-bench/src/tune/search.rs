//! The search over configurations, with pruning.
//!
//! Trials come in generations of [`GENERATION`]; a generation ends before the next is drawn, so the result does not
//! depend on the number of threads. The first trial is the start, the rest of the first half is drawn uniformly, the
//! second half near the best three: trials are too few and too noisy for a model of the objective.
//!
//! A generation passes through the folds in order. After each fold, a trial is pruned if its mean so far is worse than
//! the median of the complete trials over the same folds. The first generation is never pruned.

use std::sync::atomic::{AtomicUsize, Ordering};

use par_answer::evaluate::median;
use par_model::Config;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::space::SearchPoint;
use super::{FoldRun, TuneProgress, TuneTrial};

/// Trials that run at the same time.
pub(super) const GENERATION: usize = 4;
/// The second half of the trials steps from so many of the best.
const PARENTS: usize = 3;

/// The extent of a search.
pub(super) struct SearchPlan<'a> {
    pub(super) start: &'a Config,
    pub(super) trials: usize,
    pub(super) folds: usize,
    pub(super) seed: u64,
}

/// Measures a configuration on a fold, by the fold's position.
pub(super) type MeasureFold<'a, E> = dyn Fn(&Config, usize) -> Result<FoldRun, E> + Sync + 'a;

impl SearchPlan<'_> {
    /// Runs all trials, and returns them in order.
    pub(super) fn search<E: Send>(
        &self,
        measure: &MeasureFold<'_, E>,
        on_progress: &(dyn Fn(TuneProgress) + Sync),
    ) -> Result<Vec<TuneTrial>, E> {
        let mut trials: Vec<TuneTrial> = Vec::with_capacity(self.trials);
        let (done, mut of) = (AtomicUsize::new(0), self.trials * self.folds);
        while trials.len() < self.trials {
            let numbers = trials.len()..(trials.len() + GENERATION).min(self.trials);
            let mut generation: Vec<TuneTrial> = numbers.map(|number| self.trial(number, &trials)).collect();
            for fold in 0..self.folds {
                generation.par_iter_mut().filter(|trial| !trial.pruned).try_for_each(|trial| {
                    trial.runs.push(measure(&trial.config, fold)?);
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    let best = best(&trials).map(|best| trials[best].objective());
                    on_progress(TuneProgress { done, of, trial: trial.number, trials: self.trials, best });
                    Ok(())
                })?;
                let left = self.folds - fold - 1;
                for trial in generation.iter_mut().filter(|trial| left > 0 && !trial.pruned) {
                    trial.pruned = is_behind(trial, &trials);
                    of -= if trial.pruned { left } else { 0 };
                }
            }
            trials.extend(generation);
        }
        Ok(trials)
    }

    fn trial(&self, number: usize, known: &[TuneTrial]) -> TuneTrial {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(number as u64);
        let mut parents: Vec<&TuneTrial> = known.iter().filter(|trial| !trial.pruned).collect();
        parents.sort_by(|left, right| left.objective().total_cmp(&right.objective()));
        parents.truncate(PARENTS);
        let point = match number {
            0 => SearchPoint::start(),
            _ if number < self.trials.div_ceil(2) || parents.is_empty() => SearchPoint::draw(&mut rng),
            _ => parents[number % parents.len()].point.near(&mut rng),
        };
        TuneTrial { number, config: point.config(self.start), point, runs: Vec::new(), pruned: false }
    }
}

/// Whether a trial is worse than the median of the complete ones on the same folds.
fn is_behind(trial: &TuneTrial, known: &[TuneTrial]) -> bool {
    let complete = known.iter().filter(|known| !known.pruned);
    let others = complete.map(|known| known.objective_after(trial.runs.len())).collect();
    median(others).is_some_and(|median| trial.objective() > median)
}

/// The best complete trial, the first of equals.
pub(super) fn best(trials: &[TuneTrial]) -> Option<usize> {
    let complete = (0..trials.len()).filter(|&trial| !trials[trial].pruned);
    complete.min_by(|&left, &right| trials[left].objective().total_cmp(&trials[right].objective()))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Mutex;

    use par_model::Mean;

    use super::*;

    fn run(objective: f64) -> FoldRun {
        let mean = Mean { mean: Some(objective), over: 1, of: 1 };
        FoldRun {
            objective,
            people: 1,
            validity: mean,
            nll: mean,
            sparsity: mean,
            similarity: mean,
            gap: mean,
            seconds: 0.0,
        }
    }

    /// The objective is the distance of weights from five times the start's, plus the fold's number.
    fn far(config: &Config, fold: usize) -> Result<FoldRun, Infallible> {
        let loss = &config.generator.loss;
        let weights = [(loss.validity, 25.0), (loss.sparsity, 2.5), (loss.teaching, 10.0)];
        let far: f64 = weights.iter().map(|(weight, best)| (weight / best).ln().abs()).sum();
        Ok(run(far + fold as f64))
    }

    fn plan(start: &Config, trials: usize, seed: u64) -> SearchPlan<'_> {
        SearchPlan { start, trials, folds: 3, seed }
    }

    #[test]
    fn the_search_improves_and_prunes_poor_trials() {
        let start = Config::default();
        let trials = plan(&start, 40, 0).search(&far, &|_| {}).expect("infallible");
        assert_eq!(trials.len(), 40);
        assert_eq!(trials[0].config, start);
        let objective = |place: usize| trials[place].objective();
        let best = best(&trials).expect("complete trials");
        assert!(objective(best) < 0.5 * objective(0), "{} of {}", objective(best), objective(0));
        let pruned = trials.iter().filter(|trial| trial.pruned).count();
        assert!((10..36).contains(&pruned), "{pruned}");
        assert!(trials.iter().all(|trial| (trial.runs.len() < 3) == trial.pruned && !trial.runs.is_empty()));
        assert!(trials[..GENERATION].iter().all(|trial| !trial.pruned));
    }

    #[test]
    fn an_unbeaten_start_stays_the_best() {
        let start = Config::default();
        let measure = |config: &Config, _| Ok::<_, Infallible>(run(if *config == start { 1.0 } else { 2.0 }));
        let trials = plan(&start, 13, 0).search(&measure, &|_| {}).expect("infallible");
        assert_eq!(best(&trials), Some(0));
        let alike = |_: &Config, _| Ok::<_, Infallible>(run(1.0));
        let trials = plan(&start, 5, 0).search(&alike, &|_| {}).expect("infallible");
        assert_eq!(best(&trials), Some(0));
        assert!(trials.iter().all(|trial| !trial.pruned), "equal trials are not pruned");
    }

    #[test]
    fn trials_depend_on_the_seed() {
        let start = Config::default();
        let configs = |seed| {
            let trials = plan(&start, 12, seed).search(&far, &|_| {}).expect("infallible");
            trials.into_iter().map(|trial| trial.config).collect::<Vec<_>>()
        };
        assert_eq!(configs(3), configs(3));
        assert_ne!(configs(3), configs(4));
    }

    #[test]
    fn progress_ends_at_its_total() {
        let start = Config::default();
        let steps = Mutex::new(Vec::new());
        let trials =
            plan(&start, 20, 0).search(&far, &|progress| steps.lock().expect("a list").push(progress));
        let runs: usize = trials.expect("infallible").iter().map(|trial| trial.runs.len()).sum();
        let steps = steps.into_inner().expect("a list");
        assert_eq!(steps.len(), runs);
        let last = steps.iter().max_by_key(|progress| progress.done).expect("a step");
        assert_eq!((last.done, last.trials), (runs, 20));
        assert!(last.of >= runs && steps[0].of == 60);
    }

    #[test]
    fn an_error_ends_the_search() {
        let start = Config::default();
        let measure = |config: &Config, fold| match *config == start || fold == 0 {
            true => Ok(run(1.0)),
            false => Err("no model"),
        };
        assert_eq!(plan(&start, 9, 0).search(&measure, &|_| {}).err(), Some("no model"));
    }
}
