#!/usr/bin/env python3
"""Compares where attn-demo, ICU, pysbd and blingfire end sentences, on texts whose sentence ends are known.

    cmake --preset bench && cmake --build build/bench --target bench_split
    python scripts/checks/check_sentences.py [--program build/bench/bench/bench_split] [--conllu LANG FILE]… [--wrong]

Prints how many texts each splits exactly as they are marked: the Golden Rules of pragmatic_segmenter
(golden_sentences.txt beside this script) and the abbreviations of tests/text/sentence_splitter_test.cpp. --conllu adds a
treebank of Universal Dependencies: its sentences are joined ten at a time, and its row has the F1 of the ends found.
--wrong prints the texts that attn-demo splits otherwise. A splitter that is not installed is left out, by name:
    pip install pysbd==0.3.4 blingfire==0.1.8 numpy; apt install python3-icu
"""
import argparse
import importlib
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def golden():
    sets = {}
    for line in (Path(__file__).parent / "golden_sentences.txt").read_text().splitlines():
        if line in ("# en", "# de"):
            texts = sets.setdefault(f"Golden Rules, {line[2:]}", (line[2:], []))[1]
        elif not line.startswith("#"):
            texts.append([part.strip() for part in line.split("|")])
    return sets


def own_cases():
    """Returns the texts of one test case, from C++ string literals without escapes."""
    code = (ROOT / "tests/text/sentence_splitter_test.cpp").read_text()
    body = code.split('TEST_CASE("abbreviations by their kind')[1].split("\n}\n")[0]
    literals = re.findall(r'check\(((?:\s*"[^"]*")+)\);', body)
    return [["".join(re.findall(r'"([^"]*)"', each))] for each in literals]


def joined(path, size=10):
    texts = [line[9:].strip() for line in path.read_text().splitlines() if line.startswith("# text = ")]
    return [texts[i:i + size] for i in range(0, len(texts), size)]


def splitters(program):
    def attn_demo(_, texts):
        done = subprocess.run([program], input="\n".join(texts) + "\n", capture_output=True, text=True, check=True)
        return [line.split("\t") for line in done.stdout.split("\n")[:len(texts)]]

    def icu(language, texts):
        module = importlib.import_module("icu")
        found = []
        for text in texts:
            units = module.UnicodeString(text)
            breaks = module.BreakIterator.createSentenceInstance(module.Locale(language))
            breaks.setText(units)
            ends = [0, *breaks]
            found.append([str(units[a:b]) for a, b in zip(ends, ends[1:])])
        return found

    def pysbd(language, texts):
        segmenter = importlib.import_module("pysbd").Segmenter(language=language, clean=False)
        return [segmenter.segment(text) for text in texts]

    def blingfire(_, texts):
        split = importlib.import_module("blingfire").text_to_sentences
        return [split(text).split("\n") for text in texts]

    return {"attn-demo": attn_demo, "ICU": icu, "pysbd": pysbd, "blingfire": blingfire}


def clean(parts):
    return [part.strip() for part in parts if part.strip()]


def ends(parts):
    """Returns the ends as counts of characters other than spaces, without the last end."""
    total, places = 0, set()
    for part in parts:
        total += len("".join(part.split()))
        places.add(total)
    return places - {total}


def f1(gold, found):
    right = sum(len(ends(a) & ends(b)) for a, b in zip(gold, found))
    return 200 * right / max(1, sum(len(ends(a)) + len(ends(b)) for a, b in zip(gold, found)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build/bench/bench/bench_split")
    parser.add_argument("--conllu", nargs=2, action="append", default=[], metavar=("LANG", "FILE"))
    parser.add_argument("--wrong", action="store_true")
    args = parser.parse_args()
    if not args.program.is_file():
        parser.error(f"{args.program}: no such file; build the target bench_split")
    sets = golden()
    own = [clean(text[0].split("|")) for text in own_cases()]
    sets["tests/text, abbreviations"] = ("en", own)
    banks = {Path(name).name: (language, joined(Path(name))) for language, name in args.conllu}
    wrong = []
    print("| splitter | " + " | ".join([*sets, *banks]) + " |\n|" + " --- |" * (1 + len(sets) + len(banks)))
    for name, split in splitters(args.program).items():
        cells = []
        try:
            for language, gold in [*sets.values(), *banks.values()]:
                found = [clean(parts) for parts in split(language, [" ".join(parts) for parts in gold])]
                right = sum(a == b for a, b in zip(gold, found))
                is_bank = any(gold is bank for _, bank in banks.values())
                cells.append(f"F1 {f1(gold, found):.1f}" if is_bank else f"{right} of {len(gold)}")
                if name == "attn-demo" and not is_bank:
                    wrong += [b for a, b in zip(gold, found) if a != b]
        except ImportError as error:
            cells = [f"not installed ({error.name})"]
        print(f"| {name} | " + " | ".join(cells) + " |")
    if args.wrong:
        print(*("| ".join(parts) for parts in wrong), sep="\n")


if __name__ == "__main__":
    main()
