#!/usr/bin/env python3
"""Compares the ids that attn-demo gives lines of text, by tokenizer.json and by sentencepiece.bpe.model, with those of the tokenizers
library and of transformers.

    python scripts/checks/check_tokenizer_json.py [--program FILE] [--text FILE] [--lines N] [--directory DIR]… [NAME…]

The tokenizers are made here (tests/golden/json_tokenizers.py): those that save_pretrained() of BartTokenizer,
LEDTokenizer, PegasusTokenizer, T5Tokenizer, MBartTokenizer, MBart50Tokenizer and NllbTokenizer writes, and ones with every
other component that is known; in sentencepiece.bpe.model (tests/golden/language_tokenizers.py), which MBartTokenizer, MBart50Tokenizer,
NllbTokenizer and M2M100Tokenizer read; and in spiece.model, as T5 is published: pieces of FILE with <pad> 0, </s> 1, <unk> 2 and the
published normalisation, 100 sentinels behind them, which T5Tokenizer reads. --directory adds one of somebody's own that holds
tokenizer.json. The lines are check_tokenizers.py's; a fifth of them has an added token or another mark inside. Prints a line for each
tokenizer; exits 1 where an id differs. Needs: pip install transformers sentencepiece protobuf
"""
import argparse
import json
import random
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/golden"))
sys.path.insert(0, str(ROOT / "scripts"))
from python_packages import need, need_files

need("transformers", "sentencepiece", "google.protobuf")

import json_tokenizers
import language_tokenizers
import sentencepiece
import transformers
from check_tokenizers import lines_of, ours

MARKS = ("<NAME>", " <NAME>  ", "<R>  ", "the", "The Group", "[x]  [x]", "<keep>", "<mask>", "</s>", "<extra_id_3>", "deu_Latn", "de_DE", "  ", "\u2003")


def with_marks(lines):
    """Yields the lines, with a special token somewhere in every fifth line."""
    dice = random.Random(3)
    for i, line in enumerate(lines):
        at = dice.randrange(len(line) + 1)
        yield line if i % 5 else line[:at] + dice.choice(MARKS) + line[at:]


OWN = ("<s>", "</s>", "<pad>", "<unk>", "<mask>")  # plain text here when typed (docs/model-formats.md)


def t5(folder, text):
    """Makes a directory like T5's published one, except for its pieces; returns T5Tokenizer's ids of a line."""
    folder.mkdir()
    # T5's vocabulary size of 32,000, or less if the text is too small.
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(folder / "spiece"), vocab_size=32_000, hard_vocab_limit=False, pad_id=0, eos_id=1,
        unk_id=2, bos_id=-1, input_sentence_size=200_000, shuffle_input_sentence=True, minloglevel=2)
    (folder / "spiece.vocab").unlink()
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "T5Tokenizer", "extra_ids": 100}))
    tokenizer = transformers.T5Tokenizer.from_pretrained(folder)
    assert tokenizer.convert_tokens_to_ids(["<pad>", "</s>", "<unk>"]) == [0, 1, 2]
    return lambda line: tokenizer(line).input_ids


def cases(folder, text, directories):
    """Yields name, directory, family, lines to leave out, and a function that gives the ids of a text."""
    for name in ("json", "models"):
        (folder / name).mkdir()
    for name in json_tokenizers.build(folder / "json"):
        encoder, _ = json_tokenizers.reference(folder / "json" / name)
        yield name, folder / "json" / name, "bart", (), lambda text: encoder.encode(text).ids
    yield "T5", folder / "T5", "bart", OWN, t5(folder / "T5", text)
    for place in directories:
        own, _ = json_tokenizers.reference(place)
        yield place.name, place, "bart", (), lambda text: own.encode(text).ids
    for kind in language_tokenizers.build(folder / "models"):
        reference, language = language_tokenizers.Reference(folder / "models" / kind), DEFAULTS[kind]
        family = "mbart" if kind.startswith("MBart") else "m2m_100"
        yield kind, folder / "models" / kind, family, OWN, lambda text: reference.source(text, language)


DEFAULTS = {"MBart": "en_XX", "MBart50": "en_XX", "Nllb": "eng_Latn", "M2M100": "en"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/app/attn-demo")
    parser.add_argument("--text", type=Path, default=ROOT / "data/toy/train.en")
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--directory", type=Path, action="append", default=[])
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    need_files(parser, options.program, options.text)
    lines = list(with_marks(lines_of(options.text, options.lines)))
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, directory, family, left_out, ids_of in cases(Path(folder), options.text, options.directory):
            if options.names and name not in options.names:
                continue
            own = [line for line in lines if not any(mark in line for mark in left_out)]
            found = ours(options.program, directory, family, own, Path(folder))
            other = [(text, ids) for text, ids in found if ids_of(text) != ids]
            print(f"{name}: the same ids on {len(found) - len(other):,} of {len(found):,} lines", flush=True)
            for text, ids in other[:5]:
                print(f"  {text!r}: {ids}, not {ids_of(text)}")
            wrong += len(other)
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
