#!/usr/bin/env python3
"""Compares attn-demo with transformers on model directories in every form of weights and tokenizers.

    python scripts/checks/check_forms.py [--program FILE] [--sentences FILE] [--count 50] [FORM…]

A small model of random weights of each class, with a tokenizer of tests/golden, is saved by the class or by torch.save: as
pytorch_model.bin, in shards of both kinds, with tokenizer.json alone, with added tokens, with a padded embedding, under a tied name
alone, as a revision in Hugging Face's cache; mBART, mBART-50, NLLB and M2M100 from one language into another. Each translates sentences greedily and with four beams; ids, maps, log-probabilities and scores are
compared as scripts/checks/check_transformers.py does, with its tolerances and its table. Last come 100 sentences with the settings of
BART-large-CNN's generation_config.json (4 beams, length penalty 2, 56 to 142 tokens, no three of them twice): the same ids as
`generate`'s, but where that of the model in float64 finds others than in float32. Exits 1 where something differs.

Needs: pip install torch transformers sentencepiece protobuf safetensors sacremoses ctranslate2
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/golden"))
from check_transformers import BEAM, GREEDY, Checkpoint, compare, read_sentences, translate
from random_checkpoint import randomize

import json_tokenizers
import language_tokenizers
import torch
import transformers
sys.path.insert(0, str(ROOT / "scripts"))
from python_packages import need_files
from safetensors.torch import load_file, save_file

GOLDEN = ROOT / "tests/golden/tokenizer"
SIZES = {"d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
         "encoder_ffn_dim": 128, "decoder_ffn_dim": 128}
torch.set_num_threads(1)  # with such small matrices, threads only wait for each other
LENGTH = 25  # maximum length of the output


# --- models by their classes -----------------------------------------------------------------------


def network(kind, tokenizer, start, size=None, **more):
    """Makes a model with random weights for a tokenizer."""
    special = {"pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id, "decoder_start_token_id": start}
    config = getattr(transformers, kind + "Config")(**SIZES, vocab_size=size or len(tokenizer), **special, forced_eos_token_id=None, **more)
    cls = {"Marian": "MarianMTModel"}.get(kind, kind + "ForConditionalGeneration")
    model = getattr(transformers, cls)(config)
    with torch.no_grad():
        randomize(model, 1, 7.0, tokenizer.eos_token_id, tokenizer.pad_token_id)
    model.generation_config = transformers.GenerationConfig(**special, max_length=64)
    return model


def marian():
    tokenizer = transformers.MarianTokenizer.from_pretrained(GOLDEN / "joint")
    return network("Marian", tokenizer, tokenizer.pad_token_id, max_position_embeddings=512), tokenizer


def written_by(kind):
    """Saves a class with the tokenizer file of transformers 5: tokenizer.json, and no older file."""
    with tempfile.TemporaryDirectory() as scratch:
        json_tokenizers.classes(Path(scratch), None)
        tokenizer = transformers.AutoTokenizer.from_pretrained(Path(scratch) / kind.lower())
    more = {"LED": {"attention_window": 8, "max_encoder_position_embeddings": 512, "max_decoder_position_embeddings": 128}}
    start = tokenizer.pad_token_id if kind == "Pegasus" else tokenizer.eos_token_id
    return network(kind, tokenizer, start, **more.get(kind, {"max_position_embeddings": 512})), tokenizer


def of_languages(kind, build):
    """Makes a model of several languages, with its class's older tokenizer files or with tokenizer.json."""
    with tempfile.TemporaryDirectory() as scratch:
        if build == "older":
            language_tokenizers.build(Path(scratch))
            folder, more = Path(scratch) / kind, {}
            if kind == "Nllb":
                more["extra_special_tokens"] = list(language_tokenizers.NLLB)
            tokenizer = getattr(transformers, kind + "Tokenizer").from_pretrained(folder, **more)
            files = {file.name: file.read_bytes() for file in folder.iterdir()}
        else:
            json_tokenizers.classes(Path(scratch), None)
            tokenizer, files = transformers.AutoTokenizer.from_pretrained(Path(scratch) / kind.lower()), None
    size = max(tokenizer.convert_tokens_to_ids(list(tokenizer.get_vocab())) + [0]) + 1 if kind != "M2M100" else len(tokenizer) + 108
    family = {"MBart50": "MBart", "Nllb": "M2M100"}.get(kind, kind)
    model = network(family, tokenizer, tokenizer.eos_token_id, size=max(size, len(tokenizer)), max_position_embeddings=512)
    return model, tokenizer, files


# --- forms -----------------------------------------------------------------------------------------


def save(model, tokenizer, folder, **options):
    model.save_pretrained(folder, **options)
    tokenizer.save_pretrained(folder)


def without_weights(model, tokenizer, folder):
    """Returns the tensors of the file that was removed."""
    save(model, tokenizer, folder)
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    return tensors


def torch_file(model, tokenizer, folder):
    without_weights(model, tokenizer, folder)
    torch.save(model.state_dict(), folder / "pytorch_model.bin")


def safetensors_shards(model, tokenizer, folder):
    save(model, tokenizer, folder, max_shard_size="100KB")
    assert (folder / "model.safetensors.index.json").exists()


def torch_shards(model, tokenizer, folder):
    names, places = list(without_weights(model, tokenizer, folder).items()), {}
    for i in range(3):
        file = f"pytorch_model-{i + 1:05}-of-00003.bin"
        torch.save(dict(names[i::3]), folder / file)
        places |= {name: file for name, _ in names[i::3]}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": places}))


def added_tokens(model, tokenizer, folder):
    tokenizer.add_tokens(["<NAME>", "<PLACE>"])
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    save(model, tokenizer, folder)


def padded_embedding(model, tokenizer, folder):
    size = len(tokenizer)
    model.resize_token_embeddings(size // 64 * 64 + 64, mean_resizing=False)
    with torch.no_grad():
        model.get_input_embeddings().weight[size:] = 0
    save(model, tokenizer, folder)


def one_tied_name(model, tokenizer, folder):
    """Changes the model as in facebook/bart-large-cnn: the shared table has another name, and the names are
    metadata."""
    tensors = without_weights(model, tokenizer, folder)
    tied = "model.decoder.embed_tokens.weight"
    tensors[tied] = tensors.pop("model.shared.weight")
    save_file(tensors, folder / "model.safetensors", {"format": "pt", "model.shared.weight": tied, "model.encoder.embed_tokens.weight": tied})


def revision(model, tokenizer, folder):
    """Makes a cache like huggingface_hub's: main has no weights, refs/pr/4 has."""
    home, (main, other) = folder.parent / "hub", ("a" * 40, "b" * 40)
    repository = home / "models--somebody--model"
    for commit in (main, other):
        snapshot = repository / "snapshots" / commit
        (repository / "blobs").mkdir(parents=True, exist_ok=True)
        snapshot.mkdir(parents=True)
        for number, file in enumerate(sorted(folder.iterdir())):
            if commit == main and file.suffix == ".safetensors":
                continue
            blob = repository / "blobs" / f"{commit[:8]}{number}"
            shutil.copy(file, blob)
            (snapshot / file.name).symlink_to(os.path.relpath(blob, snapshot))
    (repository / "refs/refs/pr").mkdir(parents=True)  # writes the file refs/REVISION
    (repository / "refs/main").write_text(main)
    (repository / "refs/refs/pr/4").write_text(other)
    os.environ["HF_HUB_CACHE"] = str(home)
    return "somebody/model@refs/pr/4"


FORMS = {  # name: (model and tokenizer, function that saves them, names used in some sentences)
    "Marian, model.safetensors": (marian, save, False),
    "Marian, pytorch_model.bin": (marian, torch_file, False),
    "Marian, shards of model.safetensors": (marian, safetensors_shards, False),
    "Marian, shards of pytorch_model.bin": (marian, torch_shards, False),
    "Marian, added tokens": (marian, added_tokens, True),
    "Marian, padded embedding": (marian, padded_embedding, False),
    "Marian, OWNER/NAME@REVISION": (marian, save, False),
    "BART, tokenizer.json": (lambda: written_by("Bart"), save, True),
    "BART, one tied name": (lambda: written_by("Bart"), one_tied_name, False),
    "LED, tokenizer.json": (lambda: written_by("LED"), save, True),
    "Pegasus, tokenizer.json": (lambda: written_by("Pegasus"), save, True),
}
LANGUAGES = {  # name: (class, its files, source and target language as typed and as the class names them)
    "mBART, sentencepiece.bpe.model": ("MBart", "older", ("English", "ro"), ("en_XX", "ro_RO")),
    "mBART, tokenizer.json": ("MBart", "json", ("en_XX", "de_DE"), ("en_XX", "de_DE")),
    "mBART-50, sentencepiece.bpe.model": ("MBart50", "older", ("en", "de"), ("en_XX", "de_DE")),
    "mBART-50, tokenizer.json": ("MBart50", "json", ("en", "sl_SI"), ("en_XX", "sl_SI")),
    "NLLB, tokenizer.json": ("Nllb", "json", ("en", "de"), ("eng_Latn", "deu_Latn")),
    "M2M100, vocab.json": ("M2M100", "older", ("eng", "German"), ("en", "de")),
}


# --- the comparison --------------------------------------------------------------------------------


def checkpoint_files(model, tokenizer, files, folder, write=save):
    """Saves the model and its tokenizer; `files`, if given, replace the tokenizer files that the class
    writes."""
    write(model, tokenizer, folder)
    for file in (folder.iterdir() if files else ()):
        if file.name not in ("model.safetensors", "config.json", "generation_config.json"):
            file.unlink()
    for file, content in (files or {}).items():
        (folder / file).write_bytes(content)


def checkpoint_of(name, scratch):
    folder, files = scratch / "model", None
    if name in LANGUAGES:
        model, tokenizer, files = of_languages(*LANGUAGES[name][:2])
        write = save
    else:
        make, write, _ = FORMS[name]
        model, tokenizer = make()
    checkpoint_files(model, tokenizer, files, folder, write)
    whole = scratch / "whole.safetensors"  # the weights of every form, for the reference's searches
    save_file({k: v.contiguous().clone() for k, v in model.state_dict().items() if "embed_tokens" not in k and k != "lm_head.weight"
               and not ("embed_positions" in k and model.config.model_type in ("marian", "pegasus"))}, whole)
    told = revision(model, tokenizer, folder) if "REVISION" in name else None
    kind = type(tokenizer) if files else transformers.AutoTokenizer
    checkpoint = Checkpoint(folder, kind, told, whole)
    if name in LANGUAGES:
        kind, _, typed, (source, target) = LANGUAGES[name]
        checkpoint.typed = ["--source-lang", typed[0], "--target-lang", typed[1]]
        checkpoint.tokenizer.src_lang = source
        checkpoint.left_out = set(getattr(checkpoint.tokenizer, "lang_token_to_id", {}).values())
        token = f"__{target}__" if kind == "M2M100" else target
        setattr(checkpoint, "start" if kind == "MBart" else "forced_bos", checkpoint.tokenizer.convert_tokens_to_ids(token))
    if model.config.model_type == "pegasus":
        checkpoint.raw |= {"normalize_before": True, "add_final_layer_norm": True}
    return checkpoint


CNN = {"num_beams": 4, "length_penalty": 2.0, "min_length": 56, "max_length": 142, "no_repeat_ngram_size": 3, "early_stopping": True,
       "forced_bos_token_id": 0, "forced_eos_token_id": 2, "bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2,
       "decoder_start_token_id": 2}


CNN_TITLE = "BART-large-CNN's settings"


def real_settings(program, sentences, scratch):
    """Translates sentences with the settings of a published summarizer."""
    model, tokenizer = written_by("Bart")
    model.generation_config = transformers.GenerationConfig(**CNN)
    save(model.eval(), tokenizer, scratch / "model")
    model = type(model).from_pretrained(scratch / "model", attn_implementation="eager").eval()
    done = subprocess.run([str(program), "translate", "--model", str(scratch / "model"), "--json", "-", "--split", "never"],
                          input="".join(line + "\n" for line in sentences), capture_output=True, text=True, check=True)
    wide, same, ties = None, 0, 0
    for line, record in zip(sentences, map(json.loads, done.stdout.splitlines()), strict=True):
        source = torch.tensor([record["source"]["ids"]])
        ours = [2, *record["hypotheses"][0]["ids"]]
        theirs = model.generate(source)[0].tolist()
        same += ours == theirs
        if ours != theirs:
            wide = wide or type(model).from_pretrained(scratch / "model", attn_implementation="eager").double().eval()
            ties += wide.generate(source)[0].tolist() != theirs
    print(f"{CNN_TITLE}: the same ids on {same} of {len(sentences)} sentences; on {ties} float64 finds others than float32")
    return same + ties == len(sentences)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/app/attn-demo")
    parser.add_argument("--sentences", type=Path, default=ROOT / "data/toy/train.en")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("forms", nargs="*", metavar="FORM", help="beginnings of names: Marian, BART, …")
    options = parser.parse_args()
    need_files(parser, options.program, options.sentences)
    sentences, good = read_sentences(options.sentences, options.count), True
    print("| what | same ids | ties | attention | log-prob. | score | e, attention | e, log-prob. |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in (*FORMS, *LANGUAGES):
        if options.forms and not name.startswith(tuple(options.forms)):
            continue
        names = name in FORMS and FORMS[name][2]
        lines = [line.replace("The ", "<NAME> ") if names and i % 2 else line for i, line in enumerate(sentences)]
        with tempfile.TemporaryDirectory() as scratch:
            checkpoint = checkpoint_of(name, Path(scratch))
            for kind, search in (("greedy", GREEDY), ("beam 4", BEAM)):
                records = translate(options.program, checkpoint.name, lines, search, LENGTH, *checkpoint.typed)
                good &= compare(f"{name}, {kind}", checkpoint, records, lines, search, LENGTH).print()
    if not options.forms or CNN_TITLE.startswith(tuple(options.forms)):
        with tempfile.TemporaryDirectory() as scratch:
            good &= real_settings(options.program, read_sentences(options.sentences, 100), Path(scratch))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
