"""Code that all tests of the page share: one browser, pages written by the C++ code, and reading them."""

import json
import os
import struct
import subprocess
import tempfile
import unittest

import make_fixture
from webdriver import Browser, until

FIXTURE_PROGRAM = None  # page_fixture, as CMake built it; set by run_tests.py


class Shared:
    browser = None
    folder = None
    pages = {}    # name → path of the page
    records = {}  # name → the records in it


def close_shared():
    if Shared.browser:
        Shared.browser.close()
    if Shared.folder:
        Shared.folder.cleanup()


def write_page(name, lines):
    """The page of these JSON lines, by lib/view/page/page_html."""
    path = os.path.join(Shared.folder.name, name + ".html")
    with open(path, "wb") as page:
        subprocess.run([FIXTURE_PROGRAM], input="".join(line + "\n" for line in lines).encode(), stdout=page,
            check=True)
    return path


def beside_maps(value):
    """A record without its maps, which the page packs, and without what the program adds or leaves out."""
    if isinstance(value, list):
        return [beside_maps(one) for one in value]
    if not isinstance(value, dict):
        return value
    hidden = {"ends", "best"}
    if "report" in value or "token" in value or "tokens" in value or "encoder_self" in value:
        hidden |= {"encoder_self", "decoder_self", "cross"}
    if "links" in value:
        hidden |= {"weights"}
    return {key: beside_maps(one) for key, one in value.items() if key not in hidden}


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


class PageCase(unittest.TestCase):
    page = "main"
    width, height = 1280, 900

    @classmethod
    def setUpClass(cls):
        if Shared.browser is None:
            Shared.folder = tempfile.TemporaryDirectory(prefix="attn-page-")
            Shared.browser = Browser()
        cls.browser = Shared.browser

    def setUp(self):
        self.browser.command("Emulation.setEmulatedMedia", {"media": "", "features": []})
        self.browser.resize(self.width, self.height)

    def tearDown(self):
        # After every test: no errors were logged, nothing was fetched, and no hostile text was executed.
        messages = [entry for entry in self.browser.logs() if entry["level"] in ("SEVERE", "WARNING")]
        self.assertEqual(messages, [], "the browser's console complains")
        for entry in self.browser.logs("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                self.assertTrue(url.startswith(("file://" + Shared.folder.name, "about:")),
                    f"the page asks for {url}")
        self.assertIsNone(self.browser.run("return window.tripped === undefined ? null : window.tripped"),
            "text from the data ran")

    # ---- opening

    def records(self, name=None):
        name = name or self.page
        if name not in Shared.records:
            Shared.records[name] = [json.loads(line) for line in make_fixture.lines(name)]
        return Shared.records[name]

    def open(self, address="", name=None):
        name = name or self.page
        if name not in Shared.pages:
            Shared.pages[name] = write_page(name, make_fixture.lines(name))
        self.open_path(Shared.pages[name], address)

    def open_path(self, path, address=""):
        self.browser.open(path, address)
        self.wait_for("the page to begin", "return !document.getElementById('page').hidden")

    # ---- asking

    def js(self, script, *arguments):
        return self.browser.run(script, *arguments)

    def wait_for(self, what, script, *arguments):
        return until(what, lambda: self.js(script, *arguments))

    def wait_equal(self, expected, script, *arguments):
        """Waits until the script gives `expected`."""
        last = []

        def same():
            last[:] = [self.js(script, *arguments)]
            return last[0] == expected
        try:
            until(f"{script} to be {expected!r}", same, 60)
        except AssertionError:
            self.assertEqual(last[0], expected)

    def title(self):
        return self.js("return document.getElementById('stage-title').textContent")

    def texts(self, selector):
        return self.js("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)",
            selector)

    def count(self, selector):
        return len(self.browser.all(selector))

    def choose(self, switch, value):
        """Clicks one of a row of choices."""
        self.browser.click(f"#{switch} input[value='{value}']")

    def pixels(self, selector):
        """Width and height of a canvas, and its red, green, blue, alpha, …"""
        return self.js("""const c = document.querySelector(arguments[0]);
            const copy = Object.assign(document.createElement('canvas'), {width: c.width, height: c.height}).getContext('2d', {willReadFrequently: true});
            copy.drawImage(c, 0, 0);
            return [[c.width, c.height], [...copy.getImageData(0, 0, c.width, c.height).data]]""", selector)

    def shown_map(self):
        """The large map as texts: [row][column]."""
        return self.js("""return [...document.querySelectorAll('.heat-row')].map(row =>
            [...row.querySelectorAll('.heat-cell')].map(cell => cell.dataset.value))""")

    def assert_map(self, rows, causal=False):
        """The large map shows exactly these float32 weights."""
        shown = self.shown_map()
        self.assertEqual(len(shown), len(rows))
        for q, row in enumerate(rows):
            self.assertEqual(len(shown[q]), len(row))
            for k, weight in enumerate(row):
                if causal and k > q:
                    self.assertEqual(shown[q][k], "masked", f"cell {q}, {k}")
                else:
                    self.assertEqual(float(shown[q][k]), weight, f"cell {q}, {k}: the exact decimal")
                    self.assertEqual(f32(float(shown[q][k])), f32(weight))

    def assert_near(self, rows, tolerance=5e-6):
        """The large map shows these computed weights (None: masked)."""
        shown = self.shown_map()
        self.assertEqual([len(row) for row in shown], [len(row) for row in rows])
        for q, row in enumerate(rows):
            for k, weight in enumerate(row):
                if weight is None:
                    self.assertEqual(shown[q][k], "masked", f"cell {q}, {k}")
                else:
                    self.assertAlmostEqual(float(shown[q][k]), weight, delta=tolerance, msg=f"cell {q}, {k}")


def mean(maps):
    return [[sum(rows[q][k] for rows in maps) / len(maps) for k in range(len(maps[0][q]))]
        for q in range(len(maps[0]))]
