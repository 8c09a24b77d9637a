#!/usr/bin/env python3
"""Times attn-demo and CTranslate2 alternately, on random checkpoints with the shapes of t5-small and NLLB-200's
distilled 600M.

    python bench/compare_families.py --text FILE [--shape t5-small|nllb-600m]… [--rounds 5] [--threads 1] [--models DIR]

FILE, some ten thousand sentences or more, trains the pieces (T5's 32,000 or as many as it has; NLLB's 8,000, the table padded to the
published 256,206 rows) and is translated: one sentence, and 32 in a batch, greedily, exactly 20 tokens each. Each contender is a process
of its own, called in turn (A B C D A B C D …); a ratio is the median of the rounds' own ratios to attn-demo's time in the same
precision, once by the clock and once in seconds of the processor, which other work on the machine disturbs less. attn-demo is its Python package (pip install .), given texts, so that cutting them into pieces is in its time; CTranslate2
is given pieces. --models keeps what is made. Needs also: pip install torch transformers sentencepiece protobuf ctranslate2
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
os.environ.update(TRANSFORMERS_VERBOSITY="error", HF_HUB_DISABLE_PROGRESS_BARS="1")
from python_packages import need, need_files

need("attn_demo", "torch", "transformers", "sentencepiece", "google.protobuf", "ctranslate2")

LENGTH = 20  # tokens produced per sentence
PAUSE = 0.3  # seconds; Intel's OpenMP spins for 0.2 after its work
CASES = {"one sentence": (1, 5), "a batch of 32": (32, 1)}  # sentences, calls per round
KINDS = [f"{who} {precision}" for precision in ("float32", "int8") for who in ("attn-demo", "CTranslate2")]
SHAPES = {
    "t5-small": ("T5Config", "T5ForConditionalGeneration", dict(
        vocab_size=32128, d_model=512, d_kv=64, d_ff=2048, num_layers=6, num_heads=8, decoder_start_token_id=0)),
    "nllb-600m": ("M2M100Config", "M2M100ForConditionalGeneration", dict(
        vocab_size=256206, d_model=1024, encoder_layers=12, decoder_layers=12, encoder_attention_heads=16,
        decoder_attention_heads=16, encoder_ffn_dim=4096, decoder_ffn_dim=4096, decoder_start_token_id=2))}


def train_pieces(shape, text, folder):
    import sentencepiece

    kind = {"t5-small": dict(vocab_size=32000, pad_id=0, eos_id=1, unk_id=2, bos_id=-1),
            "nllb-600m": dict(vocab_size=8000, bos_id=1, eos_id=2, unk_id=0, model_type="bpe")}[shape]
    name, tokenizer = {"t5-small": ("spiece", "T5Tokenizer"), "nllb-600m": ("sentencepiece.bpe", "NllbTokenizer")}[shape]
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(folder / name), input_sentence_size=200_000, shuffle_input_sentence=True,
        minloglevel=2, **({"hard_vocab_limit": False} if shape == "t5-small" else {}), **kind)
    (folder / f"{name}.vocab").unlink()
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": tokenizer}))


def make(shape, text, folder):
    """Makes the checkpoint, and converts it for CTranslate2."""
    import torch
    import transformers
    from ctranslate2.converters import TransformersConverter

    folder.mkdir(parents=True)
    config, model, sizes = SHAPES[shape]
    torch.manual_seed(1)
    getattr(transformers, model)(getattr(transformers, config)(**sizes)).save_pretrained(folder)
    train_pieces(shape, text, folder)
    TransformersConverter(str(folder)).convert(str(folder / "ctranslate2"))


def attn_demo_call(folder, shape, precision, threads):
    import attn_demo

    more = {} if shape == "t5-small" else {"target_lang": "deu_Latn"}
    model = attn_demo.load(folder, precision=precision)
    options = dict(beam=1, max_length=LENGTH, min_length=LENGTH, threads=threads, batch=32, **more)

    def call(lines):
        model.translate(lines, **options)

    made = len(model.attend("a group", **{name: options[name] for name in ("beam", "max_length", "min_length", *more)}).tokens)
    if made != LENGTH:
        raise SystemExit(f"attn-demo makes {made} tokens, not {LENGTH}")
    return call, lambda lines: lines


def ctranslate2_call(folder, shape, precision, threads):
    import ctranslate2
    import transformers

    name = "T5Tokenizer" if shape == "t5-small" else "NllbTokenizer"
    tokenizer = getattr(transformers, name).from_pretrained(folder)
    translator = ctranslate2.Translator(str(folder / "ctranslate2"), device="cpu", compute_type=precision, intra_threads=threads)
    prefix = [] if shape == "t5-small" else [tokenizer.convert_ids_to_tokens(5)]  # the same number of tokens as a language

    def call(rows):
        results = translator.translate_batch(
            rows, target_prefix=[prefix] * len(rows) if prefix else None, beam_size=1, max_decoding_length=LENGTH,
            min_decoding_length=LENGTH, max_batch_size=0)
        made = {len(result.hypotheses[0]) for result in results}
        if made != {LENGTH}:
            raise SystemExit(f"CTranslate2 makes {made} tokens, not {LENGTH}")

    return call, lambda lines: [tokenizer.convert_ids_to_tokens(tokenizer(line).input_ids) for line in lines]


def worker(kind, shape, folder, threads, lines):
    answers = os.fdopen(os.dup(1), "w")  # because libraries print to stdout, too
    os.dup2(2, 1)
    who, precision = kind.split()
    call, prepared = (attn_demo_call if who == "attn-demo" else ctranslate2_call)(folder, shape, precision, threads)
    ready = {name: prepared(lines[:count]) for name, (count, _) in CASES.items()}
    for rows in ready.values():
        call(rows)
    print("ready", file=answers, flush=True)
    for name in sys.stdin:
        name = name.strip()
        start, used = time.perf_counter(), time.process_time()
        for _ in range(CASES[name][1]):
            call(ready[name])
        taken = (time.perf_counter() - start, time.process_time() - used)
        print(*(1000 * seconds / CASES[name][1] for seconds in taken), file=answers, flush=True)


def compare(shape, folder, options, lines):
    (folder / "lines.json").write_text(json.dumps(lines))
    environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads)}
    started = {kind: subprocess.Popen(
        [sys.executable, __file__, "--worker", kind, "--shape", shape, "--models", folder, "--threads", str(options.threads)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) for kind in options.kinds}

    def answer(process):
        line = process.stdout.readline()
        if not line:
            sys.exit("a worker ended early; its message is above")
        return line

    for process in started.values():
        answer(process)
    times = {name: {kind: [] for kind in started} for name in CASES}
    for _ in range(options.rounds):
        for name in CASES:
            for kind, process in started.items():
                time.sleep(PAUSE)
                process.stdin.write(name + "\n")
                process.stdin.flush()
                times[name][kind].append([float(number) for number in answer(process).split()])
    for process in started.values():
        process.stdin.close()
        process.wait()
    return times


def report(shape, threads, times):
    for name, rounds in times.items():
        for kind, own in rounds.items():
            who, precision = kind.split()
            ours = rounds.get(f"attn-demo {precision}", []) if who != "attn-demo" else []
            cells = []
            for of in (0, 1):  # wall time, CPU time
                mine = [pair[of] for pair in own]
                ratios = sorted(pair[of] / base[of] for pair, base in zip(own, ours))
                cells.append(f"{statistics.median(mine):.1f} ms ({min(mine):.1f}–{max(mine):.1f})")
                cells.append(f"{statistics.median(ratios):.2f} ({ratios[0]:.2f}–{ratios[-1]:.2f})" if ratios else "—")
            print(f"| {shape} | {threads} | {name} | {kind} | {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--shape", choices=list(SHAPES), action="append")
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=KINDS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--models", type=Path)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        lines = json.loads((options.models / "lines.json").read_text())
        return worker(options.worker, options.shape[0], options.models, options.threads, lines)
    if options.text is None:
        parser.error("give --text FILE, a file of sentences")
    need_files(parser, options.text)
    found = dict.fromkeys(line.strip() for line in options.text.read_text(encoding="utf-8").splitlines())
    lines = [line for line in found if 6 <= len(line.split()) <= 14][:32]
    if len(lines) < 32:
        parser.error(f"{options.text}: {len(lines)} sentences of 6 to 14 words; 32 are needed")
    if os.getloadavg()[0] > 1:
        print(f"the machine is busy (load {os.getloadavg()[0]:.1f}): trust ratios, not times", file=sys.stderr)
    print("| shape | threads | case | who | clock | CTranslate2 ÷ attn-demo | processor | CTranslate2 ÷ attn-demo |\n|" + " --- |" * 8)
    with tempfile.TemporaryDirectory() as scratch:
        for shape in options.shape or SHAPES:
            folder = (options.models or Path(scratch)) / shape
            if not (folder / "ctranslate2").exists():
                make(shape, options.text, folder)
            report(shape, options.threads, compare(shape, folder, options, lines))


if __name__ == "__main__":
    main()
