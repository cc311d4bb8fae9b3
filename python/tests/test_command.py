"""The command inside the extension: exit statuses, signals and pipes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from conftest import command


def test_exit_statuses_are_those_of_the_command(linear: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.pte"
    cut.write_bytes(linear.read_bytes()[:1000])
    assert command("check", linear).returncode == 0
    assert command("check", cut).returncode == 1
    assert command("no-such-verb").returncode == 2
    assert command("info", tmp_path / "none.pte").returncode == 3


def test_help_names_the_command() -> None:
    done = command("--help")
    assert done.returncode == 0 and b"Usage: pte" in done.stdout
    assert b"Usage: pte info" in command("info", "--help").stdout


def test_output_without_a_line_break_is_complete(linear: Path) -> None:
    done = command("extract", linear, "--segment", "0", "-o", "-")
    assert len(done.stdout) == 144, done.stderr


def test_the_script_is_installed() -> None:
    script = Path(sys.executable).with_name("pte")
    if not script.exists():
        pytest.skip("the package is not installed beside this interpreter")
    done = subprocess.run([script, "--version"], capture_output=True, check=True)
    assert done.stdout.startswith(b"pte ")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command(number: signal.Signals, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # Reading a pipe that nothing is written to waits.
    line = [sys.executable, "-m", "ptekit", "info", str(pipe)]
    # A process in the background may ignore interrupts, and pass that on.
    default = partial(signal.signal, number, signal.SIG_DFL)
    process = subprocess.Popen(line, stderr=subprocess.DEVNULL, preexec_fn=default)
    writer = os.open(pipe, os.O_WRONLY)
    time.sleep(0.2)
    process.send_signal(number)
    assert process.wait(10) == -number
    os.close(writer)


def test_a_closed_pipe_is_no_failure(linear: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    line = [sys.executable, "-m", "ptekit", "dump", str(linear)]
    done = subprocess.run(line, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
