"""Tests hostile text, empty sentences, large maps, and files without the optional keys."""

import json
import os
import subprocess
import sys
import unittest

import make_fixture
import page_case
from page_case import PageCase, Shared, beside_maps, write_page


class Hostile(PageCase):
    page = "hostile"

    def test_text_stays_text(self):
        for address in ("", "#kind=encoder_self&cell=3.3", "#kind=decoder_self&unit=words&cell=2.2",
            "#hypothesis=1&cell=0.0&mean=all", "#branch=5&cell=1.1", "#sentence=1"):
            self.open(address)
            self.assertEqual(self.count("script"), 2)
            self.assertEqual(self.count("img, iframe, object, embed, link, base, [onload], [onerror], [onclick]"), 0)
            self.assertEqual(self.js("return document.querySelectorAll('svg[onload], b').length"), 0)
        self.open()
        held = self.js("return JSON.parse(document.getElementById('attn-data').textContent).records")
        self.assertEqual(beside_maps(held), beside_maps(self.records()))
        self.assertIn("</script><script>window.tripped=1</script>", self.texts(".word-text"))
        self.assertIn("<svg onload=window.tripped=2>", self.texts(".heat-colhead"))
        self.assertIn("@DATA@", self.texts(".heat-colhead"))
        self.assertIn("</script><b>\\u{202e}name", self.browser.attribute("#facts span", "title"))

    def test_what_cannot_be_seen_is_written_out(self):
        self.open()
        heads = self.texts(".heat-colhead")
        for shown in ("\\u{1b}[31mred\\u{1b}[0m", "a\\u{202e}b\\u{2066}c", "x\\u{2028}y\\u{2029}z",
            "\\u{200b}", "\\u{feff}", "\\u{0}", "\\u{e0041}", "\"\u00a0\"",
                      "\U0001f468\u200d\U0001f469\u200d\U0001f467"):
            self.assertIn(shown, heads)
        text = self.js("return document.getElementById('page').textContent")
        for character in "\u202e\u2066\u2028\u2029\ufeff\u001b\u0000":
            self.assertNotIn(character, text)

    def test_right_to_left_words_do_not_turn_their_neighbours(self):
        self.open("#sentence=1&kind=cross")
        self.assertEqual(self.js("return [...document.querySelectorAll('.heat-colhead bdi')].every(e => getComputedStyle(e).unicodeBidi.includes('isolate'))"), True)
        boxes = self.js("""const row = document.querySelector('.word-row[data-index="1"]');
            return ['.word-reads', '.word-arrow', '.word-text'].map(s => row.querySelector(s).getBoundingClientRect().left)""")
        self.assertEqual(boxes, sorted(boxes), "reads, arrow, writes stand from left to right")

    def test_the_policy_lets_nothing_else_run(self):
        self.open()
        policy = self.js("return document.querySelector('meta[http-equiv=Content-Security-Policy]').content")
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        refused = self.js("try { document.createElement('div').innerHTML = '<b>x</b>'; return 'taken'; } catch (e) { return e.name; }")
        self.assertEqual(refused, "TypeError")
        self.browser.logs()  # the error is logged to the console, as it should be

    def test_nan_is_shown_as_such(self):
        record = json.loads(make_fixture.lines("bare")[0])
        record["encoder_self"][0][0][1][1] = -99  # page_fixture.cpp turns this into NaN
        self.open_path(write_page("nan", [json.dumps(record)]), "#kind=encoder_self&layer=0&head=0")
        self.assertEqual(self.shown_map()[1][1], "NaN")
        for address in ("#kind=encoder_self&layer=0&head=0&cell=1.0",
            "#kind=encoder_self&mean=all&unit=words&cell=1.1", "#kind=encoder_self&layer=0&lock=row.1"):
            self.open_path(os.path.join(Shared.folder.name, "nan.html"), address)
            self.assertEqual(self.count(".heat-row"), 5)


class Sizes(PageCase):
    def test_empty_sentences(self):
        self.open(name="empty")
        self.assertTrue(self.js("return document.getElementById('report').hidden"), "figures of no head")
        self.assertIn("empty", self.browser.text("#source-text"))
        self.assertIn("The sentence is empty: the model reads its end symbol alone.", self.browser.text("#stage-says"))
        self.assertEqual(self.shown_map(), [["1"]])
        for kind in ("decoder_self", "cross"):
            self.choose("kind", kind)
            self.assertIn("nothing to look at", self.browser.text("#stage-empty"))
        self.browser.click("#sentence-picker option[value='1']")
        self.wait_for("nothing", "return !document.getElementById('stage-empty').hidden")
        self.browser.click("#sentence-picker option[value='2']")
        self.wait_equal("Then words", "return document.getElementById('source-text').textContent")
        self.choose("kind", "cross")
        self.assertEqual(len(self.shown_map()), 3)

    def test_parts_of_a_line_and_models_that_translate_together(self):
        self.open(name="parts")
        options = self.js("return [...document.querySelectorAll('#sentence-picker option')].map((o) => o.textContent)")
        self.assertTrue(options[0].endswith("line 7, part 1 of 2"), options)
        self.assertTrue(options[1].endswith("line 7, part 2 of 2"), options)
        self.assertIn("one of 2 models that translate together", self.browser.text("#facts"))
        german = self.records("parts")[0]["hypotheses"][0]["text"]
        self.assertEqual(self.js("return document.getElementById('parts').textContent"), f"{german} {german}")
        self.browser.click(".line-part:nth-of-type(2)")
        self.wait_equal("2 of 2", "return document.getElementById('sentence-count').textContent")
        self.assertEqual(self.js("return [...document.querySelectorAll('.line-part input')].map((input) => input.checked)"), [False, True])
        self.open()
        self.assertFalse(self.js("return document.getElementById('parts').getClientRects().length > 0"))

    def test_no_sentence_at_all(self):
        self.browser.open(write_page("none", []))
        self.wait_equal("This page holds no sentence.",
            "return document.getElementById('failure').textContent")

    def test_sixty_tokens_six_layers_sixteen_heads(self):
        self.open("#kind=encoder_self", name="big")
        record = self.records("big")[0]
        self.assertEqual(self.count(".thumb"), 96)
        for kind, layer, head in (("encoder_self", 5, 0), ("decoder_self", 3, 15), ("cross", 0, 7)):
            self.choose("kind", kind)
            self.choose("layer", layer)
            self.choose("head", head)
            rows = (record if kind == "encoder_self" else record["hypotheses"][0])[kind][layer][head]
            # A large map only has elements for the focused row, but the keyboard reaches all rows.
            self.js("document.querySelector('.heat-cell').focus()")
            self.browser.press("Control+Home", "PageDown", "PageDown", "Down")
            values = self.js("return [...document.querySelectorAll('.heat-cell')].map(c => c.dataset.value)")
            self.assertEqual(self.browser.focused()["data"]["row"], "21")
            self.assertEqual(len(values), 60)
            for k, text in enumerate(values):
                if kind == "decoder_self" and k > 21:
                    self.assertEqual(text, "masked")
                else:
                    self.assertEqual(float(text), rows[21][k])
        self.browser.hover(".thumb[data-layer='5'][data-head='15']")
        self.wait_for("all small maps",
            "return [...document.querySelectorAll('.thumb canvas')].every(c => c.width === 60)")
        self.choose("unit", "words")
        self.assertGreater(self.count(".heat-row"), 30)
        self.choose("mean", "all")
        self.assertIn("mean of 96 heads", self.title())

    def test_a_cell_of_a_large_map_is_clicked_where_it_is(self):
        self.open("#kind=cross&layer=2&head=2", name="big")
        place = self.js("""const c = document.getElementById('heat-canvas'); c.scrollIntoView({block: 'center'});
            const b = c.getBoundingClientRect(); const w = b.width / 60, h = b.height / 60;
            const [x, y] = [b.left + 31.5 * w, b.top + 30.5 * h];
            document.elementFromPoint(x, y).dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: x, clientY: y})); return 1""")
        self.assertEqual(place, 1)
        weight = self.records("big")[0]["hypotheses"][0]["cross"][2][2][30][31]
        self.assertEqual(float(self.browser.text("#steps-weight")), weight)

    def test_records_without_any_optional_key(self):
        self.open("#kind=cross&cell=1.1", name="bare")
        record = self.records("bare")[0]
        self.assert_map(record["hypotheses"][0]["cross"][1][0])
        for part in ("tree", "report", "training"):
            self.assertFalse(self.js("return document.getElementById(arguments[0]).checkVisibility()", part))
        self.assertIn("missing", self.browser.text("#steps-missing"))

    def test_numbers_can_stand_in_the_cells(self):
        for digits, wide in (("exact", 92), ("none", 10), ("two", 30)):
            self.open(f"#kind=cross&digits={digits}")
            self.assertGreaterEqual(self.js("return document.querySelector('.heat-cell').getBoundingClientRect().width"), wide)


class Program(unittest.TestCase):
    def test_a_missing_browser_is_no_success(self):
        here = os.path.dirname(os.path.abspath(__file__))
        run = subprocess.run([sys.executable, os.path.join(here, "run_tests.py"), "--fixture",
            page_case.FIXTURE_PROGRAM],
                             env={**os.environ, "PATH": "/nonexistent"}, capture_output=True, text=True)
        self.assertEqual(run.returncode, 1)
        self.assertIn("apt-get install chromium chromium-driver", run.stderr)

    def test_records_become_the_same_bytes_as_here(self):
        """Beside the maps the page's data are the lines, with every "<" and line separator of JavaScript escaped."""
        lines = make_fixture.lines("hostile")
        page = subprocess.run([page_case.FIXTURE_PROGRAM], input="\n".join(lines).encode(),
            capture_output=True, check=True).stdout.decode()
        start = page.index('id="attn-data">') + len('id="attn-data">')
        data = page[start:page.index("</script>", start)]
        for character in "<\u2028\u2029":
            self.assertNotIn(character, data)
        found = json.loads(data)
        self.assertEqual(beside_maps(found.pop("records")), beside_maps([json.loads(line) for line in lines]))
        self.assertEqual(found, {"format": "attn-demo.page", "version": 2})


if __name__ == "__main__":
    unittest.main()
