#!/usr/bin/env python3
"""Writes src/core/operators/registered.rs: the operators of the kernel libraries of upstream. Those of prim, portable
and quantized are in src/core/operators/kernels.rs, and compared with it.

    python tests/tools/libraries.py EXECUTORCH 1.0=v1.0.1 1.1=v1.1.0 1.2=v1.2.0 1.3=v1.3.1 1.4=v1.4.1 1.5=main

EXECUTORCH is a clone of pytorch/executorch, and each argument after it a release with the tag that has it, the oldest
in front. Release 1.5 has no tag: the main branch of its time has the operators of its wheel. Lists in YAML and registrations in C++ are read with `git show`; nothing is built.
"""

import re
import subprocess
import sys
from pathlib import Path

# The files of each library, by its name in src/core/operators/library.rs. A name that ends with / is a folder of C++.
LIBRARIES = {
    "PRIM": ["kernels/prim_ops/register_prim_ops.cpp"],
    "PORTABLE": [
        "kernels/portable/functions.yaml",
    ],
    "OPTIMIZED": ["kernels/optimized/optimized.yaml"],
    "QUANTIZED": ["kernels/quantized/quantized.yaml"],
    "LLM": ["extension/llm/custom_ops/"],
    "CORTEX_M": ["backends/cortex_m/ops/operators.yaml"],
    "CADENCE": ["backends/cadence/aot/functions_hifi.yaml"],
}

TARGET = Path(__file__).parents[2] / "src/core/operators/registered.rs"

# The libraries whose operators follow from the list of kernels, with the rule of src/core/operators/library.rs.
OF_TABLE = ["PRIM", "PORTABLE", "QUANTIZED"]
KERNELS, RULE = (TARGET.with_name(name).read_text() for name in ["kernels.rs", "library.rs"])
SINCE = {
    name: tuple(map(int, match.groups())) if (match := re.search(r"\bsince: \((\d+), (\d+)\)", rest)) else (0, 0)
    for name, rest in re.findall(r'^    "([^"]+)" "[^"]+"\s+"[^"]*"([^;]*);$', KERNELS, re.MULTILINE)
}
PRIM_OF_ATEN, NOT_PORTABLE = (
    re.findall(r'"([^"]+)"', re.search(rf"static {name}: [^=]*=([^;]*);", RULE)[1])
    for name in ["PRIM_OF_ATEN", "NOT_PORTABLE"]
)


def main():
    clone, *releases = sys.argv[1:]
    releases = [release.split("=") for release in releases]
    text = HEAD
    for library, files in LIBRARIES.items():
        found = [(release, {name for file in files for name in operators(clone, tag, file)}) for release, tag in releases]
        assert any(names for _, names in found), library
        names = sorted(set().union(*(names for _, names in found)))
        if library in OF_TABLE:
            compare(library, names, found)
            continue
        rows = [row(name, found) for name in names]
        text += f"\n/// The operators of the library {library.lower()}.\n"
        text += f"pub(super) static {library}: &[Registered] = rows! {{\n" + "".join(rows) + "};\n"
    TARGET.write_text(text)


def of_table(name):
    """As in src/core/operators/library.rs."""
    namespace = name.split("::")[0]
    if namespace == "executorch_prim" or name in PRIM_OF_ATEN:
        return "PRIM"
    if namespace == "quantized_decomposed":
        return "QUANTIZED"
    return None if name in NOT_PORTABLE else "PORTABLE"


def compare(library, names, found):
    """Compares the operators of a library, and their first releases, with the list of kernels."""
    expected = {name: since for name, since in SINCE.items() if of_table(name) == library}
    assert expected.keys() == set(names), (library, expected.keys() ^ set(names))
    releases = [tuple(map(int, release.split("."))) for release, _ in found]
    for name, since in expected.items():
        has = [name in names for _, names in found]
        assert has == [release >= since for release in releases], (library, name, has)


def row(name, found):
    """The row of an operator: the first release that has it, and the first that lacks it again."""
    has = [name in names for _, names in found]
    since = has.index(True)
    until = has.index(False, since) if False in has[since:] else None
    assert until is None or True not in has[until:], name
    fields = [f"since: ({found[since][0].replace('.', ', ')})"] if since else []
    fields += [f"until: Some(({found[until][0].replace('.', ', ')}))"] if until is not None else []
    return f'    "{name}"' + "".join(f" {field}," for field in fields).rstrip(",") + ";\n"


def operators(clone, tag, file):
    if file.endswith("/"):
        listing = git(clone, "ls-tree", "--name-only", tag, file).splitlines()
        sources = [git(clone, "show", f"{tag}:{path}") for path in listing if path.endswith(".cpp")]
        # The ahead-of-time library is registered with PyTorch, by another macro.
        found = (match for text in sources for match in REGISTERED.findall(text))
        return {f"{namespace}::{name}" if namespace else name for namespace, name in found}
    if file not in git(clone, "ls-tree", "--name-only", tag, file):
        return set()
    text = git(clone, "show", f"{tag}:{file}")
    if file.endswith(".cpp"):
        return set(re.findall(r'"((?:aten|executorch_prim)::[\w.]+)"', text))
    # `op` is an operator of ATen, `func` a schema with or without a namespace.
    names = re.findall(r"^- (?:op|func): ([\w:.]+)", text, re.MULTILINE)
    return {name if "::" in name else f"aten::{name}" for name in names}


def git(clone, *arguments):
    return subprocess.run(["git", "-C", clone, *arguments], check=True, capture_output=True, text=True).stdout


# The macro, with the namespace apart, and the call that it stands for.
REGISTERED = re.compile(r'(?:EXECUTORCH_LIBRARY\(\s*(\w+),\s*|\bKernel\(\s*)"([\w.:]+)"')

HEAD = """\
//! The operators of the kernel libraries of upstream that do not follow from the list of kernels.
//! `tests/tools/libraries.py` writes this file from a clone.

use super::registration::{Registered, rows};
"""

if __name__ == "__main__":
    main()
