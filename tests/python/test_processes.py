"""Fork, pickle, copy and Ctrl-C."""

import copy
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

import attn_demo
from conftest import SENTENCE, SOURCE

SANITIZED = "ATTN_DEMO_SANITIZED" in os.environ


def translate_in_child(lines):
    return translate_in_child.model.translate(lines, threads=2)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_child_of_fork_goes_on(model, lines):
    expected = model.translate(lines, threads=2)  # the parent has workers now
    translate_in_child.model = model
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(translate_in_child, [lines, lines], chunksize=1) == [expected] * 2
    assert model.translate(lines, threads=2) == expected


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_child_of_fork_goes_on_while_another_thread_translates(model, lines):
    expected = model.translate(lines[:4], threads=2)
    end = threading.Event()

    def go_on():
        while not end.is_set():
            model.translate(lines, threads=2)

    other = threading.Thread(target=go_on)
    other.start()
    codes = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            os._exit(0 if model.translate(lines[:4], threads=2) == expected else 1)
        codes.append(os.waitpid(child, 0)[1])
    end.set()
    other.join()
    assert codes == [0, 0, 0]


def test_a_model_travels_by_the_names_of_its_files(model, tmp_path, monkeypatch):
    monkeypatch.chdir(SOURCE)
    own = attn_demo.load("data/models/en-de")
    packed = pickle.dumps(own)
    assert len(packed) < 1000
    monkeypatch.chdir(tmp_path)
    assert pickle.loads(packed).translate(SENTENCE) == "Die Gruppe ging nach Hause"
    made = attn_demo.load(seed=3)
    assert pickle.loads(pickle.dumps(made)).translate(SENTENCE) == made.translate(SENTENCE)


def test_copies_are_the_model_itself(model):
    assert copy.copy(model) is model and copy.deepcopy(model) is model


def run_python(script, tmp_path, after):
    """Runs a script, sends it Ctrl-C once it has written `after`; its code, stdout and stderr."""
    process = subprocess.Popen([sys.executable, "-u", "-c", textwrap.dedent(script)], cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stdout:
        if line.startswith(after):
            process.send_signal(signal.SIGINT)
            break
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def test_ctrl_c_ends_a_translation(tmp_path):
    script = """
        import attn_demo
        model = attn_demo.load()
        try:
            print("ready")
            model.translate(["The group went home"] * 1000000)
        except KeyboardInterrupt:
            print(model.translate("The group went home"))
        """
    code, out, err = run_python(script, tmp_path, "ready")
    assert (code, out) == (0, "Die Gruppe ging nach Hause\n"), err


CONFIG = f"{SOURCE}/configs/toy.json"


@pytest.mark.skipif(SANITIZED, reason="trains for minutes")
def test_training_goes_to_its_end_and_saves_at_ctrl_c(tmp_path, program):
    script = f"""
        import os, attn_demo
        os.chdir({str(SOURCE)!r})
        out = {str(tmp_path / 'run')!r}
        def told(what, line, figures):
            if what == "update" and figures["update"] >= 3:
                print(line)
        try:
            attn_demo.train({CONFIG!r}, out, progress=told, threads=1,
                            set=["train.updates=100000"])
        except KeyboardInterrupt as stop:
            print("stopped:", stop)
        """
    code, out, err = run_python(script, tmp_path, "epoch")
    assert code == 0, err
    assert out.splitlines()[-1] == "stopped: stopped after a checkpoint; resume=True goes on"
    checkpoints = list((tmp_path / "run/checkpoints").iterdir())
    assert checkpoints
    # It goes on, where the run has fewer updates left than it has made: to its end.
    code, _, err = program("train", CONFIG, "--out", str(tmp_path / "run"), "--resume", "--set",
                           "train.updates=1")
    assert code in (0, 3), err


@pytest.mark.skipif(SANITIZED, reason="trains for minutes")
def test_train_gives_the_model(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(SOURCE)
    small = ["train.updates=4", "train.log_every=2", "data.probe="]
    trained = attn_demo.train("configs/toy.json", tmp_path / "run", set=small, progress=True,
                              threads=1)
    assert trained.name == str(tmp_path / "run/model")
    assert isinstance(trained.translate(SENTENCE), str)
    assert "sentence pairs to train on" in capsys.readouterr().err
    told = []
    trained.train("configs/toy.json", tmp_path / "more", set=small, threads=1,
                  progress=lambda what, line, figures: told.append((what, line, figures)))
    assert told[-1][0] == "note" and (tmp_path / "more/model/model.safetensors").exists()
    updates = [figures for what, _, figures in told if what == "update"]
    assert [figures["update"] for figures in updates] == [1, 2, 3, 4]


def test_training_refuses_what_the_program_refuses(tmp_path, program):
    code, _, err = program("train", str(tmp_path / "no.json"), "--out", str(tmp_path / "run"))
    with pytest.raises(attn_demo.Error) as caught:
        attn_demo.train(tmp_path / "no.json", tmp_path / "run")
    assert f"attn-demo: {caught.value}\n" == err and caught.value.exit_code == code

    def throw(what, line, figures):
        raise RuntimeError(what)

    os.chdir(SOURCE)
    with pytest.raises(RuntimeError, match="^note$"):
        attn_demo.train("configs/toy.json", tmp_path / "run", progress=throw, threads=1)
