#!/usr/bin/env python3
"""Distil an ensemble of your own models into one (Kim and Rush 2016, sequence-level knowledge distillation).

    recipes/en-de/distil.py --teacher A --teacher B --source train.en --target train.de --out OUT \\
        [--best-of N] [--config CONFIG [train options]]

The teachers translate the source side together (beam 4). OUT gets shards/ (their translations, a file for each
--shard lines), data/train.source and data/train.target (the real pairs, then each source with the teachers' German,
where that differs) and data/counts.json. With --best-of N each source keeps of the N best the one nearest to the real
translation by chrF (the paper's interpolation), else the best; what has less than --least of chrF (0 to 1), or a
source of more than --longest words, is left out. With --config one model is trained on both in OUT/run;
what this script does not know (--set train.epochs=10) goes to attn-demo train. Stopped and called again, it goes on
with the first shard that is missing, and with the training. The program is build/release's.
"""
import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def read_lines(path: Path) -> list[str]:
    lines = path.read_bytes().decode("utf-8").removesuffix("\n").split("\n")  # no other character ends a line
    return [] if lines == [""] else [line.removesuffix("\r") for line in lines]


def write_whole(path: Path, text: str) -> None:
    """Writes a file completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".unfinished")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, path)


def chrf(hypothesis: str, reference: str, order: int = 6, beta: float = 2.0) -> float:
    """Returns chrF of one sentence (Popovic 2015): the mean F-beta of character n-grams without spaces."""
    scores = []
    left, right = hypothesis.replace(" ", ""), reference.replace(" ", "")
    for n in range(1, order + 1):
        found = Counter(left[i:i + n] for i in range(len(left) - n + 1))
        wanted = Counter(right[i:i + n] for i in range(len(right) - n + 1))
        if not found or not wanted:
            continue
        same = sum((found & wanted).values())
        precision, recall = same / sum(found.values()), same / sum(wanted.values())
        total = beta**2 * precision + recall
        scores.append((1 + beta**2) * precision * recall / total if total else 0.0)
    return sum(scores) / len(scores) if scores else 0.0


def n_best_lists(output: str) -> list[list[str]]:
    """Returns the translations of each line. A line of an n-best list has its rank; an empty sentence has one
    plain line."""
    lists: list[list[str]] = []
    for line in output.split("\n")[:-1]:
        rank, *rest = line.split("\t", 2)
        if not rest or rank == "1":
            lists.append([])
        lists[-1].append(rest[1] if rest else line)
    return lists


def translate(options, lines: list[str]) -> list[list[str]]:
    """Returns the best translations of each line by all teachers together, best first."""
    command = [str(options.program), "translate", "--split", "never", "--show", "none", "--beam",
               str(max(options.beam, options.best_of)), "--n-best", str(options.best_of)]
    for teacher in options.teacher:
        command += ["--model", str(teacher)]
    # On a terminal, Ctrl-C reaches both processes: the program ends, and this shard is made again next time.
    done = subprocess.run(command, input="".join(line + "\n" for line in lines), stdout=subprocess.PIPE, text=True,
                          encoding="utf-8")
    if done.returncode:
        sys.exit(done.returncode)
    lists = n_best_lists(done.stdout) if options.best_of > 1 else [[line] for line in done.stdout.split("\n")[:-1]]
    if len(lists) != len(lines):
        sys.exit(f"distil.py: {len(lists)} translations of {len(lines)} lines")
    return lists


def identity_of(options) -> dict:
    """Returns the settings that all shards must share."""
    sha = lambda path: hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return {"teachers": [sha(teacher / "model.safetensors") for teacher in options.teacher],
            "source": sha(options.source), "target": sha(options.target), "beam": options.beam,
            "best_of": options.best_of, "shard": options.shard}


def translate_in_shards(options, source: list[str], target: list[str]) -> list[str]:
    shards = options.out / "shards"
    made_by = shards / "made-by.json"
    identity = identity_of(options)
    if not made_by.exists():
        write_whole(made_by, json.dumps(identity, indent=1) + "\n")
    elif (earlier := json.loads(made_by.read_text(encoding="utf-8"))) != identity:
        other = ", ".join(key for key in identity if identity[key] != earlier.get(key))
        sys.exit(f"distil.py: {shards} was made with another {other}; remove it, or choose another --out")
    found: list[str] = []
    for first in range(0, len(source), options.shard):
        path = shards / f"{first // options.shard:05}.target"
        lines = source[first:first + options.shard]
        if not path.exists():
            best = [max(each, key=lambda text: chrf(text, real)) if len(each) > 1 else each[0]  # the first of equal scores
                    for each, real in zip(translate(options, lines), target[first:], strict=False)]
            write_whole(path, "".join(text + "\n" for text in best))
            print(f"{first + len(lines)} of {len(source)} lines", flush=True)
        found += read_lines(path)
    return found


def write_corpus(options, source: list[str], target: list[str], distilled: list[str]) -> None:
    added = [(s, d) for s, t, d in zip(source, target, distilled, strict=True) if d.strip() and d != t and
             (not options.longest or len(s.split()) <= options.longest) and (not options.least or chrf(d, t) >= options.least)]
    write_whole(options.out / "data/train.source", "".join(s + "\n" for s in source + [s for s, _ in added]))
    write_whole(options.out / "data/train.target", "".join(t + "\n" for t in target + [d for _, d in added]))
    counts = {"real pairs": len(source), "distilled pairs": len(added), "as the real one, empty or too far from it": len(source) - len(added)}
    write_whole(options.out / "data/counts.json", json.dumps(counts, indent=1) + "\n")
    print(", ".join(f"{name}: {count}" for name, count in counts.items()), flush=True)


def train(options, more: list[str]) -> int:
    run, data = options.out.resolve() / "run", options.out.resolve() / "data"
    command = [str(options.program), "train", str(options.config), "--out", str(run),
               "--set", f"data.train.source={data / 'train.source'}", "--set", f"data.train.target={data / 'train.target'}"]
    if (run / "checkpoints").exists():
        command.append("--resume")
    return subprocess.run(command + more).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--teacher", type=Path, action="append", required=True, help="a model directory; may be repeated")
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--target", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--best-of", type=int, default=1)
    parser.add_argument("--least", type=float, default=0.0)
    parser.add_argument("--longest", type=int, default=0)
    parser.add_argument("--shard", type=int, default=5000, help="lines a file [5000]")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/app/attn-demo")
    options, more = parser.parse_known_args()
    if more and not options.config:
        parser.error(f"unknown: {' '.join(more)} (options of train go with --config)")
    if min(options.beam, options.best_of, options.shard) < 1:
        parser.error("--beam, --best-of and --shard are 1 or more")
    source, target = read_lines(options.source), read_lines(options.target)
    if len(source) != len(target) or not source:
        sys.exit(f"distil.py: {options.source} has {len(source)} lines and {options.target} {len(target)}; expected one "
                 "translation for each sentence")
    write_corpus(options, source, target, translate_in_shards(options, source, target))
    return train(options, more) if options.config else 0


if __name__ == "__main__":
    sys.exit(main())
