"""The golden models' weights, and the models as transformers computes them."""

import copy
import json
import math
import os
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from transformers import MarianConfig, MarianMTModel, PegasusConfig, PegasusForConditionalGeneration

DTYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2) + "\n")


def base_class(config):
    if config["model_type"] == "pegasus" or config["normalize_before"]:
        return PegasusConfig, PegasusForConditionalGeneration
    return MarianConfig, MarianMTModel


def config_for_class(config):
    known = {k: v for k, v in config.items() if k != "model_type"}
    return base_class(config)[0](**known)


# --- Weights -------------------------------------------------------------------------------------


def random_tensor(name, shape, spec, rng):
    """Returns weights that are larger than a fresh model's, so that attention is not uniform and
    outputs vary."""
    config = spec["model"]
    if name == "final_logits_bias":
        bias = rng.normal(0, 0.7, shape)
        bias[0, config["eos_token_id"]] += rng.uniform(0, 5)
        for word in spec["decode"]["bad_words_ids"] or []:
            bias[0, word] += 2.5  # makes a difference when the word is forbidden
        return bias
    if "norm" in name:
        return rng.normal(1 if name.endswith("weight") else 0, 0.25, shape)
    if name.endswith("bias"):
        return rng.normal(0, 0.3, shape)
    if "embed_positions" in name:
        return rng.normal(0, 0.8, shape)
    if len(shape) == 2 and ("embed_tokens" in name or "shared" in name or "lm_head" in name):
        # Without a final norm the logits grow with the stack's unbounded sum.
        bare = config["normalize_before"] and not config["add_final_layer_norm"]
        return rng.normal(0, (0.6 if bare else 2.5) / math.sqrt(shape[1]), shape)
    gain = 1.8 if "q_proj" in name or "k_proj" in name else 1.2
    if "encoder_attn.v_proj" in name or "encoder_attn.out_proj" in name:
        gain = 2.2  # makes the translation depend on the source
    if not config.get("scale_attention", True):
        gain = min(gain, 1.2)
    return rng.normal(0, gain / math.sqrt(shape[1]), shape)


def make_weights(spec, seed):
    """Returns the content of the file, by Hugging Face name, in the file's dtype."""
    config, file = spec["model"], spec.get("file", {})
    rng = np.random.default_rng(seed)
    blank = base_class(config)[1](config_for_class(config))
    with tempfile.TemporaryDirectory() as scratch:
        blank.save_pretrained(scratch)
        shapes = {n: tuple(t.shape) for n, t in load_file(f"{scratch}/model.safetensors").items()}
    width = config["d_model"]
    for side in ("encoder", "decoder"):
        if config["normalize_before"] and not config["add_final_layer_norm"]:
            del shapes[f"model.{side}.layer_norm.weight"], shapes[f"model.{side}.layer_norm.bias"]
        for wanted, norm in (("add_final_layer_norm", "layer_norm"),
                             ("normalize_embedding", "layernorm_embedding")):
            if config[wanted]:
                shapes[f"model.{side}.{norm}.weight"] = shapes[f"model.{side}.{norm}.bias"] = (width,)
        if file.get("positions"):
            table = f"model.{side}.embed_positions.weight"
            shapes[table] = (config["max_position_embeddings"], width)
    weights = {}
    for name in sorted(shapes):
        value = random_tensor(name, shapes[name], spec, rng)
        weights[name] = torch.tensor(np.asarray(value), dtype=torch.float32)
    if file.get("positions") == "sinusoids":
        for side in ("encoder", "decoder"):
            table = getattr(blank.model, side).embed_positions.weight
            weights[f"model.{side}.embed_positions.weight"] = table.detach().clone()
    if "model.shared.weight" in weights:
        # If untied, transformers 5 has a table for each stack, which training would leave equal.
        for copy_name in ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"):
            if copy_name in weights or file.get("copies"):
                weights[copy_name] = weights["model.shared.weight"].clone()
        if config["tie_word_embeddings"] and file.get("copies"):
            weights["lm_head.weight"] = weights["model.shared.weight"].clone()
    dtype = DTYPES[file.get("dtype", "F32")]
    return {name: tensor.to(dtype).contiguous() for name, tensor in weights.items()}


# --- The model as transformers computes it -------------------------------------------------------


def add_hooks(model, config, weights):
    """Turns the nearest class of transformers into the attn-demo variant."""
    if not config.get("scale_attention", True):
        for module in model.modules():
            if module.__class__.__name__.endswith("Attention"):
                module.scaling = 1.0

    def norm(name):
        layer = torch.nn.LayerNorm(config["d_model"])
        layer.weight.data = weights[f"{name}.weight"].float()
        layer.bias.data = weights[f"{name}.bias"].float()
        return layer

    for side in ("encoder", "decoder"):
        stack = getattr(model.model, side)
        if config["normalize_embedding"]:
            stack.layernorm_embedding = norm(f"model.{side}.layernorm_embedding")
            stack.layers[0].register_forward_pre_hook(
                lambda _, args, stack=stack: (stack.layernorm_embedding(args[0]), *args[1:]))
        if config["normalize_before"] and not config["add_final_layer_norm"]:
            stack.layer_norm = torch.nn.Identity()
        if config["add_final_layer_norm"] and not config["normalize_before"]:
            stack.extra_norm = norm(f"model.{side}.layer_norm")
            stack.layers[-1].register_forward_hook(
                lambda _, args, out, stack=stack: stack.extra_norm(out))


def load(directory, config, weights):
    cls = base_class(config)[1]
    if config["model_type"] != "attn-demo":
        model = cls.from_pretrained(directory, attn_implementation="eager")
    else:
        with tempfile.TemporaryDirectory() as scratch:
            kind = "pegasus" if cls is PegasusForConditionalGeneration else "marian"
            write_json(Path(scratch) / "config.json", {**config, "model_type": kind})
            for file in ("model.safetensors", "generation_config.json"):
                os.symlink(directory / file, Path(scratch) / file)
            model = cls.from_pretrained(scratch, attn_implementation="eager")
        add_hooks(model, config, weights)
    assert model.dtype == torch.float32
    return model.eval()


def double(config, model, weights):
    """Returns the same in float64. Hooks close over modules, so they are added again."""
    if config["model_type"] != "attn-demo":
        return copy.deepcopy(model).double()
    fresh = base_class(config)[1](copy.deepcopy(model.config)).eval()
    kept = {n: t for n, t in model.state_dict().items() if n in fresh.state_dict()}
    fresh.load_state_dict(kept, strict=False)
    fresh.generation_config = copy.deepcopy(model.generation_config)
    add_hooks(fresh, config, weights)
    return fresh.double()
