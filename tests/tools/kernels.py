#!/usr/bin/env python3
"""Writes the letters and dtypes of the rows of src/core/operators/kernels.rs from wheels of the official runtime.

    python tests/tools/kernels.py [1.2=dtypes-1.2.txt …]

Needs PyPI's executorch of the newest release, torch, PyYAML and typing_extensions. The first two are not
imported as a whole, so `pip install --no-deps` does for them, without a GPU library. The kernels
of the portable, optimized and quantized libraries convert their arguments with code that
ExecuTorch's codegen writes: it runs here on the operator lists of the wheel, and each conversion
in its output becomes a letter. The primitive operators are hand-written C++, so their letters are
written here, and held against the names in libexecutorch.so and the schemas in Python.

The dtypes come from the outputs of tests/tools/dtypes.py, one a release, the oldest in front. Without
them the rows keep theirs. The rest of a row (the names of the arguments, the release that brought the operator, its
contract, the arguments that must not share memory, and what it copies) is written by hand, and kept. A new operator
gets a new row, without names.
"""

import ast
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import NamedTemporaryFile

import yaml

from executorch.codegen.api import et_cpp
from executorch.codegen.api.types import ExecutorchCppSignature
from executorch.codegen.api.unboxing import Unboxing
from executorch.codegen.gen import parse_yaml_files
from torchgen.context import native_function_manager
from torchgen.selective_build.selector import SelectiveBuilder

EXECUTORCH = Path(find_spec("executorch").submodule_search_locations[0])
ATEN = Path(find_spec("torchgen").submodule_search_locations[0]) / "packaged/ATen/native"

# Operator lists: ATen's operators, and those that declare a schema.
LISTS = [
    ("kernels/portable/functions.yaml", "kernels/portable/custom_ops.yaml"),
    (None, "kernels/quantized/quantized.yaml"),
]

# The letter for a conversion of runtime/core/evalue.h; its capital for the same or None.
LETTERS = {
    "to<torch::executor::Tensor>": "t",
    "to<torch::executor::Scalar>": "s",
    "to<int64_t>": "i",
    "to<torch::executor::ScalarType>": "i",
    "to<torch::executor::MemoryFormat>": "i",
    "to<double>": "d",
    "to<bool>": "b",
    "to<std::string_view>": "z",
    "toIntList": "l",
    "to<torch::executor::ArrayRef<int64_t>>": "l",
    "to<torch::executor::ArrayRef<double>>": "f",
    "toBoolList": "m",
    "toTensorList": "v",
    "toListOptionalTensor": "o",
}

# The letter for a conversion to what the operator writes to.
WRITTEN = {"t": "w", "v": "x"}

# Operators that ask their first argument for its dtype and shape alone.
SHAPES = ["aten::full_like.out"]

# What register_prim_ops.cpp and et_copy_index.cpp, et_view.cpp convert, argument by argument, and
# the kind of what they give.
PRIMITIVE = {
    "aten::_local_scalar_dense": "t$",
    "aten::sym_numel": "h#",
    "aten::sym_size.int": "hi#",
    "executorch_prim::add.Scalar": "nn~",
    "executorch_prim::ceil.Scalar": "d#",
    "executorch_prim::eq.Scalar": "ss?",
    "executorch_prim::et_copy_index.tensor": "wti",
    "executorch_prim::et_view.default": "hly",
    "executorch_prim::floordiv.Scalar": "nn~",
    "executorch_prim::floordiv.int": "ii#",
    "executorch_prim::ge.Scalar": "ss?",
    "executorch_prim::gt.Scalar": "ss?",
    "executorch_prim::le.Scalar": "ss?",
    "executorch_prim::lt.Scalar": "ss?",
    "executorch_prim::mod.Scalar": "ii#",
    "executorch_prim::mod.int": "ii#",
    "executorch_prim::mul.Scalar": "nn~",
    "executorch_prim::neg.Scalar": "n~",
    "executorch_prim::round.Scalar": "d#",
    "executorch_prim::sub.Scalar": "nn~",
    "executorch_prim::sym_float.Scalar": "s%",
    "executorch_prim::sym_int.Scalar": "s#",
    "executorch_prim::sym_ite.Scalar": "b..=",  # reads one of the two
    "executorch_prim::sym_max.Scalar": "ii#",
    "executorch_prim::sym_min.Scalar": "ii#",
    "executorch_prim::sym_not.Scalar": "b?",
    "executorch_prim::truediv.Scalar": "nn%",
    "executorch_prim::trunc.Scalar": "d#",
}

TABLE = Path(__file__).parents[2] / "src/core/operators/kernels.rs"
ROW = re.compile(r'^    "([^"]+)" "([^"]+)"\s+"([^"]*)"([^;]*);\n', re.MULTILINE)

# The sets of dtypes that many kernels take, by their names in src/core/operators/kernel.rs.
SETS = {
    int(mask.replace("_", ""), 16): name
    for name, mask in re.findall(r"const (\w+): u32 = 0x([\da-f_]+);", TABLE.with_name("kernel.rs").read_text())
}


def main():
    check_primitive()
    letters = dict(PRIMITIVE)
    for functions, custom in LISTS:
        letters.update(generated(functions and EXECUTORCH / functions, EXECUTORCH / custom))
    letters.update(optimized(letters))
    for name in SHAPES:
        assert letters[name].startswith("t")
        letters[name] = "h" + letters[name][1:]
    dtypes = [(release, masks(path)) for release, path in (arg.split("=") for arg in sys.argv[1:])]
    text = TABLE.read_text()
    kept = {name: (names, re.split(r",\s*(?=\w+:)", rest.strip())) for name, _, names, rest in ROW.findall(text)}
    rows = [row(name, letters[name], kept.get(name, ("", [])), dtypes) for name in sorted(letters)]
    start = text.index("kernels! {\n") + len("kernels! {\n")
    end = text.index("};\n", start)
    TABLE.write_text(text[:start] + "".join(rows) + text[end:])


def masks(path):
    """The dtypes that each operator takes, by its name, and those with which it aborts: a line of dtypes.py."""
    lines = [line.split() for line in Path(path).read_text().splitlines() if not line.startswith("#")]
    return {name: (int(taken, 16), int(aborts, 16)) for name, taken, aborts in lines}


def row(name, letters, kept, dtypes):
    """A row, with the dtypes of each release at which they change."""
    names, fields = kept
    fields = [field for field in fields if field]
    if dtypes:
        changes = []
        for release, taken in dtypes:
            mask, aborts = taken.get(name, (0, 0))
            # Contracts have the dtypes with which a kernel aborts.
            assert not aborts or any(field.startswith("contract:") for field in fields), name
            mask |= aborts
            if not changes or mask != changes[-1][1]:
                changes.append((release.replace(".", ", "), mask))
        (_, first), *later = [(release, SETS.get(mask, hex(mask))) for release, mask in changes]
        fields = [field for field in fields if not field.startswith("dtypes")]
        fields += [f"dtypes: {first}"] if first != "0x0" else []
        fields += ["dtypes_since: &[" + ", ".join(f"(({release}), {mask})" for release, mask in later) + "]"] if later else []
    lines = [f'    "{name}" "{letters}"']
    for part in filter(None, [f'"{names}"', ", ".join(fields)]):
        # With the semicolon, a line has at most 120 columns.
        if len(lines[-1]) + 1 + len(part) <= 119:
            lines[-1] += " " + part
        else:
            lines.append("        " + part)
    return "\n".join(lines) + ";\n"


def generated(functions, custom):
    parsed, _ = parse_yaml_files(
        tags_yaml_path=ATEN / "tags.yaml",
        aten_yaml_path=ATEN / "native_functions.yaml",
        native_yaml_path=functions,
        custom_ops_yaml_path=custom,
        selector=SelectiveBuilder.get_nop_selector(),
        use_aten_lib=False,
    )
    for function in parsed.native_functions:
        with native_function_manager(function):
            yield f"{function.namespace}::{function.func.name}", signature(function)


def optimized(table):
    """What only the optimized library has: its list is not in the wheel, its names are."""
    with NamedTemporaryFile("w", suffix=".yaml") as functions:
        kernels = [{"arg_meta": None, "kernel_name": "torch::executor::any"}]
        missing = names_in("lib/libexecutorch_kernels_optimized.so") - table.keys()
        names = sorted(name.removeprefix("aten::") for name in missing)
        yaml.safe_dump([{"op": name, "kernels": kernels} for name in names], functions)
        functions.flush()
        return dict(generated(functions.name, None))


def signature(function):
    cpp = ExecutorchCppSignature.from_native_function(function)
    arguments = cpp.arguments(include_context=False)
    _, code = Unboxing(argument_type_gen=et_cpp.argumenttype_type).convert_arguments(arguments)
    # gen.py: one more than the parameters, for the return value, which is written only where no
    # out argument takes the result.
    last = "." if function.func.arguments.out else "@"
    assert last == "." or [str(result.type) for result in function.func.returns] == ["Tensor"]
    # Not all that the schema marks: no kernel writes the statistics of a batch norm.
    given = function.func.arguments
    inplace = function.func.name.name.inplace
    written = {argument.name for argument in given.out or [given.self_arg.argument] * inplace}
    return "".join(letter(argument.name, code, written) for argument in arguments) + last


def letter(name, code, written):
    conversion = re.compile(rf"\b{name}\.(to\w*(?:<.*>)?)\(\);")
    found = {match[1] for line in code for match in [conversion.search(line)] if match}
    assert len(found) == 1, (name, found, code)
    found = found.pop()
    if found.startswith("toOptional<"):
        return LETTERS["to" + found.removeprefix("toOptional")].upper()
    return WRITTEN[LETTERS[found]] if name in written else LETTERS[found]


def check_primitive():
    names = names_in("lib/libexecutorch.so")
    assert names == PRIMITIVE.keys(), names ^ PRIMITIVE.keys()
    registry = EXECUTORCH / "exir/passes/executorch_prim_ops_registry.py"
    nodes = ast.walk(ast.parse(registry.read_text()))
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    texts = [constant for constant in constants if isinstance(constant, str)]
    schemas = [match for text in texts if (match := re.match(r"([\w.]+)\((.*)\) -> ", text))]
    assert len(schemas) > 20, schemas
    for name, parameters in (schema.groups() for schema in schemas):
        letters = PRIMITIVE[f"executorch_prim::{name}"]
        assert len(letters) == parameters.count(",") + 2, name


def names_in(library):
    content = (EXECUTORCH / library).read_bytes()
    names = re.findall(rb"(?:executorch_prim|aten)::[\w.]+(?=\0)", content)
    return {name.decode() for name in names}


if __name__ == "__main__":
    main()
