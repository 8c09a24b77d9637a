"""The page that translates alone in headless Chromium, from disk: typed into, damaged, and without permission."""

import functools
import http.server
import json
import os
import re
import shutil
import threading
import unittest

import alone_case
from alone_case import SHIPPED, run
from webdriver import Browser, until

HOME = "The group went home"


def page(path):
    run("page", "--alone", path)


def page_path():
    return alone_case.made("try.html", page)


class Page(unittest.TestCase):
    browser = None

    @classmethod
    def setUpClass(cls):
        Page.browser = Page.browser or Browser(1400, 1000)

    @classmethod
    def tearDownClass(cls):
        Page.browser.close()
        Page.browser = None

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

    def german(self, text, *options):
        return json.loads(run("translate", "--precision", "int8", "--json", "-", "--show", "none", *options, "--", text))["hypotheses"][0]["text"]

    def hook_saves(self):
        """What is saved comes back as text."""
        self.js("""window.saved = []; URL.createObjectURL = (blob) => { blob.text().then((text) => saved.push(text)); return "#"; };
            HTMLAnchorElement.prototype.click = () => {};""")

    def saved(self):
        until("the saved file", lambda: self.js("return saved.length > 0"))
        return self.js("return saved.pop()")

    def test_it_translates_what_is_typed_and_asks_nobody(self):
        self.browser.logs("performance")
        self.open()
        self.assertEqual(self.text("#live-target"), "Die Gruppe ging nach Hause")
        for text in ("The old dog sleeps", "Where is my red book"):
            self.type("#live-text", text)
            self.wait_text("#live-target", self.german(text))
        until("search and vectors", lambda: self.js("return document.getElementById('tree').getClientRects().length > 0"))
        for entry in self.browser.logs("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.assertTrue(message["params"]["request"]["url"].startswith(("file://", "about:", "blob:")), message)
        self.assertEqual([entry for entry in self.browser.logs() if entry["level"] == "SEVERE"], [])
        self.assertEqual(self.js("return [localStorage.length, sessionStorage.length, document.cookie]"), [0, 0, ""])

    def test_what_if_beams_compare_and_saving(self):
        self.open(address="#text=The%20group%20went%20home&beams=6")
        self.wait_text("#live-target", self.german(HOME, "--beam", "6"))
        self.browser.click("#live-off")
        until("before and after", lambda: self.js("return !document.getElementById('compare').hidden"))
        self.hook_saves()
        self.browser.click("#live-record")
        record = json.loads(self.saved())
        self.assertEqual(record["format"], "attn-demo.what_if")
        self.browser.click("#live-save")
        saved = self.saved()
        policy = re.search(r'Content-Security-Policy" content="([^"]*)', saved)[1]
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("wasm-unsafe-eval", policy)
        self.browser.click("#live-compare-open")
        self.type("#live-compare", "The dog went home")
        self.wait_text("#compare-changes", "changed: another sentence")

    def test_a_cut_file_says_so_and_shows_its_record(self):
        with open(page_path(), "rb") as file:
            whole = file.read()
        for name, damage, words in (("cut.html", lambda b: b[:len(b) // 2], "not whole"),
                                    ("short.html", lambda b: b[:b.index(b'id="attn-packed-1"') - 30], "not whole"),
                                    ("spoilt.html", lambda b: b[:-200_000] + b"A" * 100_000 + b[-100_000:], "damaged")):
            path = os.path.join(alone_case.FOLDER, name)
            with open(path, "wb") as file:
                file.write(damage(whole))
            with self.subTest(name=name):
                self.browser.open(path)
                self.begun()
                self.wait_says(words)
                self.assertEqual(self.text("#live-target"), "Die Gruppe ging nach Hause")
                self.assertTrue(self.js("return document.getElementById('live-text').disabled"))

    def test_without_permission_it_says_so(self):
        class Strict(http.server.SimpleHTTPRequestHandler):
            def end_headers(self):
                self.send_header("Content-Security-Policy", "script-src 'unsafe-inline'; worker-src blob:")
                super().end_headers()

            def log_message(self, *_):
                pass

        page_path()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Strict, directory=alone_case.FOLDER))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            self.browser._ask("POST", "/url", {"url": f"http://127.0.0.1:{server.server_port}/try.html"})
            self.begun()
            self.wait_says("may not run WebAssembly")
        finally:
            server.shutdown()
            self.browser._ask("POST", "/url", {"url": "about:blank"})
            self.browser.logs()

    def choose(self, folder):
        """Files into the field that Open a model clicks."""
        field = self.browser._ask("POST", "/element", {"using": "css selector", "value": "#live-files"})
        paths = "\n".join(os.path.join(folder, name) for name in sorted(os.listdir(folder)))
        self.js("document.getElementById('live-files').hidden = false")
        self.browser._ask("POST", f"/element/{next(iter(field.values()))}/value", {"text": paths})

    def test_a_model_of_the_readers_own(self):
        self.open()
        toy = alone_case.random_model("plain")

        def expected(text):
            return json.loads(run("translate", "--model", toy, "--json", "-", "--show", "none", "--", text))["hypotheses"][0]["text"]
        self.choose(toy)
        self.wait_text("#live-target", expected(HOME))
        other = alone_case.made("other", lambda path: shutil.copytree(SHIPPED, path))
        with open(os.path.join(other, "config.json"), "w", encoding="utf-8") as file:
            file.write('{"model_type": "bert", "hidden_size": 16}')
        self.choose(other)
        self.wait_says("bert")
        self.type("#live-text", "Tomorrow the woman")
        self.wait_text("#live-target", expected("Tomorrow the woman"))


if __name__ == "__main__":
    unittest.main()
