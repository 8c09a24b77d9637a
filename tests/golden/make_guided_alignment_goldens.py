#!/usr/bin/env python3
"""Makes tests/golden/guided_alignment.json: attention whose weights are guided by an alignment, and the
gradients of queries, keys and values, by PyTorch's autograd in float64. The tests read the result; they do
not run this. It needs torch (made with 2.13.0):
    python tests/golden/make_guided_alignment_goldens.py

The loss is sum(output * doutput) - lambda * sum p_tj ln(mean over the guided heads of weight_tj + 1e-6),
as in Garg et al. 2019, section 3.3, and Marian.
"""
import json
import pathlib

import torch

# heads, head_dim, (queries, keys) of each sentence, guided heads, lambda
CASES = [(2, 3, [(3, 4), (2, 5)], [1], 0.5), (4, 2, [(5, 3)], [0, 2, 3], 2.0), (1, 4, [(1, 1), (4, 6), (2, 2)], [0], 0.05)]


def rounded(matrix):
    return [[float(f"{x:.9g}") for x in row] for row in matrix.tolist()]


def links_of(sentences):
    """Returns one or two source tokens for most target tokens, with weights that add up to 1."""
    links, first = [], 0
    for queries, keys in sentences:
        for t in range(queries):
            chosen = sorted(torch.randperm(keys)[: int(torch.randint(3, (1,)))].tolist())
            links += [(first + t, j, 1 / len(chosen)) for j in chosen]
        first += queries
    return links


def case(heads, head_dim, sentences, guided, weight):
    targets, sources = (sum(side) for side in zip(*sentences))
    width = heads * head_dim
    q, k, v = (torch.randn(rows, width, dtype=torch.float32).double().requires_grad_() for rows in (targets, sources, sources))
    doutput = torch.randn(targets, width, dtype=torch.float32).double()
    links = links_of(sentences)
    loss = guided_loss = torch.zeros((), dtype=torch.float64)
    t0 = s0 = 0
    for queries, keys in sentences:
        split = lambda x, first, rows: x[first:first + rows].view(rows, heads, head_dim).transpose(0, 1)
        weights = (split(q, t0, queries) @ split(k, s0, keys).transpose(1, 2) / head_dim ** 0.5).softmax(-1)
        output = (weights @ split(v, s0, keys)).transpose(0, 1).reshape(queries, width)
        loss = loss + (output * doutput[t0:t0 + queries]).sum()
        mean = weights[guided].mean(0)
        for t, j, p in links:
            if t0 <= t < t0 + queries:
                guided_loss = guided_loss - weight * p * (mean[t - t0, j] + 1e-6).log()
        t0, s0 = t0 + queries, s0 + keys
    (loss + guided_loss).backward()
    return {"heads": heads, "sentences": sentences, "guided": guided, "weight": weight, "links": links,
            "queries": rounded(q), "keys": rounded(k), "values": rounded(v), "doutput": rounded(doutput),
            "loss": guided_loss.item(), "dqueries": rounded(q.grad), "dkeys": rounded(k.grad), "dvalues": rounded(v.grad)}


def main():
    torch.manual_seed(1)
    lines = ",\n".join(json.dumps(case(*one)) for one in CASES)
    (pathlib.Path(__file__).parent / "guided_alignment.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


main()
