"""Reads the words for further pairs from recipes/en-de/words, and draws them by hash."""
import re
from pathlib import Path
from typing import NamedTuple

from more_pairs import sounds
from more_pairs.draw import Draw
from more_pairs.nations import People

RECIPE = Path(__file__).resolve().parent.parent
PLACE_ENDS = ["dorf", "hausen", "burg", "stadt", "heim", "ville", "ton", "bach", "berg", "ow", "au",
              "feld", "ingen", "rode", "leben", "ford", "bridge", "mouth", "grad", "holm", "wick", "polis",
              "abad", "pur", "stan", "ham", "kirchen", "brück", "minster", "caster", "ovo", "ice"]


def lines_of(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return [line for line in text.split("\n") if line and not line.startswith("#")]


def genitive(name: str) -> str:
    """Returns the German genitive: Toms, Hans’, Max’, with an apostrophe after the sound s (Duden, rule 16)."""
    return name + ("’" if name.lower().endswith(("s", "ß", "x", "z", "ce")) else "s")


class Country:
    """Returns a country after its German preposition: "in Italien", "in der Schweiz", "im Iran"."""

    def __init__(self, english: str, german: str, article: str):
        self.english, self.german = english, german
        self.article = article
        plural = german + "n" if german.endswith("e") else german
        name = german
        self.forms = {
            "-": {"nom": name, "acc": name, "dat": name, "in": f"in {name}", "nach": f"nach {name}",
                  "aus": f"aus {name}", "gen": f"von {name}"},
            "f": {"nom": f"die {name}", "acc": f"die {name}", "dat": f"der {name}",
                  "in": f"in der {name}", "nach": f"in die {name}", "aus": f"aus der {name}",
                  "gen": f"der {name}"},
            "m": {"nom": f"der {name}", "acc": f"den {name}", "dat": f"dem {name}",
                  "in": f"im {name}", "nach": f"in den {name}", "aus": f"aus dem {name}",
                  "gen": f"des {name}"},
            "p": {"nom": f"die {name}", "acc": f"die {name}", "dat": f"den {plural}",
                  "in": f"in den {plural}", "nach": f"in die {name}", "aus": f"aus den {plural}",
                  "gen": f"der {name}"},
        }[article] | {"is": "sind" if article == "p" else "ist"}


class Thing(NamedTuple):
    """Returns the nouns that a nationality may come before."""
    english: str
    german: str
    gender: str  # m, f, n; p: plural


class Words:
    """`unseen`: names that no random word may be or contain, because they measure copying."""

    def __init__(self, folder: Path = RECIPE / "words", unseen: frozenset[str] = frozenset()):
        self.unseen = unseen
        self._read_names(folder)
        self._read_cldr(folder)
        self._read_nations(folder)
        self._read_cities(folder)
        self.things: dict[str, list[Thing]] = {}
        for line in lines_of(folder / "things.tsv"):
            kind, *thing = line.split("\t")
            self.things.setdefault(kind, []).append(Thing(*thing))

    def allowed(self, *texts: str) -> bool:
        return not any(word in self.unseen for text in texts for word in re.findall(r"\w+", text))

    def _read_names(self, folder: Path) -> None:
        self.names = {"female": [], "male": [], "family": []}
        for line in lines_of(folder / "names.txt"):
            kind, _, names = line.partition(": ")
            # A particle belongs to the name that follows: van den Berg.
            found = re.findall(r"(?:(?:de|van|den|der) )*\S+", names)
            self.names[kind] += [name for name in found if name not in self.names[kind]]
        for kind, names in self.names.items():
            self.names[kind] = [name for name in names if self.allowed(name)]
        self.all_names = [name for names in self.names.values() for name in names
                          if name.isalpha() and len(name) > 3]

    def _read_cldr(self, folder: Path) -> None:
        rows = [line.split("\t") for line in lines_of(folder / "cldr.tsv")]
        of = {kind: {code: (english, german) for k, code, english, german in rows if k == kind}
              for kind in {row[0] for row in rows}}
        self.months = [of["month"][str(i)] for i in range(1, 13)]
        self.days = [of["day"][str(i)] for i in range(7)]
        lower = lambda name: name[0].lower() + name[1:] if re.match(r"\w+sche ", name) else name
        self.currencies = [(english, lower(german)) for english, german in of["currency"].values()
                           if not german.startswith("Renminbi")]
        self.cldr = of

    def _read_nations(self, folder: Path) -> None:
        self.countries, self.people, self.languages = [], [], []
        for line in lines_of(folder / "nations.tsv"):
            code, article, *rest = line.split("\t")
            own = [cell[1:] if cell.startswith("*") else "" for cell in rest[4:]]
            rest += [""] * (5 - len(rest))
            english, german = self.cldr["country"].get(code, ("", ""))
            changed = [cell for cell in own if cell]
            if len(changed) == 2 or len(changed) == 1 and own[-1] == "":
                english = changed[0]
            if len(changed) == 2 or len(changed) == 1 and own[-1]:
                german = changed[-1]
            if article == "p" and not english.startswith("the "):
                english = "the " + english
            if english and german and self.allowed(english, german):
                self.countries.append(Country(english, german, article))
            adjective, stem, man, woman, language = rest[:5]
            if adjective:
                self.people.append(People(adjective, stem, man, woman))
            names = self.cldr["language"].get(language.removeprefix("*"))
            if names and (names[1].endswith("isch") or names[1] == "Deutsch"):
                self.languages.append(names)
        self.languages += [self.cldr["language"][code] for code in ("en", "eu", "ca", "la")]
        self.languages = [names for names in self.languages if self.allowed(*names)]

    def _read_cities(self, folder: Path) -> None:
        pairs = []
        for line in lines_of(folder / "cities.txt"):
            english, _, german = line.partition("=")
            pairs.append((english, german or english))
        known = {name for pair in pairs for name in pair}
        known |= {country[0] for country in self.cldr["country"].values()}  # islands, too
        pairs += [pair for pair in self.cldr["city"].values()
                  if not known & set(pair) and not pair[0].startswith("St. ")]
        self.cities = [pair for pair in pairs if self.allowed(*pair)]

    def invented(self, draw: Draw, ends: list[str] | None = None) -> str:
        """Returns a made-up name; with `ends`, one that ends like a place."""
        while True:
            name = sounds.invented(draw, self.all_names)
            if ends and draw.percent(60) and len(name) <= 8:
                name += draw.pick(ends)
            if self.allowed(name):
                return name

    def family(self, draw: Draw) -> str:
        return self.invented(draw) if draw.percent(45) else draw.pick(self.names["family"])

    def first(self, draw: Draw, kind: str = "") -> str:
        if draw.percent(40):
            return self.invented(draw)
        return draw.pick(self.names[kind or draw.pick(["female", "male"])])

    def city(self, draw: Draw) -> tuple[str, str]:
        if draw.percent(15):
            name = self.invented(draw, PLACE_ENDS)
            return name, name
        return draw.pick(self.cities)

    def street(self, draw: Draw) -> str:
        """Returns feminine ones, so that "in der" fits."""
        beginning = draw.pick([draw.pick(self.names["family"]), self.invented(draw), "Linden",
                               "Bahnhof", "Garten", "Haupt", "Schiller", "Goethe", "Schul", "Berg"])
        beginning = re.sub(r"\W", "", beginning).capitalize()
        return f"{beginning}{draw.pick(['straße', 'straße', 'gasse', 'allee'])} {draw.between(1, 199)}"
