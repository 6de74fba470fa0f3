//! Which configurations are tried, and which are given up.
//!
//! Trials come in generations of [`GENERATION`], whose results are all known before the next is drawn, so that
//! the number of threads changes nothing. The first trial is the start, the rest of the first half is drawn
//! anywhere, the second half near the best three: there are too few trials and too much chance in each for a
//! model of the objective, and steps from what is known to be good need none.
//!
//! A generation goes through the folds in their order. After each fold those are given up whose mean so far is
//! worse than the median of the complete trials' over the same folds. The first generation is complete, so that
//! there is something to compare with.

use std::sync::atomic::{AtomicUsize, Ordering};

use par_answer::evaluate::median;
use par_model::Config;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::space::Point;
use super::{Progress, Run, Trial};

/// Trials that are under way together.
pub(super) const GENERATION: usize = 4;
/// How many of the best the second half of the trials steps from.
const PARENTS: usize = 3;

/// How much is tried.
pub(super) struct Plan<'a> {
    pub(super) start: &'a Config,
    pub(super) trials: usize,
    pub(super) folds: usize,
    pub(super) seed: u64,
}

/// Measures a configuration on a fold, by its place.
pub(super) type Measure<'a, E> = dyn Fn(&Config, usize) -> Result<Run, E> + Sync + 'a;

impl Plan<'_> {
    /// All trials, in their order.
    pub(super) fn search<E: Send>(
        &self,
        measure: &Measure<'_, E>,
        tell: &(dyn Fn(Progress) + Sync),
    ) -> Result<Vec<Trial>, E> {
        let mut trials: Vec<Trial> = Vec::with_capacity(self.trials);
        let (done, mut of) = (AtomicUsize::new(0), self.trials * self.folds);
        while trials.len() < self.trials {
            let numbers = trials.len()..(trials.len() + GENERATION).min(self.trials);
            let mut generation: Vec<Trial> = numbers.map(|number| self.trial(number, &trials)).collect();
            for fold in 0..self.folds {
                generation.par_iter_mut().filter(|trial| !trial.pruned).try_for_each(|trial| {
                    trial.runs.push(measure(&trial.config, fold)?);
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    let best = best(&trials).map(|best| trials[best].objective());
                    tell(Progress { done, of, trial: trial.number, trials: self.trials, best });
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

    fn trial(&self, number: usize, known: &[Trial]) -> Trial {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(number as u64);
        let mut parents: Vec<&Trial> = known.iter().filter(|trial| !trial.pruned).collect();
        parents.sort_by(|left, right| left.objective().total_cmp(&right.objective()));
        parents.truncate(PARENTS);
        let point = match number {
            0 => Point::start(),
            _ if number < self.trials.div_ceil(2) || parents.is_empty() => Point::draw(&mut rng),
            _ => parents[number % parents.len()].point.near(&mut rng),
        };
        Trial { number, config: point.config(self.start), point, runs: Vec::new(), pruned: false }
    }
}

/// Whether a trial does worse than the median of the complete ones on the folds that it has been through.
fn is_behind(trial: &Trial, known: &[Trial]) -> bool {
    let complete = known.iter().filter(|known| !known.pruned);
    let others = complete.map(|known| known.objective_after(trial.runs.len())).collect();
    median(others).is_some_and(|median| trial.objective() > median)
}

/// The best of the complete trials, the first of equals; none of none.
pub(super) fn best(trials: &[Trial]) -> Option<usize> {
    let complete = (0..trials.len()).filter(|&trial| !trials[trial].pruned);
    complete.min_by(|&left, &right| trials[left].objective().total_cmp(&trials[right].objective()))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Mutex;

    use par_model::Mean;

    use super::*;

    fn run(objective: f64) -> Run {
        let mean = Mean { mean: Some(objective), over: 1, of: 1 };
        Run {
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

    /// The objective is how far weights are from five times the start's, and the fold's number.
    fn far(config: &Config, fold: usize) -> Result<Run, Infallible> {
        let loss = &config.generator.loss;
        let weights = [(loss.validity, 25.0), (loss.sparsity, 2.5), (loss.teaching, 10.0)];
        let far: f64 = weights.iter().map(|(weight, best)| (weight / best).ln().abs()).sum();
        Ok(run(far + fold as f64))
    }

    fn plan(start: &Config, trials: usize, seed: u64) -> Plan<'_> {
        Plan { start, trials, folds: 3, seed }
    }

    #[test]
    fn the_search_comes_nearer_and_gives_up_what_is_far() {
        let start = Config::default();
        let trials = plan(&start, 40, 0).search(&far, &|_| {}).expect("it cannot fail");
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
    fn a_start_that_nothing_beats_stays_the_best() {
        let start = Config::default();
        let measure = |config: &Config, _| Ok::<_, Infallible>(run(if *config == start { 1.0 } else { 2.0 }));
        let trials = plan(&start, 13, 0).search(&measure, &|_| {}).expect("it cannot fail");
        assert_eq!(best(&trials), Some(0));
        let alike = |_: &Config, _| Ok::<_, Infallible>(run(1.0));
        let trials = plan(&start, 5, 0).search(&alike, &|_| {}).expect("it cannot fail");
        assert_eq!(best(&trials), Some(0));
        assert!(trials.iter().all(|trial| !trial.pruned), "equals are not behind");
    }

    #[test]
    fn trials_are_those_of_the_seed() {
        let start = Config::default();
        let configs = |seed| {
            let trials = plan(&start, 12, seed).search(&far, &|_| {}).expect("it cannot fail");
            trials.into_iter().map(|trial| trial.config).collect::<Vec<_>>()
        };
        assert_eq!(configs(3), configs(3));
        assert_ne!(configs(3), configs(4));
    }

    #[test]
    fn progress_ends_where_it_said_it_would() {
        let start = Config::default();
        let told = Mutex::new(Vec::new());
        let trials =
            plan(&start, 20, 0).search(&far, &|progress| told.lock().expect("a list").push(progress));
        let runs: usize = trials.expect("it cannot fail").iter().map(|trial| trial.runs.len()).sum();
        let told = told.into_inner().expect("a list");
        assert_eq!(told.len(), runs);
        let last = told.iter().max_by_key(|progress| progress.done).expect("a step");
        assert_eq!((last.done, last.trials), (runs, 20));
        assert!(last.of >= runs && told[0].of == 60);
    }

    #[test]
    fn what_cannot_be_measured_ends_the_search() {
        let start = Config::default();
        let measure = |config: &Config, fold| match *config == start || fold == 0 {
            true => Ok(run(1.0)),
            false => Err("no model"),
        };
        assert_eq!(plan(&start, 9, 0).search(&measure, &|_| {}).err(), Some("no model"));
    }
}
