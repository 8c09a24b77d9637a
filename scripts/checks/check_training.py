#!/usr/bin/env python3
"""Compares `attn-demo train --from` with PyTorch on model directories of transformers' classes, including
languages.

    python scripts/checks/check_training.py [--program FILE] [NAME…]

A small model of random weights of each class, with a tokenizer of the class (check_forms.py makes both), learns 48 pairs of data/toy,
all of them in every update, without dropout. The same updates by the class itself: sources and labels as its tokenizer makes them
(text_target), decoder inputs as the class shifts them, cross-entropy with label smoothing, torch.optim.Adam, the rates that
train.jsonl says. The losses of all updates and the gradients' norms are compared within max(1e-4, 3e), where e is how far the
class in float32 is from itself in float64. Then transformers loads the directory that was kept, and translates with its own
settings: the ids that attn-demo finds, greedily and with four beams. Then the run goes on with --resume, and is compared once more.

Prints a Markdown table; exits 1 where something differs. Needs: pip install torch transformers sentencepiece protobuf safetensors
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/golden"))
from check_forms import checkpoint_files, of_languages, written_by

import json_tokenizers
import torch
import torch.nn.functional as F
import transformers

torch.set_num_threads(1)
PAIRS, SMOOTHING, UPDATES, LENGTH = 48, 0.1, 12, 24
SMOOTH = {"activation": "gelu"}  # with relu, an input near 0 could fall on either side after some updates
# name: (function that makes model, tokenizer and files; source and target as typed, as the class
# names them; other differences)
CASES = {
    "mBART, sentencepiece.bpe.model": (lambda: of_languages("MBart", "older"), ("English", "ro"), ("en_XX", "ro_RO"), {"biased": True}),
    "mBART, untied": (lambda: of_languages("MBart", "json"), ("en_XX", "de"), ("en_XX", "de_DE"), {"untied": True}),
    "mBART-50, tokenizer.json": (lambda: of_languages("MBart50", "json"), ("en", "German"), ("en_XX", "de_DE"), {"scaled": True}),
    "NLLB, tokenizer.json": (lambda: of_languages("Nllb", "json"), ("eng_Latn", "de"), ("eng_Latn", "deu_Latn"), SMOOTH),
    "M2M100, vocab.json": (lambda: of_languages("M2M100", "older"), ("en", "German"), ("en", "de"), SMOOTH),
    "M2M100, untied": (lambda: of_languages("M2M100", "older"), ("en", "de"), ("en", "de"), {"untied": True}),
    "BART, tokenizer.json": (lambda: (*written_by("Bart"), None), None, None, {"biased": True}),
    "Pegasus, tokenizer.json": (lambda: (*written_by("Pegasus"), None), None, None, {}),
    "T5 v1.1, tokenizer.json": (lambda: (*t5(), None), None, None, {}),
}


def t5():
    with tempfile.TemporaryDirectory() as scratch:
        json_tokenizers.classes(Path(scratch), None)
        tokenizer = transformers.AutoTokenizer.from_pretrained(Path(scratch) / "t5")
    special = {"pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id, "decoder_start_token_id": tokenizer.pad_token_id}
    torch.manual_seed(2)
    model = transformers.T5ForConditionalGeneration(transformers.T5Config(
        vocab_size=len(tokenizer), d_model=64, num_layers=2, num_heads=4, d_kv=12, d_ff=128, feed_forward_proj="gated-gelu",
        tie_word_embeddings=False, **special))
    model.generation_config = transformers.GenerationConfig(**special, max_length=64)
    return model, tokenizer


def read_pairs():
    sides = [(ROOT / f"data/toy/train.{side}").read_text(encoding="utf-8").splitlines()[:PAIRS] for side in ("en", "de")]
    return list(zip(*sides, strict=True))


def changed(model, biased=False, untied=False, scaled=False, activation=None):
    """Returns the same model with options that its class allows and that published models have or might have."""
    torch.manual_seed(3)
    with torch.no_grad():
        if untied:
            config = type(model.config)(**{**model.config.to_dict(), "tie_word_embeddings": False})
            other, tensors = type(model)(config), model.state_dict()
            other.load_state_dict({name: tensors.get(name, tensor) for name, tensor in other.state_dict().items()})
            other.lm_head.weight += 0.05 * torch.randn_like(other.lm_head.weight)
            other.generation_config = model.generation_config
            model = other
        if biased:
            model.final_logits_bias.copy_(torch.randn_like(model.final_logits_bias))
    if scaled:
        model.config.scale_embedding = True
    if activation:
        model.config.activation_function = activation
    return model


class Reference:
    """The class, trained with the ids of its own tokenizer."""

    def __init__(self, folder, tokenizer, languages, dtype):
        self.model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder, attn_implementation="eager").eval().to(dtype)
        if self.model.config.model_type == "pegasus":  # its sinusoids, which from_pretrained makes trainable
            for stack in (self.model.get_encoder(), self.model.get_decoder()):
                stack.embed_positions.weight.requires_grad_(False)
        pairs, pad = read_pairs(), tokenizer.pad_token_id
        if languages:
            tokenizer.src_lang, tokenizer.tgt_lang = languages
        source = [tokenizer(text).input_ids for text, _ in pairs]
        target = [tokenizer(text_target=text).input_ids for _, text in pairs]
        self.batch = {"input_ids": padded(source, pad), "attention_mask": padded([[1] * len(ids) for ids in source], 0),
                      "labels": padded(target, -100)}
        self.adam = torch.optim.Adam(self.model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
        if "final_logits_bias" in dict(self.model.named_buffers()):
            self.model.final_logits_bias = self.model.final_logits_bias.to(dtype)

    def update(self, rate):
        """Makes one update; returns the loss and the norm of its gradient before it."""
        self.adam.zero_grad()
        classes = self.batch["labels"], self.model(**self.batch, use_cache=False).logits
        loss = F.cross_entropy(classes[1].flatten(0, 1), classes[0].flatten(), ignore_index=-100, label_smoothing=SMOOTHING)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0).item()
        self.adam.param_groups[0]["lr"] = rate
        self.adam.step()
        return loss.item(), norm


def padded(rows, pad):
    longest = max(map(len, rows))
    return torch.tensor([row + [pad] * (longest - len(row)) for row in rows])


def train(program, scratch, folder, typed, *more):
    config = {"data": {"train": {}},
              "model": {"dropout": 0.0, "attention_dropout": 0.0, "activation_dropout": 0.0},
              "train": {"updates": UPDATES, "batch_tokens": 100_000, "learning_rate": 0.003, "warmup_updates": 4, "log_every": 1,
                        "label_smoothing": SMOOTHING, "clip_norm": 1.0, "average": "none", "validate_every": 4, "checkpoint_every": 4,
                        "metric": "loss"}}
    for side, number in (("en", 0), ("de", 1)):
        text = scratch / f"pairs.{side}"
        text.write_text("".join(pair[number] + "\n" for pair in read_pairs()), encoding="utf-8")
        config["data"]["train"]["source" if side == "en" else "target"] = str(text)
    config["data"]["dev"] = config["data"]["train"]
    (scratch / "config.json").write_text(json.dumps(config))
    languages = ["--source-lang", typed[0], "--target-lang", typed[1]] if typed else []
    command = [program, "train", scratch / "config.json", "--from", folder, "--out", scratch / "run", *languages, *more]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}: {done.stderr.strip()}")
    events = map(json.loads, (scratch / "run/train.jsonl").read_text().splitlines())
    return [event for event in events if event["event"] == "train"]


def far(events, steps):
    return max(max(abs(event["loss"] - loss), abs(event["gradient_norm"] - norm)) for event, (loss, norm) in zip(events, steps, strict=True))


def same_translations(program, folder, tokenizer_class):
    """Returns the number of sentences for which generate(), with the settings in the directory, finds our
    ids."""
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer, same, lines = tokenizer_class.from_pretrained(folder), 0, [pair[0] for pair in read_pairs()[:20]]
    left_out = set(getattr(tokenizer, "lang_token_to_id", {}).values())  # special tokens that the class does not list as such
    for beams in (1, 4):
        done = subprocess.run([str(program), "translate", "--model", str(folder), "--beam", str(beams), "--max-length", str(LENGTH), "--json", "-"],
                              input="".join(line + "\n" for line in lines), capture_output=True, text=True, check=True)
        for line, record in zip(lines, map(json.loads, done.stdout.splitlines()), strict=True):
            ids = tokenizer(line, return_tensors="pt").input_ids
            theirs = model.generate(ids, num_beams=beams, max_length=LENGTH + 1)[0].tolist()
            best = record["hypotheses"][0]
            ours = [best["decoder_input"]["ids"][0], *best["ids"]]
            same += ids[0].tolist() == record["source"]["ids"] and ours == theirs[:len(ours)]
            text = tokenizer.decode([i for i in theirs if i not in left_out], skip_special_tokens=True)
            if best["text"] != text:
                print(f"  text {best['text']!r}, the tokenizer says {text!r}", file=sys.stderr)
    return same, 2 * len(lines)


def check(name, program, scratch):
    make, typed, languages, more = CASES[name]
    model, tokenizer, files = make()
    checkpoint_files(changed(model, **more), tokenizer, files, scratch / "model")
    kind = type(tokenizer) if files else transformers.AutoTokenizer
    steps = []
    events = train(program, scratch, scratch / "model", typed)
    for dtype in (torch.float32, torch.float64):
        torch_model = Reference(scratch / "model", kind.from_pretrained(scratch / "model"), languages, dtype)
        steps.append([torch_model.update(event["learning_rate"]) for event in events])
    # Each event has the loss before its update, and so does the class.
    e = max(abs(a - b) for one, other in zip(*steps) for a, b in zip(one, other))
    distance = far(events, steps[0])
    same, of = same_translations(program, scratch / "run/model", kind)
    resumed = train(program, scratch, scratch / "model", typed, "--resume", "--set", f"train.updates={UPDATES + 4}")[UPDATES:]
    going_on = far(resumed, [torch_model.update(event["learning_rate"]) for event in resumed])
    good = max(distance, going_on) <= max(1e-4, 3 * e) and same == of
    print(f"| {name} | {events[0]['loss']:.3f} to {resumed[-1]['loss']:.3f} | {distance:.1e} | {going_on:.1e} | {e:.1e} | {same} of {of} |"
          + ("" if good else " differs"), flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/app/attn-demo")
    parser.add_argument("names", nargs="*", metavar="NAME", help="beginnings of names: mBART, NLLB, …")
    options = parser.parse_args()
    print("| what | loss | losses and norms | resumed | e | same ids |\n| --- | --- | --- | --- | --- | --- |")
    good = True
    for name in CASES:
        if options.names and not name.startswith(tuple(options.names)):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            good &= check(name, options.program, Path(scratch))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
