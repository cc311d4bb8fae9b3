//! Tensors: shape, dtype, and the enums of a tensor.

use alloc::string::String;
use alloc::vec::Vec;

use super::report::Findings;
use super::rule::rules;
use super::site::Plan;
use super::{memory, names, resolve};
use pte_core::PathComponent;
use pte_core::limits::MOST_DIMENSIONS;
use pte_flat::path;
use pte_flat::quoted::Quoted;
use pte_flat::view::{Table, Vector};
use pte_schema::program::view::Tensor;
use pte_schema::program::{TensorDataLocation, TensorShapeDynamism};
use pte_schema::scalar::ScalarType;

rules! {
    "tensors";

    TENSOR_SIZES_MISSING = Error "tensor-sizes-missing"
        "A tensor has a list of sizes, which may be empty."
        "Loading the method is refused, and asking for its signature aborts."
        MADE_BY_HAND
        Crashes ["7.2.6", "7.3.9", "7.4.6", "7.5.4", "7.7.6", "8.2 5e8a0df301", "8.2 eeb0646b84"];
    TENSOR_DIM_ORDER_MISSING = Error "tensor-dim-order-missing"
        "A tensor has a dim order, which may be empty."
        "Loading the method is refused, and asking for its signature aborts."
        MADE_BY_HAND
        Crashes ["7.3.9", "7.4.6", "7.5.6", "7.7.6", "8.2 5e8a0df301", "8.2 eeb0646b84"];
    TENSOR_RANK = Error "tensor-rank"
        "A tensor has at most 16 dimensions."
        "Loading the method is refused; runtimes before 0.7 write past arrays of 16."
        MADE_BY_HAND
        Refuses ["6.3", "7.5.5", "7.7.17", "8.1 CVE-2025-54951", "8.3.17"];
    TENSOR_DIM_ORDER_LENGTH = Error "tensor-dim-order-length"
        "A tensor's dim order is as long as its sizes."
        "Loading the method is refused; elsewhere the runtime reads past its end."
        MADE_BY_HAND
        Misreads ["6.3", "7.4.6", "7.5.6", "7.7.17", "8.2 8b30cfec9a"];
    TENSOR_DIM_ORDER = Error "tensor-dim-order"
        "A tensor's dim order is a permutation of its dimensions."
        "Loading the method is refused; older runtimes compute strides that leave the data."
        MADE_BY_HAND
        Refuses ["6.3", "7.5.8", "7.7.17", "8.2 90e6e4ca4e"];
    TENSOR_SIZE_NEGATIVE = Error "tensor-size-negative"
        "A tensor's sizes are not negative."
        "Loading the method is refused."
        MADE_BY_HAND
        Refuses [
            "7.2.7", "7.3.10", "7.5.7", "7.7.17", "8.2 5e8a0df301", "8.2 010f8caa91", "8.3.18",
        ];
    TENSOR_SIZE_OVERFLOW = Error "tensor-size-overflow"
        "A tensor's bytes can be counted in 64 bits."
        "The count wraps to a small one, and kernels write past the memory that it asks for."
        MADE_BY_HAND
        Misreads [
            "7.2.9", "7.3.10", "7.5.13", "7.7.17", "8.1 CVE-2025-30402", "8.2 56da9646cc", "8.3.6",
        ];
    TENSOR_STRIDE_OVERFLOW = Error "tensor-stride-overflow"
        "A tensor's strides can be counted in 32 bits."
        "They wrap: kernels read and write other memory, and the Python binding aborts on such an input."
        MADE_BY_HAND
        Misreads ["6.3", "7.7.17"];
    TENSOR_DTYPE = Error "tensor-dtype"
        "A tensor's dtype is one that the runtime knows."
        "Asking for the size of its elements aborts."
        MADE_BY_HAND
        Crashes ["5", "7.2.8", "7.3.11", "7.5.2", "7.7.17"];
    TENSOR_STORAGE_OFFSET = Error "tensor-storage-offset"
        "A tensor's storage offset is 0."
        "Loading the method is refused."
        MADE_BY_HAND
        Refuses ["6.3", "7.5.1", "7.7.17"];
    TENSOR_UNBOUND = Error "tensor-unbound"
        "A tensor's dynamism is STATIC or DYNAMIC_BOUND."
        "Loading the method is refused. With an unknown dynamism, sizes have no bound, and kernels write past the tensor."
        "Export the program with upper bounds for its dynamic sizes."
        Misreads ["6.3", "7.5.3", "7.7.17"];
    TENSOR_LAYOUT = Warning "tensor-layout"
        "A tensor's layout is 0, for strided."
        "No runtime knows another layout; it is read as strided."
        UNUSUAL
        Ignores ["6.3", "7.7.17"];
    TENSOR_ENUM = Warning "tensor-enum"
        "A tensor's location and device are known ones."
        "Runtimes use the default for an unknown one, or ignore it."
        UNUSUAL
        Ignores ["6.3", "7.5.14", "7.7.17"];
    TENSOR_DEVICE_INDEX = Warning "tensor-device-index"
        "A tensor's device index is not negative."
        "Runtimes built on ATen refuse it."
        UNUSUAL
        Ignores ["7.5.14", "7.7.17"];
    EXTERNAL_KEY_MISSING = Error "external-key-missing"
        "An EXTERNAL tensor has a fully qualified name."
        "Loading the method is refused: its data cannot be looked up."
        MADE_BY_HAND
        Refuses ["7.4.4", "7.7.21"];
    EXTERNAL_KEY_EMPTY = Warning "external-key-empty"
        "The name of an EXTERNAL tensor is not empty."
        "No writer makes such a name."
        UNUSUAL
        Ignores ["7.7.21"];
    MUTABLE_INDEX = Warning "mutable-index"
        "A tensor's mutable data is in the first list of them."
        "Runtimes always use the first list."
        UNUSUAL
        Ignores ["6.1", "7.7.20"];
}

/// Where the data of a tensor is before the program runs.
pub(super) struct Data {
    /// Whether the tensor is planned, or its data is in the program or in a `.ptd`.
    pub(super) stored: bool,
    /// Whether the data is in a `.ptd`.
    pub(super) external: bool,
}

/// Returns whether a tensor has memory for its data. `None` if the tensor must be judged in full,
/// since it may have findings or external data.
#[inline(always)]
pub(super) fn plain(plan: &Plan<'_, '_>, tensor: Tensor<'_>) -> Option<bool> {
    let size = plain_size(tensor)?;
    if tensor.extra_tensor_info().is_some() || !are_plain(tensor) {
        return None;
    }
    match (tensor.data_buffer_idx(), tensor.allocation_info()) {
        (0, Some(place)) => memory::fits(plan, place, size).then_some(true),
        (0, None) => Some(false),
        (index, None) => plan.pte.constant(index, size).is_ok().then_some(true),
        // A planned tensor with initial data.
        (_, Some(_)) => None,
    }
}

/// Judges a tensor, and returns where its data is.
pub(super) fn check(
    plan: &Plan<'_, '_>,
    index: u32,
    tensor: Tensor<'_>,
    out: &mut Findings,
) -> Data {
    let size = match plain_size(tensor) {
        Some(size) => Some(size),
        None => odd_shape(plan, index, tensor, out),
    };
    if !are_plain(tensor) {
        odd_numbers(plan, index, tensor, out);
    }
    let external = extra(plan, index, tensor, out);
    let planned = memory::planned(plan, index, tensor, size, out);
    let has_data = tensor.data_buffer_idx() != 0;
    if has_data {
        resolve::storage(plan, index, tensor, size, out);
    }
    Data { stored: external || has_data || planned, external }
}

/// Returns whether the storage offset, layout and dynamism are valid. This is so for most tensors.
#[inline]
fn are_plain(tensor: Tensor<'_>) -> bool {
    let bound = TensorShapeDynamism::STATIC..=TensorShapeDynamism::DYNAMIC_BOUND;
    let is_bound = bound.contains(&tensor.shape_dynamism());
    tensor.storage_offset() == 0 && tensor.layout() == 0 && is_bound
}

/// Returns the size of a tensor in bytes, if it has at most 8 dimensions and a valid shape and
/// dtype.
#[inline]
fn plain_size(tensor: Tensor<'_>) -> Option<u64> {
    let (sizes, order) = (tensor.sizes()?, tensor.dim_order()?);
    let rank = sizes.len();
    if rank != order.len() || rank > IN_ORDER.len() {
        return None;
    }
    // Pads to 8 dimensions with sizes of 1, in the default order.
    let (sizes, order) = (sizes.head::<8>(1), order.head(IN_ORDER));
    if order != IN_ORDER {
        // A permutation sets 8 different bits, one for each dimension.
        let seen = order.iter().fold(0u64, |seen, dim| seen | 1 << (dim & 63));
        let dims = order.iter().fold(0, |dims, dim| dims | dim);
        if seen != 0xff || dims > 7 {
            return None;
        }
    }
    let (mut elements, mut signs) = (1i64, 0i32);
    for size in sizes {
        signs |= size;
        elements = elements.checked_mul(size.into())?;
    }
    // If there are more elements, or none, the strides may overflow: `odd_shape` judges the tensor.
    let elements = i32::try_from(elements).ok().filter(|&elements| signs >= 0 && elements > 0)?;
    u64::from(elements.unsigned_abs()).checked_mul(tensor.scalar_type().element_size()?)
}

/// The default dim order.
const IN_ORDER: [u8; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// Reports an invalid shape or dtype. Returns the size of the tensor in bytes, if it has one.
#[cold]
#[inline(never)]
fn odd_shape(
    plan: &Plan<'_, '_>,
    index: u32,
    tensor: Tensor<'_>,
    out: &mut Findings,
) -> Option<u64> {
    let mut find = |rule, field: &'static str, message: &dyn Fn() -> String| {
        plan.find_value(out, rule, tensor.raw(), index, &[PathComponent::Field(field)], message);
    };
    let (sizes, order) = (tensor.sizes(), tensor.dim_order());
    if sizes.is_none() {
        find(&TENSOR_SIZES_MISSING, "sizes", &|| "the tensor has no sizes".into());
    }
    if order.is_none() {
        find(&TENSOR_DIM_ORDER_MISSING, "dim_order", &|| "the tensor has no dim order".into());
    }
    if let (Some(sizes), Some(order)) = (sizes, order) {
        if sizes.len() > MOST_DIMENSIONS {
            find(&TENSOR_RANK, "sizes", &|| format!("{} dimensions", sizes.len()));
        }
        if order.len() != sizes.len() {
            find(&TENSOR_DIM_ORDER_LENGTH, "dim_order", &|| {
                format!("a dim order of length {} for a rank of {}", order.len(), sizes.len())
            });
        } else if !is_permutation(order, sizes.len()) {
            find(&TENSOR_DIM_ORDER, "dim_order", &|| {
                format!(
                    "{:?} is no permutation",
                    order.iter().take(MOST_DIMENSIONS).collect::<Vec<_>>()
                )
            });
        }
    }
    let dtype = tensor.scalar_type();
    let dims = || sizes.into_iter().flatten();
    if dtype.element_size().is_none() {
        find(&TENSOR_DTYPE, "scalar_type", &|| format!("dtype {}", dtype.0));
    }
    // An element of an unknown dtype has at least one byte.
    let known = if dtype.element_size().is_some() { dtype } else { ScalarType::BYTE };
    if let Some(size) = dims().find(|&size| size < 0) {
        find(&TENSOR_SIZE_NEGATIVE, "sizes", &|| format!("a size of {size}"));
    } else if known.nbytes(dims()).is_none() {
        find(&TENSOR_SIZE_OVERFLOW, "sizes", &|| {
            let dims = dims().take(MOST_DIMENSIONS).collect::<Vec<_>>();
            format!("the bytes of {dtype} {dims:?} overflow")
        });
    }
    if let (Some(sizes), Some(order)) = (sizes, order)
        && order.len() == sizes.len()
        && is_permutation(order, sizes.len())
        && dims().all(|size| size >= 0)
        && longest_stride(sizes, order).is_none()
    {
        find(&TENSOR_STRIDE_OVERFLOW, "sizes", &|| {
            let dims = dims().take(MOST_DIMENSIONS).collect::<Vec<_>>();
            format!("the strides of {dims:?} overflow")
        });
    }
    dtype.nbytes(dims())
}

/// Returns the stride of the outermost dimension, in elements. A size of 0 counts as 1.
fn longest_stride(sizes: Vector<'_, i32>, order: Vector<'_, u8>) -> Option<i32> {
    order
        .iter()
        .skip(1)
        .try_fold(1i32, |stride, dim| stride.checked_mul(sizes.get(dim.into())?.max(1)))
}

/// Reports an invalid storage offset, layout or dynamism.
#[cold]
#[inline(never)]
fn odd_numbers(plan: &Plan<'_, '_>, index: u32, tensor: Tensor<'_>, out: &mut Findings) {
    let mut find = |rule, field: &'static str, message: &dyn Fn() -> String| {
        plan.find_value(out, rule, tensor.raw(), index, &[PathComponent::Field(field)], message);
    };
    if tensor.storage_offset() != 0 {
        find(&TENSOR_STORAGE_OFFSET, "storage_offset", &|| {
            format!("a storage offset of {}", tensor.storage_offset())
        });
    }
    if tensor.layout() != 0 {
        find(&TENSOR_LAYOUT, "layout", &|| format!("layout {}", tensor.layout()));
    }
    match tensor.shape_dynamism() {
        TensorShapeDynamism::STATIC | TensorShapeDynamism::DYNAMIC_BOUND => {}
        TensorShapeDynamism::DYNAMIC_UNBOUND => {
            find(&TENSOR_UNBOUND, "shape_dynamism", &|| "DYNAMIC_UNBOUND".into());
        }
        TensorShapeDynamism(other) => {
            find(&TENSOR_UNBOUND, "shape_dynamism", &|| format!("dynamism {other}"));
        }
    }
}

/// Judges the fields that few tensors have. Returns whether the data is external.
fn extra(plan: &Plan<'_, '_>, index: u32, tensor: Tensor<'_>, out: &mut Findings) -> bool {
    let Some(extra) = tensor.extra_tensor_info() else { return false };
    let mut find = |rule, field: &'static str, message: &dyn Fn() -> String| {
        let path = path!["extra_tensor_info", field];
        plan.find_value(out, rule, extra.raw(), index, &path, message);
    };
    if extra.mutable_data_segments_idx() != 0 {
        find(&MUTABLE_INDEX, "mutable_data_segments_idx", &|| {
            format!("list {}", extra.mutable_data_segments_idx())
        });
    }
    if extra.device_type().name().is_none() {
        find(&TENSOR_ENUM, "device_type", &|| format!("device {}", extra.device_type()));
    }
    if extra.device_index() < 0 {
        find(&TENSOR_DEVICE_INDEX, "device_index", &|| format!("index {}", extra.device_index()));
    }
    match extra.location() {
        TensorDataLocation::SEGMENT => false,
        TensorDataLocation::EXTERNAL => {
            match extra.fully_qualified_name() {
                None => find(&EXTERNAL_KEY_MISSING, "fully_qualified_name", &|| {
                    "the tensor's data is external and has no name".into()
                }),
                Some("") => find(&EXTERNAL_KEY_EMPTY, "fully_qualified_name", &|| {
                    "the tensor's data is external and its name is empty".into()
                }),
                Some(key) if key.contains('\0') => {
                    find(&names::KEY_NUL, "fully_qualified_name", &|| {
                        format!("the name {} holds a NUL", Quoted(key))
                    });
                }
                Some(_) => {}
            }
            true
        }
        other => {
            find(&TENSOR_ENUM, "location", &|| format!("location {other}"));
            false
        }
    }
}

/// Returns whether `order` is a permutation of the dimensions.
pub(super) fn is_permutation(order: Vector<'_, u8>, rank: usize) -> bool {
    // One bit for each of 256 dimensions.
    let mut seen = [0u64; 4];
    order.iter().take(rank).all(|dimension| {
        let within = usize::from(dimension) < rank;
        let bit = 1u64 << (dimension & 63);
        let word = seen.get_mut(usize::from(dimension >> 6));
        within && word.is_some_and(|word| core::mem::replace(word, *word | bit) & bit == 0)
    })
}
