"""Makes sentences with clauses: reasons with pronouns, relative clauses, conditions, reported speech,
passives, word order.

Each is put together from a subject, what it does (words/actions.tsv, words/handled.tsv) and when, on both sides at once.
"""
import re

from more_pairs.draw import Draw
from more_pairs.nouns import RELATIVE, Noun, article_of
from more_pairs.verbs import (AT, PRONOUN_SUBJECTS, Action, Subject, accusative, after, bare, dative, doing, english_clause, german_clause, own, progressive,
                              sentence, with_a)

Pair = tuple[str, str]
MODALS = [("can", "kann können"), ("must", "muss müssen"), ("should", "sollte sollten"), ("wants to", "will wollen"),
          ("has to", "muss müssen"), ("might", "könnte könnten"), ("had to", "musste mussten"), ("wanted to", "wollte wollten"),
          ("could", "konnte konnten"), ("was allowed to", "durfte durften")]
WHEN_PAST = [("yesterday", "gestern"), ("last week", "letzte Woche"), ("last night", "letzte Nacht"), ("this morning", "heute Morgen"), ("two days ago", "vor zwei Tagen"),
             ("on Monday", "am Montag"), ("in the evening", "am Abend"), ("a year ago", "vor einem Jahr"), ("last summer", "letzten Sommer"), ("three weeks ago", "vor drei Wochen")]
WHEN_COMING = [("tomorrow", "morgen"), ("next week", "nächste Woche"), ("tonight", "heute Abend"), ("on Friday", "am Freitag"), ("next year", "nächstes Jahr"),
               ("in two hours", "in zwei Stunden"), ("soon", "bald"), ("at the weekend", "am Wochenende")]
STATES = {"person": [("tired", "müde"), ("ill", "krank"), ("angry", "wütend"), ("hungry", "hungrig"), ("afraid", "ängstlich"), ("busy", "beschäftigt"), ("old", "alt"),
                     ("weak", "schwach"), ("nervous", "nervös"), ("sad", "traurig"), ("shy", "schüchtern"), ("late", "spät dran"), ("young", "jung"), ("lazy", "faul")],
          "animal": [("tired", "müde"), ("hungry", "hungrig"), ("small", "klein"), ("frightened", "verängstigt"), ("weak", "schwach"), ("young", "jung"), ("ill", "krank"),
                     ("slow", "langsam"), ("old", "alt"), ("fat", "dick"), ("wild", "wild"), ("thirsty", "durstig"), ("nervous", "nervös")],
          "thing": [("big", "groß"), ("small", "klein"), ("heavy", "schwer"), ("expensive", "teuer"), ("old", "alt"), ("dirty", "schmutzig"), ("wide", "breit"), ("long", "lang"),
                    ("thick", "dick"), ("wet", "nass"), ("hot", "heiß"), ("dangerous", "gefährlich"), ("loud", "laut"), ("difficult to use", "kompliziert")]}
CONTAINERS = [("suitcase", "der Koffer", "m"), ("bag", "die Tasche", "f"), ("box", "die Kiste", "f"), ("drawer", "die Schublade", "f"), ("cupboard", "der Schrank", "m"),
              ("basket", "der Korb", "m"), ("car", "das Auto", "n"), ("bottle", "die Flasche", "f"), ("pocket", "die Hosentasche", "f"), ("oven", "der Ofen", "m"),
              ("garage", "die Garage", "f"), ("fridge", "der Kühlschrank", "m"), ("envelope", "der Umschlag", "m"), ("room", "das Zimmer", "n")]
REASONS = [("because", "weil"), ("because", "weil"), ("because", "denn"), ("since", "da"), ("although", "obwohl"), ("even though", "obwohl")]
TIMES = [("when", "als"), ("before", "bevor"), ("after", "nachdem"), ("while", "während"), ("as soon as", "sobald"), ("until", "bis")]
SAID = [("{S} said that", "{S} sagte, dass"), ("{S} thought that", "{S} dachte, dass"), ("{S} told me that", "{S} erzählte mir, dass"), ("I didn't know that", "Ich wusste nicht, dass"),
        ("I heard that", "Ich habe gehört, dass"), ("It's a pity that", "Es ist schade, dass"), ("I'm glad that", "Ich bin froh, dass"), ("Nobody noticed that", "Niemand merkte, dass"),
        ("Everybody knows that", "Alle wissen, dass"), ("{S} claimed that", "{S} behauptete, dass"), ("I don't believe that", "Ich glaube nicht, dass"), ("I was surprised that", "Es überraschte mich, dass")]
ASKED = [("I don't know", "Ich weiß nicht,"), ("I wonder", "Ich frage mich,"), ("{S} asked me", "{S} fragte mich,"), ("Nobody knows", "Niemand weiß,"), ("Do you know", "Weißt du,"),
         ("Can you tell me", "Kannst du mir sagen,"), ("We couldn't understand", "Wir konnten nicht verstehen,"), ("{S} didn't know", "{S} wusste nicht,")]
QUESTIONS = [("whether", "ob"), ("if", "ob"), ("why", "warum"), ("when", "wann"), ("how", "wie"), ("how often", "wie oft")]


class ClauseMaker:
    """Draws sentences of every pattern; a pattern that does not fit what was drawn gives None."""

    def __init__(self, nouns: dict[str, list[Noun]], actions: dict[str, list[Action]], handled):
        self.nouns, self.actions, self.handled = nouns, actions, handled
        self.patterns = [self.reason, self.fits, self.time, self.said, self.asked, self.relative, self.relative_object, self.whose, self.passive,
                         self.passive_states, self.condition, self.condition_past, self.order, self.since, self.modal, self.purpose, self.so_that, self.object_again]

    def noun_subject(self, draw: Draw, kind: str = "", articles=("the",)) -> tuple[Subject, str, Noun]:
        """Returns a noun as a subject, its class, and the noun itself."""
        kind = kind or draw.pick(["person", "person", "animal"])
        noun = draw.pick(self.nouns[kind])
        while noun.gender == "x" or (kind, noun.gender) == ("person", "n"):
            noun = draw.pick(self.nouns[kind])
        name = draw.pick(noun.english)[0]
        article = draw.pick(articles)
        determiner = {"the": "der", "my": "mein", "our": "unser", "her": "ihr", "this": "dies"}[article]
        at = AT[noun.gender]
        german = f"{article_of(determiner, 'nom', at)[0]} {noun.german}"
        gender = "mfn"[at]
        it = {"m": "he", "f": "she", "n": "it"}[gender] if kind == "person" else "it"
        return Subject(f"{article} {name}", german, "3s", gender, it), kind, noun

    def subject(self, draw: Draw, kind: str = "") -> tuple[Subject, str]:
        if draw.percent(40):
            return draw.pick(PRONOUN_SUBJECTS), "person"
        return self.noun_subject(draw, kind, ("the", "the", "my", "our"))[:2]

    def action(self, draw: Draw, kind: str, negated: str) -> Action:
        action = draw.pick(self.actions[kind])
        while negated and "~" not in action.german_rest:
            action = draw.pick(self.actions[kind])
        return action

    def said_by(self, frame: Pair, draw: Draw) -> Pair:
        other = draw.pick(PRONOUN_SUBJECTS[2:4]) if draw.percent(50) else self.noun_subject(draw, "person")[0]
        return frame[0].replace("{S}", other.english), frame[1].replace("{S}", other.german)

    def reason(self, draw: Draw) -> Pair:
        """The animal didn't cross the street because it was too tired."""
        subject, kind, _ = self.noun_subject(draw, articles=("the", "the", "my", "her"))
        negated = draw.pick(["not", "not", ""])
        action = self.action(draw, kind, negated)
        state, link, again = draw.pick(STATES[kind]), draw.pick(REASONS), subject.again()
        degree = draw.pick([("too ", "zu "), ("so ", "so "), ("very ", "sehr "), ("", ""), ("not ", "nicht ")])
        if link[1] == "denn":
            german = f"{again.german} war {degree[1]}{state[1]}"
        else:
            german = f"{again.german} {degree[1]}{state[1]} war"
        english = f"{link[0]} {again.english} was {degree[0]}{state[0]}"
        if link[1] != "denn" and draw.percent(30):
            return sentence(f"{english.replace(again.english, subject.english, 1)}, {english_clause(again, action, 'past', negated)}",
                            f"{link[1]} {german.replace(again.german, subject.german, 1)}, {german_clause(again, action, 'past', 'first', negated)}")
        return sentence(f"{english_clause(subject, action, 'past', negated)} {english}",
                        f"{german_clause(subject, action, 'past', 'second', negated)}, {link[1]} {german}")

    def fits(self, draw: Draw) -> Pair:
        """The trophy doesn't fit in the suitcase because it is too large (or because the suitcase is too small)."""
        subject, _, _ = self.noun_subject(draw, draw.pick(["thing", "thing", "wear"]))
        name, german, gender = draw.pick(CONTAINERS)
        container = Subject(f"the {name}", german, "3s", gender, "it")
        into = german.replace("der ", "in den ").replace("die ", "in die ").replace("das ", "ins ")
        large = draw.percent(60)
        about = subject.again() if large else container if draw.percent(40) else container.again()
        state = draw.pick([("big", "groß"), ("large", "groß"), ("long", "lang"), ("wide", "breit")] if large else [("small", "klein"), ("full", "voll")])
        tense = draw.pick([("doesn't fit", "passt", "is", "ist"), ("didn't fit", "passte", "was", "war")])
        return sentence(f"{subject.english} {tense[0]} {draw.pick(['in', 'into'])} {container.english} because {about.english} {tense[2]} too {state[0]}",
                        f"{subject.german} {tense[1]} nicht {into}, weil {about.german} zu {state[1]} {tense[3]}")

    def object_again(self, draw: Draw) -> Pair:
        """I bought a lamp, but it was too expensive."""
        kinds, action = draw.pick([(kinds, action) for kinds, action in self.handled if set(kinds) & {"thing", "wear"}])
        kind = draw.pick([kind for kind in kinds if kind in ("thing", "wear")])
        thing, _, noun = self.noun_subject(draw, kind)
        subject, _ = self.subject(draw, "person")
        article = draw.pick(["the", "a"])
        english_object = thing.english if article == "the" else with_a(thing.english)
        german_object = accusative(noun, "der" if article == "the" else "ein")
        state = draw.pick(STATES["thing"])
        link = draw.pick([("but", "aber", "second"), ("because", "weil", "last")])
        again = thing.again()
        end = f"{again.german} zu {state[1]} war" if link[2] == "last" else f"{again.german} war zu {state[1]}"
        done = doing(action, english_object, german_object)
        negated = article == "the" and draw.percent(50)
        done = done._replace(german_rest=done.german_rest + " ~")
        return sentence(f"{english_clause(subject, done, 'past', 'not' if negated else '')}{',' if link[0] == 'but' else ''} {link[0]} it was too {state[0]}",
                        f"{german_clause(subject, done, 'past', 'second', 'not' if negated else '')}, {link[1]} {end}")

    def time(self, draw: Draw) -> Pair:
        """When I came home, my sister was cooking; after she had eaten, she went to bed."""
        (first, kind), (second, other) = self.subject(draw), self.subject(draw)
        if draw.percent(40):
            second, other = first.again(), kind
        link = draw.pick(TIMES)
        one, two = self.action(draw, kind, ""), self.action(draw, other, "")
        tense = "plup" if link[0] == "after" else "past"
        running = link[0] in ("while", "when") and draw.percent(60)
        clause = progressive(first, one) if running else english_clause(first, one, tense)
        english, german = f"{link[0]} {clause}", f"{link[1]} {german_clause(first, one, tense, 'last')}"
        if draw.percent(50):
            return sentence(f"{english}, {english_clause(second, two, 'past')}", f"{german}, {german_clause(second, two, 'past', 'first')}")
        return sentence(f"{english_clause(second, two, 'past')} {english}", f"{german_clause(second, two, 'past')}, {german}") if second != first.again() else None

    def said(self, draw: Draw) -> Pair:
        frame = self.said_by(draw.pick(SAID), draw)
        subject, kind = self.subject(draw)
        negated = draw.pick(["", "", "not", "never"])
        action = self.action(draw, kind, negated)
        tense = draw.pick(["past", "past", "plup"])
        that = frame[0] if draw.percent(60) else frame[0].removesuffix(" that")
        return sentence(f"{that} {english_clause(subject, action, tense, negated)}", f"{frame[1]} {german_clause(subject, action, tense, 'last', negated)}")

    def asked(self, draw: Draw) -> Pair:
        frame, question = self.said_by(draw.pick(ASKED), draw), draw.pick(QUESTIONS)
        subject, kind = self.subject(draw)
        action = self.action(draw, kind, "")
        return sentence(f"{frame[0]} {question[0]} {english_clause(subject, action, 'past')}", f"{frame[1]} {question[1]} {german_clause(subject, action, 'past', 'last')}",
                        "?" if frame[0][:3] in ("Do ", "Can") else ".")

    def relative(self, draw: Draw) -> Pair:
        """The dog that bit the postman ran away."""
        subject, kind, noun = self.noun_subject(draw)
        one, two = self.action(draw, kind, ""), self.action(draw, kind, "")
        negated = draw.pick(["", "", "not", "never"])
        two = self.action(draw, kind, negated)
        who = draw.pick(["who", "that"]) if kind == "person" else draw.pick(["that", "which"])
        relative = subject._replace(english=who, german=RELATIVE["nom"].split()[AT[noun.gender]])
        tense = draw.pick(["past", "past", "plup"])
        ending = draw.pick(["action", "seen", "state"])
        english = f"{subject.english} {english_clause(relative, one, tense)}"
        german = f"{subject.german}, {german_clause(relative, one, tense, 'last')},"
        if ending == "seen":
            seen = draw.pick([("was never seen again", "wurde nie wieder gesehen"), ("was found yesterday", "wurde gestern gefunden"), ("was very happy", "war sehr glücklich"),
                              ("has disappeared", "ist verschwunden"), ("is dead", "ist tot"), ("was brought to the hospital", "wurde ins Krankenhaus gebracht")])
            return sentence(f"{english} {seen[0]}", f"{german} {seen[1]}")
        if ending == "state":
            state = draw.pick(STATES[kind])
            return sentence(f"{english} is {state[0]}", f"{german} ist {state[1]}")
        silent = subject._replace(english="", german="")
        return sentence(f"{english} {english_clause(silent, two, 'past', negated).strip()}", f"{german} {german_clause(silent, two, 'past', 'second', negated)}")

    def relative_object(self, draw: Draw) -> Pair:
        """The lamp that my brother bought yesterday was too expensive."""
        kinds, action = draw.pick(self.handled)
        kind = draw.pick(kinds)
        thing, _, noun = self.noun_subject(draw, kind)
        subject, _ = self.subject(draw, "person")
        when = draw.pick([*WHEN_PAST, ("", ""), ("", "")])
        relative = RELATIVE["acc"].split()[AT[noun.gender]]
        linked = draw.pick(["that ", "", "which "]) if kind != "person" else draw.pick(["that ", "", "whom "])
        done = action._replace(rest=f"{action.rest} {when[0]}".strip(), german_rest=when[1])
        state = draw.pick(STATES["thing" if kind in ("thing", "wear", "vehicle") else kind] if kind in ("thing", "wear", "vehicle", "person", "animal") else [("good", "gut"), ("old", "alt"), ("new", "neu")])
        degree = draw.pick([("very ", "sehr "), ("too ", "zu "), ("not ", "nicht "), ("", "")])
        be = draw.pick([("is", "ist"), ("was", "war")])
        tense = draw.pick(["past", "perf"])
        return sentence(f"{thing.english} {linked}{english_clause(subject, done, 'past')} {be[0]} {degree[0]}{state[0]}",
                        f"{thing.german}, {relative} {german_clause(subject, done, tense, 'last')}, {be[1]} {degree[1]}{state[1]}")

    def whose(self, draw: Draw) -> Pair:
        """The woman whose car was stolen called the police."""
        subject, _, noun = self.noun_subject(draw, "person")
        thing, _, _ = self.noun_subject(draw, draw.pick(["thing", "vehicle", "wear"]))
        _, action = draw.pick([(kinds, action) for kinds, action in self.handled if "thing" in kinds])
        two = self.action(draw, "person", "")
        whose = "deren" if noun.gender == "f" else "dessen"
        silent = subject._replace(english="", german="")
        return sentence(f"{subject.english} whose {bare(thing.english)} was {action.english[2]}{after(action)} {english_clause(silent, two, 'past').strip()}",
                        f"{subject.german}, {whose} {bare(thing.german)} {action.german[3]} wurde, {german_clause(silent, two, 'past')}")

    def passive(self, draw: Draw) -> Pair:
        """Yesterday the thief was seen by the neighbour."""
        kinds, action = draw.pick(self.handled)
        thing, _, _ = self.noun_subject(draw, draw.pick(kinds))
        when = draw.pick(WHEN_PAST)
        by = self.noun_subject(draw, "person") if draw.percent(50) else None
        english = f"was {action.english[2]}{after(action)}" + (f" by {by[0].english}" if by else "")
        german = (f"von {dative(by[2])} " if by else "").replace("von dem ", "vom ") + action.german[3]
        if draw.percent(40):
            return sentence(f"{when[0]} {thing.english} {english}", f"{when[1]} wurde {thing.german} {german}")
        return sentence(f"{thing.english} {english} {when[0]}", f"{thing.german} wurde {when[1]} {german}")

    def passive_states(self, draw: Draw) -> Pair:
        """The bridge is being repaired; has not been found yet; must be cleaned."""
        kinds, action = draw.pick(self.handled)
        thing, _, _ = self.noun_subject(draw, draw.pick(kinds))
        done, gone = action.english[2] + after(action), action.german[3]
        english, german = draw.pick([("is being {e}", "wird gerade {g}"), ("has already been {e}", "ist schon {g} worden"), ("hasn't been {e} yet", "ist noch nicht {g} worden"),
                                     ("must be {e}", "muss {g} werden"), ("cannot be {e}", "kann nicht {g} werden"), ("will be {e} tomorrow", "wird morgen {g}"), ("should be {e} soon", "sollte bald {g} werden"),
                                     ("had been {e} before we arrived", "war {g} worden, bevor wir ankamen"), ("was being {e} when I came in", "wurde gerade {g}, als ich hereinkam"),
                                     ("must not be {e}", "darf nicht {g} werden"), ("was never {e} again", "wurde nie wieder {g}"), ("will never be {e}", "wird nie {g} werden"),
                                     ("had to be {e}", "musste {g} werden"), ("could have been {e}", "hätte {g} werden können")])
        return sentence(f"{thing.english} {english.format(e=done)}", f"{thing.german} {german.format(g=gone)}")

    def condition(self, draw: Draw) -> Pair:
        """If it rains, we will stay at home; if I had time, I would help my brother."""
        (first, kind), (second, other) = self.subject(draw), self.subject(draw)
        negated = draw.pick(["", "not"])
        one, two = self.action(draw, kind, ""), self.action(draw, other, negated)
        unreal = draw.percent(50)
        if unreal:
            halves = (english_clause(first, one, "past"), german_clause(first, one, "would", "last"),
                      english_clause(second, two, "would", negated), german_clause(second, two, "would", "first", negated))
        else:
            halves = (english_clause(first, one, "pres"), german_clause(first, one, "pres", "last"),
                      english_clause(second, two, "fut", negated), german_clause(second, two, draw.pick(["fut", "pres"]), "first", negated))
        return sentence(f"if {halves[0]}, {halves[2]}", f"wenn {halves[1]}, {halves[3]}")

    def condition_past(self, draw: Draw) -> Pair:
        """If he had left earlier, he would have caught the train."""
        first, kind = self.subject(draw)
        second, other = (first.again(), kind) if draw.percent(50) else self.subject(draw)
        negated, negated_too = draw.pick(["", "not"]), draw.pick(["", "not"])
        one, two = self.action(draw, kind, negated), self.action(draw, other, negated_too)
        english = english_clause(first, one, "plup", negated), english_clause(second, two, "would_have", negated_too)
        german = german_clause(first, one, "would_have", "last", negated)
        if draw.percent(30):
            head = german_clause(first, one, "would_have", "first", negated)
        else:
            head = f"wenn {german}"
        return sentence(f"if {english[0]}, {english[1]}", f"{head}, {german_clause(second, two, 'would_have', 'first', negated_too)}")

    def order(self, draw: Draw) -> Pair:
        """Yesterday the children went to bed early."""
        subject, kind = self.subject(draw)
        negated = draw.pick(["", "", "not"])
        action = self.action(draw, kind, negated)
        coming = draw.percent(35)
        when = draw.pick(WHEN_COMING if coming else WHEN_PAST)
        tense = draw.pick(["fut", "pres"]) if coming else draw.pick(["past", "perf"])
        english = english_clause(subject, action, "fut" if coming else "past", negated)
        german = f"{when[1]} {german_clause(subject, action, tense, 'first', negated)}"
        return sentence(f"{when[0]} {english}" if draw.percent(30) else f"{english} {when[0]}", german)

    def since(self, draw: Draw) -> Pair:
        """She has been working in the garden for two hours."""
        subject, kind = self.subject(draw)
        action = draw.pick([action for action in self.actions[kind] if re.search(r"^(work|live|learn|play|sleep|wait|lie|sing|stay|read|cook|speak|write)$", action.english[0])])
        how_long = draw.pick([("for two hours", "seit zwei Stunden"), ("for three years", "seit drei Jahren"), ("since Monday", "seit Montag"), ("for a long time", "schon lange"),
                              ("since this morning", "seit heute Morgen"), ("for ten minutes", "seit zehn Minuten"), ("since last year", "seit letztem Jahr")])
        have = "has" if subject.person == "3s" else "have"
        german = german_clause(subject, action._replace(german_rest=f"{how_long[1]} {action.german_rest}"), "pres")
        return sentence(f"{subject.english} {have} been {action.english[3]} {action.rest.replace('{my}', own(subject)[0])} {how_long[0]}".replace("  ", " "), german)

    def modal(self, draw: Draw) -> Pair:
        """He should have told the truth; they had to wait for the bus."""
        subject, kind = self.subject(draw)
        action = self.action(draw, kind, "")
        if draw.percent(25):
            prefix, _, verb = action.german[0].rpartition("|")
            helper = "hätten" if subject.person[1] == "p" else "hätte"
            german = german_clause(subject, action, f"{helper} {helper}")
            return sentence(f"{subject.english} should have {action.english[2]} {action.rest.replace('{my}', own(subject)[0])}".strip(), f"{german} sollen")
        english, german = draw.pick(MODALS)
        if subject.person != "3s":
            english = english.replace("wants", "want").replace("has", "have").replace("was", "were" if subject.person != "1s" else "was")
        return sentence(english_clause(subject, action, english), german_clause(subject, action, german))

    def purpose(self, draw: Draw) -> Pair:
        """I opened the window so that the cat could come in."""
        (first, kind), (second, other) = self.subject(draw), self.subject(draw)
        one, two = self.action(draw, kind, ""), self.action(draw, other, "")
        return sentence(f"{english_clause(first, one, 'past')} so that {english_clause(second, two, 'could')}",
                        f"{german_clause(first, one, 'past')}, damit {german_clause(second, two, 'konnte konnten', 'last')}")

    def so_that(self, draw: Draw) -> Pair:
        """The dog was so tired that it didn't run away."""
        subject, kind, _ = self.noun_subject(draw)
        negated = draw.pick(["", "not", "not"])
        action, state, again = self.action(draw, kind, negated), draw.pick(STATES[kind]), subject.again()
        return sentence(f"{subject.english} was so {state[0]} that {english_clause(again, action, 'past', negated)}",
                        f"{subject.german} war so {state[1]}, dass {german_clause(again, action, 'past', 'last', negated)}")

    def draw(self, draw: Draw) -> Pair | None:
        return draw.pick(self.patterns)(draw)
