"""Batches for engines: a row for each file, also for a broken one."""

from __future__ import annotations

import os

from ._errors import PteError
from ._file import decoded, open_handle, shown_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

SCHEMA_FIELDS: tuple[tuple[str, str], ...] = (
    ("path", "string"),
    ("kind", "string"),
    ("bytes", "uint64"),
    ("verdict", "string"),
    ("code", "string"),
    ("error", "string"),
    ("errors", "uint32"),
    ("warnings", "uint32"),
    ("methods", "list<string>"),
    ("operators", "list<string>"),
    ("backends", "list<string>"),
    ("constant_bytes", "uint64"),
    ("named_data", "uint64"),
    ("tensors", "uint64"),
)
"""The columns of `scan_batch`: names with their Arrow types.

`verdict` is `ok`, `error` (a rule has an Error), `refused` or `unreadable`; `code` and `error` are the first
reason. What a file does not have is null.
"""


def scan_rows(paths: Iterable[str | os.PathLike[str]]) -> list[dict[str, Any]]:
    """Returns a dictionary for each path, with the keys of `SCHEMA_FIELDS`. No file makes it fail."""
    from ._ptekit import Judge

    judge = Judge([], [], [], None, None, False, False)
    return [_row(judge, os.fspath(path)) for path in paths]


def scan_batch(paths: Iterable[str | os.PathLike[str]]) -> Any:
    """Returns a batch with a row for each path, in their order. No file makes it fail.

    It knows no engine: Ray Data's `map_batches` and Spark's `mapInArrow` call it with their paths.

    Args:
        paths: The paths of files.

    Returns:
        A `pyarrow.RecordBatch` with the columns of `SCHEMA_FIELDS`.

    Raises:
        ImportError: pyarrow is not installed; `ptekit._batch.scan_rows` needs it not.
    """
    from importlib import import_module

    pa: Any = import_module("pyarrow")

    types = {
        "string": pa.string(),
        "uint32": pa.uint32(),
        "uint64": pa.uint64(),
        "list<string>": pa.list_(pa.string()),
    }
    schema = pa.schema([(name, types[kind]) for name, kind in SCHEMA_FIELDS])
    return pa.RecordBatch.from_pylist(scan_rows(paths), schema=schema)


def _row(judge: Any, path: str) -> dict[str, Any]:
    name = shown_name(path)
    row: dict[str, Any] = {column: None for column, _ in SCHEMA_FIELDS}
    row["path"] = name
    try:
        row["bytes"] = os.stat(path).st_size
        handle = open_handle(path)
        facts = decoded(handle.info())["files"][0]
        checked = decoded(judge.handle(handle).to_json())
    except PteError as error:
        return row | {"verdict": "refused", "code": error.code, "error": error.message}
    except (OSError, ValueError, MemoryError) as error:
        return row | {"verdict": "unreadable", "code": "unreadable", "error": str(error)}
    severities = [finding["severity"] for finding in checked["findings"]]
    row |= {
        "kind": handle.kind,
        "bytes": handle.file_len,
        "verdict": checked["verdict"],
        "errors": severities.count("error"),
        "warnings": severities.count("warning"),
    }
    if checked["verdict"] != "ok":
        first = checked["findings"][0]
        row |= {"code": first["rule"], "error": first["message"]}
    if handle.kind == "pte":
        row |= {
            "methods": [method["name"] for method in facts["methods"]],
            "operators": [operator["name"] for operator in facts["operators"]],
            "backends": [backend["id"] for backend in facts["backends"]],
            "constant_bytes": facts["constants"]["bytes"],
            "named_data": facts["named_data"]["count"],
        }
    else:
        row |= {"tensors": facts["tensors"], "named_data": facts["blobs"]}
    return row
