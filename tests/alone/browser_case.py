"""A headless Chromium with the standalone page, for tests."""

import json
import os
import unittest

import alone_case
from alone_case import run
from webdriver import Browser, until

HOME = "The group went home"
RECORDED = "Die Gruppe ging nach Hause"  # from the record that every page begins with

# Counts the page's workers in `workers`: how many were started, and how many were terminated.
COUNT_WORKERS = """
    window.workers = {begun: 0, ended: 0};
    window.Worker = class extends Worker {
      constructor(url) { super(url); ++workers.begun; }
      terminate() { ++workers.ended; super.terminate(); }
    };"""


def page(path):
    run("page", "--alone", path)


def german(text, *options):
    """Returns the native program's translation in int8."""
    return json.loads(run("translate", "--precision", "int8", "--json", "-", "--show", "none", *options, "--", text))["hypotheses"][0]["text"]


def page_path():
    return alone_case.made("try.html", page)


class BrowserCase(unittest.TestCase):
    browser = None

    @classmethod
    def setUpClass(cls):
        BrowserCase.browser = BrowserCase.browser or Browser(1400, 1000)

    @classmethod
    def tearDownClass(cls):
        BrowserCase.browser.close()
        BrowserCase.browser = None

    def js(self, script, *arguments):
        return self.browser.run(script, *arguments)

    def text(self, selector):
        return self.js("const e = document.querySelector(arguments[0]); return e.matches('input, textarea') ? e.value : e.textContent", selector)

    def wait_text(self, selector, expected):
        until(f"{selector} to be {expected!r}", lambda: self.text(selector) == expected)

    def wait_says(self, words):
        until(f"the page to say {words!r}", lambda: words in self.text("#live-says"))

    def begun(self):
        until("the record", lambda: self.js("return !document.getElementById('page').hidden"))

    def ready(self):
        self.begun()
        until("the program", lambda: self.js("return document.getElementById('alone').hidden"))

    def open(self, path=None, address=""):
        self.browser.open(path or page_path(), address)
        self.ready()

    def type(self, selector, text):
        self.browser.click(selector)
        self.js("document.querySelector(arguments[0]).select()", selector)
        self.browser.press(*["Space" if c == " " else c for c in text])

    def put(self, selector, *texts):
        """Puts texts into a field without typing, one after the other."""
        self.js("""const [selector, ...texts] = arguments, field = document.querySelector(selector);
            for (const text of texts) { field.value = text; field.dispatchEvent(new Event("input", {bubbles: true})); }""", selector, *texts)

    def hook_saves(self):
        """Makes saved files available as text."""
        self.js("""window.saved = []; URL.createObjectURL = (blob) => { blob.text().then((text) => saved.push(text)); return "#"; };
            HTMLAnchorElement.prototype.click = () => {};""")

    def saved(self):
        until("the saved file", lambda: self.js("return saved.length > 0"))
        return self.js("return saved.pop()")

    def drop(self, *paths):
        """Drops files and directories onto the page, as from a file manager."""
        data = {"items": [], "files": list(paths), "dragOperationsMask": 1}
        for step in ("dragEnter", "dragOver", "drop"):
            self.browser.command("Input.dispatchDragEvent", {"type": step, "x": 300, "y": 300, "data": data})

    def choose(self, folder):
        """Puts files into the field that Open a model clicks."""
        field = self.browser._ask("POST", "/element", {"using": "css selector", "value": "#live-files"})
        paths = "\n".join(os.path.join(folder, name) for name in sorted(os.listdir(folder)))
        self.js("document.getElementById('live-files').hidden = false")
        self.browser._ask("POST", f"/element/{next(iter(field.values()))}/value", {"text": paths})

    def in_another_browser(self, flags, check):
        """Runs `check` in a Chromium whose engine has these flags."""
        ours, self.browser = self.browser, Browser(1400, 1000, options=[f"--js-flags={flags}"])
        try:
            check()
        finally:
            self.browser.close()
            self.browser = ours
