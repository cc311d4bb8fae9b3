"""An opened file, by its bytes alone."""

from __future__ import annotations

import os

from ._errors import PteError
from ._ptekit import Handle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self, TypeAlias

    from typing_extensions import Buffer

    Path: TypeAlias = str | os.PathLike[str]
    Source: TypeAlias = Path | Buffer


def open_handle(source: Source, trusted: bool = False) -> Handle:
    """Opens a handle of the extension."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        return Handle.open_path(path, shown_name(path), trusted)
    if not isinstance(source, bytes):
        source = bytes(memoryview(source))
    return Handle.open_bytes(source, "<bytes>", trusted)


def shown_name(path: str) -> str:
    """Returns a path with `\\x` for each byte that is not UTF-8, as the command shows it."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


class Opened:
    """An opened file: its handle and its bytes."""

    def __init__(self, handle: Handle) -> None:
        self._open_handle: Handle | None = handle
        self._view: tuple[memoryview, int] | None = None

    @property
    def handle(self) -> Handle:
        """The handle of the extension. Not public."""
        if self._open_handle is None:
            raise ValueError("the file is closed")
        return self._open_handle

    @property
    def name(self) -> str:
        """The path, or `<bytes>`."""
        return self.handle.name

    @property
    def nbytes(self) -> int:
        """The length of the file in bytes."""
        return self.handle.file_len

    def read(self, begin: int, end: int) -> bytes:
        """Returns a copy of a range of the file.

        Raises:
            PteError: The range is not in the file.
            OSError: It cannot be read.
        """
        return self.handle.read(begin, end)

    def view(self, begin: int, end: int) -> memoryview:
        """Returns a read-only view of a range of the file, without a copy.

        The file is mapped at the first call. The view keeps the map, also after `close`. If the file is
        changed on disk, the view changes; if it is cut, reading the view ends the process: `read` is safe.

        Raises:
            PteError: The range is not in the file.
            OSError: The file cannot be mapped.
        """
        handle = self.handle
        if not 0 <= begin <= end <= handle.file_len:
            raise PteError(f"bytes {begin} to {end} are not in the file", "past-end")
        if self._view is None:
            found, start = handle.buffer()
            self._view = (memoryview(found), start)
        view, start = self._view
        if start + end > len(view):
            raise PteError("the file became shorter", "past-end")
        return view[start + begin : start + end]

    def close(self) -> None:
        """Closes the file. Arrays and views that were made of it stay valid."""
        self._open_handle = None
        self._view = None

    def __enter__(self) -> Self:
        """Returns the file."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes the file."""
        self.close()
