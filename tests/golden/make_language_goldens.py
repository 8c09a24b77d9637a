#!/usr/bin/env python3
"""Makes tests/golden/languages: tokenizers in sentencepiece.bpe.model (language_tokenizers.py), and
transformers' results for texts.

    python tests/golden/make_language_goldens.py
"""
import json
import pathlib
import random
import tempfile

import json_tokenizers
import language_tokenizers
from make_tokenizer_goldens import TEXTS
from make_tokenizer_json_goldens import LONGEST, RULES, code_points

HERE = pathlib.Path(__file__).parent / "languages"
OWN = ("<s>", "</s>", "<pad>", "<unk>", "<mask>")  # in typed text, these are plain text here (docs/model-formats.md)


def main():
    json_tokenizers.fresh(HERE)
    with tempfile.TemporaryDirectory() as scratch:
        rules = pathlib.Path(scratch) / "rules.tsv"
        rules.write_text("".join(f"{code_points(a)}\t{code_points(b)}\n" for a, b in RULES.items()))
        kinds = language_tokenizers.build(HERE, rules)
    texts = [t for t in TEXTS if len(t) <= LONGEST and not any(mark in t for mark in OWN)]
    texts = random.Random(5).sample(texts, 40) + ["The group went home.", "de_DE here", "x deu_Latn y", "", "  two  blanks "]
    lines = []
    for kind in kinds:
        reference, cases = language_tokenizers.Reference(HERE / kind), []
        for text in texts:
            for source, target in language_tokenizers.PAIRS[kind]:
                cases.append({"text": text, "source_lang": source, "target_lang": target, "source": reference.source(text, source),
                              "labels": reference.labels(text, target), "decoded": reference.decode(text)})
        lines.append(json.dumps({"directory": kind})[:-1] + ', "texts": [\n' + ",\n".join(map(json.dumps, cases)) + "\n]}")
    (HERE / "goldens.json").write_text("[" + ",\n".join(lines) + "]\n")


if __name__ == "__main__":
    main()
