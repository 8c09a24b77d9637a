"""Tests that docs/attention.ipynb runs, and prints its saved text outputs."""

import os

import nbformat
import pytest
from nbclient import NotebookClient

from conftest import SOURCE

NOTEBOOK = SOURCE / "docs/attention.ipynb"


INSEQ = "needs-inseq"  # marks a cell whose saved output needs inseq, which is not installed here


def is_of_inseq(cell):
    return INSEQ in cell.metadata.get("tags", [])


def printed(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


def texts(notebook):
    """Returns the output of each cell."""
    return [printed(cell) for cell in notebook.cells if cell.cell_type == "code" and not is_of_inseq(cell)]


@pytest.mark.skipif("ATTN_DEMO_SANITIZED" in os.environ, reason="the kernel is slow there")
def test_the_notebook_says_what_comes_out(tmp_path):
    saved = nbformat.read(NOTEBOOK, as_version=4)
    fresh = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(fresh, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert texts(fresh) == texts(saved)
    (inseq,) = filter(is_of_inseq, fresh.cells)
    assert printed(inseq) == "inseq is not installed here: pip install inseq torch transformers sentencepiece\n"
    (inseq,) = filter(is_of_inseq, saved.cells)
    assert "times as long" in printed(inseq)
    assert any("image/png" in output.get("data", {}) for cell in saved.cells
               if cell.cell_type == "code" for output in cell.outputs)
