#!/usr/bin/env python3
"""Gradients of a translation by inseq: times and values for bench/why.py --inseq.

    bench/why_inseq.py --model DIR --source TEXT --target TEXT [--points K] [--rounds N]

inseq 0.7 expects a transformers before 5, so this runs in an environment of its own:
    pip install inseq sentencepiece "transformers<5"
Only the first step's values can be compared: inseq gives the decoder scaled embeddings, and Marian's decoder in
transformers (4.57 and 5.23) scales them once more. Its integrated gradients use Gauss-Legendre points.
Prints one JSON object: per method `ms`, the median of the processor's time on one thread (the first round
warms up), and `values`, the L2 norms or sums over the embedding's columns of the source, [source][step].
"""
import argparse
import json
import statistics
import sys
import time

sys.dont_write_bytecode = True

import inseq
import torch


def cases(points):
    """Per method of bench/why.py: inseq's name, its options, and how it sums an embedding's columns."""
    yield "gradients", "input_x_gradient", {}, lambda scores: scores.norm(dim=-1)
    yield "integrated", "integrated_gradients", {"n_steps": points}, lambda scores: scores.sum(-1)


def log_probability(args):
    """log p of the next token: inseq has p and the cross-entropy of whole batches."""
    logits = args.attribution_model.output2logits(args.forward_output)
    return logits.log_softmax(-1).gather(-1, args.target_ids.reshape(logits.shape[0], 1)).squeeze(-1)


inseq.register_step_function(fn=log_probability, identifier="log_probability")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--points", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = {}
    for name, method, more, summed in cases(options.points):
        model = inseq.load_model(options.model, method)
        times, scores = [], None
        for _ in range(options.rounds + 1):
            begin = time.process_time()
            out = model.attribute(options.source, options.target, attribute_target=True, attributed_fn="log_probability",
                show_progress=False, pretty_progress=False, **more)
            times.append((time.process_time() - begin) * 1000)
            scores = out.sequence_attributions[0].source_attributions
        values = summed(scores.detach()) if scores.dim() == 3 else scores.detach()
        found[name] = {"ms": statistics.median(times[1:]), "values": values.tolist()}
    json.dump({"inseq": inseq.__version__ if hasattr(inseq, "__version__") else "", "torch": torch.__version__, "methods": found}, sys.stdout)


if __name__ == "__main__":
    main()
