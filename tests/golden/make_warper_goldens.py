#!/usr/bin/env python3
"""Makes tests/golden/warpers.json: the tokens that transformers leave for sampling, and their probabilities,
for rows of random scores.

    pip install torch==2.13.0 transformers==5.24.0 && python tests/golden/make_warper_goldens.py
"""
import json
import pathlib

import torch
from transformers import (LogitsProcessorList, MinPLogitsWarper, TemperatureLogitsWarper, TopKLogitsWarper,
                          TopPLogitsWarper, TypicalLogitsWarper)

SETTINGS = [
    {}, {"temperature": 0.5}, {"temperature": 3.0}, {"top_k": 1}, {"top_k": 5}, {"top_k": 500}, {"top_p": 0.9},
    {"top_p": 0.3}, {"top_p": 0.01}, {"min_p": 0.1}, {"min_p": 1.0}, {"typical_p": 0.9}, {"typical_p": 0.2},
    {"temperature": 0.7, "top_k": 12, "top_p": 0.8}, {"temperature": 1.5, "top_k": 20, "min_p": 0.05, "typical_p": 0.7},
    {"top_k": 10, "top_p": 0.95, "min_p": 0.02, "typical_p": 0.95},
]
WARPERS = [("temperature", TemperatureLogitsWarper), ("top_k", TopKLogitsWarper), ("top_p", TopPLogitsWarper),
           ("min_p", MinPLogitsWarper), ("typical_p", TypicalLogitsWarper)]


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    rows = [torch.randn(24) * scale for scale in (0.3, 1.0, 3.0, 9.0)]
    rows.append(torch.round(torch.randn(24) * 2))  # many of them are equal
    banned = torch.randn(24) * 2
    banned[3:9] = -float("inf")
    rows.append(banned)
    cases = []
    for settings in SETTINGS:
        warp = LogitsProcessorList([kind(settings[key]) for key, kind in WARPERS if key in settings])
        for number, row in enumerate(rows):
            scores = warp(None, row.double()[None])[0]
            left = [i for i in range(len(row)) if scores[i] > -float("inf")]
            gone = [i for i in range(len(row)) if i not in left and row[i] > -float("inf")]
            if any(row[i] == row[j] for i in gone for j in left):
                continue  # which of equal scores is removed depends on torch
            cases.append({"row": number, "settings": settings, "left": left,
                          "probabilities": [round(p, 9) for p in torch.softmax(scores, -1)[left].tolist()]})
    numbers = [[x if x > -1e30 else None for x in row.tolist()] for row in rows]
    path = pathlib.Path(__file__).parent / "warpers.json"
    path.write_text(json.dumps({"rows": numbers, "cases": cases}, separators=(",", ":")) + "\n")
    print(len(cases), "cases,", path.stat().st_size, "bytes")


main()
