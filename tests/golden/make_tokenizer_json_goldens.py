#!/usr/bin/env python3
"""Makes tests/golden/tokenizer_json: tokenizers in the form of tokenizer.json (json_tokenizers.py), and the
results of the tokenizers library for hostile texts.

    python tests/golden/make_tokenizer_json_goldens.py
"""
import json
import pathlib
import random
import tempfile

import json_tokenizers
from make_tokenizer_goldens import TEXTS

HERE = pathlib.Path(__file__).parent / "tokenizer_json"
LONGEST = 60
# The rules of SentencePiece's nmt_nfkc for a few characters.
RULES = {"\u00a0": " ", "\u3000": " ", "\u2003": " ", "ﬁ": "fi", "½": "1⁄2", "Ⅷ": "VIII", "…": "...", "u\u0308": "\u00fc", "e\u0301": "\u00e9",
         "Ａ": "A", "ｕ": "u", "\u200b": "", "か\u3099": "が"}


def code_points(text):
    return " ".join(f"{ord(c):X}" for c in text)


def goldens(folder, keeps):
    encoder, decoder = json_tokenizers.reference(folder)
    dice = random.Random(7)
    texts = [text for text in TEXTS if len(text) <= LONGEST] + json_tokenizers.TEXTS
    if not keeps:
        texts = dice.sample(texts, 30) + json_tokenizers.TEXTS
    cases = []
    for text in texts:
        ids = encoder.encode(text).ids
        cases.append({"text": text, "ids": ids, "decoded": decoder.decode(ids, skip_special_tokens=True)})
    for _ in range(20):
        ids = [dice.randrange(decoder.get_vocab_size()) for _ in range(dice.randrange(9))]
        cases.append({"ids": ids, "decoded": decoder.decode(ids, skip_special_tokens=True)})
    return {"directory": folder.name, "texts": cases}


def main():
    json_tokenizers.fresh(HERE)
    with tempfile.TemporaryDirectory() as scratch:
        rules = pathlib.Path(scratch) / "rules.tsv"
        rules.write_text("".join(f"{code_points(a)}\t{code_points(b)}\n" for a, b in RULES.items()))
        names = json_tokenizers.build(HERE, rules)
    lines = []
    for name in names:
        golden = goldens(HERE / name, not name.endswith(("True", "False")))
        lines.append(json.dumps({"directory": name})[:-1] + ', "texts": [\n' + ",\n".join(json.dumps(c) for c in golden["texts"]) + "\n]}")
    (HERE / "goldens.json").write_text("[" + ",\n".join(lines) + "]\n")


if __name__ == "__main__":
    main()
