//! The keys of named data that the payloads of a program request.

use alloc::string::String;
use alloc::vec::Vec;

use pte_flat::cost;

/// The keys that the payloads of a program request.
#[derive(Default)]
pub(crate) struct RequestedKeys {
    /// The keys, which may be repeated before [`finish`](Self::finish); `None` if no rule needs them.
    keys: Option<Vec<String>>,
    /// The number of different keys when they were sorted last.
    distinct: usize,
    /// Whether payloads that cannot be read may request other keys.
    pub(crate) is_incomplete: bool,
}

impl RequestedKeys {
    /// Returns a list that keeps its keys.
    pub(super) fn kept() -> Self {
        Self { keys: Some(Vec::new()), ..Self::default() }
    }

    /// Adds the keys that a graph names, if a rule needs them.
    pub(super) fn add<'k>(&mut self, added: impl Iterator<Item = &'k str>) {
        let Some(keys) = &mut self.keys else { return };
        for key in added {
            cost::look_up(key, keys.len());
            keys.push(key.into());
            // A file may name a key repeatedly. The memory is that of the different keys.
            if keys.len() / 2 >= self.distinct.max(512) {
                keys.sort_unstable();
                keys.dedup();
                self.distinct = keys.len();
            }
        }
    }

    /// Returns the keys, sorted.
    pub(super) fn finish(mut self) -> Self {
        let keys = self.keys.get_or_insert_default();
        keys.sort_unstable();
        keys.dedup();
        self
    }

    /// Returns every key that a payload names, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().flatten().map(String::as_str)
    }

    /// Returns whether a payload names `key`.
    pub(crate) fn has(&self, key: &str) -> bool {
        let keys = self.keys.as_deref().unwrap_or_default();
        cost::look_up(key, keys.len());
        keys.binary_search_by(|own| own.as_str().cmp(key)).is_ok()
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn repeated_keys_are_kept_once_and_in_order() {
        let names: Vec<_> = (0..1000).map(|nth| format!("{nth:04}")).collect();
        let mut requested = RequestedKeys::kept();
        for _ in 0..10 {
            requested.add(names.iter().rev().map(String::as_str));
            assert!(requested.keys.as_ref().is_some_and(|keys| keys.len() <= 2 * names.len()));
        }
        let requested = requested.finish();
        assert!(requested.iter().eq(&names));
        assert!(requested.has("0500") && !requested.has("1000"));
    }
}
