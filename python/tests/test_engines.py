"""The programs in `engines`, each with two workers over 2,000 files: their rows are those of `pte scan`."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import DATA

ENGINES = Path(__file__).parents[1] / "engines"
COUNT = 2000


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a list of files: genuine, broken, missing, and with names that are escaped."""
    folder = tmp_path_factory.mktemp("models")
    sources = sorted((DATA / "pte").glob("*.pte")) + sorted((DATA / "ptd").glob("*.ptd"))
    names = []
    for nth in range(COUNT):
        name = folder / f"m{nth:04}{sources[nth % len(sources)].suffix}"
        shutil.copy(sources[nth % len(sources)], name)
        names.append(name)
    names[7].write_bytes(b"no model")
    names[8].unlink()
    names[9] = names[9].rename(folder / "a\u202eb\x1b.pte")
    listed = folder / "list"
    listed.write_text("".join(f"{name}\n" for name in names))
    return listed


@pytest.fixture(scope="module")
def expected(paths: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("scan") / "rows"
    with open(paths) as lines:
        line = [sys.executable, "-m", "ptekit", "scan", "-", "--quiet", "-o", str(folder)]
        subprocess.run(line, stdin=lines, check=True)
    return read(folder)


def read(folder: Path) -> list[dict[str, Any]]:
    """Returns the rows of a folder without the times, sorted."""
    dataset = pytest.importorskip("pyarrow.dataset")
    files = [str(path) for path in sorted(folder.glob("*.parquet"))]
    rows: list[dict[str, Any]] = dataset.dataset(files).to_table().to_pylist()
    for row in rows:
        row["time_us"] = None
    return sorted(rows, key=lambda row: str(row["uri"]))


def test_a_batch_has_the_rows_of_a_scan(paths: Path, expected: list[dict[str, Any]]) -> None:
    pytest.importorskip("pyarrow")
    import ptekit

    rows = ptekit.scan_batch(paths.read_text().splitlines()).to_pylist()
    for row in rows:
        row["time_us"] = None
    assert sorted(rows, key=lambda row: str(row["uri"])) == expected
    statuses = {row["status"] for row in rows}
    assert len(rows) == COUNT and statuses == {"ok", "incomplete", "error", "refused", "unreadable"}


@pytest.mark.parametrize(("package", "program"), [("ray.data", "ray_scan.py"), ("pyspark", "spark_scan.py")])
def test_an_engine_has_the_rows_of_a_scan(
    package: str, program: str, paths: Path, expected: list[dict[str, Any]], tmp_path: Path
) -> None:
    if importlib.util.find_spec(package.split(".")[0]) is None:
        pytest.skip(f"{package} is not installed")
    if package == "pyspark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    begun = time.monotonic()
    line = [sys.executable, str(ENGINES / program), str(paths), str(tmp_path / "rows"), "2"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=900, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-4000:]
    print(f"{program}: {time.monotonic() - begun:.1f} s")
    rows = read(tmp_path / "rows")
    assert len(rows) == COUNT
    assert rows == expected
