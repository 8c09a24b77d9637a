"""One attn-demo serve for all tests, and functions that send it proper and hostile requests."""

import http.client
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
import unittest

PROGRAM = None  # attn-demo, as CMake built it; set by run_tests.py
PATIENCE = float(os.environ.get("ATTN_SERVE_PATIENCE", 120))  # maximum seconds for any action on a slow machine
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SENTENCE = "The group went home"
PARTS = ["Hello!", "My name is Elena.", "I come from Greece and I have lived in Bremen for six years."]  # longer than the sources that the model has learned
SHIPPED = os.path.join(ROOT, "data", "models", "en-de")


def slow_model():
    """A folder with a model `slow`, whose searches take many seconds on any machine: random weights, which
    never choose to end, and many decoder layers. To be cleaned up by the caller."""
    folder = tempfile.TemporaryDirectory(prefix="attn-slow-")
    config = {"tokenizer": {"type": "word"},
              "data": {"train": {"source": f"{ROOT}/data/toy/train.en", "target": f"{ROOT}/data/toy/train.de"}},
              "model": {"d_model": 128, "encoder_layers": 1, "decoder_layers": 32, "encoder_attention_heads": 1,
                        "decoder_attention_heads": 1, "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048,
                        "max_position_embeddings": 512}}
    path = os.path.join(folder.name, "slow.json")
    with open(path, "w") as file:
        json.dump(config, file)
    subprocess.run([PROGRAM, "init", "--config", path, "--out", os.path.join(folder.name, "slow")], check=True,
                   capture_output=True)
    return folder


def made_model(folder, family, **more):
    """A model directory in `folder`, by its family's name: "nllb", of 202 languages, "opus", which is told its target
    alone, or "t5", whose files name prefixes. Random weights, small ones."""
    golden = os.path.join(ROOT, "tests", "golden")
    shape = {"encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
             "encoder_ffn_dim": 8, "decoder_ffn_dim": 8}
    models = {"nllb": ({"model_type": "m2m_100", **shape}, f"{golden}/languages/Nllb"),
              "opus": ({"model_type": "marian", **shape}, f"{golden}/tokenizer/opus"),
              "t5": ({"model_type": "t5", "num_layers": 1, "num_heads": 2, "d_kv": 5, "d_ff": 8}, f"{ROOT}/data/demo/tokenizer")}
    shape, tokenizer = models[family]
    config, directory = os.path.join(folder, f"{family}.json"), os.path.join(folder, family)
    with open(config, "w", encoding="utf-8") as file:
        json.dump({"model": {"d_model": 8, **shape}, "tokenizer": {"model": tokenizer}}, file)
    subprocess.run([PROGRAM, "init", "--config", config, "--out", directory], check=True, capture_output=True)
    config = os.path.join(directory, "config.json")
    with open(config, encoding="utf-8") as file:
        keys = json.load(file)
    with open(config, "w", encoding="utf-8") as file:
        json.dump({**keys, **more}, file)
    return directory


T5_PREFIXES = {"task_specific_params": {"a": {"prefix": "to German: "}, "b": {"prefix": "to French: "}}}


class Server:
    def __init__(self, *arguments, host="127.0.0.1"):
        self.program = subprocess.Popen([PROGRAM, "serve", "--port", "0", "--host", host, *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = self.program.stdout.readline().strip()
        self.host = host
        address = self.url.removeprefix("http://").split("/")[0]
        self.port = int(address.rsplit(":", 1)[1]) if self.url else 0

    def ask(self, method, path, body=None, headers=None):
        """Returns (status, headers, text) of one request on its own connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            if body is not None and not isinstance(body, (str, bytes)):
                body = json.dumps(body)
            if isinstance(body, str):
                body = body.encode()
            usual = {"Content-Type": "application/json"} if method == "POST" else {}
            connection.request(method, path, body, {**usual, **(headers or {})})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            connection.close()

    def post(self, path, body, **headers):
        return self.ask("POST", path, body, headers)

    def send(self, data, until_closed=True, limit=PATIENCE):
        """Returns the answer to these bytes, up to the end of the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=limit) as connection:
            connection.sendall(data)
            received = b""
            while until_closed:
                try:
                    piece = connection.recv(65536)
                except ConnectionResetError:
                    break
                if not piece:
                    break
                received += piece
            return received

    def memory(self):
        """Returns the resident kilobytes."""
        with open(f"/proc/{self.program.pid}/status") as status:
            return int(next(line for line in status if line.startswith("VmRSS")).split()[1])

    def sanitized(self):
        """True if the program was built with a sanitizer, which keeps freed memory."""
        with open(PROGRAM, "rb") as program:
            return b"__asan_init" in program.read()

    def stop(self, number=signal.SIGTERM):
        """Returns (exit code, seconds, stderr)."""
        begun = time.monotonic()
        if self.program.poll() is None:
            self.program.send_signal(number)
        _, errors = self.program.communicate(timeout=PATIENCE)
        # Leaks are reported when the process exits.
        assert "Sanitizer" not in errors and "runtime error" not in errors, errors
        return self.program.returncode, time.monotonic() - begun, errors


class ServerCase(unittest.TestCase):
    server = None

    @classmethod
    def setUpClass(cls):
        if ServerCase.server is None:
            ServerCase.server = Server()

    def tearDown(self):
        self.assertIsNone(self.server.program.poll(), "the server has ended")

    def error(self, answer):
        """Returns (status, message) of a refusal, which is one line of JSON."""
        status, headers, text = answer
        self.assertEqual(headers["Content-Type"], "application/json; charset=utf-8")
        self.assertEqual(text.count("\n"), 1)
        value = json.loads(text)
        self.assertEqual(list(value), ["error"])
        return status, value["error"]


def close_shared():
    if ServerCase.server:
        ServerCase.server.stop()
