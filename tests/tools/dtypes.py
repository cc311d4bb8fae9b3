#!/usr/bin/env python3
"""Runs the kernels of an installed executorch with every dtype, and writes which of them each kernel takes.

    python3 -m venv rt && rt/bin/pip install executorch==1.5.1 torch==2.15.0
    rt/bin/python tests/tools/dtypes.py > dtypes-1.5.txt

fuzz/calls.txt has a sound call of each operator. If the release executes it, it is executed again with each dtype of
the first tensor that the call reads, in a separate process. The other tensors that had the dtype get the new one, or
keep theirs, and the outputs get several: a dtype counts as taken if the release executes any of these calls. A line an
operator: its name, the dtypes that it takes, and those with which a call kills the process, as bit masks by ScalarType
in hexadecimal. An operator whose sound call is not executed has no line: nothing is known of it.

tests/tools/kernels.py puts the masks of several releases into the table of operators.
"""

import importlib.metadata
import os
import re
import signal
import struct
import sys
from pathlib import Path

import flatbuffers

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "fuzz"))
from batch import confine, load  # noqa: E402

SECONDS = 10

NAMES = {
    "BYTE": 0, "CHAR": 1, "SHORT": 2, "INT": 3, "LONG": 4, "HALF": 5, "FLOAT": 6, "DOUBLE": 7, "BOOL": 11, "BFLOAT16": 15,
    "UINT16": 27, "UINT32": 28, "UINT64": 29,
}
# A 1 of each dtype that is tried. A sound call must not divide by zero.
ONES = {
    0: b"\1", 1: b"\1", 2: b"\1\0", 3: b"\1\0\0\0", 4: struct.pack("<q", 1), 5: struct.pack("<e", 1),
    6: struct.pack("<f", 1), 7: struct.pack("<d", 1), 8: struct.pack("<ee", 1, 0), 9: struct.pack("<ff", 1, 0),
    10: struct.pack("<dd", 1, 0), 11: b"\1", 15: b"\x80\x3f", 27: b"\1\0", 28: b"\1\0\0\0", 29: struct.pack("<q", 1),
}
# The dtypes of outputs that are tried beside that of the input.
OUTPUTS = [NAMES[name] for name in ("BOOL", "FLOAT", "LONG", "DOUBLE", "INT", "HALF")] + [8, 9, 10]
KINDS = [
    "Null", "Int", "Bool", "Double", "Tensor", "String", "IntList", "DoubleList", "BoolList", "TensorList",
    "OptionalTensorList",
]


def constants():
    """A segment with zeros and ones of each dtype, the constant of each, and the offsets of the constants."""
    data, numbers, offsets = b"", {}, [0]
    for dtype, one in ONES.items():
        for is_ones in (False, True):
            numbers[dtype, is_ones] = len(offsets)
            offsets.append(len(data))
            data += (one if is_ones else bytes(len(one))) * (1024 // len(one))
    return data, numbers, offsets


CONSTANTS = constants()


class Tensor:
    """A tensor of a call: `FLOAT[2,3]`, with `~` if it may be resized."""

    def __init__(self, text):
        dtype, sizes, dynamic = re.fullmatch(r"(\w+)\[([\d,]*)\](~?)", text).groups()
        self.dtype = NAMES[dtype] if dtype in NAMES else int(dtype)
        self.sizes = [int(size) for size in sizes.split(",") if size]
        self.dynamic = bool(dynamic)
        self.is_written = False


# The letters of each operator's arguments.
LETTERS = {}


def parse(text):
    """An argument of a call, as fuzz/calls.txt has it: its kind and its value."""
    items = [item for item in text[1:-1].split(text[0] in "{<" and ";" or ",") if item]
    if text == "-":
        return "Null", None
    if text == ".":
        return "Again", None
    if text in ("true", "false"):
        return "Bool", text == "true"
    if text[0] == "'":
        return "String", text[1:-1]
    if text[0] == "(":
        return "IntList", [int(item) for item in items]
    if text[:2] == "b(":
        return "BoolList", [item == "1" for item in text[2:-1].split(",")]
    if text[:2] == "f(":
        return "DoubleList", [float(item) for item in text[2:-1].split(",")]
    if text[0] == "{":
        return "TensorList", [Tensor(item) for item in items]
    if text[0] == "<":
        return "OptionalTensorList", [None if item == "_" else Tensor(item) for item in items]
    if "[" in text:
        return "Tensor", Tensor(text)
    return ("Int", int(text)) if re.fullmatch(r"-?\d+", text) else ("Double", float(text))


def calls():
    """The sound call of each operator: its name, its arguments and its tensors, the first that is read in front."""
    table = (ROOT / "src/core/operators/kernels.rs").read_text()
    for name, letters in re.findall(r'^    "([^"]+)" "([^"]+)"', table, re.MULTILINE):
        LETTERS[name] = letters
    for line in (ROOT / "fuzz/calls.txt").read_text().splitlines():
        name, *words = line.split(" ")
        args = [parse(word) for word in words]
        tensors = []
        for (kind, value), letter in zip(args, LETTERS[name]):
            found = [value] if kind == "Tensor" else value if kind in ("TensorList", "OptionalTensorList") else []
            for tensor in filter(None, found):
                tensor.is_written = letter in "wx@"
                tensors.append(tensor)
        yield name, args, sorted(tensors, key=lambda tensor: tensor.is_written)


class Writer:
    """Writes a program of one method with one call."""

    def __init__(self):
        self.builder = flatbuffers.Builder(2048)
        self.values = []
        self.arena = 16

    def table(self, *fields):
        """A table: of each field the slot, the method of the builder that adds it, and its value."""
        self.builder.StartObject(max((slot for slot, _, _ in fields), default=-1) + 1)
        for slot, kind, value in fields:
            getattr(self.builder, f"Prepend{kind}Slot")(slot, value, 0 if kind != "Bool" else False)
        return self.builder.EndObject()

    def vector(self, size, kind, items):
        self.builder.StartVector(size, len(items), size)
        for item in reversed(items):
            getattr(self.builder, f"Prepend{kind}")(item)
        return self.builder.EndVector()

    def ints(self, items):
        return self.vector(4, "Int32", items)

    def tables(self, items):
        return self.vector(4, "UOffsetTRelative", items)

    def value(self, kind, *fields):
        table = self.table(*fields)
        self.values.append(self.table((0, "Uint8", KINDS.index(kind) + 1), (1, "UOffsetTRelative", table)))
        return len(self.values) - 1

    def tensor(self, tensor, constants):
        sizes = self.ints(tensor.sizes)
        order = self.vector(1, "Uint8", list(range(len(tensor.sizes))))
        place = [(0, "Int8", tensor.dtype), (2, "UOffsetTRelative", sizes), (3, "UOffsetTRelative", order)]
        if tensor.is_written:
            plan = self.table((0, "Uint32", 1), (1, "Uint32", self.arena))
            count = 16
            for size in tensor.sizes:
                count *= size
            self.arena += count + 63 & ~63
            place.append((6, "UOffsetTRelative", plan))
        else:
            place.append((5, "Uint32", constants[tensor.dtype, tensor.is_ones]))
        place.append((8, "Int8", int(tensor.dynamic)))
        return self.value("Tensor", *place)

    def arg(self, kind, value, constants):
        if kind == "Tensor":
            return self.tensor(value, constants)
        if kind in ("TensorList", "OptionalTensorList"):
            items = [-1 if item is None else self.tensor(item, constants) for item in value]
            return self.value(kind, (0, "UOffsetTRelative", self.ints(items)))
        if kind == "IntList":
            items = [self.value("Int", (0, "Int64", item)) for item in value]
            return self.value(kind, (0, "UOffsetTRelative", self.vector(8, "Int64", items)))
        if kind == "String":
            return self.value(kind, (0, "UOffsetTRelative", self.builder.CreateString(value)))
        if kind in ("BoolList", "DoubleList"):
            size, name = (1, "Bool") if kind == "BoolList" else (8, "Float64")
            return self.value(kind, (0, "UOffsetTRelative", self.vector(size, name, value)))
        names = {"Int": "Int64", "Double": "Float64"}
        return self.value(kind, *([] if kind == "Null" else [(0, names.get(kind, kind), value)]))

    def program(self, operator, args):
        data, constants, offsets = CONSTANTS
        indices = []
        for kind, value in args:
            indices.append(indices[-1] if kind == "Again" else self.arg(kind, value, constants))
        b = self.builder
        name, _, overload = operator.partition(".")
        names = [b.CreateString(text) for text in (name, overload, "forward", "")]
        operators = self.tables([self.table((0, "UOffsetTRelative", names[0]), (1, "UOffsetTRelative", names[1]))])
        call = self.table((1, "UOffsetTRelative", self.ints(indices)))
        instruction = self.table((0, "Uint8", 1), (1, "UOffsetTRelative", call))
        none = self.ints([])
        chain = self.table(
            (0, "UOffsetTRelative", none), (1, "UOffsetTRelative", none),
            (2, "UOffsetTRelative", self.tables([instruction])),
        )
        meta = self.table((0, "UOffsetTRelative", names[3]), (1, "UOffsetTRelative", names[3]))
        lists = [self.tables(self.values), self.tables([chain]), operators, self.tables([])]
        plan = self.table(
            (0, "UOffsetTRelative", names[2]), (1, "UOffsetTRelative", meta), (2, "UOffsetTRelative", lists[0]),
            (3, "UOffsetTRelative", none), (4, "UOffsetTRelative", none), (5, "UOffsetTRelative", lists[1]),
            (6, "UOffsetTRelative", lists[2]), (7, "UOffsetTRelative", lists[3]),
            (8, "UOffsetTRelative", self.vector(8, "Int64", [0, self.arena])),
        )
        lists = [self.tables([plan]), self.tables([]), self.tables([]), self.vector(8, "Uint64", offsets)]
        segments = self.tables([self.table((1, "Uint64", len(data)))])
        constants = self.table((1, "UOffsetTRelative", lists[3]))
        root = self.table(
            (1, "UOffsetTRelative", lists[0]), (2, "UOffsetTRelative", lists[1]), (3, "UOffsetTRelative", lists[2]),
            (4, "UOffsetTRelative", segments), (5, "UOffsetTRelative", constants),
        )
        b.Finish(root, file_identifier=b"ET12")
        tables = bytes(b.Output())
        # The extended header is behind the root offset and the identifier.
        size = len(tables) + 32
        base = size + 63 & ~63
        header = b"eh00" + struct.pack("<IQQQ", 32, size, base, len(data))
        offset = struct.unpack_from("<I", tables)[0] + 32
        head = struct.pack("<I", offset) + tables[4:8] + header
        return (head + tables[8:]).ljust(base, b"\0") + data


def variants(tensors, dtype):
    """The dtypes of the tensors of a call, one choice after the other."""
    given = [tensor.dtype for tensor in tensors]
    group = [tensor.dtype == given[0] for tensor in tensors]

    def choose(nth, tensor, moves, are_all, output):
        if nth == 0:
            return dtype
        if tensor.is_written and (are_all or group[nth]):
            return given[nth] if output is None else output
        return dtype if moves and group[nth] else given[nth]

    choices = [(moves, are_all, output) for are_all in (False, True) for moves in (True, False)
               for output in (dtype, None, *OUTPUTS)]
    return dict.fromkeys(
        tuple(choose(nth, tensor, *choice) for nth, tensor in enumerate(tensors)) for choice in choices
    )


def tries(tensors):
    """The dtypes of the tensors in the sound call and in its variants, each with the dtype that it is tried for."""
    given = [tensor.dtype for tensor in tensors]
    floats = {5, 6, 7, 8, 9, 10, 15}
    for tensor in tensors:
        # Zeros are sound indices, ones are sound divisors.
        tensor.is_ones = tensor.dtype in floats or tensor.dtype == given[0]
    return [(None, given), *((dtype, chosen) for dtype in ONES for chosen in variants(tensors, dtype))]


def run(lib, operator, args, tensors, dtypes):
    """Whether the release executes the call. An optional Int may be the dtype of the output."""
    for tensor, dtype in zip(tensors, dtypes):
        tensor.dtype = dtype
    output = ("Int", dtypes[-1])
    given = [output if one == ("Null", None) and letter == "I" else one for one, letter in zip(args, LETTERS[operator])]
    for some in [args, given] if given != args else [args]:
        try:
            lib._load_for_executorch_from_buffer(Writer().program(operator, some)).run_method("forward", [])
            return True
        except Exception:
            pass
    return False


def judge(lib, operator, args, tensors):
    """The dtypes that are taken, None if the sound call does not run, and those of which a call killed the process."""
    all_tries = tries(tensors)
    taken, crashed, start = set(), set(), 0
    while start < len(all_tries):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            confine()
            ran = set(taken)
            for dtype, chosen in all_tries[start:]:
                signal.alarm(SECONDS)
                letter = b"-"
                if dtype not in ran:
                    letter = b"o" if run(lib, operator, args, tensors, chosen) else b"e"
                if letter == b"o":
                    ran.add(dtype)
                os.write(writer, letter)
            os._exit(0)
        os.close(writer)
        letters = b""
        while chunk := os.read(reader, 1 << 16):
            letters += chunk
        os.close(reader)
        os.waitpid(child, 0)
        for letter, (dtype, _) in zip(letters.decode(), all_tries[start:]):
            if letter == "o":
                taken.add(dtype)
        start += len(letters)
        if start < len(all_tries):
            crashed.add(all_tries[start][0])
            start += 1
        if None not in taken:
            return None, crashed
    return taken - {None}, crashed - taken


def main():
    lib, _ = load()
    release = importlib.metadata.version("executorch")
    print(f"# executorch {release}")
    only = sys.argv[1:]
    for operator, args, tensors in calls():
        # The dtype of a quantizing kernel is an argument too: its contract has all dtypes.
        if not tensors or operator.startswith("quantized_decomposed::") or only and operator not in only:
            continue
        taken, crashed = judge(lib, operator, args, tensors)
        if taken is None:
            print(f"# {operator}: the sound call does not run")
            continue
        if "s" in LETTERS[operator]:
            # A Bool may need a Scalar that is a Bool, which is not tried.
            taken.add(NAMES["BOOL"])
        mask, aborts = (sum(1 << dtype for dtype in dtypes) for dtypes in (taken, crashed))
        print(f"{operator} {mask:x} {aborts:x}", flush=True)


if __name__ == "__main__":
    main()
