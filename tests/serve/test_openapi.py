"""Tests that the document at /openapi.json describes the server, both ways: bodies, answers, codes and paths."""

import json
import os

from schema import faults
from server_case import ROOT, SENTENCE, ServerCase

GOOD = {
    "/api/translate": [{}, {"beams": 2, "n_best": 2, "length_penalty": 0.6, "early_stopping": "never", "max_length": 20},
        {"early_stopping": True, "model": "data/models/en-de"}, {"text": [SENTENCE, "The old dog"]},
        {"no_repeat_ngram": 2, "min_length": 3, "repetition_penalty": 1.1},
        {"sample": True, "temperature": 0.7, "top_k": 5, "top_p": 0.9, "min_p": 0.1, "typical": 0.9, "sample_seed": 3},
        {"prefix": "Tom said: "}],
    "/api/attend": [{}, {"target": "Die Gruppe"}, {"without": "cross:0", "report": True, "vectors": True},
        {"force": ["cross:0:1:1=group"], "swap": ["home=away"]}, {"beams": 2, "tree": True}],
    "/api/page": [{}, {"compare": "a dog"}, {"without": ["best"]}, {"choices": True}],
}
BAD = [{"beams": 0}, {"beams": 65}, {"beams": "2"}, {"beams": True}, {"n_best": 0}, {"length_penalty": 101}, {"text": 3},
    {"early_stopping": "yes"}, {"max_length": 0}, {"sample": 1}, {"sample": True, "top_p": 2}, {"text": "a" * 8001}, {"model": 1}, {"prefix": 1}, {"surprise": 1}]


class OpenApi(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.text = cls.server.ask("GET", "/openapi.json")[2]
        cls.document = json.loads(cls.text)
        with open(os.path.join(ROOT, "lib/serve/openapi.json"), encoding="utf-8") as file:
            cls.frame = json.load(file)

    def body_schema(self, path):
        return self.document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]

    def test_it_is_served(self):
        status, headers, text = self.server.ask("GET", "/openapi.json")
        self.assertEqual((status, headers["Content-Type"], text), (200, "application/json; charset=utf-8", self.text))
        for name, schema in self.frame["components"]["schemas"].items():
            served = self.document["components"]["schemas"][name]
            own, options = schema.get("properties", {}), served.get("properties", {})
            self.assertEqual({key: options[key] for key in own}, own)
            takes_options = name in ("Translate", "Attend", "WhyQuestion", "Page")
            self.assertEqual("beams" in options.keys() - own.keys(), takes_options)

    def test_every_path_is_there_and_no_other_method(self):
        for path, methods in self.document["paths"].items():
            for method in ("get", "post"):
                status = self.server.ask(method.upper(), path, "{}" if method == "post" else None)[0]
                self.assertEqual(status == 405, method not in methods, f"{method} {path}: {status}")

    def test_answers_are_as_described(self):
        for path, bodies in GOOD.items():
            for more in bodies:
                body = {"text": SENTENCE, **more}
                with self.subTest(path=path, body=body):
                    self.assertEqual(faults(body, self.body_schema(path), self.document), [])
                    status, headers, text = self.server.post(path, body)
                    described = self.document["paths"][path]["post"]["responses"]["200"]["content"]
                    self.assertEqual((status, headers["Content-Type"].split(";")[0]), (200, *described))
                    self.assertEqual(faults(json.loads(text), described["application/json"]["schema"], self.document), [])

    def test_every_refusal_is_described(self):
        json_type = {"Content-Type": "application/json"}
        for path in GOOD:
            responses = self.document["paths"][path]["post"]["responses"]
            for code, method, body, headers in ((400, "POST", "{", json_type), (413, "POST", " " * 70_000, json_type),
                                                (415, "POST", "{}", {"Content-Type": "text/plain"}),
                                                (403, "POST", "{}", {**json_type, "Origin": "http://evil.example"}),
                                                (421, "POST", "{}", {**json_type, "Host": "evil.example"}),
                                                (501, "POST", None, {**json_type, "Transfer-Encoding": "gzip"}),
                                                (405, "GET", None, {})):
                with self.subTest(path=path, code=code):
                    status, _, text = self.server.ask(method, path, body, headers)
                    self.assertEqual(status, code)
                    schema = responses[str(code)]["content"]["application/json"]["schema"]
                    self.assertEqual(faults(json.loads(text), schema, self.document), [])

    def test_what_is_not_described_is_refused(self):
        for path in GOOD:
            for more in BAD + ([{"target": "a"}] if path == "/api/translate" else []):
                body = {"text": SENTENCE, **more}
                with self.subTest(path=path, body=body):
                    self.assertNotEqual(faults(body, self.body_schema(path), self.document), [])
                    status, _, text = self.server.post(path, body)
                    self.assertEqual(status, 422)
                    described = self.document["paths"][path]["post"]["responses"]["422"]["content"]
                    self.assertEqual(faults(json.loads(text), described["application/json"]["schema"], self.document), [])

    def test_every_key_of_the_server_is_described(self):
        """An unknown key's refusal names the nearest known one: all known ones are described."""
        for path in GOOD:
            schema = self.document["components"]["schemas"][self.body_schema(path)["$ref"].rsplit("/", 1)[1]]
            for key in schema["properties"]:
                _, _, text = self.server.post(path, {"text": "a", key + "x": 1})
                self.assertIn(f'the nearest known one is "{key}"', json.loads(text)["error"])
