#!/usr/bin/env python3
"""Trains the same model on the same text with PyTorch and with attn-demo, and compares speed,
memory and quality.

    python bench/compare_training.py --split DIR [--threads 1,2] [--rounds 3] [--avx2] [--bfloat16]
    python bench/compare_training.py --split DIR --rounds 0 --full      the losses and BLEU of a run
    python bench/compare_training.py --rounds 0 --torch-log LOG --our-log train.jsonl    of old ones

DIR holds train.en, train.de, dev.en and dev.de. The model: d_model 256, 3+3 layers, 4 heads, ffn
1,024, a joint vocabulary of 8,000; dropout 0.1 of attention weights, activations and residuals;
batches of at most 3,000 padded positions; label smoothing 0.1, Adam, clipping at 1, a rate that
rises for 2,000 updates to 1e-3. Prints Markdown.

Speed: PyTorch (torch_training.py beside this file) and attn-demo take turns, each run a process of
its own; target tokens a second without padding, from their own logs, without the first --warm-up
updates. A ratio is the median of the rounds' own ratios. --avx2 adds runs that keep to AVX2,
--bfloat16 makes all runs multiply in bfloat16 (torch.autocast there, train.precision here).
Memory: the largest resident size, as the system counts it, beside the yardstick that
training_memory.py explains. Quality: losses around some updates (means of the 50 before), the mean
loss of each epoch, dev BLEU of greedy search after it.

Needs: pip install torch sentencepiece sacrebleu
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

from training_memory import BUDGET, D, FFN, HEADS, LAYERS, VOCABULARY, parameter_count, yardstick

ROOT = Path(__file__).resolve().parent.parent
AVX2 = {"ATTN_DEMO_CPU": "avx2", "ATEN_CPU_CAPABILITY": "avx2", "DNNL_MAX_CPU_ISA": "AVX2",
        "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
WINDOW = 50  # updates
MARKS = (100, 250, 500, 750, 1000, 1200)

# --- Runs -----------------------------------------------------------------------------------------


def run(command, log, environment=None):
    """Runs a command to its end, with its output in `log`, and returns the largest resident size in
    bytes (Linux counts kB). This is at least the size of this process at the start, so nothing
    large is kept here before."""
    with open(log, "wb") as out:
        process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=out,
                                   env={**os.environ, **(environment or {})})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        tail = "".join(log.read_text(errors="replace").splitlines(keepends=True)[-5:])
        sys.exit(f"{command[0]} ended with {process.returncode}; the end of {log}:\n{tail}")
    return usage.ru_maxrss * 1024


class Contenders:
    """The two trainers on one split. A call trains, and returns the log that was read and the peak
    memory."""

    def __init__(self, options, work):
        self.options, self.work = options, work
        self.pieces = work / "pieces"
        if not (self.pieces / "source.spm").exists():
            run([options.program, "tokenizer", "--source", options.split / "train.en", "--target",
                 options.split / "train.de", "--vocab-size", VOCABULARY - 1, "--out", self.pieces],
                work / "tokenizer.log")

    def short(self):
        """Makes the split with 20 validation lines, so that a run's end does not take longer than
        the run."""
        short = self.work / "short"
        short.mkdir(exist_ok=True)
        for code in ("en", "de"):
            (short / f"train.{code}").unlink(missing_ok=True)
            (short / f"train.{code}").symlink_to(self.options.split / f"train.{code}")
            with open(self.options.split / f"dev.{code}", encoding="utf-8") as lines:
                few = "".join(line for _, line in zip(range(20), lines))
            for part in ("dev", "test"):  # some scripts require a test part
                (short / f"{part}.{code}").write_text(few, encoding="utf-8")
        return short

    def torch(self, split, updates, threads, environment=None):
        log = self.work / "torch.log"
        (self.work / "torch").mkdir(exist_ok=True)
        peak = run([sys.executable, "-u", self.options.torch_script, split,
                    self.pieces / "source.spm", self.work / "torch", "--updates", updates,
                    "--threads", threads, *(["--bfloat16"] if self.options.bfloat16 else [])], log,
                   {"OMP_NUM_THREADS": str(threads), **(environment or {})})
        return read_torch_log(log), peak

    def ours(self, split, updates, threads, environment=None):
        config = self.work / "experiment.json"
        precision = "bfloat16" if self.options.bfloat16 else "float32"
        config.write_text(json.dumps(experiment(split, self.pieces, updates, precision), indent=2))
        out = self.work / "attn-demo"
        shutil.rmtree(out, ignore_errors=True)
        peak = run([self.options.program, "train", config, "--out", out, "--threads", threads],
                   self.work / "attn-demo.log", environment)
        return read_our_log(out / "train.jsonl"), peak


def experiment(split, pieces, updates, precision):
    def part(name):
        return {"source": str(split / f"{name}.en"), "target": str(split / f"{name}.de")}

    model = {"d_model": D, "dropout": 0.1, "attention_dropout": 0.1, "activation_dropout": 0.1}
    for stack in ("encoder", "decoder"):
        model |= {f"{stack}_layers": LAYERS, f"{stack}_attention_heads": HEADS,
                  f"{stack}_ffn_dim": FFN}
    return {"model": model, "tokenizer": {"model": str(pieces)},
            "data": {"train": part("train"), "dev": part("dev"), "probe": "The group went home."},
            "train": {"updates": updates, "batch_tokens": BUDGET, "learning_rate": 1e-3,
                      "warmup_updates": 2000, "label_smoothing": 0.1, "clip_norm": 1.0,
                      "precision": precision, "log_every": 10, "checkpoint_every": updates}}


# --- Logs: {"lines": [(update, loss, tokens, tokens/s)], "epochs": [(update, loss, BLEU)]} --------


def read_torch_log(path):
    text = path.read_text(encoding="utf-8")
    lines = [(int(u), float(loss), float(tokens or 1), float(speed)) for u, loss, speed, tokens in
             re.findall(r"^update (\d+) loss (\S+) tok/s (\S+)(?: tokens (\d+))?", text, re.M)]
    epochs = [(int(u), float(loss), float(bleu)) for u, loss, bleu in
              re.findall(r"^epoch .* step (\d+) .*?loss (\S+) .*dev BLEU (\S+)", text, re.M)]
    return {"lines": lines, "epochs": epochs}


def read_our_log(path):
    """Reads the metrics of each epoch. If the run ended inside the last epoch, its metrics cover
    the completed part."""
    events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    train = [e for e in events if e["event"] == "train"]
    whole = {e["epoch"]: e["loss"] for e in events if e["event"] == "epoch"}
    epochs = []
    for v in (e for e in events if e["event"] == "validation"):
        part = [(e["update"], e["loss"], e["tokens"]) for e in train if e["epoch"] == v["epoch"]]
        epochs.append((v["update"], whole.get(v["epoch"], mean_loss(part)), v["bleu"]))
    return {"lines": [(e["update"], e["loss"], e["tokens"], e["tokens_per_second"]) for e in train],
            "epochs": epochs}


def mean_loss(lines):
    tokens = sum(line[2] for line in lines)
    return sum(line[1] * line[2] for line in lines) / tokens if tokens else float("nan")


def speed_of(log, warm_up, name):
    starts = [0] + [update for update, *_ in log["lines"]]
    lines = [line for start, line in zip(starts, log["lines"]) if start >= warm_up]
    if not lines:
        sys.exit(f"{name}: no log line begins after update {warm_up}; give more --updates "
                 "(a script that logs every 50 needs 100)")
    return sum(line[2] for line in lines) / sum(line[2] / line[3] for line in lines)


# --- Speed and memory -----------------------------------------------------------------------------


def compare_speed(options, contenders):
    """Prints the table, and returns the largest peak of each program."""
    split = contenders.short()
    peaks = {"torch": 0, "ours": 0}
    print("| threads | instructions | PyTorch, tokens/s | attn-demo, tokens/s | ratio | range |\n"
          "| --- | --- | --- | --- | --- | --- |", flush=True)
    modes = {"all of the CPU's": {}} | ({"AVX2": AVX2} if options.avx2 else {})
    for name, environment in modes.items():
        for threads in options.threads:
            speeds = {"torch": [], "ours": []}
            for _ in range(options.rounds):
                for who, rounds in speeds.items():
                    train = getattr(contenders, who)
                    log, peak = train(split, options.updates, threads, environment)
                    rounds.append(speed_of(log, options.warm_up, who))
                    peaks[who] = max(peaks[who], peak)
            ratios = [ours / torch for torch, ours in zip(speeds["torch"], speeds["ours"])]
            print(f"| {threads} | {name} | {statistics.median(speeds['torch']):,.0f} | "
                  f"{statistics.median(speeds['ours']):,.0f} | {statistics.median(ratios):.2f} | "
                  f"{min(ratios):.2f}–{max(ratios):.2f} |", flush=True)
    return peaks


def report_memory(peaks, options, contenders):
    weights, kept, logits = yardstick(options.split, contenders.pieces)
    mb = 1e6
    print(f"\nYardstick: weights, gradients and moments {weights / mb:.0f} MB "
          f"({parameter_count():,} parameters × 4 × 4 bytes), activations of the largest batch "
          f"{kept / mb:.0f} MB; its logits would be {logits / mb:.0f} MB more.\n")
    print("| memory | peak | × yardstick | × yardstick with logits |\n| --- | --- | --- | --- |")
    for who, name in {"torch": "PyTorch", "ours": "attn-demo"}.items():
        print(f"| {name} | {peaks[who] / mb:,.0f} MB | {peaks[who] / (weights + kept):.2f} | "
              f"{peaks[who] / (weights + kept + logits):.2f} |")


# --- Quality --------------------------------------------------------------------------------------


def report_quality(torch, ours):
    print("\n| quality | PyTorch | attn-demo | ratio |\n| --- | --- | --- | --- |")

    def row(what, a, b, verdict=""):
        if b == b:  # not NaN: the part of the epoch has a log line
            print(f"| {what} | {a:.3f} | {b:.3f} | {b / a:.3f}{verdict} |")

    for mark in MARKS:
        losses = [mean_loss([line for line in log["lines"] if mark - WINDOW < line[0] <= mark])
                  for log in (torch, ours)]
        if min(log["lines"][-1][0] for log in (torch, ours)) >= mark:
            row(f"loss of updates {mark - WINDOW + 1}–{mark}", *losses)
    for number, (a, b) in enumerate(zip(torch["epochs"], ours["epochs"]), 1):
        near = abs(b[1] / a[1] - 1) <= 0.03
        row(f"mean loss of epoch {number} (updates to {a[0]} and {b[0]})", a[1], b[1],
            f" (within 3%: {'yes' if near else 'no'})")
        print(f"| dev BLEU after epoch {number} | {a[2]:.2f} | {b[2]:.2f} | {b[2] - a[2]:+.2f} "
              f"(no lower than PyTorch's − 1: {'yes' if b[2] >= a[2] - 1 else 'no'}) |")


# --- The program ----------------------------------------------------------------------------------


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    path = lambda text: Path(text).resolve()
    add = parser.add_argument
    add("--split", type=path, metavar="DIR", help="holds train and dev, .en and .de")
    add("--program", type=path, metavar="FILE", default=ROOT / "build/release/app/attn-demo")
    add("--torch-script", type=path, metavar="FILE", default=ROOT / "bench/torch_training.py",
        help="called with the split, the pieces, an output directory, --updates and --threads")
    add("--work", type=path, metavar="DIR", help="kept, with the vocabulary (default: temporary)")
    add("--threads", type=lambda text: [int(t) for t in text.split(",")], default=[1, 2])
    add("--rounds", type=int, default=3, help="of the speed runs [3]; 0: none")
    add("--updates", type=int, default=40, help="of a speed run [40]")
    add("--warm-up", type=int, default=10, help="updates of it that do not count [10]")
    add("--avx2", action="store_true", help="speed also with no more than AVX2")
    add("--bfloat16", action="store_true", help="products in bfloat16, both sides")
    add("--full", type=int, nargs="?", const=1236, metavar="UPDATES",
        help="losses and BLEU of so many updates [1236] on the most threads")
    add("--torch-log", type=path, help="losses and BLEU from this log of the torch script …")
    add("--our-log", type=path, help="… and from this train.jsonl")
    options = parser.parse_args()
    if (options.rounds or options.full) and not options.split:
        parser.error("give --split DIR")
    text = ("train.en", "train.de", "dev.en", "dev.de") if options.split else ()
    programs = (options.program, options.torch_script) if options.split else ()
    for file in (*programs, *(options.split / name for name in text)):
        if not file.exists():
            parser.error(f"{file} is missing")
    if bool(options.torch_log) != bool(options.our_log):
        parser.error("--torch-log and --our-log go together")
    return options


def main():
    options = parse()
    if options.rounds and os.getloadavg()[0] > 1:
        print(f"the machine is busy (load {os.getloadavg()[0]:.1f}): trust ratios, not times",
              file=sys.stderr)
    with tempfile.TemporaryDirectory() as scratch:
        work = options.work or Path(scratch)
        work.mkdir(parents=True, exist_ok=True)
        peaks = {"torch": 0, "ours": 0}
        if options.rounds or options.full:
            contenders = Contenders(options, work)
        if options.rounds:
            peaks = compare_speed(options, contenders)
        if options.full:
            full = {}
            for who in peaks:
                full[who], peak = getattr(contenders, who)(
                    options.split, options.full, max(options.threads))
                peaks[who] = max(peaks[who], peak)
        if options.rounds or options.full:
            report_memory(peaks, options, contenders)
        if options.full:
            report_quality(full["torch"], full["ours"])
        if options.torch_log:
            report_quality(read_torch_log(options.torch_log), read_our_log(options.our_log))


if __name__ == "__main__":
    main()
