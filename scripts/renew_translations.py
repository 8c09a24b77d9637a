#!/usr/bin/env python3
"""Writes the fixed translations of the tests anew (tests/cli/translations/MODEL.tsv): the sentences stay, and the
shipped models translate them. Look at the difference before you commit it.

    scripts/renew_translations.py [--program FILE]
"""
import argparse
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--program", default=ROOT / "build/release/app/attn-demo", type=Path)
program = parser.parse_args().program
for table in sorted((ROOT / "tests/cli/translations").glob("*.tsv")):
    sentences = [line.split("\t")[0] for line in table.read_text(encoding="utf-8").splitlines()]
    command = [program, "translate", "--model", ROOT / "data/models" / table.stem, "--show", "none"]
    result = subprocess.run(command, input="\n".join(sentences) + "\n", capture_output=True, text=True, check=True)
    translations = result.stdout.splitlines()
    pairs = zip(sentences, translations, strict=True)
    table.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
