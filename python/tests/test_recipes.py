"""The blocks of docs/python.md run, and its types are sound."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

import ptekit

PAGE = ROOT / "docs" / "python.md"


def blocks() -> list[tuple[int, str]]:
    """Returns the blocks of Python with the numbers of their lines."""
    text = PAGE.read_text()
    found = re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, of.start(1)), of[1]) for of in found]


def test_every_recipe_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linear: Path) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    Path("model.pte").write_bytes(linear.read_bytes())
    value = ptekit.open(linear).methods[0].values[0]
    new = ptekit.open(linear).edit().replace_constant(value, np.ones((4, 8), "f4"))
    new.set_data("more", b"data").save("new.pte")
    np.savez("adapter.npz", **{"lora.a": np.ones((4, 2), "f4"), "lora.b": np.zeros((2, 4), "f4")})
    names: dict[str, object] = {}
    assert len(blocks()) == 10
    for line, block in blocks():
        # The numbers of lines are those of the page.
        exec(compile("\n" * line + block, PAGE, "exec"), names)


def test_the_package_and_a_program_of_a_user_have_sound_types() -> None:
    folder = Path(__file__).parents[1]
    for name, line in (("mypy", ["-m", "mypy"]), ("pyright", ["-m", "pyright", "--pythonpath", sys.executable])):
        pytest.importorskip(name)
        version = [sys.executable, "-m", name, "--version"]
        # pyright gets its program at the first run.
        if subprocess.run(version, capture_output=True).returncode != 0:
            pytest.skip(f"{name} cannot be started")
        done = subprocess.run([sys.executable, *line], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def test_public_names_have_docstrings() -> None:
    for name in ptekit.__all__:
        of = getattr(ptekit, name)
        if name in ("__version__", "SCHEMA_FIELDS", "Document"):
            continue
        assert of.__doc__, name
        if isinstance(of, type):
            for member, value in vars(of).items():
                shown = callable(value) or isinstance(value, property)
                assert member.startswith("_") or not shown or value.__doc__, f"{name}.{member}"


def test_importing_needs_nothing_else() -> None:
    line = "import sys, ptekit; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert not {"numpy", "json", "typing", "torch", "pyarrow"} & set(done.stdout.split())
