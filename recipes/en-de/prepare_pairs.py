#!/usr/bin/env python3
"""Makes the files for training and scoring a translation model from files of sentence pairs.

    recipes/en-de/prepare_pairs.py PAIRS OUT_DIR [--unpunctuated PERCENT] [--keep-out SENTENCE]... [--swap]
                             [--broad FILE]... [--terms FILE]... [--more en-de] [--times N] [--distilled DIR]

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

--broad FILE (plain or .gz; source, target, and the name of where it is from) adds pairs of other sources,
cleaned and as often as recipes/en-de/words/sources.tsv says. They have parts of their own, broad-dev and broad-test,
by the same hash of the sentence without numbers and without he and she.

--more en-de, for files with English first, adds pairs made from all of these and from recipes/en-de/words by hash
(more_pairs): other names, places and numbers in their sentences, filled templates, nouns in sentences, what is
to be copied, longer text, ways of typing. --terms FILE, in the columns of --broad, is a dictionary for it:
entries, and nouns in sentences. No added pair has a source or target of a dev or test part, a sentence of
recipes/en-de/typed or a name of its unseen.txt; pairs that have are left out. counts.json tells their number by kind
and words by length. given.{source,target} are the train part's pairs before any was made.

--times N: the train part's own pairs stand N times in it, so that much from elsewhere does not outweigh them. --distilled DIR
adds the translations that recipes/en-de/distil.py --out DIR has made of the train part's sources.

--swap writes the second column as the source: German to English, from the same files and with the same parts.

Standard library only; the same bytes everywhere.
"""
import argparse
import hashlib
import json
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import more_pairs
from more_pairs import broad, terms

MARKS = ".?!"


class Further(NamedTuple):
    """The options for pairs that are added to PAIRS."""
    broad: list = []  # rows of source, target and origin
    terms: list = []
    more: bool = False
    swap: bool = False
    times: int = 1  # repetitions of the train part's own pairs
    distilled: list = []


def hash_percent(text: str) -> int:
    return int(hashlib.sha1(text.encode()).hexdigest()[:4], 16) % 100


def part_of(source: str) -> str:
    return {0: "test", 1: "dev"}.get(hash_percent(source), "train")


def without_final_mark(sentence: str) -> str | None:
    """Returns the text without its final punctuation; None if it has none or more than one character of it
    ("..." and "?!" mean something)."""
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


def distilled_pairs(folder: Path | None) -> list[tuple[str, str]]:
    """Reads the pairs that recipes/en-de/distil.py has written, including the real ones."""
    sides = [(folder / f"data/train.{side}").read_text(encoding="utf-8").split("\n")[:-1] for side in ("source", "target")] if folder else []
    return list(zip(*sides, strict=True))


def words_by_length(pairs) -> dict[str, int]:
    """Counts the source words in lines of so many words."""
    sizes = {"1-14": 0, "15-60": 0, "61-": 0}
    for source, _ in pairs:
        words = len(source.split())
        sizes["1-14" if words < 15 else "15-60" if words <= 60 else "61-"] += words
    return sizes


def unpunctuated_by_hash(pair, percent: int, counts: dict) -> tuple[str, str]:
    bare = without_final_mark(pair[0]), without_final_mark(pair[1])
    if all(bare) and hash_percent(f"{pair[0]}\t{pair[1]}") < percent:
        counts["unpunctuated"] += 1
        return bare
    return pair


def training_pairs(parts, unpunctuated: int, kept_out: set[str], counts: dict):
    """Returns the train pairs that reveal nothing of dev, test or an excluded sentence."""
    held_out = {comparable(target) for part in ("dev", "test") for _, target in parts[part]}
    exact = {target for part in ("dev", "test") for _, target in parts[part]}
    counts |= {"left_out_same_target": 0, "left_out_same_target_nearly": 0, "left_out_asked": 0,
               "unpunctuated": 0}
    train = []
    for pair in parts["train"]:
        if pair[1] in exact:
            counts["left_out_same_target"] += 1
        elif comparable(pair[1]) in held_out:
            counts["left_out_same_target_nearly"] += 1
        elif comparable(pair[0]) in kept_out:
            counts["left_out_asked"] += 1
        else:
            train.append(unpunctuated_by_hash(pair, unpunctuated, counts))
    return train


class HeldOut:
    """Returns what no train pair may have: on the first side, on the second, and as a name."""

    def __init__(self, parts, kept_out: set[str], more: bool):
        self.typed = {comparable(text) for text in more_pairs.typed_sentences()} if more else set()
        self.names = more_pairs.unseen_names() if more else frozenset()
        held_out = [pair for part, content in parts.items() if part != "train" for pair in content]
        self.first = kept_out | self.typed | {comparable(source) for source, _ in held_out}
        self.second = self.typed | {comparable(target) for _, target in held_out}

    def allows(self, pair) -> bool:
        return comparable(pair[0]) not in self.first and comparable(pair[1]) not in self.second

    def names_in(self, pair) -> bool:
        return more_pairs.holds(pair, self.names)


def with_further(parts, train, kept_out: set[str], further: Further, counts: dict):
    """Returns the train part with pairs of other sources, and with made-up ones."""
    found = Counter()
    rows = broad.cleaned(further.broad, found, further.more)
    for part in ("dev", "test") if rows else ():
        parts["broad-" + part] = [row[:2] for row in rows if broad.part_of(row[0]) == part]
    held_out = HeldOut(parts, kept_out, further.more)
    unnamed = [pair for pair in train if not held_out.names_in(pair)]
    own = known = [pair for pair in unnamed if comparable(pair[0]) not in held_out.typed]
    counts |= {"left_out_unseen_name": len(train) - len(unnamed), "left_out_typed": len(unnamed) - len(known)}
    rows = [row for row in rows if broad.part_of(row[0]) == "train" and held_out.allows(row) and not held_out.names_in(row[:2])]
    known = known + broad.as_often(rows, broad.weights_of(more_pairs.RECIPE / "words/sources.tsv"), found)
    parts["given"] = known + own * (further.times - 1)
    entries = [entry for entry in terms.chosen(further.terms, known) if held_out.allows(entry) and not held_out.names_in(entry)]
    counts |= {"broad": dict(found), "entries": len(entries)}
    if further.more:
        made, counts["more"] = more_pairs.further_pairs(known, held_out.allows, entries, further.swap)
        known += entries + made
    have = set(own)
    distilled = [pair for pair in further.distilled if pair not in have and held_out.allows(pair) and not held_out.names_in(pair)]
    counts["distilled"] = len(distilled)
    return known + distilled + own * (further.times - 1)


def prepare(pairs, unpunctuated: int, keep_out: list[str], further: Further = Further()):
    parts = {"train": [], "dev": [], "test": []}
    for pair in pairs:
        parts[part_of(pair[0])].append(pair)
    counts = {"pairs": len(pairs), "train_before": len(parts["train"])}
    kept_out = {comparable(sentence) for sentence in keep_out}
    train = training_pairs(parts, unpunctuated, kept_out, counts)
    if further.more or further.broad or further.distilled or further.times > 1:
        train = with_further(parts, train, kept_out, further, counts)
        counts["words_in_lines_of"] = words_by_length(train)
    parts["train"] = train
    counts |= {part: len(content) for part, content in parts.items()}
    return parts, counts


def write(parts, counts: dict, out: Path, swap: bool) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for part, content in parts.items():
        for side, name in enumerate(("target", "source") if swap else ("source", "target")):
            text = "".join(pair[side] + "\n" for pair in content)
            (out / f"{part}.{name}").write_text(text, encoding="utf-8", newline="\n")
    (out / "counts.json").write_text(json.dumps(counts, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--unpunctuated", type=int, default=15, metavar="PERCENT")
    parser.add_argument("--keep-out", action="append", default=[], metavar="SENTENCE")
    parser.add_argument("--broad", action="append", type=Path, default=[], metavar="FILE")
    parser.add_argument("--terms", action="append", type=Path, default=[], metavar="FILE")
    parser.add_argument("--more", choices=["en-de"])
    parser.add_argument("--swap", action="store_true")
    parser.add_argument("--times", type=int, default=1, metavar="N")
    parser.add_argument("--distilled", type=Path, metavar="DIR")
    options = parser.parse_args()
    if not 0 <= options.unpunctuated <= 100:
        parser.error(f"--unpunctuated {options.unpunctuated}: expected 0 to 100")
    if options.terms and not options.more:
        parser.error("--terms is a dictionary for --more en-de")

    further = Further([row for path in options.broad for row in broad.read(path)],
                      [row for path in options.terms for row in broad.read(path)],
                      options.more is not None, options.swap, options.times, distilled_pairs(options.distilled))
    parts, counts = prepare(read_pairs(options.pairs), options.unpunctuated, options.keep_out, further)
    for part, content in parts.items():
        if not content:
            sys.exit(f"{options.pairs}: no pair falls into {part}; about 500 pairs are the least")
    write(parts, counts, options.out, options.swap)
    print(json.dumps(counts, indent=1))


if __name__ == "__main__":
    main()
