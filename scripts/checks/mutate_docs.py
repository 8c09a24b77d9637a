#!/usr/bin/env python3
"""Changes one digit at a time of a number in the documents: check_docs.py must notice each change.

    scripts/checks/mutate_docs.py [--seed N] [--count N] [--program FILE] [DOCUMENT…]

The digits are drawn by the seed (1) from every number that a document shows: what commands print, and
what the marks of numbers say comes from the program, the code or a measurement. Numbers that are only
"given", such as definitions, are left out. Each document is followed once; what it prints is compared
with the changed text. Exits 1 and prints file, line and change of each digit that nobody missed.
"""
import argparse
import random
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import check_docs  # noqa: E402
from documents.account import Account, is_compared  # noqa: E402
from documents.marks import names_of, parts_of  # noqa: E402
from documents.markdown import Document, DocumentError  # noqa: E402
from documents.options import Options  # noqa: E402
from documents.shown import difference  # noqa: E402
from documents.values import Commands, Values  # noqa: E402

ROOT = check_docs.ROOT


class Checked:
    """A document, the output of its commands, and the sources of its numbers."""

    def __init__(self, name, program, commands, options):
        self.document, self.commands, self.options = Document(ROOT / name, name), commands, options
        self.outputs, self.faults = check_docs.follow(self.document, program, frozenset())
        self.faults += self.faults_of(self.document)

    def account(self, document):
        return Account(document, Values(self.commands, ROOT, names_of(document), self.options), False, ROOT)

    def faults_of(self, document):
        shown = [c for b in document.blocks for c in b.commands] + document.shown
        found = [c for c in shown if c.first in self.outputs and difference(c.shown, self.outputs[c.first])]
        return [document.where(c.shown_from) for c in found] + self.account(document).check()

    def digits(self):
        """Returns (line, column) of each digit that the check must watch."""
        account = self.account(self.document)
        account.check()
        found = {(n.line, c) for n in account.followed for c in range(n.begin, n.end)}
        for part in parts_of(self.document):
            if is_compared(self.document, part):
                found |= {(n, c) for n in range(part.first, part.last + 1) for c in range(len(self.document.lines[n - 1]))
                          if not self.document.lines[n - 1].startswith(("$ ", "> "))}
        return sorted((n, c) for n, c in found if self.document.lines[n - 1][c] in "0123456789")

    def survives(self, line, column, digit):
        """True if the changed document has no error."""
        lines = list(self.document.lines)
        lines[line - 1] = lines[line - 1][:column] + digit + lines[line - 1][column + 1:]
        with tempfile.TemporaryDirectory(prefix="docs-") as folder:
            path = Path(folder) / "mutant.md"
            path.write_text("\n".join(lines), encoding="utf-8")
            try:
                return not self.faults_of(Document(path, self.document.name))
            except DocumentError:
                return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", nargs="*", metavar="DOCUMENT", default=None)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/app/attn-demo")
    options = parser.parse_args()
    commands, known = Commands(options.program, ROOT), Options(options.program, ROOT)
    checked = [Checked(n, options.program, commands, known) for n in options.documents or check_docs.all_names()]
    faults = [f for c in checked for f in c.faults]
    if faults:
        sys.exit("the documents have faults without any change:\n" + "\n".join(faults))
    digits = [(c, *at) for c in checked for at in c.digits()]
    draw, survivors = random.Random(options.seed), 0
    for document, line, column in draw.sample(digits, min(options.count, len(digits))):
        old = document.document.lines[line - 1][column]
        new = draw.choice([d for d in "0123456789" if d != old])
        if document.survives(line, column, new):
            survivors += 1
            print(f"{document.document.where(line)}: {old} became {new} in column {column + 1}, and nothing failed: "
                  f"{document.document.lines[line - 1].strip()}", file=sys.stderr)
    changed = min(options.count, len(digits))
    print(f"{len(digits)} digits, {changed} changed (seed {options.seed}), {changed - survivors} noticed")
    sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main()
