//! Payloads of Core ML: the model in the file system of the payload, its weights, and the graphs of its functions.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use serde_json::{Map, Value as Json};

use super::Unreadable;
use super::graph::{Builder, DataPlace, Datatype, Detail, Graph, NO_ID, Role};
use super::model::{Found, Model as Row};
use super::sections::{Head, Sections};
use crate::limits::Limits;
use mil::{Binding, BlobPlace, Block, Constant, Function, Model, Operation, ValueType};
use pte_flat::bytes::{array_at, index, len_of, narrow, u32_at, wide};
use pte_flat::cost;

pub mod mil;
pub(super) mod sections;
mod shapes;

pub(super) static MODEL: Row = Row { detail: Detail::Constants, graph };

/// The files of a payload that are read.
#[derive(Clone, Debug, Default)]
pub struct Package {
    /// The files, each with its path and its range in the payload.
    pub files: Vec<(String, Range<u64>)>,
}

/// The contents of `metadata.json`.
#[derive(Clone, Debug)]
pub struct Metadata(Json);

/// The names of a method's inputs and outputs, in the order of a call's arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names<'m> {
    /// The names of the inputs.
    pub inputs: Vec<&'m str>,
    /// The names of the outputs.
    pub outputs: Vec<&'m str>,
}

/// The metadata of a blob in a file of weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// The number that every metadata begins with. It is [`Blob::SENTINEL`].
    pub sentinel: u32,
    /// The number of the datatype in files of weights.
    pub datatype: u32,
    /// The range of the elements in the file.
    pub range: Range<u64>,
}

impl Package {
    /// Returns the files of a payload with these sections. A reference to named data has none.
    pub fn new(sections: Sections) -> Self {
        let files = sections.sections.into_iter().filter(|section| section.name == sections::NAME);
        let mut files: Vec<_> =
            files.filter_map(|section| Some((section.file?, section.range))).collect();
        // Of two files with one path, the first counts.
        cost::sort(files.len());
        files.sort_by(|(one, _), (other, _)| one.cmp(other));
        Self { files }
    }

    /// Returns the range of the model; `None` if the payload has none, or a compiled one.
    pub fn model(&self) -> Option<Range<u64>> {
        self.file(sections::MODEL)
    }

    /// Returns the range of the metadata, unless it is too long to be genuine.
    pub fn metadata(&self) -> Option<Range<u64>> {
        self.file("metadata.json").filter(|range| len_of(range) <= LARGEST)
    }

    /// Returns the range of the file that a model names.
    pub fn weights(&self, name: &str) -> Option<Range<u64>> {
        self.file(&format!("{DATA}{}", name.strip_prefix("@model_path/")?))
    }

    /// Returns whether the payload has a compiled model, whose contents are not known.
    pub fn is_compiled(&self) -> bool {
        self.files.iter().any(|(path, _)| path.starts_with(COMPILED))
    }

    fn file(&self, path: &str) -> Option<Range<u64>> {
        cost::look_up(path, self.files.len());
        let nth = self.files.partition_point(|(known, _)| known.as_str() < path);
        self.files.get(nth).filter(|(known, _)| known == path).map(|(_, range)| range.clone())
    }
}

impl Metadata {
    /// Reads `metadata.json`.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok().map(Self)
    }

    /// Returns the names of a method. Metadata of one method has no name of it.
    #[must_use]
    pub fn method(&self, name: &str) -> Option<Names<'_>> {
        match self.methods() {
            Some(methods) => Names::of(methods.get(name)?),
            None => Names::of(&self.0),
        }
    }

    /// Returns the names of the only method; `None` if the metadata has several.
    #[must_use]
    pub fn only(&self) -> Option<Names<'_>> {
        if self.methods().is_some() { None } else { Names::of(&self.0) }
    }

    /// Returns the number of inputs and outputs of a method.
    #[must_use]
    pub fn count(&self, method: &str) -> Option<usize> {
        let of = self.methods().map_or(Some(&self.0), |methods| methods.get(method))?;
        let len = |key| of.get(key).and_then(Json::as_array).map(Vec::len);
        Some(len("inputNames")?.saturating_add(len("outputNames")?))
    }

    fn methods(&self) -> Option<&Map<String, Json>> {
        self.0.get("methods").and_then(Json::as_object).filter(|methods| !methods.is_empty())
    }
}

impl<'m> Names<'m> {
    fn of(names: &'m Json) -> Option<Self> {
        let list = |key| {
            let texts = names.get(key)?.as_array()?.iter();
            texts.map(Json::as_str).collect::<Option<Vec<_>>>()
        };
        Some(Self { inputs: list("inputNames")?, outputs: list("outputNames")? })
    }
}

impl Blob {
    /// The number that begins the metadata of each blob.
    pub const SENTINEL: u32 = 0xdead_beef;

    /// The length of the metadata in bytes.
    pub const METADATA: u64 = 64;

    /// The version of files of weights, which is behind the number of their blobs.
    pub const VERSION: u32 = 2;

    /// Returns whether the elements are of a datatype of the specification. Bools are stored as small integers.
    #[must_use]
    pub fn is_of(&self, datatype: &str) -> bool {
        let known = self.datatype.checked_sub(1).and_then(|nth| STORED.get(index(nth)));
        datatype == "BOOL" || known.is_some_and(|known| *known == datatype)
    }

    /// Reads the metadata of a blob.
    #[must_use]
    pub fn read(metadata: &[u8]) -> Option<Self> {
        let number = |at| array_at(metadata, at).map(u64::from_le_bytes);
        let (size, start) = (number(8)?, number(16)?);
        let range = start..start.checked_add(size)?;
        Some(Self { sentinel: u32_at(metadata, 0)?, datatype: u32_at(metadata, 4)?, range })
    }
}

/// Reads the graph of a payload with a model.
fn graph(
    head: &mut Head<'_>,
    _: &Limits,
    each: &mut dyn FnMut(Graph<'_>),
) -> Result<Found, Unreadable> {
    let package = Package::new(sections::sections(head)?);
    let Some(range) = package.model() else { return Ok(Found::Nothing) };
    let start = range.start;
    let bytes = head.read_range(range)?;
    let model = Model::read(&bytes)?;
    if !model.is_program() {
        return Ok(Found::Nothing);
    }
    // Each takes more memory here than such an operation has bytes.
    if wide(operations(model)) > wide(bytes.len()) / LEAST_OPERATION {
        return Ok(Found::Nothing);
    }
    let metadata = package.metadata().and_then(|range| head.read_range(range).ok());
    let metadata = metadata.and_then(|bytes| Metadata::read(&bytes));
    let (out, immediate) = (Builder::default(), BTreeMap::new());
    let mut form = Form { out, package: &package, head, model, start, immediate };
    let (is_one, mut seen) = (model.functions().nth(1).is_none(), BTreeSet::new());
    for function in model.functions() {
        cost::look_up(function.name, seen.len());
        // Functions with one name would read the same names again.
        let names = match &metadata {
            Some(metadata) if is_one => metadata.only(),
            Some(metadata) if seen.insert(function.name) => metadata.method(function.name),
            _ => None,
        };
        form.function(function, &names.unwrap_or_default());
    }
    each(form.out.finish());
    Ok(Found::Graph)
}

/// The fewest bytes of an operation, on average, in a graph that is shown. Genuine ones have more: a type, the name and
/// the type of an output.
const LEAST_OPERATION: u64 = 16;

/// Returns the number of operations in the outermost blocks.
fn operations(model: Model<'_>) -> usize {
    let blocks = model.functions().filter_map(|function| function.block());
    blocks.map(|block| block.operations().count()).sum()
}

/// Makes the form of a graph from functions.
struct Form<'f, 'h, 'p> {
    out: Builder<'p>,
    package: &'f Package,
    head: &'f mut Head<'h>,
    model: Model<'p>,
    /// The start of the model in the payload.
    start: u64,
    /// The constants of the function whose elements are in the model, by name.
    immediate: BTreeMap<&'p str, Constant<'p>>,
}

impl<'p> Form<'_, '_, 'p> {
    fn function(&mut self, function: Function<'p>, names: &Names<'_>) {
        self.out.begin_part();
        self.immediate.clear();
        let Some(block) = function.block() else { return };
        let (inputs, results) = (positions(&names.inputs), positions(&names.outputs));
        let mut next = 0u32;
        for input in function.inputs() {
            let id = self.out.id(input.name);
            if input.of.is_state() {
                self.value(id, input.of, (Role::Inner, NO_ID));
                continue;
            }
            let argument = position(&inputs, input.name).unwrap_or(next);
            next = next.saturating_add(1);
            self.value(id, input.of, (Role::Input, argument));
        }
        let outputs = (next..).zip(block.outputs()).map(|(nth, name)| {
            let known = position(&results, name).map(|at| next.saturating_add(at));
            (name, known.unwrap_or(nth))
        });
        let outputs = outputs.collect();
        for operation in block.operations() {
            self.operation(operation, &outputs);
        }
    }

    /// Adds an operation. A constant is a value, and its elements an attribute of its readers if they are in the
    /// model itself.
    fn operation(&mut self, operation: Operation<'p>, outputs: &BTreeMap<&'p str, u32>) {
        if let Some((output, constant)) = operation.constant() {
            let id = self.out.id(output.name);
            if !self.constant(id, output.name, constant) {
                cost::look_up(output.name, self.immediate.len());
                self.immediate.insert(output.name, constant);
            }
            return;
        }
        let attributes = self.out.next_attribute();
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for (key, binding) in operation.inputs() {
            let constant = match binding {
                Binding::Name(name) => {
                    cost::look_up(name, self.immediate.len());
                    match self.immediate.get(name) {
                        Some(constant) => *constant,
                        None => {
                            reads.push(self.out.id(name));
                            continue;
                        }
                    }
                }
                Binding::Constant(constant) => constant,
            };
            self.argument(key, constant, &mut reads);
        }
        for (key, constant) in operation.attributes().filter(|(key, _)| *key != "name") {
            self.argument(key, constant, &mut reads);
        }
        // An output without a name cannot be read. Two bytes of a model are one.
        for output in operation.outputs().filter(|output| !output.name.is_empty()) {
            cost::look_up(output.name, outputs.len());
            let role = match outputs.get(output.name) {
                Some(&argument) => (Role::Output, argument),
                None => (Role::Inner, NO_ID),
            };
            let id = self.out.id(output.name);
            self.value(id, output.of, role);
            writes.push(id);
        }
        let operator = self.out.named(Some(operation.operator()));
        self.out.node_with(operator, (&reads, &writes), attributes);
        for block in operation.blocks() {
            self.inner(block, 1);
        }
    }

    /// Adds the operators of a block inside an operation.
    fn inner(&mut self, block: Block<'p>, depth: usize) {
        for operation in block.operations().filter(|operation| operation.operator() != "const") {
            let operator = self.out.named(Some(operation.operator()));
            self.out.node(operator, &[], &[]);
            self.out.set_depth(depth);
            for block in operation.blocks() {
                self.inner(block, depth.saturating_add(1));
            }
        }
    }

    /// Adds an argument that is a constant: as a value that the operation reads, or as an attribute.
    fn argument(&mut self, key: &'p str, constant: Constant<'p>, reads: &mut Vec<u32>) {
        if constant.blob().is_some() || constant.stored().is_some() {
            let id = self.out.unnamed();
            self.constant(id, key, constant);
            reads.push(id);
        } else if let Some(literal) = constant.literal() {
            self.out.attribute(key, literal);
        }
    }

    /// Adds a constant whose elements are stored as bytes. Returns `false` if they are not.
    fn constant(&mut self, id: u32, name: &'p str, constant: Constant<'p>) -> bool {
        let range = match (constant.blob(), constant.stored()) {
            (Some(place), _) => blob(self.package, self.head, place),
            (None, Some(bytes)) => {
                let start = self.start.saturating_add(self.model.position(bytes));
                Some(start..start.saturating_add(wide(bytes.len())))
            }
            (None, None) => return false,
        };
        let place = range.map_or(DataPlace::Nowhere, DataPlace::Payload);
        let data = self.out.data(place, Some(id));
        self.value(id, constant.of(), (Role::Constant, NO_ID));
        self.out.set_data(data);
        self.out.set_name(id, name);
        true
    }

    /// Adds a value.
    fn value(&mut self, id: u32, of: ValueType<'p>, role: (Role, u32)) {
        let datatype = of.datatype().unwrap_or(Datatype::Known("list"));
        // A size that varies has no number.
        let sizes = of.sizes().map(|size| size.and_then(|size| size.try_into().ok()));
        let sizes = sizes.map(Option::unwrap_or_default);
        self.out.value(id, datatype, (of.sizes().count(), sizes), role);
    }
}

/// Returns the range of a blob's elements in the payload.
fn blob(package: &Package, head: &mut Head<'_>, place: BlobPlace<'_>) -> Option<Range<u64>> {
    let file = package.weights(place.file)?;
    let at = |pos: u64| file.start.checked_add(pos).filter(|at| *at <= file.end);
    let start = at(place.offset)?;
    let metadata = head.read_range(start..at(place.offset.checked_add(Blob::METADATA)?)?).ok()?;
    let blob = Blob::read(&metadata).filter(|blob| blob.sentinel == Blob::SENTINEL)?;
    Some(at(blob.range.start)?..at(blob.range.end)?)
}

/// Returns the index of each name.
fn positions<'m>(names: &[&'m str]) -> BTreeMap<&'m str, u32> {
    cost::sort(names.len());
    (0..narrow(names.len())).zip(names).map(|(nth, name)| (*name, nth)).collect()
}

/// Returns the index of a name.
fn position(names: &BTreeMap<&str, u32>, name: &str) -> Option<u32> {
    cost::look_up(name, names.len());
    names.get(name).copied()
}

/// The longest metadata that is read, in bytes. Genuine metadata has a few thousand.
const LARGEST: u64 = 1 << 20;

/// The datatypes in files of weights, from 1 on.
static STORED: [&str; 17] = [
    "FLOAT16",
    "FLOAT32",
    "UINT8",
    "INT8",
    "BFLOAT16",
    "INT16",
    "UINT16",
    "INT4",
    "UINT1",
    "UINT2",
    "UINT4",
    "UINT3",
    "UINT6",
    "INT32",
    "UINT32",
    "FLOAT8E4M3FN",
    "FLOAT8E5M2",
];

/// The folder with the model and its weights.
const DATA: &str = "model.mlpackage/Data/com.apple.CoreML/";

/// The folder of a compiled model.
const COMPILED: &str = "model.mlmodelc/";
