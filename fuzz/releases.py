#!/usr/bin/env python3
"""Says what a release of the official runtime does with files: run it with a Python that has the release.

  python3 -m venv rt-0.7 && rt-0.7/bin/pip install executorch==0.7.0 torch==2.8.0
  rt-0.7/bin/python fuzz/releases.py tests/data/pte > verdicts-0.7.jsonl

Releases and the torch that fits: 0.5.0 2.6.0, 0.6.0 2.7.0, 0.7.0 2.8.0, 1.0.1 2.9.1, 1.2.0 2.11.0, 1.3.1 2.12.0,
1.4.1 2.13.0, 1.5.1 2.15.0.

The first line is what the release has: {"release": "0.7", "operators": COUNT, "backends": [ID]}. Then a line
a file: {"file": NAME, "verdict": VERDICT, "code": CODE}. VERDICT is ok, error (a clean refusal), crash:SIGNAL
or hang; CODE is upstream's error code, such as 20 for a missing operator, or null. Each method of a file is
run twice, on zeros, in a separate process.

With --operators, the names in the release's registry follow the first line, one a line.
"""

import argparse
import importlib.metadata
import json
import os
import re
import signal
import sys

from batch import confine, load, read, zeros

SECONDS = 20


def opened(lib, data):
    """The module. Older releases take no setting for the verification."""
    try:
        return lib._load_for_executorch_from_buffer(data, program_verification=lib.Verification.Minimal)
    except (AttributeError, TypeError):
        return lib._load_for_executorch_from_buffer(data)


def run(lib, torch, path):
    # Older releases do not copy the bytes: they must outlive the module.
    data = read(path)
    module = opened(lib, data)
    for name in module.method_names():
        meta = module.method_meta(name)
        inputs = zeros(torch, meta)
        for _ in range(2):
            module.run_method(name, inputs)


def verdict(lib, torch, path):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        confine()
        signal.alarm(SECONDS)
        try:
            run(lib, torch, path)
            os.write(writer, b"ok")
        except BaseException as error:
            os.write(writer, b"error " + str(error).encode(errors="replace")[-2000:])
        os._exit(0)
    os.close(writer)
    text = b""
    while chunk := os.read(reader, 1 << 16):
        text += chunk
    os.close(reader)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return ("hang" if name == "SIGALRM" else "crash:" + name), None
    if text == b"ok":
        return "ok", None
    codes = re.findall(r"(?:error:?|code) *(0x[0-9a-fA-F]+|\d+)", text.decode(errors="replace"))
    return "error", int(codes[-1], 0) if codes else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", help="programs, and folders of programs")
    parser.add_argument("--operators", action="store_true", help="list the release's operators too")
    args = parser.parse_args()
    lib, torch = load()
    release = ".".join(importlib.metadata.version("executorch").split(".")[:2])
    names = sorted(set(lib._get_operator_names()))
    backends = getattr(lib, "_get_registered_backend_names", list)()
    print(json.dumps({"release": release, "operators": len(names), "backends": sorted(backends)}))
    if args.operators:
        print("\n".join(names))
    for path in args.paths:
        files = [path]
        if os.path.isdir(path):
            files = [os.path.join(path, name) for name in sorted(os.listdir(path)) if name.endswith(".pte")]
        for file in files:
            ended, code = verdict(lib, torch, file)
            line = {"file": os.path.basename(file), "verdict": ended, "code": code}
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    sys.exit(main())
