#!/usr/bin/env python3
"""Compares attn-demo with transformers, and with CTranslate2, on the same weights and sentences.

    python scripts/checks/check_transformers.py --corpus EN DE --sentences FILE [CONFIG…]

(a) A random MarianMT checkpoint with a real SentencePiece vocabulary of 8,000, trained on EN and DE
    (random_checkpoint.py), translates the first --count distinct sentences of FILE, greedily and
    with beam 4: ids as `generate`'s, attention maps and log-probabilities as the model's.
(b) Each CONFIG goes through `attn-demo init`; transformers loads what comes out. The same is
    compared, then, but for the families of docs/config.md, the ids and the cross-attention of CTranslate2's converted model.

Tolerances are those of tests/golden: with e the distance of PyTorch's float32 from its own float64 on that
sentence, max(1e-5, 3e) for attention and max(1e-4, 3e) for log-probabilities and scores. Different
ids are excused only where a float64 search finds two competing scores within 1e-5: a tie.
CTranslate2 is compared without a forced end and with early_stopping true, which is its stopping
rule; of its attention it tells the first head of the last layer.

Prints a Markdown table. Exits 1 on any mismatch. Needs:
    pip install torch transformers sentencepiece safetensors sacremoses ctranslate2
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from python_packages import need, need_files

need("torch", "transformers", "sentencepiece", "safetensors", "sacremoses", "ctranslate2", "numpy")
sys.path.insert(0, str(ROOT / "tests" / "golden"))

from random_checkpoint import make_checkpoint  # must come first: it sets transformers' environment

import family_networks
import numpy as np
import reference
import torch
import transformers
from safetensors.torch import load_file
from transformers import (AutoConfig, MarianMTModel, MarianTokenizer,
                          PegasusForConditionalGeneration)

GREEDY = {"num_beams": 1, "length_penalty": 1.0, "early_stopping": False}
BEAM = {"num_beams": 4, "length_penalty": 1.0, "early_stopping": False}
STOPPING = {"num_beams": 4, "length_penalty": 0.6, "early_stopping": True}
NEAR_TIE = 1e-5


class Row:
    """Returns one line of the table: the comparison and its largest difference."""

    def __init__(self, name):
        self.name = name
        self.sentences = self.same = self.ties = 0
        self.worst = {"attention": 0.0, "log_prob": 0.0, "score": 0.0}
        self.error = {"attention": 0.0, "log_prob": 0.0}
        self.faults = []

    def differ(self, kind, ours, theirs, tolerance, where):
        distance = float(np.abs(np.asarray(ours) - np.asarray(theirs)).max(initial=0))
        self.worst[kind] = max(self.worst[kind], distance)
        if not distance <= tolerance:
            self.faults.append(f"{where}: {kind} differs by {distance:.2e}, allowed {tolerance:.1e}")

    def print(self):
        shown = [*self.worst.values(), *self.error.values()]
        cells = " | ".join(f"{value:.1e}" if value else "—" for value in shown)
        print(f"| {self.name} | {self.same} of {self.sentences} | {self.ties} | {cells} |",
              flush=True)
        for fault in self.faults[:5]:
            print(f"  FAULT {fault}", file=sys.stderr)
        if len(self.faults) > 5:
            print(f"  … and {len(self.faults) - 5} more", file=sys.stderr)
        return not self.faults


class Checkpoint:
    """A model directory as transformers loads it: float32, float64 and the reference's searches. `name`: the
    name that the program gets instead; `weights`: a safetensors file of the same model."""

    def __init__(self, directory, tokenizer=MarianTokenizer, name=None, weights=None):
        self.directory, self.name = directory, name or directory
        self.config = AutoConfig.from_pretrained(directory)
        kind = {"marian": MarianMTModel, "pegasus": PegasusForConditionalGeneration,
                **{k: getattr(transformers, v) for k, v in family_networks.CLASSES.items()}}
        self.family = self.config.model_type in family_networks.CLASSES
        cls = kind[self.config.model_type]
        self.model, info = cls.from_pretrained(
            directory, attn_implementation="eager", output_loading_info=True)
        self.model.eval()
        # If a file has no sinusoids, the class computes them; Pegasus' class reports them as
        # missing.
        self.missing = [k for what in ("missing_keys", "unexpected_keys", "mismatched_keys")
                        for k in info[what] if "embed_positions" not in str(k)]
        self.exact = cls.from_pretrained(directory, attn_implementation="eager").eval().double()
        self.tokenizer = tokenizer.from_pretrained(directory)
        raw = json.loads((directory / "config.json").read_text())
        self.raw = {**self.config.to_dict(), **raw}
        self.weights = load_file(weights or directory / "model.safetensors")
        self.start = self.config.decoder_start_token_id
        self.forced_bos = None  # for `generate`: the language token
        self.typed = []  # the program's options for the same
        self.left_out = ()  # special tokens that the class does not list as such

    @torch.no_grad()
    def forward(self, model, source, decoder_input, target):
        if self.family:
            out = family_networks.run(model, source, decoder_input, target)
            return {k: out[k].numpy() for k in ("encoder_self", "decoder_self", "cross")}, out["log_probs"].numpy()
        out = model(input_ids=torch.tensor([source]),
                    decoder_input_ids=torch.tensor([decoder_input]), output_attentions=True,
                    use_cache=False)
        log_probs = torch.log_softmax(out.logits[0], -1)[range(len(target)), target]
        maps = {"encoder_self": out.encoder_attentions, "decoder_self": out.decoder_attentions,
                "cross": out.cross_attentions}
        return {k: torch.cat(m).numpy() for k, m in maps.items()}, log_probs.numpy()

    @torch.no_grad()
    def generate(self, source, options, length):
        family_networks.reset(self.model)
        more = family_networks.options_for(self.model, 1, len(source), (0,))
        out = self.model.generate(
            torch.tensor([source]), **more, decoder_start_token_id=self.start, forced_bos_token_id=self.forced_bos, max_length=length + 1, num_return_sequences=1,
            return_dict_in_generate=True, output_scores=True, **options)
        ids, eos = out.sequences[0, 1:].tolist(), self.config.eos_token_id
        score = out.sequences_scores[0].item() if options["num_beams"] > 1 else None
        return (ids[: ids.index(eos) + 1] if eos in ids else ids), score

    def margin(self, source, options, length):
        """Returns the smallest distance between two options of a decision in the search, in float64."""
        settings = self.model.generation_config
        options = {**options, "max_length": length + 1, "eos_token_id": self.config.eos_token_id,
                   "decoder_start_token_id": self.start, "forced_bos_token_id": self.forced_bos,
                   "bad_words_ids": settings.bad_words_ids,
                   "forced_eos_token_id": settings.forced_eos_token_id,
                   "renormalize_logits": bool(settings.renormalize_logits)}
        search = reference.greedy if options["num_beams"] == 1 else reference.beam_search
        kind = family_networks.plain_network if self.family else reference.Reference
        return search(kind(self.raw, self.weights), source, options)[1]


def translate(program, directory, lines, options, length, *typed):
    """Returns attn-demo's records, one per sentence."""
    early = {True: "true", False: "false", "never": "never"}[options["early_stopping"]]
    command = [str(program), "translate", "--model", str(directory), "--json", "-",
               "--max-length", str(length), "--beam", str(options["num_beams"]),
               "--length-penalty", str(options["length_penalty"]), "--early-stopping", early,
               "--split", "never", *typed]  # like transformers, which does not split sentences
    done = subprocess.run(command, input="".join(l + "\n" for l in lines), text=True,
                          capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()}")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    if len(records) != len(lines):
        sys.exit(f"{' '.join(command)}: {len(records)} records for {len(lines)} sentences")
    return records


def compare(name, checkpoint, records, lines, options, length):
    row = Row(name)
    for line, record in zip(lines, records):
        best, where = record["hypotheses"][0], f"{name}, {line!r}"
        source = checkpoint.tokenizer(line).input_ids
        row.sentences += 1
        if record["source"]["ids"] != source:
            row.faults.append(f"{where}: source ids {record['source']['ids']}, not {source}")
            continue
        if record["source"]["text"] != line:
            row.faults.append(f"{where}: source text {record['source']['text']!r}")
        compare_numbers(row, where, checkpoint, source, record, best)
        ids, score = checkpoint.generate(source, options, length)
        if best["ids"] == ids:
            row.same += 1
            if score is not None:
                tolerance = max(1e-4, 3 * row.error["log_prob"])
                row.differ("score", best["score"], score, tolerance, where)
        elif checkpoint.margin(source, options, length) < NEAR_TIE:
            row.ties += 1
        else:
            row.faults.append(f"{where}: ids {best['ids']}, generate says {ids}")
        ids = [i for i in best["ids"] if i not in checkpoint.left_out]
        text = checkpoint.tokenizer.decode(ids, skip_special_tokens=True)
        if best["text"] != text:
            row.faults.append(f"{where}: text {best['text']!r}, the tokenizer says {text!r}")
    return row


def compare_numbers(row, where, checkpoint, source, record, best):
    """Compares the maps and log-probabilities of a hypothesis with a forced run of the same ids."""
    decoder_input, target = best["decoder_input"]["ids"], best["ids"]
    if decoder_input != [checkpoint.start, *target[:-1]]:
        row.faults.append(f"{where}: decoder_input {decoder_input} for ids {target}")
        return
    maps, log_probs = checkpoint.forward(checkpoint.model, source, decoder_input, target)
    exact_maps, exact = checkpoint.forward(checkpoint.exact, source, decoder_input, target)
    e = {"attention": max(np.abs(maps[k] - exact_maps[k]).max() for k in maps),
         "log_prob": np.abs(log_probs - exact).max()}
    for kind, value in e.items():
        row.error[kind] = max(row.error[kind], float(value))
    for kind, theirs in maps.items():
        ours = np.array((record if kind == "encoder_self" else best)[kind])
        if ours.shape != theirs.shape:
            row.faults.append(f"{where}: {kind} has shape {ours.shape}, not {theirs.shape}")
            continue
        row.differ("attention", ours, theirs, max(1e-5, 3 * e["attention"]), f"{where}, {kind}")
    row.differ("log_prob", best["log_probs"], log_probs, max(1e-4, 3 * e["log_prob"]), where)


# --- CTranslate2 -----------------------------------------------------------------------------------


def without_forced_end(checkpoint, scratch):
    """Returns the same directory with a generation_config.json that does not force </s>."""
    scratch.mkdir()
    for file in checkpoint.directory.iterdir():
        if file.name != "generation_config.json" and file.is_file():
            (scratch / file.name).symlink_to(file.resolve())
    config = json.loads(checkpoint.model.generation_config.to_json_string(use_diff=False))
    config["forced_eos_token_id"] = None
    keep = ("pad_token_id", "eos_token_id", "decoder_start_token_id", "bad_words_ids",
            "forced_eos_token_id")
    (scratch / "generation_config.json").write_text(json.dumps({k: config.get(k) for k in keep}))
    return Checkpoint(scratch)


def compare_ctranslate2(name, program, checkpoint, lines, options, length, scratch):
    import ctranslate2

    free = without_forced_end(checkpoint, scratch / "free")
    converted = scratch / "ctranslate2"
    ctranslate2.converters.TransformersConverter(str(free.directory)).convert(str(converted))
    translator = ctranslate2.Translator(str(converted), compute_type="float32")
    row = Row(name)
    for line, record in zip(lines, translate(program, free.directory, lines, options, length)):
        best, source = record["hypotheses"][0], free.tokenizer(line).input_ids
        result = translator.translate_batch(
            [free.tokenizer.convert_ids_to_tokens(source)], beam_size=options["num_beams"],
            length_penalty=options["length_penalty"], max_decoding_length=length,
            min_decoding_length=0, return_end_token=True, return_attention=True)[0]
        ids = free.tokenizer.convert_tokens_to_ids(result.hypotheses[0])
        where = f"{name}, {line!r}"
        row.sentences += 1
        if ids == best["ids"]:
            row.same += 1
            head = np.array(best["cross"])[-1][0]
            rows = np.array(result.attention[0])[: len(head)]
            row.differ("attention", head[: len(rows)], rows, 3e-5, where)
        elif free.margin(source, options, length) < NEAR_TIE:
            row.ties += 1
        else:
            row.faults.append(f"{where}: ids {best['ids']}, CTranslate2 says {ids}")
    return row


# --- The two directions ----------------------------------------------------------------------------


def read_sentences(path, count):
    """Returns the first `count` distinct sentences, alternating between short and long ones."""
    lines = [l.strip() for l in path.read_text(encoding="utf-8").splitlines()]
    lines = list(dict.fromkeys(l for l in lines if l))
    step = max(1, len(lines) // count)
    chosen = lines[::step][:count]
    if len(chosen) < count:
        print(f"{path}: only {len(chosen)} sentences", file=sys.stderr)
    return chosen


def all_rows(title, options, checkpoint, lines, scratch):
    good = True
    for kind, search in (("greedy", GREEDY), ("beam 4", BEAM)):
        records = translate(options.attn_demo, checkpoint.name, lines, search, options.max_length)
        row = compare(f"{title}, {kind}", checkpoint, records, lines, search, options.max_length)
        good &= row.print()
    if checkpoint.family:  # CTranslate2 supports BART, in another file layout
        return good
    config = checkpoint.config
    if config.encoder_attention_heads != config.decoder_attention_heads:
        # CTranslate2's converter uses the encoder's number for both stacks and computes something
        # else.
        print(f"| {title}, CTranslate2: one number of heads only, not compared | | | | | | | |")
        return good
    for kind, search in (("greedy", GREEDY), ("beam 4", STOPPING)):
        place = scratch / kind.replace(" ", "")
        place.mkdir(parents=True)
        row = compare_ctranslate2(f"{title}, CTranslate2, {kind}", options.attn_demo, checkpoint,
                                  lines, search, options.max_length, place)
        good &= row.print()
    return good


def initialised(options, config, directory):
    """Compares (b): a model that `init` wrote, as transformers loads it; nothing if it rightly refuses the
    config."""
    done = subprocess.run([str(options.attn_demo), "init", "--config", str(config), "--seed", str(options.seed),
                           "--out", str(directory)], text=True, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{config}: init ends in {done.returncode}: {done.stderr.strip()}")
    if json.loads((directory / "config.json").read_text())["model_type"] == "attn-demo":
        try:
            AutoConfig.from_pretrained(directory)
        except ValueError:
            print(f"| {config.name}: model_type attn-demo, transformers refuses it | | | | | | | |")
            return None
        sys.exit(f"{config}: transformers loads a model_type that it cannot compute")
    checkpoint = Checkpoint(directory)
    if checkpoint.missing:
        sys.exit(f"{config}: missing or unexpected in transformers: {checkpoint.missing}")
    return checkpoint


def main():
    options = parse()
    lines, good = read_sentences(options.sentences, options.count), True
    print("| what | same ids | ties | attention | log-prob. | score | e, attention | e, log-prob. |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        if options.corpus or options.model:
            directory = options.model or scratch / "checkpoint"
            if not (directory / "model.safetensors").exists():
                make_checkpoint(directory, options.corpus, options.seed)
            good &= all_rows("checkpoint", options, Checkpoint(directory), lines, scratch / "a")
        for number, config in enumerate(options.configs):
            checkpoint = initialised(options, config, scratch / f"init{number}")
            if checkpoint:
                good &= all_rows(f"init {config.name}", options, checkpoint, lines,
                                 scratch / f"b{number}")
    sys.exit(0 if good else 1)


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("configs", type=Path, nargs="*", metavar="CONFIG")
    parser.add_argument("--corpus", type=Path, nargs=2, metavar=("EN", "DE"))
    parser.add_argument("--model", type=Path, help="keep the checkpoint of (a) here, and reuse it")
    parser.add_argument("--sentences", type=Path, required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-length", type=int, default=25, help="produced tokens at most")
    parser.add_argument("--attn-demo", type=Path, default=ROOT / "build/release/app/attn-demo")
    options = parser.parse_args()
    if options.model and not options.corpus and not (options.model / "model.safetensors").exists():
        parser.error("--model is not there yet: give --corpus EN DE, too")
    if not options.attn_demo.exists():
        parser.error(f"{options.attn_demo} is missing; build it: scripts/build.sh release attn-demo")
    need_files(parser, options.sentences, *(options.corpus or []), *options.configs)
    return options


if __name__ == "__main__":
    main()
