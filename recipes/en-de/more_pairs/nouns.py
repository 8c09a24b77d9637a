"""Everyday nouns in sentences: recipes/en-de/words/noun_sentences.tsv filled from nouns.tsv and adjectives.tsv.

A German place names an article and a case, and gets the noun's form with it: {ein.acc+} is "einen alten Nachbarn".
"""
import re
from pathlib import Path
from typing import NamedTuple

from more_pairs import nations
from more_pairs.draw import Draw

PLACE = re.compile(r"\{([a-z-]+)(?:\.(nom|acc|dat|gen))?(\.s)?(\d?)(\+|:[a-zäöü]+)?(\d?)\}")
# The forms of der, die, das and similar words by case, for m, f, n and the plural.
DER = {"nom": "der die das die", "acc": "den die das die", "dat": "dem der dem den", "gen": "des der des der"}
ENDINGS = {"nom": "- e - e", "acc": "en e - e", "dat": "em er em en"}  # endings of ein, mein, unser
DIES = {"nom": "er e es e", "acc": "en e es e", "dat": "em er em en"}  # endings of dies, jed
PRONOUNS = {"nom": "er sie es sie", "acc": "ihn sie es sie", "dat": "ihm ihr ihm ihnen"}
RELATIVE = {"nom": "der die das die", "acc": "den die das die", "dat": "dem der dem denen"}
GENDERS = "mfnp"


class Noun(NamedTuple):
    kind: str
    english: tuple[tuple[str, str], ...]  # names of the same thing, each with its plural
    german: str
    gender: str  # m, f, n, w (weak), x (declined like an adjective: nominative only)
    plural: str

    def form(self, case: str, plural: bool) -> str:
        if plural:
            ends = self.plural[-1] in "ns" or case != "dat"
            return self.plural if ends else self.plural + "n"
        if self.gender == "w" and case != "nom":
            return self.plural
        if case == "gen" and self.gender in "mn":
            short = len(re.findall(r"[aeiouyäöü]+", self.german.lower())) == 1 and self.german[-1] not in "aeiouyäöü"
            return self.german + ("es" if short or re.search(r"(s|ß|z|x|tsch|st)$", self.german) else "s")
        return self.german


def english_plural(word: str) -> str:
    if re.search(r"(s|x|ch|sh|z)$", word):
        return word + "es"
    return word[:-1] + "ies" if re.search(r"[^aeiou]y$", word) else word + "s"


def read_nouns(lines: list[str]) -> list[Noun]:
    nouns = []
    for line in lines:
        kind, english, german, gender, plural = line.split("\t")
        names = [name.partition("/") for name in english.split("|")]
        nouns.append(Noun(kind, tuple((name, more or english_plural(name)) for name, _, more in names), german, gender, plural))
    return nouns


def read_sentences(lines: list[str]) -> list[tuple[list[list[str]], str, str]]:
    """Returns the classes of the first and second noun, the English, and the German."""
    sentences, classes = [], []
    for line in lines:
        if line.startswith("== "):
            classes = [part.split() for part in line[3:].split("/")]
        else:
            sentences.append((classes, *line.split("\t")))
    return sentences


class NounFiller:
    def __init__(self, nouns: list[Noun], adjectives: dict[str, list[tuple[str, str]]]):
        self.by_kind: dict[str, list[Noun]] = {}
        self.add(nouns)
        self.adjectives = adjectives

    def add(self, nouns) -> None:
        for noun in nouns:
            self.by_kind.setdefault(noun.kind, []).append(noun)

    def candidates(self, classes: list[str]) -> list[Noun]:
        return [noun for kind in classes for noun in self.by_kind[kind]]

    def fill(self, sentence, first: Noun, draw: Draw) -> tuple[str, str] | None:
        """Returns the sentence with this first noun; None if it lacks the form of a slot (no plural, no other
        case)."""
        classes, english, german = sentence
        second = draw.pick(self.candidates(classes[-1]))
        nouns = {"": first, "2": second}
        if first.german == second.german and "2" in german:
            return None
        adjectives = {key: draw.pick(self.adjectives[noun.kind]) for key, noun in nouns.items()}
        names = {key: draw.pick(noun.english) for key, noun in nouns.items()}
        for match in PLACE.finditer(german):
            noun = nouns[match[4] or match[6]]
            if match[3] and noun.plural == "-" or noun.gender == "x" and (not match[3] and match[1] != "-"):
                return None
        filled = PLACE.sub(lambda m: self._english(m, names, adjectives), english)
        filled = re.sub(r"\ba\* (?=[aeiouAEIO])(?!uni|eu|use)", "an ", filled).replace("a* ", "a ")
        written = PLACE.sub(lambda m: self._german(m, nouns, adjectives), german)
        return self._begun(filled, english), contracted(written, german)

    @staticmethod
    def _begun(text: str, frame: str) -> str:
        return text[0].upper() + text[1:] if frame[-1] in ".?!" else text

    @staticmethod
    def _english(match: re.Match, names: dict, adjectives: dict) -> str:
        form, key = match[1], match[4] or match[6]
        name = names[key][1 if form == "s" else 0]
        if match[5] == "+":
            name = adjectives[key][0] + " " + name
        return "a* " + name if form == "a" else name

    @staticmethod
    def _german(match: re.Match, nouns: dict, adjectives: dict) -> str:
        determiner, case, plural, key = match[1], match[2], bool(match[3]), match[4] or match[6]
        noun = nouns[key]
        gender = "p" if plural else {"w": "m", "x": "m"}.get(noun.gender, noun.gender)
        at = GENDERS.index(gender)
        if determiner in ("er", "rel"):
            return (PRONOUNS if determiner == "er" else RELATIVE)[case].split()[at]
        article, before = article_of(determiner, case, at)
        stem = adjectives[key][1] if match[5] == "+" else match[5][1:] if match[5] else ""
        adjective = stem + nations.ending(before, gender, case) if stem else ""
        return " ".join(part for part in (article, adjective, noun.form(case, plural)) if part)


def article_of(determiner: str, case: str, at: int) -> tuple[str, str]:
    """Returns the article, and the ending that it gives an adjective."""
    if determiner == "der":
        return DER[case].split()[at], "weak"
    if determiner == "-":
        return (DER["gen"].split()[at], "weak") if case == "gen" else ("", "strong")
    if determiner in ("dies", "jed"):
        return determiner + DIES[case].split()[at], "weak"
    ending = ENDINGS[case].split()[at]
    return determiner + ("" if ending == "-" else ending), "mixed"


def contracted(german: str, frame: str) -> str:
    """Contracts an article after its preposition: im, ins, zum, zur, vom, am."""
    for long, short in (("in dem", "im"), ("zu dem", "zum"), ("zu der", "zur"), ("von dem", "vom"), ("in das", "ins")):
        german = re.sub(rf"\b({long[0]}|{long[0].upper()}){long[1:]} (?=[A-ZÄÖÜ])", lambda m: m[1] + short[1:] + " ", german)
    return german[0].upper() + german[1:] if frame[-1] in ".?!" else german


def filler_of(folder: Path, lines_of) -> tuple[NounFiller, list[Noun], list]:
    nouns = read_nouns(lines_of(folder / "nouns.tsv"))
    adjectives: dict[str, list[tuple[str, str]]] = {}
    for line in lines_of(folder / "adjectives.tsv"):
        kind, english, german = line.split("\t")
        adjectives.setdefault(kind, []).append((english, german))
    return NounFiller(nouns, adjectives), nouns, read_sentences(lines_of(folder / "noun_sentences.tsv"))
