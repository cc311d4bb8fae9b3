//! Payloads of Ethos-U: the operations of the command stream, the memory that they use, and the inputs and outputs.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

use super::Unreadable;
use super::command_stream::commands::Malformed;
use super::command_stream::registers::{Access, Operation};
use super::command_stream::{SCRATCH, Step, WEIGHTS, decode};
use super::graph::{Builder, DataPlace, Datatype, Detail, Graph, Literal, NO_ID, Role};
use super::model::{Found, Model};
use super::sections::{Head, Sections};
use crate::limits::Limits;
use pte_flat::bytes::{len_of, narrow, u32_at};
use pte_flat::cost;

pub(super) mod sections;

pub(super) static MODEL: Model = Model { detail: Detail::Values, graph };

/// The blocks of a payload, as ranges in it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Blocks {
    /// The driver's actions, with the command stream.
    pub commands: Option<Range<u64>>,
    /// The weights.
    pub weights: Option<Range<u64>>,
    /// Whether the commands or the weights are named data.
    pub is_external: bool,
    /// The size of the scratch memory.
    pub scratch: u64,
    /// The descriptions of the inputs and of the outputs.
    pub ports: [Option<Range<u64>>; 2],
}

/// An input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Port {
    /// The number of elements.
    pub elements: u64,
    /// The size of an element in bytes.
    pub element_size: u32,
    /// The offset in the scratch memory. The runtime reads it as a signed number.
    pub offset: u32,
}

impl Blocks {
    /// Returns the blocks of a payload with these sections.
    pub fn new(sections: &Sections) -> Self {
        let mut blocks = Self { scratch: sections.scratch.unwrap_or_default(), ..Self::default() };
        for section in &sections.sections {
            let is_here = section.key.is_none();
            let range = is_here.then(|| section.range.clone());
            match section.name {
                "cmd_data" => blocks.commands = range,
                "weight_data" => blocks.weights = range,
                "inputs" => blocks.ports[0] = range,
                "outputs" => blocks.ports[1] = range,
                _ => continue,
            }
            blocks.is_external |= !is_here;
        }
        blocks
    }
}

impl Port {
    /// Reads the descriptions of inputs or outputs: their number, and 36 bytes for each, or 28 in older payloads.
    ///
    /// # Errors
    ///
    /// The block is shorter than its number says.
    pub fn all(block: &[u8]) -> Result<Vec<Self>, Malformed> {
        let short =
            Malformed { at: 0, why: "the block is shorter than its number of tensors says" };
        let count = u32_at(block, 0).ok_or(short)?;
        let rest = block.get(4..).unwrap_or_default();
        let count_here = |size: usize| rest.len().checked_div(size).map_or(0, narrow);
        let (size, dims) = match count {
            count if count <= count_here(36) => (36, 6),
            count if count == count_here(28) => (28, 4),
            _ => return Err(short),
        };
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let ports = rest.chunks_exact(size).take(count).map(|port| {
            let number = |nth: usize| u32_at(port, nth.saturating_mul(4)).unwrap_or_default();
            let sizes = (0..dims).map(|nth| u64::from(number(nth)));
            Self {
                elements: sizes.fold(1, u64::saturating_mul),
                element_size: number(dims),
                offset: number(dims.saturating_add(1)),
            }
        });
        Ok(ports.collect())
    }

    /// Returns the number of bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.elements.saturating_mul(self.element_size.into())
    }
}

/// Reads the graph of a payload.
fn graph(
    head: &mut Head<'_>,
    _: &Limits,
    each: &mut dyn FnMut(Graph<'_>),
) -> Result<Found, Unreadable> {
    let blocks = Blocks::new(&sections::sections(head)?);
    let Some(range) = blocks.commands.clone() else { return Ok(Found::Nothing) };
    let start = range.start;
    let mut ports = [Vec::new(), Vec::new()];
    for (to, range) in ports.iter_mut().zip(&blocks.ports) {
        let Some(range) = range.clone() else { continue };
        let at = range.start;
        *to = Port::all(&head.read_range(range)?).map_err(|wrong| malformed(wrong, at))?;
    }
    let bytes = head.read_range(range)?;
    let most = bytes.len() / LEAST_BYTES;
    let mut form = Form { weights: blocks.weights, ..Form::default() };
    let [inputs, outputs] = ports;
    for (argument, input) in (0..).zip(&inputs) {
        form.input(input, argument);
    }
    let mut count = 0usize;
    decode(&bytes, |step| {
        if let Step::Operation(operation) = step {
            count = count.saturating_add(1);
            if count <= most {
                form.operation(&operation);
            }
        }
    })
    .map_err(|wrong| malformed(wrong, start))?;
    if count > most {
        return Ok(Found::Nothing);
    }
    for (argument, output) in (narrow(inputs.len())..).zip(&outputs) {
        form.output(output, argument);
    }
    each(form.finish());
    Ok(Found::Graph)
}

fn malformed(Malformed { at, why }: Malformed, start: u64) -> Unreadable {
    Unreadable::Commands { at: start.saturating_add(at), why }
}

/// Makes the form of a graph. A place in memory is another value after each write.
#[derive(Default)]
struct Form {
    out: Builder<'static>,
    weights: Option<Range<u64>>,
    values: Vec<FormValue>,
    /// The index of the value at each region and address.
    current: BTreeMap<(u32, u64), usize>,
}

/// A value that is not in the form yet.
struct FormValue {
    id: u32,
    datatype: &'static str,
    shape: Vec<u32>,
    role: (Role, u32),
    data: Option<Range<u64>>,
}

impl Form {
    fn input(&mut self, input: &Port, argument: u32) {
        let datatype = match input.element_size {
            1 => "INT8",
            2 => "INT16",
            _ => "INT32",
        };
        let shape = Vec::from([u32::try_from(input.elements).unwrap_or(u32::MAX)]);
        let at = self.add(datatype, shape, (Role::Input, argument));
        self.current.insert((SCRATCH, input.offset.into()), at);
    }

    fn output(&mut self, output: &Port, argument: u32) {
        let place = (SCRATCH, u64::from(output.offset));
        let value = self.current.get(&place).and_then(|&nth| self.values.get_mut(nth));
        if let Some(value) = value.filter(|value| value.role.0 == Role::Inner) {
            value.role = (Role::Output, argument);
        }
    }

    fn add(&mut self, datatype: &'static str, shape: Vec<u32>, role: (Role, u32)) -> usize {
        let id = self.out.unnamed();
        self.values.push(FormValue { id, datatype, shape, role, data: None });
        self.values.len().saturating_sub(1)
    }

    fn operation(&mut self, operation: &Operation) {
        let attributes = self.out.next_attribute();
        if let Some(mode) = operation.mode {
            self.out.attribute("mode", Literal::Name(mode));
        }
        let [width, height] = operation.kernel;
        if operation.kernel != [1, 1] {
            self.out.attribute("kernel_width", Literal::Int(width.into()));
            self.out.attribute("kernel_height", Literal::Int(height.into()));
        }
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for access in &operation.accesses {
            let value = self.value(access);
            let ids = if access.is_written { &mut writes } else { &mut reads };
            ids.extend(self.values.get(value).map(|value| value.id));
        }
        let operator = self.out.named(Some(operation.name));
        self.out.node_with(operator, (&reads, &writes), attributes);
    }

    /// Returns the index of the value that an operation reads or writes.
    fn value(&mut self, access: &Access) -> usize {
        let place = (access.region, access.range.start);
        cost::look_up("", self.current.len());
        let known = self.current.get(&place).filter(|_| !access.is_written);
        if let Some(&known) = known {
            return known;
        }
        let data = self.data(access);
        let role = if data.is_some() { Role::Constant } else { Role::Inner };
        let len = len_of(&access.range);
        let (datatype, shape) = match access.map {
            Some((datatype, shape)) => (datatype, shape.to_vec()),
            None => ("UINT8", Vec::from([u32::try_from(len).unwrap_or(u32::MAX)])),
        };
        let nth = self.add(datatype, shape, (role, NO_ID));
        self.values.last_mut().into_iter().for_each(|value| value.data = data.clone());
        self.current.insert(place, nth);
        nth
    }

    /// Returns the range in the payload of weights that an operation reads.
    fn data(&self, access: &Access) -> Option<Range<u64>> {
        let weights =
            self.weights.as_ref().filter(|_| access.region == WEIGHTS && !access.is_written)?;
        let at = |pos: u64| weights.start.checked_add(pos).filter(|at| *at <= weights.end);
        Some(at(access.range.start)?..at(access.range.end)?)
    }

    fn finish(mut self) -> Graph<'static> {
        for value in self.values {
            let FormValue { id, datatype, shape, role, data } = value;
            let rank = shape.len();
            self.out.value(id, Datatype::Known(datatype), (rank, shape.into_iter()), role);
            if let Some(range) = data {
                let data = self.out.data(DataPlace::Payload(range), Some(id));
                self.out.set_data(data);
            }
        }
        self.out.finish()
    }
}

/// The least number of bytes of commands for each operation. Genuine operations set at least two addresses.
const LEAST_BYTES: usize = 16;
