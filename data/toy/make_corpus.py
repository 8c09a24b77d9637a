#!/usr/bin/env python3
"""Writes the toy corpus: short English and German sentences about who went where and when.

    python3 data/toy/make_corpus.py [DIRECTORY]     (default: the folder of this script)

It writes train, dev and test (.en and .de) and the word alignments of dev and test (.align). The
same script gives the same bytes everywhere: chance is a hash of the words, not a generator.

A sentence is subject + verb + place, with a time at its end, at its front or without one:

    The group went home yesterday      Die Gruppe ging gestern nach Hause
    Yesterday the group went home      Gestern ging die Gruppe nach Hause

German puts the verb second, the time before the place and, in the future, the infinitive last.
One English sentence has exactly one German one. A triple of subject, place and time lies in one
part only, with all its sentences: what dev and test ask is new in its combination, while each of
their words, times, tenses and orders occurs in train.
"""

import hashlib
import os
import sys

# English, German, plural?  The words of a phrase are lower case as inside a sentence.
SUBJECTS = [
    ("the group", "die Gruppe", False),
    ("the teacher", "der Lehrer", False),
    ("the child", "das Kind", False),
    ("the children", "die Kinder", True),
    ("the woman", "die Frau", False),
    ("the parents", "die Eltern", True),
    ("we", "wir", True),
    ("they", "sie", True),
]

# English, German, and which English word stands for which German one, counted from 0.
PLACES = [
    ("home", "nach Hause", [(0, 0), (0, 1)]),
    ("to school", "zur Schule", [(0, 0), (1, 1)]),
    ("to work", "zur Arbeit", [(0, 0), (1, 1)]),
    ("to the park", "in den Park", [(0, 0), (1, 1), (2, 2)]),
    ("to the city", "in die Stadt", [(0, 0), (1, 1), (2, 2)]),
    ("to the station", "zum Bahnhof", [(0, 0), (1, 0), (2, 1)]),
    ("to the cinema", "ins Kino", [(0, 0), (1, 0), (2, 1)]),
]

# English, German, alignment, and the tenses that go with the time.
TIMES = [
    ("", "", [], ("past", "present", "future")),
    ("yesterday", "gestern", [(0, 0)], ("past",)),
    ("today", "heute", [(0, 0)], ("past", "future")),
    ("tonight", "heute Abend", [(0, 0), (0, 1)], ("future",)),
    ("tomorrow", "morgen", [(0, 0)], ("future",)),
    ("on Monday", "am Montag", [(0, 0), (1, 1)], ("past", "future")),
    ("every day", "jeden Tag", [(0, 0), (1, 1)], ("past", "present")),
]

# (tense, plural?) -> English verb; German verb in second place and, last, the infinitive.
VERBS = {
    ("past", False): ("went", "ging", ""),
    ("past", True): ("went", "gingen", ""),
    ("present", False): ("goes", "geht", ""),
    ("present", True): ("go", "gehen", ""),
    ("future", False): ("will go", "wird", "gehen"),
    ("future", True): ("will go", "werden", "gehen"),
}

NOT_SAID = {("the child", "to work"), ("the children", "to work")}
DEMO = ("the group", "home", "")  # "The group went home": always in test
DEV_SHARE, TEST_SHARE = 0.10, 0.13  # of the triples


def chance(*what):
    """Returns a number that depends only on the words, for sorting and choosing."""
    return int.from_bytes(hashlib.sha256("|".join(what).encode()).digest()[:8], "big")


def capital(words):
    return [words[0][0].upper() + words[0][1:]] + words[1:]


def sentence(subject, place, time, tense, order):
    """Returns one pair: English words, German words, the alignment as pairs of positions, and the
    pattern. `order` is "front" or "end": the position of the time in English.

    `order` is "front" or "end": where English puts the time."""
    finite = VERBS[tense, subject[2]]
    # A part: English words, German words, alignment inside the part.
    parts = {
        "subject": (subject[0], subject[1], [(i, i) for i in range(len(subject[0].split()))]),
        "verb": (finite[0], finite[1], [(0, 0)]),
        "infinitive": ("", finite[2], []),
        "place": place[:3],
        "time": time[:3],
    }
    if order == "front":
        english = ["time", "subject", "verb", "place"]
        german = ["time", "verb", "subject", "place", "infinitive"]
    else:
        english = ["subject", "verb", "place", "time"]
        german = ["subject", "verb", "time", "place", "infinitive"]

    def lay_out(names, side):
        words, start = [], {}
        for name in names:
            start[name] = len(words)
            words += parts[name][side].split()
        return words, start

    source, source_start = lay_out(english, 0)
    target, target_start = lay_out(german, 1)
    links = [(source_start[name] + i, target_start[name] + j)
             for name in english for i, j in parts[name][2]]
    if finite[2]:  # will go <-> wird … gehen
        links.append((source_start["verb"] + 1, target_start["infinitive"]))
    return capital(source), capital(target), sorted(links), (subject[2], time[0], tense, order)


def pairs_of(subject, place, time):
    """Returns the two sentences of a triple: with the time at the front and at the end, or two
    tenses without a time."""
    names = (subject[0], place[0], time[0])
    tenses = time[3]
    if not time[0]:
        other = tenses[1 + chance("tense", *names) % 2]
        choices = [("past", "end"), (other, "end")]
    else:
        choices = [(tenses[chance(order, *names) % len(tenses)], order)
                   for order in ("front", "end")]
    return [sentence(subject, place, time, tense, order) for tense, order in choices]


def make_parts():
    """Returns {"train": [pair, …], "dev": …, "test": …}, split by triples."""
    triples = [(s, p, t) for s in SUBJECTS for p in PLACES for t in TIMES
               if (s[0], p[0]) not in NOT_SAID]

    def rank(triple):
        names = tuple(part[0] for part in triple)
        return -1 if names == DEMO else chance("part", *names)

    triples.sort(key=rank)
    test_end = round(TEST_SHARE * len(triples))
    dev_end = test_end + round(DEV_SHARE * len(triples))
    split = {"test": triples[:test_end], "dev": triples[test_end:dev_end],
             "train": triples[dev_end:]}
    parts = {name: [pair for triple in members for pair in pairs_of(*triple)]
             for name, members in split.items()}
    parts["train"].sort(key=lambda pair: chance("order", *pair[0]))
    return parts


def check(parts):
    """Checks the promises of the README: no sentence occurs twice, and all words and patterns occur
    in train."""
    everything = [pair for part in parts.values() for pair in part]
    assert len({" ".join(pair[0]) for pair in everything}) == len(everything)
    assert len({" ".join(pair[1]) for pair in everything}) == len(everything)
    for side in (0, 1):
        known = {word for pair in parts["train"] for word in pair[side]}
        assert all(word in known for pair in everything for word in pair[side])
    assert {pair[3] for pair in everything} == {pair[3] for pair in parts["train"]}
    for source, target, links, _ in everything:
        assert {i for i, _ in links} == set(range(len(source)))
        assert {j for _, j in links} == set(range(len(target)))


def write(path, lines):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)


def main():
    directory = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    parts = make_parts()
    check(parts)
    for name, pairs in parts.items():
        base = os.path.join(directory, name)
        write(base + ".en", (" ".join(source) for source, _, _, _ in pairs))
        write(base + ".de", (" ".join(target) for _, target, _, _ in pairs))
        if name != "train":
            write(base + ".align", (" ".join(f"{i}-{j}" for i, j in links)
                                    for _, _, links, _ in pairs))
    everything = [pair for part in parts.values() for pair in part]
    words = [len({word for pair in everything for word in pair[side]}) for side in (0, 1)]
    print(f"train {len(parts['train'])}, dev {len(parts['dev'])}, test {len(parts['test'])} pairs; "
          f"{words[0]} English and {words[1]} German words")


if __name__ == "__main__":
    main()
