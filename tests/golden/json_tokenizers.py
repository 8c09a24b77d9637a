"""Makes small tokenizers in the form of tokenizer.json: those that transformers 5 writes for its classes, and
ones with each component of older files.

    build(folder, rules)   writes folder/NAME/tokenizer.json, and tokenizer_config.json where the class writes one

With `rules` (a file of SentencePiece's normalization rules) the tables in the files are small. Needs
transformers, tokenizers, sentencepiece and protobuf.
"""
import io
import json
import pathlib
import shutil
import tempfile

import sentencepiece
import transformers
from make_tokenizer_goldens import HERE, MORE_ENGLISH, MORE_GERMAN, corpus
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LINES = corpus("corpus.en", MORE_ENGLISH) + corpus("corpus.de", MORE_GERMAN)
MARKS = ["<pad>", "</s>", "<unk>"]
WORDS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
ADDED = [AddedToken("<NAME>", lstrip=True), AddedToken("<R>", rstrip=True), AddedToken("The Group"),
         AddedToken("the", single_word=True, normalized=False),
         AddedToken("[x]", lstrip=True, rstrip=True, normalized=False),
         AddedToken("<keep>", special=True, normalized=False)]
# Texts that contain these tokens and their neighbors.
TEXTS = ["<NAME> went home", "Hello  <NAME>  there", "<R>  home <R>", "the group, the, other theatre the", "The Group went",
         "the group went", "a [x]  [x] b[x]", "x <keep> y", "<mask> here", "say</s>no", "a <extra_id_3> b", "deu_Latn de_DE"]


def sentencepiece_model(rules, **options):
    model = io.BytesIO()
    if rules:
        options["normalization_rule_tsv"] = str(rules)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=model, vocab_size=300, character_coverage=1.0, hard_vocab_limit=False,
        num_threads=1, minloglevel=2, **options)
    return model.getvalue()


def save(tokenizer, folder, **options):
    tokenizer.add_tokens(["<NAME>"])
    tokenizer.save_pretrained(folder, **options)


def classes(folder, rules):
    """Writes the tokenizers as save_pretrained() of the classes does."""
    save(transformers.BartTokenizer.from_pretrained(HERE / "bytes"), folder / "bart")
    save(transformers.LEDTokenizer.from_pretrained(HERE / "bytes", add_prefix_space=True), folder / "led")
    kinds = (("pegasus", "Pegasus", "spiece.model", {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}, {}),
             ("t5", "T5", "spiece.model", {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}, {}),
             ("mbart", "MBart", "sentencepiece.bpe.model", {"bos_id": 1, "eos_id": 2, "unk_id": 0}, {"src_lang": "en_XX", "tgt_lang": "de_DE"}),
             ("mbart50", "MBart50", "sentencepiece.bpe.model", {"bos_id": 1, "eos_id": 2, "unk_id": 0}, {"src_lang": "en_XX", "tgt_lang": "de_DE"}),
             ("nllb", "Nllb", "sentencepiece.bpe.model", {"bos_id": 1, "eos_id": 2, "unk_id": 0, "model_type": "bpe"},
              {"src_lang": "eng_Latn", "tgt_lang": "deu_Latn", "extra_special_tokens": ["eng_Latn", "deu_Latn"]}))
    for name, kind, file, options, languages in kinds:
        with tempfile.TemporaryDirectory() as scratch:
            model = pathlib.Path(scratch)
            (model / file).write_bytes(sentencepiece_model(rules, **options))
            (model / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": kind + "Tokenizer"}))
            save(getattr(transformers, kind + "Tokenizer").from_pretrained(model, **languages), folder / name)


def trained(model, trainer, normalizer, pre_tokenizer, decoder):
    tokenizer = Tokenizer(model)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    if decoder is not None:
        tokenizer.decoder = decoder
    tokenizer.train_from_iterator(LINES, trainer)
    return tokenizer


def unigram(*parts):
    return trained(models.Unigram(), trainers.UnigramTrainer(
        vocab_size=300, special_tokens=MARKS, unk_token="<unk>", show_progress=False), *parts)


def pairs(*parts, unk="<unk>", fuse=True, byte_fallback=False):
    more = [f"<0x{byte:02X}>" for byte in range(256)] if byte_fallback else []
    tokenizer = trained(models.BPE(unk_token=unk, fuse_unk=fuse, byte_fallback=byte_fallback), trainers.BpeTrainer(
        vocab_size=300 + len(more), special_tokens=MARKS + more, show_progress=False), *parts)
    document = json.loads(tokenizer.to_str())
    document["added_tokens"] = [token for token in document["added_tokens"] if token["content"] not in more]
    return Tokenizer.from_str(json.dumps(document))


def metaspace(scheme="always", split=True):
    return pre_tokenizers.Metaspace(replacement="▁", prepend_scheme=scheme, split=split)


def components(folder):
    """Writes tokenizers that together have every component, with merges in both spellings."""
    n, p, d = normalizers, pre_tokenizers, decoders
    made = {
        "nfkc_lower": unigram(n.Sequence([n.NFKC(), n.Lowercase(), n.Replace(Regex(" {2,}"), " ")]), metaspace(), d.Metaspace()),
        "nfc_first": unigram(n.Sequence([n.NFC(), n.Strip(left=False, right=True), n.Replace(Regex(" {2,}"), "▁")]),
                             metaspace("first"), d.Metaspace(prepend_scheme="first")),
        "nfd_strip": pairs(n.Sequence([n.Strip(), n.Replace(Regex(r"\s+"), " "), n.NFD()]),
                           p.Sequence([p.WhitespaceSplit(), metaspace()]), d.Metaspace()),
        "byte_fallback": pairs(n.Sequence([n.Prepend("▁"), n.Replace(" ", "▁")]), None,
                               d.Sequence([d.Replace("▁", " "), d.ByteFallback(), d.Fuse(), d.Strip(" ", 1, 0)]), byte_fallback=True),
        "nfkd": pairs(n.NFKD(), p.WhitespaceSplit(), None, fuse=False),
        "words": pairs(n.NFC(), p.Sequence([p.Split(Regex(WORDS), "isolated"), p.ByteLevel(add_prefix_space=False, use_regex=False)]),
                       d.ByteLevel(), unk=None),
        "one_word": unigram(None, metaspace("never", False), d.Metaspace(prepend_scheme="never")),
    }
    for behavior in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"):
        for invert in (False, True):
            made[f"{behavior}_{invert}"] = pairs(None, p.Sequence([p.Split(" ", behavior, invert), p.Split(Regex(r"\s+"), behavior)]), None)
    for i, (name, tokenizer) in enumerate(made.items()):
        tokenizer.post_processor = processors.TemplateProcessing(
            single="$A </s>", pair="$A $B </s>", special_tokens=[("</s>", tokenizer.token_to_id("</s>"))])
        tokenizer.add_tokens(ADDED)
        document = json.loads(tokenizer.to_str())
        merges = document["model"].get("merges", [])
        if i % 2 == 1 and merges and not any(" " in part for merge in merges for part in merge):  # the form before tokenizers 0.20
            document["model"]["merges"] = [" ".join(merge) for merge in merges]
        (folder / name).mkdir()
        (folder / name / "tokenizer.json").write_text(json.dumps(document, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


def build(folder, rules=None):
    classes(folder, rules)
    components(folder)
    return sorted(path.name for path in folder.iterdir())


def reference(folder):
    """Returns two forms of the library's tokenizer. In one, typed special tokens that the model itself puts
    around texts are text (docs/model-formats.md). The other is unchanged, for decoding."""
    text = (folder / "tokenizer.json").read_text(encoding="utf-8")
    document = json.loads(text)
    config = folder / "tokenizer_config.json"
    keys = json.loads(config.read_text(encoding="utf-8")) if config.exists() else {}
    own = {"</s>", "<unk>", "<pad>"} | {
        value if isinstance(value, str) else value["content"]
        for key, value in keys.items() if value and (key.endswith("_token") or key == "mask_token_sent")}
    for token in document["added_tokens"]:
        token["special"] = token["special"] and token["content"] in own
    encoder = Tokenizer.from_str(json.dumps(document))
    encoder.encode_special_tokens = True
    return encoder, Tokenizer.from_str(text)


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder
