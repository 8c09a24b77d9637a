"""Tests models dropped onto the page, from disk: directories and files of several families, and files that
are broken or not a model."""

import json
import os
import shutil

import alone_case
from alone_case import SHIPPED, change_json, family_model, random_model, run
from browser_case import HOME, RECORDED, BrowserCase, german, page_path
from webdriver import until

OTHER = "The old dog sleeps"


def native(model, text, *options):
    """Returns the native program's translation in 32 bits, as the page computes a reader's own model."""
    return json.loads(run("translate", "--model", model, "--json", "-", "--show", "none", *options, "--", text))["hypotheses"][0]["text"]


def variant(model, name, change):
    """Returns a copy of a model's directory after `change` of its path."""
    def make(path):
        shutil.copytree(model, path)
        change(path)
    return alone_case.made(name, make)


def without(file):
    return lambda path: os.remove(os.path.join(path, file))


def with_bytes(file, change):
    def run_change(path):
        with open(os.path.join(path, file), "rb+") as opened:
            whole = opened.read()
            opened.seek(0)
            opened.truncate()
            opened.write(change(whole))
    return run_change


def with_config(**keys):
    return lambda path: change_json(os.path.join(path, "config.json"), **keys)


# name → (the change to a good directory, the page's message)
BROKEN = {
    "no-config": (without("config.json"), "no config.json among these files"),
    "no-weights": (without("model.safetensors"), "model.safetensors: missing from the model directory"),
    "no-vocabulary": (without("vocab.json"), "vocab.json: no such file; a model directory needs it"),
    "no-pieces": (without("source.spm"), "source.spm: no such file; a model directory needs it"),
    "cut": (with_bytes("model.safetensors", lambda whole: whole[:-100]), "is the file complete?"),
    "empty-weights": (with_bytes("model.safetensors", lambda whole: b""), "found 0 bytes"),
    "overwritten": (with_bytes("model.safetensors", lambda whole: b"\xa5" * len(whole)), "is this a safetensors file?"),
    "damaged-pieces": (with_bytes("source.spm", lambda whole: b"\xff" * len(whole)), "expected a SentencePiece model"),
    "bert": (with_config(model_type="bert"), 'config.json: model_type "bert" is not supported; supported are marian, '),
    "another-width": (with_config(d_model=48), "config.json asks for [89, 48]"),
    "far-too-wide": (with_config(d_model=1 << 20), "beyond the limit"),
    "no-json": (with_bytes("config.json", lambda whole: b"{"), "config.json:"),
}


class Dropped(BrowserCase):
    def answers(self, text, expected):
        self.put("#live-text", text)
        self.wait_text("#live-target", expected)

    def test_a_directory_takes_the_place_of_the_pages_model(self):
        self.open()
        toy = random_model("plain")
        self.drop(toy)
        self.wait_text("#live-target", native(toy, HOME))
        self.answers(OTHER, native(toy, OTHER))
        self.hook_saves()
        self.browser.click("#live-record")
        self.assertEqual(json.loads(self.saved())["model"]["name"], "plain")
        self.drop(SHIPPED)  # larger, and in 16 bits
        self.wait_text("#live-target", native(SHIPPED, OTHER))
        self.assertEqual([entry for entry in self.browser.logs() if entry["level"] == "SEVERE"], [])

    def test_the_shipped_model_of_the_way_back(self):
        self.open()
        self.drop(os.path.join(os.path.dirname(SHIPPED), "de-en"))
        self.answers("Die Gruppe ging nach Hause", "The group went home")
        examples = self.js("return [...document.querySelectorAll('#examples button')].map(b => b.textContent)")
        self.assertEqual((len(examples), examples[0]), (10, "Die Gruppe ging nach Hause"))

    def test_so_do_its_files(self):
        self.open()
        toy = random_model("plain")
        self.drop(*(os.path.join(toy, name) for name in os.listdir(toy)))
        self.wait_text("#live-target", native(toy, HOME))

    def test_dropped_before_the_program_is_there(self):
        toy = random_model("plain")
        # Decompression ends when the test allows it.
        with self.browser.before_pages("""const whole = Response.prototype.arrayBuffer, held = new Promise((resolve) => { window.letOn = resolve; });
                Response.prototype.arrayBuffer = function() { return held.then(() => whole.call(this)); };"""):
            self.browser.open(page_path())
            self.begun()
            self.drop(toy)
            self.wait_says("opening the model")
            self.assertEqual(self.text("#live-target"), RECORDED)
            self.js("letOn()")
            self.wait_text("#live-target", native(toy, HOME))

    def test_languages_and_prefixes_of_families(self):
        self.open()
        for name, field, value, options in (("nllb", "#live-target-lang", "German", ["--target-lang", "German"]),
                                            ("mbart", "#live-target-lang", "German", ["--target-lang", "German"]),
                                            ("t5", "#live-prefix", "to German: ", ["--prefix", "to German: "])):
            with self.subTest(name=name):
                model = family_model(name)
                self.drop(model)
                until(f"{field} of {name}", lambda: self.js("return document.querySelector(arguments[0]).getClientRects().length > 0", field))
                self.wait_text("#live-target", native(model, HOME))
                self.js("""const [selector, value] = arguments, field = document.querySelector(selector);
                    field.value = value; field.dispatchEvent(new Event("change", {bubbles: true}));""", field, value)
                expected = native(model, OTHER, *options)
                self.assertNotEqual(expected, native(model, OTHER))
                self.answers(OTHER, expected)
                self.put("#live-text", HOME)
                self.wait_text("#live-target", native(model, HOME, *options))

    def test_what_is_broken_is_said_and_the_model_of_before_answers(self):
        self.open()
        texts = [HOME, OTHER]
        for number, (name, (change, words)) in enumerate(BROKEN.items()):
            with self.subTest(name=name):
                self.drop(variant(random_model("plain"), name, change))
                self.wait_says(words)
                self.assertNotIn("/model/", self.text("#live-says"))
                self.assertTrue(self.js("return document.getElementById('live').classList.contains('is-wrong')"))
                self.answers(texts[(number + 1) % 2], german(texts[(number + 1) % 2]))
        self.assertEqual([entry for entry in self.browser.logs() if entry["level"] == "SEVERE"], [])

    def test_what_is_no_model(self):
        self.open()
        empty = alone_case.made("empty", os.mkdir)
        picture = alone_case.made("picture.png", lambda path: shutil.copy(os.path.join(alone_case.ROOT, "docs", "page.png"), path))
        for paths, words in (([empty], "no config.json"), ([picture], "no config.json"), ([empty, random_model("plain")], "several directories"),
                             ([os.path.join(random_model("plain"), "config.json")], "model.safetensors: missing")):
            with self.subTest(paths=paths):
                self.drop(*paths)
                self.wait_says(words)
                self.assertEqual(self.text("#live-target"), RECORDED)
        self.answers(OTHER, german(OTHER))

    def test_of_two_that_are_opened_the_later_one_counts(self):
        toy, bert = random_model("plain"), variant(random_model("plain"), "bert", BROKEN["bert"][0])
        for first, second in ((SHIPPED, toy), (bert, toy)):
            with self.subTest(first=first):
                self.open()
                self.drop(first)
                self.drop(second)
                self.wait_text("#live-target", native(toy, HOME))
                self.answers(OTHER, native(toy, OTHER))
        self.drop(SHIPPED)
        self.drop(bert)
        self.wait_says("bert")
        self.answers(HOME, native(toy, HOME))
