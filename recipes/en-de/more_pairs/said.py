"""Makes direct speech, dialogues, and additions between sentences from given pairs."""
import re

from more_pairs import copying, longer
from more_pairs.draw import Draw

Pair = tuple[str, str]
SPEAKERS = [("he", "er"), ("she", "sie"), ("Tom", "Tom"), ("Anna", "Anna"), ("my mother", "meine Mutter"), ("my father", "mein Vater"), ("the man", "der Mann"),
            ("the woman", "die Frau"), ("the teacher", "der Lehrer"), ("the boy", "der Junge"), ("the girl", "das Mädchen"), ("I", "ich"), ("the old man", "der alte Mann"),
            ("my sister", "meine Schwester"), ("his brother", "sein Bruder"), ("the doctor", "der Arzt"), ("Peter", "Peter"), ("Maria", "Maria")]
VERBS = {".": [("said", "sagte"), ("said", "sagte"), ("answered", "antwortete"), ("whispered", "flüsterte"), ("thought", "dachte")], "?": [("asked", "fragte"), ("wanted to know", "wollte {} wissen")],
         "!": [("shouted", "rief"), ("cried", "schrie"), ("said", "sagte")]}
BEFORE = [("Yes", "Ja"), ("No", "Nein"), ("Well", "Nun"), ("Of course", "Natürlich"), ("I'm sorry", "Es tut mir leid"), ("Perhaps", "Vielleicht"), ("Thank you", "Danke"), ("All right", "In Ordnung"),
          ("You're right", "Du hast recht"), ("I know", "Ich weiß"), ("Maybe", "Vielleicht"), ("Hello", "Hallo"), ("Good morning", "Guten Morgen"), ("Not today", "Heute nicht"), ("Never", "Niemals")]
HESITATING = [("Hmm...", "Hmm ..."), ("Hmm...", "Hmm..."), ("Well...", "Nun..."), ("Oh...", "Oh..."), ("Um...", "Ähm..."), ("Ah,", "Ah,"), ("Oh,", "Oh,"), ("…", "…"), ("...", "..."), ("Wow!", "Wow!"), ("Hey,", "Hey,"), ("So...", "Also...")]


def of_one_sentence(pair: Pair) -> bool:
    return not any(re.search(r"[\"“”„:;()]|[.!?] ", side) for side in pair) and pair[0][-1] == pair[1][-1] and pair[0][-1] in ".?!"


def verb_of(mark: str, who: str, draw: Draw) -> Pair:
    """Returns the English verb, and the German verb and its subject in their order."""
    english, german = draw.pick(VERBS[mark])
    return english, german.format(who) if "{}" in german else f"{german} {who}"


def spoken(pairs: list[Pair], draw: Draw) -> Pair | None:
    """Makes direct speech, with German quotes on the German side, from two sentences."""
    first, second = pairs[:2]
    if not of_one_sentence(first) or not of_one_sentence(second):
        return None
    (who, german_who), mark = draw.pick(SPEAKERS), first[0][-1]
    verb, german_verb = verb_of(mark, german_who, draw)
    english = "," if mark == "." else mark
    german = ("" if mark == "." else mark) + "“,"
    way = draw.below(6)
    said = f'"{first[0][:-1]}{english}" {who} {verb}', f"„{first[1][:-1]}{german} {german_verb}"
    if way < 2 or mark != "." and way < 4:
        return said[0] + ".", said[1] + "."
    if way == 2:
        return f'{who[0].upper()}{who[1:]} said, "{first[0]}"', f"{german_who[0].upper()}{german_who[1:]} sagte: „{first[1]}“"
    if way == 3 and longer.is_clause(second):
        link = draw.pick([("and", "und"), ("but", "aber")])
        clause = longer.inside(second)
        return f'{said[0]}, "{link[0]} {clause[0]}."', f"{said[1]}, „{link[1]} {clause[1]}.“"
    if way == 4:
        return f'{said[0]}. "{second[0]}"', f"{said[1]}. „{second[1]}“"
    begin = draw.pick(BEFORE)
    verb, german_verb = verb_of(".", german_who, draw)
    if longer.is_clause(second) and draw.percent(60):
        clause = longer.inside(second)
        return f'"{begin[0]}," {who} {verb}, "{clause[0]}."', f"„{begin[1]}“, {german_verb}, „{clause[1]}.“"
    return f'"{begin[0]}," {who} {verb}. "{second[0]}"', f"„{begin[1]}“, {german_verb}. „{second[1]}“"


def dialogue(pairs: list[Pair], draw: Draw) -> Pair | None:
    """Makes a dialogue: Anna: … Tom: …, or A: … B: …"""
    if not all(of_one_sentence(pair) for pair in pairs):
        return None
    names = draw.pick(["AB", "AB", ("Anna", "Tom"), ("Mary", "Peter"), ("Julia", "Max"), ("Me", "Him"), "12"])
    if "Me" in names:
        return " ".join(f"{name}: {pair[0]}" for name, pair in zip(names, pairs)), " ".join(f"{name}: {pair[1]}" for name, pair in zip(("Ich", "Er"), pairs))
    sides = [" ".join(f"{name}: {pair[side]}" for name, pair in zip(names, pairs)) for side in (0, 1)]
    return sides[0], sides[1]


def between(pairs: list[Pair], draw: Draw) -> Pair | None:
    """Puts emoji, handles and addresses between two sentences or clauses, and after them."""
    if any("{" in side for pair in pairs for side in pair):
        return None
    first, second = pairs[:2]
    thing = copying.emoji(draw) if draw.percent(75) else draw.pick(["#" + copying.tag(draw), "@" + copying.tag(draw), copying.url(draw)])
    last = draw.pick(["", " " + copying.emoji(draw)])
    if all(side.count(", ") == 1 for side in first) and draw.percent(50):
        return first[0].replace(", ", f", {thing} ") + last, first[1].replace(", ", f", {thing} ") + last
    return f"{first[0]} {thing} {second[0]}{last}", f"{first[1]} {thing} {second[1]}{last}"


def hesitating(english: str, german: str, draw: Draw) -> Pair | None:
    """Puts "Hmm..." before a sentence, dots after it, or both."""
    if english[-1] not in "." or german[-1] != "." or english[-2] == ".":
        return None
    before = draw.pick(HESITATING)
    dots = draw.pick(["...", "...", "…", "."])
    after = english[:-1] + dots, german[:-1] + dots
    if draw.percent(25):
        return after
    comma = before[0][-1] == "," and not english.startswith("I")
    begun = english[0].lower() + english[1:] if comma and longer.is_clause((english, german)) else english
    return f"{before[0]} {begun[:-1]}{dots}", f"{before[1]} {longer.inside((english, german))[1] if begun != english else german[:-1]}{dots}"
