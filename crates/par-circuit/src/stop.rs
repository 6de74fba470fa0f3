//! Cancellation of long work.

use std::fmt;

/// Tells long work to stop. The work polls it on all its threads, and ends with [`Stopped`].
///
/// A closure, so that it can read a flag or a deadline. Apart from progress, since most of the work is done
/// on other threads than the one that reports progress.
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

/// The work was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped before it was done")]
pub struct Stopped;

impl<'a> Stop<'a> {
    /// Never stops.
    pub fn never() -> Self {
        Self(&|| false)
    }

    /// Stops soon after `is_over` first returns `true`, which it must go on returning. It is called up to a
    /// hundred thousand times a second, so it should only read a flag or a clock.
    pub fn when(is_over: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self(is_over)
    }

    /// # Errors
    /// When the work should stop.
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
