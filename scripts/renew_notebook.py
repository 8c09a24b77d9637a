#!/usr/bin/env python3
"""Runs docs/attention.ipynb and saves its outputs. Cells that need inseq keep theirs.

    build/release/python/venv/bin/python scripts/renew_notebook.py

The environment is the one that the tests of the Python module make; the module is build/release's.
"""
import os
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "docs/attention.ipynb"
os.environ["PYTHONPATH"] = str(ROOT / "build/release/python")

saved = nbformat.read(NOTEBOOK, as_version=4)
fresh = nbformat.read(NOTEBOOK, as_version=4)
with tempfile.TemporaryDirectory() as scratch:
    NotebookClient(fresh, timeout=300, resources={"metadata": {"path": scratch}}).execute()
for old, new in zip(saved.cells, fresh.cells, strict=True):
    if old.cell_type == "code" and "needs-inseq" not in old.metadata.get("tags", []):
        old.outputs = new.outputs
nbformat.write(saved, NOTEBOOK)
