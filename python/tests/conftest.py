"""What the tests share: genuine files, a larger corpus where there is one, and the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"


def genuine() -> list[Path]:
    """Returns the genuine files of the project."""
    return sorted([*DATA.glob("pte/*.pte"), *DATA.glob("ptd/*.ptd")])


def corpus() -> list[Path]:
    """Returns the genuine files, and those of the larger corpus of `PTE_CORPUS`."""
    folder = os.environ.get("PTE_CORPUS")
    more = sorted([*Path(folder).glob("*.pte"), *Path(folder).glob("*.ptd")]) if folder else []
    return [*genuine(), *more]


def damaged() -> list[bytes]:
    """Returns damaged files of the larger corpus, and of the project's own files."""
    found = [cut for path in genuine()[:20] for cut in damages(path.read_bytes())]
    folder = os.environ.get("PTE_CORPUS")
    if folder:
        hostile = Path(folder) / "hostile"
        found += [path.read_bytes() for path in sorted(hostile.rglob("*.pt[ed]"))]
        found += mutations(Path(folder), hostile / "mutations.jsonl")
    return found


def damages(whole: bytes) -> list[bytes]:
    """Returns a file cut and with changed bytes."""
    changed = [bytearray(whole) for _ in range(8)]
    for nth, copy in enumerate(changed):
        copy[(nth * 37 + 16) % len(copy)] ^= 0xFF
    return [whole[: len(whole) // 2], whole[:40], whole[:-1], b"", *map(bytes, changed)]


def mutations(folder: Path, index: Path) -> list[bytes]:
    """Returns the changed files that an index of patches lists."""
    found = []
    for line in index.read_text().splitlines() if index.exists() else []:
        row = json.loads(line)
        whole = bytearray((folder / row["seed"]).read_bytes())
        for patch in row["patches"]:
            offset, changed = patch[0], bytes.fromhex(patch[1])
            whole[offset : offset + len(changed)] = changed
        found.append(bytes(whole))
    return found


def command(*arguments: str | os.PathLike[str]) -> subprocess.CompletedProcess[bytes]:
    """Runs the command in a separate process."""
    line = [sys.executable, "-m", "ptekit", *map(os.fspath, arguments)]
    return subprocess.run(line, capture_output=True, check=False)


def document(*arguments: str | os.PathLike[str]) -> dict:
    """Returns the JSON that the command prints."""
    return json.loads(command(*arguments).stdout)


@pytest.fixture
def linear() -> Path:
    """A small program with two constants."""
    return DATA / "pte" / "linear.pte"


@pytest.fixture
def weights() -> Path:
    """A small data file."""
    return DATA / "ptd" / "ptd_basic.ptd"
