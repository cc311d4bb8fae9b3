//! Moves the constants of XNNPACK's payloads to named data, and back (docs/format.md §11.3).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::blob::Cutter;
use super::fixed::FixedPayload;
use super::read::owned;
use super::share;
use super::{Blob, Budget, ExternalError, ModelError, PteModel, ReadError, RootStruct};
use crate::backend::Backend;
use crate::foreign::ForeignFormat;
use crate::limits::Limits;
use crate::payload::ConstantUses;
use crate::payload::xnnpack::{XnnpackGraph, XnnpackHeader, XnnpackParts};
use pte_flat::bytes::{array_at, index, len_of, narrow, wide};
use pte_flat::ledger::{Ledger, Refused};
use pte_flat::quoted::hex;
use pte_flat::tree::Unknown;
use pte_flat::write::{WriterLayout, write};
use pte_schema::program::DataLocation;
use pte_schema::program::model::{BackendDelegateInlineData, NamedData};
use pte_schema::xnnpack::desc::SCHEMA;
use pte_schema::xnnpack::model::{ConstantDataOffset, XNNGraph};

/// The destination of the constants of payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstantHome {
    /// Named data of the program, as since release 0.6. Constants of fewer than `least` bytes stay.
    Named {
        /// The minimum length in bytes of a constant that moves.
        least: u64,
    },
    /// The payload: its constants follow its graph, as releases before 0.6 write them.
    Payload,
}

/// Counts of the constants that moved, and of the constants, delegates and keys that stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MovedConstants {
    /// The number of constants that moved, counted once for each payload.
    pub constants: u64,
    /// The number of payloads that changed.
    pub payloads: u64,
    /// The number of constants that stay, since the backend would free them and read them later.
    pub referenced: u64,
    /// The number of constants whose data is in a `.ptd`.
    pub elsewhere: u64,
    /// The number of delegates of other backends, which stay as they are.
    pub others: u64,
    /// The number of named data that no payload of XNNPACK uses any more, kept for other delegates.
    pub kept: u64,
}

/// The place of a payload: the index of its segment, or of its inline data.
type PayloadPlace = (DataLocation, u32);

/// The places of the payloads of XNNPACK.
#[derive(Default)]
struct PayloadPlaces {
    /// Each place, with the method index and the delegate index of its first delegate.
    all: Vec<(PayloadPlace, (usize, usize))>,
    /// The places that also have other uses.
    shared: BTreeSet<PayloadPlace>,
    /// The number of delegates of other backends.
    others: u64,
}

/// A payload with its graph.
struct OpenPayload<'a> {
    blob: Blob<'a>,
    /// The range of the constants in the payload.
    constants: Range<u64>,
    graph: XNNGraph,
    uses: ConstantUses,
    layout: WriterLayout,
    identifier: [u8; 4],
    /// The keys of the constants that moved into the payload, after the graph.
    embedded: BTreeSet<String>,
}

/// The named data of a program.
#[derive(Default)]
struct Named {
    /// The segment of the data of each key.
    segments: BTreeMap<String, u32>,
    /// The segment of the data of each known digest.
    digests: BTreeMap<String, u32>,
    /// The keys that were added to the program.
    added: BTreeSet<String>,
    /// The keys whose data is in a `.ptd`. The program may not have these keys too.
    outside: BTreeSet<String>,
    /// The number of bytes that may still be read or copied. It is limited since data may overlap.
    left: u64,
}

/// What ends the change of a payload: an error, or a payload that cannot be changed.
enum Stop {
    Error(ExternalError),
    Fixed(FixedPayload),
}

impl From<FixedPayload> for Stop {
    fn from(reason: FixedPayload) -> Self {
        Self::Fixed(reason)
    }
}

impl<E: Into<ExternalError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

impl<'a> PteModel<'a> {
    /// Moves the constants in payloads of XNNPACK to `home`. The results of the program stay the
    /// same. Named data requires a runtime of release 0.6 or later.
    ///
    /// A constant gets the key that upstream's writer gives it: the SHA-256 of its bytes, with the
    /// prefix `scale_` for scales. Equal constants share a key. A payload in a segment is freed
    /// after loading, so constants that the backend does not copy, such as the slopes of
    /// `XNNPReLU`, do not move to it. The backend would also free some constants in named data that
    /// it still reads, such as a bias whose filter is computed. These do not move either.
    ///
    /// # Errors
    ///
    /// [`ExternalError::Payload`] for a payload that cannot be changed. [`ExternalError::SameKey`]
    /// if the program or a `.ptd` has other data under a key. Also if memory is short, or bytes
    /// cannot be read. After an error the model is partly changed.
    pub fn move_payload_constants(
        &mut self,
        home: ConstantHome,
        limits: &Limits,
    ) -> Result<MovedConstants, ExternalError> {
        let places = self.payload_places();
        let mut moved = MovedConstants { others: places.others, ..MovedConstants::default() };
        let mut named = self.named(limits);
        let (mut embedded, mut staying) = (BTreeSet::new(), BTreeSet::new());
        for &(place, delegate) in &places.all {
            let change = self.change_payload(place, home, limits, &mut named, &mut moved);
            let (mut payload, count) = match change {
                Ok(Some(changed)) => changed,
                Ok(None) => continue,
                Err(Stop::Fixed(reason)) => return Err(self.fixed(delegate, reason)),
                Err(Stop::Error(error)) => return Err(error),
            };
            let keys = payload.graph.constant_data.iter().flatten().skip(1);
            for key in keys.filter_map(|entry| entry.named_key.as_ref()) {
                let is_outside = named.outside.contains(key);
                moved.elsewhere = moved.elsewhere.saturating_add(is_outside.into());
                staying.insert(key.clone());
            }
            embedded.append(&mut payload.embedded);
            if count == 0 {
                continue;
            }
            let bytes = payload.write()?;
            // An inline payload is copied. For a payload in a segment, only the graph is in memory.
            let copied = match place {
                (DataLocation::SEGMENT, _) => bytes.len().saturating_sub(payload.blob.len()),
                _ => bytes.len(),
            };
            if !named.pay(copied) {
                return Err(self.fixed(delegate, FixedPayload::Overlap));
            }
            self.replace_payload(place, bytes, places.shared.contains(&place))?;
            moved.constants = moved.constants.saturating_add(count);
            moved.payloads = moved.payloads.saturating_add(1);
        }
        if moved.constants > 0 {
            self.container.segment_alignment = self.container.segment_alignment.max(ALIGNMENT);
            self.lay_out();
        }
        embedded.retain(|key| !staying.contains(key));
        match moved.others {
            0 => {
                let unused = self.root.remove_named(&mut |key| embedded.contains(key));
                if !unused.is_empty() {
                    self.drop_unused(unused);
                }
            }
            _ => moved.kept = wide(embedded.len()),
        }
        Ok(moved)
    }

    /// Opens a payload and moves its constants. Returns the payload, and the number of constants
    /// that moved; `None` if there is no payload at `place`, or it has no constants that could be
    /// moved.
    fn change_payload(
        &mut self,
        place: PayloadPlace,
        home: ConstantHome,
        limits: &Limits,
        named: &mut Named,
        moved: &mut MovedConstants,
    ) -> Result<Option<(OpenPayload<'a>, u64)>, Stop> {
        let Some(blob) = self.payload_blob(place) else { return Ok(None) };
        let Some(mut payload) = OpenPayload::read(blob, home, limits, named)? else {
            return Ok(None);
        };
        let keys = payload.graph.constant_data.iter().flatten().skip(1);
        for key in keys.filter_map(|entry| entry.named_key.as_ref()) {
            if !named.segments.contains_key(key) {
                named.outside.insert(key.clone());
            } else if named.added.contains(key) {
                return Err(ExternalError::SameKey(key.clone()).into());
            }
        }
        let count = match home {
            ConstantHome::Named { least } => {
                self.name_constants(&mut payload, named, least, moved)?
            }
            ConstantHome::Payload => {
                let is_freed = place.0 == DataLocation::SEGMENT;
                Some(self.embed_constants(&mut payload, named, is_freed, moved))
            }
        };
        let count = count.ok_or(FixedPayload::Overlap)?;
        Ok(Some((payload, count)))
    }

    /// Returns the places of XNNPACK's payloads, in the order of delegates.
    fn payload_places(&mut self) -> PayloadPlaces {
        let mut places = PayloadPlaces::default();
        // The number of uses of each place: all of them, and those by delegates of XNNPACK.
        let mut uses: BTreeMap<PayloadPlace, (usize, usize)> = BTreeMap::new();
        let plans = self.root.execution_plan.iter().flatten();
        for (method, plan) in plans.enumerate() {
            for (nth, delegate) in plan.delegates.iter().flatten().enumerate() {
                let is_ours = is_xnnpack(delegate.id.as_deref());
                places.others = places.others.saturating_add((!is_ours).into());
                let Some(data) = &delegate.processed else { continue };
                let is_inline = data.location == DataLocation::INLINE;
                if !is_inline && data.location != DataLocation::SEGMENT {
                    continue;
                }
                let place = (data.location, data.index);
                let (all, ours) = uses.entry(place).or_default();
                // Other uses of segments are counted below.
                *all = all.saturating_add(is_inline.into());
                if is_ours {
                    if *ours == 0 {
                        places.all.push((place, (method, nth)));
                    }
                    *ours = ours.saturating_add(1);
                }
            }
        }
        self.root.segment_indices(&mut |&mut nth| {
            let (all, _) = uses.entry((DataLocation::SEGMENT, nth)).or_default();
            *all = all.saturating_add(1);
        });
        let shared = uses.into_iter().filter(|(_, (all, ours))| all > ours);
        places.shared = shared.map(|(place, _)| place).collect();
        places
    }

    /// Returns the named data of the program.
    fn named(&self, limits: &Limits) -> Named {
        let entries = self.root.named_data.iter().flatten().rev();
        // Runtimes use the first of two entries with one name.
        let segments = entries.filter_map(|entry| Some((entry.key.clone()?, entry.segment_index)));
        let inline = self.root.backend_delegate_data.iter().flatten();
        let inline = inline.map(|inline| wide(inline.data.as_ref().map_or(0, Vec::len)));
        let inline = inline.fold(0, u64::saturating_add);
        let left = Budget::new(inline, &self.segments).most(limits);
        Named { segments: segments.collect(), left, ..Named::default() }
    }

    fn payload_blob(&self, (location, nth): PayloadPlace) -> Option<Blob<'a>> {
        match location {
            DataLocation::SEGMENT => self.segments.get(index(nth)).cloned(),
            _ => {
                let all = self.root.backend_delegate_data.as_deref().unwrap_or_default();
                let data = all.get(index(nth)).and_then(|inline| inline.data.clone());
                data.map(Blob::from)
            }
        }
    }

    /// Adds the constants after the graph to the named data, with a key each. Returns their number;
    /// `None` if they overlap too much.
    fn name_constants(
        &mut self,
        payload: &mut OpenPayload<'a>,
        named: &mut Named,
        least: u64,
        moved: &mut MovedConstants,
    ) -> Result<Option<u64>, ExternalError> {
        let (mut keys, mut count) = (BTreeMap::<(u64, u64, bool), String>::new(), 0u64);
        let OpenPayload { blob, constants, graph, uses, .. } = &mut *payload;
        let cutter = Cutter::new(blob);
        let entries = graph.constant_data.iter_mut().flatten();
        for (nth, entry) in (0..).zip(entries).skip(1) {
            if entry.named_key.is_some() || entry.size < least.max(1) {
                continue;
            }
            if uses.mistaken(nth).is_some() {
                moved.referenced = moved.referenced.saturating_add(1);
                continue;
            }
            let place = (entry.offset, entry.size, uses.is_scales(nth));
            let key = match keys.get(&place) {
                Some(key) => key.clone(),
                None => {
                    let start = constants.start.saturating_add(entry.offset);
                    let bytes = cutter.slice(start..start.saturating_add(entry.size));
                    let Some(key) = self.name(bytes, place.2, named)? else { return Ok(None) };
                    keys.insert(place, key.clone());
                    key
                }
            };
            if !named.pay(wide(key.len())) {
                return Ok(None);
            }
            (entry.offset, entry.named_key) = (u64::MAX, Some(key));
            count = count.saturating_add(1);
        }
        if count > 0 {
            payload.collect_constants(|_, _| None);
        }
        Ok(Some(count))
    }

    /// Adds `bytes` to the named data if they are not there yet. Returns the key of the bytes, or
    /// `None` if too many bytes were read.
    fn name(
        &mut self,
        bytes: Blob<'a>,
        is_scales: bool,
        named: &mut Named,
    ) -> Result<Option<String>, ExternalError> {
        if !named.pay(bytes.len()) {
            return Ok(None);
        }
        let digest = digest(&bytes)?;
        let prefixed = format!("{SCALES}{digest}");
        let (key, other) =
            if is_scales { (prefixed, &digest) } else { (digest.clone(), &prefixed) };
        if !named.digests.contains_key(&digest) {
            for known in [&key, other] {
                let Some(&nth) = named.segments.get(known) else { continue };
                let segment = self.segments.get(index(nth));
                let segment = segment.filter(|segment| segment.len() == bytes.len());
                let is_same = match segment {
                    Some(_) if !named.pay(bytes.len()) => return Ok(None),
                    Some(segment) => self::digest(segment)? == digest,
                    None => false,
                };
                match is_same {
                    true => named.digests.entry(digest.clone()).or_insert(nth),
                    false if *known == key => return Err(ExternalError::SameKey(key.clone())),
                    false => continue,
                };
            }
        }
        let segment = match named.digests.get(&digest) {
            Some(&segment) => segment,
            None => self.hold(bytes),
        };
        named.digests.insert(digest, segment);
        if !named.segments.contains_key(&key) {
            if named.outside.contains(&key) {
                return Err(ExternalError::SameKey(key));
            }
            named.added.insert(key.clone());
            let data = NamedData { key: Some(key.clone()), segment_index: segment };
            self.root.named_data.get_or_insert_default().push(data);
            named.segments.insert(key.clone(), segment);
        }
        Ok(Some(key))
    }

    /// Moves the constants with a key into the payload, after the graph. Returns their number.
    fn embed_constants(
        &self,
        payload: &mut OpenPayload<'a>,
        named: &Named,
        is_freed: bool,
        moved: &mut MovedConstants,
    ) -> u64 {
        let uses = core::mem::take(&mut payload.uses);
        let data = |nth: u32, entry: &ConstantDataOffset| {
            let segment = named.segments.get(entry.named_key.as_ref()?)?;
            let blob = self.segments.get(index(*segment))?;
            Some((!is_freed || !uses.is_referenced(nth)).then(|| blob.clone()))
        };
        let mut count = 0u64;
        for (nth, entry) in (0..).zip(payload.graph.constant_data.iter().flatten()).skip(1) {
            match data(nth, entry) {
                None => {}
                Some(None) => moved.referenced = moved.referenced.saturating_add(1),
                Some(Some(_)) => {
                    count = count.saturating_add(1);
                    payload.embedded.extend(entry.named_key.clone());
                }
            }
        }
        if count > 0 {
            payload.collect_constants(|nth, entry| data(nth, entry).flatten());
        }
        count
    }

    /// Replaces the payload at a place for all delegates of XNNPACK that use the place.
    fn replace_payload(
        &mut self,
        (location, nth): PayloadPlace,
        blob: Blob<'a>,
        is_shared: bool,
    ) -> Result<(), ExternalError> {
        let new = match location {
            DataLocation::SEGMENT if is_shared => self.hold(blob),
            DataLocation::SEGMENT => {
                self.segments.get_mut(index(nth)).into_iter().for_each(|own| *own = blob.clone());
                let mut places = self.root.segments();
                // Constants are aligned within the payload, so the payload must be aligned too.
                if let Some((offset, _)) = places.get_mut(index(nth))
                    && offset.checked_rem(ALIGNMENT) != Some(0)
                {
                    *offset = u64::MAX;
                    self.root.set_segments(&places);
                }
                return Ok(());
            }
            _ => {
                let data = Some(blob.to_bytes()?.into_owned());
                let all = self.root.backend_delegate_data.get_or_insert_default();
                match all.get_mut(index(nth)).filter(|_| !is_shared) {
                    Some(own) => {
                        own.data = data;
                        return Ok(());
                    }
                    None => all.push(BackendDelegateInlineData { data }),
                }
                narrow(all.len().saturating_sub(1))
            }
        };
        let plans = self.root.execution_plan.iter_mut().flatten();
        for delegate in plans.flat_map(|plan| plan.delegates.iter_mut().flatten()) {
            let is_ours = is_xnnpack(delegate.id.as_deref());
            let data = delegate.processed.as_mut().filter(|_| is_ours);
            let data = data.filter(|data| data.location == location && data.index == nth);
            data.into_iter().for_each(|data| data.index = new);
        }
        Ok(())
    }

    fn fixed(&self, (method, delegate): (usize, usize), reason: FixedPayload) -> ExternalError {
        let plan = self.root.execution_plan.iter().flatten().nth(method);
        let method = plan.and_then(|plan| plan.name.clone()).unwrap_or_default();
        ExternalError::Payload { method, delegate, reason }
    }
}

impl<'a> OpenPayload<'a> {
    /// Reads a payload; `None` if it has no constants that could move to `home`.
    fn read(
        blob: Blob<'a>,
        home: ConstantHome,
        limits: &Limits,
        named: &mut Named,
    ) -> Result<Option<Self>, Stop> {
        let head = blob.slice(0..ForeignFormat::HEAD);
        let parts = XnnpackParts::of(&head.to_bytes()?, blob.len());
        let parts = parts.map_err(FixedPayload::Unreadable)?;
        let (region, constants) = (parts.graph.clone(), parts.constants.clone());
        if !named.pay(len_of(&region)) {
            return Err(FixedPayload::Overlap.into());
        }
        let has_header = parts.header.is_some();
        let region = blob.slice(region);
        let region = region.to_bytes()?;
        let graph = XnnpackGraph::read(parts, &region, limits);
        let graph = graph.map_err(FixedPayload::Unreadable)?;
        let uses = ConstantUses::of(&graph);
        if !has_header {
            // A payload without a header cannot refer to named data: its constants stay inside.
            let is_fixed = matches!(home, ConstantHome::Named { .. }) && !uses.is_empty();
            return if is_fixed { Err(FixedPayload::Headerless.into()) } else { Ok(None) };
        }
        let count = narrow(graph.root().constant_data().map_or(0, |all| all.len()));
        for nth in 1..count {
            graph.constant(nth).map_err(|reason| FixedPayload::Constant { nth, reason })?;
        }
        let unknown = Unknown::of(graph.root());
        if unknown != Unknown::default() {
            return Err(FixedPayload::Unknown(unknown).into());
        }
        let layout = WriterLayout::guess(graph.root());
        let identifier = array_at(&region, 4).unwrap_or_default();
        let mut ledger = Ledger::of(wide(region.len()));
        let graph: Result<XNNGraph, Refused> = owned(graph.root(), &mut ledger);
        let graph = graph.map_err(|Refused| ModelError::from(ledger.error()))?;
        drop(region);
        let embedded = BTreeSet::new();
        Ok(Some(Self { blob, constants, graph, uses, layout, identifier, embedded }))
    }

    /// Collects the constants to store after the graph: those without a key, and those for which
    /// `data` returns bytes. Constants with the same place or key are stored once.
    fn collect_constants(&mut self, data: impl Fn(u32, &ConstantDataOffset) -> Option<Blob<'a>>) {
        let (mut parts, mut end) = (Vec::new(), 0u64);
        let mut add = |bytes: Blob<'a>| {
            let (start, size) = (end, bytes.len());
            let next = start.saturating_add(size);
            end = next.checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX);
            parts.extend([bytes, Blob::Zeros(end.saturating_sub(next))]);
            (start, size)
        };
        let (mut behind, mut of_keys) = (BTreeMap::new(), BTreeMap::<String, (u64, u64)>::new());
        let cutter = Cutter::new(&self.blob);
        let entries = self.graph.constant_data.iter_mut().flatten();
        for (nth, entry) in (0..).zip(entries).skip(1) {
            (entry.offset, entry.size) = match entry.named_key.take() {
                Some(key) => match (
                    data(nth, &ConstantDataOffset { named_key: Some(key.clone()), ..*entry }),
                    of_keys.get(&key),
                ) {
                    (None, _) => {
                        entry.named_key = Some(key);
                        continue;
                    }
                    (Some(_), Some(&place)) => place,
                    (Some(bytes), None) => *of_keys.entry(key).or_insert(add(bytes)),
                },
                None => {
                    let start = self.constants.start.saturating_add(entry.offset);
                    let range = start..start.saturating_add(entry.size);
                    let known = behind.entry((entry.offset, entry.size));
                    *known.or_insert_with(|| add(cutter.slice(range)))
                }
            };
        }
        parts.retain(|part| !part.is_empty());
        self.constants = 0..end;
        self.blob = Blob::Parts(parts);
    }

    /// Returns the bytes of the payload: the header, the graph, and the collected constants.
    fn write(&self) -> Result<Blob<'a>, ExternalError> {
        let mut graph = write(&SCHEMA, &self.graph, &[], &self.layout).map_err(ModelError::from)?;
        if let Some(identifier) = graph.get_mut(4..8) {
            identifier.copy_from_slice(&self.identifier);
        }
        let size = narrow(graph.len());
        let end = u64::from(size).saturating_add(u64::from(XnnpackHeader::PADDED));
        let end = end.checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX);
        let header = XnnpackHeader {
            length: XnnpackHeader::LENGTH,
            flatbuffer_offset: XnnpackHeader::PADDED,
            flatbuffer_size: size,
            constant_data_offset: u32::try_from(end).map_err(|_| ModelError::TooLarge)?,
            constant_data_size: self.constants.end,
        };
        let written = wide(graph.len()).saturating_add(XnnpackHeader::PADDED.into());
        Ok(Blob::Parts(Vec::from([
            Blob::from(header.to_bytes()),
            Blob::from(graph),
            Blob::Zeros(end.saturating_sub(written)),
            self.blob.clone(),
        ])))
    }
}

impl Named {
    /// Subtracts `bytes` from what may be read or copied. Returns whether there was enough.
    fn pay(&mut self, bytes: u64) -> bool {
        let rest = self.left.checked_sub(bytes);
        self.left = rest.unwrap_or(self.left);
        rest.is_some()
    }
}

fn is_xnnpack(id: Option<&str>) -> bool {
    id.and_then(Backend::of_id) == Some(Backend::Xnnpack)
}

/// Returns the SHA-256 of a constant, in hexadecimal.
fn digest(bytes: &Blob<'_>) -> Result<String, ReadError> {
    Ok(hex(&share::digest(bytes)?.1))
}

/// The alignment of constants behind a graph, and of named data. Upstream's writer uses the same.
const ALIGNMENT: u64 = 16;

/// The prefix of the keys of scales.
const SCALES: &str = "scale_";
