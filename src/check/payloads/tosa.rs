//! Rules on TOSA's graphs: what the reference model of the specification refuses (docs/format.md §11.7).

use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::string::String;
use alloc::vec::Vec;

use self::attributes::AttributeTable;
use self::operand::{Attributes, Naming, Numbers, Operand, Operator};
use self::operators::{Form, Shapes};
use super::sizes::Sizes;
use super::{BackendRules, Bytes, Judge, Outcome, PAYLOAD_STRUCTURE, PartPlace, Subject};
use crate::report::Findings;
use crate::rule::{Broken, Rule, rules};
use pte_core::{Backend, PathComponent};
use pte_flat::bytes::{index, narrow, wide};
use pte_flat::cost;
use pte_flat::inserted;
use pte_flat::path;
use pte_flat::quoted::Quoted;
use pte_flat::view::{Raw, Strings, Table};
use pte_schema::tosa::view::{TosaBasicBlock, TosaGraph, TosaOperator};
use pte_schema::tosa::{DType, Op};

pub(super) mod attributes;
mod calls;
mod datatypes;
mod judgement;
pub(super) mod operand;
pub(super) mod operators;
mod shapes;

rules! {
    "tosa";

    TOSA_GRAPH = Error "tosa-graph"
        "A TOSA graph is of TOSA 1.0 or 1.1 and has a region with a block. Regions, blocks, tensors, shapes and locations of operators have names."
        "The reference model refuses the graph, or crashes."
        LOWER_AGAIN
        Crashes ["11.7"];
    TOSA_VALUE = Error "tosa-value"
        "The names of the tensors and shapes of a TOSA block are unique, and each of them is defined once, before its first use."
        "The reference model refuses the graph, or crashes."
        LOWER_AGAIN
        Crashes ["11.7"];
    TOSA_OPERATOR = Error "tosa-operator"
        "A TOSA operator is one of the specification, with its attributes and as many inputs and outputs as the specification gives."
        "The reference model refuses the graph, or crashes."
        LOWER_AGAIN
        Crashes ["11.7"];
    TOSA_SHAPE = Error "tosa-shape"
        "The datatypes and shapes of a TOSA operator's inputs and outputs are those that the specification asks for."
        "The reference model refuses the graph, or crashes."
        LOWER_AGAIN
        Crashes ["11.7"];
    TOSA_CONSTANT = Error "tosa-constant"
        "A constant of a TOSA graph has the bytes that its shape asks for, and zero points that are not INT8 are 0."
        "The reference model crashes. With too few bytes it runs, and computes with other numbers."
        LOWER_AGAIN
        Misreads ["11.7"];
    TOSA_CALL = Error "tosa-call"
        "A call of a TOSA graph has an argument for each input and then for each output: tensors of as many bytes."
        "The reference model refuses the inputs, or computes outputs of another size."
        LOWER_AGAIN
        Refuses ["11.7"];
    TOSA_TAG = Warning "tosa-tag"
        "A TOSA operator without attributes has the empty attribute table of its kind, and no block lists an input twice."
        "No known reader checks it."
        LOWER_AGAIN
        Ignores ["11.7"];
}

pub(super) const JUDGED: BackendRules = BackendRules {
    unreadable: &PAYLOAD_STRUCTURE,
    ..BackendRules::of(Backend::Tosa, RULES, judge).with_requested_keys()
};

/// Judges a payload.
fn judge(judge: &mut Judge<'_>, payload: &Subject<'_>, bytes: &mut Bytes<'_>) -> Outcome {
    let Some(flatbuffer) = payload.flatbuffer(Backend::Tosa, bytes)? else { return Ok(()) };
    let Some(graph) = flatbuffer.root::<TosaGraph<'_>>(judge.limits)? else { return Ok(()) };
    let place = judge.place(payload, flatbuffer.start, TosaGraph::DESC.name);
    let version = graph.version().map(|version| (version._major(), version._minor()));
    let (major, minor) = version.unwrap_or_default();
    let regions = graph.regions().unwrap_or_default();
    let inner = regions.iter().filter_map(|region| {
        cost::look_up(region.name()?, regions.len());
        let block = region.blocks()?.get(0)?;
        let counts =
            [block.inputs(), block.outputs()].map(|names| names.map_or(0, |all| all.len()));
        Some((region.name()?, counts))
    });
    let inner: &BTreeMap<_, _> = &inserted(inner);
    let is_first = (major, minor) == (1, 0);
    let site = Site { place, is_first, regions: inner };
    let mut found = judge.out.another();
    let out = &mut found;
    if major != 1 || !(0..=1).contains(&minor) {
        site.find(out, &TOSA_GRAPH, graph.raw(), None, || {
            format!("unknown version {major}.{minor}")
        });
    }
    // Readers take the first region and its first block.
    if regions.get(0).and_then(|region| region.blocks()?.get(0)).is_none() {
        site.find(out, &TOSA_GRAPH, graph.raw(), None, || "there is no block".into());
    }
    for (nth, region) in (0..).zip(regions.iter()) {
        let path = path!["regions", nth];
        Site { place: PartPlace { path: &path, ..place }, ..site }.named(
            region.name(),
            region.raw(),
            None,
            out,
        );
        for (block_nth, block) in (0..).zip(region.blocks().into_iter().flatten()) {
            let [regions, region] = path;
            let path =
                [regions, region, PathComponent::Field("blocks"), PathComponent::Index(block_nth)];
            Site { place: PartPlace { path: &path, ..place }, ..site }.block(block, out);
        }
    }
    let is_sound = found.is_empty();
    judge.out.extend(found);
    if is_sound {
        calls::judge(judge, payload.users, graph);
    }
    Ok(())
}

/// The graph or the block that is being judged, and the place of its findings.
#[derive(Clone, Copy)]
struct Site<'s> {
    place: PartPlace<'s>,
    /// Whether the graph is of TOSA 1.0.
    is_first: bool,
    /// The numbers of inputs and outputs of each region, by its name.
    regions: &'s BTreeMap<&'s str, [usize; 2]>,
}

/// An element of a list of a block: the name and the index.
type Element = Option<(&'static str, usize)>;

/// A tensor or a shape of a block.
#[derive(Clone, Copy)]
struct Value<'p> {
    operand: Operand<'p>,
    /// Whether the tensor or shape has data.
    is_constant: bool,
    /// Whether the tensor is a variable.
    is_variable: bool,
    /// Whether an operator or the list of inputs defines it.
    is_defined: bool,
    is_used: bool,
    at: Raw<'p>,
    element: Element,
}

/// The values of a block.
#[derive(Default)]
struct Values<'p> {
    all: Vec<Value<'p>>,
    indices: BTreeMap<&'p str, u32>,
}

impl<'p> Values<'p> {
    fn get(&mut self, name: &str) -> Option<&mut Value<'p>> {
        cost::look_up(name, self.indices.len());
        self.all.get_mut(index(*self.indices.get(name)?))
    }
}

impl<'s> Site<'s> {
    fn find(
        &self,
        out: &mut Findings,
        rule: &'static Rule,
        at: Raw<'_>,
        element: Element,
        message: impl FnOnce() -> String,
    ) {
        let element = element.map(|(list, nth)| path![list, narrow(nth)]);
        self.place.find(out, rule, at, element.as_ref().map_or(&[], |path| path), message);
    }

    /// Judges whether a table has a name, and returns the name.
    fn named<'p>(
        &self,
        name: Option<&'p str>,
        at: Raw<'_>,
        element: Element,
        out: &mut Findings,
    ) -> &'p str {
        if name.is_none() {
            self.find(out, &TOSA_GRAPH, at, element, || "the table has no name".into());
        }
        name.unwrap_or_default()
    }

    fn block(&self, block: TosaBasicBlock<'_>, out: &mut Findings) {
        self.named(block.name(), block.raw(), None, out);
        let mut values = self.values(block, out);
        for name in block.inputs().into_iter().flatten() {
            let twice =
                values.get(name).map(|value| core::mem::replace(&mut value.is_defined, true));
            match twice {
                Some(false) => {}
                Some(true) => self.find(out, &TOSA_TAG, block.raw(), None, || {
                    format!("the input {} is listed twice", Quoted(name))
                }),
                None => self.find(out, &TOSA_VALUE, block.raw(), None, || no_value(name)),
            }
        }
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for (nth, operator) in block.operators().into_iter().flatten().enumerate() {
            let element = Some(("operators", nth));
            if let Some(location) = operator.location() {
                self.named(location.text(), location.raw(), element, out);
            }
            inputs.clear();
            let is_known = self.uses(
                operator.inputs(),
                (operator.raw(), element),
                (&mut values, &mut inputs),
                out,
            );
            outputs.clear();
            let mut first_output = None;
            for name in operator.outputs().into_iter().flatten() {
                let Some(value) = values.get(name) else {
                    self.find(out, &TOSA_VALUE, operator.raw(), element, || no_value(name));
                    continue;
                };
                let is_twice =
                    core::mem::replace(&mut value.is_defined, true) && !value.is_variable;
                outputs.push(value.operand);
                first_output.get_or_insert(*value);
                if is_twice {
                    self.find(out, &TOSA_VALUE, operator.raw(), element, || {
                        format!("{} is defined twice", Quoted(name))
                    });
                }
            }
            let inputs = is_known.then_some(&inputs[..]);
            let outputs = (first_output, &outputs[..]);
            if let Err((rule, message)) = self.operator(operator, inputs, outputs) {
                self.find(out, rule, operator.raw(), element, || message);
            }
        }
        inputs.clear();
        self.uses(block.outputs(), (block.raw(), None), (&mut values, &mut inputs), out);
        let unused = values.all.iter().find(|value| !value.is_defined && !value.is_used);
        if let Some(value) = unused {
            self.find(out, &TOSA_VALUE, value.at, value.element, || {
                "the value is neither defined nor used".into()
            });
        }
    }

    /// Judges the names of values that an operator or a block uses, and collects the values. Returns whether there
    /// are values of all names.
    fn uses<'p>(
        &self,
        names: Option<Strings<'p>>,
        (at, element): (Raw<'_>, Element),
        (values, used): (&mut Values<'p>, &mut Vec<Operand<'p>>),
        out: &mut Findings,
    ) -> bool {
        let mut is_known = true;
        for name in names.into_iter().flatten() {
            let Some(value) = values.get(name) else {
                self.find(out, &TOSA_VALUE, at, element, || no_value(name));
                is_known = false;
                continue;
            };
            value.is_used = true;
            if !value.is_defined && !value.is_variable {
                self.find(out, &TOSA_VALUE, at, element, || {
                    format!("{} is used before its definition", Quoted(name))
                });
            }
            used.push(value.operand);
        }
        is_known
    }

    /// Returns the tensors and shapes of a block, and judges their names and data.
    fn values<'p>(&self, block: TosaBasicBlock<'p>, out: &mut Findings) -> Values<'p> {
        let mut values = Values::default();
        for (nth, tensor) in block.tensors().into_iter().flatten().enumerate() {
            let (at, dtype, element) = (tensor.raw(), tensor.r#type(), Some(("tensors", nth)));
            let name = self.named(tensor.name(), at, element, out);
            let sizes = tensor.shape().unwrap_or_default();
            let sizes = if tensor.is_unranked() { None } else { Sizes::of(sizes.iter()) };
            // A tensor with an offset has its data elsewhere in a file of more than 2 GB.
            let is_elsewhere = tensor.offset() > 1;
            let data = tensor.data().filter(|_| !is_elsewhere);
            let have = data.map_or(0, |data| wide(data.len()));
            let is_nonzero = data.is_some_and(|data| is_nonzero(dtype, data.bytes()));
            let value = Value {
                operand: Operand { dtype, sizes, numbers: None, is_nonzero },
                is_constant: have > 0 || is_elsewhere,
                is_variable: tensor.variable(),
                is_defined: false,
                is_used: false,
                at,
                element,
            };
            self.add((name, value), &mut values, out);
            if dtype.name().is_none() || [DType::UNKNOWN, DType::SHAPE].contains(&dtype) {
                self.find(out, &TOSA_SHAPE, at, element, || {
                    format!("the tensor {} has the unknown datatype {dtype}", Quoted(name))
                });
            }
            // A size of -1 is not known before the graph is specialized, unless there is data.
            let sizes_at = tensor.shape().unwrap_or_default();
            let least = if have > 0 { 0 } else { -1 };
            cost::charge(sizes_at.len());
            if let Some(size) = sizes_at.iter().find(|size| *size == 0 || *size < least) {
                self.find(out, &TOSA_SHAPE, at, element, || {
                    format!("the tensor {} has a size of {size}", Quoted(name))
                });
            }
            if sizes_at.len() > MOST_DIMENSIONS {
                let (count, most) = (sizes_at.len(), MOST_DIMENSIONS);
                self.find(out, &TOSA_SHAPE, at, element, || {
                    format!("{} has {count} dimensions: at most {most} are allowed", Quoted(name))
                });
            }
            let bits = sizes.zip(element_bits(dtype));
            let need = bits.map_or(0, |(sizes, bits)| sizes.elements().saturating_mul(bits) / 8);
            if have > 0 && have < need {
                self.find(out, &TOSA_CONSTANT, at, element, || {
                    format!("the tensor {} has {have} bytes: expected {need}", Quoted(name))
                });
            }
        }
        for (nth, shape) in block.shapes().into_iter().flatten().enumerate() {
            let (at, element) = (shape.raw(), Some(("shapes", nth)));
            let name = self.named(shape.name(), at, element, out);
            let data = shape.data().filter(|data| !data.is_empty());
            let have = data.map_or(0, |data| wide(data.len()));
            let need = u64::from(shape.rank()).saturating_mul(8);
            let numbers = data.map(|data| data.up_to(usize::try_from(need).unwrap_or(usize::MAX)));
            let value = Value {
                operand: Operand {
                    dtype: DType::SHAPE,
                    sizes: Sizes::of([shape.rank()].into_iter()),
                    numbers: numbers.map(Numbers::Shape),
                    is_nonzero: false,
                },
                // A shape of no numbers has no data.
                is_constant: have > 0 || need == 0,
                is_variable: false,
                is_defined: false,
                is_used: false,
                at,
                element,
            };
            self.add((name, value), &mut values, out);
            if have != 0 && have < need {
                self.find(out, &TOSA_CONSTANT, at, element, || {
                    format!("the shape {} has {have} bytes: expected {need}", Quoted(name))
                });
            }
        }
        values
    }

    fn add<'p>(
        &self,
        (name, value): (&'p str, Value<'p>),
        values: &mut Values<'p>,
        out: &mut Findings,
    ) {
        cost::look_up(name, values.indices.len());
        match values.indices.entry(name) {
            Entry::Vacant(entry) => {
                entry.insert(narrow(values.all.len()));
                values.all.push(value);
            }
            Entry::Occupied(_) => self.find(out, &TOSA_VALUE, value.at, value.element, || {
                format!("duplicate value name {}", Quoted(name))
            }),
        }
    }

    /// Returns what is wrong with the graphs that an operator of these numbers of inputs and outputs runs.
    fn graphs_of(
        &self,
        op: Op,
        attributes: AttributeTable<'_>,
        [inputs, outputs]: [usize; 2],
    ) -> Option<String> {
        let after_condition = [inputs.saturating_sub(1), outputs];
        let expected = match op {
            Op::COND_IF => [("then_graph", after_condition), ("else_graph", after_condition)],
            Op::WHILE_LOOP => [("cond_graph", [inputs, 1]), ("body_graph", [inputs, outputs])],
            _ => return None,
        };
        expected.into_iter().find_map(|(field, expected)| {
            let name = attributes.text(field).unwrap_or_default();
            cost::look_up(name, self.regions.len());
            match self.regions.get(name) {
                Some(found) if *found == expected => None,
                Some([inputs, outputs]) => Some(format!(
                    "{field} {} has {inputs} inputs and {outputs} outputs",
                    Quoted(name)
                )),
                None => Some(format!("there is no {field} {}", Quoted(name))),
            }
        })
    }

    /// Judges an operator by the row of the specification. `inputs` is `None` if a value is missing.
    fn operator(
        &self,
        operator: TosaOperator<'_>,
        inputs: Option<&[Operand<'_>]>,
        (first_output, outputs): (Option<Value<'_>>, &[Operand<'_>]),
    ) -> Result<(), Broken> {
        let op = operator.op();
        if op == Op::UNKNOWN || op.name().is_none() && self.is_first {
            return Err((&TOSA_OPERATOR, format!("unknown operator {}", op.0)));
        }
        // An operator of a later TOSA is not judged.
        let Some(form) = Form::of(op) else { return Ok(()) };
        let counts =
            [operator.inputs(), operator.outputs()].map(|names| names.map_or(0, |all| all.len()));
        form.judge_counts(counts)?;
        let table = AttributeTable::of(operator);
        let other_table = |tag| format!("{op} has the attributes of another operator: {tag}");
        if let Err(tag) = table
            && !attributes::fields_of(op).is_empty()
        {
            return Err((&TOSA_OPERATOR, other_table(tag)));
        }
        if form.shapes == Shapes::Loop && counts[0] != counts[1] {
            let [inputs, outputs] = counts;
            return Err((
                &TOSA_OPERATOR,
                format!("{op} has {inputs} inputs and {outputs} outputs"),
            ));
        }
        if let Some(message) = table.ok().and_then(|of| self.graphs_of(op, of, counts)) {
            return Err((&TOSA_OPERATOR, format!("{op}: {message}")));
        }
        if let Some(output) = first_output {
            if [Op::CONST, Op::CONST_SHAPE].contains(&op) && !output.is_constant {
                return Err((&TOSA_CONSTANT, format!("{op} defines a value without data")));
            }
            if op == Op::CONST && output.is_variable {
                return Err((&TOSA_CONSTANT, format!("{op} defines a variable")));
            }
        }
        let Some(inputs) = inputs else { return Ok(()) };
        let is_first = self.is_first;
        let attributes = match &table {
            Ok(table) => Some::<&dyn Attributes>(table),
            Err(_) => None,
        };
        let naming = Naming::Tosa;
        Operator { form, naming, is_first, attributes, inputs, outputs }.judge()?;
        table.map_or_else(|tag| Err((&TOSA_TAG, other_table(tag))), |_| Ok(()))
    }
}

fn no_value(name: &str) -> String {
    format!("there is no value {}", Quoted(name))
}

/// Returns whether the first number of a constant, which is not INT8, is not 0.
fn is_nonzero(dtype: DType, data: &[u8]) -> bool {
    let bits = match dtype {
        DType::INT8 => None,
        DType::INT4 => Some(8),
        dtype => element_bits(dtype),
    };
    let len = bits.and_then(|bits| usize::try_from(bits / 8).ok()).unwrap_or_default();
    // The last bit is the sign of a floating-point number.
    let last = data.get(..len.min(data.len())).and_then(<[u8]>::split_last);
    last.is_some_and(|(last, rest)| last & 0x7f != 0 || rest.iter().any(|byte| *byte != 0))
}

/// Returns the bits of an element of a tensor; `None` if elements are not stored in whole bytes.
fn element_bits(dtype: DType) -> Option<u64> {
    Some(match dtype {
        DType::BOOL | DType::INT8 | DType::FP8E4M3 | DType::FP8E5M2 => 8,
        DType::INT16 | DType::FP16 | DType::BF16 => 16,
        DType::INT32 | DType::FP32 => 32,
        DType::INT48 => 48,
        DType::INT64 => 64,
        _ => return None,
    })
}

/// The most dimensions of the specification.
const MOST_DIMENSIONS: usize = 6;
