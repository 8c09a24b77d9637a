"""Opens the page in a real headless Chromium, clicks, types and reads. ctest runs it as "page":

    python3 run_tests.py --fixture build/release/tests/page_fixture [test_maps.Maps …]
"""

import argparse
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import page_case  # noqa: E402
from webdriver import Missing, find_programs  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixture", required=True, help="the program that writes a page from JSON lines")
    parser.add_argument("tests", nargs="*")
    options = parser.parse_args()
    try:
        find_programs()
    except Missing as problem:
        print(problem, file=sys.stderr)
        return 1
    page_case.FIXTURE_PROGRAM = os.path.abspath(options.fixture)
    loader = unittest.TestLoader()
    suite = loader.loadTestsFromNames(options.tests) if options.tests else loader.discover(HERE, "test_*.py")
    try:
        result = unittest.TextTestRunner(verbosity=2).run(suite)
    finally:
        page_case.close_shared()
    # Nothing is skipped, and a suite that found no tests has not passed.
    return 0 if result.wasSuccessful() and not result.skipped and result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
