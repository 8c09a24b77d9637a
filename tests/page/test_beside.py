"""Tests the additional views of linformer, performer and lsh."""

from page_case import PageCase, f32


class Beside(PageCase):
    def is_shown(self, identity):
        return self.js("return document.getElementById(arguments[0]).checkVisibility()", identity)

    def approximation(self):
        return self.records()[0]["approximation"]["encoder_self"]

    def readout_at(self, name, q, k):
        """What is said of a cell of a picture."""
        self.js("""const canvas = document.querySelector(`#beside-maps canvas[data-name='${arguments[0]}']`);
            const box = canvas.getBoundingClientRect();
            canvas.dispatchEvent(new PointerEvent('pointermove', {bubbles: true,
                clientX: box.left + (arguments[2] + 0.5) * box.width / canvas.width,
                clientY: box.top + (arguments[1] + 0.5) * box.height / canvas.height}))""", name, q, k)
        return self.js("return document.getElementById('beside-readout').textContent")

    def size(self, name):
        size, pixels = self.pixels(f"#beside-maps canvas[data-name='{name}']")
        return size, [tuple(pixels[i:i + 3]) for i in range(0, len(pixels), 4)]


class Linformer(Beside):
    page = "linformer"

    def test_the_map_has_a_column_a_mixture(self):
        self.open("#kind=encoder_self&layer=1&head=2")
        weights = self.approximation()["weights"][1][2]
        self.assertEqual([[f32(float(x)) for x in row] for row in self.shown_map()],
            [[f32(x) for x in row] for row in weights])
        self.assertEqual(self.texts(".heat-colhead"), ["m0", "m1", "m2"])
        self.assertEqual(self.browser.text("#stage-says"), "Each source word looks at 3 mixtures of all words.")
        self.open("#kind=encoder_self&layer=1&head=2&unit=words")
        self.assertEqual(self.texts(".heat-colhead"), ["m0", "m1", "m2"])

    def test_e_and_f_stand_beside_it(self):
        self.open("#kind=encoder_self&layer=1&head=2")
        self.assertTrue(self.is_shown("to-beside"))
        self.assertEqual(self.browser.text("#beside-title"), "Mixtures")
        self.assertEqual(self.texts("#beside-maps figcaption"),
            ["weights of the mixtures", "E: into the mixture's key", "F: into its value"])
        found = self.approximation()
        for q in range(5):
            for k in range(3):
                numbers = [found["weights"][1][2][q][k], found["keys"][1][q][k], found["values"][1][q][k]]
                said = self.readout_at("keys", q, k)
                shown = [float(part.replace("\u2212", "-").split()[-1]) for part in said.split(": ", 1)[1].split(", ")]
                for number, one in zip(numbers, shown):
                    self.assertAlmostEqual(number, one, 5)
        size, colours = self.size("keys")
        self.assertEqual(size, [3, 5])
        # The color is warm where a negative weight is mixed in.
        for q in range(5):
            for k in range(3):
                number = found["keys"][1][q][k]
                if abs(number) > 0.1:
                    red, _, blue = colours[q * 3 + k]
                    self.assertEqual(red > blue, number < 0, (q, k, number))

    def test_a_mean_over_layers_has_no_e(self):
        self.open("#kind=encoder_self&mean=all")
        self.assertEqual(self.texts("#beside-maps figcaption"), ["weights of the mixtures"])
        self.open("#kind=cross")
        self.assertFalse(self.is_shown("beside"))


class Performer(Beside):
    page = "performer"

    def test_estimated_exact_and_difference(self):
        self.open("#kind=encoder_self&layer=0&head=1")
        estimated = self.records()[0]["encoder_self"][0][1]
        exact = self.approximation()["exact"][0][1]
        self.assertEqual(self.texts("#beside-maps figcaption"), ["estimated", "exact", "estimated \u2212 exact"])
        for q in range(5):
            for k in range(5):
                said = self.readout_at("exact", q, k)
                shown = [float(part.replace("\u2212 exact", "").replace("\u2212", "-").split()[-1])
                    for part in said.split(": ", 1)[1].split(", ")]
                for number, one in zip((estimated[q][k], exact[q][k], estimated[q][k] - exact[q][k]), shown):
                    self.assertAlmostEqual(number, one, 5)
        missed = sum(max(0, e - w) for row, of in zip(exact, estimated) for e, w in zip(row, of)) / 5
        self.assertIn(f"Of a row's weight {missed:.3f} lies elsewhere", self.browser.text("#beside-says"))
        self.assertTrue(self.browser.text("#stage-says").endswith("Random features estimate these weights."))

    def test_a_mean_of_heads_has_the_mean_of_the_exact_ones(self):
        self.open("#kind=encoder_self&layer=0&mean=layer")
        exact = self.approximation()["exact"][0]
        mean = sum(head[2][3] for head in exact) / 3
        said = self.readout_at("exact", 2, 3).split(", ")[-2]
        self.assertAlmostEqual(float(said.split()[-1]), mean, 5)

    def test_the_steps_say_that_there_is_no_softmax(self):
        self.open("#kind=encoder_self&layer=0&head=1&cell=1.2")
        self.assertIn("This head does no softmax", self.browser.text("[data-step='approximation']"))


class Lsh(Beside):
    page = "lsh"

    def test_tokens_stand_in_the_order_of_their_buckets(self):
        self.open("#kind=encoder_self&layer=0&head=0")
        rounds = self.js("""return [...document.querySelectorAll('.hash-round')].map(round =>
            [...round.querySelectorAll('.hash-strip > span')].map(item =>
                item.classList.contains('hash-end') ? '|' : `${item.dataset.token}:${item.dataset.bucket}`))""")
        self.assertEqual(rounds, [["0:0", "1:0", "|", "2:1", "3:1", "|", "4:3"],
            ["0:0", "1:0", "|", "4:0", "2:2", "|", "3:2"]])
        self.assertEqual(self.texts(".hash-bucket"), ["0", "1", "3", "0", "2"])

    def test_who_met_the_best_key(self):
        self.open("#kind=encoder_self&layer=0&head=0")
        share = self.approximation()["best_met"][0][0]
        self.assertIn(f"{round(share * 5)} of 5 rows found their best key", self.browser.text("#beside-says"))
        self.assertIn("tokens, 0.600 belong to keys that were compared", self.browser.text("#beside-says"))
        shown = self.shown_map()
        for q, best in enumerate(self.approximation()["best"][0][0]):
            met = shown[q][best] != "not computed"
            self.assertTrue(self.readout_at("met", q, best).endswith("its best key, met" if met else "its best key, not met"))
        self.assertEqual(len(self.texts("#beside-legend .legend-item")), 4)
        self.assertEqual(self.browser.text("#stage-says"), "Each source word looks at those with a similar hash.")

    def test_a_mean_has_no_buckets(self):
        self.open("#kind=encoder_self&mean=all")
        self.assertEqual(self.browser.text("#beside-says"), "Choose one head to see its buckets.")
        self.assertEqual(self.count(".hash-round"), 0)


class Nothing(Beside):
    def test_nothing_of_it_elsewhere(self):
        self.open("#kind=encoder_self&layer=0&head=0")
        for identity in ("beside", "to-beside"):
            self.assertFalse(self.is_shown(identity))
