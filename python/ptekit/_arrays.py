"""Tensors as numpy arrays, and back. numpy is imported when an array is made."""

from __future__ import annotations

import math
import sys

from ._errors import PteError
from ._ptekit import dtypes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    import numpy

    Array: TypeAlias = numpy.ndarray[Any, Any]

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


def array(
    name: str | None,
    sizes: list[int] | None,
    dim_order: list[int] | None,
    buffer: bytearray | memoryview,
) -> Array:
    """Returns the elements of a tensor; without a dtype's name the bytes of a blob."""
    import numpy as np

    if name is None:
        return np.frombuffer(buffer, np.dtype("uint8"))
    dtype, sizes = dtype_of(name), sizes or []
    order = dim_order or list(range(len(sizes)))
    if any(size < 0 for size in sizes) or sorted(order) != list(range(len(sizes))):
        raise PteError(f"sizes {sizes} and dim order {order} do not fit", "shape")
    count = math.prod(sizes)
    if count * dtype.itemsize > len(buffer):
        message = f"{name}{sizes} needs {count * dtype.itemsize} bytes, and has {len(buffer)}"
        raise PteError(message, "short-data")
    if count == 0:
        flat = np.empty(0, dtype)
    else:
        flat = np.frombuffer(buffer, dtype, count)
    # In memory the dimensions are in dim order; the view has them in the order of the sizes.
    stored = flat.reshape([sizes[dim] for dim in order])
    return stored.transpose([order.index(dim) for dim in range(len(order))])


def schema_code(array: Array) -> int:
    """Returns the number in the schema of an array's dtype.

    Raises:
        PteError: There is none.
    """
    return schema_code_of(array.dtype.name)


def schema_code_of(name: str) -> int:
    """Returns the number in the schema of the dtype that PyTorch calls `name`.

    Raises:
        PteError: There is none.
    """
    for code, _, torch in dtypes():
        if torch == name:
            return code
    raise PteError(f"a .ptd has no dtype {name}", "no-dtype")


def torch_name_of(code: int) -> str:
    """Returns PyTorch's name of the dtype with a number in the schema."""
    return next(torch for known, _, torch in dtypes() if known == code)


def elements(array: Array) -> bytes:
    """Returns the elements in the order of the dimensions, little-endian."""
    if array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and _IS_BIG):
        array = array.astype(array.dtype.newbyteorder("<"))
    data: bytes = array.tobytes()
    return data


_IS_BIG = sys.byteorder == "big"
