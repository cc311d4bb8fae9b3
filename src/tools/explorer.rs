//! Files as graphs of Model Explorer: nodes in nested layers, and overlays of numbers on the nodes.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use pte::explorer::ExplorerDocument;
//! use pte::{Handle, Limits};
//!
//! # let program: &[u8] = include_bytes!("../../tests/data/pte/linear.pte");
//! let handle = Handle::open(program, &Limits::UNTRUSTED)?;
//! let document = ExplorerDocument::of("linear.pte", &handle, true, &Limits::UNTRUSTED)?;
//! document.each_node(&mut |node| {
//!     println!("{}/{}", node.namespace, node.label);
//!     Ok::<(), core::convert::Infallible>(())
//! })?;
//! # Ok(())
//! # }
//! ```
//!
//! The first node is the verdict with the findings. A program has a layer for each method, with layers for loops,
//! branches, modules and open delegates in it. A data file has layers for the modules in its keys. A file that is
//! refused has the verdict only.
//!
//! With the feature `serde` an [`ExplorerDocument`] serializes as a graph collection, the JSON that Model Explorer
//! opens. Nodes are made while the document is serialized, so that memory holds one at a time.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use pte_check::{CheckedFile, Checker, judged_kind};
use pte_core::handle::ReadVec;
use pte_core::payload::{Graph, PayloadContents, Section, Sections, TablesPlace, Unreadable};
use pte_core::{Backend, File, ForeignFormat, Handle, Limits, OpenError, Ptd, Source};
use pte_flat::bytes::len_of;
use pte_flat::quoted::UntrustedString;
use pte_schema::scalar::ScalarType;

use crate::graph::{DrawOptions, GraphDocument, PayloadGraph};
use crate::profile::Profile;
use crate::tensors::TensorRow;

mod constants;
mod data;
mod findings;
mod namespaces;
mod node;
mod overlay;
mod payload;
mod program;
mod record;
mod run;

pub use node::{
    Attribute, AttributeValue, Attributes, ExplorerNode, IncomingEdge, Measures, Metadata,
    NodeConfig, NodeStyle,
};
pub use overlay::{GradientStop, GraphNumbers, NodeData, NodeNumber, Overlay, Threshold};

pub use record::RecordedModules;

use constants::ConstantTexts;
use findings::{FindingPlace, Findings, instruction_id, value_id};
use payload::{PayloadConstants, PayloadLayer, add_operators};
use program::ProgramContents;
use record::Record;

/// A file as a graph of Model Explorer.
#[derive(Debug)]
pub struct ExplorerDocument<'a> {
    /// The path or the name of the file.
    pub path: UntrustedString,
    bytes: Option<u64>,
    contents: Contents<'a>,
    findings: Findings,
}

/// What is shown of a file.
#[derive(Debug)]
enum Contents<'a> {
    Program(Box<ProgramContents<'a>>),
    Data(Ptd<'a>, ConstantTexts),
    Payload(Backend, Option<PayloadGraph>, Vec<Section>),
    Profile(Profile),
    Record(Record),
    Refused,
}

impl<'a> ExplorerDocument<'a> {
    /// The id of the graph.
    pub const GRAPH_ID: &'static str = "file";

    /// Returns the document of a program or a data file, judged with the default policy. `reads_constants` is whether
    /// the values of constants are read.
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] if reading fails, [`OpenError::Memory`] if memory is short.
    pub fn of<S: Source>(
        path: impl Into<UntrustedString>,
        handle: &'a Handle<S>,
        reads_constants: bool,
        limits: &Limits,
    ) -> Result<Self, OpenError<S::Error>> {
        let (path, file) = (path.into(), handle.file());
        let mut checked = CheckedFile::new(path.clone(), &file);
        checked.add(handle, &[], &Checker::new().limits(*limits).check(handle)?);
        let typed = |row: TensorRow<'_>| row.range().zip(row.layout.map(|of| of.scalar_type));
        let contents = match &file {
            File::Pte(pte) => {
                let constants = PayloadConstants::new(PayloadContents::all(handle, limits)?);
                let payloads = PayloadGraph::all(handle, limits)?;
                let mut graph = GraphDocument::new(path.clone(), pte).with_payloads(payloads);
                graph.shown.folds_order = true;
                let inside = constants.rows().filter_map(|row| row.range().zip(row.dtype()));
                let wanted = TensorRow::all(&file).filter_map(typed).chain(inside);
                let texts = read_texts(handle, wanted, reads_constants)?;
                let pte = pte.clone();
                let modules = RecordedModules::default();
                let contents = ProgramContents { pte, graph, constants, texts, modules };
                Contents::Program(Box::new(contents))
            }
            File::Ptd(ptd) => {
                let wanted = TensorRow::all(&file).filter_map(typed);
                Contents::Data(ptd.clone(), read_texts(handle, wanted, reads_constants)?)
            }
        };
        let findings = Findings::new(checked);
        Ok(Self { path, bytes: Some(handle.file_len()), contents, findings })
    }

    /// Returns the document of a standalone payload, a `.ptn` package, a profile or an ETRecord, which is read whole
    /// and judged. Returns `None` for any other file, such as a bundled program.
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] if reading fails, [`OpenError::Memory`] if memory is short. The inner error describes an
    /// invalid file.
    pub fn of_other<S: Source>(
        path: impl Into<UntrustedString>,
        source: &S,
        limits: &Limits,
    ) -> Result<Option<Result<Self, Unreadable>>, OpenError<S::Error>> {
        let path = path.into();
        let len = source.size().map_err(OpenError::Source)?;
        let head = source.read_vec(0..len.min(ForeignFormat::HEAD))?;
        let format = source.format(&head, len)?;
        if judged_kind(format).is_none() {
            return Ok(None);
        }
        let bytes = source.read_vec(0..len)?;
        let contents = match format {
            ForeignFormat::EtDump => Profile::read(&bytes, limits).map(Contents::Profile),
            ForeignFormat::EtRecord => match sections(source, format, len)? {
                Err(why) => Err(why),
                Ok(sections) => Ok(Contents::Record(Record::read(source, sections)?)),
            },
            ForeignFormat::Payload(_) | ForeignFormat::Ptn => {
                let is_package = format == ForeignFormat::Ptn;
                let backend = match format {
                    ForeignFormat::Payload(backend) => backend,
                    _ => Backend::Native,
                };
                let place = TablesPlace::of(&head, len).and_then(Result::ok).map(|of| of.range);
                let range = if is_package { place.unwrap_or(0..0) } else { 0..len };
                match graph_of(source, backend, range, limits)? {
                    Err(why) => Err(why),
                    Ok(graph) => sections(source, format, len)?
                        .map(|all| Contents::Payload(backend, graph, all.sections)),
                }
            }
            _ => return Ok(None),
        };
        let report = Checker::new().limits(*limits).check_other(&bytes, format);
        Ok(Some(contents.and_then(|contents| {
            let report = report?;
            let is_judged = report.is_some();
            let checked = CheckedFile::other(path.clone(), format, &report.unwrap_or_default());
            let findings = Findings::judged_if(is_judged, checked);
            Ok(Self { path, bytes: Some(len), contents, findings })
        })))
    }

    /// Returns the document of a file of which nothing is proven. `checked` has the findings.
    #[must_use]
    pub fn refused(checked: CheckedFile) -> Self {
        let (path, contents) = (checked.path.clone(), Contents::Refused);
        Self { path, bytes: None, contents, findings: Findings::new(checked) }
    }

    /// Restricts the document to the methods with the name `name`.
    #[must_use]
    pub fn with_method(mut self, name: Option<&str>) -> Self {
        if let Contents::Program(program) = &mut self.contents {
            program.graph.method = name.map(Into::into);
        }
        self
    }

    /// Restricts methods to the parts that `shown` selects.
    #[must_use]
    pub fn showing(mut self, shown: DrawOptions) -> Self {
        if let Contents::Program(program) = &mut self.contents {
            program.graph.shown = shown;
        }
        self
    }

    /// Puts instructions into the modules of an ETRecord. One that cannot be that of the program is left out, and so
    /// is one of a file that is no program.
    #[must_use]
    pub fn with_modules(mut self, modules: RecordedModules) -> Self {
        if let Contents::Program(program) = &mut self.contents
            && modules.can_be_of(&program.pte)
        {
            program.modules = modules;
        }
        self
    }

    /// Passes the nodes to `each`, one after the other. The first is the verdict.
    ///
    /// # Errors
    ///
    /// The errors of `each`.
    pub fn each_node<E>(
        &self,
        each: &mut dyn FnMut(ExplorerNode) -> Result<(), E>,
    ) -> Result<(), E> {
        let operators = self.operators_with_findings();
        each(self.findings.node(|finding| {
            let at_table = || operators.get(&finding.offset?).cloned();
            FindingPlace::of(finding).and_then(|place| self.id_of(place)).or_else(at_table)
        }))?;
        match &self.contents {
            Contents::Program(program) => program.each_node(&self.findings, each),
            Contents::Data(ptd, texts) => data::each_node(ptd, texts, &self.findings, each),
            Contents::Payload(_, graph, sections) => {
                if let Some(graph) = graph {
                    let (constants, texts) =
                        (PayloadConstants::default(), ConstantTexts::default());
                    let (constants, texts) = (&constants, &texts);
                    let (findings, prefix, namespace) = (&self.findings, "", "");
                    let layer =
                        PayloadLayer { graph, constants, texts, findings, prefix, namespace };
                    layer.each_node(Default::default(), each)?;
                }
                each_section(sections, each)
            }
            Contents::Profile(profile) => run::each_node(profile, each),
            Contents::Record(record) => {
                record.each_node(each)?;
                each_section(&record.sections, each)
            }
            Contents::Refused => Ok(()),
        }
    }

    /// Passes the namespace and the attributes of each layer that has any to `each`. The empty namespace is the file.
    ///
    /// # Errors
    ///
    /// The errors of `each`.
    pub fn each_layer<E>(
        &self,
        each: &mut dyn FnMut(String, Attributes) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut attrs = Attributes::default();
        attrs.add("verdict", self.findings.verdict());
        attrs.add_some("bytes", self.bytes);
        match &self.contents {
            Contents::Program(program) => {
                attrs.add("kind", "program");
                attrs.add("schema version", program.pte.program().version());
                attrs.add("segments", program.pte.segment_count());
            }
            Contents::Data(ptd, _) => {
                attrs.add("kind", "named data");
                attrs.add("entries", ptd.entry_count());
            }
            Contents::Payload(backend, ..) => {
                attrs.add("kind", format!("payload of {}", backend.name()))
            }
            Contents::Profile(profile) => {
                attrs.add("kind", "profile");
                attrs.add("executions", profile.executions());
            }
            Contents::Record(_) => attrs.add("kind", "ETRecord"),
            Contents::Refused => attrs.add("kind", "unknown"),
        }
        each(String::new(), attrs)?;
        match &self.contents {
            Contents::Program(program) => program.each_layer(each),
            _ => Ok(()),
        }
    }

    /// Returns the ids of the operators of payloads with findings, by the offsets of their tables.
    fn operators_with_findings(&self) -> BTreeMap<u64, String> {
        let mut operators = BTreeMap::new();
        match &self.contents {
            // Most files have no findings, and their payloads are not searched.
            _ if !self.findings.have_offsets() => {}
            Contents::Program(program) => return program.operators_with_findings(&self.findings),
            Contents::Payload(_, Some(graph), _) => {
                add_operators(graph, "", &self.findings, &mut operators);
            }
            _ => {}
        }
        operators
    }

    /// Returns the id of the node that a finding is about.
    fn id_of(&self, place: FindingPlace) -> Option<String> {
        match (&self.contents, place) {
            // Every known writer makes one chain, whose indices are those of the method's instructions.
            (Contents::Program(_), FindingPlace::Instruction(method, 0, index)) => {
                Some(instruction_id(method, index))
            }
            (Contents::Program(_), FindingPlace::Value(method, value)) => {
                Some(value_id(method, value))
            }
            (Contents::Data(..), FindingPlace::Entry(nth)) => Some(format!("e{nth}")),
            _ => None,
        }
    }
}

/// Reads the texts of constants, if they are wanted.
fn read_texts<S: Source>(
    handle: &Handle<S>,
    wanted: impl Iterator<Item = (Range<u64>, ScalarType)>,
    reads_constants: bool,
) -> Result<ConstantTexts, OpenError<S::Error>> {
    match reads_constants {
        true => ConstantTexts::read(handle, wanted),
        false => Ok(ConstantTexts::default()),
    }
}

/// Reads the graph of a payload that has this range of the file.
fn graph_of<S: Source>(
    source: &S,
    backend: Backend,
    range: Range<u64>,
    limits: &Limits,
) -> Result<Result<Option<PayloadGraph>, Unreadable>, OpenError<S::Error>> {
    let len = len_of(&range);
    let read = |part: Range<u64>| {
        let begin = range.start.saturating_add(part.start);
        source.read_vec(begin..range.start.saturating_add(part.end)).map(Some)
    };
    let mut found = Ok(None);
    Graph::with(Some(backend), len, read, limits, |graph| {
        found = graph.map(|graph| graph.map(|graph| PayloadGraph::of(range.clone(), graph)));
    })?;
    Ok(found)
}

/// Returns the sections of a payload, or the members of an archive. A payload without known sections has none.
fn sections<S: Source>(
    source: &S,
    format: ForeignFormat,
    len: u64,
) -> Result<Result<Sections, Unreadable>, OpenError<S::Error>> {
    let found = Sections::of_file(format, len, |range| source.read_vec(range))?;
    Ok(found.transpose().map(Option::unwrap_or_default))
}

/// Passes a node for each section to `each`.
fn each_section<E>(
    sections: &[Section],
    each: &mut dyn FnMut(ExplorerNode) -> Result<(), E>,
) -> Result<(), E> {
    for (nth, section) in sections.iter().enumerate() {
        let mut node = ExplorerNode {
            id: format!("s{nth}"),
            label: section.name.to_string(),
            namespace: "sections".into(),
            ..ExplorerNode::default()
        };
        let bytes = len_of(&section.range);
        node.attrs.add_some("file", section.file.as_deref().map(UntrustedString::from));
        node.attrs.add_some("key", section.key.as_deref().map(UntrustedString::from));
        node.attrs.add("bytes", bytes);
        node.attrs.add("offset", section.range.start);
        node.measures.bytes = Some(bytes);
        each(node)?;
    }
    Ok(())
}

#[cfg(feature = "serde")]
mod serialize {
    use serde::ser::{SerializeMap, SerializeSeq, SerializeStruct};
    use serde::{Serialize, Serializer};

    use super::ExplorerDocument;

    impl Serialize for ExplorerDocument<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut collection = serializer.serialize_struct("GraphCollection", 2)?;
            let path = self.path.raw();
            let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
            collection.serialize_field("label", name)?;
            collection.serialize_field("graphs", &[Graph(self)])?;
            collection.end()
        }
    }

    struct Graph<'d, 'a>(&'d ExplorerDocument<'a>);

    impl Serialize for Graph<'_, '_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut graph = serializer.serialize_struct("Graph", 3)?;
            graph.serialize_field("id", ExplorerDocument::GRAPH_ID)?;
            graph.serialize_field("nodes", &Nodes(self.0))?;
            graph.serialize_field("groupNodeAttributes", &Layers(self.0))?;
            graph.end()
        }
    }

    struct Nodes<'d, 'a>(&'d ExplorerDocument<'a>);

    impl Serialize for Nodes<'_, '_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut nodes = serializer.serialize_seq(None)?;
            self.0.each_node(&mut |node| nodes.serialize_element(&node))?;
            nodes.end()
        }
    }

    struct Layers<'d, 'a>(&'d ExplorerDocument<'a>);

    impl Serialize for Layers<'_, '_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut layers = serializer.serialize_map(None)?;
            self.0.each_layer(&mut |namespace, attrs| {
                layers.serialize_entry(&namespace, &attrs.as_map())
            })?;
            layers.end()
        }
    }
}
