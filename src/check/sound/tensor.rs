//! Tensors: dtype, shape and storage.

use core::fmt;
use core::ops::Range;

use super::method::Method;
use super::proof::proven;
use pte_core::Arena;
use pte_flat::view::Vector;
use pte_schema::program::view;
use pte_schema::scalar::ScalarType;

/// A tensor of a method.
#[derive(Clone, Copy)]
pub struct Tensor<'p> {
    pub(super) method: Method<'p>,
    pub(super) view: view::Tensor<'p>,
}

/// The dtype, sizes and dim order of a tensor.
#[derive(Clone, Copy, Debug)]
pub struct TensorShape<'a> {
    dtype: Dtype,
    sizes: Vector<'a, i32>,
    dim_order: Vector<'a, u8>,
}

/// A dtype that the runtime knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dtype(ScalarType);

/// The storage of a tensor's bytes (format.md §6.1).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataSource<'a> {
    /// Bytes that are provided when the program runs: those of an input or a placeholder.
    Unbound,
    /// Bytes of this file that never change. The range has as many bytes as the shape needs.
    Constant(Range<u64>),
    /// A place in an arena, with enough space for the tensor.
    Planned {
        /// The place of the tensor.
        place: Arena,
        /// The initial bytes in this file. The range has as many bytes as the shape needs.
        initial: Option<Range<u64>>,
    },
    /// Bytes of a `.ptd`.
    External {
        /// The key of the bytes in that file.
        key: &'a str,
        /// For a tensor that changes, the place to which the bytes are copied.
        place: Option<Arena>,
    },
}

impl<'p> Tensor<'p> {
    /// Returns the tensor's dtype, sizes and dim order. The sizes of a DYNAMIC_BOUND tensor are
    /// upper bounds.
    pub fn shape(self) -> TensorShape<'p> {
        let Self { view, .. } = self;
        TensorShape::of(view.scalar_type(), view.sizes(), view.dim_order())
    }

    /// Returns the storage of the tensor's bytes.
    pub fn storage(self) -> DataSource<'p> {
        // `storage` also fails if the size cannot be computed, but such a tensor breaks another
        // rule.
        let rules = "constant-index, constant-segment-index, segment-index, data-out-of-bounds";
        match proven(self.method.pte.storage(self.view).ok(), rules, pte_core::Storage::Unbound) {
            pte_core::Storage::Unbound => DataSource::Unbound,
            pte_core::Storage::Constant(range) => DataSource::Constant(range),
            pte_core::Storage::Planned { place, initial } => DataSource::Planned { place, initial },
            pte_core::Storage::External { key, place } => {
                DataSource::External { key: proven(key, "external-key-missing", ""), place }
            }
        }
    }

    /// Returns the view of the tensor's table, with all fields of the file.
    pub fn view(self) -> view::Tensor<'p> {
        self.view
    }
}

impl fmt::Debug for Tensor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, storage) = (self.shape(), self.storage());
        f.debug_struct("Tensor").field("shape", &shape).field("storage", &storage).finish()
    }
}

impl<'a> TensorShape<'a> {
    pub(crate) fn of(
        scalar_type: ScalarType,
        sizes: Option<Vector<'a, i32>>,
        dim_order: Option<Vector<'a, u8>>,
    ) -> Self {
        let order = "tensor-dim-order-missing, layout-dim-order-missing";
        let sizes = proven(sizes, "tensor-sizes-missing, layout-sizes-missing", Vector::default());
        // A longer dim order is a Warning, since the runtime ignores the rest of it.
        let dim_order = proven(dim_order, order, Vector::default()).up_to(sizes.len());
        Self { dtype: Dtype(scalar_type), sizes, dim_order }
    }

    /// Returns the dtype of the elements.
    pub fn dtype(self) -> Dtype {
        self.dtype
    }

    /// Returns the number of dimensions: at most 16.
    pub fn rank(self) -> usize {
        self.sizes.len()
    }

    /// Returns the size of each dimension, outermost first.
    pub fn sizes(self) -> impl ExactSizeIterator<Item = u32> + Clone + use<'a> {
        let sizes = self.sizes.into_iter();
        let rules = "tensor-size-negative, layout-size";
        sizes.map(move |size| proven(u32::try_from(size).ok(), rules, 0))
    }

    /// Returns a permutation of the dimensions, outermost in memory first.
    pub fn dim_order(self) -> Vector<'a, u8> {
        self.dim_order
    }

    /// Returns the number of bytes of all elements.
    pub fn nbytes(self) -> u64 {
        let nbytes = self.dtype.0.nbytes(self.sizes);
        proven(nbytes, "tensor-size-overflow, layout-size", 0)
    }
}

impl Dtype {
    /// Returns the code of the dtype.
    pub fn scalar_type(self) -> ScalarType {
        self.0
    }

    /// Returns the bytes of an element as ExecuTorch counts them. See [`ScalarType::element_size`].
    pub fn element_size(self) -> u64 {
        proven(self.0.element_size(), DTYPE, 0)
    }

    /// Returns the runtime's name of the dtype, such as `Float`.
    pub fn runtime_name(self) -> &'static str {
        proven(self.0.runtime_name(), DTYPE, "")
    }

    /// Returns PyTorch's name of the dtype, such as `float32`.
    pub fn torch_name(self) -> &'static str {
        proven(self.0.torch_name(), DTYPE, "")
    }
}

/// The rules that check dtypes.
const DTYPE: &str = "tensor-dtype, layout-dtype";

/// Displays PyTorch's name.
impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.torch_name())
    }
}
