"""A second implementation of T5, mT5 and UMT5 in float64: RMS norms, relative position biases, no other
positions."""

import math

import torch

import reference
from family_activations import gelu_new

FAMILIES = ("t5", "mt5", "umt5")


def bucket(distance, count, most, causal):
    """Returns the bucket of key minus query: half of the buckets have one distance each, the others more and
    more."""
    first = 0
    if not causal:
        count //= 2
        first = count if distance > 0 else 0
    far = max(-distance, 0) if causal else abs(distance)
    exact = count // 2
    if far < exact:
        return first + far
    share = math.log(far / exact) / math.log(most / exact)
    return first + min(exact + int(share * (count - exact)), count - 1)


class T5Reference(reference.Reference):
    """The interface of Reference, with the class's own names."""

    def norm(self, name, x):
        scale = torch.rsqrt((x * x).mean(-1, keepdim=True) + self.config["layer_norm_epsilon"])
        return x * scale * self.weights[name + ".weight"]

    def bias(self, side, layer, n):
        """Returns the [H, N, N] of a stack's table, or of the layer's own."""
        own = layer if self.config["model_type"] == "umt5" else 0
        table = self.weights[f"{side}.block.{own}.layer.0.SelfAttention.relative_attention_bias.weight"]
        count, most = table.shape[0], self.config["relative_attention_max_distance"]
        of = [[bucket(j - i, count, most, side == "decoder") for j in range(n)] for i in range(n)]
        return table[torch.tensor(of)].permute(2, 0, 1)

    def attend(self, name, x, memory, added):
        """x [Q, D], memory [K, D], added [H, Q, K] or 0 -> [Q, D] and weights [H, Q, K]."""
        heads, dim = self.config["num_heads"], self.config["d_kv"]
        q, k, v = ((y @ self.weights[f"{name}.{p}.weight"].T).reshape(len(y), heads, dim).transpose(0, 1)
                   for p, y in zip("qkv", (x, memory, memory)))
        weights = torch.softmax(q @ k.transpose(1, 2) + added, -1)
        joined = (weights @ v).transpose(0, 1).reshape(len(x), heads * dim)
        return joined @ self.weights[f"{name}.o.weight"].T, weights

    def feed_forward(self, name, x):
        form = self.config["feed_forward_proj"]
        act = gelu_new if form == "gated-gelu" else reference.activation(form.split("-")[-1])
        linear = lambda part, y: y @ self.weights[f"{name}.{part}.weight"].T
        hidden = act(linear("wi_0", x)) * linear("wi_1", x) if form.startswith("gated") else act(linear("wi", x))
        return linear("wo", hidden)

    def stack(self, side, ids, memory=None):
        x, n, maps = self.weights["shared.weight"][torch.tensor(ids)], len(ids), {"self": [], "cross": []}
        layers = self.config["num_layers"] if side == "encoder" else self.config["num_decoder_layers"]
        causal = torch.zeros(n, n, dtype=torch.float64)
        if memory is not None:
            causal = causal.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), -math.inf)
        for layer in range(layers):
            name = f"{side}.block.{layer}.layer"
            y = self.norm(f"{name}.0.layer_norm", x)
            out, weights = self.attend(f"{name}.0.SelfAttention", y, y, self.bias(side, layer, n) + causal)
            maps["self"].append(weights)
            x = x + out
            if memory is not None:
                out, weights = self.attend(f"{name}.1.EncDecAttention", self.norm(f"{name}.1.layer_norm", x), memory, 0)
                maps["cross"].append(weights)
                x = x + out
            last = 1 if memory is None else 2
            x = x + self.feed_forward(f"{name}.{last}.DenseReluDense", self.norm(f"{name}.{last}.layer_norm", x))
        return self.norm(f"{side}.final_layer_norm", x), maps

    def encode(self, source_ids):
        return self.stack("encoder", source_ids)

    def decode(self, memory, decoder_input_ids):
        x, maps = self.stack("decoder", decoder_input_ids, memory)
        if self.config.get("scale_decoder_outputs", False) and self.config["model_type"] != "mt5":
            x = x / math.sqrt(self.config["d_model"])
        output = self.weights.get("lm_head.weight", self.weights["shared.weight"])
        return x @ output.T, maps
