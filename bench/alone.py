#!/usr/bin/env python3
"""What the page that translates alone costs: its parts, its opening, a key, and a sentence beside the native program.

    python3 bench/alone.py --program build/release/app/attn-demo --module build/web [--rounds 9] [--page try.html]

In headless Chromium medians, in Node and natively the CPU of one thread. Prints Markdown.
"""

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/page"))
from webdriver import Browser, until  # noqa: E402

LONG = "The old man who lives next door told us that he would like to see the red house"  # 17 words
TYPED = "The old dog sleeps in the warm kitchen every single day"


def cpu_ms(command, text, environment=None):
    """Milliseconds of CPU that a program takes, which others on the machine change little."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, input=text, text=True, env={**os.environ, **(environment or {})}, check=True, capture_output=True)
    return (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before) * 1000


def native(program, model, cpu):
    """A translation of the long sentence, without starting: from two numbers of lines."""
    command = [program, "translate", "--model", model, "--beam", "4", "--threads", "1", "--batch", "1", "--show", "none",
               "--precision", "int8"]
    few, many = (cpu_ms(command, f"{LONG}\n" * lines, {"ATTN_DEMO_CPU": cpu} if cpu else {}) for lines in (2, 22))
    return (many - few) / 20


def module(folder, model, **more):
    """A picture of the long sentence, in the same way."""
    line = json.dumps({"path": "/api/page", "body": json.dumps({"text": LONG, "beams": 4, "report": True, **more})})
    command = ["node", str(ROOT / "tests/alone/ask.js"), folder, model, "1"]
    few, many = (cpu_ms(command, f"{line}\n" * lines) for lines in (4, 16))
    return (many - few) / 12


def opening(browser, page):
    begun = time.perf_counter()
    browser.open(page)
    until("the record", lambda: browser.run("return !document.getElementById('page').hidden"))
    shown = time.perf_counter() - begun
    until("the program", lambda: browser.run("return document.getElementById('alone').hidden"))
    return shown * 1000, (time.perf_counter() - begun) * 1000


def keys(browser):
    """Milliseconds from each key of the typed sentence to its picture, as the page itself says them."""
    browser.click("#live-text")
    browser.run("document.getElementById('live-text').select()")
    took = []
    for letter in TYPED:
        browser.press("Space" if letter == " " else letter)
        until("an answer", lambda: browser.run("return !document.getElementById('live').classList.contains('is-busy')"))
        time.sleep(0.1)
        said = re.match(r"(\d+) ms", browser.run("return document.getElementById('live-says').textContent"))
        if said:
            took.append(int(said[1]))
    return statistics.median(took[-12:])  # of ten words and more


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--module", required=True)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--page", help="a page that is there; else one is made")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "int8")
        subprocess.run([options.program, "convert", "--model", str(ROOT / "data/models/en-de"), "--dtype", "int8", "--out", model],
                       check=True, capture_output=True)
        page = options.page or os.path.join(folder, "try.html")
        if not options.page:
            subprocess.run([options.program, "page", "--alone", page], check=True, capture_output=True)
        size = os.path.getsize(page) / 1e6
        wasm = os.path.getsize(os.path.join(options.module, "attn-demo.wasm")) / 1e6
        print(f"| the file | {size:.1f} MB, of the module {wasm:.1f} MB before packing |\n| --- | --- |")
        browser = Browser(1400, 1000)
        try:
            shown, ready = (statistics.median(each) for each in zip(*(opening(browser, page) for _ in range(options.rounds))))
            print(f"| from opening to the first picture | {shown:.0f} ms |\n| until one can translate | {ready:.0f} ms |")
            print(f"| from a key to the picture, ten words | {keys(browser):.0f} ms |")
        finally:
            browser.close()
        print(f"| CPU of the module: a picture of 17 words, 4 beams | {module(options.module, model):.0f} ms |")
        print(f"| with vectors and the search | {module(options.module, model, vectors=True, tree=True):.0f} ms |")
        for cpu in ("portable", "avx2", ""):
            print(f"| CPU of the native translation, {cpu or 'this CPU'}'s kernels | {native(options.program, model, cpu):.0f} ms |")



if __name__ == "__main__":
    main()
