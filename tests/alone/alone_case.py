"""Code that the tests of the standalone page share: models, native answers and the module's answers."""

import hashlib
import json
import os
import shutil
import struct
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
    """Returns the output of the program, run with the kernels that the module has."""
    told = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True,
                          env={**os.environ, "ATTN_DEMO_CPU": "portable", **environment})
    assert told.returncode == 0, told.stderr
    return told.stdout


def made(name, make):
    """Returns the path of a folder or file that several tests use, and makes it once."""
    path = os.path.join(FOLDER, name)
    if not os.path.exists(path):
        make(path)
    return path


def random_model(name, *settings):
    """Makes a model with random weights and the toy's whole words."""
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


# name → its shape, its tokenizer and further keys of its config.json, for families that need more than a vocabulary.
GOLDEN = os.path.join(ROOT, "tests", "golden")
FAMILIES = {
    "nllb": ("m2m_100", os.path.join(GOLDEN, "languages", "Nllb"), {}),
    "mbart": ("mbart", os.path.join(GOLDEN, "languages", "MBart"), {}),
    "t5": ("t5", os.path.join(ROOT, "data", "demo", "tokenizer"),
           {"task_specific_params": {"a": {"prefix": "to German: "}, "b": {"prefix": "to French: "}}}),
}


def family_model(name):
    """Makes a small model of a family, with random weights and the same files as published ones."""
    kind, tokenizer, more = FAMILIES[name]
    both = {"layers": 1, "attention_heads": 2, "ffn_dim": 8}
    shape = {"num_layers": 1, "num_heads": 2, "d_kv": 5, "d_ff": 8} if kind == "t5" else \
        {f"{side}_{key}": value for side in ("encoder", "decoder") for key, value in both.items()}

    def make(path):
        with open(path + ".json", "w", encoding="utf-8") as file:
            json.dump({"model": {"model_type": kind, "d_model": 8, **shape}, "tokenizer": {"model": tokenizer}}, file)
        run("init", "--config", path + ".json", "--out", path)
        change_json(os.path.join(path, "config.json"), **more)
    return made(name, make)


def change_json(path, **keys):
    with open(path, encoding="utf-8") as file:
        value = json.load(file)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**value, **keys}, file)


def ask_module(model, questions, kind="0"):
    """Returns the worker's messages under Node: of the opening, then of each question (path, body). `kind` is
    "0", "1" for int8, or "train" if `model` is an experiment's folder."""
    lines = "".join(json.dumps({"path": path, "body": body if isinstance(body, str) else json.dumps(body)}) + "\n"
                    for path, body in questions)
    told = subprocess.run(["node", os.path.join(ROOT, "tests", "alone", "ask.js"), MODULE, model, kind],
                          input=lines, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    return [json.loads(line) for line in told.stdout.splitlines()]


class NativeToy:
    """The toy as `train` trains it with the module's kernels: the loss of each update, its validations, and a
    digest of its weights."""

    def __init__(self):
        self.folder = made("toy-run", lambda path: run("train", os.path.join(ROOT, "configs", "toy.json"), "--out", path, "--threads", "1",
                                                       "--set", "train.log_every=1"))
        with open(os.path.join(self.folder, "train.jsonl"), encoding="utf-8") as file:
            events = [json.loads(line) for line in file]
        self.losses = [[event["update"], event["loss"]] for event in events if event["event"] == "train"]
        self.looks = [[event["update"], event["loss"], event["bleu"], event["chrf"]] for event in events
                      if event["event"] in ("early", "validation")]
        with open(os.path.join(self.folder, "checkpoints", f"checkpoint-{len(self.losses):09}"), "rb") as file:
            file.readline()
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
            (name, size), *_ = header["arrays"]
            assert name == "weights"
            self.weights = hashlib.sha256(file.read(4 * size)).hexdigest()

    def experiment(self):
        """Returns a folder with the training's files that the page contains."""
        def make(path):
            shutil.copytree(os.path.join(self.folder, "tokenizer"), os.path.join(path, "tokenizer"))
            with open(os.path.join(self.folder, "config.json"), encoding="utf-8") as file:
                config = json.load(file)
            data, config["tokenizer"] = config["data"], {"model": "tokenizer"}
            for part in ("train", "dev"):
                for side, file in list(data[part].items()):
                    data[part][side] = f"{part}.{side}"
                    shutil.copy(file, os.path.join(path, data[part][side]))
            with open(os.path.join(path, "toy.json"), "w", encoding="utf-8") as file:
                json.dump(config, file)
        return made("toy-experiment", make)
