//! What backends and kernels take of the pools, by upstream's `backends/*/runtime` and `kernels`.

use pte_core::Backend;
use pte_core::release::Release;
use pte_schema::program::view::Operator;

use super::PointerWidth;

/// What a backend takes of the pools for each delegate, from a release on.
struct Row {
    backend: Backend,
    since: Release,
    handle: Handle,
    temporary: Temporary,
}

/// The bytes that a delegate's handle takes of the method allocator, for pointers of 32 and of 64 bits.
#[derive(Clone, Copy)]
enum Handle {
    Exact([u64; 2]),
    /// An upper bound. The exact number depends on how the runtime is built.
    AtMost([u64; 2]),
    Unknown,
}

/// A number of bytes that a backend or a kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Amount {
    /// The number; `None` if it is unknown.
    pub(super) bytes: Option<u64>,
    /// Whether it may be less.
    pub(super) is_bound: bool,
}

/// What a delegate takes of the temporary allocator in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Temporary {
    Nothing,
    /// The scratch memory that its payload states.
    Scratch,
    Unknown,
}

/// A handle of 0 bytes is on the heap. XNNPACK's is smaller if the runtime is built without event tracing.
#[rustfmt::skip]
static BACKENDS: &[Row] = &[
    row(Backend::Xnnpack,    (0, 7), Handle::AtMost([112, 208]), Temporary::Nothing),
    row(Backend::Xnnpack,    (1, 1), Handle::AtMost([120, 224]), Temporary::Nothing),
    row(Backend::Xnnpack,    (1, 4), Handle::AtMost([144, 272]), Temporary::Nothing),
    row(Backend::EthosU,     (0, 7), Handle::Exact([4, 8]),     Temporary::Scratch),
    row(Backend::EthosU,     (1, 2), Handle::Exact([0, 0]),     Temporary::Scratch),
    row(Backend::OpenVino,   (0, 7), Handle::Exact([16, 32]),   Temporary::Nothing),
    row(Backend::OpenVino,   (1, 3), Handle::Exact([8, 16]),    Temporary::Nothing),
    row(Backend::CoreMl,     (0, 7), Handle::Exact([0, 0]),     Temporary::Nothing),
    row(Backend::Cuda,       (0, 7), Handle::Exact([0, 0]),     Temporary::Nothing),
    row(Backend::Metal,      (0, 7), Handle::Exact([0, 0]),     Temporary::Nothing),
    row(Backend::Vulkan,     (0, 7), Handle::Unknown, Temporary::Nothing),
    row(Backend::Mps,        (0, 7), Handle::Unknown, Temporary::Nothing),
    row(Backend::Mlx,        (0, 7), Handle::Unknown, Temporary::Nothing),
    row(Backend::Qnn,        (0, 7), Handle::Unknown, Temporary::Nothing),
    row(Backend::Vgf,        (0, 7), Handle::Unknown, Temporary::Nothing),
    row(Backend::Enn,        (0, 7), Handle::Unknown, Temporary::Nothing),
];

const fn row(backend: Backend, since: Release, handle: Handle, temporary: Temporary) -> Row {
    Row { backend, since, handle, temporary }
}

/// Returns what a delegate's handle takes of the method allocator, and what the delegate takes of the temporary
/// allocator. Of an unknown backend neither is known.
pub(super) fn of_backend(
    backend: Option<Backend>,
    release: Release,
    width: PointerWidth,
) -> (Amount, Temporary) {
    let is_it = |row: &&Row| Some(row.backend) == backend && row.since <= release;
    let of = |[bits_32, bits_64]: [u64; 2]| match width {
        PointerWidth::Bits32 => Some(bits_32),
        PointerWidth::Bits64 => Some(bits_64),
    };
    let unknown = Amount { bytes: None, is_bound: false };
    let Some(row) = BACKENDS.iter().rfind(is_it) else { return (unknown, Temporary::Unknown) };
    let handle = match row.handle {
        Handle::Exact(sizes) => Amount { bytes: of(sizes), is_bound: false },
        Handle::AtMost(sizes) => Amount { bytes: of(sizes), is_bound: true },
        Handle::Unknown => unknown,
    };
    (handle, row.temporary)
}

/// An operator whose kernel takes memory of the temporary allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TemporaryKernel {
    name: &'static str,
    overload: &'static str,
    /// The name with its overload.
    pub(super) title: &'static str,
    /// The releases from the first on, and before the second.
    releases: (Release, Release),
    pub(super) need: Need,
}

/// What a kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// An element and its index for each element along a dimension: of the first argument, along the third.
    AlongDimension,
    /// The machine or the number of threads decides.
    Unknown,
}

const ALWAYS: Release = (u32::MAX, 0);

macro_rules! kernel {
    ($name:literal, $overload:literal, $releases:expr, $need:expr) => {
        TemporaryKernel {
            name: $name,
            overload: $overload,
            title: concat!($name, ".", $overload),
            releases: $releases,
            need: $need,
        }
    };
}

/// The kernels that take temporary memory. `llama::custom_sdpa` and its relatives take it for each thread, and use the
/// heap if there is too little. Some of Cadence's kernels take it, by the core that they are built for.
#[rustfmt::skip]
static KERNELS: &[TemporaryKernel] = &[
    kernel!("aten::topk", "values", ((0, 7), ALWAYS), Need::AlongDimension),
    kernel!("cortex_m::quantized_conv2d", "out", ((1, 1), (1, 4)), Need::Unknown),
    kernel!("cortex_m::quantized_depthwise_conv2d", "out", ((1, 1), (1, 4)), Need::Unknown),
    kernel!("cortex_m::quantized_transpose_conv2d", "out", ((1, 2), (1, 4)), Need::Unknown),
    kernel!("cortex_m::quantized_batch_matmul", "out", ((1, 2), (1, 4)), Need::Unknown),
    kernel!("llama::custom_sdpa", "out", ((1, 4), ALWAYS), Need::Unknown),
    kernel!("llama::custom_quantized_sdpa", "out", ((1, 4), ALWAYS), Need::Unknown),
    kernel!("llama::sdpa_with_kv_cache", "out", ((1, 4), ALWAYS), Need::Unknown),
];

/// The operators of Cadence, whose kernels are built for one core.
static CADENCE: TemporaryKernel = TemporaryKernel {
    name: "cadence::",
    overload: "",
    title: "cadence operators",
    releases: ((0, 7), ALWAYS),
    need: Need::Unknown,
};

/// Returns what the kernel of an operator takes of the temporary allocator; `None` if it takes nothing.
pub(super) fn of_kernel(
    operator: Operator<'_>,
    release: Release,
) -> Option<&'static TemporaryKernel> {
    if operator.name().is_some_and(|name| name.starts_with(CADENCE.name)) {
        return Some(&CADENCE);
    }
    // The parts are compared, not the whole name: an operator's name in the file may be long.
    KERNELS.iter().find(|kernel| {
        operator.name() == Some(kernel.name)
            && operator.overload() == Some(kernel.overload)
            && (kernel.releases.0..kernel.releases.1).contains(&release)
    })
}
