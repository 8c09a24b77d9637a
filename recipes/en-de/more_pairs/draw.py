"""Draws numbers by hash: the same on every machine and version, and independent of earlier draws.
Python only guarantees the sequence of random.random(); shuffle and choice have changed.

Python promises the sequence of random.random() alone; shuffle and choice have changed.
"""
import hashlib

MASK = (1 << 64) - 1


class Draw:
    """The numbers that belong to a key: SplitMix64 (Steele et al. 2014), seeded with the key's
    SHA-1."""

    def __init__(self, *key):
        text = "\x1f".join(str(part) for part in key)
        self.state = int.from_bytes(hashlib.sha1(text.encode()).digest()[:8], "little")

    def bits(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        mixed = self.state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
        return mixed ^ (mixed >> 31)

    def below(self, limit: int) -> int:
        """Returns a whole number from 0 to limit - 1."""
        return (self.bits() >> 11) * limit >> 53

    def between(self, first: int, last: int) -> int:
        return first + self.below(last - first + 1)

    def percent(self, chance: float) -> bool:
        return self.below(10000) < chance * 100

    def pick(self, choices):
        return choices[self.below(len(choices))]

    def weighted(self, choices: dict):
        """Returns a key with a probability in proportion to its value."""
        rest = self.below(sum(choices.values()))
        for choice, weight in choices.items():
            rest -= weight
            if rest < 0:
                return choice
        raise AssertionError("the weights sum to what was drawn from")

    def shuffled(self, items: list) -> list:
        mixed = list(items)
        for last in range(len(mixed) - 1, 0, -1):
            other = self.below(last + 1)
            mixed[last], mixed[other] = mixed[other], mixed[last]
        return mixed
