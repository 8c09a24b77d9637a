#!/usr/bin/env python3
"""Compares the package's arrays with transformers' attentions of the same model, and shows them in
BertViz.

    scripts/checks/attend_in_bertviz.py SENTENCE OUT.html [--model DIR]

Fails unless every weight of every head of encoder, decoder and cross-attention is within
max(1e-5, 3e) of transformers' float32, e being the distance of that from transformers' own float64.
Then BertViz draws the arrays into OUT.html. Needs this package (pip install .) and
    pip install bertviz ipython torch transformers sentencepiece
"""
import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from python_packages import need

need("attn_demo", "torch", "transformers", "sentencepiece", "bertviz", "IPython")

import attn_demo
import torch
from bertviz import model_view
from transformers import MarianMTModel

SHIPPED = Path(__file__).resolve().parents[2] / "data/models/en-de"


def attentions(model, a):
    """Returns transformers' maps of the same ids, each [layers, heads, queries, keys] in float64."""
    start = model.config.decoder_start_token_id
    with torch.no_grad():
        out = model(input_ids=torch.tensor([a.source_ids]),
                    decoder_input_ids=torch.tensor([[start, *a.ids[:-1]]]),
                    output_attentions=True, use_cache=False)
    return {"encoder": torch.cat(out.encoder_attentions).double(),
            "decoder": torch.cat(out.decoder_attentions).double(),
            "cross": torch.cat(out.cross_attentions).double()}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentence")
    parser.add_argument("out", type=Path)
    parser.add_argument("--model", type=Path, default=SHIPPED)
    options = parser.parse_args()

    a = attn_demo.load(options.model).attend(options.sentence)
    print(f"{a.source_text} → {a.text}")
    theirs = MarianMTModel.from_pretrained(options.model, attn_implementation="eager").eval()
    single = attentions(theirs, a)
    double = attentions(theirs.double(), a)
    failed = False
    for kind, expected in single.items():
        tolerance = max(1e-5, 3 * float((expected - double[kind]).abs().max()))
        difference = float((torch.tensor(getattr(a, kind)).double() - expected).abs().max())
        failed |= not difference <= tolerance
        print(f"{kind}: largest difference {difference:.1e}, tolerance {tolerance:.1e}")
    if failed:
        return 1

    def layers(kind):
        return tuple(torch.tensor(layer).unsqueeze(0) for layer in getattr(a, kind))

    page = model_view(encoder_attention=layers("encoder"), decoder_attention=layers("decoder"),
                      cross_attention=layers("cross"), encoder_tokens=a.source_tokens,
                      decoder_tokens=a.decoder_tokens, html_action="return")
    options.out.write_text(page.data, encoding="utf-8")
    print(f"wrote {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
