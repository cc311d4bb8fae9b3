"""Judging, and errors as exceptions of one family."""

from __future__ import annotations

import io
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from conftest import DATA, corpus, document, genuine

import ptekit


def test_a_sound_file_has_no_error(linear: Path) -> None:
    report = ptekit.check(linear)
    assert report and report.ok and not report.errors
    assert report.raise_for_errors() is report
    assert "ok, 0 errors" in repr(report) and "<table>" in report._repr_html_()


def test_an_error_is_raised_with_its_place() -> None:
    report = ptekit.check(DATA / "pte" / "synth_all_seg.pte")
    assert not report
    with pytest.raises(ptekit.CheckError) as error:
        report.raise_for_errors()
    assert isinstance(error.value, ptekit.PteError)
    assert error.value.code == report.errors[0].rule and error.value.offset is not None
    assert list(error.value.findings) == report.errors
    assert [finding for finding in report if finding.rule == "tensor-unbound"]


def test_refused_and_missing_files_are_in_the_report(linear: Path, tmp_path: Path) -> None:
    report = ptekit.check([linear, b"no model", tmp_path / "none.pte", tmp_path])
    rules = [finding.rule for finding in report.errors]
    assert rules[1:] == ["unreadable"] * 2 and rules[0] not in rules[1:]
    names = ["<bytes>", str(tmp_path / "none.pte"), str(tmp_path)]
    assert [finding.file for finding in report.errors] == names


def test_a_preset_is_for_uploads() -> None:
    path = DATA / "pte" / "demo_backend.pte"
    assert ptekit.check(path).ok
    report = ptekit.check(path, preset="untrusted-upload")
    assert [finding.rule for finding in report.errors] == ["backend-unknown"]
    assert report.errors[0].why and report.errors[0].help
    with pytest.raises(ValueError, match="unknown preset"):
        ptekit.check(path, preset="none")


def test_a_policy_allows_and_denies() -> None:
    path = DATA / "pte" / "synth_all_seg.pte"
    rules = {finding.rule: "allow" for finding in ptekit.check(path)}
    assert not ptekit.check(path, policy=rules).findings
    arguments = ["--json", "--deny", "warnings", "--runtime", "0.5", path]
    report = ptekit.check(path, policy={"warnings": "deny"}, runtime="0.5")
    assert report.to_dict() == document("check", *arguments)
    for policy in ({"no-such-rule": "deny"}, {"warnings": "forbid"}, {"warnings": "allow"}):
        with pytest.raises(ValueError):
            ptekit.check(path, policy=policy)
    with pytest.raises(ValueError):
        ptekit.check(path, runtime="new")


def test_a_program_is_judged_with_its_data(tmp_path: Path, linear: Path) -> None:
    program, data = tmp_path / "program.pte", tmp_path / "program.ptd"
    ptekit.open(linear).edit().externalize("constants").save(program)
    assert ptekit.check(program, data=[data]).ok
    # The second file has none of its keys.
    other = ptekit.PtdBuilder().blob("x", b"1").to_bytes()
    assert not ptekit.check(program, data=[other]).ok
    with pytest.raises(ValueError, match=".ptd"):
        ptekit.check(program, data=[linear])
    with pytest.raises(ptekit.PteError):
        ptekit.check(program, data=[b"no file of data"])


def test_contents_are_searched_where_that_is_asked_for() -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("run.py", "import os")
    data = ptekit.PtdBuilder().blob("weights", bytes(4096) + archive.getvalue()).to_bytes()
    assert len(ptekit.check(data, scan=True)) > len(ptekit.check(data))


def test_verdicts_are_the_same_for_paths_buffers_and_opened_files() -> None:
    def facts(report: ptekit.Report) -> list[tuple[str, int | None]]:
        return [(finding.rule, finding.offset) for finding in report]

    for path in genuine():
        by_path = facts(ptekit.check(path))
        assert by_path == facts(ptekit.check(bytearray(path.read_bytes())))
        assert by_path == facts(ptekit.check(ptekit.open(path)))


def test_batches_have_a_row_for_each_file(linear: Path, weights: Path) -> None:
    pytest.importorskip("pyarrow")
    paths = [linear, weights, DATA / "pte" / "synth_all_seg.pte", Path(__file__), "none.pte"]
    batch = ptekit.scan_batch(paths)
    assert batch.schema.names == [name for name, _ in ptekit.SCHEMA_FIELDS]
    rows = batch.to_pylist()
    assert [row["uri"] for row in rows] == [str(path) for path in paths]
    assert [row["status"] for row in rows] == ["ok", "ok", "error", "refused", "unreadable"]
    assert rows[0]["methods"] == ["forward"]
    assert "aten::relu.out" in [operator["name"] for operator in rows[0]["operators"]]
    assert rows[2]["code"] and rows[3]["code"] == "other-format" and rows[4]["size"] is None
    assert ptekit.scan_batch([linear], depth="hash").to_pylist()[0]["sha256"]
    with pytest.raises(ValueError, match="depth"):
        ptekit.scan_batch([linear], depth="all")


def test_a_batch_takes_urls(linear: Path) -> None:
    pytest.importorskip("pyarrow")
    handler = partial(Files, directory=str(linear.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/{linear.name}"
        batch = ptekit.scan_batch([url], allow_http=True, allow_private=True)
        refused = ptekit.scan_batch([url, url + "?key=SECRET"]).to_pylist()
        server.shutdown()
    row = batch.to_pylist()[0]
    assert (row["uri"], row["status"], row["requests"]) == (url, "ok", 1)
    assert [row["status"] for row in refused] == ["unreadable"] * 2
    assert "http" in refused[0]["message"] and "SECRET" not in str(refused)


class Files(SimpleHTTPRequestHandler):
    """Serves files whole, and says nothing."""

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_batch_of_the_corpus_agrees_with_the_judge() -> None:
    pytest.importorskip("pyarrow")
    paths = corpus()
    rows = ptekit.scan_batch(paths).to_pylist()
    assert [row["status"] == "ok" for row in rows] == [ptekit.check(path).ok for path in paths]
