//! Threads that answer, each with a solver of its own.
//!
//! Answers are found apart from the threads that talk to clients, so that a long search keeps nobody from being heard. Work
//! ends when its client has left.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use par_recourse::{Solver, Stop};
use tokio::sync::oneshot;

use crate::models::ServedModel;

/// After so many jobs of people who wait, one of the streams has its turn.
const WAITING_PER_STREAM_JOB: usize = 3;

/// So long a thread keeps its solver, and with it the model, when it has nothing to do.
const IDLE_TIME: Duration = Duration::from_secs(1);

/// Held by whoever wants to hear an answer: once it is dropped, work for it ends.
#[derive(Default)]
pub(crate) struct Client(Arc<()>);

/// Knows whether a client is still there.
#[derive(Clone)]
pub(crate) struct ClientWatch(Weak<()>);

impl Client {
    pub(crate) fn watch(&self) -> ClientWatch {
        ClientWatch(Arc::downgrade(&self.0))
    }
}

impl ClientWatch {
    pub(crate) fn is_there(&self) -> bool {
        self.0.strong_count() > 0
    }
}

/// Something to be done with a solver of a model.
struct Job {
    model: Arc<ServedModel>,
    urgency: Urgency,
    client: ClientWatch,
    work: Box<Work>,
}

type Work = dyn FnOnce(&mut Solver<'_>, &RowTimer<'_>) + Send;

/// How soon a job is to be done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// Somebody waits for one answer, until then.
    One(Instant),
    /// A piece of a request with many rows, which share their time.
    Many(Instant),
    /// A piece of a stream, whose rows have their own time.
    Stream,
}

/// What a job asks before each of its rows.
pub(crate) struct RowTimer<'a>(&'a dyn Fn() -> bool);

impl RowTimer<'_> {
    /// Begins the time of a row; whether its client is still there.
    pub(crate) fn start_row(&self) -> bool {
        (self.0)()
    }
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
    /// Those that example_row waits for, with their numbers in the order they came.
    one: VecDeque<(u64, Job)>,
    many: VecDeque<(u64, Job)>,
    streams: VecDeque<Job>,
    next_number: u64,
    /// How many of those waiting were taken since one of the streams.
    taken: usize,
    closed: bool,
}

/// Which jobs a thread filter.
#[derive(Clone, Copy)]
enum JobFilter {
    All,
    /// Those of one row alone, so that however much is asked in bulk, single questions have a thread.
    One,
}

/// When the search at hand has to end.
struct SearchLimit {
    deadline: Instant,
    client: ClientWatch,
}

impl SearchLimit {
    fn is_over(&self) -> bool {
        !self.client.is_there() || Instant::now() >= self.deadline
    }
}

impl Workers {
    /// So many threads for everything, and one more for single questions. `time` is how long a row of a stream may take.
    pub(crate) fn new(threads: usize, time: Duration) -> std::io::Result<Self> {
        let workers = Self { queue: Arc::default() };
        let spawn = |name: String, filter: JobFilter| {
            let queue = Arc::clone(&workers.queue);
            std::thread::Builder::new().name(name).spawn(move || queue.work(filter, time)).map(|_| ())
        };
        for number in 1..=threads.max(1) {
            spawn(format!("answers-{number}"), JobFilter::All)?;
        }
        spawn("answers-one".to_string(), JobFilter::One)?;
        Ok(workers)
    }

    /// Has something done with a solver of the model. The answer never comes if the work panics, if it has not begun by its
    /// deadline, or if the client leaves.
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        model: &Arc<ServedModel>,
        urgency: Urgency,
        client: &ClientWatch,
        work: impl FnOnce(&mut Solver<'_>, &RowTimer<'_>) -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (reply, answer) = oneshot::channel();
        let work = move |solver: &mut Solver<'_>, timer: &RowTimer<'_>| {
            // Clients who have left meanwhile are not told.
            let _ = reply.send(work(solver, timer));
        };
        let (model, client) = (Arc::clone(model), client.clone());
        self.queue.push(Job { model, urgency, client, work: Box::new(work) });
        answer
    }

    /// How many jobs nobody has begun.
    pub(crate) fn queued(&self) -> usize {
        let jobs = self.queue.lock();
        jobs.one.len() + jobs.many.len() + jobs.streams.len()
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
        let number = jobs.next_number;
        jobs.next_number += 1;
        match job.urgency {
            Urgency::One(_) => jobs.one.push_back((number, job)),
            Urgency::Many(_) => jobs.many.push_back((number, job)),
            Urgency::Stream => jobs.streams.push_back(job),
        }
        drop(jobs);
        // A single one might wake a thread that does not take the job.
        self.changed.notify_all();
    }

    /// The next job, when there is one; nothing when there will be none, or has been none for so long.
    fn pop(&self, filter: JobFilter, patience: Option<Duration>) -> Option<Job> {
        let deadline = patience.map(|patience| Instant::now() + patience);
        let mut jobs = self.lock();
        loop {
            if let Some(job) = jobs.next(filter) {
                return Some(job);
            }
            if jobs.closed {
                return None;
            }
            jobs = match deadline {
                None => self.changed.wait(jobs).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return None;
                    }
                    self.changed.wait_timeout(jobs, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Does one job after the other, with the same solver as long as they are of one model. A thread that has nothing to do
    /// lets go of both: the model may have been replaced.
    fn work(&self, filter: JobFilter, time: Duration) {
        let mut next = None;
        while let Some(first) = next.or_else(|| self.pop(filter, None)) {
            let model = Arc::clone(&first.model);
            let limit = Mutex::new(SearchLimit { deadline: Instant::now(), client: first.client.clone() });
            let is_over = || limit.lock().unwrap_or_else(PoisonError::into_inner).is_over();
            let mut solver = model.bundle().solver().until(Stop::when(&is_over));
            let mut job = first;
            next = loop {
                let Job { urgency, client, work, .. } = job;
                let begin = || {
                    let deadline = match urgency {
                        Urgency::One(deadline) | Urgency::Many(deadline) => deadline,
                        Urgency::Stream => Instant::now() + time,
                    };
                    *limit.lock().unwrap_or_else(PoisonError::into_inner) =
                        SearchLimit { deadline, client: client.clone() };
                    client.is_there()
                };
                begin();
                // Nobody waits for what has not begun by its deadline.
                let work = || if is_over() { drop(work) } else { work(&mut solver, &RowTimer(&begin)) };
                let done = catch_unwind(AssertUnwindSafe(work));
                match self.pop(filter, Some(IDLE_TIME)) {
                    Some(other) if done.is_ok() && Arc::ptr_eq(&other.model, &model) => job = other,
                    // After a panic the solver's memory may be anything.
                    other => break other,
                }
            };
        }
    }
}

impl Jobs {
    fn next(&mut self, filter: JobFilter) -> Option<Job> {
        if matches!(filter, JobFilter::One) {
            return self.one.pop_front().map(|(_, job)| job);
        }
        if self.taken < WAITING_PER_STREAM_JOB || self.streams.is_empty() {
            self.taken += 1;
            self.next_waiting().or_else(|| self.streams.pop_front())
        } else {
            self.taken = 0;
            self.streams.pop_front()
        }
    }

    /// The one that has waited longest.
    fn next_waiting(&mut self) -> Option<Job> {
        let number = |jobs: &VecDeque<(u64, Job)>| jobs.front().map_or(u64::MAX, |(number, _)| *number);
        let jobs = if number(&self.one) <= number(&self.many) { &mut self.one } else { &mut self.many };
        jobs.pop_front().map(|(_, job)| job)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::mpsc;

    use super::*;
    use crate::models::Models;

    fn model() -> Arc<ServedModel> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../par-recourse/tests/fixtures/version_1.par");
        let models = Models::load(&[("a".to_string(), file)]).expect("a bundle");
        models.get(None).expect("there is one")
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    fn workers() -> Workers {
        Workers::new(1, Duration::from_secs(60)).expect("threads")
    }

    #[test]
    fn a_job_that_panics_is_not_answered_and_the_next_one_is() {
        let (model, workers, client) = (model(), workers(), Client::default());
        for urgency in [Urgency::One(soon()), Urgency::Many(soon()), Urgency::Stream] {
            let broken = workers
                .ask(&model, urgency, &client.watch(), |_, _| -> usize { panic!("a bug of the test") });
            assert!(broken.blocking_recv().is_err());
            let whole = workers.ask(&model, urgency, &client.watch(), |_, _| 7);
            assert_eq!(whole.blocking_recv(), Ok(7));
        }
    }

    #[test]
    fn what_nobody_waits_for_is_not_done() {
        let (model, workers, client) = (model(), workers(), Client::default());
        let (go, wait) = mpsc::channel::<()>();
        let many = Urgency::Many(soon());
        let first = workers.ask(&model, many, &client.watch(), move |_, _| wait.recv().is_ok());
        let (tell, told) = mpsc::channel();
        let _answer = workers.ask(&model, many, &Client::default().watch(), move |_, _| tell.send("done"));
        go.send(()).expect("the first waits");
        assert_eq!(first.blocking_recv(), Ok(true));
        let last = workers.ask(&model, many, &client.watch(), |_, _| ());
        assert_eq!(last.blocking_recv(), Ok(()));
        assert!(told.recv().is_err(), "it was never done");
        assert_eq!(workers.queued(), 0);
    }

    #[test]
    fn work_ends_when_its_client_leaves() {
        let (model, workers) = (model(), workers());
        for urgency in [Urgency::One(soon()), Urgency::Many(soon()), Urgency::Stream] {
            let client = Client::default();
            let (tell, told) = mpsc::channel();
            let search = move |solver: &mut Solver<'_>, timer: &RowTimer<'_>| {
                tell.send(()).expect("the test waits");
                while !solver.is_stopped() {
                    std::thread::yield_now();
                }
                assert!(!timer.start_row());
            };
            let answer = workers.ask(&model, urgency, &client.watch(), search);
            told.recv().expect("it begins");
            drop(client);
            assert_eq!(answer.blocking_recv(), Ok(()));
        }
    }

    #[test]
    fn single_questions_have_a_thread_however_much_is_asked_in_bulk() {
        let (model, workers, client) = (model(), workers(), Client::default());
        for urgency in [Urgency::Many(soon()), Urgency::Stream] {
            let (go, wait) = mpsc::channel::<()>();
            let bulk = workers.ask(&model, urgency, &client.watch(), move |_, _| wait.recv().is_ok());
            for number in 0..3 {
                let one = workers.ask(&model, Urgency::One(soon()), &client.watch(), move |_, _| number);
                assert_eq!(one.blocking_recv(), Ok(number));
            }
            go.send(()).expect("it waits");
            assert_eq!(bulk.blocking_recv(), Ok(true));
        }
    }

    #[test]
    fn those_who_wait_come_first_and_streams_have_their_turns() {
        let (model, workers, client) = (model(), workers(), Client::default());
        let (go, wait) = mpsc::channel::<()>();
        let many = Urgency::Many(soon());
        let first = workers.ask(&model, many, &client.watch(), move |_, _| wait.recv().is_ok());
        let (tell, told) = mpsc::channel();
        let mut answers = Vec::new();
        for (urgency, name) in [(Urgency::Stream, 's'), (many, 'w')] {
            for _ in 0..6 {
                let tell = tell.clone();
                answers.push(workers.ask(&model, urgency, &client.watch(), move |_, _| tell.send(name)));
            }
        }
        go.send(()).expect("the first waits");
        assert_eq!(first.blocking_recv(), Ok(true));
        drop(tell);
        let order: String = told.iter().collect();
        assert_eq!(order.len(), 12);
        let streams_before = |end: usize| order[..end].matches('s').count();
        assert!(streams_before(4) <= 2 && streams_before(8) >= 2, "{order}");
    }

    #[test]
    fn jobs_of_another_model_get_a_solver_of_their_own() {
        let (one, other) = (model(), model());
        let (workers, client) = (workers(), Client::default());
        for model in [&one, &other, &one] {
            let row = vec!["?"; model.bundle().schema().features().len()];
            let answered = workers.ask(model, Urgency::Stream, &client.watch(), move |solver, _| {
                solver.answer(&row, &par_recourse::Request::default()).is_err()
            });
            assert!(answered.blocking_recv().is_ok());
        }
    }
}
