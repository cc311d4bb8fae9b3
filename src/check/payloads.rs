//! The payloads of delegates: whether their backend can read them, and what it does with them.
//!
//! Payloads of a backend whose layout is unknown are not judged.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use self::xnnpack::Calls;
use super::report::Findings;
use super::rule::{Rule, rules};
use super::site::Plan;
use super::{container, record};
use pte_core::Ptd;
use pte_core::Pte;
use pte_core::backend::Backend;
use pte_core::error::PathComponent;
use pte_core::foreign::ForeignFormat;
use pte_core::limits::Limits;
use pte_core::method::{self, Instruction};
use pte_core::payload::{Sections, Tables, TablesPlace, Unreadable};
use pte_core::release::Release;
use pte_flat::bytes::{array_at, index, narrow, wide};
use pte_flat::cost;
use pte_flat::view::Table;
use pte_schema::program::view::{DelegateCall, ExecutionPlan, InstructionArguments};

#[cfg(feature = "json")]
pub(super) mod coreml;
pub(super) mod ethosu;
pub(super) mod mlx;
pub(super) mod native;
pub(super) mod openvino;
pub(super) mod qnn;
pub(super) mod tosa;
pub(super) mod vgf;
pub(super) mod vulkan;
pub(super) mod xnnpack;

rules! {
    "payloads";

    PAYLOAD_UNREADABLE = Error "payload-unreadable"
        "A payload of XNNPACK, Vulkan, MLX, VGF or the native backend has a header and tables that the backend reads."
        "The backend refuses it, or reads through a null pointer."
        "Lower the model again with the backend of a current release."
        Refuses ["6.6", "7.4.21", "7.7.23", "8.2 80198ca5d2", "11.1", "11.9", "11.11"];
    PAYLOAD_STRUCTURE = Error "payload-structure"
        "A payload of TOSA has the header, the sections and the tables of its format."
        "The backend refuses it, or reads past it: few of these backends compare sizes."
        "Lower the model again with the backend of a current release."
        Misreads ["11.7"];
    DELEGATE_KEY_UNRESOLVED = Error "delegate-key-unresolved"
        "The data that a payload of XNNPACK, Vulkan or MLX uses by a key is in the program or in one of the .ptd files."
        "The backend refuses its payload, or reads through a null pointer where no data has a key."
        "Give the .ptd that was written with this program: `--with FILE` or `--with FOLDER`."
        Crashes ["6.7", "7.4.21", "7.6.19", "7.7.23", "11.3", "11.9", "11.11"];
    DELEGATE_KEY_SHORT = Error "delegate-key-short"
        "The data that a payload of XNNPACK, Vulkan or MLX uses by a key has the bytes that the payload says."
        "The backend never compares the sizes, and reads past the data."
        "Use the .ptd that was written with this program."
        Misreads ["6.7", "7.7.23", "11.3", "11.9", "11.11"];
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
    fn bytes<'r>(&self, key: &str, len: u64, bytes: &mut Bytes<'r>) -> Option<Cow<'r, [u8]>> {
        if let Some(range) = self.own.get(key) {
            let Range { start, end } = range.clone()?;
            return bytes.read(start..start.saturating_add(len).min(end));
        }
        if !bytes.pay(len) {
            return None;
        }
        let (ptd, nth) = self.other(key)?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        ptd.bytes(ptd.range(nth)?)?.get(..len).map(|bytes| Cow::Owned(bytes.to_vec()))
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
    /// The keys, which may be repeated before [`finish`](Self::finish); `None` if no rule needs them.
    keys: Option<Vec<String>>,
    /// The number of different keys when they were sorted last.
    distinct: usize,
    /// Whether payloads that cannot be read may request other keys.
    pub(super) is_incomplete: bool,
}

impl RequestedKeys {
    /// Adds the keys that a graph names, if a rule needs them.
    fn add<'k>(&mut self, added: impl Iterator<Item = &'k str>) {
        let Some(keys) = &mut self.keys else { return };
        for key in added {
            cost::look_up(key, keys.len());
            keys.push(key.into());
            // A file may name a key repeatedly. The memory is that of the different keys.
            if keys.len() / 2 >= self.distinct.max(512) {
                keys.sort_unstable();
                keys.dedup();
                self.distinct = keys.len();
            }
        }
    }

    /// Returns the keys, sorted.
    fn finish(mut self) -> Self {
        let keys = self.keys.get_or_insert_default();
        keys.sort_unstable();
        keys.dedup();
        self
    }

    /// Returns every key that a payload names, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().flatten().map(String::as_str)
    }

    /// Returns whether a payload names `key`.
    pub(super) fn has(&self, key: &str) -> bool {
        let keys = self.keys.as_deref().unwrap_or_default();
        cost::look_up(key, keys.len());
        keys.binary_search_by(|own| own.as_str().cmp(key)).is_ok()
    }
}

/// The rules for the payloads of a backend.
struct BackendRules {
    backend: Backend,
    /// Whether the judgement adds every key that a payload requests to [`Judge::requested`].
    has_keys: bool,
    /// Judges a payload and the calls of its delegates.
    judge: fn(&mut Judge<'_, '_, '_, '_>, &Subject<'_>, &mut Bytes<'_>) -> Result<(), Unreadable>,
}

/// The backends whose payloads are judged by rules. Of other payloads only the structure is proven.
static JUDGED: &[BackendRules] = &[
    xnnpack::JUDGED,
    vulkan::JUDGED,
    mlx::JUDGED,
    native::JUDGED,
    tosa::JUDGED,
    vgf::JUDGED,
    ethosu::JUDGED,
    openvino::JUDGED,
    qnn::JUDGED,
    #[cfg(feature = "json")]
    coreml::JUDGED,
];

/// Returns the rules for the payloads of a backend; `None` if only the structure is proven.
fn rules_of(backend: Backend) -> Option<&'static BackendRules> {
    JUDGED.iter().find(|rules| rules.backend == backend)
}

/// Returns whether the payloads of a backend are judged by rules. Of other payloads only the structure is proven.
#[must_use]
pub fn judges_payloads_of(backend: Backend) -> bool {
    rules_of(backend).is_some()
}

/// A payload to be judged.
struct Subject<'s> {
    /// The delegates with the payload; none for a payload without a program.
    users: &'s [User],
    /// The start of the payload in the file.
    start: u64,
    /// The first bytes, which have the header.
    head: &'s [u8],
    /// The length of the payload.
    len: u64,
}

impl Subject<'_> {
    /// Returns the range in the file of a part of the payload.
    fn part(&self, part: Range<u64>) -> Range<u64> {
        self.start.saturating_add(part.start)..self.start.saturating_add(part.end)
    }
}

/// Judges the payloads of a program, and returns the keys that they request.
///
/// `read` returns a range of the program's file, or `None` if it is not in memory. It is called for the
/// headers, tables and scales of payloads.
pub(crate) fn judge<'b, E>(
    pte: &Pte<'_>,
    named: &NamedSizes<'_>,
    (limits, release): (&Limits, Option<Release>),
    mut read: impl FnMut(Range<u64>) -> Result<Option<Cow<'b, [u8]>>, E>,
    out: &mut Findings,
) -> Result<RequestedKeys, E> {
    let mut failed = None;
    let mut read = |range| {
        // After an error nothing is read.
        let bytes = if failed.is_none() { read(range) } else { Ok(None) };
        bytes.unwrap_or_else(|error| {
            failed = Some(error);
            None
        })
    };
    let left = limits.bytes_visited(pte.file_len());
    let mut bytes = Bytes { read: &mut read, left, is_exhausted: false };
    let mut requested = RequestedKeys { keys: Some(Vec::new()), ..RequestedKeys::default() };
    let Users { plans, calls: all_calls, by_range } = Users::of(pte, &mut requested);
    for plan in &plans {
        qnn::judge(plan, limits, &mut |len| bytes.pay(len), out);
    }
    let calls = &mut Calls::new(pte.file_len());
    let (plans, all_calls, requested_keys) = (&plans, &all_calls, &mut requested);
    let mut judge = Judge {
        named,
        limits,
        release,
        out,
        plans,
        all_calls,
        calls,
        requested: requested_keys,
        qnn_signatures: BTreeMap::new(),
    };
    for ((start, end, backend), users) in by_range {
        let was_exhausted = bytes.is_exhausted;
        judge.payload(backend, start..end, &users, &mut bytes);
        if bytes.is_exhausted && !was_exhausted {
            judge.report(&users, &PAYLOAD_UNREADABLE, || reason(&Unreadable::Overlap));
        }
    }
    failed.map_or(Ok(requested.finish()), Err)
}

/// Judges a standalone payload, package, profile or ETRecord. If its backend has rules, the graph is
/// judged, but no calls. For all others only the tables, headers or directories are proven.
pub(super) fn judge_alone(
    file: &[u8],
    (limits, release): (&Limits, Option<Release>),
    out: &mut Findings,
) -> Result<(), Unreadable> {
    let at = |pos: u64| usize::try_from(pos).unwrap_or(usize::MAX);
    let mut read = |range: Range<u64>| file.get(at(range.start)..at(range.end)).map(Cow::Borrowed);
    let len = wide(file.len());
    let left = limits.bytes_visited(len);
    let bytes = &mut Bytes { read: &mut read, left, is_exhausted: false };
    let subject = Subject { users: &[], start: 0, head: file, len };
    let format = ForeignFormat::of_ends(file, file);
    let rules = match format {
        ForeignFormat::Payload(backend) => rules_of(backend),
        _ => None,
    };
    if let Some(rules) = rules {
        let mut judge = Judge {
            named: &NamedSizes::unknown(),
            limits,
            release,
            out,
            plans: &[],
            all_calls: &[],
            calls: &mut Calls::new(len),
            requested: &mut RequestedKeys::default(),
            qnn_signatures: BTreeMap::new(),
        };
        (rules.judge)(&mut judge, &subject, bytes)?;
    } else if !prove(format, &subject, limits, bytes)? {
        return Err(Unreadable::Magic { magic: array_at(file, 0).unwrap_or_default() });
    }
    if format == ForeignFormat::EtRecord {
        record::judge(file, out)?;
    }
    // What was not read is not judged.
    if bytes.is_exhausted { Err(Unreadable::Overlap) } else { Ok(()) }
}

/// Proves the tables, the header or the directory of a payload or another file. Returns whether its format is
/// known.
fn prove(
    format: ForeignFormat,
    subject: &Subject<'_>,
    limits: &Limits,
    bytes: &mut Bytes<'_>,
) -> Result<bool, Unreadable> {
    let &Subject { head, len, .. } = subject;
    let place = match format {
        ForeignFormat::Payload(backend) => TablesPlace::of_payload(backend, head, len),
        _ => TablesPlace::of(head, len),
    };
    let place = place.transpose()?;
    if let Some(place) = &place {
        let Some(region) = bytes.read(subject.part(place.range.clone())) else { return Ok(true) };
        Tables::read(place, &region, limits)?;
    }
    let read = |part| bytes.read(subject.part(part)).ok_or(());
    match Sections::of_file(format, len, read) {
        Ok(Some(sections)) => sections.map(|_| true),
        Ok(None) => Ok(place.is_some()),
        // The bytes are not in memory, or the budget does not cover them.
        Err(()) => Ok(true),
    }
}

/// Judges payloads. The fields are the inputs of all judgements, and the list of findings.
struct Judge<'j, 'd, 'p, 'a> {
    named: &'j NamedSizes<'d>,
    limits: &'j Limits,
    /// The release that the file is judged for.
    release: Option<Release>,
    out: &'j mut Findings,
    /// The methods of the delegates.
    plans: &'j [Plan<'p, 'a>],
    /// The calls of all delegates.
    all_calls: &'j [DelegateInstruction<'a>],
    calls: &'j mut Calls,
    requested: &'j mut RequestedKeys,
    /// The range of the first payload of QNN with each signature.
    qnn_signatures: BTreeMap<u64, Range<u64>>,
}

impl<'p, 'a> Judge<'_, '_, 'p, 'a> {
    /// Judges the payload of a backend in a range of the file.
    fn payload(
        &mut self,
        backend: Backend,
        range: Range<u64>,
        users: &[User],
        bytes: &mut Bytes<'_>,
    ) {
        let (start, len) = (range.start, range.end.saturating_sub(range.start));
        let head = bytes.read(start..start.saturating_add(len.min(ForeignFormat::HEAD)));
        let Some(head) = head else {
            // The payload may request any key.
            self.requested.is_incomplete = true;
            return;
        };
        let subject = &Subject { users, start, head: &head, len };
        if let Some(rules) = rules_of(backend) {
            if let Err(why) = (rules.judge)(self, subject, bytes) {
                self.report(users, &PAYLOAD_UNREADABLE, || reason(&why));
            }
            return;
        }
        // `payload-magic` reports another magic.
        if backend.magic().is_some_and(|magic| !magic.is_in(&head)) {
            return;
        }
        match prove(ForeignFormat::Payload(backend), subject, self.limits, bytes) {
            // Only this crate limits the number of sections.
            Ok(_) | Err(Unreadable::Sections { .. }) => {}
            // The official runtimes of these backends were not run.
            Err(why) => self.report(users, &PAYLOAD_STRUCTURE, || {
                format!("this is no payload of {}: {}", backend.name(), reason(&why))
            }),
        }
    }

    /// Reports a payload at the first delegate that has it.
    fn report(&mut self, users: &[User], rule: &'static Rule, message: impl FnOnce() -> String) {
        let Some((plan, delegate)) = self.delegate(users.first()) else { return };
        let delegates = plan.view.delegates().unwrap_or_default();
        let Some(table) = delegates.get(index(delegate)) else { return };
        let at = table.processed().map_or(table.raw(), |processed| processed.raw());
        plan.find(self.out, rule, at, &payload_path(delegate), message);
    }

    /// Judges the arguments of all calls of delegates with a payload. `count` returns how many arguments the runtime
    /// reads for a method, and `unfit` what is wrong with one of them, its index given.
    fn arguments(
        &mut self,
        users: &[User],
        rule: &'static Rule,
        count: impl Fn(&Plan<'p, 'a>) -> Option<usize>,
        unfit: impl Fn(&Plan<'p, 'a>, usize, i32) -> Option<String>,
    ) {
        let of_one_plan = |one: &User, other: &User| one.plan == other.plan;
        for users in users.chunk_by(of_one_plan) {
            let Some((plan, _)) = self.delegate(users.first()) else { continue };
            let Some(count) = count(plan) else { continue };
            let calls = users.iter().map(|user| index(user.calls.start)..index(user.calls.end));
            let calls = calls.filter_map(|calls| self.all_calls.get(calls)).flatten();
            for (_, instruction, call) in calls {
                let args = call.args().unwrap_or_default();
                let is_paid = self.calls.pay(wide(count));
                let message = if !is_paid {
                    Some("the calls name more arguments than are judged".into())
                } else if args.len() < count {
                    let len = args.len();
                    Some(format!(
                        "the call has {len} arguments, and the payload {count} inputs and outputs"
                    ))
                } else {
                    cost::charge(count);
                    let mut args = args.iter().take(count).enumerate();
                    args.find_map(|(nth, arg)| unfit(plan, nth, arg))
                };
                if let Some(message) = message {
                    plan.find_instruction(self.out, rule, instruction, &[], || message);
                }
                if !is_paid {
                    return;
                }
            }
        }
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
                // The keys that other payloads request are unknown.
                let rules = payload.backend().and_then(rules_of);
                requested.is_incomplete |= rules.is_none_or(|rules| !rules.has_keys);
                // Of some backends there are no genuine samples to hold a rule against.
                if let Some(backend) = payload.backend().filter(|backend| backend.has_samples()) {
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
#[cold]
#[inline(never)]
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
struct Bytes<'r> {
    read: &'r mut dyn FnMut(Range<u64>) -> Option<Cow<'r, [u8]>>,
    left: u64,
    /// Whether a range was not read, because the budget was used up.
    is_exhausted: bool,
}

impl<'r> Bytes<'r> {
    fn read(&mut self, range: Range<u64>) -> Option<Cow<'r, [u8]>> {
        let is_paid = self.pay(range.end.saturating_sub(range.start));
        if is_paid { (self.read)(range) } else { None }
    }

    /// Charges a read to the budget. Returns `false` if the budget does not cover it.
    fn pay(&mut self, bytes: u64) -> bool {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or_default();
        self.is_exhausted |= left.is_none();
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_keys_are_kept_once_and_in_order() {
        let names: Vec<_> = (0..1000).map(|nth| format!("{nth:04}")).collect();
        let mut requested = RequestedKeys { keys: Some(Vec::new()), ..RequestedKeys::default() };
        for _ in 0..10 {
            requested.add(names.iter().rev().map(String::as_str));
            assert!(requested.keys.as_ref().is_some_and(|keys| keys.len() <= 2 * names.len()));
        }
        let requested = requested.finish();
        assert!(requested.iter().eq(&names));
        assert!(requested.has("0500") && !requested.has("1000"));
    }
}
