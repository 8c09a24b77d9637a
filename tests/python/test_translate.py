"""Tests that translate() returns the command's results."""

import json
import pathlib
import threading
import warnings

import numpy as np
import pytest

import attn_demo
from conftest import SENTENCE


def test_a_text_gives_a_text_and_a_list_a_list(model):
    assert model.translate(SENTENCE) == "Die Gruppe ging nach Hause"
    assert model.translate([SENTENCE]) == ["Die Gruppe ging nach Hause"]
    assert model.translate([]) == []
    assert model.translate("") == ""
    assert model.translate(line for line in (SENTENCE, "")) == ["Die Gruppe ging nach Hause", ""]


@pytest.mark.parametrize("options", [
    {}, {"beam": 4}, {"beam": 4, "length_penalty": -0.5, "early_stopping": True},
    {"beam": 2, "early_stopping": "never", "max_length": 5}, {"threads": 1, "batch": 7},
    {"split": "sentences"}, {"length_penalty": 0.00001, "beam": 2}, {"document": True},
    {"no_repeat_ngram": 1, "encoder_no_repeat_ngram": 2, "repetition_penalty": 1.5, "min_length": 9},
    {"sample": True, "temperature": 1.5, "top_k": 0, "top_p": 0.95, "sample_seed": 2 ** 63},
    {"sample": True, "min_p": 0.01, "typical": 0.9}])
def test_lines_are_those_of_the_command(model, program, lines, options):
    typed = []
    for name, value in options.items():
        text = "true" if value is True else "0.00001" if value == 0.00001 else str(value)
        flag = name in ("sample", "document")
        typed += ["--" + name.replace("_", "-"), *([] if flag else [text])]
    code, out, err = program("translate", *typed, stdin="\n".join(lines) + "\n")
    assert code == 0, err
    assert model.translate(lines, **options) == out.splitlines()


@pytest.mark.parametrize("name, word", [("forbid", "Gruppe"), ("terms", "group=Truppe"), ("keep", "group")])
def test_one_text_is_a_list_of_one(model, name, word):
    alone = model.translate(SENTENCE, **{name: word})
    assert alone == model.translate(SENTENCE, **{name: [word]})
    assert alone != model.translate(SENTENCE)


@pytest.fixture(scope="module")
def nllb(program, tmp_path_factory):
    """Makes a model of 202 languages with random weights."""
    folder = tmp_path_factory.mktemp("languages")
    shape = {"model_type": "m2m_100", "d_model": 8, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
             "decoder_attention_heads": 2, "encoder_ffn_dim": 8, "decoder_ffn_dim": 8}
    tokenizer = pathlib.Path(__file__).parents[1] / "golden/languages/Nllb"
    (folder / "config.json").write_text(json.dumps({"model": shape, "tokenizer": {"model": str(tokenizer)}}))
    code, _, err = program("init", "--config", str(folder / "config.json"), "--out", str(folder / "model"))
    assert code == 0, err
    return attn_demo.load(folder / "model")


def test_languages_are_chosen_by_code_or_name(nllb):
    record = nllb.attend("home", source_lang="fr", target_lang="German", max_length=4)
    assert record.source_tokens[0] == "fra_Latn" and record.tokens[0] == "deu_Latn"
    assert nllb.translate("home", target_lang="de", max_length=4) == nllb.translate("home", target_lang="deu_Latn", max_length=4)
    with pytest.raises(attn_demo.UsageError, match="--target-lang Germn: .* the nearest is deu_Latn"):
        nllb.translate("home", target_lang="Germn")
    with pytest.warns(UserWarning, match="writes 202 languages, and its files choose none: say --target-lang"):
        nllb.translate("home", max_length=4)


def test_a_model_learns_from_one_language_into_another(nllb, tmp_path):
    small = ["train.updates=2", "train.validate_every=0", "train.early_growth=0"]
    trained = nllb.train("configs/fine-tune.json", tmp_path / "run", set=small, source_lang="en", target_lang="German", threads=1)
    assert trained.attend("home", max_length=3).tokens[0] == "deu_Latn"
    with pytest.raises(attn_demo.UsageError, match="--target-lang Germn: .* the nearest is deu_Latn"):
        nllb.train("configs/fine-tune.json", tmp_path / "other", target_lang="Germn")


def test_a_prefix_stands_before_texts(model, nllb):
    whole = model.attend("The group went home")
    assert model.attend("went home", prefix="The group ").source_tokens == whole.source_tokens
    assert model.translate(["went home", ""], prefix="The group ") == [whole.text, ""]
    told = attn_demo.load(nllb.directory, prefix="the ")
    tokens = [told.attend("home", target_lang="de", max_length=2, **more).source_tokens for more in ({}, {"prefix": ""})]
    assert tokens == [nllb.attend(text, target_lang="de", max_length=2).source_tokens for text in ("the home", "home")]


def test_draws_are_those_of_the_command(model, program):
    _, out, _ = program("translate", SENTENCE, "--sample", "--n-best", "3", "--temperature", "1.3", "--show", "none")
    drawn = model.translate(SENTENCE, sample=True, n_best=3, temperature=1.3)
    assert [each.text for each in drawn] == [line.split("\t")[2] for line in out.splitlines()]
    for seed in range(4):
        options = {"sample": True, "temperature": 3.0, "sample_seed": seed}
        assert model.attend(SENTENCE, **options).text == model.translate(SENTENCE, **options)
    with pytest.raises(TypeError, match="unexpected keyword argument 'temprature'"):
        model.translate(SENTENCE, sample=True, temprature=2)


def test_n_best_is_the_list_of_the_command(model, program):
    code, out, _ = program("translate", SENTENCE, "--beam", "4", "--n-best", "3", "--show", "none")
    assert code == 0
    found = model.translate(SENTENCE, beam=4, n_best=3)
    assert [f"{rank}\t{each.score:.4f}\t{each.text}" for rank, each in enumerate(found, 1)] == [
        f"{rank}\t{float(score):.4f}\t{text}"
        for rank, score, text in (line.split("\t") for line in out.splitlines())]
    assert model.translate([SENTENCE, ""], beam=2, n_best=1) == [[found[0]], [("", 0.0)]]


@pytest.mark.parametrize("options, typed", [
    ({"beam": 0}, ["--beam", "0"]), ({"beam": 2.5}, ["--beam", "2.5"]),
    ({"n_best": 9}, ["--n-best", "9"]), ({"length_penalty": 1000.0}, ["--length-penalty", "1000.0"]),
    ({"early_stopping": "maybe"}, ["--early-stopping", "maybe"]), ({"batch": 0}, ["--batch", "0"]),
    ({"threads": -1}, ["--threads", "-1"]), ({"split": "no"}, ["--split", "no"]),
    ({"temperature": 2.0}, ["--temperature", "2.0"]), ({"sample": True, "beam": 3}, ["--sample", "--beam", "3"]),
    ({"sample": True, "top_p": 1.5}, ["--sample", "--top-p", "1.5"]),
    ({"no_repeat_ngram": 1001}, ["--no-repeat-ngram", "1001"]),
    ({"document": True, "split": "never"}, ["--document", "--split", "never"])])
def test_a_refusal_is_the_line_of_the_program(model, program, options, typed):
    code, _, err = program("translate", *typed, SENTENCE)
    assert code == 2
    with pytest.raises(attn_demo.UsageError) as caught:
        model.translate(SENTENCE, **options)
    assert f"attn-demo: {caught.value}\n" == err
    assert isinstance(caught.value, ValueError) and caught.value.exit_code == 2
    assert model.translate(SENTENCE) == "Die Gruppe ging nach Hause"


def test_numbers_of_numpy_are_numbers(model):
    plain = model.translate(SENTENCE, beam=2, n_best=2, length_penalty=0.00001, early_stopping=True)
    for real in (np.float64, np.float32):
        assert model.translate(SENTENCE, beam=np.int64(2), n_best=np.uint8(2), length_penalty=real(1e-5),
                               early_stopping=np.True_) == plain


@pytest.mark.parametrize("call, said", [
    (lambda model: model.translate(SENTENCE, beam=[2]), "--beam [2]: expected a whole number from 1 to 1000"),
    (lambda model: model.translate(SENTENCE, beam=""), "--beam: the value is empty"),
    (lambda model: model.attend(SENTENCE, swap=["went=ran", ""]), "--swap: the value is empty"),
    (lambda _: attn_demo.load(""), "--model: the value is empty"),
    (lambda _: attn_demo.load([]), "--model: the list is empty; give a directory"),
    (lambda _: attn_demo.load("data\0models"), "--model: the value holds a null byte")])
def test_what_is_no_value_is_refused(model, call, said):
    with pytest.raises(attn_demo.UsageError) as caught:
        call(model)
    assert str(caught.value).startswith(said)


def test_what_is_no_text_is_refused(model):
    for wrong, found in [(3, "int"), (None, "NoneType"), ([3], "int"), (["a", None], "NoneType")]:
        with pytest.raises(TypeError, match=rf"^expected a text \(str or bytes\), found {found}$"):
            model.translate(wrong)
    with pytest.raises(TypeError, match=r"^expected a text \(str or bytes\), found list$"):
        model.attend([SENTENCE])


def test_models_that_are_none(program, tmp_path):
    for options, typed in [({"model": tmp_path}, ["--model", tmp_path]),
                           ({"model": tmp_path / "no"}, ["--model", tmp_path / "no"]),
                           ({"config": tmp_path / "no.json"}, ["--config", tmp_path / "no.json"]),
                           ({"preset": "bass"}, ["--preset", "bass"])]:
        code, _, err = program("translate", *map(str, typed), SENTENCE)
        with pytest.raises(attn_demo.Error) as caught:
            attn_demo.load(**options)
        assert f"attn-demo: {caught.value}\n" == err
        assert caught.value.exit_code == code
    assert issubclass(attn_demo.InputError, ValueError) and attn_demo.InputError.exit_code == 3
    assert issubclass(attn_demo.FileError, OSError) and attn_demo.FileError.exit_code == 4
    assert issubclass(attn_demo.OutOfMemoryError, MemoryError)
    assert attn_demo.OutOfMemoryError.exit_code == 5


def test_random_weights_are_those_of_the_program(program):
    typed = ["--seed", "7", "--d-model", "24", "--heads", "4"]
    _, out, _ = program("translate", *typed, "--show", "none", SENTENCE)
    model = attn_demo.load(seed=7, d_model=24, heads=4)
    assert model.translate(SENTENCE) + "\n" == out
    assert model.sizes["d_model"] == 24
    assert "random weights (seed 7)" in model.notes


def test_what_the_program_notes_is_a_warning(model):
    with pytest.warns(UserWarning, match="sentence 1 is not valid UTF-8; invalid bytes were replaced"):
        assert model.translate(b"The group \xff went home")
    with pytest.warns(UserWarning, match="sentence 1 is not valid UTF-8; invalid bytes were replaced"):
        assert model.translate("The group \ud800 went home")


def test_a_given_translation_is_noted_as_a_sentence_is(model, program):
    target = "Die Gru\u0007ppe ".encode() + b"\xff"
    _, _, said = program("translate", SENTENCE, "--show", "none", "--target", target)
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        model.attend(SENTENCE, target=target)
    assert [f"note: {each.message}" for each in noted] == said.splitlines() and len(noted) == 2


def test_a_warning_names_the_line_that_called(model):
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        model.translate(b"The group \xff went home")
        model.attend(b"The group \xff went home")
    assert {each.filename for each in noted} == {__file__} and noted[1].lineno == noted[0].lineno + 1


def test_several_models_translate_together(model):
    directory = pathlib.Path(__file__).parents[2] / "data/models/en-de"
    both = attn_demo.load([directory, directory])
    assert both.translate(SENTENCE) == "Die Gruppe ging nach Hause"
    assert both.name == f"{directory} + {directory}"
    for change, said in [({"target": "Die Gruppe"}, "target"), ({"swap": "0=A"}, "without, force and swap")]:
        with pytest.raises(attn_demo.UsageError, match=f"^several models cannot be combined with {said}; give one of them$"):
            both.attend(SENTENCE, **change)


def test_threads_share_a_model(model, lines):
    expected = model.translate(lines, beam=1)
    found = [None] * 4

    def run(i):
        found[i] = model.translate(lines, threads=1 + i % 2, beam=1)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_python_runs_while_it_translates(model, lines):
    turns = 0
    thread = threading.Thread(target=model.translate, args=(lines,), kwargs={"threads": 1})
    thread.start()
    while thread.is_alive():
        turns += 1
    thread.join()
    assert turns > 1000


def test_eight_bits(model, program):
    eight = attn_demo.load(precision="int8")
    _, out, _ = program("translate", "--precision", "int8", "--json", "-", SENTENCE)
    record = json.loads(eight.attend(SENTENCE).json())
    assert record["model"]["precision"] == "int8"
    best, other = record["hypotheses"][0], json.loads(out)["hypotheses"][0]
    for key in ("ids", "score", "log_probs", "cross", "decoder_self"):
        assert best[key] == other[key], key
    assert eight.translate(SENTENCE) == "Die Gruppe ging nach Hause"
    # Requested for one call, the option gives the same result and does not change the model.
    asked = json.loads(model.attend(SENTENCE, precision="int8").json())
    assert asked == record
    assert json.loads(model.attend(SENTENCE).json())["hypotheses"] != record["hypotheses"]
    assert json.loads(eight.attend(SENTENCE, precision="float32").json()) == json.loads(
        model.attend(SENTENCE).json())
    for call in (attn_demo.load, lambda precision: model.translate(SENTENCE, precision=precision)):
        with pytest.raises(attn_demo.UsageError, match="^--precision int4: expected float32, bfloat16 or int8"):
            call(precision="int4")


def test_eight_bits_of_lines_are_those_of_the_command(model, program, lines):
    _, out, _ = program("translate", "--precision", "int8", "--batch", "64", stdin="\n".join(lines) + "\n")
    assert model.translate(lines, precision="int8", batch=64) == out.splitlines()


def test_line_breaks_and_markup_survive(model):
    german = model.translate(SENTENCE)
    assert model.translate(f"  {SENTENCE}\r\n\n\t{SENTENCE}\n") == f"  {german}\r\n\n\t{german}\n"
    with pytest.warns(Warning, match="5 tags and 1 placeholder kept"):
        html = model.translate(f"<p><i>{SENTENCE}</i><br>AB-12</p>", html_input=True, keep=["AB-[0-9]+"])
    assert html == f"<p><i>{german}</i><br>AB-12</p>"
    with pytest.raises(attn_demo.UsageError, match=r'--keep "a\(" is no regular expression'):
        model.translate(SENTENCE, keep=["a("])
