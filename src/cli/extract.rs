//! `pte extract`: writes parts of a file to other files.

use core::ops::Range;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use pte::File;
use pte::ForeignFormat;
use pte::element::npy;
use pte::flat::bytes::len_of;
use pte::payload::{ConstantPlace, Payload, PayloadContents, Section, TablesPlace};
use pte::quoted::Untrusted;
use pte::schema::scalar::ScalarType;
use pte::tensors::{ConstantRow, TensorPlace, TensorRow};
use serde::Serialize;

use super::Common;
use super::input::{Input, Readable};
use super::other::{AnyInput, OtherInput};
use super::output::{Content, Output, json_bytes};
use super::problem::{Problem, Status, note};
use super::temporary::Temporary;
use super::text::{count as counted, name_of, wide};

/// Extract a segment, a tensor, a blob, or a delegate's payload or a part of it
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte extract model.pte --delegate forward:0 -o payload.bin
  pte extract model.pte --tensor forward:3 --as npy -o bias.npy
  pte extract weights.ptd --key linear.weight | sha256sum
  pte extract model.pte --tensor forward:0/2 --as npy -o weight.npy    a constant in a payload
  pte extract payload.bin --program -o graph.bin       the FlatBuffer of a payload
  pte extract payload.bin --tensor 2 --as npy -o weight.npy
  pte extract model.pte --tensor forward:0/2.scales --as npy -o scales.npy
  pte extract model.bpte --bundled -o model.pte        the program in a bundle
  pte extract model.pte --all parts          everything, with an index

Exit status: 0 written, 1 not in the file or the file is broken, 2 usage, 3 not readable or writable")]
pub(super) struct Extract {
    /// A .pte or .ptd file, a .bpte, a payload, an ETDump or an ETRecord, or - for standard input.
    file: PathBuf,
    #[command(flatten)]
    what: Choice,
    /// The format of a tensor.
    #[arg(long = "as", value_name = "FORMAT", default_value = "raw")]
    form: Form,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Choice {
    /// A segment, by its number; of a payload or an ETRecord, a section.
    #[arg(long, value_name = "N")]
    segment: Option<u32>,
    /// A named tensor or blob; a file in an ETRecord.
    #[arg(long, value_name = "NAME")]
    key: Option<String>,
    /// The data of a tensor, by its name or as METHOD:INDEX; of a constant in a payload as
    /// METHOD:N/VALUE, or as VALUE if the payload is the file; of its scales with `.scales` behind it.
    #[arg(long, value_name = "NAME")]
    tensor: Option<String>,
    /// The payload of a delegate, as METHOD:N.
    #[arg(long, value_name = "METHOD:N")]
    delegate: Option<String>,
    /// The FlatBuffer in the payload of a delegate, as METHOD:N.
    #[arg(long, value_name = "METHOD:N")]
    graph: Option<String>,
    /// The FlatBuffer of the file.
    #[arg(long)]
    program: bool,
    /// The program in a .bpte.
    #[arg(long)]
    bundled: bool,
    /// All of them, into a new folder. Of a payload, an ETDump or an ETRecord: the tables, constants and
    /// sections.
    #[arg(long, value_name = "FOLDER")]
    all: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// The bytes as they are in the file.
    Raw,
    /// NumPy's file format, in C order.
    Npy,
}

/// An entry of the index that `--all` writes.
#[derive(Serialize)]
struct IndexEntry<'p> {
    file: String,
    what: &'p str,
    key: Option<&'p str>,
    offset: u64,
    bytes: u64,
}

impl Extract {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let mut input = match AnyInput::open(&self.file, &common.limits())? {
            AnyInput::Model(input, _) => *input,
            AnyInput::Other(other) => return self.other(&other, common),
        };
        input.progress = !common.quiet;
        let file = input.opened.file();
        let limits = common.limits();
        let payloads = match (&self.what.tensor, &self.what.all) {
            (None, None) => Vec::new(),
            _ => input.payloads(&limits)?,
        };
        if let Some(folder) = &self.what.all {
            self.is_raw(common)?;
            return all(&input, &file, &payloads, folder);
        }
        let found = self.find(&input, &file, &payloads)?;
        self.write(&input, found, common)
    }

    /// Writes a part of a file.
    fn write(
        &self,
        input: &dyn Readable,
        found: Extracted,
        common: &Common,
    ) -> Result<Status, Problem> {
        let inputs = core::slice::from_ref(&self.file);
        let open = || Output::beside(common.output.as_deref(), Content::Bytes, inputs);
        match self.form {
            Form::Raw => open()?.finish_with(|out| input.copy(found.range, out))?,
            Form::Npy => {
                let (head, bytes) = array(input, found, common)?;
                open()?.finish_with(|out| out.bytes(&head).and_then(|()| out.bytes(&bytes)))?;
            }
        }
        Ok(Status::Good)
    }

    /// Extracts a part of a standalone payload or profile.
    fn other(&self, other: &OtherInput, common: &Common) -> Result<Status, Problem> {
        let (what, file) = (&self.what, &other.file);
        if let Some(folder) = &what.all {
            self.is_raw(common)?;
            return all_of_other(other, folder);
        }
        let found = if what.program {
            let range = Some(file.region_range()).filter(|range| !range.is_empty());
            let absent = || other.absent("this payload has no tables that are known".into());
            Extracted { range: range.ok_or_else(absent)?, array: None }
        } else if let Some(name) = &what.tensor {
            let rows = || file.contents().into_iter().flat_map(ConstantRow::of_payload);
            let found = value(name).and_then(|(id, of_scales)| {
                let mut rows = rows().filter(|row| row.constant.value == id);
                rows.find_map(|row| Extracted::of_constant(&row, of_scales))
            });
            found.ok_or_else(|| {
                let name = Untrusted::from(name.as_str());
                let with_data = rows().filter(|row| row.range().is_some());
                let ids: Vec<_> =
                    with_data.take(MOST_IDS).map(|row| row.constant.value.to_string()).collect();
                let ids = match ids.as_slice() {
                    [] => "none has; constants in named data are in the program".into(),
                    ids if ids.len() < MOST_IDS => ids.join(", "),
                    ids => format!("{}, …; `pte tensors` lists them", ids.join(", ")),
                };
                other.absent(format!(
                    "no value {name:?} of the graph has data in this file (values that have: {ids})"
                ))
            })?
        } else if let Some(nth) = what.segment {
            let section = usize::try_from(nth).ok().and_then(|nth| file.sections().get(nth));
            let section = section.ok_or_else(|| {
                let count = counted(wide(file.sections().len()), "section");
                other.absent(format!("section {nth} is out of range: the file has {count}"))
            })?;
            Extracted { range: section.range.clone(), array: None }
        } else if let Some(name) = &what.key {
            let is_it = |of: &&Section| of.file.as_ref().is_some_and(|file| file == name);
            let section = file.sections().iter().find(is_it).ok_or_else(|| {
                other.absent(format!("no section is a file {:?}", Untrusted::from(name.as_str())))
            })?;
            Extracted { range: section.range.clone(), array: None }
        } else {
            return Err(other.absent(
                "of a payload, a profile or an ETRecord, --program is the FlatBuffer, --tensor ID a constant, \
                 --segment N a section, --key NAME the section with this file name, and --all FOLDER all of these"
                    .into(),
            ));
        };
        self.write(other, found, common)
    }

    /// Finds the requested part.
    fn find(
        &self,
        input: &Input,
        file: &File<'_>,
        payloads: &[PayloadContents],
    ) -> Result<Extracted, Problem> {
        let what = &self.what;
        let range = if let Some(index) = what.segment {
            let count = file.segment_count();
            let absent = |_| {
                input.absent(format!(
                    "segment {index} is out of range: the file has {}",
                    counted(count.into(), "segment")
                ))
            };
            file.segment_range(index).map_err(absent)?
        } else if let Some(key) = what.key.as_deref().map(Untrusted::from) {
            let named = |row: &TensorRow<'_>| matches!(row.place, TensorPlace::Named(_));
            let rows = TensorRow::all(file).filter(named).filter(|row| row.key == Some(key));
            return first(rows, || input.absent(format!("no named data has the key {key:?}")));
        } else if what.bundled {
            if input.bundle.is_none() {
                return Err(input.absent("this is not a bundled program".into()));
            }
            0..file.file_len()
        } else if let Some(name) = &what.tensor {
            return tensor(input, file, payloads, name.as_str().into());
        } else if let Some(name) = &what.delegate {
            delegate(input, file, name.as_str().into())?.range()
        } else if let Some(name) = &what.graph {
            graph(input, &delegate(input, file, name.as_str().into())?, name.as_str().into())?
        } else {
            file.region_range()
        };
        Ok(Extracted { range, array: None })
    }

    /// Refuses arguments that cannot be combined with `--all`.
    fn is_raw(&self, common: &Common) -> Result<(), Problem> {
        if common.output.is_some() {
            return Err(Problem::Usage("--all and -o cannot be combined".into()));
        }
        if self.form != Form::Raw {
            return Err(Problem::Usage(
                "--all writes raw bytes: it cannot be combined with --as npy".into(),
            ));
        }
        Ok(())
    }
}

/// Writes all parts of a program or of named data.
fn all(
    input: &Input,
    file: &File<'_>,
    payloads: &[PayloadContents],
    folder: &Path,
) -> Result<Status, Problem> {
    let mut parts = Parts::new(input, folder)?;
    parts.add("program", None, file.region_range())?;
    if let File::Pte(pte) = file {
        for plan in pte.program().execution_plan().into_iter().flatten() {
            let method = plan.name().unwrap_or_default();
            for (nth, delegate) in plan.delegates().into_iter().flatten().enumerate() {
                input.name_again(Some(method))?;
                let range = pte.delegate_range(delegate).ok().flatten().unwrap_or_default();
                parts.add(&format!("delegate {method}:{nth}"), delegate.id(), range)?;
            }
        }
    }
    for row in ConstantRow::all(file, payloads) {
        input.name_again(row.method.map(Untrusted::raw))?;
        let method = row.method.unwrap_or_default().raw();
        parts.add_constant(&format!("{method}:{}/{}", row.delegate, row.constant.value), &row)?;
    }
    for row in TensorRow::all(file) {
        let Some(range) = row.range() else { continue };
        let what = match row.place {
            TensorPlace::Value { method, index } => {
                input.name_again(method.map(Untrusted::raw))?;
                format!("tensor {}:{index}", method.unwrap_or_default().raw())
            }
            TensorPlace::Named(nth) => format!("named {nth}"),
        };
        parts.add(&what, row.key.map(Untrusted::raw), range)?;
    }
    for index in 0..file.segment_count() {
        let range = file.segment_range(index).map_err(|error| input.refused(error))?;
        parts.add(&format!("segment {index}"), None, range)?;
    }
    parts.finish()?;
    Ok(Status::Good)
}

/// Writes all parts of a standalone payload, package, profile or ETRecord.
fn all_of_other(other: &OtherInput, folder: &Path) -> Result<Status, Problem> {
    let file = &other.file;
    let mut parts = Parts::new(other, folder)?;
    let tables = file.region_range();
    if !tables.is_empty() {
        parts.add("tables", None, tables)?;
    }
    for row in file.contents().into_iter().flat_map(ConstantRow::of_payload) {
        parts.add_constant(&row.constant.value.to_string(), &row)?;
    }
    for (nth, section) in file.sections().iter().enumerate() {
        let name = section.file.as_deref().or(section.key.as_deref()).unwrap_or(section.name);
        other.name_again(Some(name))?;
        parts.add(&format!("section {nth}"), Some(name), section.range.clone())?;
    }
    parts.finish()?;
    Ok(Status::Good)
}

/// A part of the file that was found.
struct Extracted {
    range: Range<u64>,
    /// The dtype and shape, if the part is a tensor.
    array: Option<Array>,
}

/// The dtype and shape of a tensor.
struct Array {
    /// The dtype, or the name of a datatype that has no dtype.
    dtype: Result<ScalarType, &'static str>,
    /// The sizes; `None` if one is negative.
    sizes: Option<Vec<u64>>,
    /// The dim order; `None` for C order.
    order: Option<Vec<u8>>,
}

impl Extracted {
    fn tensor(range: Range<u64>, row: &TensorRow<'_>) -> Self {
        let array = row.layout.map(|layout| Array {
            dtype: Ok(layout.scalar_type),
            sizes: layout
                .sizes
                .into_iter()
                .flatten()
                .map(|size| u64::try_from(size).ok())
                .collect(),
            order: Some(layout.dim_order.into_iter().flatten().collect()),
        });
        Self { range, array }
    }

    /// Returns a constant of a payload, or its scales; `None` if the bytes are not in the file.
    fn of_constant(row: &ConstantRow<'_>, of_scales: bool) -> Option<Self> {
        if !of_scales {
            return Some(Self::constant(row.range()?, row));
        }
        let (range, dtype) = (row.scales()?.range()?, row.scale_dtype()?);
        let bytes = len_of(&range);
        let count = bytes.checked_div(dtype.element_size()?)?;
        let sizes = Some(Vec::from([count]));
        Some(Self { range, array: Some(Array { dtype: Ok(dtype), sizes, order: None }) })
    }

    fn constant(range: Range<u64>, row: &ConstantRow<'_>) -> Self {
        let datatype = row.constant.datatype.name().unwrap_or("an unknown datatype");
        let sizes = row.constant.dims.iter().map(|&size| u64::from(size)).collect();
        let dtype = row.dtype().ok_or(datatype);
        Self { range, array: Some(Array { dtype, sizes: Some(sizes), order: None }) }
    }
}

/// Returns the first of the tensors `rows` that has bytes in the file. Runtimes use it too.
fn first<'a>(
    mut rows: impl Iterator<Item = TensorRow<'a>>,
    absent: impl FnOnce() -> Problem,
) -> Result<Extracted, Problem> {
    match rows.find_map(|row| Some((row.range()?, row))) {
        Some((range, row)) => Ok(Extracted::tensor(range, &row)),
        None => Err(absent()),
    }
}

fn tensor(
    input: &Input,
    file: &File<'_>,
    payloads: &[PayloadContents],
    name: Untrusted<'_>,
) -> Result<Extracted, Problem> {
    let shaped = || TensorRow::all(file).filter(|row| row.layout.is_some());
    let place = place(name.raw());
    let rows = shaped().filter(|row| row.key == Some(name));
    let by_place = shaped().filter(|row| match row.place {
        TensorPlace::Value { method, index } => {
            method.map(Untrusted::raw).zip(Some(index)) == place
        }
        TensorPlace::Named(_) => false,
    });
    let absent = || {
        input.absent(format!("no tensor {name:?} has data in this file; `pte tensors` lists them"))
    };
    first(rows.chain(by_place), absent).or_else(|problem| {
        let constant = constant(file, payloads, name.raw());
        constant.ok_or(problem)
    })
}

/// Parses VALUE or VALUE.scales. Returns the id of the value, and whether its scales are meant.
fn value(name: &str) -> Option<(u32, bool)> {
    let (id, of_scales) = match name.strip_suffix(".scales") {
        Some(id) => (id, true),
        None => (name, false),
    };
    Some((id.parse().ok()?, of_scales))
}

/// Returns a constant of a payload, named as METHOD:N/VALUE, or its scales as METHOD:N/VALUE.scales.
fn constant(file: &File<'_>, payloads: &[PayloadContents], name: &str) -> Option<Extracted> {
    let (delegate, value) = name.rsplit_once('/')?;
    let ((method, delegate), (id, of_scales)) = (place(delegate)?, self::value(value)?);
    let is_it = |row: &ConstantRow<'_>| {
        row.method.unwrap_or_default().raw() == method
            && (row.delegate, row.constant.value) == (delegate, id)
    };
    let mut rows = ConstantRow::all(file, payloads).into_iter().filter(is_it);
    rows.find_map(|row| Extracted::of_constant(&row, of_scales))
}

/// Returns the range of the FlatBuffer in a payload.
fn graph(input: &Input, payload: &Payload<'_>, name: Untrusted<'_>) -> Result<Range<u64>, Problem> {
    let Range { start, end } = payload.range();
    let head = input.read(start..end.min(start.saturating_add(ForeignFormat::HEAD)))?;
    let place = payload.backend();
    let place = place.and_then(|backend| TablesPlace::of_payload(backend, &head, payload.len()));
    match place {
        Some(Ok(TablesPlace { range, .. })) => {
            let within = |at: u64| start.saturating_add(at).min(end);
            Ok(within(range.start)..within(range.end))
        }
        Some(Err(why)) => Err(input.absent(format!("the payload of {name:?} is broken: {why}"))),
        None => Err(input.absent(format!("the payload of {name:?} has no tables that are known"))),
    }
}

fn delegate<'a>(
    input: &Input,
    file: &File<'a>,
    name: Untrusted<'_>,
) -> Result<Payload<'a>, Problem> {
    let usage = || {
        Problem::Usage(
            format!("invalid delegate {name:?}: expected METHOD:N, such as forward:0").into(),
        )
    };
    let (method, nth) = place(name.raw()).ok_or_else(usage)?;
    let absent = || input.absent(format!("the file has no delegate {name:?}"));
    let File::Pte(pte) = file else { return Err(absent()) };
    let plans = pte.program().execution_plan().into_iter().flatten();
    let delegate = plans
        .filter(|plan| plan.name() == Some(method))
        .find_map(|plan| plan.delegates()?.get(usize::try_from(nth).ok()?))
        .ok_or_else(absent)?;
    let payload = pte.payload(delegate).map_err(|error| input.refused(error))?;
    payload.ok_or_else(|| input.absent(format!("delegate {name:?} has no payload")))
}

/// Parses `METHOD:N`. The name of the method may itself contain colons.
fn place(name: &str) -> Option<(&str, u32)> {
    let (method, nth) = name.rsplit_once(':')?;
    Some((method, nth.parse().ok()?))
}

/// Returns the header of a tensor's `.npy` file, and its bytes in C order.
fn array(
    input: &dyn Readable,
    found: Extracted,
    common: &Common,
) -> Result<(Vec<u8>, Vec<u8>), Problem> {
    let Some(Array { dtype, sizes, order }) = found.array else {
        return Err(Problem::Usage("--as npy needs a tensor with a shape".into()));
    };
    let no_dtype =
        |name: &str| input.absent(format!("NumPy has no dtype for {name}; leave --as out"));
    let dtype = dtype.map_err(no_dtype)?;
    let descr = npy::descr(dtype).or_else(|| npy::bits(dtype));
    let descr = descr.ok_or_else(|| no_dtype(&dtype.to_string()))?;
    if npy::descr(dtype).is_none() && !common.quiet {
        let name = dtype.torch_name().unwrap_or_default();
        note(&format!(
            "NumPy has no {name}: the bits are written as integers, for .view(ml_dtypes.{name})"
        ));
    }
    let inconsistent = || input.absent("the tensor's shape does not fit its bytes".into());
    let sizes = sizes.ok_or_else(inconsistent)?;
    let elements = sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(size));
    let wanted = dtype.element_size().and_then(|size| elements?.checked_mul(size));
    let wanted = wanted.ok_or_else(inconsistent)?;
    // The range may be longer than the tensor.
    let end = found.range.start.saturating_add(wanted);
    if end > found.range.end {
        return Err(inconsistent());
    }
    let bytes = input.read(found.range.start..end)?;
    let element = dtype.element_size().and_then(|size| usize::try_from(size).ok());
    let head = npy::header(descr, &sizes).ok_or_else(inconsistent)?;
    let in_order =
        |order: &[u8]| order.len() == sizes.len() && order.iter().zip(0..).all(|(&a, b)| a == b);
    let ordered = match order.filter(|order| !in_order(order)) {
        None => Some(bytes),
        Some(order) => element.and_then(|size| npy::to_logical_order(&bytes, size, &sizes, &order)),
    };
    Ok((head, ordered.ok_or_else(inconsistent)?))
}

/// The files that `--all` writes. Their folder gets its name when it is complete.
struct Parts<'i> {
    input: &'i dyn Readable,
    folder: &'i Path,
    /// The folder, or the one that it is a link to.
    target: PathBuf,
    temporary: Temporary,
    index: io::BufWriter<fs::File>,
    count: usize,
    /// The name of the written file with the bytes of each range. A range that several parts share
    /// is written once.
    written: BTreeMap<(u64, u64), String>,
}

impl<'i> Parts<'i> {
    fn new(input: &'i dyn Readable, folder: &'i Path) -> Result<Self, Problem> {
        let problem = |error| Problem::io(name_of(folder), error);
        if folder.is_symlink() && !folder.exists() {
            let error = "the target of this link does not exist";
            return Err(problem(io::Error::new(io::ErrorKind::NotFound, error)));
        }
        if folder.exists() && fs::read_dir(folder).map_err(problem)?.next().is_some() {
            let error = io::Error::new(io::ErrorKind::AlreadyExists, "the folder is not empty");
            return Err(problem(error));
        }
        let target = match folder.is_symlink() {
            true => folder.canonicalize().map_err(problem)?,
            false => folder.to_owned(),
        };
        let beside = target.parent().filter(|parent| !parent.as_os_str().is_empty());
        let beside = beside.unwrap_or(Path::new("."));
        let temporary = Temporary::folder(beside).map_err(problem)?;
        let index = fs::File::create_new(temporary.path().join("index.json")).map_err(problem)?;
        let mut index = io::BufWriter::new(index);
        index.write_all(b"{\"schema\": \"pte.extract/1\", \"parts\": [").map_err(problem)?;
        let written = BTreeMap::new();
        Ok(Self { input, folder, target, temporary, index, count: 0, written })
    }

    fn add(&mut self, what: &str, key: Option<&str>, range: Range<u64>) -> Result<(), Problem> {
        let problem = |error| Problem::io(name_of(self.folder), error);
        let file = match self.written.get(&(range.start, range.end)) {
            Some(file) => file.clone(),
            None => {
                let file = format!("{:04}-{}.bin", self.count, file_name(what, key));
                let out = fs::File::create_new(self.temporary.path().join(&file));
                let mut out = io::BufWriter::new(out.map_err(problem)?);
                let mut write = |chunk: &[u8]| out.write_all(chunk).map_err(problem);
                self.input.try_chunks(range.clone(), &mut write)?;
                out.flush().map_err(problem)?;
                self.written.insert((range.start, range.end), file.clone());
                file
            }
        };
        let part = IndexEntry { file, what, key, offset: range.start, bytes: len_of(&range) };
        let between = if self.count > 0 { ",\n  " } else { "\n  " };
        self.count = self.count.saturating_add(1);
        let line = json_bytes(&part).map_err(problem)?;
        self.index.write_all(between.as_bytes()).map_err(problem)?;
        self.index.write_all(&line).map_err(problem)
    }

    /// Writes a constant of a payload and its scales, as far as the file has them.
    fn add_constant(&mut self, id: &str, row: &ConstantRow<'_>) -> Result<(), Problem> {
        let scales = row.scales().and_then(ConstantPlace::range);
        let all = [("constant", "", row.range()), ("scales", ".scales", scales)];
        for (what, end, range) in all {
            if let Some(range) = range {
                self.add(&format!("{what} {id}{end}"), None, range)?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(), Problem> {
        let problem = |error| Problem::io(name_of(self.folder), error);
        self.index.write_all(b"\n]}\n").and_then(|()| self.index.flush()).map_err(problem)?;
        // An existing folder may be replaced only if it is empty.
        if self.target.exists() {
            fs::remove_dir(&self.target).map_err(problem)?;
        }
        #[cfg(unix)]
        {
            // A temporary folder is private, but the result is as open as any new folder.
            let usual = self.temporary.path().join("usual");
            let made = fs::create_dir(&usual).and_then(|()| fs::metadata(&usual));
            fs::remove_dir(&usual).map_err(problem)?;
            let permissions = made.map_err(problem)?.permissions();
            fs::set_permissions(self.temporary.path(), permissions).map_err(problem)?;
        }
        self.temporary.rename(&self.target).map_err(problem)
    }
}

/// The maximum number of ids that a message lists.
const MOST_IDS: usize = 12;

/// Returns a file name of letters, digits and hyphens, without separators and device names of any
/// system.
fn file_name(what: &str, key: Option<&str>) -> String {
    let name = what.chars().chain(" ".chars()).chain(key.unwrap_or_default().chars());
    let name = name.take(64).map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    name.collect::<String>().trim_end_matches('-').into()
}
