"""Finds the source of every number in a document: checked, measured, given, or missing, which is an error."""
import datetime
import re
from pathlib import Path

from . import numbers as found_in
from .marks import MEASURED, parts_of, names_of
from .measured import commit_now, digest, last_change, stamp
from .shown import VARYING
from .values import ValueFault, Values

NOT_COUNTED = ("translations", "mermaid", "html", "cpp", "cmake")
LEFT = ("given", "measured", "stated")


def is_compared(document, part):
    """True if the lines of this block are compared with what its command prints."""
    if part.kind == "console":
        return not part.block.needs
    return part.block is not None and any(c.shown_from == part.first for c in document.shown)


def varying(line, number):
    """Returns the numbers of a compared line that may differ between runs: times and speeds."""
    spans = [m.span() for pattern, _ in VARYING for m in pattern.finditer(line)]
    return [n for n in found_in.in_code(line, number, re.compile(r"\d[\d.,:]*(?:e[-−+]\d+)?"))
            if any(a <= n.begin < b for a, b in spans)]


def numbers_in(document, part):
    """Returns the numbers of a part that need a source."""
    if part.kind in NOT_COUNTED:
        return []
    result = []
    for number in range(part.first, part.last + 1):
        line = document.lines[number - 1]
        if is_compared(document, part):
            result += [] if line.startswith(("$ ", "> ")) else varying(line, number)
        elif part.kind in ("prose", "heading"):
            result += found_in.in_prose(line, number)
        elif part.kind == "sh":
            result += found_in.in_comment(line, number)
        elif part.kind in ("python", "math"):
            result += found_in.in_code(line, number, found_in.DECIMALS)
        elif part.kind == "console":
            result += [] if line.startswith(("$ ", "> ")) else found_in.in_code(line, number)
        else:
            result += found_in.in_code(line, number)
    return result


def numbers_of(document, parts):
    return [n for part in parts for n in numbers_in(document, part)]


def shown_text(document, part):
    return "\n".join(l for l in document.lines[part.first - 1:part.last] if not l.startswith(("$ ", "> ")))


class Account:
    """Checks one document; each error is a line that begins with file:line."""

    def __init__(self, document, values, update=False, root=Path(".")):
        self.document, self.values, self.update, self.root = document, values, update, root
        self.faults, self.replaced, self.measured, self.followed = [], [], {}, []
        self.counts = {"checked": 0, "measured": 0, "given": 0, "claims": 0}

    def check(self):
        above, parts = [], parts_of(self.document)
        for part in parts:
            for claim in part.of("claim"):
                self.claim(claim, above)
            self.part(part, above)
            if part.kind == "console" or is_compared(self.document, part):
                above.insert(0, shown_text(self.document, part))
        for mark, (found, owners) in self.measured.items():
            self.check_measured(mark, found, owners)
        for number, text in sorted(self.replaced, key=lambda r: (r[0].line, r[0].begin), reverse=True):
            line = self.document.lines[number.line - 1]
            self.document.lines[number.line - 1] = line[:number.begin] + text + line[number.end:]
        return self.faults

    def fault(self, line, text):
        self.faults.append(f"{self.document.where(line)}: {text}")

    def claim(self, mark, above):
        self.counts["claims"] += 1
        try:
            wrong = self.values.untrue(mark.text, above)
        except ValueFault as error:
            wrong = str(error)
        if wrong:
            self.fault(mark.first, f"no longer true: {mark.text}: {wrong}")

    def part(self, part, above):
        found, marks = numbers_in(self.document, part), {k: part.of(k) for k in ("from", *LEFT)}
        if marks["from"]:
            self.part_from(part, found, above)
        elif marks["measured"] or marks["stated"]:
            self.keep_measured((marks["measured"] or marks["stated"])[0], part, found)
        elif marks["given"]:
            self.counts["given"] += len(found)
        else:
            for number in found:
                self.fault(number.line, f"unaccounted number {number.text}: {self.document.lines[number.line - 1].strip()}")

    def keep_measured(self, mark, part, found):
        kept = self.measured.setdefault(mark.first, ([], []))
        kept[0].extend(found)
        kept[1].append((mark, part))
        self.counts["measured"] += len(found)
        self.followed += found

    def part_from(self, part, found, above):
        wanted = []
        for mark in part.of("from"):
            for expression in filter(None, re.split(r";\s+|;$", mark.text)):
                if found_in.NUMBER.fullmatch(expression.strip()) and not part.of("claim") and not part.of("given"):
                    self.fault(mark.first, f"{expression.strip()} does not say where it comes from")
                wanted += self.values_of(expression, mark, above)
        line = part.of("from")[0].first
        if len(wanted) != len(found):
            if not any(value is None for _, value in wanted):  # already counted as an error
                self.fault(line, f"{len(wanted)} values for {len(found)} numbers: {', '.join(n.text for n in found)}")
            return
        for number, (expression, value) in zip(found, wanted):
            if value in LEFT:
                self.left(part, number, value)
            elif value is not None:
                self.compare(number, expression, value)

    def left(self, part, number, kind):
        marks = part.of(kind)
        if not marks:
            self.fault(number.line, f"{number.text} is {kind}, but no mark says {'why' if kind == 'given' else 'by what'}")
        elif kind != "given":
            self.keep_measured(marks[0], part, [number])
        else:
            self.counts["given"] += 1

    def values_of(self, expression, mark, above):
        """Returns (expression, value) for each number that an expression gives; None for an unavailable
        value."""
        if expression.strip() in LEFT:
            return [(expression, expression.strip())]
        try:
            value = self.values.of(expression.strip(), above)
        except ValueFault as error:
            self.fault(mark.first, f"{expression.strip()}: {error}")
            return [(expression, None)]
        values = value if isinstance(value, (list, tuple)) else [value]
        if not all(isinstance(v, (int, float)) for v in values):
            self.fault(mark.first, f"{expression.strip()} is no number")
            return [(expression, None)]
        return [(expression, v) for v in values]

    def compare(self, number, expression, value):
        self.counts["checked"] += 1
        self.followed.append(number)
        text = found_in.written_like(value, number.text)
        if text.replace("−", "-") == number.text.replace("−", "-"):
            return
        if self.update:
            self.replaced.append((number, text))
        else:
            self.fault(number.line, f"{number.text} is {text} by {expression.strip()}; --update writes it")

    def check_measured(self, line, found, owners):
        mark, parts = owners[0][0], [p for _, p in owners]
        says = MEASURED.fullmatch(mark.text)
        what, day, commit, seal = says.groups()
        script = next((w for w in what.split() if "/" in w), None)
        if script and not (self.root / script).exists():
            self.fault(line, f"there is no {script}")
        if seal == digest(found):
            return
        if self.update and (seal is None or all(is_compared(self.document, p) for p in parts)):
            if not day:
                day, commit = last_change(self.document.path, parts, self.root)
            if seal is not None or not day:
                day, commit = datetime.date.today().isoformat(), commit_now(self.root)
            self.document.lines[mark.first - 1] = stamp(mark.kind, what, day, commit, found)
            return
        self.fault(line, f"numbers {mark.kind} by {what} were edited since: their digest is {digest(found)}; measure again, "
                   "or, where the new numbers are right, take day, commit and digest out of the mark and run --update"
                   if seal else f"no day, commit and digest: {mark.text}; --update adds them")


def account(document, sources, update, root):
    """Returns the errors of a document's numbers; sources are the commands and options to ask."""
    commands, options = sources
    return Account(document, Values(commands, root, names_of(document), options), update, root).check()
