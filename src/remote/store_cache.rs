//! The stores that a client has used.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use object_store::ObjectStore;

use super::store::StoreKind;

/// The stores that were used, by kind and bucket. A store keeps its credentials while they are
/// valid.
#[derive(Debug, Default)]
pub(super) struct StoreCache(Mutex<BTreeMap<(StoreKind, String), Arc<dyn ObjectStore>>>);

impl StoreCache {
    /// Returns the store of a bucket. `build` creates it at the first call.
    pub(super) fn get<E>(
        &self,
        kind: StoreKind,
        bucket: &str,
        build: impl FnOnce() -> Result<Arc<dyn ObjectStore>, E>,
    ) -> Result<Arc<dyn ObjectStore>, E> {
        let mut stores = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = (kind, bucket.to_owned());
        if let Some(store) = stores.get(&name) {
            return Ok(Arc::clone(store));
        }
        if stores.len() >= MAX_STORES {
            stores.clear();
        }
        let store = build()?;
        stores.insert(name, Arc::clone(&store));
        Ok(store)
    }
}

/// The maximum number of stores that are kept.
const MAX_STORES: usize = 64;
