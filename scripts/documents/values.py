"""Finds the values that a document's marks name: cells of a command's output, of its JSON, of the code and
the configuration."""
import json
import math
import os
import re
import shutil
import subprocess
import tempfile
import threading
import weakref

from .numbers import NUMBER


class ValueFault(Exception):
    """An unavailable value: what was looked for, and where."""


class Output(str):
    """The output of a command: output["ging"][2] is the third number after the first "ging" that is followed
    by numbers."""

    def __getitem__(self, label):
        return self.all(label)[0]

    def all(self, label):
        """Returns the numbers of each line that has numbers after the label."""
        rest = [re.sub(r"[█▓▒░]", " ", line.partition(label)[2]) for line in self.splitlines() if label in line]
        found = [numbers for numbers in ([as_float(m[0]) for m in NUMBER.finditer(text)] for text in rest) if numbers]
        if not found:
            raise ValueFault(f'no line has numbers after "{label}"')
        return found

    @property
    def json(self):
        try:
            return json.loads(self.splitlines()[0])
        except (ValueError, IndexError) as error:
            raise ValueFault(f"not JSON: {error}") from error


def as_float(text):
    return float(text.replace(",", "").replace("−", "-"))


class Commands:
    """Runs each command once, in the project's folder."""

    def __init__(self, program, root):
        self.root, self.outputs, self.lock = root, {}, threading.Lock()
        self.environment = {**os.environ, "PATH": f"{program.resolve().parent}:{os.environ.get('PATH', '')}", "LANG": "C.UTF-8"}
        scratch = tempfile.mkdtemp(prefix="docs-")
        weakref.finalize(self, shutil.rmtree, scratch, True)
        self.environment["SCRATCH"] = scratch  # for files that a command must write
        for name in [n for n in self.environment if n.startswith("ATTN_DEMO_")] + ["COLUMNS", "NO_COLOR"]:
            self.environment.pop(name, None)

    def __call__(self, command):
        with self.lock:
            if command not in self.outputs:
                done = subprocess.run(["bash", "-c", command], cwd=self.root, env=self.environment, capture_output=True,
                                      text=True, encoding="utf-8", stdin=subprocess.DEVNULL, check=False)
                if done.returncode:
                    raise ValueFault(f"`{command}` ends in {done.returncode}: {done.stderr.strip()}")
                self.outputs[command] = Output(done.stdout)
            return self.outputs[command]


class Head:
    """A head's map in a record of --json, with rows and columns named by their tokens."""

    def __init__(self, record, name):
        kind, layer, head = name.split(":")
        best, source = record["hypotheses"][0], words(record["source"]["tokens"])
        maps = {"encoder": record["encoder_self"], "decoder": best["decoder_self"], "cross": best["cross"]}[kind]
        self.name, self.map = name, maps[int(layer)][int(head)]
        self.rows = source if kind == "encoder" else words(best["tokens"])
        self.columns = (["<pad>"] + self.rows[:-1]) if kind == "decoder" else source

    def row(self, token):
        if token not in self.rows:
            raise ValueFault(f'{self.name} has no row "{token}"; its rows are {", ".join(self.rows)}')
        return dict(zip(self.columns, self.map[self.rows.index(token)]))

    def largest(self, token):
        row = self.row(token)
        return max(row, key=row.get)


def words(tokens):
    return [t.strip("▁") for t in tokens]


QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
SENTENCE = "The group went home"
SAYING = re.compile(r'(\S+:\d+:\d+) has its largest weight on "([^"]+)" in row "([^"]+)"(?: of "([^"]+)")?')


class Values:
    """Evaluates the expressions of one document's marks."""

    def __init__(self, commands, root, names, options):
        self.commands, self.root, self.names = commands, root, names
        self.known = {
            "config": lambda path: json.loads(self.read(path)), "source": self.source, "count": self.count, "files": self.files,
            "lines": lambda path: len(self.read(path).splitlines()), "head": self.head, "weight": self.weight,
            "run": self.commands, "options": lambda command: len(options.of[command]), "matches": self.count_matches,
            "exp": math.exp, "log": math.log, "sqrt": math.sqrt, "size": lambda path: (root / path).stat().st_size,
            "__builtins__": {f.__name__: f for f in (abs, all, any, dict, enumerate, float, int, len, list, max, min, range, round, set, sorted, str, sum, zip)}}

    def read(self, path):
        if not (self.root / path).is_file():
            raise ValueFault(f"there is no {path}")
        return (self.root / path).read_text(encoding="utf-8")

    def source(self, path, pattern):
        """The number that a file has in the pattern's group: source("lib/x.h", r"kLimit = (\\d+)")."""
        found = re.search(pattern, self.read(path), re.M)
        if not found:
            raise ValueFault(f"{path} has nothing like {pattern}")
        return as_float(found[1].replace("'", ""))

    def count_matches(self, path, pattern):
        return len(re.findall(pattern, self.read(path), re.M))

    def files(self, pattern):
        found = [str(f.relative_to(self.root)) for f in sorted(self.root.glob(pattern))]
        if not found:
            raise ValueFault(f"there is no {pattern}")
        return found

    def count(self, pattern):
        return len(self.files(pattern))

    def head(self, name, sentence=SENTENCE):
        return Head(self.commands(f'attn-demo translate "{sentence}" --show none --json -').json, name)

    def weight(self, name, row, column, sentence=SENTENCE):
        found = self.head(name, sentence).row(row)
        if column not in found:
            raise ValueFault(f'{name} has no column "{column}"; its columns are {", ".join(found)}')
        return found[column]

    def of(self, expression, above):
        """Returns the value of an expression; above is the text of the console blocks before it, nearest
        first."""
        known = {**self.known, "above": Above(above)}
        try:
            for name in self.names.keys() & set(re.findall(r"\w+", QUOTED.sub("", expression))):
                kind, text = self.names[name]
                known[name] = self.commands(text) if kind == "run" else self.of(text, above)
            return eval(expression, known)  # these are the project's own documents, whose commands are run as well
        except ValueFault:
            raise
        except Exception as error:  # any error in an expression is an error of the document
            raise ValueFault(f"{type(error).__name__}: {error}") from error

    def untrue(self, claim, above):
        """Returns None if the claim holds, else the value that was found."""
        saying = SAYING.fullmatch(claim)
        if not saying:
            return None if self.of(claim, above) else "it is false"
        name, column, row, sentence = saying.groups()
        head = self.head(name, sentence or SENTENCE)
        largest = head.largest(row)
        return None if largest == column else f'the largest is on "{largest}", {head.row(row)[largest]:.2f}'


class Above:
    """Returns the console blocks before the text: above["went"][0] is in the nearest one, above(2)["went"][0]
    in the one before that."""

    def __init__(self, texts):
        self.texts = texts

    def __call__(self, number):
        if number > len(self.texts):
            raise ValueFault(f"only {len(self.texts)} blocks are above")
        return Output(self.texts[number - 1])

    def __getitem__(self, label):
        return self(1)[label]

    def all(self, label):
        return self(1).all(label)
