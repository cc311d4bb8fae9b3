"""Changed files. A result is judged before it is written, and written aside and renamed."""

from __future__ import annotations

import os

from . import _ptekit
from ._arrays import elements, schema_code, torch_name_of
from ._opened import Opened, open_handle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, Self

    from typing_extensions import Buffer

    from ._arrays import Array
    from ._objects import Value
    from ._opened import Path, Source
    from ._ptekit import Handle


class Edit:
    """Changes to a file, made in their order when it is saved. What is not changed keeps its bytes.

    The result is judged before it is written: an Error that the file does not have is refused.
    """

    def __init__(self, file: Opened) -> None:
        self._file = file
        self._changes: list[_ptekit.Change] = []
        self._ends: list[Opened] = []

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
        code = schema_code(array)
        if torch_name_of(code) != tensor.dtype or list(array.shape) != tensor.sizes:
            found = f"{torch_name_of(code)}{list(array.shape)}"
            raise ValueError(f"{found} cannot replace {tensor.dtype}{tensor.sizes}")
        order = tensor.dim_order or list(range(array.ndim))
        index: int = value.fields["data_buffer_idx"]
        return self._add("set-constant", number=index, data=elements(array.transpose(order)))

    def inline(self, data: Source | Opened) -> Self:
        """Moves the data of tensors and delegates from a `.ptd` into the program."""
        return self._add("inline", file=data.handle if isinstance(data, Opened) else open_handle(data))

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
