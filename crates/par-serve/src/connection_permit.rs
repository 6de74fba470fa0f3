//! Permits for connections: regular ones, and a few spare ones, so that health is answered when all regular ones are taken.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::answers::ADMISSION_WAIT;

/// Spare connections. They get answers about health, and others only if a regular permit becomes free.
pub(crate) const SPARE_CONNECTIONS: usize = 64;
/// How long to wait for the head of a request on a spare connection.
pub(crate) const SPARE_HEAD_TIMEOUT: Duration = Duration::from_secs(1);

/// Held by a connection as long as it is open.
pub(crate) struct ConnectionPermit {
    regular: Arc<Semaphore>,
    held: Mutex<Held>,
}

enum Held {
    Regular(#[expect(dead_code, reason = "held until it is dropped")] OwnedSemaphorePermit),
    Spare(#[expect(dead_code, reason = "held until it is dropped")] OwnedSemaphorePermit),
}

impl ConnectionPermit {
    /// Waits for a permit, preferably a regular one.
    pub(crate) async fn new(regular: &Arc<Semaphore>, spare: &Arc<Semaphore>) -> Self {
        let held = tokio::select! {
            biased;
            permit = Arc::clone(regular).acquire_owned() => Held::Regular(permit.expect("it is never closed")),
            permit = Arc::clone(spare).acquire_owned() => Held::Spare(permit.expect("it is never closed")),
        };
        Self { regular: Arc::clone(regular), held: Mutex::new(held) }
    }

    /// Whether it is a spare permit.
    pub(crate) fn is_spare(&self) -> bool {
        matches!(&*self.held.lock().unwrap_or_else(PoisonError::into_inner), Held::Spare(_))
    }

    /// Waits a moment to swap a spare permit for a regular one; returns whether it is a regular one now.
    pub(crate) async fn acquire_regular(&self) -> bool {
        if self.is_spare()
            && let Ok(Ok(permit)) = timeout(ADMISSION_WAIT, Arc::clone(&self.regular).acquire_owned()).await
        {
            *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Held::Regular(permit);
        }
        !self.is_spare()
    }
}

/// How many files the process may have open, where that is known.
pub(crate) fn max_open_files() -> Option<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}
