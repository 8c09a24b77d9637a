"""The names of the people of a country in both languages, and a nationality before a noun: ein englischer
Tee, mit englischem Tee, der englische Tee."""

MEN = ("French", "English", "Dutch", "Irish", "Welsh")  # Frenchman, Frenchwoman
NOUNS = {"Polish": "Pole", "Spanish": "Spaniard", "Danish": "Dane", "Swedish": "Swede",
         "Finnish": "Finn", "Turkish": "Turk", "Scottish": "Scot", "British": "Brit",
         "Icelandic": "Icelander", "Luxembourgish": "Luxembourger"}
# Endings of an adjective by the word before it, then by gender: nominative, accusative, dative.
ENDINGS = {"strong": {"m": "er en em", "f": "e e er", "n": "es es em", "p": "e e en"},
           "weak": {"m": "e en en", "f": "e e en", "n": "e e en", "p": "en en en"},
           "mixed": {"m": "er en en", "f": "e e en", "n": "es es en", "p": "en en en"}}
ARTICLES = {"der": {"m": "der den dem", "f": "die die der", "n": "das das dem", "p": "die die den"},
            "ein": {"m": "ein einen einem", "f": "eine eine einer", "n": "ein ein einem"}}
CASES = {"nom": 0, "acc": 1, "dat": 2}


def ending(before: str, gender: str, case: str) -> str:
    return ENDINGS[before][gender].split()[CASES[case]]


def article(kind: str, gender: str, case: str) -> str:
    return ARTICLES[kind][gender].split()[CASES[case]]


class People:
    def __init__(self, adjective: str, stem: str, man: str, woman: str):
        self.adjective = (adjective, stem)
        if adjective in MEN:
            self.english = {"man": adjective + "man", "woman": adjective + "woman",
                            "many": adjective + "men"}
        else:
            noun = NOUNS.get(adjective, adjective)
            same = noun.endswith(("ese", "ss", "yz"))
            self.english = {"man": noun, "woman": noun, "many": noun + ("" if same else "s")}
        weak = man.endswith("e") or man in ("Ungar", "Jemenit")
        oblique = man + ("n" if man.endswith("e") or man == "Ungar" else "en") if weak else man
        many = oblique if weak else man + "s" if man.endswith("i") else man
        if adjective == "German":  # declined like an adjective: ein Deutscher, einen Deutschen, zwei Deutsche
            oblique, many = "Deutschen", "Deutsche"
        women = woman + "nen" if woman.endswith("in") else "Saudis" if woman == "Saudi" else woman
        self.german = {"man": {"nom": man, "acc": oblique, "dat": oblique, "many": many},
                       "woman": {"nom": woman, "acc": woman, "many": women,
                                 "dat": "Deutschen" if adjective == "German" else woman}}
