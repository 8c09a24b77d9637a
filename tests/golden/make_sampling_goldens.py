#!/usr/bin/env python3
"""Makes tests/golden/sampling.json: how often SentencePiece's own sampling splits a text in each way.

Each case: a model of tests/golden/tokenizer, a text, `sampling` (alpha of a unigram model, the
dropout of a BPE one), the number of samples, the counts of the commonest cuts (pieces joined by
blanks; the text of the tests holds none inside a piece), and how many samples have how many pieces.
"""
import collections
import json
import pathlib

import sentencepiece

HERE = pathlib.Path(__file__).parent
SAMPLES = 20000
RARE = 40  # segmentations with fewer occurrences are counted together
CASES = [
    # Spaces of several kinds, a segmentation with equal scores, unknown characters alone and in a run.
    ("joint/source.spm", 0.2, "group went"),
    ("joint/source.spm", 0.5, "Hause"),
    ("joint/source.spm", 1.0, "nach Hause"),
    ("joint/source.spm", 0.1, "a東京b"),
    ("joint/source.spm", 0.3, "The group went home after the long meeting."),
    # A user-defined piece, and characters that the model spells in bytes.
    ("opus/source.spm", 0.2, "http://went"),
    ("opus/target.spm", 0.3, "ging 東"),
    ("opus/target.spm", 0.2, "Die Gruppe ging nach der langen Besprechung nach Hause."),
    # BPE models: dropped merges; user-defined pieces, one of which is the beginning of another.
    ("separate/source.spm", 0.1, "The group went"),
    ("separate/source.spm", 0.4, "group meeting"),
    ("separate/source.spm", 0.3, "Berlin's Berberlin 東京"),
    ("separate/target.spm", 0.1, "Die Gruppe ging nach der langen Besprechung nach Hause."),
    ("separate/target.spm", 0.5, "  nach  Hause "),
]


def case(model, sampling, text):
    processor = sentencepiece.SentencePieceProcessor(model_file=str(HERE / "tokenizer" / model))
    cuts, lengths = collections.Counter(), collections.Counter()
    for _ in range(SAMPLES):
        pieces = processor.encode(text, out_type=str, enable_sampling=True, alpha=sampling, nbest_size=-1)
        cuts[" ".join(pieces)] += 1
        lengths[len(pieces)] += 1
    return {"model": model, "sampling": sampling, "text": text, "samples": SAMPLES,
            "cuts": {cut: count for cut, count in cuts.most_common(100) if count >= RARE},
            "lengths": {str(n): count for n, count in sorted(lengths.items())}}


def main():
    sentencepiece.set_random_generator_seed(1)
    lines = ",\n".join(json.dumps(case(*one), ensure_ascii=False) for one in CASES)
    (HERE / "sampling.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


main()
