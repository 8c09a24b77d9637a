"""Sentences from recipes/en-de/words/templates.tsv: both sides have the same places, filled alike.

A place is {kind}, {kind2} for another one of the kind, {kind.form} for a form that German needs
(land.in, p.s) and {adj:en} for an ending. Kinds: p m f (first names: any, male, female), fam, full,
x (of a pet or an inn), city, place (invented), land, lang, adj, man, woman, men (more of a nation),
drink food art thing firm office many (a class of things.tsv), day, month, date, time, clock (half past
or a quarter), hour, year, n (2 to 12), num (13 to 99), hundreds, big, dec, money, nth, phone, flight,
street, a (a or an). {adj.weak:dat}, {der:acc} and {ein:acc} agree with the sentence's thing.
"""
import re

from more_pairs import nations, numbers
from more_pairs.draw import Draw
from more_pairs.words import Thing, Words, genitive

NATION = ("adj", "man", "woman", "men")
PLACE = re.compile(r"\{([a-z]+)(\d?)(?:\.([a-zA-Z]+))?(?::([a-z]*))?\}")
ORDINALS = [("first", "erst"), ("second", "zweit"), ("third", "dritt"), ("fourth", "viert"),
            ("fifth", "fünft"), ("sixth", "sechst"), ("seventh", "siebt"), ("eighth", "acht"),
            ("ninth", "neunt"), ("tenth", "zehnt")]


def read_templates(lines: list[str]) -> list[tuple[str, str, str]]:
    templates, kind = [], ""
    for line in lines:
        if line.startswith("== "):
            kind = line[3:]
            continue
        english, german = line.split("\t")
        templates.append((kind, english, german))
    return templates


def spoken_number(draw: Draw, first: int, last: int, digits: int) -> tuple[str, str]:
    number = draw.between(first, last)
    if draw.percent(digits):
        return str(number), str(number)
    return numbers.english_words(number), numbers.german_words(number)


class Filler:
    def __init__(self, words: Words):
        self.words = words
        self.fillers = {
            "p": lambda d: self.name(words.first(d)), "x": lambda d: self.name(words.invented(d)),
            "m": lambda d: self.name(words.first(d, "male")),
            "f": lambda d: self.name(words.first(d, "female")),
            "fam": lambda d: self.name(words.family(d)),
            "full": lambda d: self.name(f"{words.first(d)} {words.family(d)}"),
            "city": words.city, "street": lambda d: self.name(words.street(d)),
            "place": lambda d: self.name(words.invented(d, ends=["dorf", "hausen", "burg", "heim",
                                                                 "ville", "ton", "bach", "ford"])),
            "lang": lambda d: d.pick(words.languages),
            "day": lambda d: d.pick(words.days), "month": lambda d: d.pick(words.months),
            "date": lambda d: numbers.date(d, words.months), "time": numbers.time,
            "hour": lambda d: spoken_number(d, 2, 12, 40),
            "year": lambda d: self.name(str(d.between(1800, 2029))),
            "n": lambda d: spoken_number(d, 2, 12, 25), "num": lambda d: spoken_number(d, 13, 99, 70),
            "hundreds": lambda d: spoken_number(d, 100, 999, 85),
            "big": self.big, "dec": self.decimal, "nth": lambda d: d.pick(ORDINALS),
            "money": lambda d: numbers.money(d, words.currencies),
            "phone": lambda d: self.name(self.phone(d)), "clock": numbers.clock,
            "flight": lambda d: self.name(f"{d.pick('ABEKLOSTUVX')}{d.pick('AFHKMRSWY')} "
                                          f"{d.between(100, 9999)}"),
        }

    @staticmethod
    def name(text: str) -> tuple[str, str]:
        return text, text

    @staticmethod
    def big(draw: Draw) -> tuple[str, str]:
        number = draw.pick([draw.between(10, 99) * 100, draw.between(1001, 9999),
                            draw.between(10, 999) * 1000])
        return numbers.english_digits(number), numbers.german_digits(number)

    @staticmethod
    def decimal(draw: Draw) -> tuple[str, str]:
        whole, part = draw.between(1, 40), draw.between(1, 9)
        return f"{whole}.{part}", f"{whole},{part}"

    @staticmethod
    def phone(draw: Draw) -> str:
        """Returns four to eleven digits, half of them in groups."""
        digits = "".join(str(draw.below(10)) for _ in range(draw.between(4, 11)))
        if draw.percent(50):
            return digits
        cut = draw.between(2, len(digits) - 2)
        return digits[:cut] + draw.pick(["-", " ", " ", "/"]) + digits[cut:]

    def fill(self, english: str, german: str, draw: Draw, given: dict | None = None
             ) -> tuple[str, str]:
        """Fills a template; `given` has the slots that are already filled, by name."""
        chosen: dict[str, object] = dict(given or {})
        for kind, number, _, _ in PLACE.findall(english + german):
            key = kind + number
            # A person's adjective and noun must be of the same country.
            if kind in NATION and "nation" + number not in chosen:
                chosen["nation" + number] = draw.pick(self.words.people)
                while number and chosen["nation2"] == chosen.get("nation"):
                    chosen["nation2"] = draw.pick(self.words.people)
            if key in chosen or kind in ("a", "product", "sum", "der", "ein", *NATION):
                continue
            chosen[key] = self._draw(kind, draw)
            while list(chosen.values()).count(chosen[key]) > 1:
                chosen[key] = self._draw(kind, draw)
        if "{product}" in english or "{sum}" in english:
            self._calculate(chosen, draw)
        text = PLACE.sub(lambda m: self._english(m, chosen), english)
        text = re.sub(r"\ba\* (?=(?!U[kgr]|Eu)[AEIOU])", "an ", text).replace("a* ", "a ")
        text = text.replace(".m..", ".m.")  # the dot of a.m. also ends the sentence
        return capital(text), capital(PLACE.sub(lambda m: self._german(m, chosen), german))

    def _draw(self, kind: str, draw: Draw):
        if kind == "land":
            return draw.pick(self.words.countries)
        if kind in self.words.things:
            return draw.pick(self.words.things[kind])
        return self.fillers[kind](draw)

    @staticmethod
    def _calculate(chosen: dict, draw: Draw) -> None:
        pair = [draw.between(2, 12) for _ in range(2)]
        for key, number in zip(("n", "n2", "product", "sum"),
                               (*pair, pair[0] * pair[1], sum(pair))):
            chosen[key] = numbers.english_words(number), numbers.german_words(number)

    @staticmethod
    def _english(match: re.Match, chosen: dict) -> str:
        kind, number, _, _ = match.groups()
        if kind == "a":
            return "a*"
        if kind in NATION:
            nation = chosen["nation" + number]
            return (nation.adjective[0] if kind == "adj" else
                    nation.english["many" if kind == "men" else kind])
        value = chosen[kind + number]
        return value.english if kind == "land" else value[0]

    @staticmethod
    def _german(match: re.Match, chosen: dict) -> str:
        kind, number, form, ending = match.groups()
        gender = next((value.gender for value in chosen.values() if isinstance(value, Thing)), "")
        if kind in nations.ARTICLES:
            return nations.article(kind, gender, ending)
        if kind in ("man", "woman"):
            return chosen["nation" + number].german[kind][form or "nom"]
        value = chosen["nation" + number].adjective if kind == "adj" else chosen[kind + number]
        if kind == "land":
            return value.forms[form]
        german = value[1]
        if form in nations.ENDINGS:
            ending = nations.ending(form, gender, ending)
        if form == "s":
            return genitive(german)
        if form in ("every", "Every"):
            return (german if form == "Every" else german.lower()) + "s"
        if ending is not None and german != "Schweizer":
            return german + ending
        return german


def capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]
