"""Further pairs for English to German, made from given ones and from word lists by hash.

`further_pairs` is what scripts/prepare_pairs.py --more en-de calls; docs/model.md tells the rest.
"""
import re
from collections import Counter
from pathlib import Path

from more_pairs import longer, typing_ways
from more_pairs.draw import Draw
from more_pairs.replace import Replacer
from more_pairs.templates import Filler, read_templates
from more_pairs.words import ROOT, Words, lines_of
from score_typed import plain, read_marked

Pair = tuple[str, str]

COPIES = {"names": 3, "place": 4, "nation": 6, "number": 3, "clock": 4}  # of each pair that can be changed
TEMPLATE_COPIES = {"introduction": 100, "people": 100, "places": 160, "nationality": 180,
                   "numbers": 120, "time": 180, "calling": 150, "languages": 150, "amounts": 70,
                   "clock": 110, "answers": 80}
# Of each city (twice, where its German name is another), country and nation.
EVERY = {"stay": 22, "countries": 35, "person": 60, "things": 55}
LONG_SHARE = 0.2  # of the words, in lines of 15 to 60
SHORT_JOINS = 16000
TYPED = {"lower_case": 5000, "lower_case_named": 9000, "bare": 4000, "lower_and_bare": 4000, "without_apostrophes": 2500,
         "typographic": 2500, "quoted": 1500, "mistyped": 4000}


def unseen_names(folder: Path = ROOT / "data/typed") -> frozenset[str]:
    return frozenset(word for line in lines_of(folder / "unseen.txt")
                     for word in re.findall(r"\w+", line))


def typed_sentences(folder: Path = ROOT / "data/typed") -> list[str]:
    """Without their marks; what a model is scored with is not made."""
    return [plain(line) for name in ("sentences", "paragraphs")
            for _, line in read_marked(folder / f"{name}.txt")]


def holds(pair: Pair, names: frozenset[str]) -> bool:
    return any(word in names for side in pair for word in re.findall(r"\w+", side))


def words_in(sentence: str) -> int:
    return len(sentence.split())


class Pools:
    """What longer text is made of."""

    def __init__(self, pairs: list[Pair]):
        self.all = [pair for pair in pairs if longer.is_sentence(pair)]
        self.wordy = [pair for pair in self.all if words_in(pair[0]) >= 12]
        self.brief = [pair for pair in self.all if words_in(pair[0]) <= 5]
        self.clauses = [pair for pair in self.all if longer.is_clause(pair)]
        self.first_person = [pair for pair in self.all
                             if re.match(r"(I|I'm|My|We|Our|He|She|Her|His)\b", pair[0])]

    def sentences(self, draw: Draw, count: int) -> list[Pair]:
        pool = draw.pick([self.all, self.all, self.first_person, self.wordy])
        return [draw.pick(pool) for _ in range(count)]

    def compound(self, draw: Draw) -> Pair:
        return longer.joined_clauses(
            [draw.pick(self.clauses) for _ in range(draw.between(2, 3))], draw)

    def joined(self, draw: Draw) -> Pair:
        """Two to six sentences, some of them made of clauses; or one sentence of clauses."""
        if draw.percent(25):
            return self.compound(draw)
        sentences = self.sentences(draw, draw.between(2, 6))
        return longer.joined_sentences(
            [self.compound(draw) if draw.percent(15) else pair for pair in sentences])


class Maker:
    """Collects pairs by kind; what the caller does not allow, or has already, is left out."""

    def __init__(self, pairs: list[Pair], allowed):
        self.given, self.allowed = pairs, allowed
        self.words = Words(unseen=unseen_names())
        self.seen = set(pairs)
        self.made: list[Pair] = []
        self.kinds: list[str] = []
        self.counts: Counter = Counter()

    def add(self, kind: str, pair: Pair | None) -> bool:
        if not pair or pair in self.seen:
            return False
        if not self.allowed(pair) or holds(pair, self.words.unseen):
            self.counts["refused"] += 1
            return False
        self.seen.add(pair)
        self.made.append(pair)
        self.kinds.append(kind)
        self.counts[kind] += 1
        return True

    def replaced(self) -> None:
        replacer = Replacer(self.words)
        for english, german in self.given:
            for kind, copies in COPIES.items():
                for copy in range(copies):
                    draw = Draw(kind, copy, english, german)
                    pair = getattr(replacer, kind)(english, german, draw)
                    if pair is None:
                        break
                    if kind != "names":
                        pair = replacer.names(*pair, draw) or pair
                    self.add("replaced_" + kind, pair)

    def templates(self) -> None:
        filler = Filler(self.words)
        for kind, english, german in read_templates(lines_of(ROOT / "data/words/templates.tsv")):
            for copy in range(TEMPLATE_COPIES.get(kind, 0)):
                self.add("template_" + kind,
                         filler.fill(english, german, Draw("template", english, german, copy)))

    def every(self) -> None:
        """Each city, country and nation equally often, whatever the pairs talk about."""
        filler, words = Filler(self.words), self.words
        templates = read_templates(lines_of(ROOT / "data/words/templates.tsv"))
        for kind, key, choices in (("stay", "city", words.cities + [
                city for city in words.cities if city[0] != city[1]]),
                ("countries", "land", words.countries), ("person", "nation", words.people),
                ("things", "nation", words.people)):
            frames = [template[1:] for template in templates if template[0] == kind]
            for number, choice in enumerate(choices):
                for copy in range(EVERY[kind]):
                    draw = Draw("every", kind, number, copy)
                    self.add("every_" + kind,
                             filler.fill(*draw.pick(frames), draw, {key: choice}))

    def longer(self) -> None:
        """Lines of 15 to 60 words until they hold LONG_SHARE of all words, then shorter ones."""
        pools = Pools(self.given + self.made)
        total = sum(words_in(english) for english, _ in self.given + self.made)
        total += SHORT_JOINS * 11
        in_long = sum(words_in(english) for english, _ in self.given + self.made
                      if 15 <= words_in(english) <= 60)
        number = 0
        while in_long < LONG_SHARE * total:
            number += 1
            pair = pools.joined(Draw("longer", number))
            words = words_in(pair[0])
            if 15 <= words <= 60 and self.add("joined_long", pair):
                in_long += words
                total += words
        for number in range(SHORT_JOINS):
            draw = Draw("short", number)
            self.add("joined_short", longer.joined_sentences(
                pools.sentences(draw, 2) if draw.percent(50) else
                [draw.pick(pools.brief) for _ in range(draw.between(2, 4))]))

    def typed(self) -> None:
        every = self.given + self.made
        named = [pair for pair, kind in zip(self.made, self.kinds)
                 if kind.startswith(("replaced_names", "replaced_place", "template", "every"))]
        for kind, wanted in TYPED.items():
            pool = named if kind == "lower_case_named" else every
            found = number = 0
            while found < wanted and number < 40 * wanted:
                number += 1
                draw = Draw("typed", kind, number)
                found += self.add("typed_" + kind, typing_ways.WAYS[kind](*draw.pick(pool), draw))


def further_pairs(pairs: list[Pair], allowed) -> tuple[list[Pair], dict[str, int]]:
    """Pairs made from `pairs` and the word lists, none of them twice or among `pairs`, with their
    number by kind. `allowed(pair)` says whether one may be used (it is not of dev or test)."""
    maker = Maker(pairs, allowed)
    maker.replaced()
    maker.templates()
    maker.every()
    maker.longer()
    maker.typed()
    return maker.made, dict(maker.counts)
