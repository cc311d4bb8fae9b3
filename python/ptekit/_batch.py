"""Batches for engines: a row for each file, also for a broken one."""

from __future__ import annotations

import os
from functools import cache

from ._ptekit import Scanner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_COUNTS = "list<struct<name: string, count: int64>>"

SCHEMA_FIELDS: tuple[tuple[str, str], ...] = (
    ("schema", "string"),
    ("uri", "string"),
    ("kind", "string"),
    ("size", "int64"),
    ("etag", "string"),
    ("commit", "string"),
    ("mtime_ms", "int64"),
    ("status", "string"),
    ("code", "string"),
    ("offset", "int64"),
    ("message", "string"),
    ("errors", "int64"),
    ("warnings", "int64"),
    ("notes", "int64"),
    ("findings", _COUNTS),
    ("version", "int64"),
    ("methods", "list<string>"),
    ("operators", _COUNTS),
    ("backends", "list<struct<id: string, delegates: int64, bytes: int64, nodes: int64>>"),
    ("payloads", _COUNTS),
    ("external_tensors", "int64"),
    ("external_bytes", "int64"),
    ("external_keys", "list<string>"),
    ("missing", "int64"),
    ("missing_keys", "list<string>"),
    ("flatbuffer_bytes", "int64"),
    ("padding_bytes", "int64"),
    ("segment_bytes", "int64"),
    ("trailing_bytes", "int64"),
    ("is_cut", "bool"),
    ("sha256", "string"),
    ("requests", "int64"),
    ("bytes_read", "int64"),
    ("time_us", "int64"),
    ("depth", "string"),
    ("tool", "string"),
    ("rules", "string"),
)
"""The columns of `scan_batch`: names with their Arrow types.

They are those of `pte scan`; docs/reach.md has their contents. What a file does not have is null.
"""


def scan_rows(
    paths: Iterable[str | os.PathLike[str]],
    *,
    depth: str = "check",
    allow_http: bool = False,
    allow_private: bool = False,
) -> list[dict[str, Any]]:
    """Returns a dictionary for each path, with the keys of `SCHEMA_FIELDS`. No file makes it fail."""
    from json import loads

    rows = _scanner(depth, allow_http, allow_private).rows([os.fspath(path) for path in paths])
    return [loads(row) for row in rows]


def scan_batch(
    paths: Iterable[str | os.PathLike[str]],
    *,
    depth: str = "check",
    allow_http: bool = False,
    allow_private: bool = False,
) -> Any:
    """Returns a batch with the rows of `pte scan` of each path, in their order. No file makes it fail.

    It knows no engine: Ray Data's `map_batches` and Spark's `mapInArrow` call it with their paths.

    Args:
        paths: The paths or URLs of files. Folders are not searched.
        depth: `header`, `check` or `hash`, as for `pte scan`.
        allow_http: Whether plain http is accepted.
        allow_private: Whether private, loopback and link-local addresses are accepted.

    Returns:
        A `pyarrow.RecordBatch` with the columns of `SCHEMA_FIELDS`.

    Raises:
        ImportError: pyarrow is not installed; `ptekit._batch.scan_rows` needs it not.
        ValueError: The depth is unknown.
    """
    from importlib import import_module

    pa: Any = import_module("pyarrow")

    rows = scan_rows(paths, depth=depth, allow_http=allow_http, allow_private=allow_private)
    return pa.RecordBatch.from_pylist(rows, schema=_schema())


@cache
def _scanner(depth: str, allow_http: bool, allow_private: bool) -> Scanner:
    # One for all batches: it keeps its connections.
    return Scanner(depth, allow_http, allow_private)


@cache
def _schema() -> Any:
    from importlib import import_module

    pa: Any = import_module("pyarrow")

    def type_of(text: str) -> Any:
        if text.startswith("list<struct<"):
            fields = (field.split(": ") for field in text[len("list<struct<") : -2].split(", "))
            return pa.list_(pa.struct([(name, type_of(kind)) for name, kind in fields]))
        plain = {"string": pa.string(), "int64": pa.int64(), "bool": pa.bool_()}
        return pa.list_(pa.string()) if text == "list<string>" else plain[text]

    return pa.schema([(name, type_of(kind)) for name, kind in SCHEMA_FIELDS])
