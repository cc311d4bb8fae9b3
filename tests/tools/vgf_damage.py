#!/usr/bin/env python3
"""Counts what Arm's emulation layer does with VGF payloads of which one word of code is changed.

    python3 -m venv ml && ml/bin/pip install numpy==2.1.3 ai-ml-sdk-vgf-library==0.11.0 \\
        ai-ml-sdk-scenario-runner==0.11.0 ai-ml-emulation-layer-for-vulkan==0.11.0
    ml/bin/python tests/tools/vgf_damage.py [--unvalidated] 420 target/debug/pte PAYLOAD...

The layer runs on any Vulkan driver, such as lavapipe of Mesa 25 (`VK_ICD_FILENAMES`). Each
payload is run once, with zeros and ones, in a process of its own. `scenario-runner` lets
SPIRV-Tools validate the code first; `--unvalidated` uses a copy of it without. The third column
says whether `pte check` has a finding.
"""

import collections
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

import emulation_layer
import numpy
import scenario_runner
import vgf_lib

MAGIC = struct.pack("<I", 0x07230203)
EXTRACT, EXT_INST, TENSOR, INPUT, SET_OUTPUT = 81, 12, 4163, 4184, 4185
NUMBER, COMPOSITE = 43, 44
CONSTANTS = (41, 42, NUMBER, COMPOSITE, 46, 4461)
LAST_OPERATOR = 65
TYPES = {"SINT": "i", "UINT": "u", "SFLOAT": "f"}


def tool(package, name):
    return str(next(pathlib.Path(package.__file__).parent.rglob(f"bin/{name}")))


def layers(folder):
    """Makes a folder for each layer, since old loaders take the layers in the order of folders."""
    found = pathlib.Path(emulation_layer.__file__).parent
    folders = []
    for name in ("Graph", "Tensor"):
        library = next(found.rglob(f"libVkLayer_{name}.so"))
        text = next(found.rglob(f"VkLayer_{name}.json")).read_text()
        folders.append(folder / name)
        folders[-1].mkdir()
        (folders[-1] / "layer.json").write_text(text.replace(library.name, str(library)))
    return dict(
        os.environ,
        VK_LAYER_PATH=":".join(map(str, folders)),
        VK_INSTANCE_LAYERS="VK_LAYER_ML_Graph_Emulation:VK_LAYER_ML_Tensor_Emulation",
    )


def unvalidated(runner, folder):
    """Copies the runner, with a validator that accepts all code."""
    data = bytearray(pathlib.Path(runner).read_bytes())
    names, parts = (
        subprocess.run([*command, runner], capture_output=True, text=True, check=True).stdout
        for command in (["nm", "-C"], ["readelf", "-lW"])
    )
    loads = re.findall(r"LOAD\s+0x(\w+) 0x(\w+) \S+ 0x(\w+)", parts)
    loads = [[int(number, 16) for number in load] for load in loads]
    for line in names.splitlines():
        if " T spvtools::SpirvTools::Validate(" in line:
            at = int(line.split()[0], 16)
            offset = next(at - to + start for start, to, size in loads if to <= at < to + size)
            # mov eax, 1; ret
            data[offset : offset + 6] = bytes([0xB8, 1, 0, 0, 0, 0xC3])
    copy = folder / "runner"
    copy.write_bytes(data)
    copy.chmod(0o755)
    return str(copy)


def dtype(name):
    bits, kind = re.match(r"VK_FORMAT_R(\d+)_(?:(SINT|UINT|SFLOAT)$)?", name).groups()
    return numpy.dtype(f"{TYPES.get(kind, 'u')}{int(bits) // 8}")


def scenario(payload, folder):
    """Makes the scenario of a genuine payload, with its inputs."""
    path = folder / "scenario.json"
    command = [tool(vgf_lib, "vgf_dump"), "-i", payload, "--scenario-template", "-o", path]
    subprocess.run(command, capture_output=True, check=True)
    made = json.loads(path.read_text())
    for tensor in (one["tensor"] for one in made["resources"] if "tensor" in one):
        file = str(folder / f"{tensor['uid']}.npy")
        if "src" in tensor:
            values = numpy.random.RandomState(1).randint(0, 2, size=tensor["dims"])
            numpy.save(file, values.astype(dtype(tensor["format"])))
        tensor["src" if "src" in tensor else "dst"] = file
    return made


def run(made, payload, runner, environment):
    for one in made["resources"]:
        if "graph" in one:
            one["graph"]["src"] = str(payload)
    path = payload.with_suffix(".json")
    path.write_text(json.dumps(made))
    command = [runner, "--scenario", path, "--output", "/"]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, timeout=90)
    except subprocess.TimeoutExpired:
        return "hangs"
    if done.returncode < 0:
        return "crashes"
    return "runs" if done.returncode == 0 else "refuses"


def damaged(payload, rng):
    """Changes an operator, an operand, a type or a constant.

    Returns what was changed, and the payload; None if there is no operator.
    """
    start = payload.index(MAGIC)
    (count,) = struct.unpack_from("<I", payload, start - 4)
    words = list(struct.unpack_from(f"<{count}I", payload, start))
    instructions, at = [], 5
    while at < count:
        instructions.append((at, words[at] & 0xFFFF, words[at + 1 : at + (words[at] >> 16)]))
        at += words[at] >> 16
    operators = [(at, of) for at, code, of in instructions if code == EXT_INST]
    tensors = [(at, of) for at, code, of in instructions if code == TENSOR]
    numbers = [(at, of) for at, code, of in instructions if code == NUMBER]
    values = [of[1] for _, code, of in instructions if code in (INPUT, EXT_INST, EXTRACT)]
    constants = [of[1] for _, code, of in instructions if code in CONSTANTS]
    if not operators:
        return None
    at, operator = rng.choice(operators)
    operand = at + 5 + rng.randrange(len(operator) - 4)
    changes = {
        "operator": (at + 4, [66, 100, 2**32 - 1, *range(LAST_OPERATOR + 1)]),
        "undefined operand": (operand, [0, 9999]),
        "operand: itself": (operand, [operator[1]]),
        "operand: a type": (operand, [of[0] for _, of in tensors]),
        "operand: another value": (operand, values),
        "operand: a constant": (operand, constants),
        "result type": (at + 1, [of[0] for _, of in tensors]),
        "shape": (rng.choice(tensors)[0] + 4, [of[3] for _, of in tensors if len(of) > 3]),
        "constant": (rng.choice(numbers)[0] + 3, [0, 1, 2, 7, 100, 2**31 - 1, 2**32 - 1]),
        "output": (
            rng.choice([at for at, code, _ in instructions if code == SET_OUTPUT]) + 1,
            [0, 9999, *values],
        ),
    }
    kind = rng.choice(sorted(changes))
    place, choices = changes[kind]
    choices = [choice for choice in choices if choice != words[place]]
    if not choices:
        return damaged(payload, rng)
    words[place] = rng.choice(choices)
    out = bytearray(payload)
    struct.pack_into(f"<{count}I", out, start, *words)
    return kind, bytes(out)


def is_clean(payload, pte):
    return subprocess.run([pte, "check", payload], capture_output=True).returncode == 0


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--unvalidated"]
    most, pte, payloads = int(arguments[0]), arguments[1], arguments[2:]
    payloads = [payload for payload in payloads if is_clean(payload, pte)]
    rng, counts = random.Random(1), collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        environment = layers(folder)
        runner = tool(scenario_runner, "scenario-runner")
        if len(arguments) < len(sys.argv) - 1:
            runner = unvalidated(runner, folder)
        while counts.total() < most:
            payload = rng.choice(payloads)
            change = damaged(pathlib.Path(payload).read_bytes(), rng)
            if change is None:
                continue
            kind, data = change
            made = scenario(payload, folder)
            file = folder / "damaged.vgf"
            file.write_bytes(data)
            done = run(made, file, runner, environment)
            counts[kind, done, "clean" if is_clean(file, pte) else "found"] += 1
    for row, count in sorted(counts.items()):
        print(*row, count, sep="\t")


if __name__ == "__main__":
    main()
