"""Tests that attend() has the command's records, in arrays that cannot be damaged."""

import copy
import gc
import json
import pathlib
import pickle

import numpy as np
import pytest

import attn_demo
from conftest import SENTENCE


@pytest.fixture(scope="module")
def record(program):
    _, out, _ = program("translate", SENTENCE, "--json", "-")
    return json.loads(out)


def test_arrays_are_the_record(model, record):
    a = model.attend(SENTENCE)
    best = record["hypotheses"][0]
    assert a.text == best["text"] == "Die Gruppe ging nach Hause"
    assert a.tokens == best["tokens"] and a.ids == best["ids"]
    assert a.decoder_tokens == best["decoder_input"]["tokens"]
    assert a.source_tokens == record["source"]["tokens"] and a.source_ids == record["source"]["ids"]
    assert a.score == pytest.approx(best["score"], rel=1e-7)
    for array, lists in [(a.encoder, record["encoder_self"]), (a.decoder, best["decoder_self"]),
                         (a.cross, best["cross"]), (a.log_probs, best["log_probs"])]:
        assert array.dtype == np.float32
        assert np.array_equal(array, np.array(lists, dtype=np.float32))
    assert a.cross.shape[2:] == (len(a.tokens), len(a.source_tokens))
    assert json.loads(a.json())["hypotheses"][0]["cross"] == best["cross"]


def test_arrays_are_views_and_read_only(model):
    a = model.attend(SENTENCE)
    assert np.shares_memory(a.cross, a.cross[2, 2])
    assert a.cross.__array_interface__["data"] == a.cross.__array_interface__["data"]
    assert not a.cross.flags.owndata and not a.cross.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        a.cross[0, 0, 0, 0] = 1
    for name in ("tokens", "ids", "decoder_tokens", "source_tokens"):
        getattr(a, name).clear()
        assert getattr(a, name), name


def test_arrays_outlive_their_model():
    model = attn_demo.load()
    a = model.attend(SENTENCE)
    head, query = a.cross[2, 2], a.vectors("cross", 2, 2)[0]
    expected, expected_query = head.copy(), query.copy()
    del a, model
    gc.collect()
    filler = [np.zeros_like(expected) for _ in range(100)]
    assert np.array_equal(head, expected) and np.array_equal(query, expected_query)
    del filler


def test_queries_and_keys_give_the_weights(model):
    a = model.attend(SENTENCE)
    query, key, value = a.vectors("cross", 2, 2)
    assert value.shape == key.shape == (len(a.source_tokens), query.shape[1])
    scores = query @ key.T / np.sqrt(query.shape[1])
    weights = np.exp(scores - scores.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    assert np.allclose(weights, a.cross[2, 2], atol=1e-5)


def test_a_given_target(model, program):
    target = "Die Gruppe ging heim"
    _, out, _ = program("translate", SENTENCE, "--target", target, "--json", "-")
    best = json.loads(out)["hypotheses"][0]
    a = model.attend(SENTENCE, target=target)
    assert a.text == target
    assert np.array_equal(a.log_probs, np.array(best["log_probs"], dtype=np.float32))
    assert np.array_equal(a.cross, np.array(best["cross"], dtype=np.float32))


@pytest.mark.parametrize("change", [{"without": ["cross:2:2"]}, {"without": "cross:2"},
                                    {"force": "cross:2:2:ging=home"}, {"swap": ["went=ran"]},
                                    {"without": "best", "swap": "2=ran"}])
def test_what_if_is_that_of_the_program(model, program, change):
    typed = []
    for option, values in change.items():
        for value in [values] if isinstance(values, str) else values:
            typed += ["--" + option, value]
    code, out, err = program("translate", SENTENCE, *typed, "--json", "-")
    assert code == 0, err
    theirs = json.loads(out)
    a = model.attend(SENTENCE, **change)
    best = theirs["after"]["hypotheses"][0]
    assert a.text == best["text"]
    assert np.array_equal(a.cross, np.array(best["cross"], dtype=np.float32))
    assert a.changes == theirs["after"]["changes"]
    assert a.before.text == "Die Gruppe ging nach Hause" and a.before.changes == []


def test_what_if_of_a_given_translation(model):
    a = model.attend(SENTENCE, target="Die Gruppe ging heim", without="cross:2:2")
    assert a.text == a.before.text == "Die Gruppe ging heim"
    assert a.score != a.before.score and not a.cross[2, 2].any() and a.before.cross[2, 2].any()


def test_what_if_of_what_is_not_there(model, program):
    for change, typed in [({"without": "cross:9:0"}, ["--without", "cross:9:0"]),
                          ({"without": "cros:2:0"}, ["--without", "cros:2:0"]),
                          ({"force": "cross:1:1:9=0"}, ["--force", "cross:1:1:9=0"]),
                          ({"swap": "9=ran"}, ["--swap", "9=ran"])]:
        code, _, err = program("translate", SENTENCE, *typed)
        with pytest.raises(attn_demo.UsageError) as caught:
            model.attend(SENTENCE, **change)
        assert code == 2 and f"attn-demo: {caught.value}\n" == err


def test_hypotheses(model):
    a = model.attend(SENTENCE, beam=4, n_best=3)
    assert [each.text for each in a.hypotheses] == [
        each.text for each in model.translate(SENTENCE, beam=4, n_best=3)]
    assert a.hypotheses[0].text == a.text and a.before is None


def test_an_empty_sentence(model):
    a = model.attend("")
    assert (a.text, a.tokens, a.log_probs.shape) == ("", [], (0,))
    assert a.cross.shape[2] == 0


def data_of(page):
    """Returns the data in a page without the receipts, which need the model, so that only the command adds
    them."""
    data = json.loads(page.split('id="attn-data">')[1].split("</script>")[0])
    for record in data["records"]:
        for hypothesis in record["hypotheses"]:
            hypothesis.pop("why", None)
    return data


def test_the_page_stands_in_a_notebook(model, program, tmp_path):
    a = model.attend(SENTENCE)
    shown = a._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!') and shown.endswith("</iframe>")
    assert shown.count('"') == 4  # nothing in the page ends the attribute
    code, _, _ = program("translate", SENTENCE, "--html", str(tmp_path / "page.html"))
    assert code == 0
    assert data_of(a.page()) == data_of((tmp_path / "page.html").read_text())


def test_the_page_that_translates_alone(model, program, tmp_path):
    if not (pathlib.Path(__file__).parents[2] / "build/web/attn-demo.wasm").exists():
        with pytest.raises(attn_demo.InputError, match="scripts/build_web.sh makes it"):
            model.alone_page()
        return
    for dtype in ("int8", "float16"):
        code, _, _ = program("page", "--alone", str(tmp_path / "page.html"), "--dtype", dtype)
        assert code == 0
        assert model.alone_page(dtype) == (tmp_path / "page.html").read_text()
    with pytest.raises(attn_demo.UsageError, match="--dtype int4: expected float32"):
        model.alone_page("int4")
    with pytest.raises(attn_demo.UsageError, match="one model"):
        attn_demo.load([model.directory, model.directory]).alone_page()


def test_plot(model):
    import matplotlib

    matplotlib.use("Agg")
    a = model.attend(SENTENCE)
    axes = a.plot("cross", 2, 2)
    assert np.array_equal(axes.images[0].get_array(), a.cross[2, 2])
    assert [label.get_text() for label in axes.get_xticklabels()] == a.source_tokens
    assert axes.get_yticklabels()[1].get_text() == "▁Die → ▁Gruppe"
    assert axes.get_xlabel() == "cross:2:2"
    with pytest.raises(attn_demo.UsageError, match='^"cros" is not a kind of attention; expected encoder, decoder or cross'):
        a.plot("cros", 0, 0)
    with pytest.raises(attn_demo.UsageError, match="^cross:2:99: the model has layers 0 to 2 and"):
        a.plot("cross", 2, 99)


def test_copies_are_the_same_and_pickles_are_refused(model):
    a = model.attend(SENTENCE)
    assert copy.copy(a) is a and copy.deepcopy(a) is a
    with pytest.raises(TypeError, match="pickle its arrays"):
        pickle.dumps(a)


def test_the_widget_knows_what_is_selected(model):
    pytest.importorskip("anywidget")
    widget = model.attend(SENTENCE).widget(view="kind=cross&layer=1&head=2")
    assert '"embed":true' in widget.page
    assert widget.head == ("cross", 1, 2) and widget.cell is None
    widget.view = "sentence=0&kind=encoder_self&layer=4&head=0&cell=3.1"  # as the page reports it
    assert widget.head == ("encoder", 4, 0) and widget.cell == (3, 1)


def test_a_widget_without_its_package_says_what_to_install(model, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "anywidget", None)
    with pytest.raises(attn_demo.UsageError, match="pip install anywidget"):
        model.attend(SENTENCE).widget()
