"""Tests the module under Node: its answers equal those of the native program with the portable kernels, byte
by byte."""

import json
import unittest

import alone_case
import goldens
from alone_case import SHIPPED, NativeToy, ask_module, random_model, run

SENTENCES = ["The group went home", "The old dog sleeps in the warm kitchen, because nobody wants to go out.", "Häuser – “quoted” ½ ﬁne\u0301 字",
             "I", "", "What will you do if it rains tomorrow?"]

TOY_TEXT = "Tomorrow the woman will go to school"

# name → changes to the toy's model: each kind of attention, norms, activations, positions, widths.
SHAPES = {
    "plain": [],
    "one-head": ["model.encoder_attention_heads=1", "model.decoder_attention_heads=1"],
    "pre-norm": ["model.normalize_before=true", "model.add_final_layer_norm=true"],
    "gelu": ["model.activation_function=gelu"],
    "swish-deep": ["model.activation_function=swish", "model.decoder_layers=3"],
    "learned": ["model.static_position_embeddings=false"],
    "unscaled": ["model.scale_attention=false"],
    "untied": ["model.tie_word_embeddings=false"],
    "window": ['model.encoder_attention={"type": "window", "window": 4}'],
    "linformer": ['model.encoder_attention={"type": "linformer", "k": 3}'],
    "lsh": ['model.encoder_attention={"type": "lsh", "block_size": 2, "buckets": 4, "rounds": 2}'],
    "wide": ["model.d_model=66", "model.encoder_ffn_dim=130"],
}


def largest_difference(one, other):
    """Returns the largest difference between the numbers of two JSON values that are otherwise equal."""
    if isinstance(one, float) and isinstance(other, (int, float)):
        return abs(one - other)
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return max((largest_difference(one[key], other[key]) for key in one), default=0)
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return max((largest_difference(a, b) for a, b in zip(one, other)), default=0)
    return 0 if one == other else float("inf")


def native(model, sentence, *options):
    return run("translate", "--model", model, "--json", "-", "--show", "none", *options, "--", sentence)


class Module(unittest.TestCase):
    maxDiff = 2000

    def compare(self, model, asked, eight_bits=False):
        """Returns the records; `asked` is [(sentence, further keys of the body, options with the same
        meaning)]."""
        records = []
        opened, *answers = ask_module(model, [("/api/attend", {"text": text, **body}) for text, body, _ in asked], "1" if eight_bits else "0")
        self.assertEqual(opened["status"], 200, opened)
        for answer, (text, body, options) in zip(answers, asked):
            with self.subTest(model=model, text=text, body=body):
                self.assertEqual(answer["status"], 200, answer["text"])
                expected = native(model, text, *options, *(["--precision", "int8"] if eight_bits else []))
                records.append(json.loads(answer["text"]))
                self.assertEqual(records[-1], json.loads(expected))
                self.assertEqual(answer["text"], expected)  # equal to the byte
        return records

    def test_the_shipped_model(self):
        plain = [(text, {}, []) for text in SENTENCES]
        home = SENTENCES[0]
        self.compare(SHIPPED, [*plain,
            (home, {"beams": 1}, ["--beam", "1"]),
            (home, {"beams": 6, "n_best": 3}, ["--beam", "6", "--n-best", "3"]),
            (home, {"target": "Die Gruppe ging heim"}, ["--target", "Die Gruppe ging heim"]),
            (home, {"without": ["cross:2:2"]}, ["--without", "cross:2:2"]),
            (home, {"force": ["cross:2:1:3=1"]}, ["--force", "cross:2:1:3=1"]),
            (home, {"swap": ["1=dog"]}, ["--swap", "1=dog"])])

    def test_the_shipped_model_in_8_bits(self):
        model = alone_case.made("int8", lambda path: run("convert", "--model", SHIPPED, "--dtype", "int8", "--out", path))
        self.compare(model, [(text, {}, []) for text in SENTENCES], eight_bits=True)

    def test_models_of_a_dozen_shapes(self):
        for name, changes in SHAPES.items():
            self.compare(random_model(name, *changes), [(TOY_TEXT, {"max_length": 12}, ["--max-length", "12"])])

    def test_goldens_of_every_family(self):
        for name in goldens.NAMES:
            searches, forced = goldens.searches(name), goldens.forced(name)
            records = self.compare(goldens.directory(name), [each[:3] for each in searches + forced])
            self.assertEqual(len(records), len(searches) + len(forced))
            for record, (*_, case) in zip(records, searches):
                goldens.check_search(self, record, case)
            for record, (*_, case) in zip(records[len(searches):], forced):
                goldens.check_forced(self, record, case)

    def test_performers_features_are_of_another_libm(self):
        model = random_model("performer", 'model.encoder_attention={"type": "performer"}')
        _, answer = ask_module(model, [("/api/attend", {"text": TOY_TEXT, "max_length": 12})])
        self.assertLess(largest_difference(json.loads(answer["text"]), json.loads(native(model, TOY_TEXT, "--max-length", "12"))), 1e-5)

    def test_training_has_the_native_bits(self):
        native_toy = NativeToy()
        steps = [0, 1, 2, 37, 500, 1500]
        asked = [("/api/train", {"updates": step}) for step in steps] + [("/api/page", {"text": TOY_TEXT}), ("/api/train", {"updates": 1.5})]
        opened, *answers, page, refused = ask_module(native_toy.experiment(), asked, "train")
        self.assertEqual(json.loads(opened["text"])["models"], ["toy"])
        told = [json.loads(answer["text"])["live"]["training"] for answer in answers]
        self.assertEqual([one["update"] for one in told], [0, 1, 3, 40, 540, 1500])
        self.assertEqual([one["finished"] for one in told], [False] * 5 + [True])
        self.assertEqual([loss for one in told for loss in one["losses"]], native_toy.losses)
        self.assertEqual([look for one in told for look in one["looks"]], native_toy.looks)
        self.assertEqual(told[-1]["weights"], native_toy.weights)
        self.assertEqual(told[-1]["text"], "Die Gruppe ging nach Hause")
        self.assertEqual(json.loads(page["text"])["records"][0]["hypotheses"][0]["text"], "Morgen wird die Frau zur Schule gehen")
        self.assertEqual(refused["status"], 422)
        self.assertIn("whole number", refused["text"])

    def test_it_translates_lists(self):
        """What the page's measurement of its speed asks for."""
        for beams in (1, 4):
            _, answer = ask_module(SHIPPED, [("/api/translate", {"text": SENTENCES, "beams": beams})])
            told = [one["translations"][0]["text"] for one in json.loads(answer["text"])]
            self.assertEqual(told, [json.loads(native(SHIPPED, text, "--beam", str(beams)))["hypotheses"][0]["text"] for text in SENTENCES])

    def test_refusals_are_the_servers(self):
        home = {"text": SENTENCES[0]}
        _, *answers = ask_module(SHIPPED, [("/api/page", "{"), ("/api/page", {}), ("/api/nothing", home), ("/api/page", {**home, "beam": 2}),
                                           ("/api/page", {**home, "without": ["cross:9"]}), ("/api/page", home)])
        self.assertEqual([answer["status"] for answer in answers], [400, 422, 404, 422, 422, 200])
        self.assertIn('"error"', answers[0]["text"])
        self.assertIn("nearest", answers[3]["text"])


if __name__ == "__main__":
    unittest.main()
