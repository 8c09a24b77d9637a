"""Compares the output in a document with the real output; defines what scripts/check_docs.py
tolerates."""
import difflib
import re

LEFT_OUT = "…"
VARYING = [(re.compile(r"\b\d[\d,.]*(?= ?(?:s|ms|µs|tokens/s|min)\b)"), "#"),
           (re.compile(r"\b\d+:\d\d(?= left)"), "#"), (re.compile(r"\d(?:\.\d+)?e[-−+]\d+"), "#")]


def alike(shown, found):
    """True if a line in the document equals the real line."""
    shown, found = shown.rstrip(), found.rstrip()
    for pattern, instead in VARYING:
        shown, found = pattern.sub(instead, shown), pattern.sub(instead, found)
    return shown == found


def difference(shown, found):
    """Returns None if the lines agree, else (index of the first missing line, the real line)."""
    place, anywhere = 0, False
    for index, line in enumerate(shown):
        if line.strip() == LEFT_OUT:
            anywhere = True
        elif anywhere:
            rest = shown[index:]
            rest = rest[:next((i for i, l in enumerate(rest) if l.strip() == LEFT_OUT), len(rest))]
            ends = index + len(rest) == len(shown)
            starts = [len(found) - len(rest)] if ends else range(place, len(found) - len(rest) + 1)
            for start in starts:
                if start >= place and all(map(alike, rest, found[start:start + len(rest)])):
                    place, anywhere = start, False
                    break
            else:
                near = difflib.get_close_matches(line, found[place:], 1, 0.5)
                return index, near[0] if near else None
            place += 1
        elif place < len(found) and alike(line, found[place]):
            place += 1
        else:
            return index, found[place] if place < len(found) else None
    if not anywhere and place < len(found):
        return len(shown), found[place]
    return None


def renewed(shown, found):
    """Returns the real output with the same omissions as before; None if their place cannot be
    found."""
    if LEFT_OUT not in [l.strip() for l in shown]:
        return found
    parts, part = [], []
    for line in shown:
        if line.strip() == LEFT_OUT:
            parts, part = parts + [part], []
        else:
            part.append(line)
    parts.append(part)
    result, place = [], 0
    for number, part in enumerate(parts):
        if number:
            result.append(LEFT_OUT)
        if not part:
            continue
        first = 0 if number == 0 else nearest(part[0], found, place)
        if first is None:
            return None
        last = len(found) - 1 if number == len(parts) - 1 else nearest(part[-1], found, first)
        if last is None:
            return None
        result += found[first:last + 1]
        place = last + 1
    return result


def nearest(line, found, start):
    for index in range(start, len(found)):
        if alike(line, found[index]):
            return index
    near = difflib.get_close_matches(line, found[start:], 1, 0.6)
    return found.index(near[0], start) if near else None
