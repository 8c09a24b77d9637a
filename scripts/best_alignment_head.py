#!/usr/bin/env python3
"""Which cross-attention head of a model says best which word was translated from which?

    scripts/best_alignment_head.py MODEL [--pairs data/toy/test] [--attn-demo PROGRAM]

Shows the model each pair of PAIRS.en and PAIRS.de (attn-demo translate --target), takes for each
target word the source word that a head looks at most while writing it, and compares these links
with PAIRS.align, written by hand ("0-0 1-1": source word, target word, from 0). Pieces are merged
to words: weights summed over a source word's pieces, averaged over a target word's. Prints each
head's alignment error rate (Och and Ney 2003; 0 is perfect), the best first. Standard library only.
"""
import argparse
import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def words(pieces: list[str]) -> list[list[int]]:
    """The positions of each word's pieces; the end symbol belongs to none."""
    found: list[list[int]] = []
    for position, piece in enumerate(pieces):
        if piece == "</s>":
            continue
        if piece.startswith("▁") or not found:
            found.append([])
        found[-1].append(position)
    return found


def links(weights: list[list[float]], source: list[list[int]], target: list[list[int]]):
    result = set()
    for number, queries in enumerate(target):
        mass = [sum(weights[q][k] for q in queries for k in keys) for keys in source]
        result.add((mass.index(max(mass)), number))
    return result


def record(program: Path, model: Path, source: str, target: str) -> dict:
    done = subprocess.run([program, "translate", "--model", model, "--json", "-", "--target", target,
                           "--", source], check=True, capture_output=True, encoding="utf-8")
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--pairs", type=Path, default=ROOT / "data/toy/test")
    parser.add_argument("--attn-demo", type=Path, default=ROOT / "build/release/app/attn-demo")
    options = parser.parse_args()

    lines = [Path(f"{options.pairs}.{side}").read_text(encoding="utf-8").splitlines()
             for side in ("en", "de", "align")]
    scores: dict[tuple[int, int], list[int]] = {}
    used = 0
    for source, target, alignment in zip(*lines, strict=True):
        gold = {tuple(map(int, link.split("-"))) for link in alignment.split()}
        maps = record(options.attn_demo, options.model, source, target)
        source_words = words(maps["source"]["tokens"])
        target_words = words(maps["hypotheses"][0]["tokens"])
        if len(source_words) != len(source.split()) or len(target_words) != len(target.split()):
            continue  # a tokenizer that glues words together
        used += 1
        for layer, heads in enumerate(maps["hypotheses"][0]["cross"]):
            for head, weights in enumerate(heads):
                found = links(weights, source_words, target_words)
                score = scores.setdefault((layer, head), [0, 0, 0])
                score[0] += len(found & gold)
                score[1] += len(found)
                score[2] += len(gold)
    print(f"{used} of {len(lines[0])} pairs")
    print("head      error  precision  recall")
    ranked = sorted((1 - 2 * hit / (found + gold), layer, head, hit / found, hit / gold)
                    for (layer, head), (hit, found, gold) in scores.items())
    for error, layer, head, precision, recall in ranked:
        print(f"cross:{layer}:{head}  {error:6.3f}  {precision:9.3f}  {recall:6.3f}")


if __name__ == "__main__":
    main()
