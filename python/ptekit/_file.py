"""Opened files: programs and data files."""

from __future__ import annotations

from . import _html
from ._decode import decoded, signature
from ._document import Document
from ._edit import Edit
from ._objects import (
    Delegate,
    Method,
    NamedData,
    PayloadConstant,
    Segment,
    Tensor,
    Tensors,
    decoded_constant,
    decoded_tensor,
    entry_tensor,
)
from ._opened import Opened, open_handle
from ._ptekit import methods, operator_calls, version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ._opened import Source
    from ._ptekit import Handle


def open(source: Source, *, trusted: bool = False) -> Program | Data:
    """Opens a program or a data file; the bytes decide which it is.

    A file on disk costs the memory of its FlatBuffer: its segments are read, or mapped, when they are
    used. A `bytes` object is used as it is; any other buffer is copied, since it might change.

    Args:
        source: A path, or an object with the bytes of a file.
        trusted: Whether to use the larger limits for trusted files.

    Raises:
        PteError: The file is refused.
        OSError: It cannot be read.
    """
    handle = open_handle(source, trusted)
    return Program(handle) if handle.kind == "pte" else Data(handle)


class File(Opened):
    """What both kinds of files have."""

    @property
    def segments(self) -> list[Segment]:
        """The segments, in the order of the file's table."""
        ranges = enumerate(self.handle.segments())
        return [Segment(self, nth, *(of or (None, None))) for nth, of in ranges]

    @property
    def tables(self) -> dict[str, Any]:
        """All tables as `pte dump` shows them, with flatc's names and conventions.

        A `[ubyte]` of more than 64 bytes is `{"sha256": …, "len": …}`. The dictionary is made anew each time.
        """
        return decoded(self.handle.tables(False))

    def to_dict(self) -> dict[str, Any]:
        """Returns the summary of the file: the entry of `files` in `pte info --json`."""
        files: list[dict[str, Any]] = decoded(self.handle.info())["files"]
        return files[0]

    def tensors(self) -> Tensors:
        """Returns every tensor and named blob of the file, as `pte tensors` lists them.

        The constants in payloads of delegates are in `Program.payload_constants`.
        """
        return Tensors(decoded_tensor(self, row) for row in self._rows() if "delegate" not in row)

    def _rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = decoded(self.handle.tensors())["tensors"]
        return rows

    def size(self) -> Document:
        """Returns the document of `pte size --json`: bytes by part, and data that is stored more than once."""
        return Document(decoded(self.handle.size(None)))

    def map(self, depth: int | None = None) -> Document:
        """Returns the document of `pte map --json`: what each byte belongs to."""
        return Document(decoded(self.handle.map(depth)))

    def edit(self) -> Edit:
        """Returns a list of changes to this file, which `Edit.save` makes and writes."""
        return Edit(self)

    def _repr_html_(self) -> str:
        return _html.page(self.name, self.to_dict())


class Program(File):
    """A program: a `.pte` file, whose structure is proven."""

    def __init__(self, handle: Handle) -> None:
        super().__init__(handle)
        self._methods: list[Method] | None = None

    def payload_constants(self) -> list[PayloadConstant]:
        """Returns the constants in payloads of XNNPACK, TOSA, Core ML and VGF, as `pte tensors` lists them."""
        return [decoded_constant(self, row) for row in self._rows() if "delegate" in row]

    @property
    def methods(self) -> list[Method]:
        """The methods, in the order of the file. A part of a method is decoded when it is first used."""
        if self._methods is None:
            heads = enumerate(methods(self.handle))
            self._methods = [Method(self, nth, *head) for nth, head in heads]
        return self._methods

    def method(self, name: str = "forward") -> Method:
        """Returns the method with this name.

        Raises:
            KeyError: There is none.
        """
        for method in self.methods:
            if method.name == name:
                return method
        raise KeyError(name)

    @property
    def version(self) -> int:
        """The version of the program's schema."""
        return version(self.handle)

    @property
    def named_data(self) -> dict[str, NamedData]:
        """The named blobs by key. Of a key that is there twice, the first, as the runtime does."""
        found: dict[str, NamedData] = {}
        for key, begin, end in self.handle.named_data():
            found.setdefault(key, NamedData(self, key, begin, end))
        return found

    @property
    def delegates(self) -> list[Delegate]:
        """The delegates of all methods."""
        return [delegate for method in self.methods for delegate in method.delegates]

    @property
    def operators(self) -> dict[str, int]:
        """The operators that the methods call, with the number of calls."""
        return dict(operator_calls(self.handle))

    def memory(self, method: str | None = None) -> Document:
        """Returns the document of `pte memory --json`: arenas, live ranges, peaks and pools."""
        return Document(decoded(self.handle.memory(method)))

    def _repr_html_(self) -> str:
        return super()._repr_html_() + _html.memory_pictures(self.memory())

    def __repr__(self) -> str:
        if self._open_handle is None:
            return "<ptekit.Program, closed>"
        facts = self.to_dict()
        methods = ", ".join(signature(method) for method in facts["methods"][:3])
        more = facts["method_count"] - 3
        methods += f", … {more} more" if more > 0 else ""
        return f"<ptekit.Program {self.name!r}: {methods or 'no methods'}, {self.nbytes:,} bytes>"


class Data(File):
    """A data file: a `.ptd`, whose structure is proven. It is a mapping of keys to tensors and blobs."""

    def keys(self) -> list[str]:
        """Returns the keys, in the order of the file."""
        return self.handle.keys()

    def values(self) -> Iterator[Tensor]:
        """Returns the tensors and blobs, in the order of the file."""
        return (self[key] for key in self.keys())

    def items(self) -> Iterator[tuple[str, Tensor]]:
        """Returns the keys with their tensors and blobs, in the order of the file."""
        return ((key, self[key]) for key in self.keys())

    def get(self, key: str) -> Tensor | None:
        """Returns the tensor or blob of a key, or None."""
        return self[key] if key in self else None

    def __getitem__(self, key: str) -> Tensor:
        """Returns the tensor or blob of a key. Of a key that is there twice, the first."""
        handle = self._open_handle or self.handle
        index = handle.position(key)
        if index is None:
            raise KeyError(key)
        return entry_tensor(self, handle, key, index)

    def __contains__(self, key: object) -> bool:
        """Whether there is such a key."""
        return isinstance(key, str) and self.handle.position(key) is not None

    def __iter__(self) -> Iterator[str]:
        """Returns the keys, in the order of the file."""
        return iter(self.keys())

    def __len__(self) -> int:
        """Returns the number of tensors and blobs."""
        return self.handle.entry_count()

    def __repr__(self) -> str:
        if self._open_handle is None:
            return "<ptekit.Data, closed>"
        facts = self.to_dict()
        blobs = f", {facts['blobs']} blobs" if facts["blobs"] else ""
        return f"<ptekit.Data {self.name!r}: {facts['tensors']} tensors{blobs}, {self.nbytes:,} bytes>"
