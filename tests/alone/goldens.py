"""PyTorch's goldens (tests/golden/models) as complete models to test. Their directories have no tokenizer, so
each gets one whose words are its ids: w05 is 5."""

import json
import os
import re
import shutil

from alone_case import ROOT, made

MODELS = os.path.join(ROOT, "tests", "golden", "models")
# Every norm, activation, kind of positions and type of weights, and every family that needs no separate vocabularies.
NAMES = ["marian-2-heads-toy", "marian-4-heads-opus-f16", "marian-5-heads-bf16", "marian-6-heads-gelu", "marian-learned-positions",
         "marian-untied-output", "pegasus-6-heads-swish", "pegasus-x-chunks", "bigbird-blocks", "bart-3-heads", "led-windows",
         "t5-gated-untied-f16", "t5-wide-heads", "umt5-tables", "demo-everything", "demo-pre-norm-without-final"]


def golden(name):
    with open(os.path.join(MODELS, name, "golden.json"), encoding="utf-8") as file:
        return json.load(file)


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write_json(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)


def word(token):
    return f"w{token:02}"


def text_of(ids):
    return " ".join(map(word, ids))


def directory(name):
    """Returns the folder of such a model."""
    def make(path):
        shutil.copytree(os.path.join(MODELS, name), path, ignore=shutil.ignore_patterns("golden.json"))
        config = read_json(os.path.join(path, "config.json"))
        end = config["eos_token_id"]
        pieces = ["▁" + word(token) for token in range(config["vocab_size"])]
        unknown = next(token for token in range(3) if token not in (end, config["pad_token_id"]))
        spaces = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
        write_json(os.path.join(path, "tokenizer.json"), {
            "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, spaces]}, "decoder": spaces,
            "post_processor": {"type": "TemplateProcessing", "pair": [], "single": [{"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "end", "type_id": 0}}],
                "special_tokens": {"end": {"id": "end", "ids": [end], "tokens": [pieces[end]]}}},
            "model": {"type": "Unigram", "unk_id": unknown, "vocab": [[piece, -1.0] for piece in pieces]}})
        write_json(os.path.join(path, "tokenizer_config.json"), {"eos_token": pieces[end], "pad_token": pieces[config["pad_token_id"]],
                                                                 "unk_token": pieces[unknown]})
    return made("golden-" + name, make)


def tolerance(error, least):
    """Returns the tolerance for a number of PyTorch's that is itself `error` away from float64's."""
    return max(least, 3 * error)


def farthest(one, other):
    """Returns the largest distance between the numbers of two lists of the same shape; maps omit keys that no
    query sees."""
    if isinstance(one, list) and isinstance(other, list):
        assert len(one) == len(other), (len(one), len(other))
        return max((farthest(a, b) for a, b in zip(one, other)), default=0)
    return abs(one - (other or 0))


# A setting of `generate` → the field of a request and the option of the command.
OPTIONS = {"num_beams": ("beams", "--beam"), "num_return_sequences": ("n_best", "--n-best"), "max_length": ("max_length", "--max-length"),
           "length_penalty": ("length_penalty", "--length-penalty"), "early_stopping": ("early_stopping", "--early-stopping")}


def asked(name, kind):
    """Returns the cases that a text can request: with words, and for LED with at most the first token global."""
    return [case for case in golden(name)[kind] if len(case["source_ids"]) > 1 and case.get("globals", [0]) == [0]]


def searches(name):
    """Returns [(text, body, options, golden)] of the model's beam searches."""
    found = []
    for case in asked(name, "beam"):
        body, options = {}, []
        for key, value in case["overrides"].items():
            field, option = OPTIONS[key]
            body[field] = value - 1 if key == "max_length" else value  # max_length counts the start symbol
            options.append(f"{option}={str(body[field]).lower()}")
        found.append((text_of(case["source_ids"][:-1]), body, options, case))
    return found


def forced(name):
    """Returns the same for given translations."""
    cases = [case for case in asked(name, "teacher_forced") if len(case["target_ids"]) > 1]
    targets = [text_of(case["target_ids"][:-1]) for case in cases]
    return [(text_of(case["source_ids"][:-1]), {"target": target}, ["--target", target], case) for case, target in zip(cases, targets)]


def check_search(test, record, case):
    """Checks the ids and scores of a search's hypotheses."""
    least = tolerance(case.get("error", {}).get("score", 0), 1e-4)
    test.assertEqual(record["source"]["ids"], case["source_ids"])
    test.assertEqual([each["ids"] for each in record["hypotheses"]], [each["ids"] for each in case["hypotheses"][:len(record["hypotheses"])]])
    for ours, theirs in zip(record["hypotheses"], case["hypotheses"]):
        test.assertLess(abs(ours["score"] - theirs["score"]), least)


def check_forced(test, record, case):
    """Checks the cells of every map, and the probability of each given word."""
    ours = record["hypotheses"][0]
    test.assertEqual(ours["ids"], case["target_ids"])
    for name, place in (("encoder_self", record), ("decoder_self", ours), ("cross", ours)):
        test.assertLess(farthest(case[name], place[name]), tolerance(case["error"]["attention"], 1e-5), name)
    test.assertLess(farthest(case["log_probs"], ours["log_probs"]), tolerance(case["error"]["log_prob"], 1e-4))
