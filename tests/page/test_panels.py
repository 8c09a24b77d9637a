"""The next word, the way of a token, and the curve of a training run: numbers that Python takes from the record."""

import base64
import json
import math
import struct
import unittest

import make_fixture
from page_case import PageCase, f32, write_page


def number(text):
    return float(text.replace("\u2212", "-").replace(",", ""))


def vector(step, row):
    """One token's vector at a stage of the way."""
    raw = base64.b64decode(step["values"])
    flat = struct.unpack(f"<{len(raw) // 4}f", raw)
    return list(flat[row * step["columns"]:(row + 1) * step["columns"]])


class NextWord(PageCase):
    def hypothesis(self, index=0):
        return self.records()[0]["hypotheses"][index]

    def rows(self):
        return self.js("""return [...document.querySelectorAll('.next-table tbody tr[data-piece]')].map(row => ({
            label: row.querySelector('th bdi').textContent, written: row.querySelector('.written') !== null,
            rank: row.cells[0].textContent, probability: Number(row.querySelector('[data-probability]').dataset.probability),
            log: row.querySelector('[data-log-prob]').dataset.logProb}))""")

    def test_every_step_shows_its_ten_best_pieces_and_which_was_written(self):
        self.open()
        hypothesis = self.hypothesis()
        others = hypothesis["alternatives"]
        self.assertEqual(self.count(".next-chip"), len(hypothesis["tokens"]))
        for t, token in enumerate(hypothesis["tokens"]):
            self.browser.click(f"#next-step-{t}")
            rows = self.rows()
            written = [row for row in rows if row["written"]]
            self.assertEqual([row["label"] for row in written], [token.lstrip("\u2581")])
            self.assertEqual(written[0]["rank"], str(others["ranks"][t] + 1))
            self.assertEqual(number(written[0]["log"]), hypothesis["log_probs"][t])
            for row, piece, log_prob in zip(rows, others["tokens"][t], others["log_probs"][t]):
                goes_on = not piece.startswith(("\u2581", "<"))
                self.assertEqual(row["label"], ("\u203f" if goes_on else "") + piece.lstrip("\u2581"))
                self.assertEqual(number(row["log"]), log_prob)
                self.assertAlmostEqual(row["probability"], math.exp(log_prob), delta=1e-12)
            rest = self.js("return Number(document.querySelector('[data-rest]').dataset.rest)")
            self.assertAlmostEqual(rest, max(0, 1 - sum(map(math.exp, others["log_probs"][t]))), delta=1e-9)
            self.assertEqual(self.browser.attribute(f"#next-step-{t}", "aria-selected"), "true")
            self.assertEqual(self.count(".next-chip[aria-selected='true']"), 1)

    def test_why_it_is_not_the_first(self):
        self.open("#step=0")
        self.assertTrue(self.browser.text("#next-reason").startswith("Written: Die, the likeliest piece. It is 4.5 times as likely as "))
        self.browser.click("#next-step-3")
        says = self.browser.text("#next-reason")
        self.assertTrue(says.startswith("Written: nach, second of 99. It is not the likeliest: it costs 0.250 of log-probability against"), says)
        self.assertIn("A search with 4 beams", says)
        self.assertIn("The search did not look at it", says)
        # The third translation chooses another token where the first one continues.
        self.open("#step=3", name="given")
        self.assertIn("this translation was given (--target), not searched for", self.browser.text("#next-reason"))
        self.open("#step=3", name="parts")
        self.assertIn("2 models chose together", self.browser.text("#next-reason"))
        self.open("#sentence=1&hypothesis=1&step=3", name="changed")
        self.assertIn("found before the change", self.browser.text("#next-reason"))

    def test_what_is_written_so_far_stands_before_the_next_word(self):
        self.open()  # not on the start symbol
        self.assertEqual(self.texts(".so-far"), ["so far Die ?"])
        self.browser.click("#next-step-0")
        self.assertEqual(self.texts(".so-far"), ["the first word ?"])
        self.wait_equal(True, "return location.hash.includes('step=0')")

    def test_the_walk_begins_at_the_beginning(self):
        self.open("#step=2&stop=7")
        self.browser.click("#next-way")
        self.assertEqual(self.browser.attribute("#stop-0", "aria-expanded"), "true")
        self.assertEqual(self.browser.text("#way-says"), "Step 2 reads Gruppe and becomes the next word, ging.")
        seen = self.js("const b = document.getElementById('stop-0').getBoundingClientRect(); return b.top >= 0 && b.bottom <= innerHeight")
        self.assertTrue(seen)

    def test_a_piece_far_below_stands_after_a_gap(self):
        self.open("#hypothesis=1&step=6")
        rows = self.rows()
        self.assertEqual(len(rows), 11)
        self.assertEqual([row["written"] for row in rows], [False] * 10 + [True])
        self.assertEqual(rows[10]["rank"], "41")
        self.assertEqual(self.count(".next-table .gap"), 1)
        self.assertIn("number 41 of 99", self.browser.text("#next-reason"))

    def test_keys_the_address_and_a_locked_row_choose_the_step(self):
        self.open("#kind=cross&layer=0&head=0&step=1")
        self.browser.click("#next-step-1")
        self.browser.press("Right", "End", "Left")
        self.assertEqual(self.browser.focused()["id"] if "id" in self.browser.focused() else self.js("return document.activeElement.id"), "next-step-4")
        self.wait_equal(True, "return location.hash.includes('step=4')")
        self.browser.click(".word-row[data-index='2']")
        self.assertEqual(self.browser.attribute("#next-step-2", "aria-selected"), "true")
        self.browser.click("#next-step-0")
        self.assertEqual(self.browser.attribute("#next-step-0", "aria-selected"), "true")
        self.browser.click("#next-look")
        self.assertEqual(self.browser.attribute(".word-row[data-index='0']", "aria-pressed"), "true")

    def test_without_them_it_says_so(self):
        self.open(name="bare")
        self.assertIn("does not hold the other pieces", self.browser.text("#next-missing"))
        self.assertIn("does not hold the vectors between the layers", self.browser.text("#way-missing"))
        self.open("#branch=1")
        self.assertIn("Of a branch", self.browser.text("#next-missing"))
        self.assertIn("A branch of the search", self.browser.text("#way-missing"))
        self.open(name="empty")
        self.assertTrue(self.js("return document.getElementById('next').hidden"))
        self.assertEqual(self.texts(".way-choice > .quiet"), ["source"])
        record = json.loads(make_fixture.lines("bare")[0])
        record["model"]["update"] = 10
        self.open_path(write_page("unrecorded", [json.dumps(record)]), "#kind=cross&cell=1.1")
        self.assertEqual(self.browser.text("#way-missing"), "This file does not hold the vectors between the layers: "
            "a training run does not record them; translate with its model, and --html, shows them.")
        self.assertNotIn("--vectors", self.browser.text("#steps-missing"))


class Way(PageCase):
    def stations(self):
        return self.texts(".stop-name")

    def check_station(self, i, step, row):
        values = vector(step, row)
        self.browser.click(f"#stop-{i}")
        facts = self.js("return [...document.querySelectorAll('.way-facts li')].map(item => [...item.querySelectorAll('.number')].map(n => n.textContent))")
        length, mean, least, most = [number(fact[0]) for fact in facts[1:]]
        self.assertEqual(number(facts[0][0]), len(values))
        self.assertAlmostEqual(length, math.sqrt(sum(x * x for x in values)), delta=6e-4)
        self.assertAlmostEqual(mean, sum(values) / len(values), delta=6e-4)
        self.assertAlmostEqual(least, min(values), delta=6e-4)
        self.assertAlmostEqual(most, max(values), delta=6e-4)
        self.js("document.getElementById('big-strip').focus()")
        for keys, column in ((("Home",), 0), (("Right", "Right"), 2), (("End",), len(values) - 1)):
            self.browser.press(*keys)
            self.assertEqual(self.browser.attribute("[data-cell]", "data-cell"), str(column))
            self.assertEqual(f32(number(self.browser.text("[data-cell]"))), values[column])
        return self.browser.text("#cell-says")

    def test_every_station_of_a_step_has_the_records_own_numbers(self):
        self.open("#step=2")
        hypothesis = self.records()[0]["hypotheses"][0]
        self.assertEqual(self.browser.text("#way-says"), "Step 2 reads Gruppe and becomes the next word, ging.")
        self.assertEqual(len(self.stations()), len(hypothesis["way"]) + 1)
        self.assertEqual(self.stations()[:6], ["the word\u2019s row of the table", "its place in the sentence", "embedding",
            "masked self-attention adds", "sum", "norm"])
        for i, step in enumerate(hypothesis["way"]):
            says = self.check_station(i, step, 2)
            if step["stage"] in ("sum", "embedded"):
                parts = says.replace("\u2212", "-").split(": ")[1].replace(" = ", " + ").split(" + ")
                total, stream, added = map(float, parts)
                self.assertEqual(f32(total), f32(f32(stream) + f32(added)))

    def test_it_opens_on_a_word_and_explains_a_row_of_zeros(self):
        record = json.loads(make_fixture.lines("main")[0])
        table = record["hypotheses"][0]["way"][0]
        raw = base64.b64decode(table["values"])
        table["values"] = base64.b64encode(bytes(4 * table["columns"]) + raw[4 * table["columns"]:]).decode()
        self.open_path(write_page("zeros", [json.dumps(record)]))
        self.assertEqual(self.browser.text("#way-says"), "Step 1 reads Die and becomes the next word, Gruppe.")
        zeros = "All its numbers are 0: it says nothing but where the sentence begins."
        self.assertNotIn(zeros, self.browser.text("#stop-detail"))
        self.browser.click("#next-step-0")
        self.assertIn(zeros, self.browser.text("#stop-detail"))

    def test_a_source_word_and_back(self):
        self.open()
        record = self.records()[0]
        self.browser.click(".way-chip[data-side='source'][data-index='1']")
        self.assertIn("The source word group becomes", self.browser.text("#way-says"))
        self.assertEqual(len(self.stations()), len(record["way"]))
        self.check_station(4, record["way"][4], 1)
        self.js("document.querySelector('.way-chip[aria-checked=\"true\"]').focus()")
        self.browser.press("Right")
        self.assertIn("The source word went", self.browser.text("#way-says"))
        self.wait_equal(True, "return location.hash.includes('token=2')")
        self.browser.click("#next-step-5")
        self.assertIn("Step 5", self.browser.text("#way-says"))

    def test_walking_with_buttons_and_keys(self):
        self.open()
        self.assertEqual(self.js("return document.getElementById('way-back').disabled"), True)
        self.browser.click("#way-on")
        self.assertEqual(self.browser.attribute("#stop-1", "aria-expanded"), "true")
        self.assertEqual(self.count(".stop-detail"), 1)
        self.browser.press("Down", "Down", "Up", "End")
        last = len(self.records()[0]["hypotheses"][0]["way"])
        self.assertEqual(self.js("return document.activeElement.id"), f"stop-{last}")
        others = self.records()[0]["hypotheses"][0]["alternatives"]
        titles = self.js("return [...document.querySelectorAll('.logits-table tbody tr')].map(row => [...row.cells].map(cell => cell.title))")
        self.assertEqual([number(row[1]) for row in titles], others["logits"][1])
        self.assertEqual([number(row[2]) for row in titles], others["log_probs"][1])
        self.assertEqual(self.js("return document.getElementById('way-on').disabled"), True)

    def test_heads_of_a_block_lead_to_the_step_by_step(self):
        self.open("#kind=encoder_self&layer=0&head=0&step=2&stop=6")
        self.assertEqual(self.texts("#way-place .strong"), ["cross-attention adds"])
        row = self.records()[0]["hypotheses"][0]["cross"][0][1][2]
        source = [token.lstrip("\u2581") for token in self.records()[0]["source"]["tokens"]]
        best = max(range(len(row)), key=lambda j: row[j])
        self.assertEqual(self.texts(".way-heads li:nth-child(2) bdi")[0], source[best])
        self.browser.click(".way-heads li:nth-child(2) .text-button")
        self.assertEqual(self.title(), "cross-attention \u00b7 layer 0 \u00b7 head 1")
        self.wait_for("the steps", "return document.querySelectorAll('.step').length === 5")
        self.assertEqual(number(self.texts("[data-step='recorded']")[0]), row[best])

    def test_a_strip_is_painted_with_its_signs(self):
        self.open("#step=1&stop=0")
        values = vector(self.records()[0]["hypotheses"][0]["way"][0], 1)
        (width, _), pixels = self.pixels("#stop-0 canvas")
        self.assertEqual(width, len(values))
        for i, value in enumerate(values):
            red, _, blue = pixels[4 * i:4 * i + 3]
            if abs(value) > 0.3:
                self.assertEqual(blue > red, value > 0, f"column {i}")


class Film(PageCase):
    page = "film"

    def figure(self, name):
        return self.browser.text(f"[data-figure='is-{name}']")

    def test_the_figures_and_the_cursor_follow_the_moment(self):
        self.open()
        self.assertEqual(self.count("#training-curve svg"), 1)
        curve = self.records()[0]
        x = lambda: self.js("return Number(document.getElementById('curve-cursor').getAttribute('x1'))")
        places = []
        for moment, point in enumerate(curve["validations"]):
            self.js("const s = document.getElementById('training-slider'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))", str(moment))
            self.assertEqual(number(self.figure("dev")), round(point[1], 3))
            self.assertEqual(number(self.figure("bleu")), round(point[2], 1))
            self.assertEqual(self.figure("chrf"), "\u2013" if point[3] is None else f"{point[3]:.1f}")
            loss = [value for update, value in curve["train"] if update == point[0]]
            self.assertEqual(self.figure("train"), f"{loss[0]:.3f}" if loss else "\u2013")
            self.assertIn("\u2605 kept as the best" if point[0] == 1000 else "\u2605 update 1,000 was kept as the best",
                self.browser.text("#training-figures"))
            places.append(x())
        steps = [b - a for a, b in zip(places, places[1:])]
        for step in steps:
            self.assertAlmostEqual(step, steps[0], delta=0.01)  # every moment has the same width
        self.assertGreater(steps[0], 100)
        self.assertAlmostEqual(self.js("return Number(document.querySelector('.curve-star').getAttribute('x'))"), places[3], delta=0.01)
        self.assertEqual(self.browser.text("#training-text"), "writes Die Gruppe ging nach Hause")
        self.assertIn("every recorded update has the same width", self.browser.text("#training-figures"))

    def test_a_given_translation_is_not_written_and_every_moment_with_room_is_named(self):
        updates = [*range(22), 250, 500, 750, 1000, 1250, 1500]
        maker = make_fixture.Maker(layers=1, heads=1, head_dim=2)
        plain = make_fixture.without_options(maker.record(make_fixture.pieces("The group"), [make_fixture.pieces("Die Gruppe")]))
        plain["decoding"] = {"given": True}
        records = [{**plain, "model": {**plain["model"], "update": update}} for update in updates]
        curve = {"first": 0, "end": len(updates), "train": [], "validations": [[u, 1.5, 50.0, 50.0] for u in updates], "best": 0}
        self.browser.resize(1400, 1000)
        self.open_path(write_page("probe", [json.dumps(line) for line in [curve] + records]))
        self.assertEqual(self.browser.text("#training-text"), "reads the given translation Die Gruppe")
        self.assertIn("Die Gruppe given, not searched for", self.texts("#hypotheses .hypothesis-text")[0])
        named = self.js("return [...document.querySelectorAll('text.curve-tick[text-anchor=middle]')].map(text => text.textContent)")
        self.assertEqual(named[-5:], ["500", "750", "1,000", "1,250", "1,500"])

    def test_a_click_on_the_curve_jumps_to_the_nearest_moment(self):
        self.open()
        for moment in (0, 3, 2):
            self.js("""const box = document.getElementById('training-curve').getBoundingClientRect();
                const lines = [...document.querySelectorAll('.curve-moment')];
                const at = {clientX: box.left + Number(lines[arguments[0]].getAttribute('x1')) + 20, clientY: box.top + 50, bubbles: true, pointerId: 1};
                const host = document.getElementById('training-curve');
                host.setPointerCapture = () => {};
                host.dispatchEvent(new PointerEvent('pointerdown', at));
                host.dispatchEvent(new PointerEvent('pointerup', at));""", moment)
            self.assertIn(f"{moment + 1} of 5", self.browser.text("#training-says"))

    def test_the_key_p_plays_and_pauses_and_the_speed_counts(self):
        self.open("#moment=0")
        self.js("const s = document.getElementById('training-speed'); s.value = '4'; s.dispatchEvent(new Event('change'))")
        self.browser.press("p")
        self.assertEqual(self.browser.attribute("#training-play", "aria-label"), "pause")
        self.wait_for("the film", "return document.getElementById('training-says').textContent.includes('5 of 5')")
        self.wait_equal("play the training", "return document.getElementById('training-play').getAttribute('aria-label')")
        self.browser.press("p", "p")
        self.assertEqual(self.browser.attribute("#training-play", "aria-label"), "play the training")
        self.assertIn("1 of 5", self.browser.text("#training-says"))

    def test_moments_without_a_curve_have_the_slider_alone(self):
        self.open(name="training")
        self.assertTrue(self.js("return document.getElementById('training-curve').hidden"))
        self.assertFalse(self.js("return document.getElementById('training').hidden"))


if __name__ == "__main__":
    unittest.main()
