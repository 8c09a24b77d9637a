#!/usr/bin/env python3
"""Times attention alone, and PyTorch's scaled_dot_product_attention in the same run.

    python bench/compare_attention.py [--program build/release/app/attn-demo] [--lengths 2048,8192]
        [--rounds 5] [--threads 2] [--kinds full,longformer] [--growth 2048,4096,8192,16384,32768]

8 heads of 64 columns, one sentence, float32. Programs take turns, each run a process of its own
that takes a median; a ratio is the median of the rounds' own ratios. Forward, and both ways with
dropout 0.1 of the weights. --growth adds how time and memory of our kinds grow: the slope of a line
through the logarithms. Prints Markdown.

Needs: pip install torch
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADS, HEAD_DIM = 8, 64


def torch_seconds(length, causal, backward, threads):
    """Runs PyTorch in this process, and returns the median seconds of three calls after a first one."""
    import time

    import torch
    from torch.nn.functional import scaled_dot_product_attention

    torch.set_num_threads(threads)
    torch.manual_seed(1)
    # In the layout of a projection's output: [tokens, heads, columns], viewed as [1, heads, tokens, columns].
    q, k, v = (torch.randn(length, HEADS, HEAD_DIM).transpose(0, 1)[None]
               .requires_grad_(backward) for _ in range(3))
    gradient = torch.randn(1, HEADS, length, HEAD_DIM)
    seconds = []
    for _ in range(4):
        start = time.perf_counter()
        out = scaled_dot_product_attention(q, k, v, is_causal=causal,
                                           dropout_p=0.1 if backward else 0.0)
        if backward:
            torch.autograd.grad(out, (q, k, v), gradient)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[1:])


def their_run(length, causal, backward, threads):
    code = f"import compare_attention as c; print(c.torch_seconds({length}, {causal}, {backward}, {threads}))"
    done = subprocess.run([sys.executable, "-B", "-c", code], cwd=Path(__file__).parent,
                          capture_output=True, text=True)
    if done.returncode:
        return None
    return float(done.stdout)


def our_run(program, kinds, lengths, causal, backward, threads):
    command = [program, "inspect", "--attention", ",".join(kinds),
               "--lengths", ",".join(map(str, lengths)), "--heads", str(HEADS),
               "--head-dim", str(HEAD_DIM), "--threads", str(threads), "--json", "-"]
    command += ["--causal"] if causal else []
    command += ["--backward", "--dropout", "0.1"] if backward else []
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["attention"]


def slope(xs, ys):
    """Returns the slope of the least-squares line through (ln x, ln y)."""
    xs, ys = [math.log(x) for x in xs], [math.log(max(y, 1e-9)) for y in ys]
    x_mean, y_mean = statistics.mean(xs), statistics.mean(ys)
    return (sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys)) /
            sum((x - x_mean) ** 2 for x in xs))


def compare(options):
    print("| attention | tokens | both ways | PyTorch | attn-demo | times as fast |")
    print("| --- | --- | --- | --- | --- | --- |")
    for backward in (False, True):
        for length in options.lengths:
            for causal in (False, True):
                theirs, ours, ratios = [], [], []
                for _ in range(options.rounds):
                    a = their_run(length, causal, backward, options.threads)
                    row = our_run(options.program, ["full"], [length], causal, backward,
                                  options.threads)[0]
                    b = row["forward_seconds"] + (row["backward_seconds"] or 0)
                    ours.append(b)
                    if a is not None:
                        theirs.append(a)
                        ratios.append(a / b)
                name = "causal" if causal else "full"
                both = "dropout 0.1" if backward else ""
                if ratios:
                    print(f"| {name} | {length:,} | {both} | {statistics.median(theirs):.3f} s | "
                          f"{statistics.median(ours):.3f} s | {statistics.median(ratios):.2f} |",
                          flush=True)
                else:
                    print(f"| {name} | {length:,} | {both} | did not end | "
                          f"{statistics.median(ours):.3f} s | |", flush=True)


def growth(options):
    print("\n| kind | both ways | time grows as N^ | memory as N^ | seconds and MB at each length |")
    print("| --- | --- | --- | --- | --- |")
    for kind in options.kinds:
        for backward in (False, True):
            rows = our_run(options.program, [kind], options.growth, False, backward,
                           options.threads)
            seconds = [r["forward_seconds"] + (r["backward_seconds"] or 0) for r in rows]
            peaks = [r["peak_bytes"] for r in rows]
            figures = ", ".join(f"{s:.3g} s {p / 1e6:.0f} MB" for s, p in zip(seconds, peaks))
            print(f"| {kind} | {'dropout 0.1' if backward else ''} | "
                  f"{slope(options.growth, seconds):.2f} | {slope(options.growth, peaks):.2f} | "
                  f"{figures} |", flush=True)


def main():
    def numbers(text):
        return [int(n) for n in text.split(",") if n]

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / "build/release/app/attn-demo"))
    parser.add_argument("--lengths", type=numbers, default=[2048, 8192])
    parser.add_argument("--growth", type=numbers, default=[])
    parser.add_argument("--kinds", type=lambda text: text.split(","),
                        default=["full", "window", "longformer", "bigbird", "sparse_strided",
                                 "sparse_fixed", "chunks"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if options.lengths:
        compare(options)
    if options.growth:
        growth(options)


if __name__ == "__main__":
    main()
