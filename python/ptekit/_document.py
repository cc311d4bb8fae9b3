"""The documents of the command, as Python objects."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    _Dict: TypeAlias = dict[str, Any]
else:
    _Dict = dict


class Document(_Dict):
    """A document: the object that the command's `--json` prints. docs/cli.md has its fields."""

    def _repr_html_(self) -> str:
        from ._html import document

        return document(self)


class Graph:
    """The instructions of a program's methods, and what flows between them."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def to_dict(self) -> Document:
        """Returns the document of `pte graph --json`."""
        return self._document

    @property
    def methods(self) -> list[dict[str, Any]]:
        """The graph of each method: its nodes and edges, as in the document."""
        methods: list[dict[str, Any]] = self._document["methods"]
        return methods

    def to_networkx(self) -> Any:
        """Returns a `networkx.MultiDiGraph`. Nodes are named by their `id`; attributes are those of the document.

        Raises:
            ImportError: networkx is not installed.
        """
        from importlib import import_module

        # It has no types.
        graph: Any = import_module("networkx").MultiDiGraph()
        for method in self.methods:
            for node in method["nodes"]:
                graph.add_node(node["id"], method=method["name"], **node)
            for edge in method["edges"]:
                facts = {key: edge[key] for key in edge if key not in ("from", "to")}
                graph.add_edge(edge["from"], edge["to"], **facts)
        return graph

    def to_dot(self) -> str:
        """Returns the graph in the language of Graphviz."""
        lines = ["digraph {", "  node [shape=box];"]
        for nth, method in enumerate(self.methods):
            lines.append(f"  subgraph cluster_{nth} {{")
            lines.append(f"    label={_quoted(method['name'] or '')};")
            for node in method["nodes"]:
                label = node.get("name") or node.get("text") or node["kind"]
                lines.append(f"    {_quoted(node['id'])} [label={_quoted(label)}];")
            lines.append("  }")
            for edge in method["edges"]:
                ends = f"{_quoted(edge['from'])} -> {_quoted(edge['to'])}"
                lines.append(f"  {ends} [label={_quoted(edge.get('text') or '')}];")
        return "\n".join([*lines, "}", ""])

    def _repr_html_(self) -> str:
        return self._document._repr_html_()

    def __repr__(self) -> str:
        nodes = sum(len(method["nodes"]) for method in self.methods)
        edges = sum(len(method["edges"]) for method in self.methods)
        return f"<ptekit.Graph: {len(self.methods)} methods, {nodes} nodes, {edges} edges>"


def _quoted(text: object) -> str:
    plain = str(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{plain}"'
