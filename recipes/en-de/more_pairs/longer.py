"""Makes longer text: several whole sentences, and clauses joined by a conjunction."""
import re

from more_pairs.draw import Draw

ENDS = re.compile(r"[.!?…][\"”“’]?$")
# Sentence beginnings that lose their capital inside a sentence, in both languages. "Sie" is kept where it means "you".
ENGLISH_SMALL = set("He She It We They You The A An This That These Those My His Her Our Their Your "
                    "There Some Many Most Everyone Everybody Nobody Someone".split())
GERMAN_SMALL = set("Ich Er Sie Es Wir Ihr Du Das Die Der Den Dem Dies Diese Dieser Dieses Ein Eine "
                   "Einen Mein Meine Meinen Dein Deine Sein Seine Unser Unsere Ihre Ihren Man Alle "
                   "Jeder Jemand Niemand Manche Viele Einige Manchmal Es Mir Mich Ihm Ihn Uns "
                   "Dort Hier Da Heute Gestern Morgen Jetzt Dann".split())
ADVERBS = set("Dort Hier Da Heute Gestern Morgen Jetzt Dann Manchmal".split())
KEPT = {"I", "I'm", "I've", "I'll", "I'd", "Tom", "Mary", "Tom's", "Mary's"}
# Conjunctions after which German keeps its word order.
LINKS = [(", and ", ", und "), (" and ", " und "), (", but ", ", aber "), (", but ", ", doch "),
         (", because ", ", denn "), (", for ", ", denn "), ("; ", "; "), (" - ", " – "),
         (", or ", ", oder ")]
SAYINGS = [("I think ", "Ich glaube, "), ("I believe ", "Ich glaube, "),
           ("I hope ", "Ich hoffe, "), ("I'm afraid ", "Ich fürchte, "),
           ("He says ", "Er sagt, "), ("She says ", "Sie sagt, ")]


def is_sentence(pair: tuple[str, str]) -> bool:
    return bool(ENDS.search(pair[0]) and ENDS.search(pair[1]))


def is_clause(pair: tuple[str, str]) -> bool:
    """True for one statement without quotes whose first words have capitals only because they begin a
    sentence."""
    if any(side[-1] != "." or re.search(r"[.!?:;\"„“”–—]", side[:-1]) for side in pair):
        return False
    first, first_german = pair[0].split()[0], pair[1].split()[0]
    if first in KEPT:
        return first_german in GERMAN_SMALL or first_german.rstrip("s") == first.split("'")[0]
    return first in ENGLISH_SMALL and first_german in GERMAN_SMALL


def inside(pair: tuple[str, str]) -> tuple[str, str]:
    """Returns a clause as it occurs inside a sentence, without its full stop."""
    english, german = (side[:-1] for side in pair)
    formal = re.match(r"(You|Your)\b", english) and re.match(r"(Sie|Ihre?n?|Ihnen)\b", german)
    if english.split()[0] not in KEPT:
        english = english[0].lower() + english[1:]
    if german.split()[0] in GERMAN_SMALL and not formal:
        german = german[0].lower() + german[1:]
    return english, german


def begins_with_subject(pair: tuple[str, str]) -> bool:
    """True unless an adverb comes first, which sounds wrong after "ich glaube,"."""
    return pair[1].split()[0] not in ADVERBS


def joined_clauses(pairs: list[tuple[str, str]], draw: Draw) -> tuple[str, str]:
    """Joins two or three clauses into one sentence; now and then after "I think"."""
    english, german = pairs[0][0][:-1], pairs[0][1][:-1]
    if draw.percent(20) and begins_with_subject(pairs[0]):
        saying = draw.pick(SAYINGS)
        clause = inside(pairs[0])
        english, german = saying[0] + clause[0], saying[1] + clause[1]
    for pair in pairs[1:]:
        clause = inside(pair)
        link = draw.pick(LINKS[:5] if draw.percent(60) else LINKS)
        # A dependent clause ends with a comma, also before "und".
        comma = "," if link[1] == " und " and "," in german else ""
        english, german = english + link[0] + clause[0], german + comma + link[1] + clause[1]
    return english + ".", german + "."


def joined_sentences(pairs: list[tuple[str, str]]) -> tuple[str, str]:
    return " ".join(pair[0] for pair in pairs), " ".join(pair[1] for pair in pairs)
