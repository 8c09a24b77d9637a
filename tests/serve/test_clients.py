"""Tests requests of programs that use LibreTranslate, byte by byte where it matters."""

import json
import socket
import time

import server_case
from server_case import PATIENCE, SENTENCE, Server, ServerCase

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def head(port, path, *lines):
    return "\r\n".join((f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", *lines, "", "")).encode()


def multipart(boundary, *parts):
    """Returns a form's bytes; each part has its headers and its content."""
    body = b"".join(b"--" + boundary + b"\r\n" + headers + b"\r\n\r\n" + content + b"\r\n" for headers, content in parts)
    return body + b"--" + boundary + b"--\r\n"


class Clients(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        _, _, text = cls.server.post("/api/translate", {"text": SENTENCE})
        cls.german = json.loads(text)["translations"][0]["text"]

    def ask(self, body, path="/translate", **headers):
        status, _, text = self.server.ask("POST", path, body, {"Content-Type": "application/json", **headers})
        return status, json.loads(text)

    def answer_to(self, data):
        """Returns the status and value of the first answer to these bytes, on a connection that closes."""
        received = self.server.send(data)
        first, _, body = received.partition(b"\r\n\r\n")
        return int(first.split()[1]), json.loads(body.partition(b"\n")[0])

    def test_mastodon(self):
        """app/lib/translation_service/libre_translate.rb: the key is null if none is set."""
        body = {"q": [SENTENCE, "The old dog"], "source": "auto", "target": "de", "format": "html", "api_key": None}
        status, answer = self.ask(body)
        self.assertEqual(status, 200, answer)
        self.assertEqual(answer["translatedText"][0], self.german)
        self.assertEqual([one["language"] for one in answer["detectedLanguage"]], ["en", "en"])
        status, answer = self.ask({**body, "source": "en"})
        self.assertEqual((status, list(answer)), (200, ["translatedText"]))
        languages = json.loads(self.server.ask("GET", "/languages")[2])
        self.assertEqual(next(one["targets"] for one in languages if one["code"] == "en"), ["de"])

    def test_null_is_a_field_that_is_not_set(self):
        usual = {"q": SENTENCE, "target": "de"}
        for key in ("source", "format", "alternatives", "api_key"):
            status, answer = self.ask({**usual, key: None})
            self.assertEqual((status, answer["translatedText"]), (200, self.german), key)
        self.assertEqual(self.ask({**usual, "target": None})[0], 422)
        self.assertIn("body.q is missing", self.ask({**usual, "q": None})[1]["error"])
        self.assertIn("body.format is xml; expected text or html", self.ask({**usual, "format": "xml"})[1]["error"])

    def test_translateyou(self):
        """Retrofit sends all fields in the address of a POST without a body."""
        path = "/translate?q=The%20group%20went%20home&source=auto&target=de"
        for more in ("", "&api_key=", "&api_key=x"):
            status, _, text = self.server.ask("POST", path + more, None, {"Content-Type": "", "Content-Length": "0"})
            answer = json.loads(text)
            self.assertEqual((status, answer["translatedText"]), (200, self.german))
            self.assertEqual(answer["detectedLanguage"]["language"], "en")
        # curl -X POST does not announce a body.
        self.assertEqual(self.answer_to(head(self.server.port, path + "&source=en", "Connection: close"))[0], 422)  # two sources
        status, answer = self.answer_to(head(self.server.port, path, "Connection: close"))
        self.assertEqual((status, answer["translatedText"]), (200, self.german))

    def test_libretranslatepy(self):
        """urllib sends forms, also to ask for the languages."""
        for path, body in (("/languages", ""), ("/languages", "api_key=x"), ("/detect", "q=The+group+went+home"),
                           ("/translate", "q=The+group+went+home&source=en&target=de")):
            status, _, text = self.server.ask("POST", path, body, FORM)
            self.assertEqual(status, 200, text)
        self.assertEqual(json.loads(text)["translatedText"], self.german)

    def test_long_forms(self):
        """The limit is the text's; in a form, an umlaut takes six bytes."""
        text = "%C3%BC" * 4000
        self.assertEqual(self.server.ask("POST", "/translate", "source=en&target=de&q=" + text, FORM)[0], 200)
        status, message = self.error(self.server.ask("POST", "/translate", "target=de&q=" + "a" * 8001, FORM))
        self.assertEqual(status, 422)
        self.assertIn("8001 bytes", message)
        self.assertEqual(self.server.ask("POST", "/translate", "target=de&q=" + "a" * 70_000, FORM)[0], 413)

    def test_multipart_forms(self):
        def send(body, boundary="XyZ"):
            return self.ask(body, **{"Content-Type": f"multipart/form-data; boundary={boundary}"})

        def field(name, content, more=b""):
            return b'Content-Disposition: form-data; name="' + name + b'"' + more, content

        text, target = field(b"q", SENTENCE.encode()), field(b"target", b"de")
        browser = multipart(b"----WebKitFormBoundary7MA4YWxk", text, field(b"source", b"en"), target, field(b"format", b"text"))
        self.assertEqual(send(browser, "----WebKitFormBoundary7MA4YWxk"), (200, {"translatedText": self.german}))
        # .NET's MultipartFormDataContent: a quoted boundary, names without quotes, and a type for each part.
        plain = b"Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name="
        net = multipart(b"a-1", (plain + b"q", SENTENCE.encode()), (plain + b"source", b"en"), (plain + b"target", b"de"))
        self.assertEqual(send(net, '"a-1"'), (200, {"translatedText": self.german}))
        status, answer = send(multipart(b"XyZ", text, field(b"q", b"The old dog"), target, field(b"alternatives", b"1")))
        self.assertEqual((status, answer["translatedText"][0], len(answer["alternatives"])), (200, self.german, 2))
        self.assertEqual(send(multipart(b"XyZ", field(b"q", b""), target))[1]["translatedText"], "")
        for body, message in ((multipart(b"XyZ", field(b"file", b"a", b'; filename="a.txt"')), "the form contains a file, and files are not accepted"),
                              (b"", "does not begin with its boundary"), (browser, "does not begin with its boundary"),
                              (b"--XyZ", "no end of line"), (b"--XyZ\r\n", "a part does not end"),
                              (multipart(b"XyZ", text)[:-9], "a part does not end"),
                              (multipart(b"XyZ", (b"X: y", b"a")), "a part has no name"),
                              (b"--XyZ\r\n" + b"A" * 60_000, "a part does not end"),
                              (multipart(b"XyZ", (b"Content-Disposition: form-data; " + b";" * 50_000, b"")), "a part has no name")):
            status, answer = send(body)
            self.assertEqual(status, 400, body[:80])
            self.assertIn(message, answer["error"])
        self.assertIn("has no boundary", self.ask(browser, **{"Content-Type": "multipart/form-data"})[1]["error"])
        # Only these clients' paths take forms.
        self.assertEqual(self.ask(browser, "/api/translate", **{"Content-Type": "multipart/form-data; boundary=a"})[0], 415)

    def test_net_sends_chunks(self):
        """PostAsJsonAsync does not know the length beforehand."""
        body = json.dumps({"q": SENTENCE, "source": "en", "target": "de"}).encode()
        lines = ("Content-Type: application/json; charset=utf-8", "Transfer-Encoding: chunked", "Connection: close")
        for size in (len(body), 7, 1):
            parts = [body[i:i + size] for i in range(0, len(body), size)]
            chunks = b"".join(b"%X\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
            self.assertEqual(self.answer_to(head(self.server.port, "/translate", *lines) + chunks), (200, {"translatedText": self.german}))
        own = json.dumps({"text": SENTENCE}).encode()
        status, _ = self.answer_to(head(self.server.port, "/api/translate", *lines) + b"%x\r\n%s\r\n0\r\n\r\n" % (len(own), own))
        self.assertEqual(status, 200)

    def test_chunks_are_bounded_and_strict(self):
        lines = ("Content-Type: application/json", "Transfer-Encoding: chunked")
        start = head(self.server.port, "/translate", *lines)
        large = b"".join(b"1000\r\n" + b" " * 4096 + b"\r\n" for _ in range(17))
        self.assertEqual(self.answer_to(start + large), (413, {"error": "the body is larger than 65536 bytes"}))
        self.assertEqual(self.answer_to(start + b"xyz\r\nhello\r\n")[0], 400)
        for more, status in (("Content-Length: 5", 400), ("Transfer-Encoding: chunked", 501)):
            self.assertEqual(self.answer_to(head(self.server.port, "/translate", *lines, more) + b"0\r\n\r\n")[0], status, more)
        for coding in ("gzip, chunked", "identity", "gzip"):
            data = head(self.server.port, "/translate", lines[0], f"Transfer-Encoding: {coding}") + b"0\r\n\r\n"
            self.assertEqual(self.answer_to(data), (501, {"error": f"Transfer-Encoding is {coding}; expected chunked"}))

    def test_a_chunked_body_that_is_refused_is_no_second_request(self):
        hidden = head(self.server.port, "/api/translate", "Content-Type: application/json", "Content-Length: 2") + b"{}"
        start = head(self.server.port, "/translate", "Content-Type: application/json", "Transfer-Encoding: chunked")
        received = self.server.send(start + b"zz\r\n" + hidden)
        self.assertEqual(received.count(b"HTTP/1.1 "), 1, received)

    def test_a_connection_serves_several_chunked_bodies(self):
        lines = ("Content-Type: application/json", "Transfer-Encoding: chunked")
        body = b'{"q": "a", "target": "de"}'
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE) as connection:
            for _ in range(3):
                connection.sendall(head(self.server.port, "/translate", *lines) + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
                received = b""
                while not received.endswith(b"}\n"):
                    received += connection.recv(65536)
                self.assertIn(b"HTTP/1.1 200 ", received)

    def test_a_body_that_pauses(self):
        """The server waits for a request for 10 s, however it is spread, also after an earlier one."""
        body = json.dumps({"q": SENTENCE, "source": "en", "target": "de"}).encode()
        start = head(self.server.port, "/translate", "Content-Type: application/json", f"Content-Length: {len(body)}")
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE) as connection:
            for pause in (0, 7.5):
                connection.sendall(start + body[:20])
                time.sleep(pause)
                connection.sendall(body[20:])
                received = b""
                while not received.endswith(b"}\n"):
                    received += connection.recv(65536)
                self.assertIn(b"HTTP/1.1 200 ", received)
                time.sleep(3.5 if pause == 0 else 0)  # 3.5 s + 7.5 s is more than 10 s

    def test_alternatives_are_all_different(self):
        for text in (SENTENCE, "Thank you!", "a", "I know. I know.", "2 3"):
            status, answer = self.ask({"q": text, "source": "en", "target": "de", "alternatives": 8})
            self.assertEqual(status, 200)
            every = [answer["translatedText"], *answer["alternatives"]]
            self.assertEqual(len(set(every)), len(every), every)
            self.assertLessEqual(len(every), 9)

    def test_languages_are_detected(self):
        for text, language in (("The group went home because they were tired.", "en"),
                               ("Die Gruppe ging nach Hause, weil sie müde war.", "de"),
                               ("WHERE IS THE STATION?", "en"), ("Ich weiß es nicht.", "de")):
            status, found = self.ask({"q": text}, "/detect")
            self.assertEqual((status, found[0]["language"]), (200, language), text)
            self.assertEqual(found, sorted(found, key=lambda one: -one["confidence"]))
            self.assertTrue(50 <= found[0]["confidence"] <= 100, found)
        # Unknown languages are never guessed: only those of /languages are named.
        for text in ("Le groupe est rentré à la maison parce qu'il était fatigué.", "Группа пошла домой.", "彼らは家に帰った。"):
            _, found = self.ask({"q": text}, "/detect")
            self.assertLess(found[0]["confidence"], 25, found)
        for text in ("", "12345", "Xqzt"):
            self.assertEqual(self.ask({"q": text}, "/detect"), (200, [{"confidence": 0, "language": "en"}]))
        self.assertIn("body.q is a list", self.ask({"q": ["a"]}, "/detect")[1]["error"])
        self.assertIn("body.q is missing", self.ask({}, "/detect")[1]["error"])
        self.assertEqual(self.error(self.server.ask("GET", "/detect"))[0], 405)

    def test_cors_is_not_there_unless_asked_for(self):
        _, headers, _ = self.server.ask("GET", "/languages")
        self.assertFalse({"Vary", "Access-Control-Allow-Origin"} & set(headers))
        status, headers, _ = self.server.ask("OPTIONS", "/translate", None, {"Origin": "https://app.example",
                                                                             "Access-Control-Request-Method": "POST"})
        self.assertEqual(status, 403)
        self.assertNotIn("Access-Control-Allow-Origin", headers)


class OtherSites(server_case.unittest.TestCase):
    """Tests browser extensions and pages of other sites, with --allow-origin."""

    def setUp(self):
        self.server = Server("--allow-origin", "https://app.example", "--allow-origin", "moz-extension://11-22")
        self.addCleanup(self.server.stop)

    def test_preflight(self):
        for origin in ("https://app.example", "moz-extension://11-22"):
            asks = {"Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type",
                    "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}
            status, headers, text = self.server.ask("OPTIONS", "/translate", None, {**asks, "Access-Control-Request-Private-Network": "true"})
            self.assertEqual((status, text), (204, ""))
            self.assertEqual(headers["Access-Control-Allow-Origin"], origin)
            self.assertEqual((headers["Access-Control-Allow-Methods"], headers["Vary"]), ("POST", "Origin"))
            self.assertIn("Content-Type", headers["Access-Control-Allow-Headers"])
            self.assertEqual(headers["Access-Control-Allow-Private-Network"], "true")
            self.assertNotIn("Access-Control-Allow-Credentials", headers)
            # The error for an unknown path can be read as well.
            status, headers, _ = self.server.ask("OPTIONS", "/nothing", None, asks)
            self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (404, origin))
        for origin in ("https://evil.example", "http://app.example", "https://app.example.evil", "null"):
            status, headers, _ = self.server.ask("OPTIONS", "/translate", None, {**asks, "Origin": origin})
            self.assertEqual((status, headers.get("Access-Control-Allow-Origin"), headers["Vary"]), (403, None, "Origin"))

    def test_every_answer_can_be_read(self):
        page = {"Origin": "https://app.example", "Sec-Fetch-Site": "cross-site"}
        json_type = {"Content-Type": "application/json"}
        for method, path, body, headers, expected in (
                ("POST", "/translate", {"q": "a", "target": "de"}, json_type, 200), ("GET", "/languages", None, {}, 200),
                ("POST", "/api/attend", {"text": "a"}, json_type, 200), ("POST", "/translate", "{", json_type, 400),
                ("POST", "/translate", {"q": 1}, json_type, 422), ("POST", "/translate", "a", {"Content-Type": "text/plain"}, 415),
                ("POST", "/translate", " " * 70_000, json_type, 413), ("GET", "/nothing", None, {}, 404), ("GET", "/translate", None, {}, 405)):
            status, answer, _ = self.server.ask(method, path, body, {**page, **headers})
            self.assertEqual((status, answer.get("Access-Control-Allow-Origin"), answer["Vary"]), (expected, page["Origin"], "Origin"))
        status, answer, _ = self.server.ask("POST", "/translate", {"q": "a", "target": "de"}, {**json_type, "Origin": "https://evil.example"})
        self.assertEqual((status, answer.get("Access-Control-Allow-Origin"), answer["Vary"]), (403, None, "Origin"))
        # Another site's name is refused in any case (DNS rebinding).
        self.assertEqual(self.server.ask("GET", "/languages", None, {**page, "Host": "app.example"})[0], 421)

    def test_origins_are_checked_at_the_start(self):
        for origin in ("app.example", "https://app.example/", "https://app.example/page", "https://*.example", "https://", "a b://c"):
            run = server_case.subprocess.run([server_case.PROGRAM, "serve", "--port", "0", "--allow-origin", origin],
                                             capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(run.returncode, 2, origin)
            self.assertIn(f"--allow-origin {origin}: expected an origin such as https://example.org", run.stderr)


class WithToken(server_case.unittest.TestCase):
    """Tests a server for other machines, whose token is api_key."""

    def setUp(self):
        self.server = Server("--allow-origin", "*", host="0.0.0.0")
        self.addCleanup(self.server.stop)
        self.token = self.server.url.partition("?token=")[2]

    def test_api_key(self):
        def ask(key, headers=None, body=None, path="/translate"):
            if body is None:
                body = {"q": "a", "source": "en", "target": "de", **key}
            return self.server.ask("POST", path, body, headers or {"Content-Type": "application/json"})

        form = "q=a&source=en&target=de"
        parts = [(b'Content-Disposition: form-data; name="%s"' % name, value) for name, value in
                 ((b"q", b"a"), (b"target", b"de"), (b"api_key", self.token.encode()))]
        self.assertEqual(ask({"api_key": self.token})[0], 200)
        self.assertEqual(ask({}, FORM, f"{form}&api_key={self.token}")[0], 200)
        self.assertEqual(ask({}, {"Content-Type": "multipart/form-data; boundary=b"}, multipart(b"b", *parts))[0], 200)
        self.assertEqual(ask({}, {"Content-Length": "0", "Content-Type": ""}, b"", f"/translate?{form}&api_key={self.token}")[0], 200)
        self.assertEqual(ask({}, FORM, f"q=a&api_key={self.token}", "/detect")[0], 200)
        self.assertEqual(ask({"api_key": None}, {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"})[0], 200)
        for key in ({}, {"api_key": None}, {"api_key": ""}):
            status, _, text = ask(key)
            self.assertEqual(status, 401, text)
        for wrong in ("x", self.token[:-1], self.token + "0"):
            self.assertEqual(ask({"api_key": wrong})[0], 403)
            self.assertEqual(ask({}, FORM, f"{form}&api_key={wrong}")[0], 403)
        # Without the key nothing is searched, and no other path accepts a key in its body.
        self.assertEqual(ask({}, None, {"q": "a", "target": "xx"})[0], 401)
        self.assertEqual(ask({}, None, {"text": "a", "api_key": self.token}, "/api/translate")[0], 401)
        # As in LibreTranslate, the list of languages needs no key.
        self.assertEqual(self.server.ask("GET", "/languages")[0], 200)
        self.assertEqual(self.server.ask("POST", "/languages", f"api_key={self.token}", FORM)[0], 200)

    def test_preflight_needs_no_token(self):
        asks = {"Origin": "moz-extension://any", "Access-Control-Request-Method": "POST"}
        status, headers, _ = self.server.ask("OPTIONS", "/api/translate", None, asks)
        self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (204, "moz-extension://any"))
        self.assertIn("Authorization", headers["Access-Control-Allow-Headers"])
        status, headers, _ = self.server.ask("POST", "/api/translate", "{}", {"Origin": "moz-extension://any", "Content-Type": "application/json"})
        self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (401, "moz-extension://any"))
