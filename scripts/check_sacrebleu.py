#!/usr/bin/env python3
"""Compares the scores of attn-demo with sacreBLEU's on real text.

    python scripts/check_sacrebleu.py [--program build/release/app/attn-demo] TARGET [HYPOTHESES]

TARGET and HYPOTHESES hold one sentence a line. Without HYPOTHESES they are made of TARGET: words
dropped, doubled, swapped and cut, other sentences in their place, letters' case changed.

Prints both programs' BLEU and chrF2, cased and lowercased, and what differs. Exits 1 where a score
differs by more than 0.01 or any count differs. Needs:  pip install sacrebleu==2.6.0
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from python_packages import need  # noqa: E402

need("sacrebleu")

from sacrebleu.metrics import BLEU, CHRF

ROOT = Path(__file__).resolve().parent.parent
TOLERANCE = 0.01


def lines_of(path):
    """As attn-demo reads them: only a line feed, with or without a carriage return, ends a line."""
    lines = Path(path).read_bytes().split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return [line.removesuffix(b"\r").decode("utf-8") for line in lines]


def corrupt(sentence, everything, rng):
    words = sentence.split(" ")
    kind = rng.randrange(10)
    if kind == 0:
        return rng.choice(everything)
    if kind == 1:
        return sentence.upper() if rng.random() < 0.5 else sentence.lower()
    if kind == 2:
        return ""
    if kind <= 5:
        words = [word for word in words if rng.random() > 0.2]
    if kind in (4, 6, 7) and len(words) > 1:
        i = rng.randrange(len(words) - 1)
        words[i], words[i + 1] = words[i + 1], words[i]
    if kind == 8:
        words = [word[: max(1, len(word) - rng.randrange(3))] for word in words]
    if kind == 9:
        words = [word for word in words for _ in range(1 + (rng.random() < 0.15))]
    return " ".join(words)


def ours(program, hypotheses, target, lowercase):
    command = [program, "evaluate", "--hypotheses", hypotheses, "--target", target, "--json", "-"]
    run = subprocess.run(command + ["--lowercase"] * lowercase, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{program} ended with {run.returncode}: {run.stderr.strip()}")
    return json.loads(run.stdout)


def compare(program, hypotheses, target, lowercase):
    """Prints the two rows of one case; True where they are the same."""
    mine = ours(program, hypotheses, target, lowercase)
    left, right = lines_of(hypotheses), [lines_of(target)]
    bleu, chrf = BLEU(lowercase=lowercase, force=True), CHRF(lowercase=lowercase)
    theirs = bleu.corpus_score(left, right)
    rows = [("BLEU", mine["bleu"], theirs.score, bleu), ("chrF2", mine["chrf"], chrf.corpus_score(left, right).score, chrf)]
    good = True
    for name, own, score, metric in rows:
        distance = abs(own["score"] - score)
        good &= distance <= TOLERANCE
        print(f"{name:5}  attn-demo {own['score']:.10f}  sacreBLEU {score:.10f}  difference {distance:.1e}\n"
              f"       {own['signature']}\n       {metric.get_signature()}")
    counts = [(mine["bleu"][key], value) for key, value in
              (("correct", theirs.counts), ("total", theirs.totals), ("hypothesis_length", theirs.sys_len),
               ("reference_length", theirs.ref_len))]
    same = all(a == b for a, b in counts)
    print(f"       counts of n-grams and lengths {'equal' if same else f'DIFFER: {counts}'}, {mine['sentences']} sentences")
    return good and same


def main():
    parser = argparse.ArgumentParser(description="attn-demo evaluate against sacreBLEU")
    parser.add_argument("target")
    parser.add_argument("hypotheses", nargs="?")
    parser.add_argument("--program", default=str(ROOT / "build/release/app/attn-demo"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        hypotheses = args.hypotheses
        if hypotheses is None:
            rng = random.Random(1)
            references = lines_of(args.target)
            made = Path(folder) / "hypotheses"
            made.write_bytes("".join(corrupt(s, references, rng) + "\n" for s in references).encode())
            hypotheses = str(made)
        results = [compare(args.program, hypotheses, args.target, lowercase) for lowercase in (False, True)]
    sys.exit(0 if all(results) else 1)


main()
