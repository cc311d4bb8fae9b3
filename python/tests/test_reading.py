"""Opening files, and their parts as objects."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA, ROOT, corpus, document, genuine

import ptekit


def test_a_summary_is_that_of_the_command(linear: Path) -> None:
    assert ptekit.open(linear).to_dict() == document("info", "--json", linear)["files"][0]


def test_the_version_is_that_of_the_library_and_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "ptekit", "--version"], capture_output=True)
    assert done.stdout.decode().split() == ["pte", ptekit.__version__]
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
    assert ptekit.__version__ == manifest["workspace"]["package"]["version"]


def test_a_file_is_opened_by_path_and_by_any_buffer(linear: Path) -> None:
    whole = linear.read_bytes()
    expected = ptekit.open(linear).tables
    for source in (str(linear), linear, whole, bytearray(whole), memoryview(whole)):
        assert ptekit.open(source).tables == expected


def test_a_buffer_that_changes_later_has_no_effect(linear: Path) -> None:
    buffer = bytearray(linear.read_bytes())
    program = ptekit.open(buffer)
    before = program.tables
    buffer[:] = bytes(len(buffer))
    assert program.tables == before
    assert program.tensors()[1].read() == ptekit.open(linear).tensors()[1].read()


def test_parts_of_a_program_are_objects(linear: Path) -> None:
    program = ptekit.open(linear)
    assert isinstance(program, ptekit.Program)
    method = program.method("forward")
    assert repr(method).startswith("<Method 'forward': (float32[2, 8]) -> float32[2, 4], 3 instr")
    assert [of.name for of in method.instructions] == [
        "aten::permute_copy.out",
        "aten::addmm.out",
        "aten::relu.out",
    ]
    assert repr(method.inputs) == "[Value(2, Tensor float32[2, 8])]"
    assert "forward(float32[2, 8]) -> float32[2, 4]" in repr(program)
    assert program.operators["aten::addmm.out"] == 1
    with pytest.raises(KeyError):
        program.method("backward")


def test_parts_of_methods_are_decoded_when_they_are_used(linear: Path) -> None:
    with ptekit.open(linear) as program:
        assert isinstance(program, ptekit.Program)
        method, summary = program.method(), program.to_dict()
        before = method.inputs + method.outputs
        assert [of.index for of in before] == [2, 10]
        # The same value is the same object, also after all values are decoded.
        assert method.inputs[0] is before[0]
        assert method.values[2] is before[0] and method.values[10] is before[1]
        assert len(method.values) == summary["methods"][0]["values"]
        assert program.version == summary["version"]
        assert program.operators == {of["name"]: of["calls"] for of in summary["operators"]}
        plan = program.tables["execution_plan"][0]
        rows = [{"val_type": of.kind, "val": of.fields} for of in method.values]
        assert rows == [{"val_type": of["val_type"], "val": of["val"]} for of in plan["values"]]
        rest = ptekit.open(linear)
        assert isinstance(rest, ptekit.Program)
        late = rest.method()
    # A method outlives its file.
    rest.close()
    tensor = late.values[0].tensor
    assert len(late.instructions) == 3 and tensor is not None
    with pytest.raises(ValueError, match="closed"):
        tensor.read()


def test_segments_blobs_and_payloads_have_their_bytes() -> None:
    program = ptekit.open(DATA / "pte" / "xnn_gpt.pte")
    assert isinstance(program, ptekit.Program)
    whole = Path(program.name).read_bytes()
    for segment in program.segments:
        assert segment.read() == whole[segment.begin : segment.end]
    assert len(program.named_data) == 17
    for key, blob in program.named_data.items():
        assert blob.key == key and bytes(blob.view()) == blob.read() != b""
    assert [of.backend for of in program.delegates] == ["XnnpackBackend"] * 12
    assert all(of.read() == whole[of.begin : of.end] for of in program.delegates)


def test_constants_in_payloads_have_their_bytes_and_readers() -> None:
    program = ptekit.open(DATA / "pte" / "xnn_gpt.pte")
    constants = program.payload_constants()
    assert len(constants) == 17 and all(of.operator for of in constants)
    named = [of for of in constants if of.storage == "named"]
    assert named
    for of in named:
        assert of.key is not None
        assert of.read() == program.named_data[of.key].read() and len(of.read()) == of.nbytes
    inline = ptekit.open(DATA / "pte" / "xnn_delegate_inline.pte").payload_constants()
    assert [(of.input, of.sizes, of.dtype) for of in inline][0] == (
        "filter",
        [4, 8],
        "xnn_datatype_fp32",
    )
    assert repr(inline[0]).startswith("<PayloadConstant forward:0/1: xnn_datatype_fp32[4, 8] of XNN")


def test_constants_are_arrays_without_a_copy(linear: Path) -> None:
    program = ptekit.open(linear)
    constants = [of for of in program.tensors() if of.storage == "constant"]
    assert sorted(of.shape for of in constants) == [(4,), (4, 8)]
    for tensor in constants:
        array = tensor.numpy()
        assert array.dtype == np.float32 and not array.flags.writeable and not array.flags.owndata
        assert array.tobytes() == tensor.read()
        copy = tensor.numpy(copy=True)
        copy[...] = 0
        assert tensor.numpy().any()


def test_channels_last_arrays_have_the_order_of_their_sizes() -> None:
    data = bytes(range(24))
    builder = ptekit.PtdBuilder().raw_tensor("x", data, "uint8", [1, 2, 3, 4], [0, 2, 3, 1])
    array = ptekit.open(builder.to_bytes())["x"].numpy()
    expected = np.arange(24, dtype="u1").reshape(1, 3, 4, 2).transpose(0, 3, 1, 2)
    assert array.shape == (1, 2, 3, 4) and (array == expected).all()


def test_a_view_outlives_its_file(linear: Path) -> None:
    with ptekit.open(linear) as program:
        tensor = [of for of in program.tensors() if of.storage == "constant"][0]
        array, expected = tensor.numpy(), tensor.read()
    assert array.tobytes() == expected
    with pytest.raises(ValueError, match="closed"):
        program.to_dict()


def test_maps_of_files_do_not_leak(linear: Path) -> None:
    def maps() -> int:
        return Path("/proc/self/maps").read_text().count(linear.name)

    if not os.path.exists("/proc/self/maps"):
        pytest.skip("the system does not list maps")
    kept = [ptekit.open(linear).tensors()[1] for _ in range(50)]
    arrays = [of.numpy() for of in kept if of.storage == "constant"]
    arrays += [of.numpy() for of in ptekit.open(linear).tensors() if of.storage == "constant"]
    assert maps() > 0
    del kept, arrays
    gc.collect()
    assert maps() == 0


def test_a_tensor_without_bytes_has_an_error(linear: Path) -> None:
    planned = [of for of in ptekit.open(linear).tensors() if of.storage == "planned"][0]
    with pytest.raises(ptekit.PteError) as error:
        planned.numpy()
    assert error.value.code == "no-data"


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e5m2", "float8_e4m3fn"])
def test_small_floats_need_ml_dtypes(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array([1.0, -2.0, 0.5], getattr(ml_dtypes, dtype))
    tensor = ptekit.open(ptekit.PtdBuilder().tensor("x", array).to_bytes())["x"]
    assert tensor.dtype == dtype and (tensor.numpy() == array).all()
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(ptekit.PteError, match="ml_dtypes") as error:
        tensor.numpy()
    assert error.value.code == "no-dtype" and tensor.read() == array.tobytes()


def test_a_dtype_that_numpy_lacks_has_an_error() -> None:
    tensor = ptekit.open(ptekit.PtdBuilder().raw_tensor("x", b"\1", "qint8", [1]).to_bytes())["x"]
    with pytest.raises(ptekit.PteError) as error:
        tensor.numpy()
    assert error.value.code == "no-dtype"


def test_data_is_a_mapping(weights: Path) -> None:
    data = ptekit.open(weights)
    assert isinstance(data, ptekit.Data)
    assert list(data) == data.keys() and len(data) == len(data.keys()) > 0
    for key, tensor in data.items():
        assert key in data and data[key].begin == tensor.begin
    assert "no such key" not in data and data.get("no such key") is None and 7 not in data
    with pytest.raises(KeyError):
        data["no such key"]


def test_a_refusal_has_a_code_and_a_place(linear: Path) -> None:
    with pytest.raises(ptekit.PteError) as error:
        ptekit.open(linear.read_bytes()[:1000])
    refusal = error.value
    assert (refusal.code, refusal.offset) == ("flatbuffer-truncated", 0x10)
    assert refusal.help and "0x10" in str(refusal)


def test_errors_of_the_system_are_those_of_python(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ptekit.open(tmp_path / "none.pte")
    with pytest.raises(IsADirectoryError):
        ptekit.open(tmp_path)
    with pytest.raises(TypeError):
        ptekit.open(7)  # type: ignore[arg-type]
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="regular"):
        ptekit.open(tmp_path / "pipe")


def test_the_program_in_a_bundle_is_read() -> None:
    bundle = DATA / "other" / "linear_bundled.bpte"
    program = ptekit.open(bundle)
    assert program.to_dict() == document("info", "--json", bundle)["files"][0]
    tensor = [of for of in program.tensors() if of.storage == "constant"][0]
    assert tensor.numpy().tobytes() == tensor.read()
    # The bytes around the program are not judged, which is said.
    assert [of.rule for of in ptekit.check(bundle).findings] == ["file-kind"]


def test_names_that_are_not_utf8_are_shown_escaped(linear: Path, tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff.pte"
    with open(path, "wb") as out:
        out.write(linear.read_bytes())
    assert ptekit.open(os.fsdecode(path)).name.endswith("\\xff.pte")


def test_notebooks_show_a_table_and_a_picture(linear: Path, weights: Path) -> None:
    html = ptekit.open(linear)._repr_html_()
    assert "<table>" in html and "<svg" in html and "aten::addmm.out" in html
    assert "<table>" in ptekit.open(weights)._repr_html_()
    hostile = ptekit.PtdBuilder().blob("<script>", b"x").to_bytes()
    assert "<script>" not in ptekit.open(hostile)._repr_html_()


def test_every_genuine_file_can_be_listed() -> None:
    assert len(genuine()) > 50
    for path in corpus():
        file = ptekit.open(path)
        assert repr(file).startswith("<ptekit.") and file._repr_html_()
        if isinstance(file, ptekit.Program):
            rows = file.tensors()
            values = [of.tensor for method in file.methods for of in method.values]
            placed = [of.begin for of in values if of is not None]
            assert placed == [of.begin for of in rows][: len(placed)]
            assert all(repr(of) for method in file.methods for of in method.values)
