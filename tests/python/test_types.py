"""Tests the package's type hints, which must be complete by mypy --strict and useful to callers, and its
docstrings."""

import inspect
import os
import pathlib
import subprocess
import sys

import pytest

import attn_demo

USER = """
import attn_demo

model = attn_demo.load()
one: str = model.translate("a", precision="int8")
many: list[str] = model.translate(["a", "b"], beam=4)
best: list[attn_demo.Translation] = model.translate("a", beam=2, n_best=2)
each: list[list[attn_demo.Translation]] = model.translate(["a"], beam=2, n_best=2)
rows: int = model.attend("a", without="cross:2:2").cross[2, 2].shape[0]
shares: list[tuple[str, float]] = [(s.text, s.value) for s in model.why("a", word=0, beam=2).words[0].logit.source]
trained: attn_demo.Model = model.train("config.json", "out", set=["train.updates=1"], progress=True)
"""
# Attributes that pybind11 adds to its classes.
ALLOWED = """
attn_demo._core.(Facts|Observer|Sum|WhyFacts|Word)
attn_demo._core.(Head|LineTranslation|Model|Record|Stage|Why)(.__init__)?
"""


@pytest.mark.skipif("ATTN_DEMO_SANITIZED" in os.environ, reason="nothing of ours runs")
def test_types(tmp_path):
    def checked(text):
        (tmp_path / "user.py").write_text(text)
        done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports",
                               "--cache-dir", tmp_path / "cache", "user.py"], cwd=tmp_path, text=True,
                              capture_output=True, env=os.environ | {"MYPYPATH": os.environ["PYTHONPATH"]})
        return done.stdout.splitlines()

    here = pathlib.Path(attn_demo.__file__).parent
    whole = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", here],
                           cwd=here.parent, text=True, capture_output=True)
    assert whole.stdout.startswith("Success"), whole.stdout
    assert checked(USER) == ["Success: no issues found in 1 source file"]
    assert 'user.py:12: error: Unexpected keyword argument "beem"' in checked(
        USER + 'model.translate("a", beem=4)\n')[0]
    assert 'user.py:12: error: Unexpected keyword argument "beem"' in checked(
        USER + 'model.train("config.json", "out", beem=4)\n')[0]
    assert checked(USER + 'wrong: str = model.translate(["a"])\n')[0].startswith("user.py:12: error: ")


@pytest.mark.skipif("ATTN_DEMO_SANITIZED" in os.environ, reason="nothing of ours runs")
def test_the_stubs_say_what_is_there(tmp_path):
    (tmp_path / "allowed").write_text(ALLOWED)
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "attn_demo._core", "--allowlist", tmp_path / "allowed"],
                          cwd=tmp_path, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout


def test_everything_public_says_what_it_is():
    for name in attn_demo.__all__:
        public = getattr(attn_demo, name)
        members = [(f"{name}.{key}", value) for key, value in vars(public).items()
                   if not key.startswith("_") and (inspect.isfunction(value) or inspect.isdatadescriptor(value))
                   ] if inspect.isclass(public) else []
        for what, each in [(name, public), *members]:
            assert inspect.getdoc(each), what
    for arrays, public in ((("log_probs", "encoder", "decoder", "cross"), attn_demo.Attention),
                           (("logits", "log_probs", "foil_logits"), attn_demo.Why),
                           (("query", "key", "value", "scores", "mask", "weights"), attn_demo.Head)):
        for name in arrays:
            assert inspect.getdoc(getattr(public, name)).startswith("["), name
