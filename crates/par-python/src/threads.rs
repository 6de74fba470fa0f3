//! Work on threads of our own with the interpreter's lock released, while the calling thread listens: for how far the
//! work is, and for Ctrl-C, which Python hands to the main thread alone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors;

/// How far some work is.
#[derive(PartialEq)]
pub(crate) struct Progress {
    /// What is being done.
    pub(crate) stage: &'static str,
    pub(crate) done: usize,
    /// Of how many, where that is known.
    pub(crate) of: Option<usize>,
}

/// What work has of the thread that asked for it.
pub(crate) struct Caller<'a> {
    is_gone: &'a AtomicBool,
    /// Work tells from one thread, and asks from all.
    progress: Mutex<Sender<Progress>>,
}

impl Caller<'_> {
    /// Whether nobody waits for the work any more.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
    }

    pub(crate) fn tell(&self, stage: &'static str, done: usize, of: Option<usize>) {
        let sender = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever does not listen any more is not told.
        let _ = sender.send(Progress { stage, done, of });
    }
}

/// How often the calling thread looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

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
        // The caller, and with it the sender, ends with the work, well or not.
        let worker = scope.spawn(move || threads.install(move || work(&caller)));
        let mut interrupted = Ok(());
        loop {
            let ear = &mut receiver;
            let heard = py.detach(move || ear.recv_timeout(LOOK));
            if heard == Err(RecvTimeoutError::Disconnected) {
                break;
            }
            if interrupted.is_err() {
                continue;
            }
            let told = match (heard, listener) {
                (Ok(Progress { stage, done, of }), Some(listener)) => {
                    listener.call1((stage, done, of)).map(drop)
                }
                _ => Ok(()),
            };
            interrupted = told.and_then(|()| py.check_signals());
            is_gone.store(interrupted.is_err(), Ordering::Relaxed);
        }
        let done = py.detach(|| worker.join());
        interrupted?;
        done.map_err(|_| errors::par("the work ended in a panic, which is a bug"))
    })
}

/// The threads of this process. One that was forked from another inherits none of them, so that it makes its own.
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
    // What was inherited would wait for threads that stayed behind, for ever.
    std::mem::forget(threads.replace((process, Arc::clone(&own))));
    Ok(own)
}
