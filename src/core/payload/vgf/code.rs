//! The graph in a module's SPIR-V code (`SPV_ARM_graph`): operators of TOSA, and the tensors between them.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use self::module::GraphTensor;
use super::spirv::{GRAPH_ENTRY_POINT, Instruction, Instructions};
use super::tosa::{self, TosaInstruction};
use crate::element::packed::{BFloat16, Float8e4m3fn, Float8e5m2, Half};
use crate::payload::graph::{self, Builder, Datatype, Literal, MOST_LISTED, NO_ID, Role};
use crate::payload::id_map::IdMap;
use pte_flat::bytes::index;
use pte_flat::cost;
use pte_flat::view::Vector;
use pte_schema::tosa::DType;

pub(super) mod module;

/// The resources that a graph uses.
pub(super) struct Resources {
    /// The resource of each binding.
    pub(super) bindings: BTreeMap<u32, u32>,
    /// The resources of the segment's constants.
    pub(super) constants: Vec<u32>,
}

/// Returns the name of an operand. The last one of an operator may repeat.
fn operand_name(names: &[&'static str], nth: usize) -> &'static str {
    names.get(nth).or(names.last()).copied().unwrap_or_default()
}

/// The definition of an id.
#[derive(Clone, Copy, Debug)]
enum Definition<'p> {
    /// A type of numbers, and their number of bits.
    Number(Number, u32),
    /// A type of tensors. `rank` and `shape` are constants.
    Tensor { element: u32, rank: Option<u32>, shape: Option<u32> },
    /// A type of several tensors: its types are the operands from 1 on.
    Several(Instruction<'p>),
    /// A constant number.
    Scalar(Instruction<'p>),
    /// The constant `true` or `false`.
    Bool(bool),
    /// A constant that lists other constants from the operand 2 on.
    List(Instruction<'p>),
    /// A constant of one repeated element.
    Repeated { of: u32, element: u32 },
    /// A constant of zeros.
    Zeros { of: u32 },
    /// A constant that is a resource, by its number.
    Constant { of: u32, number: u32 },
    /// A constant that is not known before the code is specialized.
    Specialized { of: u32 },
    /// A type of pointers.
    Pointer { to: u32 },
    /// A variable, whose binding is a resource.
    Variable { of: u32 },
    /// A type of graphs, by their number of inputs.
    Graph { inputs: u32 },
    /// An input, by the constant with its index.
    Input { of: u32, index: u32 },
    /// What an operator makes.
    Result { of: u32 },
}

/// The kind of a number.
#[derive(Clone, Copy, Debug)]
enum Number {
    Bool,
    Int,
    Float,
    BFloat,
    Float8E4M3,
    Float8E5M2,
}

/// An operator of a graph.
#[derive(Debug)]
struct Operator<'p> {
    instruction: Instruction<'p>,
    /// The index of the first operand that is not defined before; `None` if all are.
    undefined: Option<usize>,
}

/// An input or an output of a graph, and the constant with its index.
#[derive(Debug)]
struct End {
    is_output: bool,
    value: u32,
    index: u32,
}

/// The graph of an entry point.
#[derive(Debug)]
struct Code<'p> {
    definitions: IdMap<Definition<'p>>,
    /// The id of the instructions of TOSA.
    tosa: Option<u32>,
    /// The operators of the graph.
    body: Vec<Operator<'p>>,
    /// The inputs and the outputs of the graph.
    ends: Vec<End>,
    /// Whether there is a graph of the entry point.
    has_graph: bool,
    /// The index of each value that is an output.
    outputs: BTreeMap<u32, u32>,
    /// The variables of the inputs, and then of the outputs.
    interface: Vec<u32>,
    /// The number of inputs.
    inputs: u32,
    /// The binding of each variable.
    bindings: BTreeMap<u32, u32>,
    /// The number and the type of each constant that is a resource.
    constants: Vec<(u32, u32)>,
    /// The values that are parts of what an operator makes, by its id and the index of the part.
    parts: BTreeMap<(u32, u32), u32>,
}

/// Adds the operators of the graph with this entry point. `next` is the id of the next value. Returns whether there is
/// such a graph.
pub(super) fn add<'p>(
    (code, entry): (Vector<'p, u32>, &str),
    resources: &Resources,
    next: &mut u32,
    out: &mut Builder<'p>,
) -> bool {
    let Ok((code, _)) = Code::read(code, entry) else { return false };
    if !code.has_graph {
        return false;
    }
    let (values, literals) = (BTreeMap::new(), BTreeMap::new());
    let mut form = Form { code: &code, resources, values, literals, next, out };
    code.body.iter().for_each(|operator| form.node(operator.instruction));
    true
}

impl<'p> Code<'p> {
    /// Reads the graph with an entry point, and whether there is such an entry point. The error describes what is wrong
    /// with the code.
    fn read(code: Vector<'p, u32>, entry: &str) -> Result<(Self, bool), &'static str> {
        // An instruction that defines an id has two words or more.
        let mut all = Self {
            definitions: IdMap::new(code.len() / 2),
            tosa: None,
            body: Vec::new(),
            ends: Vec::new(),
            has_graph: false,
            outputs: BTreeMap::new(),
            interface: Vec::new(),
            inputs: 0,
            bindings: BTreeMap::new(),
            constants: Vec::new(),
            parts: BTreeMap::new(),
        };
        let (mut graph, mut is_inside, mut has_entry_point) = (None, false, false);
        for instruction in Instructions::of(code)? {
            let instruction = instruction?;
            has_entry_point |= instruction.is_entry(entry);
            let operand = |nth| instruction.operand(nth).unwrap_or_default();
            match instruction.opcode {
                EXT_INST_IMPORT if instruction.has_text(1, TOSA) => {
                    all.tosa = instruction.operand(0)
                }
                GRAPH_ENTRY_POINT if instruction.is_entry(entry) => {
                    graph = instruction.operand(0);
                    // The text is padded to whole words, with a zero at its end.
                    all.interface =
                        instruction.operands((entry.len() / 4).saturating_add(2)).collect();
                }
                GRAPH => {
                    is_inside = graph.is_some() && graph == instruction.operand(1);
                    if is_inside
                        && let Some(Definition::Graph { inputs }) = all.definitions.get(operand(0))
                    {
                        all.inputs = inputs;
                    }
                    all.has_graph |= is_inside;
                }
                GRAPH_END => is_inside = false,
                EXT_INST if is_inside => {
                    let mut operands = instruction.operands(4);
                    let undefined = operands.position(|id| all.definitions.get(id).is_none());
                    all.define(operand(1), Definition::Result { of: operand(0) });
                    all.body.push(Operator { instruction, undefined });
                }
                COMPOSITE_EXTRACT if is_inside && all.has_part(instruction) => {
                    all.define(operand(1), Definition::Result { of: operand(0) });
                    cost::look_up("", all.parts.len());
                    all.parts.insert((operand(2), operand(3)), operand(1));
                }
                GRAPH_INPUT if is_inside => {
                    let (of, value, index) = (operand(0), operand(1), operand(2));
                    all.define(value, Definition::Input { of, index });
                    all.ends.push(End { is_output: false, value, index });
                }
                GRAPH_SET_OUTPUT if is_inside => {
                    let (value, index) = (operand(0), operand(1));
                    all.ends.push(End { is_output: true, value, index });
                    let nth = all.number(operand(1)).and_then(|nth| u32::try_from(nth).ok());
                    if let Some(nth) = nth {
                        cost::look_up("", all.outputs.len());
                        all.outputs.entry(operand(0)).or_insert(nth);
                    }
                }
                DECORATE if operand(1) == BINDING => {
                    cost::look_up("", all.bindings.len());
                    all.bindings.entry(operand(0)).or_insert(operand(2));
                }
                _ => all.declare(instruction),
            }
        }
        Ok((all, has_entry_point))
    }

    /// Returns whether an instruction names a part of several tensors, of the type that the part has.
    fn has_part(&self, instruction: Instruction<'p>) -> bool {
        let part = instruction.operand(2).and_then(|of| self.definitions.get(of));
        let Some(Definition::Result { of }) = part else { return false };
        let Some(Definition::Several(types)) = self.definitions.get(of) else { return false };
        let nth = instruction.operand(3).and_then(|nth| index(nth).checked_add(1));
        nth.and_then(|nth| types.operand(nth)) == instruction.operand(0)
    }

    /// Adds a type or a constant.
    fn declare(&mut self, instruction: Instruction<'p>) {
        let operand = |nth| instruction.operand(nth).unwrap_or_default();
        let of = operand(0);
        let (id, definition) = match instruction.opcode {
            TYPE_BOOL => (of, Definition::Number(Number::Bool, 8)),
            TYPE_INT => (of, Definition::Number(Number::Int, operand(1))),
            TYPE_FLOAT => {
                let kind = match instruction.operand(2) {
                    Some(BFLOAT16) => Number::BFloat,
                    Some(FLOAT8_E4M3) => Number::Float8E4M3,
                    Some(FLOAT8_E5M2) => Number::Float8E5M2,
                    _ => Number::Float,
                };
                (of, Definition::Number(kind, operand(1)))
            }
            TYPE_STRUCT => (of, Definition::Several(instruction)),
            TYPE_TENSOR => {
                let (rank, shape) = (instruction.operand(2), instruction.operand(3));
                (of, Definition::Tensor { element: operand(1), rank, shape })
            }
            CONSTANT_TRUE => (operand(1), Definition::Bool(true)),
            CONSTANT_FALSE => (operand(1), Definition::Bool(false)),
            CONSTANT => (operand(1), Definition::Scalar(instruction)),
            CONSTANT_COMPOSITE => (operand(1), Definition::List(instruction)),
            CONSTANT_REPLICATED => (operand(1), Definition::Repeated { of, element: operand(2) }),
            CONSTANT_NULL => (operand(1), Definition::Zeros { of }),
            TYPE_POINTER => (of, Definition::Pointer { to: operand(2) }),
            VARIABLE => (operand(1), Definition::Variable { of }),
            TYPE_GRAPH => (of, Definition::Graph { inputs: operand(1) }),
            GRAPH_CONSTANT => {
                self.constants.push((operand(2), of));
                (operand(1), Definition::Constant { of, number: operand(2) })
            }
            UNDEF | SPEC_CONSTANT_TRUE..=SPEC_CONSTANT_OP | SPEC_CONSTANT_REPLICATED => {
                (operand(1), Definition::Specialized { of })
            }
            _ => return,
        };
        self.define(id, definition);
    }

    fn define(&mut self, id: u32, definition: Definition<'p>) {
        self.definitions.insert_first(id, definition);
    }

    /// Returns the integer that a constant is.
    fn number(&self, id: u32) -> Option<i64> {
        match self.scalar(id)? {
            Literal::Int(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the number or bool that a constant is.
    fn scalar(&self, id: u32) -> Option<Literal<'static>> {
        let instruction = match self.definitions.get(id)? {
            Definition::Bool(is_true) => return Some(Literal::Bool(is_true)),
            Definition::Scalar(instruction) => instruction,
            _ => return None,
        };
        let Definition::Number(kind, bits) = self.definitions.get(instruction.operand(0)?)? else {
            return None;
        };
        let low = instruction.operand(2)?;
        let wide = u64::from(instruction.operand(3).unwrap_or_default()) << 32 | u64::from(low);
        let [first, second, ..] = low.to_le_bytes();
        // Integers have no sign in code, and are signed for TOSA. The high bits of smaller ones may be 0.
        let unused = 64u32.saturating_sub(bits).min(63);
        Some(match (kind, bits) {
            (Number::Int, _) => Literal::Int(wide.cast_signed() << unused >> unused),
            (Number::Float, 16) => Literal::Float(Half::from_bytes([first, second]).to_f64()),
            (Number::Float, 64) => Literal::Float(f64::from_bits(wide)),
            (Number::Float, _) => Literal::Single(f32::from_bits(low)),
            (Number::BFloat, _) => Literal::Float(BFloat16::from_bytes([first, second]).to_f64()),
            (Number::Float8E4M3, _) => Literal::Float(Float8e4m3fn::from_bytes([first]).to_f64()),
            (Number::Float8E5M2, _) => Literal::Float(Float8e5m2::from_bytes([first]).to_f64()),
            (Number::Bool, _) => return None,
        })
    }

    /// Returns the first numbers of a constant, at most [`MOST_LISTED`].
    fn numbers(&self, id: u32) -> Vec<Literal<'static>> {
        // The constants that are left to visit: the next one last. A list of lists can have no numbers.
        let (mut found, mut left, mut visits) = (Vec::new(), vec![id], 0usize..MOST_VISITS);
        while let Some(id) = left.pop()
            && found.len() < MOST_LISTED
            && visits.next().is_some()
        {
            match self.definitions.get(id) {
                Some(Definition::List(instruction)) => {
                    let elements: Vec<_> = instruction.operands(2).take(MOST_LISTED).collect();
                    left.extend(elements.iter().rev());
                }
                Some(Definition::Repeated { of, element }) => {
                    left.extend(core::iter::repeat_n(element, self.len_of(of)));
                }
                Some(Definition::Zeros { of }) => {
                    found.extend(core::iter::repeat_n(Literal::Int(0), self.len_of(of)));
                }
                _ => found.extend(self.scalar(id)),
            }
        }
        found.truncate(MOST_LISTED);
        found
    }

    /// Returns the number of elements of the outermost dimension of a type, at most [`MOST_LISTED`].
    fn len_of(&self, of: u32) -> usize {
        let shape = match self.definitions.get(of) {
            Some(Definition::Tensor { shape: Some(shape), .. }) => shape,
            _ => return 1,
        };
        let first = match self.definitions.get(shape) {
            Some(Definition::List(sizes)) => sizes.operand(2),
            _ => None,
        };
        let len = first.and_then(|id| self.number(id)).and_then(|len| usize::try_from(len).ok());
        len.unwrap_or(1).min(MOST_LISTED)
    }

    /// Returns a type of tensors; `None` for another type, or if it has a shape of another rank.
    fn tensor(&self, of: u32) -> Option<GraphTensor> {
        let Definition::Tensor { element, rank, shape } = self.definitions.get(of)? else {
            return None;
        };
        let bits = match self.definitions.get(element)? {
            Definition::Number(_, bits) => bits,
            _ => 0,
        };
        let datatype = self.datatype(element);
        let rank = rank.and_then(|rank| usize::try_from(self.number(rank)?).ok());
        let size = |id| self.number(id).and_then(|size| u32::try_from(size).ok());
        let sizes = shape.and_then(|shape| match self.definitions.get(shape)? {
            Definition::List(sizes) => {
                let sizes = sizes.operands(2).take(MOST_LISTED);
                Some(sizes.map(|id| size(id).unwrap_or_default()).collect())
            }
            _ => None,
        });
        let sizes: Option<Vec<_>> = sizes;
        let is_of_rank =
            |sizes: &Vec<_>| rank.is_none_or(|rank| rank.min(MOST_LISTED) == sizes.len());
        sizes.as_ref().is_none_or(is_of_rank).then_some(())?;
        Some(GraphTensor { datatype, sizes, bits, rank: rank.unwrap_or_default() })
    }

    /// Returns the datatype of TOSA with such numbers; `None` if there is none.
    fn datatype(&self, of: u32) -> Option<DType> {
        let Definition::Number(kind, bits) = self.definitions.get(of)? else { return None };
        Some(match (kind, bits) {
            (Number::Bool, _) => DType::BOOL,
            (Number::Int, 8) => DType::INT8,
            (Number::Int, 16) => DType::INT16,
            (Number::Int, 32) => DType::INT32,
            (Number::Int, 64) => DType::INT64,
            (Number::Float, 16) => DType::FP16,
            (Number::Float, 32) => DType::FP32,
            (Number::BFloat, _) => DType::BF16,
            (Number::Float8E4M3, _) => DType::FP8E4M3,
            (Number::Float8E5M2, _) => DType::FP8E5M2,
            _ => return None,
        })
    }

    /// Returns the tensor of a variable.
    fn variable(&self, id: u32) -> Option<GraphTensor> {
        let Definition::Variable { of } = self.definitions.get(id)? else { return None };
        let Definition::Pointer { to } = self.definitions.get(of)? else { return None };
        self.tensor(to)
    }

    /// Returns the operator of an instruction; `None` for an unknown one.
    fn operator(&self, instruction: Instruction<'p>) -> Option<TosaInstruction> {
        let set = instruction.operand(2).filter(|set| self.tosa == Some(*set));
        set.and_then(|_| tosa::instruction(instruction.operand(3)?))
    }

    /// Returns the binding of an input or an output.
    fn binding(&self, end: u32) -> Option<u32> {
        cost::look_up("", self.bindings.len());
        self.bindings.get(self.interface.get(index(end))?).copied()
    }
}

/// A form to which nodes are added.
struct Form<'f, 'p> {
    code: &'f Code<'p>,
    resources: &'f Resources,
    /// The ids of the values that operators make, by their ids in the code.
    values: BTreeMap<u32, u32>,
    /// The constants that are attributes, each once: any number of operators may share one.
    literals: BTreeMap<u32, Option<Literal<'p>>>,
    next: &'f mut u32,
    out: &'f mut Builder<'p>,
}

impl<'p> Form<'_, 'p> {
    /// Adds an operator. Operands that are constants of the code are attributes.
    fn node(&mut self, instruction: Instruction<'p>) {
        let operand = |nth| instruction.operand(nth).unwrap_or_default();
        let known = self.code.operator(instruction);
        let names = known.map_or(&[][..], |known| known.1);
        let attributes = self.out.next_attribute();
        let mut reads = Vec::new();
        for (nth, id) in instruction.operands(4).enumerate() {
            match self.value(id) {
                Some(value) => reads.push(value),
                None => {
                    self.attribute(operand_name(names, nth), id);
                }
            }
        }
        let writes = self.made(operand(1), operand(0));
        let operator = match known {
            Some((op, _)) => self.out.named(op.name()),
            None => graph::Operator::Unknown,
        };
        self.out.node_with(operator, (&reads, &writes), attributes);
    }

    /// Adds a constant as an attribute.
    fn attribute(&mut self, name: &'p str, id: u32) {
        cost::look_up("", self.literals.len());
        let literal = match self.literals.get(&id) {
            Some(literal) => *literal,
            None => {
                let literal = self.literal(id);
                self.literals.insert(id, literal);
                literal
            }
        };
        literal.into_iter().for_each(|literal| self.out.attribute(name, literal));
    }

    fn literal(&mut self, id: u32) -> Option<Literal<'p>> {
        if let Some(literal) = self.code.scalar(id) {
            return Some(literal);
        }
        let numbers = self.code.numbers(id);
        (!numbers.is_empty()).then(|| self.out.listed(numbers))
    }

    /// Returns the value that an operand is; `None` for a constant of the code.
    fn value(&self, id: u32) -> Option<u32> {
        match self.code.definitions.get(id)? {
            Definition::Input { index, .. } => {
                let nth = u32::try_from(self.code.number(index)?).ok()?;
                self.resource(nth)
            }
            Definition::Constant { number, .. } => {
                self.resources.constants.get(index(number)).copied()
            }
            Definition::Result { .. } => {
                cost::look_up("", self.values.len());
                self.values.get(&id).copied()
            }
            _ => None,
        }
    }

    /// Returns the resource of an input or an output.
    fn resource(&self, end: u32) -> Option<u32> {
        let binding = self.code.binding(end)?;
        cost::look_up("", self.resources.bindings.len());
        self.resources.bindings.get(&binding).copied()
    }

    /// Adds what an operator makes, and returns the ids.
    fn made(&mut self, id: u32, of: u32) -> Vec<u32> {
        if !matches!(self.code.definitions.get(of), Some(Definition::Several(_))) {
            return self.add(id, of).into_iter().collect();
        }
        cost::look_up("", self.code.parts.len());
        let parts = self.code.parts.range((id, 0)..=(id, u32::MAX));
        let parts: Vec<_> = parts.map(|(_, part)| *part).collect();
        let made = parts.into_iter().filter_map(|part| match self.code.definitions.get(part)? {
            Definition::Result { of } => self.add(part, of),
            _ => None,
        });
        made.collect()
    }

    /// Adds a value with this type, unless it is an output.
    fn add(&mut self, id: u32, of: u32) -> Option<u32> {
        cost::look_up("", self.code.outputs.len());
        let output = self.code.outputs.get(&id);
        let output = output.and_then(|nth| self.resource(self.code.inputs.checked_add(*nth)?));
        let value = match output {
            Some(resource) => resource,
            None => {
                let tensor = self.code.tensor(of)?;
                let datatype = Datatype::new(tensor.format(), tensor.bits);
                let (rank, sizes) = (tensor.rank, tensor.sizes.unwrap_or_default());
                let value = *self.next;
                *self.next = value.saturating_add(1);
                self.out.value(value, datatype, (rank, sizes.into_iter()), (Role::Inner, NO_ID));
                value
            }
        };
        cost::look_up("", self.values.len());
        self.values.insert(id, value);
        Some(value)
    }
}

/// The most constants that are visited for the numbers of one.
const MOST_VISITS: usize = 3 * MOST_LISTED;

/// The name of TOSA's instructions.
const TOSA: &str = "TOSA.001000.1";

/// The decoration `Binding`.
const BINDING: u32 = 33;

/// The encodings of floating-point numbers: `BFloat16KHR`, `Float8E4M3EXT` and `Float8E5M2EXT`.
const BFLOAT16: u32 = 0;
const FLOAT8_E4M3: u32 = 4214;
const FLOAT8_E5M2: u32 = 4215;

/// The instructions, by upstream's names: `OpExtInstImport` and so on.
const UNDEF: u16 = 1;
const EXT_INST_IMPORT: u16 = 11;
const EXT_INST: u16 = 12;
const TYPE_BOOL: u16 = 20;
const TYPE_INT: u16 = 21;
const TYPE_FLOAT: u16 = 22;
const TYPE_STRUCT: u16 = 30;
const CONSTANT_TRUE: u16 = 41;
const CONSTANT_FALSE: u16 = 42;
const CONSTANT: u16 = 43;
const CONSTANT_COMPOSITE: u16 = 44;
const CONSTANT_NULL: u16 = 46;
const SPEC_CONSTANT_TRUE: u16 = 48;
const SPEC_CONSTANT_OP: u16 = 52;
const TYPE_POINTER: u16 = 32;
const VARIABLE: u16 = 59;
const DECORATE: u16 = 71;
const COMPOSITE_EXTRACT: u16 = 81;
const TYPE_TENSOR: u16 = 4163;
const GRAPH_CONSTANT: u16 = 4181;
const GRAPH: u16 = 4183;
const GRAPH_INPUT: u16 = 4184;
const GRAPH_SET_OUTPUT: u16 = 4185;
const GRAPH_END: u16 = 4186;
const TYPE_GRAPH: u16 = 4190;
const CONSTANT_REPLICATED: u16 = 4461;
const SPEC_CONSTANT_REPLICATED: u16 = 4462;
