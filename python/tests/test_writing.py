"""New and changed files: equal to those of the command, and never half written."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA, command, genuine

import ptekit


def test_arrays_are_saved_and_loaded(tmp_path: Path) -> None:
    path = tmp_path / "weights.ptd"
    arrays = {
        "float": np.arange(6, dtype="f4").reshape(2, 3),
        "half": np.ones((), "f2"),
        "empty": np.zeros((0, 3), "i8"),
        "bool": np.array([True, False]),
        "big": np.arange(4, dtype=">i4"),
        "turned": np.arange(6, dtype="f8").reshape(2, 3).T,
        "complex": np.array([1 + 2j], "c8"),
    }
    ptekit.save_file(arrays, path)
    loaded = ptekit.load_file(path)
    assert list(loaded) == list(arrays)
    for key, array in arrays.items():
        assert loaded[key].shape == array.shape and (loaded[key] == array).all()
        assert loaded[key].flags.writeable
    assert ptekit.check(path).ok
    with pytest.raises(ptekit.PteError, match="dtype"):
        ptekit.save_file({"text": np.array(["a"])}, path)
    # The failed write changed nothing, and left nothing.
    assert list(ptekit.load_file(path)) == list(arrays) and os.listdir(tmp_path) == ["weights.ptd"]


def test_equal_data_is_shared_where_that_is_asked_for() -> None:
    array = np.ones(1000, "f4")
    one, two = (ptekit.PtdBuilder(share=share).tensor("a", array).tensor("b", array) for share in (False, True))
    assert len(one.to_bytes()) > len(two.to_bytes())
    with pytest.raises(ptekit.PteError) as error:
        one.tensor("a", array).to_bytes()
    assert error.value.code == "build"


def test_a_data_file_built_again_is_the_same() -> None:
    """Every current `.ptd` of ExecuTorch's own writer comes back byte for byte."""
    found = 0
    for path in sorted(DATA.glob("ptd/ptd_*.ptd")):
        data = ptekit.open(path)
        if data.to_dict()["generation"] != 3:
            continue
        builder = ptekit.PtdBuilder(share=True)
        for key, of in data.items():
            if of.dtype is None:
                builder.blob(key, of.read())
            else:
                builder.raw_tensor(key, of.read(), of.dtype, of.sizes or [], of.dim_order)
        if builder.to_bytes() == path.read_bytes():
            found += 1
    assert found >= 3


def edits(path: Path) -> list[tuple[list[str], ptekit.Edit]]:
    """Returns edits as arguments of the command, and as those of the package."""
    file = ptekit.open(path)
    blob = Path(__file__)
    return [
        (["--set-data", f"key={blob}"], file.edit().set_data("key", blob.read_bytes())),
        (["--strip", "names"], file.edit().strip("names")),
        (["--strip", "stacktrace"], file.edit().strip("stacktrace")),
        (["--align", "4096"], file.edit().align(4096)),
        (["--share"], file.edit().share()),
        (["--externalize", "all"], file.edit().externalize()),
        (["--payload-constants", "inside"], file.edit().move_payload_constants("inside")),
        (["--payload-constants", "named"], file.edit().move_payload_constants("named")),
    ]


@pytest.mark.parametrize("path", genuine()[::9], ids=lambda path: path.name)
def test_edits_are_those_of_the_command(path: Path, tmp_path: Path) -> None:
    for nth, (arguments, edit) in enumerate(edits(path)):
        ours, theirs = tmp_path / f"ours{nth}.pte", tmp_path / f"theirs{nth}.pte"
        done = command("edit", path, *arguments, "-o", theirs)
        try:
            edit.save(ours)
        except (ptekit.PteError, ValueError):
            assert done.returncode in (1, 2), (arguments, done.stderr)
            continue
        assert done.returncode == 0, (arguments, done.stderr)
        assert ours.read_bytes() == theirs.read_bytes()
        data = [path.with_suffix(".ptd") for path in (ours, theirs)]
        assert data[0].exists() == data[1].exists()
        if data[0].exists():
            assert data[0].read_bytes() == data[1].read_bytes()
            merged = ptekit.open(ours).edit().inline(data[0]).to_bytes()[0]
            # What was moved out and in again has the same keys, shapes and bytes.
            named, constants = [
                sorted((str(of.sizes), of.read()) for of in ptekit.open(of_file).tensors() if of.storage == kind)
                for of_file, kind in ((path, "constant"), (merged, "constant"))
            ]
            assert named == constants


def test_a_constant_is_replaced(linear: Path, tmp_path: Path) -> None:
    program = ptekit.open(linear)
    value = [of for of in program.methods[0].values if of.tensor and of.tensor.shape == (4, 8)][0]
    array = np.arange(32, dtype="f4").reshape(4, 8)
    program.edit().replace_constant(value, array).save(tmp_path / "new.pte")
    new = ptekit.open(tmp_path / "new.pte").methods[0].values[value.index].tensor
    assert new is not None and (new.numpy() == array).all()
    kept = [of.tensor.read() for of in program.methods[0].values[1:2] if of.tensor]
    assert kept == [ptekit.open(tmp_path / "new.pte").methods[0].values[1].tensor.read()]
    for wrong in (array.astype("f8"), array.T):
        with pytest.raises(ValueError, match="cannot replace"):
            program.edit().replace_constant(value, wrong)
    with pytest.raises(ValueError, match="no constant"):
        program.edit().replace_constant(program.methods[0].inputs[0], array)


def test_a_file_replaces_itself(linear: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.pte"
    path.write_bytes(linear.read_bytes())
    path.chmod(0o640)
    with ptekit.open(path) as program:
        before = [of for of in program.tensors() if of.storage == "constant"][0].numpy()
        copy = before.tobytes()
        program.edit().set_data("a", b"1").save(path)
        # The array shows the file that was replaced.
        assert before.tobytes() == copy
    assert path.stat().st_mode & 0o777 == 0o640
    assert ptekit.open(path).named_data["a"].read() == b"1"
    ptekit.open(path).edit().remove_data("a").save(path)
    assert not ptekit.open(path).named_data


def test_a_change_that_cannot_be_made_writes_nothing(linear: Path, weights: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.pte"
    with pytest.raises(ptekit.PteError):
        ptekit.open(linear).edit().remove_data("no such key").save(out)
    with pytest.raises(ValueError):
        ptekit.open(weights).edit().strip("names").save(out)
    for wrong in (0, 3, 1 << 31):
        with pytest.raises(ValueError):
            ptekit.open(linear).edit().align(wrong)
    (tmp_path / "out.ptd").touch()
    with pytest.raises(FileExistsError):
        ptekit.open(linear).edit().externalize().save(out)
    with pytest.raises(ValueError):
        ptekit.open(linear).edit().externalize().save(out, ptd=out)
    with pytest.raises(OSError):
        ptekit.open(linear).edit().save(tmp_path / "none" / "out.pte")
    assert os.listdir(tmp_path) == ["out.ptd"]


def test_conversions_are_those_of_the_command(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.numpy")
    arrays = {"a": np.arange(6, dtype="f4").reshape(2, 3), "b": np.arange(3, dtype="i8")}
    given = tmp_path / "given.safetensors"
    safetensors.save_file(arrays, given)
    ours, theirs = tmp_path / "ours.ptd", tmp_path / "theirs.ptd"
    assert ptekit.convert(given, ours) is None
    assert command("convert", given, "-o", theirs).returncode == 0
    assert ours.read_bytes() == theirs.read_bytes() == ptekit.convert(given.read_bytes(), to="ptd")
    back = safetensors.load(ptekit.convert(ours, to="safetensors"))
    assert all((back[key] == array).all() for key, array in arrays.items())
    old = DATA / "ptd" / "v0.6.0_ptd_direct_16.ptd"
    assert ptekit.open(ptekit.convert(old, to="ptd")).to_dict()["generation"] == 3
    for wrong in ({}, {"to": "onnx"}, {"to": "ptd", "skip_blobs": True}, {"to": "safetensors", "share": True}):
        with pytest.raises(ValueError):
            ptekit.convert(ours, **wrong)
    with pytest.raises(ValueError, match="program"):
        ptekit.convert(DATA / "pte" / "linear.pte", to="ptd")
