#!/usr/bin/env python3
"""Runs many files in the official runtime under valgrind's memcheck, and counts invalid reads and writes.

  python3 fuzz/memcheck.py --list NAMES

NAMES is a text of one path a line. Files of a batch share a process, and every method of a file is run twice,
on zeros, as `fuzz/batch.py` does. A JSON document a line: {"file": PATH, "reads": N, "writes": N, "at":
FUNCTIONS}. Only reports with a frame in the runtime's libraries are counted: Python's and torch's own are
not. A file that kills the process has the verdict "crash" instead, and the next process goes on after it.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

MARK = "=== file "
LIBRARIES = ("executorch/",)


def child(log):
    """Runs the files that standard input names. The log gets a line before each."""
    import batch

    lib, torch = batch.load()
    for path in sys.stdin.read().split("\n"):
        if path:
            os.write(log, f"{MARK}{path}\n".encode())
            batch.run(lib, torch, path, {})
    os.write(log, f"{MARK}\n".encode())


def reports(log):
    """The reports of each file in a log: (path, reports of an access with its frames). Last, whether all were run."""
    path, found, frames = None, [], None
    for line in log.split("\n"):
        if line.startswith(MARK):
            if path is not None:
                yield path, found, True
            path, found, frames = line[len(MARK) :], [], None
            continue
        text = re.sub(r"^==\d+== ?", "", line)
        if access := re.match(r"Invalid (read|write) of size", text):
            frames = []
            found.append((access[1], frames))
        elif frames is not None and (frame := re.match(r"\s+(?:at|by) 0x[0-9A-F]+: (.*)", text)):
            frames.append(frame[1])
        else:
            frames = None
    if path:
        yield path, found, False


def batches(paths):
    """Each path with its reports; a process for as many as it survives."""
    left = list(paths)
    while left:
        with tempfile.TemporaryFile() as log:
            os.set_inheritable(log.fileno(), True)
            command = [
                "valgrind", "--tool=memcheck", "--undef-value-errors=no", "--leak-check=no", "--error-limit=no",
                "--num-callers=12", "--redzone-size=512", f"--log-fd={log.fileno()}",
                sys.executable, __file__, "--child", str(log.fileno()),
            ]
            environment = dict(os.environ, OMP_NUM_THREADS="1", GLIBC_TUNABLES="")
            subprocess.run(
                command, input="\n".join(left).encode(), env=environment, close_fds=False,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
            log.seek(0)
            text = log.read().decode(errors="replace")
        done = 0
        for path, found, survived in reports(text):
            if path:
                yield path, found, survived
                done += 1
        if done == 0:
            raise SystemExit("valgrind did not start: " + text[-500:])
        left = left[done:]


def row(path, found, survived):
    ours = [(access, frames) for access, frames in found if any(own in frame for own in LIBRARIES for frame in frames)]
    if not survived:
        return {"file": path, "verdict": "crash"}
    functions = sorted({re.sub(r"\(.*", "", frames[0]).strip() for _, frames in ours if frames})
    count = lambda kind: sum(access == kind for access, _ in ours)  # noqa: E731
    return {"file": path, "reads": count("read"), "writes": count("write"), "at": functions[:3]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", help="a text of one path a line")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        return child(given.child)
    with open(given.list) as file:
        paths = [path for path in file.read().split("\n") if path]
    for path, found, survived in batches(paths):
        print(json.dumps(row(path, found, survived)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
