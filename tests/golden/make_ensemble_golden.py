"""Writes ensemble.json: the results of transformers' searches if two or three of the golden models translate
together.

`generate` runs on the first model; a logits processor, the last one, puts the mean of all models' log-softmax in the
place of its scores and leaves what is forbidden or forced. Run it as make_goldens.py.
"""
import copy
import json
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from transformers import LogitsProcessor, LogitsProcessorList

import networks
from make_goldens import compact, sentence

HERE = Path(__file__).resolve().parent
PAIRS = [["marian-1-head-relu", "demo-unscaled-attention"],
         ["demo-normalized-embedding", "marian-1-head-relu", "demo-pre-norm-without-final"]]
CASES = [dict(num_beams=1, length_penalty=1.0, early_stopping=False, max_length=14),
         dict(num_beams=3, length_penalty=1.0, early_stopping=False, max_length=14),
         dict(num_beams=4, length_penalty=0.3, early_stopping="never", max_length=10),
         dict(num_beams=2, length_penalty=2.0, early_stopping=True, max_length=8)]


class Mean(LogitsProcessor):
    def __init__(self, models, source):
        self.models, self.source = models, source

    def __call__(self, input_ids, scores):
        allowed = torch.isfinite(scores)
        if allowed.sum() == len(scores):  # a forced end counts as 0
            return scores
        source = torch.tensor([self.source] * len(input_ids))
        logs = [torch.log_softmax(model(input_ids=source, decoder_input_ids=input_ids).logits[:, -1], -1)
                for model in self.models]
        mean = torch.stack(logs).mean(0)
        return mean.masked_fill(~allowed, -torch.inf).to(scores.dtype)


def load(name):
    directory = HERE / "models" / name
    config = json.loads((directory / "config.json").read_text())
    weights = load_file(directory / "model.safetensors")
    model = networks.load(directory, config, weights)
    return config, model, networks.double(config, model, weights)


@torch.no_grad()
def search(models, source, case):
    """Returns [(ids, score)], best first; in greedy search, the score is the sum over the tokens, divided
    like a beam's."""
    beams = case["num_beams"]
    first = models[0]
    passed = {k: v for k, v in case.items() if beams > 1 or k in ("num_beams", "max_length")}
    out = first.generate(torch.tensor([source]), attention_mask=torch.ones(1, len(source), dtype=torch.long),
                         return_dict_in_generate=True, output_scores=True, num_return_sequences=beams,
                         renormalize_logits=False, logits_processor=LogitsProcessorList([Mean(models, source)]), **passed)
    rows = []
    for sequence in out.sequences.tolist():
        produced, eos = sequence[1:], first.config.eos_token_id
        rows.append(produced[: produced.index(eos) + 1] if eos in produced else produced)
    if beams > 1:
        return list(zip(rows, out.sequences_scores.tolist()))
    total = sum(step[0, token].item() for step, token in zip(out.scores, rows[0]))
    return [(rows[0], total / len(rows[0]) ** case["length_penalty"])]


def main():
    golden = []
    for names in PAIRS:
        loaded = [load(name) for name in names]
        config = loaded[0][0]
        narrow, wide = [m for _, m, _ in loaded], [m for _, _, m in loaded]
        rng = np.random.default_rng(12)
        for case in CASES:
            for length in (2, 5, 9):
                source = sentence(config["vocab_size"], length, config, rng)
                found, exact = search(narrow, source, case), search(wide, source, case)
                assert [ids for ids, _ in found] == [ids for ids, _ in exact], (names, case, source)
                golden.append({"models": names, "source_ids": source, **case,
                               "hypotheses": [{"ids": ids, "score": score} for ids, score in found],
                               "error": max(abs(a[1] - b[1]) for a, b in zip(found, exact))})
    (HERE / "ensemble.json").write_text(compact(golden) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
