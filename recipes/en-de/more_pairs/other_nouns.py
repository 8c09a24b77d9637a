"""Replaces nouns in given pairs by others of the same class, in German also of the same gender, in the same
form.

"The dog barked, der Hund bellte" becomes "the seal barked, der Seehund bellte". What stands around a noun stays right, because
articles, adjectives and pronouns depend on its gender, case and number alone.
"""
import re
from typing import NamedTuple

from more_pairs.draw import Draw
from more_pairs.nouns import Noun

WORD = re.compile(r"\w+")
CLASSES = {"wear": "thing", "part": "thing", "term": "thing"}  # classes that can replace a thing
FIXED = set("time way day morning evening night afternoon noon midnight week weekend month year hour minute second moment part case "
            "end fact reason sense right point change home work rest order turn help love life world name hope lot spring fall "
            "autumn summer winter".split())  # these are in phrases that fit no other noun


class Host(NamedTuple):
    pair: tuple[str, str]
    english: tuple[int, int]
    german: tuple[int, int]


def class_of(noun: Noun) -> str:
    return CLASSES.get(noun.kind, noun.kind)


def forms_of(noun: Noun, plural: bool) -> dict[str, str]:
    """Returns the German forms of a noun, and the cell of each: any noun of the same gender has a form for
    the same cell."""
    if plural:
        if noun.plural == "-" or noun.gender in "wx" and noun.plural == noun.german:
            return {}
        if noun.plural[-1] in "ns":
            return {noun.plural: "plural"}
        return {noun.plural: "plural but dative", noun.plural + "n": "dative plural"}
    if noun.gender == "w":
        return {noun.german: "weak nominative", noun.plural: "weak"} if noun.plural != "-" else {}
    if noun.gender == "x":
        return {}
    genitive = {noun.form("gen", False): noun.gender + " genitive"} if noun.gender in "mn" else {}
    return genitive | {noun.german: noun.gender}


def cells_of(noun: Noun) -> dict[str, tuple[bool, str]]:
    """Returns, for each cell, whether it is a plural, and the noun's form."""
    cells = {cell: (False, form) for form, cell in forms_of(noun, False).items()}
    return cells | {cell: (True, form) for form, cell in forms_of(noun, True).items()}


class OtherNouns:
    def __init__(self, pairs, nouns: list[Noun]):
        self.forms: dict[str, list[tuple[Noun, bool]]] = {}
        for noun in nouns:
            for name, more in noun.english if noun.kind != "term" else ():
                for word, plural in ((name, False), (more, True)):
                    if word not in FIXED:
                        self.forms.setdefault(word, []).append((noun, plural))
        self.hosts: dict[tuple[str, str], list[Host]] = {}
        for pair in pairs:
            self._look_in(pair)

    def _look_in(self, pair) -> None:
        english = {}
        for match in WORD.finditer(pair[0]):
            english.setdefault(match[0], []).append(match.span())
        german = {}
        for match in WORD.finditer(pair[1]):
            german.setdefault(match[0], []).append(match.span())
        for word, places in english.items():
            for noun, plural in self.forms.get(word, ()) if len(places) == 1 else ():
                for form, cell in forms_of(noun, plural).items():
                    if len(german.get(form, ())) == 1:
                        host = Host(pair, places[0], german[form][0])
                        self.hosts.setdefault((class_of(noun), cell), []).append(host)

    def put(self, noun: Noun, draw: Draw) -> tuple[str, str] | None:
        """Returns a pair with this noun instead of another one of its kind."""
        cells = {cell: found for cell, found in cells_of(noun).items() if (class_of(noun), cell) in self.hosts}
        plural = draw.percent(40)
        fitting = [cell for cell, (more, _) in cells.items() if more == plural] or list(cells)
        if not fitting:
            return None
        sizes = {cell: len(self.hosts[class_of(noun), cell]) for cell in fitting}
        cell = draw.weighted(sizes)
        host = draw.pick(self.hosts[class_of(noun), cell])
        more, form = cells[cell]
        name = draw.pick(noun.english)[more]
        before, after = host.pair[0][:host.english[0]], host.pair[0][host.english[1]:]
        if re.search(r"\b[Aa]n? $", before):
            vowel = re.match(r"(?!uni|eu|use|one)[aeiouAEIO]|hour|honest|heir", name)
            before = re.sub(r"n? $", "n " if vowel else " ", before)
        english = before + name + after
        return english[0].upper() + english[1:], host.pair[1][:host.german[0]] + form + host.pair[1][host.german[1]:]
