#!/usr/bin/env python3
"""Makes a vocabulary in which every frequent word of both languages is one token.

    recipes/en-de/make_vocabulary.py PAIRS DATA SEED OUT [--size 16000] [--words 2900] [--given 2900] [--keep MODEL]

PAIRS is the file of pairs that prepare_pairs.py read, English first, and DATA the folder that it wrote. SEED is a tokenizer
that `attn-demo tokenizer CONFIG` trained with `byte_fallback`, larger than wanted. OUT becomes a tokenizer directory with
SIZE entries and <pad>:

- the bytes, the letters, digits and punctuation of both languages, and those once more with the space before them;
- the WORDS most frequent words of each language in PAIRS, and the GIVEN most frequent ones of each side of DATA/given.*:
  as they are written inside a sentence and with a first capital;
- from MODEL, a model with an older vocabulary: its entries in capitals and its single characters;
- entries of SEED, those whose loss would cost most, until SIZE is reached; a few go again, with which a word would begin with a bare space.

Scores are log-probabilities: four rounds of counting the best cuts of DATA's train part. A frequent word always scores
higher than its parts. The bare space scores so low that a word never begins with it while another cut exists.

Standard library only; the same bytes everywhere.
"""
import argparse
import json
import math
import re
import shutil
import struct
from collections import Counter
from pathlib import Path

from carry_over import fields

SPACE = "▁"
BYTE = 6  # SentencePiece's types of entries
NORMAL = 1
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
LETTERS = re.compile(r"[^\W\d_]+")
LONGEST = 24  # maximum number of characters per entry
SAMPLED = 3  # one line in three is counted
LOW = -25.0
RARE = 60  # a character with fewer occurrences is spelled in bytes
EDGES = "abcdefghijklmnopqrstuvwxyzäöüßABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÜ0123456789.,;:!?'\"„“”’()[]<>&/#@$€%*+=-–—…"


def read_model(path: Path):
    """The entries of a SentencePiece model as (text, score, type), and its other fields as bytes."""
    entries, others = [], b""
    for number, value in fields(path.read_bytes()):
        if number == 1:
            entry = dict(fields(value))
            entries.append((entry[1].decode(), struct.unpack("<f", entry[2])[0], entry.get(3, NORMAL)))
        else:
            others += delimited(number, value)
    return entries, others


def varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def delimited(number: int, value: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(value)) + value


def entry_bytes(text: str, score: float, kind: int) -> bytes:
    value = delimited(1, text.encode()) + varint(2 << 3 | 5) + struct.pack("<f", score)
    return delimited(1, value + (varint(3 << 3) + varint(kind) if kind != NORMAL else b""))


def cut(text: str, scores: dict[str, float], without: str = "") -> tuple[float, list[str]]:
    """The best way to spell a text in entries, and its score. A character without an entry costs as much as four bytes."""
    best = [0.0] + [-math.inf] * len(text)
    begins = [0] * (len(text) + 1)
    for end in range(1, len(text) + 1):
        for begin in range(max(0, end - LONGEST), end):
            part = text[begin:end]
            score = scores.get(part) if part != without else None
            if score is None:
                if end - begin > 1:
                    continue
                score = 2 * LOW
            if best[begin] + score > best[end]:
                best[end], begins[end] = best[begin] + score, begin
    parts, end = [], len(text)
    while end:
        parts.append(text[begins[end]:end])
        end = begins[end]
    return best[-1], parts[::-1]


def words_of(path: Path, step: int) -> Counter:
    """Counts each word of a file, with the space before it."""
    counts = Counter()
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number % step == 0:
                counts.update(line.split())
    return Counter({SPACE + word: count for word, count in counts.items()})


def frequent_words(lines, wanted: int, pattern=WORD) -> list[str]:
    """The most frequent words of a text, without punctuation."""
    counts = Counter()
    for line in lines:
        counts.update(pattern.findall(line))
    return [word for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:wanted]]


def whole_words(options) -> dict[str, None]:
    """Returns the words that have to be one token each. English words of PAIRS are counted and taken in small
    letters."""
    rows = [line.rstrip("\n").split("\t")[:2] for line in options.pairs.open(encoding="utf-8")]
    words = frequent_words((row[0].lower() for row in rows), options.words, LETTERS)
    words += frequent_words((row[1] for row in rows), options.words, LETTERS)
    words += [word for word in frequent_words((row[0] for row in rows), options.words) if "'" in word]
    for side in ("source", "target"):
        with (options.data / f"given.{side}").open(encoding="utf-8") as lines:
            words += frequent_words(lines, options.given)
    return dict.fromkeys(SPACE + form for word in words for form in (word, word[0].upper() + word[1:]))


def counted(words: Counter, scores: dict[str, float]) -> dict[str, float]:
    """Computes new scores from the best segmentations of all words; an entry that is in none counts as half a
    time."""
    counts = Counter(dict.fromkeys(scores, 0.5))
    for word, count in words.items():
        for part in cut(word, scores)[1]:
            counts[part] += count
    total = sum(counts[part] for part in scores)
    return {part: math.log(counts[part] / total) for part in scores} | {SPACE: LOW}


def losses(words: Counter, scores: dict[str, float]) -> Counter:
    """Returns the score that the text would lose without each entry."""
    uses = Counter()
    for word, count in words.items():
        for part in cut(word, scores)[1]:
            uses[part] += count
    return Counter({part: count * (scores[part] - cut(part, scores, part)[0])
                    for part, count in uses.items() if part in scores})


def wholes_first(scores: dict[str, float], wholes) -> None:
    """Raises the score of a word above that of its parts."""
    for word in wholes:
        apart = cut(word, scores, word)[0]
        scores[word] = max(scores[word], apart + 0.1)


def begins_bare(part: str, scores: dict[str, float]) -> bool:
    """True for the inside of a word that, as a separate word, would begin with a single space."""
    return len(part) > 1 and part.isalpha() and part[0] != SPACE and cut(SPACE + part, scores)[1][0] == SPACE


def kept_of(path: Path | None) -> list[str]:
    """Returns an older vocabulary's entries in capitals, and its single characters."""
    if path is None:
        return []
    entries, _ = read_model(path / "source.spm")
    kept = []
    for text, _, kind in entries:
        bare = text.removeprefix(SPACE)
        if kind == NORMAL and (len(bare) == 1 or (bare.isalpha() and bare.isupper())):
            kept.append(text)
    return kept


def chosen(options):
    """Returns {entry: score} of all entries except symbols and bytes."""
    seed, _ = read_model(options.seed / "source.spm")
    symbols = sum(kind != NORMAL for _, _, kind in seed)
    seed_scores = {text: score for text, score, kind in seed if kind == NORMAL}
    wholes = whole_words(options)
    fixed = wholes | dict.fromkeys([SPACE, *EDGES, *(SPACE + edge for edge in EDGES), *kept_of(options.keep)])
    words = words_of(options.data / "train.source", SAMPLED) + words_of(options.data / "train.target", SAMPLED)
    words = Counter({word: count for word, count in words.items() if len(word) < 60})
    total = sum(words.values())
    scores = {part: seed_scores.get(part, math.log((words[part] + 0.5) / total)) for part in [*seed_scores, *fixed]}
    scores |= {SPACE: LOW}
    for _ in range(2):
        scores = counted(words, scores)
    room = options.size - symbols - len(fixed)
    lost = losses(words, scores)
    rare = {part for part in scores if len(part) == 1 and lost[part] < -2 * LOW * RARE}
    others = sorted((part for part in scores if part not in fixed and part not in rare), key=lambda part: (-lost[part], part))
    scores = {part: scores[part] for part in [*fixed, *others[:max(0, room)]]}
    for _ in range(2):
        scores = counted(words, scores)
    wholes_first(scores, wholes)
    scores = {part: score for part, score in scores.items() if not begins_bare(part, scores)}
    print(f"{len(wholes)} words, {len(fixed) - len(wholes)} characters and entries that stay, {max(0, room)} of the seed's; "
          f"{sum(count * len(cut(word, scores)[1]) for word, count in words.items()) / total:.3f} tokens a word")
    return scores


def write(options, scores: dict[str, float]) -> None:
    seed, others = read_model(options.seed / "source.spm")
    entries = [entry for entry in seed if entry[2] != NORMAL]
    entries += [(text, score, NORMAL) for text, score in sorted(scores.items(), key=lambda item: (-item[1], item[0]))]
    model = b"".join(entry_bytes(*entry) for entry in entries) + others
    options.out.mkdir(parents=True)
    for name in ("source.spm", "target.spm"):
        (options.out / name).write_bytes(model)
    shutil.copyfile(options.seed / "tokenizer_config.json", options.out / "tokenizer_config.json")
    names = [text for text, _, _ in entries] + ["<pad>"]
    (options.out / "vocab.json").write_text(json.dumps({name: row for row, name in enumerate(names)}, ensure_ascii=False, indent=2) + "\n",
                                            encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("seed", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--size", type=int, default=16000)
    parser.add_argument("--words", type=int, default=2900)
    parser.add_argument("--given", type=int, default=2900)
    parser.add_argument("--keep", type=Path, metavar="MODEL")
    options = parser.parse_args()
    write(options, chosen(options))


if __name__ == "__main__":
    main()
