#!/usr/bin/env python3
"""Kills every command with SIGKILL at random moments, and explains what is left.

No file is half-written: each is as before, or as a run that ends by itself leaves it. What has a
name ending in .attn-demo-tmp-N was being written, and goes when the same command runs again; a
training run is taken to its end by --resume, where it had begun, and makes the same model.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import scenes

KILLED = ("init", "convert", "translate", "train")


class Kills:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.base = work / "base"
        scenes.make_base(options.program, self.base)
        self.references = {}
        for scene in scenes.SCENES:
            if scene.name in KILLED:
                self.references[scene.name] = self.reference(scene)

    def run(self, scene, folder, more=()):
        return subprocess.run([self.options.program, *scene.arguments(folder), *more],
                              stdin=subprocess.DEVNULL, capture_output=True,
                              env=scenes.environment(folder))

    def reference(self, scene):
        """Returns the state before and after an undisturbed run, and its duration."""
        folder = self.work / f"{scene.name}-reference"
        scene.make(folder, self.base)
        before = scenes.state_of(folder)
        start = time.monotonic()
        result = self.run(scene, folder)
        seconds = time.monotonic() - start
        if result.returncode != 0:
            sys.exit(f"{scene.name}: exit code {result.returncode}: {result.stderr}")
        return before, scenes.state_of(folder), seconds

    def kill(self, number):
        """Makes one kill; returns the kind of everything that was left, and what is wrong."""
        chance = random.Random(number)
        scene = next(s for s in scenes.SCENES if s.name == KILLED[number % len(KILLED)])
        before, after, seconds = self.references[scene.name]
        folder = self.work / f"{scene.name}-{number}"
        scene.make(folder, self.base)
        program = subprocess.Popen([self.options.program, *scene.arguments(folder)],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=scenes.environment(folder))
        time.sleep(chance.uniform(0, 1.1 * seconds))
        program.send_signal(signal.SIGKILL)
        ended = program.wait() != -signal.SIGKILL
        left, wrong = Counter({"ended before": int(ended)}), []
        for path, content in scenes.state_of(folder).items():
            kind = self.kind_of(scene, path, content, before, after)
            left[kind] += 1
            if kind == "unexplained":
                wrong.append(path)
        wrong += self.go_on(scene, folder, before, after)
        if not wrong:
            shutil.rmtree(folder)
        return scene.name, left, wrong

    @staticmethod
    def kind_of(scene, path, content, before, after):
        if ".attn-demo-tmp-" in path:
            return "being written"
        if content == before.get(path):
            return "as before"
        if content == after.get(path):
            return "whole"
        if scene.resumes and path.startswith("new/run/"):
            # Logs, the best model so far, an older checkpoint: --resume reads and repairs them.
            return "of a run that can go on"
        return "unexplained"

    def go_on(self, scene, folder, before, after):
        """Runs the command again: it must succeed, and nothing of the killed one may be left."""
        again = ["--resume"] if scene.resumes and (folder / "new/run").exists() else []
        if scene.name in ("init", "convert") and any(
                (folder / part / "config.json").exists() for part in ("made", "new/made")):
            result = None  # it had already ended, so a second run would rightly be refused
        else:
            result = self.run(scene, folder, again)
        wrong = []
        if result is not None and result.returncode != 0:
            wrong.append(f"again: exit code {result.returncode}: {result.stderr[-300:]}")
        state = scenes.state_of(folder)
        wrong += [f"still there: {p}" for p in state if ".attn-demo-tmp-" in p]
        # Checkpoints contain the lengths of logs, and logs contain times.
        return wrong + [f"{p} differs" for p in after
                        if state.get(p) != after[p] and "/checkpoints/" not in p]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    options.program = str(Path(options.program).resolve())
    left, kills, failed = {}, Counter(), 0
    with tempfile.TemporaryDirectory(prefix="attn-kills-") as work:
        campaign = Kills(options, Path(work))
        with ThreadPoolExecutor(options.jobs) as pool:
            for name, counts, wrong in pool.map(campaign.kill, range(options.kills)):
                kills[name] += 1
                left.setdefault(name, Counter()).update(counts)
                if wrong:
                    failed += 1
                    print(f"{name}: " + "; ".join(wrong), flush=True)
    for name, counts in left.items():
        text = ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items()))
        print(f"{name}: {kills[name]} kills: {text}")
    print(f"{options.kills} kills, {failed} that left something unexplained")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
