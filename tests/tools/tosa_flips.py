#!/usr/bin/env python3
"""Flips single bits of a TOSA graph, and compares `pte check` with TOSA's reference model.

    python tests/tools/tosa_flips.py PTE GRAPH.tosa [COUNT]

Needs PyPI's tosa-tools. PTE is the command; `pte extract` writes the graph of a program. Each of COUNT graphs (200)
differs from GRAPH.tosa in one bit. The table says how many the reference model runs, refuses and crashes on, by the
worst severity that the command finds. The model gets inputs of ones, in a process of its own.
"""

import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import tosa_reference_model
from tosa import DType, TosaGraph

DTYPES = {name: getattr(np, kind) for name, kind in {
    DType.DType.BOOL: "bool_", DType.DType.INT8: "int8", DType.DType.INT16: "int16", DType.DType.INT32: "int32",
    DType.DType.INT64: "int64", DType.DType.FP32: "float32", DType.DType.FP16: "float16",
}.items()}


def ones(graph):
    """Returns an array of ones for each input of a graph."""
    block = TosaGraph.TosaGraph.GetRootAs(graph, 0).Regions(0).Blocks(0)
    tensors = {tensor.Name(): tensor for tensor in map(block.Tensors, range(block.TensorsLength()))}
    inputs = [tensors[block.Inputs(nth)] for nth in range(block.InputsLength())]
    shapes = [[tensor.Shape(axis) for axis in range(tensor.ShapeLength())] for tensor in inputs]
    assert all(np.prod(shape, dtype=float) < 1e7 for shape in shapes)
    return [np.ones(shape, DTYPES[tensor.Type()]) for shape, tensor in zip(shapes, inputs)]


def verdict(graph, original):
    """Returns what the reference model does with a graph."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, 1), os.dup2(sink, 2)
        try:
            try:
                inputs = ones(graph)
            except Exception:
                inputs = ones(original)
            model = tosa_reference_model.run(graph, inputs, initialize_variable_tensor_from_numpy=True)
            os._exit(0 if model[1] == tosa_reference_model.GraphStatus.TOSA_VALID else 1)
        except Exception:
            os._exit(1)
    status = os.waitpid(child, 0)[1]
    return "crashes" if os.WIFSIGNALED(status) else ["runs", "refuses"][os.WEXITSTATUS(status)]


def severity(command, path):
    """Returns the worst severity of the command's findings."""
    run = subprocess.run([command, "check", "--json", path], capture_output=True, text=True, check=False)
    document = json.loads(run.stdout)
    found = {one["severity"] for file in document["files"] for one in file.get("findings", [])}
    if document.get("refused") or "error" in found:
        return "error"
    return "warning" if "warning" in found else "none"


def main():
    command, path = sys.argv[1:3]
    original, count = Path(path).read_bytes(), int((sys.argv[3:] or ["200"])[0])
    os.environ["PATH"] = ""  # a crash starts no debugger
    table = collections.Counter()
    for bit in random.Random(45).sample(range(len(original) * 8), count):
        graph = bytearray(original)
        graph[bit // 8] ^= 1 << bit % 8
        with tempfile.NamedTemporaryFile(suffix=".tosa") as file:
            file.write(graph)
            file.flush()
            table[verdict(bytes(graph), original), severity(command, file.name)] += 1
    for (model, worst), number in sorted(table.items()):
        print(f"the reference model {model}, the command finds {worst}: {number}")


if __name__ == "__main__":
    main()
