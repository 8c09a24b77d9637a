"""Tests that observe() sees every head, that its changes take effect, and that exceptions are
passed on."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import attn_demo
from conftest import SENTENCE


class Lost(Exception):
    pass


def test_every_head_is_seen(model):
    seen = {}

    def look(head):
        seen[head.kind, head.layer, head.head, head.position] = (
            head.query, head.key, head.value, head.scores, head.mask, head.weights, head.scale)

    with model.observe(look):
        a = model.attend(SENTENCE, target="Die Gruppe ging nach Hause")
    sizes = model.sizes
    heads = sizes["encoder_layers"] * sizes["encoder_attention_heads"]
    decoders = sizes["decoder_layers"] * sizes["decoder_attention_heads"]
    assert len(seen) == heads + 2 * decoders
    for kind in ("encoder", "decoder", "cross"):
        query, key, value, scores, mask, weights, scale = seen[kind, 1, 2, None]
        assert np.array_equal(weights, getattr(a, kind)[1, 2])
        assert key.shape == value.shape and query.shape[1] == key.shape[1]
        assert np.allclose(query @ key.T * scale, scores, atol=1e-4)
        shown = np.exp(scores + mask - (scores + mask).max(1, keepdims=True))
        assert np.allclose(shown / shown.sum(1, keepdims=True), weights, atol=1e-5)


def test_a_search_writes_word_by_word(model):
    positions = []
    with model.observe(lambda head: positions.append((head.kind, head.position))):
        model.translate(SENTENCE, beam=1)
    assert {at for kind, at in positions if kind == "encoder"} == {None}
    assert {at for kind, at in positions if kind == "cross"} == set(range(6))


def test_looking_changes_nothing(model, lines):
    expected = model.translate(lines[:10], beam=3)
    with model.observe(lambda head: head.weights):
        assert model.translate(lines[:10], beam=3) == expected


def test_what_is_written_counts(model):
    def blind(head):
        if head.kind == "cross" and head.layer > 0:
            head.weights[:] = 0

    with model.observe(blind):
        changed = model.attend(SENTENCE)
    expected = model.attend(SENTENCE, without=["cross:1", "cross:2"])
    assert changed.text == expected.text != model.translate(SENTENCE)
    assert np.array_equal(changed.log_probs, expected.log_probs)
    assert not changed.cross[2].any()

    def assign(head):
        if head.kind == "cross" and head.layer > 0:
            head.weights = np.zeros(head.weights.shape)

    with model.observe(assign):
        assert model.translate(SENTENCE) == expected.text
    assert model.translate(SENTENCE) == "Die Gruppe ging nach Hause"


def test_the_inner_one_sees_what_the_outer_one_left(model):
    def halve(head):
        head.weights[:] *= 0.5

    sums = []
    with model.observe(halve), model.observe(lambda head: sums.append(head.weights.sum(1))):
        model.attend(SENTENCE, target="Die Gruppe")
    assert all(np.allclose(each, 0.5, atol=1e-5) for each in sums)


def test_what_fn_throws_comes_out(model):
    calls = []

    def throw(head):
        calls.append(head.kind)
        if len(calls) == 60:
            raise Lost("here")

    for call in (model.translate, model.attend):
        calls.clear()
        with model.observe(throw), pytest.raises(Lost, match="^here$"):
            call(SENTENCE)
        assert len(calls) == 60
        assert call(SENTENCE)
    assert model.translate(SENTENCE, threads=2) == "Die Gruppe ging nach Hause"


def test_a_head_ends_with_its_call_and_its_arrays_do_not(model):
    kept = []
    with model.observe(lambda head: kept.append((head, head.weights, head.key))):
        a = model.attend(SENTENCE, target="Die Gruppe")
    head, weights, key = kept[0]
    assert np.array_equal(weights, a.encoder[0, 0]) and np.isfinite(key).all()
    for what in (lambda: head.key, lambda: head.kind):
        with pytest.raises(ValueError, match="^a head can be read while fn runs; keep its arrays"):
            what()
    weights[:] = 7  # only ours by now
    assert model.translate(SENTENCE) == "Die Gruppe ging nach Hause"


def test_weights_of_another_shape_are_refused(model):
    def wrong(head):
        head.weights = np.zeros((1, 1))

    with model.observe(wrong), pytest.raises(ValueError, match=r"have the shape \(5, 5\)"):
        model.translate(SENTENCE)

    def resized(head):
        head.weights.resize((1, 1), refcheck=False)

    with model.observe(resized), pytest.raises(ValueError, match="resized in place"):
        model.translate(SENTENCE)
    assert model.translate(SENTENCE) == "Die Gruppe ging nach Hause"


def later_cross(head):
    return head.kind == "cross" and head.layer > 0


@pytest.mark.parametrize("name", ["value", "output"])
def test_values_and_outputs_may_be_written(model, name):
    def clear(head):
        if later_cross(head):
            getattr(head, name)[:] = 0

    def assign(head):
        if later_cross(head):
            setattr(head, name, np.zeros_like(getattr(head, name)))

    expected = model.attend(SENTENCE, without=["cross:1", "cross:2"])
    for write in (clear, assign):
        with model.observe(write):
            changed = model.attend(SENTENCE)
        assert changed.text == expected.text != model.translate(SENTENCE)
        assert np.allclose(changed.log_probs, expected.log_probs, atol=1e-4)
    assert changed.cross[2].any()  # the weights did not change


def test_another_value_gives_the_output_of_its_weights(model):
    outputs = []

    def write(head):
        if (head.kind, head.layer, head.head) == ("decoder", 0, 1):
            head.value[0] += 3
            outputs.append(head.weights @ head.value)

    def look(stage):
        if (stage.kind, stage.layer, stage.name) == ("decoder", 0, "heads"):
            outputs.append(stage.rows[:, 64:128])

    with model.observe(write, stages=look):
        model.attend(SENTENCE, target="Die Gruppe")
    assert np.allclose(outputs[0], outputs[1], atol=1e-5)


def test_another_query_gives_other_weights(model):
    def clear(head):
        if head.layer == 0:
            head.query[1] = 0

    def take(head):
        if (head.kind, head.layer, head.head) == ("decoder", 0, 2):
            head.query[2] = head.query[1]
            kept.append((head.query[2] @ head.key[:3].T * head.scale))

    with model.observe(clear):
        a = model.attend(SENTENCE, target="Die Gruppe ging")
    assert np.allclose(a.encoder[0, :, 1], 1 / a.encoder.shape[-1])
    assert np.allclose(a.decoder[0, :, 1, :2], 0.5) and not a.decoder[0, :, 1, 2:].any()
    assert np.allclose(a.cross[0, :, 1], 1 / a.cross.shape[-1])
    kept = []
    with model.observe(take):
        a = model.attend(SENTENCE, target="Die Gruppe ging")
    shown = np.exp(kept[0] - kept[0].max())
    assert np.allclose(a.decoder[0, 2, 2, :3], shown / shown.sum(), atol=1e-5)


def test_written_weights_count_more_than_a_written_query(model):
    def both(head):
        if (head.kind, head.layer, head.head) == ("cross", 0, 0):
            head.query[:] = 0
            head.weights[0] = [1, 0, 0, 0, 0]

    with model.observe(both):
        a = model.attend(SENTENCE, target="Die Gruppe ging")
    assert np.array_equal(a.cross[0, 0, 0], [1, 0, 0, 0, 0])
    assert np.allclose(a.cross[0, 0, 1:], 0.2)


def test_activations_are_patched_by_hand(model):
    clean, corrupt, target = SENTENCE, "The woman went home", "Die Gruppe ging nach Hause"
    kept = {}

    def keep(stage):
        kept[stage.kind, stage.layer, stage.name] = stage.rows

    with model.observe(stages=keep):
        expected = model.attend(clean, target=target)
    last = model.sizes["encoder_layers"] - 1

    def patch(stage):
        if (stage.kind, stage.layer, stage.name) == ("encoder", last, "layer_output"):
            stage.rows = kept[stage.kind, stage.layer, stage.name]

    def patch_one(stage):
        if (stage.kind, stage.layer, stage.name) == ("encoder", 0, "embedded"):
            stage.rows[1] = kept[stage.kind, stage.layer, stage.name][1]  # the differing word

    without = model.attend(corrupt, target=target)
    assert without.log_probs[1] < expected.log_probs[1] - 1
    for each in (patch, patch_one):
        with model.observe(stages=each):
            patched = model.attend(corrupt, target=target)
        assert np.array_equal(patched.log_probs, expected.log_probs)


def test_stages_are_seen_in_order_and_what_is_written_counts(model):
    names, rows = [], {}

    def look(stage):
        if (stage.kind, stage.layer) == ("encoder", 1):
            names.append(stage.name)
            if stage.name == "feed_forward_output":
                stage.rows[:] = 0
            rows[stage.name] = stage.rows

    with model.observe(stages=look):
        model.attend(SENTENCE, target="Die Gruppe")
    assert names == ["block_input", "projected", "heads", "attn_output", "block_sum", "block_output",
                     "feed_forward_hidden", "feed_forward_output", "feed_forward_sum", "layer_output"]
    assert np.array_equal(rows["feed_forward_sum"], rows["block_output"])
    assert rows["feed_forward_hidden"].any()


def test_a_stage_that_is_read_no_more_and_bad_arrays_are_refused(model):
    def hidden(stage):
        if stage.name == "feed_forward_hidden":
            stage.rows[:] = 0

    def wrong(stage):
        stage.rows = np.zeros((1, 1))

    kept = []
    for stages, message in ((hidden, "does not read the rows of this stage again"),
                            (wrong, r"rows of this stage have the shape \(5, 256\)")):
        with model.observe(stages=stages), pytest.raises(ValueError, match=message):
            model.translate(SENTENCE)
    with model.observe(stages=kept.append):
        model.translate(SENTENCE)
    with pytest.raises(ValueError, match="^a stage can be read while the function runs"):
        kept[0].rows
    assert model.translate(SENTENCE) == "Die Gruppe ging nach Hause"


def test_two_threads_may_be_the_first_that_see_arrays():
    script = """if True:
        import sys, threading, attn_demo
        assert "numpy" not in sys.modules  # translating alone needs none, and starts sooner
        model = attn_demo.load()
        def go():
            with model.observe(lambda head: head.weights):
                model.translate("The group went home")
        threads = [threading.Thread(target=go) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        """
    for _ in range(3):
        subprocess.run([sys.executable, "-c", script], timeout=120, check=True)


def test_other_threads_are_not_watched(model):
    seen = []
    with model.observe(seen.append):
        thread = threading.Thread(target=model.translate, args=(SENTENCE,))
        thread.start()
        thread.join()
    assert seen == []


def test_an_unusable_fn(model):
    with model.observe(None), pytest.raises(TypeError):
        model.translate(SENTENCE)
    assert model.translate(SENTENCE) == "Die Gruppe ging nach Hause"
