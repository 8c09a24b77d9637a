#!/usr/bin/env python3
"""Makes the goldens of the published families in tests/golden/models: bart-*, mbart-*, m2m100-*, led-*,
bigbird-*, pegasus-x-*, t5-*, mt5-*, umt5-*. As make_goldens.py, whose parts it uses; the second statement, with which transformers
has to agree, is family_networks.py. Its float64 stands for PyTorch's where a class computes softmax
or norms in float32 whatever the type (LED; T5 and its kin).

    python make_family_goldens.py [NAME…]
"""

import json
import sys

import numpy as np
import torch
import transformers
from safetensors.torch import load_file, save_file

import make_goldens
import reference
from family_networks import network, options_for, plain_network, reset, run
from make_goldens import MAPS, MODELS, compact, distance
from networks import random_tensor, write_json

NEAR_TIE, SAFE_MARGIN = 1e-5, 5e-5


def config(kind, width, heads, layers, ffn, act, **more):
    return {"model_type": kind, "architectures": [], "d_model": width, "encoder_attention_heads": heads[0],
            "decoder_attention_heads": heads[1], "encoder_layers": layers[0], "decoder_layers": layers[1],
            "encoder_ffn_dim": ffn[0], "decoder_ffn_dim": ffn[1], "activation_function": act, "dropout": 0.1,
            "is_encoder_decoder": True, "dtype": "float32", **more}


BART = dict(vocab_size=30, pad_token_id=1, bos_token_id=0, eos_token_id=2, decoder_start_token_id=2)
PEGASUS = dict(vocab_size=30, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0)

def t5(kind, width, heads, head_dim, layers, ffn, form, buckets, most, **more):
    return {"model_type": kind, "architectures": [], "d_model": width, "num_heads": heads, "d_kv": head_dim,
            "num_layers": layers[0], "num_decoder_layers": layers[1], "d_ff": ffn, "feed_forward_proj": form,
            "relative_attention_num_buckets": buckets, "relative_attention_max_distance": most,
            "layer_norm_epsilon": 1e-6, "dropout_rate": 0.1, "vocab_size": 30, "pad_token_id": 0, "eos_token_id": 1,
            "decoder_start_token_id": 0, "is_encoder_decoder": True, "dtype": "float32", **more}


# lengths: of the sources. globals: of each source, for LED. targets: lengths of the given translations, if not a few
# short ones.
SPECS = {
    "bart-3-heads": dict(
        model=config("bart", 12, (3, 2), (2, 2), (20, 16), "gelu", max_position_embeddings=24, **BART),
        decode=dict(forced_bos_token_id=0, forced_eos_token_id=2, num_beams=3, max_length=12),
        lengths=(1, 3, 6, 12), seed=200000),
    "bart-scaled-f16": dict(
        model=config("bart", 10, (2, 5), (1, 2), (14, 12), "relu", max_position_embeddings=20,
                     scale_embedding=True, **BART),
        decode=dict(forced_bos_token_id=None, forced_eos_token_id=None, num_beams=2, max_length=10),
        lengths=(2, 5, 20), seed=210000, dtype=torch.float16),
    "mbart-3-heads": dict(
        model=config("mbart", 12, (3, 2), (2, 2), (20, 16), "gelu", max_position_embeddings=24, scale_embedding=True, **BART),
        decode=dict(forced_bos_token_id=4, forced_eos_token_id=2, num_beams=3, max_length=12),
        lengths=(1, 3, 6, 22), seed=280000),
    "mbart-start-is-a-language": dict(
        model=config("mbart", 8, (2, 2), (1, 1), (12, 10), "relu", max_position_embeddings=16,
                     **{**BART, "decoder_start_token_id": 28}),
        decode=dict(forced_bos_token_id=None, forced_eos_token_id=None, num_beams=2, max_length=10),
        lengths=(2, 9), seed=290000),
    "mbart-1-head": dict(
        model=config("mbart", 10, (1, 1), (1, 1), (14, 12), "relu", max_position_embeddings=20, scale_embedding=True, **BART),
        decode=dict(forced_bos_token_id=4, forced_eos_token_id=None, num_beams=2, max_length=10),
        lengths=(1, 4, 20), seed=340000),
    "mbart-untied": dict(
        model=config("mbart", 9, (3, 1), (1, 2), (12, 10), "gelu", max_position_embeddings=16, tie_word_embeddings=False, **BART),
        decode=dict(forced_bos_token_id=5, forced_eos_token_id=2, num_beams=3, max_length=10),
        lengths=(2, 7, 16), seed=350000),
    "m2m100-3-heads": dict(
        model=config("m2m_100", 12, (3, 2), (2, 2), (20, 16), "relu", max_position_embeddings=24, scale_embedding=True, **BART),
        decode=dict(forced_bos_token_id=4, forced_eos_token_id=None, num_beams=3, max_length=12),
        lengths=(1, 3, 6, 24), seed=300000),
    "m2m100-unscaled-f16": dict(
        model=config("m2m_100", 20, (5, 2), (1, 2), (14, 12), "gelu", max_position_embeddings=200, scale_embedding=False, **BART),
        decode=dict(forced_bos_token_id=None, forced_eos_token_id=2, num_beams=2, max_length=10),
        lengths=(2, 5, 150), seed=310000, dtype=torch.float16),
    "m2m100-1-head": dict(
        model=config("m2m_100", 10, (1, 1), (1, 1), (14, 12), "relu", max_position_embeddings=20, scale_embedding=True, **BART),
        decode=dict(forced_bos_token_id=4, forced_eos_token_id=None, num_beams=2, max_length=10),
        lengths=(1, 4, 20), seed=320000),
    "m2m100-untied-pad-7": dict(  # positions count from pad's id
        model=config("m2m_100", 8, (1, 2), (2, 1), (12, 10), "relu", max_position_embeddings=16, scale_embedding=True,
                     tie_word_embeddings=False, **{**BART, "pad_token_id": 7}),
        decode=dict(forced_bos_token_id=5, forced_eos_token_id=None, num_beams=3, max_length=10),
        lengths=(2, 7, 16), seed=360000),
    "led-windows": dict(
        model=config("led", 12, (3, 2), (3, 1), (20, 16), "gelu", max_encoder_position_embeddings=48,
                     max_decoder_position_embeddings=24, attention_window=[4, 8, 4], **BART),
        decode=dict(forced_bos_token_id=None, forced_eos_token_id=None, num_beams=3, max_length=12),
        lengths=(1, 2, 4, 5, 19, 27), globals=((0,), (0,), (0,), (0, 3), (0, 5, 6, 18), ()), seed=220000),
    "bigbird-blocks": dict(
        model=config("bigbird_pegasus", 12, (3, 2), (2, 1), (20, 16), "gelu_new", max_position_embeddings=48,
                     attention_type="block_sparse", block_size=4, num_random_blocks=1, use_bias=False,
                     scale_embedding=True, **PEGASUS),
        decode=dict(forced_bos_token_id=None, forced_eos_token_id=None, num_beams=3, max_length=12),
        lengths=(1, 28, 29, 41, 48), seed=230000),
    "bigbird-full-biases": dict(
        model=config("bigbird_pegasus", 8, (2, 4), (1, 1), (12, 10), "gelu_new", max_position_embeddings=40,
                     attention_type="original_full", use_bias=True, scale_embedding=False, **PEGASUS),
        decode=dict(forced_bos_token_id=None, forced_eos_token_id=1, num_beams=2, max_length=10),
        lengths=(2, 9, 30), seed=240000),
    "pegasus-x-chunks": dict(
        model=config("pegasus_x", 12, (3, 2), (3, 1), (20, 16), "gelu", max_position_embeddings=48,
                     num_global_tokens=3, block_size=6, stagger_local_blocks=True, scale_embedding=True, **PEGASUS),
        decode=dict(forced_bos_token_id=None, forced_eos_token_id=1, num_beams=3, max_length=12),
        lengths=(1, 5, 6, 7, 19), seed=250000),
    "pegasus-x-0-globals": dict(
        model=config("pegasus_x", 8, (2, 2), (2, 1), (12, 10), "gelu", max_position_embeddings=32,
                     num_global_tokens=0, block_size=4, stagger_local_blocks=True, scale_embedding=True,
                     **PEGASUS),
        decode=dict(forced_bos_token_id=None, forced_eos_token_id=None, num_beams=2, max_length=10),
        lengths=(1, 3, 4, 5, 9, 17), globals=((),) * 6, seed=270000),
    "pegasus-x-1-global": dict(
        model=config("pegasus_x", 8, (2, 1), (2, 1), (12, 10), "relu", max_position_embeddings=32,
                     num_global_tokens=1, block_size=4, stagger_local_blocks=False, scale_embedding=False,
                     **PEGASUS),
        decode=dict(forced_bos_token_id=None, forced_eos_token_id=None, num_beams=2, max_length=10),
        lengths=(1, 4, 9), seed=260000),
    "t5-wide-heads": dict(
        model=t5("t5", 12, 3, 5, (2, 1), 20, "relu", 8, 12),
        decode=dict(forced_bos_token_id=None, forced_eos_token_id=None, num_beams=3, max_length=16),
        lengths=(1, 3, 9, 20), seed=280000),
    "t5-gated-untied-f16": dict(
        model=t5("t5", 10, 1, 4, (2, 2), 14, "gated-gelu", 32, 128, tie_word_embeddings=False), untied=True,
        decode=dict(forced_bos_token_id=None, forced_eos_token_id=None, num_beams=2, max_length=24),
        lengths=(2, 5, 40), seed=290000, dtype=torch.float16),
    "t5-every-distance": dict(  # from 0 to 130 on both sides: every bucket of the published 32
        model=t5("t5", 8, 1, 5, (1, 1), 12, "relu", 32, 128),
        decode=dict(forced_bos_token_id=None, forced_eos_token_id=None, num_beams=2, max_length=10),
        lengths=(131, 8, 13), targets=(131, 9, 17), seed=330000),
    "t5-saved-by-5": dict(
        model=t5("t5", 8, 2, 3, (1, 1), 12, "gated-silu", 4, 3, tie_word_embeddings=True, scale_decoder_outputs=False),
        decode=dict(forced_bos_token_id=None, forced_eos_token_id=1, num_beams=2, max_length=10), untied=True,
        lengths=(1, 4, 7), seed=300000),
    "mt5-tied": dict(
        model=t5("mt5", 9, 2, 4, (2, 2), 10, "gated-gelu", 6, 20, tie_word_embeddings=False),
        decode=dict(forced_bos_token_id=None, forced_eos_token_id=None, num_beams=3, max_length=12),
        lengths=(1, 6, 24), seed=310000),
    "mt5-every-distance": dict(
        model=t5("mt5", 8, 1, 5, (1, 1), 12, "gated-gelu", 32, 128, tie_word_embeddings=False), untied=True,
        decode=dict(forced_bos_token_id=None, forced_eos_token_id=None, num_beams=2, max_length=10),
        lengths=(131, 2, 9), targets=(3, 131, 8), seed=370000),
    "umt5-tables": dict(
        model=t5("umt5", 12, 4, 2, (3, 2), 16, "gated-gelu", 8, 16),
        decode=dict(forced_bos_token_id=None, forced_eos_token_id=None, num_beams=3, max_length=12),
        lengths=(1, 5, 18), seed=320000),
    "umt5-every-distance": dict(
        model=t5("umt5", 8, 1, 3, (1, 1), 12, "gated-gelu", 32, 128, tie_word_embeddings=False), untied=True,
        decode=dict(forced_bos_token_id=None, forced_eos_token_id=None, num_beams=2, max_length=10),
        lengths=(131, 2, 9), targets=(3, 131, 8), seed=380000),
}


def write_model(name, spec, seed):
    directory = MODELS / name
    directory.mkdir(parents=True, exist_ok=True)
    spec["decode"] = {"bad_words_ids": None, "length_penalty": 1.0, "early_stopping": False,
                      "renormalize_logits": False, **spec["decode"]}
    full = {**spec["model"], "normalize_before": False}
    write_json(directory / "config.json", spec["model"])
    ids = {k: spec["model"][k] for k in ("pad_token_id", "eos_token_id", "decoder_start_token_id")}
    write_json(directory / "generation_config.json",
               {**ids, **{k: v for k, v in spec["decode"].items()}})
    rng = np.random.default_rng(seed)
    blank = getattr(transformers, network_class(spec))(transformers.AutoConfig.from_pretrained(directory))
    blank.save_pretrained(directory / "blank")
    shapes = {n: tuple(t.shape) for n, t in load_file(directory / "blank" / "model.safetensors").items()}
    for file in (directory / "blank").iterdir():
        file.unlink()
    (directory / "blank").rmdir()
    if spec.get("untied"):
        shapes["lm_head.weight"] = shapes["shared.weight"]
    elif not spec["model"].get("tie_word_embeddings", True):
        shapes.pop("model.shared.weight", None)  # there are three separate tables, and this one is unused
    weights = {}
    for each in sorted(shapes):
        value = random_tensor(each, shapes[each], {"model": full, "decode": spec["decode"]}, rng)
        weights[each] = torch.tensor(np.asarray(value), dtype=spec.get("dtype", torch.float32)).contiguous()
    save_file(weights, directory / "model.safetensors", metadata={"format": "pt"})
    return directory, weights


def network_class(spec):
    from family_networks import CLASSES
    return CLASSES[spec["model"]["model_type"]]


def expected(spec, exact, plain, source, decoder_input, target, places):
    """Returns the results in float64: those of the second implementation, with which the class in float64
    agrees."""
    plain.places = places
    memory, encoder = plain.encode(source)
    logits, maps = plain.decode(memory, decoder_input)
    mine = {"encoder_self": torch.stack(encoder["self"]), "decoder_self": torch.stack(maps["self"]),
            "cross": torch.stack(maps["cross"]),
            "log_probs": torch.log_softmax(logits, -1)[torch.arange(len(target)), torch.tensor(target)]}
    theirs = run(exact, source, decoder_input, target, places)
    # LED's softmax is in float32, and so are the mean squares of T5 and related families.
    allowed = 1e-5 if spec["model"]["model_type"] in ("led", "t5", "mt5", "umt5") else 1e-9
    for kind, value in mine.items():
        assert distance(value, theirs[kind]) < allowed, (kind, distance(value, theirs[kind]))
    return mine


@torch.no_grad()
def generate(model, source, options, places):
    reset(model)
    passed = {k: options[k] for k in make_goldens.PASSED if k in options}
    ids = torch.tensor([source])
    out = model.generate(ids, attention_mask=torch.ones_like(ids), return_dict_in_generate=True,
                         output_scores=True, **passed, **options_for(model, 1, len(source), places))
    scores = out.sequences_scores.tolist() if options["num_beams"] > 1 else [None] * len(out.sequences)
    rows = []
    for sequence, score in zip(out.sequences.tolist(), scores):
        ids, eos = sequence[1:], model.config.eos_token_id
        rows.append((ids[: ids.index(eos) + 1] if eos in ids else ids, score))
    return rows


def cases_of(spec, model, exact, plain, rng):
    teacher, greedy, beam = [], [], []
    each = spec.get("globals", ((0,),) * len(spec["lengths"]))
    for number, (length, places) in enumerate(zip(spec["lengths"], each)):
        c = spec["model"]
        source = make_goldens.sentence(c["vocab_size"], length, c, rng)
        wanted = spec["targets"][number] if "targets" in spec else 1 + (3 * number + 4) % 7
        target = make_goldens.sentence(c["vocab_size"], wanted, c, rng)
        decoder_input = [c["decoder_start_token_id"], *target[:-1]]
        narrow = run(model, source, decoder_input, target, places)
        wide = expected(spec, exact, plain, source, decoder_input, target, places)
        teacher.append({"source_ids": source, "globals": list(places), "decoder_input_ids": decoder_input,
                        "target_ids": target, **{k: narrow[k].tolist() for k in MAPS},
                        "log_probs": narrow["log_probs"].tolist(),
                        "error": {"attention": max(distance(narrow[k], wide[k]) for k in MAPS),
                                  "log_prob": distance(narrow["log_probs"], wide["log_probs"])}})
        plain.places = (0,)
        for beams in (1, spec["decode"]["num_beams"]):
            options = {**spec["decode"], "num_beams": beams, "num_return_sequences": beams,
                       "eos_token_id": c["eos_token_id"], "decoder_start_token_id": c["decoder_start_token_id"]}
            search = reference.greedy if beams == 1 else reference.beam_search
            found, (own, margin) = generate(model, source, options, (0,)), search(plain, source, options)
            if beams == 1:
                greedy.append({"source_ids": source, "ids": found[0][0], "margin": margin,
                               "near_tie": margin < NEAR_TIE or own != found[0][0]})
            else:
                agree = [f[0] for f in found] == [o[0] for o in own[:beams]]
                beam.append({"source_ids": source, "overrides": {"num_return_sequences": beams},
                             "hypotheses": [{"ids": ids, "score": score} for ids, score in found],
                             "margin": margin, "near_tie": margin < NEAR_TIE or not agree})
    return {"teacher_forced": teacher, "greedy": greedy, "beam": beam}


def fault_of(golden):
    searches = golden["greedy"] + golden["beam"]
    if any(c["near_tie"] or c["margin"] < SAFE_MARGIN for c in searches):
        return "near tie"
    if len({tuple(c["ids"]) for c in golden["greedy"]}) < 2:
        return "outputs alike"
    if max(c["error"]["log_prob"] for c in golden["teacher_forced"]) > 3e-5:
        return "ill-conditioned"


def main():
    torch.set_num_threads(1)
    for name in sys.argv[1:] or list(SPECS):
        spec = SPECS[name]
        for seed in range(spec["seed"], spec["seed"] + 300):
            directory, weights = write_model(name, spec, seed)
            model = network(directory)
            exact = network(directory).double()
            plain = plain_network({**model.config.to_dict(), **spec["model"]}, weights)
            golden = {"name": name, "seed": seed,
                      **cases_of(spec, model, exact, plain, np.random.default_rng(seed + 1))}
            fault = fault_of(golden)
            if not fault:
                break
            print(f"  {name} seed {seed}: {fault}", file=sys.stderr)
        else:
            sys.exit(f"{name}: no seed gives varied outputs without a near tie")
        (directory / "golden.json").write_text(compact(golden) + "\n")
        errors = [c["error"] for c in golden["teacher_forced"]]
        size = sum(f.stat().st_size for f in directory.iterdir())
        print(f"{name:24} {seed:6} {max(e['attention'] for e in errors):9.1e} "
              f"{max(e['log_prob'] for e in errors):9.1e} {size:8}", flush=True)


if __name__ == "__main__":
    main()
