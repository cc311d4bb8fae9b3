"""Processor times beside those of other packages, in one run.

    python benches/timings.py import
    python benches/timings.py program PROGRAM.pte    beside executorch's decoder, where it is installed
    python benches/timings.py names COUNT            beside safetensors
    python benches/timings.py soak SECONDS FILE…     memory and maps at ten times

Build with `maturin develop --release` first.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable


def best(work: Callable[[], object], times: int = 5) -> float:
    """Returns the shortest processor time of `work` in seconds, with that of the processes it ran."""
    found = []
    for _ in range(times):
        begin = sum(os.times()[:4])
        clock = time.process_time()
        work()
        # The clock of this process is finer than that with others.
        own, all = time.process_time() - clock, sum(os.times()[:4]) - begin
        found.append(max(own, all) if all - own > 0.02 else own)
    return min(found)


def importing() -> None:
    def run(line: str) -> float:
        command = f"import time; begin = time.process_time(); {line}; print(time.process_time() - begin)"
        run = [sys.executable, "-c", command]
        return min(float(subprocess.run(run, capture_output=True, check=True).stdout) for _ in range(20))

    print(f"import ptekit: {1000 * run('import ptekit'):.1f} ms")


def program(path: str) -> None:
    import ptekit

    def listing() -> int:
        with ptekit.open(path) as file:
            ends = sum(len(method.inputs) + len(method.outputs) for method in file.methods)
            return ends + len(file.operators) + len(file.named_data)

    def summary() -> None:
        with ptekit.open(path) as file:
            file.to_dict()

    opening = best(lambda: ptekit.open(path).close())
    ours, tables = best(listing), best(lambda: ptekit.open(path).tables, 1)
    print(f"{os.path.getsize(path):,} bytes: open {1000 * opening:.2f} ms")
    print(f"  open, and list methods, inputs, outputs, operators and named data {1000 * ours:.2f} ms")
    print(f"  open and summarize, with the findings of the rules {1000 * best(summary):.2f} ms")
    print(f"  all tables as dictionaries {1000 * tables:.0f} ms")
    try:
        from executorch.exir._serialize._program import deserialize_pte_binary
    except ImportError:
        print("  executorch is not installed")
        return
    data = Path(path).read_bytes()
    theirs = best(lambda: deserialize_pte_binary(data), 1)
    print(f"  executorch's decoder {theirs:.2f} s: {theirs / ours:,.0f} times as long as listing")


def names(count: str) -> None:
    import ptekit

    import safetensors

    with tempfile.TemporaryDirectory() as folder:
        builder, data = ptekit.PtdBuilder(alignment=4), b"\0\0\0\0"
        keys = [f"layers.{nth // 8}.block.w{nth % 8}" for nth in range(int(count))]
        for key in keys:
            builder.raw_tensor(key, data, "float32", [1])
        ours, theirs = os.path.join(folder, "names.ptd"), os.path.join(folder, "names.safetensors")
        builder.save(ours)
        ptekit.convert(ours, theirs)

        def with_ptekit() -> None:
            with ptekit.open(ours) as file:
                for key in keys:
                    file[key]

        def with_safetensors() -> None:
            with safetensors.safe_open(theirs, "numpy") as file:
                for key in keys:
                    file.get_slice(key)

        def in_bulk() -> None:
            with ptekit.open(ours) as file:
                assert len(file.keys()) == len(keys)

        one, two = best(with_ptekit, 3), best(with_safetensors, 3)
        opened = best(lambda: ptekit.open(ours).close(), 3)
        print(f"{len(keys):,} names: open {1000 * opened:.0f} ms, list {1000 * best(in_bulk, 3):.0f} ms")
        print(f"  open and look up each: ptekit {one:.2f} s, safetensors {two:.2f} s: {two / one:.1f} ×")


def soak(seconds: str, *paths: str) -> None:
    import ptekit

    def memory() -> tuple[int, int]:
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * 4, Path("/proc/self/maps").read_text().count("\n")

    def round() -> None:
        for path in paths:
            ptekit.check(path)
            try:
                with ptekit.open(path) as file:
                    for tensor in file.tensors():
                        if tensor.begin is not None:
                            tensor.view()
                    file.size()
                    ptekit.memory(file)
                    ptekit.map(file)
                    copy = file.edit() if isinstance(file, ptekit.Program) else None
                    if copy is not None:
                        copy.set_data("key", b"data").to_bytes()
            except ptekit.PteError:
                pass

    # Allocators and caches fill in the first rounds.
    for _ in range(3):
        round()
    begin, rounds, samples = time.monotonic(), 0, [memory()]
    while time.monotonic() < begin + float(seconds):
        round()
        rounds += 1
        if time.monotonic() - begin >= len(samples) * float(seconds) / 10:
            samples.append(memory())
    print(f"{rounds} rounds of {len(paths)} files in {time.monotonic() - begin:.0f} s")
    print("  kB:", *(kilobytes for kilobytes, _ in samples))
    print("  maps:", *(maps for _, maps in samples))


if __name__ == "__main__":
    {"import": importing, "program": program, "names": names, "soak": soak}[sys.argv[1]](*sys.argv[2:])
