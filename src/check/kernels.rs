//! The signatures and contracts of the official runtime's operators, by which calls are judged.

use alloc::string::String;
use alloc::vec::Vec;

use self::overwritten::Overwritten;
use self::resized::Resized;
use super::constants::{INDEX_CONTENTS, INFINITE_CONTENTS, ZERO_POINT_CONTENTS};
use super::rule::{Rule, rules};
use super::site::Plan;
use pte_core::operators::contracts::{self, Call, KnownValues, SizesAfter, Subject};
use pte_core::operators::{Copied, Hazard, Kernel, Signatures};
use pte_core::{Backend, method};
use pte_flat::bytes::index as at_index;
use pte_schema::program::view::{DelegateCall, KernelCall};

mod overwritten;
mod resized;

rules! {
    "kernels";

    ARGS_COUNT = Error "args-count"
        "A call of an operator of the official runtime has as many arguments as the operator takes."
        "Running the method is refused; runtimes before 0.7 read past the arguments."
        "Change the call in the model to what the operator takes, or export it again with a current release."
        Refuses ["6.5", "7.4.35", "7.7.16", "8.1 CVE-2025-54950"];
    ARGS_TYPE = Error "args-type"
        "Every argument of such a call is of the kind that the operator takes."
        "The kernel's conversion aborts. For an input that is Null, a call with any other value is refused first."
        "Change the call in the model to what the operator takes, or export it again with a current release."
        Crashes ["6.5", "7.7.16"];
    STRIDED_OUT_OF_BOUNDS = Error "strided-out-of-bounds"
        "aten::as_strided_copy reads within its input, if its sizes, strides and offset are constant."
        "Running the method is refused, or the sum wraps and the kernel reads past the input."
        "Change the call in the model to what the operator takes, or export it again with a current release."
        Misreads ["8.3.22"];
    KERNEL_DTYPE = Error "kernel-dtype"
        "The tensors of a call are of dtypes that its kernel takes."
        "The kernel aborts, or reads or writes past them."
        "Change the call in the model to what the operator takes, or export it again with a current release."
        Crashes ["6.10"];
    KERNEL_SHAPE = Error "kernel-shape"
        "The tensors of a call have ranks and sizes that its kernel takes, if they are known from the file, and its dimensions are constants."
        "The kernel aborts, divides by zero, or reads or writes past them."
        "Change the call in the model to what the operator takes, or export it again with a current release."
        Misreads ["6.10"];
    KERNEL_NUMBER = Error "kernel-number"
        "No argument makes a kernel divide by zero, or count past its limit."
        "The division kills the process, or the kernel aborts."
        "Change the call in the model to what the operator takes, or export it again with a current release."
        Crashes ["6.10"];
    QUANTIZED_CONTRACT = Error "quantized-contract"
        "The tensors of a quantizing kernel agree with its dtype and range arguments."
        "The kernel aborts, or writes past its output."
        "Quantize the model again: dtype, range and zero points must agree."
        Crashes ["6.10"];
    OPERATOR_UNKNOWN = Note "operator-unknown"
        "An operator is one of the official runtime's."
        "The runtime needs a library with its kernel; its calls are not judged."
        "Register a kernel for it in the runtime, or lower the call to a backend that has one."
        Ignores ["7.4.28"];
}

/// Returns the rule that a condition about a subject belongs to.
fn rule_about(subject: Subject) -> &'static Rule {
    match subject {
        Subject::Dtype => &KERNEL_DTYPE,
        Subject::Shape => &KERNEL_SHAPE,
        Subject::Number => &KERNEL_NUMBER,
        Subject::Quantized => &QUANTIZED_CONTRACT,
        Subject::Strided => &STRIDED_OUT_OF_BOUNDS,
        Subject::Indices => &INDEX_CONTENTS,
        Subject::ZeroPoints => &ZERO_POINT_CONTENTS,
        Subject::Range => &INFINITE_CONTENTS,
    }
}

/// The operators of a plan, and the delegates that its calls name.
pub(super) struct Kernels {
    pub(super) signatures: Signatures,
    /// For each delegate, whether its backend may give memory to tensors.
    gives_memory: Vec<bool>,
    pub(super) resized: Resized,
    pub(super) overwritten: Overwritten,
}

/// The largest number of items of a list that are checked for overlaps.
pub(super) const MOST_ITEMS: usize = 64;

/// The broken rule, the argument that breaks it (if any), and the message.
pub(super) type BrokenRule = (&'static Rule, Option<u32>, String);

impl Kernels {
    pub(crate) fn of(plan: &Plan<'_, '_>) -> Self {
        let (resized, overwritten) = Default::default();
        let delegates = plan.view.delegates().into_iter().flatten();
        let backends = delegates.map(|delegate| delegate.id().and_then(Backend::of_id));
        let gives_memory = backends.map(|backend| backend.is_none_or(Backend::gives_memory));
        let gives_memory = gives_memory.collect();
        Self { signatures: Signatures::of(plan.view), gives_memory, resized, overwritten }
    }

    /// Returns the known operators of the plan.
    fn known(&self) -> impl Iterator<Item = &'static Kernel> {
        self.signatures.iter().flatten()
    }

    /// Finds the tensors that calls may resize. This is needed only if some tensors are not STATIC.
    pub(super) fn watch_sizes(&mut self, plan: &Plan<'_, '_>) {
        if self.known().any(|kernel| !kernel.contract.is_empty()) {
            self.find_written(plan);
        }
    }

    fn find_written(&mut self, plan: &Plan<'_, '_>) {
        if !self.resized.is_found() {
            self.resized = Resized::of(plan, &self.signatures);
        }
    }

    /// Returns whether a call of a delegate may give memory to tensors.
    pub(super) fn gives_memory(&self, call: DelegateCall<'_>) -> bool {
        let nth = usize::try_from(call.delegate_index()).ok();
        nth.and_then(|nth| self.gives_memory.get(nth)).is_none_or(|&gives_memory| gives_memory)
    }

    /// Returns the first condition of the operator's contract that `call` breaks. Conditions on unknown
    /// values are skipped.
    pub(super) fn contract<'a>(
        &self,
        values: &impl KnownValues<'a>,
        call: KernelCall<'a>,
    ) -> Option<BrokenRule> {
        let kernel = self.kernel(call)?;
        let Kernel { name, letters, .. } = kernel;
        let call = Call { values, name, letters, args: call.args()? };
        let broken = contracts::judge(&call, kernel.contract)?;
        Some((rule_about(broken.about), broken.arg, broken.message))
    }

    /// Returns the arguments of a call that its contract bounds and that exporters write as constants, each with the
    /// rule about it.
    pub(super) fn constant_args(
        &self,
        call: KernelCall<'_>,
    ) -> impl Iterator<Item = (u8, &'static Rule)> {
        let terms = self.kernel(call).map_or(&[][..], |kernel| kernel.contract);
        contracts::constant_args(terms).map(|(arg, about)| (arg, rule_about(about)))
    }

    /// Returns the arguments that must not share memory with an output of the call, if there are any.
    pub(crate) fn hazard(&self, call: KernelCall<'_>) -> Option<&'static Hazard> {
        self.kernel(call)?.hazard.as_ref()
    }

    /// Finds index tensors that no instruction writes, but whose memory another tensor overwrites.
    pub(super) fn watch_indices(&mut self, plan: &Plan<'_, '_>) {
        let has_indices = |hazard: &'static Hazard| !hazard.read_again.is_empty();
        if !self.known().filter_map(|kernel| kernel.hazard.as_ref()).any(has_indices) {
            return;
        }
        self.find_written(plan);
        let calls = method::instructions(plan.view).filter_map(|one| one.kernel_call());
        let indices = calls.filter_map(|call| {
            let (args, hazard) = (call.args()?, self.hazard(call)?);
            let args = hazard.read_again.iter().filter_map(move |&at| args.get(at_index(at)));
            Some(args.flat_map(|value| {
                let items = method::items(plan.view, value);
                let alone = items.is_none().then_some(value);
                items.into_iter().flatten().take(MOST_ITEMS).chain(alone)
            }))
        });
        self.overwritten = Overwritten::of(plan, indices.flatten(), &self.resized);
    }

    /// Returns whether contracts depend on sizes or elements that calls change.
    pub(super) fn depend_on_tensors(&self) -> bool {
        let has_elements =
            |kernel: &Kernel| contracts::element_args(kernel.contract).next().is_some();
        self.resized.any()
            || self.known().any(|kernel| kernel.copied.is_some()) && self.known().any(has_elements)
    }

    /// Returns what a call copies to its output, if it copies anything.
    pub(crate) fn copied(&self, call: KernelCall<'_>) -> Option<&'static Copied> {
        self.kernel(call)?.copied.as_ref()
    }

    /// Returns the sizes that a call gives to its output at `out`, if they are known.
    pub(crate) fn sizes_after(&self, call: KernelCall<'_>, out: u8) -> Option<SizesAfter> {
        let kernel = self.kernel(call)?;
        match &kernel.copied {
            Some(copied) if copied.keeps_sizes => {
                u8::try_from(copied.source).ok().map(SizesAfter::Like)
            }
            _ => contracts::sizes_after(kernel.contract, out),
        }
    }

    /// Returns whether any call may change a value that other calls use: an operator gives a
    /// result, writes a list, makes a view, or is unknown.
    pub(super) fn change_values(&self) -> bool {
        let flows = |kernel: &Kernel| {
            kernel.letters.contains(['x', 'y', '?', '#', '%', '@', '$', '~', '='])
        };
        self.signatures.iter().any(|known| known.is_none_or(flows))
    }

    /// Returns the called operator, if it is known.
    pub(crate) fn kernel(&self, call: KernelCall<'_>) -> Option<&'static Kernel> {
        self.signatures.kernel(call)
    }
}
