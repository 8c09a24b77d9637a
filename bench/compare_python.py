#!/usr/bin/env python3
"""Compares the package with the command, running them alternately: the same lines and the same options.

    bench/compare_python.py PROGRAM [--corpus FILE] [--lines N] [--rounds N]

In each round `PROGRAM translate` reads the lines from a file, and a fresh Python loads the model and
calls translate() with them. Prints the median seconds of the command, of Python from its start to its
end, and of load() with translate() alone, and the medians of the rounds' own ratios; fails where a
translation differs. The same again in seconds of the processor, which other work on the machine
disturbs less. Needs this package (pip install .), which is to be of the same version.
"""
import argparse
import itertools
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from python_packages import need

need("attn_demo")

CASES = [{"beam": "1", "threads": "1"}, {"beam": "4", "threads": "1"}, {"beam": "1", "threads": "2"},
         {"beam": "1", "threads": "1", "precision": "int8"}]
PACKAGE = """
import sys, time, warnings
import attn_demo
warnings.simplefilter("ignore")
lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
options = dict(word.split("=") for word in sys.argv[2:])
start, used = time.perf_counter(), time.process_time()
model = attn_demo.load(precision=options.pop("precision", "float32"))
written = model.translate(lines, **options)
print(time.perf_counter() - start, time.process_time() - used, file=sys.stderr)
sys.stdout.reconfigure(encoding="utf-8")
sys.stdout.writelines(line + "\\n" for line in written)
"""


def timed(command, source):
    """Runs a command, and returns its seconds, its CPU seconds, stdout and stderr."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(source, "rb") as lines:
        done = subprocess.run(command, stdin=lines, capture_output=True, check=True)
    taken, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return taken, used, done.stdout, done.stderr


def compare(program, source, case, rounds):
    typed = [word for name, value in case.items() for word in (f"--{name}", value)]
    command = [program, "translate", *typed]
    package = [sys.executable, "-c", PACKAGE, source, *(f"{name}={value}" for name, value in case.items())]
    times = []
    for _ in range(rounds):
        taken, used, expected, _ = timed(command, source)
        whole, whole_used, written, said = timed(package, source)
        if written != expected:
            raise SystemExit(f"{case}: the package wrote other lines than the command")
        call, call_used = map(float, said.split())
        times.append((taken, whole, call, used, whole_used, call_used))
    for what, first in (("", 0), ("processor", 3)):
        three = [each[first:first + 3] for each in times]
        print(f"{' '.join(typed):38}{what:10}", *(f"{statistics.median(each):7.2f} s" for each in zip(*three)),
              *(f"{statistics.median(each[i] / each[0] for each in three):7.3f}" for i in (1, 2)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--corpus", type=Path, default=ROOT / "data/toy/train.en")
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    lines = itertools.islice(itertools.cycle(options.corpus.read_text(encoding="utf-8").splitlines()),
                             options.lines)
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "lines.en")
        Path(source).write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{options.lines} lines, {options.rounds} rounds\n{'':48} command    python      call  "
              "python÷command  call÷command")
        for case in CASES:
            compare(options.program, source, case, options.rounds)


if __name__ == "__main__":
    main()
