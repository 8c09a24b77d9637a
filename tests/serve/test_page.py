"""Tests the live page in a real browser, with typing, clicks, and by keyboard only."""

import json
import os
import subprocess
import tempfile
import time
import urllib.parse

import server_case
from server_case import PARTS, ROOT, SENTENCE, SHIPPED, Server, ServerCase
from webdriver import Browser, Refused, until

WAIT_FOR = "the live page"
BACKSPACE = "\ue003"
LONG = "The old dog sleeps in the warm kitchen, because nobody wants to go out into the cold rain on a day like this"


class LivePage(ServerCase):
    browser = None
    width, height = 1400, 1000
    files = ()  # files that a test opens
    gone = []  # addresses of servers that were stopped while a page was open: the browser may log an error one test later

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
        # 422: refused by the server; 503: the model cannot be loaded; 409: a cancelled request may still get the
        # answer that it was replaced.
        expected = [*(f"status of {code}" for code in (409, 422, 503)), *(f"{url}/api/page - Failed to load resource: net::ERR_CONNECTION_" for url in LivePage.gone)]
        self.assertEqual([m for m in messages if not any(words in m["message"] for words in expected)], [],
            "the browser's console complains")
        for entry in self.browser.logs("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                self.assertTrue(url.startswith(("http://127.0.0.1:", "about:", "blob:", *self.files)), f"the page asks for {url}")
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

    def leave(self, server):
        """The page goes before what it asks of."""
        self.browser._ask("POST", "/url", {"url": "about:blank"})
        server.stop()

    def text(self, selector):
        return self.js("const e = document.querySelector(arguments[0]); return e.matches('input, textarea, select') ? e.value : e.textContent", selector)

    def settle(self):
        until("the server's answer to be shown", lambda: self.js(
            "return !document.getElementById('live').classList.contains('is-busy')"))

    def whole(self):
        """Both answers are there, with search and vectors, and nothing on the page is of what was before."""
        self.settle()
        until("the search", lambda: self.js("""
            return !document.getElementById("page").hasAttribute("data-due") && document.getElementById("tree").getClientRects().length > 0"""))

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

    def figures(self):
        return self.js("return [...document.querySelectorAll('.compare-figure figcaption')].map(c => c.textContent)")

    def german(self, **body):
        return self.german_of(self.server, **body)

    def german_of(self, server, **body):
        return json.loads(server.post("/api/translate", body)[2])["translations"][0]["text"]

    # ---- tests

    def test_the_german_follows_what_is_typed(self):
        self.open()
        self.assertEqual(self.text("#live-text"), SENTENCE)
        self.assertEqual(self.text("#live-target"), "Die Gruppe ging nach Hause")
        self.type("#live-text", "The old dog sleeps")
        self.wait_text("#live-target", self.german(text="The old dog sleeps"))
        self.assertEqual(self.js("return [...document.querySelectorAll('.line-word, #line-columns [data-index]')].length > 0"), True)
        until("the time of the last key", lambda: self.text("#live-says").endswith(" ms"))
        # After a pause, the search and the vectors are shown, too.
        self.whole()

    def drawn(self):
        """The map, the small ones and what stands below them, as elements and as pixels."""
        return self.js("""
            const part = (id) => document.getElementById(id).innerHTML;
            return {...Object.fromEntries(["line-rows", "line-columns", "heat-grid", "overview-grid", "next", "way", "tree",
                "report", "stage-says", "hypotheses", "facts", "source-text"].map((id) => [id, part(id)])),
                body: document.body.className,
                lines: [...document.querySelectorAll("#line-picture path")].map((path) => path.parentNode.dataset.row + path.outerHTML).sort(),
                title: document.title, pixels: [...document.querySelectorAll(".heat-canvas, .thumb canvas")].map((c) => c.toDataURL())}""")

    def still(self):
        """What is drawn once nothing changes any more."""
        seen = [None]
        def same():
            seen.append(self.drawn())
            time.sleep(0.3)
            return seen[-1] == seen[-2]
        until("the page to be still", same)
        return seen[-1]

    def test_typing_leaves_what_opening_shows(self):
        """A key changes what differs and leaves the rest standing: in the end nothing is left of what was."""
        for width, fields in ((1400, {}), (400, {"kind": "decoder_self", "layer": 0, "head": 1})):
            self.browser.resize(width, 900)
            texts = ("The old dog sleeps in the warm kitchen", "The old cats", LONG, "Tom")
            opened = []
            for text in texts:
                self.open({"text": text, **fields})
                self.whole()
                opened.append(self.still())
            self.open({"text": "A man", **fields})
            for text, expected in zip(texts, opened):
                self.type("#live-text", text)
                self.wait_text("#live-target", self.german(text=text))
                self.js("document.activeElement.blur()")
                self.browser.away()
                self.whole()
                found = self.still()
                for key in expected:
                    self.assertEqual(found[key], expected[key], f"{key} of “{text}” at {width} pixels")

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

    def chosen_part(self):
        """Which part is on show, from 1; None where none is."""
        return self.js("""
            const at = [...document.querySelectorAll('.line-part input')].findIndex((input) => input.checked);
            return document.getElementById('parts').hidden || at < 0 ? null : at + 1""")

    def wait_part(self, number, german):
        self.wait_text("#live-target", german)
        self.settle()
        self.assertEqual(self.chosen_part(), number)

    def test_a_text_in_parts_is_shown_whole_and_part_by_part(self):
        parts = PARTS
        text = " ".join(parts)
        german = [self.german(text=part) for part in parts]
        self.open()
        self.assertFalse(self.shown("#parts"))
        self.type("#live-text", text)
        self.wait_text("#parts", " ".join(german))
        self.assertEqual(self.text("#parts"), self.german(text=text))
        # The part with the caret is shown, also when the caret moves without typing.
        self.wait_part(3, german[2])
        self.assertEqual(self.text("#live-part"), "part 3 of 3")
        self.whole()
        self.js("document.getElementById('live-text').setSelectionRange(8, 8)")
        self.browser.press("Left", "Left", "Left")
        self.wait_part(1, german[0])
        self.browser.click(".line-part:nth-of-type(2)")
        self.wait_part(2, german[1])
        self.whole()
        self.assertEqual(self.chosen_part(), 2)
        until("the address", lambda: "part=2" in self.js("return location.hash"))
        self.open({"text": text, "part": 2})
        self.wait_part(2, german[1])

    def test_experiments_with_a_part_of_a_text(self):
        parts = PARTS
        text = " ".join(parts)
        german = [self.german(text=part) for part in parts]
        self.open({"text": text, "part": 2})
        self.wait_part(2, german[1])
        top = lambda: self.js("return document.getElementById('live-target').getBoundingClientRect().top - document.getElementById('live-text').getBoundingClientRect().top")
        before = top()
        self.browser.click("#live-off")
        until("the comparison", lambda: self.shown("#compare"))
        self.settle()
        self.assertEqual((self.text("#source-text"), self.text("#live-text"), self.chosen_part(), top()), (parts[1], text, 2, before))
        # The same head is off in another part, and typed text belongs to the part with the caret.
        self.browser.click(".line-part:nth-of-type(3)")
        until("the last part", lambda: self.text("#source-text") == parts[2])
        self.assertTrue(self.shown("#compare"))
        self.js("const f = document.getElementById('live-text'); f.focus(); f.setSelectionRange(7, 7)")
        self.browser.press("O", "h", "Space")
        until("the part of the caret", lambda: self.text("#source-text") == f"Oh {parts[1]}")
        self.assertTrue(self.shown("#compare"))
        self.browser.press(*3 * [BACKSPACE])
        until("the part as it was", lambda: self.text("#source-text") == parts[1])
        self.browser.click("#live-changes button")
        until("the model as it is", lambda: not self.shown("#compare"))
        self.wait_part(2, german[1])
        # The words to swap are those of the part.
        self.browser.click("#live-swap-open")
        self.assertEqual(self.js("return [...document.querySelectorAll('#live-word option')].map((o) => o.textContent)"), parts[1].split())
        self.js("document.getElementById('live-word').value = 3")
        self.type("#live-swap-word", "Sofia")
        self.browser.press("Enter")
        until("the swapped name", lambda: self.text("#source-text") == "My name is Sofia.")
        self.browser.click("#live-changes button")
        self.browser.click("#live-swap-open")
        self.wait_text("#parts", " ".join(german))
        # A given translation belongs to the part, and ends with it.
        self.type("#live-target", "Ich bin Elena.")
        until("the given translation", lambda: "given, not searched for" in self.text("#hypotheses"))
        self.assertEqual((self.text("#source-text"), self.chosen_part()), (parts[1], 2))
        self.wait_text("#parts", " ".join([german[0], "Ich bin Elena.", german[2]]))
        self.browser.click(".line-part:nth-of-type(1)")
        self.wait_part(1, german[0])
        self.assertFalse(self.shown("#live-search"))
        # The same holds for a comparison, which may be empty.
        self.browser.click("#live-compare-open")
        self.type("#live-compare", "T")
        until("the comparison", lambda: self.shown("#compare"))
        self.browser.press(BACKSPACE)
        self.wait_text("#parts", " ".join(german))
        self.type("#live-text", "Tom")
        self.wait_text("#live-target", "Tom")
        self.assertFalse(self.shown("#parts"))

    def test_a_text_of_many_parts_keeps_the_chosen_one_in_sight(self):
        sentence = "I saw her in the garden yesterday."
        self.open({"text": " ".join([sentence] * 60), "part": 59})
        self.wait_part(59, self.german(text=sentence))
        self.whole()  # with search and vectors
        self.assertTrue(self.js("""
            const [box, part] = ["#parts", ".line-part.is-chosen"].map((name) => document.querySelector(name).getBoundingClientRect());
            return part.top >= box.top - 1 && part.bottom <= box.bottom + 1"""))

    def test_an_answer_leaves_a_letter_that_is_being_composed(self):
        """¨ waits for its vowel, also where the German for the letter before it comes meanwhile."""
        self.open()
        for selector, other in (("#live-target", "#live-text"), ("#live-text", "#live-target")):
            self.type(selector, "zw")
            self.settle()
            self.browser.command("Input.imeSetComposition", {"text": "¨", "selectionStart": 1, "selectionEnd": 1})
            changes = self.text("#live-changes")
            self.js("document.getElementById('live-off').click()")  # an answer; the field keeps the focus
            until("the answer", lambda: self.text("#live-changes") != changes)
            self.settle()
            time.sleep(0.6)  # and the rest of the answer
            self.assertEqual(self.text(selector), "zw¨")
            self.browser.command("Input.insertText", {"text": "ö"})
            self.browser.press("l", "f")
            self.wait_text(selector, "zwölf")
            self.settle()
            self.assertEqual(self.text(selector), "zwölf")
            self.js("document.activeElement.blur()")

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

    def test_the_words_to_swap_are_those_that_the_program_counts(self):
        self.open({"text": "The\told\u00a0group  went home"})
        self.browser.click("#live-swap-open")
        words = ["The", "old\u00a0group", "went", "home"]
        self.assertEqual(self.js("return [...document.getElementById('live-word').options].map(option => option.text)"), words)
        self.js("document.getElementById('live-word').value = '2'")
        self.type("#live-swap-word", "goes")
        self.browser.press("Enter")
        self.wait_text("#compare-changes", "changed: swapped 2=goes")
        self.wait_text("#live-target", self.german(text="The old\u00a0group goes home"))

    def test_two_sentences_are_compared(self):
        self.open()
        self.browser.click("#live-compare-open")
        self.type("#live-compare", "The girl went home")
        self.wait_text("#compare-changes", "changed: another sentence")
        self.wait_text(".compare-texts .compare-text:nth-of-type(2)", "Die Gruppe ging nach Hause")
        self.browser.click("#live-compare-open")
        until("one sentence", lambda: not self.shown("#compare"))

    def test_two_unlike_sentences_are_compared_in_the_words_that_both_have(self):
        self.open({"text": SENTENCE, "compare": "Yesterday the old group went home", "kind": "cross"})
        self.wait_text("#compare-changes", "changed: another sentence")
        self.wait_text("#compare-says", "The words differ, so the difference is that of the words that both have.")
        self.assertEqual(self.figures(), ["before", "after", "difference: more or less than before"])
        columns = self.js("return [...document.querySelectorAll('.compare-figure:nth-child(3) text:not([text-anchor=end]):not(.compare-number)')].map(t => t.textContent)")
        self.assertEqual(columns, ["group", "went", "home", "</s>"])
        self.assertGreater(self.js("return document.querySelectorAll('.compare-head').length"), 0)
        page = json.loads(self.server.post("/api/page", {"text": SENTENCE, "compare": "Yesterday the old group went home"})[2])
        self.assertEqual(len(page["records"]), 2)

    def test_two_sentences_without_a_common_word_say_so(self):
        self.open({"text": "Good morning", "compare": "Tom laughs", "kind": "encoder_self"})
        self.wait_text("#compare-says", "The two have no word in common, so there is no difference to draw.")
        self.assertEqual(self.figures(), ["before", "after"])

    def test_an_edited_german_stays_when_a_head_is_switched_off(self):
        self.open()
        self.type("#live-target", "Die Gruppe ging heim")
        until("the given translation", lambda: "given, not searched for" in self.text("#hypotheses"))
        name = self.text("#stage-name")
        self.browser.click("#live-off")
        self.wait_text("#compare-changes", f"changed: without {name}")
        self.assertEqual(self.text("#live-target"), "Die Gruppe ging heim")
        self.assertEqual(self.js("return [...document.querySelectorAll('.compare-text')].map(t => t.textContent)"),
            ["Die Gruppe ging heim"] * 2)

    def test_the_link_is_copied_and_opens_the_same(self):
        self.open({"text": "The old dog sleeps", "without": "cross:1:2"})
        self.wait_text("#compare-changes", "changed: without cross:1:2")
        self.browser.command("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        self.browser.click("#live-link")
        self.wait_text("#live-link", "Copied")
        link = self.js("return navigator.clipboard.readText()")
        self.assertTrue(link.startswith(self.server.url + "#"), link)
        self.browser._ask("POST", "/url", {"url": "about:blank"})
        self.browser._ask("POST", "/url", {"url": link})
        self.wait_text("#live-text", "The old dog sleeps")
        self.wait_text("#compare-changes", "changed: without cross:1:2")
        self.wait_text("#live-link", "Copy link")

    def test_the_page_is_saved_and_needs_no_server(self):
        with tempfile.TemporaryDirectory() as folder:
            self.open({"text": "The old dog sleeps"})
            self.browser.command("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": folder})
            self.browser.click("#live-save")
            saved = os.path.join(folder, "attn-demo.html")
            until("the file", lambda: os.path.exists(saved))
            with open(saved, encoding="utf-8") as file:
                self.assertEqual(file.read(), self.server.post("/api/file",
                    {"text": "The old dog sleeps", "report": True, "vectors": True, "tree": True})[2])
            self.files = ("file://" + saved,)
            self.browser.open(saved)
            until("the saved page", lambda: self.js("const p = document.getElementById('page'); return p && !p.hidden"))
            self.assertFalse(self.shown("#live"))
            self.assertEqual(self.text("#source-text"), "The old dog sleeps")

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

    def test_a_link_opens_a_branch_of_the_search(self):
        tree = json.loads(self.server.post("/api/attend", {"text": SENTENCE, "tree": True})[2])["search"]
        branch = next(i for i, node in enumerate(tree["nodes"]) if node["step"] == 2 and not node["ended"])
        self.open({"text": SENTENCE, "branch": branch})
        until("the branch", lambda: self.shown("#branch-chip"))
        until("the address", lambda: f"branch={branch}&" in self.js("return location.hash"))
        self.type("#live-text", "Tom")
        self.wait_text("#live-target", self.german(text="Tom"))
        self.whole()
        self.assertFalse(self.shown("#branch-chip"))

    def test_what_the_page_cannot_do_is_said(self):
        self.open({"text": SENTENCE, "model": "/no/such"})
        self.wait_text("#live-target", "Die Gruppe ging nach Hause")
        until("the model", lambda: "/no/such is not served here" in self.text("#live-says"))
        self.type("#live-beams", "99")
        self.wait_text("#live-says", "beams: a whole number from 1 to 64")
        self.type("#live-beams", "2")
        until("the time", lambda: self.text("#live-says").endswith(" ms"))
        self.js("Object.defineProperty(navigator, 'clipboard', {value: undefined})")  # as on http:// from elsewhere
        self.browser.click("#live-link")
        self.wait_text("#live-says", "the browser copies nothing here; the address bar has the link")

    def test_what_the_server_refuses_is_said(self):
        self.open({"text": SENTENCE, "without": "cross:9:9"})
        self.wait_text("#live-says", "without cross:9:9: no layer 9: the decoder has layers 0 to 2")
        self.assertEqual(self.text("#live-target"), "Die Gruppe ging nach Hause")

    def test_a_long_sentence_says_what_was_left_out(self):
        self.open({"text": "a " * 3000})
        until("the note", lambda: "positions: its end was left out" in self.text("#live-says"))

    def put(self, text):
        """As pasted into the sentence's field."""
        self.js("const e = document.getElementById('live-text'); e.focus(); e.value = arguments[0]; "
                "e.dispatchEvent(new InputEvent('input'))", text)

    def test_what_is_typed_beyond_the_positions_or_the_limit(self):
        self.open({"text": "Tom", "beams": 1})
        self.put("a " * 600)
        until("the note", lambda: "positions: its end was left out" in self.text("#live-says"))
        tokens = self.js("return document.querySelectorAll('#heat-grid .heat-colhead').length")
        self.assertEqual(tokens, 512)
        self.browser.press(*"bc")
        self.wait_text("#source-text", "a " * 600 + "bc")
        until("the note again", lambda: "positions: its end was left out" in self.text("#live-says"))
        for bytes in (8_001, 100_000):  # more than the server accepts in a sentence, and in a body
            self.put("ä" * (bytes // 2) + "a" * (bytes % 2))
            self.wait_text("#live-says", f"this text has {bytes:,} bytes, and at most 8,000 are taken")
        self.type("#live-text", "Tom laughs")
        self.wait_text("#live-target", self.german(text="Tom laughs", beams=1))
        self.assertRegex(self.text("#live-says"), r"^(\d+ ms)?$")

    def test_a_server_that_has_gone_is_missed_in_words(self):
        server = Server()
        self.open(server=server)
        server.stop()
        LivePage.gone.append(server.url.rstrip("/"))
        self.type("#live-text", "Tom")
        self.wait_text("#live-says", "the server does not answer: is attn-demo serve still running?")
        self.assertEqual(self.text("#live-target"), "Die Gruppe ging nach Hause")
        for entry in self.browser.logs():  # 503: asked while the server was ending
            self.assertRegex(entry["message"], "net::ERR_CONNECTION_|status of 503")

    def test_hostile_text_is_text(self):
        text = "</script><img src=x onerror=window.tripped=1><b>{{7*7}}"
        self.open({"text": text})
        self.wait_text("#live-text", text)
        self.wait_text("#source-text", text)
        self.assertEqual(self.js("return document.querySelectorAll('img, b').length"), 0)

    def test_a_sentence_to_try_and_its_gloss(self):
        self.open()
        self.js("[...document.querySelectorAll('#examples button')].find(b => b.textContent === 'The dog bit the man').click()")
        self.wait_text("#live-target", "Der Hund biss den Mann")
        until("the gloss", lambda: self.js("return [...document.querySelectorAll('.gloss-word')].map(e => [...e.children].map(c => c.textContent))")
            == [["Der", "The"], ["Hund", "dog"], ["biss", "bit"], ["den", "the"], ["Mann", "man"]])
        self.browser.click("#live-clear")
        self.assertEqual(self.js("return document.getElementById('live-text').value"), "")
        self.assertEqual(self.browser.focused()["id"], "live-text")

    def test_why_this_word(self):
        self.open()
        why = json.loads(self.server.post("/api/why", {"text": "The group went home", "word": "nach", "summed": True, "methods": "occlusion"})[2])["words"][0]
        by_number = self.server.post("/api/why", {"text": "The group went home", "word": 3, "summed": True, "methods": "occlusion"})[2]
        self.assertEqual(json.loads(by_number)["words"], [why])
        self.js("[...document.querySelectorAll('#why-chips button')].find(b => b.textContent === 'nach').click()")
        bars = "return [...document.querySelectorAll('.why-columns > div:first-child .why-line')].map(e => [e.children[0].textContent, e.children[2].textContent])"
        until("the receipt", lambda: [name for name, _ in self.js(bars)] == ["The", "group", "went", "home", "</s>", "<pad>", "Die", "Gruppe", "ging", "rest"])
        shown = [float(value.replace("\u2212", "-")) for _, value in self.js(bars)]
        logit = why["logit"]
        entries = [entry["value"] for entry in logit["source"] + logit["prefix"]]
        for number, entry in zip(shown, [*entries, logit["feed_forward"] + logit["biases"] + logit["position"]]):
            self.assertAlmostEqual(number, entry, delta=0.0051)
        # Once nothing is typed: what happens without each word.
        home = next(entry for entry in why["occlusion"] if entry["text"] == "home")
        until("without home", lambda: f"without it \u2212{home['drop']:.2f}" in self.text("#why-content"))
        self.js("document.getElementById('why-instead').value = 'zu'")
        self.js("document.getElementById('why-instead').form.requestSubmit()")
        until("the comparison", lambda: "Instead of zu" in self.text("#why-content"))
        self.js("document.getElementById('why-lens').open = true")
        until("the lens", lambda: self.js("return document.querySelectorAll('#why-lens tbody tr').length") == 4)
        self.js("document.getElementById('why-corrupt').value = 'The group went away'")
        self.js("document.getElementById('why-corrupt').form.requestSubmit()")
        until("the grids", lambda: self.js("return document.querySelectorAll('.why-grid').length") == 3)
        self.assertEqual(self.text("#why-problem"), "")

    def test_other_measures_in_the_place_of_weights(self):
        """The large map shows what /api/why computes, also while a sentence is typed and in a saved page's records."""
        self.open()
        shown = "return [...document.querySelectorAll('.heat-row')].map(row => [...row.querySelectorAll('.heat-cell')].map(cell => cell.dataset.value))"

        def numbers():
            return [[float(value.replace("\u2212", "-")) for value in row] for row in self.js(shown)]

        def assert_shows(expected):
            until("the map", lambda: [len(row) for row in self.js(shown)] == [len(row) for row in expected]
                and all(abs(a - b) < 1e-5 * max(1, abs(b)) for row, other in zip(numbers(), expected) for a, b in zip(row, other)))

        def why(text):
            return json.loads(self.server.post("/api/why", {"text": text, "methods": "receipt,contributions"})[2])
        self.browser.click("#measure input[value='value']")
        until("lengths", lambda: self.text("#stage-name").endswith("@value"))
        _, layer, head = self.text("#stage-name").removesuffix("@value").split(":")
        layer, head = int(layer), int(head)
        assert_shows(why("The group went home")["value_weighted"]["cross"][layer][head])
        self.browser.click("#measure input[value='contribution']")
        self.type("#live-text", "The dog bit the man")
        self.wait_text("#live-target", "Der Hund biss den Mann")
        cross = why("The dog bit the man")["receipt"]["word"]["cross"]
        assert_shows([step[layer][head] for step in cross])
        saved = self.server.post("/api/file", {"text": "The dog bit the man"})[2]
        self.assertIn('"maps":{"encoder_self":{"value":"', saved)
        # An experiment has no receipts, so there is nothing to choose.
        self.open({"text": "The dog bit the man", "without": f"cross:{layer}:{head}"})
        until("the experiment", lambda: self.shown("#compare"))
        self.assertFalse(self.shown("#measure"))

    def test_keyboard_alone(self):
        self.open()
        self.js("document.activeElement.blur()")
        self.browser.press("i")
        self.assertEqual(self.browser.focused()["id"], "live-text")
        self.browser.press(*"Tom")
        self.wait_text("#live-target", self.german(text="Tom"))
        self.browser.press("Tab", "Tab")  # past the button that clears the sentence
        self.assertEqual(self.browser.focused()["id"], "live-target")
        self.browser.press("Escape", "x")
        until("the comparison", lambda: self.shown("#compare"))
        seen = []
        self.js("document.getElementById('live-text').focus()")
        for _ in range(20):  # ten of them are example sentences
            self.browser.press("Tab")
            seen.append(self.browser.focused()["id"])
        for one in ("live-target", "live-beams", "live-swap-open", "live-compare-open", "live-link", "live-save"):
            self.assertIn(one, seen)

    def tab_to(self, name):
        for _ in range(40):
            if self.browser.focused()["id"] == name:
                return
            self.browser.press("Tab")
        self.fail(f"the tabulator does not come to {name}")

    def test_all_that_is_changed_is_changed_by_keyboard(self):
        self.open({"text": SENTENCE, "kind": "cross", "layer": 1, "head": 3, "cell": "2.1"})
        self.js("document.activeElement.blur()")
        self.browser.press("f")
        self.wait_text("#compare-changes", "changed: forced cross:1:3:2=1")
        self.browser.press("f")
        until("the model as it is", lambda: not self.shown("#compare"))
        self.browser.press("i")
        self.tab_to("live-swap-open")
        self.browser.press("Enter", "Tab")
        self.tab_to("live-swap-word")
        self.browser.press(*"girl", "Enter")
        self.wait_text("#compare-changes", "changed: swapped 0=girl")
        self.js("document.getElementById('live-text').focus()")
        self.tab_to("live-compare-open")
        self.browser.press("Enter")
        self.assertEqual(self.browser.focused()["id"], "live-compare")
        self.browser.press(*"Tom")
        self.wait_text("#compare-changes", "changed: another sentence")
        self.js("document.getElementById('live-text').focus()")
        self.tab_to("live-beams")
        self.browser.press("2")
        until("two beams", lambda: "beams=2" in self.js("return location.hash"))
        self.browser.command("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        self.tab_to("live-link")
        self.browser.press("Enter")
        self.wait_text("#live-link", "Copied")

    def test_typing_and_clicking_in_a_narrow_window_and_in_the_dark(self):
        for width, theme in ((400, "light"), (400, "dark"), (1400, "dark")):
            self.browser.resize(width, 900)
            self.open({"text": "Tom", "theme": theme})
            self.type("#live-text", "The old dog sleeps")
            self.wait_text("#live-target", self.german(text="The old dog sleeps"))
            name = self.text("#stage-name")
            self.browser.click("#live-off")
            self.wait_text("#compare-changes", f"changed: without {name}")
            self.browser.click("#live-changes button")
            until("the model as it is", lambda: not self.shown("#compare"))
            self.browser.click("#live-swap-open")
            self.type("#live-swap-word", "A")
            self.browser.press("Enter")
            self.wait_text("#compare-changes", "changed: swapped 0=A")
            self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), width)

    def test_nothing_is_wider_than_the_window(self):
        for width in (400, 1400):
            for theme in ("light", "dark"):
                self.browser.resize(width, 900)
                self.open({"text": "The old dog sleeps in the warm kitchen", "without": "cross:1:2", "theme": theme})
                self.wait_text("#compare-changes", "changed: without cross:1:2")
                self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), width)

    def test_two_models(self):
        shipped = os.path.join(ROOT, "data/models/en-de")
        with tempfile.TemporaryDirectory() as folder:
            other = os.path.join(folder, "other")
            os.symlink(shipped, other)
            server = Server("--model", shipped, "--model", other, "--model", "/no/model")
            try:
                self.open(server=server)
                self.assertTrue(self.shown("#live-model"))
                self.js("const m = document.getElementById('live-model'); m.value = arguments[0]; m.dispatchEvent(new Event('change'))", other)
                until("the other model", lambda: self.js("return document.querySelector('#facts span').title") == other)
                # Requests about a part end with the model that split the text.
                self.type("#live-text", f"{SENTENCE}. " * 5)
                until("the parts", lambda: self.shown("#parts"))
                self.type("#live-target", "Die Leute")
                until("the given translation", lambda: self.shown("#live-search"))
                self.js("const m = document.getElementById('live-model'); m.value = arguments[0]; m.dispatchEvent(new Event('change'))", shipped)
                until("the parts again", lambda: self.shown("#parts") and not self.shown("#live-search"))
                self.type("#live-text", SENTENCE)
                self.wait_text("#live-target", "Die Gruppe ging nach Hause")
                self.js("const m = document.getElementById('live-model'); m.value = '/no/model'; m.dispatchEvent(new Event('change'))")
                until("the refusal", lambda: "/no/model" in self.text("#live-says"))
                self.assertEqual(self.text("#live-target"), "Die Gruppe ging nach Hause")
            finally:
                self.leave(server)

    def test_the_way_back(self):
        """⇄ makes the translation the sentence of the model for the other direction."""
        shipped, back = SHIPPED, os.path.join(ROOT, "data/models/de-en")
        with tempfile.TemporaryDirectory() as folder:
            other, french = os.path.join(folder, "de-fr"), os.path.join(folder, "fr-de")
            for path in (other, french):
                os.symlink(shipped, path)
            server = Server("--model", shipped, "--model", other, "--model", back)
            try:
                self.open({"text": SENTENCE}, server)
                self.assertEqual(self.text("#live-turn"), "⇄ German to English")
                german = self.text("#live-target")
                self.browser.click("#live-turn")
                until("the other model", lambda: self.js("return document.querySelector('#facts span').title") == back)
                self.assertEqual(self.text("#live-text"), german)
                self.assertEqual(self.text("#live-turn"), "⇄ English to German")
                self.assertEqual(self.js("return document.getElementById('live-text').placeholder"), "Die Gruppe ging nach Hause")
                self.assertEqual(len(self.js("return [...document.querySelectorAll('#examples button')].map(b => b.textContent)")), 10)
                english = self.text("#live-target")
                # Each model begins with its own best head.
                until("its head in the address", lambda: "layer=1&head=1" in self.js("return location.hash"))
                self.browser.click("#live-turn")
                until("the first model", lambda: self.js("return document.querySelector('#facts span').title") == shipped)
                self.assertEqual(self.text("#live-text"), english)
                # Nothing translates from French.
                self.open({"text": SENTENCE, "model": other}, server)
                self.assertFalse(self.shown("#live-turn"))
            finally:
                self.leave(server)
            server = Server("--model", french)
            try:
                # There are no French examples.
                self.open({"text": SENTENCE}, server)
                self.assertEqual(self.js("return document.getElementById('live-text').placeholder"), "a sentence in French")
                self.assertFalse(self.shown("#examples"))
            finally:
                self.leave(server)

    def heading(self, field):
        """(what stands in a field, its placeholder); None: it is not there."""
        return self.js("""const f = document.getElementById(arguments[0]);
            return f.getClientRects().length > 0 ? [f.value, f.placeholder] : null""", field)

    def test_languages_and_prefixes_are_chosen_where_the_model_has_such(self):
        with tempfile.TemporaryDirectory() as folder:
            nllb, t5 = server_case.made_model(folder, "nllb"), server_case.made_model(folder, "t5", **server_case.T5_PREFIXES)
            opus = server_case.made_model(folder, "opus")
            fields = ("live-source-lang", "live-target-lang", "live-prefix")
            server = Server("--model", nllb, "--model", t5, "--model", opus, "--model", SHIPPED)
            try:
                self.open(server=server)
                self.assertEqual([self.heading(field) for field in fields], [["", "English"], ["", "choose one"], None])
                self.assertEqual(self.js("return document.getElementById('live-languages').options.length"), 202)
                self.assertEqual(self.js("return document.getElementById('live-text').placeholder"), "The group went home")
                # A code or a name takes effect once it is complete; then the field shows the name.
                self.type("#live-target-lang", "deu_Latn")
                until("the language", lambda: self.js("return location.hash.includes('target_lang=deu_Latn')"))
                self.settle()
                self.js("document.activeElement.blur()")
                until("its name", lambda: self.heading("live-target-lang") == ["German", "German"])
                self.assertEqual(self.js("return [document.getElementById('live-target').lang, document.getElementById('live-target-says').textContent]"),
                    ["deu-Latn", "German translation: edit it to have your own scored"])
                self.type("#live-source-lang", "french")
                until("the source's language", lambda: self.js("return location.hash.includes('source_lang=fra_Latn')"))
                self.settle()
                self.assertIn("fra_Latn", self.text("#heat-grid"))
                # A language that the model does not have is refused with the nearest one, and the previous choice is
                # kept.
                self.type("#live-target-lang", "Germn")
                self.browser.press("Enter")
                until("the nearest", lambda: "the nearest is deu_Latn (German)" in self.text("#live-says"))
                # The languages change places, and the translation becomes the sentence.
                self.type("#live-source-lang", "English")
                self.type("#live-target-lang", "German")
                until("both", lambda: self.text("#live-turn") == "⇄ German to English")
                self.settle()
                self.browser.click("#live-turn")
                until("their places changed", lambda: "source_lang=deu_Latn" in self.js("return location.hash")
                    and "target_lang=eng_Latn" in self.js("return location.hash"))
                # The address contains the languages, and another model has its own.
                self.open({"text": "home", "target_lang": "zho_Hans"}, server)
                self.assertEqual(self.heading("live-target-lang")[0], "Chinese (Simplified)")
                expected = {t5: [None, None, ["", ""]], opus: [None, ["", "choose one"], None], SHIPPED: [None, None, None]}
                for model, shown in expected.items():
                    self.js("const m = document.getElementById('live-model'); m.value = arguments[0]; m.dispatchEvent(new Event('change'))", model)
                    until(f"{model}, not {[self.heading(field) for field in fields]}",
                        lambda: [self.heading(field) for field in fields] == shown)
                    until("the address without it", lambda: "target_lang" not in self.js("return location.hash"))
                self.open({"text": "group", "model": t5, "prefix": "to German: "}, server)
                until("the prefix", lambda: self.heading("live-prefix") == ["to German: ", ""])
                self.assertEqual(self.js("return document.getElementById('live-prefixes').options.length"), 2)
                self.assertEqual(self.text("#source-text"), "to German: group")
            finally:
                self.leave(server)

    def test_two_browsers_with_two_models_and_one_that_goes_away(self):
        shipped = os.path.join(ROOT, "data/models/en-de")
        with tempfile.TemporaryDirectory() as folder:
            other = os.path.join(folder, "other")
            subprocess.run([server_case.PROGRAM, "init", "--config", os.path.join(ROOT, "configs/demo.json"),
                "--out", other, "--seed", "7"], check=True, capture_output=True)
            server = Server("--model", shipped, "--model", other)
            second = Browser()
            try:
                self.open({"text": SENTENCE, "model": shipped}, server)
                first, self.browser = self.browser, second
                self.open({"text": SENTENCE, "model": other}, server)
                theirs = self.german_of(server, text=SENTENCE, model=other)
                self.assertNotEqual(theirs, "Die Gruppe ging nach Hause")
                self.wait_text("#live-target", theirs)
                # Both users type, taking turns after each keystroke.
                for key in " now":
                    for browser in (first, second):
                        browser.click("#live-text")
                        browser.press("End", "Space" if key == " " else key)
                text = SENTENCE + " now"
                self.wait_text("#live-target", self.german_of(server, text=text, model=other))
                # The second request arrives during a search that would take long.
                slow = {"text": "The group went home and " * 60, "beams": 64, "max_length": 500, "model": shipped}
                second.run("fetch('/api/attend', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: arguments[0]}).catch(() => 0); return 1",
                    json.dumps(slow))
                second.kill()
                second.close()
                self.browser = first
                self.wait_text("#live-target", self.german_of(server, text=text, model=shipped))
                self.type("#live-text", "The old dog sleeps")
                self.wait_text("#live-target", self.german(text="The old dog sleeps"))
                self.assertIsNone(server.program.poll())
            finally:
                self.browser = LivePage.browser
                second.close()
                self.leave(server)
