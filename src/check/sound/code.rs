//! The code of a method: chains of instructions, and the operators and delegates that they call.

use core::fmt;
use core::ops::Range;

use super::list::{Item, ValueList};
use super::method::Method;
use super::operand::Operand;
use super::proof::{bare, proven};
use pte_core::{method, operator_name};
use pte_flat::bytes::{index as at_index, narrow};
use pte_flat::view::{List as Tables, Table, Vector};
use pte_schema::program::view::{self, InstructionArguments};

/// A list of instructions.
#[derive(Clone, Copy, Debug)]
pub struct Chain<'p> {
    pub(super) method: Method<'p>,
    pub(super) view: view::Chain<'p>,
}

/// The operation of an instruction.
#[derive(Clone, Copy, Debug)]
pub enum Operation<'p> {
    /// A call of an operator.
    Kernel {
        /// The operator.
        operator: Operator<'p>,
        /// The schema's arguments, the outputs, and then the outputs again as results.
        args: ValueList<'p, Operand<'p>>,
    },
    /// A call of a delegate.
    Delegate {
        /// The delegate.
        delegate: Delegate<'p>,
        /// Inputs, then outputs.
        args: ValueList<'p, Operand<'p>>,
    },
    /// A move, which copies a value to another index.
    Move {
        /// The value that is copied.
        from: Operand<'p>,
        /// The value that is overwritten.
        to: Operand<'p>,
    },
    /// A jump that is taken if its condition is false.
    JumpFalse {
        /// The condition: a Bool, or a tensor of Bools, when the jump is reached.
        condition: Operand<'p>,
        /// The index of the target in the chain. `None` if the jump ends the chain: its target is past
        /// the last instruction, or invalid (a Warning).
        to: Option<usize>,
    },
    /// A free, which releases the memory of a tensor.
    Free {
        /// The value, which is a tensor when the instruction is reached.
        value: Operand<'p>,
    },
}

/// An operator of a method. [`Display`](fmt::Display) gives its full name: `aten::add.out`.
#[derive(Clone, Copy, Debug)]
pub struct Operator<'p>(pub(super) view::Operator<'p>);

/// A part of a method that a backend runs.
#[derive(Clone, Copy)]
pub struct Delegate<'p> {
    pub(super) method: Method<'p>,
    pub(super) view: view::BackendDelegate<'p>,
}

/// An option for a backend.
#[derive(Clone, Copy, Debug)]
pub struct CompileSpec<'p> {
    /// The name of the option.
    pub key: &'p str,
    /// The value of the option. Its format depends on the backend.
    pub value: &'p [u8],
}

impl<'p> Chain<'p> {
    /// Returns every instruction, in the order of the file.
    pub fn instructions(self) -> impl ExactSizeIterator<Item = Operation<'p>> {
        let len = narrow(self.list().len());
        let all = self.list().into_iter().enumerate();
        all.map(move |(index, view)| self.instruction((narrow(index), len), view))
    }

    /// Returns the instruction at `index`.
    pub fn get(self, index: usize) -> Option<Operation<'p>> {
        let len = narrow(self.list().len());
        self.list().get(index).map(|view| self.instruction((narrow(index), len), view))
    }

    /// Returns the view of the chain's table, with all fields of the file.
    pub fn view(self) -> view::Chain<'p> {
        self.view
    }

    fn list(self) -> Tables<'p, view::Instruction<'p>> {
        proven(self.view.instructions(), "instructions-missing", Tables::default())
    }

    /// Resolves instruction `index` of `len`.
    fn instruction(self, (index, len): (u32, u32), view: view::Instruction<'p>) -> Operation<'p> {
        let method = self.method;
        let operand = |index| Operand::of(method, index);
        let instruction = method::Instruction::decode((0, index), (0, len), view);
        let operand_at = |nth| operand(instruction.operands().get(nth).unwrap_or_default());
        match instruction.operation() {
            Some(InstructionArguments::KernelCall(call)) => {
                let operators = method.plan.operators();
                let rules = "operator-index, plan-operators-missing";
                let operator = proven(at(operators, call.op_index()), rules, bare());
                Operation::Kernel { operator: Operator(operator), args: self.args(call.args()) }
            }
            Some(InstructionArguments::DelegateCall(call)) => {
                let found = at(method.plan.delegates(), call.delegate_index());
                let delegate = Delegate { method, view: proven(found, "delegate-index", bare()) };
                Operation::Delegate { delegate, args: self.args(call.args()) }
            }
            Some(InstructionArguments::MoveCall(_)) => {
                Operation::Move { from: operand_at(0), to: operand_at(1) }
            }
            Some(InstructionArguments::JumpFalseCall(_)) => {
                let target = instruction.jump().map(|jump| jump.target);
                let to = target.filter(|&target| target < len).map(at_index);
                Operation::JumpFalse { condition: operand_at(0), to }
            }
            Some(InstructionArguments::FreeCall(_)) => Operation::Free { value: operand_at(0) },
            Some(InstructionArguments::Unknown(_)) => {
                proven(None, "instruction-unknown", Operation::Free { value: operand(0) })
            }
            None => proven(None, "instruction-empty", Operation::Free { value: operand(0) }),
        }
    }

    fn args(self, indices: Option<Vector<'p, i32>>) -> ValueList<'p, Operand<'p>> {
        ValueList::new(self.method, proven(indices, "args-missing", Vector::default()))
    }
}

impl<'p> Operator<'p> {
    /// Returns the operator's name without the overload, such as `aten::add`.
    pub fn name(self) -> &'p str {
        proven(self.0.name(), "operator-name-missing", "")
    }

    /// Returns the operator's overload, such as `out`, or an empty text if there is none. A file
    /// without this field is not sound: `operator-overload-missing` is an Error.
    pub fn overload(self) -> &'p str {
        proven(self.0.overload(), "operator-overload-missing", "")
    }
}

impl fmt::Display for Operator<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        operator_name(self.0).fmt(f)
    }
}

impl<'p> Delegate<'p> {
    /// Returns the backend's name, such as `XnnpackBackend`.
    pub fn id(self) -> &'p str {
        proven(self.view.id(), "delegate-id-missing", "")
    }

    /// Returns the range of the delegate's payload in the file.
    pub fn payload(self) -> Range<u64> {
        let rules =
            "delegate-payload-missing, delegate-location, delegate-data-index, segment-index";
        proven(self.method.pte.delegate_range(self.view).ok().flatten(), rules, 0..0)
    }

    /// Returns the options for the backend; none if the list is missing (a Note).
    pub fn compile_specs(self) -> impl ExactSizeIterator<Item = CompileSpec<'p>> {
        self.view.compile_specs().unwrap_or_default().into_iter().map(|spec| CompileSpec {
            key: proven(spec.key(), "delegate-spec-key-missing", ""),
            value: proven(spec.value(), "delegate-spec-value-missing", Vector::default()).bytes(),
        })
    }
}

impl fmt::Debug for Delegate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, payload) = (self.id(), self.payload());
        f.debug_struct("Delegate").field("id", &id).field("payload", &payload).finish()
    }
}

/// Returns the table at an index.
fn at<'p, T: Table<'p>>(tables: Option<Tables<'p, T>>, index: i32) -> Option<T> {
    tables?.get(usize::try_from(index).ok()?)
}
