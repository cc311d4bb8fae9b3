//! The verifier: the only code that follows an offset which nobody has proven.
//!
//! What is checked, and why each rule is as lenient as it is, stands in `docs/format.md`, §0.2.
//! Facts about a table split into facts about its vtable (proven once for each pair of vtable and
//! table type: [`shape`]) and facts about its position (checked for every table: [`Walk::object`]).

use core::cell::Cell;

use self::seen::Notes;
use self::shape::{Shape, Shapes};
use crate::bytes::{u32_at, wide};
use crate::error::{Error, ErrorKind, Result, Step};
use crate::flat::desc::{Ref, TableDesc, To, UnionDesc};
use crate::flat::view::{Proof, Raw, Table};
use crate::limits::{Limits, MAX_PROGRAM};

mod leaf;
mod seen;
mod shape;

pub(crate) use seen::Seen;

/// Proves that `buf` is a FlatBuffer whose root is `desc`, everything reachable included.
///
/// # Errors
///
/// The first place found that breaks a rule, with positions counted from the start of `buf`.
pub(crate) fn verify<'a>(
    buf: &'a [u8],
    desc: &'static TableDesc,
    limits: &Limits,
) -> Result<(Raw<'a>, Seen)> {
    let len = wide(buf.len());
    let limit = limits.program.min(MAX_PROGRAM);
    if len > limit {
        return Err(Error::new(ErrorKind::ProgramLimit { size: len, limit }, 0));
    }
    let root = u32_at(buf, 0).unwrap_or_default();
    if root < 8 || u64::from(root).saturating_add(4) > len {
        return Err(Error::new(ErrorKind::RootOffset { root, limit: len }, 0));
    }
    let budget = len.saturating_mul(limits.amplification.into());
    let notes = Notes::new(root);
    let walk = Walk { buf, budget, left: Cell::new(budget), shapes: Shapes::new(), notes };
    walk.table(root, desc)?;
    Ok((Raw::new(buf, root), walk.notes.seen()))
}

/// As [`verify`], with the root as its type.
pub(crate) fn read<'a, T: Table<'a>>(buf: &'a [u8], limits: &Limits) -> Result<(T, Seen)> {
    verify(buf, T::DESC, limits).map(|(raw, seen)| (T::from_raw(raw, Proof(())), seen))
}

struct Walk<'a> {
    buf: &'a [u8],
    /// Bytes that may be visited, in all and from now on.
    budget: u64,
    left: Cell<u64>,
    shapes: Shapes,
    notes: Notes,
}

impl Walk<'_> {
    fn table(&self, pos: u32, desc: &'static TableDesc) -> Result<()> {
        self.notes.tables(1);
        let vtable = shape::vtable_of(self.buf, pos);
        match vtable.and_then(|vtable| self.shapes.known(vtable, desc)) {
            Some(shape) => self.object(pos, shape, desc),
            None => self.stranger(pos, desc).map(drop),
        }
    }

    /// A vector of tables. Neighbours mostly share a vtable, so the last shape is tried first.
    #[inline(never)]
    fn tables(&self, at: u32, desc: &'static TableDesc) -> Result<()> {
        let (first, len) = self.vector(at, 4)?;
        self.notes.tables(len);
        let mut last: Option<&Shape> = None;
        for nth in 0..len {
            let at = first.saturating_add(nth.saturating_mul(4));
            match self.element(at, desc, last) {
                Ok(shape) => last = shape,
                Err(error) => return Err(error.within(Step::Index(nth))),
            }
        }
        Ok(())
    }

    #[inline]
    fn element<'s>(
        &'s self,
        at: u32,
        desc: &'static TableDesc,
        last: Option<&'s Shape>,
    ) -> Result<Option<&'s Shape>> {
        let pos = self.follow(at)?;
        let vtable = shape::vtable_of(self.buf, pos);
        let known = last.filter(|shape| vtable == Some(shape.vtable));
        match known.or_else(|| self.shapes.known(vtable?, desc)) {
            Some(shape) => self.object(pos, shape, desc).map(|()| Some(shape)),
            None => self.stranger(pos, desc),
        }
    }

    /// One table at `pos` with a vtable that is not known yet: its shape, if there is room for it.
    #[cold]
    #[inline(never)]
    fn stranger(&self, pos: u32, desc: &'static TableDesc) -> Result<Option<&Shape>> {
        let shape = shape::of_table(self.buf, pos, desc, &self.notes)?;
        match self.shapes.keep(shape) {
            Ok(kept) => self.object(pos, kept, desc).map(|()| Some(kept)),
            Err(shape) => self.object(pos, &shape, desc).map(|()| None),
        }
    }

    /// One table at `pos`, whose vtable has been proven to have `shape`.
    #[inline(always)]
    fn object(&self, pos: u32, shape: &Shape, desc: &'static TableDesc) -> Result<()> {
        let end = u64::from(pos).saturating_add(shape.extent.into());
        if end > wide(self.buf.len()) || !shape.fits(pos) {
            return Err(shape::misplaced(self.buf, pos, shape));
        }
        self.spend(shape.extent.into(), pos)?;
        let [first, ..] = shape.at;
        // Most tables have one field to look at, if any: they do without the loop.
        match desc.refs() {
            [] => Ok(()),
            [Ref { name, to: To::Union(desc) }] if first != 0 => self
                .variant(pos.saturating_add(first.into()), pos, shape, desc)
                .map_err(|error| error.within(Step::Field(name))),
            [Ref { name, to: To::Numbers(size) }] if first != 0 => self
                .numbers(pos.saturating_add(first.into()), (*size).into())
                .map_err(|error| error.within(Step::Field(name))),
            refs => self.references(refs, pos, shape),
        }
    }

    /// What is looked at of the table at `pos`.
    #[inline(never)]
    fn references(&self, refs: &[Ref], pos: u32, shape: &Shape) -> Result<()> {
        for (field, &offset) in refs.iter().zip(&shape.at) {
            if offset == 0 {
                continue;
            }
            let at = pos.saturating_add(offset.into());
            let walked = match field.to {
                To::Bool => self.bools(at, 1),
                To::Str => self.string(at),
                To::Table(desc) => self.follow(at).and_then(|target| self.table(target, desc)),
                To::Bools => self.bool_list(at),
                To::Numbers(size) => self.numbers(at, size.into()),
                To::Tables(desc) => self.tables(at, desc),
                To::Union(desc) => self.variant(at, pos, shape, desc),
            };
            if let Err(error) = walked {
                return Err(error.within(Step::Field(field.name)));
            }
        }
        Ok(())
    }

    /// A union: `at` is where its tag lies, or its value where there is no tag.
    #[inline(never)]
    fn variant(&self, at: u32, pos: u32, shape: &Shape, desc: &'static UnionDesc) -> Result<()> {
        let tag = if shape.tag == 0 { 0 } else { self.byte(pos, shape.tag) };
        match (tag, shape.value) {
            (0, 0) => Ok(()),
            (0, _) | (_, 0) => Err(Error::new(ErrorKind::UnionHalf { tag }, at.into())),
            // What an unknown member looks like is not known: it is reported, never read.
            (tag, value) => match desc.member(tag) {
                None => Ok(()),
                Some(member) => self
                    .follow(pos.saturating_add(value.into()))
                    .and_then(|target| self.table(target, member))
                    .map_err(|error| error.within(Step::Variant(member.name))),
            },
        }
    }
}
