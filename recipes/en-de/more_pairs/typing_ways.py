"""Changes sentences as people type them: the source as a hurried hand types it, the target as it should be
read."""
import re

from more_pairs import said
from more_pairs.draw import Draw

QUOTED = re.compile(r"\"([^\"]+)\"")
GERMAN_QUOTED = re.compile(r"[\"„]([^\"„“”]+)[\"“”]")


def lower_case(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
    return english.lower(), german


def bare(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
    """Removes the final punctuation on both sides."""
    if english[-1] not in ".!?" or german[-1] not in ".!?" or english[-2:-1] in ".!?":
        return None
    return english[:-1], german[:-1]


def lower_case_named(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
    """Writes names, places and days in small letters, half of them without final punctuation."""
    return (lower_and_bare(english, german, draw) if draw.percent(50) else None) or (
        english.lower(), german)


def lower_and_bare(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
    without = bare(english, german, draw)
    return without and (without[0].lower(), without[1])


def without_apostrophes(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
    """Removes apostrophes (dont, Ive), but not from "we're" and the like, which would become other words."""
    changed = re.sub(r"(?<=n)'(?=t\b)|(?<=\bI)'(?=[mv])", "", english)
    return (changed, german) if changed != english else None


def typographic(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
    """Writes typographic apostrophes and quotes: It’s, “so” and „so“."""
    changed = QUOTED.sub(r"“\1”", english).replace("'", "’")
    return (changed, GERMAN_QUOTED.sub(r"„\1“", german)) if changed != english else None


def quoted(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
    """Puts the whole sentence into quotes."""
    if re.search(r"[\"“”„‘]", english + german):
        return None
    marks = draw.pick(['""', "“”"])
    return marks[0] + english + marks[1], "„" + german + "“"


def mistyped(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
    """Makes one typo in a word of five or more small letters: swapped, lost or doubled."""
    places = [m for m in re.finditer(r"(?<![\w'])[a-z]{5,}(?![\w'])", english)]
    if not places:
        return None
    word = draw.pick(places)
    at = word.start() + draw.between(1, len(word[0]) - 3)
    two = english[at:at + 2]
    slip = draw.pick([two[1] + two[0], two[1], two[0] + two])
    changed = english[:at] + slip + english[at + 2:]
    return (changed, german) if changed != english else None


def stretched(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
    """Lengthens a short word's vowel and the punctuation: Sooo good!!!"""
    places = list(re.finditer(r"(?<![\w'])(so|no|very|really|yes|good|nice|please|love|well|long|cold|hot|late|tired|funny|sweet|cute|cool|great|too|much|hello|wow|oh|hey|why|what|stop|help)(?![\w'])", english, re.IGNORECASE))
    if not places:
        return None
    word = draw.pick(places)[0]
    vowels = [m.start() for m in re.finditer("[aeiouy]", word, re.IGNORECASE)]
    at = draw.pick(vowels)
    changed = english.replace(word, word[:at] + word[at] * draw.between(3, 6) + word[at + 1:], 1)
    mark = english[-1] if english[-1] in ".!?" and german[-1] == english[-1] and english[-2] not in ".!?" else ""
    more = draw.pick(["", "!!", "!"]) if mark == "!" else draw.pick(["", "??"]) if mark == "?" else draw.pick(["", ".."]) if mark else ""
    return changed + more, german + more


def doubled_word(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
    """Repeats a short word: The the house."""
    places = list(re.finditer(r"(?<![\w'])(the|a|to|in|is|of|and|we|he|she|you|it|my|on|at|for|are|was|with)(?![\w'])", english, re.IGNORECASE))
    if not places or re.search(r"\b(\w+) \1\b", english):
        return None
    found = draw.pick(places)
    return english[:found.end()] + " " + found[0].lower() + english[found.end():], german


def partly_capitals(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
    """Writes one word that German keeps, or the last of two sentences, in capitals."""
    words = {"never": "nie", "not": "nicht", "now": "jetzt", "always": "immer", "very": "sehr", "all": "alle", "no": "nein", "yes": "ja", "please": "bitte", "my": "mein", "today": "heute",
             "everything": "alles", "nothing": "nichts", "here": "hier", "only": "nur", "too": "zu", "nobody": "niemand", "again": "wieder", "must": "muss", "only one": "nur ein"}
    found = [(small, large) for small, large in words.items()
             if all(len(re.findall(rf"(?<!\w){word}(?!\w)", side, re.IGNORECASE)) == 1 for word, side in ((small, english), (large, german)))]
    if not found:
        return None
    word = draw.pick(found)
    return tuple(re.sub(rf"(?<!\w){one}(?!\w)", lambda m: m[0].upper(), side, flags=re.IGNORECASE) for one, side in zip(word, (english, german)))


def capitals(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
    """Writes both sides IN CAPITALS."""
    if re.search(r"[/@\\_<{&`]|\w\.\w", english):
        return None  # addresses and code keep their capitals
    return english.upper(), german.upper()


def caps_lock(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
    """Writes as with Caps Lock pressed by mistake: tHE SAME."""
    if re.search(r"[/@\\_<{&`]|\w\.\w", english):
        return None
    return english.swapcase(), german


def listed(pairs: list[tuple[str, str]], draw: Draw) -> tuple[str, str] | None:
    """Joins two or three short texts as in lists, forms and tables."""
    form = draw.pick(["a) {} b) {}", "a) {} b) {} c) {}", "1) {} 2) {}", "1. {} 2. {}", "{}: {}: {}:", "{}: {}", "{} / {}", "{}/{}", "{}, {}, {}", "{} | {}",
                      "{} – {}", "({}) {}", "{} ({})", "{} + {}", "- {} - {}", "[ ] {} [ ] {}", "{}; {}; {}", "{} → {}", "{}:", "Q: {} A: {}"])
    bare = [[re.sub(r"[.!]$", "", side) for side in pair] for pair in pairs]
    if any(re.search(r"[.,:;/()|\[\]–+→]", side) for pair in bare for side in pair):
        return None
    german = form.replace("Q:", "F:") if draw.percent(50) else form
    return form.format(*(pair[0] for pair in bare)), german.format(*(pair[1] for pair in bare))


def titled(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
    """Capitalizes Every Word, As In Headings; German keeps its own capitals."""
    if re.search(r"[/@\\_<{&`]", english):
        return None
    return re.sub(r"(?<![\w'’])[a-z]", lambda m: m[0].upper(), english), german


def blanks(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
    """Puts a tab or a no-break space in place of a space."""
    places = [m.start() for m in re.finditer(" ", english)]
    if not places:
        return None
    at = draw.pick(places)
    return english[:at] + draw.pick(["\u00a0", "\u00a0", "\t", "\u2009", "\u202f"]) + english[at + 1:], german


WAYS = {"stretched": stretched, "doubled_word": doubled_word, "partly_capitals": partly_capitals, "hesitating": said.hesitating,
        "capitals": capitals, "caps_lock": caps_lock, "titled": titled, "blanks": blanks, "lower_case": lower_case, "lower_case_named": lower_case_named, "bare": bare, "lower_and_bare": lower_and_bare,
        "without_apostrophes": without_apostrophes, "typographic": typographic, "quoted": quoted,
        "mistyped": mistyped}
