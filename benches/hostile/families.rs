//! Files that are built to cost as much as a file of their size can.

use crate::flat::{Field, Flat, Id};

use Field::{To, U8, U32, U64};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Program,
    Data,
}

/// A way to make files of any size, and another version of each, with which it is compared.
pub(crate) struct Family {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    make: Box<dyn Fn(&mut Flat) -> Made>,
}

/// A root and the segments behind it.
pub(crate) struct Made {
    pub(crate) root: Id,
    pub(crate) segments: usize,
}

impl Family {
    pub(crate) fn new(
        kind: Kind,
        name: impl Into<String>,
        make: impl Fn(&mut Flat) -> Made + 'static,
    ) -> Self {
        Self { name: name.into(), kind, make: Box::new(make) }
    }

    /// A file of `size` bytes which shares as much as is accepted; zeros fill it up.
    pub(crate) fn bytes(&self, size: usize, is_other: bool) -> Vec<u8> {
        let budgets = (0..40).map(|nth| 4 * size - size * nth / 10);
        let mut all = budgets.map(|budget| self.within(size, budget, is_other));
        let mut last = None;
        let is_accepted = |bytes: &Vec<u8>| {
            last = match self.kind {
                Kind::Program => pte::Pte::read(bytes).err(),
                Kind::Data => pte::Ptd::read(bytes).err(),
            };
            last.is_none()
        };
        let found = all.find(is_accepted);
        found.unwrap_or_else(|| panic!("{}: {last:?}", self.name))
    }

    /// Makes a file of `size` bytes. Visits of its tables may charge at most `budget` bytes.
    fn within(&self, size: usize, budget: usize, is_other: bool) -> Vec<u8> {
        let mut flat = Flat::new(size, budget, is_other);
        let made = (self.make)(&mut flat);
        let mut out = flat.finish(64, made.root);
        let region = size.saturating_sub(made.segments).max(out.len()).next_multiple_of(16);
        out.resize(region, 0);
        match self.kind {
            Kind::Program => {
                out[4..12].copy_from_slice(b"ET12eh00");
                out[12..16].copy_from_slice(&32u32.to_le_bytes());
                let numbers = [region, region, made.segments].map(|number| number as u64);
                out[16..40].copy_from_slice(numbers.map(u64::to_le_bytes).as_flattened());
            }
            Kind::Data => {
                out[4..12].copy_from_slice(b"FT01FH01");
                out[12..16].copy_from_slice(&40u32.to_le_bytes());
                let numbers = [48, region - 48, region, made.segments].map(|number| number as u64);
                out[16..48].copy_from_slice(numbers.map(u64::to_le_bytes).as_flattened());
            }
        }
        out.extend((0..made.segments).map(|nth| (nth % 251) as u8));
        out
    }
}

/// Returns the largest number of references to tables that the work budget admits, where each visit
/// charges `more` bytes beside the 16 for a table in a list (`pte::Limits`).
pub(crate) fn visits(flat: &Flat, more: usize) -> usize {
    let visited = flat.budget.saturating_sub(1000) / (16 + more);
    visited.min((flat.size / 16).max(1_000_000) - 100).max(1)
}

/// Returns the largest number of references to one table from a single list: the budget and the size
/// of the file limit it.
pub(crate) fn listed(flat: &Flat, more: usize) -> usize {
    visits(flat, more).min((flat.size - flat.size / 8).saturating_sub(2000) / 4).max(1)
}

/// Returns how many unshared tables of `bytes` bytes fit the file, each with its offset.
pub(crate) fn own(flat: &Flat, bytes: usize) -> usize {
    ((flat.size - flat.size / 8).saturating_sub(2000) / (4 + bytes)).max(1)
}

/// Returns the integer square root of `product`, at least 1.
pub(crate) fn square(product: usize) -> usize {
    product.isqrt().max(1)
}

/// The lists of a method.
#[derive(Clone, Copy, Default)]
pub(crate) struct Plan {
    pub(crate) name: Option<Id>,
    pub(crate) values: Option<Id>,
    pub(crate) inputs: Option<Id>,
    pub(crate) outputs: Option<Id>,
    pub(crate) chains: Option<Id>,
    pub(crate) operators: Option<Id>,
    pub(crate) delegates: Option<Id>,
    pub(crate) sizes: Option<Id>,
    pub(crate) devices: Option<Id>,
}

impl Plan {
    /// The method, with an empty list for what a method must have.
    pub(crate) fn table(self, flat: &mut Flat) -> Id {
        let none = flat.offsets(Vec::new());
        let no_numbers = flat.i32s([]);
        let name = self.name.unwrap_or_else(|| flat.string("forward"));
        let sizes = self.sizes.unwrap_or_else(|| flat.i64s([0, 1 << 20]));
        let mut fields = vec![
            (0, To(name)),
            (2, To(self.values.unwrap_or(none))),
            (3, To(self.inputs.unwrap_or(no_numbers))),
            (4, To(self.outputs.unwrap_or(no_numbers))),
            (5, To(self.chains.unwrap_or(none))),
            (6, To(self.operators.unwrap_or(none))),
            (7, To(self.delegates.unwrap_or(none))),
            (8, To(sizes)),
        ];
        fields.extend(self.devices.map(|devices| (9, To(devices))));
        flat.table(&fields)
    }

    /// A program of this method alone.
    pub(crate) fn program(self, flat: &mut Flat) -> Made {
        let plan = self.table(flat);
        program(flat, vec![plan], &[], 0)
    }
}

/// A program of methods and other fields.
pub(crate) fn program(
    flat: &mut Flat,
    plans: Vec<Id>,
    more: &[(u16, Field)],
    segments: usize,
) -> Made {
    let plans = flat.offsets(plans);
    let mut fields = vec![(0, U32(0)), (1, To(plans))];
    fields.extend(more);
    let root = flat.table(&fields);
    Made { root, segments }
}

pub(crate) fn value(flat: &mut Flat, tag: u8, table: Id) -> Id {
    flat.table(&[(0, U8(tag)), (1, To(table))])
}

pub(crate) fn int(flat: &mut Flat, number: u64) -> Id {
    let number = number + u64::from(flat.is_other);
    let int = flat.table(&[(0, U64(number))]);
    value(flat, 2, int)
}

/// A tensor of float32 that is planned at an offset of the first arena.
pub(crate) fn tensor(flat: &mut Flat, sizes: Id, order: Id, offset: u32) -> Id {
    let place = flat.table(&[(0, U32(1)), (1, U32(offset))]);
    let tensor = flat.table(&[(0, U8(6)), (2, To(sizes)), (3, To(order)), (6, To(place))]);
    value(flat, 5, tensor)
}

/// A tensor of 2 by 4.
pub(crate) fn small_tensor(flat: &mut Flat, offset: u32) -> Id {
    let sizes = flat.i32s([2, 4]);
    let order = flat.bytes(vec![0, 1]);
    tensor(flat, sizes, order, offset)
}

pub(crate) fn operator(flat: &mut Flat, name: impl AsRef<[u8]>) -> Id {
    let name = flat.string(name);
    let overload = flat.string("out");
    flat.table(&[(0, To(name)), (1, To(overload))])
}

pub(crate) fn call(flat: &mut Flat, operator: u32, args: Id) -> Id {
    let call = flat.table(&[(0, U32(operator)), (1, To(args))]);
    instruction(flat, 1, call)
}

pub(crate) fn instruction(flat: &mut Flat, tag: u8, what: Id) -> Id {
    flat.table(&[(0, U8(tag)), (1, To(what))])
}

pub(crate) fn chain(flat: &mut Flat, instructions: Id) -> Id {
    let chain = flat.table(&[(2, To(instructions))]);
    flat.offsets(vec![chain])
}

/// A list of 64-bit numbers, doubles, bools or indices as a value, by its tag.
pub(crate) fn list(flat: &mut Flat, tag: u8, items: Id) -> Id {
    let list = flat.table(&[(0, To(items))]);
    value(flat, tag, list)
}

/// A segment, by its offset and size.
pub(crate) fn segment(flat: &mut Flat, offset: u64, size: u64) -> Id {
    flat.table(&[(0, U64(offset)), (1, U64(size))])
}
