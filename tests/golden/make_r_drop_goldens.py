#!/usr/bin/env python3
"""Makes tests/golden/r_drop.json: R-Drop's loss and its gradient at the logits, by PyTorch's autograd
in float64. The tests read the result; they do not run this. It needs torch (made with 2.13.0):
    python tests/golden/make_r_drop_goldens.py

The loss is the one of Liang et al. 2021, equation 4, halved: half of both label-smoothed
cross-entropies and of alpha/2 (KL(P||Q) + KL(Q||P)), summed over the tokens.
"""
import json
import pathlib

import torch
import torch.nn.functional as F

CASES = [(3, 7, 1.0, 0.1, 5.0), (1, 17, 4.0, 0.0, 0.5), (5, 37, 2.0, 0.1, 1.0), (2, 2, 0.1, 0.3, 20.0)]


def kl(p, q):
    """Returns KL(P||Q), summed over the rows."""
    return F.kl_div(q.log_softmax(-1), p.log_softmax(-1), reduction="sum", log_target=True)


def case(tokens, classes, size, smoothing, r_drop):
    one = torch.randn(tokens, classes, dtype=torch.float32) * size
    other = one + torch.randn(tokens, classes, dtype=torch.float32) * 0.5 * size  # differs like another dropout mask would
    logits = torch.cat([one, other]).double().requires_grad_()
    targets = torch.randint(classes, (tokens,))
    first, second = logits.chunk(2)
    entropies = [F.cross_entropy(part, targets, label_smoothing=smoothing, reduction="sum") for part in (first, second)]
    nll = sum(F.cross_entropy(part, targets, reduction="sum") for part in (first, second)) / 2
    loss = (sum(entropies) + r_drop / 2 * (kl(first, second) + kl(second, first))) / 2
    loss.backward()
    return {"smoothing": smoothing, "r_drop": r_drop, "targets": targets.tolist(),
            "logits": [[float(f"{x:.9g}") for x in row] for row in logits.tolist()], "loss": loss.item(),
            "nll": nll.item(), "gradient": [[float(f"{x:.9g}") for x in row] for row in logits.grad.tolist()]}


def main():
    torch.manual_seed(1)
    lines = ",\n".join(json.dumps(case(*one)) for one in CASES)
    (pathlib.Path(__file__).parent / "r_drop.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


main()
