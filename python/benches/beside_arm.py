"""What Model Explorer shows of programs by `ptekit.explorer` and by Arm's adapter (PyPI: pte-adapter-model-explorer).

    python benches/beside_arm.py FILE_OR_FOLDER…     a line for each program, and the sums, as a table

A delegate counts as opened where the layer of its call has nodes of its payload.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from ptekit.explorer.main import PteAdapter

# The layer of a delegate's call: its backend and its instruction.
LAYER = re.compile(r"(?:[^/]+/)*\w+ \d+(?=/|$)")

COLUMNS = ("nodes", "edges", "attributes", "with a shape", "constants' values", "delegates opened", "findings", "ms")


def main() -> None:
    # Arm's adapter is compared if it is installed.
    readers: dict[str, Any] = {"ptekit": PteAdapter()}
    try:
        from pte_adapter_model_explorer.main import PTEAdapter

        readers["Arm"] = PTEAdapter()
    except ImportError:
        print("pte-adapter-model-explorer is not installed")
    print("| file | reader |", " | ".join(COLUMNS), "|\n| --- | --- |", " --- |" * len(COLUMNS))
    sums: dict[str, list[int]] = {reader: [0] * len(COLUMNS) for reader in readers}
    raised = dict.fromkeys(readers, 0)
    for path in programs(sys.argv[1:]):
        for reader, adapter in readers.items():
            began = time.perf_counter()
            try:
                graphs = graphs_of(adapter.convert(str(path), {}))
            except Exception as error:
                raised[reader] += 1
                print(f"| {path.name} | {reader} | {type(error).__name__} |", " |" * (len(COLUMNS) - 1))
                continue
            facts = [*counts(graphs), round((time.perf_counter() - began) * 1000)]
            sums[reader] = [a + b for a, b in zip(sums[reader], facts, strict=True)]
            print(f"| {path.name} | {reader} |", " | ".join(map(str, facts)), "|")
    for reader, facts in sums.items():
        print(f"| all, {raised[reader]} exceptions | {reader} |", " | ".join(map(str, facts)), "|")


def programs(arguments: list[str]) -> Iterator[Path]:
    for argument in map(Path, arguments):
        yield from sorted(argument.rglob("*.pte")) if argument.is_dir() else [argument]


def graphs_of(converted: dict[str, Any]) -> list[dict[str, Any]]:
    """The graphs of a file as dictionaries, whichever classes they are."""
    plain = [asdict(one) if is_dataclass(one) else one for one in converted["graphCollections"]]
    return [asdict(graph) if is_dataclass(graph) else graph for one in plain for graph in one["graphs"]]


def counts(graphs: list[dict[str, Any]]) -> list[int]:
    nodes = [node for graph in graphs for node in graph["nodes"]]
    edges = [edge for node in nodes for edge in node.get("incomingEdges") or []]
    attributes = [one for node in nodes for one in node.get("attrs") or []]
    metadata = [one for node in nodes for one in node.get("outputsMetadata") or []]
    outputs = [[attr["key"] for attr in one.get("attrs") or []] for one in metadata]
    shaped = [keys for keys in outputs if "shape" in keys or "sizes" in keys]
    values = [one for one in attributes if one["key"] == "__value"]
    # Arm's adapter gives each delegate a graph of its own, ptekit a layer of the method's.
    apart = [graph for graph in graphs if "::" in graph["id"]]
    layers = {layer[0] for node in nodes if (layer := LAYER.match(node.get("namespace") or ""))}
    findings = [one for one in attributes if one["key"] in ("error", "warning", "note")]
    return [len(nodes), len(edges), len(attributes), len(shaped), len(values), len(layers) + len(apart), len(findings)]


if __name__ == "__main__":
    main()
