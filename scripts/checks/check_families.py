#!/usr/bin/env python3
"""Compares attn-demo with transformers' LED, BigBird-Pegasus and Pegasus-X at the edges of their patterns, with T5, mT5 and
UMT5 at the edges of their buckets of distances, and with mBART and M2M100 up to their last position.

    python scripts/checks/check_families.py [--program FILE] [FAMILY…]

A small model of each (two layers, two heads of 8 columns; the published windows and blocks) from `attn-demo init`; sentences of
as many tokens as windows and blocks have edges. Log-probabilities and the decoder's maps are compared with the class in float32,
the encoder's maps with the second statement of tests/golden/family_networks.py in float64, since the classes' own of long
sentences are in pieces. Allowed are max(1e-4, 3e) and max(1e-5, 3e), where e is the class's distance from that float64.

Prints a Markdown table; exits 1 where something differs. Needs: pip install torch transformers safetensors numpy
"""
import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from python_packages import need

need("torch", "transformers", "safetensors", "numpy")
sys.path.insert(0, str(ROOT / "tests" / "golden"))

import family_networks
import numpy as np
import torch
from safetensors.torch import load_file

SMALL = {"d_model": 16, "encoder_layers": 2, "decoder_layers": 1, "encoder_attention_heads": 2,
         "decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24}
LED = {"model_type": "led", "attention_window": 512, "max_encoder_position_embeddings": 4096,
       "max_decoder_position_embeddings": 64}
BIGBIRD = {"model_type": "bigbird_pegasus", "block_size": 64, "num_random_blocks": 3, "max_position_embeddings": 4096}
PEGASUS_X = {"model_type": "pegasus_x", "block_size": 512, "max_position_embeddings": 2048}
SEVERAL = {"max_position_embeddings": 1024, "scale_embedding": True}  # models for several languages
M2M100 = {**SEVERAL, "model_type": "m2m_100", "max_position_embeddings": 10_100}  # <pad> is the last of 10,020 ids here, and positions count from it
SMALL_T5 = {"d_model": 16, "num_layers": 2, "num_decoder_layers": 1, "num_heads": 2, "d_kv": 5, "d_ff": 24}
T5 = {**SMALL_T5, "model_type": "t5"}
EDGES_T5 = (1, 8, 9, 13, 17, 24, 33, 47, 65, 92, 114, 129, 130, 513, 700)
EDGES_LED = (1, 256, 512, 513, 2051, 4096)
EDGES_SEVERAL = (1, 2, 129, 700, 1023, 1024)
EDGES_X = (1, 511, 512, 513, 1300)
# name: (config, lengths, lists of global tokens)
CASES = {
    "LED, no global token": (LED, EDGES_LED, ((),)),
    "LED, the first token global": (LED, EDGES_LED, ((0,),)),
    "LED, four global tokens": (LED, EDGES_LED, ((0, 5, 6, 500),)),
    "BigBird-Pegasus": (BIGBIRD, (1, 704, 705, 1000, 1024, 3072, 4096), ((0,),)),
    "Pegasus-X, no global token": ({**PEGASUS_X, "num_global_tokens": 0}, EDGES_X, ((0,),)),
    "Pegasus-X, one global token": ({**PEGASUS_X, "num_global_tokens": 1}, EDGES_X, ((0,),)),
    "Pegasus-X, five global tokens": ({**PEGASUS_X, "num_global_tokens": 5}, EDGES_X, ((0,),)),
    "mBART": ({**SEVERAL, "model_type": "mbart"}, EDGES_SEVERAL, ((0,),)),
    "mBART, untied": ({**SEVERAL, "model_type": "mbart", "tie_word_embeddings": False}, (1, 129, 1024), ((0,),)),
    "M2M100": (M2M100, EDGES_SEVERAL, ((0,),)),
    "M2M100, one head": ({**M2M100, "encoder_attention_heads": 1, "decoder_attention_heads": 1},
                         (1, 129, 1024), ((0,),)),
    "T5": (T5, EDGES_T5, ((0,),)),
    "T5 v1.1": ({**T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False, "num_heads": 2, "d_kv": 8},
                (1, 130, 700), ((0,),)),
    "T5, 12 buckets": ({**T5, "relative_attention_num_buckets": 12, "relative_attention_max_distance": 40},
                       (1, 4, 7, 14, 41, 60), ((0,),)),
    "mT5": ({**T5, "model_type": "mt5", "feed_forward_proj": "gated-gelu"}, (1, 130, 700), ((0,),)),
    "UMT5": ({**T5, "model_type": "umt5", "feed_forward_proj": "gated-gelu"}, EDGES_T5, ((0,),)),
}


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))[:300]}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def record_of(program, directory, length, places):
    """Returns a sentence of so many tokens, including </s>, with a given translation."""
    words = ["house", "the", "group", "went", "home", "old", "man"]
    dice = random.Random(length)
    text = " ".join(dice.choice(words) for _ in range(length - 1))
    alike = directory.name in ("t5", "mt5", "umt5", "mbart", "m2m_100")
    more = ["--global", ",".join(map(str, places)) or "none"] if "led" in directory.name else []
    record = json.loads(run([program, "translate", "--model", directory, "--json", "-", "--split", "never",
                             "--target", text if text and alike else "Die Gruppe ging", *more, "--", text]))
    if len(record["source"]["ids"]) != length:
        sys.exit(f"a sentence of {len(record['source']['ids'])} tokens, not {length}")
    return record


def encoder_maps(record, layers, heads):
    """Returns the maps [layer, head, query, key] of a complete or a sparse record."""
    n = len(record["source"]["ids"])
    if record["encoder_self"]:
        return np.array(record["encoder_self"])
    seen = record["seen"]["encoder_self"]
    maps = np.zeros((layers, heads, n, n))
    for layer in range(layers):
        for head in range(heads):
            for q, runs in enumerate(seen["patterns"][seen["of"][layer][head]]):
                weights, at = seen["weights"][layer][head][q], 0
                for i in range(0, len(runs), 3):
                    first, count = runs[i], runs[i + 1]
                    maps[layer, head, q, first:first + count] = weights[at:at + count]
                    at += count
    return maps


@torch.no_grad()
def theirs(model, source, decoder_input, target, places):
    family_networks.reset(model)
    out = model(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([decoder_input]), output_attentions=True,
                use_cache=False, **family_networks.options_for(model, 1, len(source), places))
    log_probs = torch.log_softmax(out.logits[0], -1)[range(len(target)), target]
    return {"log_probs": log_probs.numpy(), "cross": torch.cat(out.cross_attentions).numpy(),
            "decoder_self": torch.cat(out.decoder_attentions).numpy()}


@torch.no_grad()
def exactly(plain, source, decoder_input, target, places):
    plain.places = places
    memory, encoder = plain.encode(source)
    logits, maps = plain.decode(memory, decoder_input)
    return {"log_probs": torch.log_softmax(logits, -1)[range(len(target)), target].numpy(),
            "cross": torch.stack(maps["cross"]).numpy(), "decoder_self": torch.stack(maps["self"]).numpy(),
            "encoder_self": torch.stack(encoder["self"]).numpy()}


def compare(program, directory, model, plain, length, places):
    """Returns the largest differences, and whether they are allowed."""
    record = record_of(program, directory, length, places)
    best = record["hypotheses"][0]
    asked = (record["source"]["ids"], best["decoder_input"]["ids"], best["ids"], places)
    narrow, exact = theirs(model, *asked), exactly(plain, *asked)
    far = lambda a, b: float(np.abs(np.asarray(a) - np.asarray(b)).max())
    e = {key: far(narrow[key], exact[key]) for key in narrow}
    attention = max(far(best[key], narrow[key]) for key in ("cross", "decoder_self"))
    encoder = far(encoder_maps(record, *exact["encoder_self"].shape[:2]), exact["encoder_self"])
    log_prob = far(best["log_probs"], narrow["log_probs"])
    e_attention = max(e["cross"], e["decoder_self"])
    good = (max(attention, encoder) <= max(1e-5, 3 * e_attention) and log_prob <= max(1e-4, 3 * e["log_probs"]))
    return good, (encoder, attention, log_prob, e_attention, e["log_probs"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=ROOT / "build/release/app/attn-demo")
    parser.add_argument("families", nargs="*", help="beginnings of names: LED, BigBird-Pegasus, Pegasus-X, mBART, M2M100, T5, mT5, UMT5")
    options = parser.parse_args()
    print("| model | tokens | encoder's maps | decoder's maps | log-prob. | e, maps | e, log-prob. |\n"
          "| --- | --- | --- | --- | --- | --- | --- |")
    bad = 0
    for name, (family, lengths, globals_) in CASES.items():
        if options.families and not name.startswith(tuple(options.families)):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            directory = Path(scratch) / family["model_type"]
            config = Path(scratch) / "config.json"
            config.write_text(json.dumps({"model": {**({} if "t5" in family["model_type"] else SMALL), **family}, "tokenizer": {"model": str(ROOT / "data/models/en-de")}}))
            run([options.program, "init", "--config", config, "--out", directory])
            model = family_networks.network(directory)
            raw = json.loads((directory / "config.json").read_text())
            plain = family_networks.plain_network({**model.config.to_dict(), **raw}, load_file(directory / "model.safetensors"))
            for places in globals_:
                for length in lengths:
                    good, figures = compare(options.program, directory, model, plain, length, places)
                    bad += not good
                    print(f"| {name} | {length:,} | " + " | ".join(f"{x:.1e}" for x in figures)
                          + (" |" if good else " | differs"), flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
