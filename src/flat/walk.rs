//! The verifier: the only code that follows unproven offsets.
//!
//! What is checked, and why each rule is as lenient as it is, stands in `docs/format.md`, §0.2.
//! Facts about a table split into facts about its vtable (proven once for each pair of vtable and
//! table type: [`shape`]) and facts about its position (checked for every table: [`Walk::object`]).

use self::budget::Budget;
use self::seen::Notes;
use self::shape::Shape;
use self::shapes::{FEW, MANY, SHORT, Shapes};
use crate::bytes::{further, index, slice_at, u32_at, wide};
use crate::error::{Error, ErrorKind, Result, Step};
use crate::flat::desc::{Form, Ref, TableDesc, To};
use crate::flat::view::{Proof, Raw, Table};
use crate::limits::{LISTED_TABLE, Limits, MAX_PROGRAM};

mod budget;
mod leaf;
mod seen;
mod shape;
mod shapes;
#[cfg(test)]
mod tests;
mod text;
mod union;
mod why;

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
    let run = if len < SHORT { Walk::<false, FEW>::run } else { Walk::<false, MANY>::run };
    // A second time to tell the way to what the first one refused.
    let seen = run(buf, root, desc, limits)
        .or_else(|_| Walk::<true, MANY>::run(buf, root, desc, limits))?;
    Ok((Raw::new(buf, root), seen))
}

/// As [`verify`], with the root as its type.
pub(crate) fn read<'a, T: Table<'a>>(buf: &'a [u8], limits: &Limits) -> Result<(T, Seen)> {
    verify(buf, T::DESC, limits).map(|(raw, seen)| (T::from_raw(raw, Proof(())), seen))
}

/// A walk; with `TELL`, its errors tell the way. Without, none has to be kept in mind: most walks meet
/// no error. It has room for `WAYS` shapes.
struct Walk<'a, const TELL: bool, const WAYS: usize> {
    buf: &'a [u8],
    bytes: Budget,
    /// Tables that vectors refer to.
    elements: Budget,
    shapes: Shapes<WAYS>,
    notes: Notes,
}

impl<'a, const TELL: bool, const WAYS: usize> Walk<'a, TELL, WAYS> {
    #[inline(never)]
    fn run(buf: &'a [u8], root: u32, desc: &'static TableDesc, limits: &Limits) -> Result<Seen> {
        let len = wide(buf.len());
        let bytes = Budget::new("bytes", limits.bytes_visited(len));
        let elements = Budget::new("tables in lists", limits.tables_in_lists(len));
        let (shapes, notes) = (Shapes::new(), Notes::new(root));
        let walk = Self { buf, bytes, elements, shapes, notes };
        walk.table(0, desc)?;
        Ok(walk.notes.seen())
    }

    /// What came of a step of the way.
    #[inline(always)]
    fn within<T>(walked: Result<T>, step: impl FnOnce() -> Step) -> Result<T> {
        match walked {
            Err(error) if TELL => Err(error.within(step())),
            walked => walked,
        }
    }

    /// The table that the offset at `at` leads to.
    #[inline(never)]
    fn table(&self, at: u32, desc: &'static TableDesc) -> Result<()> {
        self.notes.tables(1);
        let found = self.follow(at)?;
        self.element(found, desc, None).map(drop)
    }

    /// A vector of tables. Neighbours mostly share a vtable, so the last shape is tried first.
    #[inline(never)]
    fn tables(&self, at: u32, desc: &'static TableDesc) -> Result<()> {
        let (first, len) = self.vector(at, 4)?;
        if len == 0 {
            return Ok(());
        }
        self.notes.tables(len);
        let pos = first.wrapping_sub(4);
        self.elements.spend(len.into(), pos)?;
        self.bytes.spend(u64::from(len).saturating_mul(LISTED_TABLE), pos)?;
        let offsets = slice_at(self.buf, index(first), len.wrapping_mul(4)).unwrap_or_default();
        let mut last = None;
        for (nth, &offset) in (0u32..).zip(offsets.as_chunks().0) {
            let found = self.reach(further(first, nth.wrapping_mul(4)), u32::from_le_bytes(offset));
            let walked = found.and_then(|found| self.element(found, desc, last));
            last = Self::within(walked, || Step::Index(nth))?;
        }
        Ok(())
    }

    /// One table of several, and the shape that it has.
    #[inline(always)]
    fn element<'s>(
        &'s self,
        (pos, back): (u32, u32),
        desc: &'static TableDesc,
        last: Option<&'s Shape>,
    ) -> Result<Option<&'s Shape>> {
        let vtable = shape::vtable(pos, back);
        let known = last.filter(|shape| shape.is_at(vtable));
        match known.or_else(|| self.shapes.known(vtable, desc)) {
            Some(shape) => self.object(pos, shape, desc).map(|()| Some(shape)),
            None => self.stranger(pos, vtable, desc).map(|()| None),
        }
    }

    /// One table at `pos` whose vtable was not found at once.
    #[inline(never)]
    fn stranger(&self, pos: u32, vtable: u32, desc: &'static TableDesc) -> Result<()> {
        let Some(shape) = self.shapes.room(vtable, desc) else {
            return self.passing(pos, vtable, desc);
        };
        if !shape.is_proven() {
            shape.prove(self.buf, pos, &self.notes)?;
        }
        self.object(pos, shape, desc)
    }

    /// One table at `pos` whose vtable there is no room to keep in mind.
    #[inline(never)]
    fn passing(&self, pos: u32, vtable: u32, desc: &'static TableDesc) -> Result<()> {
        let shape = Shape::new(vtable, desc);
        shape.prove(self.buf, pos, &self.notes)?;
        self.object(pos, &shape, desc)
    }

    /// One table at `pos`, whose vtable has been proven to have `shape`. Most have one field to look at,
    /// if any: they do without the loop over fields, and the member of a union without a call.
    #[inline(always)]
    fn object<'s>(
        &'s self,
        mut pos: u32,
        mut shape: &'s Shape,
        mut desc: &'static TableDesc,
    ) -> Result<()> {
        loop {
            let end = u64::from(pos).saturating_add(shape.extent().into());
            if end > wide(self.buf.len()) || !shape.fits(pos) {
                return Err(why::misplaced(self.buf, pos, shape, desc));
            }
            let step = || Step::Field(desc.refs().first().map_or("", |field| field.name));
            match desc.form {
                Form::Leaf => return Ok(()),
                Form::Other => return self.references(desc.refs(), pos, shape),
                Form::Numbers(_) if shape.at(0) == 0 => return Ok(()),
                Form::Numbers(size) => {
                    let at = further(pos, shape.at(0).into());
                    return Self::within(self.numbers(at, size.into()), step);
                }
                // Telling the way takes a call.
                Form::Union(union) if TELL => {
                    return Self::within(self.union(pos, shape.union(0), union), step);
                }
                Form::Union(union) => {
                    let Some((at, member)) = self.variant(pos, shape.union(0), union)? else {
                        return Ok(());
                    };
                    self.notes.tables(1);
                    let (next, back) = self.follow(at)?;
                    let vtable = shape::vtable(next, back);
                    let Some(known) = self.shapes.known(vtable, member) else {
                        return self.stranger(next, vtable, member);
                    };
                    (pos, shape, desc) = (next, known, member);
                }
            }
        }
    }

    /// What is looked at of the table at `pos`.
    #[inline(never)]
    fn references(&self, refs: &[Ref], pos: u32, shape: &Shape) -> Result<()> {
        for (field, offset) in refs.iter().zip(shape.offsets()) {
            if offset == 0 {
                continue;
            }
            let at = further(pos, offset.into());
            let walked = match field.to {
                To::Bool => self.bool(at),
                To::Str => self.string(at),
                To::Table(desc) => self.table(at, desc),
                To::Bools => self.bool_list(at),
                To::Numbers(size) => self.numbers(at, size.into()),
                To::Tables(desc) => self.tables(at, desc),
                To::Union(place, desc) => self.union(pos, shape.union(place), desc),
                To::Value(place) => self.tagged(pos, shape.union(place)),
            };
            Self::within(walked, || Step::Field(field.name))?;
        }
        Ok(())
    }
}
