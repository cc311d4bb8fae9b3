#!/usr/bin/env python3
"""Compares the pools that `pte memory` computes with what the official runtime takes of them.

    python tests/tools/pools.py --runtime WHEEL/executorch FILE.pte …
    python tests/tools/pools.py --runtime CHECKOUT --release 1.1 --flatbuffers FLATBUFFERS --flatc FLATC FILE.pte …
    python tests/tools/pools.py … --cxx "arm-linux-gnueabihf-g++ -static" --emulator qemu-arm-static --bits 32 FILE.pte …
    python tests/tools/pools.py … --sizes

It builds tests/tools/pools.cpp against the wheel of the official runtime for Linux, or against the sources of a
release (a checkout of pytorch/executorch at its tag). For sources it needs flatc 24.3.25 and its headers, a checkout
of google/flatbuffers. Another compiler and an emulator give the pools of another machine.

Each method is loaded with kernels and backends that do nothing. So the bytes of the method allocator and, at load, of
the temporary allocator are the runtime's alone. `--library LIBRARY.so` loads a library of kernels or a backend of the
wheel, `--run` executes each method with zeros: then `pte`'s figures must be bounds.

The output has a line for each method that differs, and the totals. Exit status 1: one differs.
"""

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

# The sources of the runtime's core, of its loader of files and of its reader of .ptd files.
SOURCES = [
    "runtime/backend/*.cpp",
    "runtime/core/*.cpp",
    "runtime/core/exec_aten/util/*.cpp",
    "runtime/core/portable_type/*.cpp",
    "runtime/executor/*.cpp",
    "runtime/kernel/*.cpp",
    "runtime/platform/*.cpp",
    "runtime/platform/default/posix.cpp",
    "schema/*.cpp",
    "extension/data_loader/file_data_loader.cpp",
    "extension/flat_tensor/*.cpp",
    "extension/flat_tensor/serialize/flat_tensor_header.cpp",
]

# pools.cpp includes the first. The others are of a runtime over PyTorch's tensors.
LEFT_OUT = ["method.cpp", "tensor_parser_aten.cpp", "tensor_util_aten.cpp"]

C10 = "runtime/core/portable_type/c10"


def build(arguments, folder):
    """Builds pools.cpp, and returns the command that runs it."""
    root, program = arguments.runtime.resolve(), folder / "pools"
    flags = ["-std=c++17", "-O1", "-w", "-DC10_USING_CUSTOM_GENERATED_MACROS"]
    compiler = shlex.split(arguments.cxx)
    if (root / "include").is_dir():
        headers = root / "include"
        flags += [f"-I{headers}", f"-I{headers / 'executorch' / C10}"]
        inputs = [HERE / "pools.cpp"]
        libraries = [f"-L{root / 'lib'}", "-lexecutorch", f"-Wl,-rpath,{root / 'lib'}", "-ldl"]
    else:
        (folder / "executorch").symlink_to(root)
        generated = folder / "generated"
        for schemas, name in [("schema", "program"), ("extension/flat_tensor/serialize", "flat_tensor")]:
            out = generated / "executorch" / schemas
            out.mkdir(parents=True)
            schemas = root / schemas
            files = [schemas / f"{name}.fbs", schemas / "scalar_type.fbs"]
            files = [file for file in files if file.exists()]
            flatc = [arguments.flatc, "--cpp", "--cpp-std", "c++11", "--gen-mutable", "--scoped-enums"]
            subprocess.run([*flatc, "-I", root, "-I", schemas, "-o", out, *files], check=True)
        flags += ["-DFROM_SOURCE", f"-I{generated}", f"-I{folder}", f"-I{folder / 'executorch' / C10}"]
        flags += [f"-I{arguments.flatbuffers / 'include'}"]
        inputs = [HERE / "pools.cpp"]
        for pattern in SOURCES:
            inputs += [file for file in sorted(root.glob(pattern)) if file.name not in LEFT_OUT]
        libraries = ["-ldl", "-lpthread"]
    subprocess.run([*compiler, *flags, "-o", program, *inputs, *libraries], check=True)
    return [*shlex.split(arguments.emulator), program]


def json_of(pte, *arguments):
    """Returns the document of a run of `pte`; None if it refuses the file."""
    done = subprocess.run([pte, *arguments], capture_output=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def names(program):
    """Returns the operators and backends of a program, for pools.cpp."""
    found = set()
    for plan in program.get("execution_plan") or []:
        for operator in plan.get("operators") or []:
            overload = operator.get("overload")
            found.add("op " + (operator.get("name") or "") + (f".{overload}" if overload else ""))
        found.update("backend " + (delegate.get("id") or "") for delegate in plan.get("delegates") or [])
    return "".join(f"{name}\n" for name in sorted(found))


def measure(command, arguments, given):
    """Returns a row for each method that the runtime loads."""
    done = subprocess.run([*command, *arguments], input=given, capture_output=True, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {row["method"]: row for row in rows if "bytes" in row}


# The parts that are not the runtime's: backends and operators.
def is_foreign(part):
    return part["name"].endswith("Backend") or part["name"] == "other backends"


def compare(arguments, command, file, totals):
    """Compares the pools of each method of a file, and returns the differences as lines."""
    program = json_of(arguments.pte, "dump", "--compact", file)
    if program is None or "execution_plan" not in program:
        return []
    flags = ["--json", "--bits", str(arguments.bits), "--runtime", arguments.release]
    given, wrong = names(program), []
    data = ["--data", arguments.data] if arguments.data else []
    methods = json_of(arguments.pte, "memory", *flags, file)["methods"]
    computed = {}
    # The runtime finds the first method of a name.
    for index, method in enumerate(methods):
        if method["name"] not in [other["name"] for other in methods[:index]]:
            computed[index] = method["pools"][0]
    without = measure(command, [*data, "--no-temp", file], given)
    for method, pools in computed.items():
        if method not in without:
            # Such as a method whose .ptd is not given.
            totals["not loaded"] = totals.get("not loaded", 0) + 1
            continue
        foreign = sum(part["bytes"] or 0 for part in pools["method"]["parts"] if is_foreign(part))
        temp = next((part["bytes"] for part in pools["temporary"]["parts"] if part["name"] == "loading"), 0)
        # The size that `pte` gives is enough, and no other is.
        enough = measure(command, [*data, "--temp", str(temp), file], given).get(method, {}).get("bytes")
        short = measure(command, [*data, "--temp", str(temp - 1), file], given).get(method, {}).get("bytes") if temp > 1 else None
        expected = pools["method"]["bytes"] - foreign
        results = [
            ("method allocator", expected, enough),
            ("method allocator alone", pools["without_temporary"] - foreign, without[method]["bytes"]),
        ]
        if temp > 1:
            results.append(("temporary allocator", True, short != expected))
        for what, ours, theirs in results:
            totals["equal" if ours == theirs else "different"] += 1
            if ours != theirs:
                wrong.append(f"{file}: method {method}: {what}: pte {ours}, the runtime {theirs}")
        totals["methods"] += 1
    if arguments.library or arguments.run:
        libraries = [flag for library in arguments.library for flag in ("--library", library)]
        flags = [*libraries, *(["--run"] if arguments.run else [])]
        for method, row in measure(command, [*data, *flags, file], given).items():
            pools = computed[method]
            for what, pool, taken in [("method", "method", row["bytes"]), ("temporary", "temporary", row["temp"])]:
                is_bound = taken <= pools[pool]["bytes"] or any(part["bytes"] is None for part in pools[pool]["parts"])
                totals["within" if is_bound else "beyond"] = totals.get("within" if is_bound else "beyond", 0) + 1
                if not is_bound:
                    wrong.append(f"{file}: method {method}: {what} allocator: at most {pools[pool]['bytes']}, the runtime {taken}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", type=Path, required=True, help="the wheel's folder executorch, or a checkout")
    parser.add_argument("--release", default="1.5", help="the release of the runtime")
    parser.add_argument("--bits", type=int, default=64, help="the width of its pointers")
    parser.add_argument("--sizes", action="store_true", help="print the sizes of the runtime's structures")
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("--emulator", default="")
    parser.add_argument("--flatc", default="flatc")
    parser.add_argument("--flatbuffers", type=Path, default=Path("/usr"))
    parser.add_argument("--pte", default="target/debug/pte", help="the command pte")
    parser.add_argument("--data", help="the .ptd of all files")
    parser.add_argument("--library", action="append", default=[], help="a library of kernels, or a backend")
    parser.add_argument("--run", action="store_true", help="execute each method")
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    totals = {"files": 0, "methods": 0, "equal": 0, "different": 0}
    with tempfile.TemporaryDirectory() as folder:
        command = build(arguments, Path(folder))
        if arguments.sizes:
            return subprocess.run([*command, "--sizes"]).returncode
        for file in arguments.files:
            totals["files"] += 1
            for line in compare(arguments, command, file, totals):
                print(line)
    print(json.dumps(totals))
    return int(totals["different"] + totals.get("beyond", 0) > 0)


if __name__ == "__main__":
    sys.exit(main())
