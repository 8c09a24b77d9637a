#!/usr/bin/env python3
"""Make the files that a translation model is trained and scored with from one file of two columns.

    scripts/prepare_pairs.py PAIRS OUT_DIR [--unpunctuated PERCENT] [--keep-out SENTENCE]...
                             [--more en-de]

PAIRS is UTF-8, a pair a line: source, tab, target; further columns are ignored. OUT_DIR gets
{train,dev,test}.{source,target}, line-aligned, and counts.json with the counts that are printed.

Which part a pair belongs to depends on its source sentence alone, so all translations of a sentence
land in the same part and a longer file of the same kind keeps the parts: the first four hex digits
of the SHA-1 of the source, modulo 100, are 0 for test, 1 for dev, the rest for train.

From the train part are left out
  - pairs whose target also stands in dev or test (letter case and a final . ! ? set aside): another
    English sentence with the same German one would give the answer away;
  - pairs whose source is a --keep-out sentence, in the same sense.
PERCENT (15 unless told) of the train pairs that end in a full stop, question or exclamation mark on
both sides lose it on both, so that a model learns both ways of typing. A hash of the pair chooses
them. Dev and test stay as they are.

--more en-de adds pairs to the train part, made from it and from data/words by hash (more_pairs):
other names, places and numbers in its sentences, filled templates, longer text, ways of typing. None
of them has a source or target of dev or test, a sentence of data/typed or a name of its unseen.txt;
pairs that have are left out. counts.json tells their number by kind and words by length.

Standard library only; the same bytes everywhere.
"""
import argparse
import hashlib
import json
import sys
from pathlib import Path

import more_pairs

MARKS = ".?!"


def hash_percent(text: str) -> int:
    return int(hashlib.sha1(text.encode()).hexdigest()[:4], 16) % 100


def part_of(source: str) -> str:
    return {0: "test", 1: "dev"}.get(hash_percent(source), "train")


def without_final_mark(sentence: str) -> str | None:
    """None where there is no final mark, or more than one ("..." and "?!" mean something)."""
    shorter = sentence[:-1]
    if not shorter or sentence[-1] not in MARKS or shorter[-1] in MARKS or shorter[-1].isspace():
        return None
    return shorter


def comparable(sentence: str) -> str:
    return (without_final_mark(sentence) or sentence).casefold()


def read_pairs(path: Path) -> list[tuple[str, str]]:
    pairs = []
    with open(path, encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            columns = [column.strip() for column in line.rstrip("\r\n").split("\t")]
            if len(columns) < 2 or not columns[0] or not columns[1]:
                sys.exit(f"{path}:{number}: found {len(columns)} column(s) or an empty one, "
                         "expected source, tab, target")
            pairs.append((columns[0], columns[1]))
    return pairs


def words_by_length(pairs) -> dict[str, int]:
    """Source words in lines of so many words."""
    sizes = {"1-14": 0, "15-60": 0, "61-": 0}
    for source, _ in pairs:
        words = len(source.split())
        sizes["1-14" if words < 15 else "15-60" if words <= 60 else "61-"] += words
    return sizes


def prepare(pairs, unpunctuated: int, keep_out: list[str], more: bool = False):
    parts = {"train": [], "dev": [], "test": []}
    for pair in pairs:
        parts[part_of(pair[0])].append(pair)
    counts = {"pairs": len(pairs), "train_before": len(parts["train"])}

    held_out = {comparable(target) for part in ("dev", "test") for _, target in parts[part]}
    exact = {target for part in ("dev", "test") for _, target in parts[part]}
    kept_out = {comparable(sentence) for sentence in keep_out}
    counts |= {"left_out_same_target": 0, "left_out_same_target_nearly": 0, "left_out_asked": 0,
               "unpunctuated": 0}
    train = []
    for source, target in parts["train"]:
        if target in exact:
            counts["left_out_same_target"] += 1
        elif comparable(target) in held_out:
            counts["left_out_same_target_nearly"] += 1
        elif comparable(source) in kept_out:
            counts["left_out_asked"] += 1
        else:
            bare = without_final_mark(source), without_final_mark(target)
            if all(bare) and hash_percent(f"{source}\t{target}") < unpunctuated:
                counts["unpunctuated"] += 1
                source, target = bare
            train.append((source, target))
    if more:
        unseen = more_pairs.unseen_names()
        unnamed = [pair for pair in train if not more_pairs.holds(pair, unseen)]
        counts["left_out_unseen_name"] = len(train) - len(unnamed)
        typed = {comparable(sentence) for sentence in more_pairs.typed_sentences()}
        known = [pair for pair in unnamed if comparable(pair[0]) not in typed]
        counts["left_out_typed"] = len(unnamed) - len(known)
        sources = kept_out | typed | {comparable(source) for part in ("dev", "test")
                              for source, _ in parts[part]}
        made, made_counts = more_pairs.further_pairs(
            known, lambda pair: (comparable(pair[0]) not in sources
                                 and comparable(pair[1]) not in held_out))
        train = known + made
        counts |= {"more": made_counts, "words_in_lines_of": words_by_length(train)}
    parts["train"] = train
    counts |= {part: len(content) for part, content in parts.items()}
    return parts, counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--unpunctuated", type=int, default=15, metavar="PERCENT")
    parser.add_argument("--keep-out", action="append", default=[], metavar="SENTENCE")
    parser.add_argument("--more", choices=["en-de"])
    options = parser.parse_args()
    if not 0 <= options.unpunctuated <= 100:
        parser.error(f"--unpunctuated {options.unpunctuated}: expected 0 to 100")

    parts, counts = prepare(read_pairs(options.pairs), options.unpunctuated, options.keep_out,
                            options.more is not None)
    for part, content in parts.items():
        if not content:
            sys.exit(f"{options.pairs}: no pair falls into {part}; about 500 pairs are the least")
    options.out.mkdir(parents=True, exist_ok=True)
    for part, content in parts.items():
        for side, name in enumerate(("source", "target")):
            text = "".join(pair[side] + "\n" for pair in content)
            (options.out / f"{part}.{name}").write_text(text, encoding="utf-8", newline="\n")
    report = json.dumps(counts, indent=1)
    (options.out / "counts.json").write_text(report + "\n")
    print(report)


if __name__ == "__main__":
    main()
