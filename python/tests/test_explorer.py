"""Model Explorer, the real package, with the extension."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest
from conftest import DATA, genuine

pytest.importorskip("model_explorer")
dacite = pytest.importorskip("dacite")

from model_explorer.extension_manager import ExtensionManager  # noqa: E402
from model_explorer.graph_builder import Graph  # noqa: E402
from model_explorer.node_data_builder import GraphNodeData  # noqa: E402

OTHERS = ["mlp.etdp", "linear.etrecord", "n_alias.ptn", "linear_bundled.bpte"]


@pytest.fixture(scope="module")
def manager() -> ExtensionManager:
    """Model Explorer with `--extensions=ptekit.explorer`."""
    found = ExtensionManager(["ptekit.explorer"])
    found.load_extensions()
    return found


def convert(manager: ExtensionManager, path: Path) -> dict:
    command = {"cmdId": "convert", "extensionId": "ptekit", "modelPath": str(path), "settings": {}}
    (collection,) = manager.run_cmd({**command, "deleteAfterConversion": False})["graphCollections"]
    (graph,) = collection["graphs"]
    return graph


def numbers(manager: ExtensionManager, path: Path, name: str, **values: str) -> dict:
    graph = convert(manager, path)
    command = {"cmdId": "run", "extensionId": f"ptekit_{name}", "modelPath": str(path), "graphId": graph["id"]}
    return manager.run_cmd({**command, "configValues": values, "graph": graph})


def test_model_explorer_finds_the_adapter_and_the_overlays(manager: ExtensionManager) -> None:
    mine = {of["id"]: of for of in manager.get_extensions_metadata() if of["id"].startswith("ptekit")}
    assert set(mine) == {"ptekit", "ptekit_findings", "ptekit_bytes", "ptekit_memory", "ptekit_time"}
    assert {"pte", "ptd", "bpte", "ptn", "etdp"} <= set(mine["ptekit"]["fileExts"])


@pytest.mark.parametrize("path", [*genuine(), *(DATA / "other" / name for name in OTHERS)], ids=lambda path: path.name)
def test_model_explorers_own_classes_accept_every_graph(manager: ExtensionManager, path: Path) -> None:
    graph = convert(manager, path)
    read = dacite.from_dict(Graph, graph, dacite.Config(strict=True))
    assert read.nodes[0].id == "findings"
    ids = {node.id for node in read.nodes}
    assert all(edge.sourceNodeId in ids for node in read.nodes for edge in node.incomingEdges)
    assert len(asdict(read)["nodes"]) == len(graph["nodes"])


def test_an_etrecord_beside_a_program_gives_modules(manager: ExtensionManager, linear: Path, tmp_path: Path) -> None:
    path = tmp_path / "linear.pte"
    path.write_bytes(linear.read_bytes())
    layers = lambda: {node["id"]: node["namespace"] for node in convert(manager, path)["nodes"]}  # noqa: E731
    assert layers()["m0i1"] == "forward"
    path.with_suffix(".etrecord").write_bytes((DATA / "other" / "linear.etrecord").read_bytes())
    assert layers()["m0i1"] == "forward/a"
    path.with_suffix(".etrecord").write_bytes(b"PK")
    with pytest.warns(UserWarning, match="linear.etrecord"):
        assert layers()["m0i1"] == "forward"


def test_a_damaged_file_opens_with_its_findings(manager: ExtensionManager, linear: Path, tmp_path: Path) -> None:
    whole = linear.read_bytes()
    for nth, cut in enumerate((whole[: len(whole) // 2], whole[:40], b"")):
        path = tmp_path / f"{nth}.pte"
        path.write_bytes(cut)
        (node,) = convert(manager, path)["nodes"]
        assert node["label"] == "error: 1 finding"


def test_overlays_are_node_data(manager: ExtensionManager, linear: Path) -> None:
    for name in ("findings", "bytes", "memory"):
        done = numbers(manager, linear, name)
        assert not done["error"]
        dacite.from_dict(GraphNodeData, done["result"], dacite.Config(strict=True))
    run = str(DATA / "other" / "mlp.etdp")
    done = numbers(manager, DATA / "pte" / "dyn_batch.pte", "time", etdump=run)
    assert done["result"]["results"]["m0i1"]["value"] == 337965
    assert "no such file" in numbers(manager, linear, "time", etdump="nowhere.etdp")["error"].lower()
    (editor, _) = manager.run_cmd({"cmdId": "get_config_editors", "extensionId": "ptekit_time"})["configEditors"]
    assert editor["id"] == "etdump"
