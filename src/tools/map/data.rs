//! Claims data for its users, and claims segments.

use core::ops::Range;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::claims::{Claims, PADDING};
use super::paths::Precision;
use super::tables::{INLINE_CONSTANTS, INLINE_PAYLOADS, Pass};
use super::{Label, ROOT, User, index, narrow, payload};
use pte_core::payload::{ConstantPlace, PayloadContents};
use pte_core::ptd::Root;
use pte_core::{File, Ptd, Pte, Storage};
use pte_flat::cost;
use pte_schema::program::view::KernelTypes;

/// The purpose of data. Bytes with several purposes belong to the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Purpose {
    Constant,
    Mutable,
    Payload,
    Named,
    /// An entry of a `.ptd`, with or without a shape.
    Tensor,
    Blob,
}

/// The contents of payloads, by the start and the end of the payload.
pub(super) type Contents<'c> = BTreeMap<(u64, u64), &'c PayloadContents>;

/// A range of data and its user.
struct Use<'a> {
    range: Range<u64>,
    purpose: Purpose,
    user: User<'a>,
}

impl Purpose {
    const ALL: [Self; 6] =
        [Self::Constant, Self::Mutable, Self::Payload, Self::Named, Self::Tensor, Self::Blob];

    /// Returns the name of the part that holds data of this purpose.
    fn name(self) -> &'static str {
        match self {
            Self::Constant => "constants",
            Self::Mutable => "mutable data",
            Self::Payload => "delegates",
            Self::Named => "named data",
            Self::Tensor => "tensors",
            Self::Blob => "blobs",
        }
    }
}

impl<'a, 'p> Claims<'a, 'p> {
    /// Collects every claim on `file`.
    pub(super) fn of(
        file: &File<'a>,
        contents: &'p [PayloadContents],
        precision: Precision,
    ) -> Self {
        let mut claims = Self::new(file, precision);
        claims.headers();
        match file {
            File::Pte(pte) => claims.program(pte, contents),
            File::Ptd(ptd) => claims.data(ptd),
        }
        claims
    }

    /// Claims all bytes of a program.
    fn program(&mut self, pte: &Pte<'a>, contents: &'p [PayloadContents]) {
        let contents = contents.iter().map(|one| ((one.range.start, one.range.end), one)).collect();
        self.users(uses(pte, &contents), &contents);
        let program = pte.program();
        Pass::of_file(self).with_plans(program.execution_plan()).root(program, "program");
        let mut used = Vec::new();
        used.extend(
            program.constant_segment().map(|pieces| (pieces.segment_index(), Purpose::Constant)),
        );
        // Runtimes use only the first entry of this list.
        let mutable = program.mutable_data_segments().and_then(|all| all.get(0));
        used.extend(mutable.map(|pieces| (pieces.segment_index(), Purpose::Mutable)));
        self.segments(&File::Pte(pte.clone()), &used);
    }

    /// Claims all bytes of a data file.
    fn data(&mut self, ptd: &Ptd<'a>) {
        let entries = ptd.entries().filter_map(|entry| {
            let range = entry.range().ok()?;
            let purpose = entry.layout().map_or(Purpose::Blob, |_| Purpose::Tensor);
            Some(Use { range, purpose, user: User::Key(entry.key()) })
        });
        self.users(entries.collect(), &Contents::new());
        let mut used = Vec::new();
        match ptd.root() {
            Root::Current(root) => Pass::of_file(self).root(root, "flat_tensor"),
            Root::Legacy(root) => {
                Pass::of_file(self).root(root, "flat_tensor");
                let tensors = root.tensors().into_iter().flatten();
                used.extend(tensors.map(|tensor| (tensor.segment_index(), Purpose::Tensor)));
            }
        }
        self.segments(&File::Ptd(ptd.clone()), &used);
    }

    /// Claims data for its users. If several users share a range, they share a part.
    fn users(&mut self, mut uses: Vec<Use<'a>>, contents: &Contents<'p>) {
        uses.retain(|one| !one.range.is_empty());
        cost::sort(uses.len());
        uses.sort_by_key(|one| (one.purpose, one.range.start, one.range.end));
        // The parts are created in display order, after the tables.
        for purpose in Purpose::ALL {
            if uses.iter().any(|one| one.purpose == purpose) {
                self.child(ROOT, purpose.name());
            }
        }
        self.users.reserve_exact(uses.len());
        for same in uses.chunk_by(|a, b| (a.purpose, &a.range) == (b.purpose, &b.range)) {
            let Some(Use { range, purpose, .. }) = same.first() else { continue };
            let inline = range.start < self.region_range.end;
            let parent = match purpose {
                Purpose::Constant if inline => self.section(INLINE_CONSTANTS),
                Purpose::Payload if inline => self.section(INLINE_PAYLOADS),
                _ => self.child(ROOT, purpose.name()),
            };
            let from = narrow(self.users.len());
            self.users.extend(same.iter().map(|one| one.user));
            let node = self.node(parent, Label::Users(from, narrow(self.users.len())));
            match (same.first(), contents.get(&(range.start, range.end))) {
                (Some(&Use { user: User::Delegate { method, index, .. }, .. }), Some(contents)) => {
                    let delegate = (method, index);
                    self.within_payload(node, |claims| claims.payload(contents, delegate));
                }
                _ => self.claim(range.clone(), node),
            }
        }
    }

    /// Claims the rest of each segment. `used` lists the segments that consist of pieces.
    fn segments(&mut self, file: &File<'a>, used: &[(u32, Purpose)]) {
        let mut known = vec![false; index(file.segment_count())];
        for &(nth, purpose) in used {
            let Some(known @ false) = known.get_mut(index(nth)) else { continue };
            *known = true;
            if let Ok(range) = file.segment_range(nth) {
                let parent = self.child(ROOT, purpose.name());
                let node = self.child(parent, PADDING);
                self.claim(range, node);
            }
        }
        if let File::Ptd(ptd) = file {
            self.segments_end = ptd.declared_end().min(ptd.file_len());
        }
        let mut last = 0..0;
        for nth in 0..file.segment_count() {
            let Ok(range) = file.segment_range(nth) else { continue };
            self.segments_end = self.segments_end.max(range.end);
            // A segment with the same range as the previous one gets no bytes.
            if !range.is_empty() && core::mem::replace(&mut last, range.clone()) != range {
                self.segments.push((range.clone(), nth));
                let parent = self.child(ROOT, "unreferenced segments");
                let node = self.node(parent, Label::Segment(nth));
                self.claim(range, node);
            }
        }
    }
}

/// Returns all uses of data in a program. Named data belongs to the constant of a payload that
/// requests the data, or to its key if no constant requests it.
fn uses<'a>(pte: &Pte<'a>, contents: &Contents<'_>) -> Vec<Use<'a>> {
    let mut uses = Vec::new();
    let mut asked: BTreeMap<(u64, u64), User<'a>> = BTreeMap::new();
    for plan in pte.program().execution_plan().into_iter().flatten() {
        // The name is read once for each plan, since each read checks the whole name to be UTF-8.
        let method = plan.name();
        for (index, value) in (0u32..).zip(plan.values().into_iter().flatten()) {
            let Some(KernelTypes::Tensor(tensor)) = value.val() else { continue };
            let (range, purpose) = match pte.storage(tensor) {
                Ok(Storage::Constant(range)) => (range, Purpose::Constant),
                Ok(Storage::Planned { initial: Some(range), .. }) => (range, Purpose::Mutable),
                _ => continue,
            };
            let extra = tensor.extra_tensor_info();
            let name = extra.and_then(|extra| extra.fully_qualified_name());
            uses.push(Use { range, purpose, user: User::Tensor { method, index, name } });
        }
        for (index, delegate) in (0u32..).zip(plan.delegates().into_iter().flatten()) {
            if let Ok(Some(range)) = pte.delegate_range(delegate) {
                if let Some(contents) = contents.get(&(range.start, range.end)) {
                    for (place, user) in payload::constants_of(contents, (method, index)) {
                        let ConstantPlace::Named { range: Some(range), .. } = place else {
                            continue;
                        };
                        cost::look_up("", asked.len());
                        asked.entry((range.start, range.end)).or_insert(user);
                    }
                }
                let user = User::Delegate { method, index, id: delegate.id() };
                uses.push(Use { range, purpose: Purpose::Payload, user });
            }
        }
    }
    // A file may be mostly named data: a list that doubles would take half as much memory again.
    uses.reserve_exact(pte.named_data().len());
    uses.extend(pte.named_data().filter_map(|(key, range)| {
        let range = range.ok()?;
        cost::look_up("", asked.len());
        let mut user = asked.get(&(range.start, range.end)).copied().unwrap_or(User::Key(key));
        if let User::Graph { key: of, .. } = &mut user {
            *of = key;
        }
        Some(Use { range, purpose: Purpose::Named, user })
    }));
    uses
}
