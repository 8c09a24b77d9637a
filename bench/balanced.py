#!/usr/bin/env python3
"""Measures servers behind HAProxy: requests per second of 1, 2 and 4 processes, and the cost of restarts.

    python3 bench/balanced.py --program build/release/app/attn-demo [--processes 1,2,4] [--seconds 20] [--rounds 3]
    python3 bench/balanced.py --program … --restarts 3 [--requests 10000]

Each server is a process of one thread behind one balancer (docs/scale.md's configuration), asked by --connections at once, a
sentence of recipes/en-de/typed/sentences.txt at a time. The numbers of processes take turns, round by round. With --restarts two servers are
each ended by SIGTERM and started again so many times, one after the other, while the requests go on; any answer but 200 and any
broken connection is told. Prints Markdown. Needs haproxy (apt install haproxy); Python's standard library otherwise.
"""

import argparse
import asyncio
import contextlib
import http.client
import json
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BALANCER, FIRST = 18440, 18441
CONFIGURATION = (ROOT / "docs/haproxy.cfg").read_text()


def server(program, port):
    return subprocess.Popen([program, "serve", "--port", str(port), "--threads", "1", "--name", "translate.example.org",
                             "--drain", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def is_ready(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/ready")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def wait_until_ready(port):
    end = time.monotonic() + 120
    while not is_ready(port):
        if time.monotonic() > end:
            raise SystemExit(f"port {port} does not become ready")
        time.sleep(0.05)


@contextlib.contextmanager
def balanced(program, count):
    """Starts this number of servers behind the balancer, and returns them by port."""
    servers = {FIRST + i: server(program, FIRST + i) for i in range(count)}
    text = "\n".join(line for line in CONFIGURATION.splitlines() if not line.lstrip().startswith(("server ", "bind ")))
    listed = "".join(f"    server s{port} 127.0.0.1:{port}\n" for port in servers)
    text = text.replace("frontend translate", f"frontend translate\n    bind 127.0.0.1:{BALANCER}") + "\n" + listed
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as file:
        file.write(text)
        file.flush()
        for port in servers:
            wait_until_ready(port)
        haproxy = subprocess.Popen(["haproxy", "-q", "-f", file.name], stdout=subprocess.DEVNULL)
        try:
            wait_until_ready(BALANCER)
            yield servers
        finally:
            haproxy.terminate()
            haproxy.wait()
            for one in servers.values():
                one.kill()
                one.wait()


async def ask_on(reader, writer, text):
    body = json.dumps({"text": text}).encode()
    writer.write(b"POST /api/translate HTTP/1.1\r\nHost: translate.example.org\r\nContent-Type: application/json\r\n"
                 b"Content-Length: %d\r\n\r\n" % len(body) + body)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
    return int(head.split()[1]), b"connection: close" in head


async def one_client(sentences, go_on, result):
    reader = writer = None
    while go_on():
        number = result["next"]
        result["next"] += 1
        try:
            if writer is None:
                reader, writer = await asyncio.open_connection("127.0.0.1", BALANCER)
            begun = time.monotonic()
            status, closes = await ask_on(reader, writer, sentences[number % len(sentences)])
            if status == 200:
                result["times"].append(time.monotonic() - begun)
            else:
                result["faults"].append(f"{status}")
        except (OSError, asyncio.IncompleteReadError) as error:
            result["faults"].append(f"{type(error).__name__}")
            closes = True
        if closes and writer is not None:
            writer.close()
            writer = None


async def load(connections, sentences, go_on, beside=None):
    result = {"times": [], "faults": [], "next": 0}
    others = [beside] if beside else []
    await asyncio.gather(*(one_client(sentences, lambda: go_on(result), result) for _ in range(connections)), *others)
    return result


def compare(options, sentences):
    counts = [int(one) for one in options.processes.split(",")]
    rates = {count: [] for count in counts}
    tails = {count: [] for count in counts}
    for _ in range(options.rounds):
        for count in counts:
            with balanced(options.program, count):
                end = time.monotonic() + options.seconds
                result = asyncio.run(load(options.connections, sentences, lambda _: time.monotonic() < end))
            if result["faults"]:
                raise SystemExit(f"{count} processes: {len(result['faults'])} faults, the first {result['faults'][0]}")
            rates[count].append(len(result["times"]) / options.seconds)
            tails[count].append(sorted(result["times"])[int(0.99 * len(result["times"]))] * 1000)
    print("| processes | requests a second | beside the first | p99, ms |\n| --- | --- | --- | --- |")
    for count in counts:
        ratio = statistics.median(mine / first for mine, first in zip(rates[count], rates[counts[0]]))
        print(f"| {count} | {statistics.median(rates[count]):.0f} | {ratio:.2f} | {statistics.median(tails[count]):.0f} |")


async def restart_all(program, servers, times, state):
    for _ in range(times):
        for port in list(servers):
            servers[port].send_signal(signal.SIGTERM)
            while servers[port].poll() is None:
                await asyncio.sleep(0.05)
            servers[port] = server(program, port)
            while not await asyncio.to_thread(is_ready, port):
                await asyncio.sleep(0.05)
            state["restarts"] += 1
            await asyncio.sleep(1.5)  # gives the balancer time to notice
    state["done"] = True


def restarts(options, sentences):
    state = {"restarts": 0, "done": False}
    with balanced(options.program, 2) as servers:
        begun = time.monotonic()
        result = asyncio.run(load(options.connections, sentences,
            lambda found: not state["done"] or found["next"] < options.requests,
            restart_all(options.program, servers, options.restarts, state)))
    print(f"{result['next']} requests in {time.monotonic() - begun:.0f} s, {state['restarts']} restarts: "
          f"{len(result['times'])} answered, {len(result['faults'])} lost {sorted(set(result['faults'])) or ''}")
    return 1 if result["faults"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--processes", default="1,2,4")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--restarts", type=int, default=0)
    parser.add_argument("--requests", type=int, default=10_000)
    options = parser.parse_args()
    sentences = (ROOT / "recipes/en-de/typed/sentences.txt").read_text().splitlines()
    if options.restarts:
        raise SystemExit(restarts(options, sentences))
    compare(options, sentences)


if __name__ == "__main__":
    main()
