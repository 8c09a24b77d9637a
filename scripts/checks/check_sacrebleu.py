#!/usr/bin/env python3
"""Compares the scores of attn-demo with sacreBLEU's on real text.

    python scripts/checks/check_sacrebleu.py [--program build/release/app/attn-demo] TARGET [HYPOTHESES]

TARGET and HYPOTHESES hold one sentence a line. Without HYPOTHESES they are made of TARGET: words
dropped, doubled, swapped and cut, other sentences in their place, letters' case changed.

Prints both programs' BLEU (with every tokenizer), chrF2, chrF2++ and TER, cased and lowercased, and
what differs; then the paired bootstrap of HYPOTHESES against a second system made of TARGET. Exits 1
where a score differs by more than 0.01, any count differs, or the two decimals that are printed of
the bootstrap. Needs:  pip install sacrebleu==2.6.0
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from python_packages import need  # noqa: E402

need("sacrebleu")

from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 0.01


def lines_of(path):
    """Reads lines as attn-demo does: only a line feed, with or without a carriage return, ends a line."""
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


def ours(program, hypotheses, target, *more):
    command = [program, "evaluate", "--hypotheses", hypotheses, "--target", target, "--json", "-"]
    run = subprocess.run([*command, *more], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{program} ended with {run.returncode}: {run.stderr.strip()}")
    return json.loads(run.stdout)


def compare(program, hypotheses, target, lowercase, tokenize):
    """Prints the rows of one case; returns True if they are the same."""
    mine = ours(program, hypotheses, target, "--tokenize", tokenize, *["--lowercase"] * lowercase)
    left, right = lines_of(hypotheses), [lines_of(target)]
    bleu = BLEU(lowercase=lowercase, force=True, tokenize=tokenize)
    theirs = bleu.corpus_score(left, right)
    rows = [("BLEU", mine["bleu"], theirs.score, bleu)]
    if tokenize == "13a":
        for name, key, metric in (("chrF2", "chrf", CHRF(lowercase=lowercase)), ("TER", "ter", TER()),
                                  ("chrF2++", "chrf_plus_plus", CHRF(lowercase=lowercase, word_order=2))):
            rows.append((name, mine[key], metric.corpus_score(left, right).score, metric))
    good = True
    for name, own, score, metric in rows:
        distance = abs(own["score"] - score)
        good &= distance <= TOLERANCE
        print(f"{name:7}  attn-demo {own['score']:.10f}  sacreBLEU {score:.10f}  difference {distance:.1e}\n"
              f"       {own['signature']}\n       {metric.get_signature()}")
    counts = [(mine["bleu"][key], value) for key, value in
              (("correct", theirs.counts), ("total", theirs.totals), ("hypothesis_length", theirs.sys_len),
               ("reference_length", theirs.ref_len))]
    same = all(a == b for a, b in counts)
    print(f"       counts of n-grams and lengths {'equal' if same else f'DIFFER: {counts}'}, {mine['sentences']} sentences")
    return good and same


def compare_systems(program, system, baseline, target):
    """Runs the paired bootstrap of both programs; returns True if they print the same."""
    mine = ours(program, system, target, "--against", baseline)["paired"]["scores"]
    metrics = {"BLEU": BLEU(force=True), "chrF2": CHRF(), "chrF2++": CHRF(word_order=2), "TER": TER()}
    _, theirs = PairedTest([("baseline", lines_of(baseline)), ("system", lines_of(system))], metrics,
                           [lines_of(target)], test_type="bs")()
    good = True
    for row in mine:
        against, own = theirs[row["metric"]]
        for name, left, right in (("system", row["system"], own), ("against", row["against"], against)):
            same = all(f"{a:.2f}" == f"{b:.2f}" for a, b in
                       ((left["score"], right.score), (left["mean"], right.mean), (left["confidence"], right.ci)))
            good &= same
            print(f"{row['metric']:7}  {name:7} {left['mean']:.6f} ± {left['confidence']:.6f}  sacreBLEU {right.mean:.6f} ± {right.ci:.6f}"
                  f"{'' if same else '  DIFFERS'}")
        good &= row["p_value"] == own.p_value
        print(f"         p {row['p_value']:.6f}, sacreBLEU {own.p_value:.6f}")
    return good


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
        results = [compare(args.program, hypotheses, args.target, lowercase, tokenize)
                   for tokenize in ("13a", "intl", "zh", "char", "none") for lowercase in (False, True)]
        other = Path(folder) / "other"
        rng = random.Random(2)
        references = lines_of(args.target)
        other.write_bytes("".join(corrupt(s, references, rng) + "\n" for s in references).encode())
        results.append(compare_systems(args.program, hypotheses, str(other), args.target))
    sys.exit(0 if all(results) else 1)


main()
