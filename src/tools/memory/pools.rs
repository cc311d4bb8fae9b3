//! The pools of a method besides its arenas: what loading and running it takes of the method allocator and of the
//! temporary allocator.
//!
//! ```
//! # fn main() -> pte::Result<()> {
//! use pte::memory::{PointerWidth, Pools, Target};
//!
//! # let bytes = include_bytes!("../../../tests/data/pte/linear.pte");
//! let pte = pte::Pte::read(bytes)?;
//! let target = Target::new(pte::check::NEWEST, PointerWidth::Bits32).unwrap();
//! for plan in pte.program().execution_plan().into_iter().flatten() {
//!     let pools = Pools::of(&pte, plan, &Default::default(), target);
//!     println!("{} and {} bytes", pools.method.bytes, pools.temporary.bytes);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Both allocators of the runtime only count up: they align the next free byte, and add the size. So the bytes follow
//! from the order of the allocations, which is that of upstream's `Method::init` (`runtime/executor/method.cpp`), and
//! from the sizes of the structures (`structures`). They are exact for the runtime's own allocations, if the pool
//! begins at a multiple of 16. Backends and kernels decide about others (`consumers`).

use alloc::vec::Vec;

use pte_core::limits::MOST_DIMENSIONS;
use pte_core::payload::Scratch;
use pte_core::release::Release;
use pte_core::{Backend, Pte, tensor_at};
use pte_flat::bytes::wide;
use pte_schema::program::view::{
    BackendDelegate, Chain, ExecutionPlan, InstructionArguments, KernelCall, KernelTypes, Tensor,
};
use pte_schema::program::{TensorDataLocation, TensorShapeDynamism};

mod consumers;
mod structures;

use consumers::{Amount, Need, Temporary};
use structures::{Layout, Structure};

/// The runtime that loads a method: its release, and the width of its pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    release: Release,
    width: PointerWidth,
}

/// The width of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointerWidth {
    /// 32 bits, on a machine that aligns 64-bit numbers to 8 bytes: Arm, RISC-V, Xtensa.
    Bits32,
    /// 64 bits.
    Bits64,
}

/// What a method takes of the runtime's two pools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pools {
    /// The runtime.
    pub target: Target,
    /// The method allocator, if there is a temporary allocator of at least `temporary.bytes`.
    pub method: Pool,
    /// The bytes of the method allocator if the caller gives no temporary allocator.
    pub without_temporary: u64,
    /// The temporary allocator. Its parts are in use one after the other, so it takes as much as the largest.
    pub temporary: Pool,
}

/// A pool: a range of memory that the caller gives the runtime.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// The bytes of all known parts. Saturates at 2^64 − 1.
    pub bytes: u64,
    /// What the bytes are for. Parts of 0 bytes are left out.
    pub parts: Vec<PoolPart>,
}

/// A part of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PoolPart {
    /// The name: what the runtime stores, a backend, or an operator.
    pub name: &'static str,
    /// The number of bytes; `None` if it is unknown.
    pub bytes: Option<u64>,
    /// Whether a backend or a kernel may take less.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "bound", skip_serializing_if = "core::ops::Not::not")
    )]
    pub is_bound: bool,
}

impl Target {
    /// Returns a runtime; `None` if the release is older than 0.7, the first one whose pools are known.
    #[must_use]
    pub fn new(release: Release, width: PointerWidth) -> Option<Self> {
        (release >= structures::FIRST).then_some(Self { release, width })
    }

    /// Returns the release.
    #[must_use]
    pub fn release(self) -> Release {
        self.release
    }

    /// Returns the width of a pointer.
    #[must_use]
    pub fn width(self) -> PointerWidth {
        self.width
    }

    fn layout(self, structure: Structure) -> Layout {
        structure.layout(self.release, self.width)
    }
}

impl PointerWidth {
    /// All widths.
    pub const ALL: [Self; 2] = [Self::Bits32, Self::Bits64];

    /// Returns the number of bits.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::Bits32 => 32,
            Self::Bits64 => 64,
        }
    }
}

impl Pool {
    /// Returns whether the bytes are exact: no part is a bound or unknown.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.parts.iter().all(|part| !part.is_bound && part.bytes.is_some())
    }

    /// Returns the names of the parts whose bytes are unknown.
    pub fn unknown(&self) -> impl Iterator<Item = &'static str> {
        self.parts.iter().filter(|part| part.bytes.is_none()).map(|part| part.name)
    }

    /// Combines the bytes of a part with those that it has. Unknown bytes make the part unknown.
    fn combine(&mut self, name: &'static str, amount: Amount, combined: fn(u64, u64) -> u64) {
        let Amount { bytes, is_bound } = amount;
        match self.parts.iter_mut().find(|part| part.name == name) {
            Some(part) => {
                part.bytes = part.bytes.zip(bytes).map(|(one, other)| combined(one, other));
                part.is_bound |= is_bound;
            }
            None => self.parts.push(PoolPart { name, bytes, is_bound }),
        }
    }

    /// Adds to a part.
    fn add(&mut self, name: &'static str, amount: Amount) {
        self.combine(name, amount, u64::saturating_add);
    }

    /// Raises a part that is in use at another time than the others.
    fn raise(&mut self, name: &'static str, amount: Amount) {
        self.combine(name, amount, u64::max);
    }

    /// Sets the bytes, and drops parts without any.
    fn finish(mut self, bytes: u64) -> Self {
        self.parts.retain(|part| part.bytes != Some(0));
        Self { bytes, ..self }
    }
}

impl Pools {
    /// Returns what loading `plan`, a method of `pte`, and running it takes of the pools of `target`. `scratch` is what
    /// payloads of delegates state. Takes O(n) time in the size of the method's tables.
    #[must_use]
    pub fn of<'a>(
        pte: &Pte<'a>,
        plan: ExecutionPlan<'a>,
        scratch: &Scratch,
        target: Target,
    ) -> Self {
        let load = |has_temporary| {
            let (method, temporary) = (Bump::default(), Pool::default());
            let mut load = Load { target, plan, has_temporary, method, temporary };
            load.method(pte);
            load
        };
        let without_temporary = load(false).method.end;
        let mut load = load(true);
        load.delegates_run(pte, scratch);
        load.kernels_run();
        let temporary = load.temporary.parts.iter().filter_map(|part| part.bytes).max();
        Self {
            target,
            method: load.method.pool.finish(load.method.end),
            without_temporary,
            temporary: load.temporary.finish(temporary.unwrap_or_default()),
        }
    }
}

/// An allocator that counts up.
#[derive(Default)]
struct Bump {
    end: u64,
    /// The end of the last part. Padding behind it belongs to the next part.
    part_end: u64,
    pool: Pool,
}

impl Bump {
    /// Allocates bytes for the part `name`. An empty list is aligned too.
    fn take(&mut self, name: &'static str, align: u64, bytes: u64, is_bound: bool) {
        let begin = self.end.checked_next_multiple_of(align).unwrap_or(u64::MAX);
        self.end = begin.saturating_add(bytes);
        if bytes > 0 {
            let bytes = Some(self.end.saturating_sub(self.part_end));
            self.pool.add(name, Amount { bytes, is_bound });
            self.part_end = self.end;
        }
    }
}

/// The allocations of the runtime while it loads a method.
struct Load<'a> {
    target: Target,
    plan: ExecutionPlan<'a>,
    has_temporary: bool,
    method: Bump,
    temporary: Pool,
}

impl<'a> Load<'a> {
    fn take(&mut self, name: &'static str, structure: Structure, count: usize) {
        let Layout { size, align } = self.target.layout(structure);
        self.method.take(name, align, size.saturating_mul(wide(count)), false);
    }

    fn method(&mut self, pte: &Pte<'a>) {
        if !self.has_temporary {
            self.take("temporary allocator", Structure::PlatformMemoryAllocator, 1);
        }
        let has_data = self.values();
        let delegates = self.plan.delegates();
        let count = delegates.map_or(0, |delegates| delegates.len());
        self.take("delegates", Structure::BackendDelegate, count);
        // The keys of the program and of the .ptd are searched together.
        if has_data && pte.program().named_data().is_some() {
            self.take("delegates", Structure::MergedDataMap, 1);
        }
        for delegate in delegates.into_iter().flatten() {
            self.delegate(delegate);
        }
        let chains = self.plan.chains();
        self.take("instructions", Structure::Chain, chains.map_or(0, |chains| chains.len()));
        for chain in chains.into_iter().flatten() {
            self.chain(chain);
        }
    }

    /// Allocates the values, and returns whether a tensor has its data in a `.ptd`.
    fn values(&mut self) -> bool {
        let values = self.plan.values();
        self.take("values", Structure::EValue, values.map_or(0, |values| values.len()));
        let inputs = self.plan.inputs().map_or(0, |inputs| inputs.len());
        // Release 0.7 does not remember which inputs are set.
        if inputs > 0 && self.target.release >= (1, 0) {
            self.take("inputs", Structure::Byte, inputs);
        }
        let tensors = || {
            values.into_iter().flatten().filter_map(|value| match value.val() {
                Some(KernelTypes::Tensor(tensor)) => Some(tensor),
                _ => None,
            })
        };
        let is_external = |tensor: &Tensor<'_>| {
            let extra = tensor.extra_tensor_info();
            extra.is_some_and(|extra| extra.location() == TensorDataLocation::EXTERNAL)
        };
        let constants = tensors()
            .filter(|tensor| is_external(tensor) && tensor.allocation_info().is_none())
            .count();
        if constants > 0 {
            self.take("external constants", Structure::NamedData, constants);
        }
        for value in values.into_iter().flatten() {
            match value.val() {
                Some(KernelTypes::Tensor(tensor)) => self.tensor(tensor),
                Some(KernelTypes::IntList(list)) => {
                    self.list(list.items().map(|items| items.len()), Structure::Int64);
                }
                Some(KernelTypes::TensorList(list)) => {
                    // An element is a pointer to a TensorImpl.
                    self.list(list.items().map(|items| items.len()), Structure::Pointer);
                }
                Some(KernelTypes::OptionalTensorList(list)) => {
                    self.list(list.items().map(|items| items.len()), Structure::OptionalTensor);
                }
                Some(
                    KernelTypes::BoolList(_) | KernelTypes::DoubleList(_) | KernelTypes::String(_),
                ) => self.take("lists", Structure::ArrayRef, 1),
                _ => {}
            }
        }
        tensors().any(|tensor| is_external(&tensor))
    }

    /// Adds a list: a pointer to each value, the elements, and the list itself.
    fn list(&mut self, count: Option<usize>, element: Structure) {
        let count = count.unwrap_or_default();
        self.take("lists", Structure::Pointer, count);
        self.take("lists", element, count);
        self.take("lists", Structure::BoxedList, 1);
    }

    fn tensor(&mut self, tensor: Tensor<'_>) {
        let rank = tensor.sizes().map_or(0, |sizes| sizes.len());
        if tensor.shape_dynamism() != TensorShapeDynamism::STATIC {
            self.take("tensors", Structure::Size, rank);
            self.take("tensors", Structure::Byte, rank);
        }
        self.take("tensors", Structure::Size, rank);
        self.take("tensors", Structure::TensorImpl, 1);
    }

    fn delegate(&mut self, delegate: BackendDelegate<'_>) {
        if let Some(specs) = delegate.compile_specs() {
            self.take("delegates", Structure::CompileSpec, specs.len());
        }
        let (backend, handle, _) = self.consumer(delegate);
        match handle {
            Amount { bytes: Some(0), .. } => {}
            Amount { bytes: Some(bytes), is_bound } => {
                // Other handles are pointers.
                let align = if bytes.is_multiple_of(8) { 8 } else { 4 };
                self.method.take(backend, align, bytes, is_bound);
            }
            unknown => self.method.pool.add(backend, unknown),
        }
    }

    /// Returns the name of a delegate's backend, and what the delegate takes of both pools.
    fn consumer(&self, delegate: BackendDelegate<'_>) -> (&'static str, Amount, Temporary) {
        let backend = delegate.id().and_then(Backend::of_id);
        let Target { release, width } = self.target;
        let (handle, temporary) = consumers::of_backend(backend, release, width);
        (backend.map_or("other backends", Backend::id), handle, temporary)
    }

    fn chain(&mut self, chain: Chain<'_>) {
        let instructions = chain.instructions();
        let count = instructions.map_or(0, |instructions| instructions.len());
        self.take("instructions", Structure::Pointer, count);
        self.take("instructions", Structure::InstructionArgs, count);
        for instruction in instructions.into_iter().flatten() {
            match instruction.instr_args() {
                Some(InstructionArguments::KernelCall(call)) => {
                    let args = call.args().map_or(0, |args| args.len());
                    self.take("instructions", Structure::Pointer, args);
                    self.kernel(call);
                }
                Some(InstructionArguments::DelegateCall(call)) => {
                    let args = call.args().map_or(0, |args| args.len());
                    self.take("instructions", Structure::Pointer, args);
                }
                _ => {}
            }
        }
    }

    /// Allocates the dtypes and dim orders by which the kernel of a call is found.
    fn kernel(&mut self, call: KernelCall<'_>) {
        // Without an operator, the runtime looks for no kernel.
        let operators = self.plan.operators().map_or(0, |operators| operators.len());
        if usize::try_from(call.op_index()).map_or(true, |index| index >= operators) {
            return;
        }
        let (meta, count) =
            (self.target.layout(Structure::TensorMeta), call.args().map_or(0, |args| args.len()));
        let list = meta.size.saturating_mul(wide(count));
        // Release 0.7 keeps them.
        let is_kept = !self.has_temporary || self.target.release < (1, 0);
        if !is_kept && self.target.release >= (1, 5) {
            // A smaller allocator is not used.
            let bytes = list.saturating_add(wide(count.saturating_mul(MOST_DIMENSIONS)));
            let amount = Amount { bytes: Some(bytes), is_bound: false };
            return self.temporary.raise("loading", amount);
        }
        let ranks = call.args().into_iter().flatten().map(|arg| self.rank(arg));
        let bytes = ranks.fold(list, u64::saturating_add);
        match is_kept {
            true => self.method.take("kernels", meta.align, bytes, false),
            false => {
                self.temporary.raise("loading", Amount { bytes: Some(bytes), is_bound: false });
            }
        }
    }

    /// Returns the number of dimensions of a tensor; 0 for other values.
    fn rank(&self, value: i32) -> u64 {
        let sizes = self.tensor_of(value).and_then(|tensor| tensor.sizes());
        sizes.map_or(0, |sizes| wide(sizes.len()))
    }

    fn tensor_of(&self, value: i32) -> Option<Tensor<'a>> {
        tensor_at(self.plan, value)
    }

    fn delegates_run(&mut self, pte: &Pte<'a>, scratch: &Scratch) {
        for delegate in self.plan.delegates().into_iter().flatten() {
            let (backend, _, temporary) = self.consumer(delegate);
            let bytes = match temporary {
                Temporary::Nothing => continue,
                Temporary::Scratch => scratch.of_delegate(pte, delegate),
                Temporary::Unknown => None,
            };
            self.temporary.raise(backend, Amount { bytes, is_bound: false });
        }
    }

    fn kernels_run(&mut self) {
        let release = self.target.release;
        let operators = self.plan.operators().into_iter().flatten();
        let kernels: Vec<_> =
            operators.map(|operator| consumers::of_kernel(operator, release)).collect();
        if kernels.iter().all(Option::is_none) {
            return;
        }
        let instructions = self.plan.chains().into_iter().flatten();
        let instructions =
            instructions.flat_map(|chain| chain.instructions().into_iter().flatten());
        for instruction in instructions {
            let Some(InstructionArguments::KernelCall(call)) = instruction.instr_args() else {
                continue;
            };
            let kernel = usize::try_from(call.op_index()).ok().and_then(|index| kernels.get(index));
            if let Some(Some(kernel)) = kernel {
                let amount = self.kernel_runs(kernel.need, call);
                self.temporary.raise(kernel.title, amount);
            }
        }
    }

    /// Returns what a kernel takes in a call.
    fn kernel_runs(&self, need: Need, call: KernelCall<'_>) -> Amount {
        match need {
            Need::Unknown => Amount { bytes: None, is_bound: false },
            Need::AlongDimension => {
                let arg = |nth| call.args().and_then(|args| args.get(nth));
                let tensor = arg(0).and_then(|value| self.tensor_of(value));
                let sizes = tensor.and_then(|tensor| tensor.sizes());
                // The dimension is the caller's number, or a call computes it: the largest is a bound.
                let sizes = sizes.into_iter().flatten().take(MOST_DIMENSIONS);
                let sizes = sizes.filter_map(|size| u64::try_from(size).ok());
                let longest = sizes.max().unwrap_or_default().max(1);
                Amount { bytes: Some(longest.saturating_mul(ELEMENT_AND_INDEX)), is_bound: true }
            }
        }
    }
}

/// The bytes of an element with its index, an `int64_t`: the padding makes all dtypes alike.
const ELEMENT_AND_INDEX: u64 = 16;
