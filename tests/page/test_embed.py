"""Tests the page in a frame of another page: its size, its address, and the messages between the two."""

import os

from page_case import PageCase, Shared

SIZES = ((500, 320), (700, 400), (1400, 900))


class Embed(PageCase):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.browser.resize, 1280, 900)

    def shown(self, *ids):
        return self.js("return arguments[0].map(id => document.getElementById(id).checkVisibility())", ids)

    def test_the_whole_map_fits_the_frame_and_fills_it(self):
        for width, height in SIZES:
            self.browser.resize(width, height)
            self.open("#embed&kind=cross&layer=1")
            self.wait_equal([True, 0, 0], """const [grid, box] = [document.getElementById('heat-grid'), document.querySelector('.heat-box')].map(e => e.getBoundingClientRect());
                return [grid.bottom <= box.bottom && grid.right <= box.right && box.bottom <= innerHeight,
                    document.documentElement.scrollHeight - innerHeight, document.documentElement.scrollWidth - innerWidth]""")
            self.assertGreater(self.js("return document.getElementById('heat-grid').getBoundingClientRect().height"), 0.5 * height)
            tall = height > 520
            self.assertEqual(self.shown("hypotheses", "view", "digits", "stage-weight"), [tall] * 4, height)
            self.assertEqual(self.shown("lines", "to-reading", "overview", "switches"), [tall, False, False, False], height)

    def test_another_size_scales_the_map(self):
        row = "return document.querySelector('.heat-row').getBoundingClientRect().height"
        self.browser.resize(700, 300)
        self.open("#embed&kind=cross&layer=1")
        low = self.js(row)
        self.browser.resize(700, 480)
        self.wait_for("higher rows", f"{row} > {low + 5}")

    def test_the_address_keeps_what_is_no_field(self):
        self.open("#embed&bench=2&kind=cross&layer=0")
        self.browser.press("l")
        self.wait_for("the address", "return /layer=1/.test(location.hash) && /&embed&bench=2$/.test(location.hash)")

    def test_kinds_have_the_names_of_the_command_line_too(self):
        for kind, title in (("encoder", "encoder self-attention"), ("decoder", "decoder self-attention"), ("cross", "cross-attention")):
            self.open(f"#kind={kind}")
            self.assertTrue(self.title().startswith(title), kind)

    def test_messages_between_the_two_pages(self):
        self.open()  # writes the page
        outside = os.path.join(Shared.folder.name, "outside.html")
        with open(outside, "w", encoding="utf-8") as page:
            page.write(f"""<!doctype html><meta charset="utf-8"><title>outside</title><iframe src="{os.path.basename(Shared.pages['main'])}#embed&kind=cross"
                width="600" height="380"></iframe><script>window.told = []; addEventListener("message", ({{data}}) => told.push(data));
                window.ask = (view) => document.querySelector("iframe").contentWindow.postMessage({{type: "attn-demo.show", view}}, "*");</script>""")
        self.browser.open(outside)
        self.wait_for("the first view", "return told.some(one => one.type === 'attn-demo.view' && one.height > 150 && one.height < 380)")
        self.js("ask('kind=encoder&layer=1&head=2')")
        self.wait_for("the view", "return told.some(({view}) => view && view.includes('kind=encoder_self&layer=1&head=2'))")
        self.assertEqual(self.js("return told.filter(one => one.type === 'attn-demo.error').length"), 0)
        self.js("ask('kind=sideways&layer=0&colour=red')")
        self.wait_for("the error", "return told.some(one => one.type === 'attn-demo.error')")
        error = self.js("return told.find(one => one.type === 'attn-demo.error').error")
        self.assertIn("no kind “sideways”: encoder_self, decoder_self, cross, encoder, decoder", error)
        self.assertIn("no field “colour”", error)
        # A frame that takes the height that the page reports comes to rest.
        self.js("""window.heights = []; addEventListener('message', ({data}) => {
            if (data.height && heights.length < 50) { heights.push(data.height); document.querySelector('iframe').style.height = `${data.height}px`; }
        }); ask('layer=1')""")
        self.wait_for("a height", "return heights.length > 0")
        self.js("return new Promise(done => setTimeout(done, 500))")
        self.assertLess(self.js("return heights.length"), 6)
        self.js("ask('layer=0')")
        self.wait_for("what it knows", "return told.some(({view}) => view && view.includes('kind=encoder_self&layer=0'))")
