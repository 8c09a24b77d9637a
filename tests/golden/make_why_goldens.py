#!/usr/bin/env python3
"""Makes tests/golden/why/NAME.json: the expected results of lib/why for some of the models in
tests/golden/models.

The classes of transformers run in float64. A receipt's items come from autograd, not from the formulas that lib/why uses: every
sublayer's output in the decoder becomes a constant, every norm keeps its sigma, and the gradient of a logit at a constant is the
vector that the item is multiplied with.

    python make_why_goldens.py [NAME…]
"""

import json
import pathlib
import sys

import torch
import transformers

from family_networks import options_for

HERE = pathlib.Path(__file__).parent
NAMES = ["marian-1-head-relu", "marian-3-heads-odd-width", "marian-6-heads-gelu", "marian-separate-vocabularies",
         "marian-untied-output", "pegasus-6-heads-swish", "pegasus-3-heads-untied", "bart-3-heads", "mbart-3-heads",
         "m2m100-3-heads", "led-windows", "t5-wide-heads", "t5-gated-untied-f16", "mt5-tied", "umt5-tables"]
OUTPUTS = ("out_proj", "fc2", "o", "wo")


class Frozen:
    """A decoder whose logits are linear in everything that enters the residual stream."""

    def __init__(self, model):
        self.model = model
        self.t5 = hasattr(model.config, "d_kv")
        self.decoder = model.get_decoder()
        self.leaves, self.norms, self.values, self.inputs, self.sums = {}, {}, {}, {}, {}
        for name, module in self.decoder.named_modules():
            last = name.split(".")[-1]
            if last in OUTPUTS or last in ("embed_tokens", "embed_positions"):
                module.register_forward_hook(lambda m, i, out, name=name: self.leaf(name, out))
            elif last in ("v_proj", "v"):
                module.register_forward_hook(lambda m, i, out, name=name: self.values.__setitem__(name, out))
            elif "norm" in last:
                module.register_forward_hook(lambda m, i, out, name=name: self.norm(name, m, i[0]))

    def leaf(self, name, out):
        self.leaves[name] = out.detach().requires_grad_()
        return self.leaves[name]

    def norm(self, name, module, x):
        self.inputs[name] = x.detach()
        if hasattr(module, "normalized_shape"):
            centred = x - x.mean(-1, keepdim=True)
            scaled = centred / (x.detach().var(-1, unbiased=False, keepdim=True) + module.eps).sqrt()
            out = scaled * module.weight + module.bias
        else:
            out = x / (x.detach().pow(2).mean(-1, keepdim=True) + module.variance_epsilon).sqrt() * module.weight
        if out.requires_grad:
            out.retain_grad()
        self.norms[name] = (out, getattr(module, "bias", None))
        return out

    def names(self, layer):
        """Returns (output projection, norm, values' projection) of a layer's blocks."""
        if self.t5:
            base = f"block.{layer}.layer."
            return ((base + "0.SelfAttention.o", base + "0.layer_norm", base + "0.SelfAttention.v"),
                    (base + "1.EncDecAttention.o", base + "1.layer_norm", base + "1.EncDecAttention.v"),
                    (base + "2.DenseReluDense.wo", base + "2.layer_norm", None))
        base = f"layers.{layer}."
        return ((base + "self_attn.out_proj", base + "self_attn_layer_norm", base + "self_attn.v_proj"),
                (base + "encoder_attn.out_proj", base + "encoder_attn_layer_norm", base + "encoder_attn.v_proj"),
                (base + "fc2", base + "final_layer_norm", None))

    def run(self, source, decoder_input):
        out = self.model(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([decoder_input]),
                         output_attentions=True, use_cache=False,
                         **options_for(self.model, 1, len(source), (0,)))  # LED: the first token is global
        self.self_weights, self.cross_weights = out.decoder_attentions, out.cross_attentions
        return out.logits[0]


def of_row(tensor, t):
    """Returns row t of the tensor that a hook saw; positions may have no batch."""
    return tensor[0, t] if tensor.dim() == 3 else tensor[t]


def item(tensor, t):
    return 0.0 if tensor.grad is None else float((of_row(tensor, t) * of_row(tensor.grad, t)).sum().detach())


def bias_item(bias, tensor, t):
    return 0.0 if bias is None or tensor.grad is None else float((bias * of_row(tensor.grad, t)).sum().detach())


def keys_of(net, projection, values, weights, t):
    """Returns the items [h][s] of an attention block."""
    module = net.decoder.get_submodule(projection)
    u = of_row(net.leaves[projection].grad, t)
    heads = weights.shape[1]
    v = net.values[values][0].unflatten(-1, (heads, -1))                       # [S,H,K]
    w = module.weight.T.unflatten(0, (heads, -1))                              # [H,K,D]
    return (weights[0, :, t] * torch.einsum("shk,hkd,d->hs", v, w, u)).tolist()


def receipt(net, source, decoder_input, words, foils=None):
    layers = range(len(net.decoder.block if net.t5 else net.decoder.layers))
    found = {key: [] for key in ("token", "position", "self", "cross", "self_out_bias", "cross_out_bias", "ffn", "norm_bias",
                                 "final_norm_bias", "output_bias", "logit")}
    embedding_norm = []
    bias = getattr(net.model, "final_logits_bias", None)
    for t, word in enumerate(words):
        logits = net.run(source, decoder_input)
        score = logits[t, word] - (logits[t, foils[t]] if foils else 0)
        score.backward()
        constant = 0.0 if bias is None else float(bias[0, word] - (bias[0, foils[t]] if foils else 0))
        found["logit"].append(float(score.detach()))
        found["output_bias"].append(constant)
        found["token"].append(item(net.leaves["embed_tokens"], t))
        found["position"].append(item(net.leaves["embed_positions"], t) if "embed_positions" in net.leaves else 0.0)
        rows = {key: [] for key in ("self", "cross", "self_out_bias", "cross_out_bias", "ffn", "norm_bias")}
        for layer in layers:
            blocks = net.names(layer)
            for key, (out, _, values), weights in zip(("self", "cross"), blocks, (net.self_weights, net.cross_weights)):
                rows[key].append(keys_of(net, out, values, weights[layer], t))
                rows[key + "_out_bias"].append(bias_item(net.decoder.get_submodule(out).bias, net.leaves[out], t))
            rows["ffn"].append(item(net.leaves[blocks[2][0]], t))
            norms = [net.norms[norm] for _, norm, _ in blocks]
            rows["norm_bias"].append([bias_item(b, out, t) if out.requires_grad else 0.0 for out, b in norms])
        for key, value in rows.items():
            found[key].append(value)
        final = next((n for n in ("layer_norm", "final_layer_norm") if n in net.norms), None)
        found["final_norm_bias"].append(bias_item(net.norms[final][1], net.norms[final][0], t) if final else 0.0)
        if "layernorm_embedding" in net.norms:
            out, b = net.norms["layernorm_embedding"]
            embedding_norm.append(bias_item(b, out, t))
    if embedding_norm:
        found["embedding_norm_bias"] = embedding_norm
    return found


def check(found):
    """Checks that the items sum to the logit."""
    for t, logit in enumerate(found["logit"]):
        total = sum(float(torch.tensor(v[t]).double().sum()) for k, v in found.items() if k != "logit")
        assert abs(total - logit) < 1e-5 * max(1, abs(logit)), (total, logit)


def occlusion(net, source, decoder_input, words, unk, eos):
    with torch.no_grad():
        def log_prob(ids):
            return net.run(ids, decoder_input).log_softmax(-1)[torch.arange(len(words)), torch.tensor(words)]
        full, count = log_prob(source), len(source) - (source[-1] == eos)
        changed = {"unk": [source[:s] + [unk] + source[s + 1:] for s in range(count)],
                   "drop": [source[:s] + source[s + 1:] for s in range(count)]}
        return {key: torch.stack([full - log_prob(ids) for ids in rows], 1).tolist() for key, rows in changed.items()}


def blocks_of(model):
    """Yields (site, output projection, values' projection, norm) of every attention block, in the order of
    the layers."""
    t5 = hasattr(model.config, "d_kv")
    for stack, sites in ((model.get_encoder(), ("encoder_self",)), (model.get_decoder(), ("decoder_self", "cross"))):
        for layer in stack.block if t5 else stack.layers:
            for site in sites:
                if t5:
                    part = layer.layer[1 if site == "cross" else 0]
                    attention = part.EncDecAttention if site == "cross" else part.SelfAttention
                    yield site, attention.o, attention.v, part.layer_norm
                else:
                    attention = layer.encoder_attn if site == "cross" else layer.self_attn
                    norm = layer.encoder_attn_layer_norm if site == "cross" else layer.self_attn_layer_norm
                    yield site, attention.out_proj, attention.v_proj, norm


def linear_norm(norm, x, pre):
    """Applies the norm without its bias, with the sigma of each row of `pre` [T,D]; x [T,S,D]."""
    if hasattr(norm, "normalized_shape"):
        sigma = (pre.var(-1, unbiased=False) + norm.eps).sqrt()
        x = x - x.mean(-1, keepdim=True)
    else:
        sigma = (pre.pow(2).mean(-1) + norm.variance_epsilon).sqrt()
    return norm.weight * x / sigma[:, None, None]


def block_maps(site, seen, norm, weights, post_norm):
    """Computes the methods of Kobayashi et al. 2020 and 2021 and Ferrando et al. 2022 for one block."""
    out, values, normed = seen
    heads = weights.shape[0]
    vectors = torch.einsum("hts,shk,hkd->htsd", weights, values.unflatten(-1, (heads, -1)),
                           out["module"].weight.T.unflatten(0, (heads, -1)))
    layer = vectors.sum(0)
    x = normed["in"] - out["out"] if post_norm else normed["in"]
    y = normed["out"] if post_norm else x + out["out"]
    if site == "cross":
        parts = torch.cat([layer, x[:, None]], 1)
    else:
        parts = layer + torch.eye(len(x), dtype=x.dtype)[..., None] * x
    if post_norm:
        parts = linear_norm(norm, parts, normed["in"])
    own = parts[:, -1] if site == "cross" else parts.diagonal(dim1=0, dim2=1).T
    mixing, preserving = (parts.sum(1) - own).norm(dim=-1), own.norm(dim=-1)
    distances = (parts - y[:, None]).abs().sum(-1)
    shares = (y.abs().sum(-1, keepdim=True) - distances).clamp(min=0)
    nearest = torch.nn.functional.one_hot(distances.argmin(-1), shares.shape[1]).to(shares.dtype)
    shares = torch.where(shares.sum(-1, keepdim=True) > 0, shares, nearest)  # if no vector helps, the nearest one gets everything
    return {"value_weighted": vectors.norm(dim=-1), "value_weighted_layer": layer.norm(dim=-1), "res_ln_layer": parts.norm(dim=-1),
            "mixing_ratio": mixing / (mixing + preserving), "alti": shares / shares.sum(-1, keepdim=True)}


def contributions(model, source, read):
    """Returns the maps of all sites, and ALTI+'s last rows."""
    seen, handles, blocks = [], [], list(blocks_of(model))
    for _, out, values, norm in blocks:
        kept = ({"module": out}, {}, {})
        seen.append(kept)
        for module, to in zip((out, values, norm), kept):
            handles.append(module.register_forward_hook(
                lambda m, i, o, to=to: to.update({"in": i[0][0], "out": o[0]})))
    with torch.no_grad():
        result = model(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([read]), output_attentions=True,
                       use_cache=False)
        maps, layers = {}, {"encoder_self": 0, "decoder_self": 0, "cross": 0}
        weights = {"encoder_self": result.encoder_attentions, "decoder_self": result.decoder_attentions,
                   "cross": result.cross_attentions}
        post_norm = model.config.model_type in ("marian", "bart")
        for (site, _, _, norm), (out, values, normed) in zip(blocks, seen):
            each = block_maps(site, (out, values["out"], normed), norm, weights[site][layers[site]][0], post_norm)
            layers[site] += 1
            for key, value in each.items():
                maps.setdefault(key, {}).setdefault(site, []).append(value)
        for handle in handles:
            handle.remove()
        encoder = maps["alti"]["encoder_self"][0]
        for layer in maps["alti"]["encoder_self"][1:]:
            encoder = layer @ encoder
        total = torch.cat([torch.zeros(len(read), len(source)), torch.eye(len(read))], 1).to(encoder.dtype)
        for own, cross in zip(maps["alti"]["decoder_self"], maps["alti"]["cross"]):
            total = cross[:, -1:] * (own @ total)
            total[:, :len(source)] += cross[:, :-1] @ encoder
    found = {key: {site: torch.stack(of).tolist() for site, of in sites.items()} for key, sites in maps.items()}
    return {**found, "alti_plus": {"encoder": encoder.tolist(), "total": total.tolist()}}


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def keep_double(model):
    """Keeps norms and softmax in float64, which T5's class computes in float32 whatever the type."""
    torch.Tensor.float = lambda self: self
    for module in model.modules():
        if hasattr(module, "variance_epsilon"):
            module.forward = lambda x, m=module: m.weight * x / (x.pow(2).mean(-1, keepdim=True) + m.variance_epsilon).sqrt()


def error(exact, single):
    """Returns the largest distance of float32 from float64, relative to the largest number of its list."""
    if isinstance(exact, dict):
        return max(error(exact[key], single[key]) for key in exact)
    exact, single = torch.tensor(exact).double(), torch.tensor(single).double()
    return float((exact - single).abs().max() / exact.abs().max().clamp(min=0.01))


def load(directory):
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(directory, dtype=torch.float32, attn_implementation="eager")
    model = model.eval().double()
    if hasattr(model.config, "d_kv"):
        keep_double(model)
    return model


def make(name):
    directory = HERE / "models" / name
    golden = json.loads((directory / "golden.json").read_text())
    model, plain = load(directory), load(directory)  # one for receipts, one without hooks
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    case = next(c for c in golden["teacher_forced"] if len(c["source_ids"]) >= 3 and len(c["target_ids"]) >= 4)
    source, read, words = case["source_ids"], case["decoder_input_ids"], case["target_ids"]
    net = Frozen(model)
    logits = net.run(source, read).detach()
    logits[torch.arange(len(words)), torch.tensor(words)] = -torch.inf
    foils = logits.argmax(-1).tolist()
    unk = 3
    result = {"source_ids": source, "decoder_input_ids": read, "target_ids": words, "foil_ids": foils, "unk": unk,
              "receipt": {"word": receipt(net, source, read, words), "contrast": receipt(net, source, read, words, foils)}}
    for found in result["receipt"].values():
        check(found)
    result["occlusion"] = occlusion(net, source, read, words, unk, model.config.eos_token_id)
    if model.config.model_type == "led":
        result["globals"] = [0]  # its global token has other values, so there are no contributions
    else:
        result["contributions"] = contributions(plain, source, read)
        result["contributions_error"] = error(result["contributions"], contributions(plain.to(torch.float32), source, read))
    (HERE / "why" / f"{name}.json").write_text(json.dumps(rounded(result), separators=(",", ":")) + "\n")


def main():
    transformers.utils.logging.set_verbosity_error()
    for name in sys.argv[1:] or NAMES:
        make(name)
        print(name)


if __name__ == "__main__":
    main()
