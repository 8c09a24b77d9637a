"""Tests the page without a mouse, with a screen reader, on any screen, on paper, in light and dark."""

import os
import re
import unittest

from page_case import PageCase, Shared


class Keyboard(PageCase):
    def press(self, *keys):
        self.browser.press(*keys)

    def tab_to(self, selector, most=80):
        for _ in range(most):
            self.press("Tab")
            if self.js("return document.activeElement.matches(arguments[0])", selector):
                return
        self.fail(f"Tab does not reach {selector}")

    def test_everything_without_a_mouse(self):
        self.open("#kind=cross&layer=1&head=0")
        record = self.records()[0]
        cross = record["hypotheses"][0]["cross"]
        self.tab_to(".skip")
        self.tab_to("#hypotheses input")
        self.press("Down")
        self.assert_map(record["hypotheses"][1]["cross"][1][0])
        self.press("Up")
        self.tab_to("#kind input")
        self.press("Left")
        self.assertIn("decoder self-attention", self.title())
        self.press("Right")
        self.tab_to(".thumb")
        self.press("Up", "Right", "Right")
        self.assertEqual(self.title(), "cross-attention · layer 0 · head 2")
        self.assertEqual(self.browser.focused()["data"]["head"], "2")
        self.tab_to(".word-row")
        self.press("Down", "Down", "Enter")
        self.assertEqual(self.browser.attribute(".word-row[data-index='2']", "aria-pressed"), "true")
        self.press("Left")
        self.assertTrue(self.js("return document.activeElement.matches('.word-column')"))
        self.tab_to(".heat-cell")
        self.press("Control+Home", "Down", "Right", "Right")
        self.assertEqual(float(self.browser.focused()["data"]["value"]), cross[0][2][1][2])
        self.assertIn("reads Die, writes Gruppe, looks at went", self.browser.focused()["label"])
        self.press("Enter")
        self.wait_for("the steps", "return document.querySelectorAll('.step').length === 5")
        self.tab_to("#tree-fold")
        self.press("Enter")
        self.tab_to(".node")
        self.press("Enter")
        self.wait_for("the branch", "return !document.getElementById('branch-chip').hidden")
        self.press("Left", "Left", "Right", "Enter")
        self.press("Escape", "Escape", "Escape")  # a branch has no report
        self.tab_to(".sort")
        self.press("Enter")
        self.assertTrue(self.js("return document.activeElement.matches('.sort')"))

    def test_single_keys(self):
        self.open("#kind=cross&layer=0&head=0")
        for keys, title in ((["h"], "cross-attention · layer 0 · head 1"),
            (["H", "H"], "cross-attention · layer 1 · head 2"), (["l"], "cross-attention · layer 0 · head 2"),
                            (["1"], "encoder self-attention · layer 0 · head 2"), (["2"],
                                "decoder self-attention · layer 0 · head 2"), (["3",
                                "m"], "cross-attention · layer 0 · 3 heads in colours"),
                            (["m"], "cross-attention · layer 0 · mean of 3 heads"),
                            (["o"], "cross-attention · layer 0 · mean of 2 heads"), (["m"],
                                "cross-attention · 2 layers · mean of 5 heads"), (["m",
                                "h"], "cross-attention · layer 1 · head 0")):
            self.press(*keys)
            self.assertEqual(self.title(), title, keys)
        self.press("w")
        self.assertTrue(self.js("return document.querySelector('#unit input[value=words]').checked"))
        self.press("w", "v")
        self.assertTrue(self.js("return document.getElementById('heat').hidden"))
        self.press("n")
        self.assertTrue(self.js("return document.querySelector('#hypotheses input[value=\"1\"]').checked"))
        self.press("s")
        self.assertEqual(self.browser.text("#source-text"), "The frontdoors were open.")
        self.press("c")
        self.assertEqual(self.browser.attribute("html", "data-theme"), "dark")

    def test_keys_are_listed_and_can_be_switched_off(self):
        self.open("#kind=cross")
        self.press("?")
        self.wait_for("the list", "return document.getElementById('keys').open")
        self.assertIn("arrow keys", self.browser.text("#keys").lower())
        self.browser.click("#keys-on")
        self.press("Escape")
        self.wait_for("the list to close", "return !document.getElementById('keys').open")
        self.press("1")
        self.assertIn("cross-attention", self.title())

    def test_escape_closes_one_thing_after_the_other(self):
        self.open("#lock=row.1&cell=1.1&branch=2")
        self.press("Escape")
        self.assertEqual(self.count(".heat-cell.is-explained"), 0)
        self.assertEqual(self.count(".word.is-locked"), 1)
        self.press("Escape")
        self.assertEqual(self.count(".word.is-locked"), 0)
        self.press("Escape")
        self.assertTrue(self.js("return document.getElementById('branch-chip').hidden"))

    def test_every_grid_is_one_stop(self):
        self.open("#kind=decoder_self")
        self.browser.click("#tree-fold")
        for part in (".thumb", ".heat-cell", ".word-row", ".word-column", ".node"):
            self.assertEqual(self.js("return [...document.querySelectorAll(arguments[0])].filter(e => e.getAttribute('tabindex') === '0').length", part), 1, part)

    def test_the_focus_is_seen(self):
        self.open()
        self.browser.click("#tree-fold")
        self.js("document.activeElement.blur(); scrollTo(0, 0)")
        for part in ("#hypotheses input", "#kind input", ".thumb", ".word-row", ".heat-cell", ".node",
            ".sort"):
            self.tab_to(part)
            seen = self.js("""const e = document.activeElement; const box = e.matches('.segment input') ? e.nextElementSibling
                : e.matches('.node') ? e.querySelector('rect') : e; const s = getComputedStyle(box);
                return (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2) || parseFloat(s.strokeWidth) >= 3""")
            self.assertTrue(seen, f"the focus on {part}")


class Reader(PageCase):
    def test_everything_has_a_name(self):
        for address in ("#kind=decoder_self&cell=1.1", "#sentence=1&unit=words&mean=all&cell=1.1"):
            self.open(address)
            tree = self.browser.command("Accessibility.getFullAXTree", {})["nodes"]
            seen = {}
            for node in tree:
                role = node.get("role", {}).get("value")
                if node.get("ignored") or role not in ("button", "radio", "checkbox", "slider", "link",
                    "gridcell", "grid", "combobox", "columnheader",
                                                       "rowheader", "tree", "treeitem", "table", "region", "image", "group", "heading"):
                    continue
                seen[role] = seen.get(role, 0) + 1
                if role not in ("columnheader", "heading"):
                    self.assertTrue(node.get("name", {}).get("value"), f"a {role} without a name: {node}")
            for role in ("button", "radio", "gridcell", "grid", "rowheader", "columnheader", "heading"):
                self.assertIn(role, seen)

    def test_what_happens_is_announced(self):
        self.open("#kind=cross&layer=0&head=0")
        self.browser.press("h")
        self.wait_equal("cross-attention · layer 0 · head 1",
            "return document.getElementById('announcements').textContent")
        self.assertEqual(self.browser.attribute("#announcements", "aria-live"), "polite")


class Screens(PageCase):
    def test_nothing_sticks_out(self):
        for name, address in (("main", "#cell=2.2"), ("main", "#kind=decoder_self&cell=1.0&branch=3"),
            ("training", ""), ("film", ""), ("hostile", "#cell=3.3")):
            for width in (360, 640, 768, 1024, 1280, 1920, 2560):
                self.browser.resize(width, 800)
                self.open(address, name)
                wide = self.js("return document.documentElement.scrollWidth")
                self.assertLessEqual(wide, width, f"{name}{address} at {width} px")

    def test_words_stand_level_with_the_rows_beside_them(self):
        self.open("#kind=cross")
        self.assertTrue(self.js("return document.getElementById('stage-views').classList.contains('is-beside')"))
        tops = self.js("""return [[...document.querySelectorAll('.word-row')], [...document.querySelectorAll('.heat-rowhead')]].map(list =>
            list.map(e => { const box = e.getBoundingClientRect(); return (box.top + box.bottom) / 2; }))""")
        for word, row in zip(*tops):
            self.assertAlmostEqual(word, row, delta=1.5)

    CONTRASTS = """
        const parse = (text) => { const n = text.match(/[\\d.]+/g).map(Number);
            return text.startsWith('color(srgb') ? [255 * n[0], 255 * n[1], 255 * n[2], n.length > 3 ? n[3] : 1] : [n[0], n[1], n[2], n.length > 3 ? n[3] : 1]; };
        const over = (top, under) => top.slice(0, 3).map((c, i) => c * top[3] + under[i] * (1 - top[3])).concat(1);
        const luminance = (c) => { const l = c.slice(0, 3).map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
            return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2]; };
        const ground = (e) => { const layers = []; for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); layers.push(c); if (c[3] === 1) break; }
            return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 1]); };
        const poor = [];
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        let checked = 0;
        while (walk.nextNode()) {
            const e = walk.currentNode.parentElement;
            if (!walk.currentNode.data.trim() || !e.checkVisibility() || e.closest('script, .unseen, svg, option')) continue;
            const under = ground(e);
            const ink = over(parse(getComputedStyle(e).color), under);
            const [a, b] = [luminance(ink), luminance(under)].sort((x, y) => y - x);
            const ratio = (a + 0.05) / (b + 0.05);
            ++checked;
            if (ratio < 4.5) poor.push([walk.currentNode.data, e.className, ratio]);
        }
        return [checked, poor];"""

    def test_text_stands_out_in_light_and_dark(self):
        for theme in ("light", "dark"):
            for address in ("#kind=decoder_self&cell=2.1&lock=row.3&mean=layer",
                "#kind=cross&cell=2.1&lock=row.3&branch=3&off.cross=0.1", "#sentence=1&unit=words"):
                self.open(f"{address}&theme={theme}")
                self.wait_for("colours to settle", "return document.getAnimations().length === 0")
                checked, poor = self.js(self.CONTRASTS)
                self.assertGreater(checked, 60)
                self.assertEqual(poor, [], f"{theme} {address}")

    def ramp(self):
        (width, _), d = self.pixels("#legend-scale")
        return [d[4 * i:4 * i + 3] for i in range(width)]

    @staticmethod
    def luminance(rgb):
        parts = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    def test_the_scale_is_even_and_survives_grey(self):
        for theme, sign in (("light", -1), ("dark", 1)):
            self.open(f"#theme={theme}")
            light = [116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y
                for y in map(self.luminance, self.ramp())]  # CIE L*
            self.assertGreater(abs(light[-1] - light[0]), 60)
            steps = [sign * (b - a) for a, b in zip(light, light[12:])]
            self.assertGreater(min(steps), 0, "it only goes one way")
            self.assertLess(max(steps), 2.2 * min(steps), "equal steps of the scale look about equally large")
            faint = self.js("return getComputedStyle(document.querySelector('.quiet')).color.match(/[\\d.]+/g).map(Number)")
            for rgb in self.ramp()[:int(240 * 0.005 ** 0.5) + 1]:  # weights that are shown in faint text
                a, b = sorted((self.luminance(rgb), self.luminance(faint)))
                self.assertGreater((b + 0.05) / (a + 0.05), 4.5)

    def test_the_system_chooses_dark(self):
        grounds = {}
        for scheme in ("light", "dark"):
            self.browser.command("Emulation.setEmulatedMedia",
                {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            self.open()
            grounds[scheme] = self.luminance([int(n)
                for n in re.findall(r"\d+",
                self.js("return getComputedStyle(document.body).backgroundColor"))])
            self.assertEqual(self.browser.text("#theme"), "Dark" if scheme == "light" else "Light")
        self.assertGreater(grounds["light"], 0.8)
        self.assertLess(grounds["dark"], 0.02)
        self.browser.click("#theme")
        self.assertEqual(self.browser.attribute("html", "data-theme"), "light")

    def test_paper(self):
        self.open("#theme=dark&cell=1.1")
        path = os.path.join(Shared.folder.name, "page.pdf")
        self.browser.pdf(path)
        with open(path, "rb") as file:
            self.assertEqual(file.read(5), b"%PDF-")
        self.browser.command("Emulation.setEmulatedMedia", {"media": "print"})
        self.wait_equal("light", "return document.documentElement.dataset.theme")
        self.assertFalse(self.js("return document.getElementById('switches').checkVisibility()"))
        self.assertTrue(self.js("return document.getElementById('heat').checkVisibility()"))
        self.browser.command("Emulation.setEmulatedMedia", {"media": ""})
        self.wait_equal("dark", "return document.documentElement.dataset.theme")


if __name__ == "__main__":
    unittest.main()
