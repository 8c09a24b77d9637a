"""Makes clauses in both languages: a subject and its action, in every tense, also negated.

The German verb goes where its clause wants it: second, first or last.
"""
import re
from typing import NamedTuple

from more_pairs.nouns import DER, PRONOUNS, Noun, article_of

AT = {"m": 0, "w": 0, "f": 1, "n": 2, "p": 3}
OWN = {"1s": ("my", "mein"), "1p": ("our", "unser"), "3p": ("their", "ihr"), "m": ("", "sein"), "f": ("", "ihr"), "n": ("", "sein")}
REFLEXIVE = {"1s": ("mich", "mir"), "1p": ("uns", "uns")}
SEIN = {"pres": {"1s": "bin", "3s": "ist", "1p": "sind", "3p": "sind"}, "past": {"1s": "war", "3s": "war", "1p": "waren", "3p": "waren"}}
HABEN = {"1s": "habe", "3s": "hat", "1p": "haben", "3p": "haben"}
WERDEN = {"1s": "werde", "3s": "wird", "1p": "werden", "3p": "werden"}


class Subject(NamedTuple):
    english: str
    german: str
    person: str  # 1s, 3s, 1p, 3p
    gender: str  # m, f, n; p for a plural
    it: str  # the English pronoun that refers to the noun

    def again(self) -> "Subject":
        """Returns the pronoun for this subject."""
        return self if self.person[0] == "1" else self._replace(english=self.it, german=PRONOUNS["nom"].split()[AT[self.gender]])


class Action(NamedTuple):
    english: list[str]  # infinitive, past, participle, -ing
    rest: str
    german: list[str]  # infinitive with |, present, preterite, participle, h or s
    german_rest: str


PRONOUN_SUBJECTS = [Subject("I", "ich", "1s", "m", "I"), Subject("we", "wir", "1p", "p", "we"), Subject("he", "er", "3s", "m", "he"),
                    Subject("she", "sie", "3s", "f", "she"), Subject("they", "sie", "3p", "p", "they")]


def read_actions(lines) -> dict[str, list[Action]]:
    found: dict[str, list[Action]] = {"person": [], "animal": []}
    for line in lines:
        who, english, rest, german, german_rest = line.split("\t")
        for kind in {"p": ("person",), "a": ("animal",), "b": ("person", "animal")}[who]:
            found[kind].append(Action(english.split(), rest, german.split(), german_rest))
    return found


def read_handled(lines) -> list[tuple[list[str], Action]]:
    found = []
    for line in lines:
        kinds, english, german = line.split("\t")
        words = english.split()
        found.append((kinds.split(), Action(words[:4], " ".join(words[4:]), [*german.split(), "h"], "")))
    return found


def third(verb: str) -> str:
    if verb in ("go", "do"):
        return verb + "es"
    return verb[:-1] + "ies" if re.search("[^aeiou]y$", verb) else verb + ("es" if re.search("(s|x|ch|sh|z)$", verb) else "s")


def english_clause(subject: Subject, action: Action, tense: str, negated: str = "") -> str:
    """Returns the clause in English; tenses: pres, past, plup, fut, would, would_have, or a modal verb."""
    base, past, participle, _ = action.english
    single = subject.person == "3s"
    if tense in ("pres", "past"):
        helper = ("doesn't" if single else "don't") if tense == "pres" else "didn't"
        verb = f"{helper} {base}" if negated == "not" else (third(base) if single else base) if tense == "pres" else past
        verb = f"never {verb}" if negated == "never" else verb
    elif tense == "plup":
        verb = {"": "had", "not": "hadn't", "never": "had never"}[negated] + " " + participle
    elif tense == "would_have":
        verb = ("wouldn't" if negated else "would") + " have " + participle
    else:
        verb = {"fut": "won't" if negated else "will", "would": "wouldn't" if negated else "would"}.get(tense, tense) + " " + base
    return " ".join(part for part in (subject.english, verb, action.rest.replace("{my}", own(subject)[0])) if part)


def progressive(subject: Subject, action: Action) -> str:
    be = "was" if subject.person in ("1s", "3s") else "were"
    return f"{subject.english} {be} {action.english[3]} {action.rest.replace('{my}', own(subject)[0])}".strip()


def own(subject: Subject) -> tuple[str, str]:
    """Returns the possessives of a subject: my and mein, its and sein."""
    if subject.person != "3s":
        return OWN[subject.person]
    return {"he": "his", "she": "her", "it": "its"}[subject.it], OWN[subject.gender][1]


def finite(subject: Subject, action: Action, tense: str) -> tuple[str, str]:
    """Returns the German verb that agrees with the subject, and the words at the clause's end."""
    prefix, _, bare = action.german[0].rpartition("|")
    infinitive = prefix + bare
    person = subject.person
    if tense == "pres":
        first = bare[:-2] + "e" if bare.endswith("en") else bare[:-1] + "e"
        return {"1s": first, "3s": action.german[1]}.get(person, bare), prefix
    if tense == "past":
        form = action.german[2]
        return (form if person in ("1s", "3s") else form + ("n" if form.endswith("e") else "en")), prefix
    if tense in ("perf", "plup", "would_have"):
        is_sein = action.german[4] == "s"
        stem = {"perf": SEIN["pres"][person] if is_sein else HABEN[person], "plup": SEIN["past"][person] if is_sein else "hatte",
                "would_have": "wäre" if is_sein else "hätte"}[tense]
        plural = person[1] == "p" and tense != "perf" and stem[-1] == "e"
        return stem + ("n" if plural else ""), action.german[3]
    if tense == "fut":
        return WERDEN[person], infinitive
    if tense == "would":
        return "würde" + ("n" if person[1] == "p" else ""), infinitive
    return tense.split()[person[1] == "p"], infinitive


def german_clause(subject: Subject, action: Action, tense: str, order: str = "second", negated: str = "") -> str:
    """Returns the clause in German; order: second, first or last, the place of the verb. A modal verb's tense
    is given by its two forms."""
    verb, end = finite(subject, action, tense)
    direct, indirect = REFLEXIVE.get(subject.person, ("sich", "sich"))
    rest = action.german_rest.replace("{sich3}", indirect).replace("{sich}", direct).replace("{mein}", own(subject)[1])
    rest = rest.replace("~", {"": "", "not": "nicht", "never": "nie"}[negated])
    if order == "last":
        parts = [subject.german, rest, end + verb if end and tense in ("pres", "past") else f"{end} {verb}"]
    else:
        parts = [*((subject.german, verb) if order == "second" else (verb, subject.german)), rest, end]
    return " ".join(" ".join(parts).split())


def sentence(english: str, german: str, mark: str = ".") -> tuple[str, str]:
    return english[0].upper() + english[1:] + mark, german[0].upper() + german[1:] + mark


def with_a(english: str) -> str:
    name = bare(english)
    return ("an " if name[0] in "aeiou" and not re.match("uni|eu|use", name) else "a ") + name


def bare(phrase: str) -> str:
    return phrase.split(" ", 1)[1]


def after(action: Action) -> str:
    return f" {action.rest}" if action.rest else ""


def accusative(noun: Noun, determiner: str) -> str:
    return f"{article_of(determiner, 'acc', AT[noun.gender])[0]} {noun.form('acc', False)}"


def dative(noun: Noun) -> str:
    return f"{DER['dat'].split()[AT[noun.gender]]} {noun.form('dat', False)}"


def doing(action: Action, english: str, german: str) -> Action:
    """Returns an action with its object; a particle comes after the object, a preposition before it."""
    rest = f"{action.rest} {english}" if action.rest == "for" else f"{english} {action.rest}".strip()
    return action._replace(rest=rest, german_rest=german)
