"""Writes tests/golden/safetensors/reference.safetensors with the reference library.

The values are formulas that tests/model/safetensors_test.cpp computes again, so nothing but this
one file is kept. Run with a Python that has torch and safetensors:

    python tests/golden/make_safetensors_goldens.py
"""

import pathlib

import torch
from safetensors.torch import save_file


def ramp(rows, columns):
    """Returns a tensor whose element (i, j) is (i * columns + j - 5) / 8, which is exact in every
    type."""
    return ((torch.arange(rows * columns, dtype=torch.float32) - 5) / 8).reshape(rows, columns)


# Subnormal and largest F16, a rounding tie, both zeros, an infinity, the smallest normal.
EDGES = [5.9604645e-08, 6.0975552e-05, 65504.0, 1.00048828125, 0.0, -0.0, float("-inf"), 6.1035156e-05]


def main():
    folder = pathlib.Path(__file__).parent / "safetensors"
    folder.mkdir(exist_ok=True)
    tensors = {
        "ramp.f32": ramp(3, 5),
        "ramp.f16": ramp(3, 5).to(torch.float16),
        "ramp.bf16": ramp(3, 5).to(torch.bfloat16),
        "edges.f16": torch.tensor(EDGES).to(torch.float16),
        "edges.bf16": torch.tensor(EDGES).to(torch.bfloat16),
        "scalar": torch.tensor(-2.5),
        "empty": torch.zeros(0, 4),
        "ids": torch.arange(4, dtype=torch.int64),
        "flags": torch.tensor([True, False, True]),
        "größe": torch.tensor([0.1]),
    }
    path = folder / "reference.safetensors"
    save_file(tensors, path, metadata={"format": "pt", "note": "made by the reference library"})
    print(path, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
