#!/usr/bin/env python3
"""Mixes the weights of a model and of a model that was trained further from it: the mixture is often better
than both.

    recipes/en-de/mix_models.py BEFORE AFTER SHARE OUT [STEPS]

Every weight of OUT is (1 − SHARE) · BEFORE + SHARE · AFTER, in 32 bits (Wortsman et al. 2022, "Robust
fine-tuning of zero-shot models"). Both directories have the same shape and vocabulary; all else is
AFTER's. `attn-demo convert --dtype float16` halves it.

With STEPS each matrix is rounded to multiples of a power of two, the nearest to 1/STEPS of its standard
deviation: in 16 bits such a file compresses to half (docs/notes/shipped-model.md has what that costs).
"""
import array
import json
import math
import shutil
import struct
import sys
from pathlib import Path


def tensors_of(directory):
    """Returns {name: (shape, numbers)} of a safetensors file in float32 or float16."""
    content = (directory / "model.safetensors").read_bytes()
    begin = 8 + struct.unpack("<Q", content[:8])[0]
    tensors = {}
    for name, tensor in json.loads(content[8:begin]).items():
        if name == "__metadata__":
            continue
        first, last = (begin + offset for offset in tensor["data_offsets"])
        code = {"F32": "f", "F16": "e"}.get(tensor["dtype"])
        if code is None:
            sys.exit(f"{directory}: {name} is {tensor['dtype']}; attn-demo convert --dtype float32 makes it readable here")
        size = struct.calcsize("<" + code)
        tensors[name] = tensor["shape"], struct.unpack(f"<{(last - first) // size}{code}", content[first:last])
    return tensors


def write(path, tensors):
    header, place = {"__metadata__": {"format": "pt"}}, 0
    for name, (shape, numbers) in tensors.items():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [place, place + 4 * len(numbers)]}
        place += 4 * len(numbers)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, numbers in tensors.values():
            values = array.array("f", numbers)
            if sys.byteorder == "big":
                values.byteswap()
            values.tofile(file)


def rounded(shape, numbers, steps):
    """Rounds a matrix; a tensor with one row stays unchanged."""
    if len(shape) < 2 or shape[0] == 1:
        return numbers
    mean = sum(numbers) / len(numbers)
    deviation = math.sqrt(sum((number - mean) ** 2 for number in numbers) / len(numbers))
    step = 2.0 ** round(math.log2(deviation / steps))
    return [round(number / step) * step for number in numbers]


def main():
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    before, after, out = (Path(sys.argv[i]) for i in (1, 2, 4))
    share = float(sys.argv[3])
    if not 0 <= share <= 1:
        sys.exit(f"the share is {sys.argv[3]}; use 0 to 1")
    if json.loads((before / "vocab.json").read_text()) != json.loads((after / "vocab.json").read_text()):
        sys.exit(f"{before} and {after} have different vocabularies")
    steps = int(sys.argv[5]) if len(sys.argv) == 6 else 0
    old, new = tensors_of(before), tensors_of(after)
    if {name: shape for name, (shape, _) in old.items()} != {name: shape for name, (shape, _) in new.items()}:
        sys.exit(f"{before} and {after} have different tensors")
    out.mkdir(parents=True)
    for file in after.iterdir():
        if file.name not in ("model.safetensors", "SHA256SUMS"):
            shutil.copyfile(file, out / file.name)
    mixed = {name: (shape, [(1 - share) * a + share * b for a, b in zip(old[name][1], numbers)])
             for name, (shape, numbers) in new.items()}
    if steps > 0:
        mixed = {name: (shape, rounded(shape, numbers, steps)) for name, (shape, numbers) in mixed.items()}
    write(out / "model.safetensors", mixed)


if __name__ == "__main__":
    main()
