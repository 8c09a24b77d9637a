#!/usr/bin/env python3
"""Compares the ids that attn-demo gives lines of text, by tokenizer.json, with those of the tokenizers library.

    python scripts/check_tokenizer_json.py [--program FILE] [--text FILE] [--lines N] [NAME…]

The tokenizers are made here (tests/golden/json_tokenizers.py): those that save_pretrained() of BartTokenizer,
LEDTokenizer, PegasusTokenizer, T5Tokenizer, MBartTokenizer, MBart50Tokenizer and NllbTokenizer writes, and ones with every
other component that is known. The lines are check_tokenizers.py's; a fifth of them has an added token or another
mark inside. Prints a line for each tokenizer; exits 1 where an id differs. Needs: pip install transformers
sentencepiece protobuf
"""
import argparse
import random
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/golden"))
from python_packages import need, need_files

need("transformers", "sentencepiece", "google.protobuf")

import json_tokenizers
from check_tokenizers import lines_of, ours

MARKS = ("<NAME>", " <NAME>  ", "<R>  ", "the", "The Group", "[x]  [x]", "<keep>", "<mask>", "</s>", "<extra_id_3>", "deu_Latn", "de_DE", "  ", "\u2003")


def with_marks(lines):
    """Every fifth line with a mark at some place in it."""
    dice = random.Random(3)
    for i, line in enumerate(lines):
        at = dice.randrange(len(line) + 1)
        yield line if i % 5 else line[:at] + dice.choice(MARKS) + line[at:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/app/attn-demo")
    parser.add_argument("--text", type=Path, default=ROOT / "data/toy/train.en")
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    need_files(parser, options.program, options.text)
    lines = list(with_marks(lines_of(options.text, options.lines)))
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made"
        made.mkdir()
        for name in json_tokenizers.build(made):
            if options.names and name not in options.names:
                continue
            encoder, _ = json_tokenizers.reference(made / name)
            found = ours(options.program, made / name, "bart", lines, Path(folder))
            other = [(text, ids) for text, ids in found if encoder.encode(text).ids != ids]
            print(f"{name}: the same ids on {len(found) - len(other):,} of {len(found):,} lines", flush=True)
            for text, ids in other[:5]:
                print(f"  {text!r}: {ids}, not {encoder.encode(text).ids}")
            wrong += len(other)
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
