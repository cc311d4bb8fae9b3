"""What notebooks show of files and reports."""

from __future__ import annotations

from itertools import islice

from ._decode import signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def escaped(text: object) -> str:
    """Returns text for HTML. Names from files are untrusted."""
    from html import escape

    return escape(str(text))


def page(name: str, facts: dict[str, Any]) -> str:
    """Returns the summary of a file as a table."""
    rows: list[tuple[str, object]] = [("file", name), ("bytes", f"{facts['bytes']:,}")]
    if facts["kind"] == "pte":
        rows += [("method", signature(method)) for method in facts["methods"][:MOST_ROWS]]
        operators = facts["operators"]
        calls = [f"{row['calls']} × {row['name']}" for row in operators[:MOST_ROWS]]
        more = len(operators) - len(calls)
        rows.append(("operators", ", ".join(calls) + (f", … {more} more" if more > 0 else "")))
        for backend in facts["backends"]:
            rows.append(("backend", f"{backend['id']}, {backend['delegates']} delegates"))
        for part in ("constants", "mutable", "external", "named_data"):
            amount = facts[part]
            if amount["count"]:
                rows.append((part.replace("_", " "), f"{amount['count']}, {amount['bytes']:,} bytes"))
    else:
        rows.append(("entries", f"{facts['tensors']} tensors, {facts['blobs']} blobs"))
        rows += [
            (str(row["dtype"]), f"{row['tensors']} tensors, {row['bytes']:,} bytes")
            for row in facts["dtypes"][:MOST_ROWS]
        ]
    return table(rows)


def table(rows: list[tuple[str, object]]) -> str:
    """Returns a table with a title in each row."""
    cells = [
        f'<tr><th style="text-align:left">{escaped(title)}</th>'
        f'<td style="text-align:left">{escaped(text)}</td></tr>'
        for title, text in rows
    ]
    return f"<table>{''.join(cells)}</table>"


def listing(rows: Iterable[tuple[str, object]], count: int, none: tuple[str, object]) -> str:
    """Returns the first of `count` rows as a table, or the row `none` if there are none."""
    first = list(islice(rows, MOST_FINDINGS))
    if count > len(first):
        first.append(("…", f"{count - len(first)} more"))
    return table(first or [none])


def document(of: dict[str, Any]) -> str:
    """Returns a document as HTML: memory plans as pictures, anything else as a table."""
    kind = str(of.get("schema", "")).partition("/")[0]
    if kind == "pte.memory":
        return memory_pictures(of) or table([("memory", "no method has an arena")])
    if kind == "pte.diff":
        return difference(of)
    if kind == "pte.graph":
        return instructions(of)
    def shown(value: Any) -> object:
        return f"{len(value)} entries" if type(value) in (list, dict) else value

    return table([(key, shown(value)) for key, value in of.items()][:MOST_ROWS])


def difference(of: dict[str, Any]) -> str:
    """Returns the differences of two files as a table."""
    rows: list[tuple[str, object]] = [(of["verdict"], f"{of['before']} → {of['after']}")]
    for row in of["differences"][:MOST_FINDINGS]:
        before, after = (row[side]["text"] if row.get(side) else "nothing" for side in ("before", "after"))
        place = " ".join(filter(None, (row["method"], row["place"], row["what"])))
        rows.append((f"{row['class']} {row['change']}", f"{place}: {before} → {after}"))
    more = of["count"] - min(len(of["differences"]), MOST_FINDINGS)
    if more > 0:
        rows.append(("…", f"{more} more"))
    return table(rows)


def instructions(of: dict[str, Any]) -> str:
    """Returns the instructions of each method as a table: what they call, with their constants."""
    tables: list[str] = []
    for method in of["methods"][:MOST_PICTURES]:
        nodes = [node for node in method["nodes"] if "instruction" in node]
        rows: list[tuple[str, object]] = [
            (method["name"] or "(no name)", f"{len(nodes)} instructions, {len(method['edges'])} edges")
        ]
        for node in nodes[:MOST_FINDINGS]:
            names: list[str | None] = node.get("arguments") or []
            arguments = ", ".join(text or "·" for text in names)
            name = node.get("name") or node["kind"]
            rows.append((f"{node['chain']}:{node['instruction']}", f"{name}({arguments})"))
        if len(nodes) > MOST_FINDINGS:
            rows.append(("…", f"{len(nodes) - MOST_FINDINGS} more"))
        tables.append(table(rows))
    return "".join(tables)


def memory_pictures(of: dict[str, Any]) -> str:
    """Returns a picture of each arena: time to the right, offsets upwards, a box for each tensor."""
    pictures: list[str] = []
    for method in of["methods"]:
        for arena in method["arenas"]:
            if len(pictures) == MOST_PICTURES:
                return "".join(pictures)
            if arena["reach"] and len(arena["tensors"]) <= MOST_BOXES:
                pictures.append(picture(method, arena))
    return "".join(pictures)


def picture(method: dict[str, Any], arena: dict[str, Any]) -> str:
    """Returns an arena as SVG."""
    width, height = 480, 160
    end, reach = max(method["instructions"], 1), arena["reach"]
    boxes: list[str] = []
    for tensor in arena["tensors"]:
        lives, size = tensor.get("lives"), tensor["bytes"]
        if not lives or not size:
            continue
        first, last = lives["first"], lives["last"]
        begin = first["instruction"] if first else 0
        until = last["instruction"] + 1 if last else end
        x, w = begin * width / end, max((until - begin) * width / end, 1)
        top = min(tensor["offset"] + size, reach)
        y, h = height - top * height / reach, max((top - tensor["offset"]) * height / reach, 1)
        title = f"value {tensor['value']} {tensor['dtype']}{tensor['sizes']}, {size:,} bytes"
        boxes.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" fill="#7aa6c2"'
            f' stroke="#fff"><title>{escaped(title)}</title></rect>'
        )
    caption = f"{method['name']}, arena {arena['id']}: {reach:,} bytes, peak {arena['peak']:,}"
    return (
        f"<figure><figcaption>{escaped(caption)}</figcaption>"
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}">{"".join(boxes)}</svg></figure>'
    )


MOST_ROWS = 20
MOST_PICTURES = 4
MOST_BOXES = 2000
MOST_FINDINGS = 100
