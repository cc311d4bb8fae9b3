"""Makes the documents of the command."""

from __future__ import annotations

import os

from ._decode import decoded
from ._document import Document, Graph
from ._opened import Opened, open_handle, shown_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from ._opened import Source
    from ._ptekit import Handle

    Given: TypeAlias = Source | Opened


def handle_of(file: Given) -> Handle:
    """Returns the handle of an opened file, or of one that is opened now."""
    return file.handle if isinstance(file, Opened) else open_handle(file)


def info(file: Given) -> Document:
    """Returns the document of `pte info --json`: a summary.

    Args:
        file: A path, an object with bytes, or an opened file; as of all functions here.
    """
    return Document(decoded(handle_of(file).info()))


def size(file: Given, *, against: Given | None = None) -> Document:
    """Returns the document of `pte size --json`: bytes by part, and equal data or the growth since another file."""
    base = None if against is None else handle_of(against)
    return Document(decoded(handle_of(file).size(base)))


def memory(file: Given, *, method: str | None = None) -> Document:
    """Returns the document of `pte memory --json`: arenas, live ranges, peaks, pools for the newest runtime.

    Raises:
        ValueError: There is no such method.
    """
    return Document(decoded(handle_of(file).memory(method)))


def map(file: Given, *, depth: int | None = None) -> Document:
    """Returns the document of `pte map --json`: nested ranges that have every byte once."""
    return Document(decoded(handle_of(file).map(depth)))


def diff(
    before: Given,
    after: Given,
    *,
    with_before: Iterable[Given] = (),
    with_after: Iterable[Given] = (),
    ignore: Iterable[str] = (),
    method: str | None = None,
) -> Document:
    """Returns the document of `pte diff --json`: differences in meaning.

    Args:
        before: A program or a data file.
        after: Another of the same kind.
        with_before: The `.ptd` files beside the first program.
        with_after: The `.ptd` files beside the second program.
        ignore: Classes of differences to leave out, such as `memory-plan`.
        method: The only method to compare.

    Raises:
        ValueError: The files are of different kinds, a class is unknown, or neither has the method.
    """
    from . import _ptekit

    old, new = [[handle_of(file) for file in files] for files in (with_before, with_after)]
    files = (handle_of(before), handle_of(after))
    return Document(decoded(_ptekit.diff_files(*files, old, new, list(ignore), method)))


def ops(*files: Given, against: str | None = None, method: str | None = None) -> Document:
    """Returns the document of `pte ops --json`: operators and backends with call counts and dtypes.

    Args:
        files: Programs.
        against: Kernel libraries (`portable,prim`), a package (`wheel`, `android`, `ios`), the text of a
            `selected_operators.yaml`, or a name on each line: `missing` has the operators that it lacks.
        method: The only method of each program to list.

    Raises:
        ValueError: A file is a `.ptd` or lacks the method, or the text is no list.
    """
    from . import _ptekit

    return Document(decoded(_ptekit.ops([handle_of(file) for file in files], against, method)))


def ops_yaml(*files: Given, method: str | None = None) -> str:
    """Returns the `selected_operators.yaml` of programs, as ExecuTorch's gen_oplist writes it."""
    from . import _ptekit

    return _ptekit.ops_yaml([handle_of(file) for file in files], method)


def profile(file: Source, *, program: Given | None = None, method: str | None = None) -> Document:
    """Returns the document of `pte profile --json`: the times of methods and instructions.

    Args:
        file: An ETDump: a path, or an object with bytes.
        program: The program that ran: instructions have the names of its operators and backends.
        method: The method that ran. The default is `forward`, or the only one.

    Raises:
        PteError: The file is no ETDump, or a broken one.
        ValueError: The program calls something else, or has no such method.
    """
    from . import _ptekit

    named = None if program is None else handle_of(program)
    if isinstance(file, (str, os.PathLike)):
        path = os.fspath(file)
        return Document(decoded(_ptekit.profile(path, None, shown_name(path), named, method)))
    whole = file if isinstance(file, bytes) else bytes(memoryview(file))
    return Document(decoded(_ptekit.profile(None, whole, "<bytes>", named, method)))


def graph(file: Given, *, method: str | None = None) -> Graph:
    """Returns the data-flow graph of a program, or of one of its methods."""
    return Graph(Document(decoded(handle_of(file).graph(method))))
