"""What the tests of the page that translates alone share: models, native answers and the module's."""

import json
import os
import shutil
import subprocess
import tempfile

PROGRAM = None  # attn-demo, and the folder of the module; set by run_tests.py
MODULE = None
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHIPPED = os.path.join(ROOT, "data", "models", "en-de")
TOY = os.path.join(ROOT, "data", "toy", "train")
FOLDER = tempfile.mkdtemp(prefix="attn-alone-")


def remove_all():
    shutil.rmtree(FOLDER, ignore_errors=True)


def run(*arguments, **environment):
    """What the program prints; its kernels are those that the module has."""
    told = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True,
                          env={**os.environ, "ATTN_DEMO_CPU": "portable", **environment})
    assert told.returncode == 0, told.stderr
    return told.stdout


def made(name, make):
    """A folder or file that several tests use, made once; its path."""
    path = os.path.join(FOLDER, name)
    if not os.path.exists(path):
        make(path)
    return path


def random_model(name, *settings):
    """A model with random weights and whole words of the toy."""
    config = {"tokenizer": {"type": "word"}, "data": {"train": {"source": f"{TOY}.en", "target": f"{TOY}.de"}},
              "model": {"d_model": 24, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 3,
                        "decoder_attention_heads": 3, "encoder_ffn_dim": 40, "decoder_ffn_dim": 40,
                        "max_position_embeddings": 64}}

    def make(path):
        with open(path + ".json", "w", encoding="utf-8") as file:
            json.dump(config, file)
        changes = [part for setting in settings for part in ("--set", setting)]
        run("init", "--config", path + ".json", *changes, "--out", path)
    return made(name, make)


def ask_module(model, questions, eight_bits=False):
    """The worker's messages under Node: of the model's opening, then of each question (path, body)."""
    lines = "".join(json.dumps({"path": path, "body": body if isinstance(body, str) else json.dumps(body)}) + "\n"
                    for path, body in questions)
    told = subprocess.run(["node", os.path.join(ROOT, "tests", "alone", "ask.js"), MODULE, model, "1" if eight_bits else "0"],
                          input=lines, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    return [json.loads(line) for line in told.stdout.splitlines()]
