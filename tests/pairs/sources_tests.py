"""Tests broad sources, dictionaries, nouns, copying, and carrying a model over: part of run_tests.py."""
import re
import struct
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "recipes/en-de"))

import carry_over  # noqa: E402
import make_vocabulary  # noqa: E402
import more_pairs  # noqa: E402
import prepare_pairs  # noqa: E402
from more_pairs import broad, clauses, copying, figures, genders, nouns, other_nouns, said, templates, terms, typing_ways, verbs  # noqa: E402
from more_pairs.draw import Draw  # noqa: E402
from more_pairs.words import lines_of  # noqa: E402


class CarryOverTest(unittest.TestCase):
    """Makes a model of width 2 with one layer per stack, and carries it over to another vocabulary and two
    encoder layers."""

    @staticmethod
    def piece(text: str, score: float, kind: int = 1) -> bytes:
        body = b"\x0a" + bytes([len(text.encode())]) + text.encode() + b"\x15" + struct.pack("<f", score)
        body += b"" if kind == 1 else b"\x18" + bytes([kind])
        return b"\x0a" + bytes([len(body)]) + body

    def test_scores_and_cuts(self):
        spm = (self.piece("</s>", 0, 3) + self.piece("<0x0A>", 0, 6) + self.piece("ab", -1) + self.piece("a", -2)
               + self.piece("b", -2) + self.piece("abc", -9) + self.piece("c", -3) + b"\x12\x03\x18\xc8\x01")
        scores = carry_over.scores_of(spm)
        self.assertEqual(scores, {"ab": -1, "a": -2, "b": -2, "abc": -9, "c": -3})
        self.assertEqual(carry_over.best_cut("abc", scores), ["ab", "c"])
        self.assertEqual(carry_over.best_cut("abd", scores), [])

    def test_rows(self):
        place = {"a": 1, "b": 2, "<0x0A>": 3}
        scores = {"a": -1.0, "b": -1.0}
        self.assertEqual([carry_over.sources_of(piece, place, scores) for piece in ("a", "ab", "x", "<0x0B>")],
                         [[1], [1, 2], [], []])
        fresh = [9.0] * 6
        self.assertEqual(carry_over.table([0, 0, 1, 2, 3, 6], fresh, {0: [1], 1: [1, 2], 2: []}, 2), [1, 2, 2, 4, 9, 9])

    def test_a_new_layer_adds_nothing_and_norms_like_the_last_one(self):
        last = "model.encoder.layers.0.final_layer_norm.weight"
        old = {last: ([2], [3.0, 4.0])}
        fresh = {name: ([2], [1.0, 1.0]) for name in (
            last, "model.encoder.layers.1.self_attn_layer_norm.weight", "model.encoder.layers.1.fc1.weight",
            "model.encoder.layers.1.fc2.weight", "model.encoder.layers.1.self_attn.out_proj.bias")}
        self.assertEqual([carry_over.layer_tensor(name, old, fresh)[1] for name in fresh],
                         [[3, 4], [3, 4], [1, 1], [0, 0], [0, 0]])


class BroadTest(unittest.TestCase):
    rows = [("this is the number 5 of us.", "das ist die Nummer 5 von uns.", "a"), ("He is here now.", "Er ist jetzt da.", "a"),
            ("She is here now.", "Sie ist jetzt da.", "b"), ("He is here now.", "Er ist jetzt da.", "b")]

    def test_faults(self):
        for english, german, fault in [
                ("Open %s now.", "Öffnen Sie jetzt %s.", "placeholder"), ("Hello", "Hallo, wie geht es Ihnen heute? Schön.", "lengths"),
                ("This is not the way to do that.", "This is not the way to do this.", "language"),
                ("Visual Studio Code", "visual studio code", "copy"), ("12:30", "12:30", "no_text"), ("(yes", "(ja", "cut"),
                ("He said \"no.", "Er sagte „nein.", "cut"), ("I am a Berliner.", "Ich bin Berliner.", ""),
                ("What was that?", "Was war das?", "")]:
            self.assertEqual(broad.fault(english, german), fault, english)
        self.assertEqual(broad.tidy("It’s\u00a0 “so”", "»So« geht’s"), ("It's “so”", "„So“ geht’s"))

    def test_cleaned_and_as_often_as_the_source_says(self):
        counts = broad.Counter()
        rows = broad.cleaned(self.rows, counts, True)
        self.assertEqual(len(rows), 3)
        self.assertEqual(counts["left_out_twice"], 1)
        taken = broad.as_often(rows, {"a": (200, 200), "b": (0, 0)}, counts)
        self.assertEqual((taken.count(("He is here now.", "Er ist jetzt da.")), len(taken), counts["b"]), (2, 4, 0))

    def test_he_and_she_lie_in_one_part(self):
        self.assertEqual(broad.part_key("She gave him 12 apples."), broad.part_key("He gave her 7 apples!"))
        weights = broad.weights_of(ROOT / "recipes/en-de/words/sources.tsv")
        self.assertTrue(weights and all(0 <= percent <= 500 for both in weights.values() for percent in both))

    def test_broad_pairs_have_parts_of_their_own(self):
        pairs = [(f"Word {n} stands here.", f"Wort {n} steht da.") for n in range(900)]
        other = [(f"{name} sees the big {thing} today.", f"{name} sieht heute {thing}.", "a")
                 for name in ("Ann", "Ben", "Cem", "Dan", "Eve") for thing in ("oak elm ash fir yew box bay tea rye hop fig nut".split()
                 + [f"{a}{b}" for a in "bcdfgh" for b in ("all", "ank", "oat", "ird", "one", "ell", "ool")])]
        parts, counts = prepare_pairs.prepare(pairs, 15, [], prepare_pairs.Further(broad=other))
        self.assertEqual(sum(len(parts[part]) for part in ("broad-dev", "broad-test")) + counts["broad"]["a"], len(other))
        self.assertFalse(set(parts["broad-dev"]) & set(parts["train"]))
        with tempfile.TemporaryDirectory() as folder:
            prepare_pairs.write(parts, counts, Path(folder), True)
            self.assertEqual((Path(folder) / "test.target").read_text().splitlines()[0], parts["test"][0][0])


class NounsTest(unittest.TestCase):
    filler, everyday, sentences = nouns.filler_of(ROOT / "recipes/en-de/words", lines_of)

    def filled(self, noun: str, english: str, german: str, classes=("person",)):
        first = next(found for found in self.everyday if found.german == noun)
        return self.filler.fill(([list(classes)], english, german), first, Draw(1))

    def test_forms(self):
        for noun, german, filled in [
                ("Nachbar", "Ich sah {ein.acc}.", "Ich sah einen Nachbarn."), ("Nachbar", "mit {der.dat.s}", "mit den Nachbarn"),
                ("Kind", "Von {der.dat.s}.", "Von den Kindern."), ("Kind", "Wir gehen zu {der.dat}.", "Wir gehen zum Kind."),
                ("Tochter", "bei {mein.dat}", "bei meiner Tochter"), ("Frau", "{dies.nom} und {rel.dat}", "diese Frau und der"),
                ("Arzt", "{der.gen}", "des Arztes"), ("Lehrer", "{ein.nom:neu}", "ein neuer Lehrer"),
                ("Lehrer", "{der.acc:alt}", "den alten Lehrer")]:
            self.assertEqual(self.filled(noun, "x", german)[1], filled)

    def test_english_article_and_plural(self):
        self.assertEqual(self.filled("Anwalt", "{a} and {s}", "{ein.nom}")[0], "a lawyer and lawyers")
        self.assertEqual(self.filled("Ingenieur", "{a}", "{ein.nom}")[0], "an engineer")
        self.assertEqual([nouns.english_plural(word) for word in ("box", "baby", "boy", "dish")],
                         ["boxes", "babies", "boys", "dishes"])

    def test_every_sentence_can_be_filled(self):
        for sentence in self.sentences:
            candidates = self.filler.candidates(sentence[0][0]) if "term" not in sentence[0][0] else []
            filled = [self.filler.fill(sentence, noun, Draw(at)) for at, noun in enumerate(candidates[:20])]
            self.assertFalse([pair for pair in filled if pair and re.search(r"[{}*]|  ", "".join(pair))])
            self.assertTrue(not candidates or any(filled), sentence)

    def test_no_noun_is_there_twice(self):
        names = [(noun.kind, name) for noun in self.everyday for name, _ in noun.english]
        self.assertEqual(sorted(names), sorted(set(names)))
        self.assertGreater(len(self.everyday), 1000)


class ClausesTest(unittest.TestCase):
    words = ROOT / "recipes/en-de/words"
    actions = verbs.read_actions(lines_of(words / "actions.tsv"))
    maker = clauses.ClauseMaker(nouns.filler_of(words, lines_of)[0].by_kind, actions, verbs.read_handled(lines_of(words / "handled.tsv")))

    def action(self, german: str):
        return next(found for found in self.actions["person"] if found.german[0] == german)

    def test_the_verb_goes_where_the_clause_wants_it(self):
        she = verbs.PRONOUN_SUBJECTS[3]
        for german, tense, order, negated, expected in [
                ("auf|stehen", "pres", "second", "", "sie steht früh auf"), ("auf|stehen", "past", "last", "not", "sie nicht früh aufstand"),
                ("auf|stehen", "plup", "first", "", "war sie früh aufgestanden"), ("waschen", "perf", "second", "", "sie hat sich die Hände gewaschen"),
                ("helfen", "would_have", "last", "never", "sie ihrem Bruder nie geholfen hätte"), ("lösen", "fut", "second", "not", "sie wird das Problem nicht lösen"),
                ("fern|sehen", "musste mussten", "last", "", "sie fernsehen musste")]:
            self.assertEqual(verbs.german_clause(she, self.action(german), tense, order, negated), expected)

    def test_persons_agree(self):
        i, we, *_, they = verbs.PRONOUN_SUBJECTS
        self.assertEqual(verbs.german_clause(i, self.action("waschen"), "past"), "ich wusch mir die Hände")
        self.assertEqual(verbs.german_clause(we, self.action("helfen"), "past"), "wir halfen unserem Bruder")
        self.assertEqual(verbs.german_clause(they, self.action("warten"), "past", "last"), "sie auf den Bus warteten")
        self.assertEqual(verbs.english_clause(they, self.action("helfen"), "pres", "not"), "they don't help their brother")
        self.assertEqual(verbs.english_clause(verbs.PRONOUN_SUBJECTS[2], self.action("auf|stehen"), "pres"), "he gets up early")

    def test_a_pronoun_has_the_gender_of_its_noun(self):
        lamp = next(noun for noun in self.maker.nouns["thing"] if noun.german == "Lampe")
        maker = clauses.ClauseMaker(self.maker.nouns | {"thing": [lamp], "wear": [lamp]}, self.actions, self.maker.handled)
        english, german = maker.object_again(Draw("lamp", 1))
        self.assertIn("it was too", english)
        self.assertRegex(german, r"Lampe.*, (aber|weil) sie ")

    def test_every_pattern_gives_whole_sentences(self):
        for pattern in self.maker.patterns:
            found = [pair for pair in (pattern(Draw(pattern.__name__, number)) for number in range(60)) if pair]
            self.assertGreater(len(found), 20, pattern.__name__)
            for english, german in found:
                self.assertRegex(english, r"^[A-Z][^{}|~]*[.?]$")
                self.assertRegex(german, r"^[A-ZÄÖÜ][^{}|~]*[.?]$")
                self.assertNotIn("  ", english + german)

    def test_senses_and_sayings_have_both_sides(self):
        for name in ("senses.tsv", "sayings.tsv"):
            rows = [line.split("\t") for line in lines_of(self.words / name)]
            self.assertTrue(all(len(row) == 2 and all(row) for row in rows))
            self.assertEqual(len(rows), len({row[0] for row in rows}))


class OtherNounsTest(unittest.TestCase):
    known = nouns.read_nouns(["animal\tdog\tHund\tm\tHunde", "animal\towl\tEule\tf\tEulen", "animal\tape\tAffe\tw\tAffen",
                              "animal\tseal/seals\tSeehund\tm\tSeehunde", "animal\tant\tAmeise\tf\tAmeisen", "food\troll\tBrötchen\tn\tBrötchen"])
    pairs = [("I saw a dog.", "Ich sah einen Hund."), ("Dogs bark.", "Hunde bellen."), ("He plays with the dogs.", "Er spielt mit den Hunden."),
             ("The dog saw the other dog.", "Der Hund sah den anderen Hund.")]

    def put(self, german: str, pairs=None) -> set:
        noun = next(noun for noun in self.known if noun.german == german)
        others = other_nouns.OtherNouns(pairs or self.pairs, self.known)
        return {others.put(noun, Draw("put", number)) for number in range(60)}

    def test_the_same_gender_and_form(self):
        self.assertEqual(self.put("Seehund"), {("I saw a seal.", "Ich sah einen Seehund."), ("He plays with the seals.", "Er spielt mit den Seehunden.")})
        self.assertEqual(self.put("Ameise"), {None})  # feminine, and its plural does not show the dative
        self.assertEqual(self.put("Brötchen"), {None})  # belongs to another class

    def test_weak_nouns_stand_for_weak_ones(self):
        self.assertEqual(self.put("Affe"), {None})
        pairs = [("The ape sleeps.", "Der Affe schläft."), ("I like the ape.", "Ich mag den Affen.")]
        self.assertEqual(self.put("Affe", pairs), set(pairs))

    def test_an(self):
        self.assertIn(("I have an ant.", "Ich habe eine Ameise."), self.put("Ameise", [("I have an owl.", "Ich habe eine Eule.")]))
        self.assertIn(("I have a dog", "Ich habe einen Hund"), self.put("Hund", [("I have a seal", "Ich habe einen Seehund")]))


class TypingTest(unittest.TestCase):
    def test_lists_entities_and_a_key(self):
        short = [("Soup.", "Suppe."), ("two eggs", "zwei Eier"), ("milk", "Milch")]
        found = {typing_ways.listed(short, Draw("listed", number)) for number in range(200)}
        self.assertTrue({("a) Soup b) two eggs", "a) Suppe b) zwei Eier"), ("Soup / two eggs", "Suppe / zwei Eier")} <= found)
        self.assertIn(("Soup: two eggs: milk:", "Suppe: zwei Eier: Milch:"), found)
        self.assertIsNone(typing_ways.listed([("a/b", "a/b")] * 3, Draw(1)))
        entities = {copying.entities("Bread and butter", "Brot und Butter", Draw(number)) for number in range(99)}
        self.assertTrue({("Bread&nbsp;and&nbsp;butter", "Brot&nbsp;und&nbsp;Butter"), ("Bread &amp; butter", "Brot &amp; Butter")} <= entities)
        self.assertIsNone(copying.entities("a < b", "a < b", Draw(1)))
        self.assertEqual(typing_ways.caps_lock("Hello, Anna", "Hallo, Anna", Draw(1)), ("hELLO, aNNA", "Hallo, Anna"))


class TermsTest(unittest.TestCase):
    pairs = [("The fish swims.", "Der Fisch schwimmt.")] * 4 + [("I ask you.", "Ich frage dich.")] * 12

    def test_what_the_pairs_say_is_chosen(self):
        rows = [("fish", "Fisch", "w"), ("fish", "Fusch", "w"), ("ask", "stellen", "w"), ("colander", "Sieb]]", "w"),
                ("colander", "Seiher", "w"), ("forks and spoons)", "Besteck", "w")]
        self.assertEqual(terms.chosen(rows, self.pairs), [("fish", "Fisch"), ("colander", "Sieb")])

    def test_articles_tell_the_gender(self):
        found = genders.Genders(["Das Sieb ist neu.", "Ein Sieb und das Sieb, ins Sieb.", "Eine Lampe, die Lampe.", "Der Arzt sieht einen Arzt."])
        self.assertEqual([found.of(noun) for noun in ("Sieb", "Nudelsieb", "Lampe", "Zahnarzt", "Wohnung", "Xyz")],
                         ["n", "n", "f", "m", "f", ""])
        self.assertEqual([noun.gender for noun in terms.nouns([("lamp", "Lampe"), ("xyz", "Xyz"), ("ask", "fragen")], found)], ["f"])


class VocabularyTest(unittest.TestCase):
    scores = {"▁": -25.0, "▁f": -5.0, "▁o": -5.0, "ox": -6.0, "fox": -4.0, "f": -5.0, "o": -5.0, "x": -5.0, "▁fox": -30.0}

    def test_a_word_comes_before_its_parts(self):
        scores = dict(self.scores)
        self.assertEqual(make_vocabulary.cut("▁fox", scores)[1], ["▁f", "ox"])
        make_vocabulary.wholes_first(scores, ["▁fox"])
        self.assertEqual(make_vocabulary.cut("▁fox", scores)[1], ["▁fox"])

    def test_no_word_begins_bare(self):
        self.assertFalse(make_vocabulary.begins_bare("fox", self.scores))
        self.assertTrue(make_vocabulary.begins_bare("xo", self.scores))

    def test_a_model_is_written_as_it_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "source.spm"
            entries = [("</s>", 0.0, 3), ("<0x00>", -1.5, 6), ("▁Haus", -3.25, 1)]
            path.write_bytes(b"".join(make_vocabulary.entry_bytes(*entry) for entry in entries) + make_vocabulary.delimited(2, b"x" * 200))
            self.assertEqual(make_vocabulary.read_model(path), (entries, make_vocabulary.delimited(2, b"x" * 200)))

    def test_frequent_words(self):
        self.assertEqual(make_vocabulary.frequent_words(["I don't know.", "Don't!"], 9), ["Don't", "I", "don't", "know"])


class CopyingTest(unittest.TestCase):
    def test_what_is_filled_in_stands_on_both_sides(self):
        for kind, english, german in templates.read_templates(lines_of(ROOT / "recipes/en-de/words/copying.tsv")):
            self.assertIn(kind, more_pairs.FRAME_COPIES)
            for key in range(20):
                marked = copying.fill(kind, english + "\x00{x}", german + "\x00{x}", Draw(key))
                for filled, thing in (side.split("\x00") for side in marked):
                    self.assertIn(thing, filled)
                self.assertFalse(re.search(r"\{[xy]\}|\n", "".join(marked)), marked)

    def test_tags_and_emphasis(self):
        found = {copying.marked_up("Welcome", "Willkommen", Draw(key)) for key in range(400)}
        self.assertTrue({("<h1>Welcome</h1>", "<h1>Willkommen</h1>"), ("<ul><li>Welcome</li></ul>", "<ul><li>Willkommen</li></ul>")} <= found)
        self.assertTrue(any(re.fullmatch(r'<a href="[^"]+">Welcome</a>', english) for english, _ in found))
        self.assertIsNone(copying.marked_up("a < b", "a < b", Draw(1)))
        filled = {copying.fill("emphasis", "It {x}is{y}.", "Es {x}ist{y}.", Draw(key)) for key in range(400)}
        self.assertTrue({("It **is**.", "Es **ist**."), ("It <b>is</b>.", "Es <b>ist</b>.")} <= filled)

    def test_figures_as_german_writes_them(self):
        for maker, english, german in (("grouped", r"\d{1,3}(,\d{3})+", r"\d{1,3}(\.\d{3})+"), ("money", r"[$€£][\d,]+(\.\d\d)?", r"[\d.]+(,\d\d)? [$€£]"),
                                       ("decimal", r"-?\d+(\.\d+)?.*", r"-?\d+(,\d+)?.*")):
            for key in range(200):
                pair = figures.MAKERS[maker](Draw(key))
                self.assertRegex(pair[0], f"^{english}$")
                self.assertRegex(pair[1], f"^{german}$")
                self.assertEqual(*(re.sub(r"\D", "", side) for side in pair))
        self.assertEqual(copying.fill("money", "{x}", "{x}", Draw(3)), figures.money(Draw(3)))

    def test_around_a_sentence(self):
        found = {copying.around("I see.", "Ich sehe.", Draw(key)) for key in range(2000)}
        self.assertTrue(any(pair[0].startswith("<b>I see.") and pair[1].endswith("Ich sehe.</b>") for pair in found))
        self.assertEqual(copying.repeated_mark("Go!", "Geh!", Draw(3))[1][:4], "Geh!")
        self.assertIsNone(copying.instead_of_a_name("Tom's dog", "Toms Hund", Draw(1)))


class SaidTest(unittest.TestCase):
    pairs = [("He lives near the station.", "Er wohnt in der Nähe des Bahnhofs."), ("I know it.", "Ich weiß es.")]

    def found(self, way, pairs=None) -> set:
        return {way(pairs or self.pairs, Draw("said", key)) for key in range(20000)}

    def test_direct_speech(self):
        found = self.found(said.spoken)
        self.assertTrue({('"He lives near the station," she said.', "„Er wohnt in der Nähe des Bahnhofs“, sagte sie."),
                         ('Anna said, "He lives near the station."', "Anna sagte: „Er wohnt in der Nähe des Bahnhofs.“"),
                         ('"Yes," he said, "I know it."', "„Ja“, sagte er, „ich weiß es.“")} <= found)
        asked = self.found(said.spoken, [("Who is it?", "Wer ist es?"), self.pairs[1]])
        self.assertTrue({('"Who is it?" he asked.', "„Wer ist es?“, fragte er."), ('"Who is it?" he wanted to know.', "„Wer ist es?“, wollte er wissen.")} <= asked)
        self.assertEqual(self.found(said.spoken, [('He said "no".', "Er sagte „nein“."), self.pairs[1]]), {None})

    def test_dialogues_and_what_stands_between(self):
        self.assertIn(("A: He lives near the station. B: I know it.", "A: Er wohnt in der Nähe des Bahnhofs. B: Ich weiß es."), self.found(said.dialogue))
        for english, german in self.found(said.between):
            thing = english.removeprefix(self.pairs[0][0]).partition(self.pairs[1][0])[0]
            self.assertTrue(thing.strip() and german.startswith(self.pairs[0][1] + thing + self.pairs[1][1]), (english, german))

    def test_hesitating(self):
        found = {said.hesitating(*self.pairs[0], Draw(key)) for key in range(300)}
        self.assertTrue({("Oh, he lives near the station.", "Oh, er wohnt in der Nähe des Bahnhofs."),
                         ("Hmm... He lives near the station...", "Hmm... Er wohnt in der Nähe des Bahnhofs...")} <= found)
        self.assertIsNone(said.hesitating("Who?", "Wer?", Draw(1)))

    def test_slips(self):
        pair = "It is so cold!", "Es ist so kalt!"
        for key in range(20):
            english, german = typing_ways.stretched(*pair, Draw(key))
            self.assertRegex(english, r"^It is (so{3,6} cold|so co{3,6}ld)!{1,3}$")
            self.assertEqual(german.count("!"), english.count("!"))
        self.assertIn(("It is is so cold!", pair[1]), {typing_ways.doubled_word(*pair, Draw(key)) for key in range(20)})
        self.assertEqual(typing_ways.partly_capitals("I never sleep.", "Ich schlafe nie.", Draw(1)), ("I NEVER sleep.", "Ich schlafe NIE."))
