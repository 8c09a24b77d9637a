"""Learns the gender of German nouns from the articles before them in the pairs themselves.

A dictionary of terms says "colander, Sieb" and not "das Sieb". Where a noun follows its articles often enough in the
German sentences, they tell; a compound has the gender of its last part; some endings tell always.
"""
import math
import re
from collections import Counter

# The relative frequency of a word before a noun of each gender and the plural (m, f, n, p), roughly as in German text.
BEFORE = {
    "der": (.35, .30, .003, .10), "die": (.003, .40, .003, .40), "das": (.003, .003, .40, .002), "den": (.17, .003, .003, .10),
    "dem": (.13, .003, .14, .003), "des": (.08, .002, .08, .002), "ein": (.10, .003, .20, .001), "eine": (.002, .25, .002, .003),
    "einen": (.20, .002, .003, .001), "einem": (.07, .002, .07, .001), "einer": (.003, .09, .002, .004), "eines": (.03, .002, .03, .002),
    "im": (.08, .002, .09, .002), "am": (.05, .002, .04, .002), "zum": (.05, .002, .06, .002), "vom": (.03, .001, .03, .001),
    "zur": (.001, .08, .001, .001), "ins": (.001, .001, .06, .001), "keine": (.002, .06, .002, .06), "keinen": (.05, .001, .002, .005),
    "meine": (.003, .10, .003, .06), "seine": (.003, .08, .003, .06), "ihre": (.003, .06, .003, .05), "meinen": (.05, .001, .003, .02),
    "seinen": (.05, .001, .003, .02), "diese": (.002, .08, .002, .10), "dieser": (.06, .04, .002, .03), "dieses": (.02, .001, .12, .002),
    "diesen": (.05, .001, .002, .02), "jeder": (.03, .02, .001, .001), "jedes": (.004, .001, .03, .001), "jede": (.001, .03, .001, .001)}
ALWAYS = [("ung|heit|keit|schaft|tion|sion|tät|enz|anz|ik|ie|ei|ur", "f"), ("chen|lein|ment|tum", "n"), ("ismus|ling|ig|ich", "m")]
FOLLOWS = re.compile(r"\b(" + "|".join(sorted(BEFORE)) + r") ([A-ZÄÖÜ][a-zäöüß-]+)\b", re.IGNORECASE)
LEAST = 2.5  # lead of the best gender, as a natural logarithm


def counted(sentences) -> dict[str, Counter]:
    found: dict[str, Counter] = {}
    for sentence in sentences:
        for article, noun in FOLLOWS.findall(sentence):
            if noun[0].isupper():
                found.setdefault(noun, Counter())[article.lower()] += 1
    return found


class Genders:
    def __init__(self, sentences):
        self.known: dict[str, str] = {}
        for noun, articles in counted(sentences).items():
            sums = [sum(count * math.log(BEFORE[article][at]) for article, count in articles.items()) for at in range(4)]
            best, second = sorted(sums, reverse=True)[:2]
            if best - second >= LEAST:
                self.known[noun] = "mfnp"[sums.index(best)]

    def of(self, noun: str) -> str:
        """Returns m, f, n or p; nothing if it is not known."""
        if noun in self.known:
            return self.known[noun]
        for at in range(3, len(noun) - 3):  # the longest known last part
            part = noun[at:].capitalize()
            if self.known.get(part, "p") != "p":
                return self.known[part]
        return next((gender for ends, gender in ALWAYS if re.search(rf"..({ends})$", noun)), "")
