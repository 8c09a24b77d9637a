"""Tests step by step, the search and the report: Python computes their numbers again from the record."""

import base64
import json
import math
import struct
import unittest

import make_fixture
from make_fixture import END
from page_case import PageCase, f32, write_page


def vectors(owner, kind, which, layer, head, shape):
    """The rows of one head: shape is (heads, rows, head_dim)."""
    raw = base64.b64decode(owner["vectors"][kind][which])
    flat = struct.unpack(f"<{len(raw) // 4}f", raw)
    heads, rows, width = shape
    start = (layer * heads + head) * rows * width
    return [list(flat[start + r * width:start + (r + 1) * width]) for r in range(rows)]


def number(text):
    return float(text.replace("\u2212", "-"))


class Steps(PageCase):
    def explain(self, q, k):
        self.browser.click(f".heat-cell[data-row='{q}'][data-column='{k}']")
        self.wait_for("the steps",
            "return document.querySelector('#steps-content [data-step], #steps-missing') !== null")

    def step(self, name):
        return number(self.texts(f"[data-step='{name}']")[0])

    def check_cell(self, record, owner, kind, place, cell):
        (layer, head), (q, k) = place, cell
        rows = len((record if kind == "encoder_self" else owner)[kind][0][0])
        columns = len((record if kind == "encoder_self" else owner)[kind][0][0][0])
        query = vectors(owner, kind, "query", layer, head, (3, rows, 16))[q]
        keys = vectors(owner, kind, "key", layer, head, (3, columns, 16))
        values = vectors(owner, kind, "value", layer, head, (3, columns, 16))
        seen = keys[:q + 1] if kind == "decoder_self" else keys
        dots = [sum(a * b for a, b in zip(query, key)) for key in seen]
        scale = 1 / math.sqrt(16)
        powers = [math.exp((dot - max(dots)) * scale) for dot in dots]
        self.assertAlmostEqual(self.step("dot"), dots[k], delta=1e-4)
        self.assertAlmostEqual(self.step("scale"), scale, delta=1e-9)
        self.assertAlmostEqual(self.step("scaled"), dots[k] * scale, delta=1e-4)
        self.assertAlmostEqual(self.step("masked"), dots[k] * scale, delta=1e-4)
        self.assertAlmostEqual(self.step("weight"), powers[k] / sum(powers), delta=2e-5)
        weights = owner[kind][layer][head][q]
        self.assertEqual(self.step("recorded"), weights[k])
        self.assertAlmostEqual(self.step("weight"), weights[k], delta=2e-5)
        # The vectors as the record contains them, with all numbers.
        for more in self.browser.all("[data-more='vectors']")[:1]:
            self.browser.click("[data-more='vectors']")
        shown = self.js("""return [...document.querySelectorAll('.vectors')].map(table => [...table.tBodies[0].rows].map(row =>
            [...row.querySelectorAll('td')].map(cell => [cell.textContent, cell.dataset.exact || null])))""")
        self.assertEqual([f32(number(e)) for _, e in shown[0][0]], query)
        self.assertEqual([f32(number(e)) for _, e in shown[0][1]], keys[k])
        self.assertEqual([f32(number(e)) for _, e in shown[1][0]], values[k])
        for d in range(16):
            self.assertAlmostEqual(number(shown[0][2][d][0]), query[d] * keys[k][d], delta=6e-4)
            self.assertAlmostEqual(number(shown[1][1][d][0]), weights[k] * values[k][d], delta=6e-4)
            self.assertAlmostEqual(number(shown[1][2][d][0]), sum(w * v[d] for w, v in zip(weights, values)),
                delta=6e-4)
        self.browser.click("[data-more='vectors']")

    def test_an_experiment_begins_at_its_head_and_says_what_softmax_would_give(self):
        self.open(name="changed")
        self.assertEqual(self.title(), "cross-attention \u00b7 layer 1 \u00b7 head 2")
        self.assertEqual(self.texts("#sentence-picker option"),
            ["1. The group went home",
                "2. The group went home \u00b7 forced cross:1:2:3=0, without cross:0:1"])
        # It opens with the experiment; the original is one choice away.
        self.browser.click("#sentence-picker option[value='0']")
        self.wait_for("the first translation", "return ![...document.querySelectorAll('#facts li')].some(" +
            "item => item.textContent.startsWith('forced'))")
        self.explain(3, 0)
        self.assertEqual(self.count("[data-step='changed']"), 0)
        self.assertNotIn("forced cross:1:2:3=0, without cross:0:1", self.texts("#facts li"))
        self.browser.click("#sentence-picker option[value='1']")
        self.wait_for("the experiment", "return [...document.querySelectorAll('#facts li')].some(" +
            "item => item.textContent === 'forced cross:1:2:3=0, without cross:0:1')")
        self.assertEqual(["as before the change" in text for text in self.texts(".hypothesis")],
            [False, True, False])
        self.explain(3, 0)
        self.assertEqual(self.step("recorded"), 1)
        self.assertLess(self.step("weight"), 0.99)
        self.assertIn("forced cross:1:2:3=0", self.texts("[data-step='changed']")[0])
        self.explain(2, 0)  # a row that is not forced
        self.assertEqual(self.count("[data-step='changed']"), 0)
        self.assertNotIn("Switched off", self.texts("#stage-says")[0])
        self.choose("layer", 0)
        self.choose("head", 1)
        self.assertIn("Switched off (forced cross:1:2:3=0, without cross:0:1)", self.texts("#stage-says")[0])

    def test_every_number_of_some_cells(self):
        self.open()
        record = self.records()[0]
        first = record["hypotheses"][0]
        for kind, place, cells in (("cross", (1, 2), ((3, 1), (0, 4))), ("encoder_self", (0, 1), ((2, 2),)),
            ("decoder_self", (1, 0), ((4, 2), (5, 5)))):
            self.choose("kind", kind)
            self.choose("layer", place[0])
            self.choose("head", place[1])
            for cell in cells:
                self.explain(*cell)
                self.check_cell(record, record if kind == "encoder_self" else first, kind, place, cell)

    def test_it_opens_below_the_map_and_closing_leads_back(self):
        inside = """const box = document.querySelector(arguments[0]).getBoundingClientRect();
            const head = document.getElementById('switches'); const top = head.checkVisibility() ? head.getBoundingClientRect().bottom : 0;
            return box.top >= top - 1 && box.bottom <= innerHeight + 1"""
        cell = ".heat-cell[data-row='2'][data-column='2']"
        for width, height in ((1400, 1000), (400, 900)):
            self.browser.resize(width, height)
            self.open("#kind=cross")
            self.explain(2, 2)
            self.assertTrue(self.js(inside, cell), "the cell is still in sight")
            shown = self.js("return innerHeight - document.getElementById('steps').getBoundingClientRect().top")
            self.assertGreaterEqual(shown, 0.39 * height)
            edges = self.js("return ['stage', 'steps', 'overview', 'next'].map(id => document.getElementById(id).getBoundingClientRect())"
                ".map(box => [box.top, box.bottom])")
            folded = 60 if width < 1000 else 0  # How to read this, folded
            self.assertLess(abs(edges[1][0] - edges[0][1]), 40 + folded, "nothing else stands between map and steps")
            self.assertLess(edges[1][1], edges[3][0])
            self.browser.click("#steps-close")
            self.assertEqual(self.js("return document.activeElement.matches(arguments[0])", cell), True)
            self.assertTrue(self.js(inside, cell), "close leads back to the cell")
            self.assertTrue(self.js("return document.getElementById('steps-hint').checkVisibility()"))
        self.browser.press("Enter", "Escape")
        self.assertEqual(self.js("return document.activeElement.matches(arguments[0])", cell), True)

    def test_the_first_cell_is_the_largest_between_words_and_says_so(self):
        source, target = make_fixture.pieces("The group"), make_fixture.pieces("Die Gruppe")
        record = json.loads(json.dumps(make_fixture.without_options(make_fixture.Maker().record(source, [target]))))
        for rows in (heads[0] for heads in record["hypotheses"][0]["cross"]):
            rows[:] = [[0.25, 0.25, 0.5] for _ in rows]  # </s> is the largest
            rows[1] = [0.125, 0.375, 0.5]
        self.open_path(write_page("resting", [json.dumps(record)]), "#kind=cross&layer=0&head=0")
        self.assertEqual(self.browser.text("#steps-weight"), "0.375")
        self.assertIn("largest weight, leaving out symbols such as </s>", self.browser.text("#steps-hint"))

    def test_large_vectors_are_cut_in_the_middle(self):
        self.open("#cell=1.1")
        cut = self.texts(".step:first-child .vectors thead th")
        self.assertIn("…", cut)
        self.assertLess(len(cut), 16)
        self.browser.click("[data-more='vectors']")
        self.assertNotIn("…", self.texts(".vectors thead th"))
        self.assertEqual(self.browser.focused()["data"].get("more"), "vectors")

    def test_the_row_adds_up(self):
        self.open("#kind=cross&layer=0&head=0&cell=2.3")
        weights = self.records()[0]["hypotheses"][0]["cross"][0][0][2]
        rows = self.js("return [...document.querySelectorAll('.row-table tbody tr')].map(r => [...r.querySelectorAll('td.number')].map(c => c.textContent))")
        self.assertEqual([float(row[3]) for row in rows], weights)
        top = max(number(row[0]) for row in rows)
        for row, weight in zip(rows, weights):
            self.assertAlmostEqual(number(row[1]), number(row[0]) - top, delta=2e-4)
            self.assertAlmostEqual(number(row[2]), math.exp(number(row[1])), delta=2e-4)

    def test_a_masked_cell_says_why(self):
        self.open("#kind=decoder_self")
        self.explain(1, 4)
        self.assertIn("−∞", self.texts("[data-step='masked']")[0])
        self.assertIn("not written yet", self.browser.text("#steps-content"))
        self.assertEqual(self.browser.text("#steps-weight"), "masked")

    def test_without_vectors_it_says_what_is_missing(self):
        self.open("#sentence=2&kind=encoder_self&layer=0&head=0")
        self.explain(0, 1)
        self.assertIn("missing", self.browser.text("#steps-missing"))
        row = self.records()[2]["encoder_self"][0][0][0]
        self.assertAlmostEqual(number(self.texts("[data-step='ratio']")[0]), math.log(row[1] / max(row)),
            delta=1e-5)
        self.assertEqual(self.texts(".row-table tbody td.number")[1::2],
            [self.js("return arguments[0] < 1e-4 ? arguments[0].toExponential() : String(arguments[0])", w)
            for w in row])

    def test_a_merged_cell_shows_its_pieces(self):
        self.open("#sentence=1&unit=words&kind=cross&layer=0&head=0")
        self.explain(1, 1)  # Haus tür en looks at front door s
        rows = self.records()[1]["hypotheses"][0]["cross"][0][0]
        wanted = sum(rows[q][k] for q in (1, 2, 3) for k in (1, 2, 3)) / 3
        self.assertAlmostEqual(self.step("merged"), wanted, delta=5e-6)
        self.assertEqual(self.count("#steps-content tbody tr"), 3)

    def test_a_mean_shows_its_heads(self):
        self.open("#kind=cross&layer=1&mean=layer&cell=2.2")
        cross = self.records()[0]["hypotheses"][0]["cross"][1]
        self.assertAlmostEqual(self.step("mean"), sum(head[2][2] for head in cross) / 3, delta=5e-6)
        self.browser.click(".part[data-head='1']")
        self.assertIn("head 1", self.title())
        self.assertEqual(self.step("recorded"), cross[1][2][2])


class Search(PageCase):
    def test_every_node_is_there(self):
        self.open()
        self.assertEqual(self.count(".node"), 0)  # closed until it is requested
        self.browser.click("#tree-fold")
        nodes = self.records()[0]["search"]["nodes"]
        labels = self.js("return Object.fromEntries([...document.querySelectorAll('.node')].map(n => [n.dataset.node, [n.getAttribute('aria-label'), n.getAttribute('class')]]))")
        self.assertEqual(len(labels), len(nodes))
        for index, node in enumerate(nodes):
            label, look = labels[str(index)]
            fate = "ended" if node["ended"] else "kept" if node["kept"] else "dropped"
            self.assertIn(f"is-{fate}", look)
            for part in (f"step {node['step']},", node["token"], fate, f"sum {node['sum']:.3f}",
                f"score {node['score']:.3f}"):
                self.assertIn(part.replace("-", "\u2212") if part[0] == "s" else part, label)
        self.browser.click("#tree-dropped")
        kept = sum(node["kept"] or node["ended"] for node in nodes)
        self.wait_equal(kept, "return document.querySelectorAll('.node').length")

    def test_a_click_shows_the_maps_of_the_branch(self):
        self.open("#kind=cross&layer=1&head=1")
        self.browser.click("#tree-fold")
        record = self.records()[0]
        nodes = record["search"]["nodes"]
        for index in (4, len(nodes) - 1, next(i for i, n in enumerate(nodes) if n["parent"] > 0
            and n["token"] == END)):
            path = [index]
            while nodes[path[0]]["parent"] >= 0:
                path.insert(0, nodes[path[0]]["parent"])
            self.browser.click(f".node[data-node='{index}']")
            self.assert_map([nodes[i]["cross"][1][1] for i in path])
            self.choose("kind", "decoder_self")
            steps = len(path)
            self.assert_map([nodes[i]["decoder_self"][1][1] + [0.0] * (steps - t - 1) for t,
                i in enumerate(path)], causal=True)
            self.assertEqual(self.texts(".heat-colhead")[0], "<pad>")
            self.choose("kind", "cross")
            self.assertEqual(self.count(".node.is-path"), steps)
        self.browser.click("#branch-close")
        self.assert_map(record["hypotheses"][0]["cross"][1][1])

    def test_it_opens_at_its_beginning_and_folds_again(self):
        self.open()
        self.browser.click("#tree-fold")
        inside = self.js("""const box = document.getElementById('tree-picture').getBoundingClientRect();
            const root = document.querySelector('.root').getBoundingClientRect();
            return root.left >= box.left && root.top >= box.top && root.bottom <= box.bottom && box.height <= innerHeight""")
        self.assertTrue(inside)
        self.browser.click(".node[data-node='4']")
        self.browser.click("#tree-fold")
        self.assertTrue(self.js("return document.getElementById('tree-content').hidden"))
        self.assertTrue(self.js("return document.getElementById('branch-chip').hidden"))  # and leaves the branch

    def test_no_search_no_tree(self):
        self.open("#sentence=1")
        self.assertFalse(self.js("return document.getElementById('tree').checkVisibility()"))


class Report(PageCase):
    def values(self, key):
        return self.js("return [...document.querySelectorAll(`td[data-key='${arguments[0]}']`)].map(c => Number(c.dataset.value))", key)

    def test_figures_sort(self):
        self.open("#kind=cross")
        report = self.records()[0]["hypotheses"][0]["report"]["cross"]
        for key in ("entropy", "distance", "diagonality", "end_mass", "punctuation_mass", "alignment", "read_alignment"):
            wanted = [figures[key] for layer in report for figures in layer]
            self.browser.click("[data-sort='place']") if key != "entropy" else None
            self.assertEqual(self.values(key), wanted)
            self.browser.click(f"[data-sort='{key}']")
            self.assertEqual(self.values(key), sorted(wanted, reverse=True))
            self.browser.click(f"[data-sort='{key}']")
            self.assertEqual(self.values(key), sorted(wanted))
            self.assertEqual(self.js("return document.querySelectorAll('th[aria-sort=ascending]').length"), 1)

    def test_best_aligning_heads_are_marked(self):
        self.open("#kind=cross")
        report = self.records()[0]["hypotheses"][0]["report"]["cross"]
        best = sorted(((-figures["alignment"], layer, head) for layer, heads in enumerate(report)
            for head, figures in enumerate(heads) if figures["read_alignment"] <= figures["alignment"]))[:3]
        self.assertGreater(len(best), 1)
        stars = {f"{layer}.{head}": f"\u2605{i + 1}" for i, (_, layer, head) in enumerate(best)}
        self.assertEqual(self.js("return Object.fromEntries([...document.querySelectorAll('.report-table tr')].filter(r => r.querySelector('.star')).map(r => [`${r.dataset.layer}.${r.dataset.head}`, r.querySelector('.star').textContent.trim()]))"), stars)
        self.assertEqual(self.js("return Object.fromEntries([...document.querySelectorAll('.thumb.is-best')].map(t => [`${t.dataset.layer}.${t.dataset.head}`, t.dataset.star]))"), stars)
        self.assertEqual(self.js("return getComputedStyle(document.querySelector('.thumb.is-best'), '::before').content"), '"' + next(
            stars[key] for key in sorted(stars)) + '"')
        says = "\u2605{}: the heads that pair words best, by chance: these weights are random.".format(
            {2: "1 and \u26052", 3: "1 to \u26053"}[len(best)])
        self.assertEqual(self.texts("#star-says"), [says])
        self.choose("kind", "encoder_self")
        self.assertEqual(self.count(".star") + self.count(".thumb.is-best"), 0)

    def test_a_row_chooses_its_head(self):
        self.open("#kind=cross&layer=1&head=0")
        self.browser.click("tr[data-layer='0'][data-head='2'] button")
        self.assertEqual(self.title(), "cross-attention · layer 0 · head 2")

    def test_word_alignment(self):
        self.open("#kind=cross")
        self.assertEqual(self.texts(".link-source"), ["The", "group", "went", "home"])
        self.assertEqual(self.texts(".link-target"), ["Die", "Gruppe", "ging", "nach", "Hause"])
        self.assertEqual(self.texts(".link-word.is-alone"), ["Hause"])
        self.assertEqual(self.count("path.link-line"), 4)

    def test_aligned_words_are_those_of_the_record(self):
        """The program counts a word at an invisible blank, and one of the text's words it does not link."""
        [record] = self.records()[:1]
        record = json.loads(json.dumps(record))
        record["source"]["text"] = "The\u200bgroup went home."
        source = [{"text": word, "index": i} for i, word in ((0, "The"), (1, "group"), (3, "home"))]
        record["hypotheses"][0]["alignment"].update({"source": source, "links": [{"source": 3, "target": 4, "weight": 0.5}]})
        self.open_path(write_page("words", [json.dumps(record)]), "#kind=cross")
        self.assertEqual(self.texts(".link-source"), ["The", "group", "home"])
        self.assertEqual(self.texts(".link-word:not(.is-alone)"), ["home", "Hause"])
        self.assertEqual(self.js("return document.querySelector('.alignment-picture').getAttribute('aria-label')"),
            "word alignment by cross:1:0: home – Hause")

    def test_figures_over_all_sentences(self):
        self.open("#kind=cross&over=one", name="several")
        record, _, heads = self.records("several")
        alone = [figures["alignment"] for layer in record["hypotheses"][0]["report"]["cross"] for figures in layer]
        together = [figures["alignment"] for layer in heads["cross"] for figures in layer]
        self.assertNotEqual(alone, together)
        self.assertEqual(self.values("alignment"), alone)
        self.choose("over", "all")
        self.assertEqual(self.values("alignment"), together)
        self.assertIn("all 2 sentences", self.js("return document.getElementById('report-says').textContent"))
        self.assertIn("pair words best, over all 2 sentences", self.texts("#star-says")[0])
        marked = self.js("return [...document.querySelectorAll('.report-table tr')].findIndex(r => r.textContent.includes('\u26051'))")
        self.assertEqual(marked - 1, together.index(max(together)))
        self.choose("over", "one")
        self.assertEqual(self.values("alignment"), alone)
        self.open("#kind=cross&layer=0", name="several")  # the state in which a reader begins
        self.assertEqual(self.values("alignment"), together)

    def test_one_sentence_has_no_choice_of_figures(self):
        self.open("#kind=cross")
        self.assertFalse(self.js("return document.getElementById('over').checkVisibility()"))

    def test_begins_with_the_head_that_aligned(self):
        self.open("", name="several")
        self.assertEqual(self.title(), "cross-attention · layer 0 · head 1")

    def test_without_report_no_table(self):
        self.open("#sentence=2")
        self.assertFalse(self.js("return document.getElementById('report').checkVisibility()"))


if __name__ == "__main__":
    unittest.main()
