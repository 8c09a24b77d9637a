#!/usr/bin/env python3
"""Makes buckets.json: the bucket of T5's class for each distance from key to query, as runs [first distance,
bucket].

    python make_bucket_goldens.py
"""

import json
from pathlib import Path

import torch
from transformers.models.t5.modeling_t5 import T5Attention

FARTHEST = 1500
SETTINGS = [(32, 128), (32, 256), (64, 128), (16, 64), (32, 512), (10, 20), (4, 3), (6, 20), (8, 12), (12, 40), (128, 1000)]


def runs(count, most, causal):
    distances = torch.arange(-FARTHEST, FARTHEST + 1)
    buckets = T5Attention._relative_position_bucket(distances, not causal, count, most).tolist()
    return [[d, b] for i, (d, b) in enumerate(zip(distances.tolist(), buckets)) if i == 0 or buckets[i - 1] != b]


if __name__ == "__main__":
    golden = [{"buckets": count, "max_distance": most, "causal": causal, "runs": runs(count, most, causal)}
              for count, most in SETTINGS for causal in (False, True)]
    text = ",\n".join(json.dumps(each) for each in golden)
    (Path(__file__).resolve().parent / "buckets.json").write_text(f"[{text}]\n")
