"""New files: data files from tensors and blobs, and conversions. Each is judged before it is written."""

from __future__ import annotations

import os

from . import _ptekit
from ._arrays import elements, schema_code, schema_code_of
from ._file import Data, open

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal, Self

    from typing_extensions import Buffer

    from ._arrays import Array
    from ._opened import Path, Source

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
        self._entries.append((key, (schema_code(array), list(array.shape), None), elements(array)))
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
        shape = (schema_code_of(dtype), list(sizes), dim_order)
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
