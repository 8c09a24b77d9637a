#!/usr/bin/env python3
"""Makes tests/golden/tokenizer: small tokenizers of real shapes, and the results of MarianTokenizer,
BartTokenizer and PegasusTokenizer for hostile texts.

A typed special piece ("</s>") is ordinary text to this project, which transformers calls
split_special_tokens=True.
"""
import io
import json
import pathlib
import random
import shutil
import sys

import sentencepiece
import transformers
from tokenizers import ByteLevelBPETokenizer

HERE = pathlib.Path(__file__).parent / "tokenizer"
DEMO = pathlib.Path(__file__).parents[2] / "data" / "demo"

MORE_ENGLISH = [
    "Where did the group go after the long meeting?", "Nobody knows why they left so early.",
    "It's raining, isn't it?", "I don't believe that you've seen it.", "She's never been to Berlin!",
    "The price rose from 1,250 to 3,975 dollars.", "Call me at 5:30 p.m. on the 21st.",
    "Good morning, how are you?", "The quick brown fox jumps over the lazy dog.",
    "\"Come in,\" he said (quietly).", "Email: someone@example.org; web: www.example.org/a?b=c&d=e",
    "Translation is the art of saying almost the same thing.", "We'll see what they're doing.",
    "Every evening the old man walked along the river with his dog.", "Pack my box with jugs.",
]
MORE_GERMAN = [
    "Wohin ging die Gruppe nach der langen Besprechung?", "Niemand weiß, warum sie so früh gingen.",
    "Es regnet, nicht wahr?", "Ich glaube nicht, dass du es gesehen hast.",
    "Sie war noch nie in Berlin!", "Der Preis stieg von 1.250 auf 3.975 Dollar.",
    "Ruf mich am 21. um 17:30 Uhr an.", "Guten Morgen, wie geht es Ihnen?",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.",
    "„Komm herein“, sagte er (leise).", "Übung macht den Meister, Äpfel fallen nicht weit vom Stamm.",
    "Übersetzen ist die Kunst, fast dasselbe zu sagen.", "Straßenbahnhaltestellenschild",
    "Jeden Abend ging der alte Mann mit seinem Hund am Fluss entlang.", "Falsches Üben von Xylophon.",
]

TEXTS = [
    "The group went home", "Die Gruppe ging nach Hause", "The group went home.", "the GROUP Went hOME",
    "", " ", "    ", "\u00a0", "\u3000", "\u200b", "a", ".", "...", "…", "?!", "-", "--", "_", "▁", "▁▁",
    "▁The▁group", "The ▁ group", "  The   group  went ", "The\u00a0group\u2003went\u3000home",
    "</s>", "<unk>", "<pad>", "The </s> group", "group</s>", "<s> <unk> <pad> </s>", "</s></s>",
    ">>deu<<", ">>deu<< Hello", ">>deu<<Hello", ">>xyz<< Hello", " >>deu<< Hello", "Hello >>deu<<",
    ">>", ">><<", ">> a b <<c", ">>deu Hello", ">>deu<< >>deu<< x", "<<>>", "1 << 2 >> 0",
    "😀", "The group 😀 went 😀😀 home", "👨‍👩‍👧‍👦", "🇩🇪", "❤️", "ﬁnal ﬂoor", "½ ① Ⅷ ㍿ ㌀ ™ ℃",
    "Ｆｕｌｌ　ｗｉｄｔｈ", "e\u0301 vs é, u\u0308ber", "ẛ̣ \u1e9b\u0323", "ﷺ", "\u202eevil\u202c", "\ufeffbom",
    "שלום עולם", "مرحبا بالعالم", "東京に行きました。", "ein한국어text", "привет мир", "नमस्ते दुनिया",
    "Straßenbahnhaltestelle Äpfel Öl Übung", "word" * 200, "x" * 1000, "äöü" * 100, "a b " * 150,
    "It's isn't don't we've they're I'm", "Hello , world . Is it ' so ' ?", "1,250.75 3.975,00 10^6",
    "http://www.example.org/a?b=c&d=e#f", "<0x41> <0xFF>", "\\n \\u2581 %s {} \"quoted\"", "„Komm“ ‚so‘ – —",
    "don't we'll he'd I'M  'tis ''s", "tab\u00a0\u00a0x \u2003 y  z   ", "x²+½=Ⅷ ௧௨ 12ab34", "Ａ\u0301 か\u3099",
    "<mask> <mask_1> <unk_7>", "Ġ Ċ Ã¤", "\U000105c0\U00016d70",
    "\ufffd\ufffd", "a\u0300\u0301\u0302\u0303\u0304\u0305", "\U0010ffff\ue000", "İıſK", "¿Qué?", "zebra xylophone qwxz",
]


ADDED_TOKEN = {"__type": "AddedToken", "content": "</s>", "lstrip": False, "normalized": True, "rstrip": False,
               "single_word": False, "special": True}


def corpus(name, more):
    return (DEMO / name).read_text(encoding="utf-8").splitlines() + more


def train(lines, **options):
    """Returns the bytes of a SentencePiece model, the same in every run."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, eos_id=0, unk_id=1, bos_id=-1, pad_id=-1,
        hard_vocab_limit=False, num_threads=1, minloglevel=2, **options)
    return model.getvalue()


def pieces(model):
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [processor.id_to_piece(i) for i in range(len(processor))]


def write(name, source, target, vocab, config, target_vocab=None):
    folder = HERE / name
    folder.mkdir(parents=True)
    (folder / "source.spm").write_bytes(source)
    (folder / "target.spm").write_bytes(target)
    dump = lambda file, data: (folder / file).write_text(json.dumps(data, indent=1) + "\n")
    dump("vocab.json", {piece: i for i, piece in enumerate(vocab)})
    if target_vocab:
        dump("target_vocab.json", {piece: i for i, piece in enumerate(target_vocab)})
    dump("tokenizer_config.json", {"tokenizer_class": "MarianTokenizer", **config})


def make_models():
    english, german = corpus("corpus.en", MORE_ENGLISH), corpus("corpus.de", MORE_GERMAN)
    # One unigram model for both languages, in the form that this program makes.
    joint = train(english + german, model_type="unigram", vocab_size=500, character_coverage=1.0)
    write("joint", joint, joint, pieces(joint) + ["<pad>"], {"source_lang": "en", "target_lang": "de"})
    # Like opus-mt: two models, one vocabulary for both in an order of its own, language tags in it, some pieces
    # missing, a declared special piece, and spaces cleaned up; user-defined pieces, one of which normalization would
    # change.
    source = train(english, model_type="unigram", vocab_size=250, character_coverage=1.0,
                   normalization_rule_name="nfkc", user_defined_symbols=["http://", "½"])
    target = train(german, model_type="unigram", vocab_size=600, character_coverage=1.0,
                   normalization_rule_name="identity", byte_fallback=True)
    union = [p for p in dict.fromkeys(pieces(source) + pieces(target)) if p not in ("▁went", "</s>", "<unk>")]
    random.Random(1).shuffle(union)
    union = ["</s>", "<unk>"] + union + [">>deu<<", ">>nld<<", "<pad>"]
    write("opus", source, target, union,
          {"source_lang": "en", "target_lang": "de", "eos_token": ADDED_TOKEN, "pad_token": "<pad>",
           "additional_special_tokens": [">>deu<<"], "clean_up_tokenization_spaces": True})
    # Separate vocabularies, and BPE models that keep the text's spaces.
    source = train(english, model_type="bpe", vocab_size=200, character_coverage=0.98,
                   normalization_rule_name="identity", user_defined_symbols=["Berlin", "Ber"])
    target = train(german, model_type="bpe", vocab_size=200, character_coverage=1.0,
                   normalization_rule_name="identity", remove_extra_whitespaces=False)
    size = max(len(pieces(source)), len(pieces(target)))
    fill = lambda model: pieces(model) + [f"<filler_{i}>" for i in range(size - len(pieces(model)))] + ["<pad>"]
    write("separate", source, target, fill(source),
          {"source_lang": "en", "target_lang": "de", "separate_vocabs": True}, fill(target))


def make_bytes():
    """Makes BART's tokenizer: byte-level pairs, <mask> last, spaces cleaned up."""
    folder = HERE / "bytes"
    folder.mkdir(parents=True)
    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(
        corpus("corpus.en", MORE_ENGLISH) + corpus("corpus.de", MORE_GERMAN) + ["  a   b\n\n", "東京 🇩🇪 é"],
        vocab_size=600, min_frequency=2, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], show_progress=False)
    tokenizer.save_model(str(folder))
    vocab = json.loads((folder / "vocab.json").read_text())
    (folder / "vocab.json").write_text(json.dumps({**vocab, "<mask>": len(vocab)}, indent=1) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "BartTokenizer", "clean_up_tokenization_spaces": True}, indent=1) + "\n")


def make_pegasus():
    """Makes Pegasus' tokenizer: one unigram model, whose first pieces are <pad>, </s> and <unk>."""
    folder = HERE / "pegasus"
    folder.mkdir(parents=True)
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus("corpus.en", MORE_ENGLISH) + corpus("corpus.de", MORE_GERMAN)),
        model_writer=model, model_type="unigram", vocab_size=400, character_coverage=1.0, pad_id=0, eos_id=1,
        unk_id=2, bos_id=-1, hard_vocab_limit=False, num_threads=1, minloglevel=2)
    (folder / "spiece.model").write_bytes(model.getvalue())
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "PegasusTokenizer", "mask_token": "<mask_2>", "mask_token_sent": "<mask_1>"},
        indent=1) + "\n")


def make_t5():
    """Makes T5's tokenizer: SentencePiece's own ids, followed by the sentinels."""
    folder = HERE / "t5"
    folder.mkdir(parents=True, exist_ok=True)
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus("corpus.en", MORE_ENGLISH) + corpus("corpus.de", MORE_GERMAN)),
        model_writer=model, model_type="unigram", vocab_size=300, character_coverage=1.0, pad_id=0, eos_id=1,
        unk_id=2, bos_id=-1, hard_vocab_limit=False, num_threads=1, minloglevel=2, normalization_rule_name="identity")
    (folder / "spiece.model").write_bytes(model.getvalue())
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "T5Tokenizer", "extra_ids": 5}, indent=1) + "\n")


def goldens(name):
    kind = json.loads((HERE / name / "tokenizer_config.json").read_text())["tokenizer_class"]
    tokenizer = getattr(transformers, kind).from_pretrained(HERE / name)
    cases = []
    for text in TEXTS:
        source = tokenizer(text, split_special_tokens=True).input_ids
        target = tokenizer(text_target=text, split_special_tokens=True).input_ids
        cases.append({"text": text, "source": source, "target": target,
                      "decoded": tokenizer.decode(target, skip_special_tokens=True)})
    size = len(tokenizer)
    if kind == "MarianTokenizer":
        size = len(tokenizer.target_encoder if tokenizer.separate_vocabs else tokenizer.encoder)
    rng = random.Random(7)
    decodes = []
    for length in [0, 1, 1, 1, 2, 2, 3, 3, 5, 8, 8, 13, 21, 21, 34, 34] * 3:
        ids = [rng.randrange(size) for _ in range(length)]
        decodes.append({"ids": ids, "text": tokenizer.decode(ids, skip_special_tokens=True)})
    return {"directory": name, "special": [tokenizer.eos_token_id, tokenizer.unk_token_id, tokenizer.pad_token_id],
            "texts": cases, "decodes": decodes}


def main():
    if "--keep-models" not in sys.argv:
        shutil.rmtree(HERE, ignore_errors=True)
        make_models()
        make_bytes()
        make_pegasus()
        make_t5()
    data = [goldens(name) for name in ("joint", "opus", "separate", "bytes", "pegasus", "t5")]
    lines = ["["]
    for i, directory in enumerate(data):
        head = {k: v for k, v in directory.items() if k not in ("texts", "decodes")}
        lines.append(json.dumps(head)[:-1] + ', "texts": [')
        lines.append(",\n".join(json.dumps(c) for c in directory["texts"]))
        lines.append('], "decodes": [')
        lines.append(",\n".join(json.dumps(c) for c in directory["decodes"]))
        lines.append("]}" + ("," if i + 1 < len(data) else ""))
    (HERE / "goldens.json").write_text("\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
