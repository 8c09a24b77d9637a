"""Tests that the large map, the overview and the switches show the record's content."""

import json
import unittest

import make_fixture
from page_case import PageCase, mean, write_page

KIND_NAMES = {"encoder_self": "encoder self-attention", "decoder_self": "decoder self-attention",
    "cross": "cross-attention"}


def maps_of(record, kind, hypothesis=0):
    return record[kind] if kind == "encoder_self" else record["hypotheses"][hypothesis][kind]


class Maps(PageCase):
    def test_every_kind_layer_and_head_is_exact(self):
        self.open()
        record = self.records()[0]
        for kind, name in KIND_NAMES.items():
            self.choose("kind", kind)
            for layer in range(2):
                self.choose("layer", layer)
                for head in range(3):
                    self.choose("head", head)
                    self.assertEqual(self.title(), f"{name} · layer {layer} · head {head}")
                    self.assert_map(maps_of(record, kind)[layer][head], causal=kind == "decoder_self")

    def test_a_head_has_the_name_that_commands_take(self):
        name = "return [document.getElementById('stage-name').textContent, document.getElementById('stage-name').checkVisibility()]"
        for kind, wanted in (("encoder_self", "encoder:1:2"), ("decoder_self", "decoder:1:2"), ("cross", "cross:1:2")):
            self.open(f"#kind={kind}&layer=1&head=2")
            self.assertEqual(self.js(name), [wanted, True])
            self.assertEqual(self.texts(".report-table tbody .text-button")[5], wanted)
            self.assertTrue(self.browser.attribute(".thumb[data-layer='1'][data-head='2']", "title").startswith(wanted))
        self.assertEqual(self.texts(".alignment h3"), ["Word alignment by cross:1:0"])
        self.choose("mean", "overlay")
        self.assertEqual(self.js(name), ["", False])
        self.assertEqual(self.texts(".overlay-head"), ["cross:1:0", "cross:1:1", "cross:1:2"])

    def test_labels_of_both_axes(self):
        self.open("#kind=encoder_self")
        self.assertEqual(self.texts(".heat-rowhead"), ["The", "group", "went", "home", "</s>"])
        self.assertEqual(self.texts(".heat-colhead"), ["The", "group", "went", "home", "</s>"])
        self.choose("kind", "decoder_self")
        self.assertEqual(self.texts(".heat-rowhead"),
            ["<pad> → Die", "Die → Gruppe", "Gruppe → ging", "ging → nach", "nach → Hause", "Hause → </s>"])
        self.assertEqual(self.texts(".heat-colhead"), ["<pad>", "Die", "Gruppe", "ging", "nach", "Hause"])
        self.choose("kind", "cross")
        self.assertEqual(self.texts(".heat-colhead"), ["The", "group", "went", "home", "</s>"])
        self.assertEqual(self.texts("#line-rows .word-label")[2], "Gruppe→ging")

    def test_masked_cells_are_not_zeros(self):
        self.open("#kind=decoder_self&layer=0&head=0&digits=exact")
        self.assertIn("masked", self.browser.attribute(".heat-cell[data-row='0'][data-column='1']",
            "aria-label"))
        self.assertTrue(self.js("return !document.getElementById('legend-masked').hidden"))
        self.assertEqual(self.count("#line-picture .line-group[data-row='0'] .line"), 1)
        self.choose("kind", "cross")
        self.assertTrue(self.js("return document.getElementById('legend-masked').hidden"))

    def test_overview_enlarges_what_is_clicked(self):
        self.open()
        record = self.records()[0]
        self.assertEqual(self.count(".thumb canvas"), 6)
        self.browser.click(".thumb[data-layer='0'][data-head='2'] canvas")
        self.assertEqual(self.title(), "cross-attention · layer 0 · head 2")
        self.assert_map(record["hypotheses"][0]["cross"][0][2])
        self.assertEqual(self.browser.attribute(".thumb[data-layer='0'][data-head='2']", "aria-selected"),
            "true")

    def test_small_maps_are_drawn_from_the_weights(self):
        self.open()
        cross = self.records()[0]["hypotheses"][0]["cross"]
        for layer in range(2):
            for head in range(3):
                self.wait_for("a small map", "return document.querySelector(arguments[0]).width > 1",
                              f".thumb[data-layer='{layer}'][data-head='{head}'] canvas")
                size, pixels = self.pixels(f".thumb[data-layer='{layer}'][data-head='{head}'] canvas")
                weights = [w for row in cross[layer][head] for w in row]
                self.assertEqual(size, [len(cross[layer][head][0]), len(cross[layer][head])])
                light = [0.2126 * pixels[4 * i] + 0.7152 * pixels[4 * i + 1] + 0.0722 * pixels[4 * i + 2]
                    for i in range(len(weights))]
                for i, a in enumerate(weights):
                    for j, b in enumerate(weights):
                        if a > b + 0.02:
                            self.assertLess(light[i], light[j], "more weight is darker")

    def test_lines_are_as_thick_as_the_weights(self):
        self.open("#kind=cross&layer=1&head=1")
        rows = self.records()[0]["hypotheses"][0]["cross"][1][1]

        def read():
            return self.js("""return [...document.querySelectorAll('#line-picture .line')].map(line =>
                [Number(line.parentNode.dataset.row), Number(line.dataset.column), Number(line.getAttribute('stroke-width'))])""")
        lines = read()
        ratio = max(width for _, _, width in lines) / max(w for row in rows for w in row)
        for q, k, width in lines:
            self.assertAlmostEqual(width, ratio * rows[q][k], delta=0.002)
        drawn = {(q, k) for q, k, _ in lines}
        for q, row in enumerate(rows):
            for k, weight in enumerate(row):
                self.assertEqual((q, k) in drawn, ratio * weight >= 0.06, f"{q}, {k}: {weight}")

    def test_a_word_shows_its_row_and_a_click_locks_it(self):
        self.open("#kind=cross&layer=0&head=0")
        row = self.records()[0]["hypotheses"][0]["cross"][0][0][2]
        shades = "return [...document.querySelectorAll('#line-columns .word-value')].map(e => e.textContent)"
        self.browser.hover("#line-rows .word[data-index='2']")
        self.wait_equal([f"{w:.2f}" for w in row], shades)
        self.wait_equal(["2"],
            "return [...document.querySelectorAll('.line-group.is-active')].map(g => g.dataset.row)")
        self.browser.away()
        self.wait_equal([""] * 5, shades)
        self.browser.click("#line-rows .word[data-index='2']")
        self.browser.away()
        self.wait_equal([f"{w:.2f}" for w in row], shades)
        self.assertEqual(self.browser.attribute("#line-rows .word[data-index='2']", "aria-pressed"), "true")
        self.choose("head", 1)  # a locked word stays while heads change
        other = self.records()[0]["hypotheses"][0]["cross"][0][1][2]
        self.wait_equal([f"{w:.2f}" for w in other], shades)
        self.browser.click("#line-rows .word[data-index='2']")
        self.browser.away()
        self.wait_equal([""] * 5, shades)

    def test_a_key_word_shows_who_looks_at_it(self):
        self.open("#kind=cross&layer=0&head=0")
        column = [row[3] for row in self.records()[0]["hypotheses"][0]["cross"][0][0]]
        self.browser.click("#line-columns .word[data-index='3']")
        self.wait_equal([f"{w:.2f}" for w in column],
            "return [...document.querySelectorAll('#line-rows .word-value')].map(e => e.textContent)")

    def test_a_cell_is_read_out_exactly(self):
        self.open("#kind=cross&layer=0&head=0")
        weight = self.records()[0]["hypotheses"][0]["cross"][0][0][1][2]
        self.browser.hover(".heat-cell[data-row='1'][data-column='2']")
        self.wait_for("the readout",
            "return document.querySelector('#readout .number') && document.getElementById('readout').textContent.includes('looks at')")
        self.assertEqual(float(self.js("return document.querySelector('#readout .number').textContent")),
            weight)

    def test_views_can_be_shown_alone(self):
        self.open()
        for view, lines, heat in (("lines", True, False), ("heat", False, True), ("both", True, True)):
            self.choose("view", view)
            self.assertEqual(self.js("return [!document.getElementById('lines').hidden, !document.getElementById('heat').hidden]"), [lines, heat])


class Means(PageCase):
    def test_a_mean_speaks_of_several_heads(self):
        self.open("#kind=cross&layer=1")
        self.assertIn("this head looks", self.browser.text("#stage-says"))
        self.choose("mean", "all")
        self.assertIn("these heads look", self.browser.text("#stage-says"))

    def test_mean_of_a_layer_and_of_all(self):
        self.open("#kind=cross&layer=1")
        cross = self.records()[0]["hypotheses"][0]["cross"]
        self.choose("mean", "layer")
        self.assert_near(mean(cross[1]))
        self.assertIn("mean of 3 heads", self.title())
        self.choose("mean", "all")
        self.assert_near(mean(cross[0] + cross[1]))

    def test_heads_switched_off_do_not_count(self):
        self.open("#kind=cross&layer=1&mean=layer")
        cross = self.records()[0]["hypotheses"][0]["cross"]
        self.browser.hover(".thumb[data-layer='1'][data-head='0']")
        self.browser.click(".thumb[data-layer='1'][data-head='0'] .thumb-switch")
        self.assert_near(mean(cross[1][1:]))
        self.choose("mean", "all")
        self.assert_near(mean(cross[0] + cross[1][1:]))
        self.choose("kind", "encoder_self")  # each kind has its own switches
        encoder = self.records()[0]["encoder_self"]
        self.assert_near(mean(encoder[0] + encoder[1]))
        self.choose("kind", "cross")
        self.browser.click("#all-on")
        self.assert_near(mean(cross[0] + cross[1]))

    def test_all_heads_off_says_so(self):
        self.open("#kind=cross&layer=0&mean=layer&off.cross=0.0,0.1,0.2")
        self.assertIn("switched off", self.browser.text("#stage-empty"))
        self.choose("mean", "one")
        self.assert_map(self.records()[0]["hypotheses"][0]["cross"][0][0])

    def test_masked_stays_masked_in_a_mean(self):
        self.open("#kind=decoder_self&mean=all")
        maps = self.records()[0]["hypotheses"][0]["decoder_self"]
        rows = mean(maps[0] + maps[1])
        self.assert_near([[w if k <= q else None for k, w in enumerate(row)] for q, row in enumerate(rows)])


class Words(PageCase):
    """Summed over the pieces of a key word, averaged over those of a query word; here by Python."""

    SOURCE = [(0, 1), (1, 4), (4, 5), (5, 6), (6, 7), (7, 8)]          # The frontdoors were open . </s>
    TARGET = [(0, 1), (1, 4), (4, 6), (6, 7), (7, 8), (8, 9)]          # Die Haustüren standen offen . </s>
    READ = [(0, 1), (1, 2), (2, 5), (5, 7), (7, 8), (8, 9)]            # <pad> Die Haustüren standen offen .

    @staticmethod
    def merged(rows, queries, keys, causal=False):
        made = []
        for first, end in queries:
            made.append([])
            for start, stop in keys:
                if causal and start > end - 1:
                    made[-1].append(None)
                else:
                    made[-1].append(sum(rows[q][k] for q in range(first, end)
                        for k in range(start, stop)) / (end - first))
        return made

    def test_whole_words(self):
        self.open("#sentence=1&layer=1&head=2")
        record = self.records()[1]
        self.choose("unit", "words")
        self.assertIn("summed over the pieces of the key word and averaged over those of the query word",
            self.browser.text("#word-rule"))
        self.assert_near(self.merged(record["hypotheses"][0]["cross"][1][2], self.TARGET, self.SOURCE))
        self.assertEqual(self.texts(".heat-colhead"), ["The", "frontdoors", "were", "open", ".", "</s>"])
        self.assertEqual(self.texts(".heat-rowhead"),
            ["<pad> → Die", "Die → Haustüren", "Haustüren → standen", "standen → offen", "offen → .",
            ". → </s>"])
        self.choose("kind", "encoder_self")
        self.assert_near(self.merged(record["encoder_self"][1][2], self.SOURCE, self.SOURCE))
        self.choose("kind", "decoder_self")
        self.assert_near(self.merged(record["hypotheses"][0]["decoder_self"][1][2], self.TARGET, self.READ,
            causal=True))

    def test_rows_still_sum_to_one(self):
        self.open("#sentence=1&unit=words&mean=all")
        for row in self.shown_map():
            self.assertAlmostEqual(sum(float(text) for text in row), 1, delta=2e-5)

    def test_words_of_a_mean(self):
        self.open("#sentence=1&unit=words&mean=layer&layer=0&kind=cross")
        self.assert_near(self.merged(mean(self.records()[1]["hypotheses"][0]["cross"][0]), self.TARGET,
            self.SOURCE))

    def test_pieces_are_marked(self):
        self.open("#sentence=1")
        self.assertEqual(self.texts(".heat-colhead"),
            ["The", "front", "‿door", "‿s", "were", "open", "‿.", "</s>"])
        self.assertIn("‿ goes on", self.browser.text("#stage-says"))


class Choices(PageCase):
    def test_each_hypothesis_has_its_own_maps(self):
        self.open("#kind=cross&layer=0&head=1")
        record = self.records()[0]
        for i, hypothesis in enumerate(record["hypotheses"]):
            self.browser.click(f"#hypotheses input[value='{i}']")
            self.assert_map(hypothesis["cross"][0][1])
        self.assertEqual([text[1:-7] for text in self.texts("#hypotheses .hypothesis")],
                         [h["text"] + "score " for h in record["hypotheses"]])

    def test_translations_that_read_alike_tell_their_pieces(self):
        record = make_fixture.Maker().record(make_fixture.pieces("The group went home"), [make_fixture.pieces(text) for text in (
            "Die Gruppe ging nach Hause", "Die Gruppe ging nach Haus+e", "Die Gruppe fuhr heim")])
        self.open_path(write_page("alike", [json.dumps(record)]))
        self.assertEqual(self.texts("#hypotheses .hypothesis-text"), ["Die Gruppe ging nach Hause in pieces: Hause",
            "Die Gruppe ging nach Hause in pieces: Haus\u203fe", "Die Gruppe fuhr heim"])

    def test_sentences_are_chosen_from_a_list(self):
        self.open()
        self.assertEqual(self.texts("#sentence-picker option"),
            ["1. The group went home", "2. The frontdoors were open.", "3. Yes"])
        self.browser.click("#sentence-picker option[value='2']")
        self.wait_equal("Yes", "return document.getElementById('source-text').textContent")
        self.assert_map(self.records()[2]["hypotheses"][0]["cross"][1][0])

    def test_the_address_keeps_the_view(self):
        self.open()
        self.choose("kind", "encoder_self")
        self.choose("layer", 0)
        self.choose("head", 2)
        self.choose("unit", "words")
        self.browser.click("#line-rows .word[data-index='1']")
        self.browser.click(".heat-cell[data-row='1'][data-column='3']")
        self.wait_for("the address", "return location.hash.includes('cell=1.3')")
        address, title = self.js("return location.hash"), self.title()
        self.open(address)
        self.assertEqual(self.title(), title)
        self.assertEqual(self.browser.attribute("#line-rows .word[data-index='1']", "aria-pressed"), "true")
        self.assertEqual(self.count(".heat-cell.is-explained"), 1)
        self.assertTrue(self.js("return document.querySelector('#unit input[value=words]').checked"))

    def test_a_wrong_address_does_no_harm(self):
        for address in ("#kind=nothing&layer=99&head=-1&sentence=999&cell=88.99&lock=row.77&branch=5000",
            "#%%%&=&==&cell=1&off.cross=a,b",
                        "#kind=__proto__&mean=constructor&sort=x'y&lock=column.999999999999", "#layer=1e3&head=0x1&theme=dark;"):
            self.open(address)
            self.assertIn("cross-attention · layer", self.title())
            self.assertEqual(self.count(".heat-row"), 6 if "sentence" not in address else 2)


class Training(PageCase):
    page = "training"

    def moment(self, index):
        self.js("""const s = document.getElementById('training-slider'); s.value = arguments[0];
            s.dispatchEvent(new Event('input', {bubbles: true}))""", index)

    def test_moments_of_one_text_make_a_slider(self):
        self.open("#kind=cross&layer=1&head=0")
        by_update = {r["model"].get("update"): r for r in self.records()
            if r["source"]["text"] == "The group went home"}
        self.assertEqual(self.count("#sentence-picker option"), 2)
        self.assertIn("update 1,500", self.browser.text("#training-says"))  # it begins with the last moment
        for index, update in enumerate(sorted(by_update)):
            self.moment(index)
            self.assertIn(f"update {update:,}", self.browser.text("#training-says"))
            self.assert_map(by_update[update]["hypotheses"][0]["cross"][1][0])
            self.assertEqual(self.texts("#hypotheses .hypothesis-text"),
                [by_update[update]["hypotheses"][0]["text"]])
        self.browser.click("#sentence-picker option[value='1']")
        self.wait_for("the slider to go", "return document.getElementById('training').hidden")

    def test_play_goes_to_the_end(self):
        self.open("#moment=2")
        self.browser.click("#training-play")
        self.assertEqual(self.browser.attribute("#training-play", "aria-label"), "pause")
        self.wait_equal("play the training",
            "return document.getElementById('training-play').getAttribute('aria-label')")
        self.assertIn("5 of 5", self.browser.text("#training-says"))
        self.browser.click("#training-play")  # restarts from the beginning
        self.wait_for("the last moment",
            "return document.getElementById('training-says').textContent.includes('5 of 5')")

    def test_motion_ends_at_the_exact_map(self):
        self.browser.command("Emulation.setEmulatedMedia",
            {"features": [{"name": "prefers-reduced-motion", "value": "no-preference"}]})
        self.open("#kind=cross&layer=0&head=0")
        by_update = {r["model"].get("update"): r for r in self.records()
            if r["source"]["text"] == "The group went home"}
        self.choose("head", 2)
        rows = by_update[1500]["hypotheses"][0]["cross"][0][2]
        self.assert_map(rows)
        ratio = self.js("return parseFloat(getComputedStyle(document.getElementById('lines')).getPropertyValue('--line-height')) * 0.7")
        wanted = sorted([q, k] for q, row in enumerate(rows) for k, w in enumerate(row) if w * ratio >= 0.06)
        self.wait_equal(wanted, """return [...document.querySelectorAll('#line-picture .line')].map(line =>
            [Number(line.parentNode.dataset.row), Number(line.dataset.column)]).sort((a, b) => a[0] - b[0] || a[1] - b[1])""")


if __name__ == "__main__":
    unittest.main()
