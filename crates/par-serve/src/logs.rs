//! Log lines, written by a thread of their own. Logging never blocks and never fails: it drops lines instead.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The most lines that wait to be written: a few megabytes.
const LINES: usize = 8_192;

/// Where log lines go. Clones share one queue.
///
/// A line is dropped and counted when the queue is full, because the output blocks, or when it cannot be written.
#[derive(Clone)]
pub struct Logs(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    lines: VecDeque<Vec<u8>>,
    is_writing: bool,
    dropped: u64,
}

impl Logs {
    /// Starts the thread that writes.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn new(output: impl Write + Send + 'static) -> io::Result<Self> {
        let logs = Self(Arc::default());
        let shared = Arc::clone(&logs.0);
        std::thread::Builder::new().name("logs".to_string()).spawn(move || shared.write_all(output))?;
        Ok(logs)
    }

    /// Lines that were dropped so far.
    pub fn dropped(&self) -> u64 {
        self.0.lock().dropped
    }

    /// Waits until everything is written, but no longer than `timeout`.
    pub fn flush(&self, timeout: Duration) {
        let deadline = Instant::now() + timeout;
        let mut state = self.0.lock();
        while state.is_writing || !state.lines.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.0.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Each write is one line.
impl Write for Logs {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut state = self.0.lock();
        if state.lines.len() < LINES {
            state.lines.push_back(line.to_vec());
        } else {
            state.dropped += 1;
        }
        drop(state);
        self.0.changed.notify_all();
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Debug for Logs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Logs")
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes one line after the other, as long as the process lives.
    fn write_all(&self, mut output: impl Write) {
        let mut state = self.lock();
        loop {
            let Some(line) = state.lines.pop_front() else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            state.is_writing = true;
            drop(state);
            let written = output.write_all(&line);
            state = self.lock();
            state.is_writing = false;
            state.dropped += u64::from(written.is_err());
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Accepts one write for every permit it is sent.
    struct Slow(mpsc::Receiver<()>, Arc<Mutex<Vec<u8>>>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.recv().map_err(io::Error::other)?;
            self.1.lock().expect("no panic").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_that_are_not_read_or_fail_are_dropped_and_counted() {
        let (permit, permits) = mpsc::channel();
        let written = Arc::new(Mutex::new(Vec::new()));
        let mut logs = Logs::new(Slow(permits, Arc::clone(&written))).expect("a thread");
        for number in 0..LINES + 10 {
            logs.write_all(format!("{number}\n").as_bytes()).expect("it never fails");
        }
        // One line may have left the queue already.
        assert!((9..=10).contains(&logs.dropped()), "{}", logs.dropped());
        let before = logs.dropped();
        logs.flush(Duration::from_millis(20));
        (0..3).for_each(|_| permit.send(()).expect("the thread is there"));
        drop(permit);
        logs.flush(Duration::from_secs(60));
        assert_eq!(&*written.lock().expect("no panic"), b"0\n1\n2\n");
        assert_eq!(logs.dropped() - before, (LINES + 10) as u64 - before - 3);
    }
}
