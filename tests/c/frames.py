"""The deepest stack of a program without indirect calls, by the frames of its functions in a disassembly."""

import functools
import re
import sys

# Each table of a file is one call of this function, and how deep tables are nested in a schema is
# `TableDesc::depth`, which tests/schema.rs has. So recursion is bounded.
FOR_EACH_TABLE = "::uncacheable"
DEPTHS = {"verify::program": 5, "verify::data": 3}

WORD = 4
REGISTERS = ["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "sl", "fp", "ip", "sp", "lr", "pc"]


class Function:
    def __init__(self, name: str) -> None:
        self.name = name
        self.frame = 0
        self.calls: set[str] = set()

    def add(self, operation: str, operands: str) -> None:
        """Adds an instruction of Thumb or of RISC-V. What is pushed anywhere is taken to be there at each call."""
        if operation.startswith(("push", "stmdb")) and "{" in operands:
            self.frame += WORD * registers(operands)
        elif down := re.match(r"sp, (?:sp, )?#(\d+)", operands) if operation.startswith("sub") else None:
            self.frame += int(down[1])
        elif down := re.match(r"sp,sp,-(\d+)", operands) if operation.startswith("add") else None:
            self.frame += int(down[1])
        elif down := re.search(r"\[sp, #-(\d+)\]!", operands):
            self.frame += int(down[1])
        if target := re.search(r"<(.*)>", operands):
            # Places within a function are jumps of its own. A branch to another function is a call at its end.
            name = re.sub(r"\+0x[0-9a-f]+$", "", target[1])
            if name == target[1] and name != self.name and re.match(r"b|j|tail|call", operation):
                self.calls.add(name)
        elif operation in ("blx", "jalr"):
            sys.exit(f"{self.name} calls a pointer: its stack is not known")


def registers(operands: str) -> int:
    count = 0
    for part in re.search(r"\{(.*)\}", operands)[1].split(","):
        first, _, last = part.strip().partition("-")
        count += REGISTERS.index(last) - REGISTERS.index(first) + 1 if last else 1
    return count


def deepest_stack(disassembly: str, entry: str) -> int:
    """Returns the most bytes of stack that a call of `entry` takes, in a disassembly of objdump -d -C."""
    functions: dict[str, Function] = {}
    current = None
    for line in disassembly.splitlines():
        if start := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            # Functions of one name, such as instances of a generic one, are taken together: never too few bytes.
            current = functions.setdefault(start[1], Function(start[1]))
        elif current and (part := re.match(r"\s*[0-9a-f]+:\t[0-9a-f ]+\t(\S+)(?:\t(.*))?$", line)):
            current.add(part[1], part[2] or "")

    @functools.cache
    def deepest(name: str, tables: int) -> int:
        for function, depth in DEPTHS.items():
            tables = depth if name.endswith(function) else tables
        if name.endswith(FOR_EACH_TABLE):
            if tables == 0:
                return 0
            tables -= 1
        function = functions[name]
        return function.frame + max((deepest(callee, tables) for callee in function.calls), default=0)

    if not all(any(name.endswith(end) for name in functions) for end in (FOR_EACH_TABLE, *DEPTHS)):
        sys.exit("a function that bounds the recursion is not there")
    try:
        return deepest(entry, 0)
    except RecursionError:
        sys.exit(f"{entry} is recursive without a bound")
