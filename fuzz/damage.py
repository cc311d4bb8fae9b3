#!/usr/bin/env python3
"""Damages programs, and keeps those that `pte check` still passes.

  python3 fuzz/damage.py --pte target/release/pte --count 100000 --seed 1 --out FOLDER PROGRAM...
  python3 fuzz/batch.py --list FOLDER/names

forge makes graphs of f32. Genuine programs have every datatype and quantization that exporters write. Of
each PROGRAM, one to three places are changed: bytes, words, and fields that become absent. If it has payloads of
XNNPACK, most places are in these. The same programs and seed give the same files. A PROGRAM that is not
sound, or needs data of another file, is left out.
"""

import argparse
import json
import os
import random
import struct
import subprocess
import tempfile

ROUND = 5000
SIZES = range(4, 64, 2)
# Small counts and ids, limits of integers, and floats: 1, infinity and NaN.
WORDS = [*range(33), 63, 64, 127, 128, 255, 256, 1023, 65535]
WORDS += [0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x3F800000, 0x7F800000, 0x7FC00000, 0xFF800000]


def parts(data):
    """Returns the ranges of the payloads' headers and FlatBuffers, and of the program's FlatBuffer."""
    payloads, at = [], data.find(b"XH00")
    while at >= 0:
        start = at - 4
        if start >= 0 and start + 18 <= len(data):
            offset, size = struct.unpack_from("<II", data, start + 10)
            if start + offset + size <= len(data):
                payloads.append(range(start, start + offset + size))
        at = data.find(b"XH00", at + 4)
    program = range(0, len(data))
    if data[8:12] == b"eh00" and len(data) >= 24:
        program = range(8, min(struct.unpack_from("<Q", data, 16)[0], len(data)))
    return payloads, program


def change(draw, data, part):
    """Changes one place of a part."""
    word = draw.randrange(part.start, part.stop - 3) & ~3
    (old,) = struct.unpack_from("<I", data, word)
    kinds = {"byte": 3, "step": 3, "word": 6, "copy": 2, "absent": 4, "short": 2, "near": 2, "scale": 4}
    kind = draw.choices(list(kinds), list(kinds.values()))[0]
    if kind == "byte":
        data[draw.choice(part)] = draw.randrange(256)
    elif kind == "step":
        at = draw.choice(part)
        data[at] = (data[at] + draw.choice([-8, -4, -2, -1, 1, 2, 4, 8])) & 255
    elif kind == "word":
        struct.pack_into("<I", data, word, draw.choice(WORDS))
    elif kind == "copy":
        other = draw.randrange(part.start, part.stop - 3) & ~3
        data[word : word + 4] = data[other : other + 4]
    elif kind == "absent":
        # A slot of a vtable has a small even number. A place that is no slot changes too.
        slots = [at for at in range(word, min(word + 64, part.stop - 1), 2) if data[at] in SIZES and data[at + 1] == 0]
        struct.pack_into("<H", data, draw.choice(slots or [word]), 0)
    elif kind == "scale":
        # A number such as a scale, near the place, gets another exponent. Other words are seldom such numbers.
        words = [(at, *struct.unpack_from("<f", data, at)) for at in range(word, min(word + 256, part.stop - 3), 4)]
        scales = [(at, old) for at, old in words if 1e-6 < old < 1e3]
        if scales:
            at, old = draw.choice(scales)
            struct.pack_into("<f", data, at, min(old * 2.0 ** draw.randrange(-120, 121), 3e38))
    elif kind == "short":
        struct.pack_into("<H", data, word, draw.choice(SIZES))
    else:
        struct.pack_into("<I", data, word, (old + draw.choice([-4, -2, -1, 1, 2, 4])) & 0xFFFFFFFF)


def passed(pte, path):
    """Returns the paths of the files of a folder, or of one file, that need no other file and have no Error."""
    done = subprocess.run([pte, "check", "--json", path], capture_output=True, check=False)
    return {file["path"] for file in json.loads(done.stdout)["files"] if file["verdict"] == "ok"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pte", required=True, help="the command pte")
    parser.add_argument("--count", type=int, default=ROUND, help="how many damaged files to make")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", required=True, help="a new folder")
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    args = parser.parse_args()
    os.makedirs(args.out)
    programs = []
    for path in args.programs:
        with open(path, "rb") as file:
            data = file.read()
        payloads, program = parts(data)
        if passed(args.pte, path):
            programs.append((os.path.basename(path), data, payloads, program))
    if not programs:
        parser.error("no PROGRAM is sound")
    draw, kept = random.Random(args.seed), []
    for first in range(0, args.count, ROUND):
        with tempfile.TemporaryDirectory(dir=args.out) as folder:
            for number in range(first, min(first + ROUND, args.count)):
                name, data, payloads, program = draw.choice(programs)
                data = bytearray(data)
                for _ in range(draw.choice([1, 1, 1, 2, 2, 3])):
                    part = draw.choice(payloads) if payloads and draw.random() < 0.7 else program
                    # Constants and blobs, too: a kernel may take them for indices.
                    change(draw, data, range(len(data)) if draw.random() < 0.1 else part)
                with open(os.path.join(folder, f"{number:06}-{name}"), "wb") as file:
                    file.write(data)
            for path in sorted(passed(args.pte, folder)):
                kept.append(os.path.join(args.out, os.path.basename(path)))
                os.rename(path, kept[-1])
    with open(os.path.join(args.out, "names"), "w", encoding="utf-8") as names:
        names.writelines(f"{path}\n" for path in kept)
    print(f"{args.count} damaged files of {len(programs)} programs: {len(kept)} pass")


if __name__ == "__main__":
    main()
