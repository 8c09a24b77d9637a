#!/usr/bin/env python3
"""Measures the live server under many connections, compared with transformers behind FastAPI, and the time of
a keystroke.

    python3 bench/serve.py --program build/release/app/attn-demo [--connections 200] [--seconds 60]
        [--beside PYTHON] [--before PROGRAM] [--hostile N] [--rounds 1] [--beams N] [--precision float32]
    python3 bench/serve.py --program … --keys           types a sentence in Chromium

Each connection asks POST /api/translate again and again, a sentence of recipes/en-de/typed/sentences.txt at a time, with the model's
own search (or --beams). Told are requests a second, p50 and p99 of those answered, the time of a processor a request, what else came than 200, and the server's
memory at the beginning and at the end. --beside: the same for the same model in transformers (float32, eager, as many calls at once
as there are cores, a thread each) behind FastAPI and uvicorn, in turn, so that both meet the same machine; PYTHON has
torch, transformers, sentencepiece, fastapi and uvicorn. --before: another attn-demo, in turn with this one. --hostile: each
server is also asked by N more connections that ask for the longest text that is taken, with 64 beams, one after the other; told
are the others' times. Prints Markdown.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODEL = ROOT / "data/models/en-de"
TYPED = "The old dog sleeps in the warm kitchen every single day"


def serve_transformers(port):
    """The server to compare with: what you would write in ten minutes."""
    import torch
    import uvicorn
    from fastapi import FastAPI
    from pydantic import BaseModel
    from transformers import MarianMTModel, MarianTokenizer

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    model = MarianMTModel.from_pretrained(MODEL).float().eval()
    tokenizer = MarianTokenizer.from_pretrained(MODEL)
    turns = threading.Semaphore(os.cpu_count())
    app = FastAPI()

    class Body(BaseModel):
        text: str

    @app.post("/api/translate")
    def translate(body: Body):
        with turns:
            ids = model.generate(**tokenizer([body.text], return_tensors="pt"))
        return {"translations": [{"text": tokenizer.decode(ids[0], skip_special_tokens=True)}]}

    uvicorn.run(app, port=port, log_level="warning")


def start(command, port):
    program = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        try:
            ask(port, "warm")
            return program
        except OSError:
            time.sleep(0.2)
    raise SystemExit(f"{command[0]} does not answer")


def ask(port, text):
    import http.client
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/api/translate", json.dumps({"text": text}), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    return answer.read()


def memory(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1]) / 1024


def processor(pid):
    """Returns the CPU seconds of a process. On a busy machine, the rate depends on other programs, and this
    does not."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def one_connection(port, sentences, end, result, more):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        while time.monotonic() < end:
            body = json.dumps({"text": sentences[result["next"] % len(sentences)]} | more).encode()
            result["next"] += 1
            begun = time.monotonic()
            writer.write(b"POST /api/translate HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n"
                         b"Content-Length: %d\r\n\r\n" % (port, len(body)) + body)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
            status = int(head.split()[1])
            if status == 200:
                result["times"].append(time.monotonic() - begun)
            else:
                result["others"][status] = result["others"].get(status, 0) + 1
                await asyncio.sleep(1 if status == 429 else 0)
    finally:
        writer.close()


async def hostile_connection(port, end):
    """Asks for what takes longest."""
    body = json.dumps({"text": ("wherever nobody " * 500)[:7990], "beams": 64, "n_best": 64}).encode()
    while time.monotonic() < end:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST /api/translate HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n"
                     b"Content-Length: %d\r\n\r\n" % (port, len(body)) + body)
        try:
            await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), max(0.1, end - time.monotonic()))
        except (asyncio.TimeoutError, asyncio.IncompleteReadError):
            pass
        writer.close()


async def load(port, connections, seconds, sentences, hostile=0, more=None):
    result = {"times": [], "others": {}, "next": 0}
    end = time.monotonic() + seconds
    found = await asyncio.gather(*(one_connection(port, sentences, end, result, more or {}) for _ in range(connections)),
        *(hostile_connection(port, end) for _ in range(hostile)), return_exceptions=True)
    result["broken"] = [one for one in found if one is not None]
    return result


def run_load(options):
    sys.path.insert(0, str(ROOT / "recipes/en-de"))
    from score_typed import plain, read_marked
    sentences = [plain(line) for _, line in read_marked(ROOT / "recipes/en-de/typed/sentences.txt")]
    serve = ["serve", "--model", str(MODEL), "--precision", options.precision]
    more = {"beams": options.beams} if options.beams else {}
    contenders = {"attn-demo serve": ([options.program, *serve, "--port", "18431"], 18431)}
    if options.before:
        contenders["before"] = ([options.before, *serve, "--port", "18433"], 18433)
    if options.beside:
        contenders["transformers, FastAPI"] = ([options.beside, __file__, "--worker", "18432"], 18432)
    print("| server | requests a second | p50, ms | p99, ms | ms of a processor a request | other answers | broken | memory, MB |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    turns = [(name, hostile) for name in contenders for hostile in sorted({0, options.hostile})]
    for _ in range(options.rounds):
        for name, hostile in turns:
            command, port = contenders[name]
            program = start(command, port)
            try:
                asyncio.run(load(port, options.connections, 3, sentences, more=more))
                before, spent = memory(program.pid), processor(program.pid)
                found = asyncio.run(load(port, options.connections, options.seconds, sentences, hostile, more))
                after, spent = memory(program.pid), processor(program.pid) - spent
            finally:
                program.terminate()
                program.wait()
            times = sorted(found["times"]) or [0]
            name += f", {hostile} hostile" if hostile else ""
            print(f"| {name} | {len(found['times']) / options.seconds:.1f} | {1000 * statistics.median(times):.0f} | "
                  f"{1000 * times[int(len(times) * 0.99)]:.0f} | {1000 * spent / len(times):.2f} | {found['others'] or 'none'} | {len(found['broken'])} | "
                  f"{before:.0f}, then {after:.0f} |", flush=True)


# Records when a key is pressed, and when the browser has shown the frame with its answer: a small text is added to the
# page in the same task as the new picture, and Chromium reports its presentation (Element Timing).
WATCH = """
window.keys = {down: 0, shown: 0};
addEventListener("keydown", (event) => { keys.down = event.timeStamp; }, true);
new PerformanceObserver((list) => {
  for (const e of list.getEntries()) if (keys.shown === 0 && e.renderTime > keys.down) keys.shown = e.renderTime;
}).observe({type: "element", buffered: false});
new MutationObserver(() => {
  const speck = document.createElement("span");
  speck.setAttribute("elementtiming", "picture");
  speck.style.cssText = "position: fixed; left: 0; top: 0; font-size: 9px; contain: strict; width: 9px; height: 9px";
  speck.textContent = "·";
  document.body.append(speck);
  setTimeout(() => speck.remove(), 200);
}).observe(document.getElementById("source-text"), {childList: true});
"""


def key_row(browser, key):
    """Returns the parts of a keystroke's time; None if the next keystroke replaced it."""
    browser.run("performance.clearResourceTimings(); keys.shown = 0")
    browser.press("Space" if key == " " else key)
    time.sleep(0.25)  # polling the page meanwhile would disturb the measurement
    found = browser.run("const e = performance.getEntriesByType('resource').find(x => x.name.endsWith('/api/page') && "
        "x.serverTiming.length > 0); return e && {begun: e.startTime, end: e.responseEnd, shown: keys.shown, down: keys.down, "
        "parts: e.serverTiming.map(t => [t.name, t.duration])}")
    if not found or not found["shown"]:
        return None
    parts = dict(found["parts"])
    return {"asking": found["begun"] - found["down"], **parts,
        "transfer": found["end"] - found["begun"] - sum(parts.values()), "drawing": found["shown"] - found["end"],
        "all": found["shown"] - found["down"]}


def run_keys(options):
    """Types one key after the other, and asks the browser how long each took."""
    sys.path[:0] = [str(ROOT / "tests/page")]
    from webdriver import Browser, until
    program = start([options.program, *serve, "--port", "18431"], 18431)
    browser = Browser(1400, 1000)
    rows = []
    try:
        browser._ask("POST", "/url", {"url": "http://127.0.0.1:18431/"})
        until("the page", lambda: browser.run("return !document.getElementById('page').hidden"))
        browser.run(WATCH)
        for _ in range(options.rounds):
            browser.click("#live-text")
            browser.run("document.getElementById('live-text').select()")
            for i, key in enumerate(TYPED):
                row = key_row(browser, key)
                if row:
                    rows.append((len(TYPED[:i + 1].split()), row))
                time.sleep(options.pause)
    finally:
        browser.close()
        program.terminate()
        program.wait()
    print(f"{len(rows)} keys of “{TYPED}”\n")
    print("| part | 5 to 10 words, median, ms | slowest, ms | 10 words, median, ms | slowest, ms |")
    print("| --- | --- | --- | --- | --- |")
    for name in rows[0][1]:
        some = [row[name] for words, row in rows if 5 <= words <= 10]
        ten = [row[name] for words, row in rows if words == 10]
        print(f"| {name} | {statistics.median(some):.1f} | {max(some):.1f} | {statistics.median(ten):.1f} | {max(ten):.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/app/attn-demo"))
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--beside")
    parser.add_argument("--before")
    parser.add_argument("--beams", type=int)
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--hostile", type=int, default=0)
    parser.add_argument("--keys", action="store_true")
    parser.add_argument("--pause", type=float, default=0, help="seconds more between two keys")
    parser.add_argument("--worker", type=int)
    options = parser.parse_args()
    if options.worker:
        serve_transformers(options.worker)
    elif options.keys:
        run_keys(options)
    else:
        run_load(options)


if __name__ == "__main__":
    main()
