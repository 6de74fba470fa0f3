//! Cancellation of long work.

use std::fmt;
use std::time::Instant;

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
pub struct Stop<'a> {
    is_over: &'a (dyn Fn() -> bool + Sync),
    deadline: Option<Instant>,
}

/// The work was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped before it was done")]
pub struct Stopped;

impl<'a> Stop<'a> {
    /// Never stops.
    pub fn never() -> Self {
        Self::when(&|| false)
    }

    /// Stops soon after `is_over` first returns `true`, which it must go on returning. It is called up to a
    /// hundred thousand times a second, so it should only read a flag or a clock.
    pub fn when(is_over: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self { is_over, deadline: None }
    }

    /// Stops at a time as well, if there is one. Where there is no clock (`wasm32-unknown-unknown`), asking for the
    /// time panics: pass `None`.
    #[must_use]
    pub fn by(self, deadline: Option<Instant>) -> Self {
        Self { deadline: self.deadline.into_iter().chain(deadline).min(), ..self }
    }

    /// # Errors
    /// When the work should stop.
    #[inline]
    pub fn check(self) -> Result<(), Stopped> {
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_late || (self.is_over)() { Err(Stopped) } else { Ok(()) }
    }
}

impl fmt::Debug for Stop<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Stop")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_earlier_of_two_deadlines_counts() {
        let now = Instant::now();
        let (past, later) = (Some(now), now.checked_add(Duration::from_secs(3600)));
        assert!(Stop::never().check().is_ok() && Stop::never().by(later).check().is_ok());
        assert!(Stop::never().by(past).check().is_err());
        assert!(Stop::never().by(past).by(later).by(None).check().is_err());
        assert!(Stop::when(&|| true).by(later).check().is_err());
    }
}
