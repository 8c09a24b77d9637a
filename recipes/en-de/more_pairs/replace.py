"""Makes pairs with other names, places, numbers and times by replacing them on both sides.

A pair is only used where both sides name the thing in a form that is known here, so a pronoun or a
free translation on one side leaves it out. German forms kept: the genitive (Toms, Hans’).
"""
import re

from more_pairs import numbers
from more_pairs.draw import Draw
from more_pairs.words import Words, genitive

MALE = ("Tom John Jack Jim Bill Ken Mike Bob Tony George Fred Jackson Paul Peter Michael David "
        "Jeff Dan Sam Steve Robert James Harry Charles Taro").split()
FEMALE = ("Mary Maria Alice Jane Nancy Susan Lucy Betty Linda Lisa Emily Ann Anne Helen Kate Judy "
          "Meg Cathy Carol Sue Layla").split()
HE = re.compile(r"\b(he|his|him|himself)\b", re.I)
SHE = re.compile(r"\b(she|her|herself|hers)\b", re.I)
TITLE = re.compile(r"\b(Mr|Mrs|Ms|Miss|Dr|Professor|Uncle|Aunt)\b")
SMALL = {numbers.english_words(n): numbers.german_words(n) for n in range(2, 100)}

HOURS = "|".join(["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
                  "twelve", r"1[0-2]|[2-9]"])
CLOCK = re.compile(rf"\b(at|until|since|by|before|after|around) ({HOURS})(?: o'clock)?"
                   r"(?= (?:today|tomorrow|every|on|in|and|this|last)\b|[.!?,])")
GERMAN_CLOCK = re.compile(r"\b(um|bis|seit|vor|nach|gegen) ([a-zäöüß]+|1[0-2]|[2-9])(?: Uhr)"
                          r"(?! \d)")


def whole(names) -> str:
    """Returns a pattern of whole words, the longest first."""
    return ("(?<![\\w-])(" + "|".join(map(re.escape, sorted(names, key=lambda n: (-len(n), n))))
            + ")")


class Replacer:
    def __init__(self, words: Words):
        self.words = words
        self.name = re.compile(whole(MALE + FEMALE) + r"(?![\w-])")
        self.places = [(words.cities, True), ([(c.english, c.german) for c in words.countries
                                               if c.article == "-"], True),
                       (words.languages, False), (words.months, False), (words.days, False)]
        self.kinds = ["city", "country", "language", "month", "day"]
        self.patterns = [(re.compile(whole(e for e, _ in pairs) + r"(?![\w-])"), dict(pairs))
                         for pairs, _ in self.places]
        self.adjectives = {adjective: stem for adjective, stem in (people.adjective for people in words.people)
                           if stem.islower() and " " not in adjective}
        self.adjective = re.compile(whole(self.adjectives) + r"(?![\w-])")
        self.number_word = re.compile(whole(SMALL) + r"(?![\w-])")

    def names(self, english: str, german: str, draw: Draw) -> tuple[str, str] | None:
        """Replaces every person's name that occurs on both sides; None if there is none."""
        found = list(dict.fromkeys(self.name.findall(english)))
        if not found or TITLE.search(english):
            return None
        for old in found:
            forms = [old] + (["Maria"] if old == "Mary" else [])
            pattern = re.compile(whole(forms) + r"(s?)(?![\w-])")
            if not pattern.search(german):
                return None
            new = self._new_name(old, english, draw)
            while re.search(whole([new]), english):
                new = self._new_name(old, english, draw)
            english = re.sub(whole([old]) + r"(?![\w-])", lambda _: new, english)
            german = pattern.sub(lambda m: genitive(new) if m[2] else new, german)
        return english, german

    def _new_name(self, old: str, english: str, draw: Draw) -> str:
        kind = "female" if old in FEMALE else "male"
        if not HE.search(english) and not SHE.search(english):
            kind = draw.pick(["female", "male"])
        first = self.words.first(draw, kind)
        way = draw.below(100)
        if way < 10:
            return f"{first} {self.words.family(draw)}"
        return self.words.family(draw) if way < 20 else first

    def place(self, english: str, german: str, draw: Draw) -> tuple[str, str] | None:
        """Replaces one city, country, language, month or weekday, whichever occurs on both sides."""
        changed = None
        for kind, (pattern, german_of), (pairs, owns) in zip(self.kinds, self.patterns,
                                                             self.places):
            for old in dict.fromkeys(pattern.findall(english)):
                old_german = german_of[old]
                ending = r"(s|’)?(?![\w-])" if owns else r"()(?![\w-])"
                german_pattern = re.compile(whole([old_german]) + ending)
                english_pattern = re.compile(whole([old]) + r"(?![\w-])")
                if len(english_pattern.findall(english)) != len(german_pattern.findall(german)):
                    continue
                new = self.words.city(draw) if kind == "city" else draw.pick(pairs)
                if new[0] in english or new[1] in german:
                    continue
                english = self._agreeing(english_pattern, new[0], english)
                german = german_pattern.sub(
                    lambda m: genitive(new[1]) if m[2] else new[1], german)
                changed = english, german
        return changed

    @staticmethod
    def _agreeing(pattern: re.Pattern, new: str, english: str) -> str:
        """Puts a word into its place, with the article that it needs."""
        vowel = re.match(r"(?!U[kgr]|Eu)[AEIOU]", new)
        with_article = re.compile(r"\b([Aa])n? " + pattern.pattern)
        english = with_article.sub(lambda m: f"{m[1]}{'n' if vowel else ''} {new}", english)
        return pattern.sub(lambda _: new, english)

    def nation(self, english: str, german: str, draw: Draw) -> tuple[str, str] | None:
        """Replaces a nationality that is an adjective: an Italian car, ein italienisches Auto."""
        found = self.adjective.findall(english)
        if len(found) != 1:
            return None
        stem = self.adjectives[found[0]]
        german_pattern = re.compile(r"(?<![\w-])" + stem + r"(e|er|en|em|es)(?![\w-])")
        if len(german_pattern.findall(german)) != 1:
            return None
        new = draw.pick(sorted(self.adjectives))
        if new == found[0]:
            return None
        return (self._agreeing(re.compile(whole(found) + r"(?![\w-])"), new, english),
                german_pattern.sub(lambda m: self.adjectives[new] + m[1], german))

    def number(self, english: str, german: str, draw: Draw) -> tuple[str, str] | None:
        return self._times(english, german, draw) or self._digits(english, german, draw) or (
            self._number_words(english, german, draw))

    def clock(self, english: str, german: str, draw: Draw) -> tuple[str, str] | None:
        """Puts a spoken time in place of "at six" and "um sechs (Uhr)", if one occurs on both sides."""
        found = CLOCK.findall(english)
        if len(found) != 1 or len(GERMAN_CLOCK.findall(german)) != 1:
            return None
        hour = GERMAN_CLOCK.search(german)[2]
        digits = {str(n): numbers.german_words(n) for n in range(1, 13)}
        if digits.get(hour, hour) != SMALL.get(found[0][1], digits.get(found[0][1])):
            return None
        new = numbers.clock(draw)
        return (CLOCK.sub(lambda m: f"{m[1]} {new[0]}", english),
                GERMAN_CLOCK.sub(lambda m: f"{m[1]} {new[1]}", german))

    @staticmethod
    def _times(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
        found = re.findall(r"(?<![\d:])(\d\d?):(\d\d)(?!\d| ?[ap]\.?m)", english)
        if len(found) != 1:
            return None
        (hour, minute), = found
        written = re.compile(rf"(?<![\d:.]){hour}[:.]{minute}(?!\d)( Uhr)?")
        half = re.compile(rf"\bhalb {numbers.german_words(int(hour) % 12 + 1)}\b")
        new_hour = draw.between(1, 12)
        if len(half.findall(german)) == 1 and minute == "30":
            new = f"{new_hour}:30"
            changed = half.sub(f"halb {numbers.german_words(new_hour % 12 + 1)}", german)
        elif len(written.findall(german)) == 1:
            new = f"{new_hour}:{draw.below(12) * 5:02}"
            changed = written.sub(lambda m: new + (m[1] or ""), german)
        else:
            return None
        return english.replace(f"{hour}:{minute}", new), changed

    @staticmethod
    def _digits(english: str, german: str, draw: Draw) -> tuple[str, str] | None:
        alone = r"(?<![\w.,:/-])\d+(?![\w:/-]|[.,]\d)"
        found = re.findall(alone, english)
        if not found or sorted(found) != sorted(re.findall(alone, german)) or "1" in found:
            return None
        new = {}
        for old in dict.fromkeys(found):
            low, high = 10 ** (len(old) - 1), 10 ** len(old) - 1
            if re.search(rf"\b{old} Uhr\b", german):
                low, high = 2, 23
            if len(old) == 4 and old[:2] in ("17", "18", "19", "20"):
                low, high = 1700, 2029
            new[old] = str(draw.between(max(2, low), high))
        change = lambda text: re.sub(alone, lambda m: new[m[0]], text)
        return change(english), change(german)

    def _number_words(self, english: str, german: str, draw: Draw) -> tuple[str, str] | None:
        found = self.number_word.findall(english)
        if len(found) != 1 or re.search(r"o'clock|half past|hundred|thousand|million", english):
            return None
        german_pattern = re.compile(whole([SMALL[found[0]]]) + r"(?![\w-])")
        if len(german_pattern.findall(german)) != 1:
            return None
        clock = re.search(whole([SMALL[found[0]]]) + r" Uhr\b", german)
        new = numbers.english_words(draw.between(2, 12) if clock or draw.percent(70)
                                    else draw.between(13, 99))
        return (self.number_word.sub(lambda _: new, english),
                german_pattern.sub(lambda _: SMALL[new], german))
