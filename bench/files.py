#!/usr/bin/env python3
"""Times `translate --input` on sentences of different lengths: sorted, unsorted, and with long ones between.

    python3 bench/files.py --program build/release/app/attn-demo --sentences FILE [--before PROGRAM] [--rounds 5]
        [--model data/models/en-de] [--threads 1] [--beam 4] [--precision float32]

FILE has a sentence a line. Translated are its lines as they are, the same in the order of their lengths, and the same with ten lines
of 200 words between them (a word each of FILE's, no marks, --split never: one long search), each a whole process. The orders and programs
take turns, round by round. Told are medians of a processor's seconds and of the clock's, and of the rounds' own ratios: to the
sorted file's time, and with --before the other program's time over this one's, whose output must be the same. Prints Markdown.
Python's standard library only.
"""

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONG_LINES, LONG_WORDS = 10, 200


def orders(lines):
    """Returns the lines by name."""
    words = [word.strip(".,!?\"") for line in lines for word in line.split()]
    long = [" ".join(words[i * LONG_WORDS:(i + 1) * LONG_WORDS]) for i in range(LONG_LINES)]
    between = list(lines)
    for i, line in enumerate(long):
        between.insert((2 * i + 1) * len(lines) // (2 * LONG_LINES) + i, line)
    return {"sorted by length": sorted(lines, key=lambda line: len(line.split())), "as it is": list(lines),
            "with ten lines of 200 words": between, "the ten lines alone": long}


def run(command, source, output):
    """Runs one process, and returns its CPU seconds and its wall-clock seconds."""
    begun = time.monotonic()
    child = os.posix_spawn(command[0], [*command, "--input", source, "--output", output], os.environ,
                           file_actions=[(os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)])
    _, status, used = os.wait4(child, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(command)}: exit status {status}")
    return used.ru_utime + used.ru_stime, time.monotonic() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--sentences", required=True)
    parser.add_argument("--before")
    parser.add_argument("--model", default=str(ROOT / "data/models/en-de"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", default="1")
    parser.add_argument("--beam", default="4")
    parser.add_argument("--precision", default="float32")
    given = parser.parse_args()

    programs = {"now": given.program} | ({"before": given.before} if given.before else {})
    options = ["--model", given.model, "--beam", given.beam, "--threads", given.threads, "--precision", given.precision, "--split", "never"]
    files = orders(Path(given.sentences).read_text().splitlines())
    seconds = {(order, program): [] for order in files for program in programs}
    with tempfile.TemporaryDirectory() as folder:
        for order, lines in files.items():
            (Path(folder) / order).write_text("".join(line + "\n" for line in lines))
        for _ in range(given.rounds):
            for order in files:
                outputs = set()
                for program, path in programs.items():
                    output = str(Path(folder) / "output")
                    command = [str(Path(path).resolve()), "translate", *options]
                    seconds[order, program].append(run(command, str(Path(folder) / order), output))
                    outputs.add(Path(output).read_bytes())
                if len(outputs) != 1:
                    raise SystemExit(f"{order}: the programs' outputs differ")

    print("| file | program | processor, s | clock, s | over sorted |" + (" before over now |" if given.before else ""))
    print("| --- | --- | --- | --- | --- |" + (" --- |" if given.before else ""))
    for (order, program), runs in seconds.items():
        processor, clock = (statistics.median(one[i] for one in runs) for i in (0, 1))
        of_sorted = statistics.median(a[0] / b[0] for a, b in zip(runs, seconds["sorted by length", program]))
        row = f"| {order} | {program} | {processor:.2f} | {clock:.2f} | {of_sorted:.2f} |"
        if given.before:
            row += f" {statistics.median(b[0] / a[0] for a, b in zip(seconds[order, 'now'], seconds[order, 'before'])):.2f} |"
        print(row)


if __name__ == "__main__":
    main()
