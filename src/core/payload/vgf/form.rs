//! The graph of a VGF payload in the form that all backends share. Resources are values. A segment is the operators of
//! its graph, or one node if its code has none.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::code::{self, Resources};
use super::{Constant, START, format, section, sections, slots, table, words};
use crate::limits::Limits;
use crate::payload::Unreadable;
use crate::payload::graph::{Builder, DataPlace, Datatype, Detail, Graph, Literal, NO_ID, Role};
use crate::payload::model::{Found, Model};
use crate::payload::sections::Head;
use pte_flat::bytes::{index, len_of, narrow, wide};
use pte_flat::inserted;
use pte_schema::vgf::view::{
    ConstantSection, ModelResourceTable, ModelSequenceTable, Module, ModuleTable, SegmentInfo,
};

pub(in crate::payload) static MODEL: Model = Model { detail: Detail::Constants, graph };

/// Reads the graph of a payload. Shaders are not decoded.
fn graph(
    head: &mut Head<'_>,
    limits: &Limits,
    each: &mut dyn FnMut(Graph<'_>),
) -> Result<Found, Unreadable> {
    let sections = sections::sections(head)?;
    let range = |name| section(&sections, name).cloned().unwrap_or_default();
    let [modules, sequence, resources] = ["modules", "sequence", "resources"].map(range);
    let code_len = len_of(&modules);
    let constants = constants(range("constants"), head, limits)?;
    let mut read = |range: &Range<u64>| head.read_range(range.clone());
    let bytes = (read(&modules)?, read(&sequence)?, read(&resources)?);
    let modules: ModuleTable<'_> = table(&modules, &bytes.0, limits)?;
    let sequence: ModelSequenceTable<'_> = table(&sequence, &bytes.1, limits)?;
    let resources: ModelResourceTable<'_> = table(&resources, &bytes.2, limits)?;
    let mut out = Builder::with_fields(code_len);
    values((resources, sequence), &constants, &mut out);
    // The values of operators follow the resources.
    let mut next = resources.mrt_entry().map_or(0, |resources| narrow(resources.len()));
    let mut left = Some(code_len);
    for segment in sequence.segments().into_iter().flatten() {
        let module = modules.modules().and_then(|all| all.get(index(segment.module_index())));
        let segment = Segment { segment, module, constants: &constants };
        segment.add(&mut left, &mut next, &mut out);
    }
    each(out.finish());
    Ok(Found::Graph)
}

/// A constant: its resource, and the place of its data.
type ConstantData = (u32, DataPlace<'static>);

/// Returns the constants. One that leads out of its section is nowhere: the library refuses it.
fn constants(
    section: Range<u64>,
    head: &mut Head<'_>,
    limits: &Limits,
) -> Result<Vec<ConstantData>, Unreadable> {
    let at = |pos: u64| section.start.saturating_add(pos);
    let len = len_of(&section);
    let start = head.read_range(section.start..at(len.min(wide(START))))?;
    if let Some(end) = Constant::table_end(&start) {
        let bytes = head.read_range(section.start..at(end))?;
        let place = |Range { start, end }: Range<u64>| match start <= end && end <= len {
            true => DataPlace::Payload(at(start)..at(end)),
            false => DataPlace::Nowhere,
        };
        let constants = Constant::all(&bytes).ok().flatten().into_iter().flatten();
        return Ok(constants.map(|one| (one.mrt_index, place(one.range))).collect());
    }
    let bytes = head.read_range(section.clone())?;
    let old: ConstantSection<'_> = table(&section, &bytes, limits)?;
    let constants = old.data().into_iter().flatten().map(|one| {
        let raw = one.raw().unwrap_or_default();
        let start = at(raw.pos().into());
        (one.mrt_index(), DataPlace::Payload(start..start.saturating_add(wide(raw.len()))))
    });
    Ok(constants.collect())
}

/// Adds the resources as values. The id of a value is the index of the resource.
fn values(
    (resources, sequence): (ModelResourceTable<'_>, ModelSequenceTable<'_>),
    constants: &[ConstantData],
    out: &mut Builder<'_>,
) {
    let resources = resources.mrt_entry().unwrap_or_default();
    let mut uses = vec![(Role::Inner, NO_ID, None); resources.len()];
    let mut set = |nth: u32, of| uses.get_mut(index(nth)).into_iter().for_each(|to| *to = of);
    // Of several uses, the last counts.
    for (nth, place) in constants.iter().rev() {
        set(*nth, (Role::Constant, NO_ID, Some(place)));
    }
    let first_output = sequence.input_names().map_or(0, |names| narrow(names.len()));
    for (argument, slot) in (first_output..).zip(sequence.outputs().into_iter().flatten()) {
        set(slot.mrt_index(), (Role::Output, argument, None));
    }
    for slot in sequence.inputs().into_iter().flatten() {
        set(slot.mrt_index(), (Role::Input, slot.binding(), None));
    }
    for (id, (resource, (role, argument, data))) in (0u32..).zip(resources.iter().zip(uses)) {
        let number = resource.vk_format();
        let datatype = Datatype::new(format(number).map(|(name, _)| name), number);
        let shape = resource.description().and_then(|of| of.shape()).unwrap_or_default();
        let sizes = shape.iter().map(|size| u32::try_from(size).unwrap_or_default());
        out.value(id, datatype, (shape.len(), sizes), (role, argument));
        if let Some(place) = data {
            let data = out.data(place.clone(), Some(id));
            out.set_data(data);
        }
    }
}

/// A segment with its module. `constants` are all constants of the payload.
struct Segment<'s, 'p> {
    segment: SegmentInfo<'p>,
    module: Option<Module<'p>>,
    constants: &'s [ConstantData],
}

impl<'p> Segment<'_, 'p> {
    /// Adds the operators of the segment's graph, or the segment as a node. `left` is how many bytes of code are still
    /// read: any number of segments may share a module.
    fn add(&self, left: &mut Option<u64>, next: &mut u32, out: &mut Builder<'p>) {
        let used = self.segment.constants().into_iter().flatten();
        let constants = used.filter_map(|nth| Some(self.constants.get(index(nth))?.0)).collect();
        let sets = self.segment.set_infos().into_iter().flatten();
        let bindings = sets.flat_map(|set| set.bindings().into_iter().flatten());
        let bindings = bindings.map(|slot| (slot.binding(), slot.mrt_index()));
        let resources = Resources { bindings: inserted(bindings), constants };
        let entry = self.module.and_then(|module| module.entry_point());
        if let (Some(words), Some(entry)) = (self.module.and_then(words), entry) {
            *left = left.and_then(|left| left.checked_sub(wide(words.bytes().len())));
            if left.is_some() && code::add((words, entry), &resources, next, out) {
                return;
            }
        }
        let inputs = slots(self.segment.inputs()).chain(resources.constants);
        let (inputs, outputs): (Vec<_>, Vec<_>) =
            (inputs.collect(), slots(self.segment.outputs()).collect());
        let attributes = out.next_attribute();
        for (name, text) in [("name", self.segment.name()), ("entry_point", entry)] {
            text.into_iter().for_each(|text| out.attribute(name, Literal::Text(text)));
        }
        let operator = out.named(self.segment.r#type().name());
        out.node_with(operator, (&inputs, &outputs), attributes);
    }
}
