#!/usr/bin/env python3
"""Tests recipes/en-de/prepare_pairs.py --more and its parts: run_tests.py"""
import re
import sys
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "recipes/en-de"))

import draw_names  # noqa: E402
import more_pairs  # noqa: E402
import prepare_pairs  # noqa: E402
import score_typed  # noqa: E402
from more_pairs import longer, numbers, templates, typing_ways  # noqa: E402
from more_pairs.draw import Draw  # noqa: E402
from more_pairs.replace import Replacer  # noqa: E402
from more_pairs.words import Words, genitive, lines_of  # noqa: E402
from sources_tests import BroadTest, CarryOverTest, ClausesTest, CopyingTest, NounsTest, OtherNounsTest, SaidTest, TermsTest, TypingTest, VocabularyTest  # noqa: E402, F401

PAIRS = [("Tom's brother lives in Boston.", "Toms Bruder wohnt in Boston."),
         ("Mary has three cats.", "Maria hat drei Katzen."),
         ("He told me that we would meet at 2:30.", "Er sagte mir, wir träfen uns um halb drei."),
         ("I have an Italian car and 25 books.", "Ich habe ein italienisches Auto und 25 Bücher."),
         ("You don't know \"it\".", "Sie kennen „es“ nicht."),
         ("She speaks French, but we stayed at home all day long because of the rain on Monday.",
          "Sie spricht Französisch, aber wir blieben am Montag wegen des Regens zu Hause.")]


MORE = prepare_pairs.Further(more=True)


class NumbersTest(unittest.TestCase):
    def test_words(self):
        for number, english, german in [
                (1, "one", "eins"), (16, "sixteen", "sechzehn"),
                (21, "twenty-one", "einundzwanzig"), (77, "seventy-seven", "siebenundsiebzig"),
                (101, "one hundred and one", "einhunderteins"),
                (1001, "one thousand and one", "eintausendeins"),
                (9342, "nine thousand three hundred and forty-two",
                 "neuntausenddreihundertzweiundvierzig")]:
            self.assertEqual(numbers.english_words(number), english)
            self.assertEqual(numbers.german_words(number), german)

    def test_half_past_is_half_of_the_next_hour(self):
        found = {numbers.time(Draw("time", i)) for i in range(4000)}
        self.assertIn(("half past eight", "halb neun"), found)
        self.assertIn(("half past twelve", "halb eins"), found)
        self.assertIn(("one o'clock", "ein Uhr"), found)
        self.assertIn(("a quarter to one", "Viertel vor eins"), found)
        self.assertIn(("12 a.m.", "0 Uhr"), found)
        self.assertIn(("12 p.m.", "12 Uhr"), found)
        self.assertIn(("3 p.m.", "15 Uhr"), found)


class WordsTest(unittest.TestCase):
    def test_genitive(self):
        self.assertEqual([genitive(name) for name in ("Tom", "Hans", "Max", "Weiß", "Alice", "Mia")],
                         ["Toms", "Hans’", "Max’", "Weiß’", "Alice’", "Mias"])

    def test_countries_have_their_article(self):
        forms = {c.english: c.forms for c in Words().countries}
        self.assertEqual(forms["Switzerland"]["nach"], "in die Schweiz")
        self.assertEqual(forms["Iran"]["in"], "im Iran")
        self.assertEqual(forms["the Netherlands"]["aus"], "aus den Niederlanden")
        self.assertEqual(forms["the United States"]["gen"], "der USA")
        self.assertEqual(forms["Italy"]["in"], "in Italien")

    def test_unseen_names_are_not_drawn(self):
        self.assertIn("Wolfgang", Words().names["male"])
        words = Words(unseen=frozenset(["Wolfgang", "Dresden"]))
        self.assertNotIn("Wolfgang", words.names["male"])
        self.assertNotIn(("Dresden", "Dresden"), words.cities)
        names = [words.invented(Draw(i)) for i in range(3000)]
        self.assertNotIn("Dresden", names)
        self.assertGreater(len(set(names)), 2900)


class PhrasesTest(unittest.TestCase):
    def made(self, allowed=lambda pair: True, swap=False):
        maker = more_pairs.Maker([("Hello.", "Hallo.")], allowed)
        maker.phrases(swap)
        return maker.made

    def test_every_phrase_stands_often_as_it_is_and_as_it_is_typed(self):
        lines = [tuple(line.split("\t")) for line in lines_of(ROOT / "recipes/en-de/words/phrases.tsv")]
        self.assertEqual(len(lines), len(set(english for english, _ in lines)))
        made = self.made()
        for pair in lines:
            self.assertGreaterEqual(made.count(pair), 12, pair)
        for pair in [("MERRY CHRISTMAS!", "FROHE WEIHNACHTEN!"), ("merry christmas", "Frohe Weihnachten"), ("Im hungry.", "Ich habe Hunger.")]:
            self.assertIn(pair, made)
        self.assertIn(("Merry Christmas!", "frohe weihnachten!"), self.made(swap=True))

    def test_what_is_not_allowed_is_not_made(self):
        self.assertEqual({english for english, _ in self.made(lambda pair: pair[0] == "Hello.")}, {"Hello."})


class TemplatesTest(unittest.TestCase):
    def test_every_template_can_be_filled(self):
        filler = templates.Filler(Words())
        read = templates.read_templates(lines_of(ROOT / "recipes/en-de/words/templates.tsv"))
        self.assertGreater(len(read), 350)
        for kind, english, german in read:
            self.assertIn(kind, more_pairs.TEMPLATE_COPIES | more_pairs.EVERY)
            for copy in range(5):
                filled = filler.fill(english, german, Draw(copy, english))
                self.assertFalse(re.search(r"[{}*]|  |\.\.", "".join(filled)), filled)

    def test_article_of_an_adjective(self):
        filler = templates.Filler(Words())
        found = {filler.fill("She has {a} {adj} passport.", "Sie hat einen {adj:en} Pass.", Draw(i))
                 for i in range(2000)}
        for pair in [("She has an Italian passport.", "Sie hat einen italienischen Pass."),
                     ("She has a Ukrainian passport.", "Sie hat einen ukrainischen Pass."),
                     ("She has a Swiss passport.", "Sie hat einen Schweizer Pass.")]:
            self.assertIn(pair, found)

    def test_people_and_things_of_a_nation(self):
        filler = templates.Filler(Words())
        fill = lambda pair: {filler.fill(*pair, Draw(i)) for i in range(9000)}
        found = fill(("She met {a} {man}.", "Sie traf einen {man.acc}."))
        for pair in [("She met an Austrian.", "Sie traf einen Österreicher."),
                     ("She met a Frenchman.", "Sie traf einen Franzosen."),
                     ("She met a Hungarian.", "Sie traf einen Ungarn."),
                     ("She met a German.", "Sie traf einen Deutschen.")]:
            self.assertIn(pair, found)
        found = fill(("Many {men}.", "Viele {man.many}."))
        self.assertIn(("Many Vietnamese.", "Viele Vietnamesen."), found)
        self.assertIn(("Many Germans.", "Viele Deutsche."), found)
        found = fill(("I drink {adj} {drink}.", "Ich trinke {adj.strong:acc} {drink}."))
        self.assertIn(("I drink Polish tea.", "Ich trinke polnischen Tee."), found)
        self.assertIn(("I drink Polish milk.", "Ich trinke polnische Milch."), found)
        found = fill(("with {a} {adj} {firm}", "mit {ein:dat} {adj.mixed:dat} {firm}"))
        self.assertIn(("With a Greek bank", "Mit einer griechischen Bank"), found)


class ReplacerTest(unittest.TestCase):
    replacer = Replacer(Words())

    def replaced(self, how: str, pair: tuple[str, str], key=1):
        return getattr(self.replacer, how)(*pair, Draw(key))

    def test_names(self):
        english, german = self.replaced("names", PAIRS[0])
        name = english.removesuffix("'s brother lives in Boston.")
        self.assertEqual(german, genitive(name) + " Bruder wohnt in Boston.")
        self.assertNotEqual(name, "Tom")
        english, german = self.replaced("names", PAIRS[1])
        self.assertEqual(english.split(" has")[0], german.split(" hat")[0])

    def test_a_name_on_one_side_only_stays(self):
        self.assertIsNone(self.replaced("names", ("Tom did it.", "Er hat es getan.")))
        self.assertIsNone(self.replaced("names", ("Mr. Jackson is here.", "Jackson ist da.")))

    def test_places(self):
        found = {self.replaced("place", ("I live in Japan.", "Ich lebe in Japan."), i)
                 for i in range(600)} - {None}
        self.assertIn(("I live in Germany.", "Ich lebe in Deutschland."), found)
        self.assertNotIn("in Schweiz", "".join(german for _, german in found))
        self.assertIsNone(self.replaced("place", ("May I?", "Darf ich?")))

    def test_nations_and_articles(self):
        found = {self.replaced("nation", PAIRS[3], i) for i in range(600)}
        self.assertIn(("I have a Danish car and 25 books.",
                       "Ich habe ein dänisches Auto und 25 Bücher."), found)

    def test_numbers(self):
        found = {self.replaced("number", PAIRS[2], i)[1] for i in range(200)}
        self.assertIn("Er sagte mir, wir träfen uns um halb eins.", found)
        english, german = self.replaced("number", PAIRS[3])
        self.assertEqual(re.findall(r"\d+", english), re.findall(r"\d+", german))
        self.assertIsNone(self.replaced("number", ("I have 2,500 books.", "2500 Bücher.")))

    def test_spoken_times(self):
        found = {self.replaced("clock", ("I ate at six.", "Ich aß um sechs Uhr."), i)
                 for i in range(400)}
        self.assertIn(("I ate at half past nine.", "Ich aß um halb zehn."), found)
        self.assertIsNone(self.replaced("clock", ("I ate at six.", "Ich aß um zehn Uhr.")))


class LongerTest(unittest.TestCase):
    def test_a_clause_loses_its_capital_but_sie_for_you_keeps_it(self):
        self.assertEqual(longer.inside(("You can go.", "Sie können gehen.")),
                         ("you can go", "Sie können gehen"))
        self.assertEqual(longer.inside(("She can go.", "Sie kann gehen.")),
                         ("she can go", "sie kann gehen"))
        self.assertEqual(longer.inside(("I can go.", "Ich kann gehen.")),
                         ("I can go", "ich kann gehen"))

    def test_what_is_no_clause(self):
        self.assertTrue(longer.is_clause(("I can go.", "Ich kann gehen.")))
        self.assertFalse(longer.is_clause(("I can go.", "Gehen kann ich.")))
        self.assertFalse(longer.is_clause(("I can go!", "Ich kann gehen!")))
        self.assertFalse(longer.is_clause(("Can I go?", "Kann ich gehen?")))


@mock.patch.multiple(more_pairs, SHORT_JOINS=100, CLAUSES=200,
                     TEMPLATE_COPIES=dict.fromkeys(more_pairs.TEMPLATE_COPIES, 3),
                     EVERY=dict.fromkeys(more_pairs.EVERY, 1), NOUN_COPIES=1, TERM_COPIES=1,
                     NOUN_PUT=1, TERM_PUT=1, LISTED=40,
                     FRAME_COPIES=dict.fromkeys(more_pairs.FRAME_COPIES, 2),
                     AROUND=dict.fromkeys(more_pairs.AROUND, 40), TERMS_TYPED=dict.fromkeys(more_pairs.TERMS_TYPED, 9),
                     TYPED=dict.fromkeys(more_pairs.TYPED, 50))
class PrepareTest(unittest.TestCase):
    def test_what_is_not_allowed_is_not_made(self):
        pairs, counts = more_pairs.further_pairs(PAIRS, lambda pair: "Tom" not in pair[0])
        self.assertFalse([pair for pair in pairs if "Tom" in pair[0]])
        self.assertGreater(counts["refused"], 0)

    def test_nothing_of_dev_or_test_and_the_same_bytes_again(self):
        pairs = [(f"{english[:-1]} {n}{english[-1]}", f"{german[:-1]} {n}{german[-1]}")
                 for n in range(2, 90) for english, german in PAIRS[:4]]
        parts, counts = prepare_pairs.prepare(pairs, 15, ["The group went home"], MORE)
        self.assertEqual(sum(counts["more"].values()) - counts["more"].get("refused", 0)
                         + counts["train_before"] - counts["left_out_same_target"]
                         - counts["left_out_same_target_nearly"] - counts["left_out_unseen_name"],
                         len(parts["train"]))
        held_out = parts["dev"] + parts["test"]
        comparable = prepare_pairs.comparable
        for side in range(2):
            known = {comparable(pair[side]) for pair in held_out}
            self.assertFalse(known & {comparable(pair[side]) for pair in parts["train"]})
        unseen = more_pairs.unseen_names()
        self.assertFalse([p for p in parts["train"] if more_pairs.holds(p, unseen)])
        self.assertEqual(prepare_pairs.prepare(pairs, 15, ["The group went home"], MORE)[0], parts)
        lengths = counts["words_in_lines_of"]
        share = lengths["15-60"] / sum(lengths.values())
        self.assertGreater(share, 0.2)


    def test_distilled_pairs_and_the_own_ones_again(self):
        pairs = [(f"{english[:-1]} {n}{english[-1]}", f"{german[:-1]} {n}{german[-1]}") for n in range(2, 90) for english, german in PAIRS[:4]]
        plain = prepare_pairs.prepare(pairs, 15, [])[0]
        known, held = plain["train"][0], plain["test"][0]
        distilled = [known, (known[0], "Anders gesagt."), ("Something else.", held[1])]
        parts, counts = prepare_pairs.prepare(pairs, 15, [], prepare_pairs.Further(times=2, distilled=distilled))
        self.assertEqual(parts["train"], plain["train"] + [(known[0], "Anders gesagt.")] + plain["train"])
        self.assertEqual(counts["distilled"], 1)
        typed = ("Ravi, this is Amira.", "Ravi, das ist Amira.")
        with mock.patch.object(more_pairs, "typed_sentences", lambda: [typed[0]]), mock.patch.object(more_pairs, "further_pairs", lambda *_: ([], {})):
            parts, _ = prepare_pairs.prepare([*pairs, typed], 15, [], prepare_pairs.Further(times=2, more=True))
        self.assertEqual(prepare_pairs.part_of(typed[0]), "train")
        self.assertNotIn(typed[0], [source for source, _ in parts["train"]])

    def test_entries_are_typed_in_more_ways(self):
        pairs, counts = more_pairs.further_pairs(PAIRS, lambda pair: True, [(f"{a}{b}", f"{b.title()}{a}") for a in "bdfgk" for b in ("ala", "ome")])
        self.assertTrue({"typed_term_around", "typed_term_capitals"} <= counts.keys())
        self.assertTrue(any(pair[0].isupper() and pair[0][1:] in ("ALA", "OME") for pair in pairs))


class TypingTest(unittest.TestCase):
    def test_ways(self):
        changed = lambda way, *pair: typing_ways.WAYS[way](*pair, Draw(1))
        self.assertEqual(changed("lower_and_bare", "I see Tom.", "Ich sehe Tom."),
                         ("i see tom", "Ich sehe Tom"))
        self.assertEqual(changed("without_apostrophes", "I'm here, don't go, we're in.", "x"),
                         ("Im here, dont go, we're in.", "x"))
        self.assertEqual(changed("typographic", *PAIRS[4]),
                         ("You don’t know “it”.", "Sie kennen „es“ nicht."))
        self.assertIsNone(changed("mistyped", "Go on.", "Weiter."))
        self.assertEqual(changed("capitals", "Go on.", "Weiter, Straße."), ("GO ON.", "WEITER, STRASSE."))
        self.assertIsNone(changed("capitals", "See example.org.", "Siehe example.org."))
        self.assertEqual(changed("titled", "I don't go.", "Ich gehe nicht."), ("I Don't Go.", "Ich gehe nicht."))


class TypedSetTest(unittest.TestCase):
    def test_every_sentence_has_something_that_is_asked(self):
        sentences = score_typed.read_marked(ROOT / "recipes/en-de/typed/sentences.txt")
        self.assertGreaterEqual(len(sentences), 400)
        self.assertTrue(all(score_typed.asked(line) for _, line in sentences))
        paragraphs = score_typed.read_marked(ROOT / "recipes/en-de/typed/paragraphs.txt")
        self.assertEqual(len(paragraphs), 100)
        for _, line in paragraphs:
            parts = score_typed.sentences_of(line)
            self.assertTrue(2 <= len(parts) <= 5 and all(map(score_typed.asked, parts)), line)

    def test_oddities_and_nouns_have_something_that_is_asked(self):
        odd = score_typed.read_odd(ROOT / "recipes/en-de/typed/odd.txt")
        self.assertGreaterEqual(len(odd), 300)
        self.assertTrue(all(columns and all(columns) for _, _, columns in odd))
        for name, count in (("textbook", 200), ("german", 100)):
            lines = score_typed.read_odd(ROOT / f"recipes/en-de/typed/{name}.txt")
            self.assertEqual(len({line for _, line, _ in lines}), count)
            self.assertTrue(all(columns and all(columns) for _, _, columns in lines), name)
        nouns_asked = score_typed.read_marked(ROOT / "recipes/en-de/typed/nouns.txt")
        self.assertGreaterEqual(len(nouns_asked), 500)
        self.assertTrue(all(len(score_typed.asked(line)) == 1 for _, line in nouns_asked))

    def test_names_are_drawn_by_seed_and_in_no_training_pair(self):
        marked = ["[Wolfgang] is my brother.", "Her name is [Nkechi Afolabi].", "What's [Ottilie's=Ottilies] last name?"]
        one, same, other = (draw_names.sentences(marked, seed) for seed in ("a", "a", "b"))
        self.assertEqual(one, same)
        self.assertNotEqual(one, other)
        self.assertEqual(len(one), 2)
        self.assertRegex(one[1], r"^Her name is \[\w+ \w+\]\.$")
        self.assertTrue(set(draw_names.names_of()) <= more_pairs.unseen_names())
        chain = draw_names.LetterChain(["Anna", "Hanna"])
        self.assertRegex(draw_names.LetterChain(["Annabel"]).draw(Draw(1)), "^Annabel$")
        self.assertEqual(chain.next["^A"], ["n"])

    def test_as_it_is_written(self):
        for column, text, right in [("=a | b", "b", True), ("=a", "a b", False), ("Tür", "TÜR", False), ("</b>", "so</b>", True),
                                    ("Tom", "Toms", False), ("5 m | 5 Meter", "Es sind 5 Meter.", True), ("x=1", "ax=1", False)]:
            self.assertEqual(score_typed.as_written(column, text), right, column)

    def test_what_stands_in_a_text(self):
        self.assertTrue(score_typed.stands_in("zwei", "Zwei Hunde."))
        self.assertTrue(score_typed.stands_in("Hans’", "Hans’ Haus."))
        self.assertFalse(score_typed.stands_in("Tom", "Toms Haus."))
        self.assertFalse(score_typed.stands_in("Mai", "mai"))


if __name__ == "__main__":
    unittest.main(verbosity=1)
