//! `pte tensors`: every tensor and named blob of a file.

use core::fmt::{self, Write};
use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Args;
use pte::element::{Element, Stats, Tally};
use pte::payload::graph::Detail;
use pte::payload::{ConstantPlace, PayloadContents};
use pte::quoted::{Untrusted, hex};
use pte::schema::scalar::ScalarType;
use pte::tensors::{
    self, ConstantRow, DocumentRow, KeyRequest, QuantizationRecord, TensorDocumentWriter,
    TensorPlace, TensorRow, TensorStorage, datatype_name,
};
use pte::{File, ForeignFormat};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::format::Format;
use super::input::{Bytes, Input, Readable, Streams};
use super::other::{AnyInput, OtherInput};
use super::output::Output;
use super::problem::{BOLD, DIM, ERROR, NAME, Problem, Status, note};
use super::text::name_of;
use super::{Common, input, json, refusal, text};

/// List every tensor and named blob
///
/// Lists the tensors of a program by method and value, then its named data, then the constants in its payloads
/// (docs/limits.md says of which backends) by method, delegate and value, then the named data that other payloads
/// request; or the entries of a .ptd; or the constants of a payload that is a file. Named data that a payload uses is
/// listed twice, but with --largest once.
/// `bytes` is the size in the file, or the size of the shape for data elsewhere.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte tensors weights.ptd
  pte tensors --largest 10 model.pte       the 10 largest
  pte tensors --hash --json model.pte | jq -r '.tensors[] | select(.sha256) | .sha256'
  pte tensors --key 57335f33 model.pte     who uses this blob
  pte tensors --unquantized model.pte      the layers that are not quantized
  pte tensors --stats weights.ptd          min, max, mean, zeros, NaN and Inf of each

Exit status: 0 listed, 1 broken, of another kind, or nothing with the --key, 2 usage, 3 not readable")]
pub(super) struct Tensors {
    /// .pte and .ptd files, payloads whose constants are known, or - for standard input. Of several, JSON is
    /// a document for each.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Add the sha256 of the bytes.
    #[arg(long)]
    hash: bool,
    /// Add min, max, mean, and the numbers of zeros, NaNs and infinities.
    #[arg(long)]
    stats: bool,
    /// Show only the N largest by bytes, the largest first.
    #[arg(long, value_name = "N")]
    largest: Option<usize>,
    /// Show only weights that are not quantized: floating-point constants that nodes of delegates multiply
    /// by, and those of methods with two dimensions or more.
    #[arg(long)]
    unquantized: bool,
    /// Show only what has this key, or one that begins so: the data, and the delegates and tensors that use it.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Show only the tensors of this method and of its delegates.
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    #[command(flatten)]
    pub(super) format: Format,
}

/// A file whose tensors are listed.
enum Opened {
    /// A program or named data.
    Model(Box<Input>),
    /// A payload whose constants are known.
    Payload(Box<OtherInput>),
}

/// A tensor, a blob, a constant of a delegate's payload, or another payload's request for named
/// data.
enum Row<'a> {
    Tensor(TensorRow<'a>),
    Constant(ConstantRow<'a>),
    Request(&'a KeyRequest<'a>),
}

/// A row of the JSON document.
#[derive(Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    record: DocumentRow<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<Numbers>,
}

/// Statistics for the JSON document. Infinities and NaN are strings, as in `dump`.
#[derive(Clone, Serialize)]
struct Numbers {
    count: u64,
    min: Option<serde_json::Value>,
    max: Option<serde_json::Value>,
    mean: Option<serde_json::Value>,
    zeros: u64,
    nan: u64,
    inf: u64,
}

/// Values that are computed from a range of bytes. They are cached, since many tensors may share a
/// range.
#[derive(Clone)]
struct Computed {
    sha256: Option<String>,
    stats: Option<Numbers>,
}

type Cache = BTreeMap<(u64, u64, Option<i8>), Computed>;

impl Tensors {
    /// Returns whether the arguments select a row.
    fn takes(&self, row: &Row<'_>) -> bool {
        let is_of = |name: &String| row.method().is_some_and(|of| of.raw() == name);
        let begins = |key: &String| row.keys().any(|of| of.raw().starts_with(key.as_str()));
        self.method.as_ref().is_none_or(is_of)
            && self.key.as_ref().is_none_or(begins)
            && (!self.unquantized || row.is_unquantized_weight())
    }

    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        input::once(&self.files)?;
        let (path, content) = (common.output.as_deref(), self.format.content());
        let out = Output::beside(path, content, &self.files)?;
        let (mut is_found, is_json) = (false, self.format.is_json());
        let open = |path: &Path| self.open(path, common);
        let status = out.finish_with(|out| {
            refusal::show_each(&self.files, is_json, out, open, |input, out| {
                is_found |= match input {
                    Opened::Model(input) => self.list(input, out, common)?,
                    Opened::Payload(payload) => self.list_payload(payload, out)?,
                };
                Ok(())
            })
        })?;
        // As in grep, the status is 1 if nothing matches, so that a script can test for a key.
        Ok(if self.key.is_some() && !is_found { status.max(Status::BadNews) } else { status })
    }

    fn open(&self, path: &Path, common: &Common) -> Result<Opened, Problem> {
        let (name, limits) = (name_of(path), common.limits());
        let bytes = Bytes::open(path, &name, Streams::ModelsAndTables)?;
        let has_constants = |of| matches!(of, ForeignFormat::Payload(of) if of.graph_detail() >= Some(Detail::Constants));
        let mut input = match bytes.foreign_format(&name)? {
            Some(format) if has_constants(format) => match AnyInput::of(bytes, name, &limits)? {
                AnyInput::Other(other) if self.method.is_none() => {
                    return Ok(Opened::Payload(other));
                }
                AnyInput::Other(other) => return Err(Problem::no_methods(&other.name)),
                AnyInput::Model(input, _) => *input,
            },
            _ => Input::of(bytes, &name, &limits)?,
        };
        input.progress = !common.quiet;
        if let Some(method) = &self.method {
            input.has_method(method)?;
        }
        Ok(Opened::Model(Box::new(input)))
    }

    /// Lists the rows of a file, and returns whether there are any.
    fn list(&self, input: &Input, out: &mut Output, common: &Common) -> Result<bool, Problem> {
        let file = input.opened.file();
        let payloads = input.payloads(&common.limits())?;
        let constants = ConstantRow::all(&file, &payloads);
        let requests = self.requests(input, &constants, common)?;
        let constants = constants.into_iter().map(Row::Constant);
        let constants = constants.filter(|row| self.takes(row));
        let tensors = TensorRow::all(&file).map(Row::Tensor).filter(|row| self.takes(row));
        let requests = requests.iter().map(Row::Request).filter(|row| self.takes(row));
        let rows: Box<dyn Iterator<Item = Row<'_>>> = match self.largest {
            None => Box::new(tensors.chain(constants).chain(requests)),
            Some(count) => {
                let constants: Vec<_> = constants.chain(requests).collect();
                let known: BTreeSet<_> = constants.iter().filter_map(Row::start).collect();
                // Named data that a payload uses is shown once, as the constant or the request.
                let is_shown = |row: &Row<'_>| {
                    !row.is_blob() || !row.start().is_some_and(|at| known.contains(&at))
                };
                let rows = tensors.filter(is_shown).chain(constants);
                Box::new(tensors::largest(rows, Row::bytes, count).into_iter())
            }
        };
        let start = input.bundle.as_ref().map(|bundle| bundle.program.start);
        let is_found = self.write(input, (start, false), rows, out)?;
        let unknown = if self.unquantized { unknown_delegates(&file, &payloads) } else { 0 };
        if unknown > 0 && !common.quiet {
            let delegates = text::count(unknown, "delegate");
            note(&format!(
                "the weights of {delegates} are not known: their payloads do not say which constants are weights"
            ));
        }
        Ok(is_found)
    }

    /// Lists the constants of a payload that is a file, and returns whether there are any.
    fn list_payload(&self, payload: &OtherInput, out: &mut Output) -> Result<bool, Problem> {
        let contents = payload.file.contents().into_iter();
        let rows = contents.flat_map(ConstantRow::of_payload).map(Row::Constant);
        let rows = rows.filter(|row| self.takes(row));
        match self.largest {
            None => self.write(payload, (None, true), rows, out),
            Some(count) => {
                let rows = tensors::largest(rows, Row::bytes, count);
                self.write(payload, (None, true), rows.into_iter(), out)
            }
        }
    }

    /// Writes rows, and returns whether there are any. `start` is the start of a program in its bundle;
    /// `is_alone` says that the file is a payload.
    fn write<'a>(
        &self,
        input: &dyn Readable,
        (start, is_alone): (Option<u64>, bool),
        rows: impl Iterator<Item = Row<'a>>,
        out: &mut Output,
    ) -> Result<bool, Problem> {
        let (mut cache, mut first) = (Cache::new(), true);
        let mut document = None;
        if self.format.is_json() {
            let begun = TensorDocumentWriter::begin(out, input.name(), start);
            document = Some(begun.map_err(|error| out.problem(error))?);
        } else {
            if self.files.len() > 1 {
                out.bytes(format!("{BOLD}{}{BOLD:#}\n", input.name()).as_bytes())?;
            }
            if let Some(start) = start {
                let place =
                    format!("the program at {start:#x} of a bundle: offsets count from there");
                out.bytes(format!("{DIM}{place}{DIM:#}\n").as_bytes())?;
            }
            out.bytes(format!("{DIM}{}{DIM:#}\n", Columns::TITLES).as_bytes())?;
        }
        // Rows are written one at a time, since a file may have millions.
        for row in rows {
            for name in row.names() {
                input.name_again(name.map(Untrusted::raw))?;
            }
            let computed = self.compute(input, &row, &mut cache)?;
            if let Some(document) = &mut document {
                let written = document.row(out, &Listed::of(&row, &computed));
                written.map_err(|error| out.problem(error))?;
            } else {
                let written = Columns { row: &row, computed: &computed, is_alone };
                out.bytes(format!("{written}").as_bytes())?;
            }
            first = false;
        }
        if let Some(document) = document {
            document.end(out).map_err(|error| out.problem(error))?;
        } else if first {
            let none = match (self.unquantized, &self.key) {
                (true, _) => "no weights that are not quantized",
                (false, Some(_)) => "no data has this key, and nothing requests it",
                (false, None) => "no tensors or blobs",
            };
            out.bytes(format!("{DIM}{none}{DIM:#}\n").as_bytes())?;
        }
        Ok(!first)
    }

    /// Returns the delegates' requests for named data, except those that are shown as constants.
    /// With `--key`, only those for keys that begin so.
    fn requests<'i>(
        &self,
        input: &'i Input,
        constants: &[ConstantRow<'_>],
        common: &Common,
    ) -> Result<Vec<KeyRequest<'i>>, Problem> {
        let prefix = self.key.as_deref().unwrap_or_default();
        let mut requests = KeyRequest::all(&input.opened, prefix, &common.limits())
            .map_err(|error| Problem::open(&input.name, error))?;
        let shown: BTreeSet<_> = constants
            .iter()
            .flat_map(|row| row.keys().map(|key| (row.method, row.delegate, key)))
            .collect();
        requests.retain(|one| {
            let key = Untrusted::from(one.key.raw());
            !shown.contains(&(one.method, one.delegate, key))
        });
        Ok(requests)
    }

    fn compute(
        &self,
        input: &dyn Readable,
        row: &Row<'_>,
        all: &mut Cache,
    ) -> Result<Computed, Problem> {
        let nothing = Computed { sha256: None, stats: None };
        let Some(range) = row.range().filter(|_| self.hash || self.stats) else {
            return Ok(nothing);
        };
        let dtype = row.dtype().filter(|_| self.stats);
        let key = (range.start, range.end, dtype.map(|dtype| dtype.0));
        if let Some(known) = all.get(&key) {
            return Ok(known.clone());
        }
        let computed = self.read(input, range, dtype)?;
        all.insert(key, computed.clone());
        Ok(computed)
    }

    fn read(
        &self,
        input: &dyn Readable,
        range: Range<u64>,
        dtype: Option<ScalarType>,
    ) -> Result<Computed, Problem> {
        let mut hash = Sha256::new();
        let mut stats = dtype.and_then(Tally::new);
        input.try_chunks(range, &mut |chunk| {
            if self.hash {
                hash.update(chunk);
            }
            if let Some(stats) = &mut stats {
                stats.add(chunk);
            }
            Ok(())
        })?;
        Ok(Computed {
            sha256: self.hash.then(|| hex(&hash.finalize())),
            stats: stats.map(|stats| Numbers::of(&stats.finish())),
        })
    }
}

impl<'a> Row<'a> {
    fn range(&self) -> Option<Range<u64>> {
        match self {
            Self::Tensor(row) => row.range(),
            Self::Constant(row) => row.range(),
            Self::Request(row) => row.range(),
        }
    }

    /// Returns the position of the bytes in the file.
    fn start(&self) -> Option<u64> {
        self.range().map(|range| range.start)
    }

    /// Returns the key of the data, and the key of its scales.
    fn keys(&self) -> impl Iterator<Item = Untrusted<'a>> {
        let (key, scales) = match self {
            Self::Tensor(row) => (row.key, None),
            Self::Constant(row) => (row.key(), row.scale_key()),
            Self::Request(row) => (Some(row.key.as_untrusted()), None),
        };
        key.into_iter().chain(scales)
    }

    /// Returns the method that contains the tensor or the delegate.
    fn method(&self) -> Option<Untrusted<'a>> {
        match self {
            Self::Constant(row) => row.method,
            Self::Request(row) => row.method,
            Self::Tensor(TensorRow { place: TensorPlace::Value { method, .. }, .. }) => *method,
            Self::Tensor(_) => None,
        }
    }

    /// Returns whether the row is a weight of floating-point numbers.
    fn is_unquantized_weight(&self) -> bool {
        let is_float = self.dtype().is_some_and(|dtype| {
            let floats = [ScalarType::FLOAT, ScalarType::HALF, ScalarType::BFLOAT16];
            floats.contains(&dtype) || dtype == ScalarType::DOUBLE
        });
        is_float
            && match self {
                Self::Constant(row) => row.constant.reader.is_some_and(|of| of.is_weight()),
                Self::Tensor(row) => {
                    let rank =
                        row.layout.and_then(|layout| layout.sizes).map_or(0, |all| all.len());
                    matches!(row.storage_name(), "constant" | "external") && rank >= 2
                }
                Self::Request(_) => false,
            }
    }

    fn is_blob(&self) -> bool {
        matches!(self, Self::Tensor(row) if row.layout.is_none())
    }

    fn bytes(&self) -> Option<u64> {
        match self {
            Self::Tensor(row) => row.bytes(),
            Self::Constant(row) => row.bytes(),
            Self::Request(row) => row.bytes,
        }
    }

    fn dtype(&self) -> Option<ScalarType> {
        match self {
            Self::Tensor(row) => row.layout.map(|layout| layout.scalar_type),
            Self::Constant(row) => row.dtype(),
            Self::Request(_) => None,
        }
    }

    /// Returns the names in the row, which other rows may repeat.
    fn names(&self) -> [Option<Untrusted<'a>>; 3] {
        match self {
            Self::Tensor(row) => match row.place {
                TensorPlace::Value { method, .. } => [method, None, None],
                TensorPlace::Named(_) => [None, None, None],
            },
            Self::Constant(row) => [row.method, row.key(), row.scale_key()],
            Self::Request(row) => [row.method, row.backend, None],
        }
    }
}

impl<'a> Listed<'a> {
    fn of(row: &Row<'a>, computed: &'a Computed) -> Self {
        Self {
            record: match row {
                Row::Tensor(row) => DocumentRow::Tensor(row.into()),
                Row::Constant(row) => DocumentRow::Constant(row.into()),
                Row::Request(row) => DocumentRow::Request(row),
            },
            sha256: computed.sha256.as_deref(),
            stats: computed.stats.clone(),
        }
    }
}

impl Numbers {
    fn of(stats: &Stats) -> Self {
        let value = |value: Option<Element>| match value? {
            Element::Int(value) => Some(json::int(value)),
            Element::Float(value) => Some(json::float(value)),
            _ => None,
        };
        Self {
            count: stats.count,
            min: value(stats.min),
            max: value(stats.max),
            mean: stats.mean.map(json::float),
            zeros: stats.zeros,
            nan: stats.nans,
            inf: stats.infs,
        }
    }
}

/// A row of the text output.
struct Columns<'c, 'a> {
    row: &'c Row<'a>,
    computed: &'c Computed,
    /// Whether the file is a payload, whose constants have neither a method nor a delegate.
    is_alone: bool,
}

impl Columns<'_, '_> {
    const TITLES: &'static str =
        "WHAT               BYTES  SHAPE                         WHERE                   NAME";
}

impl fmt::Display for Columns<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row {
            Row::Tensor(row) => tensor(row, f)?,
            Row::Constant(row) => constant(row, self.is_alone, f)?,
            Row::Request(row) => request(row, f)?,
        }
        if let Some(sha256) = &self.computed.sha256 {
            writeln!(f, "    {DIM}sha256{DIM:#} {sha256}")?;
        }
        let Some(stats) = &self.computed.stats else { return Ok(()) };
        f.write_str("   ")?;
        let value = |value: &Option<serde_json::Value>| match value {
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => "–".into(),
        };
        let shown = [("min", &stats.min), ("max", &stats.max), ("mean", &stats.mean)];
        for (name, number) in shown {
            write!(f, " {DIM}{name}{DIM:#} {}", value(number))?;
        }
        for (name, number) in [("zeros", stats.zeros), ("NaN", stats.nan), ("Inf", stats.inf)] {
            write!(f, " {DIM}{name}{DIM:#} {}", text::grouped(number))?;
        }
        f.write_char('\n')
    }
}

fn tensor(row: &TensorRow<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let what = match row.place {
        TensorPlace::Value { method, index } => {
            format!("{}:{index}", text::name(method.unwrap_or_default()))
        }
        TensorPlace::Named(nth) => format!("#{nth}"),
    };
    let bytes = row.bytes().map_or("?".into(), text::grouped);
    let shape = row.layout.map_or("–".into(), |layout| {
        text::shape(layout.scalar_type, layout.sizes.into_iter().flatten())
    });
    let location = match &row.storage {
        TensorStorage::Constant(range) => located(row.storage_name(), Some(range.start)),
        TensorStorage::Mutable(range, arena) => {
            format!("arena {} from {:#x}", arena.memory_id, range.start)
        }
        TensorStorage::Planned(arena) => {
            format!("arena {} + {}", arena.memory_id, arena.offset)
        }
        _ => row.storage_name().into(),
    };
    write!(f, "{what:<14} {bytes:>9}  {shape:<28}  ")?;
    match row.key {
        None => f.write_str(&location)?,
        Some(key) if key.raw().is_empty() => write!(f, "{location:<22}  {NAME}\"\"{NAME:#}")?,
        Some(key) => write!(f, "{location:<22}  {NAME}{}{NAME:#}", text::name(key))?,
    }
    f.write_char('\n')?;
    if let TensorStorage::Broken(error) = &row.storage {
        writeln!(f, "    {ERROR}{}{ERROR:#}: {error}", error.code())?;
    }
    Ok(())
}

fn constant(row: &ConstantRow<'_>, is_alone: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let constant = row.constant;
    let value = constant.value;
    let what = match is_alone {
        true => value.to_string(),
        false => {
            format!("{}:{}/{value}", text::name(row.method.unwrap_or_default()), row.delegate)
        }
    };
    let bytes = row.bytes().map_or("?".into(), text::grouped);
    let datatype = constant.datatype.name().unwrap_or("unknown");
    let shape = format!("{}{:?}", datatype_name(datatype), constant.dims);
    let location = located(row.storage_name(), row.range().map(|range| range.start));
    write!(f, "{what:<14} {bytes:>9}  {shape:<28}  {location:<22}")?;
    if let Some(reader) = constant.reader {
        let (operator, input) = (reader.operator(), reader.input());
        write!(f, "  {NAME}node {}", reader.node)?;
        for part in [operator, input].into_iter().filter(|part| !part.is_empty()) {
            write!(f, " {part}")?;
        }
        if let Some(name) = &constant.name {
            write!(f, " {}", text::name(name.as_untrusted()))?;
        }
        write!(f, "{NAME:#}")?;
    }
    if let Some(quantization) = &constant.quantization {
        write!(f, "  {}", quantized(&quantization.into()))?;
    }
    f.write_char('\n')?;
    for (title, key) in [("key", row.key()), ("key of scales", row.scale_key())] {
        if let Some(key) = key {
            writeln!(f, "    {DIM}{title}{DIM:#} {}", text::name(key))?;
        }
    }
    if let Some(ConstantPlace::Payload(range)) = row.scales() {
        writeln!(f, "    {DIM}scales{DIM:#} {what}.scales at {:#x}", range.start)?;
    }
    Ok(())
}

fn request(row: &KeyRequest<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let what = format!("{}:{}", text::name(row.method.unwrap_or_default()), row.delegate);
    let bytes = row.bytes.map_or("?".into(), text::grouped);
    let location = located(row.storage, row.offset);
    let backend = text::name(row.backend.unwrap_or_default());
    writeln!(f, "{what:<14} {bytes:>9}  {:<28}  {location:<22}  {NAME}{backend}{NAME:#}", "–")?;
    writeln!(f, "    {DIM}key{DIM:#} {}", text::name(row.key.as_untrusted()))
}

/// Describes the place of data.
fn located(storage: &str, offset: Option<u64>) -> String {
    offset.map_or_else(|| storage.into(), |offset| format!("{storage} at {offset:#x}"))
}

/// Describes a quantization in a few words.
fn quantized(record: &QuantizationRecord) -> String {
    let mut text = format!("per {}", record.kind);
    for (name, value) in [
        ("axis", record.axis.map(|value| value.to_string())),
        ("group of", record.group_size.map(|value| value.to_string())),
        ("scale", record.scale.map(|value| value.to_string())),
        ("zero point", record.zero_point.map(|value| value.to_string())),
        ("scales:", record.scales.map(text::grouped)),
        ("bytes of scales:", record.scale_bytes.map(text::grouped)),
    ] {
        if let Some(value) = value {
            // Writing to a string cannot fail.
            let _ = write!(text, ", {name} {value}");
        }
    }
    text
}

/// Returns the number of delegates whose weights are not known.
fn unknown_delegates(file: &File<'_>, payloads: &[PayloadContents]) -> u64 {
    let File::Pte(pte) = file else { return 0 };
    let known = payloads.iter().filter(|one| one.backend.graph_detail() >= Some(Detail::Weights));
    let known: BTreeSet<_> = known.map(|one| (one.range.start, one.range.end)).collect();
    let all = pte.payloads().filter_map(Result::ok).map(|payload| payload.range());
    text::wide(all.filter(|range| !known.contains(&(range.start, range.end))).count())
}
