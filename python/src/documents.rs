//! Documents that the command writes a row at a time: here they are made whole.
//!
//! Their fields are those of docs/cli.md. `python/tests` holds each against the command's.

use pte::map::{KindTotal, Map, Name, Nesting, Part, Span, Title, Within};
use pte::memory::{LiveRange, Memory, PlannedArena, PlannedTensor, TensorRole};
use pte::payload::{PayloadContents, Scratch};
use pte::quoted::UntrustedString;
use pte::schema::program::view::{ExecutionPlan, InstructionArguments, KernelTypes, Tensor};
use pte::{File, operator_name};
use serde_json::{Map as Object, Value, json};
use sha2::{Digest, Sha256};

use crate::error::{Failure, Result};
use crate::handle::Handle;

/// The bytes of names that documents of a file may still have: a small file may repeat a long name.
#[derive(Debug)]
pub(crate) struct Names {
    left: u64,
    limit: u64,
}

impl Names {
    /// Allows as many bytes as the file's limits do, and 1 MiB.
    pub(crate) fn new(of: &Handle) -> Self {
        let limit = of.opened.file_len().saturating_mul(of.limits.amplification.into());
        let limit = limit.saturating_add(1 << 20);
        Self { left: limit, limit }
    }

    /// Counts a name.
    pub(crate) fn charge(&mut self, name: &str) -> Result<()> {
        let len = u64::try_from(name.len()).unwrap_or(u64::MAX);
        let limit = self.limit;
        self.left = self.left.checked_sub(len).ok_or_else(|| Failure::Absent {
            code: "work-limit",
            message: format!("names would take more than {limit} bytes: one is used repeatedly"),
        })?;
        Ok(())
    }
}

/// Returns the JSON of a blob: its digest and length; `None` to write its bytes as numbers.
pub(crate) fn blob(bytes: &[u8], inline: bool) -> Option<String> {
    if inline || bytes.len() <= MOST_NUMBERS {
        return None;
    }
    let digest = hex(&Sha256::digest(bytes));
    Some(format!("{{\"sha256\": \"{digest}\", \"len\": {}}}", bytes.len()))
}

/// Formats bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the document `pte.memory/1`.
pub(crate) fn memory(of: &Handle, method: Option<&str>) -> Result<Value> {
    let file = of.opened.file();
    let (kind, pte) = match &file {
        File::Pte(pte) => ("pte", Some(pte)),
        File::Ptd(_) => ("ptd", None),
    };
    let all = pte.and_then(|pte| pte.program().execution_plan()).into_iter().flatten();
    let is_chosen = |plan: &ExecutionPlan<'_>| {
        method.is_none_or(|method| method == plan.name().unwrap_or_default())
    };
    let plans: Vec<_> = all.filter(is_chosen).collect();
    if let (Some(method), true) = (method, plans.is_empty()) {
        return Err(Failure::Value(format!("there is no method {method:?}")));
    }
    let mut names = Names::new(of);
    let mut methods = Vec::new();
    let scratch = Scratch::read(&of.opened, &of.limits)?;
    for plan in plans.iter().take(MOST_METHODS) {
        if let Some(pte) = pte {
            let memory = Memory::of(pte, *plan);
            methods.push(method_memory(&memory, scratch.of(pte, *plan), &mut names)?);
        }
    }
    Ok(json!({
        "schema": "pte.memory/1",
        "path": of.name,
        "kind": kind,
        "method_count": plans.len(),
        "methods": methods,
    }))
}

fn method_memory(memory: &Memory<'_>, scratch: u64, names: &mut Names) -> Result<Value> {
    let name = memory.plan().name();
    names.charge(name.unwrap_or_default())?;
    let mut arenas = Vec::new();
    for arena in memory.arenas() {
        arenas.push(arena_memory(memory, arena, names)?);
    }
    let unplanned = memory.unplanned().iter().map(|of| {
        let (dtype, sizes) = layout(memory, of.value);
        json!({
            "value": of.value,
            "dtype": dtype,
            "sizes": sizes,
            "bytes": of.bytes,
            "end": of.is_end,
            "unbounded": of.is_unbounded,
        })
    });
    let outside = memory.outside();
    Ok(json!({
        "name": name,
        "instructions": memory.instruction_count(),
        "planned": memory.planned(),
        "arenas": arenas,
        "unplanned": unplanned.collect::<Vec<_>>(),
        "outside": {
            "constants": outside.constants,
            "external": outside.external,
            "payloads": outside.payloads,
            "scratch": scratch,
        },
    }))
}

fn arena_memory(memory: &Memory<'_>, arena: &PlannedArena<'_>, names: &mut Names) -> Result<Value> {
    let mut document = Object::new();
    let mut add = |key: &str, value: Value| document.insert(key.into(), value);
    add("id", arena.id.into());
    if let Some(device) = arena.device {
        let kind = device.device_type().to_string();
        add("device", json!({ "kind": kind, "index": device.device_index() }));
    }
    add("planned", json!(arena.planned));
    add("reach", arena.reach.into());
    add("peak", arena.peak.into());
    let peak_at = arena.peak_pc.map(|pc| {
        let does = does(memory, pc);
        names.charge(does.raw())?;
        let (chain, instruction) = memory.place(pc);
        Ok::<_, Failure>(json!({ "chain": chain, "instruction": instruction, "does": does }))
    });
    add("peak_at", json!(peak_at.transpose()?));
    add("slack", json!(arena.slack()));
    add("fragmentation", arena.fragmentation().into());
    add("gaps", arena.gaps().into());
    let mut tensors = Vec::new();
    for tensor in memory.tensors(arena) {
        tensors.push(planned_tensor(memory, tensor, names)?);
    }
    add("tensors", tensors.into());
    Ok(document.into())
}

fn planned_tensor(memory: &Memory<'_>, of: &PlannedTensor, names: &mut Names) -> Result<Value> {
    let (dtype, sizes) = layout(memory, of.value);
    let extra = tensor(memory, of.value).and_then(|tensor| tensor.extra_tensor_info());
    let name = extra.and_then(|extra| extra.fully_qualified_name());
    let mut document = Object::new();
    let mut add = |key: &str, value: Value| document.insert(key.into(), value);
    add("value", of.value.into());
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        names.charge(name)?;
        add("name", name.into());
    }
    add("dtype", dtype.into());
    add("sizes", sizes.into());
    add("bytes", json!(of.bytes));
    add("offset", of.offset.into());
    let role = match of.role {
        TensorRole::Input => "input",
        TensorRole::Output => "output",
        TensorRole::State => "state",
        _ => "scratch",
    };
    add("role", role.into());
    if of.is_view {
        add("view", true.into());
    }
    if let Some(LiveRange { first_use, last_use }) = of.live_range {
        let at = |pc: Option<u32>| {
            pc.map(|pc| {
                let (chain, instruction) = memory.place(pc);
                json!({ "chain": chain, "instruction": instruction })
            })
        };
        add("lives", json!({ "first": at(first_use), "last": at(last_use) }));
    }
    Ok(document.into())
}

/// Returns the name of an instruction: its operator, its backend, or its kind.
fn does(memory: &Memory<'_>, pc: u32) -> UntrustedString {
    let plan = memory.plan();
    match memory.instruction(pc) {
        Some(InstructionArguments::KernelCall(call)) => {
            let index = call.op_index();
            let all = plan.operators().zip(usize::try_from(index).ok());
            let operator = all.and_then(|(all, nth)| all.get(nth));
            operator.map_or_else(|| format!("no operator {index}").into(), operator_name)
        }
        Some(InstructionArguments::DelegateCall(call)) => {
            let index = call.delegate_index();
            let all = plan.delegates().zip(usize::try_from(index).ok());
            let id = all.and_then(|(all, nth)| all.get(nth)?.id());
            format!("delegate {index} {}", id.unwrap_or_default()).into()
        }
        Some(InstructionArguments::MoveCall(_)) => "move".into(),
        Some(InstructionArguments::FreeCall(_)) => "free".into(),
        Some(InstructionArguments::JumpFalseCall(_)) => "jump".into(),
        _ => "unknown".into(),
    }
}

fn tensor<'a>(memory: &Memory<'a>, value: u32) -> Option<Tensor<'a>> {
    match memory.plan().values()?.get(usize::try_from(value).ok()?)?.val()? {
        KernelTypes::Tensor(tensor) => Some(tensor),
        _ => None,
    }
}

fn layout(memory: &Memory<'_>, value: u32) -> (String, Vec<i32>) {
    let Some(tensor) = tensor(memory, value) else { return Default::default() };
    let sizes = tensor.sizes().into_iter().flatten().collect();
    (tensor.scalar_type().to_string(), sizes)
}

/// Returns the document `pte.map/1`.
pub(crate) fn map(of: &Handle, depth: Option<u32>) -> Result<Value> {
    let file = of.opened.file();
    let payloads = PayloadContents::all(&of.opened, &of.limits)?;
    let map = Map::in_detail_with_payloads(&file, &payloads);
    let nesting = match depth {
        Some(depth) => Nesting { depth, most: usize::MAX },
        None => Nesting { depth: DEFAULT_DEPTH, most: MOST_ROWS },
    };
    if depth.is_some_and(|depth| depth > 2) && map.pieces().len() > MOST_RANGES {
        let message = format!("the file has more than {MOST_RANGES} ranges: leave the depth out");
        return Err(Failure::Absent { code: "work-limit", message });
    }
    let mut names = Names::new(of);
    let rows = map.nested(nesting);
    let rows = rows.iter().map(|span| row(span, &mut names)).collect::<Result<Vec<_>>>()?;
    Ok(json!({ "schema": "pte.map/1", "path": of.name, "bytes": file.file_len(), "parts": rows }))
}

/// The recursion is as deep as the nesting, which the depth limits.
fn row(span: &Span<'_, '_>, names: &mut Names) -> Result<Value> {
    let (mut what, mut count, mut parts_of_range) = (None, None, None);
    let name = match span.title {
        Title::Part(part) | Title::Other(part) => {
            if let Name::Object(_, thing) = part.name() {
                what = Some(thing.name());
            }
            if matches!(span.title, Title::Other(_)) {
                parts_of_range = Some(part_names(part, names)?);
            }
            part_name(part, names)?
        }
        Title::Segment(nth) => format!("segment {nth}").into(),
        Title::Alike { name, count: many } => {
            count = Some(many);
            name.into()
        }
        _ => UntrustedString::default(),
    };
    let (begin, end) = (span.range.start, span.range.end);
    let mut document = Object::new();
    let mut add = |key: &str, value: Value| document.insert(key.into(), value);
    add("begin", begin.into());
    add("end", end.into());
    add("bytes", end.saturating_sub(begin).into());
    add("name", json!(name));
    if let Some(parts) = parts_of_range {
        add("part", json!(parts));
    }
    if let Some(what) = what {
        add("what", what.into());
    }
    if let Some(count) = count {
        add("count", json!(count));
    }
    match &span.within {
        Within::Spans(spans) if !spans.is_empty() => {
            let rows = spans.iter().map(|span| row(span, names)).collect::<Result<Vec<_>>>()?;
            add("parts", rows.into());
        }
        Within::Kinds(kinds) if !kinds.is_empty() => {
            add("kinds", kinds.iter().map(kind_row).collect::<Vec<_>>().into());
        }
        _ => {}
    }
    Ok(document.into())
}

fn kind_row(kind: &KindTotal) -> Value {
    let mut document = Object::new();
    document.insert("name".into(), kind.name.into());
    if let Some(what) = kind.what {
        document.insert("what".into(), what.name().into());
    }
    document.insert("count".into(), json!(kind.count));
    document.insert("bytes".into(), json!(kind.bytes));
    document.into()
}

/// Returns the names of a part and its parents, outermost first, without tables, vectors and strings.
fn part_names(part: Part<'_, '_>, names: &mut Names) -> Result<Vec<UntrustedString>> {
    let mut parts = Vec::new();
    let mut part = Some(part);
    while let Some(one) = part.filter(|part| part.parent().is_some()) {
        if !matches!(one.name(), Name::Object(..)) {
            parts.push(part_name(one, names)?);
        }
        part = one.parent();
    }
    parts.reverse();
    Ok(parts)
}

fn part_name(part: Part<'_, '_>, names: &mut Names) -> Result<UntrustedString> {
    let name = UntrustedString::of(&part.name());
    if !matches!(part.name(), Name::Fixed(_)) {
        names.charge(name.raw())?;
    }
    Ok(name)
}

/// The longest `[ubyte]` that is always written as numbers, in bytes.
const MOST_NUMBERS: usize = 64;

/// The most methods in a document.
const MOST_METHODS: usize = 1024;

/// The levels of a map without a depth.
const DEFAULT_DEPTH: u32 = 4;

/// The most rows inside a range of a map before similar ones are folded.
const MOST_ROWS: usize = 16;

/// The most ranges of a map that are listed without folding.
const MOST_RANGES: usize = 500_000;
