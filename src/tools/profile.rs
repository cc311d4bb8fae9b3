//! Profiles of runs (ETDump, `.etdp`): the time that methods and instructions took.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use pte::Limits;
//! use pte::profile::Profile;
//!
//! # let bytes = include_bytes!("../../tests/data/other/mlp.etdp");
//! let profile = Profile::read(bytes, &Limits::UNTRUSTED)?;
//! assert_eq!(profile.executions(), 1);
//! for of in &profile.instructions {
//!     println!("{}:{} {:?}: {} ticks", of.chain, of.instruction, of.name, of.time.total);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Times are ticks of the clock that the runtime was built with: nanoseconds on most systems. The events
//! and their names are those of upstream's `runtime/executor/method.cpp`. A profile does not say which
//! method an event is of.
//!
//! With the feature `serde` a [`ProfileDocument`] serializes as the document `pte.profile/1`. The field
//! names of these types are those of the document.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use pte_core::method::instructions;
use pte_core::payload::{Tables, TablesPlace, Unreadable};
use pte_core::{Limits, Pte, operator_name};
use pte_flat::bytes::wide;
use pte_flat::cost;
use pte_flat::quoted::UntrustedString;
use pte_flat::view::Table;
use pte_schema::etdump::view::{ETDump, ProfileEvent};
use pte_schema::program::view::{ExecutionPlan, InstructionArguments};

/// The document `pte.profile/1`: the profile in a file.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ProfileDocument {
    /// The name and version of the document.
    pub schema: &'static str,
    /// The path or the name of the file.
    pub path: UntrustedString,
    /// The profile.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub profile: Profile,
}

/// The times in a profile.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Profile {
    /// The version of the profile's format.
    pub version: u32,
    /// The number of blocks of events: one for loading, and one for each execution.
    pub runs: u64,
    /// The number of events with a time.
    pub events: u64,
    /// The number of recorded values.
    pub values: u64,
    /// The events that belong to no instruction, such as `Method::execute`, by name.
    pub methods: Vec<EventTime>,
    /// The instructions, by chain and index.
    pub instructions: Vec<InstructionTime>,
}

/// The times of all events of one name.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct EventTime {
    /// The name. For an event in a delegate, this is the text or the number that the backend gave.
    pub name: UntrustedString,
    /// The times of these events.
    pub time: Time,
}

/// The times of all executions of one instruction.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct InstructionTime {
    /// The index of the chain.
    pub chain: u32,
    /// The index in the chain.
    pub instruction: u32,
    /// The operator or the backend: the kernel's name in the profile, or what
    /// [`name_after`](Profile::name_after) found. Of an instruction that calls nothing it is the
    /// kind, such as `JumpFalseCall`. `None` if none is known.
    pub name: Option<UntrustedString>,
    /// Whether the instruction calls a delegate.
    pub delegate: bool,
    /// The times of the whole instruction, or the sums of its events' times if the profile lacks
    /// these.
    pub time: Time,
    /// The events in the instruction by name: those of the kernel, or of the delegate's nodes.
    pub events: Vec<EventTime>,
}

/// Times in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Time {
    /// The number of measured times.
    pub count: u64,
    /// The sum of the times.
    pub total: u64,
    /// The shortest time.
    pub shortest: u64,
    /// The longest time.
    pub longest: u64,
}

pte_flat::errors! {
    /// Why a program and a profile do not belong together.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Mismatch {
        /// The method has no such instruction.
        Instruction {
            /// The index of the chain.
            chain: u32,
            /// The index in the chain.
            instruction: u32,
        } => "the method has no instruction {instruction} in chain {chain}";
        /// The instruction calls another operator.
        Operator {
            /// The index of the chain.
            chain: u32,
            /// The index in the chain.
            instruction: u32,
            /// The name in the program.
            program: UntrustedString,
            /// The name in the profile.
            profile: UntrustedString,
        } => "instruction {instruction} of chain {chain} calls {program} in the method, and {profile} in the profile";
    }
}

/// The times of all executions of an instruction.
#[derive(Default)]
struct Whole {
    time: Time,
    delegate: bool,
    /// The kind of the instruction, if it calls nothing.
    kind: Option<&'static str>,
}

impl Profile {
    /// Reads the profile in a whole file.
    ///
    /// # Errors
    ///
    /// The file is no ETDump, or breaks a structural rule.
    pub fn read(bytes: &[u8], limits: &Limits) -> Result<Self, Unreadable> {
        let magic =
            || Unreadable::Magic { magic: pte_flat::bytes::array_at(bytes, 4).unwrap_or_default() };
        let place = TablesPlace::of(bytes, wide(bytes.len())).ok_or_else(magic)??;
        let tables = Tables::read(&place, bytes, limits)?;
        Ok(Self::of(tables.as_etdump().ok_or_else(magic)?))
    }

    fn of(root: ETDump<'_>) -> Self {
        let mut profile = Self { version: root.version(), ..Self::default() };
        let mut methods: BTreeMap<Cow<'_, str>, Time> = BTreeMap::new();
        // The calls of each instruction, and the events in them. A map of events for each
        // instruction would take too much memory.
        let mut wholes: BTreeMap<(u32, u32), Whole> = BTreeMap::new();
        let mut inner: BTreeMap<(u32, u32, Cow<'_, str>), Time> = BTreeMap::new();
        for run in root.run_data().into_iter().flatten() {
            profile.runs = profile.runs.saturating_add(1);
            for event in run.events().into_iter().flatten() {
                if event.debug_event().is_some() {
                    profile.values = profile.values.saturating_add(1);
                }
                let Some(event) = event.profile_event() else { continue };
                profile.events = profile.events.saturating_add(1);
                let ticks = event.end_time().saturating_sub(event.start_time());
                let place = u32::try_from(event.chain_index())
                    .and_then(|chain| Ok((chain, u32::try_from(event.instruction_id())?)));
                let Ok((chain, instruction)) = place else {
                    methods.entry(name_of(event)).or_default().add(ticks);
                    continue;
                };
                cost::look_up("", inner.len());
                let whole = wholes.entry((chain, instruction)).or_default();
                let name = event.name();
                match (name, name.and_then(kind)) {
                    (Some("OPERATOR_CALL"), _) => whole.time.add(ticks),
                    (Some("DELEGATE_CALL"), _) => {
                        whole.time.add(ticks);
                        whole.delegate = true;
                    }
                    (_, Some(kind)) => {
                        whole.time.add(ticks);
                        whole.kind = Some(kind);
                    }
                    _ => {
                        let key = (chain, instruction, name_of(event));
                        inner.entry(key).or_default().add(ticks);
                    }
                }
            }
        }
        profile.methods = listed(methods.into_iter().map(|(name, time)| ((&*name).into(), time)));
        let mut inner = inner.into_iter().peekable();
        for (place, Whole { time, delegate, kind }) in wholes {
            let mut events = Vec::new();
            let is_of = |(chain, instruction, _): &(u32, u32, _)| (*chain, *instruction) == place;
            while let Some(((.., name), time)) = inner.next_if(|(key, _)| is_of(key)) {
                events.push(EventTime { name: (&*name).into(), time });
            }
            let name = events.iter().find_map(|of| kernel(of.name.raw())).or(kind);
            let name = name.map(UntrustedString::from);
            let time = match time.count {
                0 => events.iter().fold(Time::default(), |sum, of| sum.and(of.time)),
                _ => time,
            };
            events.sort_by_key(|of| Reverse(of.time.total));
            let (chain, instruction) = place;
            let of = InstructionTime { chain, instruction, name, delegate, time, events };
            profile.instructions.push(of);
        }
        profile
    }

    /// Returns the number of executions of methods.
    pub fn executions(&self) -> u64 {
        self.time_of("Method::execute").count
    }

    /// Returns the times of the events called `name` that belong to no instruction.
    pub fn time_of(&self, name: &str) -> Time {
        let of = self.methods.iter().find(|of| of.name.raw() == name);
        of.map_or(Time::default(), |of| of.time)
    }

    /// Returns the sums of the instructions' times by operator or backend, the longest first.
    pub fn operators(&self) -> Vec<EventTime> {
        let mut sums: BTreeMap<UntrustedString, Time> = BTreeMap::new();
        for of in &self.instructions {
            let sum = sums.entry(of.called()).or_default();
            *sum = sum.and(of.time);
        }
        listed(sums)
    }

    /// Returns the sums of the events in delegates by name, the longest first.
    pub fn delegate_events(&self) -> Vec<EventTime> {
        let mut sums: BTreeMap<UntrustedString, Time> = BTreeMap::new();
        let delegates = self.instructions.iter().filter(|of| of.delegate);
        for EventTime { name, time } in delegates.flat_map(|of| &of.events) {
            let sum = sums.entry(name.clone()).or_default();
            *sum = sum.and(*time);
        }
        listed(sums)
    }

    /// Returns the method that ran, which a profile does not name: the method called `name`.
    /// Without a name, this is `forward`, or else the only method.
    #[must_use]
    pub fn method<'a>(pte: &Pte<'a>, name: Option<&str>) -> Option<ExecutionPlan<'a>> {
        let plans = || pte.program().execution_plan().into_iter().flatten();
        let wanted = name.unwrap_or("forward");
        plans()
            .find(|plan| plan.name() == Some(wanted))
            .or_else(|| plans().next().filter(|_| name.is_none() && plans().count() == 1))
    }

    /// Returns the index of the method that [`method`](Self::method) returns.
    #[must_use]
    pub fn method_index(pte: &Pte<'_>, name: Option<&str>) -> Option<u32> {
        let ran = Self::method(pte, name)?.raw().pos();
        let plans = pte.program().execution_plan().into_iter().flatten();
        (0..).zip(plans).find(|(_, plan)| plan.raw().pos() == ran).map(|(index, _)| index)
    }

    /// Names the instructions after those of a method: `aten::add.out` in place of the kernel's
    /// `add.out`, and the backend of a delegate.
    ///
    /// # Errors
    ///
    /// Returns the first instruction of the profile that does not match the method: the method has no
    /// such instruction, or it calls another operator. Earlier instructions are named all the same.
    pub fn name_after(&mut self, plan: ExecutionPlan<'_>) -> Result<(), Mismatch> {
        let mut operators = BTreeMap::new();
        let mut named = BTreeMap::new();
        for of in instructions(plan) {
            cost::look_up("", named.len());
            if let Some(name) = of.operation().and_then(|of| called(plan, of, &mut operators)) {
                named.insert((of.chain(), of.index()), name);
            }
        }
        for of in &mut self.instructions {
            let (chain, instruction) = (of.chain, of.instruction);
            let Some(name) = named.get(&(chain, instruction)) else {
                return Err(Mismatch::Instruction { chain, instruction });
            };
            if let Some(known) = &of.name
                && !name.raw().ends_with(known.raw())
            {
                let (program, profile) = (name.clone(), known.clone());
                return Err(Mismatch::Operator { chain, instruction, program, profile });
            }
            of.name = Some(name.clone());
        }
        Ok(())
    }

    /// Adds the name of the file.
    #[must_use]
    pub fn named(self, path: impl Into<UntrustedString>) -> ProfileDocument {
        ProfileDocument { schema: "pte.profile/1", path: path.into(), profile: self }
    }
}

impl InstructionTime {
    /// Returns the name of the instruction, or `a delegate` or `unknown` if it has no name.
    pub fn called(&self) -> UntrustedString {
        match (&self.name, self.delegate) {
            (Some(name), _) => name.clone(),
            (None, true) => "a delegate".into(),
            (None, false) => "unknown".into(),
        }
    }
}

impl Time {
    /// Adds one time.
    fn add(&mut self, ticks: u64) {
        *self = self.and(Self { count: 1, total: ticks, shortest: ticks, longest: ticks });
    }

    /// Returns the times of `self` and `other` together.
    fn and(self, other: Self) -> Self {
        match (self.count, other.count) {
            (0, _) => other,
            (_, 0) => self,
            _ => Self {
                count: self.count.saturating_add(other.count),
                total: self.total.saturating_add(other.total),
                shortest: self.shortest.min(other.shortest),
                longest: self.longest.max(other.longest),
            },
        }
    }
}

/// Returns the name of an event. An event in a delegate has a text or a number instead.
fn name_of(event: ProfileEvent<'_>) -> Cow<'_, str> {
    match (event.name(), event.delegate_debug_id_str(), event.delegate_debug_id_int()) {
        (Some(name), _, _) if !name.is_empty() => short(name).into(),
        (_, Some(text), _) => short(text).into(),
        (_, None, number) => format!("node {number}").into(),
    }
}

/// Cuts a name, since many events may share a name that is as long as the file.
fn short(name: &str) -> &str {
    let end = name.char_indices().nth(LONGEST_NAME);
    end.and_then(|(end, _)| name.get(..end)).unwrap_or(name)
}

/// Returns the name of an instruction in the schema, of the event of an instruction that calls nothing
/// (`Method::execute_instruction` in `runtime/executor/method.cpp`).
fn kind(name: &str) -> Option<&'static str> {
    Some(match name {
        "JF_CALL" => "JumpFalseCall",
        "MOVE_CALL" => "MoveCall",
        "FREE_CALL" => "FreeCall",
        _ => return None,
    })
}

/// Returns the operator of a kernel's event.
fn kernel(name: &str) -> Option<&str> {
    name.strip_prefix("native_call_")
}

/// Returns the operator or the backend that an instruction calls, or the kind of an instruction that
/// calls nothing. `operators` has the names of the
/// operators that were called before.
fn called(
    plan: ExecutionPlan<'_>,
    operation: InstructionArguments<'_>,
    operators: &mut BTreeMap<i32, UntrustedString>,
) -> Option<UntrustedString> {
    let at = |index: i32| usize::try_from(index).ok();
    match operation {
        InstructionArguments::KernelCall(call) => {
            let index = call.op_index();
            if let Some(name) = operators.get(&index) {
                return Some(name.clone());
            }
            let name = operator_name(plan.operators()?.get(at(index)?)?);
            let name = UntrustedString::from(short(name.raw()));
            operators.insert(index, name.clone());
            Some(name)
        }
        InstructionArguments::DelegateCall(call) => {
            let delegate = plan.delegates()?.get(at(call.delegate_index())?)?;
            Some(short(delegate.id().unwrap_or_default()).into())
        }
        other => other.name().map(UntrustedString::from),
    }
}

/// The most characters of a name.
const LONGEST_NAME: usize = 100;

/// Returns times by name, the longest sum first.
fn listed(times: impl IntoIterator<Item = (UntrustedString, Time)>) -> Vec<EventTime> {
    let mut list: Vec<_> = times.into_iter().map(|(name, time)| EventTime { name, time }).collect();
    list.sort_by_key(|of| Reverse(of.time.total));
    list
}
