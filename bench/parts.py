#!/usr/bin/env python3
"""Measures where a search spends its time: runs perf over bench_decode on one thread, function by function,
and groups the functions.

    python3 bench/parts.py --model DIR --sentences FILE [--beams 1,4] [--precision int8]

Prints a Markdown table: each part's share of the samples, in batches of 32. DIR and FILE as for
bench/compare_speed.py. Needs perf (Debian: linux-perf) and the right to use it.
"""
import argparse
import json
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# A function belongs to the first part whose pattern is found in its name.
PARTS = {
    "products with weights": r"rows_of_panel|row_product|block_product|panel_product|multiply_in_parts|int8_(block|product)|multiply_(all|block)",
    "rounding rows to 8 or 16 bits": r"quantize|round_all|largest_bits|pack_left",
    "attention": r"dot_products|weighted_sum|\bsoftmax\b|score_row|sum_values|attend|softmax_block",
    "log-softmax, choosing": r"row_max|arg_max|log_sum_exp|normaliser|find_above|beam_search|greedy|candidates",
    "embeddings, norms, residuals, ReLU": r"embed|moments|layer_norm|LayerNorm|add_rows|scale_shift|relu",
    "moving rows and memory": r"memmove|memcpy|memset|clear_page|page_fault|malloc|free|store|copy|\[k\]",
}
REST = "everything else"
APART = r"\brun_(avx|neon|dotprod)"  # the measurement of the peak


def samples_of(program, options, beam, scratch):
    """Returns [(share, function)], and the output of bench_decode."""
    data = scratch / "perf.data"
    said = subprocess.run(
        ["perf", "record", "-q", "-o", data, program, "--model", options.model, "--sentences", options.sentences,
         "--beam", str(beam), "--repeat", "40", "--precision", options.precision], check=True, capture_output=True, text=True).stdout
    report = subprocess.run(
        ["perf", "report", "-i", data, "--stdio", "--no-children", "--fields", "overhead,symbol"],
        check=True, capture_output=True, text=True).stdout
    rows = re.findall(r"^\s+([0-9.]+)%\s+(.*\S)", report, re.M)
    return [(float(share), name) for share, name in rows if not re.search(APART, name)], json.loads(said)


def parts_of(samples):
    parts = dict.fromkeys([*PARTS, REST], 0.0)
    total = sum(share for share, _ in samples)
    for share, name in samples:
        part = next((part for part, pattern in PARTS.items() if re.search(pattern, name)), REST)
        parts[part] += share / total
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--sentences", required=True)
    parser.add_argument("--beams", type=lambda s: [int(b) for b in s.split(",")], default=[1, 4])
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--bench-decode", type=Path, default=ROOT / "build/bench/bench/bench_decode")
    options = parser.parse_args()
    columns, whole = [], []
    with tempfile.TemporaryDirectory() as scratch:
        for beam in options.beams:
            samples, said = samples_of(options.bench_decode, options, beam, Path(scratch))
            columns.append(parts_of(samples))
            whole.append(f"{said['gflops']:.0f} of {said['peak_gflops']:.0f} GFLOP/s, {said['share']:.0%}")
    names = ["greedy" if beam == 1 else f"beam {beam}" for beam in options.beams]
    print("| part | " + " | ".join(names) + " |\n| --- |" + " --- |" * len(names))
    for part in columns[0]:
        print(f"| {part} | " + " | ".join(f"{column[part]:.1%}" for column in columns) + " |")
    print("| all, of the peak | " + " | ".join(whole) + " |")


if __name__ == "__main__":
    main()
