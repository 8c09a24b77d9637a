"""Tests that scripts/translate_on_dask.py writes the same as one process, whichever worker dies on the way."""

import os
import signal
import subprocess
import sys
import time

import pytest

from conftest import SOURCE

pytestmark = pytest.mark.skipif("ATTN_DEMO_SANITIZED" in os.environ, reason="a cluster of slow processes")
SCRIPT = SOURCE / "scripts/translate_on_dask.py"


@pytest.fixture
def source(tmp_path):
    """Returns realistic lines, and their expected translation."""
    lines = (SOURCE / "data/toy/train.en").read_bytes().splitlines()[:400]
    lines[3] += b"\r"
    lines[5], lines[7], lines[9], lines[11] = b"", b"a \xff b", "is\u2028closed\x85".encode(), b"The bank. " * 99
    (tmp_path / "lines.en").write_bytes(b"\n".join(lines))
    return tmp_path / "lines.en"


@pytest.fixture
def expected(source, program):
    code, _, _ = program("translate", "--beam", "1", "--input", source, "--output", source.with_name("one"))
    assert code == 0
    return source.with_name("one").read_bytes()


def run(source, *options):
    out = source.with_name("lines.de")
    return out, subprocess.run([sys.executable, SCRIPT, source, out, *options], capture_output=True, text=True)


def test_a_worker_is_killed(source, expected):
    out, done = run(source, "--lines", "10", "--kill")
    assert done.returncode == 0 and "killing worker" in done.stderr, done.stderr
    assert out.read_bytes() == expected and not out.with_name("lines.de.parts").exists()


def test_a_run_that_was_broken_off_goes_on(source, expected):
    """A run continues with its own parts, and not with those of a run with other options."""
    out, parts = source.with_name("lines.de"), source.with_name("lines.de.parts")
    broken = subprocess.Popen([sys.executable, SCRIPT, source, out, "--lines", "5"], start_new_session=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (parts / "00000010").exists():
        assert broken.poll() is None
        time.sleep(0.01)
    os.killpg(broken.pid, signal.SIGKILL)
    broken.wait()
    assert not out.exists()
    for other in (["--lines", "10"], ["--lines", "5", "--beam", "4"]):
        _, done = run(source, *other)
        assert done.returncode == 1 and f"{parts} holds parts of another run" in done.stderr
    (parts / "00000000").write_bytes(b"its own\n" * 5)
    _, done = run(source, "--lines", "5", "--threads", "2")
    assert done.returncode == 0, done.stderr
    assert out.read_bytes().splitlines() == [b"its own"] * 5 + expected.splitlines()[5:]
