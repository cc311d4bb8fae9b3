#!/usr/bin/env python3
"""Counts what OpenVINO says of payloads of which one bit is flipped, or one number or word of the model is another.

    python3 -m venv ov && ov/bin/pip install openvino==2026.4.1
    ov/bin/python tests/tools/openvino_flips.py 500 PAYLOAD

Each payload is read, and run once with zeros, in a process of its own. Its properties
become those of this machine, since OpenVINO reads no others.
"""

import collections
import os
import random
import re
import signal
import struct
import sys

import openvino
from openvino import opset15

MAGIC, FIXED, PARTS = b"RR_UPCVO", 20, 48
KEY = bytes.fromhex("30 60 70 02 04 08 3F 6F 72 74 78 7F")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?![\w.])")
WORD = re.compile(r'(?:type|precision|element_type)="\w+"|\w+="(?:true|false)"')
NUMBERS = ["", "?", *map(str, [0, 1, -1, 2, 3, 8, 255, 2**16, 10**9, 2**31 - 1, 2**32 - 1, 2**63 - 1])]


def properties(payload):
    end = FIXED + struct.unpack_from("<Q", payload, 12)[0]
    return payload[FIXED:end], end


def own_properties():
    """The properties that this OpenVINO writes on this machine."""
    value = opset15.parameter([1], openvino.Type.f32)
    model = openvino.Model([opset15.relu(value)], [value])
    exported = openvino.Core().compile_model(model, "CPU").export_model()
    return properties(bytes(getattr(exported, "getbuffer", lambda: exported)()))[0]


def run(payload):
    try:
        model = openvino.Core().import_model(payload, "CPU")
    # A message that quotes the payload may be no UTF-8.
    except (RuntimeError, UnicodeDecodeError):
        return "refused"
    try:
        request = model.create_infer_request()
        for nth, port in enumerate(model.inputs):
            sizes = port.partial_shape
            shape = [size.get_min_length() if size.is_dynamic else size.get_length() for size in sizes]
            request.set_input_tensor(nth, openvino.Tensor(port.element_type, openvino.Shape(shape)))
        request.infer()
    except (RuntimeError, UnicodeDecodeError):
        return "refused when run"
    return "runs"


def verdict(payload):
    """What happens in a process of its own."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        os.write(write, run(payload).encode())
        os._exit(0)
    os.close(write)
    found = os.read(read, 100).decode()
    os.close(read)
    _, status = os.waitpid(child, 0)
    return f"signal {status & 127}" if status else found


def combined(model):
    """The model's text as bytes, or the reverse."""
    return bytes(byte ^ KEY[at % len(KEY)] for at, byte in enumerate(model))


def changed(model):
    """The model with another number, or with a word of another place."""
    text = combined(model).decode()
    if random.random() < 0.75:
        place = random.choice(list(NUMBER.finditer(text)))
        other = random.choice([*NUMBERS, str(int(place[0]) + 1), str(int(place[0]) * 2)])
    else:
        words = list(WORD.finditer(text))
        place = random.choice(words)
        name = place[0].split("=")[0]
        other = random.choice([word[0] for word in words if word[0].startswith(name + "=")])
    return combined((text[: place.start()] + other + text[place.end() :]).encode())


def main(count, path):
    with open(path, "rb") as file:
        payload = file.read()
    assert payload.startswith(MAGIC), f"{path} is no payload of the CPU plugin"
    own = own_properties()
    payload = payload[:12] + struct.pack("<Q", len(own)) + own + payload[properties(payload)[1] :]
    base = properties(payload)[1]
    numbers = struct.unpack_from("<6Q", payload, base)
    ends = {"header": FIXED, "properties": base, "offsets": base + PARTS}
    for at, name in enumerate(("custom data", "constants", "model")):
        ends[name] = base + sum(numbers[2 * at : 2 * at + 2])
    print("unchanged:", verdict(payload))
    random.seed(7)
    found = collections.Counter()
    for _ in range(count):
        at, bit = random.randrange(len(payload)), random.randrange(8)
        flipped = bytearray(payload)
        flipped[at] ^= 1 << bit
        part = next((name for name, end in ends.items() if at < end), "behind the model")
        found[part, verdict(bytes(flipped))] += 1
    begin = ends["constants"]
    for _ in range(count):
        model = changed(payload[begin:])
        size = base + PARTS - 8
        other = payload[:size] + struct.pack("<Q", len(model)) + payload[size + 8 : begin] + model
        found["model, changed text", verdict(other)] += 1
    for (part, what), times in sorted(found.items()):
        print(f"{part}: {what} {times}")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
