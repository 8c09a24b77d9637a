#!/usr/bin/env python3
"""Measures the standalone page: its parts, its opening, a keystroke, memory, its speed, and a sentence compared with the
native program.

    python3 bench/alone.py --program build/release/app/attn-demo --module build/web [--rounds 9] [--page try.html]

In headless Chromium and Firefox medians and the quickest, in Node and natively the CPU of one thread. Prints Markdown.
"""

import argparse
import contextlib
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
from marionette import Firefox  # noqa: E402
from webdriver import Browser, Missing, until  # noqa: E402

LONG = "The old man who lives next door told us that he would like to see the red house"  # 17 words
TYPED = "The old dog sleeps in the warm kitchen every single day"


def cpu_ms(command, text, environment=None):
    """Returns the CPU time of a program in milliseconds, which other programs on the machine hardly change."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, input=text, text=True, env={**os.environ, **(environment or {})}, check=True, capture_output=True)
    return (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before) * 1000


def a_line(command, one, environment=None):
    """Returns the CPU time of one line of input, without the program's start: computed from two numbers of
    lines."""
    few, many = (cpu_ms(command, one * lines, environment) for lines in (4, 24))
    return (many - few) / 20


def native(program, model, cpu, *options):
    """Translates the long sentence with the kernels of a CPU."""
    command = [program, "translate", "--model", model, "--beam", "4", "--threads", "1", "--batch", "1", "--show", "none",
               "--precision", "int8", *options]
    return a_line(command, f"{LONG}\n", {"ATTN_DEMO_CPU": cpu} if cpu else {})


def module(folder, model, path, **more):
    """Returns the module's answer for the same sentence."""
    line = json.dumps({"path": path, "body": json.dumps({"text": LONG, "beams": 4, **more})})
    return a_line(["node", str(ROOT / "tests/alone/ask.js"), folder, model, "1"], f"{line}\n")


def memory_mb(root):
    """Returns the memory of a process and of all its child processes (proportional set size)."""
    parents, size, mine = {}, 0, [root]
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                parents.setdefault(int((entry / "stat").read_text().rpartition(")")[2].split()[1]), []).append(int(entry.name))
    for process in mine:
        mine += parents.get(process, [])
        with contextlib.suppress(OSError):
            size += int(re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{process}/smaps_rollup").read_text(), re.M)[1])
    return size / 1000


def opening(browser, page):
    begun = time.perf_counter()
    browser.open(page)
    until("the record", lambda: browser.run("return !document.getElementById('page').hidden"))
    shown = time.perf_counter() - begun
    until("the program", lambda: browser.run("return document.getElementById('alone').hidden"))
    return shown * 1000, (time.perf_counter() - begun) * 1000


def keys(browser):
    """Returns the milliseconds from each keystroke of the typed sentence to its picture, as the page reports
    them."""
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
    return took[-12:]  # of sentences of ten words and more


def speed(browser, page):
    """What the page says about itself: [search, words per second, seconds] for each search."""
    browser.open(page, "#bench")
    until("the page to measure itself", lambda: browser.run("const b = document.getElementById('bench'); return b && b.textContent.includes('Medians')"))
    return browser.run("return [...document.querySelectorAll('#bench tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))")


def in_browser(make, page, rounds):
    """Prints the table's rows for one browser."""
    name = make.__name__.replace("Browser", "Chromium")
    browser = make(1400, 1000)
    try:
        browser.run("return 0")
        time.sleep(2)
        before = memory_mb(browser.driver.pid)
        shown, ready = zip(*(opening(browser, page) for _ in range(rounds)))
        typed = keys(browser)
        after = memory_mb(browser.driver.pid)
        for what, times in (("from opening to the first picture", shown), ("until one can translate", ready),
                            ("from a key to the picture, ten words", typed)):
            print(f"| {name}: {what} | {statistics.median(times):.0f} ms, at best {min(times):.0f} |")
        for search, words, _ in speed(browser, page):
            print(f"| {name}: words per second, {search} | {words} |")
        print(f"| {name}: memory that the page takes, beside an empty one | {after - before:.0f} MB |", flush=True)
    finally:
        browser.close()


def beside_the_program(options, model):
    """Prints the table's rows for the CPU time of the module and of the program."""
    program, folder = options.program, options.module
    record = os.path.join(os.path.dirname(model), "record.json")
    ours = module(folder, model, "/api/attend")
    theirs = native(program, model, "portable", "--json", record)
    print(f"| CPU of a record of 17 words, 4 beams: module, program with the same kernels | {ours:.0f} and {theirs:.0f} ms: "
          f"{ours / theirs:.2f} times |")
    print(f"| the program's, AVX2 | {native(program, model, 'avx2', '--json', record):.0f} ms |")
    picture = module(folder, model, "/api/page", report=True)
    print(f"| CPU of the module: a picture of the same | {picture:.0f} ms |")
    print(f"| with vectors and the search | {module(folder, model, '/api/page', report=True, vectors=True, tree=True):.0f} ms |")
    for cpu in ("portable", "avx2", ""):
        print(f"| CPU of the native translation, {cpu or 'this CPU'}'s kernels | {native(program, model, cpu):.0f} ms |", flush=True)


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
        beside_the_program(options, model)
        for make in (Browser, Firefox):
            try:
                in_browser(make, page, options.rounds)
            except Missing as problem:
                print(problem, file=sys.stderr)


if __name__ == "__main__":
    main()
