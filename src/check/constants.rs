//! Constants whose elements a kernel uses as indices or zero points: they are in the file, so they are judged.
//!
//! Each constant is read once, in pieces, for its least and its greatest element. Constants of other tensors
//! are never read.

use alloc::collections::{BTreeSet, TryReserveError};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::report::Findings;
use super::rule::{Rule, rules};
use super::site::Plan;
use crate::bytes::wide;
use crate::cost;
use crate::error::PathComponent;
use crate::file::source::Source;
use crate::flat::view::Vector;
use crate::handle::{File, OpenError};
use crate::method::{self, Instruction, instruction_of_chain};
use crate::operators::{ContentTerm, ELEMENTS, ElementRange, Signature, Signatures, content_term};
use crate::pte::{Pte, Storage};
use crate::schema::program::TensorShapeDynamism;
use crate::schema::program::view::{InstructionArguments, KernelCall, KernelTypes, Tensor};
use crate::schema::scalar::ScalarType;

rules! {
    "constants";

    INDEX_CONTENTS = Error "index-contents"
        "Every index in a constant lies in the tensor that a kernel looks it up in."
        "The kernel aborts, or reads or writes past the tensor."
        Misreads ["6.10"];
    INFINITE_CONTENTS = Error "infinite-contents"
        "A constant whose range is measured to quantize it holds finite numbers."
        "The scale is infinite or no number: the kernel aborts."
        Crashes ["6.10"];
    ZERO_POINT_CONTENTS = Error "zero-point-contents"
        "Every zero point in a constant lies between the least and the greatest quantized value."
        "The kernel aborts."
        Crashes ["6.10"];
}

/// Judges the elements of constants that calls of `file` use as indices or zero points.
///
/// # Errors
///
/// [`OpenError::Source`] where reading fails, [`OpenError::Memory`] where memory is short.
pub(super) fn judge<S: Source>(
    file: &File<'_>,
    source: &S,
    out: &mut Findings,
) -> Result<(), OpenError<S::Error>> {
    let File::Pte(pte) = file else { return Ok(()) };
    let mut uses = uses(pte).map_err(|_| OpenError::Memory)?;
    if uses.is_empty() {
        return Ok(());
    }
    cost::sort(uses.len());
    uses.sort_by_key(|of| (of.bytes.start, of.bytes.end, of.width, of.what == What::Number));
    // Constants may overlap: a hostile file may have many that share their bytes.
    let mut left = file.file_len().saturating_mul(2).saturating_add(PIECE);
    let mut read: Option<(&Use, Bounds)> = None;
    for of in &uses {
        let bounds = match read.filter(|(other, _)| of.reads_as(other)) {
            Some((_, bounds)) => bounds,
            None => {
                let len = of.bytes.end.saturating_sub(of.bytes.start);
                let Some(rest) = left.checked_sub(len) else {
                    of.find(pte, &INDEX_CONTENTS, out, || {
                        "constants with indices overlap too often to be read".into()
                    });
                    return Ok(());
                };
                left = rest;
                let bounds = bounds(source, of)?;
                read = Some((of, bounds));
                bounds
            }
        };
        of.judge(pte, bounds, out);
    }
    Ok(())
}

/// The least and the greatest element of a constant; `None` if it has none.
type Bounds = Option<(i64, i64)>;

/// A constant that a call uses.
struct Use {
    /// The index of the method.
    plan: u32,
    /// The call: its chain, its index there, and the argument.
    chain: u32,
    instruction: u32,
    arg: u32,
    /// The index of the constant's value.
    value: i32,
    bytes: Range<u64>,
    /// Bytes of an element.
    width: u64,
    least: i64,
    greatest: i64,
    what: What,
}

/// What the elements of a constant are to the kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Index,
    ZeroPoint,
    /// A number that must be finite: [`bounds`] counts one that is not as 1, any other as 0.
    Number,
}

impl Use {
    /// Returns whether another use reads the same bytes as the same elements.
    fn reads_as(&self, other: &Self) -> bool {
        let is_number = |of: &Self| of.what == What::Number;
        (&self.bytes, self.width, is_number(self)) == (&other.bytes, other.width, is_number(other))
    }

    fn judge(&self, pte: &Pte<'_>, bounds: Bounds, out: &mut Findings) {
        let Some((least, greatest)) = bounds else { return };
        let outside = match (least < self.least, greatest > self.greatest) {
            (true, _) => least,
            (_, true) => greatest,
            _ => return,
        };
        let (rule, what): (&'static Rule, _) = match self.what {
            What::ZeroPoint => (&ZERO_POINT_CONTENTS, "zero point"),
            What::Index => (&INDEX_CONTENTS, "index"),
            What::Number => {
                let value = self.value;
                return self.find(pte, &INFINITE_CONTENTS, out, || {
                    format!("constant {value} has an element that is infinite or not a number")
                });
            }
        };
        self.find(pte, rule, out, || {
            let Self { value, least, greatest, .. } = self;
            format!("constant {value} has the {what} {outside}, out of {least} to {greatest}")
        });
    }

    fn find(
        &self,
        pte: &Pte<'_>,
        rule: &'static Rule,
        out: &mut Findings,
        message: impl FnOnce() -> String,
    ) {
        let plans = pte.program().execution_plan();
        let view = plans.and_then(|plans| plans.get(crate::bytes::index(self.plan)));
        let chain = view.and_then(|view| view.chains()?.get(crate::bytes::index(self.chain)));
        let instruction =
            chain.and_then(|chain| instruction_of_chain(self.chain, chain, self.instruction));
        let (Some(view), Some(instruction)) = (view, instruction) else { return };
        let args = [PathComponent::Field("args"), PathComponent::Index(self.arg)];
        Plan::new(pte, self.plan, view).find_instruction(out, rule, &instruction, &args, message);
    }
}

/// Returns the constants that calls use as indices or zero points. Instructions may share the table of
/// a call: it is judged once.
fn uses(pte: &Pte<'_>) -> Result<Vec<Use>, TryReserveError> {
    let mut found = Vec::new();
    for (nth, view) in method::distinct(pte) {
        let plan = Plan::new(pte, nth, view);
        let signatures = Signatures::of(plan.view);
        let term = |known: Option<&Signature>| known.and_then(|&(name, _)| content_term(name));
        let terms: Vec<_> = signatures.iter().map(term).collect();
        if terms.iter().all(Option::is_none) {
            continue;
        }
        let mut changed = plan.each(false);
        for instruction in method::instructions(plan.view) {
            method::for_each_changed(&signatures, &instruction, |value| {
                let value = usize::try_from(value).ok().and_then(|value| changed.get_mut(value));
                value.into_iter().for_each(|changed| *changed = true);
            });
        }
        let mut judged = BTreeSet::new();
        for instruction in method::instructions(plan.view) {
            let Some(InstructionArguments::KernelCall(call)) = instruction.operation() else {
                continue;
            };
            let operator = usize::try_from(call.op_index()).ok();
            let term = operator.and_then(|operator| terms.get(operator).copied().flatten());
            let Some(term) = term else { continue };
            cost::look_up("", judged.len());
            if !judged.insert(instruction.operation_pos()) {
                continue;
            }
            let of = Call { plan: &plan, instruction, call, changed: &changed };
            if let Some(of) = of.read(term) {
                found.try_reserve(1)?;
                found.push(of);
            }
        }
    }
    Ok(found)
}

/// A call whose operator asks something of the elements of a tensor.
struct Call<'c, 'p, 'a> {
    plan: &'c Plan<'p, 'a>,
    instruction: Instruction<'a>,
    call: KernelCall<'a>,
    /// By value, whether an instruction may change it.
    changed: &'c [bool],
}

impl<'a> Call<'_, '_, 'a> {
    fn read(&self, term: &ContentTerm) -> Option<Use> {
        let args = self.call.args()?;
        let (value, tensor) = self.tensor(args, term.arg)?;
        let dtype = tensor.scalar_type();
        if self.is_changed(value) || !ELEMENTS.contains(&dtype) {
            return None;
        }
        let is_finite = matches!(term.range, ElementRange::Finite);
        if is_finite != (dtype == ScalarType::FLOAT) {
            return None;
        }
        let (least, greatest) = match term.range {
            ElementRange::Finite => (0, 1),
            ElementRange::RowOf(arg) => (0, self.sizes(args, arg)?.get(0)?.into()),
            ElementRange::PlaneOf(arg) => {
                let sizes = self.sizes(args, arg)?;
                let last = sizes.len().checked_sub(1)?;
                let (height, width) = (sizes.get(last.checked_sub(1)?)?, sizes.get(last)?);
                (-1, i64::from(height).checked_mul(width.into())?)
            }
            ElementRange::Between { least, greatest, input, out } => {
                let is = |arg, dtype| {
                    self.tensor(args, arg).is_some_and(|(_, of)| of.scalar_type() == dtype)
                };
                if !is(input, ScalarType::CHAR) || !is(out, ScalarType::FLOAT) {
                    return None;
                }
                (self.int(args, least)?, self.int(args, greatest)?.checked_add(1)?)
            }
        };
        let Ok(Storage::Constant(bytes)) = self.plan.pte.storage(tensor) else { return None };
        Some(Use {
            plan: self.plan.nth,
            chain: self.instruction.chain(),
            instruction: self.instruction.index(),
            arg: term.arg,
            value,
            bytes,
            width: dtype.element_size()?,
            least,
            greatest: greatest.checked_sub(1)?,
            what: match term.range {
                ElementRange::Between { .. } => What::ZeroPoint,
                ElementRange::Finite => What::Number,
                ElementRange::RowOf(_) | ElementRange::PlaneOf(_) => What::Index,
            },
        })
    }

    fn is_changed(&self, value: i32) -> bool {
        let changed = usize::try_from(value).ok().and_then(|value| self.changed.get(value));
        changed != Some(&false)
    }

    fn tensor(&self, args: Vector<'a, i32>, arg: u32) -> Option<(i32, Tensor<'a>)> {
        let value = args.get(crate::bytes::index(arg))?;
        match self.plan.value(value.into())? {
            KernelTypes::Tensor(tensor) => Some((value, tensor)),
            _ => None,
        }
    }

    /// The sizes of a tensor, if no call can resize it.
    fn sizes(&self, args: Vector<'a, i32>, arg: u32) -> Option<Vector<'a, i32>> {
        let (value, tensor) = self.tensor(args, arg)?;
        let is_fixed = tensor.shape_dynamism() == TensorShapeDynamism::STATIC;
        (is_fixed || !self.is_changed(value)).then(|| tensor.sizes())?
    }

    fn int(&self, args: Vector<'a, i32>, arg: u32) -> Option<i64> {
        let value = args.get(crate::bytes::index(arg)).filter(|&value| !self.is_changed(value))?;
        match self.plan.value(value.into())? {
            KernelTypes::Int(int) => Some(int.int_val()),
            _ => None,
        }
    }
}

/// Reads a constant for its least and its greatest element.
fn bounds<S: Source>(source: &S, of: &Use) -> Result<Bounds, OpenError<S::Error>> {
    let len = of.bytes.end.saturating_sub(of.bytes.start);
    let room = usize::try_from(len.min(PIECE)).map_err(|_| OpenError::Memory)?;
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(room).map_err(|_| OpenError::Memory)?;
    buffer.resize(room, 0u8);
    let mut found: Bounds = None;
    let mut at = of.bytes.start;
    while at < of.bytes.end {
        let rest = usize::try_from(of.bytes.end.saturating_sub(at)).unwrap_or(room).min(room);
        let piece = buffer.get_mut(..rest).unwrap_or_default();
        cost::charge(rest);
        source.read_at(at, piece).map_err(OpenError::Source)?;
        let mut add = |element: i64| {
            let (least, greatest) = found.unwrap_or((element, element));
            found = Some((least.min(element), greatest.max(element)));
        };
        if of.what == What::Number {
            let elements = piece.as_chunks().0.iter();
            elements.for_each(|&element| add(i64::from(!f32::from_le_bytes(element).is_finite())));
        } else if of.width == 8 {
            piece.as_chunks().0.iter().for_each(|&element| add(i64::from_le_bytes(element)));
        } else {
            let elements = piece.as_chunks().0.iter();
            elements.for_each(|&element| add(i32::from_le_bytes(element).into()));
        }
        at = at.saturating_add(wide(rest));
    }
    Ok(found)
}

/// Bytes read at once: a multiple of every element.
const PIECE: u64 = 1 << 16;
