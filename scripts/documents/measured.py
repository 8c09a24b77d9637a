"""Numbers that were measured: a mark in front of them says by which script, on which day, of which commit.

A measuring script writes its table with write_table(); a digest in the mark shows whether it was edited since:

    <!-- measured: scripts/needle.py 2026-11-27 61f551d 0a1b2c3d -->
    | length | found |
    ...
"""
import datetime
import hashlib
import re
import subprocess
from pathlib import Path

from .marks import MEASURED, parts_of

ROOT = Path(__file__).resolve().parent.parent.parent


def digest(numbers):
    """Of the numbers alone, so that the words around them may be rewritten."""
    return hashlib.sha256(" ".join(n.text.replace("−", "-") for n in numbers).encode()).hexdigest()[:8]


def git(*arguments, root=ROOT):
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def commit_now(root=ROOT):
    """The checked-out commit, or "uncommitted" outside of a checkout."""
    return git("rev-parse", "--short=7", "HEAD", root=root) or "uncommitted"


def last_change(path, parts, root):
    """(date, commit) of the newest committed line of these parts of a file, by git blame."""
    newest = ("", "")
    for part in parts:
        text = git("blame", "--porcelain", f"-L{part.first},{part.last}", "--", str(path), root=root)
        commit = None
        for line in text.splitlines():
            begins = re.match(r"([0-9a-f]{40}) \d", line)
            commit = begins[1] if begins else commit
            if line.startswith("committer-time ") and commit.strip("0"):
                day = datetime.datetime.fromtimestamp(int(line.split()[1]), datetime.timezone.utc).date().isoformat()
                newest = max(newest, (day, commit[:7]))
    return newest


def stamp(kind, what, day, commit, numbers):
    return f"<!-- {kind}: {what} {day} {commit} {digest(numbers)} -->"


def write_table(document, script, rows, numbers_of):
    """Puts the table's lines in place of those that this script's mark has in the document, with a new mark.

    Used by the scripts that measure; a script's name may be followed by a word that tells its tables apart.
    """
    for part in parts_of(document):
        for mark in part.of("measured"):
            if MEASURED.fullmatch(mark.text)[1] == script and part.first == mark.last + 1:
                document.lines[part.first - 1:part.last] = rows
                part.last = part.first + len(rows) - 1
                today = datetime.date.today().isoformat()
                document.lines[mark.first - 1:mark.last] = [
                    stamp("measured", script, today, commit_now(), numbers_of(document, [part]))]
                document.path.write_text("\n".join(document.lines), encoding="utf-8")
                return
    raise SystemExit(f"{document.name}: no <!-- measured: {script} … --> says where the table goes")
