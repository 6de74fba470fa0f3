//! How many rows are done, on a terminal only: with their rate, and the time left.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

use crate::aligned::grouped;
use crate::rows::ExpectedRows;

/// Counts rows on a terminal.
pub(crate) struct RowProgress {
    spinner: ProgressBar,
    expected: ExpectedRows,
    start: Instant,
    /// Rows of this run.
    done: AtomicU64,
    /// Rows of earlier runs.
    before: u64,
}

impl RowProgress {
    /// `before` rows were done by an earlier run.
    pub(crate) fn new(expected: ExpectedRows, before: u64) -> Result<Self> {
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}")?;
        let spinner = ProgressBar::new_spinner().with_style(style);
        spinner.enable_steady_tick(Duration::from_millis(100));
        Ok(Self { spinner, expected, start: Instant::now(), done: AtomicU64::new(0), before })
    }

    /// Shows nothing.
    pub(crate) fn hidden() -> Self {
        let (spinner, expected) = (ProgressBar::hidden(), ExpectedRows::default());
        Self { spinner, expected, start: Instant::now(), done: AtomicU64::new(0), before: 0 }
    }

    /// Any thread may add the rows that it has done.
    pub(crate) fn add(&self, rows: usize) {
        let done = self.done.fetch_add(rows as u64, Ordering::Relaxed) + rows as u64;
        let all = self.expected.rows().map(|all| all.saturating_sub(self.before));
        let text = text(done, all, self.start.elapsed().as_secs_f64());
        self.spinner.set_message(match self.before {
            0 => text,
            before => format!("{} and {text}", grouped(before)),
        });
    }

    pub(crate) fn finish(self) {
        self.spinner.finish_and_clear();
    }
}

/// So many rows of about so many, their rate, and the time left.
pub(crate) fn text(done: u64, all: Option<u64>, seconds: f64) -> String {
    let rate = done as f64 / seconds.max(1e-9);
    let rows = grouped(done);
    match all.filter(|all| *all > 0) {
        Some(all) if done > 0 => {
            let left = all.saturating_sub(done) as f64 / rate.max(1e-9);
            let all = grouped(all.max(done));
            format!("{rows} of about {all} rows, {} rows/s, {} left", grouped(rate as u64), duration(left))
        }
        _ => format!("{rows} rows, {} rows/s", grouped(rate as u64)),
    }
}

/// Seconds as `7 s`, `3 min` or `2 h 5 min`.
fn duration(seconds: f64) -> String {
    let seconds = seconds.ceil() as u64;
    match (seconds / 3600, seconds % 3600 / 60) {
        (0, 0..=1) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_the_rate() {
        assert_eq!(text(1000, Some(4000), 2.0), "1,000 of about 4,000 rows, 500 rows/s, 6 s left");
        assert_eq!(
            text(100, Some(1_000_000), 1.0),
            "100 of about 1,000,000 rows, 100 rows/s, 2 h 46 min left"
        );
        assert_eq!(text(4000, Some(3999), 8.0), "4,000 of about 4,000 rows, 500 rows/s, 0 s left");
        assert_eq!(text(10, None, 2.0), "10 rows, 5 rows/s");
        assert_eq!(text(0, Some(10), 2.0), "0 rows, 0 rows/s");
    }
}
