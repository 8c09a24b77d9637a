#!/usr/bin/env python3
"""Types what README.md and docs/*.md tell a reader to type, and compares what they show.

    scripts/check_docs.py [--program FILE] [--also venv,network,…] [--update] [DOCUMENT…]

Every document is followed from top to bottom in a bash of its own, in a fresh copy of the project's
tracked files with the program that is already built, and nothing on stdin:

```sh        commands; each must end in 0.
```console   after "$ " a command ("> " continues it), below it what it prints, stdout and stderr.
```python    run by python3 in the same folder.
a table      after <!-- shows: translations -->: left what is translated, right what comes out.
`attn-demo …`, `--option` in the text: the command and its options exist.
links, pictures: lead to a file, and #anchors to a heading.

A comment that readers do not see marks the block that follows it:

<!-- needs: venv -->   left out unless --also names it: build, files (of the reader), hours, network, root, venv
<!-- ends: 2 -->       the console block's commands end in this exit code
<!-- shows: output --> what the sh or python block before printed

Compared is line by line, blanks at the end apart; "…" alone on a line stands for any lines. Tolerated:
times and speeds (4.2 s, 0:22 left, 31,000 tokens/s), numbers in powers of ten (4.1e-07), one unit in a
decimal's last digit, and where the project lies, which is written ~/attn-demo. On a CPU without AVX2,
whose sums are rounded in other places, nothing is compared.

--update writes what comes out into the documents, keeping what "…" left out. Exits 1 and says file and
line where something is not as written. Python's own library only.
"""
import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
from markdown_blocks import NEEDS, Document, DocumentError, dead_links  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
HOME = "~/attn-demo"
LEFT_OUT = "…"
TYPED = ("sh", "console", "python")
VARYING = [(re.compile(r"\b\d[\d,.]*(?= ?(?:s|ms|µs|tokens/s|min)\b)"), "#"),
           (re.compile(r"\b\d+:\d\d(?= left)"), "#"), (re.compile(r"\d(?:\.\d+)?e[-−+]\d+"), "#")]
COMPARED = "avx2" in Path("/proc/cpuinfo").read_text()
DECIMAL = re.compile(r"\d+\.\d+")
PRELUDE = """__open() {
  exec >"$DOCS_OUT/$1" 2>&1; echo "$1" >"$DOCS_OUT/at"
  trap 'code=$?; echo "$LINENO $code" >"$DOCS_OUT/failed"; exit 1' ERR
}
__ended() { [ "$1" -eq "$2" ] || { echo "$3 $1" >"$DOCS_OUT/failed"; exit 1; }; }
set -E
"""


# --- comparing ------------------------------------------------------------------------------------


def alike(shown, found):
    """Whether a line that a document shows is the one that came out."""
    shown, found = shown.rstrip(), found.rstrip()
    for pattern, instead in VARYING:
        shown, found = pattern.sub(instead, shown), pattern.sub(instead, found)
    if shown == found:
        return True
    ours, theirs = DECIMAL.findall(shown), DECIMAL.findall(found)
    if len(ours) != len(theirs) or DECIMAL.split(shown) != DECIMAL.split(found):
        return False
    return all(len(a.partition(".")[2]) == len(b.partition(".")[2]) and
               abs(int(a.replace(".", "")) - int(b.replace(".", ""))) <= 1
               for a, b in zip(ours, theirs))


def difference(shown, found):
    """None where the lines agree, else (index of the first line shown that is not there, what is)."""
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
    """What came out, with as much left out as before; None where that place is not to be found."""
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


# --- typing ---------------------------------------------------------------------------------------


def script_of(document, also):
    """A bash script whose lines are the document's, so that errors name the line of the document."""
    lines = ["" for _ in document.lines]
    for block in document.blocks:
        if not set(block.needs) <= also:
            continue
        if block.language == "sh":
            lines[block.first - 2] = f"__open {block.first};"
            lines[block.first - 1:block.last] = document.lines[block.first - 1:block.last]
        elif block.language == "python":
            lines[block.first - 2] = f"__open {block.first}; python3 - <<'end of the block'"
            lines[block.first - 1:block.last] = document.lines[block.first - 1:block.last]
            lines[block.last] = "end of the block"
        for command in block.commands:
            typed = [l[2:] for l in document.lines[command.first - 1:command.last]]
            lines[command.first - 1:command.last] = typed
            before = f"__open {command.first}; "
            if block.ends:
                before += "trap - ERR; "
                lines[command.last - 1] += f"; __ended $? {block.ends} {command.first}"
            lines[command.first - 1] = before + lines[command.first - 1]
    lines[0] = '. "$DOCS_OUT/../prelude"'  # a heading, which has no command
    return "\n".join(lines) + "\n"


def copy_of_project(program, to):
    """The tracked files, and the program where a build puts it."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=False)
    if listed.returncode == 0:
        names = listed.stdout.decode().split("\0")
    else:  # an unpacked archive
        names = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file()]
        names = [n for n in names if not n.startswith(("build", "."))]
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    (to / "build/release/app").mkdir(parents=True)
    (to / "build/release/app/attn-demo").symlink_to(program.resolve())


def environment(copy, out, document):
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith(("ATTN_DEMO_", "LC_")) and k not in ("NO_COLOR", "BASH_ENV", "COLUMNS")}
    path = kept.get("PATH", "/usr/bin:/bin")
    if document.name != "README.md":  # which says itself how to put it there
        path = f"{copy}/build/release/app:{path}"
    return {**kept, "PATH": path, "LANG": "C.UTF-8", "HOME": str(copy.parent), "DOCS_OUT": str(out)}


def follow(document, program, also, seconds=600):
    """What each block printed, by the line it begins at, and the faults."""
    with tempfile.TemporaryDirectory(prefix="docs-") as scratch:
        copy, out = Path(scratch) / "attn-demo", Path(scratch) / "out"
        copy.mkdir()
        out.mkdir()
        copy_of_project(program, copy)
        (Path(scratch) / "prelude").write_text(PRELUDE)
        script = Path(scratch) / document.name.replace("/", "_")
        script.write_text(script_of(document, also), encoding="utf-8")
        try:
            with (out / "shell").open("wb") as shell:
                code = subprocess.run(["bash", str(script)], cwd=copy, stdin=subprocess.DEVNULL, check=False,
                                      stdout=shell, stderr=shell, env=environment(copy, out, document),
                                      timeout=seconds).returncode
        except subprocess.TimeoutExpired:
            at = (out / "at").read_text().strip()
            return {}, [f"{document.where(at)}: not done after {seconds} s"]
        outputs = {int(f.name): output_lines(f, copy) for f in out.iterdir() if f.name.isdigit()}
        if code == 0:
            return outputs, []
        at = int((out / "at").read_text()) if (out / "at").exists() else 1
        failed = (out / "failed").read_text().split() if (out / "failed").exists() else [at, code]
        said = [*outputs.pop(at, []), *(out / "shell").read_text(errors="replace").splitlines()]
        line = document.lines[int(failed[0]) - 1].strip()
        return outputs, [f"{document.where(failed[0])}: ended in {failed[1]}: {line}" +
                         "".join(f"\n    {l}" for l in said[-8:])]


def output_lines(file, copy):
    text = file.read_bytes().decode("utf-8", "replace")
    for path in (copy, ROOT):
        text = text.replace(str(path), HOME)
    return text.rstrip("\n").split("\n") if text.strip() else []


def check(document, program, also, update):
    """The faults of a document: what fails, and what comes out differently."""
    typed = any(set(b.needs) <= also for b in document.blocks if b.language in TYPED)
    outputs, faults = follow(document, program, also) if typed else ({}, [])
    commands = [c for b in document.blocks for c in b.commands] + document.shown
    for command in sorted(commands, key=lambda c: -c.shown_from):  # from below, so that lines keep their numbers
        found = outputs.get(command.first)
        if found is None or not COMPARED or (at := difference(command.shown, found)) is None:
            continue
        new = renewed(command.shown, found) if update else None
        if new is None:
            line, what = command.shown_from + at[0], at[1]
            shown = command.shown[at[0]] if at[0] < len(command.shown) else "nothing more"
            faults.append(f"{document.where(line)}: shown is\n    {shown}\n  and what comes out is\n"
                          f"    {'nothing like it' if what is None else what}")
        else:
            begin = command.shown_from - 1
            document.lines[begin:begin + len(command.shown)] = new
    if update:
        document.path.write_text("\n".join(document.lines), encoding="utf-8")
    for table in document.tables if COMPARED else []:
        faults += wrong_translations(document, table, program)
    return faults


def wrong_translations(document, table, program):
    done = subprocess.run([str(program), "translate"], input="".join(r[1] + "\n" for r in table.rows),
                          capture_output=True, text=True, encoding="utf-8", check=False)
    found = done.stdout.splitlines()
    if len(found) != len(table.rows):
        return [f"{document.where(table.rows[0][0])}: translate ends in {done.returncode}: {done.stderr}"]
    return [f"{document.where(line)}: shown is\n    {target}\n  and what comes out is\n    {text}"
            for (line, _, target), text in zip(table.rows, found) if text != target]


# --- options in the text --------------------------------------------------------------------------


class Options:
    """What commands and options there are, from the program's own help and the scripts' text."""

    def __init__(self, program):
        self.program, self.of = program, {}
        self.commands = set(re.findall(r"^  ([a-z-]+)  ", self.help([]), re.M)) | {"help", "version"}
        everywhere = self.help([])
        for name in sorted(self.commands - {"help", "version"}):
            self.of[name] = set(re.findall(r"--[a-z][a-z0-9-]*", self.help([name])))
        files = [*ROOT.glob("scripts/*"), *ROOT.glob("bench/*.py"), *ROOT.glob("tests/**/*.py")]
        texts = [f.read_text(encoding="utf-8", errors="replace") for f in files if f.is_file()]
        self.all = set(re.findall(r"--[a-z][a-z0-9-]*", "\n".join([everywhere, *texts])))
        self.all.update(*self.of.values())

    def help(self, words):
        return subprocess.run([str(self.program), *words, "--help"], capture_output=True, text=True,
                              encoding="utf-8", check=True).stdout

    def faults(self, document):
        for line, span in document.spans():
            words = span.split()
            options = [w.split("=")[0] for w in words if re.fullmatch(r"--[a-z][a-z0-9-]*(=.*)?", w)]
            known = self.all
            if words[0] == "attn-demo" and len(words) > 1 and re.fullmatch(r"[a-z-]+", words[1]):
                if words[1].startswith("--"):
                    pass
                elif words[1] not in self.commands:
                    yield f"{document.where(line)}: attn-demo has no command {words[1]}"
                    continue
                else:
                    known = self.of.get(words[1], set())
            elif not words[0].startswith("--"):
                continue
            for option in options:
                if option not in known:
                    yield f"{document.where(line)}: there is no option {option}: `{span}`"


def main():
    options = parse()
    names = options.documents or ["README.md", *(f"docs/{p.name}" for p in sorted(ROOT.glob("docs/*.md")))]
    try:
        documents = [Document(ROOT / name, name) for name in names]
        linked = documents + [Document(p, str(p.relative_to(ROOT))) for p in sorted(ROOT.glob("docs/*.md"))
                              if str(p.relative_to(ROOT)) not in names]
    except DocumentError as error:
        sys.exit(str(error))
    faults = [f for f in dead_links(linked, ROOT) if f.split(":")[0] in names]
    known = Options(options.program)
    faults += [f for d in documents for f in known.faults(d)]
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda d: check(d, options.program, options.also, options.update), documents):
            faults += found
    for fault in faults:
        print(fault, file=sys.stderr)
    blocks = [b for d in documents for b in d.blocks if b.language in TYPED]
    left = sum(not set(b.needs) <= options.also for b in blocks)
    print(f"{len(documents)} documents, {len(blocks) - left} blocks typed, {left} left out, {len(faults)} faults")
    sys.exit(1 if faults else 0)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", nargs="*", metavar="DOCUMENT")
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/app/attn-demo")
    parser.add_argument("--also", default="", help="run what needs these, too: " + ",".join(NEEDS))
    parser.add_argument("--update", action="store_true", help="write what comes out into the documents")
    options = parser.parse_args()
    options.also = set(filter(None, options.also.split(",")))
    if not options.also <= set(NEEDS):
        parser.error(f"--also takes {', '.join(NEEDS)}")
    if not options.program.exists():
        parser.error(f"{options.program} is not there; build it: scripts/build.sh release attn-demo")
    return options


if __name__ == "__main__":
    main()
