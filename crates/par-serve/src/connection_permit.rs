//! Places for connections, and a few to spare: health is answered when all places are taken.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::answers::ADMISSION_WAIT;

/// Connections beyond all places. They are answered about health, and otherwise only if a place becomes free.
pub(crate) const SPARE_CONNECTIONS: usize = 64;
/// How long the head of a request is waited for on one of those.
pub(crate) const SPARE_HEAD_TIMEOUT: Duration = Duration::from_secs(1);

/// What a connection holds as long as it is open.
pub(crate) struct ConnectionPermit {
    room: Arc<Semaphore>,
    held: Mutex<Held>,
}

enum Held {
    Place(#[expect(dead_code, reason = "held until it is dropped")] OwnedSemaphorePermit),
    Spare(#[expect(dead_code, reason = "held until it is dropped")] OwnedSemaphorePermit),
}

impl ConnectionPermit {
    /// Waits for a place, or for one to spare.
    pub(crate) async fn new(room: &Arc<Semaphore>, spare: &Arc<Semaphore>) -> Self {
        let held = tokio::select! {
            biased;
            place = Arc::clone(room).acquire_owned() => Held::Place(place.expect("it is never closed")),
            spare = Arc::clone(spare).acquire_owned() => Held::Spare(spare.expect("it is never closed")),
        };
        Self { room: Arc::clone(room), held: Mutex::new(held) }
    }

    /// Whether it is one to spare.
    pub(crate) fn is_spare(&self) -> bool {
        matches!(&*self.held.lock().unwrap_or_else(PoisonError::into_inner), Held::Spare(_))
    }

    /// Whether the connection has a place, for which it waits a moment.
    pub(crate) async fn acquire_regular(&self) -> bool {
        if self.is_spare()
            && let Ok(Ok(place)) = timeout(ADMISSION_WAIT, Arc::clone(&self.room).acquire_owned()).await
        {
            *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Held::Place(place);
        }
        !self.is_spare()
    }
}

/// How many files the process may have open, where that is known.
pub(crate) fn open_files() -> Option<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}
