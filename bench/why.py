#!/usr/bin/env python3
"""Compares attn-demo's explanations of a translation with PyTorch's: the same numbers, and the time of both.

    bench/why.py [--model DIR] [--rounds N] [--points K] [--inseq PYTHON] [--document FILE]

For the demo sentence and one of 12 words: the receipt, gradients, integrated gradients from the <unk>
baseline (K points), occlusion and activation patching, by this package and by the PyTorch code below on
transformers' MarianMTModel. That code batches where a model takes batches: all steps of the gradients,
all points of a step, all occluded sentences, and all patches of a layer; only the cells that the package
computes. Both get the same translation, so that no search is timed, run alternately on one thread, and the
first round warms up (unless it takes seconds). Times are CPU times, so that other work on the machine
matters little. Prints the largest difference, medians and ratios as a Markdown table. Methods
that are not in it (contributions, lenses) are in the package's row "all but integrated gradients".
The row "record" is the translation's attention record, which every call of why() makes first; in PyTorch,
one pass with output_attentions.
Needs this package (pip install .) and
    pip install torch transformers sentencepiece
With --inseq, two columns more: the same gradients by inseq (bench/why_inseq.py), run by that Python.
"""
import argparse
import json
import math
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
from documents.tables import write_table
from python_packages import need

need("attn_demo", "torch", "transformers", "sentencepiece")

import numpy as np
import torch
from transformers import MarianMTModel

import attn_demo

SHIPPED = Path(__file__).resolve().parent.parent / "data/models/en-de"
LONG = 2000  # ms
SENTENCES = (("The group went home", "The group came home"),
             ("The old man went home and read a book to his child.",
              "The old man went home and read a letter to his child."))


class Torch:
    """One sentence with its translation, explained by autograd and hooks."""

    def __init__(self, model, why, corrupt_ids, unk):
        self.model, self.unk = model, unk
        self.source = torch.tensor(why.source_ids)
        self.corrupt = torch.tensor(corrupt_ids)
        self.input = torch.tensor([model.config.decoder_start_token_id, *why.ids[:-1]])
        self.written, self.foil = torch.tensor(why.ids), torch.tensor(why.foil_ids)
        self.steps = torch.arange(len(why.ids))
        self.table = model.model.shared.weight
        self.scale = math.sqrt(model.config.d_model) if model.config.scale_embedding else 1.0
        self.eos = model.config.eos_token_id

    def logits(self, source, target):
        """Returns the logits [B, T, V] of embedded (and scaled) sequences [B, S, D] and [B, T, D]."""
        # transformers 5 scales given embeddings in Marian's decoder, and not in its encoder.
        target = target / self.model.model.decoder.embed_scale
        return self.model(inputs_embeds=source, decoder_inputs_embeds=target, use_cache=False).logits

    def embedded(self, ids):
        return self.table[ids] * self.scale

    def scores(self, logits, steps, contrast):
        """Returns the score of step steps[b] in each row b."""
        rows = logits[torch.arange(len(steps)), steps]
        if contrast:
            return (rows.gather(1, self.written[steps, None]) - rows.gather(1, self.foil[steps, None]))[:, 0]
        return rows.log_softmax(-1).gather(1, self.written[steps, None])[:, 0]

    def both_gradients(self, source, target, steps):
        """Returns each score's gradients at both sequences: row b belongs to step steps[b]."""
        source, target = source.requires_grad_(), target.requires_grad_()
        logits = self.logits(source, target)
        return [torch.autograd.grad(self.scores(logits, steps, contrast).sum(), (source, target), retain_graph=not contrast)
                for contrast in (False, True)]

    def teacher_forced(self):
        return self.model(input_ids=self.source[None], decoder_input_ids=self.input[None], use_cache=False, output_attentions=True)

    @torch.no_grad()
    def record(self):
        """Returns the weights of cross-attention, [L, H, T, S]."""
        return torch.cat(self.teacher_forced().cross_attentions).numpy()

    def gradients(self):
        """Returns ‖x ⊙ g‖₂ of the source for log p(word), [T, S]; computes all four matrices."""
        count = len(self.steps)
        source = self.embedded(self.source).detach().expand(count, -1, -1).clone()
        target = self.embedded(self.input).detach().expand(count, -1, -1).clone()
        norms = [[(x * g).norm(dim=-1) for x, g in zip((source, target), pair)]
                 for pair in self.both_gradients(source, target, self.steps)]
        return norms[0][0].detach().numpy()

    def integrated(self, points):
        """Returns Σ (x − x₀) · mean gradient of the source for log p(word), [T, S]."""
        ids = torch.where(self.source == self.eos, self.source, self.unk)
        target_ids = torch.full_like(self.input, self.unk)
        target_ids[0] = self.input[0]
        ends = [(self.embedded(self.source), self.embedded(ids)), (self.embedded(self.input), self.embedded(target_ids))]
        shares = ((torch.arange(points) + 0.5) / points)[:, None, None]
        rows = []
        for step in self.steps:
            source, target = ((x0 + shares * (x - x0)).detach() for x, x0 in ends)
            pairs = self.both_gradients(source, target, step.expand(points))
            rows.append([[((x - x0) * g.mean(0)).sum(-1) for (x, x0), g in zip(ends, pair)] for pair in pairs])
        return torch.stack([row[0][0] for row in rows]).detach().numpy()

    @torch.no_grad()
    def occlusion(self):
        """Returns the falls of log p(word) with <unk> in place of a token, and without the token, [T, S − 1]
        each."""
        def log_probs(sources):
            inputs = self.input.expand(len(sources), -1)
            logits = self.model(input_ids=sources, decoder_input_ids=inputs, use_cache=False).logits
            return logits.log_softmax(-1)[:, self.steps, self.written].T
        tokens = len(self.source) - 1
        replaced = self.source.repeat(tokens, 1)
        replaced[torch.arange(tokens), torch.arange(tokens)] = self.unk
        dropped = torch.stack([torch.cat((self.source[:n], self.source[n + 1:])) for n in range(tokens)])
        full = log_probs(self.source[None])
        return np.stack([(full - log_probs(sources)).numpy() for sources in (replaced, dropped)])

    @torch.no_grad()
    def receipt(self):
        """Returns the items of cross-attention in logit(word), [T, L, H, S]; computes those of the
        difference, too."""
        m, seen, hooks = self.model.model, {}, []
        for index, layer in enumerate(m.decoder.layers):
            for name in ("self_attn", "encoder_attn"):
                block = getattr(layer, name)
                hooks.append(block.v_proj.register_forward_hook(lambda _, __, out, key=(index, name): seen.update({key: out[0]})))
            for name in ("self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"):
                hooks.append(getattr(layer, name).register_forward_pre_hook(
                    lambda _, args, key=(index, name): seen.update({key: args[0][0]})))
            hooks.append(layer.fc2.register_forward_hook(lambda _, __, out, key=(index, "ffn"): seen.update({key: out[0]})))
        out = self.teacher_forced()
        for hook in hooks:
            hook.remove()
        word, foil = (self.model.lm_head.weight[ids] for ids in (self.written, self.foil))
        items = [self.carried(u, out, seen) for u in (word, word - foil)]
        return items[0].numpy()

    def carried(self, u, out, seen):
        """Carries the output rows u [T, D] back through a post-norm decoder, and collects the items on the
        way."""
        cross = []
        for index in range(len(self.model.model.decoder.layers) - 1, -1, -1):
            layer = self.model.model.decoder.layers[index]
            u = self.through_norm(u, layer.final_layer_norm, seen[index, "final_layer_norm"])
            (u * seen[index, "ffn"]).sum(-1)
            u = self.through_norm(u, layer.encoder_attn_layer_norm, seen[index, "encoder_attn_layer_norm"])
            cross.append(self.head_items(u, layer.encoder_attn, seen[index, "encoder_attn"], out.cross_attentions[index][0]))
            u = self.through_norm(u, layer.self_attn_layer_norm, seen[index, "self_attn_layer_norm"])
            self.head_items(u, layer.self_attn, seen[index, "self_attn"], out.decoder_attentions[index][0])
        return torch.stack(cross[::-1], 1)

    @staticmethod
    def through_norm(u, norm, before):
        scaled = u * norm.weight
        sigma = (before.var(-1, unbiased=False, keepdim=True) + norm.eps).sqrt()
        return (scaled - scaled.mean(-1, keepdim=True)) / sigma

    @staticmethod
    def head_items(u, block, values, weights):
        """Returns α (x W_V)_h W_O^h · u: [T, H, S]."""
        heads, width = weights.shape[0], values.shape[-1] // weights.shape[0]
        carried = (u @ block.out_proj.weight).view(len(u), heads, width)
        return torch.einsum("hts,shk,thk->ths", weights, values.view(len(values), heads, width), carried)

    @torch.no_grad()
    def patching(self, step, word, foil):
        """Computes the three grids of recovered shares, and returns that of the encoder, [L + 1, S]."""
        m = self.model.model
        target = self.input[None, :step + 1]

        def difference(logits):
            return logits[:, step, word] - logits[:, step, foil]

        def run(ids):
            out = self.model(input_ids=ids[None], decoder_input_ids=target, use_cache=False, output_hidden_states=True)
            return out, difference(out.logits)
        heads = {}
        hooks = [layer.encoder_attn.out_proj.register_forward_pre_hook(lambda _, args, key=index: heads.update({key: args[0]}))
                 for index, layer in enumerate(m.decoder.layers)]
        clean, clean_difference = run(self.source)
        clean_heads = dict(heads)
        corrupt, corrupt_difference = run(self.corrupt)
        for hook in hooks:
            hook.remove()

        def shares(logits):
            return (difference(logits) - corrupt_difference) / (clean_difference - corrupt_difference)

        def with_input(module, change, count):
            """Runs `count` corrupted sentences while changing the first argument of a module."""
            hook = module.register_forward_pre_hook(lambda _, args: (change(args[0]), *args[1:]))
            out = self.model(input_ids=self.corrupt.expand(count, -1), decoder_input_ids=target.expand(count, -1), use_cache=False)
            hook.remove()
            return shares(out.logits)

        def stack_grid(layers, clean_states, end):
            """Gives one position after the other the clean state, before each layer and after the last."""
            grid = []
            for index, states in enumerate(clean_states):
                places = torch.arange(states.shape[1])

                def change(rows, states=states, places=places):
                    rows = rows.clone()
                    rows[places, places] = states[0, places]
                    return rows
                if index < len(layers):
                    grid.append(with_input(layers[index], change, len(places)))
                else:
                    grid.append(end(change, len(places)))
            return torch.stack(grid)

        def after_encoder(change, count):
            state = change(corrupt.encoder_last_hidden_state.expand(count, -1, -1))
            return shares(self.model(encoder_outputs=(state,), decoder_input_ids=target.expand(count, -1), use_cache=False).logits)
        encoder = stack_grid(m.encoder.layers, clean.encoder_hidden_states, after_encoder)
        stack_grid(m.decoder.layers, clean.decoder_hidden_states,
                   lambda change, count: with_input(self.model.lm_head, change, count))
        count = self.model.config.decoder_attention_heads
        for index, layer in enumerate(m.decoder.layers):
            def change(rows, index=index):
                rows = rows.clone().view(count, rows.shape[1], count, -1)
                own = torch.arange(count)
                rows[own, :, own] = clean_heads[index].view(rows.shape[1], count, -1).transpose(0, 1)
                return rows.flatten(2)
            with_input(layer.encoder_attn.out_proj, change, count)
        return encoder.numpy()


def cases(ours, theirs, text, corrupt, points):
    """Yields, for each row of the table: its name, our call, the PyTorch call (or None), and the part of our
    result to compare."""
    full = ours.why(text, methods="gradients,integrated,occlusion", corrupt=corrupt)
    unk = json.loads((Path(ours.directory) / "vocab.json").read_text())["<unk>"]
    judge = Torch(theirs, full, ours.attend(corrupt).source_ids, unk)

    def why(methods="receipt", **options):
        return lambda: ours.why(text, target=full.text, methods=methods, threads=1, **options)
    patched = full.patching
    fast = "receipt,occlusion,contributions,lens,gradients"
    yield "record", lambda: ours.attend(text, target=full.text, threads=1), judge.record, ours.attend(text, target=full.text).cross
    yield "receipt", why(), judge.receipt, full.receipt["word"]["cross"]
    yield "occlusion", why("occlusion"), judge.occlusion, np.stack([full.occlusion["unk"], full.occlusion["drop"]])
    yield "gradients", why("gradients"), judge.gradients, full.gradients["log_prob"]["source_l2"]
    used = int(max(full.integrated["log_prob"]["points"].max(), full.integrated["contrast"]["points"].max()))
    name = f"integrated gradients, {points} points"
    if used != points:
        name += f" in PyTorch, up to {used} here"
    yield name, why("integrated"), lambda: judge.integrated(points), full.integrated["log_prob"]["source_dot"]
    yield ("patching", why(corrupt=corrupt), lambda: judge.patching(patched["step"], patched["word"], patched["foil"]),
           patched["encoder"])
    yield "all but integrated gradients and patching", why(fast), None, None


def timed(call):
    begin = time.process_time()
    result = call()
    return result, (time.process_time() - begin) * 1000


def by_inseq(options, text, target):
    """Per method the time and the values of inseq; empty without --inseq."""
    if not options.inseq:
        return {}
    script = Path(__file__).resolve().parent / "why_inseq.py"
    command = [options.inseq, script, "--model", options.model, "--source", text, "--target", target, "--points", str(options.points)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["methods"]


def inseq_cells(options, found, name, own, expected):
    """The cells of two columns: its time, the ratio and how far the first step's entries are from ours. The later
    steps are not comparable: inseq 0.7 gives the decoder scaled embeddings, which transformers scales again."""
    if not options.inseq:
        return ""
    method = found.get(name.split(" ", 1)[0])
    if method is None:
        return " | |"
    values = np.array(method["values"]).T
    apart = np.abs(values[0] - expected[0]).max() / np.abs(expected[0]).max() if values.shape == expected.shape else math.nan
    return f" {method['ms']:.1f} ms | {method['ms'] / own:.1f} ({apart:.0e}) |"


def row(options, inseq, name, ours, theirs, expected, rounds):
    """Returns the medians of alternating rounds as a row of the table. If a round takes seconds, it runs only
    once."""
    times, found = ([], []), None
    for turn in range(rounds + 1):
        if turn == 1 and max(map(sum, times)) < LONG:
            times = ([], [])  # the first round warms up
        elif turn >= 1 and max(map(sum, times)) >= LONG:
            break
        for place, call in enumerate((ours, theirs)):
            if call is not None:
                result, taken = timed(call)
                times[place].append(taken)
                if place == 1:
                    found = result
    own = statistics.median(times[0])
    if theirs is None:
        return f"| {name} | {own:.1f} ms | | | |" + (" | |" if options.inseq else "")
    other = statistics.median(times[1])
    apart = np.abs(found - expected).max() / np.abs(expected).max()
    return (f"| {name} | {own:.1f} ms | {other:.1f} ms | {other / own:.1f} | {apart:.0e} |"
            + inseq_cells(options, inseq, name, own, expected))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=str(SHIPPED))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--points", type=int, default=64)
    parser.add_argument("--inseq", metavar="PYTHON", help="the Python of an environment with inseq")
    parser.add_argument("--document", type=Path, help="also write the table into this file, behind its mark")
    options = parser.parse_args()
    torch.set_num_threads(1)
    ours = attn_demo.load(options.model)
    theirs = MarianMTModel.from_pretrained(options.model, attn_implementation="eager").eval().requires_grad_(False)
    rows = ["| | attn-demo | PyTorch | PyTorch ÷ attn-demo | largest difference, of the largest entry |",
            "| --- | --- | --- | --- | --- |"]
    if options.inseq:
        rows[0] += " inseq | inseq ÷ attn-demo (difference at the first step) |"
        rows[1] += " --- | --- |"
    print("\n".join(rows))
    for text, corrupt in SENTENCES:
        rows.append(f"| **{text}** | | | | |" + (" | |" if options.inseq else ""))
        print(rows[-1])
        inseq = by_inseq(options, text, ours.why(text).text)
        for case in cases(ours, theirs, text, corrupt, options.points):
            rows.append(row(options, inseq, *case, options.rounds))
            print(rows[-1], flush=True)
    if options.document:
        write_table(options.document, "bench/why.py", rows)


if __name__ == "__main__":
    main()
