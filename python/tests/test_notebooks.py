"""What notebooks show, and the notebooks of the examples."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import DATA, ROOT, genuine

import ptekit

EXAMPLES = sorted((ROOT / "python" / "examples").glob("*.ipynb"))


class Tags(HTMLParser):
    """The tags of a page, each of which has to be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def shown(path: Path) -> list[str]:
    file = ptekit.open(path)
    objects = [file, ptekit.check(path), file.tensors(), file.size(), ptekit.diff(file, file)]
    if isinstance(file, ptekit.Program):
        objects += [ptekit.graph(file), file.memory()]
    return [of._repr_html_() for of in objects]


@pytest.mark.parametrize("path", genuine()[::7], ids=lambda path: path.name)
def test_every_object_shows_itself_as_sound_html(path: Path) -> None:
    for text in shown(path):
        tags = Tags(text)
        assert not tags.open
        assert tags.seen <= {"table", "tr", "th", "td", "figure", "figcaption", "svg", "rect", "title"}


def test_names_of_a_hostile_file_are_escaped(tmp_path: Path, weights: Path) -> None:
    name = "<script>alert(1)</script>\"'&"
    path = tmp_path / "hostile.ptd"
    builder = ptekit.PtdBuilder()
    builder.blob(name, b"data")
    builder.save(path)
    for text in [*shown(path), ptekit.diff(path, weights)._repr_html_()]:
        assert "<script" not in text
        assert not Tags(text).open


def test_a_difference_is_a_table_with_both_sides() -> None:
    text = ptekit.diff(DATA / "pte" / "linear.pte", DATA / "pte" / "add.pte")._repr_html_()
    assert "signature changed" in text
    assert "[2, 8] → [3, 4]" in text


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs_and_shows_html(path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(path.parent)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("text/html" in output.get("data", {}) for output in outputs)
