//! Work that can be stopped from outside.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Says when to stop: long work asks often, from any of its threads, and then ends with [`Stopped`].
///
/// It is asked rather than told, so that a flag, a deadline or a test can answer; and apart from progress, since
/// most of the work is done on other threads than the one that hears of progress.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// use par_circuit::learn::{LearnConfig, learn_with_progress};
/// use par_circuit::{Dataset, LearnError, Stop};
///
/// let rows = Dataset::new(vec![2, 2], vec![0, 0, 1, 1])?;
/// let deadline = Instant::now() - Duration::from_millis(1);
/// let is_over = || Instant::now() > deadline;
/// let learned =
///     learn_with_progress(&rows, None, &LearnConfig::default(), &mut |_| {}, Stop::when(&is_over));
/// assert!(matches!(learned, Err(LearnError::Stopped(_))));
/// # Ok::<(), par_circuit::DatasetError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Stop<'a>(&'a (dyn Fn() -> bool + Sync));

/// Work was stopped before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped before it was done")]
pub struct Stopped;

impl<'a> Stop<'a> {
    /// Work goes on to its end.
    pub fn never() -> Self {
        Self(&|| false)
    }

    /// Work ends soon after `asked` says `true`, from when on it should say nothing else. It may be asked a
    /// hundred thousand times a second, so it should know at once.
    pub fn when(asked: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self(asked)
    }

    /// # Errors
    /// When it is time to stop.
    #[inline]
    pub fn check(self) -> Result<(), Stopped> {
        if (self.0)() { Err(Stopped) } else { Ok(()) }
    }
}

impl fmt::Debug for Stop<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Stop")
    }
}

/// How long [`watched`] waits before it asks again.
const PATIENCE: Duration = Duration::from_millis(20);

/// Does `work` on a thread of its own, while this one asks every 20 ms whether to stop it: for those who can only be
/// asked here, as an interpreter whose signals reach its main thread alone.
///
/// It returns when the work has ended, stopped or not. Threads of a rayon pool should not watch: the
/// work may need them.
///
/// ```
/// use par_circuit::{Stop, Stopped, watched};
///
/// let forever = |stop: Stop<'_>| -> Result<(), Stopped> {
///     loop {
///         stop.check()?;
///     }
/// };
/// let mut asked = 0;
/// let third_time = || {
///     asked += 1;
///     asked == 3
/// };
/// assert_eq!(watched(third_time, forever), Err(Stopped));
/// ```
///
/// # Panics
/// When the work does, or there can be no other thread.
pub fn watched<R: Send>(mut is_over: impl FnMut() -> bool, work: impl FnOnce(Stop<'_>) -> R + Send) -> R {
    let stopped = AtomicBool::new(false);
    let asked = || stopped.load(Ordering::Relaxed);
    thread::scope(|scope| {
        let (working, ended) = mpsc::channel::<()>();
        let asked = &asked;
        let worker = scope.spawn(move || {
            // Dropped when the work ends, in whatever way, which is how the watcher hears of it.
            let _working = working;
            work(Stop::when(asked))
        });
        while ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            // Whoever said so once is not asked again.
            if !asked() && is_over() {
                stopped.store(true, Ordering::Relaxed);
            }
        }
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_ends_by_itself_is_not_kept_waiting() {
        let start = std::time::Instant::now();
        assert_eq!(watched(|| panic!("too early to ask"), |_| 7), 7);
        assert!(start.elapsed() < PATIENCE);
    }

    #[test]
    fn who_watches_hears_of_a_panic() {
        let work = |_: Stop<'_>| panic!("a broken invariant");
        let panic = std::panic::catch_unwind(|| watched(|| false, work)).expect_err("a panic");
        assert_eq!(panic.downcast_ref(), Some(&"a broken invariant"));
    }
}
