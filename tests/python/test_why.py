"""Tests that why() has the command's numbers, in arrays, in words and in rows of a table."""

import copy
import gc
import json
import pickle

import numpy as np
import pytest

import attn_demo
from conftest import SENTENCE

CORRUPT = "The group went out"


@pytest.fixture(scope="module")
def by_command(program):
    _, out, _ = program("why", SENTENCE, "--methods", "all", "--corrupt", CORRUPT, "--json", "-")
    return json.loads(out)


@pytest.fixture(scope="module")
def why(model):
    return model.why(SENTENCE, methods="all", corrupt=CORRUPT)


def same(found, expected):
    """True if two structures hold the same numbers and texts; counts what is compared."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        return sum(same(found[key], expected[key]) for key in expected)
    if isinstance(found, np.ndarray):
        expected = np.array(expected, dtype=found.dtype)
        assert found.shape == expected.shape
        assert np.array_equal(found, expected) if found.dtype != np.float64 else np.allclose(found, expected, rtol=1e-12)
        return found.size
    if isinstance(expected, list) and expected and isinstance(expected[0], (dict, list)):
        assert len(found) == len(expected)
        return sum(same(*pair) for pair in zip(found, expected))
    assert (tuple(found) if isinstance(found, tuple) else found) == (
        tuple(expected) if isinstance(found, tuple) else pytest.approx(expected, rel=1e-6)
        if isinstance(expected, float) else expected)
    return 1


def test_arrays_are_the_numbers_of_the_command(why, by_command):
    assert why.text == by_command["target"]["text"] == "Die Gruppe ging nach Hause"
    assert why.source_text == SENTENCE
    assert why.tokens == by_command["target"]["tokens"] and why.ids == by_command["target"]["ids"]
    assert why.source_tokens == by_command["source"]["tokens"] and why.source_ids == by_command["source"]["ids"]
    assert why.decoder_tokens == by_command["decoder_input"]["tokens"]
    assert why.foil_tokens == by_command["foil"]["tokens"] and why.foil_ids == by_command["foil"]["ids"]
    same(why.logits, by_command["logits"])
    same(why.log_probs, by_command["log_prob"])
    same(why.foil_logits, by_command["foil"]["logits"])
    tokens, layers, heads, sources = 6, 3, 4, 5
    assert same(why.receipt, by_command["receipt"]) > 2 * tokens * layers * heads * sources
    assert why.receipt["word"]["cross"].shape == (tokens, layers, heads, sources)
    same(why.occlusion, by_command["occlusion"])
    assert why.occlusion["drop"].shape == (tokens, sources - 1)
    same(why.contributions, {key: by_command[key] for key in why.contributions})
    assert set(why.contributions) == {"value_weighted", "value_weighted_layer", "res_ln_layer", "mixing_ratio",
                                      "alti", "alti_plus"}
    same(why.gradients, by_command["gradient"])
    same(why.integrated, by_command["integrated_gradients"])
    same(why.patching, by_command["patching"])
    assert why.patching["encoder"].shape == (6, sources)


def test_lens_is_that_of_the_command(why, by_command):
    logit_lens = by_command["logit_lens"]
    for name in ("ids", "tokens", "log_probs"):
        same(why.lens["logit_lens"][name], [[step[name] for step in state] for state in logit_lens])
    assert why.lens["logit_lens"]["ids"].shape == (4, 6, 5)
    for name in ("logit_lens_rank", "decoder_lens", "decoder_lens_log_prob"):
        same(why.lens[name], by_command[name])
    assert why.lens["decoder_lens"][-1]["text"] == why.text


def test_json_and_svg_are_the_commands(model, program):
    why = model.why(SENTENCE)
    assert json.loads(why.json()) == json.loads(program("why", SENTENCE, "--json", "-")[1])
    assert why.svg() == why._repr_svg_() == program("why", SENTENCE, "--svg", "-")[1]


def test_words_add_up_to_the_logits(model):
    why = model.why("The unbelievable storyteller went home", methods="occlusion")
    assert any(word.length > 1 for word in why.words)
    assert "".join(why.tokens).replace("▁", " ").split()[0] == why.words[0].text
    for word in why.words:
        steps = slice(word.first, word.first + word.length)
        assert word.logit.total == pytest.approx(why.logits[steps].sum(), rel=1e-4)
        assert word.log_prob == pytest.approx(why.log_probs[steps].sum(), rel=1e-5)
        step = word.foil.step
        assert word.foil.word == why.tokens[step] and word.foil.text == why.foil_tokens[step]
        assert word.foil.difference.total == pytest.approx(why.logits[step] - why.foil_logits[step], abs=1e-3)
        assert not word.foil.given
        assert [share.text for share in word.logit.source][-1] == "</s>"
        cross = why.receipt["word"]["cross"][steps].sum(axis=(0, 1, 2))
        assert sum(share.value for share in word.logit.source) == pytest.approx(cross.sum(), rel=1e-4)
        assert [fall.text for fall in word.occlusion] == [share.text for share in word.logit.source[:-1]]
        items = {name: array[steps].sum() for name, array in why.receipt["word"].items()}
        assert word.logit.feed_forward == pytest.approx(items["ffn"], rel=1e-4)
        assert word.logit.position == pytest.approx(items["position"], rel=1e-4)
        assert sum(share.value for share in word.logit.prefix) == pytest.approx(items["self"] + items["token"], abs=1e-4)
        assert word.logit.rest == pytest.approx(items["ffn"] + items["position"] + word.logit.biases, abs=1e-4)


def test_table_holds_the_words_in_rows(model):
    why = model.why(SENTENCE, methods=["receipt", "occlusion"])
    table = why.table()
    assert all(list(row) == ["word", "step", "method", "part", "index", "text", "value"] for row in table)
    for word in why.words:
        rows = [row for row in table if row["word"] == word.text]
        receipt = [row for row in rows if row["method"] == "receipt.word"]
        assert sum(row["value"] for row in receipt) == pytest.approx(word.logit.total)
        assert {row["part"] for row in receipt} == {"source", "prefix", "feed_forward", "biases", "position"}
        contrast = [row["value"] for row in rows if row["method"] == "receipt.contrast"]
        assert sum(contrast) == pytest.approx(word.foil.difference.total)
        drops = [(row["text"], row["value"]) for row in rows if row["method"] == "occlusion.drop"]
        assert drops == [(fall.text, fall.drop) for fall in word.occlusion] and len(drops) == 4
    largest = max((row for row in table if row["word"] == "Gruppe" and row["method"] == "receipt.word"),
                  key=lambda row: row["value"])
    assert largest["text"] == "group" and largest["index"] == 1
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table)
    assert frame[frame.method == "receipt.word"].groupby("word").value.sum()["ging"] == pytest.approx(
        why.words[2].logit.total)


def test_arguments_are_the_options(model, program):
    def command(*options):
        return json.loads(program("why", SENTENCE, *options, "--json", "-")[1])

    given = model.why(SENTENCE, target="Die Gruppe ging heim", word="Gruppe", instead="Mannschaft")
    expected = command("--target", "Die Gruppe ging heim", "--word", "Gruppe", "--instead", "Mannschaft")
    same(given.receipt, expected["receipt"])
    (word,) = given.words
    assert (word.text, word.first, word.foil.given, word.foil.text) == ("Gruppe", 1, True, "▁Mannschaft")
    assert [word.text for word in model.why(SENTENCE, word=2).words] == ["ging"]
    assert [word.text for word in model.why(SENTENCE, word=0).words] == ["Die"]
    assert [word.text for word in model.why(SENTENCE, units="tokens").words][-1] == "</s>"
    greedy = model.why(SENTENCE, beam=1, max_length=3)
    assert greedy.ids == command("--beam", "1", "--max-length", "3")["target"]["ids"]
    assert model.why(SENTENCE.encode()).text == model.why(SENTENCE, methods=[]).text
    assert list(model.why(SENTENCE, methods=("lens", "occlusion"))._results) == ["receipt", "occlusion", "lens"]


@pytest.mark.parametrize("options", [
    {"word": "Haus"}, {"word": 17}, {"word": ""}, {"instead": "Gruppe", "word": "Gruppe"}, {"instead": "ganz anderes"},
    {"methods": "saliency"}, {"methods": "patch"}, {"methods": ""}, {"units": "letters"},
    {"corrupt": "The group went far away"}, {"corrupt": ""}, {"target": ""}, {"beam": 0}])
def test_errors_are_the_commands(model, program, options):
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    code, _, line = program("why", SENTENCE, *words, "--json", "-")
    if code == 0:
        model.why(SENTENCE, **options)
        return
    with pytest.raises(attn_demo.Error) as caught:
        model.why(SENTENCE, **options)
    assert caught.value.exit_code == code
    if "--help" not in line:  # what the parser of the command line refuses is worded there
        assert f"attn-demo: {caught.value}" in line


def test_other_errors(model):
    with pytest.raises(TypeError, match="unexpected keyword argument 'beem'"):
        model.why(SENTENCE, beem=1)
    with pytest.raises(TypeError, match="text"):
        model.why([SENTENCE])
    with pytest.raises(attn_demo.InputError, match="no tokens"):
        model.why("")
    with pytest.raises(attn_demo.UsageError, match="explains one model"):
        attn_demo.load([model.directory] * 2).why(SENTENCE)
    with model.observe(lambda head: None), pytest.raises(attn_demo.UsageError, match="observe"):
        model.why(SENTENCE)
    with pytest.raises(attn_demo.UsageError, match='occlusion was not requested; give why.. methods="occlusion"'):
        model.why(SENTENCE).occlusion
    with pytest.raises(attn_demo.UsageError, match="corrupt"):
        model.why(SENTENCE).patching


def test_arrays_are_views_that_outlive_everything(why):
    cross = why.receipt["word"]["cross"]
    assert not cross.flags.owndata and not cross.flags.writeable
    assert np.shares_memory(cross, why._core.results()["receipt"]["word"]["cross"])
    model = attn_demo.load()
    own = model.why(SENTENCE, methods="contributions,gradients")
    arrays = [own.receipt["word"]["self"], own.contributions["alti"]["cross"], own.gradients["log_prob"]["source_l2"]]
    expected = [array.copy() for array in arrays]
    del own, model
    gc.collect()
    filler = [np.zeros(1000) for _ in range(100)]
    assert all(np.array_equal(*pair) for pair in zip(arrays, expected))
    del filler


def test_copies(why):
    assert copy.copy(why) is why and copy.deepcopy(why) is why
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(why)
    assert repr(why).startswith("<attn_demo.Why 'The group went home' → 'Die Gruppe ging nach Hause': receipt, ")
