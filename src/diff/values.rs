//! The values of a plan by what they are, not by their numbers.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::contents::{Contents, Hasher, Sha};
use super::{DiffError, tensors};
use crate::bytes::{index as at_index, narrow};
use crate::file::source::Source;
use crate::flat::view::Table;
use crate::pte::Pte;
use crate::schema::program::view::{ExecutionPlan, KernelTypes};

/// What is known of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// All that it is, but for names and places in memory.
    pub(super) digest: Sha,
    /// The same without data.
    pub(super) meta: Sha,
    /// Of its data.
    pub(super) data: Option<Sha>,
    /// Of a name that is no key.
    pub(super) name: Option<Sha>,
    pub(super) sort: Sort,
}

/// What distinguishes a value from others of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// Its contents, which never change.
    Fixed,
    /// What is done with it.
    Variable,
    /// The values that it lists.
    List,
}

/// The values of a plan. Tables that several of them share are looked at once.
pub(super) struct Values {
    /// For each value its number in `held`.
    numbers: Vec<u32>,
    held: Vec<Held>,
}

impl Values {
    pub(super) fn of<'a, S: Source>(
        pte: &Pte<'a>,
        plan: ExecutionPlan<'a>,
        contents: &mut Contents<'_, S>,
        changes: &dyn Fn(usize) -> bool,
    ) -> Result<Self, DiffError<S::Error>> {
        let mut values = Self { numbers: Vec::new(), held: Vec::new() };
        let mut known = BTreeMap::new();
        let all = plan.values().unwrap_or_default();
        for value in all {
            let at = value.raw().pos();
            if let Some(&number) = known.get(&at) {
                values.numbers.push(number);
                continue;
            }
            let held = match value.val() {
                Some(KernelTypes::Tensor(tensor)) => tensors::held(pte, tensor, contents)?,
                other => scalar(other),
            };
            let number = narrow(values.held.len());
            values.held.push(held);
            values.numbers.push(number);
            known.insert(at, number);
        }
        // Lists are made of the others.
        let mut done = BTreeMap::new();
        for (nth, value) in all.into_iter().enumerate() {
            if values.get(nth).is_none_or(|held| held.sort != Sort::List) {
                continue;
            }
            if done.insert(value.raw().pos(), ()).is_none() {
                let digest = values.list(value.val(), changes);
                let number = values.numbers.get(nth).copied().unwrap_or(u32::MAX);
                if let Some(held) = values.held.get_mut(at_index(number)) {
                    (held.digest, held.meta) = (digest, digest);
                }
            }
        }
        Ok(values)
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The number of a value's table: values that share one are all that it is.
    pub(super) fn table(&self, nth: usize) -> Option<u32> {
        self.numbers.get(nth).copied()
    }

    pub(super) fn table_count(&self) -> usize {
        self.held.len()
    }

    pub(super) fn get(&self, nth: usize) -> Option<&Held> {
        self.held.get(at_index(*self.numbers.get(nth)?))
    }

    fn list(&self, list: Option<KernelTypes<'_>>, changes: &dyn Fn(usize) -> bool) -> Sha {
        let mut hasher = Hasher::of(b'l');
        let mut item = |index: i64| {
            let nth = usize::try_from(index).ok();
            match nth.and_then(|nth| self.get(nth).map(|held| (nth, held))) {
                None => hasher.number(index),
                // Lists do not hold lists.
                Some((_, Held { sort: Sort::List, .. })) => hasher.text(Some("list")),
                Some((nth, Held { sort: Sort::Fixed, digest, .. })) if !changes(nth) => {
                    hasher.bytes(digest)
                }
                Some((_, Held { meta, .. })) => hasher.bytes(meta),
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
        hasher.number(list.map_or(0, |list| list.tag()));
        hasher.finish()
    }
}

/// A value that is no tensor; of a list its kind, since what it lists may not be known yet.
fn scalar(value: Option<KernelTypes<'_>>) -> Held {
    let mut hasher = Hasher::of(b's');
    let mut sort = Sort::Fixed;
    hasher.number(value.map_or(0, |value| value.tag()));
    match value {
        Some(KernelTypes::Int(int)) => _ = hasher.number(int.int_val()),
        Some(KernelTypes::Bool(bool)) => _ = hasher.number(i64::from(bool.bool_val())),
        Some(KernelTypes::Double(double)) => {
            hasher.bytes(&double.double_val().to_bits().to_le_bytes());
        }
        Some(KernelTypes::String(string)) => _ = hasher.text(string.string_val()),
        Some(KernelTypes::DoubleList(list)) => {
            hasher.bytes(list.items().unwrap_or_default().bytes());
        }
        Some(KernelTypes::BoolList(list)) => {
            hasher.bytes(list.items().unwrap_or_default().bytes());
        }
        Some(
            KernelTypes::IntList(_)
            | KernelTypes::TensorList(_)
            | KernelTypes::OptionalTensorList(_),
        ) => sort = Sort::List,
        _ => {}
    }
    let digest = hasher.finish();
    // What is written is told from others of its kind, and not by what was in it.
    Held { digest, meta: digest, data: None, name: None, sort }
}
