#!/usr/bin/env python3
"""Compares loading pytorch_model.bin with loading the same weights as model.safetensors, and measures the
memory of a large vocabulary.

    bench/loading.py [PROGRAM] [--rounds N] [--large]

A model of 300 MB with random weights is made by `init`, and written again by torch.save. In turns a fresh process of each translates
one word into one token, which reads every weight. Prints the medians of seconds, of seconds of the processor and of peak memory
(pages of the mapped file count), and their ratios; fails above 1.5. With --large: an M2M100 of 128,112 rows in float16 (d_model 1,024,
6 + 6 layers), whose peak in float32 and in 8 bits is told beside its file's size, each of a run that translates eight
words into eight tokens. Needs: pip install torch safetensors
"""
import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from python_packages import need

need("torch", "safetensors")

import torch
from safetensors.torch import load_file, save_file

SHAPE = {"d_model": 768, "encoder_layers": 5, "decoder_layers": 4, "encoder_attention_heads": 12, "decoder_attention_heads": 12,
         "encoder_ffn_dim": 3072, "decoder_ffn_dim": 3072}
MOST = 1.5
PIECES = 128_004  # entries of M2M100's vocab.json


# Each process is started by a process of its own, because a child's peak memory is never reported below its parent's.
STARTER = """
import os, subprocess, sys, time
start = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, used = os.wait4(child.pid, 0)
print(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6)
sys.exit(status != 0)
"""


def measured(program, directory, *more):
    """Runs a command, and returns its seconds, its CPU seconds and its peak memory in MB."""
    command = [program, "translate", "--model", directory, "--threads", "1", "--show", "none", *more]
    done = subprocess.run([sys.executable, "-c", STARTER, *map(str, command)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: failed")
    return [float(figure) for figure in done.stdout.split()]


def large(program, scratch):
    """Prints the peak memory divided by the file's size, in float32 and in int8."""
    shape = {"model_type": "m2m_100", "d_model": 1024, "encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads": 16,
             "decoder_attention_heads": 16, "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096}
    config, directory, tokenizer = scratch / "config.json", scratch / "large", scratch / "tokenizer"
    shutil.copytree(ROOT / "tests/golden/languages/M2M100", tokenizer)
    pieces = json.loads((tokenizer / "vocab.json").read_text())
    pieces |= {f"word{i}": i for i in range(len(pieces), PIECES)}
    (tokenizer / "vocab.json").write_text(json.dumps(pieces))
    config.write_text(json.dumps({"model": shape, "tokenizer": {"model": str(tokenizer)}}))
    subprocess.run([program, "init", "--config", config, "--out", directory], check=True, stderr=subprocess.DEVNULL)
    tensors = {name: tensor.half() for name, tensor in load_file(directory / "model.safetensors").items()}
    save_file(tensors, directory / "model.safetensors", {"format": "pt"})
    size = (directory / "model.safetensors").stat().st_size / 1e6
    for precision in ("float32", "int8"):
        peak = measured(program, directory, "--max-length", "8", "--target-lang", "de", "--precision", precision,
                        "the group went home to the old dog")[2]
        print(f"float16 file of {size:.0f} MB, {precision}: {peak:.0f} MB at the peak, {peak / size:.2f} times the file")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?", default=ROOT / "build/release/app/attn-demo")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    if options.large:
        with tempfile.TemporaryDirectory() as scratch:
            return large(options.program, Path(scratch))
    with tempfile.TemporaryDirectory() as scratch:
        forms = {name: Path(scratch) / name for name in ("model.safetensors", "pytorch_model.bin")}
        config = Path(scratch) / "config.json"
        config.write_text(json.dumps({"model": SHAPE, "tokenizer": {"model": str(ROOT / "data/models/en-de")}}))
        for directory in forms.values():
            subprocess.run([options.program, "init", "--config", config, "--out", directory], check=True, stderr=subprocess.DEVNULL)
        file = forms["pytorch_model.bin"] / "model.safetensors"
        torch.save(load_file(file), file.with_name("pytorch_model.bin"))
        file.unlink()
        found = {name: [] for name in forms}
        for turn in range(options.rounds + 1):
            for name, directory in list(forms.items())[:: 1 if turn % 2 else -1]:
                figures = measured(options.program, directory, "--max-length", "1", "dog")
                if turn:  # the first round only fills the page cache
                    found[name].append(figures)
        size = (forms["pytorch_model.bin"] / "pytorch_model.bin").stat().st_size / 1e6
    medians = {name: [statistics.median(column) for column in zip(*rounds)] for name, rounds in found.items()}
    for name, (seconds, used, peak) in medians.items():
        print(f"{name} of {size:.0f} MB: {seconds:.3f} s, {used:.3f} s of the processor, {peak:.0f} MB at the peak")
    ratios = [b / a for a, b in zip(*medians.values())]
    print("pytorch_model.bin over model.safetensors: " + ", ".join(f"{ratio:.2f}" for ratio in ratios))
    sys.exit(max(ratios) > MOST)


if __name__ == "__main__":
    main()
