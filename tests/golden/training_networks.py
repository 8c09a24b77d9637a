"""The two models that make_training_goldens.py trains: the plain reference and transformers' class,
and the same two of the published families.

Each has `trained`, the parameters by their Hugging Face names, and `logits(batch)`.
"""

import math

import torch
import transformers

import family_networks
import reference
from networks import add_hooks, base_class, config_for_class


def is_table(name):
    """True if it has a row for each token."""
    return any(part in name for part in ("embed_tokens", ".shared.", "lm_head"))


class Plain(reference.Reference):
    """reference.py's model with leaves that autograd follows; pad's rows are frozen."""

    def __init__(self, config, weights, dtype):
        super().__init__(config, {})
        self.kink = math.inf  # the smallest |input of ReLU| so far
        self.weights = {name: tensor.to(dtype, copy=True) for name, tensor in weights.items()}
        self.trained = {name: tensor.requires_grad_() for name, tensor in self.weights.items()
                        if name != "final_logits_bias"}
        for name, tensor in self.trained.items():
            if is_table(name):
                tensor.register_hook(self.without_pad)
        for side in ("encoder", "decoder"):
            table = reference.sinusoids(config["max_position_embeddings"], config["d_model"])
            self.weights.setdefault(f"model.{side}.embed_positions.weight", table.to(dtype))

    def without_pad(self, gradient):
        gradient = gradient.clone()
        gradient[self.config["pad_token_id"]] = 0
        return gradient

    def feed_forward(self, name, x):
        if self.config["activation_function"] == "relu":
            self.kink = min(self.kink, self.linear(f"{name}.fc1", x).abs().min().item())
        return super().feed_forward(name, x)

    def logits(self, batch):
        """Returns [T, V]: the rows of all targets, one sentence after another."""
        return torch.cat([self.decode(self.encode(pair["source_ids"])[0],
                                      pair["decoder_input_ids"])[0] for pair in batch])


class LearnedPositions(torch.nn.Module):
    """Replaces the position table of Marian and Pegasus, which never lets a gradient through."""

    def __init__(self, weight):
        super().__init__()
        self.weight = torch.nn.Parameter(weight)

    def forward(self, shape, past_key_values_length=0, position_ids=None):
        return self.weight[: shape[1]]


class Transformers:
    """The same by transformers' classes, as one padded batch; `padding_idx` freezes pad's rows."""

    def __init__(self, config, weights, dtype):
        self.config = config
        weights = {name: tensor.clone() for name, tensor in weights.items()}  # the hooks use them unchanged
        wanted = config_for_class({**config, "attn_implementation": "eager"})
        self.model = base_class(config)[1](wanted)
        self.model.load_state_dict(weights, strict=False)
        self.model.tie_weights()
        for side in ("encoder", "decoder"):
            positions = f"model.{side}.embed_positions.weight"
            if positions in weights:
                getattr(self.model.model, side).embed_positions = LearnedPositions(weights[positions])
        if config["model_type"] == "attn-demo":
            add_hooks(self.model, config, weights)
        self.model.eval().to(dtype)
        for side in ("encoder", "decoder"):
            if f"model.{side}.embed_positions.weight" not in weights:
                getattr(self.model.model, side).embed_positions.weight.requires_grad_(False)
        named = {name.replace("extra_norm", "layer_norm"): parameter  # the hook's name for it
                 for name, parameter in self.model.named_parameters() if parameter.requires_grad}
        self.trained = {name: named[name] for name in weights if name != "final_logits_bias"}
        # If the tables are untied, the class still has a shared one, which is unused.
        assert set(named) - set(self.trained) <= {"model.shared.weight"}, set(named) ^ set(weights)

    def logits(self, batch):
        pad = self.config["pad_token_id"]

        def padded(key):
            longest = max(len(pair[key]) for pair in batch)
            return torch.tensor([pair[key] + [pad] * (longest - len(pair[key])) for pair in batch])

        lengths = [len(pair["source_ids"]) for pair in batch]
        mask = torch.tensor([[1] * n + [0] * (max(lengths) - n) for n in lengths])
        out = self.model(input_ids=padded("source_ids"), attention_mask=mask, use_cache=False,
                         decoder_input_ids=padded("decoder_input_ids")).logits
        return torch.cat([rows[: len(pair["target_ids"])] for rows, pair in zip(out, batch)])


class PlainFamily(family_networks.FamilyReference):
    """family_networks.py's model with leaves that autograd follows. It computes in float64 whatever
    the type of the leaves."""

    kink = math.inf

    def __init__(self, config, weights, dtype):
        self.trained = {name: tensor.to(dtype, copy=True).requires_grad_() for name, tensor in weights.items()
                        if name != "final_logits_bias"}
        self.fixed = {name: tensor for name, tensor in weights.items() if name == "final_logits_bias"}
        super().__init__(config, {})
        if config["pad_token_id"] != config["vocab_size"] - 1:
            return  # pad occurs in no text, and for the output it is a class like any other
        for name, tensor in self.trained.items():
            if is_table(name):
                tensor.register_hook(self.without_pad)

    without_pad = Plain.without_pad

    def logits(self, batch):
        self.take({**self.trained, **self.fixed})
        return Plain.logits(self, batch)


class TransformersFamily:
    """The family's class, one sentence at a time, because BigBird's blocks depend on the length of a batch.
    With weights None: only its shapes."""

    def __init__(self, config, weights, dtype):
        self.config = config
        kind = family_networks.CLASSES[config["model_type"]]
        wanted = transformers.AutoConfig.for_model(**config, attn_implementation="eager")
        self.model = getattr(transformers, kind)(wanted)
        if weights is None:
            return
        missing = self.model.load_state_dict({name: tensor.clone() for name, tensor in weights.items()}, strict=False)
        assert not missing.unexpected_keys, missing
        self.model.tie_weights()
        self.model.eval().to(dtype)
        named = dict(self.model.named_parameters())
        self.trained = {name: named[name] for name in weights if name != "final_logits_bias"}
        # If the tables are untied, the class still has a shared one, which is unused.
        assert {name for name, p in named.items() if p.requires_grad} - set(self.trained) <= {"model.shared.weight"}

    def logits(self, batch):
        rows = []
        for pair in batch:
            family_networks.reset(self.model)
            rows.append(self.model(
                input_ids=torch.tensor([pair["source_ids"]]), use_cache=False,
                decoder_input_ids=torch.tensor([pair["decoder_input_ids"]]),
                **family_networks.options_for(self.model, 1, len(pair["source_ids"]), (0,))).logits[0])
        return torch.cat(rows)
