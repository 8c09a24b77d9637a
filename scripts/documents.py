#!/usr/bin/env python3
"""Translates documents of 512 to 2,048 tokens as a whole, with each kind of attention.

    scripts/documents.py join DATA OUT_DIR [--test N]
    scripts/documents.py run OUT_DIR [KIND…] [--minutes M] [--threads N]
    scripts/documents.py show OUT_DIR

DATA has {train,dev,test}.{source,target} as recipes/en-de/prepare_pairs.py makes them; docs/notes/shipped-model.md says
where the pairs come from. `join` puts sentences of one part, in an order drawn once, behind one
another until a document has its length, drawn so that each doubling is as likely. Lengths are
counted in words and marks, of which a piece of the vocabulary is mostly one: 512 to 1,600 of them.
They are sentences that have nothing to do with one another; what is measured is whether each is still
found and translated among so many.

`run` gives each kind the weights of data/models/en-de, whose encoder learned with full attention, and
random numbers for what that has not (E and F, features, rotations); trains it by `attn-demo train
configs/long/documents.json` until it has used M minutes of the processor (60), and writes
OUT_DIR/KIND.json with the BLEU of test. Called again it makes what is not there yet, and a training that
was stopped goes on. `show` prints the table, and with --write puts it into docs/long.md. Standard library only.
"""
import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
from documents.tables import write_table  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
CONFIG = ROOT / "configs/long/documents.json"
SHIPPED = ROOT / "data/models/en-de"
SHORTEST, LONGEST = 512, 1600
SLICE = 600  # CPU seconds between checkpoints
INTERRUPTED = 130  # the program's exit code after SIGINT
KINDS = {
    "full": {"type": "full"},
    "window": {"type": "window", "window": 128},
    "longformer": {"type": "longformer", "window": 128, "global": [0]},
    "bigbird": {"type": "bigbird", "block_size": 32, "random_blocks": 2},
    "sparse_strided": {"type": "sparse_strided", "stride": 45},
    "sparse_fixed": {"type": "sparse_fixed", "stride": 45},
    "chunks": {"type": "chunks", "block_size": 128, "global": [0]},
    "linformer": {"type": "linformer", "k": 256},
    "performer": {"type": "performer"},
    "lsh": {"type": "lsh", "block_size": 64, "buckets": 32, "rounds": 2},
}


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines()


def words_and_marks(text):
    return len(re.findall(r"\w+|[^\w\s]", text))


def join(options):
    options.out.mkdir(parents=True, exist_ok=True)
    for part in ("train", "dev", "test"):
        numbers = random.Random(f"documents {part}")
        pairs = list(zip(lines_of(options.data / f"{part}.source"),
                         lines_of(options.data / f"{part}.target"), strict=True))
        numbers.shuffle(pairs)
        documents, document, tokens, goal = [], [], 0, 0
        for pair in pairs:
            if not document:
                tokens, goal = 0, SHORTEST * (LONGEST / SHORTEST) ** numbers.random()
            document.append(pair)
            tokens += max(words_and_marks(side) for side in pair)
            if tokens >= goal:
                documents.append([" ".join(side) for side in zip(*document)])
                document = []
        if part != "train":
            documents = documents[: options.test]
        for side, name in enumerate(("source", "target")):
            text = "".join(document[side] + "\n" for document in documents)
            (options.out / f"{part}.{name}").write_text(text, encoding="utf-8")
        print(f"{part}: {len(documents)} documents")


def read_tensors(path):
    """Yields the header and the bytes of each tensor of a safetensors file."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    for name, entry in header.items():
        first, end = entry["data_offsets"]
        yield name, entry, data[8 + size + first : 8 + size + end]


def start(kind, out, program):
    """Writes KIND-start, a model of the kind with the shipped model's weights."""
    plain, begun = out / "shipped", out / f"{kind}-start"
    if not plain.exists():
        subprocess.run([program, "convert", "--model", str(SHIPPED), "--dtype", "float32", "--out",
                        str(plain)], check=True)
    shutil.rmtree(begun, ignore_errors=True)
    subprocess.run([program, "init", "--config", str(CONFIG), "--set",
                    "model.encoder_attention=" + json.dumps(KINDS[kind]), "--out", str(begun)],
                   check=True)
    known = {name: (entry, data) for name, entry, data in read_tensors(plain / "model.safetensors")}
    header, body = {}, []
    place = 0
    for name, entry, data in read_tensors(begun / "model.safetensors"):
        if name in known and known[name][0]["shape"] == entry["shape"]:
            data = known[name][1]
        header[name] = {"dtype": entry["dtype"], "shape": entry["shape"],
                        "data_offsets": [place, place + len(data)]}
        place += len(data)
        body.append(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (begun / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + b"".join(body))


def processor_seconds(pid):
    """Returns the CPU time of a running process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def train_for(seconds, kind, out, options):
    """Trains until so many CPU seconds are used, and continues where an earlier call was stopped. Returns the
    model's directory."""
    files = []
    for part in ("train", "dev", "test"):
        for side in ("source", "target"):
            files += ["--set", f"data.{part}.{side}={(out / f'{part}.{side}').resolve()}"]
    run, clock = out / f"{kind}-run", out / f"{kind}.seconds"
    used = float(clock.read_text()) if clock.exists() else 0.0
    if used == 0:
        shutil.rmtree(run, ignore_errors=True)
        start(kind, out, options.program)
    command = [options.program, "train", str(CONFIG), "--from", str(out / f"{kind}-start"), "--out",
               str(run), "--threads", str(options.threads), *files, "--set",
               "model.encoder_attention=" + json.dumps(KINDS[kind])]
    with open(out / f"{kind}.log", "a", encoding="utf-8") as log:
        while used < seconds:
            process = subprocess.Popen(command + ["--resume"] * (used > 0), stderr=log)
            now = 0.0
            while process.poll() is None and now < min(SLICE, seconds - used):
                time.sleep(0.5)
                now = processor_seconds(process.pid)
            process.send_signal(signal.SIGINT)  # finishes the current update and saves a checkpoint
            if process.wait() != INTERRUPTED:
                raise SystemExit(f"{kind}: training ended by itself: see {log.name}")
            used += now
            clock.write_text(f"{used:.1f}\n", encoding="utf-8")
        # Resuming with the number of updates already made ends the run, which writes the model.
        subprocess.run(command + ["--resume", "--set", f"train.updates={updates_of(run)}"],
                       check=True, stderr=log)
    return run


def updates_of(run):
    return max(int(path.name.rsplit("-", 1)[1]) for path in (run / "checkpoints").iterdir())


def run(options):
    out = options.out
    for kind in options.kinds or KINDS:
        if (out / f"{kind}.json").exists():
            continue
        trained = train_for(options.minutes * 60, kind, out, options)
        scores = out / f"{kind}-scores.json"
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([options.program, "evaluate", "--model", str(trained / "model"), "--source",
                        str(out / "test.source"), "--target", str(out / "test.target"), "--threads",
                        str(options.threads), "--beam", "1", "--batch", "4", "--json", str(scores)],
                       check=True, stdout=subprocess.DEVNULL)
        spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        result = {"kind": kind, "attention": KINDS[kind], "minutes": options.minutes,
                  "updates": updates_of(trained), "scores": json.loads(scores.read_text()),
                  "translation_seconds": round(spent, 1)}
        (out / f"{kind}.json").write_text(json.dumps(result) + "\n", encoding="utf-8")
        print(row_of(result), flush=True)


def row_of(result):
    keys = ", ".join(f"{key} {value}" for key, value in result["attention"].items() if key != "type")
    scores = result["scores"]
    return (f"| `{result['kind']}` {keys} | {result['updates']} | {scores['bleu']['score']:.1f} | "
            f"{scores['chrf']['score']:.1f} | {result['translation_seconds']:.0f} s |")


def show(options):
    results = [json.loads((options.out / f"{kind}.json").read_text()) for kind in KINDS
               if (options.out / f"{kind}.json").exists()]
    rows = ["| kind | updates | BLEU | chrF2 | translating the test part |",
            "| --- | --- | --- | --- | --- |", *map(row_of, results)]
    print("\n".join(rows))
    if options.write:
        write_table(ROOT / "docs/long.md", "scripts/documents.py table", rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("join")
    command.add_argument("data", type=Path)
    command.add_argument("out", type=Path)
    command.add_argument("--test", type=int, default=20, help="documents of dev and test [20]")
    command.set_defaults(action=join)
    command = commands.add_parser("run")
    command.add_argument("out", type=Path)
    command.add_argument("kinds", nargs="*", metavar="KIND")
    command.add_argument("--minutes", type=float, default=60)
    command.add_argument("--threads", type=int, default=2)
    command.add_argument("--program", default=str(ROOT / "build/release/app/attn-demo"))
    command.set_defaults(action=run)
    command = commands.add_parser("show")
    command.add_argument("out", type=Path)
    command.add_argument("--write", action="store_true", help="put the table into docs/long.md")
    command.set_defaults(action=show)
    options = parser.parse_args()
    options.action(options)


if __name__ == "__main__":
    main()
