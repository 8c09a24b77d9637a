"""The published families (bart, mbart, m2m_100, led, bigbird_pegasus, pegasus_x; t5 and its kin are t5_networks.py's): an independent statement of each in
float64, and their classes of transformers with the maps that they compute, a full matrix a head."""

import math

import torch
import transformers

import reference
from family_activations import gelu_new
from t5_networks import FAMILIES as T5_FAMILIES
from t5_networks import T5Reference

CLASSES = {"bart": "BartForConditionalGeneration", "led": "LEDForConditionalGeneration",
           "bigbird_pegasus": "BigBirdPegasusForConditionalGeneration",
           "pegasus_x": "PegasusXForConditionalGeneration", "mbart": "MBartForConditionalGeneration",
           "m2m_100": "M2M100ForConditionalGeneration", "t5": "T5ForConditionalGeneration",
           "mt5": "MT5ForConditionalGeneration", "umt5": "UMT5ForConditionalGeneration"}
NAMES = (("led.", "model."), ("longformer_self_attn.query", "q_proj"), ("longformer_self_attn.key", "k_proj"),
         ("longformer_self_attn.value", "v_proj"), ("self_attn.self.query", "self_attn.q_proj"),
         ("self_attn.self.key", "self_attn.k_proj"), ("self_attn.self.value", "self_attn.v_proj"),
         ("self_attn.output", "self_attn.out_proj"))


def network(directory):
    kind = transformers.AutoConfig.from_pretrained(directory).model_type
    cls = getattr(transformers, CLASSES[kind])
    return cls.from_pretrained(directory, attn_implementation="eager").eval()


def reset(model):
    """Resets BigBird, whose attention stays full for all calls after one short input."""
    encoder = model.get_encoder()
    if hasattr(encoder, "set_attention_type") and hasattr(model.config, "attention_type"):
        encoder.set_attention_type(model.config.attention_type)


def options_for(model, batch, length, places):
    """Returns LED's additional argument: which tokens are global."""
    if model.config.model_type != "led":
        return {}
    mask = torch.zeros(batch, length, dtype=torch.long)
    mask[:, [p for p in places if p < length]] = 1
    return {"global_attention_mask": mask}


def led_maps(out, config, length, places):
    """Returns windows, global columns and the rows of global tokens as full matrices."""
    places, maps = [p for p in places if p < length], []
    for layer, local in enumerate(out.encoder_attentions):
        half = config.attention_window[layer] // 2
        full = torch.zeros(local.shape[1], length, length, dtype=local.dtype)
        for i in range(length):
            full[:, i, places] += local[0, :, i, : len(places)]
            for k in range(2 * half + 1):
                if 0 <= i - half + k < length:
                    full[:, i, i - half + k] += local[0, :, i, len(places) + k]
        for n, place in enumerate(places):
            full[:, place] = out.encoder_global_attentions[layer][0, :, :length, n]
        maps.append(full)
    return torch.stack(maps)


def pegasus_x_maps(kept, config, length):
    """Returns blocks as full matrices, without the weights on the model's own global tokens."""
    maps, globals_, size = [], config.num_global_tokens, config.block_size
    for layer, probs in enumerate(kept):
        shift = size // 2 if layer % 2 and config.stagger_local_blocks else 0
        full = torch.zeros(probs.shape[1], length, length, dtype=probs.dtype)
        for i in range(length):
            block, row = divmod(i + shift, size)
            for k in range(size):
                j = block * size + k - shift
                if 0 <= j < length:
                    full[:, i, j] = probs[0, :, block, row, globals_ + k]
        maps.append(full)
    return torch.stack(maps)


@torch.no_grad()
def run(model, source, decoder_input, target, places=(0,)):
    config, kept = model.config, []
    reset(model)
    hooks = []
    if config.model_type == "pegasus_x":
        for layer in model.model.encoder.layers:
            attention = layer.self_attn
            plain = type(attention).compute_local_attention_representations

            def watched(*args, attention=attention, plain=plain, **kwargs):
                result = plain(attention, *args, **kwargs)
                kept.append(result[1])
                return result
            attention.compute_local_attention_representations = watched
            hooks.append(attention)
    out = model(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([decoder_input]),
                output_attentions=True, use_cache=False,
                **options_for(model, 1, len(source), places))
    for attention in hooks:
        del attention.compute_local_attention_representations
    n = len(source)
    if config.model_type == "led":
        encoder = led_maps(out, config, n, places)
    elif config.model_type == "pegasus_x":
        encoder = pegasus_x_maps(kept, config, n)
    else:
        encoder = torch.stack(out.encoder_attentions)[:, 0, :, :n, :n]
        if getattr(model.get_encoder(), "attention_type", "") == "block_sparse":
            # Block 0 counts 1 + r times; the class's maps show it once.
            size = config.block_size
            last = (n - 1) // size * size
            encoder = encoder.clone()
            encoder[:, :, size:last, :size] *= 1 + config.num_random_blocks
    log_probs = torch.log_softmax(out.logits[0], -1)
    return {"encoder_self": encoder, "decoder_self": torch.stack(out.decoder_attentions)[:, 0],
            "cross": torch.stack(out.cross_attentions)[:, 0],
            "log_probs": log_probs[torch.arange(len(target)), torch.tensor(target)],
            "logits": out.logits[0]}


def plain_network(config, weights):
    """The second implementation of a model, in float64."""
    kind = T5Reference if config["model_type"] in T5_FAMILIES else FamilyReference
    return kind(config, weights)


class FamilyReference(reference.Reference):
    """The model in float64, with one mask per layer for the encoder. Names are converted to Marian's."""

    def __init__(self, config, weights):
        kind = config["model_type"]
        pre = kind in ("bigbird_pegasus", "pegasus_x", "mbart", "m2m_100")
        super().__init__({**config, "normalize_before": pre, "add_final_layer_norm": pre,
                          "normalize_embedding": kind in ("bart", "mbart", "led"),
                          "tie_word_embeddings": config.get("tie_word_embeddings", True),
                          "scale_embedding": config.get("scale_embedding", False) and kind != "led"}, {})
        self.kind, self.places = kind, (0,)
        self.take(weights)
        reference_activation = reference.activation
        reference.activation = lambda name: gelu_new if name == "gelu_new" else reference_activation(name)

    def take(self, weights):
        """Takes over the class's tensors by Marian's names, in float64."""
        self.weights = {"final_logits_bias": torch.zeros(1, self.config["vocab_size"], dtype=torch.float64)}
        for name, tensor in weights.items():
            for theirs, ours in NAMES:
                name = name.replace(theirs, ours)
            if self.kind == "bigbird_pegasus":
                name = name.replace("layernorm_embedding", "layer_norm")
            if self.kind in ("bart", "mbart") and "embed_positions" in name:
                tensor = tensor[2:]
            self.weights[name] = tensor.to(torch.float64)

    def linear(self, name, x):
        bias = self.weights.get(name + ".bias")
        x = x @ self.weights[name + ".weight"].T
        return x if bias is None else x + bias

    def embed(self, side, ids):
        if self.kind == "pegasus_x":
            d = self.config["d_model"]
            half = d // 2
            factor = torch.exp(-math.log(10000.0) / (half - 1) * torch.arange(half, dtype=torch.float64))
            angle = torch.arange(len(ids), dtype=torch.float64)[:, None] * factor
            self.weights[f"model.{side}.embed_positions.weight"] = torch.cat([angle.sin(), angle.cos()], 1)
        elif self.kind == "m2m_100":  # in float32, like the class, beginning with the row after pad's
            half = self.config["d_model"] // 2
            factor = torch.exp(torch.arange(half).float() * -(math.log(10000) / (half - 1)))
            angle = (self.config["pad_token_id"] + 1 + torch.arange(len(ids))).float()[:, None] * factor
            self.weights[f"model.{side}.embed_positions.weight"] = torch.cat([angle.sin(), angle.cos()], 1).double()
        return super().embed(side, ids)

    def mask(self, layer, n):
        """Returns the [N, N] that is added to the scores."""
        c = self.config
        i = torch.arange(n)
        mask = torch.full((n, n), -math.inf, dtype=torch.float64)
        if self.kind == "led":
            window = c["attention_window"]
            half = (window[layer] if isinstance(window, list) else window) // 2
            mask[(i[:, None] - i[None]).abs() <= half] = 0
            for place in (p for p in self.places if p < n):
                mask[:, place] = 0
        elif self.kind == "pegasus_x":
            size = c["block_size"]
            block = (i + (size // 2 if layer % 2 and c["stagger_local_blocks"] else 0)) // size
            mask[block[:, None] == block[None]] = 0
        elif self.kind == "bigbird_pegasus" and n > (5 + 2 * c["num_random_blocks"]) * c["block_size"]:
            block, last = i // c["block_size"], (n - 1) // c["block_size"]
            far = (block[:, None] - block[None]).abs() > 1
            ends = (block == 0) | (block == last)
            mask[~far | ends[:, None] | ends[None]] = 0
            mask[:, block == 0] += math.log(1 + c["num_random_blocks"])
            mask[ends] = 0
        else:
            mask[:] = 0
        return mask

    def encode(self, source_ids):
        c, n = self.config, len(source_ids)
        heads, dim = c["encoder_attention_heads"], c["d_model"] // c["encoder_attention_heads"]
        x, maps = self.embed("encoder", source_ids), []
        own = self.weights.get("model.encoder.embed_global.weight")
        g = 0 if own is None else own.shape[0]
        if g:
            x = torch.cat([own, x])
        for layer in range(c["encoder_layers"]):
            name = f"model.encoder.layers.{layer}"
            mask = torch.zeros(g + n, g + n, dtype=torch.float64)
            mask[g:, g:] = self.mask(layer, n)

            def attend(y, name=f"{name}.self_attn", mask=mask):
                q, k, v = (self.linear(f"{name}.{p}_proj", y) for p in "qkv")
                if self.kind == "led":
                    gq, gk, gv = (self.linear(f"{name}.{p}_proj_global", y) for p in "qkv")
                outputs, weights = [], []
                for h in range(heads):
                    cut = slice(h * dim, (h + 1) * dim)
                    p = torch.softmax(q[:, cut] @ k[:, cut].T / math.sqrt(dim) + mask, -1)
                    out = p @ v[:, cut]
                    if self.kind == "led":
                        places = [i for i in self.places if i < n]
                        p = p.clone()  # softmax's gradient needs its own result
                        p[places] = torch.softmax(gq[places, cut] @ gk[:, cut].T / math.sqrt(dim), -1)
                        out[places] = p[places] @ gv[:, cut]
                    outputs.append(out)
                    weights.append(p[g:, g:])
                maps.append(torch.stack(weights))
                return self.linear(f"{name}.out_proj", torch.cat(outputs, -1))

            if c["normalize_before"]:
                y = self.norm(f"{name}.self_attn_layer_norm", x)
                if g:
                    y = torch.cat([self.norm(f"{name}.global_self_attn_layer_norm", x[:g]), y[g:]])
                x = x + attend(y)
                x = x + self.feed_forward(name, self.norm(f"{name}.final_layer_norm", x))
            else:
                x = self.norm(f"{name}.self_attn_layer_norm", x + attend(x))
                x = self.norm(f"{name}.final_layer_norm", x + self.feed_forward(name, x))
        if c["add_final_layer_norm"]:
            x = self.norm("model.encoder.layer_norm", x)
        return x[g:], {"self": maps, "cross": []}
