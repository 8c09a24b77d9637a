"""The commands for the tests of failures and kills, each in its own folder, which is restored each
time."""

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OLD = b"what was there before\n"
TIMES = re.compile(rb'"(seconds|tokens_per_second)": ?[0-9.e+-]+')
SENTENCE = "The group went home"


class Scene:
    """The arguments of a command, with {dir} for the scene's folder; `old` files exist beforehand."""

    def __init__(self, name, args, old=(), resumes=False, mallocs=True):
        self.name, self.args, self.old = name, args, old
        self.resumes, self.mallocs = resumes, mallocs

    def arguments(self, folder):
        return [part.replace("{dir}", str(folder)) for part in self.args]

    def make(self, folder, base):
        """Fills an empty folder: inputs are links into `base`, which must not be written to."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "tmp").mkdir()
        for path in base.iterdir():
            (folder / path.name).symlink_to(path)
        for name in self.old:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(OLD)


VIEWS = ["--json", "{dir}/maps.json", "--html", "{dir}/page.html", "--svg", "{dir}/maps.svg",
         "--csv", "{dir}/new/tables"]
SCENES = [
    Scene("inspect", ["inspect", "--model", "{dir}/model", "--json", "{dir}/i.json"], ["i.json"]),
    Scene("init", ["init", "--config", "{dir}/demo.json", "--out", "{dir}/new/made"]),
    Scene("convert", ["convert", "--model", "{dir}/model", "--out", "{dir}/made"]),
    Scene("tokenizer", ["tokenizer", "--source", "{dir}/train.en", "--target", "{dir}/train.de",
                        "--vocab-size", "60", "--out", "{dir}/made"]),
    Scene("translate", ["translate", "--model", "{dir}/model", "--max-length", "6", "--threads",
                        "2", SENTENCE, "It rains", *VIEWS, "--report"],
          ["maps.json", "page.html", "maps.svg"]),
    Scene("lines", ["translate", "--model", "{dir}/model", "--max-length", "6", "--input",
                    "{dir}/test.en", "--output", "{dir}/out.de"], ["out.de"]),
    Scene("picture", ["translate", "--model", "{dir}/model", "--max-length", "6", SENTENCE, "--png",
                      "{dir}/maps.png", "--pdf", "{dir}/maps.pdf"],
          ["maps.png"], mallocs=False),  # librsvg aborts when memory runs out
    Scene("evaluate", ["evaluate", "--model", "{dir}/model", "--source", "{dir}/test.en",
                       "--target", "{dir}/test.de", "--max-length", "6", "--output",
                       "{dir}/out.de", "--json", "{dir}/scores.json"], ["scores.json"]),
    Scene("explain", ["explain", "--model", "{dir}/model", "--max-length", "6", SENTENCE, "--json",
                      "{dir}/e.json", "--markdown", "{dir}/e.md"], ["e.md"]),
    Scene("page", ["page", "{dir}/records.json", "--html", "{dir}/page.html"], ["page.html"]),
    Scene("train", ["train", "{dir}/toy.json", "--out", "{dir}/new/run", "--threads", "1"],
          resumes=True),
]


def make_base(program, base):
    """Makes the commands' inputs: a small model, a corpus, records."""
    shutil.rmtree(base, ignore_errors=True)
    base.mkdir(parents=True)
    demo = str(ROOT / "configs/demo.json")

    def run(*args):
        subprocess.run([program, *args], check=True, capture_output=True)

    run("init", "--config", demo, "--d-model", "12", "--layers", "1", "--out", str(base / "model"))
    toy = ROOT / "data/toy"
    for part, lines in (("train", 40), ("dev", 3), ("test", 3)):
        for side in ("en", "de"):
            text = (toy / f"{part}.{side}").read_text().splitlines()[:lines]
            (base / f"{part}.{side}").write_text("\n".join(text) + "\n")
    model = {"d_model": 8, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
             "decoder_attention_heads": 2, "encoder_ffn_dim": 8, "decoder_ffn_dim": 8,
             "max_position_embeddings": 32}
    words = {"type": "word", "vocab_size": 60, "joint": True}
    data = {part: {"source": str(base / f"{part}.en"), "target": str(base / f"{part}.de")}
            for part in ("train", "dev")}
    train = {"updates": 4, "batch_tokens": 100, "learning_rate": 0.01, "validate_every": 2,
             "checkpoint_every": 2, "log_every": 1, "seed": 1}
    config = {"model": model, "tokenizer": words, "data": {**data, "probe": SENTENCE},
              "train": train, "decode": {"max_length": 6}}
    (base / "toy.json").write_text(json.dumps(config))
    config["tokenizer"] = {"model": str(base / "model")}
    (base / "demo.json").write_text(json.dumps(config))
    run("translate", "--model", str(base / "model"), "--max-length", "6", SENTENCE, "--json",
        str(base / "records.json"))


def state_of(folder):
    """Returns every file of the folder that is not an input, with a hash of its bytes; times and
    the folder's name do not count."""
    files, own = {}, str(folder).encode()
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink() or any(parent.is_symlink() for parent in path.parents):
            continue
        if path.is_dir():
            files[name] = "folder"
        else:
            content = TIMES.sub(b"", path.read_bytes()).replace(own, b"")
            files[name] = hashlib.sha256(content).hexdigest()
    return files


def base_state(base):
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in base.rglob("*")
            if p.is_file()}


def environment(folder, **more):
    return {**os.environ, "TMPDIR": str(folder / "tmp"), "LC_ALL": "C", **more}
