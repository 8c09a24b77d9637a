#!/usr/bin/env python3
"""Makes tests/golden/rules.json: the results of `generate` with the rules that change scores before a token
is chosen (repeats, penalties, shortest length, suppressed tokens, biases), for some of the golden models.

    pip install torch==2.13.0 transformers==5.24.0 safetensors==0.8.0
    python tests/golden/make_rule_goldens.py

Searches that float64 decides otherwise are left out. Python 3.11, CPU.
"""
import json
import pathlib
import random
import sys

import torch
from transformers import AutoModelForSeq2SeqLM
from transformers.utils import logging

HERE = pathlib.Path(__file__).parent
MODELS = ["marian-2-heads-toy", "marian-6-heads-gelu", "marian-untied-output", "pegasus-6-heads-swish", "bart-3-heads"]
PAPER = {"length_penalty": 2.0, "early_stopping": True, "min_length": 12, "no_repeat_ngram_size": 3, "max_length": 24}
RULES = [
    {"no_repeat_ngram_size": 2}, {"no_repeat_ngram_size": 1}, {"encoder_no_repeat_ngram_size": 1},
    {"encoder_no_repeat_ngram_size": 2, "no_repeat_ngram_size": 3}, {"repetition_penalty": 1.3},
    {"repetition_penalty": 0.8}, {"min_length": 14}, {"min_new_tokens": 11}, {"suppress_tokens": [3, 4, 5, 6, 11, 12]},
    {"begin_suppress_tokens": list(range(3, 14))}, {"begin_suppress_tokens": list(range(3, 14)), "forced_bos_token_id": 7},
    {"sequence_bias": [[[5], 4.0], [[9], -7.5], [[5, 8], 12.0], [[4, 8], -3.0], [[12], 2.5], [[9, 5, 7], 6.0]]},
    {"repetition_penalty": 1.2, "no_repeat_ngram_size": 2, "min_new_tokens": 8, "renormalize_logits": True,
     "bad_words_ids": [[5], [6, 7]], "suppress_tokens": [9], "sequence_bias": [[[10], 3.0], [[10, 11], 5.0]]},
    PAPER,
]


def produced(row, eos):
    ids = row[1:]
    return ids[: ids.index(eos) + 1] if eos in ids else ids


@torch.no_grad()
def search(model, source, options):
    out = model.generate(torch.tensor([source]), return_dict_in_generate=True, output_scores=True,
                         num_return_sequences=min(2, options["num_beams"]), **options)
    ids = [produced(row, model.config.eos_token_id) for row in out.sequences.tolist()]
    scores = out.sequences_scores.tolist() if options["num_beams"] > 1 else [None]
    return [{"ids": i, "score": s} for i, s in zip(ids, scores)]


def cases_of(name, rng):
    directory = HERE / "models" / name
    load = lambda: AutoModelForSeq2SeqLM.from_pretrained(directory, attn_implementation="eager").eval()
    model, exact = load(), load().double()
    config = model.config
    special = {config.eos_token_id, config.pad_token_id, config.decoder_start_token_id}
    words = [i for i in range(config.vocab_size) if i not in special]
    cases, left_out = [], 0
    for rule in RULES:
        for beams in (4,) if rule is PAPER else (1, 3):
            for _ in range(3 if rule is not PAPER else 20):
                source = rng.choices(words, k=rng.randrange(3, 14)) + [config.eos_token_id]
                options = {"max_length": 20, **rule, "num_beams": beams}
                found, wide = search(model, source, options), search(exact, source, options)
                if [h["ids"] for h in found] != [h["ids"] for h in wide]:
                    left_out += 1
                    continue
                cases.append({"source_ids": source, "options": options, "hypotheses": found})
    return cases, left_out


def main():
    logging.set_verbosity_error()
    torch.set_num_threads(1)
    rng = random.Random(6)
    golden = {"made_by": f"transformers {sys.modules['transformers'].__version__}", "models": {}}
    for name in MODELS:
        golden["models"][name], left_out = cases_of(name, rng)
        print(f"{name}: {len(golden['models'][name])} searches, {left_out} left out")
    path = HERE / "rules.json"
    path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
    print(path.stat().st_size, "bytes")


main()
