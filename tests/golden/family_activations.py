"""The approximation of gelu that T5 v1.1 and BigBird-Pegasus use."""

import math

import torch


def gelu_new(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
