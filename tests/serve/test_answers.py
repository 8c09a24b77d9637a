"""Tests the server's answers: the command's translations and records, and complete messages for refusals."""

import json
import signal
import subprocess
import tempfile

import server_case
from server_case import PARTS, SENTENCE, Server, ServerCase


def translated(*arguments):
    run = subprocess.run([server_case.PROGRAM, "translate", *arguments], capture_output=True, text=True, check=True)
    return run.stdout


class Answers(ServerCase):
    def test_translations_are_the_commands(self):
        status, headers, text = self.server.post("/api/translate", {"text": SENTENCE, "beams": 4, "n_best": 2})
        self.assertEqual(status, 200)
        lines = [line.split("\t") for line in translated(SENTENCE, "--beam", "4", "--n-best", "2").splitlines()]
        found = json.loads(text)["translations"]
        self.assertEqual([one["text"] for one in found], [line[2] for line in lines])
        for one, line in zip(found, lines):
            self.assertAlmostEqual(one["score"], float(line[1]), delta=1e-4)

    def test_a_line_of_several_sentences_is_put_together(self):
        line = "The group went home. " * 12
        status, _, text = self.server.post("/api/translate", {"text": line})
        self.assertEqual(status, 200)
        self.assertEqual(json.loads(text)["translations"][0]["text"], translated(line, "--show", "none").rstrip("\n"))

    def test_a_list_of_texts_gives_a_list(self):
        texts = [SENTENCE, "", "The old dog. " * 12]
        status, _, text = self.server.post("/api/translate", {"text": texts, "n_best": 2})
        self.assertEqual(status, 200)
        alone = [json.loads(self.server.post("/api/translate", {"text": one, "n_best": 2})[2]) for one in texts]
        self.assertEqual(json.loads(text), alone)
        for wrong, message in (([], "body.text has 0 texts; expected 1 to 256"),
                               (["a", 1], "body.text[1] is 1; expected a string"),
                               (["a" * 8001], "body.text[0] has 8001 bytes; at most 8000 are accepted"),
                               (["a"] * 257, "body.text has 257 texts; expected 1 to 256")):
            status, _, text = self.server.post("/api/translate", {"text": wrong})
            self.assertEqual(status, 422)
            self.assertIn(message, json.loads(text)["error"])
        self.assertEqual(self.server.post("/api/attend", {"text": texts})[0], 422)

    def test_a_text_in_parts_says_so(self):
        long = "The old dog sleeps. " * 12
        notes = json.loads(self.server.post("/api/translate", {"text": [long, SENTENCE]})[2])
        self.assertEqual([one.get("notes") for one in notes], [["translated sentence by sentence"], None])
        records = lambda **body: json.loads(self.server.post("/api/page", body)[2])["records"]
        places = lambda **body: [(one["part"]["number"], one["part"]["of"]) for one in records(**body)]
        self.assertEqual(places(text=long), [(1, 12)])
        self.assertEqual([places(text=long, caret=at) for at in (0, 19, 20, 100, 8000)], [[(n, 12)] for n in (1, 1, 2, 6, 12)])
        self.assertEqual(places(text=" \t " + long, caret=22), [(1, 12)])
        self.assertEqual(places(text=long, part=3, caret=0), [(3, 12)])
        whole = json.loads(self.server.post("/api/page", {"text": long, "part": 3, "whole": True})[2])["live"]["parts"]
        german = json.loads(self.server.post("/api/translate", {"text": "The old dog sleeps."})[2])["translations"][0]["text"]
        expected = [{"gap": " " if i else "", "source": "The old dog sleeps.", "text": german} for i in range(12)]
        self.assertEqual(whole, expected)
        self.assertNotIn("parts", json.loads(self.server.post("/api/page", {"text": SENTENCE, "whole": True})[2])["live"])
        saved = self.server.post("/api/file", {"text": long})[2]
        self.assertEqual(saved.count('"part":{"line":1,'), 12)
        self.assertEqual(places(text=long, part=3, without=["cross:1"]), [(3, 12)] * 2)
        self.assertEqual([one.get("part", {}).get("number") for one in records(text=long, part=3, compare=SENTENCE)], [3, None])
        self.assertEqual(len(records(text=SENTENCE, part=1)), 1)
        self.assertEqual(self.server.post("/api/file", {"text": long, "without": ["cross:1"]})[2].count('"part":{"line":1,'), 0)
        beside = self.server.post("/api/page", {"text": SENTENCE, "compare": long})[2]
        self.assertIn("the text is shown as a whole, and is longer than any that the model has learned; translate splits it into sentences, in 12 parts", beside)

    def test_a_part_of_a_text_is_attended_to(self):
        parts = PARTS
        attend = lambda **body: json.loads(self.server.post("/api/attend", body)[2])
        record = attend(text="  ".join(parts), part=2)
        alone = attend(text=parts[1])
        self.assertEqual(record.pop("part"), {"line": 1, "number": 2, "of": 3, "text": "  ".join(parts), "gap": "  "})
        self.assertEqual(record, alone)
        self.assertNotIn("part", attend(text="  ".join(parts)))
        experiment = attend(text="  ".join(parts), part=2, without=["cross:1"])
        self.assertEqual([experiment[when]["part"]["number"] for when in ("before", "after")], [2, 2])
        for part, message in ((4, "the request: body.part is 4, but this text is translated in 3 parts"),
                              (0, "body.part is 0; expected 1 to 8000"), ("2", "body.part is \"2\"; expected an integer")):
            status, _, text = self.server.post("/api/attend", {"text": " ".join(parts), "part": part})
            self.assertEqual(status, 422)
            self.assertIn(message, json.loads(text)["error"])
        self.assertEqual(self.server.post("/api/translate", {"text": " ".join(parts), "part": 1})[0], 422)

    def test_rules_of_what_is_generated_count(self):
        body = {"text": SENTENCE, "no_repeat_ngram": 1, "min_length": 9, "repetition_penalty": 1.5, "encoder_no_repeat_ngram": 3}
        status, _, text = self.server.post("/api/translate", body)
        self.assertEqual(status, 200)
        self.assertEqual(json.loads(text)["translations"][0]["text"] + "\n", translated(SENTENCE, "--show", "none", "--no-repeat-ngram", "1",
            "--min-length", "9", "--repetition-penalty", "1.5", "--encoder-no-repeat-ngram", "3"))

    def test_translations_are_drawn(self):
        body = {"text": SENTENCE, "sample": True, "n_best": 3, "temperature": 1.3, "top_k": 0, "top_p": 0.99, "min_p": 0.001,
                "typical": 0.99, "sample_seed": 2**64 - 1}
        status, _, text = self.server.post("/api/translate", body)
        self.assertEqual(status, 200, text)
        lines = translated(SENTENCE, "--sample", "--n-best", "3", "--temperature", "1.3", "--top-k", "0", "--top-p", "0.99",
                           "--min-p", "0.001", "--typical", "0.99", "--sample-seed", str(2**64 - 1), "--show", "none").splitlines()
        self.assertEqual([one["text"] for one in json.loads(text)["translations"]], [line.split("\t")[2] for line in lines])
        status, _, text = self.server.post("/api/attend", {"text": SENTENCE, "sample": True, "temperature": 1.3})
        self.assertEqual((status, text), (200, translated(SENTENCE, "--sample", "--temperature", "1.3", "--json", "-")))
        for more, message in (({"top_k": 3}, "top_k needs sample"), ({"sample": True, "beams": 2}, "beam 2 cannot be combined with it"),
                              ({"sample": True, "top_p": 2}, "body.top_p is 2; expected 0.0001 to 1"),
                              ({"sample": True, "sample_seed": -1}, "body.sample_seed is -1; expected 0 to 18446744073709551615"),
                              ({"sample": 1}, "body.sample is 1; expected true or false")):
            status, _, text = self.server.post("/api/translate", {"text": SENTENCE, **more})
            self.assertEqual(status, 422)
            self.assertIn(message, json.loads(text)["error"])

    def test_a_language_without_a_token_is_refused(self):
        status, _, text = self.server.post("/api/translate", {"text": SENTENCE, "target_lang": "de"})
        self.assertEqual(status, 422)
        self.assertIn("target_lang de: ", json.loads(text)["error"])
        self.assertIn("has no language tokens", json.loads(text)["error"])

    def test_prefixes_stand_before_texts(self):
        def record(**body):
            return json.loads(self.server.post("/api/attend", body)[2])["source"]

        whole = record(text=SENTENCE)
        self.assertEqual(record(text="went home", prefix="The group "), whole)
        self.assertEqual(record(text=SENTENCE, prefix="The group "), whole)
        answers = json.loads(self.server.post("/api/translate", {"text": ["went home", ""], "prefix": "The group "})[2])
        self.assertEqual([one["translations"][0]["text"] for one in answers], [translated(SENTENCE, "--show", "none").rstrip("\n"), ""])
        status, _, text = self.server.post("/api/translate", {"text": SENTENCE, "prefix": "a" * 8001})
        self.assertEqual(status, 422)
        self.assertIn("body.prefix has 8001 bytes", json.loads(text)["error"])

    def test_languages_are_chosen_and_missed(self):
        with tempfile.TemporaryDirectory() as folder:
            nllb, t5 = server_case.made_model(folder, "nllb"), server_case.made_model(folder, "t5", **server_case.T5_PREFIXES)
            server = Server("--model", nllb, "--model", t5, "--prefix", "The ")
            self.addCleanup(server.stop)

            def ask(path="/api/translate", **body):
                status, _, text = server.post(path, {"text": "home", "max_length": 4, **body})
                return status, json.loads(text)

            note = f"{nllb} writes 202 languages, and its files choose none: give target_lang"
            self.assertEqual(ask()[1]["notes"], [note])
            self.assertEqual([one.get("notes") for one in ask(text=["home", "home"])[1]], [[note], [note]])
            self.assertEqual(ask("/api/page")[1]["live"]["notes"], [note])
            self.assertNotIn("notes", ask(target_lang="de")[1])
            record = ask("/api/attend", source_lang="fr", target_lang="German")[1]
            self.assertEqual((record["source"]["tokens"][0], record["hypotheses"][0]["tokens"][0]), ("fra_Latn", "deu_Latn"))
            status, answer = ask(target_lang="Germn")
            self.assertEqual(status, 422)
            self.assertIn("target_lang Germn: ", answer["error"])
            self.assertIn("the nearest is deu_Latn (German)", answer["error"])
            # The choices that the page offers.
            choices = ask("/api/page", choices=True, target_lang="fr")[1]["live"]["choices"]
            self.assertEqual((len(choices["languages"]), choices["source"], choices["target"]), (202, "eng_Latn", ""))
            self.assertIn(["zho_Hans", "Chinese (Simplified)"], choices["languages"])
            self.assertNotIn("choices", ask("/api/page")[1]["live"])
            self.assertEqual(ask("/api/page", choices=True, model=t5)[1]["live"]["choices"], {"prefixes": ["to German: ", "to French: "]})
            # A request's prefix replaces the server's.
            sources = [ask("/api/attend", model=t5, text="group", **more)[1]["source"]["text"] for more in ({}, {"prefix": "to German: "}, {"prefix": ""})]
            self.assertEqual(sources, ["The group", "to German: group", "group"])

    def test_line_breaks_and_markup_survive(self):
        def ask(path, body):
            status, _, text = self.server.post(path, body)
            return status, json.loads(text)

        def translated(text, **more):
            status, answer = ask("/api/translate", {"text": text, **more})
            self.assertEqual(status, 200, answer)
            return answer["translations"][0]["text"], answer.get("notes", [])

        first, second = translated("The group went home.")[0], translated("The children slept.")[0]
        text = "  The group went home.\r\n\r\n\tThe children slept.\n"
        self.assertEqual(translated(text), (f"  {first}\r\n\r\n\t{second}\n", []))
        self.assertEqual(translated("<p>The group went home.</p><br/><i>The children slept.</i> ", format="html"),
                         (f"<p>{first}</p><br/><i>{second}</i> ",
                          ["5 tags kept: taken out before the translation and put back into it"]))
        kept, notes = translated("Hello {{customer.name}}, the <b>house</b> & the group")
        self.assertIn("{{customer.name}}", kept)
        self.assertTrue(any(note.startswith("2 tags and 1 placeholder kept") for note in notes), notes)
        status, answer = ask("/translate", {"q": [text, "<b>The group went home.</b>"], "target": "de", "format": "html"})
        self.assertEqual((status, answer["translatedText"][1]), (200, f"<b>{first}</b>"))
        status, answer = ask("/translate", {"q": text, "source": "en", "target": "de"})
        self.assertEqual((status, answer), (200, {"translatedText": f"  {first}\r\n\r\n\t{second}\n"}))
        status, answer = ask("/api/page", {"text": "The group\n  went home", "whole": True})
        self.assertEqual([(one["gap"], one["source"]) for one in answer["live"]["parts"]],
                         [("", "The group"), ("\n  ", "went home")])
        status, answer = ask("/api/attend", {"text": "The group\nwent home"})
        self.assertEqual(answer["source"]["text"], "The group went home")

    def test_clients_of_libretranslate_are_answered(self):
        def ask(body, path="/translate"):
            status, _, text = self.server.post(path, body)
            return status, json.loads(text)

        german = translated(SENTENCE, "--show", "none").rstrip("\n")
        usual = {"q": SENTENCE, "source": "en", "target": "de", "format": "text", "api_key": "x"}
        self.assertEqual(ask(usual), (200, {"translatedText": german}))
        self.assertEqual(ask({"q": SENTENCE, "target": "de"}), (200, {"translatedText": german,
            "detectedLanguage": {"confidence": 93, "language": "en"}}))
        status, answer = ask({**usual, "alternatives": 2})
        lines = translated(SENTENCE, "--beam", "4", "--n-best", "4").splitlines()
        texts = dict.fromkeys(line.split("\t")[2] for line in lines)  # the search finds one of them twice
        self.assertLess(len(texts), len(lines))
        self.assertEqual([answer["translatedText"], *answer["alternatives"]], list(texts)[:3])
        status, answer = ask({**usual, "q": [SENTENCE, "The old dog"]})
        self.assertEqual(answer["translatedText"], [german, translated("The old dog", "--show", "none").rstrip("\n")])
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        status, _, text = self.server.ask("POST", "/translate", "q=The+group%20went+home&source=en&target=de", form)
        self.assertEqual((status, json.loads(text)), (200, {"translatedText": german}))
        status, _, text = self.server.ask("POST", "/translate", "q=The+group%20went+home&source=en&target=de&alternatives=2", form)
        self.assertEqual((status, json.loads(text)), ask({**usual, "alternatives": 2}))
        self.assertEqual(self.server.ask("POST", "/api/translate", "text=a", form)[0], 415)
        for more, message in (({"target": "es"}, "no model translates en to es; served: en to de"),
                              ({"format": "xml"}, "body.format is xml; expected text or html"),
                              ({"alternatives": 64}, "body.alternatives is 64; expected 0 to 63"),
                              ({"files": 1}, "files")):
            status, answer = ask({**usual, **more})
            self.assertEqual(status, 422)
            self.assertIn(message, answer["error"])
        self.assertIn("body.q is missing", ask({"target": "de"})[1]["error"])
        status, _, text = self.server.ask("GET", "/languages")
        self.assertEqual([one["code"] for one in json.loads(text)], ["en", "de"])

    def test_records_are_the_commands(self):
        status, _, text = self.server.post("/api/attend", {"text": SENTENCE})
        self.assertEqual(status, 200)
        self.assertEqual(text, translated(SENTENCE, "--json", "-"))

    def test_what_a_record_may_hold_more_is_the_commands(self):
        status, _, text = self.server.post("/api/attend", {"text": SENTENCE, "vectors": True, "tree": True, "report": True})
        self.assertEqual(status, 200)
        # The command ends with the statistics over all sentences.
        lines = translated(SENTENCE, "--vectors", "--tree", "--report", "--align", "--json", "-").splitlines(True)
        self.assertEqual(text, lines[0])

    def test_every_setting_of_the_search_counts(self):
        body = {"text": "The old dog", "beams": 3, "n_best": 3, "length_penalty": 3, "early_stopping": "never", "max_length": 12}
        status, _, text = self.server.post("/api/attend", body)
        self.assertEqual(status, 200)
        self.assertEqual(text, translated("The old dog", "--beam", "3", "--n-best", "3", "--length-penalty", "3",
            "--early-stopping", "never", "--max-length", "12", "--json", "-"))
        lengths = [len(one["ids"]) for one in json.loads(text)["hypotheses"]]
        self.assertEqual((len(lengths), max(lengths)), (3, 12))

    def test_the_longest_text_is_taken(self):
        body = {"text": "a" * 8000, "beams": 1, "max_length": 2}
        self.assertEqual(self.server.post("/api/translate", body)[0], 200)

    def test_an_answer_tells_what_took_how_long(self):
        for path, parts, more in (("translate", "segmentation search", {}), ("attend", "segmentation encoder search maps record", {}),
                                  ("page", "segmentation encoder search maps record", {}),
                                  ("page", "segmentation encoder maps record", {"target": "Die Gruppe"}),
                                  ("page", "segmentation encoder search maps record", {"without": "cross:0"})):
            _, headers, _ = self.server.post("/api/" + path, {"text": SENTENCE, **more})
            self.assertRegex(headers["Server-Timing"], "^" + ", ".join(rf"{part};dur=\d+\.\d\d" for part in parts.split()) + "$")

    def test_answers_have_a_size(self):
        text = "The group went home and " * 100
        for more in ({"beams": 64, "n_best": 64}, {"tree": True, "beams": 64}, {"n_best": 2, "vectors": True, "without": "cross:0"}):
            status, message = self.error(self.server.post("/api/attend", {"text": text, **more}))
            self.assertEqual(status, 422)
            self.assertRegex(message, r"^the answer may take \d+ MB, and at most 256 are made; ask for a shorter sentence, "
                "a smaller max_length, fewer translations, or leave tree and vectors out$")
        # A page omits the parts that are too large.
        whole = {"beams": 2, "vectors": True, "tree": True}
        for count, holds in ((1, {"vectors", "search"}), (20, {"vectors"}), (60, set())):
            status, _, answer = self.server.post("/api/page", {"text": "The group went home and " * count, **whole})
            self.assertEqual(status, 200)
            self.assertEqual({"vectors", "search"} & set(json.loads(answer)["records"][0]), holds, count)

    def test_head_is_get_without_a_body(self):
        status, headers, text = self.server.ask("HEAD", "/")
        self.assertEqual((status, headers["Content-Type"], text), (200, "text/html; charset=utf-8", ""))

    def test_a_given_translation_is_scored(self):
        target = "Die Gruppe ging nach Hause"
        status, _, text = self.server.post("/api/attend", {"text": SENTENCE, "target": target})
        self.assertEqual(status, 200)
        self.assertEqual(text, translated(SENTENCE, "--target", target, "--json", "-"))

    def test_experiments_are_the_commands(self):
        body = {"text": SENTENCE, "without": ["cross:1:3"], "force": ["cross:0:1:1=group"], "swap": ["home=away"]}
        status, _, text = self.server.post("/api/attend", body)
        self.assertEqual(status, 200)
        self.assertEqual(text, translated(SENTENCE, "--without", "cross:1:3", "--force", "cross:0:1:1=group",
            "--swap", "home=away", "--json", "-"))

    def test_experiments_with_a_given_translation_are_the_commands(self):
        target = "Die Gruppe ging heim"
        body = {"text": SENTENCE, "target": target, "without": ["cross:1:3"], "swap": ["home=away"]}
        status, _, text = self.server.post("/api/attend", body)
        self.assertEqual(status, 200)
        self.assertEqual(text, translated(SENTENCE, "--target", target, "--without", "cross:1:3", "--swap", "home=away",
            "--json", "-"))

    def test_two_sentences_stand_side_by_side_on_the_page(self):
        status, _, text = self.server.post("/api/page", {"text": SENTENCE, "compare": "The girl went home"})
        self.assertEqual(status, 200)
        page = json.loads(text)
        self.assertEqual([one["source"]["text"] for one in page["records"]], [SENTENCE, "The girl went home"])
        self.assertEqual(page["records"][1]["changes"], ["another sentence"])
        self.assertEqual(page["live"], {"notes": []})

    def test_the_saved_page_is_the_offline_one(self):
        status, headers, text = self.server.post("/api/file", {"text": SENTENCE, "vectors": True, "tree": True, "report": True})
        self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertEqual(text, translated(SENTENCE, "--html", "-"))

    def test_notes_say_what_became_of_the_sentence(self):
        for text, note in (
            ("a " * 3000, "the sentence is longer than the model's 512 positions: its end was left out"),
            ("a\u0007b", "control characters were replaced"),
        ):
            status, _, answer = self.server.post("/api/translate", {"text": text, "beams": 1, "max_length": 5})
            self.assertEqual(status, 200)
            self.assertIn(note, json.loads(answer)["notes"])
        _, _, answer = self.server.post("/api/translate", {"text": "a \u2603"})  # spelled in bytes, so nothing is unknown
        self.assertNotIn("notes", json.loads(answer))

    def test_an_empty_sentence_is_answered(self):
        status, _, text = self.server.post("/api/translate", {"text": ""})
        self.assertEqual((status, text), (200, '{"translations":[{"text":"","score":0}]}\n'))

    def test_parts_of_an_answer_are_not_served(self):
        for parts in ("bytes=0-1", "bytes=" + ",".join(["0-"] * 2000)):
            status, _, text = self.server.ask("GET", "/", headers={"Range": parts})
            self.assertEqual((status, text), (200, self.server.ask("GET", "/")[2]))

    def test_answers_are_not_packed(self):
        _, headers, _ = self.server.ask("GET", "/", headers={"Accept-Encoding": "gzip, br"})
        self.assertNotIn("Content-Encoding", headers)

    def test_headers_let_no_other_page_in(self):
        _, headers, text = self.server.ask("GET", "/")
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        self.assertEqual(headers["X-Frame-Options"], "DENY")
        self.assertEqual(headers["Referrer-Policy"], "no-referrer")
        self.assertEqual(headers["Cross-Origin-Opener-Policy"], "same-origin")
        self.assertEqual(headers["Cross-Origin-Resource-Policy"], "same-origin")
        self.assertEqual(headers["Cache-Control"], "no-store")
        policy = headers["Content-Security-Policy"]
        self.assertTrue(policy.startswith("default-src 'none'; script-src 'sha256-"), policy)
        self.assertTrue(policy.endswith("connect-src 'self'; base-uri 'none'; form-action 'none'; "
            "require-trusted-types-for 'script'; frame-ancestors 'none'"), policy)
        self.assertNotIn("Set-Cookie", headers)
        self.assertTrue(text.startswith("<!doctype html>"))


class Refusals(ServerCase):
    def test_bodies_that_are_no_json(self):
        for body, message in (
                ("", "the body:1:1: found no text, expected a JSON value; is the file complete?"),
                ('{"text":3', "the body:1:10: found the end of the text, expected ',' or '}'; is it complete?"),
                ('{"text":"a","text":"b"}', "the body:1:18: found the key 'text' a second time in one object, expected each key once"),
        ):
            status, found = self.error(self.server.post("/api/translate", body))
            self.assertEqual(status, 400, body)
            self.assertEqual(found, message)

    def test_bodies_that_mean_nothing(self):
        for path, body, message in (
            ("translate", {}, 'the request: body.text is missing; expected {"text": "…"}'),
            ("translate", [], "the request: body: expected a JSON object, {...}, but found []"),
            ("translate", {"text": 3}, "the request: body.text is 3; expected a string"),
            ("translate", {"txt": "a"}, 'the request: unknown key "txt" in body; the nearest known one is "text"'),
            ("translate", {"text": "a", "target": "b"},
                'the request: unknown key "target" in body; the nearest known one is "target_lang"'),
            ("translate", {"text": "a", "beams": 0}, "the request: body.beams is 0; expected 1 to 64"),
            ("translate", {"text": "a", "beams": 65}, "the request: body.beams is 65; expected 1 to 64"),
            ("translate", {"text": "a", "beams": 2.5}, "the request: body.beams is 2.5; expected an integer"),
            ("translate", {"text": "a", "beams": True}, "the request: body.beams is true; expected an integer"),
            ("translate", {"text": "a", "beams": 2, "n_best": 3},
                "n_best 3 is more than the 2 beams of the search; ask for more beams"),
            ("translate", {"text": "a", "length_penalty": 101},
                "the request: body.length_penalty is 101; expected -100 to 100"),
            ("translate", {"text": "a", "early_stopping": "yes"},
                'the request: body.early_stopping is "yes"; expected true, false or "never"'),
            ("translate", {"text": "a" * 8001},
                "the request: body.text has 8001 bytes; at most 8000 are accepted, so send it in parts"),
            ("translate", {"text": "a", "model": "/etc/passwd"},
                "the request: no model /etc/passwd is served; the nearest is data/models/en-de"),
            ("translate", {"text": "a", "model": "a\n\u001b[31m"},
                "the request: no model a\\u{a}\\u{1b}[31m is served; the nearest is data/models/en-de"),
            ("attend", {"text": "a", "without": ["cross:0"] * 65}, "the request: body.without has 65 entries; at most 64 are accepted"),
            ("attend", {"text": "a", "without": [3]}, "the request: body.without[0] is 3; expected a string"),
            ("attend", {"text": "a", "without": ["cross:9:1"]},
                "without cross:9:1: no layer 9: the decoder has layers 0 to 2"),
            ("attend", {"text": "a", "swap": ["7=b"]}, "swap 7=b: the sentence has words 0 to 0"),
            ("attend", {"text": "a", "target": "Die Gruppe", "force": ["cross:0:0:90=0"]},
                "force cross:0:0:90=0: no query 90: the sentence has queries 0 to 2"),
            ("attend", {"text": "", "without": "cross:0"}, "the sentence has no tokens, so there is nothing to change"),
            ("attend", {"text": "a", "target": "b", "sample": True}, "the request: sample asks for a random translation, and target gives one; leave one out"),
            *[("attend", {"text": "a", "tree": True, **more},
               "the request: tree shows a search with several beams; leave it out beside sample, target, without, force and swap, "
               "and ask for 2 beams or more") for more in ({"beams": 1}, {"target": "b"}, {"sample": True}, {"without": "cross:0"})],
            ("page", {"text": "a", "compare": "b", "target": "c"},
                "the request: compare shows two unchanged sentences side by side; leave target, without, force and swap out"),
        ):
            with self.subTest(body=body):
                self.assertEqual(self.error(self.server.post("/api/" + path, body)), (422, message))

    def test_paths_and_methods(self):
        for method, path, status, message in (
            ("GET", "/index.html", 404,
                "nothing is at /index.html; the page is at /, the API at /api/translate, /api/attend and /api/why"),
            ("POST", "/", 405, "/ takes GET, not POST"),
            ("GET", "/api/translate", 405, "/api/translate takes POST, not GET"),
            ("DELETE", "/api/attend", 405, "/api/attend takes POST, not DELETE"),
            ("OPTIONS", "/api/attend", 405, "/api/attend takes POST, not OPTIONS"),
        ):
            with self.subTest(path=path):
                answer = self.server.ask(method, path, "{}" if method == "POST" else None)
                self.assertEqual(self.error(answer), (status, message))
                if status == 405:
                    self.assertEqual(answer[1]["Allow"], message.split()[2].rstrip(","))

    def test_what_headers_alone_refuse(self):
        for headers, status, message in (
            ({"Content-Type": "text/plain"}, 415, "Content-Type is text/plain; expected application/json"),
            ({"Content-Encoding": "gzip"}, 415, "compressed bodies are not supported"),
            ({"Origin": "http://evil.example"}, 403,
                "pages of http://evil.example may not use this server; open its own page"),
            ({"Origin": "null"}, 403, "pages of null may not use this server; open its own page"),
            ({"Sec-Fetch-Site": "cross-site"}, 403,
                "pages of other sites may not use this server; open its own page"),
            ({"Host": "evil.example"}, 421,
                f"Host evil.example is not this server's name; use 127.0.0.1:{self.server.port}"),
            ({"Host": f"evil.example:{self.server.port}"}, 421,
                f"Host evil.example:{self.server.port} is not this server's name; use 127.0.0.1:{self.server.port}"),
            ({"Host": "127.0.0.1:1"}, 421,
                f"Host 127.0.0.1:1 is not this server's name; use 127.0.0.1:{self.server.port}"),
        ):
            with self.subTest(headers=headers):
                answer = self.server.ask("POST", "/api/translate", {"text": "a"},
                    {"Content-Type": "application/json", **headers})
                self.assertEqual(self.error(answer), (status, message))

    def test_own_names_and_pages_pass(self):
        for host in ("localhost", "127.0.0.1", "LOCALHOST"):
            headers = {"Host": f"{host}:{self.server.port}", "Origin": f"http://{host}:{self.server.port}",
                "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json; charset=utf-8"}
            self.assertEqual(self.server.ask("POST", "/api/translate", {"text": ""}, headers)[0], 200, host)


class Starting(server_case.unittest.TestCase):
    def failure(self, *arguments):
        run = subprocess.run([server_case.PROGRAM, "serve", *arguments], capture_output=True, text=True,
            timeout=server_case.PATIENCE)
        self.assertEqual(run.stdout, "")
        return run.returncode, run.stderr.splitlines()[-1]

    def test_a_port_in_use(self):
        with server_case.socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            code, line = self.failure("--port", str(port))
        self.assertEqual(code, 4)
        with open("/proc/self/comm", encoding="utf-8") as name:
            own = name.read().strip()
        self.assertEqual(line, f"attn-demo: 127.0.0.1:{port}: the port is in use ({own}, process "
            f"{server_case.os.getpid()} listens there); end that program, or choose another port: --port {port + 1}")

    def test_arguments_that_are_none(self):
        self.assertEqual(self.failure("--port", "70000"),
            (2, "attn-demo: --port 70000: expected a whole number from 0 to 65535, in plain decimals"))
        self.assertEqual(self.failure("--host", "192.0.2.1", "--port", "0"),
            (4, "attn-demo: 192.0.2.1:0: this machine does not have that address; --host 127.0.0.1 is its own"))
        self.assertEqual(self.failure("--model", "x", "--model", "x"), (2, "attn-demo: --model x is named twice"))
        self.assertEqual(self.failure("--model", "/no/model")[0], 4)

    def test_signals_end_it(self):
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
            server = Server()
            self.assertEqual(server.post("/api/translate", {"text": SENTENCE})[0], 200)
            found, seconds, errors = server.stop(number)
            self.assertEqual(found, code)
            self.assertEqual(errors, "note: open the address in a browser; Ctrl-C stops the server\n")

    def test_a_model_that_fails_to_load_when_chosen(self):
        server = Server("--model", server_case.os.path.join(server_case.ROOT, "data/models/en-de"), "--model", "/no/model")
        try:
            self.assertEqual(server.post("/api/translate", {"text": SENTENCE})[0], 200)
            status, _, text = server.post("/api/translate", {"text": SENTENCE, "model": "/no/model"})
            # The client has made no mistake, and must not learn the names of the server's folders.
            self.assertEqual((status, json.loads(text)["error"]), (503, "the model /no/model cannot be loaded; the server's own messages say why"))
            self.assertEqual(server.post("/api/translate", {"text": SENTENCE})[0], 200)
        finally:
            errors = server.stop()[2]
        self.assertIn("note: /no/model: no such model directory", errors)


class Token(server_case.unittest.TestCase):
    def test_outside_of_loopback_a_token_is_asked_for(self):
        server = Server(host="0.0.0.0")
        try:
            path, token = server.url.split("/?token=")
            self.assertRegex(token, "^[0-9a-f]{32}$")
            message = ("the token is missing or wrong; open the address that the server printed, or send "
                "Authorization: Bearer TOKEN")
            for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": "Bearer " + "0" * 32},
                            {"Cookie": f"attn-demo-{server.port}=x"}):
                status, _, text = server.ask("POST", "/api/translate", {"text": ""},
                    {"Content-Type": "application/json", **headers})
                self.assertEqual((status, json.loads(text)), (401, {"error": message}))
            self.assertEqual(server.ask("GET", "/?token=x")[0], 401)
            # The token is accepted only in the page's address, because addresses of other paths end up in logs and
            # histories.
            self.assertEqual(server.ask("POST", "/api/translate?token=" + token, {"text": ""})[0], 401)
            status, headers, _ = server.ask("GET", "/?token=" + token)
            self.assertEqual(status, 200)
            self.assertEqual(headers["Set-Cookie"], f"attn-demo-{server.port}={token}; Path=/; HttpOnly; SameSite=Strict")
            for headers in ({"Authorization": "Bearer " + token}, {"Cookie": headers["Set-Cookie"].split(";")[0]}):
                self.assertEqual(server.ask("POST", "/api/translate", {"text": ""},
                    {"Content-Type": "application/json", **headers})[0], 200)
            self.assertEqual(server.ask("GET", "/?token=" + token, headers={"Host": "evil.example"})[0], 421)
        finally:
            server.stop()
