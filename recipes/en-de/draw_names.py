"""Draws names that occur in no training pair, new ones for each seed, and puts them into the sentences of
typed/sentences.txt."""
import re
from collections import defaultdict
from pathlib import Path

from more_pairs.draw import Draw

TYPED = Path(__file__).resolve().parent / "typed"
ORDER = 2  # number of letters that decide the next one
NAME = re.compile(r"\[([^\]=]+)\]")


def names_of(path: Path = TYPED / "names.txt") -> list[str]:
    return [name for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#") for name in line.split()]


class LetterChain:
    """Makes up names whose letters follow each other as in given names."""

    def __init__(self, names: list[str]):
        self.next: dict[str, list[str]] = defaultdict(list)
        for name in names:
            padded = "^" * ORDER + name + "$"
            for at in range(ORDER, len(padded)):
                self.next[padded[at - ORDER:at]].append(padded[at])

    def draw(self, draw: Draw) -> str:
        while True:
            name = "^" * ORDER
            while name[-1] != "$" and len(name) < 16:
                name += draw.pick(self.next[name[-ORDER:]])
            if name[-1] == "$" and 6 <= len(name) <= 14:
                return name[ORDER:-1]


def drawn_name(draw: Draw, names: list[str], chain: LetterChain) -> str:
    """Returns a given name, or a made-up one that sounds similar."""
    return draw.pick(names) if draw.percent(50) else chain.draw(draw)


def sentences(marked: list[str], seed) -> list[str]:
    """Returns the marked sentences with another name in place of each; leaves out those with a marked
    genitive."""
    names = names_of()
    chain, made = LetterChain(names), []
    for number, line in enumerate(marked):
        if "=" in line:
            continue
        draw = Draw("names drawn anew", seed, number)
        made.append(NAME.sub(lambda match: "[" + " ".join(drawn_name(draw, names, chain) for _ in match[1].split()) + "]", line))
    return made
