"""Other numbers in the place of weights: lengths, and contributions to the word."""

from page_case import PageCase


def number(text):
    return float(text.replace("\u2212", "-"))


class Measures(PageCase):
    page = "measures"

    def maps(self, kind, measure):
        return self.records()[0]["hypotheses"][0]["why"]["maps"][kind][measure]

    def assert_shows(self, rows, causal=False, tolerance=6e-6):
        shown = self.shown_map()
        self.assertEqual([len(row) for row in shown], [len(row) for row in rows])
        for q, row in enumerate(rows):
            for k, expected in enumerate(row):
                if causal and k > q:
                    self.assertEqual(shown[q][k], "masked")
                else:
                    self.assertAlmostEqual(number(shown[q][k]), expected, delta=tolerance * max(1, abs(expected)))

    def choices(self):
        return self.js("return [...document.querySelectorAll('#measure input')].map(e => [e.value, e.checked, e.disabled])")

    def test_each_map_shows_the_measure_that_is_chosen(self):
        self.open("#kind=cross&layer=1&head=2")
        weights = self.shown_map()
        self.assertEqual(self.choices(), [["weight", True, False], ["value", False, False], ["contribution", False, False]])
        self.choose("measure", "value")
        self.assert_shows(self.maps("cross", "value")[1][2])
        self.assertEqual(self.title(), "cross-attention, value-weighted · layer 1 · head 2")
        self.assertEqual(self.browser.text("#stage-name"), "cross:1:2@value")
        self.choose("measure", "contribution")
        self.assert_shows(self.maps("cross", "contribution")[1][2])
        self.assertEqual(self.title(), "cross-attention, contribution to the word · layer 1 · head 2")
        self.choose("kind", "decoder_self")
        self.assert_shows(self.maps("decoder_self", "contribution")[1][2], causal=True)
        self.choose("kind", "cross")
        self.choose("measure", "weight")
        self.assertEqual(self.shown_map(), weights)

    def test_the_map_says_that_a_weight_is_no_contribution_and_leads_to_it(self):
        self.open("#kind=cross&layer=1&head=2")
        self.assertIn("not how much that word counts", self.browser.text("#stage-weight"))
        self.browser.click("#to-reading")
        self.assertEqual(self.browser.focused()["tag"].lower(), "summary")
        self.browser.click("#to-contribution")
        self.assert_shows(self.maps("cross", "contribution")[1][2])
        self.assertFalse(self.js("return document.getElementById('stage-weight').checkVisibility()"))
        self.open("#kind=encoder_self")
        self.assertEqual(self.js("return ['stage-weight', 'to-contribution'].map(id => document.getElementById(id).checkVisibility())"), [True, False])

    def test_the_encoder_has_lengths_alone(self):
        self.open("#kind=encoder_self&layer=0&head=1&measure=value")
        self.assert_shows(self.maps("encoder_self", "value")[0][1])
        self.assertEqual(self.choices()[2], ["contribution", False, True])
        self.assertEqual(self.js("return document.querySelector('#measure .segment:last-child').title"), "the encoder writes no words")
        # A choice that this kind lacks shows weights, and comes back with the next kind.
        self.open("#kind=encoder_self&layer=0&head=1&measure=contribution")
        self.assert_map(self.records()[0]["encoder_self"][0][1])
        self.choose("kind", "cross")
        self.assert_shows(self.maps("cross", "contribution")[0][1])

    def test_means_and_words(self):
        self.open("#kind=cross&layer=0&mean=layer&measure=value")
        heads = self.maps("cross", "value")[0]
        self.assert_shows([[sum(head[q][k] for head in heads) / 3 for k in range(len(heads[0][0]))] for q in range(len(heads[0]))])
        # A word's lengths are averaged over its tokens, and its contributions added: "Grup|pe" are the steps 1 and 2.
        for measure, divide in (("value", 2), ("contribution", 1)):
            self.open(f"#kind=cross&layer=1&head=0&unit=words&measure={measure}")
            rows = self.maps("cross", measure)[1][0]
            self.assert_shows([rows[0], [(a + b) / divide for a, b in zip(rows[1], rows[2])], *rows[3:]])

    def test_the_shade_is_the_share_of_the_largest_number(self):
        self.open("#kind=cross&layer=1&head=0&view=heat&digits=none&measure=contribution")
        everything = [[x for head in layer for row in head for x in row] for layer in self.maps("cross", "contribution")]
        top = max(abs(x) for layer in everything for x in layer)
        ticks = [number(text) for text in self.texts("#legend-ticks .tick")]
        self.assertEqual([round(tick / top, 1) for tick in ticks], [-1, 0, 1])
        rows = self.maps("cross", "contribution")[1][0]
        (width, height), pixels = self.pixels("#heat-canvas")
        cells = [(x, pixels[4 * (width * int((q + 0.5) * height / len(rows)) + int((k + 0.5) * width / len(row))):][:3])
            for q, row in enumerate(rows) for k, x in enumerate(row)]
        for x, (red, _, blue) in cells:  # blue for what helped, orange for what did not
            if abs(x) > top / 8:
                self.assertGreater((blue - red) * x, 0, (x, red, blue))
        light = [sum(colour) for _, colour in sorted(cells, key=lambda cell: abs(cell[0]))]
        self.assertGreater(light[0], light[-1])

    def test_lines_and_the_sentence_below(self):
        self.open("#kind=cross&layer=1&head=0&view=lines&least=0&measure=contribution&lock=row.1")
        rows = self.maps("cross", "contribution")[1][0]
        best = max(range(len(rows[1])), key=lambda k: rows[1][k])
        self.assertIn("gets most of its logit from " + ["The", "group", "went", "home", "</s>"][best], self.browser.text("#readout"))
        strokes = self.js("return [...document.querySelectorAll('#line-picture path.line')].map(e => e.style.stroke !== '')")
        self.assertGreater(strokes.count(True), 0)
        self.assertGreater(strokes.count(False), 0)

    def test_the_steps_of_a_cell_are_those_of_its_weight(self):
        self.open("#kind=cross&layer=1&mean=layer&measure=value&cell=1.2")
        heads = self.records()[0]["hypotheses"][0]["cross"][1]
        shown = number(self.texts("[data-step='mean']")[0])
        self.assertAlmostEqual(shown, sum(head[1][2] for head in heads) / 3, delta=5e-6)

    def test_records_without_such_maps_have_no_choice(self):
        self.open("#sentence=1&kind=cross&layer=1&head=2&measure=value")
        self.assertFalse(self.js("return document.getElementById('measure').checkVisibility()"))
        self.assert_map(self.records()[1]["hypotheses"][0]["cross"][1][2])
        self.assertNotIn("value", self.title())
