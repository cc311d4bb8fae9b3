//! Rules on payloads of VGF: what Arm's library and the backend check, and what they read without a check
//! (docs/format.md §11.14).

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::{BackendRules, Bytes, Judge, Outcome, PartPlace, Subject};
use crate::report::Findings;
use crate::rule::{Broken, Rule, rules};
use pte_core::payload::vgf;
use pte_core::payload::vgf::{Constant, GraphInterface, ModuleGraph, section, slots, words};
use pte_core::{Backend, PathComponent};
use pte_flat::bytes::{index, len_of, narrow, wide};
use pte_flat::quoted::Quoted;
use pte_flat::view::{Raw, Table};
use pte_schema::vgf::view::{
    BindingSlot, ConstantSection, ModelResourceTable, ModelResourceTableEntry, ModelSequenceTable,
    Module, ModuleTable, SegmentInfo,
};
use pte_schema::vgf::{ModuleType, ResourceCategory};

mod calls;
mod graph;
mod operators;

rules! {
    "vgf";

    VGF_TABLE = Error "vgf-table"
        "A VGF payload is of a version that Arm's library reads, and its constants are in their section."
        "Arm's library refuses the payload."
        LOWER_AGAIN
        Refuses ["11.14"];
    VGF_INDEX = Error "vgf-index"
        "The segments, constants, inputs and outputs of a VGF payload name modules, constants and resources that it has."
        "The backend reads past a list."
        LOWER_AGAIN
        Misreads ["11.14", "8.2 84f39aa707"];
    VGF_SEGMENT = Error "vgf-segment"
        "A VGF payload has segments, each of a known type, with one set of resources and a dispatch shape of three numbers. Slots name no constants. A graph uses tensors and images only; a shader has no constants."
        "The backend or Arm's library refuses the payload."
        LOWER_AGAIN
        Refuses ["11.14"];
    VGF_MODULE = Error "vgf-module"
        "The module of a segment is SPIR-V code of whole instructions, with the entry point that it names."
        "The driver reads past the code, or refuses it."
        LOWER_AGAIN
        Misreads ["11.14"];
    VGF_GRAPH = Error "vgf-graph"
        "The inputs, outputs and constants of the graph in a module's code have the format and the shape of their resources."
        "The driver refuses the graph, or reads and writes past a resource."
        LOWER_AGAIN
        Misreads ["11.14"];
    VGF_OPERATOR = Error "vgf-operator"
        "The operators of the graph in a module's code are those of TOSA, with operands that are defined before. Counts, attributes, datatypes and shapes are those that the specification gives. Inputs and outputs of the graph have the types of their variables."
        "The driver refuses the graph, crashes, or reads and writes past a tensor."
        LOWER_AGAIN
        Misreads ["11.14"];
    VGF_RESOURCE = Error "vgf-resource"
        "The resources of a VGF payload have categories, types and formats that the backend has."
        "The backend refuses the payload."
        LOWER_AGAIN
        Refuses ["11.14"];
    VGF_CONSTANT = Error "vgf-constant"
        "A constant of a VGF payload has the bytes that its shape asks for."
        "The driver reads past the constant."
        LOWER_AGAIN
        Misreads ["11.14"];
    VGF_ENDS = Error "vgf-ends"
        "Each input of a VGF payload is an INPUT resource, is listed once and has a name; each output is an OUTPUT resource, and there are as many names as outputs."
        "The backend refuses the payload."
        LOWER_AGAIN
        Refuses ["11.14"];
    VGF_ARGS = Error "vgf-args"
        "The arguments of a call of a VGF payload are its inputs and then its outputs: tensors of as many bytes."
        "The run ends with an error."
        LOWER_AGAIN
        Refuses ["11.14"];
}

pub(super) const JUDGED: BackendRules =
    BackendRules::of(Backend::Vgf, RULES, judge).with_requested_keys();

/// Judges a payload, and then the calls of its delegates.
fn judge(judge: &mut Judge<'_>, payload: &Subject<'_>, bytes: &mut Bytes<'_>) -> Outcome {
    let Some(sections) = payload.sections(Backend::Vgf, bytes) else { return Ok(()) };
    let sections = sections?;
    let mut read = |name| {
        let range = section(&sections, name)?;
        Some((range.clone(), bytes.read(payload.part(range.clone()))?))
    };
    let parts = ["modules", "sequence", "resources", "constants"].map(&mut read);
    let [Some(modules), Some(sequence), Some(resources), Some(constants)] = parts else {
        return Ok(());
    };
    let limits = judge.limits;
    let tables = Tables {
        modules: vgf::table::<ModuleTable<'_>>(&modules.0, &modules.1, limits)?,
        sequence: vgf::table::<ModelSequenceTable<'_>>(&sequence.0, &sequence.1, limits)?,
        resources: vgf::table::<ModelResourceTable<'_>>(&resources.0, &resources.1, limits)?,
    };
    let place =
        |part, range: &Range<u64>| judge.place(payload, payload.part(range.clone()).start, part);
    let site = Site {
        modules: place("modules", &modules.0),
        segments: place("segments", &sequence.0),
        inputs: place("inputs", &sequence.0),
        outputs: place("outputs", &sequence.0),
        resources: place("mrt_entry", &resources.0),
        constants: place("constants", &constants.0),
    };
    let mut found = judge.out.another();
    let version = sections.version.as_deref().unwrap_or_default();
    if !VERSIONS.iter().any(|known| version.starts_with(known)) {
        let place = judge.place(payload, payload.start, "version");
        place.find_byte(&mut found, &VGF_TABLE, 0, || format!("unknown version {version}"));
    }
    let resources = site.resources(&tables, &mut found);
    let old = match Constant::all(&constants.1) {
        Ok(None) => Some(vgf::table::<ConstantSection<'_>>(&constants.0, &constants.1, limits)?),
        _ => None,
    };
    let constants = site.constants(&constants.1, old, &resources, &mut found);
    site.segments(&tables, &resources, constants.as_deref(), &mut found);
    site.ends(&tables, &resources, &mut found);
    let is_sound = found.is_empty();
    judge.out.extend(found);
    if !is_sound {
        return Ok(());
    }
    for ((plan, _), instruction, call) in judge.calls(payload.users) {
        calls::judge(tables.sequence, &resources, (plan, &instruction, call), judge.out);
    }
    Ok(())
}

/// The tables of a payload.
struct Tables<'p> {
    modules: ModuleTable<'p>,
    sequence: ModelSequenceTable<'p>,
    resources: ModelResourceTable<'p>,
}

/// A resource.
#[derive(Clone, Copy)]
struct Resource {
    /// The number of bytes.
    bytes: u64,
    descriptor: u32,
    category: ResourceCategory,
}

/// The places of findings in the lists of a payload.
struct Site<'s> {
    modules: PartPlace<'s>,
    segments: PartPlace<'s>,
    inputs: PartPlace<'s>,
    outputs: PartPlace<'s>,
    resources: PartPlace<'s>,
    constants: PartPlace<'s>,
}

/// An element of a list: the place of the list, the index, and the table.
type Element<'s> = (PartPlace<'s>, usize, Raw<'s>);

/// Reports a finding at an element of a list.
fn find(
    out: &mut Findings,
    rule: &'static Rule,
    (list, nth, at): Element<'_>,
    message: impl FnOnce() -> String,
) {
    list.find(out, rule, at, &[PathComponent::Index(narrow(nth))], message);
}

impl Site<'_> {
    /// Judges the resources, and returns them.
    fn resources(&self, tables: &Tables<'_>, out: &mut Findings) -> Vec<Resource> {
        let mut resources = Vec::new();
        for (nth, entry) in tables.resources.mrt_entry().into_iter().flatten().enumerate() {
            let (format, category) = (entry.vk_format(), entry.category());
            let size = vgf::format(format).map(|(_, size)| size);
            let wrong = match (size, category) {
                (_, category) if category.name().is_none() => {
                    Some(format!("unknown category {category}"))
                }
                // The driver alone reads the formats of constants.
                (None, category) if category != ResourceCategory::CONSTANT => {
                    Some(format!("unknown format {format}"))
                }
                (Some(_), category)
                    if category != ResourceCategory::CONSTANT
                        && !DESCRIPTORS.contains(&entry.vk_descriptor_type()) =>
                {
                    Some(format!("unknown type {}", entry.vk_descriptor_type()))
                }
                _ => None,
            };
            if let Some(message) = wrong {
                let at = (self.resources, nth, entry.raw());
                find(out, &VGF_RESOURCE, at, || message);
            }
            let bytes = elements(entry).saturating_mul(size.unwrap_or_default());
            resources.push(Resource { bytes, descriptor: entry.vk_descriptor_type(), category });
        }
        resources
    }

    /// Judges the constants. Returns the resource of each; `None` if they are not known.
    fn constants(
        &self,
        section: &[u8],
        old: Option<ConstantSection<'_>>,
        resources: &[Resource],
        out: &mut Findings,
    ) -> Option<Vec<u32>> {
        let mut all = Vec::new();
        let mut judge = |nth, mrt_index, dimension, have| {
            all.push(mrt_index);
            if let Some((rule, message)) = unfit(resources, mrt_index, dimension, have) {
                let message = || format!("constant {nth}: {message}");
                self.constants.find_byte(out, rule, 0, message);
            }
        };
        if let Some(old) = old {
            let constants = old.data().unwrap_or_default();
            for (nth, constant) in constants.iter().enumerate() {
                let have = constant.raw().map_or(0, |raw| wide(raw.len()));
                judge(nth, constant.mrt_index(), constant.sparsity_dimension(), Ok(have));
            }
            return Some(all);
        }
        let constants = match Constant::all(section) {
            Ok(constants) => constants?,
            Err(message) => {
                self.constants.find_byte(out, &VGF_TABLE, 0, || message.into());
                return None;
            }
        };
        let len = wide(section.len());
        for (nth, Constant { mrt_index, sparsity_dimension, range }) in constants.enumerate() {
            let have = len_of(&range);
            let have = if range.end > len { Err((range, len)) } else { Ok(have) };
            judge(nth, mrt_index, sparsity_dimension.into(), have);
        }
        Some(all)
    }

    /// Judges the segments, and the modules that they run.
    fn segments(
        &self,
        tables: &Tables<'_>,
        resources: &[Resource],
        constants: Option<&[u32]>,
        out: &mut Findings,
    ) {
        let modules = tables.modules.modules().unwrap_or_default();
        let mut is_used = vec![false; modules.len()];
        let segments = tables.sequence.segments().unwrap_or_default();
        if segments.is_empty() {
            let message = || "the payload has no segment".into();
            self.segments.find_byte(out, &VGF_SEGMENT, 0, message);
        }
        for (nth, segment) in segments.iter().enumerate() {
            let module = segment.module_index();
            match is_used.get_mut(index(module)) {
                Some(is_used) => *is_used = true,
                None => find(out, &VGF_INDEX, (self.segments, nth, segment.raw()), || {
                    format!("module {module} is out of range: there are {}", modules.len())
                }),
            }
        }
        let used = modules.iter().zip(is_used).enumerate();
        let interfaces: Vec<_> = used
            .map(|(nth, (module, is_used))| is_used.then(|| self.module((nth, module), out)))
            .collect();
        for (nth, segment) in segments.iter().enumerate() {
            let at = (self.segments, nth, segment.raw());
            let interface = interfaces.get(index(segment.module_index()));
            match judge_segment(segment, resources, constants.map(<[u32]>::len)) {
                Err((rule, message)) => find(out, rule, at, || message),
                Ok(()) => {
                    let Some(Some(interface)) = interface else { continue };
                    let entries = tables.resources.mrt_entry().unwrap_or_default();
                    let constants = constants.unwrap_or_default();
                    if let Some(message) = graph::unlike(segment, interface, entries, constants) {
                        find(out, &VGF_GRAPH, at, || message);
                    }
                }
            }
        }
    }

    /// Judges the code of a module, and returns the interface of its graph.
    fn module(&self, (nth, module): (usize, Module<'_>), out: &mut Findings) -> GraphInterface {
        let at = (self.modules, nth, module.raw());
        let name = module.entry_point().unwrap_or_default();
        let graph = match ModuleGraph::read(words(module).unwrap_or_default(), name) {
            Ok(graph) => graph,
            Err(why) => {
                find(out, &VGF_MODULE, at, || why.into());
                return GraphInterface::default();
            }
        };
        if !graph.has_entry_point() {
            let message = || format!("the code has no entry point {}", Quoted(name));
            find(out, &VGF_MODULE, at, message);
        }
        operators::judge(&graph, &mut |message| find(out, &VGF_OPERATOR, at, || message));
        graph.interface()
    }

    /// Judges the inputs and outputs of the payload.
    fn ends(&self, tables: &Tables<'_>, resources: &[Resource], out: &mut Findings) {
        let sequence = tables.sequence;
        let names = sequence.input_names().map_or(0, |names| names.len());
        let mut is_bound = vec![false; names];
        for (nth, slot) in sequence.inputs().into_iter().flatten().enumerate() {
            let at = (self.inputs, nth, slot.raw());
            self.end(slot, at, (resources, ResourceCategory::INPUT), out);
            let input = slot.binding();
            let was_bound = is_bound.get_mut(index(input));
            let message = match was_bound.map(|was_bound| core::mem::replace(was_bound, true)) {
                Some(false) => continue,
                Some(true) => format!("input {input} is bound twice"),
                None => format!("input {input} is out of range: there are {names}"),
            };
            find(out, &VGF_ENDS, at, || message);
        }
        let outputs = sequence.outputs().unwrap_or_default();
        let names = sequence.output_names().map_or(0, |names| names.len());
        for (nth, slot) in outputs.iter().enumerate() {
            let at = (self.outputs, nth, slot.raw());
            self.end(slot, at, (resources, ResourceCategory::OUTPUT), out);
        }
        if outputs.len() != names {
            find(out, &VGF_ENDS, (self.outputs, 0, sequence.raw()), || {
                format!("there are {} outputs, and {names} names", outputs.len())
            });
        }
    }

    fn end(
        &self,
        slot: BindingSlot<'_>,
        at: Element<'_>,
        (resources, category): (&[Resource], ResourceCategory),
        out: &mut Findings,
    ) {
        let nth = slot.mrt_index();
        match resources.get(index(nth)) {
            Some(resource) if resource.category == category => {}
            Some(resource) => find(out, &VGF_ENDS, at, || {
                format!("resource {nth} is of category {}: expected {category}", resource.category)
            }),
            None => find(out, &VGF_INDEX, at, || no_resource(nth, resources)),
        }
    }
}

/// Returns what is wrong with a constant of `have` bytes, or with a range outside of its section.
fn unfit(
    resources: &[Resource],
    mrt_index: u32,
    dimension: i64,
    have: Result<u64, (Range<u64>, u64)>,
) -> Option<Broken> {
    let have = match have {
        Ok(have) => have,
        Err((Range { start, end }, len)) => {
            let message = format!("bytes {start:#x} to {end:#x} of a section of {len:#x}");
            return Some((&VGF_TABLE, message));
        }
    };
    if dimension < NOT_SPARSE {
        return Some((&VGF_TABLE, format!("invalid sparsity dimension {dimension}")));
    }
    let Some(resource) = resources.get(index(mrt_index)) else {
        return Some((&VGF_INDEX, no_resource(mrt_index, resources)));
    };
    let need = resource.bytes;
    // The backend does not read the dimension of sparsity.
    let message = || format!("it has {have} bytes, and its shape asks for {need}");
    (have < need).then(|| (&VGF_CONSTANT, message()))
}

/// Returns what is wrong with a segment, without its module.
fn judge_segment(
    segment: SegmentInfo<'_>,
    resources: &[Resource],
    constants: Option<usize>,
) -> Result<(), Broken> {
    let kind = segment.r#type();
    if kind.name().is_none() {
        return Err((&VGF_SEGMENT, format!("unknown type {kind}")));
    }
    // Without the list, the backend reads through a null pointer.
    let shape = segment.dispatch_shape().map_or(0, |shape| shape.len());
    if shape != 3 {
        return Err((&VGF_SEGMENT, format!("the dispatch shape has {shape} numbers: expected 3")));
    }
    let used = segment.constants().unwrap_or_default();
    if kind == ModuleType::COMPUTE && !used.is_empty() {
        return Err((&VGF_SEGMENT, "a shader has constants".into()));
    }
    if let Some((nth, count)) = constants
        .and_then(|count| Some((used.into_iter().find(|nth| index(*nth) >= count)?, count)))
    {
        return Err((&VGF_INDEX, format!("constant {nth} is out of range: there are {count}")));
    }
    let sets = segment.set_infos().unwrap_or_default();
    let set = sets.get(0).filter(|_| sets.len() == 1);
    let Some(set) = set.filter(|set| [0, UNSET].contains(&set.set_index())) else {
        let message = format!("there are {} sets of resources: expected set 0 alone", sets.len());
        return Err((&VGF_SEGMENT, message));
    };
    for nth in slots(set.bindings()) {
        let Some(resource) = resources.get(index(nth)) else {
            return Err((&VGF_INDEX, no_resource(nth, resources)));
        };
        if resource.category == ResourceCategory::CONSTANT {
            return Err((&VGF_SEGMENT, format!("a slot names resource {nth}, a constant")));
        }
        let is_known = IN_GRAPHS.contains(&resource.descriptor);
        if kind == ModuleType::GRAPH && !is_known {
            let of = resource.descriptor;
            let message = format!("resource {nth} is of type {of}, which a graph does not take");
            return Err((&VGF_SEGMENT, message));
        }
    }
    Ok(())
}

fn no_resource(nth: u32, resources: &[Resource]) -> String {
    format!("resource {nth} is out of range: there are {}", resources.len())
}

/// Returns the number of elements of a resource, at most `u64::MAX`.
fn elements(entry: ModelResourceTableEntry<'_>) -> u64 {
    let shape = entry.description().and_then(|description| description.shape());
    let sizes = shape.into_iter().flatten().map(|size| u64::try_from(size).unwrap_or_default());
    sizes.fold(1, u64::saturating_mul)
}

/// The versions that Arm's library reads.
const VERSIONS: [&str; 6] = ["0.0.", "0.1.", "0.2.", "0.3.", "0.4.", "0.5."];

/// A number that is not set.
const UNSET: u32 = u32::MAX;

/// The types of resources: a buffer, three of images, and tensors.
const DESCRIPTORS: [u32; 5] = [7, 1, 2, 3, TENSOR];

/// The types of resources that a graph takes: none, three of images, and tensors.
const IN_GRAPHS: [u32; 5] = [UNSET, 1, 2, 3, TENSOR];

/// `VK_DESCRIPTOR_TYPE_TENSOR_ARM`.
const TENSOR: u32 = 1_000_460_000;

/// The sparsity dimension of a constant that is not sparse.
const NOT_SPARSE: i64 = -1;
