"""Clicks every control of the page and tests its effect; an unknown control is an error."""

from page_case import PageCase

# The controls that are clicked in this file, or in the files named.
KNOWN = (
    ".skip", ".jumps a", "#theme", "#help", "#sentence-picker", "#hypotheses input", "#branch-chip-close", "#fold",
    "#kind input", "#layer input", "#head input", "#mean input", "#unit input", "#view input", "#digits input",
    "#shade input", "#why input", "#least", ".thumb", ".thumb-switch", "#all-on", ".overlay-head", ".word", ".heat-cell",
    "#steps-close", "[data-more]", ".part", ".next-chip", "#next-look", "#next-way", ".way-chip", "#way-back", "#way-on",
    ".stop", "#big-strip", ".way-heads button", "#tree-fold", "#tree-dropped", ".node", "#branch-close", "#over input",
    ".sort", "#report-content th .text-button", ".compare-head", "#keys-close", "#keys-on", "#training-play", "#training-speed",
    "#training-slider", "#training-curve", ".scroll[role='region']", "#reading summary", "#to-contribution", ".why-fold", "#to-reading", "#stage, #steps, #next, #way, #field, #tree, #report",
)


class Controls(PageCase):
    def unknown(self):
        """Controls that are seen and that no selector above knows."""
        return self.js("""const known = arguments[0].join(', ');
            return [...document.querySelectorAll('button, a[href], input, select, textarea, summary, [tabindex], [role=tab], [role=button]')]
                .filter(e => e.checkVisibility() && !e.closest('.live') && !e.matches(known))
                .map(e => e.outerHTML.slice(0, 120))""", list(KNOWN))

    def chosen(self, switch):
        return self.js("return document.querySelector(arguments[0]).value", f"#{switch} input:checked")

    def is_shown(self, selector):
        return self.js("return document.querySelector(arguments[0]).checkVisibility()", selector)

    def in_sight(self, selector):
        return self.js("""const box = document.querySelector(arguments[0]).getBoundingClientRect();
            return box.top < innerHeight && box.bottom > 0""", selector)

    def test_none_is_unknown(self):
        for name, address in (("main", "#kind=cross&layer=1&head=1&cell=1.1&step=2&stop=6"), ("main", "#kind=cross&mean=overlay&branch=2"),
            ("main", "#kind=cross&mean=layer&unit=words&cell=1.1"), ("changed", ""), ("film", ""), ("pattern", "#kind=encoder_self"),
            ("bare", "")):
            self.open(address, name)
            if self.is_shown("#tree-fold"):
                self.browser.click("#tree-fold")
            self.assertEqual(self.unknown(), [], name + address)

    def test_the_links_above_lead_to_their_parts(self):
        self.open("#kind=cross&layer=1")
        for part in ("report", "tree", "way", "next", "steps", "stage"):
            self.js("scrollTo(0, 0)")
            self.browser.click(f".jumps a[href='#{part}']")
            self.wait_for(part, "const box = document.getElementById(arguments[0]).getBoundingClientRect();"
                "return box.top < innerHeight && box.bottom > 0", part)
            self.assertEqual(self.js("return document.activeElement.id"), part)
            self.assertIn("layer=1", self.js("return location.hash"))
        self.assertGreater(self.count(".node"), 0)  # the link opens the search
        self.open("#kind=encoder_self", "pattern")
        self.browser.click("#to-field")
        self.wait_for("the field", "return document.activeElement.id === 'field'")

    def test_the_theme_and_the_list_of_keys(self):
        self.open("#theme=light")
        self.assertEqual(self.browser.text("#theme"), "Dark")
        self.browser.click("#theme")
        self.assertEqual((self.browser.attribute("html", "data-theme"), self.browser.text("#theme")), ("dark", "Light"))
        self.browser.click("#theme")
        self.assertEqual(self.browser.attribute("html", "data-theme"), "light")
        self.browser.click("#help")
        self.assertTrue(self.js("return document.getElementById('keys').open"))
        self.browser.click("#keys-close")
        self.assertFalse(self.js("return document.getElementById('keys').open"))

    def test_numbers_in_the_cells(self):
        self.open("#kind=cross&layer=1&head=1&view=heat")
        two = self.pixels("#heat-canvas")
        self.choose("digits", "none")
        none = self.pixels("#heat-canvas")
        self.assertNotEqual(none, two)
        self.choose("digits", "two")
        self.assertEqual(self.pixels("#heat-canvas"), two)
        self.choose("digits", "exact")
        self.wait_for("the address", "return location.hash.includes('digits=exact')")
        self.assertGreater(self.pixels("#heat-canvas")[0][0], two[0][0])  # nine digits need wider cells

    def test_the_shade_follows_the_weight_or_its_root(self):
        self.open("#kind=cross&layer=1&head=1&digits=none")
        linear = self.pixels("#heat-canvas")
        self.choose("shade", "root")
        root = self.pixels("#heat-canvas")
        self.assertNotEqual(root, linear)
        # Small weights are nearer to the background, and no cell is darker than with the square root.
        for i in range(0, len(root[1]), 4):
            self.assertGreaterEqual(sum(linear[1][i:i + 3]), sum(root[1][i:i + 3]))
        self.choose("shade", "linear")
        self.assertEqual(self.pixels("#heat-canvas"), linear)

    def test_a_branch_is_left_by_its_chip(self):
        self.open("#kind=cross&layer=1&head=1&branch=2")
        self.assertTrue(self.is_shown("#branch-chip"))
        self.browser.click("#branch-chip-close")
        self.assertFalse(self.is_shown("#branch-chip"))
        self.assert_map(self.records()[0]["hypotheses"][0]["cross"][1][1])

    def test_a_long_row_is_cut_in_the_middle_until_it_is_asked_for(self):
        self.open("#kind=cross&layer=0&head=0&cell=1.1", "big")
        words = len(self.records("big")[0]["source"]["tokens"])
        rows = "return document.querySelectorAll('.row-table tbody tr').length"
        few = self.js(rows)
        self.assertLess(few, words)
        self.assertEqual(self.browser.text("[data-more='row']"), f"show all {words} words")
        self.browser.click("[data-more='row']")
        self.assertEqual(self.js(rows), words)
        self.assertEqual(self.browser.focused()["data"].get("more"), "row")
        self.browser.click("[data-more='row']")
        self.assertEqual(self.js(rows), few)

    def test_merged_pieces_are_shown_apart(self):
        self.open("#sentence=1&unit=words&kind=cross&layer=0&head=0&cell=1.2")
        self.browser.click("#steps-content .text-button:not([data-more])")
        self.assertEqual(self.chosen("unit"), "tokens")
        self.wait_for("the cell of the first pieces", "return /cell=1\\.4(&|$)/.test(location.hash)")

    def test_from_the_next_word_to_its_way(self):
        self.open("#step=2&token=1&stop=5")
        self.assertIn("source word", self.browser.text("#way-says"))
        self.browser.click("#next-way")
        self.wait_for("the way", "const box = document.getElementById('way').getBoundingClientRect();"
            "return box.top < innerHeight && box.bottom > 0")
        self.assertIn("Step 2 reads", self.browser.text("#way-says"))
        self.assertEqual(self.browser.attribute("#stop-0", "aria-expanded"), "true")

    def test_a_moved_head_is_put_on_the_stage(self):
        self.open("", "changed")
        buttons = self.js("return [...document.querySelectorAll('.compare-head')].map(b => b.dataset.head)")
        self.assertGreater(len(buttons), 1)
        for name in (buttons[-1], buttons[0]):
            self.browser.click(f".compare-head[data-head='{name}']")
            kind, layer, head = name.split(".")
            self.assertTrue(self.title().endswith(f"layer {layer} · head {head}"), self.title())
            self.assertEqual(self.chosen("kind"), kind)
            self.assertEqual(self.browser.attribute(f".compare-head[data-head='{name}']", "aria-pressed"), "true")

    def test_a_click_on_the_field_says_who_sees_whom(self):
        self.open("#kind=encoder_self", "pattern")
        self.js("""const canvas = document.getElementById('field-canvas'), box = canvas.getBoundingClientRect();
            canvas.dispatchEvent(new MouseEvent('click', {clientX: box.left + 1, clientY: box.bottom - 1}))""")
        self.assertRegex(self.browser.text("#field-readout"), r" \(4\) has seen .* \(0\) after the first layer|"
            r" \(4\) has seen .* \(0\) after 1 layer")


class NarrowControls(PageCase):
    width, height = 400, 800

    def test_choices_unfold_and_fold(self):
        self.open()
        self.assertFalse(self.js("return document.getElementById('switches').checkVisibility()"))
        self.browser.click("#fold")
        self.assertTrue(self.js("return document.getElementById('switches').checkVisibility()"))
        self.browser.click("#kind input[value='encoder_self']")
        self.assertIn("encoder self-attention", self.title())
        self.browser.click("#fold")
        self.assertFalse(self.js("return document.getElementById('switches').checkVisibility()"))
