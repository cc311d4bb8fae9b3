//! What `info` tells of a file: read from proven views, under the names of its JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use pte::file::header::{ExtendedHeader, FlatTensorHeader};
use pte::pte::Storage;
use pte::schema::program::TensorShapeDynamism;
use pte::schema::program::view::{ExecutionPlan, InstructionArguments, KernelTypes, Tensor};
use pte::schema::scalar::ScalarType;
use pte::{File, Ptd, Pte};

use super::text;

/// The facts of one file.
#[derive(Serialize)]
pub(super) struct Facts {
    pub(super) path: String,
    pub(super) kind: &'static str,
    pub(super) bytes: u64,
    pub(super) header: Option<Header>,
    pub(super) parts: Parts,
    #[serde(flatten)]
    pub(super) contents: Contents,
    pub(super) findings: BTreeMap<&'static str, u64>,
}

/// The header's fields; those of the other kind are left out.
#[derive(Serialize)]
pub(super) struct Header {
    pub(super) length: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) program_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) flatbuffer_offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) flatbuffer_size: Option<u64>,
    pub(super) segment_base_offset: u64,
    /// Absent in a 24-byte header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) segment_data_size: Option<u64>,
}

/// Bytes of the file, by part; their sum is its size.
#[derive(Serialize)]
pub(super) struct Parts {
    /// The FlatBuffers part with the headers in front.
    pub(super) flatbuffer: u64,
    /// From there to the first segment.
    pub(super) padding: u64,
    /// From the first segment to the end of the last, gaps included.
    pub(super) segments: u64,
    /// After the last segment.
    pub(super) trailing: u64,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Contents {
    Pte(Box<Program>),
    Ptd(Box<FlatTensor>),
}

#[derive(Serialize)]
pub(super) struct Program {
    pub(super) version: u32,
    pub(super) methods: Vec<Method>,
    /// By falling number of calls.
    pub(super) operators: Vec<Counted>,
    pub(super) backends: Vec<Backend>,
    pub(super) constants: Data,
    pub(super) mutable: Data,
    pub(super) external: Data,
    pub(super) named_data: Data,
    pub(super) segments: u64,
}

#[derive(Serialize)]
pub(super) struct Method {
    pub(super) name: Option<String>,
    pub(super) inputs: Vec<Value>,
    pub(super) outputs: Vec<Value>,
    pub(super) values: u64,
    pub(super) instructions: u64,
    pub(super) delegates: u64,
    /// Bytes of each arena, the reserved first one left out.
    pub(super) arenas: Vec<i64>,
}

/// An input or output of a method.
#[derive(Serialize)]
pub(super) struct Value {
    /// The member of KernelTypes; null where the index leads nowhere.
    #[serde(rename = "type")]
    pub(super) of: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dtype: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sizes: Option<Vec<i32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dynamism: Option<String>,
    #[serde(skip)]
    pub(super) text: String,
}

#[derive(Serialize)]
pub(super) struct Counted {
    pub(super) name: String,
    pub(super) calls: u64,
}

#[derive(Serialize)]
pub(super) struct Backend {
    pub(super) id: String,
    pub(super) delegates: u64,
    /// Of all payloads; one that is shared counts once for each.
    pub(super) bytes: u64,
}

/// Tensors or blobs, and their bytes; shared ones count once.
#[derive(Default, Serialize)]
pub(super) struct Data {
    pub(super) count: u64,
    pub(super) bytes: u64,
}

#[derive(Serialize)]
pub(super) struct FlatTensor {
    pub(super) generation: u8,
    pub(super) tensors: u64,
    pub(super) blobs: u64,
    pub(super) segments: u64,
    /// Bytes by dtype, the largest first.
    pub(super) dtypes: Vec<Dtype>,
    /// The largest entries.
    pub(super) largest: Vec<Large>,
}

#[derive(Serialize)]
pub(super) struct Dtype {
    pub(super) dtype: String,
    pub(super) tensors: u64,
    pub(super) bytes: u64,
}

#[derive(Serialize)]
pub(super) struct Large {
    pub(super) key: Option<String>,
    pub(super) bytes: u64,
    #[serde(skip)]
    pub(super) text: String,
}

impl Facts {
    pub(super) fn of(path: String, file: &File<'_>) -> Self {
        let report = file.check();
        let (kind, bytes, header, parts, contents) = match file {
            File::Pte(pte) => {
                let header = pte.header().map(Header::of_pte);
                let contents = Contents::Pte(Box::new(Program::of(pte)));
                ("pte", pte.file_len(), header, Parts::of_pte(pte), contents)
            }
            File::Ptd(ptd) => {
                let header = Some(Header::of_ptd(ptd.header()));
                let contents = Contents::Ptd(Box::new(FlatTensor::of(ptd)));
                ("ptd", ptd.file_len(), header, Parts::of_ptd(ptd), contents)
            }
        };
        Self { path, kind, bytes, header, parts, contents, findings: report.counts().collect() }
    }
}

impl Header {
    fn of_pte(header: ExtendedHeader) -> Self {
        Self {
            length: header.length,
            program_size: Some(header.program_size),
            flatbuffer_offset: None,
            flatbuffer_size: None,
            segment_base_offset: header.segment_base_offset,
            segment_data_size: (header.length >= ExtendedHeader::CURRENT)
                .then_some(header.segment_data_size),
        }
    }

    fn of_ptd(header: FlatTensorHeader) -> Self {
        Self {
            length: header.length,
            program_size: None,
            flatbuffer_offset: Some(header.flatbuffer_offset),
            flatbuffer_size: Some(header.flatbuffer_size),
            segment_base_offset: header.segment_base_offset,
            segment_data_size: Some(header.segment_data_size),
        }
    }
}

impl Parts {
    fn of_pte(pte: &Pte<'_>) -> Self {
        let ranges = (0..pte.segment_count()).filter_map(|nth| pte.segment_range(nth).ok());
        Self::of(pte.region().len(), pte.file_len(), ranges)
    }

    fn of_ptd(ptd: &Ptd<'_>) -> Self {
        let end =
            ptd.region().len().saturating_add(usize::try_from(ptd.region_start()).unwrap_or(0));
        let ranges = (0..ptd.segment_count()).filter_map(|nth| ptd.segment_range(nth).ok());
        Self::of(end, ptd.file_len(), ranges)
    }

    fn of(
        flatbuffer: usize,
        len: u64,
        ranges: impl Iterator<Item = core::ops::Range<u64>>,
    ) -> Self {
        let flatbuffer = u64::try_from(flatbuffer).unwrap_or(u64::MAX);
        let (mut first, mut last) = (len, flatbuffer);
        for range in ranges.filter(|range| !range.is_empty()) {
            (first, last) = (first.min(range.start), last.max(range.end));
        }
        // Without segments, what follows the FlatBuffers part belongs to nothing.
        let first = if last == flatbuffer { flatbuffer } else { first };
        Self {
            flatbuffer,
            padding: first.saturating_sub(flatbuffer),
            segments: last.saturating_sub(first),
            trailing: len.saturating_sub(last),
        }
    }
}

impl Program {
    fn of(pte: &Pte<'_>) -> Self {
        let program = pte.program();
        let mut calls: BTreeMap<String, u64> = BTreeMap::new();
        let mut backends: BTreeMap<String, Backend> = BTreeMap::new();
        let mut data = Tensors::default();
        let mut methods = Vec::new();
        for plan in program.execution_plan().into_iter().flatten() {
            methods.push(Method::of(plan));
            count_operators(plan, &mut calls);
            for delegate in plan.delegates().into_iter().flatten() {
                let id = delegate.id().unwrap_or_default().to_string();
                let range = pte.delegate_range(delegate).ok().flatten().unwrap_or_default();
                let backend =
                    backends.entry(id.clone()).or_insert(Backend { id, delegates: 0, bytes: 0 });
                backend.delegates = backend.delegates.saturating_add(1);
                backend.bytes = backend.bytes.saturating_add(length(&range));
            }
            for value in plan.values().into_iter().flatten() {
                if let Some(KernelTypes::Tensor(tensor)) = value.val() {
                    data.add(pte, tensor);
                }
            }
        }
        let mut operators: Vec<_> =
            calls.into_iter().map(|(name, calls)| Counted { name, calls }).collect();
        operators.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.name.cmp(&b.name)));
        let mut named_data = Data::default();
        for (_, range) in pte.named_data() {
            named_data.add(length(&range.unwrap_or_default()));
        }
        Self {
            version: program.version(),
            methods,
            operators,
            backends: backends.into_values().collect(),
            constants: Data::of(&data.constants),
            mutable: Data::of(&data.mutable),
            external: data.external,
            named_data,
            segments: pte.segment_count().into(),
        }
    }
}

/// The data of tensors, by where it begins, so that what is shared counts once.
#[derive(Default)]
struct Tensors {
    constants: BTreeMap<u64, u64>,
    mutable: BTreeMap<u64, u64>,
    external: Data,
}

impl Tensors {
    fn add(&mut self, pte: &Pte<'_>, tensor: Tensor<'_>) {
        match pte.storage(tensor) {
            Ok(Storage::Constant(range)) => {
                self.constants.insert(range.start, length(&range));
            }
            Ok(Storage::Planned { initial: Some(range), .. }) => {
                self.mutable.insert(range.start, length(&range));
            }
            Ok(Storage::External { .. }) => {
                let sizes = tensor.sizes().into_iter().flatten();
                self.external.add(tensor.scalar_type().nbytes(sizes).unwrap_or_default());
            }
            _ => {}
        }
    }
}

impl Data {
    fn of(ranges: &BTreeMap<u64, u64>) -> Self {
        let mut data = Self::default();
        ranges.values().for_each(|&bytes| data.add(bytes));
        data
    }

    fn add(&mut self, bytes: u64) {
        self.count = self.count.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// Counts calls by operator first and asks for names after: a name is as long as the file allows,
/// and there may be as many calls of it.
fn count_operators(plan: ExecutionPlan<'_>, calls: &mut BTreeMap<String, u64>) {
    let mut by_index: BTreeMap<i32, u64> = BTreeMap::new();
    for chain in plan.chains().into_iter().flatten() {
        for instruction in chain.instructions().into_iter().flatten() {
            if let Some(InstructionArguments::KernelCall(call)) = instruction.instr_args() {
                let count = by_index.entry(call.op_index()).or_default();
                *count = count.saturating_add(1);
            }
        }
    }
    for (nth, operator) in (0i32..).zip(plan.operators().into_iter().flatten()) {
        let Some(count) = by_index.get(&nth) else { continue };
        let mut name = operator.name().unwrap_or_default().to_string();
        if let Some(overload) = operator.overload().filter(|overload| !overload.is_empty()) {
            name.push('.');
            name.push_str(overload);
        }
        let total = calls.entry(name).or_default();
        *total = total.saturating_add(*count);
    }
}

impl Method {
    fn of(plan: ExecutionPlan<'_>) -> Self {
        let values = |indices: Option<pte::flat::view::Vector<'_, i32>>| {
            indices.into_iter().flatten().map(|index| Value::of(plan, index)).collect()
        };
        let chains = plan.chains().into_iter().flatten();
        let instructions = chains
            .map(|chain| chain.instructions().map_or(0, |instructions| instructions.len()))
            .fold(0u64, |sum, count| sum.saturating_add(index(count).into()));
        Self {
            name: plan.name().map(ToString::to_string),
            inputs: values(plan.inputs()),
            outputs: values(plan.outputs()),
            values: index(plan.values().map_or(0, |values| values.len())).into(),
            instructions,
            delegates: index(plan.delegates().map_or(0, |delegates| delegates.len())).into(),
            arenas: plan.non_const_buffer_sizes().into_iter().flatten().skip(1).collect(),
        }
    }
}

impl Value {
    fn of(plan: ExecutionPlan<'_>, index: i32) -> Self {
        let nth = usize::try_from(index).ok();
        let value = plan.values().zip(nth).and_then(|(values, nth)| values.get(nth)?.val());
        let plain = |text: &str| Self {
            of: value.and_then(KernelTypes::name),
            dtype: None,
            sizes: None,
            dynamism: None,
            text: text.to_string(),
        };
        match value {
            Some(KernelTypes::Tensor(tensor)) => Self::tensor(tensor),
            Some(KernelTypes::Int(_)) => plain("int"),
            Some(KernelTypes::Double(_)) => plain("float"),
            Some(KernelTypes::Bool(_)) => plain("bool"),
            Some(KernelTypes::String(_)) => plain("str"),
            Some(KernelTypes::Null(_)) => plain("None"),
            Some(other) => plain(other.name().unwrap_or("an unknown value")),
            None => plain("?"),
        }
    }

    fn tensor(tensor: Tensor<'_>) -> Self {
        // As many as a shape can have, and one more, which tells that there are too many.
        let sizes: Vec<_> = tensor.sizes().into_iter().flatten().take(17).collect();
        let dtype = tensor.scalar_type();
        let dynamism = tensor.shape_dynamism();
        let mut text = text::shape(dtype, sizes.iter().copied());
        match dynamism {
            TensorShapeDynamism::STATIC => {}
            TensorShapeDynamism::DYNAMIC_BOUND => text.insert_str(0, "≤ "),
            _ => text.push_str(" unbound"),
        }
        Self {
            of: Some("Tensor"),
            dtype: Some(dtype.to_string()),
            sizes: Some(sizes),
            dynamism: Some(dynamism.to_string()),
            text,
        }
    }
}

impl FlatTensor {
    fn of(ptd: &Ptd<'_>) -> Self {
        let (mut tensors, mut blobs) = (0u64, 0u64);
        let mut dtypes: BTreeMap<i8, (u64, u64)> = BTreeMap::new();
        let mut largest: Vec<(u64, usize)> = Vec::new();
        for (nth, entry) in ptd.entries().enumerate() {
            let bytes = length(&entry.range().unwrap_or_default());
            match entry.layout() {
                Some(layout) => {
                    tensors = tensors.saturating_add(1);
                    let (count, sum) = dtypes.entry(layout.scalar_type.0).or_default();
                    (*count, *sum) = (count.saturating_add(1), sum.saturating_add(bytes));
                }
                None => blobs = blobs.saturating_add(1),
            }
            let at = largest.partition_point(|&(other, _)| other >= bytes);
            if at < MOST_LARGE {
                largest.insert(at, (bytes, nth));
                largest.truncate(MOST_LARGE);
            }
        }
        let mut by_dtype: Vec<_> = dtypes
            .into_iter()
            .map(|(code, (tensors, bytes))| Dtype {
                dtype: ScalarType(code).to_string(),
                tensors,
                bytes,
            })
            .collect();
        by_dtype.sort_by(|a, b| b.bytes.cmp(&a.bytes));
        let mut rows: Vec<(usize, Large)> = Vec::new();
        for (nth, entry) in ptd.entries().enumerate() {
            let Some(rank) = largest.iter().position(|&(_, of)| of == nth) else { continue };
            let text = entry.layout().map_or("blob".to_string(), |layout| {
                text::shape(layout.scalar_type, layout.sizes.into_iter().flatten())
            });
            let bytes = length(&entry.range().unwrap_or_default());
            rows.push((rank, Large { key: entry.key().map(ToString::to_string), bytes, text }));
        }
        rows.sort_by_key(|(rank, _)| *rank);
        Self {
            generation: match ptd.generation() {
                pte::ptd::Generation::Zero => 0,
                pte::ptd::Generation::One => 1,
                pte::ptd::Generation::Two => 2,
                _ => 3,
            },
            tensors,
            blobs,
            segments: ptd.segment_count().into(),
            dtypes: by_dtype,
            largest: rows.into_iter().map(|(_, row)| row).collect(),
        }
    }
}

/// Entries shown of a `.ptd`.
const MOST_LARGE: usize = 10;

fn length(range: &core::ops::Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

/// A count of the FlatBuffers part, whose size keeps it within 32 bits.
fn index(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
