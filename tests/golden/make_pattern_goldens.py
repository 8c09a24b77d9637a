#!/usr/bin/env python3
"""Makes tests/golden/patterns.json: attention by patterns and its gradients, by PyTorch's
scaled_dot_product_attention and autograd in float64. The tests read the result; they do not run
this. It needs torch (made with 2.13.0):
    python tests/golden/make_pattern_goldens.py

Queries, keys, values and the gradient at the output follow from number() below, which the test has,
too; who looks at whom is stated here once more, a pair at a time.
"""
import json
import math
import pathlib

import torch

N, COLUMNS = 23, 3


def number(kind, row, column):
    return ((row * 131 + column * 37 + kind * 71) * 17 % 199) / 99.5 - 1


def matrix(kind):
    rows = [[number(kind, i, c) for c in range(COLUMNS)] for i in range(N)]
    return torch.tensor(rows, dtype=torch.float32).double()


def sees(p, i, j, layer):
    """Returns 0 or a bias if i looks at j, else None."""
    kind = p["type"]
    everywhere = p.get("global", [])
    if i in everywhere or j in everywhere:
        return 0
    if kind in ("window", "longformer"):
        return 0 if abs(i - j) <= p["window"] // 2 else None
    if kind == "sparse_strided":
        return 0 if abs(i - j) <= p["stride"] or (i - j) % p["stride"] == 0 else None
    if kind == "sparse_fixed":
        size = p["stride"]
        return 0 if i // size == j // size or j % size >= size - p["summary"] else None
    if kind == "chunks":
        shift = p["block_size"] // 2 if p["shift"] and layer % 2 else 0
        return 0 if (i + shift) // p["block_size"] == (j + shift) // p["block_size"] else None
    own, other, last = i // p["block_size"], j // p["block_size"], (N - 1) // p["block_size"]
    if own in (0, last) or other == last or abs(own - other) <= 1 and other != 0:
        return 0
    return math.log(1 + p["random_blocks"]) if other == 0 else None


CASES = [
    ({"type": "window", "window": 6}, False, 0),
    ({"type": "window", "window": 4}, True, 0),
    ({"type": "longformer", "window": 4, "global": [0, 9]}, False, 0),
    ({"type": "bigbird", "block_size": 2, "random_blocks": 2, "random": "first"}, False, 0),
    ({"type": "sparse_strided", "stride": 5}, False, 0),
    ({"type": "sparse_strided", "stride": 4}, True, 0),
    ({"type": "sparse_fixed", "stride": 5, "summary": 2}, False, 0),
    ({"type": "sparse_fixed", "stride": 6, "summary": 1}, True, 0),
    ({"type": "chunks", "block_size": 6, "shift": True, "global": [0]}, False, 0),
    ({"type": "chunks", "block_size": 6, "shift": True, "global": [2]}, False, 1),
]


def case(pattern, causal, layer):
    mask = torch.full((N, N), -math.inf, dtype=torch.float64)
    for i in range(N):
        for j in range(i + 1 if causal else N):
            bias = sees(pattern, i, j, layer)
            if bias is not None:
                mask[i, j] = bias
    q, k, v = (matrix(kind).requires_grad_() for kind in range(3))
    out = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], mask, scale=2.0)[0]
    gradients = torch.autograd.grad(out, (q, k, v), matrix(3))
    digits = lambda x: [[float(f"{n:.8g}") for n in row] for row in x.tolist()]
    return {"pattern": pattern, "causal": causal, "layer": layer, "output": digits(out),
            "gradients": [digits(g) for g in gradients]}


def main():
    lines = ",\n".join(json.dumps(case(*one), separators=(",", ":")) for one in CASES)
    path = pathlib.Path(__file__).parent / "patterns.json"
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


main()
