//! Opened files, and the documents of one file as JSON text.

use core::ops::Range;
use std::path::PathBuf;
use std::sync::OnceLock;

use pte::flat::json;
use pte::graph::GraphDocument;
use pte::map::{Duplicates, Map, SizeDocument, SizeTree, StoredFile};
use pte::payload::{Bundle, PayloadContents, Unreadable};
use pte::ptd::{self, KeyOrder, Ptd};
use pte::quoted::UntrustedString;
use pte::schema::scalar::ScalarType;
use pte::summary::{Summary, SummaryDocument};
use pte::tensors::{ConstantRow, DocumentRow, TensorDocumentWriter, TensorRecord, TensorRow};
use pte::{File, ForeignFormat, Limits, Pte, Source as _};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::documents::{self, Names, text, utf8};
use crate::error::{Failure, Result, apart, guarded};
use crate::mapping::Mapping;
use crate::source::{Bytes, Source};

/// An opened file: its FlatBuffer is in memory and proven.
#[pyclass(frozen, module = "ptekit._ptekit")]
#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) opened: pte::Handle<Source>,
    pub(crate) name: UntrustedString,
    pub(crate) limits: Limits,
    /// The length of the bundled program that the program is in, and its start in it.
    pub(crate) bundle: Option<(u64, u64)>,
    order: OnceLock<KeyOrder>,
}

/// A named tensor or blob: the code and the name of its dtype, sizes, dim order, and the range of its bytes.
/// The first four are `None` for a blob.
type Entry = (Option<i8>, Option<&'static str>, Option<Vec<i32>>, Option<Vec<u8>>, u64, u64);

impl Handle {
    pub(crate) fn open(source: Source, name: String, limits: Limits) -> Result<Self> {
        let name = UntrustedString::from(name);
        let len = source.size()?.min(ForeignFormat::HEAD);
        let mut head = vec![0; usize::try_from(len).unwrap_or_default()];
        source.read_at(0, &mut head)?;
        let is_bundled = matches!(ForeignFormat::of(&head), ForeignFormat::BundledProgram(_));
        let (source, bundle) = match is_bundled {
            true => program_of(source, &limits).map(|(source, place)| (source, Some(place)))?,
            false => (source, None),
        };
        let opened = pte::Handle::open(source, &limits)?;
        Ok(Self { opened, name, limits, bundle, order: OnceLock::new() })
    }

    /// Returns the budget for names in a document of the file.
    pub(crate) fn names(&self) -> Names {
        Names::new(&self.opened, &self.limits)
    }

    /// Returns the program.
    pub(crate) fn pte(&self) -> Result<Pte<'_>> {
        match self.opened.file() {
            File::Pte(pte) => Ok(pte),
            File::Ptd(_) => Err(Failure::Value("this is a .ptd: a program is needed".into())),
        }
    }

    /// Returns the data file.
    pub(crate) fn ptd(&self) -> Result<Ptd<'_>> {
        match self.opened.file() {
            File::Ptd(ptd) => Ok(ptd),
            File::Pte(_) => Err(Failure::Value("this is a program: a .ptd is needed".into())),
        }
    }
}

#[pymethods]
impl Handle {
    /// Opens a file on disk, or the bytes of an object.
    #[staticmethod]
    fn open_path(py: Python<'_>, path: PathBuf, name: String, trusted: bool) -> PyResult<Self> {
        apart(py, || Self::open(Source::open(&path)?, name, limits(trusted)))
    }

    /// Opens a `bytes` object, which cannot change.
    #[staticmethod]
    fn open_bytes(
        py: Python<'_>,
        bytes: PyBackedBytes,
        name: String,
        trusted: bool,
    ) -> PyResult<Self> {
        apart(py, || Self::open(Source::of(bytes), name, limits(trusted)))
    }

    /// Returns `pte` or `ptd`.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.opened.file() {
            File::Pte(_) => "pte",
            File::Ptd(_) => "ptd",
        }
    }

    /// Returns the name of the file.
    #[getter]
    fn name(&self) -> &str {
        self.name.raw()
    }

    /// Returns the length of the file in bytes.
    #[getter]
    fn file_len(&self) -> u64 {
        self.opened.file_len()
    }

    /// Returns the bytes of the FlatBuffer, which are in memory.
    #[getter]
    fn region_len(&self) -> u64 {
        self.opened.region_len()
    }

    /// Whether it is the program in a bundled program.
    #[getter]
    pub(crate) fn is_bundled(&self) -> bool {
        self.bundle.is_some()
    }

    /// Returns an object with the bytes, whose buffer is read-only, and the offset of the file in it.
    fn buffer(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, u64)> {
        let source = self.opened.source();
        let object = match source.bytes() {
            Bytes::File(file) => {
                let map = apart(py, || Ok(Mapping::new(file)?))?;
                Py::new(py, map)?.into_any()
            }
            Bytes::Object(bytes) => bytes.into_pyobject(py)?.into_any().unbind(),
        };
        Ok((object, source.start()))
    }

    /// Reads a range of the file.
    fn read<'py>(&self, py: Python<'py>, begin: u64, end: u64) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = apart(py, || Ok(self.opened.read(begin..end)?))?;
        PyBytes::new_with(py, bytes.len(), |out| {
            out.copy_from_slice(&bytes);
            Ok(())
        })
    }

    /// Returns the range of each segment; `None` where it is not in the file.
    fn segments(&self, py: Python<'_>) -> PyResult<Vec<Option<(u64, u64)>>> {
        apart(py, || {
            let file = self.opened.file();
            let ranges = (0..file.segment_count()).map(|nth| file.segment_range(nth).ok());
            Ok(ranges.map(|range| range.map(ends)).collect())
        })
    }

    /// Returns the key and the range of each named blob of a program.
    fn named_data(&self, py: Python<'_>) -> PyResult<Vec<(String, u64, u64)>> {
        apart(py, || {
            let mut names = self.names();
            let mut found = Vec::new();
            for (key, range) in self.pte()?.named_data() {
                let (key, (begin, end)) = (key.unwrap_or_default(), ends(range?));
                names.charge(key)?;
                found.push((key.to_owned(), begin, end));
            }
            Ok(found)
        })
    }

    /// Returns the backend and the range of each delegate's payload in a method.
    fn payloads(&self, py: Python<'_>, method: usize) -> PyResult<Vec<(String, u64, u64)>> {
        apart(py, || {
            let pte = self.pte()?;
            let plan = pte.program().execution_plan().and_then(|plans| plans.get(method));
            let mut names = self.names();
            let mut found = Vec::new();
            for delegate in plan.and_then(|plan| plan.delegates()).into_iter().flatten() {
                let id = delegate.id().unwrap_or_default();
                names.charge(id)?;
                let range = pte.delegate_range(delegate)?.unwrap_or_default();
                found.push((id.to_owned(), range.start, range.end));
            }
            Ok(found)
        })
    }

    /// Returns the number of entries of a data file.
    fn entry_count(&self) -> PyResult<u32> {
        guarded(|| Ok(self.ptd()?.entry_count()))
    }

    /// Returns the keys of a data file, in its order.
    fn keys(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        apart(py, || {
            let mut names = self.names();
            let ptd = self.ptd()?;
            let keys = (0..ptd.entry_count()).filter_map(|nth| ptd.key(nth));
            keys.map(|key| names.charge(key).map(|()| key.to_owned())).collect()
        })
    }

    /// Returns the index of the entry of a data file with this key.
    fn position(&self, py: Python<'_>, key: &str) -> PyResult<Option<u32>> {
        let find = || {
            let ptd = self.ptd()?;
            Ok(self.order.get_or_init(|| ptd.key_order()).position(&ptd, key))
        };
        // The first lookup sorts the keys; the others take less time than to release the interpreter.
        match self.order.get() {
            Some(_) => guarded(find),
            None => apart(py, find),
        }
    }

    /// Returns an entry of a data file.
    fn entry(&self, index: u32) -> PyResult<Entry> {
        guarded(|| {
            let entry = self.ptd()?.entry(index);
            facts(&entry.ok_or_else(|| Failure::Value(format!("there is no entry {index}")))?)
        })
    }

    /// Returns the document `pte.info`.
    fn info(&self, py: Python<'_>) -> PyResult<String> {
        apart(py, || {
            let summary = Summary::read(&self.opened, &self.limits)?;
            let summary = match self.bundle {
                Some((bytes, start)) => summary.bundled(bytes, start),
                None => summary,
            };
            text(&SummaryDocument::new([summary.named(&self.name)]))
        })
    }

    /// Returns the tables as `pte dump --compact` prints them; `inline` writes all bytes as numbers.
    fn tables(&self, py: Python<'_>, inline: bool) -> PyResult<String> {
        apart(py, || {
            let mut out = String::new();
            let blob = |bytes: &[u8]| documents::blob(bytes, inline);
            let options = json::Options { pretty: false, blob };
            let written = match self.opened.file() {
                File::Pte(pte) => json::write(pte.program(), options, &mut out),
                File::Ptd(ptd) => match ptd.root() {
                    ptd::Root::Current(root) => json::write(root, options, &mut out),
                    ptd::Root::Legacy(root) => json::write(root, options, &mut out),
                },
            };
            written.map_err(|error| Failure::absent("internal", &error))?;
            Ok(out)
        })
    }

    /// Returns the document `pte.tensors/1`.
    fn tensors(&self, py: Python<'_>) -> PyResult<String> {
        apart(py, || {
            let file = self.opened.file();
            let mut names = self.names();
            let mut out = Vec::new();
            let start = self.bundle.map(|(_, start)| start);
            let mut document = TensorDocumentWriter::begin(&mut out, &self.name, start)?;
            for row in TensorRow::all(&file) {
                let row = TensorRecord::from(&row);
                names.charge(row.method.map_or("", |name| name.raw()))?;
                names.charge(row.key.map_or("", |name| name.raw()))?;
                document.row(&mut out, &DocumentRow::Tensor(row))?;
            }
            let payloads = PayloadContents::all(&self.opened, &self.limits)?;
            for row in ConstantRow::all(&file, &payloads) {
                names.charge(row.method.map_or("", |name| name.raw()))?;
                names.charge(row.key().map_or("", |name| name.raw()))?;
                document.row(&mut out, &DocumentRow::Constant((&row).into()))?;
            }
            document.end(&mut out)?;
            utf8(out)
        })
    }

    /// Returns the document `pte.size/1`: with the growth since another file if one is given, otherwise
    /// with the data that is stored more than once.
    fn size(&self, py: Python<'_>, base: Option<Py<Self>>) -> PyResult<String> {
        apart(py, || {
            let tree = |of: &Self| {
                let payloads = PayloadContents::all_with_parts(&of.opened, &of.limits)?;
                let tree = SizeTree::of(&of.name, &of.opened.file(), &payloads, &of.limits);
                let tree = tree.map_err(|error| Failure::absent("work-limit", &error))?;
                Ok::<_, Failure>((tree, payloads))
            };
            let (own, payloads) = tree(self)?;
            let files = [own];
            let Some(base) = base else {
                let file = self.opened.file();
                let map = Map::with_payloads(&file, &payloads);
                let mut names = self.names();
                let stored = StoredFile::of(&self.name, &map, |name| names.charge(name))?;
                let found = Duplicates::of_handle(&stored, &self.opened)?;
                let document = SizeDocument::new(&files, None, None, u32::MAX);
                return text(&document.with_duplicates(Some(found)));
            };
            let (base, _) = tree(base.get())?;
            text(&SizeDocument::new(&files, None, Some(&base), u32::MAX))
        })
    }

    /// Returns the document `pte.graph/1`.
    fn graph(&self, py: Python<'_>, method: Option<String>) -> PyResult<String> {
        apart(py, || {
            let pte = self.pte()?;
            let document = GraphDocument::new(&self.name, &pte);
            text(&match method {
                Some(method) => document.with_method(method),
                None => document,
            })
        })
    }

    /// Returns the document `pte.memory/1`.
    fn memory(&self, py: Python<'_>, method: Option<String>) -> PyResult<String> {
        apart(py, || documents::memory(&self.opened, &self.name, &self.limits, method.as_deref()))
    }

    /// Returns the document `pte.map/1`.
    fn map(&self, py: Python<'_>, depth: Option<u32>) -> PyResult<String> {
        apart(py, || documents::map(&self.opened, &self.name, &self.limits, depth))
    }
}

/// A dtype: its code, the schema's name and PyTorch's name.
type Dtype = (i8, Option<&'static str>, &'static str);

/// Returns the dtypes that the runtime knows.
#[pyfunction]
pub(crate) fn dtypes() -> Vec<Dtype> {
    let all = (0..=i8::MAX).map(ScalarType);
    all.filter_map(|dtype| Some((dtype.0, dtype.name(), dtype.torch_name()?))).collect()
}

/// Returns the program in a bundled program, which has to be read whole.
fn program_of(source: Source, limits: &Limits) -> Result<(Source, (u64, u64))> {
    let bytes = source.read_whole(limits)?;
    let len = source.size()?;
    let bundle = Bundle::read(&bytes, limits).map_err(|why| match why {
        Unreadable::Graph(error) => Failure::Refused(error),
        why => Failure::absent("bundle", &why),
    })?;
    let program = bundle.program();
    let program = program.ok_or_else(|| Failure::absent("bundle", "the bundle has no program"))?;
    let start = program.start;
    Ok((source.within(program), (len, start)))
}

/// Returns the facts about an entry.
fn facts(entry: &ptd::Entry<'_>) -> Result<Entry> {
    let (begin, end) = ends(entry.range()?);
    let Some(layout) = entry.layout() else { return Ok((None, None, None, None, begin, end)) };
    let sizes = layout.sizes.map(|sizes| sizes.iter().collect());
    let order = layout.dim_order.map(|order| order.iter().collect());
    let dtype = layout.scalar_type;
    Ok((Some(dtype.0), dtype.torch_name(), sizes, order, begin, end))
}

fn ends(range: Range<u64>) -> (u64, u64) {
    (range.start, range.end)
}

/// Returns the limits for trusted or untrusted files.
pub(crate) fn limits(trusted: bool) -> Limits {
    if trusted { Limits::TRUSTED } else { Limits::UNTRUSTED }
}
