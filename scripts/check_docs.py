#!/usr/bin/env python3
"""Runs the commands of README.md and docs/**/*.md as a reader would, and compares their output with the
documents.

    scripts/check_docs.py [--program FILE] [--also venv,network,…] [--update] [DOCUMENT…]

Every document is followed from top to bottom in a bash of its own, in a fresh copy of the project's
tracked files with the program that is already built, and nothing on stdin:

```sh        commands; each must end in 0.
```console   after "$ " a command ("> " continues it), below it what it prints, stdout and stderr.
```python    run by python3 in the same folder.
lines        between <!-- generated: NAME.md --> and <!-- end of generated -->: a file of the build.
a table      after <!-- shows: translations -->: left what is translated, right what comes out. A shipped
             model other than the default one is named: <!-- shows: translations de-en -->.
`attn-demo …`, `--option` in the text: the command and its options exist.
links, pictures: lead to a file, and #anchors to a heading; of the project's other *.md, too.

A comment that readers do not see marks the block that follows it:

<!-- needs: venv -->   left out unless --also names it: build, files (of the reader), hours, network, root, venv
<!-- ends: 2 -->       the console block's commands end in this exit code
<!-- shows: output --> what the sh or python block before printed

Compared is line by line, spaces at the end apart; "…" alone on a line stands for any lines. Tolerated:
times and speeds (4.2 s, 0:22 left, 31,000 tokens/s) and numbers in powers of ten (4.1e-07), which a
"measured" mark keeps from being edited, and where the project lies, which is written ~/attn-demo. On an
x86-64 without AVX2, whose sums are rounded in other places, nothing is compared.

Every number in the text says where it comes from, in a mark that readers do not see: a cell of a command's
output, a file of the code, a measurement with its date and commit, or the reason why none of these applies.
scripts/documents/marks.py describes the marks, and docs/checking.md has examples. Claims in words are
checked, too. docs/notes is left out: its pages are dated and stay as they are.

--update writes what comes out into the documents, keeping what "…" left out, and lists what it may not
renew: claims that no longer hold, and measured numbers that were edited. Exits 1 and says file and line
where something is not as written. Python's own library only.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
from documents.account import account  # noqa: E402
from documents.markdown import NEEDS, Document, DocumentError, dead_links  # noqa: E402
from documents.options import Options  # noqa: E402
from documents.shown import difference, renewed  # noqa: E402
from documents.values import Commands  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
HOME = "~/attn-demo"
CARDS = "data/models/*/README.md"
TYPED = ("sh", "console", "python")
COMPARED = re.search(r"\b(avx2|asimd)\b", Path("/proc/cpuinfo").read_text())
PRELUDE = """__open() {
  exec >"$DOCS_OUT/$1" 2>&1; echo "$1" >"$DOCS_OUT/at"
  trap 'code=$?; echo "$LINENO $code" >"$DOCS_OUT/failed"; exit 1' ERR
}
__ended() { [ "$1" -eq "$2" ] || { echo "$3 $1" >"$DOCS_OUT/failed"; exit 1; }; }
set -E
"""


# --- typing ---------------------------------------------------------------------------------------


def script_of(document, also):
    """Returns a bash script whose lines are those of the document, so that errors name the line of the
    document."""
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
    lines[0] = '. "$DOCS_OUT/../prelude"'  # headings have no command
    return "\n".join(lines) + "\n"


def copy_of_project(program, to):
    """Copies the tracked files, and links the program where a build puts it."""
    git = shutil.which("git")
    listed = git and subprocess.run([git, "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=False)
    if listed and listed.returncode == 0:
        names = listed.stdout.decode().split("\0")
    else:  # an unpacked archive, or a system without git
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
    if document.name != "README.md":  # the README itself says how to install it
        path = f"{copy}/build/release/app:{path}"
    return {**kept, "PATH": path, "LANG": "C.UTF-8", "HOME": str(copy.parent), "DOCS_OUT": str(out)}


def follow(document, program, also, seconds=600):
    """Runs the document's blocks. Returns the output of each by the line where it begins, and the errors."""
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


def check(document, program, also, update, sources=None):
    """Returns the errors of a document: commands that fail, different output, and numbers of unknown or wrong
    source."""
    typed = any(set(b.needs) <= also for b in document.blocks if b.language in TYPED)
    outputs, faults = follow(document, program, also) if typed else ({}, [])
    commands = [c for b in document.blocks for c in b.commands] + document.shown
    for command in sorted(commands, key=lambda c: -c.shown_from):  # bottom-up, so that line numbers stay valid
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
    faults += wrong_generated(document, program, update)
    if sources and COMPARED:
        faults += account(document, sources, update, ROOT)
    if update:
        document.path.write_text("\n".join(document.lines), encoding="utf-8")
    for table in document.tables if COMPARED else []:
        faults += wrong_translations(document, table, program)
    return faults


def wrong_generated(document, program, update):
    """Returns the errors of lines that the build writes, such as tables of options; with update, renews them."""
    faults = []
    for part in reversed(document.generated):
        made = (program.resolve().parent / "describe/files" / part.name).read_text(encoding="utf-8").splitlines()
        shown = document.lines[part.first - 1:part.last]
        if made == shown:
            continue
        if update:
            document.lines[part.first - 1:part.last] = made
            continue
        at = next((i for i, (a, b) in enumerate(zip(shown, made)) if a != b), min(len(shown), len(made)))
        faults.append(f"{document.where(part.first + at)}: not as {part.name} of the build; "
                      f"scripts/check_docs.py --update {document.name} renews it")
    return faults


def wrong_translations(document, table, program):
    model = ["--model", table.model] if table.model else []
    done = subprocess.run([str(program), "translate", *model], input="".join(r[1] + "\n" for r in table.rows),
                          capture_output=True, text=True, encoding="utf-8", check=False)
    found = done.stdout.splitlines()
    if len(found) != len(table.rows):
        return [f"{document.where(table.rows[0][0])}: translate ends in {done.returncode}: {done.stderr}"]
    return [f"{document.where(line)}: shown is\n    {target}\n  and what comes out is\n    {text}"
            for (line, _, target), text in zip(table.rows, found) if text != target]


def all_names():
    """Returns the documents to check; docs/notes is not among them."""
    found = [*sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob(CARDS))]
    return ["README.md", *(str(p.relative_to(ROOT)) for p in found)]


def main():
    options = parse()
    names = options.documents or all_names()
    try:
        documents = [Document(ROOT / name, name) for name in names]
        folders = [p for p in ROOT.iterdir() if p.is_dir() and not p.name.startswith("build")]  # build may hold whole systems
        others = [str(p.relative_to(ROOT)) for p in sorted([*ROOT.glob("*.md"), *(q for folder in folders for q in folder.rglob("*.md"))])]
        others = [n for n in others if n not in names]
        linked = documents + [Document(ROOT / name, name) for name in others]
    except DocumentError as error:
        sys.exit(str(error))
    faults = [f for f in dead_links(linked, ROOT) if f.split(":")[0] in names or not options.documents]
    known = Options(options.program, ROOT)
    faults += [f for d in documents for f in known.faults(d)]
    sources = (Commands(options.program, ROOT), known)
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda d: check(d, options.program, options.also, options.update, sources), documents):
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
