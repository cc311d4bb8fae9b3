//! A method with the digests of its parts.

use core::cell::Cell;

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::DiffError;
use super::contents::Contents;
use super::digest::{Hasher, Sha};
use super::fingerprint::{Fingerprint, ValueClass};
use super::instructions::Instructions;
use super::items::Items;
use super::payload::Meaning;
use super::values::Values;
use super::writers::{NONE, Writers};
use pte_core::method::Instruction;
use pte_core::{Pte, Source, tensor_at, value_at};
use pte_flat::bytes::narrow;
use pte_flat::view::{Table, Vector};
use pte_schema::program::view::{
    BackendDelegate, ExecutionPlan, InstructionArguments, KernelTypes, Operator, Tensor,
};

/// A method.
pub(super) struct Plan<'p, 'a> {
    pub(super) pte: &'p Pte<'a>,
    /// The number of bytes of text that may still be read for display. A text may be shown often.
    texts: &'p Cell<usize>,
    pub(super) view: ExecutionPlan<'a>,
    pub(super) instructions: Instructions<'a>,
    pub(super) writers: Writers<'a>,
    values: Values,
    /// For each value that is an input, its first position among the inputs; likewise for outputs.
    inputs: BTreeMap<usize, u32>,
    outputs: BTreeMap<usize, u32>,
    operators: Vec<Sha>,
    delegates: Vec<Delegate>,
}

/// The digests of a delegate.
#[derive(Clone, Debug)]
pub(super) struct Delegate {
    /// The digest of the id, the payload and the specs.
    pub(super) digest: Sha,
    /// The digest of its backend's id.
    pub(super) id: Sha,
    /// The digest of its payload. `digest` covers the error code of an invalid one.
    pub(super) payload: Option<Sha>,
    /// What is compared of the payload, if its graph is known.
    pub(super) meaning: Option<Rc<Meaning>>,
    pub(super) specs: Sha,
}

impl Delegate {
    /// Returns whether two delegates have the same meaning. Payloads with different bytes may have
    /// one meaning, and payloads with equal bytes may refer to different named data.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self.meaning(), other.meaning()) {
            (Some(_), Some(_)) => {
                (self.id, self.specs) == (other.id, other.specs) && self.has_payload_of(other)
            }
            _ => self.digest == other.digest,
        }
    }

    /// Returns whether two payloads have the same meaning.
    pub(super) fn has_payload_of(&self, other: &Self) -> bool {
        match (self.meaning(), other.meaning()) {
            (Some(one), Some(two)) => one == two,
            _ => self.payload == other.payload,
        }
    }

    /// Returns the digest of the payload's meaning; `None` if its bytes are compared.
    pub(super) fn meaning(&self) -> Option<&Sha> {
        self.meaning.as_ref()?.digest()
    }
}

impl<'p, 'a> Plan<'p, 'a> {
    pub(super) fn of<S: Source>(
        pte: &'p Pte<'a>,
        view: ExecutionPlan<'a>,
        texts: &'p Cell<usize>,
        contents: &mut Contents<'_, S>,
    ) -> Result<Self, DiffError<S::Error>> {
        let instructions = Instructions::of(view);
        let writers = Writers::of(pte, view, &instructions);
        let inputs = places(view.inputs());
        let changes = |nth: usize| inputs.contains_key(&nth) || writers.first(nth) != NONE;
        let values = Values::of(pte, view, contents, &changes)?;
        let mut delegates = Vec::new();
        let mut known = BTreeMap::new();
        for delegate in view.delegates().into_iter().flatten() {
            let at = delegate.raw().pos();
            let of_table: Delegate = match known.get(&at) {
                Some(of_table) => Delegate::clone(of_table),
                None => self::delegate(pte, delegate, contents)?,
            };
            known.insert(at, of_table.clone());
            delegates.push(of_table);
        }
        Ok(Self {
            outputs: places(view.outputs()),
            operators: view.operators().into_iter().flatten().map(operator).collect(),
            pte,
            texts,
            view,
            instructions,
            writers,
            values,
            inputs,
            delegates,
        })
    }

    /// Reads a text for display, unless too many bytes were read before.
    pub(super) fn text(&self, read: impl FnOnce() -> Option<&'a str>) -> Option<&'a str> {
        if self.texts.get() == 0 {
            return Some("(not shown)");
        }
        let text = read();
        self.texts.set(self.texts.get().saturating_sub(text.unwrap_or_default().len()));
        text
    }

    /// Returns the name of a tensor for display.
    pub(super) fn tensor_name(&self, nth: usize) -> Option<&'a str> {
        let extra = self.tensor(nth)?.extra_tensor_info()?;
        self.text(|| extra.fully_qualified_name()).filter(|name| !name.is_empty())
    }

    pub(super) fn value_count(&self) -> usize {
        self.values.len()
    }

    /// Returns the index of a value's table, less than [`table_count`](Self::table_count).
    pub(super) fn table(&self, nth: usize) -> Option<u32> {
        self.values.table(nth)
    }

    pub(super) fn table_count(&self) -> usize {
        self.values.table_count()
    }

    /// Returns, for each value, whether it is used: by an instruction, as an input or output, or as an
    /// item of a used list.
    pub(super) fn reached(&self) -> Vec<bool> {
        let mut reached = vec![false; self.values.len()];
        let mut reach = |at: i32| {
            let slot = usize::try_from(at).ok().and_then(|nth| reached.get_mut(nth));
            slot.into_iter().for_each(|slot| *slot = true);
        };
        self.view.inputs().into_iter().flatten().for_each(&mut reach);
        self.view.outputs().into_iter().flatten().for_each(&mut reach);
        for instruction in self.instructions.iter() {
            instruction.operands().iter().for_each(&mut reach);
        }
        let lists = (0..self.values.len()).filter(|&nth| reached.get(nth) == Some(&true));
        let lists = lists.filter_map(|nth| self.value(nth).map(Items::of));
        let lists: Vec<_> = lists.filter(|items| items.len() > 0).collect();
        for items in lists {
            let items = (0..items.len()).filter_map(|nth| usize::try_from(items.get(nth)).ok());
            for nth in items {
                reached.get_mut(nth).into_iter().for_each(|slot| *slot = true);
            }
        }
        reached
    }

    pub(super) fn fingerprint(&self, nth: usize) -> Option<&Fingerprint> {
        self.values.get(nth)
    }

    /// Returns the class of a value, considering the instructions and inputs of the method.
    pub(super) fn value_class(&self, nth: usize) -> Option<ValueClass> {
        let class = self.fingerprint(nth)?.class;
        Some(match class {
            // A constant tensor stays fixed, even if an instruction seems to write it.
            ValueClass::Fixed if self.inputs.contains_key(&nth) => ValueClass::Variable,
            ValueClass::Fixed if self.writers.first(nth) != NONE && self.tensor(nth).is_none() => {
                ValueClass::Variable
            }
            class => class,
        })
    }

    pub(super) fn value(&self, nth: usize) -> Option<KernelTypes<'a>> {
        value_at(self.view, nth)
    }

    pub(super) fn tensor(&self, nth: usize) -> Option<Tensor<'a>> {
        tensor_at(self.view, nth)
    }

    pub(super) fn input(&self, nth: usize) -> Option<u32> {
        self.inputs.get(&nth).copied()
    }

    pub(super) fn output(&self, nth: usize) -> Option<u32> {
        self.outputs.get(&nth).copied()
    }

    pub(super) fn instruction(&self, number: u32) -> Option<Instruction<'a>> {
        self.instructions.get(number)
    }

    /// Returns the digest of an operator.
    pub(super) fn operator(&self, index: i32) -> Option<&Sha> {
        self.operators.get(usize::try_from(index).ok()?)
    }

    pub(super) fn delegate(&self, index: i32) -> Option<&Delegate> {
        self.delegates.get(usize::try_from(index).ok()?)
    }

    pub(super) fn delegate_view(&self, index: i32) -> Option<BackendDelegate<'a>> {
        self.view.delegates()?.get(usize::try_from(index).ok()?)
    }

    /// Returns the indices of delegates that no instruction calls. A runtime loads them nevertheless.
    pub(super) fn idle_delegates(&self) -> Vec<i32> {
        let mut idle = vec![true; self.delegates.len()];
        for instruction in self.instructions.iter() {
            if let Some(InstructionArguments::DelegateCall(call)) = instruction.operation() {
                let nth = usize::try_from(call.delegate_index()).ok();
                let slot = nth.and_then(|nth| idle.get_mut(nth));
                slot.into_iter().for_each(|slot| *slot = false);
            }
        }
        (0..).zip(idle).filter(|(_, idle)| *idle).map(|(nth, _)| nth).collect()
    }
}

fn places(indices: Option<Vector<'_, i32>>) -> BTreeMap<usize, u32> {
    let mut places = BTreeMap::new();
    for (nth, index) in indices.into_iter().flatten().enumerate() {
        if let Ok(index) = usize::try_from(index) {
            places.entry(index).or_insert(narrow(nth));
        }
    }
    places
}

fn operator(operator: Operator<'_>) -> Sha {
    let mut hasher = Hasher::of(b'o');
    // A missing overload means an empty one.
    hasher.text(Some(operator.name().unwrap_or_default()));
    hasher.text(Some(operator.overload().unwrap_or_default()));
    hasher.finish()
}

fn delegate<'a, S: Source>(
    pte: &Pte<'a>,
    delegate: BackendDelegate<'a>,
    contents: &mut Contents<'_, S>,
) -> Result<Delegate, DiffError<S::Error>> {
    let mut id = Hasher::of(b'i');
    id.text(delegate.id());
    let id = id.finish();
    let mut specs = Hasher::of(b'c');
    for spec in delegate.compile_specs().into_iter().flatten() {
        specs.text(spec.key()).bytes(spec.value().unwrap_or_default().bytes());
    }
    let specs = specs.finish();
    let mut digest = Hasher::of(b'D');
    digest.bytes(&id).bytes(&specs);
    let (mut payload, mut meaning) = (None, None);
    match pte.payload(delegate) {
        Ok(Some(found)) => {
            payload = Some(contents.hash(found.range())?);
            if let Some(backend) = found.backend() {
                meaning = contents.meaning(backend, found.range())?;
            }
        }
        Ok(None) => {}
        Err(error) => {
            digest.text(Some(error.code()));
        }
    }
    digest.bytes(payload.as_ref().map_or(&[][..], |sha| sha));
    Ok(Delegate { digest: digest.finish(), id, payload, meaning, specs })
}
