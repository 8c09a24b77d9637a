#!/usr/bin/env python3
"""Times attn-demo, transformers and CTranslate2 on the same checkpoint, in one run.

    python bench/compare_speed.py --corpus EN DE [--sentences FILE] [--model DIR] [--rounds 9]

EN and DE train the vocabulary of a random checkpoint (scripts/checks/random_checkpoint.py: d_model 256, 3+3
layers, 4 heads, ffn 1,024, vocabulary 8,000, </s> forbidden, so that everybody produces exactly 20
tokens a sentence). --model keeps and reuses it. Prints Markdown tables: medians over rounds, and
ratios; a ratio is the median of the rounds' own ratios, to attn-demo's time in float32, int8 and bfloat16. The share is that of
the multiply-adds of a call (the source once, each step of each beam) in what the cores' multipliers do at most in the same
time and precision, measured beside each call (bench/peak.h). --precisions int8 leaves the others out. Each contender is a process of its own, called in turn (A B C A B C …) with a
pause between, so that no idle pool of threads spins into another's time.

    transformers   generate, float32, sdpa attention, batches padded
    CTranslate2    compute_type float32 and int8, tokens as input, one translator of all threads;
                   with several threads int8 also as so many translators of one
    attn-demo      build/bench/bench/bench_decode, float32, int8 and, on CPUs that multiply it,
                   bfloat16; the tokenizer runs outside the time, as for the others

Needs: pip install torch transformers sentencepiece safetensors sacremoses ctranslate2
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

ROOT = Path(__file__).resolve().parent.parent
LENGTH = 20  # tokens produced per sentence
# name: (sentences, batch, beam, calls per round)
CASES = {"one sentence, greedy": (1, 1, 1, 15), "batches of 32, greedy": (96, 32, 1, 1),
         "one sentence, beam 4": (1, 1, 4, 15), "batches of 32, beam 4": (96, 32, 4, 1)}
OURS = {"attn-demo": "float32", "attn-demo int8": "int8", "attn-demo bfloat16": "bfloat16"}
PAUSE = 0.3  # seconds; Intel's OpenMP spins for 0.2 after its work


# --- Workers: one process for each contender, a JSON command per line, times in milliseconds back ---


def chunks(rows, size):
    return [rows[i : i + size] for i in range(0, len(rows), size)]


def transformers_call(model_directory, threads):
    import torch
    from transformers import MarianMTModel, MarianTokenizer

    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    model = MarianMTModel.from_pretrained(model_directory).eval()
    tokenizer = MarianTokenizer.from_pretrained(model_directory)

    def prepare(lines, batch):
        return [tokenizer(part, return_tensors="pt", padding=True) for part in chunks(lines, batch)]

    def call(batches, beam):
        return sum(model.generate(**b, num_beams=beam, max_length=LENGTH + 1)[:, 1:].numel()
                   for b in batches)

    return prepare, call


def ctranslate2_call(model_directory, threads, compute_type="float32", workers=1):
    import ctranslate2
    from transformers import MarianTokenizer

    tokenizer = MarianTokenizer.from_pretrained(model_directory)
    translator = ctranslate2.Translator(
        str(Path(model_directory) / "ctranslate2"), device="cpu", compute_type=compute_type,
        inter_threads=workers, intra_threads=threads // workers)

    def prepare(lines, batch):
        rows = [tokenizer.convert_ids_to_tokens(tokenizer(line).input_ids) for line in lines]
        return chunks(rows, batch)

    def call(batches, beam):
        options = dict(beam_size=beam, max_decoding_length=LENGTH, min_decoding_length=LENGTH)
        if workers == 1:
            results = [translator.translate_batch(batch, max_batch_size=0, **options)
                       for batch in batches]
        else:  # CTranslate2's own queue hands the batches to the workers
            rows = [row for batch in batches for row in batch]
            results = [translator.translate_batch(rows, max_batch_size=len(batches[0]), **options)]
        return sum(len(result.hypotheses[0]) for part in results for result in part)

    return prepare, call


def worker(kind, model, threads, sentences):
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    answers = os.fdopen(os.dup(1), "w")  # because libraries print to stdout, too
    os.dup2(2, 1)
    if kind == "transformers":
        prepare, call = transformers_call(model, threads)
    else:
        prepare, call = ctranslate2_call(model, threads, "int8" if "int8" in kind else "float32",
                                         threads if "workers" in kind else 1)
    lines = Path(sentences).read_text(encoding="utf-8").splitlines()
    ready = {}
    for name, (count, batch, beam, _) in CASES.items():
        ready[name] = prepare(lines[:count], batch)
        call(ready[name], beam)  # warm-up
    for command in sys.stdin:
        name = json.loads(command)
        _, _, beam, repeat = CASES[name]
        runs = []
        for _ in range(repeat):
            start = time.perf_counter()
            tokens = call(ready[name], beam)
            runs.append(1000 * (time.perf_counter() - start))
        print(json.dumps({"runs_ms": runs, "tokens": tokens}), file=answers, flush=True)


class Worker:
    def __init__(self, kind, model, threads, sentences):
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--worker", kind, "--model", str(model), "--sentences",
             str(sentences), "--threads", str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def __call__(self, name):
        self.process.stdin.write(json.dumps(name) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit("a worker ended early; its message is above")
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class BenchDecode:
    """Times one case with attn-demo's own program, which does one case per call, with a warm-up inside."""

    def __init__(self, options, threads, files, precision):
        self.program, self.model = options.bench_decode, options.model
        self.threads, self.files, self.precision = threads, files, precision

    def __call__(self, name):
        _, batch, beam, repeat = CASES[name]
        out = subprocess.run(
            [self.program, "--model", self.model, "--sentences", self.files[name], "--threads",
             str(self.threads), "--batch", str(batch), "--beam", str(beam), "--max-length",
             str(LENGTH), "--repeat", str(repeat), "--precision", self.precision],
            check=True, capture_output=True, text=True).stdout
        return json.loads(out)

    def close(self):
        pass


# --- The comparison --------------------------------------------------------------------------------


def precision_of(kind):
    return next((p for p in ("int8", "bfloat16") if p in kind), "float32")


def compare(options, threads, files):
    """Returns case -> contender -> median milliseconds of each round, and case -> precision -> milliseconds
    at its peak."""
    kinds = [] if options.without_transformers else ["transformers"]
    kinds += ["CTranslate2", "CTranslate2 int8"] + ["CTranslate2 int8, workers"] * (threads > 1)
    kinds = [kind for kind in kinds if precision_of(kind) in options.precisions]
    contenders = {kind: Worker(kind, options.model, threads, files["all"]) for kind in kinds}
    if options.bench_decode.exists():
        for name, precision in OURS.items():
            if precision not in options.precisions:
                continue
            contenders[name] = BenchDecode(options, threads, files, precision)
    times = {name: {kind: [] for kind in contenders} for name in CASES}
    at_peak = {name: {precision: [] for precision in OURS.values()} for name in CASES}
    for _ in range(options.rounds):
        for name, (count, *_) in CASES.items():
            for kind, call in contenders.items():
                time.sleep(PAUSE)
                answer = call(name)
                if answer["tokens"] != count * LENGTH:
                    sys.exit(f"{kind}, {name}: {answer['tokens']} tokens, not {count * LENGTH}")
                times[name][kind].append(statistics.median(answer["runs_ms"]))
                if answer.get("share"):
                    at_peak[name][precision_of(kind)].append(answer["share"] * answer["median_ms"])
    for call in contenders.values():
        call.close()
    return times, at_peak


def report(times, at_peak, threads):
    for name, (count, batch, _, _) in CASES.items():
        for kind, rounds in times[name].items():
            median = statistics.median(rounds)
            speed = (f"{median:.2f} ms" if batch == 1
                     else f"{count * LENGTH / median * 1000:,.0f} tokens/s")
            ratios = []
            for ours in OURS:
                pairs = zip(rounds, times[name].get(ours, []))
                found = [theirs / own for theirs, own in pairs]
                ratios.append(f"{statistics.median(found):.2f}" if found and kind != ours else "—")
            at_most = at_peak[name][precision_of(kind)]
            ratios.append(f"{statistics.median(at_most) / median:.0%}" if at_most else "—")
            print(f"| {threads} | {name} | {kind} | {speed} | "
                  f"{min(rounds):.2f}–{max(rounds):.2f} ms | {' | '.join(ratios)} |")


def whole_process(options, sentence):
    """Times the program from its start to a printed translation, with the file in the page cache."""
    calls = {
        "model of 31 MB": ["--model", str(options.model), "--max-length", str(LENGTH),
                           "--beam", "1", "--show", "none", sentence],
        "model of 31 MB, with the last layer's maps": [
            "--model", str(options.model), "--max-length", str(LENGTH), "--beam", "1", sentence],
        "toy (configs/demo.json)": ["--config", str(ROOT / "configs/demo.json"), "--seed", "7",
                                    "--show", "none", "The group went home"],
        "toy, with the last layer's maps": ["--config", str(ROOT / "configs/demo.json"),
                                            "--seed", "7", "The group went home"],
    }
    print("\n| whole process | threads | median | range |\n| --- | --- | --- | --- |")
    for threads in options.threads:
        runs = {name: [] for name in calls}
        for number in range(3 * options.rounds + 1):
            for name, arguments in calls.items():
                command = [str(options.attn_demo), "translate", "--threads", str(threads), *arguments]
                start = time.perf_counter()
                subprocess.run(command, check=True, capture_output=True)
                if number:  # the first fills the page cache
                    runs[name].append(1000 * (time.perf_counter() - start))
        for name, values in runs.items():
            print(f"| {name} | {threads} | {statistics.median(values):.1f} ms | "
                  f"{min(values):.1f}–{max(values):.1f} ms |")


def prepare(options, scratch):
    """Makes the checkpoint, its CTranslate2 form, and a sentence file for each case."""
    sys.path.insert(0, str(ROOT / "scripts/checks"))
    sys.dont_write_bytecode = True
    if not (options.model / "model.safetensors").exists():
        from random_checkpoint import make_checkpoint

        make_checkpoint(options.model, options.corpus, seed=1, fixed_length=True)
    if not (options.model / "ctranslate2").exists():
        from ctranslate2.converters import TransformersConverter

        TransformersConverter(str(options.model)).convert(str(options.model / "ctranslate2"))
    source = options.sentences or options.corpus[0]
    lines = [l.strip() for l in source.read_text(encoding="utf-8").splitlines()]
    lines = [l for l in dict.fromkeys(lines) if 6 <= len(l.split()) <= 14]
    needed = max(count for count, *_ in CASES.values())
    if len(lines) < needed:
        sys.exit(f"{source}: {len(lines)} sentences of 6 to 14 words; {needed} are needed")
    lines = lines[:: len(lines) // needed][:needed]
    lines.sort(key=lambda l: (abs(len(l.split()) - 9), l))  # the first sentence has a medium length
    files = {"all": scratch / "all.txt"}
    files["all"].write_text("".join(l + "\n" for l in lines), encoding="utf-8")
    for name, (count, *_) in CASES.items():
        files[name] = scratch / f"{len(files)}.txt"
        files[name].write_text("".join(l + "\n" for l in lines[:count]), encoding="utf-8")
    return lines, files


def precisions_here():
    flags = Path("/proc/cpuinfo").read_text().split()
    return [p for p in OURS.values() if p != "bfloat16" or {"avx512_bf16", "amx_bf16"} & set(flags)]


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, nargs=2, metavar=("EN", "DE"))
    parser.add_argument("--sentences", type=Path, help="sentences to translate (default: from EN)")
    parser.add_argument("--model", type=Path, help="made there if it is missing")
    parser.add_argument("--attn-demo", type=Path, default=ROOT / "build/release/app/attn-demo")
    parser.add_argument("--bench-decode", type=Path,
                        default=ROOT / "build/bench/bench/bench_decode")
    parser.add_argument("--threads", type=lambda s: [int(t) for t in s.split(",")], default=[1, 2])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--without-transformers", action="store_true")
    parser.add_argument("--precisions", type=lambda s: s.split(","), default=precisions_here())
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser, parser.parse_args()


def main():
    parser, options = parse()
    if options.worker:
        worker(options.worker, options.model, options.threads[0], options.sentences)
        return
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        options.model = options.model or scratch / "model"
        made = (options.model / "model.safetensors").exists()
        if not options.corpus and not (made and options.sentences):
            parser.error("give --corpus EN DE, or --model of an earlier run and --sentences")
        lines, files = prepare(options, scratch)
        for program in (options.bench_decode, options.attn_demo):
            if not program.exists():
                print(f"{program} is missing: attn-demo left out there", file=sys.stderr)
        if os.getloadavg()[0] > 1:
            print(f"the machine is busy (load {os.getloadavg()[0]:.1f}): trust ratios, not times",
                  file=sys.stderr)
        print("| threads | case | who | median | range of rounds | × attn-demo's time | "
              "× int8's | × bfloat16's | share of the peak |\n|" + " --- |" * 9)
        for threads in options.threads:
            report(*compare(options, threads, files), threads)
        if options.attn_demo.exists():
            whole_process(options, lines[0])


if __name__ == "__main__":
    main()
