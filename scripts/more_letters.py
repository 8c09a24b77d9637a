#!/usr/bin/env python3
"""Give a model the letters that its vocabulary lacks: those of names (ł, č, ø, ñ, É), and &, £, @, #.

    scripts/more_letters.py MODEL OUT

MODEL is a directory with one unigram vocabulary for both sides. OUT becomes a copy of it in which the
least likely pieces have made room. A letter begins with the row of what it looks like without its
mark, and has to be learned: `attn-demo train CONFIG --from OUT`.
"""
import json
import shutil
import struct
import sys
import unicodedata
from pathlib import Path

ALIKE = dict(zip("ßøØłŁđĐħĦæÆœŒþÞðÐıəƏŋŊŧŦ&£@#", "soOlLdDhHaAoOtTdDieEnNtTuLae"))
TEXT = 1  # the kind of a piece that is no control symbol


def letters():
    latin = [chr(code) for code in range(0xC0, 0x180)] + list("ȘșȚțəƏ&£@#")
    return [c for c in latin if unicodedata.normalize("NFKC", c) == c and c not in "×÷ĸ"]


def fields(message):
    """Of each field of a protobuf message: its number, all of its bytes, and its value."""
    def varint(at):
        value = shift = 0
        while True:
            value |= (message[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if message[at - 1] < 128:
                return value, at

    at = 0
    while at < len(message):
        begin = at
        key, at = varint(at)
        if key & 7 == 0:
            value, at = varint(at)
        else:
            size, at = {1: (8, at), 5: (4, at)}.get(key & 7) or varint(at)
            value, at = message[at:at + size], at + size
        yield key >> 3, message[begin:at], value


def piece_of(value):
    """Text, score and kind of a SentencePiece (sentencepiece_model.proto)."""
    of = {number: content for number, _, content in fields(value)}
    return of[1].decode(), struct.unpack("<f", of[2])[0], of.get(3, TEXT)


def piece_field(text, score):
    body = b"\x0a" + bytes([len(text)]) + text + b"\x15" + struct.pack("<f", score)
    return b"\x0a" + bytes([len(body)]) + body


def with_letters(spm, missing):
    """A SentencePiece model with `missing` in place of its least likely pieces of several letters; {piece: letter}."""
    pieces = [piece_of(value) for number, _, value in fields(spm) if number == 1]
    long = sorted((score, piece) for piece, score, kind in pieces if kind == TEXT and len(piece) > 2)
    if len(long) < len(missing):
        sys.exit(f"{len(missing)} letters want the room of as many pieces, and {len(long)} have several letters")
    letter_of = dict(zip((piece for _, piece in long), missing))

    def written(number, whole, value):
        letter = letter_of.get(piece_of(value)[0]) if number == 1 else None
        return piece_field(letter.encode(), long[0][0]) if letter else whole

    return b"".join(written(*field) for field in fields(spm)), letter_of


def copy_rows(path, rows):
    """In the tables of a safetensors file, row `to` becomes row `of`; the logits' bias is one row of columns."""
    content = bytearray(path.read_bytes())
    begin = 8 + struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:begin])
    for name, tensor in header.items():
        if name not in ("model.shared.weight", "final_logits_bias"):
            continue
        first, last = (begin + offset for offset in tensor["data_offsets"])
        size = (last - first) // tensor["shape"][0 if name.endswith("weight") else 1]
        for to, of in rows:
            content[first + to * size:first + (to + 1) * size] = content[first + of * size:first + (of + 1) * size]
    path.write_bytes(content)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    model, out = map(Path, sys.argv[1:])
    vocabulary = json.loads((model / "vocab.json").read_text(encoding="utf-8"))
    spm = (model / "source.spm").read_bytes()
    if spm != (model / "target.spm").read_bytes():
        sys.exit(f"{model}: the two sides have a vocabulary each")
    missing = [letter for letter in letters() if letter not in vocabulary]
    spm, letter_of = with_letters(spm, missing)
    out.mkdir(parents=True)
    for name in ("config.json", "generation_config.json", "tokenizer_config.json", "model.safetensors"):
        shutil.copyfile(model / name, out / name)
    for side in ("source", "target"):
        (out / f"{side}.spm").write_bytes(spm)
    place = {letter_of.get(piece, piece): row for piece, row in vocabulary.items()}
    (out / "vocab.json").write_text(json.dumps(place, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    copy_rows(out / "model.safetensors", [
        (place[c], vocabulary[ALIKE.get(c) or unicodedata.normalize("NFD", c)[0]]) for c in missing])
    print(f"{out}: {len(missing)} letters in place of {', '.join(list(letter_of)[:3])} and others")


if __name__ == "__main__":
    main()
