//! Finds the layout of a file's tables by trying all known layouts.

use super::{FileModel, HeaderForm, RootNode};
use pte_flat::bytes::u32_at;
use pte_flat::write::compare::{Plain, compare};
use pte_flat::write::{FORCED, WriterLayout};

impl<R: RootNode> FileModel<'_, R> {
    /// Finds the layout in which the original file's FlatBuffer, `region`, was written, and sets it
    /// for the tables. Returns whether a layout was found; if not, the model does not change.
    ///
    /// The written bytes are compared with `region` one by one and not kept. A layout is rejected
    /// at the first byte that differs.
    pub fn lay_out_like(&mut self, region: &[u8]) -> bool {
        let Some((layout, chunk)) = self.find_layout(region) else { return false };
        self.container.layout = layout;
        if let Some(HeaderForm::Inserted { chunk: room, .. }) = &mut self.container.header {
            *room = chunk;
        }
        true
    }

    /// Returns the layout that reproduces `region`, and the length of its header with padding.
    fn find_layout(&self, region: &[u8]) -> Option<(WriterLayout, u32)> {
        let mut alike = [0; WriterLayout::ALL.len()];
        let fits = |layout: WriterLayout, alike: &mut u16| {
            let compared = compare(&self.root, region, &layout);
            *alike |= compared.alike;
            Some((layout, self.chunk(region, &compared.same?)?))
        };
        for (layout, alike) in WriterLayout::ALL.into_iter().zip(&mut alike) {
            if let Some(found) = fits(layout, alike) {
                return Some(found);
            }
        }
        // Tries other alignments, except those in `alike`: they give the bytes of a rejected
        // layout. Most files have no aligned vectors, so all alignments are in `alike`.
        for (nth, align) in (0..).zip(FORCED) {
            let layouts = WriterLayout::ALL.into_iter().zip(&mut alike);
            for (layout, alike) in layouts.filter(|(_, alike)| **alike & (1 << nth) == 0) {
                let forced = WriterLayout { force_align: Some(align), ..layout };
                if let Some(found) = fits(forced, alike) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// Returns the length of the header with padding, if inserting the header is the only
    /// difference between `plain` and `region`.
    fn chunk(&self, region: &[u8], plain: &Plain) -> Option<u32> {
        let chunk = u32::try_from(region.len().checked_sub(plain.len)?).ok()?;
        let is_inside = matches!(self.container.header, Some(HeaderForm::Inserted { .. }));
        let root = plain.root.checked_add(chunk)?;
        let same = (is_inside || chunk == 0)
            && u32_at(region, 0)? == root
            && region.get(4..8) == Some(&R::SCHEMA.identifier);
        same.then_some(chunk)
    }
}
