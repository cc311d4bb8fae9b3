#!/usr/bin/env python3
"""Runs many files in the official runtime (PyPI's executorch), and says of each what became of it.

  python3 fuzz/batch.py --list NAMES [--by-path]
  python3 fuzz/batch.py --manifest FOLDER/manifest.jsonl

NAMES is a text of one path a line. Every method of a file is run three times, on zeros, at the runtime's
default setting. A program is loaded from a buffer, or with --by-path from its path: then the runtime
frees segments that it takes for unused, so that a later read of them may crash. Some dozens of files
share a process, so that most take less than a millisecond: what kills it is tried again alone. A JSON
document a line: {"file": PATH, "verdict": VERDICT}, in which the verdict is ok, error (a clean refusal),
crash:SIGNAL or hang.

With --manifest, the verdicts are written into a manifest of forge, as "runtime". A program is run with
its data file. Data files alone, and programs with several data files, are not run: their place stays null.
"""

import argparse
import json
import logging
import os
import resource
import signal
import sys
import warnings

SHARED = 40
SECONDS = 10
MEMORY = 8 << 30


def load():
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    import torch
    from executorch.extension.pybindings import portable_lib

    torch.set_num_threads(1)
    try:
        import executorch.kernels.quantized  # noqa: F401 brings the quantized operators
    except ImportError:
        pass
    return portable_lib, torch


def dtypes(torch):
    """By the code of upstream's ScalarType."""
    names = {
        0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32",
        7: "float64", 11: "bool", 15: "bfloat16", 27: "uint16", 28: "uint32", 29: "uint64",
    }
    return {code: getattr(torch, name) for code, name in names.items()}


def zeros(torch, meta):
    """An input of zeros for each input of a method."""
    infos = [meta.input_tensor_meta(nth) for nth in range(meta.num_inputs())]
    return [torch.zeros(info.sizes(), dtype=dtypes(torch)[info.dtype()]) for info in infos]


def confine():
    """Prepares a child process: no output, no core dump, a limit on memory."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def run(lib, torch, path, companion, by_path):
    minimal = lib.Verification.Minimal
    # The runtime does not copy the buffers: they live as long as the module.
    data, extra = (path, companion) if by_path else (read(path), companion and read(companion))
    load = lib._load_for_executorch if by_path else lib._load_for_executorch_from_buffer
    try:
        module = load(data, extra, program_verification=minimal)
        for name in module.method_names():
            meta = module.method_meta(name)
            inputs = zeros(torch, meta)
            for _ in range(3):
                module.run_method(name, inputs)
    except Exception:
        return b"e"
    return b"o"


def batch(lib, torch, paths, companions, by_path):
    """What became of the first of them, and what ended the process if they are not all."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        confine()
        for path in paths:
            signal.alarm(SECONDS)
            os.write(writer, run(lib, torch, path, companions.get(path), by_path))
        os._exit(0)
    os.close(writer)
    letters = b""
    while chunk := os.read(reader, 1 << 16):
        letters += chunk
    os.close(reader)
    _, status = os.waitpid(child, 0)
    end = None
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        end = "hang" if name == "SIGALRM" else "crash:" + name
    return [{"o": "ok", "e": "error"}[letter] for letter in letters.decode()], end


def verdicts(lib, torch, paths, companions, by_path=False):
    """Each path with its verdict."""
    done = 0
    while done < len(paths):
        some = paths[done : done + SHARED]
        letters, end = batch(lib, torch, some, companions, by_path)
        yield from zip(some, letters)
        done += len(letters)
        if end is None:
            continue
        letters, alone = batch(lib, torch, [paths[done]], companions, by_path)
        yield paths[done], alone or letters[0]
        if alone is None:
            # It died in company: of what one of those before it did to their memory.
            last = paths[done]
            pairs = (
                (one, batch(lib, torch, [one, last], companions, by_path)[1]) for one in some
            )
            yield next(((one, end) for one, end in pairs if end), (paths[done], end))
        done += 1


def fill(lib, torch, manifest):
    """Writes the verdict of each sample that the runtime can run into its line of the manifest."""
    folder = os.path.dirname(os.path.abspath(manifest))
    with open(manifest) as file:
        lines = [json.loads(line) for line in file]
    samples, companions = {}, {}
    for line in lines:
        first, *data = [os.path.join(folder, entry["file"]) for entry in line["files"]]
        if first.endswith(".pte") and len(data) < 2:
            samples[first] = line
            companions[first] = data[0] if data else None
    for path, verdict in verdicts(lib, torch, list(samples), companions):
        samples[path]["runtime"] = verdict
    with open(manifest + ".new", "w") as file:
        for line in lines:
            file.write(json.dumps(line, separators=(",", ":"), sort_keys=True) + "\n")
    os.replace(manifest + ".new", manifest)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--list", help="a text of one path a line")
    source.add_argument("--manifest", help="a manifest of forge, beside its files")
    parser.add_argument("--by-path", action="store_true", help="load programs by their path")
    args = parser.parse_args()
    lib, torch = load()
    if args.manifest:
        return fill(lib, torch, args.manifest)
    with open(args.list) as file:
        paths = file.read().split("\n")
    paths = [path for path in paths if path]
    for path, verdict in verdicts(lib, torch, paths, {}, args.by_path):
        print(json.dumps({"file": path, "verdict": verdict}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
