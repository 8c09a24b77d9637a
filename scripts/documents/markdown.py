"""Parses a Markdown file for check_docs.py: blocks of commands, tables to check, code spans, links."""
import re
from dataclasses import dataclass, field
from pathlib import Path

from .marks import mark_at

NEEDS = ("build", "files", "hours", "network", "root", "venv")
MARK = re.compile(r"\s*<!-- (needs|ends|shows): ([a-z0-9, -]+) -->\s*")
GENERATED = re.compile(r"<!-- generated: ([a-z-]+\.md) -->")
GENERATED_END = "<!-- end of generated -->"
FENCE = re.compile(r"(`{3,}|~{3,})\s*([a-z]*)\s*")


class DocumentError(Exception):
    """An error in a document: its place (file:line) and a description."""


@dataclass
class Command:
    """A command of a console block with the lines it is shown to print (lines count from 1)."""
    first: int
    last: int
    shown_from: int
    shown: list[str] = field(default_factory=list)


@dataclass
class Block:
    """A fenced block: its lines are first … last, without the fences."""
    language: str
    first: int
    last: int
    needs: tuple[str, ...] = ()
    ends: int = 0
    commands: list[Command] = field(default_factory=list)


@dataclass
class Table:
    """A table of sentences and their translations: (line, source, target)."""
    rows: list[tuple[int, str, str]]
    model: str  # the shipped model that translates them; empty: the default one


@dataclass
class Generated:
    """Lines first … last (from 1) that a file of the build holds: between two marks."""
    name: str
    first: int
    last: int


class Document:
    """A parsed Markdown file."""

    def __init__(self, path, name):
        self.path, self.name = Path(path), name
        self.lines = self.path.read_text(encoding="utf-8").split("\n")
        self.blocks, self.tables, self.prose, self.generated = [], [], [], []
        self.shown = []  # outputs in separate blocks, like commands
        self._take_apart()

    def where(self, line):
        return f"{self.name}:{line}"

    def _take_apart(self):
        marks, number = {}, 0
        while number < len(self.lines):
            line = self.lines[number]
            mark, fence = MARK.fullmatch(line), FENCE.fullmatch(line.lstrip())
            generated = GENERATED.fullmatch(line)
            source = mark_at(self.lines, number)
            if source:
                number = source.last - 1
            elif generated:
                number = self._generated(number, generated[1])
            elif mark:
                marks[mark[1]] = (number + 1, mark[2])
            elif fence:
                number = self._block(number, fence, marks)
                marks = {}
            elif "shows" in marks and line.lstrip().startswith("|"):
                number = self._table(number, marks["shows"][1].removeprefix("translations").strip())
                marks = {}
                continue
            elif line.strip():
                if line.lstrip().startswith("<!-- "):
                    raise DocumentError(f"{self.where(number + 1)}: not a mark that is known: "
                                        f"{line.strip()}; write <!-- needs: venv -->, "
                                        "<!-- ends: 2 -->, <!-- shows: output --> or "
                                        "<!-- shows: translations -->; scripts/documents/marks.py "
                                        "has those of numbers")
                if marks:
                    place, _ = next(iter(marks.values()))
                    raise DocumentError(f"{self.where(place)}: nothing to mark follows")
                self.prose.append((number + 1, line))
            number += 1

    def _generated(self, opening, name):
        """Keeps the lines up to the closing mark; returns the closing mark's number."""
        if GENERATED_END not in self.lines[opening:]:
            raise DocumentError(f"{self.where(opening + 1)}: no {GENERATED_END} follows")
        closing = self.lines.index(GENERATED_END, opening)
        self.generated.append(Generated(name, opening + 2, closing))
        self.prose += [(n + 1, self.lines[n]) for n in range(opening + 1, closing)]
        return closing

    def _block(self, opening, fence, marks):
        indent = len(self.lines[opening]) - len(self.lines[opening].lstrip())
        for closing in range(opening + 1, len(self.lines)):
            if self.lines[closing].strip() == fence[1]:
                break
        else:
            raise DocumentError(f"{self.where(opening + 1)}: this block is never closed")
        needs = tuple(w.strip() for w in marks["needs"][1].split(",")) if "needs" in marks else ()
        for need in needs:
            if need not in NEEDS:
                raise DocumentError(f"{self.where(marks['needs'][0])}: nothing needs {need}; "
                                    f"use {', '.join(NEEDS)}")
        for number in range(opening + 1, closing):
            self.lines[number] = self.lines[number][indent:]
        block = Block(fence[2], opening + 2, closing, needs, int(marks.get("ends", (0, "0"))[1]))
        if block.language == "console":
            block.commands = self._commands(block)
        if "shows" in marks:
            if not self.blocks or self.blocks[-1].language not in ("sh", "python"):
                raise DocumentError(f"{self.where(opening + 1)}: no block before it prints this")
            before = self.blocks[-1].first
            self.shown.append(Command(before, before, block.first, self.lines[opening + 1:closing]))
        self.blocks.append(block)
        return closing

    def _commands(self, block):
        commands, number = [], block.first
        while number <= block.last:
            line = self.lines[number - 1]
            if line.startswith("$ "):
                last = number
                while last < block.last and self.lines[last].startswith("> "):
                    last += 1
                commands.append(Command(number, last, last + 1))
                number = last
            elif not commands:
                raise DocumentError(f"{self.where(number)}: a console block begins with $ and a command")
            else:
                commands[-1].shown.append(line)
            number += 1
        return commands

    def _table(self, number, model):
        rows = []
        while number < len(self.lines) and self.lines[number].lstrip().startswith("|"):
            cells = [c.strip() for c in self.lines[number].strip().strip("|").split("|")]
            rows.append((number + 1, *cells))
            number += 1
        for place, *cells in rows:
            if len(cells) != 2:
                raise DocumentError(f"{self.where(place)}: a table of translations has two columns, "
                                    f"here are {len(cells)}")
        self.tables.append(Table(rows[2:], model))
        return number

    def spans(self):
        """Yields (line, text) of each code span outside of blocks."""
        for number, line in self.prose:
            for match in re.finditer(r"(`+)(.+?)\1(?!`)", line):
                yield number, match[2].strip()

    def links(self):
        """Yields (line, target) of each link and picture outside of blocks and code."""
        for number, line in self.prose:
            line = re.sub(r"(`+)(.+?)\1(?!`)", "", line)
            for match in re.finditer(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)", line):
                yield number, match[1]
            for match in re.finditer(r"<(?:img|a)\s[^>]*?(?:src|href)=\"([^\"]+)\"", line):
                yield number, match[1]

    def anchors(self):
        """Returns the anchors that GitHub gives the headings: #how-to-read-a-map."""
        found = set()
        for _, line in self.prose:
            heading = re.match(r"#{1,6}\s+(.*)", line)
            if heading:
                text = re.sub(r"[*`]|\]\([^)]*\)|\[", "", heading[1]).strip().lower()
                slug = "".join(c for c in text if c.isalnum() or c in " -_").replace(" ", "-")
                name, again = slug, 0
                while name in found:
                    again += 1
                    name = f"{slug}-{again}"
                found.add(name)
        return found


def dead_links(documents, root):
    """Yields a line for each link or picture of these documents whose target does not exist in root."""
    anchors = {d.path.resolve(): d.anchors() for d in documents}
    for document in documents:
        for line, target in document.links():
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            path = (document.path.parent / file).resolve() if file else document.path.resolve()
            if not path.is_relative_to(Path(root).resolve()):
                yield f"{document.where(line)}: {target} leads out of the project"
            elif not path.exists():
                yield f"{document.where(line)}: {target} leads nowhere: there is no such file"
            elif anchor and path in anchors and anchor not in anchors[path]:
                yield f"{document.where(line)}: {target} leads nowhere: no heading there is #{anchor}"
