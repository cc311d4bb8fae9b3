"""Opens, judges and writes ExecuTorch's `.pte` and `.ptd` files.

>>> program = ptekit.open("model.pte")
>>> program.methods[0].inputs
[Value(2, Tensor float32[2, 8])]

Files may be untrusted: none makes the library crash, hang or use much memory. The work is done without
the interpreter's lock, so threads run in parallel.
"""

from __future__ import annotations

from ._batch import SCHEMA_FIELDS, scan_batch
from ._check import CheckError, Finding, Report, check
from ._document import Document, Graph
from ._documents import (
    diff,
    graph,
    info,
    map,
    memory,
    ops,
    ops_yaml,
    profile,
    size,
)
from ._edit import Edit
from ._errors import PteError
from ._file import Data, Program, open
from ._objects import (
    Delegate,
    Instruction,
    Method,
    NamedData,
    Operator,
    PayloadConstant,
    Segment,
    Tensor,
    Value,
)
from ._ptekit import __version__
from ._write import PtdBuilder, convert, load_file, save_file

__all__ = [
    "SCHEMA_FIELDS",
    "CheckError",
    "Data",
    "Delegate",
    "Document",
    "Edit",
    "Finding",
    "Graph",
    "Instruction",
    "Method",
    "NamedData",
    "Operator",
    "PayloadConstant",
    "Program",
    "PtdBuilder",
    "PteError",
    "Report",
    "Segment",
    "Tensor",
    "Value",
    "__version__",
    "check",
    "convert",
    "diff",
    "graph",
    "info",
    "load_file",
    "map",
    "memory",
    "open",
    "ops",
    "ops_yaml",
    "profile",
    "save_file",
    "scan_batch",
    "size",
]
