"""Makes further pairs for English to German from given ones and from word lists, by hash.
recipes/en-de/prepare_pairs.py --more en-de calls `further_pairs`; docs/notes/shipped-model.md explains the
rest.

`further_pairs` is what recipes/en-de/prepare_pairs.py --more en-de calls; docs/notes/shipped-model.md tells the rest.
"""
import re
from collections import Counter
from pathlib import Path

from more_pairs import clauses, copying, longer, nouns, other_nouns, said, terms, typing_ways, verbs
from more_pairs.draw import Draw
from more_pairs.genders import Genders
from more_pairs.replace import Replacer
from more_pairs.templates import Filler, read_templates
from more_pairs.words import RECIPE, Words, lines_of
from score_typed import plain, read_marked, read_odd

Pair = tuple[str, str]

COPIES = {"names": 2, "place": 3, "nation": 4, "number": 3, "clock": 4}  # copies of each pair that can be changed
TEMPLATE_COPIES = {"introduction": 100, "people": 100, "places": 160, "nationality": 180,
                   "numbers": 120, "time": 180, "calling": 150, "languages": 150, "amounts": 70,
                   "clock": 110, "answers": 80}
# Number of pairs per city (twice as many if its German name differs), country and nation.
EVERY = {"stay": 22, "countries": 35, "person": 60, "things": 55}
# Number of sentences per everyday noun, and per noun of a dictionary: from templates, and from pairs with another
# noun.
NOUN_COPIES, TERM_COPIES = 100, 4
NOUN_PUT, TERM_PUT = 60, 5
# Number of sentences per frame of copying.tsv, and of sentences with something around them or in place of a name.
FRAME_COPIES = {"url": 450, "email": 500, "file": 350, "path": 400, "code": 700, "identifier": 350, "version": 150, "mark": 180,
                "emoji": 350, "foreign": 700, "borrowed": 500, "symbol": 700, "measure": 200, "entity": 250, "tag": 400, "english": 450, "statement": 1100,
                "emphasis": 250, "key": 250, "keyword": 400, "money": 300, "grouped": 300, "decimal": 400, "marks": 1500, "aside": 300}
AROUND = {"around": 26000, "repeated_mark": 6000, "instead_of_a_name": 12000, "entities": 5000}
TERMS_TYPED = {"around": 9000, "capitals": 16000, "titled": 2000, "marked_up": 9000}  # a dictionary's entries: <b>Hello</b>, EXIT
SHORT_TYPED = {"around": 4000, "marked_up": 7000, "lower_case": 500}  # recipes/en-de/words/short.tsv
OF_TWO = {"spoken": 14000, "dialogue": 4000, "between": 7000}  # two pairs that are joined to one
SHORT_COPIES = {"as it is": 4, "capitals": 6}  # repetitions of the same pair, as for phrases
# Repetitions per line of phrases.tsv: among a million pairs, a single "Hello." is soon forgotten.
PHRASE_COPIES = {"as it is": 12, "bare": 3, "lower_case": 2, "lower_and_bare": 3, "capitals": 4, "without_apostrophes": 2, "marked_up": 3, "around": 3}
CLAUSES = 80000  # sentences with clauses, passives and the like
SENSE_COPIES = 10
LISTED = 14000  # a) soup b) salad
LONG_SHARE = 0.45  # share of the words in lines of 15 to 60 words
SHORT_JOINS = 16000
TYPED = {"lower_case": 7000, "lower_case_named": 22000, "bare": 4000, "lower_and_bare": 8000, "without_apostrophes": 2500,
         "typographic": 2500, "quoted": 1500, "mistyped": 4000, "capitals": 50000, "capitals_brief": 16000,
         "stretched": 3000, "doubled_word": 2000, "hesitating": 4000, "partly_capitals": 3000, "caps_lock": 5000, "titled": 4000, "blanks": 1200}

WAYS = typing_ways.WAYS | {"around": copying.around, "marked_up": copying.marked_up}


def unseen_names(folder: Path = RECIPE / "typed") -> frozenset[str]:
    return frozenset(word for name in ("unseen", "names") for line in lines_of(folder / f"{name}.txt")
                     for word in re.findall(r"\w+", line))


def typed_sentences(folder: Path = RECIPE / "typed") -> list[str]:
    """Returns the lines without their marks, with whole translations, so that the texts of the score are
    never made."""
    marked = [plain(line) for name in ("sentences", "paragraphs", "nouns")
              for _, line in read_marked(folder / f"{name}.txt")]
    odd = [line for name in ("odd", "textbook", "german") for line in read_odd(folder / f"{name}.txt")]
    whole = [form for _, _, columns in odd for column in columns if column[0] == "=" for form in column[1:].split(" | ")]
    return marked + [line for _, line, _ in odd] + whole


def holds(pair: Pair, names: frozenset[str]) -> bool:
    return any(word in names for side in pair for word in re.findall(r"\w+", side))


def words_in(sentence: str) -> int:
    return len(sentence.split())


class Pools:
    """The sentences that longer text is made of."""

    def __init__(self, pairs: list[Pair]):
        self.all = [pair for pair in pairs if longer.is_sentence(pair)]
        self.wordy = [pair for pair in self.all if words_in(pair[0]) >= 12]
        self.brief = [pair for pair in self.all if words_in(pair[0]) <= 5]
        self.clauses = [pair for pair in self.all if longer.is_clause(pair)]
        self.long_clauses = [pair for pair in self.clauses if words_in(pair[0]) >= 8] or self.clauses
        self.first_person = [pair for pair in self.all
                             if re.match(r"(I|I'm|My|We|Our|He|She|Her|His)\b", pair[0])]

    def sentences(self, draw: Draw, count: int) -> list[Pair]:
        pool = draw.pick([self.all, self.all, self.first_person, self.wordy])
        return [draw.pick(pool) for _ in range(count)]

    def compound(self, draw: Draw) -> Pair:
        pool = draw.pick([self.clauses, self.long_clauses])
        return longer.joined_clauses([draw.pick(pool) for _ in range(draw.pick([2, 2, 3, 3, 4]))], draw)

    def joined(self, draw: Draw) -> Pair:
        """Returns two to six sentences, some with clauses, or one sentence of clauses."""
        if draw.percent(45):
            return self.compound(draw)
        sentences = self.sentences(draw, draw.between(2, 6))
        return longer.joined_sentences(
            [self.compound(draw) if draw.percent(15) else pair for pair in sentences])


def as_it_is(english: str, german: str, draw: Draw) -> Pair:
    return english, german


def swapped(way):
    """Returns a way of typing for the second side."""
    def back(english: str, german: str, draw: Draw) -> Pair | None:
        found = way(german, english, draw)
        return found and found[::-1]
    return back


class Maker:
    """Collects pairs by kind; leaves out pairs that the caller does not allow or already has."""

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
        for kind, english, german in read_templates(lines_of(RECIPE / "words/templates.tsv")):
            for copy in range(TEMPLATE_COPIES.get(kind, 0)):
                self.add("template_" + kind,
                         filler.fill(english, german, Draw("template", english, german, copy)))

    def every(self) -> None:
        """Uses each city, country and nation equally often, whichever ones the pairs mention."""
        filler, words = Filler(self.words), self.words
        templates = read_templates(lines_of(RECIPE / "words/templates.tsv"))
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

    def nouns(self, entries: list[Pair]) -> None:
        """Puts everyday nouns and a dictionary's nouns into sentences of their classes."""
        filler, everyday, sentences = nouns.filler_of(RECIPE / "words", lines_of)
        of_terms = terms.nouns(entries, Genders(german for _, german in self.given))
        known = {noun.german for noun in everyday}
        filler.add(noun for noun in of_terms if noun.german not in known)
        others = other_nouns.OtherNouns(self.given, everyday)
        for kind, found in filler.by_kind.items():
            for noun in found:
                for copy in range(TERM_PUT if kind == "term" else NOUN_PUT):
                    self.add("other_noun", others.put(noun, Draw("other noun", noun.english[0][0], noun.german, copy)))
            fitting = [sentence for sentence in sentences if kind in sentence[0][0]]
            for noun in found:
                for copy in range(TERM_COPIES if kind == "term" else NOUN_COPIES):
                    draw = Draw("noun", kind, noun.english[0][0], noun.german, copy)
                    self.add("noun_" + kind, filler.fill(draw.pick(fitting), noun, draw))

    def copied(self) -> None:
        """Makes pairs with text that is not translated: in frames, around sentences, in place of names."""
        for kind, english, german in read_templates(lines_of(RECIPE / "words/copying.tsv")):
            for copy in range(FRAME_COPIES[kind]):
                self.add("copied_" + kind, copying.fill(kind, english, german, Draw("copied", kind, english, copy)))
        for kind, wanted in AROUND.items():
            self._of_any(kind, wanted, self.given, getattr(copying, kind))

    def terms_typed(self, entries: list[Pair]) -> None:
        """Puts a dictionary's entries and short texts into tags, capitals and the like."""
        short = [tuple(line.split("\t")) for line in lines_of(RECIPE / "words/short.tsv")]
        for kind, copies in SHORT_COPIES.items():
            for english, german in short:
                for copy in range(copies):
                    mark = "" if english[-1] in "?!" else Draw("short", kind, copy, english).pick(["", ".", "!", ":"])
                    self.again("short", WAYS.get(kind, as_it_is)(english + mark, german + mark, None), 1)
        for kind, wanted in TERMS_TYPED.items() if entries else ():
            self._of_any("term_" + kind, wanted, entries, WAYS[kind])
        for kind, wanted in SHORT_TYPED.items():
            self._of_any("short_" + kind, wanted, short, WAYS[kind])

    def again(self, kind: str, pair: Pair | None, copies: int) -> None:
        """Repeats a pair, if it may be used."""
        if pair and self.allowed(pair):
            self.made += [pair] * copies
            self.kinds += [kind] * copies
            self.counts[kind] += copies

    def phrases(self, swap: bool) -> None:
        """Makes pairs of everyday phrases, which people type first, as they are and in other ways of typing."""
        for line in lines_of(RECIPE / "words/phrases.tsv"):
            english, german = line.split("\t")
            for kind, copies in PHRASE_COPIES.items():
                way = WAYS.get(kind, as_it_is)
                self.again("phrase", (swapped(way) if swap else way)(english, german, Draw("phrase", kind, english)), copies)

    def predicates(self) -> None:
        """Makes pairs of descriptions, in sentences, in small letters and in capitals."""
        adjectives = [line.split("\t") for line in lines_of(RECIPE / "words/predicates.tsv")]
        for kind, english, german in read_templates(lines_of(RECIPE / "words/predicate_sentences.tsv")):
            for what, *words in adjectives:
                if what != kind:
                    continue
                pair = english.replace("{a}", words[0]), german.replace("{a}", words[1])
                self.add("predicate", pair)
                if Draw("predicate", *pair).percent(50):
                    self.add("predicate", typing_ways.capitals(*pair, None))

    def clauses(self) -> None:
        """Makes sentences with clauses, passives and other word order from people, animals, things and their
        actions."""
        nouns_by_kind = nouns.filler_of(RECIPE / "words", lines_of)[0].by_kind
        maker = clauses.ClauseMaker(nouns_by_kind, verbs.read_actions(lines_of(RECIPE / "words/actions.tsv")),
                                    verbs.read_handled(lines_of(RECIPE / "words/handled.tsv")))
        for number in range(CLAUSES):
            self.add("clause", maker.draw(Draw("clause", number)))

    def senses(self) -> None:
        """Makes pairs of words with several meanings, and of sayings, each many times."""
        for name in ("senses", "sayings"):
            for line in lines_of(RECIPE / f"words/{name}.tsv"):
                self.again(name, tuple(line.split("\t")), SENSE_COPIES)

    def of_two(self) -> None:
        pools = Pools(self.given)
        for kind, wanted in OF_TWO.items():
            self._of_any(kind, wanted, [pair for pair in pools.all if words_in(pair[0]) <= 12],
                         lambda english, german, draw: getattr(said, kind)([(english, german), draw.pick(pools.clauses if draw.percent(60) else pools.brief)], draw))

    def listed(self, entries: list[Pair]) -> None:
        short = [pair for pair in [*entries, *self.given] if words_in(pair[0]) <= 3]
        for number in range(LISTED if short else 0):
            draw = Draw("listed", number)
            self.add("listed", typing_ways.listed([draw.pick(short) for _ in "abc"], draw))

    def _of_any(self, kind: str, wanted: int, pool: list[Pair], way) -> None:
        """Makes `wanted` pairs, each from a random pair of the pool in another way of typing."""
        found = number = 0
        while found < wanted and number < 40 * wanted:
            number += 1
            draw = Draw("typed", kind, number)
            found += self.add("typed_" + kind, way(*draw.pick(pool), draw))

    def longer(self) -> None:
        """Makes lines of 15 to 60 words until they contain LONG_SHARE of all words, then shorter ones."""
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

    def typed(self, swap: bool) -> None:
        every = self.given + self.made
        named = [pair for pair, kind in zip(self.made, self.kinds)
                 if kind.startswith(("replaced_names", "replaced_place", "template", "every"))]
        brief = [pair for pair in every if words_in(pair[0]) <= 5]
        for kind, wanted in TYPED.items():
            pool = {"lower_case_named": named, "capitals_brief": brief}.get(kind, every)
            way = typing_ways.WAYS[kind.removesuffix("_brief")]
            self._of_any(kind, wanted, pool, swapped(way) if swap else way)


def further_pairs(pairs: list[Pair], allowed, entries=(), swap: bool = False) -> tuple[list[Pair], dict[str, int]]:
    """Returns pairs made from `pairs` and the word lists, with their number by kind. Except for everyday
    phrases, no pair occurs twice or among `pairs`. `allowed(pair)` says whether a pair may be used (it is
    not in dev or test). `entries` are a dictionary's. With `swap`, the second side is the typed one."""
    maker = Maker(pairs, allowed)
    maker.replaced()
    maker.templates()
    maker.every()
    maker.nouns(entries)
    maker.copied()
    maker.predicates()
    maker.clauses()
    maker.senses()
    maker.phrases(swap)
    maker.terms_typed(entries)
    maker.of_two()
    maker.listed(entries)
    maker.longer()
    maker.typed(swap)
    return maker.made, dict(maker.counts)
