//! Memory plans as JSON, with a line for each arena.

use pte::memory::{LiveRange, Memory, PlannedArena, PlannedTensor};
use pte::quoted::{Untrusted, UntrustedString};
use serde::{Serialize, Serializer};

use super::method::{self, Method};
use super::{Show, Subject};
use crate::cli::output::Output;
use crate::cli::problem::Problem;

#[derive(Default)]
pub(super) struct Lines {
    methods: usize,
}

#[derive(Serialize)]
struct Head<'d> {
    id: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<Device>,
    planned: Option<u64>,
    reach: u64,
    peak: u64,
    peak_at: Option<PeakAt<'d>>,
    slack: Option<u64>,
    fragmentation: u64,
    gaps: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    over: Option<u64>,
    tensors: Rows<'d, 'd, 'd>,
}

/// The tensors of an arena, serialized one by one.
struct Rows<'d, 'm, 'a>(&'d Method<'m, 'a>, &'d PlannedArena<'a>);

#[derive(Serialize)]
struct Device {
    kind: String,
    index: i8,
}

#[derive(Clone, Copy, Serialize)]
struct Place {
    chain: u32,
    instruction: u32,
}

#[derive(Serialize)]
struct PeakAt<'d> {
    #[serde(flatten)]
    place: Place,
    does: &'d UntrustedString,
}

#[derive(Serialize)]
struct Row<'d> {
    value: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Untrusted<'d>>,
    dtype: String,
    sizes: Vec<i32>,
    bytes: Option<u64>,
    offset: u64,
    role: &'static str,
    /// Only if it is one.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    view: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    lives: Option<Lives>,
}

#[derive(Serialize)]
struct Lives {
    first: Option<Place>,
    last: Option<Place>,
}

#[derive(Serialize)]
struct Unplaced {
    value: u32,
    dtype: String,
    sizes: Vec<i32>,
    bytes: Option<u64>,
    end: bool,
    unbounded: bool,
}

#[derive(Serialize)]
struct Outside {
    constants: u64,
    external: u64,
    payloads: u64,
    scratch: u64,
}

impl Show for Lines {
    fn begin(
        &mut self,
        out: &mut Output,
        path: &UntrustedString,
        of: &Subject,
    ) -> Result<(), Problem> {
        out.bytes(b"{\"schema\": \"pte.memory/1\", \"path\": ")?;
        out.json_line(&path)?;
        out.bytes(format!(", \"kind\": \"{}\", ", of.kind).as_bytes())?;
        out.bytes(format!("\"method_count\": {}, \"methods\": [", of.methods).as_bytes())
    }

    fn method(&mut self, out: &mut Output, method: &Method<'_, '_>) -> Result<(), Problem> {
        let memory = method.memory;
        let name = memory.plan().name();
        method.input.name_again(name)?;
        comma(out, &mut self.methods)?;
        out.bytes(b"{\"name\": ")?;
        out.json_line(&name)?;
        let (instructions, planned) = (memory.instruction_count(), memory.planned());
        out.bytes(
            format!(", \"instructions\": {instructions}, \"planned\": {planned}").as_bytes(),
        )?;
        if let Some(over) = method.over(None, memory.needed()) {
            out.bytes(format!(", \"over\": {over}").as_bytes())?;
        }
        out.bytes(b", \"arenas\": [")?;
        let mut arenas = 0usize;
        for arena in memory.arenas() {
            comma(out, &mut arenas)?;
            Self::arena(out, method, arena)?;
        }
        out.bytes(b"], \"unplanned\": [")?;
        let mut rows = 0usize;
        for of in memory.unplanned() {
            comma(out, &mut rows)?;
            let (dtype, sizes) = layout(method, of.value);
            let (value, bytes) = (of.value, of.bytes);
            let (end, unbounded) = (of.is_end, of.is_unbounded);
            out.json_line(&Unplaced { value, dtype, sizes, bytes, end, unbounded })?;
        }
        out.bytes(b"], \"outside\": ")?;
        let outside = memory.outside();
        let (constants, external) = (outside.constants, outside.external);
        let (payloads, scratch) = (outside.payloads, method.scratch);
        out.json_line(&Outside { constants, external, payloads, scratch })?;
        out.bytes(b"}")
    }

    fn end(&mut self, out: &mut Output) -> Result<(), Problem> {
        out.bytes(b"]}\n")
    }
}

impl Lines {
    fn arena(
        out: &mut Output,
        method: &Method<'_, '_>,
        arena: &PlannedArena<'_>,
    ) -> Result<(), Problem> {
        let memory = method.memory;
        let does = arena.peak_pc.map(|pc| method.does(pc)).transpose()?;
        let peak_at = arena.peak_pc.zip(does.as_ref());
        let head = Head {
            id: arena.id,
            device: method::device(arena).map(|(kind, index)| Device { kind, index }),
            planned: arena.planned,
            reach: arena.reach,
            peak: arena.peak,
            peak_at: peak_at.map(|(pc, does)| PeakAt { place: place(memory, pc), does }),
            slack: arena.slack(),
            fragmentation: arena.fragmentation(),
            gaps: arena.gaps(),
            over: method.over(Some(arena.id), arena.needed()),
            tensors: Rows(method, arena),
        };
        // Each name is shown once, and counted against the limits here.
        for tensor in memory.tensors(arena) {
            method.name(tensor.value)?;
        }
        out.json_line(&head)
    }
}

impl Serialize for Rows<'_, '_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(method, arena) = *self;
        to.collect_seq(method.memory.tensors(arena).iter().map(|of| Row::of(method, of)))
    }
}

impl<'d> Row<'d> {
    fn of(method: &Method<'_, 'd>, of: &PlannedTensor) -> Self {
        let (dtype, sizes) = layout(method, of.value);
        let at = |pc: Option<u32>| pc.map(|pc| place(method.memory, pc));
        let lives = of.live_range.map(|LiveRange { first_use: first, last_use: last }| Lives {
            first: at(first),
            last: at(last),
        });
        Self {
            value: of.value,
            name: method.name_unpaid(of.value),
            dtype,
            sizes,
            bytes: of.bytes,
            offset: of.offset,
            role: method::role(of),
            view: of.is_view,
            lives,
        }
    }
}

fn comma(out: &mut Output, rows: &mut usize) -> Result<(), Problem> {
    out.bytes(if *rows == 0 { b"\n" } else { b",\n" })?;
    *rows = rows.saturating_add(1);
    Ok(())
}

fn place(memory: &Memory<'_>, pc: u32) -> Place {
    let (chain, instruction) = memory.place(pc);
    Place { chain, instruction }
}

fn layout(method: &Method<'_, '_>, value: u32) -> (String, Vec<i32>) {
    let Some(tensor) = method.view(value) else { return Default::default() };
    let sizes = tensor.sizes().into_iter().flatten().collect();
    (tensor.scalar_type().to_string(), sizes)
}
