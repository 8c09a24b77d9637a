"""Tests several heads in colours, the threshold of lines, an experiment with its state before, and which
parts fit a screen."""

import json
import math
import unittest

import make_fixture
from page_case import PageCase, mean, write_page


class Colours(PageCase):
    def lines(self):
        """{head: {(row, column)}} of the lines on the page."""
        drawn = self.js("""return [...document.querySelectorAll('#line-picture .line')].map(line =>
            [line.dataset.head, Number(line.parentNode.dataset.row), Number(line.dataset.column)])""")
        found = {}
        for head, q, k in drawn:
            found.setdefault(head, set()).add((q, k))
        return found

    def heavy(self, head, least):
        rows = self.records()[0]["hypotheses"][0]["cross"][1][head]
        return {(q, k) for q, row in enumerate(rows) for k, weight in enumerate(row) if weight >= least}

    def test_every_head_of_the_layer_has_a_colour(self):
        self.open("#kind=cross&layer=1")
        self.choose("mean", "overlay")
        self.assertEqual(self.lines(), {str(head): self.heavy(head, 0.1) for head in range(3)})
        self.assert_near(mean(self.records()[0]["hypotheses"][0]["cross"][1]))  # the heat map is their mean
        colours = self.js("return [...document.querySelectorAll('.overlay-dot')].map(dot => dot.style.backgroundColor)")
        self.assertEqual(len(set(colours)), 3)
        of_lines = self.js("return [...document.querySelectorAll('.line[data-head=\"2\"]')].map(line => line.style.stroke)")
        self.assertEqual(set(of_lines), {colours[2]})
        self.browser.click(".overlay-head[data-head='1']")
        self.assertEqual(sorted(self.lines()), ["0", "2"])
        self.assertEqual(self.title(), "cross-attention · layer 1 · 2 heads in colours")

    def test_twelve_heads_have_twelve_colours(self):
        record = make_fixture.Maker(layers=1, heads=12, head_dim=2).record(make_fixture.pieces("Yes"), [make_fixture.pieces("Ja")])
        path = write_page("twelve", [json.dumps(make_fixture.without_options(record))])
        for theme in ("light", "dark"):
            self.open_path(path, f"#kind=cross&mean=overlay&theme={theme}")
            colours = self.js("return [...document.querySelectorAll('.overlay-dot')].map(dot => dot.style.backgroundColor.match(/\\d+/g).map(Number))")
            apart = min(math.dist(a, b) for i, a in enumerate(colours) for b in colours[:i])
            self.assertGreater(apart, 45, theme)

    def test_a_line_leads_to_its_head(self):
        self.open("#kind=cross&layer=1&mean=overlay&view=lines")
        place = self.js("""const line = document.querySelector('.line[data-head="2"]');
            const place = [Number(line.parentNode.dataset.row), Number(line.dataset.column)];
            line.dispatchEvent(new MouseEvent('click', {bubbles: true}));
            return place""")
        self.assertEqual(self.title(), "cross-attention · layer 1 · head 2")
        weight = self.records()[0]["hypotheses"][0]["cross"][1][2][place[0]][place[1]]
        self.assertEqual(float(self.browser.text("#steps-weight")), weight)

    def test_all_heads_off_can_be_switched_on_again(self):
        self.open("#kind=cross&layer=0&mean=overlay&off.cross=0.0,0.1,0.2")
        self.assertIn("switched off", self.browser.text("#stage-empty"))
        self.browser.click(".overlay-head[data-head='0']")
        self.assertEqual(list(self.lines()), ["0"])


class Threshold(PageCase):
    def test_lines_begin_at_the_weight_that_is_chosen(self):
        self.open("#kind=cross&layer=1&head=0")
        self.assertEqual(self.browser.text("#least-says"), "all")
        rows = self.records()[0]["hypotheses"][0]["cross"][1][0]
        self.js("""const s = document.getElementById('least'); s.value = 20;
            s.dispatchEvent(new Event('input', {bubbles: true}))""")
        self.assertEqual(self.browser.text("#least-says"), "0.20")
        wanted = sum(weight >= 0.2 for row in rows for weight in row)
        self.assertEqual(self.count("#line-picture .line"), wanted)
        self.wait_for("the address", "return location.hash.includes('least=20')")
        self.open("#kind=cross&layer=1&head=0&least=20")
        self.assertEqual(self.count("#line-picture .line"), wanted)
        self.browser.press("+")
        self.assertEqual(self.browser.text("#least-says"), "0.25")

    def test_a_wrong_threshold_is_put_right(self):
        self.open("#kind=cross&least=999")
        self.assertEqual(self.browser.text("#least-says"), "0.50")


class Experiment(PageCase):
    page = "changed"

    def differences(self):
        """What the cells of the third small map say: "row · column: difference"."""
        return self.js("""return [...document.querySelectorAll('.compare-figure:nth-child(3) rect title')]
            .map(title => title.textContent.split(': ').pop())""")

    def test_it_opens_on_before_and_after(self):
        self.open()
        self.assertEqual(self.browser.text("#compare-changes"), "changed: forced cross:1:2:3=0, without cross:0:1")
        self.assertEqual(self.texts(".compare-figure figcaption"),
            ["before", "after", "difference: more or less than before"])
        self.assertEqual(self.title(), "cross-attention · layer 1 · head 2")
        before, after = self.records()
        wanted = [b - a for row, other in zip(before["hypotheses"][0]["cross"][1][2],
            after["hypotheses"][0]["cross"][1][2]) for a, b in zip(row, other)]
        rows = "return [...document.querySelectorAll('.compare-figure:nth-child(2) text[text-anchor=end]')].map(text => text.textContent)"
        self.assertEqual(self.js(rows), self.texts(".heat-rowhead"))
        after = after["hypotheses"][0]["cross"][1][2]
        self.assertEqual(self.texts(".compare-figure:nth-child(2) .compare-number"),
            [f"{weight:.2f}" for row in after for weight in row])  # including zeros
        shown = [float(text.replace("\u2212", "-")) for text in self.differences()]
        self.assertEqual(len(shown), len(wanted))
        for told, difference in zip(shown, wanted):
            self.assertAlmostEqual(told, difference, delta=5.1e-5)

    def test_the_difference_has_a_scale_of_its_own(self):
        self.open()
        shown = [abs(float(text.replace("\u2212", "-"))) for text in self.differences()]
        self.assertIn(f"largest difference {max(shown):.2f}", self.browser.text(".compare-scale"))
        fills = self.js("return [...document.querySelectorAll('.compare-figure:nth-child(3) rect')].map(rect => rect.style.fill)")
        self.assertIn("100%", fills[shown.index(max(shown))])
        self.browser.resize(420, 740)
        cut = self.js("""return [...document.querySelectorAll('.compare-text bdi')].filter(word => word.getClientRects().length > 1).map(word => word.textContent)""")
        self.assertEqual(cut, [])

    def test_the_heads_that_were_changed_stand_apart_from_those_that_moved(self):
        self.open()
        self.assertEqual(self.browser.text("#compare-heads"), "Changed:\ncross:0:1 100 %\ncross:1:2 16 %\nNo other head's attention moved.")
        before, after = json.loads(json.dumps(self.records()))
        after["encoder_self"][1][0][0] = list(reversed(after["encoder_self"][1][0][0]))
        after["changes"] = ["without cross:0"]
        self.open_path(write_page("moved", [json.dumps(before), json.dumps(after)]))
        says = self.browser.text("#compare-heads").split("\n")
        self.assertEqual([says[0], says[1], says[2]], ["Changed:", "cross:0:1 100 %", "Of the other heads moved most:"])
        self.assertEqual([text.split()[0] for text in says[3:]], ["cross:1:2", "encoder:1:0"])

    def test_the_heads_that_moved_most_come_first(self):
        self.open()
        self.assertEqual(self.js("return [...document.querySelectorAll('.compare-head')].map(b => b.dataset.head)"),
            ["cross.0.1", "cross.1.2"])
        self.assertEqual(self.texts(".compare-head")[0], "cross:0:1 100 %")  # the head is off
        self.browser.click(".compare-head[data-head='cross.0.1']")
        self.assertEqual(self.title(), "cross-attention · layer 0 · head 1")
        self.assertIn("Switched off", self.browser.text("#stage-says"))
        self.assertEqual(self.texts(".compare-figure figcaption")[1], "after: switched off, it looks nowhere")

    def test_another_translation_is_compared_with_the_one_before_read_again(self):
        before, after = json.loads(json.dumps(self.records()))
        after["hypotheses"] = [after["hypotheses"][2], after["hypotheses"][0]]
        before["hypotheses"] = before["hypotheses"][:1]
        after["hypotheses"][1]["replayed"] = True
        self.open_path(write_page("other", [json.dumps(before), json.dumps(after)]))
        self.assertIn("read again under the change", self.browser.text("#compare-says"))
        self.assertEqual(self.texts(".compare-word"), ["ging", "nach", "Hause", "fuhr", "heim"])

    def test_the_record_before_and_plain_pages_have_nothing_to_compare(self):
        self.open("#sentence=0")
        self.assertTrue(self.js("return document.getElementById('compare').hidden"))
        self.open(name="main")
        self.assertTrue(self.js("return document.getElementById('compare').hidden"))


class Screens(PageCase):
    def test_lines_and_map_stand_beside_each_other_up_to_thirty_words(self):
        words = [f"\u2581word{i}" for i in range(29)] + ["</s>"]
        record = make_fixture.Maker().record(words, [words])
        path = write_page("thirty", [json.dumps(make_fixture.without_options(record))])
        self.browser.resize(1400, 1000)
        self.open_path(path)
        self.assertTrue(self.js("return document.getElementById('stage-views').classList.contains('is-beside')"))
        boxes = self.js("""return ['lines', 'heat-grid'].map(id => document.getElementById(id).getBoundingClientRect())
            .map(b => [b.left, b.right])""")
        self.assertLessEqual(boxes[0][1], boxes[1][0])
        self.assertLessEqual(boxes[1][1], 1400)
        self.assertEqual(self.browser.text("#least-says"), "0.05")

    def test_words_beside_the_map_are_whole_and_numbers_stand_where_they_have_room(self):
        source = make_fixture.pieces("The old teacher explained to her students why the sky is blue")
        target = make_fixture.pieces("Der alte Lehrer erklärte ihren Schüler+n+, warum der Himmel blau ist")
        path = write_page("twelve-words", [json.dumps(make_fixture.without_options(make_fixture.Maker().record(source, [target])))])
        for width in (1000, 1180, 1280, 1340, 1400, 1500, 1920):
            self.browser.resize(width, 1000)
            self.open_path(path, "#kind=cross")
            cut = self.js("""return [...document.querySelectorAll('#lines .word-text, #lines .word-reads')].filter(e => e.checkVisibility()
                && e.scrollWidth > e.clientWidth).map(e => e.textContent)""")
            self.assertEqual(cut, [], f"names cut at {width} px")
            self.assertTrue(self.js("return [...document.querySelectorAll('#lines .word-reads')].every(e => e.checkVisibility())"), width)
            wide = self.js("return document.querySelector('.heat-cell').getBoundingClientRect().width")
            self.assertEqual(self.js("return document.getElementById('digits-says').checkVisibility()"), wide < 29, f"{wide} at {width} px")
            self.assertGreaterEqual(wide, 29)

    def test_punctuation_above_narrow_columns_lies(self):
        words = make_fixture.pieces(" ".join(f"word{i}" for i in range(30)) + "+.")
        self.browser.resize(1400, 1000)
        self.open_path(write_page("thirty-one", [json.dumps(make_fixture.without_options(make_fixture.Maker().record(words, [words])))]))
        self.assertEqual(self.texts(".is-upright .heat-colhead.is-lying"), ["\u203f."])
        box = self.js("const b = document.querySelector('.is-lying bdi').getBoundingClientRect(); return [b.width, b.height]")
        self.assertGreater(box[1], 13)  # not rotated: one line high
        self.assertLess(box[0], 22)

    def test_few_words_beside_many_stand_further_apart(self):
        few = ["\u2581two", "</s>"]
        many = [f"\u2581w{i}" for i in range(11)] + ["</s>"]
        path = write_page("few", [json.dumps(make_fixture.without_options(make_fixture.Maker().record(few, [many])))])
        self.open_path(path, "#kind=cross&view=lines")
        steps = self.js("""return ['line-rows', 'line-columns'].map(id => [...document.getElementById(id).children]
            .slice(0, 2).map(e => e.getBoundingClientRect().top)).map(([a, b]) => b - a)""")
        self.assertAlmostEqual(steps[1], 3 * steps[0], delta=1)

    def test_a_narrow_screen_shows_the_map_first_and_folds_the_choices(self):
        self.browser.resize(400, 800)
        self.open()
        self.assertFalse(self.js("return document.getElementById('switches').checkVisibility()"))
        tops = self.js("return ['stage', 'overview'].map(id => document.getElementById(id).getBoundingClientRect().top)")
        self.assertLess(tops[0], tops[1])
        self.assertLess(tops[0], 500)
        self.assertEqual(self.browser.text("#fold-says"), self.title())
        self.browser.click("#fold")
        self.assertTrue(self.js("return document.getElementById('switches').checkVisibility()"))
        self.choose("head", 0)
        self.assertEqual(self.browser.attribute("#fold", "aria-expanded"), "true")
        self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), 400)

    def tops(self):
        """Top and left edge of the parts, by their ids."""
        return self.js("""return Object.fromEntries(['receipt', 'overview', 'reading', 'stage', 'steps'].map(id => {
            const box = document.getElementById(id).getBoundingClientRect();
            return [id, [box.top + scrollY, box.left]];
        }))""")

    def test_why_this_word_and_the_map_come_first_at_every_width(self):
        self.browser.resize(1400, 900)
        self.open(name="measures")
        tops = self.tops()
        self.assertEqual(tops["receipt"][0], tops["stage"][0], "side by side")
        self.assertLess(tops["receipt"][1], tops["stage"][1])
        self.assertLess(tops["stage"][0], 450)
        self.assertTrue(self.js("return document.getElementById('reading').open"))
        for width, height in ((800, 900), (420, 740)):
            self.browser.resize(width, height)
            self.open(name="measures")
            tops = self.tops()
            order = ["receipt", "stage", "reading", "steps", "overview"]
            self.assertEqual(sorted(tops, key=lambda part: tops[part][0]), order, width)
            self.assertFalse(self.js("return document.getElementById('reading').open"), width)
            self.assertLess(tops["stage"][0], 1.5 * 740, width)

    def test_a_narrow_screen_unfolds_the_rest_of_why(self):
        self.browser.resize(420, 740)
        self.open(name="measures")
        shown = "return document.querySelector('.why-against').checkVisibility()"
        self.assertFalse(self.js(shown))
        self.browser.click(".why-fold")
        self.assertTrue(self.js(shown))
        self.assertEqual(self.browser.attribute(".why-fold", "aria-expanded"), "true")

    def test_a_map_wider_than_a_narrow_screen_says_that_it_scrolls(self):
        self.browser.resize(420, 740)
        words = make_fixture.pieces(" ".join(f"word{i}" for i in range(40)))
        self.open_path(write_page("forty", [json.dumps(make_fixture.without_options(make_fixture.Maker().record(words, [words])))]))
        self.assertTrue(self.js("return document.querySelector('.heat-more').checkVisibility()"))
        self.open(name="measures")
        self.assertFalse(self.js("return document.querySelector('.heat-more').checkVisibility()"))

    def test_a_narrow_screen_cuts_no_word_of_the_next_pieces(self):
        self.browser.resize(400, 800)
        record = make_fixture.Maker().record(["\u2581sister", "</s>"], [["\u2581Schwesternschaft", "</s>"]])
        self.open_path(write_page("long", [json.dumps(record)]))
        self.browser.click("[data-step-index='0']")
        self.assertEqual(self.js("""const head = document.querySelector('.next-table .is-written th');
            return [head.querySelector('.written') !== null, head.scrollWidth - head.clientWidth]"""), [True, 0])
        cut = self.js("""const edges = (e) => e.getBoundingClientRect();
            return [...document.querySelectorAll('.stop-best')].map((box) => [...box.children].filter((piece) =>
                edges(piece).top < edges(box).bottom - 1 && edges(piece).right > edges(box).right + 0.5).length)""")
        self.assertEqual(cut, [0])

    def test_what_is_on_show_is_labelled(self):
        self.open()
        self.assertIn("score", self.browser.text("#hypotheses .score"))
        self.assertIn("the heads that pair words best", self.browser.text(".overview .hint"))
        self.assertEqual(self.browser.text(".legend .legend-item"), "Weight")
        self.choose("kind", "encoder_self")
        self.assertTrue(self.js("return document.getElementById('star-says').hidden"))


if __name__ == "__main__":
    unittest.main()
