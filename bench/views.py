#!/usr/bin/env python3
"""Measures the time that each view of a sentence adds to the translation itself, as whole processes.

    python3 bench/views.py [--attn-demo build/release/app/attn-demo] [--sentence TEXT] [--rounds 15]

Each round runs the bare translation and every view in turn; a view's cost is the median over
rounds of its time minus that of the bare run of the same round. The sentence has about 20 tokens;
the shipped model has 44 heads in its three kinds. Prints a Markdown table. Standard library only.
"""
import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SENTENCE = "When the children came home from school in the afternoon, their mother was still working in the old garden."
VIEWS = {
    "every map on the terminal": ["--show", "all"],
    "JSON": ["--json", "{dir}/m.json"],
    "JSON with vectors": ["--json", "{dir}/m.json", "--vectors"],
    "SVG, three kinds": ["--show", "all", "--svg", "{dir}/m.svg"],
    "CSV": ["--csv", "{dir}/csv"],
    "page": ["--html", "{dir}/m.html"],
    "page with the search, beam 4": ["--html", "{dir}/m.html", "--beam", "4"],
    "report and alignment": ["--report", "--align"],
    "PNG, scale 2": ["--png", "{dir}/m.png"],
    "PNG, three kinds": ["--show", "all", "--png", "{dir}/m.png"],
    "what if": ["--without", "cross:2:2"],
    "explain": None,
}


def seconds(command):
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attn-demo", default=str(ROOT / "build/release/app/attn-demo"))
    parser.add_argument("--sentence", default=SENTENCE)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    translate = [options.attn_demo, "translate", options.sentence, "--show", "none"]
    costs = {name: [] for name in VIEWS}
    bare = {1: [], 4: []}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            round_bare = {beam: seconds(translate + ["--beam", str(beam)]) for beam in bare}
            for beam, spent in round_bare.items():
                bare[beam].append(spent)
            for name, arguments in VIEWS.items():
                if arguments is None:
                    command, beam = [options.attn_demo, "explain", options.sentence, "--query", "3", "--beam", "1"], 1
                else:
                    filled = [part.replace("{dir}", folder) for part in arguments]
                    base = [part for part in translate if part not in ("--show", "none")] if "--show" in filled \
                        else translate
                    beam = 4 if "4" in filled else 1
                    command = base + filled + ([] if beam == 4 else ["--beam", "1"])
                costs[name].append(seconds(command) - round_bare[beam])
    print("| view | seconds over the translation, median | worst of the rounds |\n| --- | --- | --- |")
    for name, spent in costs.items():
        print(f"| {name} | {statistics.median(spent):.3f} | {max(spent):.3f} |")
    medians = ", ".join(f"beam {beam} {statistics.median(spent):.3f} s" for beam, spent in bare.items())
    print(f"\nThe translation alone: {medians}; {options.rounds} rounds.")


if __name__ == "__main__":
    main()
