"""Held against the package executorch, where it is installed: what its own readers and writers say."""

from __future__ import annotations

import dataclasses
import enum
import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import DATA, corpus

import ptekit

# Importing it takes seconds.
if not any((Path(folder) / "executorch").is_dir() for folder in sys.path):
    pytest.skip("executorch is not installed", allow_module_level=True)

# Its reader moves constants and payloads into other tables: they are compared by their bytes.
MOVED = {"constant_buffer", "backend_delegate_data", "segments", "constant_segment", "named_data"}
MOVED |= {"mutable_data_segments", "processed", "data_buffer_idx"}


def same(ours: object, theirs: object, path: str) -> int:
    """Compares a table with executorch's, and returns the number of fields that were compared."""
    if dataclasses.is_dataclass(theirs):
        count = 0
        for field in dataclasses.fields(theirs):
            value = getattr(theirs, field.name)
            if field.name in MOVED:
                continue
            if value is None and ours.get(field.name) in (None, [], ""):
                continue
            if dataclasses.is_dataclass(value) and f"{field.name}_type" in ours:
                assert ours[f"{field.name}_type"] == type(value).__name__, path
            count += same(ours.get(field.name), value, f"{path}.{field.name}")
        return count
    if isinstance(theirs, (bytes, bytearray)):
        if isinstance(ours, dict):
            from hashlib import sha256

            assert ours == {"sha256": sha256(theirs).hexdigest(), "len": len(theirs)}, path
        else:
            assert bytes(ours or []) == bytes(theirs), path
        return 1
    if isinstance(theirs, (list, tuple)):
        ours = ours or []
        assert len(ours) == len(theirs), path
        return sum(same(a, b, f"{path}[{nth}]") for nth, (a, b) in enumerate(zip(ours, theirs)))
    if isinstance(theirs, enum.Enum):
        # Some names have another case than in the schema.
        assert ours == theirs.value or str(ours).upper() == theirs.name.upper(), path
    elif isinstance(theirs, float) and isinstance(ours, str):
        # As in JSON, infinities and NaN are texts.
        assert repr(float(ours)) == repr(theirs), path
    else:
        assert ours == theirs, path
    return 1


def test_every_field_is_that_of_its_own_reader() -> None:
    from executorch.exir._serialize._program import deserialize_pte_binary

    fields, files, unread = 0, 0, []
    for path in corpus():
        if path.suffix != ".pte":
            continue
        try:
            found = deserialize_pte_binary(path.read_bytes())
        except Exception:
            unread.append(path.name)
            continue
        program = ptekit.open(path)
        fields += same(program.tables, found.program, path.name)
        files += 1
        assert isinstance(program, ptekit.Program)
        for method, plan in zip(program.methods, found.program.execution_plan):
            for value, theirs in zip(method.values, plan.values):
                index = getattr(theirs.val, "data_buffer_idx", 0)
                if not index or value.tensor is None or value.tensor.storage != "constant":
                    continue
                data = found.program.constant_buffer[index].storage
                ours = value.tensor.read()
                # Of a dtype with packed elements its size is more than the constant has.
                assert data[: len(ours)] == ours[: len(data)] != b"" or not ours, path.name
        if found.named_data is not None:
            store = found.named_data
            keys = {key: store.buffers[of.buffer_index] for key, of in store.pte_data.items()}
            assert {key: blob.read() for key, blob in program.named_data.items()} == keys, path.name
    print(f"{files} files, {fields:,} fields; it cannot read {len(unread)}")
    assert files > 40 and fields > 10_000


def test_a_data_file_is_that_of_its_own_writer(tmp_path: Path) -> None:
    from executorch.exir._serialize._cord import Cord
    from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer

    compared, equal = 0, 0
    for path in sorted(DATA.glob("ptd/*.ptd")):
        data = ptekit.open(path)
        if data.to_dict()["generation"] != 3:
            continue
        payload = FlatTensorSerializer().deserialize(Cord(path.read_bytes()))
        theirs = {
            key: bytes(payload.buffers[of.buffer_index])
            for key, of in payload.named_data.items()
        }
        assert {key: of.read() for key, of in data.items()} == theirs, path.name
        for key, of in payload.named_data.items():
            layout = of.tensor_layout
            if layout is not None:
                assert (data[key].sizes, data[key].dim_order) == (layout.sizes, layout.dim_order)
        compared += 1
        written = bytes(FlatTensorSerializer().serialize(payload))
        made = []
        for share in (False, True):
            builder = ptekit.PtdBuilder(share=share)
            for key, of in data.items():
                if of.dtype is None:
                    builder.blob(key, of.read())
                else:
                    builder.raw_tensor(key, of.read(), of.dtype, of.sizes or [], of.dim_order)
            made.append(builder.to_bytes())
        # It shares as its caller says: in this file, some of what is equal.
        assert written in made or path.name == "ptd_zero_blob.ptd", path.name
        equal += written in made
    print(f"{compared} files read, {equal} written again")
    assert compared > 20 and equal >= compared - 1


RUN = """
import json, sys
import torch
from executorch.runtime import Runtime

for nth, path, edited, shapes in json.load(sys.stdin):
    generator = torch.Generator().manual_seed(nth)
    inputs = [torch.rand(shape, generator=generator) for shape in shapes]
    print(nth, end=" ", flush=True)
    results = []
    try:
        for of in (path, edited):
            results.append(Runtime.get().load_program(of).load_method("forward").execute(inputs))
            print("ran", end=" ", flush=True)
    except RuntimeError:
        # It has not this backend, these operators, or the data file.
        print("different" if results else "refused", flush=True)
        continue
    same = len(results[0]) == len(results[1])
    for one, two in zip(*results):
        tensors = isinstance(one, torch.Tensor)
        same &= torch.equal(one.nan_to_num(), two.nan_to_num()) if tensors else one == two
    print("same" if same else "different", flush=True)
"""


def test_edited_programs_run_with_the_same_outputs(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    jobs = []
    for nth, path in enumerate(corpus()):
        program = ptekit.open(path)
        if not isinstance(program, ptekit.Program) or not ptekit.check(path, runtime="1.5"):
            continue
        forward = [method for method in program.methods if method.name == "forward"]
        tensors = [value.tensor for value in forward[0].inputs] if forward else []
        if not forward or any(of is None or of.dtype != "float32" for of in tensors):
            continue
        out = tmp_path / f"{nth}.pte"
        program.edit().set_data("labels", b"data").align(4096).strip("names").save(out)
        jobs.append((nth, str(path), str(out), [of.sizes for of in tensors if of is not None]))
    found: dict[str, list[int]] = {"same": [], "different": [], "refused": [], "crashed": []}
    while jobs:
        # The runtime may crash on inputs that a program does not expect: then another process goes on.
        done = subprocess.run(
            [sys.executable, "-c", RUN], input=json.dumps(jobs), capture_output=True, text=True, check=False
        )
        lines = [line.split() for line in done.stdout.splitlines() if line[:1].isdigit()]
        assert lines, done.stderr
        for line in lines:
            # Without a verdict, one of the two crashed: the edited one, if the first ran.
            kind = "crashed" if len(line) == 1 else line[-1]
            found["different" if kind == "ran" else kind].append(int(line[0]))
        jobs = [job for job in jobs if job[0] > int(lines[-1][0])]
    print({kind: len(of) for kind, of in found.items()})
    assert not found["different"] and len(found["same"]) > 40
