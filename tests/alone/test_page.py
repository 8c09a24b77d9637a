"""Tests the standalone page in headless Chromium, from disk: typed into, damaged, and without permissions."""

import functools
import http.server
import json
import os
import re
import shutil
import threading
import unittest
import urllib.parse

import alone_case
import goldens
from alone_case import SHIPPED, NativeToy, ask_module, run
from browser_case import COUNT_WORKERS, HOME, RECORDED, BrowserCase, german, page_path
from marionette import Firefox
from webdriver import Missing, until


class Page(BrowserCase):
    def test_it_translates_what_is_typed_and_asks_nobody(self):
        self.browser.logs("performance")
        self.open()
        self.assertEqual(self.text("#live-target"), RECORDED)
        for text in ("The old dog sleeps", "Where is my red book"):
            self.type("#live-text", text)
            self.wait_text("#live-target", german(text))
        until("search and vectors", lambda: self.js("return document.getElementById('tree').getClientRects().length > 0"))
        for entry in self.browser.logs("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.assertTrue(message["params"]["request"]["url"].startswith(("file://", "about:", "blob:")), message)
        self.assertEqual([entry for entry in self.browser.logs() if entry["level"] == "SEVERE"], [])
        self.assertEqual(self.js("return [localStorage.length, sessionStorage.length, document.cookie]"), [0, 0, ""])

    def test_an_example_says_what_it_shows_and_the_gloss_says_what_it_is(self):
        self.open()
        gloss = "return [...document.querySelectorAll('.gloss-word')].map(word => [...word.children].map(e => e.textContent))"
        self.assertIn("one English word, home", self.text("#example-says"))
        self.js("[...document.querySelectorAll('#examples button')].find(b => b.textContent === 'He does not drink coffee').focus()")
        self.assertIn("a negation moves", self.text("#example-says"))
        self.browser.press("Enter")
        # keinen looks at coffee, but only a little more than half, and Kaffee looks at it more.
        until("the gloss", lambda: self.js(gloss) == [["Er", "He"], ["trinkt", "drink"], ["keinen", "–"], ["Kaffee", "coffee"]])
        self.assertIn("may be wrong", self.text(".gloss-says"))
        self.put("#live-text", "She gave him the book yesterday")
        until("the next gloss", lambda: ["hat", "–"] in self.js(gloss))
        self.assertIn(["gestern", "yesterday"], self.js(gloss))

    def test_a_cleared_sentence_leaves_a_friendly_line(self):
        shown = "return ['live-blank', 'hypotheses', 'overview', 'live-off', 'stage'].map(id => document.getElementById(id).checkVisibility())"
        self.open()
        self.browser.click("#live-clear")
        until("the line", lambda: self.js(shown) == [True, False, False, False, False])
        self.put("#live-text", HOME)
        until("the map", lambda: self.js(shown) == [False, True, True, True, True])

    def test_the_address_keeps_its_measurement(self):
        self.browser.open(page_path(), "?bench=1#kind=encoder&embed")
        self.ready()
        until("the address", lambda: self.js("return [location.search, /kind=encoder_self.*&embed(&|$)/.test(location.hash)]") == ["?bench=1", True])

    def test_words_on_the_command_line_are_words_on_the_page(self):
        path = alone_case.made("words.html", lambda made: run("translate", "--words", "--html", made, "--show", "none", "--", "The sleeping cat"))
        self.browser.open(path)
        self.begun()
        self.assertEqual(self.js("return document.querySelector('#unit input:checked').value"), "words")
        self.browser.click("#unit input[value='tokens']")
        until("the address", lambda: self.js("return location.hash.includes('unit=tokens')"))

    def test_the_map_is_near_the_top_at_every_width(self):
        for width, height, most in ((1400, 900, 700), (420, 740, 1.5 * 740)):
            self.browser.resize(width, height)
            self.open()
            self.assertLess(self.js("return document.getElementById('stage').getBoundingClientRect().top"), most, width)
        self.browser.resize(1400, 1000)

    def test_what_if_beams_compare_and_saving(self):
        self.open(address="#text=The%20group%20went%20home&beams=6")
        self.wait_text("#live-target", german(HOME, "--beam", "6"))
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

    def test_other_measures_in_the_place_of_weights(self):
        self.open()
        self.browser.click("#measure input[value='contribution']")
        self.type("#live-text", "The dog bit the man")
        self.wait_text("#live-target", german("The dog bit the man"))
        why = run("translate", "--precision", "int8", "--why", "--json", "-", "--show", "none", "--", "The dog bit the man")
        maps = json.loads(why)["hypotheses"][0]["why"]["maps"]["cross"]
        for measure in ("contribution", "value"):
            self.browser.click(f"#measure input[value='{measure}']")
            until(measure, lambda: self.js("return document.querySelector('#measure input:checked').value") == measure)
            layer, head = (int(self.js(f"return document.querySelector('#{one} input:checked').value")) for one in ("layer", "head"))
            expected = [value for row in maps[measure][layer][head] for value in row]
            until("the numbers", lambda: [round(float(value.replace("\u2212", "-")), 2) for value in self.js(
                "return [...document.querySelectorAll('.heat-cell')].map(cell => cell.dataset.value)")]
                == [round(value, 2) for value in expected])

    def test_a_text_in_parts(self):
        """The page shows the whole translation and the maps of one part, as with a server, and saves that
        part's record."""
        parts = ["Hello!", "My name is Elena.", "I come from Greece and I have lived in Bremen for six years."]
        self.open(address="#text=" + urllib.parse.quote(" ".join(parts)))
        self.wait_text("#parts", " ".join(map(german, parts)))
        self.browser.click(".line-part:nth-of-type(2)")
        self.wait_text("#live-target", german(parts[1]))
        self.hook_saves()
        self.browser.click("#live-record")
        record = json.loads(self.saved())
        self.assertEqual((record["source"]["text"], record["part"]["number"]), (parts[1], 2))
        self.assertIn("search", record)

    def test_it_measures_itself(self):
        for address in ("?bench=3", "#bench=3"):
            with self.subTest(address=address):
                self.open(address=address)
                until("the speed", lambda: self.js("const b = document.getElementById('bench'); return b && b.textContent.includes('Medians')"))
                self.assertIn("3 English sentences of 14 words", self.text("#bench"))
                rows = self.js("return [...document.querySelectorAll('#bench tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))")
                self.assertEqual([row[0] for row in rows], ["greedy", "4 beams"])
                for _, speed, took in rows:
                    speed, took = int(speed.replace(",", "")), float(took)  # both are rounded
                    self.assertGreater(speed, 14 / (took + 0.006) - 1)
                    self.assertLess(speed, 14 / max(took - 0.006, 0.001) + 1)
        self.open()
        self.assertIsNone(self.js("return document.getElementById('bench')"))

    def train_says(self):
        """Returns the update that the panel shows."""
        found = re.search(r"update ([\d,]+) of", self.text("#train-says"))
        return int(found[1].replace(",", "")) if found else -1

    def test_the_toy_trains_before_ones_eyes(self):
        with self.browser.before_pages(COUNT_WORKERS + """
            window.told = [];
            const parse = JSON.parse;
            JSON.parse = (text) => { const value = parse(text); if (value.live && value.live.training) told.push(value.live.training); return value; };"""):
            self.open()
            self.assertTrue(self.js("return document.getElementById('train').hidden"))
            self.browser.click("#train-open")
            until("the first updates", lambda: self.train_says() >= 3)
            shades = "const c = document.querySelector('#overview-grid canvas'); return c ? c.toDataURL() : ''"
            first = self.js(shades)
            self.browser.click("#train-go")
            self.wait_text("#train-go", "Go on")
            until("the picture of the last update", lambda: self.text("#training-says").startswith(f"update {self.train_says()} · "))
            # The toy in its current state answers text that is typed meanwhile; then the training continues.
            self.put("#live-text", "Tomorrow the woman will go to school")
            until("the toy's answer", lambda: self.js("return document.getElementById('training').hidden"))
            self.assertLess(self.train_says(), 200)
            self.js("document.getElementById('train-pace').value = '100'")
            self.browser.click("#train-go")
            until("the end", lambda: self.js("return !document.getElementById('train-try').hidden"))
            self.assertEqual(self.train_says(), 1500)
            self.assertEqual(self.text("#live-target"), RECORDED)
            self.assertNotEqual(self.js(shades), first)
            self.assertGreater(self.js("return document.querySelectorAll('.curve').length"), 3)
            native_toy = NativeToy()
            told = self.js("return told")
            self.assertEqual([loss for one in told for loss in one["losses"]], native_toy.losses)
            self.assertEqual([look for one in told for look in one["looks"]], native_toy.looks)
            self.assertEqual(told[-1]["weights"], native_toy.weights)
            self.browser.click("#train-try button")
            self.wait_text("#live-target", "Morgen wird die Frau zur Schule gehen")
            self.browser.click("#train-back")
            self.wait_text("#live-target", german(HOME))
            self.assertEqual(self.js("return workers"), {"begun": 2, "ended": 0})
            self.assertEqual(self.js("return [localStorage.length, sessionStorage.length, document.cookie]"), [0, 0, ""])

    def refuses(self, path, words):
        """Checks that the page says why it cannot translate, and shows its record and the record's maps."""
        self.browser.open(path)
        self.begun()
        self.wait_says(words)
        self.assertEqual(self.text("#live-target"), RECORDED)
        self.assertTrue(self.js("return document.getElementById('live-text').disabled"))
        self.assertTrue(self.js("return document.getElementById('alone').hidden"), "the progress bar ends")
        self.assertGreater(self.js("return document.querySelectorAll('#line-picture .line').length"), 10)

    def test_a_browser_that_lacks_something_says_what(self):
        for lacking, words in (("WebAssembly", "no WebAssembly"), ("DecompressionStream", "cannot unpack what this page holds")):
            with self.subTest(lacking=lacking), self.browser.before_pages(f"delete window.{lacking};"):
                self.refuses(page_path(), words)

    def test_a_cpu_without_simd_says_so(self):
        self.in_another_browser("--no-enable-sse4-1", lambda: self.refuses(page_path(), "lacks what the program needs (SIMD"))

    def test_too_little_memory_for_the_model_says_so(self):
        self.in_another_browser("--wasm-max-mem-pages=400", lambda: self.refuses(page_path(), "out of memory"))

    def test_too_little_memory_for_a_question_says_so_and_the_next_one_is_answered(self):
        def check():
            self.open()
            self.put("#live-text", "the red house and " * 100)
            self.wait_says("out of memory")
            self.assertEqual(self.text("#live-target"), RECORDED)
            self.type("#live-text", HOME + " today")
            self.wait_text("#live-target", german(HOME + " today"))
        self.in_another_browser("--wasm-max-mem-pages=900", check)

    def test_a_question_that_nobody_waits_for_ends_with_its_worker(self):
        with self.browser.before_pages(COUNT_WORKERS):
            self.open(address="#beams=64")
            self.type("#live-text", "The dog")
            self.wait_text("#live-target", german("The dog", "--beam", "64"))
            self.assertEqual(self.js("return workers"), {"begun": 1, "ended": 0})
            # It takes seconds, and becomes stale as soon as the next text is typed.
            self.put("#live-text", "the old man who lives next door would like to see the red house and " * 12, "The cat")
            self.wait_text("#live-target", german("The cat", "--beam", "64"))
            self.assertEqual(self.js("return workers"), {"begun": 2, "ended": 1})

    def test_a_cut_file_says_so_and_shows_its_record(self):
        with open(page_path(), "rb") as file:
            whole = file.read()
        for name, damage, words in (("cut.html", lambda b: b[:len(b) // 2], "not whole"),
                                    ("short.html", lambda b: b[:b.index(b'id="attn-packed-1"') - 30], "not whole"),
                                    ("spoilt.html", lambda b: b[:len(b) // 2] + b"A" * 100_000 + b[len(b) // 2 + 100_000:], "damaged")):
            path = os.path.join(alone_case.FOLDER, name)
            with open(path, "wb") as file:
                file.write(damage(whole))
            with self.subTest(name=name):
                self.refuses(path, words)

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

    def test_goldens_of_every_family(self):
        """Opens the models as a reader does; their saved records equal those of Node and so of the native
        program (test_module), and PyTorch's."""
        self.open()
        self.hook_saves()
        for name in goldens.NAMES:
            model = goldens.directory(name)
            with self.subTest(name=name):
                (text, _, _, search), (forced_text, body, _, forced) = goldens.searches(name)[0], goldens.forced(name)[-1]
                whole = {"report": True, "vectors": True}
                _, *answers = ask_module(model, [("/api/attend", {"text": text, "tree": True, **whole}), ("/api/attend", {"text": forced_text, **body, **whole})])
                expected = [json.loads(answer["text"]) for answer in answers]
                self.choose(model)
                self.put("#live-text", text)
                self.wait_text("#live-target", expected[0]["hypotheses"][0]["text"])
                self.check_saved_record(expected[0], goldens.check_search, search)
                self.put("#live-text", forced_text)
                self.put("#live-target", body["target"])
                self.check_saved_record(expected[1], goldens.check_forced, forced)

    def check_saved_record(self, expected, check, case):
        self.browser.click("#live-record")
        record = json.loads(self.saved())
        for each in (record, expected):
            del each["model"]["name"]  # the page does not know the folder's name
        self.assertEqual(record, expected)
        check(self, record, case)


class InFirefox(unittest.TestCase):
    def test_it_translates_what_is_typed(self):
        try:
            browser = Firefox(1400, 1000)
        except Missing as problem:
            self.skipTest(str(problem))
        try:
            browser.open(page_path())
            until("the program", lambda: browser.run("return document.getElementById('alone').hidden && !document.getElementById('page').hidden"))
            browser.click("#live-text")
            browser.run("document.getElementById('live-text').select()")
            browser.press(*"The", "Space", *"old", "Space", *"dog", "Space", *"sleeps")
            expected = german("The old dog sleeps")
            until(repr(expected), lambda: browser.run("return document.getElementById('live-target').value") == expected)
            self.assertEqual(browser.run("return [localStorage.length, sessionStorage.length]"), [0, 0])
        finally:
            browser.close()


if __name__ == "__main__":
    unittest.main()
