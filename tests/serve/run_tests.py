"""Sends requests to attn-demo serve over HTTP, both proper and hostile ones.

    python3 run_tests.py --program build/release/app/attn-demo [test_answers.Answers …]
"""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "page")]

import server_case  # noqa: E402
import suite  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("tests", nargs="*")
    options = parser.parse_args()
    server_case.PROGRAM = os.path.abspath(options.program)
    return suite.run(HERE, options.tests, server_case.close_shared)


if __name__ == "__main__":
    sys.exit(main())
