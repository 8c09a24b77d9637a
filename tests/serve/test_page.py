"""The live page in a real browser: typed into, clicked, and used by keyboard alone."""

import json
import os
import tempfile
import urllib.parse

from server_case import SENTENCE, Server, ServerCase
from webdriver import Browser, Refused, until

WAIT_FOR = "the live page"


class LivePage(ServerCase):
    browser = None
    width, height = 1400, 1000

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        LivePage.browser = LivePage.browser or Browser()

    @classmethod
    def tearDownClass(cls):
        LivePage.browser.close()
        LivePage.browser = None

    def setUp(self):
        self.browser.resize(self.width, self.height)

    def tearDown(self):
        super().tearDown()
        messages = [entry for entry in self.browser.logs() if entry["level"] in ("SEVERE", "WARNING")]
        self.assertEqual([m for m in messages if "status of 422" not in m["message"]], [],
            "the browser's console complains")
        for entry in self.browser.logs("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                self.assertTrue(url.startswith(("http://127.0.0.1:", "about:", "blob:")), f"the page asks for {url}")
        self.assertIsNone(self.js("return window.tripped === undefined ? null : window.tripped"))

    # ---- helpers

    def js(self, script, *arguments):
        return self.browser.run(script, *arguments)

    def open(self, fields=None, server=None):
        address = "#" + "&".join(f"{key}={urllib.parse.quote(str(value))}" for key, value in (fields or {}).items())
        self.browser._ask("POST", "/url", {"url": "about:blank"})
        self.browser._ask("POST", "/url", {"url": (server or self.server).url + (address if fields else "")})
        until(WAIT_FOR, lambda: self.js("const p = document.getElementById('page'); return p && !p.hidden"))
        self.settle()

    def text(self, selector):
        return self.js("const e = document.querySelector(arguments[0]); return e.matches('input, textarea, select') ? e.value : e.textContent", selector)

    def settle(self):
        until("the server's answer to be shown", lambda: self.js(
            "return !document.getElementById('live').classList.contains('is-busy')"))

    def wait_text(self, selector, expected):
        last = []
        def same():
            last[:] = [self.text(selector)]
            return last[0] == expected
        until(f"{selector} to be {expected!r}, not {last}", same, 60)

    def type(self, selector, text):
        self.browser.click(selector)
        self.js("document.querySelector(arguments[0]).select()", selector)
        self.browser.press(*[("Space" if c == " " else c) for c in text])

    def shown(self, selector):
        return self.js("const e = document.querySelector(arguments[0]); return e !== null && e.getClientRects().length > 0", selector)

    def german(self, **body):
        return json.loads(self.server.post("/api/translate", body)[2])["translations"][0]["text"]

    # ---- tests

    def test_the_german_follows_what_is_typed(self):
        self.open()
        self.assertEqual(self.text("#live-text"), SENTENCE)
        self.assertEqual(self.text("#live-target"), "Die Gruppe ging nach Hause")
        self.type("#live-text", "The old dog sleeps")
        self.wait_text("#live-target", self.german(text="The old dog sleeps"))
        self.assertEqual(self.js("return [...document.querySelectorAll('.line-word, #line-columns [data-index]')].length > 0"), True)
        until("the time of the last key", lambda: self.text("#live-says").endswith(" ms"))
        # After a pause the search and the vectors are there, too.
        until("the search", lambda: self.shown("#tree"))

    def test_an_edited_german_is_scored(self):
        self.open()
        self.assertFalse(self.shown("#live-search"))
        self.type("#live-target", "Die Gruppe ging heim")
        until("the given translation", lambda: "given, not searched for" in self.text("#hypotheses"))
        record = json.loads(self.server.post("/api/attend", {"text": SENTENCE, "target": "Die Gruppe ging heim"})[2])
        score = f"score −{-record['hypotheses'][0]['score']:.4f}"
        until(score, lambda: score in self.text("#hypotheses"))
        self.browser.click("#live-search")
        self.wait_text("#live-target", "Die Gruppe ging nach Hause")
        self.assertFalse(self.shown("#live-search"))

    def test_a_head_is_switched_off_and_on_by_clicking(self):
        self.open()
        name = self.text("#stage-name")
        self.browser.click("#live-off")
        until("the comparison", lambda: self.shown("#compare"))
        self.wait_text("#compare-changes", f"changed: without {name}")
        self.wait_text("#live-off", "switch on again")
        self.wait_text("#live-changes", f"without {name} ×")
        self.browser.click("#live-changes button")
        until("the model as it is", lambda: not self.shown("#compare"))
        self.wait_text("#live-off", "switch off")

    def test_a_query_is_pinned_to_a_key_by_clicking(self):
        self.open({"kind": "cross", "layer": 1, "head": 3, "text": SENTENCE, "cell": "2.1"})
        until("the pin", lambda: self.shown("#live-pin"))
        self.assertEqual(self.text("#live-pin"), "pin Gruppe → ging to group")
        self.browser.click("#live-pin")
        self.wait_text("#compare-changes", "changed: forced cross:1:3:2=1")
        self.wait_text("#live-pin", "unpin Gruppe → ging to group")
        self.browser.click("#live-pin")
        until("the model as it is", lambda: not self.shown("#compare"))

    def test_a_word_is_swapped(self):
        self.open()
        self.browser.click("#live-swap-open")
        self.js("document.getElementById('live-word').value = '1'")
        self.type("#live-swap-word", "girl")
        self.browser.press("Enter")
        self.wait_text("#compare-changes", "changed: swapped 1=girl")
        self.wait_text("#live-target", self.german(text="The girl went home"))

    def test_two_sentences_are_compared(self):
        self.open()
        self.browser.click("#live-compare-open")
        self.type("#live-compare", "The girl went home")
        self.wait_text("#compare-changes", "changed: another sentence")
        self.wait_text(".compare-texts .compare-text:nth-of-type(2)", "Die Gruppe ging nach Hause")
        self.browser.click("#live-compare-open")
        until("one sentence", lambda: not self.shown("#compare"))

    def test_beams_are_changed(self):
        self.open()
        self.type("#live-beams", "1")
        until("greedy search", lambda: self.js("return location.hash").find("beams=1") > 0)
        self.settle()
        until("no tree", lambda: not self.shown("#tree"))

    def test_a_link_opens_what_is_on_show(self):
        self.open({"text": "The old dog sleeps", "without": "cross:1:2", "kind": "cross", "layer": 1, "head": 2})
        self.wait_text("#live-text", "The old dog sleeps")
        self.wait_text("#compare-changes", "changed: without cross:1:2")
        self.wait_text("#stage-name", "cross:1:2")
        until("the address", lambda: "text=The%20old%20dog%20sleeps&without=cross%3A1%3A2" in self.js("return location.hash"))

    def test_what_the_server_refuses_is_said(self):
        self.open({"text": SENTENCE, "without": "cross:9:9"})
        self.wait_text("#live-says", "without cross:9:9: layer 9 is asked for, but the model's decoder has layers 0 to 2")
        self.assertEqual(self.text("#live-target"), "Die Gruppe ging nach Hause")

    def test_a_long_sentence_says_what_was_left_out(self):
        self.open({"text": "a " * 3000})
        until("the note", lambda: "positions: its end was left out" in self.text("#live-says"))

    def test_hostile_text_is_text(self):
        text = "</script><img src=x onerror=window.tripped=1><b>{{7*7}}"
        self.open({"text": text})
        self.wait_text("#live-text", text)
        self.wait_text("#source-text", text)
        self.assertEqual(self.js("return document.querySelectorAll('img, b').length"), 0)

    def test_keyboard_alone(self):
        self.open()
        self.js("document.activeElement.blur()")
        self.browser.press("i")
        self.assertEqual(self.browser.focused()["id"], "live-text")
        self.browser.press(*"Tom")
        self.wait_text("#live-target", self.german(text="Tom"))
        self.browser.press("Tab")
        self.assertEqual(self.browser.focused()["id"], "live-target")
        self.browser.press("Escape", "x")
        until("the comparison", lambda: self.shown("#compare"))
        seen = []
        self.js("document.getElementById('live-text').focus()")
        for _ in range(8):
            self.browser.press("Tab")
            seen.append(self.browser.focused()["id"])
        for one in ("live-target", "live-beams", "live-swap-open", "live-compare-open", "live-link", "live-save"):
            self.assertIn(one, seen)

    def test_nothing_is_wider_than_the_window(self):
        for width in (400, 1400):
            for theme in ("light", "dark"):
                self.browser.resize(width, 900)
                self.open({"text": "The old dog sleeps in the warm kitchen", "without": "cross:1:2", "theme": theme})
                self.wait_text("#compare-changes", "changed: without cross:1:2")
                self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), width)

    def test_two_models(self):
        shipped = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "data/models/en-de")
        with tempfile.TemporaryDirectory() as folder:
            other = os.path.join(folder, "other")
            os.symlink(shipped, other)
            server = Server("--model", shipped, "--model", other, "--model", "/no/model")
            try:
                self.open(server=server)
                self.assertTrue(self.shown("#live-model"))
                self.js("const m = document.getElementById('live-model'); m.value = arguments[0]; m.dispatchEvent(new Event('change'))", other)
                until("the other model", lambda: self.js("return document.querySelector('#facts span').title") == other)
                self.js("const m = document.getElementById('live-model'); m.value = '/no/model'; m.dispatchEvent(new Event('change'))")
                until("the refusal", lambda: "/no/model" in self.text("#live-says"))
                self.assertEqual(self.text("#live-target"), "Die Gruppe ging nach Hause")
            finally:
                server.stop()
