//! How far a table is read.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How far a table is read, by bytes of the file or by rows; any thread may ask while another reads.
#[derive(Clone, Debug)]
pub struct ReadPosition {
    read: Arc<AtomicU64>,
    total: Option<u64>,
}

impl ReadPosition {
    pub(super) fn new(total: Option<u64>) -> Self {
        Self { read: Arc::default(), total }
    }

    /// The share of the table that is read, above 0 and up to 1; `None` at its start, or if its length is unknown.
    pub fn share(&self) -> Option<f64> {
        let (read, total) = (self.read.load(Ordering::Relaxed), self.total?);
        (read > 0 && total > 0).then(|| (read as f64 / total as f64).min(1.0))
    }

    pub(super) fn advance(&self, by: u64) {
        self.read.fetch_add(by, Ordering::Relaxed);
    }
}

/// A reader that says how far it has read.
pub(super) struct Counted<R> {
    pub(super) inner: R,
    pub(super) position: ReadPosition,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.position.advance(read as u64);
        Ok(read)
    }
}
