"""Reads pairs of other sources: a file with English, German and source per line, plain or gzipped.

A source is taken as often as recipes/en-de/words/sources.tsv says; what is damaged, in another language, cut off, or
whose sides have not the same length is left out, and so is what stands in dev, test or recipes/en-de/typed.
"""
import gzip
import hashlib
import re
from collections import Counter
from pathlib import Path

from more_pairs.draw import Draw

Pair = tuple[str, str]

PLACEHOLDER = re.compile(r"%\d*\$?[sdi@]\b|%\w+%|\{\w*\}|\$\{|\\n|\\t|\]\]|\[\[|&\w+;|</?\w+>|<\w+=|_{3,}|\|")
LATIN = re.compile(r"[^\W\d_]")
STOPWORDS = {
    "en": set("the of and to is are were you your he she it they this that with for on have has had not what which "
              "who would can from at be been their there his her my we our".split()),
    "de": set("der die das und ist sind war waren du sie er es wir ich nicht mit für auf ein eine einen einem einer "
              "haben hat hatte wer wird werden kann von im zu zum zur den dem des ihr mein sein auch dass".split())}
QUOTES = str.maketrans({"’": "'", "‘": "'", "`": "'", "\u00a0": " ", "\u202f": " ", "\u00ad": None, "\u200b": None})
GERMAN_QUOTES = str.maketrans({"»": "„", "«": "“", "\u00a0": " ", "\u202f": " ", "\u00ad": None, "\u200b": None, "`": "'"})
SAID = set("he she his her hers him himself herself man woman men women male female boy girl mr mrs ms "
           "father mother son daughter brother sister husband wife actor actress sir lady".split())


LONG = 17  # words


def read(path: Path) -> list[tuple[str, str, str]]:
    """Reads English, German and source; lines without three columns are an error."""
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")
    with opened as lines:
        rows = [[column.strip() for column in line.rstrip("\r\n").split("\t")] for line in lines]
    for number, row in enumerate(rows, 1):
        if len(row) < 3:
            raise SystemExit(f"{path}:{number}: found {len(row)} column(s), expected English, German and source")
    return [tuple(row[:3]) for row in rows]


def tidy(english: str, german: str) -> Pair:
    """Normalizes apostrophes, quotes and spaces."""
    german = german.translate(GERMAN_QUOTES)
    german = re.sub(r"(?<=\w)[’‘'](?=\w)", "’", german)
    english = re.sub(r"\s+", " ", english.translate(QUOTES)).strip()
    return english, re.sub(r"\s+", " ", german).strip()


def language_of(text: str) -> str:
    """Returns en or de, or nothing if the words do not tell."""
    words = re.findall(r"\w+", text.lower())
    found = {language: sum(word in known for word in words) for language, known in STOPWORDS.items()}
    best = max(found, key=found.get)
    return best if found[best] > 1.5 * min(found.values()) else ""


def fault(english: str, german: str, languages: bool = True) -> str:
    """Returns the reason why a pair is useless; empty if it is fine. `languages`: the pair is English and
    German."""
    words = len(english.split()), len(german.split())
    if not english or not german or max(words) > 90:
        return "empty_or_long"
    if PLACEHOLDER.search(english) or PLACEHOLDER.search(german):
        return "placeholder"
    letters = [len(LATIN.findall(side)) for side in (english, german)]
    if min(letters) < 2 or min(letters[0] / len(english), letters[1] / len(german)) < 0.5:
        return "no_text"
    if max(letters) > 12 + 1.9 * min(letters) or max(words) > 3 + 2 * min(words):
        return "lengths"
    if english.casefold() == german.casefold() and words[0] > 2:
        return "copy"
    if languages and (language_of(english) == "de" or language_of(german) == "en"):
        return "language"
    if english.count('"') % 2 or german.count("(") != german.count(")"):
        return "cut"
    return ""


def begins_large(english: str, german: str, draw: Draw) -> Pair:
    """Capitalizes sentences of dialogues that are in small letters, three times in four."""
    if english[0].islower() and english[-1] in ".!?" and draw.percent(75):
        return english[0].upper() + english[1:], german[0].upper() + german[1:]
    return english, german


def part_key(english: str) -> str:
    """Returns the text that decides the part: the same for sentences that only differ in he and she, or in
    numbers."""
    words = [word for word in re.findall(r"[^\W\d_]+", english.lower()) if word not in SAID]
    return " ".join(words)


def part_of(english: str) -> str:
    number = int(hashlib.sha1(part_key(english).encode()).hexdigest()[:4], 16) % 100
    return {0: "test", 1: "dev"}.get(number, "train")


def weights_of(path: Path) -> dict[str, tuple[int, int]]:
    """Returns two percentages per source: for its pairs, and for those of LONG words and more. 40 keeps two pairs in
    five, 200 has each of them twice."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return {source: (int(percent), int(of_long)) for source, percent, of_long in (line.split("\t")[:3] for line in lines)}


def cleaned(rows, counts: Counter, english_german: bool) -> list[tuple[str, str, str]]:
    """Keeps the useful rows; pairs of other languages keep their quotes, and their words do not tell their
    language."""
    seen, kept = set(), []
    for english, german, source in rows:
        pair = tidy(english, german) if english_german else (english, german)
        why = fault(*pair, english_german) or ("twice" if pair in seen else "")
        if why:
            counts["left_out_" + why] += 1
            continue
        seen.add(pair)
        kept.append((*(begins_large(*pair, Draw("large", *pair)) if english_german else pair), source))
    return kept


def as_often(rows, weights: dict[str, tuple[int, int]], counts: Counter) -> list[Pair]:
    """Repeats each pair as often as its source says, by hash. A source without weights has each pair once."""
    taken = []
    for english, german, source in rows:
        percent = weights.get(source, (100, 100))[len(english.split()) >= LONG]
        times = percent // 100 + Draw("weight", english, german).percent(percent % 100)
        counts[source] += times
        taken += [(english, german)] * times
    return taken
