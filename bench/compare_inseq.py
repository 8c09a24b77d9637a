#!/usr/bin/env python3
"""Compares inseq's attribution by attention with ours: the same weights, the same numbers, and the time of
both.

    bench/compare_inseq.py [--model DIR] [--rounds N] [SENTENCE]

inseq (inseq.org) attributes what transformers generates; its method "attention" gives each written
token the cross-attention of every layer and head. Both translate the sentence and give these
weights, alternately, --rounds times. Prints both matrices of one head, the largest difference over all
heads, and the median seconds.

Which of the two is what the model computes? transformers itself says, over the same ids; and once more
with its decoder's embeddings multiplied by sqrt(d_model) a second time, which is what inseq 0.7 with
transformers 5 does to Marian models. Needs this package (pip install .) and
    pip install inseq torch transformers sentencepiece
"""
import argparse
import statistics
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
from python_packages import need

need("attn_demo", "inseq", "torch", "transformers", "sentencepiece")

import attn_demo
import inseq
import numpy as np
import torch
from transformers import MarianMTModel

SHIPPED = Path(__file__).resolve().parent.parent / "data/models/en-de"


def timed(call):
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def teacher_forced(model, a, scale):
    """Returns transformers' cross-attention [layers, heads, L, S], with the decoder's embeddings multiplied
    by `scale`."""
    ids = torch.tensor([[model.config.decoder_start_token_id, *a.ids[:-1]]])
    with torch.no_grad():
        embedded = model.model.decoder.embed_tokens(ids) * scale
        out = model(input_ids=torch.tensor([a.source_ids]), decoder_inputs_embeds=embedded,
                    output_attentions=True, use_cache=False)
    return torch.cat(out.cross_attentions).numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentence", nargs="?", default="The group went home")
    parser.add_argument("--model", default=str(SHIPPED))
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    torch.set_num_threads(1)
    np.set_printoptions(precision=2, suppress=True)

    theirs, their_load = timed(lambda: inseq.load_model(
        options.model, "attention", model_kwargs={"attn_implementation": "eager"}))
    ours, our_load = timed(lambda: attn_demo.load(options.model))

    def attribute():
        return theirs.attribute(options.sentence, show_progress=False)

    def attend():
        return ours.attend(options.sentence, threads=1)

    seconds = {attribute: [], attend: []}
    for _ in range(options.rounds + 1):  # the first round warms both up
        for call, times in seconds.items():
            result, taken = timed(call)
            times.append(taken)
            if call is attribute:
                out = result.sequence_attributions[0]
            else:
                a = result
    # [S, L, layers, heads] → [layers, heads, L, S]
    attributed = np.transpose(out.source_attributions.numpy(), (2, 3, 1, 0))
    print(f"inseq: {' '.join(token.token for token in out.target)}")
    print(f"ours:  {' '.join(a.tokens)}")
    print(f"inseq, cross:2:2\n{attributed[2, 2]}\nours, cross:2:2\n{a.cross[2, 2]}")
    model = MarianMTModel.from_pretrained(options.model, attn_implementation="eager").eval()
    once = teacher_forced(model, a, 1)
    twice = teacher_forced(model, a, model.config.d_model**0.5)
    print("largest difference over all heads")
    for name, left, right in (("ours, transformers", a.cross, once), ("inseq, transformers", attributed, once),
                              ("inseq, transformers with embeddings scaled twice", attributed, twice)):
        print(f"  {name}: {np.abs(left - right).max():.1e}")
    their, our = (statistics.median(times[1:]) for times in seconds.values())
    print(f"load: inseq {their_load:.2f} s, ours {our_load:.2f} s")
    print(f"one sentence: inseq {their * 1000:.1f} ms, ours {our * 1000:.1f} ms, {their / our:.0f} times")
    return 0


if __name__ == "__main__":
    sys.exit(main())
