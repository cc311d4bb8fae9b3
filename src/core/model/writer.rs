//! Writes a model as a file (format.md §9).

use alloc::vec::Vec;

use super::{Budget, Container, FileModel, HeaderForm, Image, ModelError, RootNode};
use crate::file::header::{ExtendedHeader, FlatTensorHeader};
use crate::limits::{HEAD, Limits, MAX_SIZE};
use crate::ptd::is_polyglot;
use pte_flat::bytes::{index, wide};
use pte_flat::ledger::MemoryError;
use pte_flat::tree::Unknown;
use pte_flat::write::{WriteError, compare, write_within};
use pte_schema::flat_tensor_legacy::desc::SCHEMA as OLD;

impl<R: RootNode> FileModel<'_, R> {
    /// Returns the whole file for writing, within [`Limits::UNTRUSTED`].
    ///
    /// See [`image_with`](Self::image_with).
    ///
    /// # Errors
    ///
    /// See [`image_with`](Self::image_with).
    pub fn image(&self) -> Result<Image<'_>, ModelError> {
        self.image_with(&Limits::UNTRUSTED)
    }

    /// Returns the whole file for writing. The length of the file is limited by
    /// [`limits.bytes_written`](Limits::bytes_written), and the length of its tables by
    /// [`limits.program`](Limits).
    ///
    /// # Errors
    ///
    /// The root and the segments contradict each other, the header does not fit, or memory is
    /// short. Fields of a newer writer would be lost: see [`forget_unknown`](Self::forget_unknown).
    /// [`ModelError::Amplified`] if the file would be many times longer than the bytes that it is
    /// made of.
    pub fn image_with(&self, limits: &Limits) -> Result<Image<'_>, ModelError> {
        self.check_unknown()?;
        let order = self.order()?;
        let tables = self.tables(limits.program)?;
        let blobs = self.segments.iter().chain([&self.container.trailing]);
        let budget = Budget::new(wide(tables.len()), blobs);
        let frame = self.frame(wide(tables.len()), &order)?;
        let mut image = Image::new();
        image.bytes(match self.container.header {
            Some(form) => with_header::<R>(tables, form, frame.base, frame.data_size),
            None => tables,
        });
        for place in order.iter().filter(|_| !frame.is_nowhere) {
            if let Some(blob) = self.segments.get(place.index) {
                image.zeros_to(frame.base.saturating_add(place.begin));
                image.blob(blob);
            }
        }
        image.zeros_to(frame.end);
        image.blob(&self.container.trailing);
        // A file has at least as many bytes as runtimes read first.
        image.zeros_to(wide(HEAD));
        budget.check(image.len(), limits)?;
        Ok(image)
    }

    /// Returns the length of the file without creating the file.
    ///
    /// # Errors
    ///
    /// The errors of [`image`](Self::image).
    pub fn image_len(&self) -> Result<u64, ModelError> {
        self.check_unknown()?;
        let order = self.order()?;
        let size = match core::ptr::eq(R::SCHEMA, &OLD) {
            // Old tables are written and not only measured: bytes that fit both layouts are
            // refused.
            true => self.tables(MAX_SIZE)?.len(),
            false => self.tables_len()?,
        };
        let end = self.frame(wide(size), &order)?.end.max(wide(size));
        Ok(end.saturating_add(self.container.trailing.len()).max(wide(HEAD)))
    }

    fn check_unknown(&self) -> Result<(), ModelError> {
        match self.unknown.is_none() {
            true => Ok(()),
            false => Err(ModelError::Unknown(self.unknown)),
        }
    }

    /// Returns the range of the segments after tables of `size` bytes.
    fn frame(&self, size: u64, order: &[SegmentRange]) -> Result<Frame, ModelError> {
        let &Container { padding, segment_alignment, segment_base_offset, .. } = &self.container;
        if self.container.header.is_none() {
            let is_pte = R::SCHEMA.extension == "pte";
            return match is_pte && order.iter().all(SegmentRange::is_empty) {
                true => Ok(Frame { base: 0, data_size: 0, end: size, is_nowhere: true }),
                false => Err(ModelError::HeaderMissing),
            };
        }
        // Upstream's writer of programs gives no base where there are no segments.
        let has_none = order.is_empty() && R::SCHEMA.extension == "pte";
        if segment_base_offset.is_none() && (has_none || are_nowhere(order)) {
            let end = size.checked_add(padding).ok_or(ModelError::TooLarge)?;
            let data_size = if padding == 0 { 0 } else { end };
            return Ok(Frame { base: 0, data_size, end, is_nowhere: true });
        }
        let base = match segment_base_offset {
            Some(base) if base >= size => base,
            _ => size
                .checked_next_multiple_of(segment_alignment.max(1))
                .ok_or(ModelError::TooLarge)?,
        };
        let data_size = order.iter().map(|place| place.end).max().unwrap_or(0);
        let data_size = data_size.checked_add(padding).ok_or(ModelError::TooLarge)?;
        let end = base.checked_add(data_size).ok_or(ModelError::TooLarge)?;
        Ok(Frame { base, data_size, end, is_nowhere: false })
    }

    /// Forgets that fields of a newer writer were lost, so that the tables can be written without
    /// them.
    pub fn forget_unknown(&mut self) {
        self.unknown = Unknown::default();
    }

    /// Returns the FlatBuffer, of at most `most` bytes, with zeros in place of the header.
    fn tables(&self, most: u64) -> Result<Vec<u8>, ModelError> {
        let (room, whole) = self.header_room()?;
        let inside = zeros(if whole { 0 } else { room })?;
        let layout = &self.container.layout;
        let tables = write_within(R::SCHEMA, &self.root, &inside, layout, most);
        let tables = tables.map_err(|error| match error {
            WriteError::TooLarge if most < MAX_SIZE => ModelError::TablesLimit { limit: most },
            error => error.into(),
        })?;
        // The alignment in the old layout has the same slot as the offset to the segments in the
        // current layout. So some old tables are also valid in the current layout.
        if core::ptr::eq(R::SCHEMA, &OLD) && is_polyglot(&tables, whole) {
            return Err(ModelError::Polyglot);
        }
        if !whole {
            return Ok(tables);
        }
        let mut both = zeros(room)?;
        both.try_reserve_exact(tables.len()).map_err(MemoryError::from)?;
        both.extend(tables);
        Ok(both)
    }

    /// Returns the length of the FlatBuffer and the header.
    fn tables_len(&self) -> Result<usize, ModelError> {
        let (room, _) = self.header_room()?;
        let len = compare::length(R::SCHEMA, &self.root, &self.container.layout)?;
        Ok(len.saturating_add(room))
    }

    /// Returns the length of the header with padding, and whether the header is in front of the
    /// tables.
    fn header_room(&self) -> Result<(usize, bool), ModelError> {
        let Some(form) = self.container.header else { return Ok((0, false)) };
        let (length, chunk) = form.room();
        let least = if R::SCHEMA.extension == "pte" {
            ExtendedHeader::MINIMUM
        } else {
            FlatTensorHeader::MINIMUM
        };
        if length < least || chunk < length || chunk % 8 != 0 {
            return Err(ModelError::HeaderRoom { length, chunk });
        }
        let whole = matches!(form, HeaderForm::InFront { .. });
        if whole && !core::ptr::eq(R::SCHEMA, &OLD) {
            return Err(ModelError::HeaderInFront);
        }
        Ok((index(chunk), whole))
    }

    /// Returns the ranges of the segments, by offset.
    fn order(&self) -> Result<Vec<SegmentRange>, ModelError> {
        let (declared, given) = (self.root.segment_count(), self.segments.len());
        if declared != given {
            return Err(ModelError::SegmentCount { declared, given });
        }
        let mut places = Vec::new();
        places.try_reserve_exact(given).map_err(MemoryError::from)?;
        let (mut blobs, mut wrong) = (self.segments.iter().enumerate(), None);
        self.root.each_segment(&mut |begin, declared| {
            let Some((index, blob)) = blobs.next() else { return };
            let given = blob.len();
            match begin.checked_add(given) {
                Some(end) if declared == given => places.push(SegmentRange { begin, end, index }),
                Some(_) => {
                    wrong.get_or_insert(ModelError::SegmentSize { index, declared, given });
                }
                None => {
                    wrong.get_or_insert(ModelError::TooLarge);
                }
            }
        });
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        places.sort_unstable_by_key(|place| (place.begin, place.end, place.index));
        let mut end = 0;
        for place in &places {
            // Empty segments may have any offset.
            if place.begin < end && place.begin < place.end {
                let (index, offset) = (place.index, place.begin);
                return Err(ModelError::SegmentOverlap { index, offset, end });
            }
            end = place.end.max(end);
        }
        Ok(places)
    }
}

/// The range of the segments in the file.
struct Frame {
    base: u64,
    /// The number of bytes that the header counts as data.
    data_size: u64,
    end: u64,
    /// Whether all segments are empty and take no space.
    is_nowhere: bool,
}

/// The range of a segment, counted from the start of the segments.
struct SegmentRange {
    begin: u64,
    end: u64,
    index: usize,
}

impl SegmentRange {
    fn is_empty(&self) -> bool {
        self.begin == self.end
    }
}

/// Returns whether all segments are empty, and some have an offset. They then take no space in the
/// file.
fn are_nowhere(places: &[SegmentRange]) -> bool {
    places.iter().all(SegmentRange::is_empty) && places.iter().any(|place| place.begin > 0)
}

/// Returns the tables after filling in their header.
fn with_header<R: RootNode>(
    mut tables: Vec<u8>,
    form: HeaderForm,
    segment_base_offset: u64,
    segment_data_size: u64,
) -> Vec<u8> {
    let (length, chunk) = form.room();
    let (size, chunk) = (wide(tables.len()), u64::from(chunk));
    let (at, bytes) = match form {
        HeaderForm::Inserted { .. } if R::SCHEMA.extension == "pte" => {
            let header = ExtendedHeader {
                length,
                program_size: size,
                segment_base_offset,
                segment_data_size,
            };
            (8, header.to_bytes())
        }
        _ => {
            let header = FlatTensorHeader {
                length,
                flatbuffer_offset: chunk,
                flatbuffer_size: size.saturating_sub(chunk),
                segment_base_offset,
                segment_data_size,
            };
            let at = if matches!(form, HeaderForm::InFront { .. }) { 0 } else { 8 };
            (at, header.to_bytes())
        }
    };
    if let Some(room) = tables.get_mut(at..).and_then(|tables| tables.get_mut(..bytes.len())) {
        room.copy_from_slice(&bytes);
    }
    tables
}

/// Returns `len` zeros.
fn zeros(len: usize) -> Result<Vec<u8>, MemoryError> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(len)?;
    zeros.resize(len, 0);
    Ok(zeros)
}
