#!/usr/bin/env python3
"""Makes a task of key-value retrieval over long texts, and scores answers by distance.

    scripts/needle.py make OUT_DIR
    scripts/needle.py run OUT_DIR [KIND…] [--threads N]
    scripts/needle.py show OUT_DIR

A text begins with a question, `k7?`. Among filler behind it stand pairs, `k7=v2`, no key and no value twice;
the translation is the value of the key that is asked for. A model with one layer each can answer only
where its encoder brings the pair to the question: the decoder reads the encoder's rows, and what it
has read cannot ask again.

OUT_DIR gets a {source,target} for each stage of the training, whose texts grow from 48 tokens to 2,048
(STAGES), with one to eight pairs: what is learned from a text with one pair, to look at it and to say
its value, is the beginning of choosing among eight. The last stage's have eight, as have dev and test, of
2,048 tokens, the end symbol among them. Each doubling of the distance between question and pair is as likely.

`run` trains each kind (all unless told) by `attn-demo train configs/long/needle.json`, stage by stage,
answers test, and writes OUT_DIR/KIND.json: right answers for each doubling of the
distance, and where the kind's first row looks, as the program's record says. What is there already
is not made again. `show` prints the table, and draws OUT_DIR/needle.svg. Standard library only; the
task's bytes are the same everywhere.
"""
import argparse
import json
import random
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

sys.dont_write_bytecode = True
from documents.tables import write_table  # noqa: E402

KEYS, VALUES, FILLERS, PAIRS = 8, 8, 8, 8
ROOT = Path(__file__).resolve().parent.parent
KINDS = {
    "full": {"type": "full"},
    "window": {"type": "window", "window": 256},
    "longformer": {"type": "longformer", "window": 256, "global": [0]},
    "bigbird": {"type": "bigbird", "block_size": 64, "random_blocks": 3},
    "sparse_strided": {"type": "sparse_strided", "stride": 45},
    "sparse_fixed": {"type": "sparse_fixed", "stride": 45},
    "chunks": {"type": "chunks", "block_size": 256, "global": []},
    "linformer": {"type": "linformer", "k": 256},
    "performer": {"type": "performer", "m": 256},
    "lsh": {"type": "lsh", "block_size": 64, "buckets": 64, "rounds": 8},
}
LONGEST = 2048


class Stage(NamedTuple):
    """A stage of the training: the lengths of its texts, each with a probability in proportion to
    length^-power; its fewest pairs; and its training settings. There are nearly as many lines as the
    updates read, so hardly any text comes twice."""
    shortest: int
    longest: int
    power: float
    fewest_pairs: int
    lines: int
    updates: int
    learning_rate: float
    batch_tokens: int


STAGES = {
    "stage1": Stage(24, 48, 1.5, 1, 190000, 1500, 0.003, 4096),
    "stage2": Stage(32, 128, 1.0, 1, 64000, 1000, 0.006, 4096),
    "stage3": Stage(64, 512, 1.0, 1, 44000, 1000, 0.005, 8192),
    "stage4": Stage(128, 1024, 0.7, 1, 24000, 1000, 0.004, 8192),
    "stage5": Stage(256, LONGEST, 0.5, 1, 22000, 1000, 0.003, 16384),
    "stage6": Stage(LONGEST // 2, LONGEST, 0.5, PAIRS, 16000, 1200, 0.001, 16384),
}
QUESTIONS = {"dev": 100, "test": 1000}


def a_text(numbers, tokens, pairs):
    """Returns a text of so many tokens, including the end symbol, and its answer."""
    words = [f"f{numbers.randrange(FILLERS)}" for _ in range(tokens - 1)]
    keys = numbers.sample(range(KEYS), pairs)
    values = numbers.sample(range(VALUES), pairs)
    taken = {0}
    for key, value in zip(keys, values):
        place = 0
        while place in taken:
            place = int(len(words) ** numbers.random())
        taken.add(place)
        words[place] = f"k{key}=v{value}"
    words[0] = f"k{keys[0]}?"
    return " ".join(words), f"v{values[0]}"


def write_texts(path, texts):
    for suffix, side in ((".source", 0), (".target", 1)):
        path.with_suffix(suffix).write_text("".join(text[side] + "\n" for text in texts), encoding="utf-8")


def make(out):
    out.mkdir(parents=True, exist_ok=True)
    for name, stage in STAGES.items():
        numbers = random.Random(f"needle {name}")
        texts = []
        for _ in range(stage.lines):
            # Inverts the distribution function: the share of texts up to a given length.
            short, long = (length**-stage.power for length in (stage.shortest, stage.longest))
            tokens = int((short + (long - short) * numbers.random()) ** (-1 / stage.power))
            most = (PAIRS + 1) / stage.fewest_pairs
            texts.append(a_text(numbers, tokens, int(stage.fewest_pairs * most ** numbers.random())))
        write_texts(out / name, texts)
    for name, lines in QUESTIONS.items():
        numbers = random.Random(f"needle {name}")
        write_texts(out / name, [a_text(numbers, LONGEST, PAIRS) for _ in range(lines)])


def answers_by_distance(sources, targets, answers):
    """Yields (distance, whether the answer is right) of each text."""
    for source, target, answer in zip(sources, targets, answers, strict=True):
        words = source.split()
        pair = words[0].replace("?", "=") + target
        yield words.index(pair), answer == target


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines()


def seen_with_question(record):
    """Returns, from a record, the positions that row 0 of the first layer looks at in some head, and those
    that any row looks at which sees row 0. None: all."""
    seen = record.get("seen", {}).get("encoder_self")
    if seen is None:
        return None
    own, joint = set(), set()
    heads = [seen["patterns"][pattern] for pattern in set(seen["of"][0])]
    for number, row in enumerate(zip(*heads)):
        places = set()
        for runs in row:
            for first, count in zip(runs[::3], runs[1::3]):
                places.update(range(first, first + count))
        if number == 0:
            own = places
        if 0 in places:
            joint |= places
    return own, joint


def chance_unseen(source, target, own):
    """Returns the probability of a right answer if one of the pairs that the question does not see is
    guessed."""
    values = [word.partition("=")[2] for place, word in enumerate(source.split())
              if "=" in word and place not in own]
    return values.count(target) / len(values)


def bins_of(answers, reached):
    """Returns right answers and questions for each doubling of the distance: if the question sees the pair,
    if another row sees both, and if none does."""
    bins = {}
    for number, (distance, right) in enumerate(answers):
        where = reached(number, distance)
        if where is None:
            continue
        row = bins.setdefault(distance.bit_length() - 1, {"in": [0, 0], "by": [0, 0], "out": [0, 0]})
        row[where][0] += right
        row[where][1] += 1
    return [{"from": 2**power, "to": 2 ** (power + 1) - 1, **row} for power, row in sorted(bins.items())]


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def train_stage(name, before, kind, options):
    """Runs one stage, from the weights of the model `before`, if there is one. Returns CPU seconds."""
    out, stage, begun = options.out, STAGES[name], processor_seconds()
    settings = {"model.encoder_attention": json.dumps(KINDS[kind]),
                "train.updates": stage.updates, "train.validate_every": stage.updates,
                "train.learning_rate": stage.learning_rate,
                "train.batch_tokens": stage.batch_tokens}
    for part, of in (("train", name), ("dev", "dev"), ("test", "test")):
        for side in ("source", "target"):
            settings[f"data.{part}.{side}"] = f"{out.resolve()}/{of}.{side}"
    trained = out / f"{kind}-{name}"
    shutil.rmtree(trained, ignore_errors=True)
    command = [options.program, "train", str(ROOT / "configs/long/needle.json"), "--threads",
               str(options.threads), "--out", str(trained)]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    if before:
        command += ["--from", str(before)]
    with open(out / f"{kind}.log", "a", encoding="utf-8") as log:
        subprocess.run(command, check=True, stderr=log)
    return processor_seconds() - begun


def train(kind, options):
    """Runs the missing stages, each from the weights of the one before. Returns the CPU seconds of all of
    them."""
    before, seconds = None, 0
    for name in STAGES:
        clock = options.out / f"{kind}-{name}.seconds"
        if not clock.exists():
            clock.write_text(f"{train_stage(name, before, kind, options):.0f}\n")
        seconds += int(clock.read_text())
        before = options.out / f"{kind}-{name}/model"
    return seconds


def run(options):
    out, program = options.out, options.program
    if not (out / "test.source").exists():
        make(out)
    for kind in options.kinds or KINDS:
        if (out / f"{kind}.json").exists():
            continue
        seconds = train(kind, options)
        model = str(out / f"{kind}-{list(STAGES)[-1]}/model")
        sources, targets = (lines_of(out / f"test.{side}") for side in ("source", "target"))
        given = subprocess.run([program, "translate", "--model", model, "--threads",
                                str(options.threads)], input="\n".join(sources) + "\n", check=True,
                               capture_output=True, text=True).stdout.splitlines()
        answers = list(answers_by_distance(sources, targets, given))
        # The hash depends on the sentence's own words; all other patterns have the same rows for all sentences.
        places = []
        if kind != "linformer":
            for source in sources[: 60 if kind == "lsh" else 1]:
                record = subprocess.run([program, "translate", "--model", model, "--json", "-",
                                         "--", source], check=True, capture_output=True, text=True)
                places.append(seen_with_question(json.loads(record.stdout)))

        def reached(number, distance):
            if kind == "lsh" and number >= len(places):
                return None
            seen = places[number if kind == "lsh" else 0] if places else None
            if seen is None or distance in seen[0]:
                return "in"
            return "by" if distance in seen[1] else "out"

        chances = [chance_unseen(source, target, places[0][0])
                   for number, (source, target, (distance, _)) in
                   enumerate(zip(sources, targets, answers, strict=True))
                   if kind != "lsh" and reached(number, distance) != "in"]
        result = {"kind": kind, "attention": KINDS[kind], "seconds": seconds,
                  "bins": bins_of(answers, reached),
                  "chance": sum(chances) / len(chances) if chances else None}
        (out / f"{kind}.json").write_text(json.dumps(result) + "\n")
        print(row_of(result), flush=True)


def share(bins, side):
    right, asked = (sum(row[side][i] for row in bins) for i in (0, 1))
    return f"{right / asked:.1%} of {asked}" if asked else ""


def row_of(result):
    keys = ", ".join(f"{key} {value}" for key, value in result["attention"].items() if key != "type")
    return (f"| `{result['kind']}` {keys} | {share(result['bins'], 'in')} | "
            f"{share(result['bins'], 'by')} | {share(result['bins'], 'out')} | "
            f"{'' if result['chance'] is None else format(result['chance'], '.1%')} | {result['seconds']} |")


def show(options):
    results = [json.loads((options.out / f"{kind}.json").read_text()) for kind in KINDS
               if (options.out / f"{kind}.json").exists()]
    rows = ["| kind | right where the question sees the pair | where another row sees both | "
            "where none does | a guess among the unseen | seconds of one core to train |",
            "| --- | --- | --- | --- | --- | --- |", *map(row_of, results)]
    print("\n".join(rows))
    if options.write:
        write_table(ROOT / "docs/long.md", "scripts/needle.py table", rows)
    (options.out / "needle.svg").write_text(picture(results), encoding="utf-8")


STYLE = """<style>
text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif;fill:#59636e}
.title{font-size:16px;font-weight:600}.name,.title{fill:#1f2328}.number{text-anchor:middle}
.page{fill:#fff}.cell{fill:#1f6fb5}.dark{fill:#fff}.field{fill:#c2500a}.none{fill:#f1f3f5}
@media (prefers-color-scheme:dark){text{fill:#9aa4af}.name,.title{fill:#e6edf3}.page{fill:#0d1117}
.cell{fill:#6cb3f5}.dark{fill:#0d1117}.field{fill:#f4924d}.none{fill:#20262e}}
</style>
"""


def picture(results):
    """Draws one row per kind and one column per doubling: the share of right answers, and below it a bar for
    the share of these pairs that the question sees."""
    left, top, width, height = 150, 92, 56, 34
    powers = range(11)
    total = left + width * len(powers) + 24
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{total}" '
             f'height="{top + height * len(results) + 44}">\n<title>Right answers by distance</title>\n',
             STYLE, '<rect class="page" width="100%" height="100%"/>\n',
             '<text class="title" x="24" y="32">Right answers, % of those at each distance'
             '</text>\n<text x="24" y="54">eight pairs among 2,048 tokens; the bar: the part of the '
             'pairs that the question sees (faint: that another row sees with it)</text>\n']
    for power in powers:
        parts.append(f'<text class="number" x="{left + width * (power + 0.5)}" y="{top - 10}">'
                     f'{2**power:,}</text>\n')
    for number, result in enumerate(results):
        y = top + height * number
        parts.append(f'<text class="name" x="24" y="{y + 19}">{result["kind"]}</text>\n')
        for row in result["bins"]:
            x = left + width * (row["from"].bit_length() - 1)
            right, asked = (sum(row[side][i] for side in ("in", "by", "out")) for i in (0, 1))
            right, seen, joint = right / asked, row["in"][1] / asked, row["by"][1] / asked
            parts.append(
                f'<rect class="none" x="{x + 1}" y="{y + 1}" width="{width - 2}" height="{height - 4}"/>'
                f'<rect class="cell" opacity="{right**1.5:.2f}" x="{x + 1}" y="{y + 1}" '
                f'width="{width - 2}" height="{height - 4}"/>'
                f'<text class="number{" dark" if right > 0.7 else ""}" x="{x + width / 2}" '
                f'y="{y + 18}">{100 * right:.0f}</text>'
                f'<rect class="field" x="{x + 1}" y="{y + height - 7}" '
                f'width="{(width - 2) * seen:.1f}" height="4"/>'
                f'<rect class="field" opacity="0.35" x="{x + 1 + (width - 2) * seen:.1f}" '
                f'y="{y + height - 7}" width="{(width - 2) * joint:.1f}" height="4"/>\n')
    parts.append(f'<text x="{left}" y="{top + height * len(results) + 24}">distance of the pair '
                 'from the question, in tokens (from here to twice that)</text>\n</svg>\n')
    return "".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, action in (("make", lambda options: make(options.out)), ("run", run), ("show", show)):
        command = commands.add_parser(name)
        command.add_argument("out", type=Path)
        command.set_defaults(action=action)
        if name == "show":
            command.add_argument("--write", action="store_true", help="put the table into docs/long.md")
        if name != "run":
            continue
        command.add_argument("kinds", nargs="*", metavar="KIND")
        command.add_argument("--threads", type=int, default=2)
        command.add_argument("--program", default=str(ROOT / "build/release/app/attn-demo"))
    options = parser.parse_args()
    options.action(options)


if __name__ == "__main__":
    main()
