#!/usr/bin/env python3
"""Translates a file on a Dask cluster, in partitions, through the package (docs/scale.md).

    scripts/translate_on_dask.py INPUT OUTPUT [--scheduler ADDRESS] [--workers N] [--lines N]
        [--beam N] [--batch N] [--precision float32|int8] [--threads N] [--kill]

Each task reads its own bytes of INPUT, which every worker sees at the same path, and writes its own
part beside OUTPUT; the parts are joined in order when all are there. A worker that dies is
replaced, and what it had not finished is done again; a run that was broken off goes on with its
parts, where INPUT and options are the same. Without --scheduler a cluster of --workers
processes is started here; --kill kills one of them halfway, to show that nothing is lost. Needs
this package (pip install .) and
    pip install "dask[distributed]"
"""
import argparse
import functools
import json
import os
import shutil
import signal
import sys
import time
import warnings
from pathlib import Path

sys.dont_write_bytecode = True
from python_packages import need, need_files

need("attn_demo", "distributed")

import attn_demo
from distributed import Client, LocalCluster, as_completed


def partitions(path, lines):
    """Returns (first byte, bytes, number of lines) of every `lines` lines."""
    found, start, count = [], 0, 0
    with path.open("rb") as file:
        for line in file:
            count += 1
            if count == lines:
                found.append((start, file.tell() - start, count))
                start, count = file.tell(), 0
        if count:
            found.append((start, file.tell() - start, count))
    return found


@functools.cache
def model_of_this_worker(precision):
    """Returns the model, which each process loads once."""
    import attn_demo
    return attn_demo.load(precision=precision)


def translate(path, part, partition, precision, options):
    """Writes the translation of a partition to `part`, completely or not at all."""
    start, size, count = partition
    if os.path.exists(part):  # written by a worker that died before reporting it
        return count
    with open(path, "rb") as file:
        file.seek(start)
        lines = [line.removesuffix(b"\r") for line in file.read(size).split(b"\n")[:count]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "2 lines were translated sentence by sentence", a thousand times
        written = model_of_this_worker(precision).translate(lines, **options)
    unfinished = f"{part}.{os.getpid()}"
    with open(unfinished, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in written)
    os.replace(unfinished, part)
    return count


def begin(parts, about):
    """Makes the folder of the parts, or continues with it; leaves the folder of a run with other parts
    unchanged."""
    parts.mkdir(parents=True, exist_ok=True)
    note = parts / "run.json"
    if any(parts.iterdir()) and not (note.exists() and json.loads(note.read_text()) == about):
        sys.exit(f"{Path(sys.argv[0]).name}: {parts} holds parts of another run (other lines or options: "
                 f"{note.name}); remove it to begin anew")
    unfinished = parts / "run.unfinished"
    unfinished.write_text(json.dumps(about))
    os.replace(unfinished, note)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--scheduler", help="of a cluster that runs already")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1, help="of each worker")
    parser.add_argument("--lines", type=int, default=1000, help="in a partition")
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--precision", choices=["float32", "int8"], default="float32")
    parser.add_argument("--kill", action="store_true")
    options = parser.parse_args()
    need_files(parser, options.input)

    parts = Path(f"{options.output}.parts")
    search = {name: getattr(options, name) for name in ("beam", "batch", "threads")}
    written = options.input.stat()
    begin(parts, {"version": attn_demo.__version__, "beam": options.beam, "precision": options.precision,
                  "lines": options.lines, "bytes": written.st_size, "changed": written.st_mtime_ns})
    todo = partitions(options.input, options.lines)

    cluster = None
    if options.scheduler is None:
        cluster = LocalCluster(n_workers=options.workers, threads_per_worker=1, processes=True,
                               dashboard_address=None)
    client = Client(options.scheduler or cluster)
    start = time.perf_counter()
    futures = []
    for i, partition in enumerate(todo):
        part = parts / f"{i:08d}"
        if not part.exists():  # from an interrupted run
            futures.append(client.submit(translate, str(options.input.resolve()), str(part.resolve()),
                                         partition, options.precision, search, retries=5, pure=False))
    waiting, done = as_completed(futures), 0
    del futures  # otherwise Dask repeats a dead worker's finished tasks while their futures exist
    for future in waiting:
        done += future.result()
        if options.kill and cluster is not None and done * 2 >= sum(part[2] for part in todo):
            options.kill = False
            victim = next(iter(client.run(os.getpid).values()))
            print(f"killing worker {victim} after {done} lines", file=sys.stderr)
            os.kill(victim, signal.SIGKILL)
    taken = time.perf_counter() - start
    unfinished = Path(f"{options.output}.unfinished")
    with unfinished.open("wb") as whole:
        for i in range(len(todo)):
            with (parts / f"{i:08d}").open("rb") as part:
                shutil.copyfileobj(part, whole)
    os.replace(unfinished, options.output)
    shutil.rmtree(parts)
    lines = sum(part[2] for part in todo)
    print(f"{lines} lines in {len(todo)} partitions: {taken:.1f} s, {lines / taken:.0f} lines a second",
          file=sys.stderr)
    client.close()
    if cluster is not None:
        cluster.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
