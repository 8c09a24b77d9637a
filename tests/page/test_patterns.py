"""Tests the views of patterns: the computed cells, the reasons, and how far a token sees."""

from page_case import PageCase


def is_shown(case, identity):
    return case.js("return document.getElementById(arguments[0]).checkVisibility()", identity)


class Patterns(PageCase):
    page = "pattern"

    def test_a_cell_that_was_not_computed_is_neither_0_nor_masked(self):
        self.open("#kind=encoder_self&layer=0&head=0")
        weights = self.records()[0]["encoder_self"][0][0]
        shown = self.shown_map()
        for q, row in enumerate(shown):
            for k, text in enumerate(row):
                if q == 0 or k == 0 or abs(q - k) <= 1:
                    self.assertEqual(float(text), weights[q][k])
                else:
                    self.assertEqual(text, "not computed")
        self.assertTrue(is_shown(self, "legend-left-out"))
        self.assertFalse(is_shown(self, "legend-masked"))
        self.assertEqual(self.browser.text("#stage-says"), "Each source word looks at those of its pattern. The model's "
            "own global tokens take the rest of each row: its words sum to less than 1.")
        self.choose("kind", "decoder_self")
        self.assertFalse(is_shown(self, "legend-left-out"))
        self.assertTrue(is_shown(self, "legend-masked"))
        self.assertFalse(is_shown(self, "why"))
        self.assertFalse(is_shown(self, "field"))

    def test_means_and_words_keep_the_pattern(self):
        for address in ("#kind=encoder_self&mean=all", "#kind=encoder_self&unit=words"):
            self.open(address)
            self.assertEqual(self.shown_map()[4][2], "not computed")

    def test_reasons_have_colours_where_they_are_asked_for(self):
        self.open("#kind=encoder_self&layer=0&head=0&view=heat")
        before = self.pixels("#heat-canvas")
        self.assertFalse(is_shown(self, "legend-reasons"))
        self.choose("why", "reason")
        self.assertEqual(self.texts("#legend-reasons .legend-item"), ["window", "global"])
        self.assertNotEqual(self.pixels("#heat-canvas"), before)
        self.browser.hover(".heat-cell[data-row='2'][data-column='0']")
        self.wait_for("the reason", "return document.getElementById('readout').textContent.endsWith("
            "'global: one of the two looks at all and is looked at by all')")
        self.choose("why", "weight")
        self.assertEqual(self.pixels("#heat-canvas"), before)

    def test_each_reason_has_a_colour_of_its_own(self):
        reasons = ["window", "global", "random", "stride", "block"]
        self.open("#kind=encoder_self&layer=0&head=0&view=heat&why=reason", "reasons")
        self.assertEqual(self.texts("#legend-reasons .legend-item"), reasons)
        (width, height), pixels = self.pixels("#heat-canvas")
        row = 4 * width * (height * 3 // 10)  # through the middle of the second row
        cells = [tuple(pixels[row + 4 * (width * (2 * k + 1) // 10):][:3]) for k in range(5)]
        self.assertEqual(len(set(cells)), 5, cells)
        swatches = self.js("return [...document.querySelectorAll('#legend-reasons .legend-item *')]"
            ".map(e => getComputedStyle(e).backgroundColor).filter(c => c !== 'rgba(0, 0, 0, 0)')")
        self.assertEqual(len(set(swatches)), 5, swatches)
        for k, says in enumerate(("the key is near", "one of the two looks at all", "drawn by lot", "a stride away",
                                  "the same block")):
            self.browser.hover(f".heat-cell[data-row='1'][data-column='{k}']")
            self.wait_for(says, "return document.getElementById('readout').textContent.includes(arguments[0])",
                f"{reasons[k]}: {says}")

    def test_a_row_says_what_the_models_own_global_tokens_took(self):
        self.open("#kind=encoder_self&layer=0&head=0&lock=row.2")
        self.assertTrue(self.browser.text("#readout").endswith("the model's own global tokens 0.250"))

    def test_the_steps_of_a_cell_that_was_not_computed(self):
        self.open("#kind=encoder_self&layer=0&head=0&cell=4.2")
        self.assertIn("The pattern leaves this word out", self.browser.text("#steps-content"))

    def step(self, name):
        return float(self.texts(f"[data-step='{name}']")[0].replace("\u2212", "-"))

    def test_the_steps_count_what_the_pattern_adds_and_what_own_global_tokens_take(self):
        for cell in ("2.0", "2.1", "4.3"):
            self.open(f"#kind=encoder_self&layer=1&head=0&cell={cell}")
            self.assertAlmostEqual(self.step("weight"), self.step("recorded"), delta=2e-6)
            self.assertEqual(self.count("[data-step='other']"), 0)
            self.assertIn("0.25", self.texts("[data-step='own']")[0])
            self.assertEqual("counts 2 times" in self.browser.text("#steps-content"), cell == "2.0")
        self.assertIn("own global tokens add their values with a weight of 0.25", self.browser.text("#steps-content"))

    def test_a_global_token_with_projections_of_its_own_says_so(self):
        self.open("#kind=encoder_self&layer=0&head=0&cell=0.2")
        self.assertIn("come from projections of its own, which no record holds", self.browser.text("#steps-missing"))
        self.assertEqual(self.count("[data-step='dot']"), 0)

    def test_weights_that_are_no_softmax_of_the_scores_are_named(self):
        self.open("#kind=encoder_self&layer=1&head=1&cell=3.2")
        self.assertIn("The recorded weights are others", self.texts("[data-step='other']")[0])

    def test_how_far_a_token_sees(self):
        self.open("#kind=encoder_self&layer=0&head=0")
        self.assertTrue(is_shown(self, "field"))
        self.assertEqual(self.browser.text("#field-says"),
            "Of 5 tokens a token has seen 3 to 5 after the first layer, 5 after 2.")
        self.assertEqual(self.texts("#field-legend .legend-item"), ["after the first layer", "after 2"])
        size, _ = self.pixels("#field-canvas")
        self.assertEqual(size, [5, 5])
        self.browser.hover("#field-canvas")
        self.wait_for("what the middle says", "return document.getElementById('field-readout').textContent ==="
            " 'went (2) has seen went (2) after 1 layer'")

    def test_nothing_of_it_without_a_pattern(self):
        self.open("#kind=encoder_self&layer=0&head=0", "main")
        for identity in ("legend-left-out", "why", "legend-reasons", "field", "to-field"):
            self.assertFalse(is_shown(self, identity), identity)


class LargePatterns(PageCase):
    page = "large_pattern"

    def test_a_map_that_is_too_large_says_so_and_the_others_are_there(self):
        self.open("#kind=encoder_self")
        self.assertEqual(self.browser.text("#stage-empty"), "A map of 1025 tokens is too large for this page; the record "
            "holds what was computed (seen.encoder_self.weights).")
        self.choose("kind", "decoder_self")
        self.assertEqual(len(self.shown_map()), 2)
