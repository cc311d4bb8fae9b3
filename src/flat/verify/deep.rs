//! Verifies rare tables: those with a recursive field, or with many references.

use super::Verifier;
use super::vtable::VtableLayout;
use crate::bytes::{further, index, sum, u16_at};
use crate::desc::{MOST_NESTED, TableDesc, To};
use crate::error::{Error, ErrorKind, PathComponent, Result};

impl<const TRACE_PATH: bool, const CACHE_SLOTS: usize> Verifier<'_, TRACE_PATH, CACHE_SLOTS> {
    /// Verifies the table of a recursive field, and limits the nesting, which bounds the stack.
    #[inline(never)]
    pub(super) fn nested(&self, at: u32, desc: &'static TableDesc) -> Result<()> {
        let nesting = self.nesting.get();
        if nesting >= MOST_NESTED {
            return Err(Error::new(ErrorKind::NestingLimit { limit: MOST_NESTED }, at.into()));
        }
        self.nesting.set(nesting.saturating_add(1));
        let verified = self.table(at, desc);
        self.nesting.set(nesting);
        verified
    }

    /// Verifies the references of a rare table, which has a recursive field or more references than
    /// a layout holds. Their offsets are read from the vtable again.
    #[inline(never)]
    pub(super) fn rare(
        &self,
        pos: u32,
        layout: &VtableLayout,
        desc: &'static TableDesc,
    ) -> Result<()> {
        let vtable = layout.vtable();
        let len = u16_at(self.buf, index(vtable)).unwrap_or_default();
        for field in desc.fields {
            let entry = field.slot.saturating_mul(2).saturating_add(4);
            let offset = u16_at(self.buf, sum(vtable, entry.into())).unwrap_or_default();
            if entry >= len || offset == 0 {
                continue;
            }
            let at = further(pos, offset.into());
            let verified = match field.kind.to(0) {
                Some(To::Bool) => self.bool(at),
                Some(To::Str) => self.string(at),
                Some(To::Table(desc)) if field.recursive => self.nested(at, desc),
                Some(To::Table(desc)) => self.table(at, desc),
                Some(To::Bools) => self.bool_list(at),
                Some(To::Numbers(size)) => self.numbers(at, size.into()),
                Some(To::Tables(desc)) => self.tables(at, desc),
                Some(To::Strs) => self.strings(at),
                // A rare table has no union, as its declaration asserts.
                Some(To::Union(..) | To::Value(_)) | None => Ok(()),
            };
            Self::within(verified, || PathComponent::Field(field.name))?;
        }
        Ok(())
    }
}
