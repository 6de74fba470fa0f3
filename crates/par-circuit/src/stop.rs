//! Work that can be stopped from outside.

use std::fmt;

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
