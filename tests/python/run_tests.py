"""Runs the package's tests in their own virtual environment below the build folder. If PyPI cannot
be reached, says so and exits with 77, which ctest reports as skipped.

Where PyPI cannot be reached it says so and exits with 77, which ctest reports as skipped.
"""

import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).parent
PACKAGES = ["numpy", "pytest", "matplotlib", "nbclient", "nbformat", "ipykernel", "mypy", "distributed",
            "libretranslatepy", "anywidget"]
SKIPPED = 77


def environment(folder: pathlib.Path) -> "pathlib.Path | None":
    """Returns the Python of a virtual environment with PACKAGES; None if they are not available."""
    python = folder / "bin" / "python"
    mark = folder / "packages"
    wanted = hashlib.sha256(" ".join([sys.version, *PACKAGES]).encode()).hexdigest()
    if mark.exists() and mark.read_text() == wanted:
        return python
    venv.create(folder, clear=True, with_pip=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1",
           *PACKAGES]
    done = subprocess.run(pip, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(f"skipped: pip cannot install {' '.join(PACKAGES)}: {done.stderr.strip()[-300:]}")
        return None
    mark.write_text(wanted)
    return python


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", required=True, help="folder that holds attn_demo")
    parser.add_argument("--program", required=True)
    parser.add_argument("--venv", required=True, type=pathlib.Path)
    parser.add_argument("--preload", default="", help="the sanitizer's library")
    arguments, rest = parser.parse_known_args()
    python = environment(arguments.venv)
    if python is None:
        return SKIPPED
    own = {"PYTHONPATH": os.path.abspath(arguments.package),
           "ATTN_DEMO_PROGRAM": os.path.abspath(arguments.program),
           "PYTHONDONTWRITEBYTECODE": "1"}
    if arguments.preload:
        # Python itself keeps memory until it exits, and its tests are slow enough.
        own |= {"LD_PRELOAD": arguments.preload, "ASAN_OPTIONS": "detect_leaks=0",
                "ATTN_DEMO_SANITIZED": "1"}
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", HERE, *rest]
    return subprocess.run(command, env=os.environ | own).returncode


if __name__ == "__main__":
    sys.exit(main())
