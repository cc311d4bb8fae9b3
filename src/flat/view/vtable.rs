//! Reads tables of one type, one after the other. Most share a vtable, which is read once.

use super::{Raw, vtable_pos};
use crate::cost;

/// The vtable of the last table that was read.
#[derive(Debug)]
pub struct Vtable<'a> {
    pos: u32,
    bytes: &'a [u8],
}

/// The initial state, which matches no table.
impl Default for Vtable<'_> {
    fn default() -> Self {
        // No FlatBuffer is long enough for this position.
        Self { pos: u32::MAX, bytes: &[] }
    }
}

impl<'a> Vtable<'a> {
    /// Returns the proven table at `pos`.
    #[inline(always)]
    pub(super) fn table(&mut self, buf: &'a [u8], pos: u32) -> Raw<'a> {
        cost::charge(1);
        let vtable = vtable_pos(buf, pos);
        if vtable != self.pos {
            (self.pos, self.bytes) = (vtable, Raw::new(buf, pos).vtable);
        }
        Raw { buf, vtable: self.bytes, pos }
    }
}
