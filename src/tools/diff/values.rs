//! The fingerprints of the values of a method.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::contents::Contents;
use super::digest::{Hasher, Sha};
use super::fingerprint::{Fingerprint, ValueClass};
use super::items::Items;
use super::{DiffError, tensors};
use pte_core::{Pte, Source};
use pte_flat::bytes::{index as at_index, narrow};
use pte_flat::view::Table;
use pte_schema::program::view::{ExecutionPlan, KernelTypes};

/// The fingerprints of values. Values that share a table share a fingerprint.
pub(super) struct Values {
    /// For each value, its index in `fingerprints`.
    numbers: Vec<u32>,
    fingerprints: Vec<Fingerprint>,
}

impl Values {
    pub(super) fn of<'a, S: Source>(
        pte: &Pte<'a>,
        plan: ExecutionPlan<'a>,
        contents: &mut Contents<'_, S>,
        changes: &dyn Fn(usize) -> bool,
    ) -> Result<Self, DiffError<S::Error>> {
        let mut values = Self { numbers: Vec::new(), fingerprints: Vec::new() };
        let mut known = BTreeMap::new();
        let all = plan.values().unwrap_or_default();
        for value in all {
            let at = value.raw().pos();
            if let Some(&number) = known.get(&at) {
                values.numbers.push(number);
                continue;
            }
            let fingerprint = match value.val() {
                Some(KernelTypes::Tensor(tensor)) => tensors::fingerprint(pte, tensor, contents)?,
                other => scalar(other),
            };
            let number = narrow(values.fingerprints.len());
            values.fingerprints.push(fingerprint);
            values.numbers.push(number);
            known.insert(at, number);
        }
        // The digest of a list depends on those of its items.
        let mut done = BTreeMap::new();
        for (nth, value) in all.into_iter().enumerate() {
            if values.get(nth).is_none_or(|fingerprint| fingerprint.class != ValueClass::List) {
                continue;
            }
            if done.insert(value.raw().pos(), ()).is_none() {
                let digest = values.list(value.val(), changes);
                let number = values.numbers.get(nth).copied().unwrap_or(u32::MAX);
                if let Some(fingerprint) = values.fingerprints.get_mut(at_index(number)) {
                    (fingerprint.digest, fingerprint.meta) = (digest, digest);
                }
            }
        }
        Ok(values)
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the index of a value's table.
    pub(super) fn table(&self, nth: usize) -> Option<u32> {
        self.numbers.get(nth).copied()
    }

    pub(super) fn table_count(&self) -> usize {
        self.fingerprints.len()
    }

    pub(super) fn get(&self, nth: usize) -> Option<&Fingerprint> {
        self.fingerprints.get(at_index(*self.numbers.get(nth)?))
    }

    fn list(&self, list: Option<KernelTypes<'_>>, changes: &dyn Fn(usize) -> bool) -> Sha {
        let mut hasher = Hasher::of(b'l');
        let mut item = |index: i64| {
            let nth = usize::try_from(index).ok();
            match nth.and_then(|nth| self.get(nth).map(|fingerprint| (nth, fingerprint))) {
                None => hasher.number(index),
                // Lists of lists are invalid.
                Some((_, Fingerprint { class: ValueClass::List, .. })) => hasher.text(Some("list")),
                Some((nth, Fingerprint { class: ValueClass::Fixed, digest, .. }))
                    if !changes(nth) =>
                {
                    hasher.bytes(digest)
                }
                Some((_, Fingerprint { meta, .. })) => hasher.bytes(meta),
            };
        };
        match list {
            Some(KernelTypes::IntList(list)) => {
                list.items().into_iter().flatten().for_each(&mut item);
            }
            Some(KernelTypes::TensorList(list)) => {
                list.items().into_iter().flatten().for_each(|nth| item(nth.into()));
            }
            Some(KernelTypes::OptionalTensorList(list)) => {
                list.items().into_iter().flatten().for_each(|nth| item(nth.into()));
            }
            _ => {}
        }
        hasher.number(i64::from(list.is_some_and(|list| Items::of(list).is_missing())));
        hasher.number(list.map_or(0, |list| list.tag()));
        hasher.finish()
    }
}

/// Returns the fingerprint of a value that is no tensor. For a list of values, the fingerprint
/// covers only the kind.
fn scalar(value: Option<KernelTypes<'_>>) -> Fingerprint {
    let mut hasher = Hasher::of(b's');
    let mut class = ValueClass::Fixed;
    hasher.number(value.map_or(0, |value| value.tag()));
    match value {
        Some(KernelTypes::Int(int)) => _ = hasher.number(int.int_val()),
        Some(KernelTypes::Bool(bool)) => _ = hasher.number(i64::from(bool.bool_val())),
        Some(KernelTypes::Double(double)) => {
            hasher.bytes(&double.double_val().to_bits().to_le_bytes());
        }
        Some(KernelTypes::String(string)) => _ = hasher.text(string.string_val()),
        // Runtimes refuse a missing list and accept an empty one.
        Some(KernelTypes::DoubleList(list)) => {
            hasher.number(i64::from(list.items().is_some()));
            hasher.bytes(list.items().unwrap_or_default().bytes());
        }
        Some(KernelTypes::BoolList(list)) => {
            hasher.number(i64::from(list.items().is_some()));
            hasher.bytes(list.items().unwrap_or_default().bytes());
        }
        Some(
            KernelTypes::IntList(_)
            | KernelTypes::TensorList(_)
            | KernelTypes::OptionalTensorList(_),
        ) => class = ValueClass::List,
        _ => {}
    }
    let digest = hasher.finish();
    // `meta` is unused for literals, which have no data.
    Fingerprint { digest, meta: digest, data: None, name: None, class }
}
