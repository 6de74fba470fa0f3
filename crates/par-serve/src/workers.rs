//! Threads that answer, each with a solver of its own.
//!
//! Answers are found apart from the threads that talk to clients, so that a long search keeps nobody from being heard.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use par_recourse::{Solver, Stop};
use tokio::sync::oneshot;

use crate::models::Model;

/// After so many jobs of people who wait, one of those that come in bulk has its turn.
const TURNS: usize = 3;

/// So long a thread keeps its solver, and with it the model, when it has nothing to do.
const IDLE: Duration = Duration::from_secs(1);

/// Something to be done with a solver of a model.
struct Job {
    model: Arc<Model>,
    /// When a search has to end; from when it begins, where nobody waits.
    deadline: Option<Instant>,
    work: Box<Work>,
}

/// Calls its second argument whenever the time of a search begins anew.
type Work = dyn FnOnce(&mut Solver<'_>, &dyn Fn()) + Send;

/// How soon a job is to be done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// Somebody waits for it, until then.
    Waiting(Instant),
    /// One piece of many.
    Bulk,
}

/// The threads. They end when this is dropped, each with its job.
pub(crate) struct Workers {
    queue: Arc<Queue>,
}

#[derive(Default)]
struct Queue {
    jobs: Mutex<Jobs>,
    changed: Condvar,
}

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    bulk: VecDeque<Job>,
    /// How many of those waiting were taken since one of the bulk.
    taken: usize,
    closed: bool,
}

impl Workers {
    /// `time` is how long a search of a job in bulk may take.
    pub(crate) fn new(threads: usize, time: Duration) -> std::io::Result<Self> {
        let workers = Self { queue: Arc::default() };
        for number in 1..=threads.max(1) {
            let queue = Arc::clone(&workers.queue);
            let name = format!("answers-{number}");
            std::thread::Builder::new().name(name).spawn(move || queue.work(time))?;
        }
        Ok(workers)
    }

    /// Has something done with a solver of the model. The answer never comes if the work panics, or if it has not begun
    /// by its deadline or when nobody waits for it any more.
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        model: &Arc<Model>,
        urgency: Urgency,
        work: impl FnOnce(&mut Solver<'_>) -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        self.ask_each(model, urgency, |solver, _| work(solver))
    }

    /// The same for work on several rows, which calls its second argument before each, so that all have the same time.
    pub(crate) fn ask_each<T: Send + 'static>(
        &self,
        model: &Arc<Model>,
        urgency: Urgency,
        work: impl FnOnce(&mut Solver<'_>, &dyn Fn()) -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (reply, answer) = oneshot::channel();
        let work = move |solver: &mut Solver<'_>, next: &dyn Fn()| {
            if !reply.is_closed() {
                // Whoever has gone meanwhile is not told.
                let _ = reply.send(work(solver, next));
            }
        };
        let deadline = match urgency {
            Urgency::Waiting(deadline) => Some(deadline),
            Urgency::Bulk => None,
        };
        self.queue.push(Job { model: Arc::clone(model), deadline, work: Box::new(work) });
        answer
    }

    /// How many jobs nobody has begun.
    pub(crate) fn queued(&self) -> usize {
        let jobs = self.queue.lock();
        jobs.waiting.len() + jobs.bulk.len()
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.queue.lock().closed = true;
        self.queue.changed.notify_all();
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, job: Job) {
        let mut jobs = self.lock();
        if job.deadline.is_some() {
            jobs.waiting.push_back(job);
        } else {
            jobs.bulk.push_back(job);
        }
        drop(jobs);
        self.changed.notify_one();
    }

    /// The next job, when there is one; nothing when there will be none, or has been none for so long.
    fn pop(&self, patience: Option<Duration>) -> Option<Job> {
        let mut jobs = self.lock();
        loop {
            if let Some(job) = jobs.next() {
                return Some(job);
            }
            if jobs.closed {
                return None;
            }
            jobs = match patience {
                None => self.changed.wait(jobs).unwrap_or_else(PoisonError::into_inner),
                Some(patience) => {
                    let waited = self.changed.wait_timeout(jobs, patience);
                    let (jobs, waited) = waited.unwrap_or_else(PoisonError::into_inner);
                    if waited.timed_out() {
                        return None;
                    }
                    jobs
                }
            };
        }
    }

    /// Does one job after the other, with the same solver as long as they are of one model. Whoever has nothing to do lets go of
    /// both: the model may have been replaced.
    fn work(&self, time: Duration) {
        let mut next = None;
        while let Some(first) = next.or_else(|| self.pop(None)) {
            let model = Arc::clone(&first.model);
            let deadline = Mutex::new(Instant::now());
            let is_over = || Instant::now() >= *deadline.lock().unwrap_or_else(PoisonError::into_inner);
            let mut solver = model.bundle().solver().until(Stop::when(&is_over));
            let mut job = first;
            next = loop {
                let is_late = job.deadline.is_some_and(|deadline| Instant::now() >= deadline);
                let begin = || {
                    *deadline.lock().unwrap_or_else(PoisonError::into_inner) =
                        job.deadline.unwrap_or_else(|| Instant::now() + time);
                };
                begin();
                let work = || if is_late { drop(job.work) } else { (job.work)(&mut solver, &begin) };
                let done = catch_unwind(AssertUnwindSafe(work));
                match self.pop(Some(IDLE)) {
                    Some(other) if done.is_ok() && Arc::ptr_eq(&other.model, &model) => job = other,
                    // After a panic the solver's memory may be anything.
                    other => break other,
                }
            };
        }
    }
}

impl Jobs {
    fn next(&mut self) -> Option<Job> {
        if self.taken < TURNS || self.bulk.is_empty() {
            self.taken += 1;
            self.waiting.pop_front().or_else(|| self.bulk.pop_front())
        } else {
            self.taken = 0;
            self.bulk.pop_front()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::mpsc;

    use super::*;
    use crate::models::Models;

    fn model() -> Arc<Model> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../par-recourse/tests/fixtures/version_1.par");
        let models = Models::load(&[("a".to_string(), file)]).expect("a bundle");
        models.get(None).expect("there is one")
    }

    fn soon() -> Urgency {
        Urgency::Waiting(Instant::now() + Duration::from_secs(60))
    }

    #[test]
    fn a_job_that_panics_is_not_answered_and_the_next_one_is() {
        let (model, workers) = (model(), Workers::new(1, Duration::from_secs(60)).expect("a thread"));
        for _ in 0..3 {
            let broken = workers.ask(&model, soon(), |_| -> usize { panic!("a bug, as the test has it") });
            assert!(broken.blocking_recv().is_err());
            let whole = workers.ask(&model, soon(), |_| 7);
            assert_eq!(whole.blocking_recv(), Ok(7));
        }
    }

    #[test]
    fn what_nobody_waits_for_is_not_done() {
        let (model, workers) = (model(), Workers::new(1, Duration::from_secs(60)).expect("a thread"));
        let (go, wait) = mpsc::channel::<()>();
        let first = workers.ask(&model, soon(), move |_| wait.recv().is_ok());
        let (tell, told) = mpsc::channel();
        drop(workers.ask(&model, soon(), move |_| tell.send("done")));
        go.send(()).expect("the first waits");
        assert_eq!(first.blocking_recv(), Ok(true));
        let last = workers.ask(&model, soon(), |_| ());
        assert_eq!(last.blocking_recv(), Ok(()));
        assert!(told.recv().is_err(), "it was never done");
        assert_eq!(workers.queued(), 0);
    }

    #[test]
    fn those_who_wait_come_first_and_the_bulk_has_its_turns() {
        let (model, workers) = (model(), Workers::new(1, Duration::from_secs(60)).expect("a thread"));
        let (go, wait) = mpsc::channel::<()>();
        let first = workers.ask(&model, soon(), move |_| wait.recv().is_ok());
        let (tell, told) = mpsc::channel();
        let mut answers = Vec::new();
        for (urgency, name) in [(Urgency::Bulk, 'b'), (soon(), 'w')] {
            for _ in 0..6 {
                let tell = tell.clone();
                answers.push(workers.ask(&model, urgency, move |_| tell.send(name)));
            }
        }
        go.send(()).expect("the first waits");
        assert_eq!(first.blocking_recv(), Ok(true));
        drop(tell);
        let order: String = told.iter().collect();
        assert_eq!(order.len(), 12);
        let bulk_before = |end: usize| order[..end].matches('b').count();
        assert!(bulk_before(4) <= 2 && bulk_before(8) >= 2, "{order}");
    }

    #[test]
    fn jobs_of_another_model_get_a_solver_of_their_own() {
        let (one, other) = (model(), model());
        let workers = Workers::new(1, Duration::from_secs(60)).expect("a thread");
        for model in [&one, &other, &one] {
            let row = vec!["?"; model.bundle().schema().features().len()];
            let answered = workers.ask(model, Urgency::Bulk, move |solver| {
                solver.answer(&row, &par_recourse::Request::default()).is_err()
            });
            assert!(answered.blocking_recv().is_ok());
        }
    }
}
