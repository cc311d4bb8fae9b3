//! A model as a file (format.md §9).

use alloc::vec::Vec;

use super::{Budget, Container, File, HeaderForm, Image, ModelError, Root};
use crate::bytes::{index, u32_at, wide};
use crate::file::header::{ExtendedHeader, FlatTensorHeader};
use crate::flat::tree::Unknown;
use crate::flat::write::{Layout, WriteError, write_within};
use crate::limits::{HEAD, Limits, MAX_PROGRAM};
use crate::ptd::is_polyglot;
use crate::schema::flat_tensor_legacy::desc::SCHEMA as OLD;

impl<R: Root> File<'_, R> {
    /// Returns the whole file as it is to be written, held to [`Limits::UNTRUSTED`].
    ///
    /// # Errors
    ///
    /// See [`image_with`](Self::image_with).
    pub fn image(&self) -> Result<Image<'_>, ModelError> {
        self.image_with(&Limits::UNTRUSTED)
    }

    /// Returns the whole file as it is to be written, held to
    /// [`limits.bytes_written`](Limits::bytes_written), its tables to [`limits.program`](Limits).
    ///
    /// # Errors
    ///
    /// Where the root and the segments contradict each other, the header has no room, or the
    /// tables hold something of a newer writer, which would be lost: see
    /// [`forget_unknown`](Self::forget_unknown). [`ModelError::Amplified`] where the file would be
    /// many times longer than what it is made of.
    pub fn image_with(&self, limits: &Limits) -> Result<Image<'_>, ModelError> {
        if !self.unknown.is_none() {
            return Err(ModelError::Unknown(self.unknown));
        }
        let container = &self.container;
        let order = self.order()?;
        let tables = self.tables(limits.program)?;
        let blobs = self.segments.iter().chain([&container.trailing]);
        let budget = Budget::new(wide(tables.len()), blobs);
        let mut image = Image::new();
        let is_pte = R::SCHEMA.extension == "pte";
        match container.header {
            Some(form) => self.lay(form, tables, &order, &mut image)?,
            None if is_pte && order.iter().all(Place::is_empty) => image.bytes(tables),
            None => return Err(ModelError::HeaderMissing),
        }
        image.blob(&container.trailing);
        // Runtimes read so many bytes before anything else.
        image.zeros_to(wide(HEAD));
        budget.check(image.len(), limits)?;
        Ok(image)
    }

    /// The tables with their header, and the segments behind them.
    fn lay<'m>(
        &'m self,
        form: HeaderForm,
        tables: Vec<u8>,
        order: &[Place],
        image: &mut Image<'m>,
    ) -> Result<(), ModelError> {
        let &Container { padding, segment_alignment, segment_base_offset, .. } = &self.container;
        let size = wide(tables.len());
        if segment_base_offset.is_none() && are_nowhere(order) {
            let end = size.checked_add(padding).ok_or(ModelError::TooLarge)?;
            image.bytes(with_header::<R>(tables, form, 0, if padding == 0 { 0 } else { end }));
            image.zeros_to(end);
            return Ok(());
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
        image.bytes(with_header::<R>(tables, form, base, data_size));
        for place in order {
            if let Some(blob) = self.segments.get(place.index) {
                image.zeros_to(base.saturating_add(place.begin));
                image.blob(blob);
            }
        }
        image.zeros_to(end);
        Ok(())
    }

    /// Gives up what a newer writer put into the tables, so that they can be written without.
    pub fn forget_unknown(&mut self) {
        self.unknown = Unknown::default();
    }

    /// Finds how a writer laid out the tables of `region`, the FlatBuffers part of the file that
    /// this model was taken from, so that they will be written in the same bytes. Whether that
    /// worked; if not, nothing is changed.
    pub fn lay_out_like(&mut self, region: &[u8]) -> bool {
        let object = self.root.to_object();
        // What is longer than the tables are is none of them, and may be much longer.
        let of = |layout: &Layout| {
            write_within(R::SCHEMA, &object, &[], layout, wide(region.len())).ok()
        };
        let fits = |layout: Layout| {
            let plain = of(&layout)?;
            let chunk = region.len().checked_sub(plain.len())?;
            let chunk = u32::try_from(chunk).ok()?;
            let inserted = match self.container.header {
                Some(HeaderForm::InFront { .. }) | None => 0,
                Some(HeaderForm::Inserted { .. }) => chunk,
            };
            let root = u32_at(&plain, 0)?.checked_add(inserted)?;
            let same = u32_at(region, 0)? == root
                && region.get(4..8) == plain.get(4..8)
                && region.get(index(inserted).saturating_add(8)..) == plain.get(8..);
            same.then_some((layout, chunk))
        };
        let found = layouts(None).find_map(fits).or_else(|| {
            // Most tables hold nothing that could be aligned otherwise.
            let plain = Layout::default();
            let forced = Layout { force_align: FORCED.last().copied(), ..plain };
            let plain = of(&plain);
            let sensitive = plain.is_none() || plain != of(&forced);
            let all = FORCED.into_iter().filter(|_| sensitive);
            all.flat_map(|align| layouts(Some(align))).find_map(fits)
        });
        let Some((layout, chunk)) = found else { return false };
        self.container.layout = layout;
        if let Some(HeaderForm::Inserted { chunk: room, .. }) = &mut self.container.header {
            *room = chunk;
        }
        true
    }

    /// Returns the FlatBuffers part of at most `most` bytes, with zeros where a header is to be.
    fn tables(&self, most: u64) -> Result<Vec<u8>, ModelError> {
        let object = self.root.to_object();
        let layout = &self.container.layout;
        let room = match self.container.header {
            None => 0,
            Some(form) => {
                let (length, chunk) = form.room();
                let least = if R::SCHEMA.extension == "pte" {
                    ExtendedHeader::MINIMUM
                } else {
                    FlatTensorHeader::MINIMUM
                };
                if length < least || chunk < length || chunk % 8 != 0 {
                    return Err(ModelError::HeaderRoom { length, chunk });
                }
                index(chunk)
            }
        };
        let whole = matches!(self.container.header, Some(HeaderForm::InFront { .. }));
        let is_old = core::ptr::eq(R::SCHEMA, &OLD);
        if whole && !is_old {
            return Err(ModelError::HeaderInFront);
        }
        let inside = alloc::vec![0; if whole { 0 } else { room }];
        let tables = write_within(R::SCHEMA, &object, &inside, layout, most);
        let tables = tables.map_err(|error| match error {
            WriteError::TooLarge if most < MAX_PROGRAM => ModelError::TablesLimit { limit: most },
            error => error.into(),
        })?;
        // Where an old layout stores its alignment, the current one leads to its segments.
        if is_old && is_polyglot(&tables, whole) {
            return Err(ModelError::Polyglot);
        }
        Ok(if whole { [alloc::vec![0; room], tables].concat() } else { tables })
    }

    /// The segments in the order in which they lie.
    fn order(&self) -> Result<Vec<Place>, ModelError> {
        let declared = self.root.segments();
        let given = self.segments.len();
        if declared.len() != given {
            return Err(ModelError::SegmentCount { declared: declared.len(), given });
        }
        let mut places = Vec::with_capacity(given);
        for (index, ((begin, declared), blob)) in
            declared.into_iter().zip(&self.segments).enumerate()
        {
            let given = blob.len();
            if declared != given {
                return Err(ModelError::SegmentSize { index, declared, given });
            }
            let end = begin.checked_add(given).ok_or(ModelError::TooLarge)?;
            places.push(Place { begin, end, index });
        }
        places.sort_unstable_by_key(|place| (place.begin, place.end, place.index));
        let mut end = 0;
        for place in &places {
            // What is empty may be anywhere.
            if place.begin < end && place.begin < place.end {
                let (index, offset) = (place.index, place.begin);
                return Err(ModelError::SegmentOverlap { index, offset, end });
            }
            end = place.end.max(end);
        }
        Ok(places)
    }
}

/// Where a segment lies, counted from the first byte of the segments.
struct Place {
    begin: u64,
    end: u64,
    index: usize,
}

impl Place {
    fn is_empty(&self) -> bool {
        self.begin == self.end
    }
}

/// Whether there is nothing in any segment, and some are said to be further on: without a base that is
/// nowhere, and no room is made for it.
fn are_nowhere(places: &[Place]) -> bool {
    places.iter().all(Place::is_empty) && places.iter().any(|place| place.begin > 0)
}

/// The tables with their header.
fn with_header<R: Root>(
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

/// The layouts of known writers, the likeliest first.
fn layouts(force_align: Option<u32>) -> impl Iterator<Item = Layout> {
    Layout::ALL.into_iter().map(move |layout| Layout { force_align, ..layout })
}

/// What exporters may be asked to align data in the tables to.
const FORCED: [u32; 12] = [1, 2, 4, 8, 32, 64, 128, 256, 512, 1024, 2048, 4096];
