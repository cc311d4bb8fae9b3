//! The payloads of delegates: whether their backend can read them, and what it does with them.
//!
//! Of payloads of other backends, only the structure is proven, where it is known: there are no genuine samples.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use self::budget::{Bytes, Work};
pub(super) use self::named::{NamedSize, NamedSizes};
pub(super) use self::requested::RequestedKeys;
use self::users::{DelegateInstruction, User, Users};
use super::record;
use super::report::Findings;
use super::rule::{Rule, rules};
use super::site::Plan;
use pte_core::method::Instruction;
use pte_core::payload::{Sections, Tables, TablesPlace, Unreadable};
use pte_core::release::Release;
use pte_core::{Backend, ForeignFormat, Limits, PathComponent, Pte};
use pte_flat::bytes::{array_at, index, len_of, wide};
use pte_flat::cost;
use pte_flat::path;
use pte_flat::view::{Raw, Table};
use pte_schema::program::view::DelegateCall;

mod budget;
#[cfg(feature = "json")]
pub(super) mod coreml;
pub(super) mod ethosu;
pub(super) mod mlx;
mod named;
pub(super) mod native;
pub(super) mod openvino;
pub(super) mod qnn;
mod requested;
mod sizes;
pub(super) mod tosa;
mod users;
pub(super) mod vgf;
pub(super) mod vulkan;
pub(super) mod xnnpack;

rules! {
    "payloads";

    PAYLOAD_UNREADABLE = Error "payload-unreadable"
        "A payload has a header and tables that its backend reads."
        "The backend refuses it, or reads through a null pointer."
        "Lower the model again with the backend of a current release."
        Refuses ["6.6", "7.4.21", "7.7.23", "8.2 80198ca5d2", "11.1", "11.9", "11.11"];
    PAYLOAD_STRUCTURE = Error "payload-structure"
        "A payload of TOSA, or of a backend without other rules, has a valid header and valid sections and tables."
        "The reference model of TOSA refuses the payload, or crashes; other backends were not run."
        "Lower the model again with the backend of a current release."
        Crashes ["11.7"];
    DELEGATE_KEY_UNRESOLVED = Error "delegate-key-unresolved"
        "The data that a payload uses by a key is in the program or in one of the .ptd files."
        "The backend refuses its payload, or reads through a null pointer where no data has a key."
        "Give the .ptd that was written with this program: `--with FILE` or `--with FOLDER`."
        Crashes ["6.7", "7.4.21", "7.6.19", "7.7.23", "11.3", "11.9", "11.11"];
    DELEGATE_KEY_SHORT = Error "delegate-key-short"
        "The data that a payload uses by a key has the bytes that the payload says."
        "The backend never compares the sizes, and reads past the data."
        "Use the .ptd that was written with this program."
        Misreads ["6.7", "7.7.23", "11.3", "11.9", "11.11"];
}

/// What the judgement of a payload returns: an error if its backend cannot read it.
type Outcome = Result<(), Unreadable>;

/// Judges a payload and the calls of its delegates.
type JudgePayload = fn(&mut Judge<'_>, &Subject<'_>, &mut Bytes<'_>) -> Outcome;

/// The rules for the payloads of a backend.
pub(crate) struct BackendRules {
    backend: Backend,
    /// The rules on the contents of the payloads.
    pub(crate) rules: &'static [&'static Rule],
    /// Whether the judgement adds every key that a payload requests to [`Judge::requested`]. If not, no key is
    /// reported as unused.
    has_keys: bool,
    /// The rule that a payload breaks if the backend cannot read it.
    unreadable: &'static Rule,
    judge: JudgePayload,
}

impl BackendRules {
    /// Returns the rules of a backend whose requested keys are not known. A payload that cannot be read breaks
    /// `payload-unreadable`.
    const fn of(backend: Backend, rules: &'static [&'static Rule], judge: JudgePayload) -> Self {
        Self { backend, rules, has_keys: false, unreadable: &PAYLOAD_UNREADABLE, judge }
    }

    /// Says that the requested keys are known.
    const fn with_requested_keys(self) -> Self {
        Self { has_keys: true, ..self }
    }
}

/// The backends whose payloads are judged by rules. Of other payloads in a program only the structure is proven, if
/// there are genuine samples. Without the feature `json`, that is so for Core ML's payloads too.
pub(crate) static JUDGED: &[BackendRules] = &[
    xnnpack::JUDGED,
    vulkan::JUDGED,
    mlx::JUDGED,
    native::JUDGED,
    qnn::JUDGED,
    tosa::JUDGED,
    vgf::JUDGED,
    ethosu::JUDGED,
    openvino::JUDGED,
    #[cfg(feature = "json")]
    coreml::JUDGED,
];

/// Returns the rules for the payloads of a backend; `None` for other backends.
fn rules_of(backend: Backend) -> Option<&'static BackendRules> {
    JUDGED.iter().find(|rules| rules.backend == backend)
}

/// Returns whether the payloads of a backend are judged by rules. Other payloads in a program are not judged.
pub(crate) fn judges_payloads_of(backend: Backend) -> bool {
    rules_of(backend).is_some()
}

/// Returns whether a payload of the backend with another magic breaks a rule on its contents. Those that break
/// `payload-structure` are left to `payload-magic`.
pub(crate) fn judges_magic_of(backend: Backend) -> bool {
    rules_of(backend).is_some_and(|rules| rules.unreadable.id != PAYLOAD_STRUCTURE.id)
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
    /// Reads the FlatBuffer of a payload; `None` if there is none, or its bytes are not in memory.
    fn flatbuffer<'r>(
        &self,
        backend: Backend,
        bytes: &mut Bytes<'r>,
    ) -> Result<Option<FlatBuffer<'r>>, Unreadable> {
        let place = TablesPlace::of_payload(backend, self.head, self.len).transpose()?;
        Ok(place.and_then(|place| {
            let range = self.part(place.range.clone());
            let start = range.start;
            Some(FlatBuffer { place, start, bytes: bytes.read(range)? })
        }))
    }

    /// Finds the sections of a payload without a FlatBuffer; `None` if its bytes are not in memory.
    fn sections(
        &self,
        backend: Backend,
        bytes: &mut Bytes<'_>,
    ) -> Option<Result<Sections, Unreadable>> {
        let read = |part| bytes.read(self.part(part)).ok_or(());
        Sections::of_file(ForeignFormat::Payload(backend), self.len, read).ok().flatten()
    }

    /// Returns the range in the file of a part of the payload.
    fn part(&self, part: Range<u64>) -> Range<u64> {
        self.start.saturating_add(part.start)..self.start.saturating_add(part.end)
    }
}

/// The FlatBuffer of a payload.
struct FlatBuffer<'r> {
    place: TablesPlace,
    /// The start of the FlatBuffer in the file.
    start: u64,
    bytes: Cow<'r, [u8]>,
}

impl FlatBuffer<'_> {
    /// Proves the tables, and returns the root.
    fn root<'p, T: Table<'p>>(&'p self, limits: &Limits) -> Result<Option<T>, Unreadable> {
        Ok(Tables::read(&self.place, &self.bytes, limits)?.root_as())
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
    let mut bytes = Bytes::new(&mut read, limits, pte.file_len());
    let mut requested = RequestedKeys::kept();
    let Users { plans, calls: all_calls, by_range } = Users::of(pte, &mut requested);
    for plan in &plans {
        qnn::options::judge_method(plan, limits, &mut |len| bytes.pay(len), out);
    }
    let mut judge = Judge {
        plans: &plans,
        all_calls: &all_calls,
        ..Judge::new((named, pte.file_len()), (limits, release), &mut requested, out)
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
) -> Outcome {
    let at = |pos: u64| usize::try_from(pos).unwrap_or(usize::MAX);
    let mut read = |range: Range<u64>| file.get(at(range.start)..at(range.end)).map(Cow::Borrowed);
    let len = wide(file.len());
    let bytes = &mut Bytes::new(&mut read, limits, len);
    let subject = Subject { users: &[], start: 0, head: file, len };
    let format = ForeignFormat::of_ends(file, file);
    let rules = match format {
        ForeignFormat::Payload(backend) => rules_of(backend),
        _ => None,
    };
    if let Some(rules) = rules {
        let (named, requested) = (&NamedSizes::unknown(), &mut RequestedKeys::default());
        let judge = &mut Judge::new((named, len), (limits, release), requested, out);
        match (rules.judge)(judge, &subject, bytes) {
            // Only this crate limits the number of sections.
            Ok(()) | Err(Unreadable::Sections { .. }) => {}
            Err(why) => return Err(why),
        }
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

/// A delegate: its method, and its index there.
type DelegateOf<'j> = (&'j Plan<'j, 'j>, u32);

/// Judges payloads. The fields are the inputs of all judgements, and the list of findings.
struct Judge<'j> {
    named: &'j NamedSizes<'j>,
    limits: &'j Limits,
    /// The release that the file is judged for.
    release: Option<Release>,
    out: &'j mut Findings,
    /// The methods of the delegates.
    plans: &'j [Plan<'j, 'j>],
    /// The calls of all delegates.
    all_calls: &'j [DelegateInstruction],
    work: Work,
    requested: &'j mut RequestedKeys,
    /// What was seen in the payloads of XNNPACK.
    xnnpack: xnnpack::Seen,
    /// The range of the first payload of QNN with each signature.
    qnn_signatures: BTreeMap<u64, Range<u64>>,
}

impl<'j> Judge<'j> {
    /// Returns the judgement of a file of `len` bytes, without methods.
    fn new(
        (named, len): (&'j NamedSizes<'j>, u64),
        (limits, release): (&'j Limits, Option<Release>),
        requested: &'j mut RequestedKeys,
        out: &'j mut Findings,
    ) -> Self {
        Self {
            named,
            limits,
            release,
            out,
            plans: &[],
            all_calls: &[],
            work: Work::new(len),
            requested,
            xnnpack: xnnpack::Seen::default(),
            qnn_signatures: BTreeMap::new(),
        }
    }

    /// Judges the payload of a backend in a range of the file.
    fn payload(
        &mut self,
        backend: Backend,
        range: Range<u64>,
        users: &[User],
        bytes: &mut Bytes<'_>,
    ) {
        let (start, len) = (range.start, len_of(&range));
        let head = bytes.read(start..start.saturating_add(len.min(ForeignFormat::HEAD)));
        let Some(head) = head else {
            // The payload may request any key.
            self.requested.is_incomplete = true;
            return;
        };
        let subject = &Subject { users, start, head: &head, len };
        let rules = rules_of(backend);
        let unreadable = rules.map_or(&PAYLOAD_STRUCTURE, |rules| rules.unreadable);
        let is_structure = core::ptr::eq(unreadable, &raw const PAYLOAD_STRUCTURE);
        // `payload-magic` reports another magic.
        if is_structure && backend.magic().is_some_and(|magic| !magic.is_in(&head)) {
            return;
        }
        let format = ForeignFormat::Payload(backend);
        let judged = match rules {
            Some(rules) => (rules.judge)(self, subject, bytes),
            None => prove(format, subject, self.limits, bytes).map(|_| ()),
        };
        match judged {
            // Only this crate limits the number of sections.
            Ok(()) | Err(Unreadable::Sections { .. }) => {}
            // The official runtimes of these backends were not run.
            Err(why) if is_structure => self.report(users, unreadable, || {
                format!("this is no payload of {}: {}", backend.name(), reason(&why))
            }),
            Err(why) => self.report(users, unreadable, || reason(&why)),
        }
    }

    /// Returns the FlatBuffer or the graph of a payload, if it was read. Any other payload may request any key.
    fn with_keys<T>(
        &mut self,
        read: Result<Option<T>, Unreadable>,
    ) -> Result<Option<T>, Unreadable> {
        self.requested.is_incomplete |= !matches!(read, Ok(Some(_)));
        read
    }

    /// Returns the place of findings in a part of a payload that begins at `start` in the file.
    fn place(&self, payload: &Subject<'_>, start: u64, part: &'static str) -> PartPlace<'j> {
        PartPlace { delegate: self.delegate(payload.users.first()), start, part, path: &[] }
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
        count: impl Fn(&Plan<'j, 'j>) -> Option<usize>,
        unfit: impl Fn(&Plan<'j, 'j>, usize, i32) -> Option<String>,
    ) {
        let of_one_plan = |one: &User, other: &User| one.plan == other.plan;
        for users in users.chunk_by(of_one_plan) {
            let Some((plan, _)) = self.delegate(users.first()) else { continue };
            let Some(count) = count(plan) else { continue };
            for (_, instruction, call) in self.calls(users) {
                let args = call.args().unwrap_or_default();
                let is_paid = self.work.pay(wide(count));
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
                    plan.find_instruction(self.out, rule, &instruction, &[], || message);
                }
                if !is_paid {
                    return;
                }
            }
        }
    }

    /// Returns the method and the index of a delegate.
    fn delegate(&self, user: Option<&User>) -> Option<DelegateOf<'j>> {
        let user = user?;
        Some((self.plans.get(index(user.plan))?, user.delegate))
    }

    /// Returns the calls of delegates, each with its delegate.
    fn calls<'u>(
        &self,
        users: &'u [User],
    ) -> impl Iterator<Item = (DelegateOf<'j>, Instruction<'j>, DelegateCall<'j>)> + use<'j, 'u>
    {
        let (plans, all) = (self.plans, self.all_calls);
        users.iter().flat_map(move |user| {
            let plan = plans.get(index(user.plan));
            let calls = all.get(index(user.calls.start)..index(user.calls.end));
            calls.unwrap_or_default().iter().filter_map(move |call| {
                let plan = plan?;
                let (instruction, call) = call.read(plan.view)?;
                Some(((plan, user.delegate), instruction, call))
            })
        })
    }
}

/// Returns the path of a delegate's payload in its method.
fn payload_path(delegate: u32) -> [PathComponent; 3] {
    path!["delegates", delegate, "processed"]
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

/// The place of the findings in a part of a payload.
#[derive(Clone, Copy)]
struct PartPlace<'s> {
    /// `None` for a payload without a program.
    delegate: Option<DelegateOf<'s>>,
    /// The start of the part in the file.
    start: u64,
    /// The name of the part: that of the root table of a graph, for example.
    part: &'static str,
    /// The path from the root of the part to what is judged.
    path: &'s [PathComponent],
}

impl PartPlace<'_> {
    /// Reports a finding at a table; `relative` is the path from what is judged.
    fn find(
        &self,
        out: &mut Findings,
        rule: &'static Rule,
        table: Raw<'_>,
        relative: &[PathComponent],
        message: impl FnOnce() -> String,
    ) {
        let offset = self.start.saturating_add(table.pos().into());
        out.find(rule, offset, || self.path(relative), message);
    }

    /// Reports a finding at byte `at` of the part.
    fn find_byte(
        &self,
        out: &mut Findings,
        rule: &'static Rule,
        at: u64,
        message: impl FnOnce() -> String,
    ) {
        out.find(rule, self.start.saturating_add(at), || self.path(&[]), message);
    }

    /// Returns the path to a place in the part.
    #[cold]
    #[inline(never)]
    fn path(&self, relative: &[PathComponent]) -> Vec<PathComponent> {
        let mut path = match self.delegate {
            Some((plan, delegate)) => {
                let mut path = plan.path(&payload_path(delegate));
                path.push(PathComponent::Variant(self.part));
                path
            }
            None => vec![PathComponent::Field(self.part)],
        };
        path.extend_from_slice(self.path);
        path.extend_from_slice(relative);
        path
    }
}

/// A payload, its judgement, and the place of the findings at its bytes.
struct PayloadSite<'r, 's, 'j> {
    judge: &'r mut Judge<'j>,
    payload: &'r Subject<'s>,
    place: PartPlace<'j>,
}

impl PayloadSite<'_, '_, '_> {
    /// Reports a finding at byte `at` of the place.
    fn find(&mut self, rule: &'static Rule, at: u64, message: impl FnOnce() -> String) {
        self.place.find_byte(self.judge.out, rule, at, message);
    }
}
