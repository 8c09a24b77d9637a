"""Tests the requests of administrators: its state, its statistics, and ending without losing a request."""

import http.client
import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time

import server_case
from server_case import PATIENCE, SENTENCE, Server, ServerCase

BODY = json.dumps({"text": SENTENCE})


def values(text):
    """Returns {name with labels: value} of Prometheus' text format, read strictly."""
    found, types, helped = {}, {}, set()
    for line in text.splitlines():
        if line.startswith("# HELP "):
            helped.add(line.split(" ", 3)[2])
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            types[name] = kind
        else:
            name, labels, value = re.fullmatch(r'([a-z_]+)(\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})? ([0-9.e+-]+)', line).groups()
            family = name if name in types else re.sub("_(bucket|sum|count)$", "", name)
            assert family in types and family in helped, line
            assert name + (labels or "") not in found, line
            found[name + (labels or "")] = float(value)
    return found


class Operations(ServerCase):
    def metrics(self, server=None):
        status, headers, text = (server or self.server).ask("GET", "/metrics")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/plain; version=0.0.4; charset=utf-8"))
        return values(text)

    def test_probes_ask_for_neither_name_nor_token(self):
        for path in ("/health", "/ready"):
            for headers in ({}, {"Host": "balancer.example"}):
                status, _, text = self.server.ask("GET", path, headers=headers)
                self.assertEqual((status, json.loads(text)), (200, {"status": "ok"}))
            self.assertEqual(self.server.ask("POST", path, "{}")[0], 405)
        self.assertEqual(self.server.ask("GET", "/metrics", headers={"Host": "balancer.example"})[0], 421)

    def test_metrics_count_what_was_done(self):
        before = self.metrics()
        for _ in range(3):
            self.assertEqual(self.server.post("/api/translate", {"text": SENTENCE})[0], 200)
        self.assertEqual(self.server.post("/api/translate", {"text": 3})[0], 422)
        self.assertEqual(self.server.ask("GET", "/no/such/path")[0], 404)
        after = self.metrics()
        grown = {name: after[name] - before.get(name, 0) for name in after}
        self.assertEqual(grown['attn_demo_requests_total{path="/api/translate",status="200"}'], 3)
        self.assertEqual(grown['attn_demo_requests_total{path="/api/translate",status="422"}'], 1)
        self.assertEqual(grown['attn_demo_requests_total{path="other",status="404"}'], 1)
        self.assertEqual(grown['attn_demo_request_seconds_count{path="/api/translate"}'], 4)
        self.assertEqual(grown['attn_demo_request_seconds_bucket{path="/api/translate",le="+Inf"}'], 4)
        self.assertGreater(grown['attn_demo_request_seconds_sum{path="/api/translate"}'], 0)
        self.assertEqual(grown['attn_demo_tokens_total{side="source"}'] % 3, 0)
        self.assertGreater(grown['attn_demo_tokens_total{side="source"}'], 0)
        self.assertGreater(grown['attn_demo_tokens_total{side="target"}'], 0)
        buckets = [value for name, value in after.items() if name.startswith('attn_demo_request_seconds_bucket{path="/api/translate"')]
        self.assertEqual(buckets, sorted(buckets))
        steps = [value for name, value in grown.items() if name.startswith("attn_demo_step_rows_bucket")]
        self.assertEqual(steps, sorted(steps))
        self.assertEqual(steps[-1], grown["attn_demo_step_rows_count"])
        self.assertGreater(steps[-1], 0)
        self.assertGreaterEqual(grown["attn_demo_step_rows_sum"], steps[-1])
        self.assertEqual(after["attn_demo_draining"], 0)
        self.assertGreater(after["attn_demo_resident_memory_bytes"], 1e6)

    def test_the_log_has_a_line_for_each_request_and_no_text(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "requests.jsonl")
            with open(path, "w") as file:
                file.write("kept\n")
            server = Server("--log", path)
            server.post("/api/translate", {"text": "The secret word is Rumpelstilzchen"})
            server.ask("GET", "/nothing?token=secret")
            server.stop()
            with open(path) as file:
                first, *lines = file.read().splitlines()
        self.assertEqual(first, "kept")
        told = [json.loads(line) for line in lines]
        self.assertEqual([(one["method"], one["path"], one["status"]) for one in told],
            [("POST", "/api/translate", 200), ("GET", "/nothing", 404)])
        for one in told:
            self.assertEqual(list(one), ["time", "client", "method", "path", "status", "milliseconds", "bytes"])
            self.assertRegex(one["time"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertGreater(one["milliseconds"], 0)
        self.assertNotIn("Rumpel", "".join(lines))
        self.assertNotIn("secret", "".join(lines))

    def test_a_log_that_cannot_be_opened(self):
        done = subprocess.run([server_case.PROGRAM, "serve", "--port", "0", "--log", "/nowhere/requests.jsonl"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 4)
        self.assertIn("/nowhere/requests.jsonl", done.stderr)
        for wrong in ("-1", "3601", "soon"):
            done = subprocess.run([server_case.PROGRAM, "serve", "--drain", wrong], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--drain", done.stderr)

    def test_a_log_on_a_full_disk_stops_nobody(self):
        server = Server("--log", "/dev/full")
        for _ in range(3):
            self.assertEqual(server.post("/api/translate", {"text": SENTENCE})[0], 200)
        _, _, errors = server.stop()
        self.assertEqual(errors.count("/dev/full"), 1)

    def test_a_name_in_front(self):
        server = Server("--name", "translate.example.org")
        headers = {"Host": "translate.example.org", "Origin": "https://translate.example.org"}
        self.assertEqual(server.post("/api/translate", {"text": SENTENCE}, **headers)[0], 200)
        self.assertEqual(server.post("/api/translate", {"text": SENTENCE}, **{**headers, "Origin": "https://evil.example"})[0], 403)
        server.stop()

    def test_a_name_that_no_browser_could_say(self):
        for name in ("http://x.org", "a b", "x.org/y", "bad!"):
            done = subprocess.run([server_case.PROGRAM, "serve", "--name", name], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"--name {name}: expected a host", done.stderr.replace('"', ""))

    def test_draining_loses_no_request(self):
        """Clients that stop sending when /ready says no get an answer to every request."""
        server = Server("--drain", "3")
        lost, answered, turned_away = [], [], threading.Event()

        def client():
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
            while not turned_away.is_set():
                try:
                    connection.request("POST", "/api/translate", BODY, {"Content-Type": "application/json"})
                    answer = connection.getresponse()
                    answer.read()
                    answered.append(answer.status)
                except (OSError, http.client.HTTPException) as error:
                    lost.append(error)

        clients = [threading.Thread(target=client) for _ in range(4)]
        for one in clients:
            one.start()
        time.sleep(0.5)
        server.program.send_signal(signal.SIGTERM)
        while server.ask("GET", "/ready")[0] == 200:
            time.sleep(0.02)
        status, headers, _ = server.post("/api/translate", {"text": SENTENCE})
        self.assertEqual((status, headers["Connection"]), (200, "close"))
        self.assertEqual(server.ask("GET", "/health")[0], 200)
        self.assertEqual(self.metrics(server)["attn_demo_draining"], 1)
        turned_away.set()
        for one in clients:
            one.join()
        begun = time.monotonic()
        self.assertEqual(server.program.wait(timeout=PATIENCE), 143)
        self.assertLess(time.monotonic() - begun, PATIENCE)
        server.stop()
        self.assertEqual(lost, [])
        self.assertEqual(set(answered), {200})
