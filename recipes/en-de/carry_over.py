#!/usr/bin/env python3
"""Transfers the knowledge of a model to another vocabulary, and to more layers.

    recipes/en-de/carry_over.py MODEL FRESH OUT

MODEL is a trained model with one vocabulary for both sides; FRESH a new one of `attn-demo init`, as wide, with the
tokenizer and the layers that are wanted (no fewer). OUT is FRESH with what MODEL knows: the row of a piece that both
have is MODEL's; that of a new piece is the mean of the pieces into which MODEL cuts it; a byte's or an unknown
character's stays FRESH's. Layers that MODEL lacks come last in their stack and begin with nothing to add: their
blocks' last products are zero, and their norms those of MODEL's last layer. OUT has to be trained:
`attn-demo train CONFIG --from OUT`.

`attn-demo convert --dtype float32` comes first where MODEL is in bfloat16 or 8 bits.
"""
import json
import re
import shutil
import struct
import sys
from pathlib import Path

from mix_models import tensors_of, write

TABLES = ("model.shared.weight", "final_logits_bias")
LAYER = re.compile(r"model\.(encoder|decoder)\.layers\.(\d+)\.(.*)")
TEXT = 1  # the type of an entry that is neither a control symbol nor a byte


def fields(message):
    """Yields the number and the value of each field of a protobuf message."""
    def varint(at):
        value = shift = 0
        while True:
            value |= (message[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if message[at - 1] < 128:
                return value, at

    at = 0
    while at < len(message):
        key, at = varint(at)
        if key & 7 == 0:
            value, at = varint(at)
        else:
            size, at = {1: (8, at), 5: (4, at)}.get(key & 7) or varint(at)
            value, at = message[at:at + size], at + size
        yield key >> 3, value


def scores_of(spm):
    """Returns {piece: score} of a SentencePiece model (sentencepiece_model.proto), with text pieces only."""
    entries = [dict(fields(value)) for number, value in fields(spm) if number == 1]
    return {entry[1].decode(): struct.unpack("<f", entry[2])[0] for entry in entries if entry.get(3, TEXT) == TEXT}


def best_cut(text, scores):
    """Returns the likeliest way to spell a text in pieces; nothing if a character has none."""
    best = [(0.0, [])] + [None] * len(text)
    for end in range(1, len(text) + 1):
        for begin in range(end):
            piece = text[begin:end]
            if best[begin] and piece in scores:
                score = best[begin][0] + scores[piece]
                if best[end] is None or score > best[end][0]:
                    best[end] = score, best[begin][1] + [piece]
    return best[-1][1] if best[-1] else []


def sources_of(piece, old_place, scores):
    """Returns the rows of the old table whose mean becomes a piece's row."""
    if piece in old_place:
        return [old_place[piece]]
    if re.fullmatch(r"<.*>", piece):
        return []  # a byte, or a symbol of another type
    return [old_place[part] for part in best_cut(piece, scores)]


def table(old, fresh, rows, width):
    """Returns the fresh table, with the mean of old rows where there are any."""
    numbers = list(fresh)
    for row, sources in rows.items():
        for column in range(width if sources else 0):
            numbers[row * width + column] = sum(old[source * width + column] for source in sources) / len(sources)
    return numbers


def layer_tensor(name, old, fresh):
    """Returns a tensor of the old model, or of a new layer, which begins by adding nothing."""
    if name in old:
        if old[name][0] != fresh[name][0]:
            sys.exit(f"{name}: the model has {old[name][0]}, the fresh one {fresh[name][0]}")
        return old[name]
    stack, _, rest = LAYER.fullmatch(name).groups()
    if re.search(r"(out_proj|fc2)\.(weight|bias)$", rest):
        return fresh[name][0], [0.0] * len(fresh[name][1])
    if "layer_norm" in rest:
        last = max(int(found[2]) for found in map(LAYER.fullmatch, old) if found and found[1] == stack)
        return old[f"model.{stack}.layers.{last}.final_layer_norm.{rest.rsplit('.', 1)[1]}"]
    return fresh[name]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    model, fresh_directory, out = map(Path, sys.argv[1:])
    old_place, place = (json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
                        for folder in (model, fresh_directory))
    old, fresh = tensors_of(model), tensors_of(fresh_directory)
    missing = [name for name in old if name not in fresh]
    if missing:
        sys.exit(f"{fresh_directory} lacks {missing[0]} and others of {model}: it needs as many layers, or more")
    scores = scores_of((model / "source.spm").read_bytes())
    rows = {row: sources_of(piece, old_place, scores) for piece, row in place.items()}
    tensors = {}
    for name, (shape, numbers) in fresh.items():
        if name in TABLES:
            width = shape[1] if name.endswith("weight") else 1
            tensors[name] = shape, table(old[name][1], numbers, rows, width)
        else:
            tensors[name] = layer_tensor(name, old, fresh)
    out.mkdir(parents=True)
    for file in fresh_directory.iterdir():
        if file.name not in ("model.safetensors", "SHA256SUMS"):
            shutil.copyfile(file, out / file.name)
    write(out / "model.safetensors", tensors)
    shared = sum(piece in old_place for piece in place)
    print(f"{out}: {shared} pieces of {len(place)} are the model's, {sum(map(bool, rows.values())) - shared} made of its "
          f"pieces, {sum(not found for found in rows.values())} new")


if __name__ == "__main__":
    main()
