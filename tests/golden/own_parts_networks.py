"""Models of attn-demo's own parts (docs/config.md, "Parts in the place of others") stated twice: once in
the words of the formulas, a head at a time, and once by PyTorch's and transformers' own functions.

The second shares no formula with the first: scaled_dot_product_attention with enable_gqa, rms_norm,
Llama's apply_rotary_pos_emb and T5's buckets. A sentence at a time, `trained` and `logits` as in
training_networks.py.
"""

import math

import torch
import torch.nn.functional as F
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb
from transformers.models.t5.modeling_t5 import T5Attention

import reference
from t5_networks import bucket
from training_networks import Plain, is_table

KEYS = ("head_dim", "key_value_heads", "position", "norm", "feed_forward")
SIDES = ("encoder", "decoder")


def has_own_parts(config):
    return any(key in config for key in KEYS)


def adds_positions(config):
    return config.get("position", "sinusoidal") in ("sinusoidal", "learned")


def shapes(config):
    """Returns the shape of every parameter by name; added positions are sinusoids and not parameters."""
    width, found = config["d_model"], {"model.shared.weight": (config["vocab_size"], config["d_model"])}

    def linear(name, rows, columns):
        found[f"{name}.weight"], found[f"{name}.bias"] = (rows, columns), (rows,)

    def norm(name):
        found[f"{name}.weight"] = (width,)
        if config.get("norm") != "rms":
            found[f"{name}.bias"] = (width,)

    for side in SIDES:
        heads, ffn = config[f"{side}_attention_heads"], config[f"{side}_ffn_dim"]
        dim = config.get("head_dim", width // heads)
        shared = config.get("key_value_heads", heads)
        for i in range(config[f"{side}_layers"]):
            layer = f"model.{side}.layers.{i}"
            for block in ("self_attn",) if side == "encoder" else ("self_attn", "encoder_attn"):
                linear(f"{layer}.{block}.q_proj", heads * dim, width)
                linear(f"{layer}.{block}.k_proj", shared * dim, width)
                linear(f"{layer}.{block}.v_proj", shared * dim, width)
                linear(f"{layer}.{block}.out_proj", width, heads * dim)
                norm(f"{layer}.{block}_layer_norm")
            for part in ("fc1_0", "fc1_1") if config.get("feed_forward") == "gated" else ("fc1",):
                linear(f"{layer}.{part}", ffn, width)
            linear(f"{layer}.fc2", width, ffn)
            norm(f"{layer}.final_layer_norm")
        if config["add_final_layer_norm"]:
            norm(f"model.{side}.layer_norm")
        if config["normalize_embedding"]:
            norm(f"model.{side}.layernorm_embedding")
        if config.get("position") == "relative":
            buckets = config["relative_attention_num_buckets"]
            found[f"model.{side}.{TABLE}"] = (buckets, heads)
    found["final_logits_bias"] = (1, config["vocab_size"])
    return found


TABLE = "layers.0.self_attn.relative_attention_bias.weight"


class PlainParts(Plain):
    """The model in the words of the formulas."""

    def without_pad(self, gradient):
        """Keeps the gradient of the decoder's start if no position is added to its zeros, because it is
        trained then."""
        return super().without_pad(gradient) if adds_positions(self.config) else gradient

    def embed(self, side, ids):
        if not adds_positions(self.config):
            name = f"model.{side}.embed_positions.weight"
            self.weights[name] = torch.zeros_like(self.weights[name])
        return super().embed(side, ids)

    def norm(self, name, x):
        if self.config.get("norm") != "rms":
            return super().norm(name, x)
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6) * self.weights[name + ".weight"]

    def turned(self, x):
        """Rotates x [N, K]: columns i and i + K/2 of row p by the angle p / 10000^(2i/K)."""
        rows, half = [], x.shape[1] // 2
        for p, row in enumerate(x):
            angles = torch.tensor([p / 10000 ** (2 * i / x.shape[1]) for i in range(half)], dtype=torch.float64)
            cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
            a, b = row[:half], row[half:]
            rows.append(torch.cat([a * cos - b * sin, b * cos + a * sin]))
        return torch.stack(rows)

    def added(self, name, head, n, causal):
        """Returns the [N, N] that is added to the scores of self-attention."""
        table = self.weights[f"model.{'decoder' if causal else 'encoder'}.{TABLE}"]
        most = self.config["relative_attention_max_distance"]
        of = [[bucket(j - i, table.shape[0], most, causal) for j in range(n)] for i in range(n)]
        return table[torch.tensor(of), head]

    def attention(self, name, heads, x, memory, causal):
        config, own = self.config, not name.endswith("encoder_attn")
        q, k, v = (self.linear(f"{name}.{p}_proj", y) for p, y in zip("qkv", (x, memory, memory)))
        dim = q.shape[1] // heads
        sharing = heads // config.get("key_value_heads", heads)
        scale = 1 / math.sqrt(dim) if config.get("scale_attention", True) else 1.0
        outputs, maps = [], []
        for h in range(heads):
            cut, read = (slice(i * dim, (i + 1) * dim) for i in (h, h // sharing))
            q_h, k_h = q[:, cut], k[:, read]
            if own and config.get("position") == "rotary":
                q_h, k_h = self.turned(q_h), self.turned(k_h)
            scores = q_h @ k_h.T * scale
            if own and config.get("position") == "relative":
                scores = scores + self.added(name, h, len(x), causal)
            if causal:
                scores = scores.masked_fill(torch.ones(scores.shape, dtype=torch.bool).triu(1), -math.inf)
            maps.append(torch.softmax(scores, -1))
            outputs.append(maps[-1] @ v[:, read])
        return self.linear(f"{name}.out_proj", torch.cat(outputs, -1)), torch.stack(maps)

    def feed_forward(self, name, x):
        if self.config.get("feed_forward") != "gated":
            return super().feed_forward(name, x)
        act = reference.activation(self.config["activation_function"])
        return self.linear(f"{name}.fc2", act(self.linear(f"{name}.fc1_0", x)) * self.linear(f"{name}.fc1_1", x))


class TorchParts:
    """The model with PyTorch's and transformers' functions."""

    def __init__(self, config, weights, dtype):
        self.config = config
        self.weights = {name: tensor.to(dtype, copy=True) for name, tensor in weights.items()}
        self.trained = {name: tensor.requires_grad_() for name, tensor in self.weights.items()
                        if name != "final_logits_bias"}
        self.positions = reference.sinusoids(config["max_position_embeddings"], config["d_model"]).to(dtype)

    def norm(self, name, x):
        weight = self.weights[f"{name}.weight"]
        if self.config.get("norm") == "rms":
            return F.rms_norm(x, weight.shape, weight, eps=1e-6)
        return F.layer_norm(x, weight.shape, weight, self.weights[f"{name}.bias"])

    def linear(self, name, x):
        return F.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def mask(self, side, n, like):
        """Returns the [H or 1, N, N] that is added to the scores of self-attention, or None."""
        causal = side == "decoder"
        mask = torch.zeros(1, n, n, dtype=like.dtype)
        if causal:
            mask = mask.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), -math.inf)
        if self.config.get("position") == "relative":
            table, places = self.weights[f"model.{side}.{TABLE}"], torch.arange(n)
            buckets = T5Attention._relative_position_bucket(
                places[None, :] - places[:, None], bidirectional=not causal, num_buckets=len(table),
                max_distance=self.config["relative_attention_max_distance"])
            mask = mask + F.embedding(buckets, table).permute(2, 0, 1)
        return mask

    def attention(self, side, name, x, memory, mask):
        heads = self.config[f"{side}_attention_heads"]
        shared = self.config.get("key_value_heads", heads)
        q, k, v = (self.linear(f"{name}.{p}_proj", y).unflatten(-1, (count, -1)).transpose(0, 1)[None]
                   for p, y, count in zip("qkv", (x, memory, memory), (heads, shared, shared)))
        if mask is not None and self.config.get("position") == "rotary":
            dim = q.shape[-1]
            waves = 1 / 10000 ** (torch.arange(0, dim, 2, dtype=torch.float64) / dim)
            angles = torch.outer(torch.arange(len(x), dtype=torch.float64), waves).repeat(1, 2)[None]
            q, k = apply_rotary_pos_emb(q, k, angles.cos().to(q.dtype), angles.sin().to(q.dtype))
        scale = None if self.config.get("scale_attention", True) else 1.0
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=None if mask is None else mask[None], scale=scale,
                                             enable_gqa=shared != heads)
        return self.linear(f"{name}.out_proj", out[0].transpose(0, 1).flatten(1))

    def feed_forward(self, name, x):
        act = {"relu": F.relu, "gelu": F.gelu, "swish": F.silu}[self.config["activation_function"]]
        if self.config.get("feed_forward") == "gated":
            return self.linear(f"{name}.fc2", act(self.linear(f"{name}.fc1_0", x)) * self.linear(f"{name}.fc1_1", x))
        return self.linear(f"{name}.fc2", act(self.linear(f"{name}.fc1", x)))

    def stack(self, side, ids, memory=None):
        config = self.config
        x = F.embedding(torch.tensor(ids), self.weights["model.shared.weight"],
                        padding_idx=config["pad_token_id"] if adds_positions(config) else None)
        x = x * (math.sqrt(config["d_model"]) if config["scale_embedding"] else 1)
        if adds_positions(config):
            x = x + self.positions[: len(ids)]
        if config["normalize_embedding"]:
            x = self.norm(f"model.{side}.layernorm_embedding", x)
        mask = self.mask(side, len(ids), x)

        def block(norm, x, function):
            if config["normalize_before"]:
                return x + function(self.norm(norm, x))
            return self.norm(norm, x + function(x))

        for i in range(config[f"{side}_layers"]):
            name = f"model.{side}.layers.{i}"
            x = block(f"{name}.self_attn_layer_norm", x,
                      lambda y: self.attention(side, f"{name}.self_attn", y, y, mask))
            if memory is not None:
                x = block(f"{name}.encoder_attn_layer_norm", x,
                          lambda y: self.attention(side, f"{name}.encoder_attn", y, memory, None))
            x = block(f"{name}.final_layer_norm", x, lambda y: self.feed_forward(name, y))
        return self.norm(f"model.{side}.layer_norm", x) if config["add_final_layer_norm"] else x

    def logits(self, batch):
        rows = [self.stack("decoder", pair["decoder_input_ids"], self.stack("encoder", pair["source_ids"]))
                for pair in batch]
        table = self.weights["model.shared.weight"]
        return F.linear(torch.cat(rows), table) + self.weights["final_logits_bias"]
