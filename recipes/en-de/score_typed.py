#!/usr/bin/env python3
"""Scores a model on texts that people type: the sentences, paragraphs, nouns, oddities and textbook sentences
in typed/.

    recipes/en-de/score_typed.py --model DIR [--program FILE] [--beam 4] [--train FILE] [--seed WORD] [--show] [--back]

A sentence is kept where its translation holds every marked German form as whole words; a paragraph is
whole where of each of its sentences one marked form stands in the translation. Of an oddity (odd.txt)
every column stands in the translation as it is written, or is the whole of it. With --train (the
source side that the model was trained on) names that never occur there are counted apart; otherwise
those of typed/unseen.txt are. "names drawn anew" are the sentences about names with other names, drawn by --seed (today's
date unless given). --back scores a model of the other direction, on german.txt alone. --show prints what failed. The
program is build/release's.
"""
import argparse
import datetime
import json
import re
import subprocess
import sys
from pathlib import Path

import draw_names

ROOT = Path(__file__).resolve().parents[2]
TYPED = Path(__file__).resolve().parent / "typed"
MARK = re.compile(r"\[([^\]=]+)(?:=([^\]]+))?\]")


def read_marked(path: Path) -> list[tuple[str, str]]:
    """Returns (kind, line with its marks)."""
    kind, lines = "paragraphs", []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            kind = line[3:]
        elif line and not line.startswith("#"):
            lines.append((kind, line))
    return lines


def read_odd(path: Path) -> list[tuple[str, str, list[str]]]:
    """Returns (kind, line, words that its German must have): the columns of odd.txt."""
    kind, lines = "odd", []
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith("== "):
            kind = line[3:]
        elif "\t" in line:
            source, *columns = line.split("\t")
            lines.append((kind, source, columns))
    return lines


def plain(marked: str) -> str:
    return MARK.sub(r"\1", marked)


def asked(marked: str) -> list[list[str]]:
    """Returns the accepted forms of each mark."""
    return [(german or english).split("|") for english, german in MARK.findall(marked)]


def stands_in(form: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text, re.IGNORECASE
                     if form[0].islower() or not form[0].isalpha() else 0) is not None


def as_written(column: str, text: str) -> bool:
    """True if the text contains one of a column's forms, with capitals and punctuation; "=": the whole text. The
    form n't is the end of a word."""
    whole = column.startswith("=")
    forms = column.removeprefix("=").split(" | ")
    if whole:
        return text in forms

    def pattern(form):
        left = "(?<!\\w)" if form[0].isalnum() and not form.startswith("n't") else ""
        right = "(?!\\w)" if form[-1].isalnum() else ""
        return left + re.escape(form) + right

    return any(re.search(pattern(form), text) for form in forms)


def sentences_of(paragraph: str) -> list[str]:
    """Splits after final punctuation; "Mr." and the like do not end a sentence."""
    parts = re.split(r"(?<=[.!?])(?<!Mr\.)(?<!Mrs\.)(?<!Ms\.)(?<!Dr\.) ", paragraph)
    return [part for part in parts if part]


def translate(options, lines: list[str]) -> list[str]:
    command = [str(options.program), "translate", "--model", str(options.model), "--beam",
               str(options.beam)]
    done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True,
                          encoding="utf-8")
    if done.returncode:
        sys.exit(done.stderr.strip())
    return done.stdout.splitlines()


def unseen_words(options) -> set[str]:
    named = {word for line in (TYPED / "unseen.txt").read_text("utf-8").splitlines()
             if not line.startswith("#") for word in line.split()}
    if options.train:
        named -= set(re.findall(r"\w+", options.train.read_text("utf-8")))
    return named


def score_nouns(options) -> list[bool]:
    found = []
    lines = read_marked(TYPED / "nouns.txt")
    texts = translate(options, [plain(line) for _, line in lines])
    for (_, line), text in zip(lines, texts, strict=True):
        found.append(all(any(stands_in(form, text) for form in forms) for forms in asked(line)))
        if options.show and not found[-1]:
            print(f"noun: {plain(line)} -> {text}")
    return found


def score_columns(options, name: str, file: str) -> dict[str, list[bool]]:
    """Returns the lines of a file with columns, all together and by kind."""
    found: dict[str, list[bool]] = {name: []}
    lines = read_odd(TYPED / file)
    texts = translate(options, [line for _, line, _ in lines])
    for (kind, line, columns), text in zip(lines, texts, strict=True):
        right = all(as_written(column, text) for column in columns)
        found[name].append(right)
        found.setdefault("  " + kind, []).append(right)
        if options.show and not right:
            print(f"{kind}: {line} -> {text}")
    return found


def score_sentences(options, unseen: set[str]) -> dict[str, list[bool]]:
    lines = read_marked(TYPED / "sentences.txt")
    found: dict[str, list[bool]] = {"sentences": [], "unseen names": []}
    texts = translate(options, [plain(line) for _, line in lines])
    for (kind, line), text in zip(lines, texts, strict=True):
        kept = all(any(stands_in(form, text) for form in forms) for forms in asked(line))
        found["sentences"].append(kept)
        found.setdefault("  " + kind, []).append(kept)
        for (english, _), forms in zip(MARK.findall(line), asked(line)):
            if unseen & set(re.findall(r"\w+", english)):
                found["unseen names"].append(any(stands_in(form, text) for form in forms))
        if options.show and not kept:
            print(f"{kind}: {plain(line)} -> {text}")
    return found


def score_drawn_names(options) -> list[bool]:
    lines = draw_names.sentences([line for kind, line in read_marked(TYPED / "sentences.txt") if kind == "names"], options.seed)
    found = []
    for line, text in zip(lines, translate(options, [plain(line) for line in lines]), strict=True):
        kept = [any(stands_in(form, text) for form in forms) for forms in asked(line)]
        found += kept
        if options.show and not all(kept):
            print(f"drawn name: {plain(line)} -> {text}")
    return found


def score_paragraphs(options) -> list[bool]:
    lines = [line for _, line in read_marked(TYPED / "paragraphs.txt")]
    found = []
    texts = translate(options, [plain(line) for line in lines])
    for line, text in zip(lines, texts, strict=True):
        missing = [plain(sentence) for sentence in sentences_of(line)
                   if not any(stands_in(form, text) for forms in asked(sentence) for form in forms)]
        found.append(not missing)
        if options.show and missing:
            print(f"paragraph: {plain(line)} -> {text} (not found: {' '.join(missing)})")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=ROOT / "data/models/en-de")
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/app/attn-demo")
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--train", type=Path)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seed", default=str(datetime.date.today()))
    parser.add_argument("--back", action="store_true")
    options = parser.parse_args()
    if options.back:
        found = score_columns(options, "german", "german.txt")
    else:
        found = score_sentences(options, unseen_words(options))
        found["names drawn anew"] = score_drawn_names(options)
        found["whole paragraphs"] = score_paragraphs(options)
        found["nouns"] = score_nouns(options)
        found |= score_columns(options, "oddities", "odd.txt") | score_columns(options, "textbook", "textbook.txt")
    for name, results in found.items():
        print(f"{name:20} {sum(results):4} of {len(results):4}  "
              f"{100 * sum(results) / max(1, len(results)):5.1f}%")
    if options.json:
        counts = {name.strip(): [sum(results), len(results)] for name, results in found.items()}
        options.json.write_text(json.dumps(counts, indent=1) + "\n")


if __name__ == "__main__":
    main()
