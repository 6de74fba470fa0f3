//! Runs work on our own threads without the interpreter's lock, while the calling thread waits for progress and for
//! Ctrl-C, which Python delivers only to the main thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors;

/// The progress of some work.
#[derive(PartialEq)]
pub(crate) struct WorkProgress {
    /// The current stage.
    pub(crate) stage: &'static str,
    pub(crate) done: usize,
    /// The total, if known.
    pub(crate) of: Option<usize>,
}

/// The connection of work to the calling thread.
pub(crate) struct Caller<'a> {
    is_gone: &'a AtomicBool,
    /// Locked, because all threads share the caller and a sender is not `Sync`.
    progress: Mutex<Sender<WorkProgress>>,
}

impl Caller<'_> {
    /// Whether the calling thread has given up, so that the work should stop.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
    }

    pub(crate) fn report(&self, stage: &'static str, done: usize, of: Option<usize>) {
        let sender = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        // A caller that has stopped receiving misses nothing.
        let _ = sender.send(WorkProgress { stage, done, of });
    }
}

/// The calling thread checks for Ctrl-C in this interval.
const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Runs something on all threads. `listener`, if there is one, is called with `(stage, done, of)` as the work goes on.
///
/// # Errors
/// When Ctrl-C was pressed or the listener raised an exception; the work has ended by then.
pub(crate) fn work<T: Send>(
    py: Python<'_>,
    listener: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Caller<'_>) -> T + Send,
) -> PyResult<T> {
    let threads = threads()?;
    let (progress, mut receiver) = mpsc::channel();
    let is_gone = AtomicBool::new(false);
    let caller = Caller { is_gone: &is_gone, progress: Mutex::new(progress) };
    std::thread::scope(|scope| {
        // The sender is dropped with the work, even after a panic, which ends the loop below.
        let worker = scope.spawn(move || threads.install(move || work(&caller)));
        let mut interrupted = Ok(());
        loop {
            let receiver = &mut receiver;
            let received = py.detach(move || receiver.recv_timeout(SIGNAL_CHECK_INTERVAL));
            if received == Err(RecvTimeoutError::Disconnected) {
                break;
            }
            if interrupted.is_err() {
                continue;
            }
            let called = match (received, listener) {
                (Ok(WorkProgress { stage, done, of }), Some(listener)) => {
                    listener.call1((stage, done, of)).map(drop)
                }
                _ => Ok(()),
            };
            interrupted = called.and_then(|()| py.check_signals());
            is_gone.store(interrupted.is_err(), Ordering::Relaxed);
        }
        let done = py.detach(|| worker.join());
        interrupted?;
        done.map_err(|_| errors::par("the work ended in a panic, which is a bug"))
    })
}

/// The thread pool and the process that it belongs to. A forked process inherits no threads, so it makes its own pool.
static THREADS: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

fn threads() -> PyResult<Arc<ThreadPool>> {
    let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((owner, threads)) = &*threads
        && *owner == process
    {
        return Ok(Arc::clone(threads));
    }
    let own = ThreadPoolBuilder::new().build().map_err(|error| errors::par(&error.to_string()))?;
    let own = Arc::new(own);
    // Dropping an inherited pool would wait forever for threads that do not exist here.
    std::mem::forget(threads.replace((process, Arc::clone(&own))));
    Ok(own)
}
