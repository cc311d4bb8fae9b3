//! The verifier: the only code that follows unproven offsets.
//!
//! `docs/format.md` §0.2 has the rules, and why each is as lenient as it is. The facts of a vtable
//! are proven once for each pair of vtable and table type (`verify/vtable.rs`). The facts of a table's
//! position are proven for every table (`Verifier::object`).

use core::cell::Cell;

use self::budget::Budget;
use self::cache::{FEW_SLOTS, LayoutCache, MANY_SLOTS, SMALL_BUFFER};
use self::seen::Notes;
use self::vtable::VtableLayout;
use crate::bytes::{further, index, slice_at, u32_at, wide};
use crate::desc::{Form, TableDesc, To};
use crate::error::{Error, ErrorKind, PathComponent, Result};
use crate::limits::{LISTED_TABLE, Limits, MAX_SIZE};
use crate::view::{ProvenTable, Raw};

mod budget;
mod cache;
mod deep;
mod entry;
mod leaf;
mod seen;
#[cfg(test)]
mod tests;
mod text;
mod union;
mod verified;
mod vtable;
mod why;

pub use entry::{read, read_verified, verify, verify_at, verify_bare};
pub use verified::Verified;

/// Proves a buffer. The offset to the root is at position `at`, and is at least `least`.
fn verify_root<'a>(
    buf: &'a [u8],
    (at, least): (u32, u32),
    desc: &'static TableDesc,
    limits: &Limits,
) -> Result<(ProvenTable<'a>, Verified)> {
    let (len, limit) = (wide(buf.len()), limits.size.min(MAX_SIZE));
    if len > limit {
        return Err(Error::new(ErrorKind::SizeLimit { size: len, limit }, 0));
    }
    let root = u32_at(buf, index(at)).unwrap_or_default();
    if root < least || u64::from(at).saturating_add(root.into()).saturating_add(4) > len {
        return Err(Error::new(ErrorKind::RootOffset { root, least, limit: len }, at.into()));
    }
    let root = further(at, root);
    let run = if len < SMALL_BUFFER {
        Verifier::<false, FEW_SLOTS>::run
    } else {
        Verifier::<false, MANY_SLOTS>::run
    };
    let mut seen = run(buf, (at, root), desc, limits);
    // A refused buffer is verified a second time, to trace the path of the error.
    if cfg!(feature = "alloc") && seen.is_err() {
        seen = Verifier::<true, MANY_SLOTS>::run(buf, (at, root), desc, limits);
    }
    seen.map(|seen| (ProvenTable::new(Raw::new(buf, root), desc), seen))
}

/// One run of the verifier, whose layout cache has `CACHE_SLOTS` slots. Errors have a path only
/// with `TRACE_PATH`: most buffers are valid, and tracing takes time.
struct Verifier<'a, const TRACE_PATH: bool, const CACHE_SLOTS: usize> {
    buf: &'a [u8],
    bytes: Budget,
    /// The budget for tables that vectors refer to.
    elements: Budget,
    layouts: LayoutCache<CACHE_SLOTS>,
    notes: Notes,
    /// The number of recursive fields that are being verified.
    nesting: Cell<u32>,
}

impl<'a, const TRACE_PATH: bool, const CACHE_SLOTS: usize> Verifier<'a, TRACE_PATH, CACHE_SLOTS> {
    #[inline(never)]
    fn run(
        buf: &'a [u8],
        (at, root): (u32, u32),
        desc: &'static TableDesc,
        limits: &Limits,
    ) -> Result<Verified> {
        let len = wide(buf.len());
        let bytes = Budget::new("bytes", limits.bytes_visited(len));
        let elements = Budget::new("tables in lists", limits.tables_in_lists(len));
        let (layouts, notes) = (LayoutCache::new(), Notes::new(root));
        let verifier = Self { buf, bytes, elements, layouts, notes, nesting: Cell::new(0) };
        verifier.table(at, desc)?;
        Ok(verifier.notes.seen())
    }

    /// Adds `component` to the path of the error, if there is one.
    #[inline(always)]
    fn within<T>(verified: Result<T>, component: impl FnOnce() -> PathComponent) -> Result<T> {
        verified.map_err(|error| if TRACE_PATH { error.within(component()) } else { error })
    }

    /// Verifies the table that the offset at `at` leads to.
    #[inline(never)]
    fn table(&self, at: u32, desc: &'static TableDesc) -> Result<()> {
        self.notes.tables(1);
        let found = self.follow(at)?;
        self.element(found, desc, None).map(drop)
    }

    /// Verifies a vector of tables. The last layout is tried first: adjacent tables may share it.
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
        let (mut at, mut last) = (first, None);
        for &offset in offsets.as_chunks().0 {
            let found = self.reach(at, u32::from_le_bytes(offset));
            let verified = found.and_then(|found| self.element(found, desc, last));
            last = Self::within(verified, || PathComponent::Index(at.wrapping_sub(first) / 4))?;
            at = further(at, 4);
        }
        Ok(())
    }

    /// Verifies one table, and returns its layout if it is in the cache. `last` is the layout of
    /// the previous table.
    #[inline(always)]
    fn element<'s>(
        &'s self,
        (pos, back): (u32, u32),
        desc: &'static TableDesc,
        last: Option<&'s VtableLayout>,
    ) -> Result<Option<&'s VtableLayout>> {
        let vtable = vtable::position(pos, back);
        let known = last.filter(|layout| CACHE_SLOTS > 0 && layout.vtable() == vtable);
        match known.or_else(|| self.layouts.known(vtable, desc)) {
            Some(layout) => self.object(pos, layout, desc).map(|()| Some(layout)),
            None => self.uncached(pos, vtable, desc).map(|()| None),
        }
    }

    /// Verifies the table at `pos`, whose layout is not in its first slot of the cache.
    #[inline(never)]
    fn uncached(&self, pos: u32, vtable: u32, desc: &'static TableDesc) -> Result<()> {
        let Some(layout) = self.layouts.room(vtable, desc) else {
            return self.uncacheable(pos, vtable, desc);
        };
        if !layout.is_proven() {
            layout.prove(self.buf, pos, &self.notes)?;
        }
        self.object(pos, layout, desc)
    }

    /// Verifies the table at `pos`, for whose layout the cache has no slot.
    #[inline(never)]
    fn uncacheable(&self, pos: u32, vtable: u32, desc: &'static TableDesc) -> Result<()> {
        let layout = VtableLayout::new(vtable, desc);
        layout.prove(self.buf, pos, &self.notes)?;
        self.object(pos, &layout, desc)
    }

    /// Verifies the table at `pos`, whose vtable has the proven `layout`. Most tables have at most
    /// one reference, so their fields need no loop. The loop below is for members of unions.
    #[inline(always)]
    fn object<'s>(
        &'s self,
        mut pos: u32,
        mut layout: &'s VtableLayout,
        mut desc: &'static TableDesc,
    ) -> Result<()> {
        loop {
            if !layout.fits(pos) {
                return Err(why::misplaced(self.buf, pos, layout.vtable(), layout.extent(), desc));
            }
            let component = || PathComponent::Field(desc.ref_name(0));
            match layout.form() {
                Form::Leaf => return Ok(()),
                Form::Other => {
                    return match desc.refs() {
                        Some(refs) => self.references(refs, pos, layout, desc),
                        None => self.rare(pos, layout, desc),
                    };
                }
                Form::Numbers(size) => {
                    let at = further(pos, layout.at(0).into());
                    return Self::within(self.numbers(at, size.into()), component);
                }
                // Each level of calls that returns adds its part to the path of an error. To be part of the
                // path, the member needs a call for itself.
                Form::Union if TRACE_PATH => {
                    return Self::within(self.union(pos, layout.union(0), desc.members), component);
                }
                Form::Union => {
                    let Some((at, member)) = self.variant(pos, layout.union(0), desc.members)?
                    else {
                        return Ok(());
                    };
                    self.notes.tables(1);
                    let (next, back) = self.follow(at)?;
                    let vtable = vtable::position(next, back);
                    let Some(known) = self.layouts.known(vtable, member.table) else {
                        return self.uncached(next, vtable, member.table);
                    };
                    (pos, layout, desc) = (next, known, member.table);
                }
            }
        }
    }

    /// Verifies the references of the table at `pos`.
    #[inline(never)]
    fn references(
        &self,
        refs: &[To],
        pos: u32,
        layout: &VtableLayout,
        desc: &'static TableDesc,
    ) -> Result<()> {
        for (index, (&to, offset)) in refs.iter().zip(layout.offsets()).enumerate() {
            if offset == 0 {
                continue;
            }
            let at = further(pos, offset.into());
            let verified = match to {
                To::Bool => self.bool(at),
                To::Str => self.string(at),
                To::Table(desc) => self.table(at, desc),
                To::Bools => self.bool_list(at),
                To::Numbers(size) => self.numbers(at, size.into()),
                To::Tables(desc) => self.tables(at, desc),
                To::Strs => self.strings(at),
                To::Union(place, desc) => self.union(pos, layout.union(place), desc.members),
                To::Value(place) => self.tagged(pos, layout.union(place)),
            };
            Self::within(verified, || PathComponent::Field(desc.ref_name(index)))?;
        }
        Ok(())
    }
}
