"""Opens the page in a real headless Chromium, clicks, types and reads.

    python3 run_tests.py --fixture build/release/tests/page_fixture [test_maps.Maps …]
"""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import page_case  # noqa: E402
import suite  # noqa: E402
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
    return suite.run(HERE, options.tests, page_case.close_shared)


if __name__ == "__main__":
    sys.exit(main())
