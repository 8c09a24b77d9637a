#!/usr/bin/env python3
"""Compares the ids that attn-demo gives lines of text with those of transformers' tokenizers.

    python scripts/checks/check_tokenizers.py [--program FILE] [--text FILE] [--lines N] [--only CLASS] [--module build/web]

The tokenizers are those of tests/golden/tokenizer: byte-level BPE as BartTokenizer and LEDTokenizer read
it, PegasusTokenizer's model, MarianTokenizer's. The lines are drawn from a seed: two fifths from FILE
(data/toy/train.en), the rest code points of all planes and pieces of the hostile texts of the goldens.
What the program cleans in a line (docs/commands.md), both see cleaned. With --module the ids are those of the page that translates
alone (scripts/build_web.sh), under Node.

Prints a line for each class; exits 1 where an id differs. Needs: pip install transformers sentencepiece protobuf
"""
import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from python_packages import need, need_files

need("transformers", "sentencepiece", "google.protobuf")

import transformers

TOKENIZERS = ROOT / "tests/golden/tokenizer"
HOSTILE = [case["text"] for case in json.loads((TOKENIZERS / "goldens.json").read_text())[0]["texts"]]
CASES = (("BartTokenizer", "bytes", "bart"), ("LEDTokenizer", "bytes", "led"),
         ("PegasusTokenizer", "pegasus", "pegasus"), ("MarianTokenizer", "joint", "marian"))
PLANES = ((0x20, 0x7E), (0x01, 0x09), (0x0B, 0x1F), (0x7F, 0x9F), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x5FF),
          (0x900, 0x97F), (0x1E00, 0x20CF), (0x2100, 0x27BF), (0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3),
          (0xE000, 0xFFFD), (0x10000, 0x1FFFF), (0x20000, 0x2FFFF), (0xE0000, 0xE01EF), (0x100000, 0x10FFFD))


def drawn(dice):
    """Returns some code points, mostly of a few planes, or parts of hostile text in another order."""
    if dice.random() < 0.3:
        pieces = [dice.choice(HOSTILE) for _ in range(dice.randint(1, 3))]
        return "".join(p[dice.randrange(len(p) + 1):][:40] for p in pieces)
    planes = [dice.choice(PLANES) for _ in range(dice.randint(1, 3))] + [PLANES[0]]
    return "".join(chr(dice.randint(*dice.choice(planes))) for _ in range(dice.randint(1, 40)))


def lines_of(text, count):
    dice = random.Random(14)
    known = text.read_text(encoding="utf-8").splitlines()
    ordinary = dice.sample(known, min(len(known), count * 2 // 5))
    return ordinary + [drawn(dice) for _ in range(count - len(ordinary))]


def tiny(tokenizer, kind, folder):
    """Returns the config of a small model, which is only made for its tokenizer."""
    positions = {"led": "max_encoder_position_embeddings"}.get(kind, "max_position_embeddings")
    shape = {"model_type": kind, "d_model": 8, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 1,
             "decoder_attention_heads": 1, "encoder_ffn_dim": 8, "decoder_ffn_dim": 8, positions: 4096}
    config = folder / "tiny.json"
    config.write_text(json.dumps({"model": shape, "tokenizer": {"model": str(tokenizer)}}))
    return config


def ours(program, tokenizer, kind, lines, folder):
    """Returns the text of each line as the program cleans it, and its ids, from records of a tiny model."""
    config, text, records = tiny(tokenizer, kind, folder), folder / "lines", folder / "records"
    text.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="")
    subprocess.run([program, "translate", "--config", config, "--input", text, "--json", records, "--output", folder / "out",
                    "--beam", "1", "--max-length", "2", "--split", "never"], check=True, stderr=subprocess.DEVNULL)
    with records.open(encoding="utf-8") as file:
        sources = [json.loads(line)["source"] for line in file]
    assert len(sources) == len(lines), (len(sources), len(lines))
    return [(source["text"], source["ids"]) for source in sources]


def of_module(program, module, tokenizer, kind, lines, folder):
    """Returns the same from the page's module."""
    model = folder / "model"
    subprocess.run([program, "init", "--config", tiny(tokenizer, kind, folder), "--out", model], check=True, capture_output=True)
    questions, answers, found = folder / "questions", folder / "answers", []
    with questions.open("w", encoding="utf-8") as file:
        for line in lines:
            body = json.dumps({"text": line, "beams": 1, "max_length": 2})
            file.write(json.dumps({"path": "/api/attend", "body": body}) + "\n")
    with questions.open() as asked, answers.open("w") as said:
        subprocess.run(["node", ROOT / "tests/alone/ask.js", module, model, "0"], stdin=asked, stdout=said, check=True)
    with answers.open(encoding="utf-8") as file:
        assert json.loads(next(file))["status"] == 200
        for line in file:
            source = json.loads(json.loads(line)["text"])["source"]
            found.append((source["text"], source["ids"]))
    assert len(found) == len(lines), (len(found), len(lines))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/app/attn-demo")
    parser.add_argument("--text", type=Path, default=ROOT / "data/toy/train.en")
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--only", choices=[name for name, *_ in CASES], help="one class")
    parser.add_argument("--module", type=Path, help="folder of attn-demo.wasm")
    options = parser.parse_args()
    need_files(parser, options.program, options.text)
    lines = lines_of(options.text, options.lines)
    wrong = 0
    for name, directory, kind in CASES:
        if options.only not in (None, name):
            continue
        theirs = getattr(transformers, name).from_pretrained(TOKENIZERS / directory)
        with tempfile.TemporaryDirectory() as folder:
            if options.module:
                found = of_module(options.program, options.module, TOKENIZERS / directory, kind, lines, Path(folder))
            else:
                found = ours(options.program, TOKENIZERS / directory, kind, lines, Path(folder))
        cleaned = sum(text != line for (text, _), line in zip(found, lines))
        other = [(text, ids) for text, ids in found
                 if theirs(text, split_special_tokens=True).input_ids != ids]
        print(f"{name}: the same ids on {len(found) - len(other):,} of {len(found):,} lines, {cleaned:,} of them cleaned first")
        for text, ids in other[:5]:
            print(f"  {text!r}: {ids}, not {theirs(text, split_special_tokens=True).input_ids}")
        wrong += len(other)
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
