#!/usr/bin/env python3
"""Looks for faults in the accessibility of every kind of page, with axe-core in headless Chromium.

    scripts/checks/check_accessibility.py --axe FILE [--program PROGRAM] [--only NAME…] [--level minor]

Each page is opened at 420 and 1,400 pixels, light and dark, and all of its folded parts are opened.
Prints one line for each page and each fault, and exits with 1 if there is a fault of --level (default: moderate) or
worse. FILE is axe.min.js of axe-core (https://github.com/dequelabs/axe-core). A Python package has it:

    pip download --no-deps axe-playwright-python && unzip axe_playwright_python-*.whl '*/axe.min.js'

Needs chromium and chromedriver. The standalone page is left out if scripts/build_web.sh has not run.
"""
import argparse
import contextlib
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "page"))
from webdriver import Browser, Missing, until  # noqa: E402

SENTENCES = ("The group went home", "I have never seen the sea, and my brother has not seen it either.")
WIDTHS = (420, 1400)
THEMES = ("light", "dark")
LEVELS = ("minor", "moderate", "serious", "critical")

# Opens what is folded, so that its content is checked, too.
OPEN_ALL = """
    for (const folded of document.querySelectorAll('details')) folded.open = true;
    for (const button of document.querySelectorAll('[aria-expanded="false"]')) if (button.getClientRects().length > 0) button.click();"""
CHECK = """
    return axe.run(document, {resultTypes: ['violations', 'incomplete'], iframes: false}).then(({violations}) =>
        violations.map(({id, impact, help, nodes}) => ({id, impact, help, count: nodes.length,
            where: nodes.slice(0, 3).map(({target, failureSummary}) => target.join(' ') + ' | ' + failureSummary.split('\\n').slice(1, 2).join().trim())})))"""


def make_pages(program, folder):
    """{name: (path, address)} of the pages that are files."""
    def run(*arguments):
        subprocess.run([program, *arguments], check=True, capture_output=True, cwd=ROOT)

    def path(name):
        return str(folder / name)
    run("translate", *SENTENCES, "--html", path("record.html"), "--show", "none", "--beam", "4", "--vectors", "--tree", "--report")
    run("translate", SENTENCES[0], "--html", path("experiment.html"), "--show", "none", "--without", "cross:2:2")
    for precision in ("float32", "int8"):
        run("translate", *SENTENCES, "--json", path(f"{precision}.json"), "--show", "none", "--precision", precision)
    run("page", "--compare", path("float32.json"), path("int8.json"), "--html", path("compare.html"))
    run("train", "configs/toy.json", "--out", path("run"), "--set", "train.updates=60", "--set", "train.validate_every=30")
    run("page", path("run/probe.jsonl"), "--html", path("film.html"))
    run("why", SENTENCES[0], "--html", path("why.html"))
    run("page", path("float32.json"), "--html", path("embed.html"), "--embed")
    pages = {name: (path(f"{name}.html"), "") for name in ("record", "experiment", "compare", "film", "why", "embed")}
    pages["record, next to an embedded head"] = (path("record.html"), "#embed")
    if (ROOT / "build/web/attn-demo.wasm").exists():
        run("page", "--alone", path("alone.html"))
        pages["alone"] = (path("alone.html"), "")
        pages["alone, measuring"] = (path("alone.html"), "#bench=2")
    else:
        print("the standalone page: left out, because build/web has no module")
    return pages


@contextlib.contextmanager
def live_page(program):
    """The address of a server's page."""
    server = subprocess.Popen([program, "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT)
    try:
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait(20)


def faults_of(browser, axe, width, theme):
    """Faults of the page on show."""
    browser.resize(width, 900)
    until("the page", lambda: browser.run("return !document.getElementById('page').hidden"))
    until("the program", lambda: browser.run("const a = document.getElementById('alone'); return !a || a.hidden"))
    until("the measurement", lambda: browser.run("const b = document.getElementById('bench'); return !b || !b.textContent.includes('please wait')"))
    browser.run(f"document.documentElement.dataset.theme = '{theme}'; {OPEN_ALL}")
    until("everything to be drawn", lambda: browser.run("return !document.getElementById('page').hasAttribute('data-due')"))
    browser.run(axe)
    return browser.run(CHECK)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--axe", type=Path, required=True)
    parser.add_argument("--program", default=str(ROOT / "build/release/app/attn-demo"))
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--level", choices=LEVELS, default="moderate")
    options = parser.parse_args()
    axe = options.axe.read_text(encoding="utf-8")
    bad = 0
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        pages = make_pages(options.program, folder)
        pages["live"] = (stack.enter_context(live_page(options.program)), "")
        browser = Browser(1400, 900)
        stack.callback(browser.close)
        print("axe-core", browser.run(f"{axe}; return axe.version"))
        for name, (path, address) in pages.items():
            if options.only and name not in options.only:
                continue
            for width in WIDTHS:
                for theme in THEMES:
                    full = address + ("&" if address else "#") + f"theme={theme}"
                    if path.startswith("http"):
                        browser.go(path + full)
                    else:
                        browser.open(path, full)
                    faults = faults_of(browser, axe, width, theme)
                    print(f"{name}, {width} pixels, {theme}: {len(faults)} faults", flush=True)
                    for fault in faults:
                        bad += LEVELS.index(fault["impact"]) >= LEVELS.index(options.level)
                        print(f"  {fault['impact']}: {fault['id']}, {fault['count']} times: {fault['help']}")
                        for where in fault["where"]:
                            print(f"    {where}")
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Missing as problem:
        sys.exit(str(problem))
