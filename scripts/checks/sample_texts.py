"""Draws texts of this project at random, for a reader who marks what needs a second reading.

    scripts/checks/sample_texts.py --seed 1 --program build/release/app/attn-demo > sample.txt

30 sentences per document, 60 comments, 40 messages, and every help text. The same seed draws the same texts of a commit.
"""
import argparse
import random
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = ("*.h", "*.cpp", "*.py", "*.js", "*.sh")
CODE_FOLDERS = ("lib", "app", "python", "sdk", "web", "tests", "scripts", "bench", "recipes")


def tracked(*patterns):
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", *patterns], capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.splitlines()]


def sentences(document):
    """Sentences of a Markdown document without code, tables, headings, comments and links' addresses."""
    text = re.sub(r"```.*?```", "", document.read_text(), flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    found = []
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)", text):
        line = " ".join(block.split())
        if line and not line.startswith(("#", "|", "<", "[!")):
            found += [one for one in re.split(r"(?<=[.!?])\s+(?=[A-Z`*\[])", line) if len(one.split()) >= 4]
    return found


def comments(file):
    """Comments of a source file; lines that follow each other are one."""
    mark = "#" if file.suffix in (".py", ".sh") else "//"
    found, run = [], []
    for line in [*file.read_text(errors="replace").splitlines(), ""]:
        match = re.match(rf"\s*{mark}+!?<?\s(.*)$", line)
        if match:
            run.append(match[1])
            continue
        if run:
            found.append(" ".join(run))
        run = []
        tail = re.search(r"\s///?<\s*(.*)$", line)
        if tail:
            found.append(tail[1])
    return [one for one in found if len(one.split()) >= 4]


def messages(file):
    """Texts of the errors that a source file throws."""
    found = []
    for thrown in re.finditer(r"(?:Error|refuse_field|fail)\w*(?:<\w+>)?\(([^;]*?)\);", file.read_text(errors="replace"), re.DOTALL):
        text = " … ".join(re.sub(r'"\s+"', "", "".join(part)) for part in re.findall(r'((?:"(?:[^"\\]|\\.)*"\s*)+)', thrown[1]))
        if len(text.split()) >= 6:
            found.append(text)
    return found


def helps(program):
    def said(*command):
        return subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True).stdout

    whole = said()
    commands = re.findall(r"^  ([a-z]+)\s{2,}\S", whole, re.MULTILINE)
    return [whole, *(said(command) for command in commands)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--program", required=True)
    options = parser.parse_args()
    draw = random.Random(options.seed)

    def show(title, texts, most):
        print(f"\n== {title}")
        for number, text in enumerate(draw.sample(texts, min(most, len(texts))), 1):
            print(f"{number}. {text}")

    for document in tracked("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/*.md"):
        show(document.relative_to(ROOT), sentences(document), 30)
    code = [file for file in tracked(*CODE) if file.relative_to(ROOT).parts[0] in CODE_FOLDERS]
    show("comments", [text for file in code for text in comments(file)], 60)
    said = [file for file in code if file.suffix == ".cpp" and file.relative_to(ROOT).parts[0] in ("app", "lib")]
    show("messages", [text for file in said for text in messages(file)], 40)
    for text in helps(options.program):
        print(f"\n== help\n{text}")


if __name__ == "__main__":
    main()
