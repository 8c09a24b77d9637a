"""The marks that say where the numbers of the text that follows come from; readers do not see them.

<!-- run: NAME = COMMAND -->            runs COMMAND once; the expressions of this document call what it prints NAME
<!-- let: NAME = EXPRESSION -->        a short name for this document's expressions
<!-- claim: EXPRESSION -->              what the text says in words; must be true. Also: cross:2:2 has its largest
                                        weight on "went" in row "ging" of "The group went home"
<!-- from: EXPRESSION; … -->            one value, or a list of them, for each number, in order; `given` or `measured`
                                        leaves a number to that mark, a plain number needs a claim or `given` beside it
<!-- measured: SCRIPT DATE COMMIT DIGEST -->   what wrote these numbers, and when; the digest shows if they are edited
<!-- stated: FILE DATE COMMIT DIGEST -->      limits and defaults that were written down from this file, and when
<!-- given: REASON -->                  literature, a definition, an example's input

A mark belongs to the paragraph, list, table or block that follows; one in front of a heading belongs to
all of its section that has no mark of its own. A mark may continue over several lines.
"""
import re
from dataclasses import dataclass, field

OPENING = re.compile(r"\s*<!-- (run|let|from|claim|measured|stated|given): ")
MEASURED = re.compile(r"(\S.*?)(?: (\d{4}-\d\d-\d\d) ([0-9a-f]{7,40}|uncommitted)(?: ([0-9a-f]{8}))?)?")


@dataclass
class Mark:
    kind: str
    text: str
    first: int  # lines, from 1
    last: int


@dataclass
class Part:
    """Lines first … last of a document that belong together, with the marks before them."""
    kind: str  # prose, heading, or a fence's language
    first: int
    last: int
    marks: list[Mark] = field(default_factory=list)
    block: object = None

    def of(self, kind):
        return [m for m in self.marks if m.kind == kind]


def mark_at(lines, index):
    """Returns the mark that begins in this line, or None."""
    opening = OPENING.match(lines[index])
    if not opening:
        return None
    last = index
    while last + 1 < len(lines) and "-->" not in lines[last]:
        last += 1
    text = " ".join(l.strip() for l in lines[index:last + 1])
    text = text[text.index(opening[1]) + len(opening[1]) + 1:text.rindex("-->") if "-->" in text else None].strip()
    return Mark(opening[1], text, index + 1, last + 1)


def parts_of(document):
    """Returns the document's parts from top to bottom. Parts without marks get those of their section."""
    fences = {b.first - 1: b for b in document.blocks}
    generated = {n for g in document.generated for n in range(g.first - 1, g.last + 2)}
    tables = {row[0] for t in document.tables for row in t.rows}
    parts, marks, sections, number = [], [], [], 1
    while number <= len(document.lines):
        line = document.lines[number - 1]
        mark = mark_at(document.lines, number - 1)
        if mark:
            if mark.kind not in ("run", "let"):
                marks.append(mark)
            number = mark.last + 1
            continue
        if number in fences:
            block = fences[number]
            part = Part(block.language or "text", block.first, block.last, block=block)
            number = block.last + 2
        elif not line.strip() or number in generated or line.lstrip().startswith("<!--"):
            number += 1
            continue
        else:
            part, number = paragraph(document, number, fences, generated)
            if part.first + 2 in tables:
                part.kind = "translations"
        if part.kind == "heading":
            level = len(document.lines[part.first - 1].split()[0])
            sections = [s for s in sections if s[0] < level] + ([(level, marks)] if marks else [])
            marks = []
        part.marks = marks or [m for _, found in sections[-1:] for m in found if m.kind != "claim"]
        marks = []
        parts.append(part)
    return parts


def paragraph(document, first, fences, generated):
    if re.match(r"#{1,6}\s", document.lines[first - 1]):
        return Part("heading", first, first), first + 1
    last = first
    while last < len(document.lines):
        line = document.lines[last]
        if (not line.strip() or last + 1 in fences or last + 1 in generated or line.lstrip().startswith("<!--")
                or re.match(r"#{1,6}\s", line)):
            break
        last += 1
    return Part("prose", first, last), last + 1


def names_of(document):
    """Returns {NAME: (run or let, COMMAND or EXPRESSION)} from the document's marks."""
    found = {}
    for index in range(len(document.lines)):
        mark = mark_at(document.lines, index)
        if mark and mark.kind in ("run", "let"):
            name, _, text = mark.text.partition(" = ")
            found[name.strip()] = (mark.kind, text.strip())
    return found
