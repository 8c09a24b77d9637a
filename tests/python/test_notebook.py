"""docs/attention.ipynb runs, and its saved text outputs are what comes out."""

import os

import nbformat
import pytest
from nbclient import NotebookClient

from conftest import SOURCE

NOTEBOOK = SOURCE / "docs/attention.ipynb"


def texts(notebook):
    """What each cell has printed."""
    return ["".join(output.get("text", "") for output in cell.outputs)
            for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.skipif("ATTN_DEMO_SANITIZED" in os.environ, reason="the kernel is slow there")
def test_the_notebook_says_what_comes_out(tmp_path):
    saved = nbformat.read(NOTEBOOK, as_version=4)
    fresh = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(fresh, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert texts(fresh) == texts(saved)
    assert any("image/png" in output.get("data", {}) for cell in saved.cells
               if cell.cell_type == "code" for output in cell.outputs)
