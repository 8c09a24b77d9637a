#!/usr/bin/env python3
"""Makes a MarianMT checkpoint with random weights and a real SentencePiece vocabulary.

    python scripts/checks/random_checkpoint.py --out DIR --corpus EN DE [--seed 1] [--fixed-length]

What check_transformers.py and bench/compare_speed.py compare on: d_model 256, 3+3 layers, 4 heads,
ffn 1,024, a joint unigram vocabulary of 8,000 with </s> 0, <unk> 1, <pad> 7,999, saved by
transformers' own save_pretrained. Weights are larger than a fresh model's, so that attention is
uneven and the output depends on the source. --fixed-length forbids </s>: every search then runs to
its limit, whoever runs it.

Needs: pip install torch transformers sentencepiece safetensors sacremoses
"""

import argparse
import json
import math
import os
import shutil
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from python_packages import need, need_files

need("torch", "transformers", "sentencepiece", "safetensors", "sacremoses", "numpy")

import numpy as np
import sentencepiece
import torch
from transformers import GenerationConfig, MarianConfig, MarianMTModel, MarianTokenizer

VOCABULARY = 8000


def train_tokenizer(corpus, directory, seed):
    """Writes source.spm, target.spm and vocab.json. Ids are a shuffle of SentencePiece's, as in
    published models, where they agree with neither of the two."""
    sentencepiece.set_random_generator_seed(seed)
    try:
        sentencepiece.SentencePieceTrainer.train(
            input=[str(path) for path in corpus], model_prefix=str(directory / "joint"),
            vocab_size=VOCABULARY - 1, model_type="unigram", character_coverage=1.0,
            eos_id=0, unk_id=1, bos_id=-1, pad_id=-1, input_sentence_size=100_000,
            shuffle_input_sentence=True, num_threads=1, minloglevel=2)
    except RuntimeError as error:  # the reason is the last line
        sys.exit(f"{corpus[0]}, {corpus[1]}: too little text for {VOCABULARY:,} pieces, some thousand sentence pairs are "
                 f"needed: {str(error).split('] ')[-1].strip()}")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(directory / "joint.model"))
    words = [pieces.id_to_piece(i) for i in range(2, pieces.get_piece_size())]
    np.random.default_rng(seed).shuffle(words)
    vocabulary = {piece: i for i, piece in enumerate(["</s>", "<unk>", *words, "<pad>"])}
    assert len(vocabulary) == VOCABULARY
    for side in ("source", "target"):
        shutil.copy(directory / "joint.model", directory / f"{side}.spm")
    (directory / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False, indent=1))


def gain(name):
    """Returns weights for which translations vary and end: sharp attention, and feed-forward layers that
    outweigh the residual (otherwise a tied output repeats its input for ever)."""
    for part, value in (("q_proj", 1.6), ("k_proj", 1.6), ("encoder_attn", 0.8), ("fc2", 6.0)):
        if part in name:
            return value
    return 1.0


def randomize(model, seed, eos_bias, eos=0, pad=-1):
    rng = np.random.default_rng(seed)
    for name, tensor in sorted(model.state_dict().items()):
        if "embed_positions" in name or "embed_tokens" in name or name == "lm_head.weight":
            continue  # sinusoids, and parameters tied to model.shared
        shape = tuple(tensor.shape)
        if "norm" in name:
            value = rng.normal(1 if name.endswith("weight") else 0, 0.2, shape)
        elif name == "final_logits_bias":
            value = rng.normal(0, 0.5, shape)
            value[0, eos] = eos_bias
        elif name.endswith("bias"):
            value = rng.normal(0, 0.1, shape)
        elif name.endswith("shared.weight"):
            value = rng.normal(0, 2 / math.sqrt(shape[1]), shape)
            value[pad] = 0  # pad: the decoder starts from a zero embedding
        else:
            value = rng.normal(0, gain(name) / math.sqrt(shape[1]), shape)
            if "fc2" in name:  # the mean of relu would be the same in every word and soon dominate
                value -= value.mean(axis=1, keepdims=True)
        tensor.copy_(torch.tensor(value, dtype=torch.float32))
    model.tie_weights()


def make_checkpoint(directory, corpus, seed=1, fixed_length=False):
    """Writes the model directory. `corpus` is an English and a German text file."""
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    pad = VOCABULARY - 1
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        train_tokenizer(corpus, scratch, seed)
        MarianTokenizer(
            source_spm=str(scratch / "source.spm"), target_spm=str(scratch / "target.spm"),
            vocab=str(scratch / "vocab.json"), source_lang="en", target_lang="de",
        ).save_pretrained(directory)
    model = MarianMTModel(MarianConfig(
        vocab_size=VOCABULARY, d_model=256, encoder_layers=3, decoder_layers=3,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=1024,
        decoder_ffn_dim=1024, activation_function="relu", max_position_embeddings=512,
        scale_embedding=True, pad_token_id=pad, eos_token_id=0, decoder_start_token_id=pad,
        forced_eos_token_id=None if fixed_length else 0))
    with torch.no_grad():
        randomize(model, seed, -1e4 if fixed_length else 7.0)
    model.generation_config = GenerationConfig(
        pad_token_id=pad, eos_token_id=0, decoder_start_token_id=pad, bad_words_ids=[[pad]],
        forced_eos_token_id=None if fixed_length else 0, num_beams=4, max_length=512,
        length_penalty=1.0, early_stopping=False, renormalize_logits=False)
    model.save_pretrained(directory)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, nargs=2, required=True, metavar=("EN", "DE"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fixed-length", action="store_true")
    options = parser.parse_args()
    need_files(parser, *options.corpus)
    make_checkpoint(options.out, options.corpus, options.seed, options.fixed_length)
