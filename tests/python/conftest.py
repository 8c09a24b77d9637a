import os
import pathlib
import subprocess

import pytest

import attn_demo

SENTENCE = "The group went home"
SOURCE = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="session")
def model():
    return attn_demo.load()


@pytest.fixture(scope="session")
def program():
    """Runs the program; returns its exit code, stdout and stderr."""

    # The program may load its sanitizer itself, and two of them conflict.
    own = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}

    def run(*arguments, stdin=""):
        done = subprocess.run([os.environ["ATTN_DEMO_PROGRAM"], *arguments], input=stdin, text=True,
                              capture_output=True, env=own)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture(scope="session")
def lines():
    # Under a sanitizer, the program takes minutes for a hundred lines.
    count = 16 if "ATTN_DEMO_SANITIZED" in os.environ else 100
    return (SOURCE / "data/toy/test.en").read_text().splitlines()[:count]
