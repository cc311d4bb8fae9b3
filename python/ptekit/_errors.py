"""The exceptions of the package."""

from __future__ import annotations


class PteError(Exception):
    """A file that is refused, or a request that a file cannot meet.

    Errors of the operating system are `OSError`, wrong arguments `ValueError` or `TypeError`.

    Attributes:
        code: The stable name of the reason, such as ``flatbuffer-truncated``; ``pte explain CODE`` has more.
        offset: The offset of the wrong bytes from the start of the file, or None.
        path: The path of the wrong bytes from the root table; may be empty.
        help: What to do, or None.
    """

    def __init__(
        self,
        message: str,
        code: str = "error",
        offset: int | None = None,
        path: str = "",
        help: str | None = None,
    ) -> None:
        super().__init__(message, code, offset, path, help)
        self.message = message
        self.code = code
        self.offset = offset
        self.path = path
        self.help = help

    def __str__(self) -> str:
        text = f"{self.message} [{self.code}]"
        if self.offset is not None:
            text += f" at {self.offset:#x}"
        if self.path:
            text += f", {self.path}"
        return text
