#!/usr/bin/env python3
"""Makes system calls and allocations of every command fail, one per run, and checks what is left.

Each run ends by itself, in 0, 4 or 5 and never in a signal. After 0 everything is as without the
fault; else stderr has one line, every output is the old file or the whole new one, and nothing else
is there. A training run may have got some way: then --resume takes it to its end.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import scenes

# If one of these fails, the file that it should have removed remains.
REMOVING = {"unlink", "unlinkat", "rmdir", "getdents"}
# These return memory, threads, or the system's information on them.
MEMORY = {"mmap", "mremap", "brk", "mprotect", "munmap", "madvise", "malloc", "clone", "clone3"}


class Campaign:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.base = work / "base"
        scenes.make_base(options.program, self.base)
        self.base_before = scenes.base_state(self.base)

    def run(self, scene, folder, number, malloc=False, args=None):
        """Runs a command; returns its code, stderr, the number and name of the failed call, and
        whose code called it or crashed."""
        program = [self.options.program, *(args or scene.arguments(folder))]
        report = self.work / f"{folder.name}.report"
        more = {}
        if malloc:
            more = {"LD_PRELOAD": self.options.malloc, "ATTN_FAIL_MALLOC": str(number),
                    "ATTN_FAULT_REPORT": str(report)}
        else:
            program = [self.options.inject, str(number), "0", str(report), "--", *program]
        try:
            result = subprocess.run(program, stdin=subprocess.DEVNULL, capture_output=True,
                                    timeout=self.options.limit,
                                    env=scenes.environment(folder, **more))
            code, err = result.returncode, result.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            code, err = "no end", ""
        said = report.read_text().split() if report.exists() else []
        report.unlink(missing_ok=True)
        count, name, *place = said or ["0", "?"]
        return code, err, int(count), name, "".join(place)

    def reference(self, scene, malloc):
        folder = self.work / f"{scene.name}-reference"
        scene.make(folder, self.base)
        before = scenes.state_of(folder)
        code, err, count, *_ = self.run(scene, folder, 0, malloc)
        if code != 0:
            sys.exit(f"{scene.name}: exit code {code} without a fault: {err}")
        return before, folder, scenes.state_of(folder), count

    def check(self, scene, number, malloc, reference):
        """Returns what is wrong with a run whose `number`-th call fails; empty: nothing."""
        before, _, after, _ = reference
        folder = self.work / f"{scene.name}-{'m' if malloc else 's'}{number}"
        scene.make(folder, self.base)
        code, err, _, name, place = self.run(scene, folder, number, malloc)
        name = "malloc" if malloc else name
        wrong = []
        allowed = {0, 4, 5} if name in MEMORY else {0, 4}
        if code not in allowed:
            wrong.append(f"exit code {code}, expected one of {sorted(allowed)}")
        lines = [line for line in err.splitlines() if line.startswith("attn-demo: ")]
        if code != 0 and (len(lines) != 1 or not err.endswith("\n")) and name != "write":
            wrong.append("not one line of error")
        if "internal error" in err:
            wrong.append("internal error")
        state = scenes.state_of(folder)
        if code == 0:
            differs = {n for n in state.keys() | after.keys() if state.get(n) != after.get(n)}
            # Checkpoints contain the lengths of logs, and logs contain times.
            differs = {n for n in differs if n not in after or "/checkpoints/" not in n}
            if name in REMOVING:
                differs = {n for n in differs if n in after}
            if differs:
                wrong.append(f"code 0, and these differ: {sorted(differs)[:4]}")
        elif scene.resumes:
            wrong += self.check_run(scene, folder, state, name)
        else:
            for path, content in state.items():
                if content not in (before.get(path), after.get(path)) and name not in REMOVING:
                    wrong.append(f"{path} is neither as before nor whole")
            for path in before.keys() - state.keys():
                wrong.append(f"{path} is gone")
            made = {p for p in state.keys() - before.keys() if state[p] == "folder"}
            empty = {p for p in made if not any(q.startswith(p + "/") for q in state)}
            if empty and name not in REMOVING:
                wrong.append(f"new folders without a file: {sorted(empty)}")
        if wrong and err:
            wrong.append("stderr: " + err[-300:].strip())
        if not wrong:
            shutil.rmtree(folder)
        return code, f"{name} by {place or '?'}", wrong

    def check_run(self, scene, folder, state, name):
        wrong = [f"{p} was left" for p in state if "attn-demo-tmp" in p and name not in REMOVING]
        if "new/run" not in state:
            return wrong
        args = scene.arguments(folder)
        resumed = self.run(scene, folder, 0, args=[*args, "--resume"])
        if resumed[0] != 0:
            wrong.append(f"--resume ends in {resumed[0]}: {resumed[1][-300:].strip()}")
        left = [p for p in scenes.state_of(folder) if "attn-demo-tmp" in p]
        if left:
            wrong.append(f"still there after --resume: {left}")
        return wrong

    def try_scene(self, scene, malloc):
        reference = self.reference(scene, malloc)
        count = reference[3]
        most = self.options.mallocs if malloc else self.options.calls
        numbers = range(1, count + 1)
        if most and count > most:
            numbers = sorted(random.Random(self.options.seed).sample(numbers, most))
        codes, failures = Counter(), []
        with ThreadPoolExecutor(self.options.jobs) as pool:
            results = pool.map(lambda n: (n, self.check(scene, n, malloc, reference)), numbers)
            for number, (code, name, wrong) in results:
                codes[code] += 1
                if wrong:
                    failures.append((number, name, wrong))
        kind = "allocations" if malloc else "system calls"
        ends = ", ".join(f"{n} with {code}" for code, n in sorted(codes.items(), key=str))
        print(f"{scene.name}: {len(numbers)} of {count} {kind} failed: {ends}", flush=True)
        for number, name, wrong in failures[: self.options.show]:
            print(f"  {name}, number {number}: " + "; ".join(wrong), flush=True)
        if self.base_before != scenes.base_state(self.base):
            sys.exit(f"{scene.name}: an input was changed")
        return len(numbers), len(failures)


def main():
    parser = argparse.ArgumentParser()
    for name in ("program", "inject", "malloc"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--calls", type=int, default=0, help="system calls a command [all]")
    parser.add_argument("--mallocs", type=int, default=300, help="allocations a command")
    parser.add_argument("--seed", type=int, default=1, help="which ones, where not all are")
    parser.add_argument("--only", default="", help="a command")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=int, default=120, help="seconds for one run")
    parser.add_argument("--show", type=int, default=20, help="failures a command")
    options = parser.parse_args()
    options.program = str(Path(options.program).resolve())
    runs = failed = 0
    with tempfile.TemporaryDirectory(prefix="attn-faults-") as work:
        campaign = Campaign(options, Path(work))
        for scene in scenes.SCENES:
            if options.only and scene.name != options.only:
                continue
            for malloc in (False, True):
                if malloc and (not scene.mallocs or options.mallocs == 0):
                    continue
                counts = campaign.try_scene(scene, malloc)
                runs += counts[0]
                failed += counts[1]
    print(f"{runs} faults, {failed} that did not end well")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
