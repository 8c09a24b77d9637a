"""Writes tables of measured numbers into a document, for the scripts that measure them."""
import datetime

from .account import numbers_of
from .markdown import Document
from .marks import MEASURED, parts_of
from .measured import commit_now, stamp


def write_table(path, what, rows):
    """Replaces the table after the mark <!-- measured: WHAT … -->, and puts today's date, the commit and a
    digest into the mark. WHAT is the script's path, and a further word if it writes several tables.

    WHAT is the script's path, and a word where it writes several tables.
    """
    document = Document(path, str(path))
    for part in parts_of(document):
        mark = next((m for m in part.of("measured") if MEASURED.fullmatch(m.text)[1] == what), None)
        if mark and part.first == mark.last + 1:
            document.lines[part.first - 1:part.last] = rows
            part.last = part.first + len(rows) - 1
            today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
            document.lines[mark.first - 1:mark.last] = [
                stamp("measured", what, today, commit_now(path.parent), numbers_of(document, [part]))]
            path.write_text("\n".join(document.lines), encoding="utf-8")
            return
    raise SystemExit(f"{path}: no <!-- measured: {what} --> in front of a table says where it goes")
