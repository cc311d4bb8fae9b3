"""New and changed files. Each is judged before it is written, and written aside and renamed."""

from __future__ import annotations

import os
import sys

from . import _ptekit
from ._errors import PteError
from ._file import Data, File, open, open_handle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal, Self, TypeAlias

    import numpy
    from typing_extensions import Buffer

    from ._file import Source
    from ._objects import Value
    from ._ptekit import Handle

    Path: TypeAlias = str | os.PathLike[str]
    Array: TypeAlias = numpy.ndarray[Any, Any]

ALIGNMENT = 128
"""The alignment of data in a `.ptd` that ExecuTorch's own writer uses, in bytes."""


class PtdBuilder:
    """Collects named tensors and blobs, and writes them as a `.ptd`.

    The file is that of ExecuTorch's own writer, byte for byte.
    """

    def __init__(self, *, alignment: int = ALIGNMENT, share: bool = False) -> None:
        """Creates a builder.

        Args:
            alignment: The alignment of the data of each entry in bytes.
            share: Whether to store equal data once.
        """
        self._entries: list[tuple[str, tuple[int, list[int], list[int] | None] | None, bytes]] = []
        self._alignment = alignment
        self._share = share

    def tensor(self, key: str, array: Array) -> Self:
        """Adds a numpy array; its elements are copied now, in the order of its dimensions.

        Raises:
            PteError: A `.ptd` has no such dtype (code `no-dtype`).
        """
        self._entries.append((key, (_code(array), list(array.shape), None), _elements(array)))
        return self

    def raw_tensor(
        self,
        key: str,
        data: Buffer,
        dtype: str,
        sizes: list[int],
        dim_order: list[int] | None = None,
    ) -> Self:
        """Adds a tensor by its bytes, for dtypes that numpy does not have.

        Args:
            key: Its key.
            data: The bytes of its elements, little-endian.
            dtype: PyTorch's name of the dtype, such as `bfloat16`.
            sizes: The sizes, outermost first.
            dim_order: The dimensions from the outermost to the innermost in memory; by default in order.

        Raises:
            PteError: There is no such dtype (code `no-dtype`).
        """
        shape = (_code_of(dtype), list(sizes), dim_order)
        self._entries.append((key, shape, bytes(memoryview(data))))
        return self

    def blob(self, key: str, data: Buffer) -> Self:
        """Adds bytes without a shape; they are copied now."""
        self._entries.append((key, None, bytes(memoryview(data))))
        return self

    def save(self, path: Path) -> None:
        """Writes the file; an existing one is replaced when the new one is complete.

        Raises:
            PteError: A key is there twice, or a shape is invalid (code `build`).
            OSError: The file cannot be written.
        """
        _ptekit.write_ptd(self._entries, self._alignment, self._share, os.fspath(path))

    def to_bytes(self) -> bytes:
        """Returns the bytes of the file.

        Raises:
            PteError: As `save`.
        """
        return _ptekit.write_ptd(self._entries, self._alignment, self._share, None) or b""

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<ptekit.PtdBuilder of {len(self)} entries>"


def save_file(tensors: Mapping[str, Array], path: Path, *, alignment: int = ALIGNMENT) -> None:
    """Writes arrays as a `.ptd`, in their order.

    Raises:
        PteError: A `.ptd` has no such dtype.
        OSError: The file cannot be written.
    """
    builder = PtdBuilder(alignment=alignment)
    for key, array in tensors.items():
        builder.tensor(key, array)
    builder.save(path)


def load_file(path: Source) -> dict[str, Array]:
    """Returns the tensors of a `.ptd` as writable copies. Blobs are arrays of bytes.

    Raises:
        PteError: The file is refused, or numpy has no such dtype.
        ValueError: The file is a program.
        OSError: It cannot be read.
    """
    with open(path) as data:
        if not isinstance(data, Data):
            raise ValueError("this is a program: load_file takes a .ptd")
        return {key: tensor.numpy(copy=True) for key, tensor in data.items()}


class Edit:
    """Changes to a file, made in their order when it is saved. What is not changed keeps its bytes.

    The result is judged before it is written: an Error that the file does not have is refused.
    """

    def __init__(self, file: File) -> None:
        self._file = file
        self._changes: list[_ptekit.Change] = []
        self._ends: list[File] = []

    def _add(
        self,
        kind: str,
        key: str = "",
        number: int = 0,
        data: bytes | None = None,
        file: Handle | None = None,
    ) -> Self:
        change: _ptekit.Change = {
            "kind": kind,
            "key": key,
            "number": number,
            "bytes": data,
            "file": file,
        }
        self._changes.append(change)
        return self

    def set_data(self, key: str, data: Buffer) -> Self:
        """Sets the named data of a key to the bytes of a buffer, such as an array; a new key is added."""
        return self._add("set-data", key, data=memoryview(data).tobytes())

    def remove_data(self, key: str) -> Self:
        """Removes the named data of a key."""
        return self._add("remove-data", key)

    def replace_constant(self, value: Value, array: Array) -> Self:
        """Replaces the elements of a constant tensor by an array of the same dtype and sizes.

        All tensors that share the constant have the new elements.

        Raises:
            ValueError: The value is no constant tensor, or the array has another dtype or other sizes.
        """
        tensor = value.tensor
        if tensor is None or tensor.storage != "constant":
            raise ValueError(f"{value!r} is no constant tensor")
        code = _code(array)
        if _torch(code) != tensor.dtype or list(array.shape) != tensor.sizes:
            found = f"{_torch(code)}{list(array.shape)}"
            raise ValueError(f"{found} cannot replace {tensor.dtype}{tensor.sizes}")
        order = tensor.dim_order or list(range(array.ndim))
        index: int = value.fields["data_buffer_idx"]
        return self._add("set-constant", number=index, data=_elements(array.transpose(order)))

    def inline(self, data: Source | Data) -> Self:
        """Moves the data of tensors and delegates from a `.ptd` into the program."""
        return self._add("inline", file=data.handle if isinstance(data, File) else open_handle(data))

    def externalize(
        self, what: Literal["constants", "data", "all"] = "all", *, min_size: int = 1
    ) -> Self:
        """Moves constant tensors, the named data of delegates, or both into a `.ptd`.

        Args:
            what: `constants`, `data` or `all`.
            min_size: The smallest data that is moved, in bytes.
        """
        if what not in ("constants", "data", "all"):
            raise ValueError(f"expected constants, data or all: {what!r}")
        return self._add("externalize", what, min_size)

    def move_payload_constants(self, to: Literal["named", "inside"], *, min_size: int = 1) -> Self:
        """Moves the constants of XNNPACK payloads into named data of the program, or back into the payloads.

        Args:
            to: `named` or `inside`. Named data needs a runtime of release 0.6 or later.
            min_size: The smallest constant that becomes named data, in bytes.
        """
        if to not in ("named", "inside"):
            raise ValueError(f"expected named or inside: {to!r}")
        return self._add("payload-constants", to, min_size)

    def share(self) -> Self:
        """Stores equal named data and equal payloads once. Every key stays."""
        return self._add("share")

    def strip(self, what: Literal["stacktrace", "names"]) -> Self:
        """Removes the stack traces of instructions, or the names of parameters and buffers."""
        if what not in ("stacktrace", "names"):
            raise ValueError(f"expected stacktrace or names: {what!r}")
        return self._add("strip", what)

    def align(self, alignment: int) -> Self:
        """Aligns segments to a power of two, in bytes."""
        if not 0 < alignment <= 1 << 30 or alignment & (alignment - 1):
            raise ValueError("expected a power of two, up to 2^30")
        return self._add("align", number=alignment)

    def save(self, path: Path, *, ptd: Path | None = None, forget_unknown: bool = False) -> None:
        """Makes the changes and writes the result; an existing file is replaced when it is complete.

        Args:
            path: The path of the result. It may be that of the file itself.
            ptd: The path of the data that `externalize` moves out. By default that of the result with the
                suffix `.ptd`, which must not exist.
            forget_unknown: Whether to write the file even if fields of a newer writer are lost.

        Raises:
            PteError: A change cannot be made, or the result would have a new Error.
            FileExistsError: The default path of the data exists.
            ValueError: A change is for a program, and this is a `.ptd`; or both paths are the same.
            OSError: A file cannot be read or written.
        """
        path = os.fspath(path)
        data = os.fspath(ptd) if ptd is not None else os.path.splitext(path)[0] + ".ptd"
        if any(change["kind"] == "externalize" for change in self._changes):
            if ptd is None and os.path.exists(data):
                raise FileExistsError(f"{data} exists: name the data with ptd=")
            if os.path.realpath(data) == os.path.realpath(path):
                raise ValueError("the program and its data need two paths")
        _ptekit.edit(self._file.handle, self._changes, path, data, forget_unknown)

    def to_bytes(self, *, forget_unknown: bool = False) -> tuple[bytes, bytes | None]:
        """Makes the changes, and returns the bytes of the result and of the `.ptd` that was moved out, or None.

        Raises:
            PteError: As `save`.
        """
        result, data = _ptekit.edit(self._file.handle, self._changes, None, None, forget_unknown)
        return result or b"", data

    def __repr__(self) -> str:
        kinds = ", ".join(change["kind"] for change in self._changes)
        return f"<ptekit.Edit of {self._file.name!r}: {kinds or 'no changes'}>"


def convert(
    source: Source,
    path: Path | None = None,
    *,
    to: Literal["ptd", "safetensors"] | None = None,
    alignment: int | None = None,
    share: bool = False,
    skip_blobs: bool = False,
) -> bytes | None:
    """Converts safetensors to `.ptd` and back, or an old `.ptd` to a current one.

    Names, dtypes, shapes, data and metadata are kept; what has no counterpart is refused.

    Args:
        source: A path, or an object with the bytes of a file.
        path: Where to write the result; without it the bytes are returned.
        to: The format of the result; by default the suffix of the path decides.
        alignment: The alignment of tensor data in a `.ptd`, in bytes; by default 128.
        share: Whether to store equal data of a `.ptd` once.
        skip_blobs: Whether to leave out blobs, which safetensors does not have.

    Raises:
        PteError: The file is refused, or something has no counterpart (code `convert`).
        ValueError: Neither `to` nor the suffix names the format, or an argument is for the other one.
        OSError: A file cannot be read or written.
    """
    if to is None:
        name = "" if path is None else os.fspath(path)
        suffix = os.path.splitext(name)[1].lower()
        if suffix not in (".ptd", ".safetensors"):
            raise ValueError("give to='ptd' or to='safetensors'")
        to = "ptd" if suffix == ".ptd" else "safetensors"
    if to not in ("ptd", "safetensors"):
        raise ValueError(f"expected ptd or safetensors: {to!r}")
    if to == "ptd" and skip_blobs:
        raise ValueError("skip_blobs is for safetensors: a .ptd has blobs")
    if to == "safetensors" and (alignment is not None or share):
        raise ValueError("alignment and share are for a .ptd")
    output = None if path is None else os.fspath(path)
    rest = (to, alignment, share, skip_blobs, output)
    if isinstance(source, (str, os.PathLike)):
        return _ptekit.convert(os.fspath(source), None, *rest)
    data = source if isinstance(source, bytes) else bytes(memoryview(source))
    return _ptekit.convert(None, data, *rest)


def _code(array: Array) -> int:
    return _code_of(array.dtype.name)


def _code_of(name: str) -> int:
    for code, _, torch in _ptekit.dtypes():
        if torch == name:
            return code
    raise PteError(f"a .ptd has no dtype {name}", "no-dtype")


def _torch(code: int) -> str:
    return next(torch for known, _, torch in _ptekit.dtypes() if known == code)


def _elements(array: Array) -> bytes:
    """Returns the elements in the order of the dimensions, little-endian."""
    if array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and _IS_BIG):
        array = array.astype(array.dtype.newbyteorder("<"))
    data: bytes = array.tobytes()
    return data


_IS_BIG = sys.byteorder == "big"
