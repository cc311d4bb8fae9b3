"""A program of a user, for the type checkers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import ptekit


def summary(path: Path) -> list[str]:
    """Returns the signatures of a program."""
    file = ptekit.open(path)
    if isinstance(file, ptekit.Data):
        return [f"{key}: {tensor.dtype} {tensor.shape}" for key, tensor in file.items()]
    lines = [f"{method.name}: {len(method.instructions)}" for method in file.methods]
    lines += [f"{key}: {blob.nbytes}" for key, blob in file.named_data.items()]
    return lines


def gate(path: Path) -> bool:
    """Judges a program for a release."""
    try:
        report = ptekit.check(path, runtime="1.5", policy={"warnings": "deny"}).raise_for_errors()
    except ptekit.CheckError as error:
        print(error.code, error.offset, error.path, [finding.rule for finding in error.findings])
        return False
    return all(finding.severity != "error" for finding in report)


def change(path: Path, out: Path) -> None:
    """Sets named data, and writes weights."""
    with ptekit.open(path) as file:
        file.edit().set_data("labels", b"yes\nno\n").align(4096).save(out)
    ptekit.save_file({"bias": np.zeros(4, np.float32)}, out.with_suffix(".ptd"))
    loaded = ptekit.load_file(out.with_suffix(".ptd"))
    print({key: array.shape for key, array in loaded.items()})
    batch = ptekit.scan_batch([path])
    print(batch.num_rows, ptekit.size(path)["files"][0]["bytes"], ptekit.graph(path).to_dot())
