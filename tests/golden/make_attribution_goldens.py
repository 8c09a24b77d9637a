#!/usr/bin/env python3
"""Makes tests/golden/attribution.json: gradients, integrated gradients and activation patching, of the golden models that
a class of transformers computes.

    python make_attribution_goldens.py

Autograd and forward hooks on transformers' own classes in float64. The embedded tokens go in as inputs_embeds, and the
script asserts that the logits are those of the ids. Re-running gives the same file.

An array of cases, a model each: model, unk, source [S], corrupt [S] (differs from source at two places), decoder_input [T],
words [T], foils [T], and
  gradient.{log_prob,contrast}.{source,target}_{dot,l2,grad_l2}       [t][token], t the step that writes words[t]
  error: the largest distance of float32's gradients from these, relative to the largest entry of their matrix
  integrated.{log_prob,contrast}.{source,target}_{dot,l2}             32 points of the midpoint rule from the baseline in
                                                                     which all tokens but </s> and the start are unk
  integrated.{log_prob,contrast}.{difference,delta}                   [t]
  patching {step, word, foil, clean_logit_diff, corrupt_logit_diff, encoder[l][s], decoder[l][t], cross[l][h]}: recovered
                                                                     shares; word and foil are the ids whose logits the
                                                                     two sources move furthest apart
"""
import json
import math
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from make_goldens import compact  # sets transformers' environment, so it comes first

import numpy as np
import torch
import transformers

from family_networks import reset

HERE = Path(__file__).resolve().parent
POINTS = 32
STEP = 3  # the step that is patched
MODELS = (
    "marian-1-head-relu", "marian-2-heads-toy", "marian-3-heads-odd-width", "marian-4-heads-opus-f16", "marian-6-heads-gelu",
    "marian-learned-positions", "marian-separate-untied", "marian-separate-vocabularies", "marian-start-is-eos",
    "pegasus-1-head-4-layers", "pegasus-3-heads-untied", "pegasus-5-heads-f16", "pegasus-6-heads-swish", "bart-3-heads",
    "mbart-3-heads", "m2m100-3-heads", "m2m100-untied-pad-7", "t5-every-distance", "t5-gated-untied-f16", "t5-wide-heads",
    "mt5-every-distance", "umt5-tables", "bigbird-full-biases", "pegasus-x-1-global", "led-windows")


def load(name, dtype=torch.float64):
    torch.set_num_threads(1)
    torch.set_default_dtype(dtype)  # the sinusoids are made in this type
    return transformers.AutoModelForSeq2SeqLM.from_pretrained(HERE / "models" / name, attn_implementation="eager",
                                                              dtype=dtype).eval()


@torch.no_grad()
def check(run, name):
    """Checks that the class computes the same as the model's own golden."""
    case = json.loads((HERE / "models" / name / "golden.json").read_text())["teacher_forced"][1]
    if case.get("globals", [0]) != [0]:
        return
    found = run.logits_of_ids(case["source_ids"], case["decoder_input_ids"])[0].log_softmax(-1)
    found = found[torch.arange(len(case["target_ids"])), torch.as_tensor(case["target_ids"])]
    assert (found - torch.tensor(case["log_probs"])).abs().max() < 1e-4, name


class Runner:
    def __init__(self, model):
        self.model, self.config = model, model.config
        self.encoder, self.decoder = model.get_encoder(), model.get_decoder()
        scaled = getattr(self.config, "scale_embedding", False) and "t5" not in self.config.model_type
        self.scale = math.sqrt(self.config.d_model) if scaled else 1.0
        # The factor by which the class multiplies decoder input rows, but not inputs_embeds.
        self.of_decoder_rows = self.scale if self.config.model_type in ("marian", "pegasus") else 1.0

    def embed(self, stack, ids):
        return stack.embed_tokens.weight.detach()[torch.as_tensor(ids)] * self.scale

    def more(self, batch, length):
        """Returns LED's additional argument: the first token is global."""
        if self.config.model_type != "led":
            return {}
        mask = torch.zeros(batch, length, dtype=torch.long)
        mask[:, 0] = 1
        return {"global_attention_mask": mask}

    def logits(self, source, target):
        """Runs embedded tokens, source [B, S, d] and target [B, T, d]; returns logits [B, T, V]."""
        reset(self.model)
        return self.model(inputs_embeds=source, decoder_inputs_embeds=target / self.of_decoder_rows, use_cache=False,
                          **self.more(*source.shape[:2])).logits

    def logits_of_ids(self, source, target):
        reset(self.model)
        source, target = torch.as_tensor(source)[None], torch.as_tensor(target)[None]
        return self.model(input_ids=source, decoder_input_ids=target, use_cache=False, **self.more(*source.shape)).logits


def score(logits, words, foils):
    """Returns [T] scores of logits [T, T, V]: sentence t of the batch has the score of step t."""
    at = torch.arange(len(words))
    log_probs = logits[at, at].log_softmax(-1)
    result = log_probs[at, torch.as_tensor(words)]
    return result if foils is None else result - log_probs[at, torch.as_tensor(foils)]


def gradients_at(run, source, target, words, foils):
    many = lambda x: x.expand(len(words), -1, -1).clone().requires_grad_()
    source, target = many(source), many(target)
    total = score(run.logits(source, target), words, foils)
    return total.detach(), *torch.autograd.grad(total.sum(), (source, target))


def gradient(run, case, foils):
    x = [run.embed(run.encoder, case["source"]), run.embed(run.decoder, case["decoder_input"])]
    _, *g = gradients_at(run, *x, case["words"], foils)
    result = {}
    for side, x, g in zip(("source", "target"), x, g):
        result |= {side + "_dot": (x * g).sum(-1), side + "_l2": (x * g).norm(dim=-1), side + "_grad_l2": g.norm(dim=-1)}
    return result


def integrated(run, case, foils):
    unk, eos = case["unk"], run.config.eos_token_id
    start, *rest = case["decoder_input"]
    x = [run.embed(run.encoder, case["source"]), run.embed(run.decoder, case["decoder_input"])]
    zero = [run.embed(run.encoder, [i if i == eos else unk for i in case["source"]]),
            run.embed(run.decoder, [start] + [unk] * len(rest))]
    sums = [0, 0]
    for k in range(POINTS):
        point = [z + (k + 0.5) / POINTS * (x - z) for x, z in zip(x, zero)]
        _, *g = gradients_at(run, *point, case["words"], foils)
        sums = [s + part / POINTS for s, part in zip(sums, g)]
    parts = [(x - z) * s for x, z, s in zip(x, zero, sums)]
    difference = gradients_at(run, *x, case["words"], foils)[0] - gradients_at(run, *zero, case["words"], foils)[0]
    result = {}
    for side, part in zip(("source", "target"), parts):
        result |= {side + "_dot": part.sum(-1), side + "_l2": part.norm(dim=-1)}
    return result | {"difference": difference, "delta": sum(p.sum((-1, -2)) for p in parts) - difference}


class Sites:
    """Hooks that keep or replace activations: enc.l and dec.l, the residual stream after l layers; cross.l,
    the input of a layer's output projection."""

    def __init__(self, run):
        t5 = "t5" in run.config.model_type
        layers = lambda stack: stack.block if t5 else stack.layers
        self.heads = run.config.num_heads if t5 else run.config.decoder_attention_heads
        self.rows, self.replace, self.handles = {}, {}, []
        self.globals = getattr(run.config, "num_global_tokens", 0) if run.config.model_type == "pegasus_x" else 0
        self.counts = {}
        for name, stack in (("enc", run.encoder), ("dec", run.decoder)):
            self.counts[name] = len(layers(stack))
            for l, layer in enumerate(layers(stack)):
                if l == 0:
                    self.before(layer, f"{name}.0")
                self.after(layer, f"{name}.{l + 1}")
                if name == "dec":
                    attention = layer.layer[1].EncDecAttention.o if t5 else layer.encoder_attn.out_proj
                    self.before(attention, f"cross.{l}")

    def seen(self, name, rows):
        self.rows[name] = rows.detach().clone()
        if name not in self.replace:
            return rows
        rows = rows.clone()
        where, clean = self.replace[name]
        rows[0, ..., where[0], where[1]] = clean[0, ..., where[0], where[1]]
        return rows

    def before(self, module, name):
        def hook(_, args, kwargs):
            if args:
                return (self.seen(name, args[0]), *args[1:]), kwargs
            return args, kwargs | {"hidden_states": self.seen(name, kwargs["hidden_states"])}
        self.handles.append(module.register_forward_pre_hook(hook, with_kwargs=True))

    def after(self, module, name):
        def hook(_, args, out):
            return (self.seen(name, out[0]), *out[1:]) if isinstance(out, tuple) else self.seen(name, out)
        self.handles.append(module.register_forward_hook(hook))


@torch.no_grad()
def patching(run, case):
    decoder_input = case["decoder_input"][:STEP + 1]
    apart = (run.logits_of_ids(case["source"], decoder_input) - run.logits_of_ids(case["corrupt"], decoder_input))[0, STEP]
    word, foil = int(apart.argmax()), int(apart.argmin())
    assert apart[word] - apart[foil] > 0.1, case["model"]
    difference = lambda ids: (lambda l: float(l[0, STEP, word] - l[0, STEP, foil]))(run.logits_of_ids(ids, decoder_input))
    sites = Sites(run)
    clean = difference(case["source"])
    kept = dict(sites.rows)
    corrupt = difference(case["corrupt"])

    def share(name, rows, columns):
        sites.replace = {name: ((rows, columns), kept[name])}
        return (difference(case["corrupt"]) - corrupt) / (clean - corrupt)

    everything, width = slice(None), kept["cross.0"].shape[-1] // sites.heads
    result = {
        "step": STEP, "word": word, "foil": foil, "clean_logit_diff": clean, "corrupt_logit_diff": corrupt,
        "encoder": [[share(f"enc.{l}", s, everything) for s in range(len(case["source"]))]
                    for l in range(sites.counts["enc"] + 1)],
        "decoder": [[share(f"dec.{l}", t, everything) for t in range(STEP + 1)] for l in range(sites.counts["dec"] + 1)],
        "cross": [[share(f"cross.{l}", everything, slice(h * width, (h + 1) * width)) for h in range(sites.heads)]
                  for l in range(sites.counts["dec"])]}
    for handle in sites.handles:
        handle.remove()
    return result


def make_case(number, name):
    run = Runner(load(name))
    check(run, name)
    config, rng = run.config, np.random.default_rng(9000 + number)
    eos, pad, start = config.eos_token_id, config.pad_token_id, config.decoder_start_token_id
    targets = getattr(config, "decoder_vocab_size", None) or config.vocab_size
    draw = lambda size, vocabulary: rng.choice(
        [i for i in range(vocabulary) if i not in (eos, pad, start)], size, replace=False).tolist()
    unk, *source = draw(6, min(config.vocab_size, targets))
    swapped = draw(2, config.vocab_size)
    corrupt = [source[0], swapped[0], source[2], source[3], swapped[1]]
    *words, _ = draw(5, targets)
    case = {"model": name, "unk": unk, "source": source + [eos], "corrupt": corrupt + [eos],
            "decoder_input": [start] + words, "words": words + [eos], "foils": []}
    for word in case["words"]:
        case["foils"].append(next(i for i in draw(2, targets) if i != word))
    with torch.no_grad():
        by_ids = run.logits_of_ids(case["source"], case["decoder_input"])
        by_rows = run.logits(run.embed(run.encoder, case["source"])[None], run.embed(run.decoder, case["decoder_input"])[None])
        assert (by_ids - by_rows).abs().max() < 1e-9, name
    single = Runner(load(name, torch.float32))
    case["gradient"] = {"log_prob": gradient(run, case, None), "contrast": gradient(run, case, case["foils"])}
    case["error"] = max(float((exact - rough[key]).abs().max() / exact.abs().max())
                        for foils, kind in ((None, "log_prob"), (case["foils"], "contrast"))
                        for rough in [gradient(single, case, foils)] for key, exact in case["gradient"][kind].items())
    torch.set_default_dtype(torch.float64)
    case["integrated"] = {"log_prob": integrated(run, case, None), "contrast": integrated(run, case, case["foils"])}
    case["patching"] = patching(run, case)
    return case


def plain(value):
    if isinstance(value, torch.Tensor):
        return value.tolist()
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


if __name__ == "__main__":
    cases = []
    for number, name in enumerate(MODELS):
        cases.append(plain(make_case(number, name)))
        print(name, f"{cases[-1]['error']:.2g}")
    (HERE / "attribution.json").write_text("[" + ",\n".join(map(compact, cases)) + "]\n")
