"""Tests the standalone page: its module under Node, and the page in headless Chromium.

    python3 run_tests.py --program build/release/app/attn-demo --module build/web [test_module …]

It is skipped with a line where scripts/build_web.sh has not run, or Node or Chromium is not installed."""

import argparse
import os
import shutil
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "page")]

import alone_case  # noqa: E402
from webdriver import Missing, find_programs  # noqa: E402

SKIPPED = 77  # tells ctest that the test was skipped


def missing(module):
    if not os.path.exists(os.path.join(module, "attn-demo.wasm")):
        return f"{module} holds no attn-demo.wasm; scripts/build_web.sh makes it (emscripten)"
    if not shutil.which("node"):
        return "node is not installed (emscripten brings it)"
    try:
        find_programs()
    except Missing as problem:
        return str(problem)
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--module", required=True, help="the folder of attn-demo.wasm and attn-demo.js")
    parser.add_argument("tests", nargs="*", default=["test_module", "test_page", "test_dropped"])
    options = parser.parse_args()
    lacking = missing(options.module)
    if lacking:
        print(f"skipped: {lacking}")
        return SKIPPED
    alone_case.PROGRAM, alone_case.MODULE = os.path.abspath(options.program), os.path.abspath(options.module)
    try:
        tests = unittest.defaultTestLoader.loadTestsFromNames(options.tests)
        return 0 if unittest.TextTestRunner(verbosity=2).run(tests).wasSuccessful() else 1
    finally:
        alone_case.remove_all()


if __name__ == "__main__":
    sys.exit(main())
