#!/usr/bin/env python3
"""Makes tests/golden/kinds.json: attention by low rank, random features and hashing, and its
gradients, by the code of the PyPI packages linformer and performer-pytorch and of transformers'
Reformer, with autograd in float64. The tests read the result; they do not run this. It needs torch
and those packages (made with 2.13.0, 0.2.3, 1.1.4 and transformers 5):
    python tests/golden/make_kind_goldens.py

Inputs follow from number() below, which the test has, too. A causal row is what the whole computes
from the keys up to it: performer-pytorch's own causal loop stabilises with the largest of all keys,
later ones too.
"""
import json
import pathlib

import torch
from linformer import LinformerSelfAttention
from performer_pytorch.performer_pytorch import linear_attention, softmax_kernel
from transformers import ReformerConfig
from transformers.models.reformer.modeling_reformer import LSHSelfAttention

N, COLUMNS = 23, 3


def number(kind, row, column):
    return ((row * 131 + column * 37 + kind * 71) * 17 % 199) / 99.5 - 1


def matrix(kind, rows=N, columns=COLUMNS):
    values = [[number(kind, i, c) for c in range(columns)] for i in range(rows)]
    return torch.tensor(values, dtype=torch.float32).double()


def digits(x):
    return [[float(f"{n:.8g}") for n in row] for row in x.tolist()]


def golden(kind, causal, out, inputs):
    gradients = torch.autograd.grad(out, inputs, matrix(3))
    return {"kind": kind, "causal": causal, "output": digits(out),
            "gradients": [digits(g) for g in gradients]}


def performer(causal, features):
    q, k, v = (matrix(kind).requires_grad_() for kind in range(3))
    w = 2 * matrix(4, features)

    def run(query, keys, values):
        feature = lambda x, is_query: softmax_kernel(x[None, None], projection_matrix=w, is_query=is_query)
        return linear_attention(feature(query, True), feature(keys, False), values[None, None])[0, 0]

    rows = [run(q[i:i + 1], k[:i + 1], v[:i + 1]) for i in range(N)]
    out = torch.cat(rows) if causal else run(q, k, v)
    return golden({"type": "performer", "m": features}, causal, out, (q, k, v))


def selects(linear, columns, first):
    """Makes the linear layer use only some columns."""
    with torch.no_grad():
        linear.weight.zero_()
        for i in range(columns):
            linear.weight[i, first + i] = 1


def linformer(places, rank):
    q, k, v = (matrix(kind).requires_grad_() for kind in range(3))
    layer = LinformerSelfAttention(3 * COLUMNS, places, k=rank, heads=1, dim_head=COLUMNS)
    for number_of, linear in enumerate((layer.to_q, layer.to_k, layer.to_v)):
        selects(linear, COLUMNS, number_of * COLUMNS)
    selects(layer.to_out, COLUMNS, 0)
    with torch.no_grad():
        layer.to_out.bias.zero_()
        layer.proj_k.copy_(matrix(5, places, rank))
        layer.proj_v.copy_(matrix(6, places, rank))
    out = layer(torch.cat([q, k, v], 1)[None])[0, :, :COLUMNS]
    return golden({"type": "linformer", "k": rank}, False, out,
                  (q, k, v, layer.proj_k, layer.proj_v))


def lsh(chunk, rounds, buckets):
    x, v = (matrix(kind).requires_grad_() for kind in (0, 2))
    seed = 5
    config = ReformerConfig(
        hidden_size=2 * COLUMNS, num_attention_heads=1, attention_head_size=COLUMNS, hash_seed=seed,
        lsh_attn_chunk_length=chunk, num_hashes=rounds, num_buckets=buckets, is_decoder=False,
        lsh_num_chunks_before=1, lsh_num_chunks_after=0, lsh_attention_probs_dropout_prob=0.0)
    layer = LSHSelfAttention(config).eval()
    selects(layer.query_key, COLUMNS, 0)
    selects(layer.value, COLUMNS, COLUMNS)
    # The model around the layer fills sentences up to whole chunks, and masks the added positions.
    more = -N % chunk if N > chunk else 0
    padded = torch.cat([torch.cat([x, v], 1), torch.zeros(more, 2 * COLUMNS)])
    mask = torch.tensor([1] * N + [0] * more)[None]
    found = layer(padded[None], attention_mask=mask)
    torch.manual_seed(seed)
    rotations = torch.randn((1, COLUMNS, rounds, buckets // 2))
    case = golden({"type": "lsh", "block_size": chunk, "rounds": rounds, "buckets": buckets}, False,
                  found.hidden_states[0, :N], (x, v))
    case["rotations"] = digits(rotations.reshape(COLUMNS, -1))
    if N > chunk:
        kinds = buckets + (1 if more else 0)
        rows = found.buckets[0, 0, :, :N] % kinds
        rotated = torch.einsum("nk,khr->hnr", x.detach(), rotations[0])
        best = torch.cat([rotated, -rotated], -1).sort(-1).values
        case["buckets"] = rows.tolist()
        case["margins"] = digits(best[..., -1] - best[..., -2])
    return case


def main():
    torch.set_default_dtype(torch.float64)
    cases = [performer(causal, features) for causal in (False, True) for features in (5, 20)]
    cases += [linformer(places, rank) for places, rank in ((N, 4), (30, 9))]
    cases += [lsh(4, 2, 4), lsh(5, 3, 6), lsh(5, 1, 2), lsh(23, 2, 4), lsh(12, 4, 8)]
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in cases)
    pathlib.Path(__file__).with_name("kinds.json").write_text(f"[{lines}]\n")


if __name__ == "__main__":
    main()
