#!/usr/bin/env python3
"""Compares the .fbs files of an installed executorch with the declared schemas: names and numbers.

    pip install --no-deps --target WHEEL executorch==1.5.1
    python tests/tools/schema_drift.py WHEEL/executorch

The declared schemas are read from snapshots/schema-*.snap, which the tests hold to the declarations. Of each table
of the wheel it compares the slot, type, default and attributes of every field, of each enum and union every name and
number. The declarations may have more, since a release lacks what a later one added. Exit status 1 if something differs.
"""

import argparse
import re
import sys
from pathlib import Path

SNAPSHOTS = Path(__file__).parents[2] / "snapshots"

# The declared schema of each file of a wheel. QNN's options have two layouts: releases before 1.2 had the other.
SCHEMAS = {
    "bundled_program_schema": ["bundled-program"],
    "compile_options_def": ["enn"],
    "etdump_schema_flatcc": ["etdump"],
    "flat_tensor": ["flat-tensor", "flat-tensor-legacy"],
    "mlx": ["mlx"],
    "mps": [],  # in wheels before 1.5; not declared: a payload of MPS is opaque here
    "native_graph": ["native"],
    "program": ["program"],
    "qc_compiler_spec": ["qnn", "qnn-legacy"],
    "scalar_type": ["program", "flat-tensor", "etdump", "bundled-program"],
    "tosa_1.0": ["tosa"],
    "tosa_1.1": ["tosa"],
    "vulkan": ["vulkan"],
    "xnnpack": ["xnnpack"],
}

TYPES = {
    "int8": "byte", "uint8": "ubyte", "int16": "short", "uint16": "ushort", "int32": "int", "uint32": "uint",
    "int64": "long", "uint64": "ulong", "float32": "float", "float64": "double",
}


def declarations(text):
    """The tables, structs, enums and unions of a schema: {name: {member: (number, …)}}."""
    text = re.sub(r"//.*|/\*.*?\*/", "", text)
    blocks = re.findall(r"\b(table|struct|enum|union)\s+(\w+)\s*(?::\s*(\w+))?[^{]*\{([^}]*)\}", text)
    unions = {name for kind, name, _, _ in blocks if kind == "union"}
    found = {name: numbers(body, base, kind == "union") for kind, name, base, body in blocks if kind in ("enum", "union")}
    for kind, name, _, body in blocks:
        if kind in ("table", "struct"):
            found[name] = fields(body, unions, found)
    return found


def numbers(body, base, is_union):
    """The members of an enum, or of a union, whose first member has the number 1."""
    found, following = {}, int(is_union)
    for member in filter(None, (part.strip() for part in body.split(","))):
        name, _, number = (part.strip() for part in member.partition("="))
        # A member of a union may have another name than its table.
        name = re.sub(r"\s*:\s*", ":", name)
        following = int(number, 0) if number else following
        found[name] = (following, TYPES.get(base, base))
        following += 1
    return found


def fields(body, unions, enums):
    """The fields of a table: slot, type, default and attributes."""
    found, slot = {}, 0
    for field in filter(None, (part.strip() for part in body.split(";"))):
        name, kind, default, attributes = re.fullmatch(
            r"(\w+)\s*:\s*(\[?[\w.]+\]?)\s*(?:=\s*([^\s(]+))?\s*(?:\(([^)]*)\))?", field
        ).groups()
        bare = kind.strip("[]").rsplit(".", 1)[-1]
        bare = TYPES.get(bare, bare)
        if default in enums.get(bare, ()):
            default = enums[bare][default][0]
        elif default == "null":
            default = None if kind == "string" else "null"
        else:
            default = float({"false": 0, "true": 1, None: 0}.get(default, default))
        attributes = {part.strip() for part in (attributes or "").split(",")} & {"required"}
        found[name] = (slot, f"[{bare}]" if "[" in kind else bare, default, *sorted(attributes))
        slot += 1 + (bare in unions)
    return found


def stem(path):
    """The name of a file in SCHEMAS. The files of some backends are all called schema.fbs."""
    backends = {"schema": path.parents[1].name, "runtime_schema": path.parents[1].name}
    return backends.get(path.stem, path.stem)


def differences(theirs, ours):
    for block, members in theirs.items():
        if block not in ours:
            yield f"{block} is missing"
            continue
        for name, facts in members.items():
            if ours[block].get(name) != facts:
                yield f"{block}.{name} is {facts}, and declared as {ours[block].get(name)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path, help="the folder of the installed package executorch")
    args = parser.parse_args()
    total = different = 0
    files = sorted(args.wheel.rglob("*.fbs"))
    assert files, f"no .fbs file under {args.wheel}"
    for path in files:
        theirs = declarations(path.read_text())
        total += sum(map(len, theirs.values()))
        names = SCHEMAS.get(stem(path))
        found = [["the schema is not declared: see SCHEMAS"]]
        if names is not None:
            ours = [declarations((SNAPSHOTS / f"schema-{name}.snap").read_text()) for name in names]
            found = [list(differences(theirs, one)) for one in ours]
        # A file of which there are several layouts has one of them.
        best = min(found, key=len, default=[])
        different += len(best)
        for one in best:
            print(f"{path.relative_to(args.wheel)}: {one}")
    print(f"{len(files)} files, {total} names, {different} differences")
    return different > 0


if __name__ == "__main__":
    sys.exit(main())
