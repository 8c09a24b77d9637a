#!/usr/bin/env python3
"""Makes tests/golden/metrics/goldens.json: sacreBLEU's results for hostile sentence pairs, one by one and as
corpora; and several.json: its other tokenizers, several references, TER, chrF2++ and the paired bootstrap.

    pip install sacrebleu==2.6.0 && python tests/golden/make_metric_goldens.py

Python 3.11; all text is written here.
"""
import functools
import json
import pathlib
import random
import sys

import sacrebleu.metrics.ter
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

OUT = pathlib.Path(__file__).parent / "metrics" / "goldens.json"
SEVERAL = OUT.with_name("several.json")
TOKENIZERS = ["13a", "intl", "char", "none", "zh"]

SENTENCES = [
    "Die Gruppe ging nach Hause.", "Am Sonntag ging die Familie in den Park",
    "Der Preis stieg von 1.250 auf 3.975,00 Dollar.", "It cost 1,000.5 dollars, i.e. 3.14-fold.",
    "„Komm herein“, sagte er (leise) – und ging.", "It's isn't don't we've they're I'm o'clock",
    "Die 3-jährige fuhr 2020-2021 mit dem 7-Uhr-Zug.", "E-Mail: jemand@example.org; www.example.org/a?b=c&d=e#f",
    "Übung macht den Meister, Äpfel fallen nicht weit vom Stamm!", "STRASSE, Straße, STRAẞE und GROẞ",
    "ΟΔΥΣΣΕΥΣ ΚΑΙ ΣΟΦΟΣ ΣΑΣ.", "Σ ΑΣ ΑΣΑ Σ. ΑΣ, ΑΣ' ΑΣ\u0301 Α\u00adΣ ΑΣ\u00adΑ", "İstanbul'da IŞIK ve ILIK İİ",
    "東京に行きました。今日は、良い天気です。", "他说：“你好，世界！”然后走了。", "안녕하세요 세계, 오늘은 좋은 날입니다.",
    "😀 The group 😀😀 went 👨‍👩‍👧‍👦 home 🇩🇪 ❤️", "e\u0301 ist nicht é, u\u0308ber nicht über", "ЖЁЛТЫЙ дом, Привет!",
    "ＦＵＬＬ　ＷＩＤＴＨ ｔｅｘｔ！", "ﬁnal ﬂoor ǅ ǈ ǲ ŉ ΐ ﬀ ᾈ ᾼ Ⅷ Ⓐ K Å Ω", "𐐀𐐁𐐂 𞤀𞤁 𝐀𝐁",
]

PAIRS = [
    # nothing, or almost nothing, on one side
    ("", ""), ("", "Haus"), ("Haus", ""), (" ", "Haus"), ("\u00a0\u3000", "Haus geht weg von hier"), (".", ""),
    (".", "."), ("", "."), ("a", "a"), ("a", "b"), ("a b", "a b"), ("a b c", "a b c"), ("a b c d", "a b c d"),
    ("a b c d e", "a b c d e"), ("a b c", "c b a"), ("a a a a a", "a a"), ("a a", "a a a a a"), ("ab", "abcdefgh"),
    ("abcdefgh", "ab"), ("ab ab ab", "ab"), ("x", "abcdef"), ("abcdef", "x"), ("Ja.", "Nein."), ("Ja", "Ja."),
    # spaces at which Python splits, and characters that look similar
    ("a\u00a0b", "a b"), ("a\u1680b", "a b"), ("a\u2000b\u2001c\u2002d", "a b c d"), ("a\u2003b\u2004c\u2005d", "a b c d"),
    ("a\u2006b\u2007c\u2008d", "a b c d"), ("a\u2009b\u200ac", "a b c"), ("a\u2028b\u2029c", "a b c"),
    ("a\u202fb\u205fc\u3000d", "a b c d"), ("a\x85b", "a b"), ("a\x1cb\x1dc\x1ed\x1fe", "a b c d e"),
    ("a\tb\rc\vd\fe", "a b c d e"), ("a b\r", "a b"), ("a b\u3000\u00a0", "a b"), ("\ufeffa b", "a b"),
    ("a\u200bb", "a b"), ("a\u180eb", "a b"), ("a\u2060b", "a b"), ("a\u200cb\u200db", "ab b"), ("a\x00b", "a b"),
    ("a\x01b\x1bc\x7fd", "a b c d"), ("a\x80b", "a b"), ("\u2007.\u2007,", ". ,"),
    # entities, and the parts that mteval removes
    ("&quot;Ja&quot; &amp; &lt;Nein&gt;", "\"Ja\" & <Nein>"), ("&amp;lt; &amp;quot; &amp;amp;", "&lt; &quot; &amp;"),
    ("&QUOT; &Amp;", "&quot; &amp;"), ("&apos;x&apos; &#39;", "'x' '"), ("a<skipped>b", "ab"),
    ("a <skipped> b", "a b"), ("<SKIPPED> a", "a"), ("<skip<skipped>ped>", "<skipped>"), ("a-\nb c", "ab c"),
    ("a\nb\n\nc", "a b c"), ("foo-\n", "foo-"), ("foo- \n ", "foo"), ("&", "&amp;"), ("&am<skipped>p;", "&"),
    # numbers, points, commas and hyphens
    ("1,000.5", "1 , 000 . 5"), ("1,000.5 .", "1,000.5."), ("1.", "1 ."), (".5", "0.5"), ("5.", "5"), ("a.b", "a . b"),
    ("a.1", "a . 1"), ("1.a", "1 . a"), ("a..b", "a . . b"), ("1..2", "1 . . 2"), ("...", ". . ."), (".,.,", ". , . ,"),
    ("1,2,3,4", "1 2 3 4"), ("x,y,z", "x , y , z"), ("z. B.", "z . B ."), ("1-2", "1 - 2"), ("a-b", "a - b"),
    ("1-a", "1 -a"), ("a-1", "a -1"), ("1--2", "1 - -2"), ("-1", "- 1"), ("1-", "1 -"), ("1-.", "1 -."), ("12-34-56", "12 - 34 - 56"),
    ("٣.١٤", "3.14"), ("²,³", "² , ³"), ("１，０００．５", "1,000.5"), ("3½.5", "3½ . 5"), ("10.000.000,00", "10.000.000,00"),
    # punctuation and quotes
    ("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "! \" # $ % & ' ( ) * + , - . / : ; < = > ? @ [ \\ ] ^ _ ` { | } ~"),
    ("(a)[b]{c}<d>", "( a ) [ b ] { c } < d >"), ("it's", "it 's"), ("it’s", "it's"), ("„a“ «b» “c”", "\"a\" \"b\" \"c\""),
    ("a/b|c\\d", "a / b | c \\ d"), ("a_b^c`d~e", "a b c d e"), ("50%", "50 %"), ("$5.00", "$ 5.00"), ("C++", "C + +"),
    ("a—b–c", "a — b – c"), ("¿Qué?", "¿ Qué ?"), ("。、！", "。 、 ！"), ("ä.ö", "ä . ö"), ("ä,", "ä ,"), ("😀.", "😀 ."),
    (".😀,", ". 😀 ,"), ("'-'", "' - '"), ("--", "- -"), ("* * *", "***"),
    # case
    ("STRASSE", "straße"), ("STRAẞE", "straße"), ("İ", "i̇"), ("İI", "iı"), ("ΣΣ", "σς"), ("ΟΔΟΣ", "οδος"),
    ("ΟΔΟΣ ΟΔΟΣ.", "οδος οδος."), ("Σ", "σ"), ("ΑΣ1", "ας1"), ("ΑΣΒ", "ασβ"), ("1ΣΑ", "1σα"), ("A.Σ", "a.ς"),
    ("ΑΣʰ", "ας ʰ"), ("Α'Σ", "α'ς"), ("ΑΣ:Β", "ασ:β"), ("Ā̀Ñ̃", "ā̀ñ̃"), ("ǅ", "ǆ"), ("K", "k"), ("Å", "å"), ("Ω", "ω"),
    ("ᏸᎠ", "Ᏸꭰ"), ("Ა", "ა"), ("𐐀", "𐐨"), ("𞤀", "𞤢"), ("ᾈ", "ᾀ"), ("Ⅷ", "ⅷ"), ("Ⓐ", "ⓐ"), ("Ⱥ Ⱦ", "ⱥ ⱦ"), ("ﬁ", "FI"),
    # combining marks and emoji
    ("é", "e\u0301"), ("👨‍👩‍👧‍👦", "👨👩👧👦"), ("🇩🇪🇦🇹", "🇦🇹🇩🇪"), ("❤️", "❤"), ("👍🏽", "👍"), ("नमस्ते दुनिया", "नमस्ते दुनिया!"),
    ("\U0010ffff\ue000", "\U0010ffff"), ("\ufffd", "?"), ("z\u0300\u0301\u0302\u0303", "z\u0301\u0300\u0302\u0303"),
    ("日本語", "日本"), ("日本語 です", "日本語です"), ("한국어", "한국 어"), ("שלום עולם", "שלום, עולם"), ("مرحبا بالعالم", "مرحبا"),
]


def remember_edits():
    """Caches edits, because the same sentence occurs in many corpora and a long one takes seconds."""
    edits = functools.lru_cache(None)(lambda h, r, count=sacrebleu.metrics.ter.translation_edit_rate: count(list(h), list(r)))
    sacrebleu.metrics.ter.translation_edit_rate = lambda h, r: edits(tuple(h), tuple(r))


def spoil(sentence, rng):
    """Returns a hypothesis that is neither right nor nonsense."""
    words = sentence.split(" ")
    kind = rng.randrange(6)
    if kind == 0:
        words.pop(rng.randrange(len(words)))
    elif kind == 1:
        rng.shuffle(words)
    elif kind == 2:
        words = [w.upper() for w in words]
    elif kind == 3:
        words += rng.choice(SENTENCES).split(" ")[:3]
    elif kind == 4:
        words = [w.replace("e", "é").replace(",", " ,") for w in words]
    return " ".join(words)


def bleu_numbers(pairs, lowercase, tokenize):
    b = BLEU(lowercase=lowercase, tokenize=tokenize, force=True)
    s = b.corpus_score([h for h, _ in pairs], [[r for _, r in pairs]])
    return {"score": s.score, "precisions": s.precisions, "correct": s.counts, "total": s.totals, "bp": s.bp,
            "sys_len": s.sys_len, "ref_len": s.ref_len, "signature": str(b.get_signature())}


def chrf_numbers(pairs, lowercase):
    c = CHRF(lowercase=lowercase)
    hypotheses, references = [h for h, _ in pairs], [[r for _, r in pairs]]
    stats = [sum(column) for column in zip(*c._extract_corpus_statistics(hypotheses, references))]
    return {"score": c.corpus_score(hypotheses, references).score, "hypothesis": stats[0::3],
            "reference": stats[1::3], "matching": stats[2::3], "signature": str(c.get_signature())}


def corpus(indices, pairs):
    chosen = [pairs[i] for i in indices]
    return {"pairs": indices,
            "bleu": [bleu_numbers(chosen, lc, tok) for tok in ("13a", "none") for lc in (False, True)],
            "chrf": [chrf_numbers(chosen, lc) for lc in (False, True)]}


def several_numbers(hypotheses, references, lowercase):
    """Returns scores with any number of references."""
    result = {"bleu": {}}
    for tokenize in TOKENIZERS:
        b = BLEU(lowercase=lowercase, tokenize=tokenize, force=True)
        s = b.corpus_score(hypotheses, references)
        result["bleu"][tokenize] = {"score": s.score, "correct": s.counts, "total": s.totals, "sys_len": s.sys_len,
                                    "ref_len": s.ref_len, "signature": str(b.get_signature())}
    for words in (0, 2):
        c = CHRF(lowercase=lowercase, word_order=words)
        score = c.corpus_score(hypotheses, references).score
        result["chrf++" if words else "chrf"] = {"score": score, "signature": str(c.get_signature())}
    t = TER()
    s = t.corpus_score(hypotheses, references)
    result["ter"] = {"score": s.score, "edits": s.num_edits, "length": s.ref_length, "signature": str(t.get_signature())}
    return result


def paired_numbers(baseline, system, references, samples):
    metrics = {"BLEU": BLEU(force=True), "chrF": CHRF(), "chrF++": CHRF(word_order=2), "TER": TER()}
    signatures, scores = PairedTest([("baseline", baseline), ("system", system)], metrics, references,
                                    test_type="bs", n_samples=samples)()
    names = [name for name in scores if name != "System"]
    numbers = lambda r: {"score": r.score, "mean": float(r.mean), "ci": float(r.ci), "p": r.p_value}
    return [{"baseline": numbers(scores[name][0]), "system": numbers(scores[name][1]),
             "signature": str(signatures[name])} for name in names]


def long_sentences(rng):
    """Returns sentences that reach TER's limits: longer shifts than it allows, and more than it tries."""
    words = [f"w{i}" for i in range(56)]
    few = ["a", "b", "c"]
    pairs = []
    for length in (20, 56):
        left = words[:length]
        right = left[length // 2:] + left[:length // 2]
        pairs.append((" ".join(left), " ".join(right)))
        mixed = left[:]
        rng.shuffle(mixed)
        pairs.append((" ".join(mixed), " ".join(left)))
        pairs.append((" ".join(rng.choices(few, k=length)), " ".join(rng.choices(few, k=length))))
        pairs.append((" ".join(left), " ".join(left[:3])))
        pairs.append((" ".join(left[:3]), " ".join(left)))
    return pairs


def several(pairs):
    """Returns several references and systems: further references are spoiled ones, and the second system is
    the first, spoiled once more."""
    rng = random.Random(5)
    pairs = pairs + long_sentences(rng)
    pick = lambda: [pairs[rng.randrange(len(pairs))][1] for _ in pairs]
    spoiled = lambda lines: [spoil(line, rng) if line.split() else line for line in lines]
    hypotheses, first = [h for h, _ in pairs], [r for _, r in pairs]
    second, third, baseline = spoiled(first), spoiled(pick()), spoiled(hypotheses)
    everything = list(range(len(pairs)))
    groups = [everything] + [sorted(rng.sample(everything, n)) for n in (2, 5, 13, 34) for _ in range(2)]
    groups += [[i] for i in everything[::12]] + [[i] for i in everything[-10:]]
    corpora = []
    for group in groups:
        of = lambda lines: [lines[i] for i in group]
        for count in (1, 2, 3):
            references = [of(lines) for lines in (first, second, third)[:count]]
            for lowercase in (False, True)[:2 if len(group) > 1 else 1]:
                corpora.append({"lines": group, "references": count, "lowercase": lowercase,
                                **several_numbers(of(hypotheses), references, lowercase)})
    paired = []
    for count, samples, size in ((1, 1000, len(pairs)), (3, 1000, len(pairs)), (2, 7, 100), (1, 130, 1), (2, 300, 20)):
        cut = lambda lines: lines[len(pairs) - size:]
        references = [cut(lines) for lines in (first, second, third)[:count]]
        paired.append({"references": count, "samples": samples, "lines": size,
                       "metrics": paired_numbers(cut(baseline), cut(hypotheses), references, samples)})
    cutters = {name: BLEU(tokenize=name).tokenizer for name in ("intl", "zh", "char")}
    texts = sorted({text for pair in pairs for text in pair})
    return {"made_by": f"sacrebleu {sys.modules['sacrebleu'].__version__}", "hypotheses": hypotheses,
            "baseline": baseline, "references": [first, second, third], "corpora": corpora, "paired": paired,
            "tokens": {name: [cutter(text.rstrip()).split() for text in texts] for name, cutter in cutters.items()},
            "texts": texts}


def write(path, golden):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(golden, separators=(",", ":"), ensure_ascii=False) + "\n")
    print(f"{path.name}: {path.stat().st_size} bytes")


def main():
    remember_edits()
    rng = random.Random(4)
    pairs = PAIRS + [(s, s) for s in SENTENCES] + [(spoil(s, rng), s) for s in SENTENCES * 3]
    everything = list(range(len(pairs)))
    short = [i for i, (h, r) in enumerate(pairs) if len(h.split()) <= 2 and len(r.split()) <= 2]
    empty = [i for i, (h, _) in enumerate(pairs) if not h.split()]
    real = everything[len(PAIRS):]
    groups = [everything, everything[::-1], short, empty, real]
    groups += [sorted(rng.sample(everything, n)) for n in (2, 3, 5, 8, 13, 21, 34, 55) for _ in range(3)]
    groups += [[i] for i in everything]
    tokenizer = BLEU().tokenizer
    texts = sorted({text for pair in pairs for text in pair})
    golden = {
        "made_by": f"sacrebleu {sys.modules['sacrebleu'].__version__}", "pairs": pairs,
        "texts": [{"text": t, "13a": tokenizer(t.rstrip()), "lower": t.lower(), "split": t.split()} for t in texts],
        "corpora": [corpus(group, pairs) for group in groups],
    }
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
    print(f"{len(pairs)} pairs, {len(groups)} corpora, {OUT.stat().st_size} bytes")
    write(SEVERAL, several(pairs))


main()
