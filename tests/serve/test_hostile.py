"""Tests requests that no client should send: nothing crashes or leaks, and others are served meanwhile."""

import http.client
import json
import os
import random
import resource
import signal
import socket
import struct
import threading
import time

import server_case
from server_case import PATIENCE, SENTENCE, SHIPPED, Server, ServerCase

BODY = json.dumps({"text": SENTENCE}).encode()


def request(port, body=BODY, path="/api/translate", more=b""):
    return (f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n").encode() + more + b"\r\n" + body


class Hostile(ServerCase):
    """Tests a separate server, which also has a slow model."""
    @classmethod
    def setUpClass(cls):
        cls.folder = server_case.slow_model()
        slow = os.path.join(cls.folder.name, "slow")
        cls.models = ("--model", SHIPPED, "--model", slow)
        cls.slow = {"text": "The group went home and " * 60, "beams": 24, "max_length": 500, "model": slow}
        cls.server = Server(*cls.models)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.folder.cleanup()

    def answers(self):
        status, _, text = self.server.post("/api/translate", {"text": SENTENCE})
        self.assertEqual((status, json.loads(text)["translations"][0]["text"]), (200, "Die Gruppe ging nach Hause"))

    def refused(self, data):
        """Returns (status, error) of the answer to these bytes."""
        head, _, body = self.server.send(data).partition(b"\r\n\r\n")
        return int(head.split()[1]), json.loads(body.split(b"\n")[0])["error"]

    def test_no_path_reaches_a_file(self):
        for path in ("/../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "//etc/passwd",
                     "/api/../README.md", "/docs/openapi.json", "/%00", "/api/translate/", "/.git/config"):
            data = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\nConnection: close\r\n\r\n".encode()
            head, _, body = self.server.send(data).partition(b"\r\n\r\n")
            self.assertIn(int(head.split()[1]), (400, 404), path)
            self.assertIn(b"error", body, path)
            self.assertNotIn(b"root:", body)
        self.answers()

    def test_a_body_that_is_too_large(self):
        status, found = self.refused(request(self.server.port, b" " * 70000, more=b"Connection: close\r\n"))
        self.assertEqual((status, found), (413, "the body is larger than 65536 bytes"))
        # The announced length alone is enough.
        head = (f"POST /api/translate HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\nContent-Type: application/json\r\n"
                "Content-Length: 65537\r\n\r\n").encode()
        begun = time.monotonic()
        self.assertEqual(self.refused(head), (413, "the body is larger than 65536 bytes"))
        self.assertLess(time.monotonic() - begun, 4)
        self.answers()

    def test_a_body_without_a_length(self):
        head = (f"POST /api/translate HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\n"
                "Content-Type: application/json\r\n").encode()
        begun = time.monotonic()
        self.assertEqual(self.refused(head + b"\r\n" + BODY), (411, "the body has neither Content-Length nor Transfer-Encoding: chunked"))
        self.assertLess(time.monotonic() - begun, 4)
        for length in ("abc", "-1", "+5", "1 2"):
            self.assertEqual(self.refused(head + f"Content-Length: {length}\r\n\r\n".encode() + BODY),
                             (400, f"Content-Length is {length}; expected one number"))
        status, _ = self.refused(head + f"Content-Length: {len(BODY)}\r\nContent-Length: 1\r\n\r\n".encode() + BODY)
        self.assertEqual(status, 400)
        self.answers()

    def test_a_request_that_is_none(self):
        for data in (b"\r\n\r\n", b"GARBAGE\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00" * 20 + b"\r\n\r\n",
                     b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\n\r\n"):
            self.server.send(data)
        self.answers()

    def test_a_body_that_nobody_reads_is_no_second_request(self):
        hidden = request(self.server.port)
        data = (f"POST /nothing HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\nContent-Length: {len(hidden)}\r\n\r\n").encode()
        received = self.server.send(data + hidden)
        self.assertEqual(received.count(b"HTTP/1.1 "), 1, received)
        self.assertIn(b"HTTP/1.1 404 ", received)

    def test_what_a_strangers_page_hides_in_a_body_is_not_done(self):
        """Where httplib has not read ahead what follows: later, or behind more than it takes at a time."""
        hidden = request(self.server.port)
        for filler in (b"", b" " * 8192):
            body = filler + hidden
            for line, length in ((b"POST /api/translate", len(body)), (b"GET /", len(body))):
                with socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE) as stranger:
                    stranger.sendall(line + (f" HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\nOrigin: http://evil.example\r\n"
                                             f"Sec-Fetch-Site: cross-site\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n").encode() + filler)
                    time.sleep(0.05)
                    received = b""
                    try:
                        stranger.sendall(hidden)
                        while piece := stranger.recv(65536):
                            received += piece
                    except (ConnectionResetError, BrokenPipeError):
                        pass
                self.assertIn(b"Connection: close", received)  # for the browser's own pages, which share connections
                self.assertNotIn(b"HTTP/1.1 200", received)
                self.assertNotIn(b"translations", received)
        self.answers()

    def test_headers_without_end_are_cut_off(self):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE) as endless:
            endless.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\n".encode())
            endless.settimeout(3)  # a closed connection reads no more, and may not report that
            sent, before = 0, self.server.memory()
            try:
                while sent < 30_000_000:
                    endless.sendall(b"X: abc\r\n" * 5000)
                    sent += 40_000
            except OSError:
                pass
        self.assertLess(sent, 30_000_000, "all of it was taken")
        if not self.server.sanitized():
            self.assertLess(self.server.memory() - before, 100_000, "kilobytes more")
        self.answers()

    def test_a_search_has_a_size(self):
        before = self.server.memory()
        for path, more in (("translate", {}), ("attend", {}), ("page", {}), ("page", {"without": "cross:0"})):
            answer = self.server.post("/api/" + path, {**self.slow, **more, "beams": 64})
            self.assertEqual(self.error(answer), (422, "the search may take 2097 MB, and at most 1000 are allowed; ask for fewer beams, a smaller max_length or a shorter sentence"))
        self.assertLess(self.server.memory() - before, 200_000)

    def test_slow_clients_are_cut_off_where_no_descriptor_is_left(self):
        server = Server()
        resource.prlimit(server.program.pid, resource.RLIMIT_NOFILE, (80, 80))
        clients = [socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) for _ in range(100)]
        done = threading.Event()
        def drip():
            """A byte of a header from each, now and then."""
            while not done.wait(1):
                for client in clients:
                    try:
                        client.sendall(b"a")
                    except OSError:
                        pass
        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            time.sleep(1)
            self.assertEqual(server.post("/api/translate", {"text": SENTENCE})[0], 200)
        finally:
            done.set()
            dripping.join()
            for client in clients:
                client.close()
            server.stop()

    def test_who_is_refused_and_goes_on_keeps_the_connection(self):
        """Whole requests within the time that one may take, for longer than that."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE)
        end = time.monotonic() + 12
        number = 0
        while time.monotonic() < end:
            for method, path, body, expected in (("POST", "/api/translate", b"{", 400), ("POST", "/api/translate", b"{}", 422),
                                                 ("GET", "/openapi.json", None, 200)):
                connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
                answer = connection.getresponse()
                self.assertEqual(answer.status, expected)
                answer.read()
                number = number or connection.sock.getsockname()[1]
                self.assertEqual(connection.sock.getsockname()[1], number, "it is another connection")
            time.sleep(0.5)
        connection.close()

    def test_more_connections_than_are_served(self):
        server = Server()
        clients = []
        try:
            for _ in range(256):
                clients.append(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE))
            status, headers, text = server.post("/api/translate", {"text": SENTENCE})
            self.assertEqual((status, json.loads(text)["error"]), (429, "256 connections are open, and no more are served"))
            self.assertEqual(headers["Retry-After"], "1")
            for client in clients:
                client.close()
            clients.clear()
            end = time.monotonic() + PATIENCE
            while server.post("/api/translate", {"text": SENTENCE})[0] != 200:
                self.assertLess(time.monotonic(), end, "closed connections still count")
                time.sleep(0.1)
        finally:
            for client in clients:
                client.close()
            server.stop()

    def test_what_nobody_waits_for_is_given_up(self):
        """As many long searches as compute at once, whose clients go: the next request has its turn."""
        slow = json.dumps(self.slow).encode()
        clients = [socket.create_connection(("127.0.0.1", self.server.port)) for _ in range(2 * os.cpu_count())]
        for client in clients:
            client.sendall(request(self.server.port, slow, "/api/attend"))
        time.sleep(1)
        for client in clients:
            client.close()
        begun = time.monotonic()
        self.answers()
        self.assertLess(time.monotonic() - begun, 10, "their searches, which take many seconds, went on")

    def test_requests_that_share_steps_are_answered_as_alone(self):
        """50 at once of many settings, some of which nobody waits for, some of which cannot be done."""
        text = "The old dog sleeps in the warm kitchen"
        bodies = [{"text": text, "beams": 1 + i % 6, "n_best": 1, "length_penalty": i % 4, "no_repeat_ngram": i % 3}
                  if i % 5 else {"text": text, "sample": True, "beams": 1, "sample_seed": i} for i in range(40)]
        bodies += [{"text": [text, SENTENCE] * 20}, {"text": text, "length_penalty": 99, "min_length": 90}] * 5
        alone = [self.server.post("/api/translate", body)[::2] for body in bodies]
        self.assertEqual({status for status, _ in alone}, {200, 422})
        found = [None] * len(bodies)

        def ask(i):
            found[i] = self.server.post("/api/translate", bodies[i])[::2]
        threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(bodies))]
        slow = json.dumps(self.slow).encode()
        gone = [socket.create_connection(("127.0.0.1", self.server.port)) for _ in range(4)]
        for client in gone:
            client.sendall(request(self.server.port, slow, "/api/translate"))
        for thread in threads:
            thread.start()
        for client in gone:
            client.close()
        for thread in threads:
            thread.join()
        self.assertEqual(found, alone)

    def test_no_host(self):
        status, found = self.refused(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
        self.assertEqual(status, 421)
        self.assertEqual(found, f"Host (none) is not this server's name; ask 127.0.0.1:{self.server.port}")

    def test_half_requests_are_cut_off(self):
        begun = time.monotonic()
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as slow:
            # A byte now and then is not a request: the whole request must arrive within ten seconds.
            slow.settimeout(1)
            for byte in request(self.server.port)[:60]:
                try:
                    slow.sendall(bytes([byte]))
                    if slow.recv(1) == b"":
                        break
                except socket.timeout:
                    continue
                except OSError:
                    break
            else:
                self.fail("a slow client was waited for")
        self.assertLess(time.monotonic() - begun, 25)
        self.answers()

    def test_killed_clients(self):
        for i in range(50):
            client = socket.create_connection(("127.0.0.1", self.server.port))
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing resets the connection
            data = request(self.server.port, path="/api/page")
            client.sendall(data if i % 2 else data[:len(data) * i // 50])
            client.close()
        self.answers()

    def test_thousands_of_malformed_requests(self):
        """Random damage, mostly to a good request; the memory after the second half is that after the first."""
        chance = random.Random(16)
        good = request(self.server.port)
        # For the long run, set ATTN_SERVE_MALFORMED=10000.
        count = int(os.environ.get("ATTN_SERVE_MALFORMED", 400))
        sizes = []
        for i in range(count):
            data = bytearray(good)
            for _ in range(chance.randint(1, 6)):
                at = chance.randrange(len(data))
                action = chance.randrange(3)
                if action == 0:
                    data[at] = chance.randrange(256)
                elif action == 1:
                    del data[at:at + chance.randint(1, 30)]
                else:
                    data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 30)))
                if not data:
                    data = bytearray(b"x")
            with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as client:
                try:
                    client.sendall(data)
                    client.shutdown(socket.SHUT_WR)
                    while client.recv(65536):
                        pass
                except OSError:
                    pass
            if i in (count // 2, count - 1):
                sizes.append(0 if self.server.sanitized() else self.server.memory())
        self.answers()
        self.assertLess(sizes[1] - sizes[0], 8000, "kilobytes more")

    def ask_slowly(self, page, **headers):
        """A thread in which the server works for many seconds on a request of this page, and what it will find."""
        found = []
        asking = threading.Thread(
            target=lambda: found.append(self.server.post("/api/page", self.slow, **{"Attn-Page": page}, **headers)))
        asking.start()
        time.sleep(1)
        return asking, found

    def test_a_newer_request_of_a_page_takes_the_place_of_an_older_one(self):
        asking, found = self.ask_slowly("one")
        self.assertEqual(self.server.post("/api/page", {"text": SENTENCE}, **{"Attn-Page": "one"})[0], 200)
        asking.join()
        self.assertEqual(self.error(found[0]), (409, "replaced by a newer request of the same page"))

    def test_an_older_request_that_comes_later_takes_nobodys_place(self):
        asking, found = self.ask_slowly("two", **{"Attn-Number": "8"})
        ask = lambda number: self.server.post("/api/page", {"text": SENTENCE},
                                              **{"Attn-Page": "two", "Attn-Number": number})
        self.assertEqual(self.error(ask("7")), (409, "replaced by a newer request of the same page"))
        self.assertTrue(asking.is_alive())
        self.assertEqual(ask("9")[0], 200)
        asking.join()
        self.assertEqual(found[0][0], 409)

    def test_many_connections_leave_no_memory_behind(self):
        """Matrices of requests among many small answers: left to itself, the heap grew by 100 MB in 5 s."""
        server = Server()
        body = request(server.port, json.dumps({"text": "The old dog sleeps in the warm kitchen every day."}).encode())
        sizes = []
        try:
            for _ in range(3):
                # New connections each time, because the server may close one that has waited for its turn.
                clients = [socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
                           for _ in range(200)]
                for client in clients:
                    client.sendall(body)
                for client in clients:
                    answer = b""
                    while not answer.endswith(b"}\n"):
                        more = client.recv(65536)
                        self.assertTrue(more, f"closed after {answer!r}")
                        answer += more
                    self.assertIn(int(answer.split()[1]), (200, 429))
                    client.close()
                sizes.append(0 if server.sanitized() else server.memory())
        finally:
            server.stop()
        self.assertLess(sizes[-1] - sizes[0], 20_000, f"kilobytes more: {sizes}")

    def ended(self, begin):
        """Of a server that was told to end while it works: the answer to the thread that begin() started. It ends within
        two seconds; where others take the cores from it, one time of three must do."""
        times = []
        for _ in range(3):
            server = Server(*self.models)
            found = []
            asking = begin(server, found)
            code, seconds, _ = server.stop(signal.SIGTERM)
            asking.join()
            self.assertEqual(code, 143)
            times.append(seconds)
            if seconds < 2 and found:
                return found[0]
        self.fail(f"it took {times} seconds to end")

    def asking(self, server, body, found):
        thread = threading.Thread(target=lambda: found.append(server.post("/api/attend", body)))
        thread.start()
        return thread

    def test_ending_finishes_what_runs(self):
        text = "The group went home and the old dog sleeps in the warm kitchen"
        for beams in (64, 32, 16, 4, 1):  # takes well below the second that is allowed
            begun = time.monotonic()
            status, _, alone = self.server.post("/api/attend", {"text": text, "beams": beams})
            self.assertEqual(status, 200)
            if time.monotonic() - begun < 0.5:
                break
        def begin(server, found):
            thread = self.asking(server, {"text": text, "beams": beams}, found)
            time.sleep(0.1)
            return thread
        answer = self.ended(begin)
        self.assertEqual((answer[0], answer[2]), (200, alone))

    def test_ending_does_not_wait_for_a_large_answer(self):
        body = {"text": "The group went home and " * 300, "beams": 2, "n_best": 2, "max_length": 500}
        def ask(server, found):
            try:
                found.append(server.post("/api/page", body)[0])
            except (OSError, http.client.HTTPException):
                found.append(None)  # cut off
        def begin(server, found):
            thread = threading.Thread(target=ask, args=(server, found))
            thread.start()
            time.sleep(0.7)
            return thread
        self.assertIn(self.ended(begin), (None, 200, 503))

    def test_ending_does_not_wait_for_long_work(self):
        idle = []
        def begin(server, found):
            thread = self.asking(server, self.slow, found)
            idle.append(socket.create_connection(("127.0.0.1", server.port)))
            time.sleep(1)
            return thread
        answer = self.ended(begin)
        for one in idle:
            one.close()
        self.assertEqual(self.error(answer), (503, "the server is ending"))
        self.assertEqual(answer[1]["Retry-After"], "1")
