"""Tells how to install libraries that scripts compare with."""
import importlib.util
import sys
from pathlib import Path


def need(*packages):
    """Exits with one line instead of a traceback if a package is missing."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(f"{Path(sys.argv[0]).name}: {sys.executable} has no {', '.join(missing)}; in a venv: python3 -m venv "
                 f"build/venv && build/venv/bin/pip install {' '.join(packages)}")


def need_files(parser, *paths):
    """Does the same for files that were named on the command line."""
    for path in paths:
        if not path.is_file():
            parser.error(f"{path}: no such file")
