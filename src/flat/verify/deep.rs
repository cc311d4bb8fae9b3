//! Verifies what few schemas have: recursive fields, and tables with many references.

use super::Verifier;
use super::vtable::VtableLayout;
use crate::bytes::{sum, u16_at};
use crate::error::{Error, ErrorKind, Result};
use crate::flat::desc::{MOST_NESTED, TableDesc};

impl<const TRACE_PATH: bool, const CACHE_SLOTS: usize> Verifier<'_, TRACE_PATH, CACHE_SLOTS> {
    /// Verifies the table of a recursive field: nothing else bounds the stack.
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

    /// Verifies the references of a table that has more of them than a layout has places: their offsets are
    /// read from the vtable again.
    #[inline(never)]
    pub(super) fn wide(
        &self,
        pos: u32,
        layout: &VtableLayout,
        desc: &'static TableDesc,
    ) -> Result<()> {
        let vtable = layout.vtable();
        let len = u16_at(self.buf, sum(vtable, 0)).unwrap_or_default();
        let refs = desc.fields.iter().filter(|field| field.to(0).is_some());
        let offsets = refs.map(|field| {
            let entry = field.slot.saturating_mul(2).saturating_add(4);
            match entry < len {
                true => u16_at(self.buf, sum(vtable, entry.into())).unwrap_or_default(),
                false => 0,
            }
        });
        self.references(desc.refs(), offsets, (pos, layout))
    }
}
