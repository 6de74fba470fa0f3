//! The body of a stream as it comes in: as bytes, as lines, and as rows for one job.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::answers::ROWS_PER_JOB;
use crate::body::frame;
use crate::refusal::Refusal;

/// Parts of the body that wait to be read, at most.
const QUEUED_PARTS: usize = 4;
/// The longest line, in bytes.
pub(crate) const MAX_LINE: usize = 1 << 20;
/// The bytes of rows from which on a job takes no more.
const BYTES_PER_JOB: usize = 256 << 10;

/// A body as it comes in, for a thread that blocks on it.
pub(crate) struct Incoming {
    parts: mpsc::Receiver<io::Result<Bytes>>,
    part: Bytes,
    /// Why the body broke off, if it did.
    failure: Arc<OnceLock<Refusal>>,
    /// When the last answer was sent: the client may wait for it before it sends more.
    answered: Arc<Mutex<Instant>>,
}

impl Incoming {
    /// Where to note that an answer was sent.
    pub(crate) fn answered(&self) -> Arc<Mutex<Instant>> {
        Arc::clone(&self.answered)
    }

    /// `patience` is the longest pause; `min_rate` the lowest rate, in bytes per second of waiting, over as long as that.
    pub(crate) fn new(mut body: Body, patience: Duration, min_rate: usize) -> Self {
        let (sender, parts) = mpsc::channel(QUEUED_PARTS);
        let failure = Arc::new(OnceLock::new());
        let why = Arc::clone(&failure);
        let answered = Arc::new(Mutex::new(Instant::now()));
        let last_answer = Arc::clone(&answered);
        let failed = move |refusal: Refusal| {
            let message = refusal.message();
            // Set only here, and only once.
            let _ = why.set(refusal);
            Err(io::Error::other(message))
        };
        tokio::spawn(async move {
            let (mut waited, mut came) = (Duration::ZERO, 0);
            loop {
                let begun = Instant::now();
                let part = timeout(patience, frame(&mut body)).await;
                // Only time in which we wait for the client: not while answers are being found or taken.
                let answered = *last_answer.lock().unwrap_or_else(PoisonError::into_inner);
                waited += begun.max(answered).elapsed();
                let part = match part {
                    Ok(None) => break,
                    Ok(Some(Ok(bytes))) => {
                        came += bytes.len();
                        let is_slow = (came as f64) < min_rate as f64 * waited.as_secs_f64();
                        if waited < patience {
                            Ok(bytes)
                        } else if is_slow {
                            failed(Refusal::Dripping { expected: min_rate })
                        } else {
                            (waited, came) = (Duration::ZERO, 0);
                            Ok(bytes)
                        }
                    }
                    Ok(Some(Err(_))) => failed(Refusal::BrokenOff),
                    Err(_) => failed(Refusal::Stalled),
                };
                let is_last = part.is_err();
                if sender.send(part).await.is_err() || is_last {
                    break;
                }
            }
        });
        Self { parts, part: Bytes::new(), failure, answered }
    }

    /// Will hold why the body broke off, if it does.
    pub(crate) fn failure(&self) -> Arc<OnceLock<Refusal>> {
        Arc::clone(&self.failure)
    }

    /// Whether bytes can be read without waiting.
    pub(crate) fn is_ready(&self) -> bool {
        !self.part.is_empty() || !self.parts.is_empty()
    }

    /// Waits for bytes; returns false at the end of the body.
    pub(crate) fn fill(&mut self) -> io::Result<bool> {
        while self.part.is_empty() {
            match self.parts.blocking_recv() {
                Some(part) => self.part = part?,
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}

impl Read for Incoming {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.fill()?;
        let bytes = buffer.len().min(self.part.len());
        buffer[..bytes].copy_from_slice(&self.part.split_to(bytes));
        Ok(bytes)
    }
}

/// Rows for one job.
pub(crate) struct Piece<T> {
    rows: Vec<T>,
    bytes: usize,
}

impl<T> Default for Piece<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), bytes: 0 }
    }
}

impl<T> Piece<T> {
    pub(crate) fn push(&mut self, row: T, bytes: usize) {
        self.rows.push(row);
        self.bytes += bytes;
    }

    /// Takes all rows out.
    pub(crate) fn take(&mut self) -> Vec<T> {
        std::mem::take(self).rows
    }

    pub(crate) fn is_full(&self) -> bool {
        self.rows.len() >= ROWS_PER_JOB || self.bytes >= BYTES_PER_JOB
    }
}

/// A line, as far as it has been read.
#[derive(Default)]
pub(crate) struct Line {
    bytes: Vec<u8>,
    is_too_long: bool,
}

impl Line {
    /// Reads more of the line; returns whether it is complete.
    pub(crate) fn add_from(&mut self, incoming: &mut Incoming) -> bool {
        let part = &mut incoming.part;
        let end = part.iter().position(|byte| *byte == b'\n');
        let bytes = part.split_to(end.map_or(part.len(), |end| end + 1));
        if self.bytes.len() + bytes.len() > MAX_LINE {
            self.is_too_long = true;
            self.bytes = Vec::new();
        } else if !self.is_too_long {
            self.bytes.extend_from_slice(&bytes);
        }
        end.is_some()
    }

    pub(crate) fn is_blank(&self) -> bool {
        !self.is_too_long && self.bytes.trim_ascii().is_empty()
    }

    /// Its bytes, or `None` if there are too many.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        (!self.is_too_long).then_some(&self.bytes)
    }
}
