#!/usr/bin/env python3
"""Times encoders of long sentences, and transformers' classes in the same run.

    python bench/compare_encoders.py [--threads 2] [--rounds 3] [--only NAME,…]

Random weights of the published widths, float32, one sentence without padding, the same directory for
both. Programs take turns, each run a process of its own; a ratio is the median of the rounds' own
ratios. An attention layer is an encoder of one layer whose feed-forward part has 8 columns. Memory is
the largest size in use over what the loaded model takes. Prints Markdown.

Needs: pip install torch transformers; scripts/build.sh bench
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# name: (class, tokens, maximum number of rounds, config). Vocabularies are small because they are not used here.
LED = dict(d_model=768, encoder_attention_heads=12, decoder_attention_heads=12, decoder_layers=1,
           decoder_ffn_dim=8, vocab_size=1000, max_encoder_position_embeddings=16384)
BIGBIRD = dict(d_model=1024, encoder_attention_heads=16, decoder_attention_heads=16, decoder_layers=1,
               decoder_ffn_dim=8, vocab_size=1000, max_position_embeddings=4096)
PEGASUS_X = dict(d_model=768, encoder_attention_heads=12, decoder_attention_heads=12, decoder_layers=1,
                 decoder_ffn_dim=8, vocab_size=1000, max_position_embeddings=16384)
CASES = {
    "LED attention layer, window 512": (
        "LED", 8192, dict(LED, encoder_layers=1, encoder_ffn_dim=8, attention_window=[512])),
    "LED encoder, 2 layers, window 1,024": (
        "LED", 4096, dict(LED, encoder_layers=2, encoder_ffn_dim=3072, attention_window=[1024] * 2)),
    "BigBird-Pegasus encoder, 2 layers": (
        "BigBirdPegasus", 4096, dict(BIGBIRD, encoder_layers=2, encoder_ffn_dim=4096)),
    "BigBird-Pegasus encoder layer, 16 heads": (
        "BigBirdPegasus", 4096, dict(BIGBIRD, encoder_layers=1, encoder_ffn_dim=4096)),
    "Pegasus-X encoder, 2 layers": (
        "PegasusX", 4096, dict(PEGASUS_X, encoder_layers=2, encoder_ffn_dim=3072)),
}


def make(name, directory):
    import torch
    import transformers
    kind, _, config = CASES[name]
    torch.manual_seed(1)
    config = getattr(transformers, kind + "Config")(**config)
    model = getattr(transformers, kind + "ForConditionalGeneration")(config)
    model.save_pretrained(directory)


def status_bytes(field):
    for line in open("/proc/self/status"):
        if line.startswith(field):
            return 1024 * int(line.split()[1])


def their_run(name, directory, threads):
    """Prints the median seconds of three calls after a first one, and the memory; runs in a separate process."""
    import time

    import torch
    import transformers
    torch.set_num_threads(threads)
    kind, tokens, _ = CASES[name]
    model = getattr(transformers, kind + "ForConditionalGeneration").from_pretrained(directory).eval()
    encoder = model.get_encoder()
    ids = torch.randint(4, 990, (1, tokens))
    more = {}
    if kind == "LED":
        more["global_attention_mask"] = torch.zeros(1, tokens, dtype=torch.long)
        more["global_attention_mask"][0, 0] = 1
    before = status_bytes("VmRSS:")
    open("/proc/self/clear_refs", "w").write("5")
    seconds = []
    with torch.no_grad():
        for _ in range(4):
            start = time.perf_counter()
            encoder(input_ids=ids, attention_mask=torch.ones_like(ids), **more)
            seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": statistics.median(seconds[1:]),
                      "bytes_over_weights": status_bytes("VmHWM:") - before}))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def compare(name, options):
    with tempfile.TemporaryDirectory() as directory:
        make(name, directory)
        theirs, ours = [], []
        for _ in range(options.rounds):
            code = (f"import compare_encoders as c; "
                    f"c.their_run({name!r}, {directory!r}, {options.threads})")
            theirs.append(run([sys.executable, "-B", "-W", "ignore", "-c", code]))
            ours.append(run([options.program, "--model", directory, "--tokens", str(CASES[name][1]),
                             "--threads", str(options.threads)]))
    ratio = statistics.median(a["seconds"] / b["seconds"] for a, b in zip(theirs, ours))
    figures = [statistics.median(r[key] for r in rows) for key in ("seconds", "bytes_over_weights")
               for rows in (theirs, ours)]
    print(f"| {name} | {CASES[name][1]:,} | {figures[0]:.3f} s | {figures[1]:.3f} s | {ratio:.2f} | "
          f"{figures[2] / 1e6:.0f} MB | {figures[3] / 1e6:.0f} MB |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / "build/bench/bench/bench_encode"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(CASES),
                        help="beginnings of names")
    options = parser.parse_args()
    print("| encoder | tokens | transformers | attn-demo | times as fast | transformers' memory | ours |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in CASES:
        if name.startswith(tuple(options.only)):
            compare(name, options)


if __name__ == "__main__":
    main()
