//! The bounds of the elements of constants that kernels may use as indices, zero points, or a range.
//!
//! Each of these constants is read once, in pieces: integers for the least and the greatest
//! element, floats for whether all are finite. Other constants are not read here.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

use super::{INDEX_CONTENTS, Method};
use crate::report::Findings;
use pte_core::method::{self, Instruction};
use pte_core::operators::contracts::{self, ElementBounds, ElementKind, Term};
use pte_core::operators::{Copied, Kernel, Signatures};
use pte_core::{File, OpenError, PathComponent, Source};
use pte_flat::bytes::{len_of, wide};
use pte_flat::cost;
use pte_schema::program::view::InstructionArguments;
use pte_schema::scalar::ScalarType;

/// The range of the elements of each constant that was read, by method and value.
#[derive(Default)]
pub(crate) struct ConstantElements(BTreeMap<(u32, u32), ElementBounds>);

impl ConstantElements {
    /// Returns the range of the elements of the constant at `value` of a method.
    pub(super) fn get(&self, plan: u32, value: u32) -> Option<ElementBounds> {
        self.0.get(&(plan, value)).copied()
    }
}

/// The constants to read, by method and value: arguments whose elements a contract has conditions
/// on, and the sources of moves, views and copies.
#[derive(Default)]
pub(super) struct ConstantsByValue(BTreeMap<(u32, u32), ConstantBytes>);

impl ConstantsByValue {
    /// Adds the constants of a method.
    pub(super) fn add(&mut self, method: &Method<'_, '_>) {
        let Some(operators) = Operators::of(&method.signatures) else { return };
        for instruction in method::instructions(method.view) {
            operators.each(&instruction, |value, kind| {
                cost::look_up("", self.0.len());
                if self.0.contains_key(&(method.nth, value)) {
                    return;
                }
                let place =
                    ConstantBytes::of(method, value).filter(|place| place.dtype.kind() == kind);
                if let Some(place) = place {
                    self.0.insert((method.nth, value), place);
                }
            });
        }
    }

    /// Reads the constants from `source`, and returns the range of the elements of each.
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] where reading fails, [`OpenError::Memory`] where memory is short.
    pub(super) fn read<S: Source>(
        self,
        file: &File<'_>,
        source: &S,
        out: &mut Findings,
    ) -> Result<ConstantElements, OpenError<S::Error>> {
        let mut places: Vec<_> = self.0.into_iter().collect();
        cost::sort(places.len());
        places.sort_by_key(|(value, place)| {
            (place.bytes.start, place.bytes.end, place.dtype, *value)
        });
        // The number of bytes that may still be read: constants of a hostile file may overlap.
        let mut left = file.file_len().saturating_mul(2).saturating_add(PIECE);
        let mut found = BTreeMap::new();
        let mut read: Option<(ConstantBytes, Option<ElementBounds>)> = None;
        for (value, place) in places {
            let bounds = match read.as_ref().filter(|(other, _)| *other == place) {
                Some((_, bounds)) => *bounds,
                None => {
                    let len = len_of(&place.bytes);
                    let Some(rest) = left.checked_sub(len) else {
                        let path = || vec![PathComponent::Field("program")];
                        let message =
                            || "constants with indices overlap too often to be read".into();
                        out.find(&INDEX_CONTENTS, file.region_range().start, path, message);
                        break;
                    };
                    left = rest;
                    let bounds = place.bounds(source)?;
                    read = Some((place, bounds));
                    bounds
                }
            };
            cost::look_up("", found.len());
            if let Some(bounds) = bounds {
                found.insert(value, bounds);
            }
        }
        Ok(ConstantElements(found))
    }
}

/// The byte range of a constant in the file, and its dtype.
#[derive(PartialEq, Eq)]
struct ConstantBytes {
    bytes: Range<u64>,
    dtype: Dtype,
}

/// The dtypes whose elements are read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Dtype {
    Int,
    Long,
    Float,
}

impl Dtype {
    fn of(dtype: ScalarType) -> Option<Self> {
        match dtype {
            ScalarType::INT => Some(Self::Int),
            ScalarType::LONG => Some(Self::Long),
            ScalarType::FLOAT => Some(Self::Float),
            _ => None,
        }
    }

    fn kind(self) -> ElementKind {
        match self {
            Self::Int | Self::Long => ElementKind::Integers,
            Self::Float => ElementKind::Floats,
        }
    }
}

impl ConstantBytes {
    /// Returns the place of a value, if it is a constant of a dtype that is read.
    fn of(method: &Method<'_, '_>, value: u32) -> Option<Self> {
        let (tensor, bytes) = method.constant(value)?;
        Some(Self { bytes, dtype: Dtype::of(tensor.scalar_type())? })
    }

    /// Reads a constant and returns the bounds of its elements: the least and greatest integer, or
    /// whether all floats are finite. Returns `None` if it has no elements.
    fn bounds<S: Source>(&self, source: &S) -> Result<Option<ElementBounds>, OpenError<S::Error>> {
        let len = len_of(&self.bytes);
        let room = usize::try_from(len.min(PIECE)).map_err(|_| OpenError::Memory)?;
        let mut buffer = Vec::new();
        buffer.try_reserve_exact(room).map_err(|_| OpenError::Memory)?;
        buffer.resize(room, 0u8);
        let mut found = None;
        let mut at = self.bytes.start;
        while at < self.bytes.end {
            let rest = usize::try_from(self.bytes.end.saturating_sub(at)).unwrap_or(room).min(room);
            let piece = buffer.get_mut(..rest).unwrap_or_default();
            cost::charge(rest);
            source.read_at(at, piece).map_err(OpenError::Source)?;
            found = match self.dtype {
                Dtype::Int => {
                    let all = piece.as_chunks().0.iter();
                    wider(found, all.map(|&element| i32::from_le_bytes(element).into()))
                }
                Dtype::Long => {
                    let all = piece.as_chunks().0.iter();
                    wider(found, all.map(|&element| i64::from_le_bytes(element)))
                }
                Dtype::Float => {
                    let mut all = piece.as_chunks().0.iter();
                    let were_finite = found != Some(ElementBounds::Floats { are_finite: false });
                    let are_finite =
                        were_finite && all.all(|&element| f32::from_le_bytes(element).is_finite());
                    Some(ElementBounds::Floats { are_finite })
                }
            };
            at = at.saturating_add(wide(rest));
        }
        Ok(found)
    }
}

/// Widens a range of integers, `bounds`, to include `elements`.
fn wider(
    bounds: Option<ElementBounds>,
    mut elements: impl Iterator<Item = i64>,
) -> Option<ElementBounds> {
    let (least, greatest) = match bounds {
        Some(ElementBounds::Integers { least, greatest }) => (least, greatest),
        _ => {
            let first = elements.next()?;
            (first, first)
        }
    };
    let bounds = (least, greatest);
    let (least, greatest) =
        elements.fold(bounds, |(least, most), element| (least.min(element), most.max(element)));
    Some(ElementBounds::Integers { least, greatest })
}

/// The operators of a method.
struct Operators<'s> {
    signatures: &'s Signatures,
    contracts: Vec<&'static [Term]>,
    copies: Vec<Option<&'static Copied>>,
    /// The kinds of elements that contracts have conditions on.
    kinds: Vec<ElementKind>,
}

impl<'s> Operators<'s> {
    /// Returns the operators of a method; `None` if no contract has conditions on elements.
    fn of(signatures: &'s Signatures) -> Option<Self> {
        let contract =
            |known: Option<&'static Kernel>| known.map_or(&[][..], |known| known.contract);
        let contracts: Vec<_> = signatures.iter().map(contract).collect();
        if contracts.iter().all(|terms| contracts::element_args(terms).next().is_none()) {
            return None;
        }
        let copies = signatures.iter().map(|known| known?.copied.as_ref()).collect();
        let all = [ElementKind::Integers, ElementKind::Floats];
        let of_contracts = contracts.iter().flat_map(|terms| contracts::element_args(terms));
        let kinds: Vec<_> = of_contracts.map(|(_, kind)| kind).collect();
        let kinds = all.into_iter().filter(|kind| kinds.contains(kind)).collect();
        Some(Self { signatures, contracts, copies, kinds })
    }

    /// Calls `each` with each value whose elements an instruction needs: arguments that contracts
    /// have conditions on, and what the instruction moves, copies or views.
    fn each(&self, instruction: &Instruction<'_>, mut each: impl FnMut(u32, ElementKind)) {
        let mut each = |value: Option<i32>, kind| {
            if let Some(value) = value.and_then(|value| u32::try_from(value).ok()) {
                each(value, kind);
            }
        };
        match instruction.operation() {
            Some(InstructionArguments::MoveCall(call)) => {
                self.kinds.iter().for_each(|&kind| each(Some(call.move_from()), kind));
            }
            Some(InstructionArguments::KernelCall(call)) => {
                let Some(operator) = usize::try_from(call.op_index()).ok() else { return };
                let Some(args) = call.args() else { return };
                let arg = |arg: u32| args.get(pte_flat::bytes::index(arg));
                let terms = self.contracts.get(operator).copied().unwrap_or_default();
                contracts::element_args(terms).for_each(|(of, kind)| each(arg(of.into()), kind));
                if let Some(copied) = self.copies.get(operator).copied().flatten() {
                    // Permuted floats are mostly weights, which are too large to read.
                    let is_read = |kind| copied.keeps_sizes || kind == ElementKind::Integers;
                    let kinds = self.kinds.iter().copied().filter(|&kind| is_read(kind));
                    kinds.for_each(|kind| each(arg(copied.source), kind));
                }
                let is_view = self
                    .signatures
                    .args(call)
                    .is_some_and(|mut args| args.any(|(.., kind)| kind.is_view()));
                if is_view {
                    self.kinds.iter().for_each(|&kind| each(arg(0), kind));
                }
            }
            _ => {}
        }
    }
}

/// The number of bytes read at once: a multiple of the size of every element.
const PIECE: u64 = 1 << 16;
