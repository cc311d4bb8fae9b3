//! The payloads of delegates: whether their backend can read them, and what it does with them.
//!
//! Payloads of a backend whose layout is unknown are not judged.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::ops::Range;

use self::xnnpack::{Calls, Place, Site};
use super::container;
use super::report::Findings;
use super::rule::rules;
use super::site::Plan;
use pte_core::Ptd;
use pte_core::Pte;
use pte_core::backend::Backend;
use pte_core::error::PathComponent;
use pte_core::foreign::ForeignFormat;
use pte_core::limits::Limits;
use pte_core::method::{self, Instruction};
use pte_core::payload::xnnpack::{XnnpackGraph, XnnpackParts};
use pte_core::payload::{Sections, Tables, TablesPlace, Unreadable};
use pte_flat::bytes::{array_at, index, narrow, wide};
use pte_flat::cost;
use pte_flat::view::Table;
use pte_schema::program::view::{DelegateCall, ExecutionPlan, InstructionArguments};

mod mlx;
mod others;
mod qnn;
mod xnnpack;

pub(super) use mlx::RULES as MLX_RULES;
pub(super) use qnn::RULES as QNN_RULES;
pub(super) use xnnpack::RULES as XNNPACK_RULES;

rules! {
    "payloads";

    PAYLOAD_UNREADABLE = Error "payload-unreadable"
        "A payload of XNNPACK or MLX has a header and a graph that the backend reads."
        "The backend refuses it, or reads through a null pointer."
        "Lower the model again with the backend of a current release."
        Refuses ["6.6", "7.4.21", "7.7.23", "11.1", "11.9"];
    PAYLOAD_STRUCTURE = Warning "payload-structure"
        "A payload of Vulkan, TOSA, the native backend, Ethos-U, Core ML, VGF or OpenVINO has the header, the sections and the tables of its format."
        "The backend refuses it, or reads past it: few of these backends compare sizes."
        "Lower the model again with the backend of a current release."
        Misreads ["11.7"];
    DELEGATE_KEY_UNRESOLVED = Error "delegate-key-unresolved"
        "The data that a payload of XNNPACK or MLX uses by a key is in the program or in one of the .ptd files."
        "The backend refuses its payload, or reads through a null pointer where no data has a key."
        "Give the .ptd that was written with this program: `--with FILE` or `--with FOLDER`."
        Crashes ["6.7", "7.4.21", "7.6.19", "7.7.23", "11.3", "11.9"];
    DELEGATE_KEY_SHORT = Error "delegate-key-short"
        "The data that a payload of XNNPACK or MLX uses by a key has the bytes that the payload says."
        "The backend never compares the sizes, and reads past the data."
        "Use the .ptd that was written with this program."
        Misreads ["6.7", "7.7.23", "11.3", "11.9"];
}

/// The named data of a program and of `.ptd` files, by key.
pub(super) struct NamedSizes<'d> {
    /// The range of each entry of the program; `None` if the range is invalid.
    own: BTreeMap<&'d str, Option<Range<u64>>>,
    /// For each key, the index of the `.ptd` file that has it, and of the entry in that file.
    others: BTreeMap<&'d str, (u32, u32)>,
    data: Option<&'d [Ptd<'d>]>,
    /// Whether a key that is not found may be in a `.ptd` that the caller did not give.
    may_be_elsewhere: bool,
    /// Whether the payloads belong to a program.
    is_program: bool,
}

/// The size of named data.
pub(super) enum NamedSize {
    /// The number of bytes; `u64::MAX` if their range is invalid.
    Bytes(u64),
    /// No file has the key.
    Missing,
    /// A `.ptd` that the caller did not give may have the key.
    Elsewhere,
}

impl<'d> NamedSizes<'d> {
    /// Finds the keys of a program, and the keys of the `.ptd` files `data` if the caller gave
    /// any.
    pub(super) fn new(pte: &'d Pte<'d>, data: Option<&'d [Ptd<'d>]>) -> Self {
        let (mut own, mut others) = (BTreeMap::new(), BTreeMap::new());
        for (key, range) in pte.named_data() {
            let Some(key) = key else { continue };
            cost::look_up(key, own.len());
            own.entry(key).or_insert(range.ok());
        }
        for (file, ptd) in (0..).zip(data.unwrap_or_default()) {
            for (nth, entry) in (0..).zip(ptd.entries()) {
                let Some(key) = entry.key() else { continue };
                cost::look_up(key, others.len());
                others.entry(key).or_insert((file, nth));
            }
        }
        // A program without named data may have a segment that nothing refers to. That segment
        // then has the data, so a missing key is not in a `.ptd`.
        let may_be_elsewhere = data.is_none() && (!own.is_empty() || !has_unnamed_segment(pte));
        Self { own, others, data, may_be_elsewhere, is_program: true }
    }

    /// Returns the named data of a payload without a program. Any key may be elsewhere.
    fn unknown() -> Self {
        Self {
            own: BTreeMap::new(),
            others: BTreeMap::new(),
            data: None,
            may_be_elsewhere: true,
            is_program: false,
        }
    }

    /// Returns the size of the data with the key `key`. `is_only` says whether all constants of the
    /// payload are named data.
    pub(super) fn get(&self, key: &str, is_only: bool) -> NamedSize {
        cost::look_up(key, self.own.len());
        cost::look_up(key, self.others.len());
        // Invalid ranges are reported by other rules.
        let len = |range: Option<Range<u64>>| {
            range.map_or(u64::MAX, |range| range.end.saturating_sub(range.start))
        };
        if let Some(range) = self.own.get(key) {
            return NamedSize::Bytes(len(range.clone()));
        }
        match self.other(key) {
            Some((ptd, nth)) => NamedSize::Bytes(len(ptd.range(nth))),
            // A program without named data may have a key in a `.ptd` only if all its constants are
            // named data, and the key looks like a key of a writer.
            None if self.own.is_empty() && self.is_program && !(is_only && is_written(key)) => {
                NamedSize::Missing
            }
            None if self.may_be_elsewhere => NamedSize::Elsewhere,
            None => NamedSize::Missing,
        }
    }

    /// Returns whether a key is one of the program's own.
    pub(super) fn is_own(&self, key: &str) -> bool {
        cost::look_up(key, self.own.len());
        self.own.contains_key(key)
    }

    /// Reads the first `len` bytes of the data with a key.
    fn bytes<'b, R, E>(
        &self,
        key: &str,
        len: u64,
        reader: &mut Reader<R>,
    ) -> Result<Option<Cow<'b, [u8]>>, E>
    where
        R: FnMut(Range<u64>) -> Result<Option<Cow<'b, [u8]>>, E>,
    {
        if let Some(range) = self.own.get(key) {
            let Some(Range { start, end }) = range.clone() else { return Ok(None) };
            return reader.read(start..start.saturating_add(len).min(end));
        }
        if !reader.pay(len) {
            return Ok(None);
        }
        let found = self.other(key);
        let bytes = found.and_then(|(ptd, nth)| ptd.bytes(ptd.range(nth)?));
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        Ok(bytes.and_then(|bytes| bytes.get(..len)).map(|bytes| Cow::Owned(bytes.to_vec())))
    }

    fn other(&self, key: &str) -> Option<(&'d Ptd<'d>, u32)> {
        let &(file, nth) = self.others.get(key)?;
        Some((self.data?.get(index(file))?, nth))
    }
}

/// Returns whether a program has a segment with bytes that nothing refers to.
fn has_unnamed_segment(pte: &Pte<'_>) -> bool {
    let used: BTreeSet<u32> = container::references(pte).collect();
    cost::sort(used.len());
    (0..pte.segment_count()).any(|nth| {
        let has_bytes = pte.segment_range(nth).is_ok_and(|range| !range.is_empty());
        has_bytes && !used.contains(&nth)
    })
}

/// Returns whether a key looks like a key of a writer. Writers use the SHA-256 of the data,
/// `scale_` and a name, or four hexadecimal digits, `/` and MLX's name of a tensor.
fn is_written(key: &str) -> bool {
    let is_hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
    let is_mlx = key.split_once('/').is_some_and(|(hash, _)| hash.len() == 4 && is_hex(hash));
    key.len() == 64 && is_hex(key) || key.starts_with("scale_") || is_mlx
}

/// The keys that the payloads of a program request.
#[derive(Default)]
pub(super) struct RequestedKeys {
    /// Every key that a payload names.
    pub(super) keys: BTreeSet<String>,
    /// Whether payloads that cannot be read may request other keys.
    pub(super) is_incomplete: bool,
}

impl RequestedKeys {
    /// Adds the keys that a graph names.
    fn add(&mut self, graph: &XnnpackGraph<'_>) {
        for key in graph.keys() {
            cost::look_up(key, self.keys.len());
            if !self.keys.contains(key) {
                self.keys.insert(key.into());
            }
        }
    }
}

/// Judges the payloads of a program, and returns the keys that they request.
///
/// `read` returns a range of the program's file, or `None` if it is not in memory. It is called for the
/// headers, tables and scales of payloads.
pub(crate) fn judge<'b, E>(
    pte: &Pte<'_>,
    named: &NamedSizes<'_>,
    limits: &Limits,
    read: impl FnMut(Range<u64>) -> Result<Option<Cow<'b, [u8]>>, E>,
    out: &mut Findings,
) -> Result<RequestedKeys, E> {
    let left = limits.bytes_visited(pte.file_len());
    let mut reader = Reader { read, left, is_exhausted: false };
    let mut requested = RequestedKeys::default();
    let mut calls = Calls::new(pte.file_len());
    let Users { plans, calls: all_calls, by_range } = Users::of(pte, &mut requested);
    for plan in &plans {
        qnn::judge(plan, limits, &mut |bytes| reader.pay(bytes), out);
    }
    for ((start, end, backend), users) in by_range {
        let was_exhausted = reader.is_exhausted;
        let mut judge = Judge {
            named,
            limits,
            out,
            plans: &plans,
            all_calls: &all_calls,
            calls: &mut calls,
            requested: &mut requested,
        };
        match backend {
            Backend::Xnnpack => judge.payload(start..end, &users, &mut reader)?,
            Backend::Mlx => judge.mlx(start..end, &users, &mut reader)?,
            other => judge.other(other, start..end, &users, &mut reader)?,
        }
        if reader.is_exhausted && !was_exhausted {
            judge.unreadable(&users, || {
                "payloads or scales overlap, and would be read more often than is done".into()
            });
        }
    }
    Ok(requested)
}

/// Judges a standalone payload, package, profile or ETRecord. For XNNPACK and MLX the graph is
/// judged, but no calls. For all others only the tables, headers or directories are proven.
pub(super) fn judge_alone(
    bytes: &[u8],
    limits: &Limits,
    out: &mut Findings,
) -> Result<(), Unreadable> {
    match ForeignFormat::of_ends(bytes, bytes) {
        ForeignFormat::Payload(Backend::Xnnpack) => {}
        ForeignFormat::Payload(Backend::Mlx) => return judge_mlx(bytes, limits, out),
        format @ (ForeignFormat::Payload(_)
        | ForeignFormat::Ptn
        | ForeignFormat::EtDump
        | ForeignFormat::EtRecord) => return prove(format, bytes, limits),
        _ => {}
    }
    let graph = XnnpackGraph::parse(bytes, limits)?;
    let mut left = limits.bytes_visited(wide(bytes.len()));
    let mut read = |place: Place<'_>| {
        let Place::Payload(range) = place else { return Ok::<_, Infallible>(None) };
        let rest = left.checked_sub(range.end.saturating_sub(range.start));
        left = rest.unwrap_or_default();
        let at = |pos: u64| usize::try_from(pos).unwrap_or(usize::MAX);
        Ok(rest.and_then(|_| bytes.get(at(range.start)..at(range.end))))
    };
    let site = Site::new(None, 0, &graph);
    match xnnpack::judge(&site, &NamedSizes::unknown(), &mut read, out) {
        Ok(_) => Ok(()),
        Err(never) => match never {},
    }
}

/// Judges a whole payload of MLX without its program.
fn judge_mlx(bytes: &[u8], limits: &Limits, out: &mut Findings) -> Result<(), Unreadable> {
    let Some(place) = TablesPlace::of_payload(Backend::Mlx, bytes, wide(bytes.len())) else {
        return Ok(());
    };
    let place = place?;
    let start = place.range.start;
    let graph = bytes.get(usize::try_from(start).unwrap_or(usize::MAX)..).unwrap_or_default();
    if let Some(graph) = Tables::read(&place, graph, limits)?.root_as() {
        mlx::judge(&mlx::Site { delegate: None, start, graph }, &NamedSizes::unknown(), out);
    }
    Ok(())
}

/// Proves the tables, the header or the directory of a file.
fn prove(format: ForeignFormat, bytes: &[u8], limits: &Limits) -> Result<(), Unreadable> {
    let len = wide(bytes.len());
    let part = |range: Range<u64>| {
        let at = |pos: u64| usize::try_from(pos).unwrap_or(usize::MAX);
        bytes.get(at(range.start)..at(range.end)).unwrap_or_default()
    };
    let tables = TablesPlace::of(bytes, len).transpose()?;
    if let Some(place) = &tables {
        Tables::read(place, part(place.range.clone()), limits)?;
    }
    match Sections::of_file(format, len, |range| Ok::<_, Infallible>(part(range))) {
        Ok(Some(sections)) => sections.map(drop),
        Ok(None) if tables.is_some() => Ok(()),
        Ok(None) => Err(Unreadable::Magic { magic: array_at(bytes, 0).unwrap_or_default() }),
        Err(never) => match never {},
    }
}

/// Judges payloads. The fields are the inputs of all judgements, and the list of findings.
struct Judge<'j, 'd, 'p, 'a> {
    named: &'j NamedSizes<'d>,
    limits: &'j Limits,
    out: &'j mut Findings,
    /// The methods of the delegates.
    plans: &'j [Plan<'p, 'a>],
    /// The calls of all delegates.
    all_calls: &'j [DelegateInstruction<'a>],
    calls: &'j mut Calls,
    requested: &'j mut RequestedKeys,
}

impl<'p, 'a> Judge<'_, '_, 'p, 'a> {
    /// Judges the payload in a range of the file.
    fn payload<'b, R, E>(
        &mut self,
        range: Range<u64>,
        users: &[User],
        reader: &mut Reader<R>,
    ) -> Result<(), E>
    where
        R: FnMut(Range<u64>) -> Result<Option<Cow<'b, [u8]>>, E>,
    {
        let Some(first) = self.delegate(users.first()) else { return Ok(()) };
        // Until the graph is read, it may request any key.
        let was_incomplete = core::mem::replace(&mut self.requested.is_incomplete, true);
        let Some(Head { bytes: head, len }) = reader.head(range.clone())? else { return Ok(()) };
        let parts = match XnnpackParts::of(&head, len) {
            Ok(parts) => parts,
            Err(why) => {
                self.unreadable(users, || reason(&why));
                return Ok(());
            }
        };
        let within = |part: Range<u64>| shifted(part, range.start);
        let Some(bytes) = reader.read(within(parts.graph.clone()))? else { return Ok(()) };
        let graph = match XnnpackGraph::read(parts, &bytes, self.limits) {
            Ok(graph) => graph,
            Err(why) => {
                self.unreadable(users, || reason(&why));
                return Ok(());
            }
        };
        self.requested.is_incomplete = was_incomplete;
        self.requested.add(&graph);
        let named = self.named;
        let mut bytes_of = |place: Place<'_>| match place {
            Place::Payload(part) => reader.read(within(part)),
            Place::Named(key, len) => named.bytes(key, len, reader),
        };
        let site = Site::new(Some(first), range.start, &graph);
        let judged = xnnpack::judge(&site, named, &mut bytes_of, self.out)?;
        let Some(judged) = judged else { return Ok(()) };
        for user in users {
            let Some(delegate) = self.delegate(Some(user)) else { continue };
            let site = Site::new(Some(delegate), range.start, &graph);
            let range = index(user.calls.start)..index(user.calls.end);
            for (_, instruction, call) in self.all_calls.get(range).unwrap_or_default() {
                self.calls.judge(&site, delegate, &judged, instruction, *call, self.out);
            }
        }
        Ok(())
    }

    /// Judges the payload of MLX in a range of the file.
    fn mlx<'b, R, E>(
        &mut self,
        range: Range<u64>,
        users: &[User],
        reader: &mut Reader<R>,
    ) -> Result<(), E>
    where
        R: FnMut(Range<u64>) -> Result<Option<Cow<'b, [u8]>>, E>,
    {
        let Some(first) = self.delegate(users.first()) else { return Ok(()) };
        let Some(Head { bytes: head, len }) = reader.head(range.clone())? else { return Ok(()) };
        let Some(place) = TablesPlace::of_payload(Backend::Mlx, &head, len) else { return Ok(()) };
        let place = match place {
            Ok(place) => place,
            Err(why) => {
                self.unreadable(users, || reason(&why));
                return Ok(());
            }
        };
        let region = shifted(place.range.clone(), range.start);
        let start = region.start;
        let bytes = reader.read(region)?;
        let Some(bytes) = bytes else { return Ok(()) };
        match Tables::read(&place, &bytes, self.limits) {
            Ok(tables) => {
                let Some(graph) = tables.root_as() else { return Ok(()) };
                let site = mlx::Site { delegate: Some(first), start, graph };
                mlx::judge(&site, self.named, self.out);
            }
            Err(why) => self.unreadable(users, || reason(&why)),
        }
        Ok(())
    }

    /// Reports a payload that cannot be read, at the first delegate that has it.
    fn unreadable(&mut self, users: &[User], message: impl FnOnce() -> String) {
        let Some((plan, delegate)) = self.delegate(users.first()) else { return };
        let delegates = plan.view.delegates().unwrap_or_default();
        let Some(table) = delegates.get(index(delegate)) else { return };
        let at = table.processed().map_or(table.raw(), |processed| processed.raw());
        plan.find(self.out, &PAYLOAD_UNREADABLE, at, &payload_path(delegate), message);
    }

    /// Returns the method and the index of a delegate.
    fn delegate<'u>(&self, user: Option<&User>) -> Option<(&'u Plan<'p, 'a>, u32)>
    where
        Self: 'u,
    {
        let user = user?;
        Some((self.plans.get(index(user.plan))?, user.delegate))
    }
}

/// Returns whether the payloads of a backend are judged. Of the others there are no genuine samples to
/// hold a rule against, and QNN's have a subject of their own.
fn has_rules(backend: &Backend) -> bool {
    use Backend::*;
    matches!(backend, Xnnpack | Vulkan | Mlx | Tosa | Native | EthosU | CoreMl | Vgf | OpenVino)
}

/// A delegate that has a payload. The struct is small: a file may list a delegate every four bytes.
struct User {
    /// The index of the delegate's method in [`Users::plans`].
    plan: u32,
    /// The index of the delegate.
    delegate: u32,
    /// The range of the delegate's calls in [`Users::calls`].
    calls: Range<u32>,
}

/// The index of a delegate, an instruction that calls the delegate, and the call.
type DelegateInstruction<'a> = (i32, Instruction<'a>, DelegateCall<'a>);

/// The delegates that have payloads with rules.
struct Users<'p, 'a> {
    plans: Vec<Plan<'p, 'a>>,
    /// The calls, sorted by method and delegate, then in the order of the file.
    calls: Vec<DelegateInstruction<'a>>,
    by_range: BTreeMap<(u64, u64, Backend), Vec<User>>,
}

impl<'p, 'a> Users<'p, 'a> {
    fn of(pte: &'p Pte<'a>, requested: &mut RequestedKeys) -> Self {
        let (mut plans, mut calls) = (Vec::new(), Vec::new());
        let mut by_range: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (nth, view) in method::distinct(pte) {
            if view.delegates().is_none_or(|delegates| delegates.is_empty()) {
                continue;
            }
            let first = calls.len();
            calls.extend(calls_of(view));
            let own = calls.get_mut(first..).unwrap_or_default();
            cost::sort(own.len());
            own.sort_by_key(|&(delegate, ..)| delegate);
            let own = calls.get(first..).unwrap_or_default();
            for (delegate, table) in (0u32..).zip(view.delegates().into_iter().flatten()) {
                // Other rules report delegates without a payload, and payloads that do not resolve.
                let Ok(Some(payload)) = pte.payload(table) else { continue };
                // The keys that payloads of other backends request are unknown.
                requested.is_incomplete |= payload.backend() != Some(Backend::Xnnpack);
                if let Some(backend) = payload.backend().filter(has_rules) {
                    let Range { start, end } = payload.range();
                    cost::look_up("", by_range.len());
                    cost::look_up("", own.len());
                    let called = |&(of, ..): &DelegateInstruction<'_>| i64::from(of);
                    let at = |bound: i64| {
                        let before = own.partition_point(|call| called(call) < bound);
                        narrow(first.saturating_add(before))
                    };
                    let bound = i64::from(delegate);
                    let calls = at(bound)..at(bound.saturating_add(1));
                    let user = User { plan: narrow(plans.len()), delegate, calls };
                    by_range.entry((start, end, backend)).or_default().push(user);
                }
            }
            plans.push(Plan::new(pte, nth, view));
        }
        Self { plans, calls, by_range }
    }
}

/// Returns the calls of delegates of a method, each with the index of the delegate.
fn calls_of(view: ExecutionPlan<'_>) -> impl Iterator<Item = DelegateInstruction<'_>> {
    method::instructions(view).filter_map(|instruction| {
        cost::charge(1);
        match instruction.operation() {
            Some(InstructionArguments::DelegateCall(call)) => {
                Some((call.delegate_index(), instruction, call))
            }
            _ => None,
        }
    })
}

/// Returns the range in the file of a part of the payload that begins at `start`.
fn shifted(part: Range<u64>, start: u64) -> Range<u64> {
    start.saturating_add(part.start)..start.saturating_add(part.end)
}

/// Returns the path of a delegate's payload in its method.
fn payload_path(delegate: u32) -> [PathComponent; 3] {
    [
        PathComponent::Field("delegates"),
        PathComponent::Index(delegate),
        PathComponent::Field("processed"),
    ]
}

/// Returns the message about a payload that cannot be read.
fn reason(why: &Unreadable) -> String {
    match why {
        Unreadable::Graph(error) => {
            format!("at byte {:#x} of the payload: {error}", error.offset())
        }
        why => why.to_string(),
    }
}

/// Returns the path to a part of the graph `root` in a payload. `relative` is the path from the root,
/// and `delegate` is `None` for a payload without a program.
fn path_in_graph(
    delegate: Option<(&Plan<'_, '_>, u32)>,
    root: &'static str,
    relative: &[PathComponent],
) -> Vec<PathComponent> {
    let mut path = match delegate {
        Some((plan, delegate)) => {
            let mut path = plan.path(&payload_path(delegate));
            path.push(PathComponent::Variant(root));
            path
        }
        None => vec![PathComponent::Field(root)],
    };
    path.extend_from_slice(relative);
    path
}

/// Reads ranges of the file, up to a budget: segments may overlap and be read again.
struct Reader<R> {
    read: R,
    left: u64,
    /// Whether a range was not read, because the budget was used up.
    is_exhausted: bool,
}

impl<'b, R, E> Reader<R>
where
    R: FnMut(Range<u64>) -> Result<Option<Cow<'b, [u8]>>, E>,
{
    fn read(&mut self, range: Range<u64>) -> Result<Option<Cow<'b, [u8]>>, E> {
        match self.pay(range.end.saturating_sub(range.start)) {
            true => (self.read)(range),
            false => Ok(None),
        }
    }

    /// Reads the first bytes of a payload, which have its header.
    fn head(&mut self, payload: Range<u64>) -> Result<Option<Head<'b>>, E> {
        let len = payload.end.saturating_sub(payload.start);
        let bytes =
            self.read(payload.start..payload.start.saturating_add(len.min(ForeignFormat::HEAD)))?;
        Ok(bytes.map(|bytes| Head { bytes, len }))
    }

    /// Charges a read to the budget. Returns `false` if the budget does not cover it.
    fn pay(&mut self, bytes: u64) -> bool {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or_default();
        self.is_exhausted |= left.is_none();
        left.is_some()
    }
}

/// The first bytes of a payload, with the payload's length.
struct Head<'b> {
    bytes: Cow<'b, [u8]>,
    len: u64,
}
