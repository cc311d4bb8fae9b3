#!/usr/bin/env python3
"""Makes graphs of all operators of TOSA, sound ones and such with an error, and compares `pte check` with the verdicts
of TOSA's reference model.

    python tests/tools/tosa_graphs.py PTE FOLDER [SOUND] [WRONG]

Needs PyPI's tosa-tools, whose `tosa_verif_build_tests` makes the graphs. PTE is the command. FOLDER gets at most SOUND
graphs (6) of each operator, and WRONG (2) of each operator and error. The table says how many the reference model runs,
refuses and crashes on, by whether the command finds an Error. Differences are printed behind it.
"""

import collections
import json
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import generator.tosa_verif_build_tests as builder
import tosa_reference_model
from generator.tosa_test_select import TosaTestSelectList

PACKAGE = Path(tosa_reference_model.__file__).parent
# Operators whose sizes are multiples of a block, or powers of two, need larger shapes.
LARGE = "^(fft2d|rfft2d|matmul_t_block_scaled|conv2d_block_scaled)$"


def make(folder, sound, wrong):
    """Makes the graphs, each in a folder with its inputs."""
    every = TosaTestSelectList.all

    def some(self, **chosen):
        tests, counts = list(every(self, **chosen)), collections.Counter()
        random.Random(45).shuffle(tests)
        for test in tests:
            kind = test.opName, test.error
            counts[kind] += 1
            if counts[kind] <= (wrong if test.error else sound):
                yield test

    TosaTestSelectList.all = lambda self, **chosen: list(some(self, **chosen))
    library = str(PACKAGE / "libtosa_reference_generate_lib.so")
    common = ["--generate-lib-path", library, "--test-type", "both", "--no-special-tests"]
    builder.main(["-o", str(folder / "all"), "--tensor-dim-range", "1,8", *common])
    builder.main(["-o", str(folder / "large"), "--filter", LARGE, *common])


def verdict(path):
    """Returns what the reference model does with a graph."""
    model = PACKAGE.parent / "bin" / "tosa_reference_model"
    # Without a path, a crash starts no debugger.
    run = subprocess.run([model, "--test_desc=desc.json"], cwd=path.parent, env={"PATH": ""},
                         capture_output=True, check=False)
    return {0: "runs", 1: "refuses", 2: "refuses"}.get(run.returncode, "crashes")


def has_error(command, paths):
    """Returns whether the command finds an Error, for each graph."""
    for start in range(0, len(paths), 200):
        run = subprocess.run([command, "check", "--json", *paths[start:start + 200]], capture_output=True,
                             check=False)
        for file in json.loads(run.stdout)["files"]:
            severities = {found["severity"] for found in file.get("findings", [])}
            yield bool(file.get("refused")) or "error" in severities


def main():
    command, folder = sys.argv[1], Path(sys.argv[2])
    make(folder, *(int(number) for number in (sys.argv[3:] + ["6", "2"][len(sys.argv) - 3:])[:2]))
    paths = sorted(folder.glob("*/*/*/test.tosa"))
    with ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(verdict, paths))
    rows = list(zip(verdicts, has_error(command, paths), paths))
    for (model, is_error), count in sorted(collections.Counter(row[:2] for row in rows).items()):
        print(f"the reference model {model}, the command finds {'an Error' if is_error else 'no Error'}: {count}")
    for model, is_error, path in rows:
        if (model == "runs") == is_error:
            print(model, path)


if __name__ == "__main__":
    main()
