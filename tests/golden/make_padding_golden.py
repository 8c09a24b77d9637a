#!/usr/bin/env python3
"""Makes tests/golden/padding_within.json: the results of M2M100's class after <pad> in the middle of its
output.

Token by token with a cache, as generate() runs it: <pad> gets a row of zeros for its place, and the tokens behind it count it. (All at
once, without a cache, the class does not count it; generate() never does that.) Of the golden models m2m100-*, log-probabilities of
every next token, in float64. Re-running gives the same file.
"""
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from make_goldens import compact  # sets transformers' environment, so it comes first

import torch
import transformers

HERE = Path(__file__).resolve().parent
MODELS = ("m2m100-3-heads", "m2m100-untied-pad-7")


@torch.no_grad()
def run(name):
    model = transformers.M2M100ForConditionalGeneration.from_pretrained(HERE / "models" / name, attn_implementation="eager").eval().double()
    pad, start = model.config.pad_token_id, model.config.decoder_start_token_id
    source, ids = [9, 14, 11, 2], [start, 5, pad, 8, pad, pad, 12]
    memory, cache, rows = model.get_encoder()(torch.tensor([source])), None, []
    for token in ids:
        out = model(encoder_outputs=memory, decoder_input_ids=torch.tensor([[token]]), past_key_values=cache, use_cache=True)
        cache = out.past_key_values
        rows.append([float(f"{x:.9g}") for x in torch.log_softmax(out.logits[0, -1], -1)])
    return {"model": name, "source": source, "decoder_input": ids, "log_probs": rows}


(HERE / "padding_within.json").write_text(compact([run(name) for name in MODELS]) + "\n")
