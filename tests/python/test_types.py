"""The package's type hints: whole by mypy --strict, and of use to who calls it."""

import os
import subprocess
import sys

import pytest

USER = """
import attn_demo

model = attn_demo.load()
one: str = model.translate("a", precision="int8")
many: list[str] = model.translate(["a", "b"], beam=4)
best: list[attn_demo.Translation] = model.translate("a", beam=2, n_best=2)
each: list[list[attn_demo.Translation]] = model.translate(["a"], beam=2, n_best=2)
rows: int = model.attend("a", without="cross:2:2").cross[2, 2].shape[0]
"""


@pytest.mark.skipif("ATTN_DEMO_SANITIZED" in os.environ, reason="nothing of ours runs")
def test_types(tmp_path):
    def checked(text):
        (tmp_path / "user.py").write_text(text)
        done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports",
                               "--cache-dir", tmp_path / "cache", "user.py"], cwd=tmp_path, text=True,
                              capture_output=True, env=os.environ | {"MYPYPATH": os.environ["PYTHONPATH"]})
        return done.stdout.splitlines()

    assert checked(USER) == ["Success: no issues found in 1 source file"]
    assert 'user.py:10: error: Unexpected keyword argument "beem"' in checked(
        USER + 'model.translate("a", beem=4)\n')[0]
    assert checked(USER + 'wrong: str = model.translate(["a"])\n')[0].startswith("user.py:10: error: ")
