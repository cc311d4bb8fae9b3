//! Kernels: the signatures and contracts that calls of the official runtime's operators are held to.

use alloc::string::String;
use alloc::vec::Vec;

use self::resized::Resized;
use super::rule::{Rule, rules};
use super::site::Plan;
use crate::operators::contracts::{self, Call, KnownValues, Subject};
use crate::operators::{Kind, Signature, Signatures};
use crate::schema::program::view::KernelCall;

mod resized;

rules! {
    "kernels";

    ARGS_COUNT = Error "args-count"
        "A call of an operator of the official runtime has as many arguments as the operator takes."
        "Running the method is refused; runtimes before 0.7 read past the arguments."
        Refuses ["6.5", "7.4.35", "7.7.16", "8.1 CVE-2025-54950"];
    ARGS_TYPE = Error "args-type"
        "Every argument of such a call is of the kind that the operator takes."
        "The kernel's conversion aborts."
        Crashes ["6.5", "7.7.16"];
    STRIDED_OUT_OF_BOUNDS = Error "strided-out-of-bounds"
        "What aten::as_strided_copy takes lies within its input, where its numbers are constant."
        "Running the method is refused, or the sum wraps and the kernel reads past the input."
        Misreads ["8.3.22"];
    KERNEL_DTYPE = Error "kernel-dtype"
        "The tensors of a call are of dtypes that its kernel takes."
        "The kernel aborts, or reads or writes past them."
        Crashes ["6.10"];
    KERNEL_SHAPE = Error "kernel-shape"
        "The tensors of a call have ranks and sizes that its kernel takes, where the file says them."
        "The kernel aborts, divides by zero, or reads or writes past them."
        Misreads ["6.10"];
    KERNEL_NUMBER = Error "kernel-number"
        "No kernel is told to divide by zero, or to count further than it can."
        "The division kills the process, or the kernel aborts."
        Crashes ["6.10"];
    QUANTIZED_CONTRACT = Error "quantized-contract"
        "What a quantizing kernel is given and gives agrees with the dtypes and ranges that it is told."
        "The kernel aborts, or writes past its output."
        Crashes ["6.10"];
    OPERATOR_UNKNOWN = Note "operator-unknown"
        "An operator is one of the official runtime's."
        "The runtime needs a library that brings it; its calls are not judged here."
        Ignores ["7.4.28"];
}

/// The signatures and contracts of a plan's operators.
pub(super) struct Kernels {
    signatures: Signatures,
    /// By operator; none at all where no operator is known.
    contracts: Vec<&'static [contracts::Term]>,
    resized: Resized,
}

/// What is wrong with a call: the rule, the argument if it is one, and the message.
pub(super) type Wrong = (&'static Rule, Option<u32>, String);

impl Kernels {
    pub(super) fn of(spot: &Plan<'_, '_>) -> Self {
        let signatures = Signatures::of(spot.view);
        let mut kernels = Self { signatures, contracts: Vec::new(), resized: Resized::default() };
        if kernels.are_known() {
            let terms =
                |known: Option<&Signature>| known.map_or(&[][..], |known| contracts::of(known.0));
            kernels.contracts = kernels.signatures.iter().map(terms).collect();
        }
        kernels
    }

    /// Looks for what the calls of the plan may resize, where some of its tensors are not STATIC.
    pub(super) fn watch_sizes(&mut self, plan: &Plan<'_, '_>) {
        if self.contracts.iter().any(|terms| !terms.is_empty()) {
            self.resized = Resized::of(plan, &self.signatures);
        }
    }

    /// Whether any operator of the plan is one that the official runtime has.
    pub(super) fn are_known(&self) -> bool {
        self.signatures.are_known()
    }

    /// Whether the operator of that index is one that the official runtime has.
    pub(super) fn is_known(&self, operator: usize) -> bool {
        self.signatures.is_known(operator)
    }

    /// Returns the rule that a call breaks of its operator's contract, by what is known of its values.
    pub(super) fn contract<'a>(
        &self,
        values: &impl KnownValues<'a>,
        call: KernelCall<'a>,
    ) -> Option<Wrong> {
        let terms = self.contracts.get(usize::try_from(call.op_index()).ok()?)?;
        let call = Call { values, name: self.name(call)?, args: call.args()? };
        let broken = contracts::judge(&call, terms)?;
        let rule = match broken.about {
            Subject::Dtype => &KERNEL_DTYPE,
            Subject::Shape => &KERNEL_SHAPE,
            Subject::Number => &KERNEL_NUMBER,
            Subject::Quantized => &QUANTIZED_CONTRACT,
            Subject::Strided => &STRIDED_OUT_OF_BOUNDS,
        };
        Some((rule, broken.arg, broken.message))
    }

    /// Returns how many instructions may resize a tensor of the file, where 2 stands for 2 or more.
    pub(super) fn resize_count(&self, tensor: u32) -> u8 {
        self.resized.count(tensor)
    }

    /// The arguments of a call with their kinds, where the operator is known and they are as many
    /// as it takes.
    pub(super) fn args<'a>(
        &self,
        call: KernelCall<'a>,
    ) -> Option<impl Iterator<Item = (u32, i32, Kind)> + use<'a>> {
        self.signatures.args(call)
    }

    /// Whether any operator of the plan gives a result, writes to a list, makes a view, or is not
    /// known: what its calls do to values then asks for more than a look at each call.
    pub(super) fn change_values(&self) -> bool {
        let flows = |&(_, letters): &Signature| {
            letters.contains(['x', 'y', '?', '#', '%', '@', '$', '~', '='])
        };
        self.signatures.iter().any(|known| known.is_none_or(flows))
    }

    /// Returns the signatures of the method's operators.
    pub(super) fn signatures(&self) -> &Signatures {
        &self.signatures
    }

    /// The full name of the operator that a call is of, if it is known.
    pub(super) fn name(&self, call: KernelCall<'_>) -> Option<&'static str> {
        self.signature(call).map(|&(name, _)| name)
    }

    /// The operator that a call is of, if it is known.
    pub(super) fn signature(&self, call: KernelCall<'_>) -> Option<&'static Signature> {
        self.signatures.signature(call)
    }
}
