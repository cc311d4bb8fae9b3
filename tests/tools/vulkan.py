#!/usr/bin/env python3
"""Writes the operators of the Vulkan and WebGPU backends into src/core/payload/vulkan/operators.rs.

    python tests/tools/vulkan.py CLONE 0.2=v0.2.0 0.3=v0.3.0 0.4=v0.4.0 0.5=v0.5.0 0.6=v0.6.0 0.7=v0.7.0 \\
        1.0=v1.0.0 1.1=v1.1.0 1.2=v1.2.0 1.3=v1.3.0 1.4=v1.4.0 1.5=main

Needs PyPI's executorch and torch. CLONE is a clone of ExecuTorch, and each argument after it a release with the tag
that has it, the oldest in front. The names are those that `VK_REGISTER_OP` and `WEBGPU_REGISTER_OP` register. The
letters are made of PyTorch's schemas, of which the exporter writes each parameter, and then the output. How the shape
of an output follows from the arguments is kept from the table; a new operator has `Any`.
"""

import re
import subprocess
import sys
from pathlib import Path

import executorch.backends.vulkan.custom_ops_lib  # noqa: F401 registers et_vk
import executorch.exir.passes.dim_order_ops_registry  # noqa: F401 registers dim_order_ops
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401 registers quantized_decomposed
import torchao.quantization.quant_primitives  # noqa: F401 registers torchao
from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401 registers llama

TABLE = Path(__file__).parents[2] / "src/core/payload/vulkan/operators.rs"
# Operators of Python, which have no schema: two integers, and the result.
SYMBOLIC = {"add", "floordiv", "mul", "sub"}
NAMESPACES = ["llama", "quantized_decomposed", "aten", "et_vk"]
LETTERS = {"Tensor": "t", "int": "i", "SymInt": "i", "Scalar": "s", "float": "s", "bool": "b", "str": "z"}
LISTS = {"Tensor": "v", "Tensor?": "o", "int": "l", "SymInt": "l", "float": "l"}
# The backend reads neither these types nor these parameters.
UNREAD = {"ScalarType", "Layout", "Device", "MemoryFormat", "pin_memory", "non_blocking"}


def git(clone, *arguments):
    return subprocess.run(["git", "-C", clone, *arguments], capture_output=True, text=True).stdout


def registered(clone, tag):
    """Returns the names that a tag registers."""
    folders = [f"backends/{backend}/runtime" for backend in ("vulkan", "webgpu")]
    text = git(clone, "grep", "-h", "-A2", "_REGISTER_OP(", tag, "--", *folders)
    names = re.findall(r"(?:VK|WEBGPU)_REGISTER_OP\(\s*([\w.]+)\s*,", text)
    return {name for name in names if name != "name"}


def defined(clone, tags):
    """Returns the schemas of et_vk that a tag defined, those of later tags first."""
    schemas = {}
    for tag in reversed(tags):
        text = git(clone, "show", f"{tag}:backends/vulkan/custom_ops_lib.py")
        name = ""
        for named, lines, block in re.findall(
            r'name\s*=\s*"(\w+)"|lib\.define\(\s*((?:f?"[^"]*"\s*)+)|lib\.define\(\s*f?"""(.*?)"""', text, re.S
        ):
            name = named or name
            schema = "".join(re.findall(r'"([^"]*)"', lines)) or " ".join(block.split())
            if " -> " in schema and "out)" not in schema:
                schema = " ".join(schema.replace("{name}", name).split())
                schemas.setdefault(f"et_vk.{schema.split('(')[0].strip()}.default", schema)
    return schemas


def schema_of(name, old):
    """Returns the schema of an operator, or None if no exporter writes it."""
    parts = name.split(".")
    overload = parts.pop() if len(parts) > 1 else "default"
    operator = parts.pop()
    for namespace in parts or NAMESPACES:
        found = getattr(getattr(getattr(torch.ops, namespace), operator, None), overload, None)
        if found is not None:
            return str(found._schema)
    return old.get(name)


def letter(kind, name):
    kind, is_optional = kind.removesuffix("?"), kind.endswith("?")
    if kind in UNREAD or name in UNREAD:
        return "."
    if re.match(r"Tensor\(\w!\)", kind):
        return "u"
    items = re.match(r"(\w+\??)(?:\(.*\))?\[\d*\]$", kind)
    made = LISTS[items[1]] if items else LETTERS[re.sub(r"\(.*\)", "", kind)]
    return made.upper() if is_optional else made


def letters(name, old):
    if name in SYMBOLIC:
        return "ii#"
    schema = schema_of(name, old)
    if schema is None:
        return ""
    parameters, output = re.match(r"[^(]*\((.*)\) -> (.*)$", schema).groups()
    parameters = re.split(r",\s*(?![^(\[]*[)\]])", parameters)
    parameters = [p.split("=")[0].strip().rsplit(" ", 1) for p in parameters if p.strip() != "*"]
    made = "".join(letter(kind, name) for kind, name in parameters)
    is_list = output.startswith("(") or "[]" in output
    return made + ("x" if is_list else "#" if output.startswith("SymInt") else "w")


def main():
    clone, releases = sys.argv[1], [pair.split("=") for pair in sys.argv[2:]]
    since = {}
    for release, tag in releases:
        for name in registered(clone, tag):
            since.setdefault(name, release)
    old = defined(clone, [tag for _, tag in releases])
    text = TABLE.read_text()
    shapes = dict(re.findall(r'row\(\s*"([^"]+)",[^)]*\), (\w+(?:\(\d+\))?)\s*,?\s*\)', text))
    rows = [
        f'    row("{name}", "{letters(name, old)}", ({since[name].replace(".", ", ")}), {shapes.get(name, "Any")}),\n'
        for name in sorted(since)
    ]
    start = "static OPERATORS: &[VulkanOperator] = &[\n"
    before, rest = text.split(start)
    after = rest[rest.index("];\n") :]
    TABLE.write_text(before + start + "".join(rows) + after)


if __name__ == "__main__":
    main()
