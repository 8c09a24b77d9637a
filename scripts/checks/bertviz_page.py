#!/usr/bin/env python3
"""Translates the same sentence with the same checkpoint in transformers, and shows it in BertViz.

    scripts/checks/bertviz_page.py RECORD.json OUT.html [--model DIR] [--hypothesis N] [--view model|head]

RECORD.json is what `attn-demo translate --json` wrote. With --model, transformers runs the same
checkpoint over the record's ids, and the script fails unless every weight of every head agrees
within 1e-5. Then BertViz draws all three kinds from the record into OUT.html. Needs:
    pip install bertviz ipython torch transformers sentencepiece
"""
import argparse
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from python_packages import need, need_files  # noqa: E402

need("torch", "transformers", "sentencepiece", "bertviz", "IPython")

import torch
from bertviz import head_view, model_view

KINDS = ("encoder_self", "decoder_self", "cross")


def tensors(layers):
    """Converts [layer][head][query][key] to BertViz's input: one tensor [1, heads, queries, keys] per layer."""
    return tuple(torch.tensor(layer).unsqueeze(0) for layer in layers)


def largest_difference(directory, record, hypothesis, maps):
    from transformers import AutoConfig, MarianMTModel, PegasusForConditionalGeneration
    kinds = {"marian": MarianMTModel, "pegasus": PegasusForConditionalGeneration}
    model = kinds[AutoConfig.from_pretrained(directory).model_type].from_pretrained(
        directory, attn_implementation="eager").eval()
    with torch.no_grad():
        out = model(input_ids=torch.tensor([record["source"]["ids"]]),
                    decoder_input_ids=torch.tensor([hypothesis["decoder_input"]["ids"]]),
                    output_attentions=True, use_cache=False)
    theirs = (out.encoder_attentions, out.decoder_attentions, out.cross_attentions)
    return {kind: max(float((a - b).abs().max()) for a, b in zip(maps[kind], layers, strict=True))
            for kind, layers in zip(KINDS, theirs)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--hypothesis", type=int, default=0)
    parser.add_argument("--view", choices=("model", "head"), default="model")
    options = parser.parse_args()
    need_files(parser, options.record)

    record = json.loads(options.record.read_text(encoding="utf-8").splitlines()[0])
    hypothesis = record["hypotheses"][options.hypothesis]
    maps = {kind: tensors((record if kind == "encoder_self" else hypothesis)[kind]) for kind in KINDS}
    if options.model:
        differences = largest_difference(options.model, record, hypothesis, maps)
        print("largest difference from transformers:",
              ", ".join(f"{kind} {value:.1e}" for kind, value in differences.items()))
        if max(differences.values()) > 1e-5:
            sys.exit("more than 1e-5")
    draw = model_view if options.view == "model" else head_view
    page = draw(encoder_attention=maps["encoder_self"], decoder_attention=maps["decoder_self"],
                cross_attention=maps["cross"], encoder_tokens=record["source"]["tokens"],
                decoder_tokens=hypothesis["decoder_input"]["tokens"], html_action="return")
    options.out.write_text(page.data, encoding="utf-8")
    print(f"{options.out}: BertViz's {options.view} view of {record['source']['text']!r}")


if __name__ == "__main__":
    main()
