#!/usr/bin/env python3
"""Trains the same Marian-like model on the same text with PyTorch, for compare_training.py.

    python bench/torch_training.py SPLIT PIECES OUT --updates 1236 [--threads 2] [--d 256] …

SPLIT holds train.en, train.de, dev.en and dev.de; PIECES is a SentencePiece model with </s> 0 and
<unk> 1. Padding is one more row of the shared embedding: it starts every target, its embedding is
zero, and it is no class of the output. Norms follow the blocks, there is none at a stack's end;
positions are sines in the first half of the columns and cosines in the second. Layers, dropout,
Adam and clipping are PyTorch's own.

Prints "update N loss L tok/s R tokens T" every --log-every updates (R and T count target tokens
without padding; the time of validation is left out), and after each epoch "epoch E step N … loss L
… dev BLEU B chrF C" of greedy search. OUT gets weights.pt.

Needs: pip install torch sentencepiece sacrebleu
"""

import argparse
import math
import random
import time
from pathlib import Path

import sacrebleu
import sentencepiece
import torch
from torch import nn
from torch.nn import functional

END = 0
LONGEST = 512  # tokens per sentence; longer and empty sentences are left out
MORE = 20  # a translation may have this many tokens more than its source


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("split", "pieces", "out"):
        parser.add_argument(name, type=Path)
    numbers = {"updates": 1236, "threads": 2, "seed": 1, "log-every": 10, "d": 256, "h": 4,
               "layers": 3, "ffn": 1024, "tokens": 3000, "warmup": 2000, "lr": 1e-3,
               "dropout": 0.1, "smooth": 0.1, "clip": 1.0}
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=f"[{default}]")
    parser.add_argument("--bfloat16", action="store_true", help="products in bfloat16 (autocast)")
    return parser.parse_args()


class Text:
    """Reads the parallel lines of one part, and their tokens with the end symbol."""

    def __init__(self, split, part, pieces):
        sides = [(split / f"{part}.{code}").read_text(encoding="utf-8").split("\n")
                 for code in ("en", "de")]
        if len(sides[0]) != len(sides[1]):
            raise SystemExit(f"{split}/{part}: {len(sides[0])} and {len(sides[1])} lines")
        self.pairs, self.references = [], []
        encoded = [pieces.encode(lines) for lines in sides]
        for source, target, reference in zip(*encoded, sides[1]):
            if source and target and max(len(source), len(target)) < LONGEST:
                self.pairs.append((source + [END], target + [END]))
                self.references.append(reference)

    def batches(self, budget):
        """Puts pairs of similar length together; sentences × longest of either side is at most
        `budget`."""
        pairs = random.sample(self.pairs, len(self.pairs))
        pairs.sort(key=lambda pair: (len(pair[1]), len(pair[0])))
        batches, widest = [], 0
        for pair in pairs:
            width = max(map(len, pair))
            if not batches or max(widest, width) * (len(batches[-1]) + 1) > budget:
                batches.append([])
                widest = 0
            widest = max(widest, width)
            batches[-1].append(pair)
        random.shuffle(batches)
        return batches


def sinusoids(d):
    angles = torch.outer(torch.arange(LONGEST + MORE), 10000.0 ** (-torch.arange(0, d, 2) / d))
    return torch.cat([angles.sin(), angles.cos()], dim=1)


class Translator(nn.Module):
    def __init__(self, options, pad):
        super().__init__()
        self.pad = pad
        self.scale = math.sqrt(options.d)
        self.table = nn.Embedding(pad + 1, options.d, padding_idx=pad)
        self.dropout = nn.Dropout(options.dropout)
        self.register_buffer("positions", sinusoids(options.d), persistent=False)
        shape = {"d_model": options.d, "nhead": options.h, "dim_feedforward": options.ffn,
                 "dropout": options.dropout, "batch_first": True}
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(**shape), options.layers, enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**shape), options.layers)
        for stack in (self.encoder, self.decoder):
            for weight in stack.parameters():
                if weight.dim() == 2:
                    nn.init.xavier_uniform_(weight)
        with torch.no_grad():
            self.table.weight[:pad].normal_(std=options.d**-0.5)

    def rows(self, sentences):
        """Returns [sentences, longest], with padding after the short ones."""
        return nn.utils.rnn.pad_sequence(
            [torch.tensor(ids) for ids in sentences], batch_first=True, padding_value=self.pad)

    def embed(self, ids):
        return self.dropout(self.table(ids) * self.scale + self.positions[: ids.shape[1]])

    def encode(self, source):
        hidden = torch.zeros(source.shape).masked_fill_(source == self.pad, -1e9)
        return self.encoder(self.embed(source), src_key_padding_mask=hidden), hidden

    def decode(self, ids, memory, hidden):
        future = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return self.decoder(self.embed(ids), memory, tgt_mask=future, tgt_is_causal=True,
                            memory_key_padding_mask=hidden)

    def logits(self, states):
        return states @ self.table.weight[: self.pad].T

    def loss(self, batch, smoothing):
        """Returns the mean over target tokens, and their number."""
        target = self.rows([t for _, t in batch])
        inputs = functional.pad(target[:, :-1], (1, 0), value=self.pad)
        states = self.decode(inputs, *self.encode(self.rows([s for s, _ in batch])))
        loss = functional.cross_entropy(
            self.logits(states).flatten(0, 1), target.flatten(), ignore_index=self.pad,
            label_smoothing=smoothing)
        return loss, sum(len(t) for _, t in batch)

    @torch.inference_mode()
    def search(self, sentences):
        """Translates with greedy search, and returns the tokens before the end symbol."""
        memory, hidden = self.encode(self.rows(sentences))
        ids = torch.full((len(sentences), 1), self.pad)
        open_rows = torch.ones(len(sentences), dtype=torch.bool)
        while open_rows.any() and ids.shape[1] <= memory.shape[1] + MORE:
            best = self.logits(self.decode(ids, memory, hidden)[:, -1]).argmax(dim=1)
            ids = torch.cat([ids, best.where(open_rows, torch.tensor(END))[:, None]], dim=1)
            open_rows &= best != END
        rows = [row[1:] for row in ids.tolist()]
        return [row[: row.index(END)] if END in row else row for row in rows]


def validate(model, text, pieces):
    model.eval()
    order = sorted(range(len(text.pairs)), key=lambda i: len(text.pairs[i][0]))
    output = [""] * len(order)
    for first in range(0, len(order), 100):
        part = order[first : first + 100]
        for i, ids in zip(part, model.search([text.pairs[i][0] for i in part])):
            output[i] = pieces.decode(ids)
    model.train()
    return (sacrebleu.corpus_bleu(output, [text.references]).score,
            sacrebleu.corpus_chrf(output, [text.references]).score)


class Meter:
    """The mean loss and speed since the start; paused while something else is done."""

    def __init__(self):
        self.loss, self.tokens, self.start = 0.0, 0, time.perf_counter()

    def add(self, loss, tokens):
        self.loss += loss * tokens
        self.tokens += tokens

    def __str__(self):
        speed = self.tokens / (time.perf_counter() - self.start)
        return f"loss {self.loss / self.tokens:.4f} tok/s {speed:.1f} tokens {self.tokens}"


def main():
    options = parse()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    random.seed(options.seed)
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(options.pieces))
    train, dev = (Text(options.split, part, pieces) for part in ("train", "dev"))
    model = Translator(options, pad=pieces.get_piece_size())
    adam = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    print("parameters", sum(p.numel() for p in model.parameters()), flush=True)
    print("instructions", torch.backends.cpu.get_cpu_capability(), flush=True)
    update = epoch = 0
    begun = time.perf_counter()
    while update < options.updates:
        epoch += 1
        window, whole = Meter(), Meter()
        for batch in train.batches(options.tokens)[: options.updates - update]:
            update += 1
            rise, fall = update / options.warmup, math.sqrt(options.warmup / update)
            adam.param_groups[0]["lr"] = options.lr * min(rise, fall)
            adam.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=options.bfloat16):
                loss, tokens = model.loss(batch, options.smooth)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), options.clip)
            adam.step()
            for meter in (window, whole):
                meter.add(loss.item(), tokens)
            if update % options.log_every == 0:
                print("update", update, window, flush=True)
                window = Meter()
        figures = str(whole)  # without the validation's time
        bleu, chrf = validate(model, dev, pieces)
        print(f"epoch {epoch} step {update} min {(time.perf_counter() - begun) / 60:.1f} {figures} "
              f"dev BLEU {bleu:.2f} chrF {chrf:.2f}", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    torch.save(model.state_dict(), options.out / "weights.pt")


if __name__ == "__main__":
    main()
