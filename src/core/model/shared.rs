//! One `.ptd` for several programs.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;

use super::share::{BlobDigest, digest};
use super::{Budget, ExternalError, ModelError, PtdModel, PteModel};
use crate::limits::Limits;
use pte_schema::flat_tensor::model::{NamedData, TensorLayout};
use pte_schema::program::TensorDataLocation;

/// Collects the data that moves out of several programs in one `.ptd`, in which equal data is stored once.
///
/// Two programs may have the same key. If its data is equal in both, they share the entry. Otherwise
/// the later program's constant gets a new key, and its tensors are updated. A key of named data is not
/// changed, since payloads ask for it: different data is an error.
///
/// Runtimes refuse a key that is both in a program and in its `.ptd`, or in two of its `.ptd`s. So if
/// one program moves a key out, no other may keep that key, in its own data or in another `.ptd`.
#[derive(Debug)]
pub struct SharedPtd<'a> {
    ptd: PtdModel<'a>,
    segments: BTreeMap<BlobDigest, u32>,
    entries: BTreeMap<String, (u32, Option<TensorLayout>)>,
    /// The keys that programs keep or find in another `.ptd`.
    staying: BTreeSet<String>,
}

impl Default for SharedPtd<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> SharedPtd<'a> {
    /// Creates an empty collection.
    #[must_use]
    pub fn new() -> Self {
        Self {
            ptd: PtdModel::empty(),
            segments: BTreeMap::new(),
            entries: BTreeMap::new(),
            staying: BTreeSet::new(),
        }
    }

    /// Adds `moved`, which [`PteModel::externalize`] has moved out of `program`. Reads all of its bytes
    /// once. The names of the program's external tensors follow the keys that change.
    ///
    /// # Errors
    ///
    /// [`ExternalError::SameKey`] for a key of named data with different data, or for a key that another
    /// program keeps. [`ModelError::Amplified`] if the data overlaps so much that reading it exceeds the
    /// limits. Otherwise the error of the data's source.
    pub fn add(
        &mut self,
        program: &mut PteModel<'a>,
        moved: PtdModel<'a>,
        limits: &Limits,
    ) -> Result<(), ExternalError> {
        let read = moved.segments.iter().fold(0u64, |sum, blob| sum.saturating_add(blob.len()));
        Budget::new(0, &moved.segments).check(read, limits).map_err(ModelError::from)?;
        let mut places = BTreeMap::new();
        for (nth, blob) in (0u32..).zip(moved.segments) {
            let digest = digest(&blob)?;
            let place = self.segments.get(&digest).copied();
            let place = place.unwrap_or_else(|| self.ptd.hold(blob));
            self.segments.insert(digest, place);
            places.insert(nth, place);
        }
        let entries = moved.root.named_data.unwrap_or_default();
        let own: BTreeSet<_> = entries.iter().filter_map(|entry| entry.key.clone()).collect();
        let mut stays = |key: &str| {
            if !own.contains(key) {
                self.staying.insert(key.into());
            }
        };
        let named = program.root.named_data.iter().flatten();
        named.filter_map(|entry| entry.key.as_deref()).for_each(&mut stays);
        for extra in program.tensors().filter_map(|tensor| tensor.extra_tensor_info.as_ref()) {
            if let Some(name) = &extra.fully_qualified_name
                && extra.location == TensorDataLocation::EXTERNAL
            {
                stays(name);
            }
        }
        let mut renamed = BTreeMap::new();
        for NamedData { key, segment_index, tensor_layout } in entries {
            let Some((key, &segment)) = key.zip(places.get(&segment_index)) else { continue };
            let entry = (segment, tensor_layout);
            let to = match self.entries.get(&key) {
                Some(known) if *known == entry => continue,
                Some(_) if entry.1.is_none() => return Err(ExternalError::SameKey(key)),
                Some(_) => self.free_key(&key, &entry, &own),
                None => key.clone(),
            };
            if to != key {
                renamed.insert(key, to.clone());
            }
            if self.entries.contains_key(&to) {
                continue;
            }
            self.entries.insert(to.clone(), entry.clone());
            let (segment_index, tensor_layout) = entry;
            let named = NamedData { key: Some(to), segment_index, tensor_layout };
            self.ptd.root.named_data.get_or_insert_default().push(named);
        }
        for extra in program.tensors().filter_map(|tensor| tensor.extra_tensor_info.as_mut()) {
            let to = extra.fully_qualified_name.as_ref().and_then(|name| renamed.get(name));
            if let Some(to) = to.filter(|_| extra.location == TensorDataLocation::EXTERNAL) {
                extra.fully_qualified_name = Some(to.clone());
            }
        }
        Ok(())
    }

    /// Returns the `.ptd`.
    ///
    /// # Errors
    ///
    /// [`ExternalError::SameKey`] for a key that one program moved out, and another one keeps.
    pub fn finish(mut self) -> Result<PtdModel<'a>, ExternalError> {
        if let Some(key) = self.staying.iter().find(|&key| self.entries.contains_key(key)) {
            return Err(ExternalError::SameKey(key.clone()));
        }
        self.ptd.lay_out();
        Ok(self.ptd)
    }

    /// Returns the first of `key.2`, `key.3` … that is free or has this entry already.
    fn free_key(
        &self,
        key: &str,
        entry: &(u32, Option<TensorLayout>),
        own: &BTreeSet<String>,
    ) -> String {
        let mut nth = 2u64;
        loop {
            let name = format!("{key}.{nth}");
            let is_taken = self.entries.get(&name).is_some_and(|known| known != entry);
            if !is_taken && !own.contains(&name) && !self.staying.contains(&name) {
                return name;
            }
            nth = nth.saturating_add(1);
        }
    }
}
