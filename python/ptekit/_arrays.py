"""Tensors as numpy arrays, which import numpy when they are made."""

from __future__ import annotations

import math

from ._errors import PteError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy

    from ._objects import Tensor

# PyTorch's names that numpy has, but for byte order: files are little-endian.
PLAIN = frozenset(
    "uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128 bool"
    " uint16 uint32 uint64".split()
)
# PyTorch's names that the package ml_dtypes has, under the same names.
EXTENDED = frozenset(
    "bfloat16 float8_e5m2 float8_e4m3fn float8_e5m2fnuz float8_e4m3fnuz".split()
)


def dtype_of(name: str) -> numpy.dtype[Any]:
    """Returns numpy's dtype.

    Raises:
        PteError: There is none, or `ml_dtypes` is not installed.
    """
    import numpy as np

    if name in PLAIN:
        plain: numpy.dtype[Any] = np.dtype(name).newbyteorder("<")
        return plain
    if name not in EXTENDED:
        raise PteError(f"numpy has no dtype {name}: use read() or view()", "no-dtype")
    try:
        import ml_dtypes
    except ImportError:
        message = f"{name} needs the package ml_dtypes: install it, or use read() or view()"
        raise PteError(message, "no-dtype") from None
    extended: numpy.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return extended


def array(tensor: Tensor, copy: bool) -> numpy.ndarray[Any, Any]:
    """Returns the elements of a tensor, or the bytes of a blob."""
    import numpy as np

    dtype = np.dtype("uint8") if tensor.dtype is None else dtype_of(tensor.dtype)
    buffer = bytearray(tensor.read()) if copy else tensor.view()
    if tensor.dtype is None:
        return np.frombuffer(buffer, dtype)
    sizes = tensor.sizes or []
    order = tensor.dim_order or list(range(len(sizes)))
    if any(size < 0 for size in sizes) or sorted(order) != list(range(len(sizes))):
        raise PteError(f"sizes {sizes} and dim order {order} do not fit", "shape")
    count = math.prod(sizes)
    if count * dtype.itemsize > len(buffer):
        message = f"{tensor.dtype}{sizes} needs {count * dtype.itemsize} bytes, and has {len(buffer)}"
        raise PteError(message, "short-data")
    if count == 0:
        flat = np.empty(0, dtype)
    else:
        flat = np.frombuffer(buffer, dtype, count)
    # In memory the dimensions are in dim order; the view has them in the order of the sizes.
    stored = flat.reshape([sizes[dim] for dim in order])
    return stored.transpose([order.index(dim) for dim in range(len(order))])
