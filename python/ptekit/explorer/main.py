"""The classes that Model Explorer finds: an adapter for files, and overlays of numbers on their nodes.

The graphs and the numbers are made by the extension module, as `pte graph --format model-explorer` makes them.
Model Explorer gets them as they are: it serializes the dictionaries in its dataclasses unchanged.
"""

from __future__ import annotations

import json
import os
import warnings
from typing import Any

from model_explorer import Adapter, AdapterMetadata, ModelExplorerGraphs
from model_explorer.config_editor import TextInputConfigEditor
from model_explorer.graph_builder import Graph, GraphCollection
from model_explorer.node_data_builder import GraphNodeData
from model_explorer.node_data_provider import (
    GetConfigEditorsResult,
    NodeDataProvider,
    NodeDataProviderFilter,
    NodeDataProviderMetadata,
    NodeDataProviderResult,
)

from .._errors import PteError
from .._opened import shown_name
from .._ptekit import explorer

ADAPTER_ID = "ptekit"

FILE_EXTENSIONS = ["pte", "ptd", "bpte", "ptn", "etdp", "etdump", "etrecord", "bin"]


class PteAdapter(Adapter):
    """Converts ExecuTorch's files: programs, data files, bundled programs, packages, profiles and ETRecords."""

    metadata = AdapterMetadata(
        id=ADAPTER_ID,
        name="ptekit",
        description="ExecuTorch programs and data with findings, memory and open delegates",
        fileExts=FILE_EXTENSIONS,
    )

    def convert(self, model_path: str, settings: dict[str, Any]) -> ModelExplorerGraphs:
        """Returns the graph of a file. A damaged file has its findings as the first node.

        The ETRecord `model.etrecord` beside `model.pte` gives the modules of instructions.
        """
        name, record = shown_name(model_path), os.path.splitext(model_path)[0] + ".etrecord"
        beside = record if record != model_path and os.path.isfile(record) else None
        try:
            text = explorer(model_path, name, None, None, None, beside)
        except PteError as error:
            # A broken record says nothing about the model.
            warnings.warn(f"{shown_name(record)}: {error}", stacklevel=2)
            text = explorer(model_path, name, None, None, None, None)
        collection = json.loads(text)
        # The label is appended to the name of the file.
        return {"graphCollections": [GraphCollection(label="", graphs=collection["graphs"])]}


class PteNumbers(NodeDataProvider):
    """Lays numbers of a file over its nodes."""

    metadata = [
        NodeDataProviderMetadata(
            id=f"ptekit_{id}",
            name=name,
            description=description,
            icon=icon,
            filter=NodeDataProviderFilter(adapterIds=[ADAPTER_ID]),
        )
        for id, name, description, icon in (
            ("findings", "Findings", "The worst finding about each node: 3 error, 2 warning, 1 note", "rule"),
            ("bytes", "Bytes", "The bytes of the file that each node's data takes", "data_usage"),
            ("memory", "Live memory", "The bytes of arenas that are live at each instruction", "memory"),
            ("time", "Time", "The ticks of each instruction in an ETDump", "timer"),
        )
    ]

    def get_config_editors(self, provider_id: str) -> GetConfigEditorsResult:
        """Returns the questions of the dialog: for times, the path of the ETDump and the method that ran."""
        if provider_id != "ptekit_time":
            return GetConfigEditorsResult(configEditors=[])
        return GetConfigEditorsResult(
            configEditors=[
                TextInputConfigEditor(id="etdump", label="ETDump", description="Path of the profile", required=True),
                TextInputConfigEditor(id="method", label="Method", description="Default: forward, or the only one"),
            ]
        )

    def run(
        self, provider_id: str, model_path: str, graph_id: str, config_values: dict[str, Any], graph: Graph | None
    ) -> NodeDataProviderResult:
        """Returns the numbers of a file, or a message."""
        etdump = config_values.get("etdump") or None
        if etdump:
            etdump = os.path.expanduser(etdump)
        try:
            text = explorer(
                model_path,
                shown_name(model_path),
                provider_id.removeprefix("ptekit_"),
                etdump,
                config_values.get("method") or None,
                None,
            )
        except Exception as error:
            return NodeDataProviderResult(error=str(error))
        return NodeDataProviderResult(result=GraphNodeData(**json.loads(text)[graph_id]))
