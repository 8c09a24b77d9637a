"""Uses a dictionary of terms, as entries and in sentences: English, German and source per line.

Of several Germans for an English word, those stay that the sentence pairs translate it with; a word that the pairs often
have, and never with any of its Germans, goes; of a word that they lack, the first German stays.
"""
import re
from collections import Counter

from more_pairs.genders import Genders
from more_pairs.nouns import Noun, english_plural

TERM = re.compile(r"[^\W\d_]+(?:[ '’-][^\W\d_]+){0,3}")
WEAK = re.compile(r"(ent|ant|ist|at|oge|graf|nom|soph)$")  # masculine: einen Studenten
FEW, OFTEN, SHARE = 3, 10, 0.3


def tidy(rows) -> list[tuple[str, str]]:
    """Returns entries without the markup that a wiki left in them; a term has one to four words."""
    entries = []
    for row in rows:
        english, german = (re.sub(r"\]\]|\[\[|'''?", "", side).strip() for side in row[:2])
        if TERM.fullmatch(english) and TERM.fullmatch(german):
            entries.append((english, german))
    return list(dict.fromkeys(entries))


def evidence(entries, pairs) -> tuple[Counter, Counter]:
    """Counts the pairs with an English term of one word, and those that also have its German."""
    germans: dict[str, set[str]] = {}
    for english, german in entries:
        germans.setdefault(english.lower(), set()).add(german)
    seen, together = Counter(), Counter()
    for english, german in pairs:
        found = set(re.findall(r"\w+", english.lower())) & germans.keys()
        words = set(re.findall(r"\w+", german)) if found else set()
        for term in found:
            seen[term] += 1
            together.update((term, word) for word in germans[term] & words)
    return seen, together


def chosen(rows, pairs) -> list[tuple[str, str]]:
    entries = tidy(rows)
    seen, together = evidence(entries, pairs)
    of: dict[str, list[tuple[str, str]]] = {}
    for entry in entries:
        of.setdefault(entry[0].lower(), []).append(entry)
    kept = []
    for term, choices in of.items():
        most = max(together[term, german] for _, german in choices)
        if most:
            kept += [entry for entry in choices if together[term, entry[1]] >= max(SHARE * most, 1)]
        elif seen[term] < (OFTEN if len(choices) == 1 else FEW):
            kept.append(choices[0])
    return kept


def nouns(entries, genders: Genders) -> list[Noun]:
    """Returns entries that are nouns on both sides with a known gender; they have no plural here."""
    found = []
    for english, german in entries:
        gender = genders.of(german)
        if not re.fullmatch(r"[a-z]{3,}( [a-z]{3,})?", english) or not re.fullmatch(r"[A-ZÄÖÜ][a-zäöüß]{2,}", german):
            continue
        if gender not in ("m", "f", "n"):
            continue
        weak = gender == "m" and (german.endswith("e") or WEAK.search(german))
        oblique = german + ("n" if german.endswith("e") else "en") if weak else "-"
        found.append(Noun("term", ((english, english_plural(english)),), german, "w" if weak else gender, oblique))
    return found
