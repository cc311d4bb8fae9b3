"""What the extension module returns as text, decoded."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def decoded(text: str) -> dict[str, Any]:
    """Returns the object of a JSON text."""
    import json

    document: dict[str, Any] = json.loads(text)
    return document


def decoded_list(text: str) -> list[Any]:
    """Returns the list of a JSON text."""
    import json

    rows: list[Any] = json.loads(text)
    return rows


def listed(table: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Returns a vector of tables, empty if it is not there."""
    rows: list[dict[str, Any]] | None = table.get(key)
    return rows or []


def nested(table: dict[str, Any], key: str) -> dict[str, Any]:
    """Returns a table in a field; empty if it is not there, or is the number of an unknown member."""
    row: dict[str, Any] | int | None = table.get(key)
    return row if isinstance(row, dict) else {}


def torch_name(dtype: str | int) -> str:
    """Returns PyTorch's name of a dtype that the schema names, or whose number a file has."""
    from ._ptekit import dtypes

    if not _TORCH_NAMES:
        for code, schema, torch in dtypes():
            _TORCH_NAMES[code] = torch
            if schema is not None:
                _TORCH_NAMES[schema] = torch
    return _TORCH_NAMES.get(dtype, str(dtype))


_TORCH_NAMES: dict[str | int, str] = {}


def signature(method: dict[str, Any]) -> str:
    """Returns a method of a summary in words, such as `forward(float32[2, 8]) -> float32[2, 4]`."""

    def side(values: list[dict[str, Any]], count: int) -> str:
        texts: list[str] = []
        for value in values:
            sizes: list[int] | None = value.get("sizes")
            dtype: str | int | None = value.get("dtype")
            text: str = (value["type"] or "unknown") if dtype is None else torch_name(dtype)
            texts.append(text if sizes is None else f"{text}{sizes}")
        more = count - len(texts)
        return ", ".join(texts) + (f", … {more} more" if more > 0 else "")

    inputs = side(method["inputs"], method["input_count"])
    outputs = side(method["outputs"], method["output_count"])
    return f"{method['name'] or '(no name)'}({inputs}) -> {outputs or 'nothing'}"
