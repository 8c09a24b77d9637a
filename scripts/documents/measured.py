"""Handles measured numbers: a mark before them names the script, the day and the commit.

A measuring script writes its table with write_table() (tables.py); a digest in the mark shows whether it was edited since:

    <!-- measured: scripts/needle.py 2026-11-27 61f551d 0a1b2c3d -->
    | length | found |
    ...
"""
import datetime
import hashlib
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def digest(numbers):
    """Returns a digest of the numbers alone, so that the words around them may change."""
    return hashlib.sha256(" ".join(n.text.replace("−", "-") for n in numbers).encode()).hexdigest()[:8]


def git(*arguments, root=ROOT):
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def commit_now(root=ROOT):
    """Returns the checked-out commit, or "uncommitted" outside of a checkout."""
    return git("rev-parse", "--short=7", "HEAD", root=root) or "uncommitted"


def last_change(path, parts, root):
    """Returns (date, commit) of the newest committed line of these parts of a file, by git blame."""
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
