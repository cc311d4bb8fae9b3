"""The parts of files: methods, values, tensors, instructions, delegates, blobs and segments."""

from __future__ import annotations

from ._decode import decoded_list, listed, nested, torch_name
from ._errors import PteError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    import numpy

    from ._opened import Opened
    from ._ptekit import Handle


class Tensor:
    """A tensor or a named blob.

    Attributes:
        name: Its key or its fully qualified name, or None.
        dtype: PyTorch's name of the dtype, such as `float32`; None for a blob.
        sizes: The sizes, outermost first; None for a blob.
        dim_order: The dimensions from the outermost to the innermost in memory, or None.
        storage: `constant`, `mutable`, `planned`, `external`, `unbound`, `broken` or `blob`.
        begin: The offset of its bytes in the file, or None if they are not there.
        end: The end of its bytes in the file, or None.
    """

    __slots__ = ("_entry", "_file", "begin", "dim_order", "dtype", "end", "name", "sizes", "storage")

    def __init__(
        self,
        file: Opened,
        name: str | None,
        dtype: str | None,
        sizes: list[int] | None,
        dim_order: list[int] | None,
        storage: str,
        begin: int | None,
        end: int | None,
    ) -> None:
        self._file = file
        self._entry: tuple[Handle, int] | None = None
        self.name = name
        self.dtype = dtype
        self.sizes = sizes
        self.dim_order = dim_order
        self.storage = storage
        self.begin = begin
        self.end = end

    if not TYPE_CHECKING:
        # Python calls this for an attribute that is not set: the entry is decoded when it is used.
        def __getattr__(self, name):
            if name not in _OF_ENTRY:
                raise AttributeError(f"Tensor has no attribute {name!r}")
            handle, index = self._entry
            code, dtype, self.sizes, order, self.begin, self.end = handle.entry(index)
            self.dtype = dtype or (None if code is None else str(code))
            self.dim_order = None if order is None else list(order)
            self.storage = "blob" if code is None else "constant"
            return getattr(self, name)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes as numpy and torch call them; empty for a blob."""
        return tuple(self.sizes or ())

    @property
    def nbytes(self) -> int:
        """The bytes in the file, 0 if there are none."""
        return 0 if self.begin is None or self.end is None else self.end - self.begin

    def _range(self) -> tuple[int, int]:
        if self.begin is None or self.end is None:
            raise PteError(f"a tensor that is {self.storage} has no bytes in the file", "no-data")
        return self.begin, self.end

    def read(self) -> bytes:
        """Returns a copy of its bytes, as they are in the file.

        Raises:
            PteError: They are not in the file (code `no-data`).
        """
        return self._file.read(*self._range())

    def view(self) -> memoryview:
        """Returns a read-only view of its bytes, without a copy; see `Program.view`.

        Raises:
            PteError: They are not in the file (code `no-data`).
        """
        return self._file.view(*self._range())

    def numpy(self, *, copy: bool = False) -> numpy.ndarray[Any, Any]:
        """Returns its elements as a numpy array; of a blob, its bytes.

        Without a copy the array is read-only, and shows the mapped file: see `Program.view` for what
        happens if the file changes. `bfloat16` and the 8-bit floats need the package `ml_dtypes`.

        Args:
            copy: Whether to return a writable copy, read by a system call.

        Raises:
            PteError: The bytes are not in the file (`no-data`), or too few (`short-data`), or numpy
                has no such dtype (`no-dtype`): `read` and `view` return the bytes.
            ImportError: numpy is not installed.
        """
        from ._arrays import array

        buffer = bytearray(self.read()) if copy else self.view()
        return array(self.dtype, self.sizes, self.dim_order, buffer)

    def __len__(self) -> int:
        return self.sizes[0] if self.sizes else self.nbytes

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name is not None else ""
        if self.dtype is None:
            return f"<Blob{name}: {self.nbytes:,} bytes>"
        return f"<Tensor{name}: {self.dtype}{self.sizes}, {self.storage}>"


_OF_ENTRY = frozenset(("begin", "dim_order", "dtype", "end", "sizes", "storage"))


def entry_tensor(file: Opened, handle: Handle, name: str, index: int) -> Tensor:
    """Returns the tensor or blob at an index of a data file, whose name is known."""
    tensor = Tensor.__new__(Tensor)
    tensor._file = file
    tensor._entry = handle, index
    tensor.name = name
    return tensor


def decoded_tensor(file: Opened, row: dict[str, Any]) -> Tensor:
    """Returns the tensor of a row of the document `pte.tensors/1`."""
    dtype: str | int | None = row["dtype"]
    name = None if dtype is None else torch_name(dtype)
    begin: int | None = row["offset"]
    end = None if begin is None else begin + row["bytes"]
    sizes, order = row["sizes"], row["dim_order"]
    return Tensor(file, row["key"], name, sizes, order, row["storage"], begin, end)


if TYPE_CHECKING:
    _Tensors: TypeAlias = list[Tensor]
else:
    _Tensors = list


class Tensors(_Tensors):
    """A list of tensors and blobs, which shows itself as a table in a notebook."""

    def _repr_html_(self) -> str:
        from ._html import listing

        rows = ((tensor.name or str(nth), repr(tensor)) for nth, tensor in enumerate(self))
        return listing(rows, len(self), ("tensors", "none"))


class PayloadConstant:
    """A constant in the payload of a delegate, or in the named data that its payload asks for.

    Attributes:
        method: The name of the method.
        delegate: The index of the delegate in the method.
        value: The id of the value in the delegate's graph.
        node: The index of the first node that reads it, or None.
        operator: The operator of the node, such as `XNNFullyConnected`, or None.
        input: The input of the node, such as `filter`, or None.
        key: The key of its named data, or None.
        dtype: The datatype in the backend's schema, such as `xnn_datatype_qcint8`, or None.
        sizes: The sizes, outermost first.
        quantization: The kind, scale, zero point, axis, group size and number of scales, or None.
        storage: `payload`, `named`, `external` or `broken`.
        nbytes: The number of bytes.
        begin: The offset of its bytes in the file, or None if they are not there.
    """

    __slots__ = (
        "_file",
        "begin",
        "delegate",
        "dtype",
        "input",
        "key",
        "method",
        "nbytes",
        "node",
        "operator",
        "quantization",
        "sizes",
        "storage",
        "value",
    )

    def __init__(self, file: Opened, row: dict[str, Any]) -> None:
        self._file = file
        self.method: str | None = row["method"]
        self.delegate: int = row["delegate"]
        self.value: int = row["value"]
        self.node: int | None = row["node"]
        self.operator: str | None = row["operator"]
        self.input: str | None = row["input"]
        self.key: str | None = row["key"]
        self.dtype: str | None = row["dtype"]
        self.sizes: list[int] = row["sizes"]
        self.quantization: dict[str, Any] | None = row["quantization"]
        self.storage: str = row["storage"]
        self.nbytes: int = row["bytes"] or 0
        self.begin: int | None = row["offset"]

    def _range(self) -> tuple[int, int]:
        if self.begin is None:
            raise PteError(f"a constant that is {self.storage} has no bytes in the file", "no-data")
        return self.begin, self.begin + self.nbytes

    def read(self) -> bytes:
        """Returns a copy of its bytes, as they are in the file.

        Raises:
            PteError: They are not in the file (code `no-data`).
        """
        return self._file.read(*self._range())

    def view(self) -> memoryview:
        """Returns a read-only view of its bytes, without a copy; see `Program.view`.

        Raises:
            PteError: They are not in the file (code `no-data`).
        """
        return self._file.view(*self._range())

    def __repr__(self) -> str:
        of = f" of {self.operator}" if self.operator is not None else ""
        place = f"{self.method}:{self.delegate}/{self.value}"
        return f"<PayloadConstant {place}: {self.dtype}{self.sizes}{of}>"


def decoded_constant(file: Opened, row: dict[str, Any]) -> PayloadConstant:
    """Returns the constant of a row of the document `pte.tensors/1`."""
    return PayloadConstant(file, row)


class Value:
    """A value of a method.

    Attributes:
        index: Its number in the method, which instructions name it by.
        kind: The name in the schema: `Tensor`, `Int`, `IntList`, `String`, `Null` and so on.
        tensor: The tensor, or None for another kind.
        fields: The fields of the value in the file's table.
    """

    __slots__ = ("fields", "index", "kind", "tensor")

    def __init__(self, index: int, kind: str, fields: dict[str, Any], tensor: Tensor | None) -> None:
        self.index = index
        self.kind = kind
        self.fields = fields
        self.tensor = tensor

    @property
    def value(self) -> Any:
        """The number, text or list of a value that is no tensor; else None.

        The elements of an `IntList` or `TensorList` are indices of values.
        """
        if self.tensor is not None:
            return None
        return next(iter(self.fields.values()), None)

    @property
    def dynamism(self) -> str | None:
        """The dynamism of a tensor's sizes: `STATIC`, `DYNAMIC_BOUND` or `DYNAMIC_UNBOUND`; else None."""
        dynamism: str | None = self.fields.get("shape_dynamism")
        return dynamism

    def __repr__(self) -> str:
        if self.tensor is not None:
            return f"Value({self.index}, Tensor {self.tensor.dtype}{self.tensor.sizes})"
        shown = repr(self.value)
        return f"Value({self.index}, {self.kind} {shown if len(shown) <= 60 else shown[:59] + '…'})"


class Operator:
    """An operator that a method may call.

    Attributes:
        index: Its number in the method.
        name: Its name with the overload, such as `aten::add.out`.
    """

    __slots__ = ("index", "name")

    def __init__(self, index: int, name: str) -> None:
        self.index = index
        self.name = name

    def __repr__(self) -> str:
        return f"Operator({self.index}, {self.name!r})"


class Delegate:
    """A delegate: a part of a method that a backend runs.

    Attributes:
        index: Its number in the method.
        backend: The id of the backend, such as `XnnpackBackend`.
        compile_specs: The options of the backend: keys with their bytes or digests, as in `tables`.
        begin: The offset of its payload in the file.
        end: The end of its payload.
    """

    __slots__ = ("_file", "backend", "begin", "compile_specs", "end", "index")

    def __init__(
        self,
        file: Opened,
        index: int,
        backend: str,
        compile_specs: list[dict[str, Any]],
        begin: int,
        end: int,
    ) -> None:
        self._file = file
        self.index = index
        self.backend = backend
        self.compile_specs = compile_specs
        self.begin = begin
        self.end = end

    @property
    def nbytes(self) -> int:
        """The bytes of its payload."""
        return self.end - self.begin

    def read(self) -> bytes:
        """Returns a copy of its payload."""
        return self._file.read(self.begin, self.end)

    def __repr__(self) -> str:
        return f"Delegate({self.index}, {self.backend!r}, {self.nbytes:,} bytes)"


class Instruction:
    """An instruction of a method.

    Attributes:
        chain: The number of its chain.
        index: Its number in the chain.
        kind: The name in the schema: `KernelCall`, `DelegateCall`, `MoveCall`, `JumpFalseCall`, `FreeCall`.
        fields: The fields in the file's table.
        name: The operator or backend that it calls, or the kind.
        args: The indices of the values that it names.
    """

    __slots__ = ("args", "chain", "fields", "index", "kind", "name")

    def __init__(
        self,
        chain: int,
        index: int,
        kind: str,
        fields: dict[str, Any],
        name: str,
        args: list[int],
    ) -> None:
        self.chain = chain
        self.index = index
        self.kind = kind
        self.fields = fields
        self.name = name
        self.args = args

    def __repr__(self) -> str:
        args = ", ".join(map(str, self.args))
        return f"Instruction({self.chain}:{self.index}, {self.name}({args}))"


class Method:
    """A method of a program. Its parts are decoded when they are first used.

    Attributes:
        index: Its number in the program.
        name: Its name.
        arenas: The bytes of each planned arena.
    """

    __slots__ = (
        "_delegates",
        "_ends",
        "_file",
        "_handle",
        "_instructions",
        "_operators",
        "_some",
        "_values",
        "arenas",
        "index",
        "name",
    )

    def __init__(
        self,
        program: Opened,
        index: int,
        name: str,
        inputs: list[int],
        outputs: list[int],
        arenas: list[int],
    ) -> None:
        self._file = program
        # The handle serves the method also after the program is closed.
        self._handle = program.handle
        self._ends = inputs, outputs
        self._some: dict[int, Value] = {}
        self._values: list[Value] | None = None
        self._operators: list[Operator] | None = None
        self._delegates: list[Delegate] | None = None
        self._instructions: list[Instruction] | None = None
        self.index = index
        self.name = name
        self.arenas = arenas

    @property
    def values(self) -> list[Value]:
        """All values."""
        if self._values is None:
            rows = enumerate(self._rows(None))
            self._values = [
                self._some.get(nth) or self._value(nth, row) for nth, row in rows if row is not None
            ]
        return self._values

    @property
    def inputs(self) -> list[Value]:
        """The values that a caller sets."""
        return self._chosen(self._ends[0])

    @property
    def outputs(self) -> list[Value]:
        """The values that a caller gets."""
        return self._chosen(self._ends[1])

    @property
    def operators(self) -> list[Operator]:
        """The operators that it may call."""
        if self._operators is None:
            self._operators = [
                Operator(nth, ".".join(filter(None, (row.get("name"), row.get("overload")))))
                for nth, row in enumerate(self._tables("operators"))
            ]
        return self._operators

    @property
    def delegates(self) -> list[Delegate]:
        """The parts that backends run."""
        if self._delegates is None:
            places = self._handle.payloads(self.index)
            self._delegates = [
                Delegate(self._file, nth, id, listed(row, "compile_specs"), begin, end)
                for nth, (row, (id, begin, end)) in enumerate(zip(self._tables("delegates"), places))
            ]
        return self._delegates

    @property
    def instructions(self) -> list[Instruction]:
        """The instructions of all chains, in order."""
        if self._instructions is None:
            self._instructions = [
                self._instruction(chain, nth, row)
                for chain, rows in enumerate(self._tables("chains"))
                for nth, row in enumerate(listed(rows, "instructions"))
            ]
        return self._instructions

    def _tables(self, part: str) -> list[dict[str, Any]]:
        from ._ptekit import tables

        return decoded_list(tables(self._handle, self.index, part))

    def _value(self, nth: int, row: dict[str, Any]) -> Value:
        tensor = None if row["tensor"] is None else decoded_tensor(self._file, row["tensor"])
        return Value(nth, str(row.get("val_type")), nested(row, "val"), tensor)

    def _rows(self, indices: list[int] | None) -> list[dict[str, Any] | None]:
        from ._ptekit import values

        return decoded_list(values(self._handle, self.index, indices))

    def _chosen(self, indices: list[int]) -> list[Value]:
        if self._values is not None:
            return [self._values[nth] for nth in indices if 0 <= nth < len(self._values)]
        missing = sorted(set(indices).difference(self._some))
        if missing:
            rows = zip(missing, self._rows(missing))
            self._some.update((nth, self._value(nth, row)) for nth, row in rows if row is not None)
        return [self._some[nth] for nth in indices if nth in self._some]

    def _instruction(self, chain: int, nth: int, row: dict[str, Any]) -> Instruction:
        kind, fields = str(row.get("instr_args_type")), nested(row, "instr_args")
        name: str = kind
        args: list[int] = fields.get("args") or []
        index: int
        if kind == "KernelCall":
            index = fields.get("op_index", -1)
            known = 0 <= index < len(self.operators)
            name = self.operators[index].name if known else f"no operator {index}"
        elif kind == "DelegateCall":
            index = fields.get("delegate_index", -1)
            known = 0 <= index < len(self.delegates)
            name = self.delegates[index].backend if known else f"no delegate {index}"
        elif kind == "MoveCall":
            args = [fields.get("move_from", 0), fields.get("move_to", 0)]
        elif kind == "JumpFalseCall":
            args = [fields.get("cond_value_index", 0)]
        elif kind == "FreeCall":
            args = [fields.get("value_index", 0)]
        return Instruction(chain, nth, kind, fields, name, args)

    def __repr__(self) -> str:
        def side(values: list[Value]) -> str:
            shown = [
                f"{of.tensor.dtype}{of.tensor.sizes}" if of.tensor is not None else of.kind
                for of in values
            ]
            return ", ".join(shown)

        calls = f"{len(self.instructions)} instructions"
        outputs = side(self.outputs) or "nothing"
        return f"<Method {self.name!r}: ({side(self.inputs)}) -> {outputs}, {calls}>"


class NamedData:
    """A named blob of a program.

    Attributes:
        key: Its key.
        begin: The offset of its bytes in the file.
        end: Their end.
    """

    __slots__ = ("_file", "begin", "end", "key")

    def __init__(self, file: Opened, key: str, begin: int, end: int) -> None:
        self._file = file
        self.key = key
        self.begin = begin
        self.end = end

    @property
    def nbytes(self) -> int:
        """The number of its bytes."""
        return self.end - self.begin

    def read(self) -> bytes:
        """Returns a copy of its bytes."""
        return self._file.read(self.begin, self.end)

    def view(self) -> memoryview:
        """Returns a read-only view of its bytes, without a copy; see `Program.view`."""
        return self._file.view(self.begin, self.end)

    def __repr__(self) -> str:
        return f"NamedData({self.key!r}, {self.nbytes:,} bytes)"


class Segment:
    """A segment of a file.

    Attributes:
        index: Its number.
        begin: The offset of its bytes in the file; None if the range is invalid.
        end: Their end, or None.
    """

    __slots__ = ("_file", "begin", "end", "index")

    def __init__(self, file: Opened, index: int, begin: int | None, end: int | None) -> None:
        self._file = file
        self.index = index
        self.begin = begin
        self.end = end

    @property
    def nbytes(self) -> int:
        """The number of its bytes."""
        return 0 if self.begin is None or self.end is None else self.end - self.begin

    def read(self) -> bytes:
        """Returns a copy of its bytes.

        Raises:
            PteError: The range is invalid (code `no-data`).
        """
        if self.begin is None or self.end is None:
            raise PteError(f"segment {self.index} is not in the file", "no-data")
        return self._file.read(self.begin, self.end)

    def __repr__(self) -> str:
        if self.begin is None or self.end is None:
            return f"Segment({self.index}, not in the file)"
        return f"Segment({self.index}, {self.begin:#x}..{self.end:#x})"
