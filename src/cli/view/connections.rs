//! The connections of `pte view`. One that asks nothing gives way to others.

use core::time::Duration;
use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The open connections.
#[derive(Debug, Default)]
pub(super) struct Connections(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    next: u64,
    /// The connections, oldest first. One that has not asked yet has its stream and the time of its start.
    all: BTreeMap<u64, Option<(Instant, TcpStream)>>,
}

/// The most requests that are read or answered at a time.
const MOST: usize = 16;

/// The time after which a connection that has not asked gives way.
const PATIENCE: Duration = Duration::from_millis(200);

impl Connections {
    /// Returns whether no other connection can be taken now. If one does not ask, it is closed soon.
    pub(super) fn is_full(&self) -> bool {
        let mut open = self.open();
        if open.all.len() < MOST {
            return false;
        }
        let silent = open.all.values_mut().find(|connection| connection.is_some());
        if let Some(silent) = silent
            && let Some((_, stream)) = silent.take_if(|(since, _)| since.elapsed() > PATIENCE)
        {
            // Its thread ends, and removes it.
            let _ = stream.shutdown(Shutdown::Both);
        }
        true
    }

    /// Adds a connection, and returns its number.
    pub(super) fn add(&self, stream: &TcpStream) -> u64 {
        let mut open = self.open();
        let id = open.next;
        open.next = id.saturating_add(1);
        let silent = stream.try_clone().ok().map(|stream| (Instant::now(), stream));
        open.all.insert(id, silent);
        id
    }

    /// Records that a connection has asked.
    pub(super) fn has_asked(&self, id: u64) {
        if let Some(connection) = self.open().all.get_mut(&id) {
            *connection = None;
        }
    }

    /// Removes a connection that is answered.
    pub(super) fn remove(&self, id: u64) {
        self.open().all.remove(&id);
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
