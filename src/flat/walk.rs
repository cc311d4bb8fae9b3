//! The verifier: the only code that follows an offset which nobody has proven.
//!
//! What is checked, and why each rule is as lenient as it is, stands in `docs/format.md`, §0.2.
//! Facts about a table split into facts about its vtable (proven once for each pair of vtable and
//! table type: [`shape`]) and facts about its position (checked for every table: [`Walk::object`]).

use core::cell::Cell;

use self::shape::{Found, Shape, Shapes};
use crate::bytes::{narrow, slice_at, u32_at, wide};
use crate::error::{Error, ErrorKind, Result, Step};
use crate::flat::desc::{FieldDesc, Kind, TableDesc, UnionDesc};
use crate::flat::view::{Proof, Raw, Table};
use crate::limits::{Limits, MAX_PROGRAM};

mod shape;

/// Proves that `buf` is a FlatBuffer whose root is `desc`, everything reachable included.
///
/// # Errors
///
/// The first place found that breaks a rule, with positions counted from the start of `buf`.
pub(crate) fn verify<'a>(
    buf: &'a [u8],
    desc: &'static TableDesc,
    limits: &Limits,
) -> Result<Raw<'a>> {
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
    let walk = Walk { buf, budget, left: Cell::new(budget), shapes: Shapes::new() };
    walk.table(root, desc)?;
    Ok(Raw::new(buf, root))
}

/// As [`verify`], with the root as its type.
pub(crate) fn read<'a, T: Table<'a>>(buf: &'a [u8], limits: &Limits) -> Result<T> {
    verify(buf, T::DESC, limits).map(|raw| T::from_raw(raw, Proof(())))
}

struct Walk<'a> {
    buf: &'a [u8],
    /// Bytes that may be visited, in all and from now on.
    budget: u64,
    left: Cell<u64>,
    shapes: Shapes,
}

impl Walk<'_> {
    fn table(&self, pos: u32, desc: &'static TableDesc) -> Result<()> {
        let vtable = shape::vtable_of(self.buf, pos)?;
        self.object(pos, self.shapes.of(self.buf, vtable, desc)?.shape(), desc)
    }

    /// A vector of tables. Neighbours mostly share a vtable, so the last shape is tried first.
    fn tables(&self, at: u32, desc: &'static TableDesc) -> Result<()> {
        let (first, len) = self.vector(at, 4)?;
        let mut last: Option<&Shape> = None;
        for nth in 0..len {
            self.element(first.saturating_add(nth.saturating_mul(4)), desc, &mut last)
                .map_err(|error| error.within(Step::Index(nth)))?;
        }
        Ok(())
    }

    #[inline]
    fn element<'s>(
        &'s self,
        at: u32,
        desc: &'static TableDesc,
        last: &mut Option<&'s Shape>,
    ) -> Result<()> {
        let pos = self.follow(at)?;
        let vtable = shape::vtable_of(self.buf, pos)?;
        if let Some(shape) = *last
            && shape.vtable == vtable
        {
            return self.object(pos, shape, desc);
        }
        let found = self.shapes.of(self.buf, vtable, desc)?;
        if let Found::Kept(shape) = found {
            *last = Some(shape);
        }
        self.object(pos, found.shape(), desc)
    }

    /// One table at `pos`, whose vtable has been proven to have `shape`.
    fn object(&self, pos: u32, shape: &Shape, desc: &'static TableDesc) -> Result<()> {
        let end = u64::from(pos).saturating_add(shape.extent.into());
        if end > wide(self.buf.len()) {
            let limit = wide(self.buf.len());
            return Err(Error::new(ErrorKind::FieldOutOfBounds { end, limit }, pos.into()));
        }
        if !shape.fits(pos) {
            return Err(shape::misaligned(self.buf, pos, shape));
        }
        self.spend(shape.extent.into(), pos)?;
        if desc.is_leaf() {
            return Ok(());
        }
        for (field, &offset) in desc.refs().iter().zip(&shape.at) {
            if offset != 0 {
                let at = pos.saturating_add(offset.into());
                self.reference(field, at, pos, shape)
                    .map_err(|error| error.within(Step::Field(field.name)))?;
            }
        }
        Ok(())
    }

    /// The reference field `field`, which lies at `at` in the table at `pos`.
    fn reference(&self, field: &FieldDesc, at: u32, pos: u32, shape: &Shape) -> Result<()> {
        match field.kind {
            Kind::Scalar(_) => Ok(()),
            Kind::Str => self.string(at),
            Kind::Table(desc) => self.table(self.follow(at)?, desc),
            Kind::Scalars { prim, .. } => self.vector(at, prim.size().into()).map(drop),
            Kind::Tables(desc) => self.tables(at, desc),
            Kind::Union(desc) => self.variant(at, pos, shape, desc),
        }
    }

    /// A union: `at` is where its tag lies, or its value where there is no tag.
    fn variant(&self, at: u32, pos: u32, shape: &Shape, desc: &'static UnionDesc) -> Result<()> {
        let byte = |at| slice_at(self.buf, at, 1).and_then(|byte| byte.first().copied());
        let tag = match shape.tag {
            0 => 0,
            offset => byte(pos.saturating_add(offset.into())).unwrap_or_default(),
        };
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

    fn string(&self, at: u32) -> Result<()> {
        let pos = self.length(at)?;
        let len = u32_at(self.buf, pos).unwrap_or_default();
        let Some(text) = slice_at(self.buf, pos.saturating_add(4), len) else {
            return Err(Error::new(ErrorKind::StringOutOfBounds { len }, pos.into()));
        };
        let end = pos.saturating_add(4).saturating_add(len);
        if slice_at(self.buf, end, 1) != Some(&[0]) {
            return Err(Error::new(ErrorKind::StringNotTerminated {}, end.into()));
        }
        if let Err(error) = core::str::from_utf8(text) {
            let valid = narrow(error.valid_up_to());
            let at = pos.saturating_add(4).saturating_add(valid);
            return Err(Error::new(ErrorKind::StringNotUtf8 { valid }, at.into()));
        }
        self.spend(u64::from(len).saturating_add(4), pos)
    }

    /// A vector of elements of `size` bytes: where the first one is, and how many there are.
    fn vector(&self, at: u32, size: u32) -> Result<(u32, u32)> {
        let pos = self.length(at)?;
        let len = u32_at(self.buf, pos).unwrap_or_default();
        let first = pos.saturating_add(4);
        let bytes = u64::from(len).saturating_mul(size.into());
        if u64::from(first).saturating_add(bytes) > wide(self.buf.len()) {
            return Err(Error::new(ErrorKind::VectorOutOfBounds { bytes }, pos.into()));
        }
        // flatc does not align the elements of a vector that has none (format.md §7.8).
        if len > 0 && first & size.saturating_sub(1) != 0 {
            return Err(Error::new(ErrorKind::ElementMisaligned { size }, first.into()));
        }
        self.spend(bytes.saturating_add(4), pos)?;
        Ok((first, len))
    }

    /// Where the offset at `at` leads: to the length of a vector or string.
    fn length(&self, at: u32) -> Result<u32> {
        let pos = self.follow(at)?;
        if pos & 3 != 0 {
            return Err(Error::new(ErrorKind::VectorMisaligned {}, pos.into()));
        }
        Ok(pos)
    }

    /// Where the offset at `at` leads: at least 4 bytes are there.
    fn follow(&self, at: u32) -> Result<u32> {
        let offset = u32_at(self.buf, at).unwrap_or_default();
        if offset == 0 {
            return Err(Error::new(ErrorKind::OffsetNull {}, at.into()));
        }
        let pos = at.saturating_add(offset);
        if u64::from(pos).saturating_add(4) > wide(self.buf.len()) {
            let target = u64::from(at).saturating_add(offset.into());
            let limit = wide(self.buf.len());
            return Err(Error::new(ErrorKind::OffsetOutOfBounds { target, limit }, at.into()));
        }
        Ok(pos)
    }

    /// Pays for `bytes` visited at `pos`.
    fn spend(&self, bytes: u64, pos: u32) -> Result<()> {
        match self.left.get().checked_sub(bytes) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(Error::new(ErrorKind::WorkLimit { limit: self.budget }, pos.into())),
        }
    }
}
