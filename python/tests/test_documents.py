"""The documents are those of the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import DATA, command, document, genuine

import ptekit

FILES = genuine()
PROGRAMS = [path for path in FILES if path.suffix == ".pte"]


@pytest.mark.parametrize("path", FILES[::3], ids=lambda path: path.name)
def test_documents_of_a_file_are_those_of_the_command(path: Path) -> None:
    file = ptekit.open(path)
    assert ptekit.info(file) == document("info", "--json", path)
    assert ptekit.size(file) == document("size", "--json", path)
    assert ptekit.memory(file) == document("memory", "--json", path)
    assert ptekit.map(file) == document("map", "--json", path)
    assert file.tables == document("dump", path)
    assert ptekit.check(path).to_dict() == document("check", "--json", path)
    listed = document("tensors", "--json", path)["tensors"]
    rows = [row for row in listed if "delegate" not in row]
    found = [(of.name, of.sizes, of.begin, of.storage) for of in file.tensors()]
    assert found == [(row["key"], row["sizes"], row["offset"], row["storage"]) for row in rows]
    if isinstance(file, ptekit.Program):
        constants = [(of.value, of.dtype, of.sizes, of.begin) for of in file.payload_constants()]
        # Requests of other payloads for named data have a backend, and no value.
        rows = [row for row in listed if "delegate" in row and "backend" not in row]
        assert constants == [(row["value"], row["dtype"], row["sizes"], row["offset"]) for row in rows]
        assert ptekit.ops(file) == document("ops", "--json", path)
        assert ptekit.graph(file).to_dict() == document("graph", "--json", path)
        assert ptekit.ops_yaml(file).encode() == command("ops", "--format", "yaml", path).stdout


def test_documents_are_what_their_json_schemas_say() -> None:
    validator = pytest.importorskip("jsonschema").Draft202012Validator
    schemas = [json.loads(path.read_text()) for path in sorted((DATA.parents[1] / "docs" / "schemas").iterdir())]
    assert len(schemas) > 12
    for schema in schemas:
        validator.check_schema(schema)
    by_name = {schema["properties"]["schema"]["const"]: validator(schema) for schema in schemas}
    for path in FILES[::9]:
        for verb in ("info", "check", "tensors", "size", "memory", "map"):
            found = document(verb, "--json", path)
            assert [error.message for error in by_name[found["schema"]].iter_errors(found)] == []
    del found["path"]
    assert [error.message for error in by_name["pte.map/1"].iter_errors(found)] == ["'path' is a required property"]


def test_a_profile_is_that_of_the_command(linear: Path) -> None:
    etdump = DATA / "other" / "mlp.etdp"
    found = ptekit.profile(etdump)
    assert found == document("profile", "--json", etdump)
    assert ptekit.profile(bytearray(etdump.read_bytes())) == {**found, "path": "<bytes>"}
    with pytest.raises(ValueError, match="method"):
        ptekit.profile(etdump, program=linear, method="backward")
    with pytest.raises(ValueError):
        ptekit.profile(etdump, program=linear)
    with pytest.raises(ptekit.PteError, match="no ETDump"):
        ptekit.profile(linear)
    with pytest.raises(FileNotFoundError):
        ptekit.profile("no such file")
    for cut in range(0, etdump.stat().st_size, 97):
        with pytest.raises(ptekit.PteError):
            ptekit.profile(etdump.read_bytes()[:cut])


def test_a_method_of_several_can_be_chosen() -> None:
    several = DATA / "pte" / "multi_method.pte"
    for method in ptekit.open(several).methods:
        name = method.name or ""
        expected = document("ops", "--json", "--method", name, several)
        assert ptekit.ops(several, method=name) == expected
        arguments = ("--json", "--method", name, several, several)
        assert ptekit.diff(several, several, method=name) == document("diff", *arguments)
    with pytest.raises(ValueError, match="no method"):
        ptekit.ops(several, method="backward")
    with pytest.raises(ValueError, match="no method"):
        ptekit.diff(several, several, method="backward")


def test_a_map_has_the_depth_that_is_asked_for(linear: Path) -> None:
    assert ptekit.map(linear, depth=99) == document("map", "--json", "--depth", "99", linear)


def test_a_method_can_be_chosen(linear: Path) -> None:
    expected = document("memory", "--json", "--method", "forward", linear)
    assert ptekit.memory(linear, method="forward") == expected
    with pytest.raises(ValueError, match="no method"):
        ptekit.memory(linear, method="backward")


@pytest.mark.parametrize("nth", range(0, len(PROGRAMS) - 1, 3))
def test_differences_are_those_of_the_command(nth: int) -> None:
    before, after = PROGRAMS[nth], PROGRAMS[nth + 1]
    assert ptekit.diff(before, after) == document("diff", "--json", before, after)
    ignored = document("diff", "--json", "--ignore", "memory-plan", before, after)
    assert ptekit.diff(before, after, ignore=["memory-plan"]) == ignored


def test_files_of_two_kinds_are_not_compared(linear: Path, weights: Path) -> None:
    with pytest.raises(ValueError):
        ptekit.diff(linear, weights)
    with pytest.raises(ValueError, match="class"):
        ptekit.diff(linear, linear, ignore=["no such class"])
    with pytest.raises(ValueError, match=".ptd"):
        ptekit.ops(weights)


def test_sizes_have_growth(linear: Path) -> None:
    other = PROGRAMS[0]
    expected = document("size", "--json", linear, "--against", other)
    assert ptekit.size(linear, against=other) == expected


def test_missing_operators_are_listed(linear: Path) -> None:
    missing = ptekit.ops(linear, against="aten::relu.out\n")["missing"]
    assert missing == ["aten::addmm.out", "aten::permute_copy.out"]
    assert ptekit.ops(linear, against=ptekit.ops_yaml(linear))["missing"] == []


def test_a_graph_becomes_dot_and_networkx(linear: Path) -> None:
    graph = ptekit.graph(linear)
    assert graph.to_dot().startswith("digraph {") and '"aten::addmm.out"' in graph.to_dot()
    networkx = pytest.importorskip("networkx")
    made = graph.to_networkx()
    assert networkx.is_directed_acyclic_graph(made)
    assert made.number_of_edges() == len(graph.methods[0]["edges"])


def test_sarif_is_that_of_the_command(linear: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.pte"
    cut.write_bytes(linear.read_bytes()[:1000])
    report = ptekit.check([linear, cut])
    assert report.to_sarif() == json.loads(
        command("check", "--format", "sarif", linear, cut).stdout
    )
