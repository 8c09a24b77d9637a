"""Tests fork, pickle, copy and Ctrl-C."""

import copy
import json
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
    expected = model.translate(lines, threads=2)  # the parent has workers by now
    translate_in_child.model = model
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(translate_in_child, [lines, lines], chunksize=1) == [expected] * 2
    assert model.translate(lines, threads=2) == expected


@pytest.mark.skipif(SANITIZED, reason="a child may inherit the locked allocator of Clang 14's sanitizer")
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


def test_a_model_knows_its_files_in_every_folder(tmp_path, monkeypatch):
    """Models that are loaded again (int8, pickle, another library) are found, and the name stays."""
    shipped = SOURCE / "data/models/en-de"
    hub = tmp_path / "hub/models--someone--some-model"
    (hub / "refs").mkdir(parents=True)
    (hub / "refs/main").write_text("0123abcd")
    (hub / "snapshots").mkdir()
    for link in (tmp_path / "one", tmp_path / "two", hub / "snapshots/0123abcd"):
        link.symlink_to(shipped)
    (tmp_path / "configs").symlink_to(SOURCE / "configs")
    (tmp_path / "data").symlink_to(SOURCE / "data")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.chdir(tmp_path)
    models = [attn_demo.load("one"), attn_demo.load(["one", "two"], maps_of="two"),
              attn_demo.load("someone/some-model"), attn_demo.load("configs/demo.json")]
    assert [model.name for model in models] == ["one", "one + two", "someone/some-model", "configs/demo.json"]
    assert models[0].directory == str(tmp_path / "one") and models[1].directory == str(tmp_path / "two")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for model in models:
        again = pickle.loads(pickle.dumps(model))
        assert (again.name, again.directory) == (model.name, model.directory)
        assert again.translate(SENTENCE) == model.translate(SENTENCE)
        eight = json.loads(model.attend(SENTENCE, precision="int8").json())["model"]
        assert eight == json.loads(model.attend(SENTENCE).json())["model"] | {"precision": "int8"}


def test_a_model_in_a_folder_whose_name_is_no_utf8(tmp_path):
    folder = os.fsencode(tmp_path) + b"/\xff"
    os.symlink(SOURCE / "data/models/en-de", folder)
    model = attn_demo.load(folder)
    assert os.fsencode(model.directory) == folder and model.name == model.directory
    assert attn_demo.load(model.directory).translate(SENTENCE) == "Die Gruppe ging nach Hause"
    assert pickle.loads(pickle.dumps(model)).translate(SENTENCE, precision="int8")


def test_copies_are_the_model_itself(model):
    assert copy.copy(model) is model and copy.deepcopy(model) is model


def run_python(script, tmp_path, after):
    """Runs a script, and sends it Ctrl-C once it has written `after`; returns its code, stdout and stderr."""
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


@pytest.mark.parametrize("call", [
    "model.translate(lines, threads=1)", "model.translate(lines, threads=2)",
    "watched(lambda head: head.weights)", "attn_demo.load()", "model.attend(lines[0])",
    f"attn_demo.train({CONFIG!r}, os.path.join(folder, 'run'), threads=1, set=['train.updates=9999'])"])
def test_daemon_threads_may_compute_when_python_ends(call, tmp_path):
    script = f"""
        import atexit, os, tempfile, threading, time
        def at_the_end():  # runs after what the package does there
            print(model.translate("The group went home"))
        atexit.register(at_the_end)
        import attn_demo
        model = attn_demo.load()
        lines = ["The group went home"] * 2000
        def watched(fn):
            with model.observe(fn):
                model.translate(lines)
        def go(folder):
            while True:
                {call}
        for i in range(2):
            threading.Thread(target=go, args=(os.path.join({str(tmp_path)!r}, str(i)),), daemon=True).start()
        time.sleep(0.3)
        """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], text=True, capture_output=True,
                          timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Die Gruppe ging nach Hause\n", "")


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
    assert out.splitlines()[-1] == "stopped: stopped after a checkpoint; resume=True continues"
    made = max(int(path.name.split("-")[1]) for path in (tmp_path / "run/checkpoints").iterdir())
    updates = []
    attn_demo.train(CONFIG, tmp_path / "run", resume=True, threads=1, set=[f"train.updates={made + 2}"],
                    progress=lambda what, _, figures: updates.append(figures.get("update")) if what == "update" else 0)
    assert updates == [made + 1, made + 2]
    # The run continues to its end if it has fewer updates left than it has made.
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
