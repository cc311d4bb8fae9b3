"""Damaged files, from many threads: each gives a result or a `PteError`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import corpus, damaged
from hypothesis import given, settings
from hypothesis import strategies as st

import ptekit
from ptekit._decode import signature

THREADS = 8


def everything(data: bytes) -> object:
    """Returns what the API says of bytes; a `PteError` is an answer too."""
    report = ptekit.check(data)
    verdict = [(finding.rule, finding.offset, finding.message) for finding in report]
    try:
        file = ptekit.open(data)
    except ptekit.PteError as error:
        return verdict, error.code, error.offset
    facts: list[object] = [repr(file), file.size(), file.map(), ptekit.memory(file)]
    for tensor in file.tensors():
        try:
            facts.append(tensor.numpy().shape)
        except ptekit.PteError as error:
            facts.append(error.code)
    if isinstance(file, ptekit.Program):
        try:
            facts += [repr(file.methods), ptekit.ops_yaml(file), len(ptekit.graph(file).to_dot())]
            facts.append(repr(file.named_data))
        except ptekit.PteError as error:
            facts.append(error.code)
    else:
        facts.append(sorted(set(file)))
    try:
        facts.append(len(file.edit().set_data("key", b"data").to_bytes()[0]))
    except ptekit.PteError as error:
        facts.append(error.code)
    return verdict, facts


def test_a_method_without_a_name_and_a_value_without_a_type_have_a_signature() -> None:
    method = {"name": None, "inputs": [{"type": None}], "input_count": 2, "outputs": []}
    shown = signature(method | {"output_count": 0})
    assert shown == "(no name)(unknown, … 1 more) -> nothing"


def test_damaged_files_give_the_same_answers_from_many_threads() -> None:
    files = [*damaged(), *(path.read_bytes() for path in corpus())]
    with ThreadPoolExecutor(THREADS) as pool:
        first = list(pool.map(everything, files))
        second = list(pool.map(everything, reversed(files)))
    assert len(files) > 100 and first == second[::-1]


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_changed_bytes_are_no_trouble(data: st.DataObject) -> None:
    whole = bytearray(data.draw(st.sampled_from(corpus())).read_bytes()[: 1 << 16])
    for _ in range(data.draw(st.integers(0, 8))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    everything(bytes(whole[: data.draw(st.integers(0, len(whole)))]))


@settings(deadline=None, max_examples=200)
@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8"), max_size=20),
        st.tuples(st.lists(st.integers(0, 4), max_size=4), st.sampled_from(["<f4", "<i8", "|u1"])),
        max_size=8,
    )
)
def test_any_arrays_come_back(shapes: dict[str, tuple[list[int], str]]) -> None:
    np = pytest.importorskip("numpy")
    builder = ptekit.PtdBuilder()
    arrays = {key: np.full(sizes, 7, dtype) for key, (sizes, dtype) in shapes.items()}
    for key, array in arrays.items():
        builder.tensor(key, array)
    loaded = ptekit.load_file(builder.to_bytes())
    assert list(loaded) == list(arrays)
    assert all((loaded[key] == array).all() for key, array in arrays.items())


@settings(deadline=None)
@given(st.text(), st.integers(), st.binary(max_size=80))
def test_wrong_arguments_have_an_ordinary_error(text: str, number: int, data: bytes) -> None:
    for call in (
        lambda: ptekit.open(data),
        lambda: ptekit.check(data, runtime=text),
        lambda: ptekit.PtdBuilder(alignment=number).blob(text, data).to_bytes(),
        lambda: ptekit.PtdBuilder().raw_tensor(text, data, "uint8", [number]).to_bytes(),
        lambda: ptekit.convert(data, to="ptd", alignment=number),
        lambda: ptekit.ops(against=text),
    ):
        try:
            call()
        except (ptekit.PteError, ValueError, OverflowError):
            pass
