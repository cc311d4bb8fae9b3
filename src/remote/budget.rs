//! The budgets of requests and bytes.

use core::sync::atomic::{AtomicU64, Ordering};

use super::error::RemoteError;

/// The numbers of requests and bytes that were spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Spent {
    /// The number of requests, redirects included.
    pub requests: u64,
    /// The number of bytes of bodies.
    pub bytes: u64,
}

/// A budget that several threads may spend from.
#[derive(Debug)]
pub(super) struct Budget {
    most_requests: u64,
    most_bytes: u64,
    requests: AtomicU64,
    bytes: AtomicU64,
}

impl Budget {
    pub(super) fn new(most_requests: u64, most_bytes: u64) -> Self {
        let (requests, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { most_requests, most_bytes, requests, bytes }
    }

    /// Charges a request.
    pub(super) fn request(&self) -> Result<(), RemoteError> {
        charge(&self.requests, 1, self.most_requests)
            .map_err(|()| RemoteError::Requests(self.most_requests))
    }

    /// Charges bytes before they are read.
    pub(super) fn bytes(&self, count: u64) -> Result<(), RemoteError> {
        charge(&self.bytes, count, self.most_bytes)
            .map_err(|()| RemoteError::Bytes(self.most_bytes))
    }

    pub(super) fn spent(&self) -> Spent {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Spent { requests: of(&self.requests), bytes: of(&self.bytes) }
    }
}

fn charge(count: &AtomicU64, more: u64, most: u64) -> Result<(), ()> {
    let add = |now: u64| now.checked_add(more).filter(|&sum| sum <= most);
    count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).map(|_| ()).map_err(|_| ())
}
