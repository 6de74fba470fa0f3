//! Threads that answer, each with its own solver.
//!
//! They are not the threads of connections, so a long search delays no connection. Work ends when its client leaves.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use par_answer::Solver;
use par_circuit::Stop;
use tokio::sync::oneshot;

use crate::models::ServedModel;

/// Jobs of requests that are taken before one job of a stream.
const WAITING_PER_STREAM_JOB: usize = 3;

/// How long an idle thread keeps its solver, which keeps the model in memory.
const IDLE_TIME: Duration = Duration::from_secs(1);

/// Held as long as a client waits for answers: work for it ends once this is dropped.
#[derive(Default)]
pub(crate) struct Client(Arc<()>);

/// Says whether a client still waits.
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

/// Work for a solver of a model.
struct Job {
    model: Arc<ServedModel>,
    urgency: Urgency,
    client: ClientWatch,
    work: Box<Work>,
}

type Work = dyn FnOnce(&mut Solver<'_>, &RowTimer<'_>) + Send;

/// How soon a job should run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// The one row of a request, with its deadline.
    One(Instant),
    /// Some rows of a request with many, which share a deadline.
    Many(Instant),
    /// Some rows of a stream, each with its own deadline.
    Stream,
}

/// Starts the clock of each row of a job.
pub(crate) struct RowTimer<'a>(&'a dyn Fn() -> bool);

impl RowTimer<'_> {
    /// Starts the time of a row; returns whether the client still waits.
    pub(crate) fn start_row(&self) -> bool {
        (self.0)()
    }
}

/// The threads. When this is dropped, each ends after its present job.
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
    /// Jobs of requests, numbered in the order they came.
    one: VecDeque<(u64, Job)>,
    many: VecDeque<(u64, Job)>,
    streams: VecDeque<Job>,
    next_number: u64,
    /// Jobs of requests taken since the last job of a stream.
    taken: usize,
    closed: bool,
}

/// The jobs that a thread takes.
#[derive(Clone, Copy)]
enum JobFilter {
    All,
    /// Only requests of one row, so that bulk requests never take all threads.
    One,
}

/// When the present search has to end.
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
    /// Starts `threads` for all jobs, and one more for requests of one row. `time` is how long a row of a stream may take.
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

    /// Queues work for a solver of the model. The receiver fails if the work panics, does not begin by its deadline, or its
    /// client leaves.
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        model: &Arc<ServedModel>,
        urgency: Urgency,
        client: &ClientWatch,
        work: impl FnOnce(&mut Solver<'_>, &RowTimer<'_>) -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (reply, answer) = oneshot::channel();
        let work = move |solver: &mut Solver<'_>, timer: &RowTimer<'_>| {
            // Fails if the client has left meanwhile.
            let _ = reply.send(work(solver, timer));
        };
        let (model, client) = (Arc::clone(model), client.clone());
        self.queue.push(Job { model, urgency, client, work: Box::new(work) });
        answer
    }

    /// How many jobs wait for a thread.
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
        // Waking one thread might wake one that does not take the job.
        self.changed.notify_all();
    }

    /// Waits for the next job; `None` when the queue is closed or `timeout` has passed.
    fn pop(&self, filter: JobFilter, timeout: Option<Duration>) -> Option<Job> {
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
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

    /// Runs jobs, with the same solver as long as the model stays the same. An idle thread drops both, since the model may
    /// have been replaced.
    fn work(&self, filter: JobFilter, time: Duration) {
        let mut next = None;
        while let Some(first) = next.or_else(|| self.pop(filter, None)) {
            let model = Arc::clone(&first.model);
            let limit = Mutex::new(SearchLimit { deadline: Instant::now(), client: first.client.clone() });
            let is_over = || limit.lock().unwrap_or_else(PoisonError::into_inner).is_over();
            let mut solver = Solver::new(&model).until(Stop::when(&is_over));
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
                // A job that has not begun by its deadline is dropped.
                let work = || if is_over() { drop(work) } else { work(&mut solver, &RowTimer(&begin)) };
                let done = catch_unwind(AssertUnwindSafe(work));
                match self.pop(filter, Some(IDLE_TIME)) {
                    Some(other) if done.is_ok() && Arc::ptr_eq(&other.model, &model) => job = other,
                    // After a panic the state of the solver is unknown.
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

    /// The job of a request that has waited longest.
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
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../par/tests/fixtures/version_1.par");
        let models = Models::load(&[("a".to_string(), file)]).expect("a model");
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
    fn work_without_a_client_is_not_done() {
        let (model, workers, client) = (model(), workers(), Client::default());
        let (go, wait) = mpsc::channel::<()>();
        let many = Urgency::Many(soon());
        let first = workers.ask(&model, many, &client.watch(), move |_, _| wait.recv().is_ok());
        let (sender, receiver) = mpsc::channel();
        let _answer = workers.ask(&model, many, &Client::default().watch(), move |_, _| sender.send("done"));
        go.send(()).expect("the first waits");
        assert_eq!(first.blocking_recv(), Ok(true));
        let last = workers.ask(&model, many, &client.watch(), |_, _| ());
        assert_eq!(last.blocking_recv(), Ok(()));
        assert!(receiver.recv().is_err(), "it was never done");
        assert_eq!(workers.queued(), 0);
    }

    #[test]
    fn work_ends_when_its_client_leaves() {
        let (model, workers) = (model(), workers());
        for urgency in [Urgency::One(soon()), Urgency::Many(soon()), Urgency::Stream] {
            let client = Client::default();
            let (sender, receiver) = mpsc::channel();
            let search = move |solver: &mut Solver<'_>, timer: &RowTimer<'_>| {
                sender.send(()).expect("the test waits");
                while !solver.is_stopped() {
                    std::thread::yield_now();
                }
                assert!(!timer.start_row());
            };
            let answer = workers.ask(&model, urgency, &client.watch(), search);
            receiver.recv().expect("it begins");
            drop(client);
            assert_eq!(answer.blocking_recv(), Ok(()));
        }
    }

    #[test]
    fn bulk_requests_leave_a_thread_for_single_questions() {
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
    fn requests_come_first_and_streams_have_their_turns() {
        let (model, workers, client) = (model(), workers(), Client::default());
        let (go, wait) = mpsc::channel::<()>();
        let many = Urgency::Many(soon());
        let first = workers.ask(&model, many, &client.watch(), move |_, _| wait.recv().is_ok());
        let (sender, receiver) = mpsc::channel();
        let mut answers = Vec::new();
        for (urgency, name) in [(Urgency::Stream, 's'), (many, 'w')] {
            for _ in 0..6 {
                let sender = sender.clone();
                answers.push(workers.ask(&model, urgency, &client.watch(), move |_, _| sender.send(name)));
            }
        }
        go.send(()).expect("the first waits");
        assert_eq!(first.blocking_recv(), Ok(true));
        drop(sender);
        let order: String = receiver.iter().collect();
        assert_eq!(order.len(), 12);
        let streams_before = |end: usize| order[..end].matches('s').count();
        assert!(streams_before(4) <= 2 && streams_before(8) >= 2, "{order}");
    }

    #[test]
    fn jobs_of_another_model_get_a_solver_of_their_own() {
        let (one, other) = (model(), model());
        let (workers, client) = (workers(), Client::default());
        for model in [&one, &other, &one] {
            let row = vec!["?"; model.schema().features().len()];
            let answered = workers.ask(model, Urgency::Stream, &client.watch(), move |solver, _| {
                solver.answer(&row, &par_answer::Request::default()).is_err()
            });
            assert!(answered.blocking_recv().is_ok());
        }
    }
}
