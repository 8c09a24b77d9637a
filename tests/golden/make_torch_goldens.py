"""Writes tests/golden/torch: files of torch.save, and the same numbers as safetensors.

    python tests/golden/make_torch_goldens.py

views.bin holds every way in which a tensor lies in its storage; views.safetensors the same tensors,
each copied out. old.bin is the format of before 1.6, script.bin a program of TorchScript, run.bin what training
scripts keep. Needs a Python that has torch and safetensors.
"""

import collections
import pathlib

import torch
from safetensors.torch import save_file


def views():
    """Returns tensors by name, some of which share a storage."""
    ramp = (torch.arange(24, dtype=torch.float32) - 5) / 8
    table = ramp.reshape(4, 6)
    return collections.OrderedDict({
        "whole": table,
        "parameter": torch.nn.Parameter(ramp[:3].clone()),
        "frozen": torch.nn.Parameter(ramp[:3].clone().half(), requires_grad=False),
        "shared": table,
        "transposed": table.t(),
        "row": table[2],
        "column": table[:, 1],
        "from_an_offset": table[1:3, 2:5],
        "every_second": ramp[1::2],
        "repeated": ramp[3:4].expand(2, 3),
        "turned": ramp.reshape(2, 3, 4).permute(2, 0, 1),
        "one_row": table[1:2],
        "f16": table.half(),
        "f16_transposed": table.half().t(),
        "bf16": table.bfloat16(),
        "bf16_from_an_offset": table.bfloat16()[2:],
        "scalar": torch.tensor(-2.5),
        "empty": torch.zeros(0, 4),
        "größe": torch.tensor([0.1]),
    })


def main():
    folder = pathlib.Path(__file__).parent / "torch"
    folder.mkdir(exist_ok=True)
    tensors = views()
    save_file({name: tensor.detach().clone().contiguous() for name, tensor in tensors.items()},
              folder / "views.safetensors")
    tensors["ids"] = torch.arange(4)
    tensors["flags"] = torch.tensor([True, False])
    tensors["wide"] = torch.tensor([0.5], dtype=torch.float64)
    tensors["no_tensor"] = ["text", 7, 2 ** 40, None, 1.5, {"key": (True, False)}]
    tensors._metadata = collections.OrderedDict({"": {"version": 1}})
    torch.save(tensors, folder / "views.bin")
    small = {"w": torch.ones(2)}
    torch.save(small, folder / "old.bin", _use_new_zipfile_serialization=False)
    torch.save(small, folder / "newer_pickle.bin", pickle_protocol=4)
    torch.save({"model": small, "epoch": 3}, folder / "run.bin")
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 1)), folder / "script.bin")
    for path in sorted(folder.iterdir()):
        print(path.name, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
