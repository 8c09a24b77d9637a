"""Makes small models for the four classes of transformers that read sentencepiece.bpe.model.

    build(folder, rules)          writes folder/CLASS/sentencepiece.bpe.model, tokenizer_config.json, and M2M100's vocab.json
    Reference(folder).source(text, language), .labels(text, language), .decode(text)

Ids of NLLB's languages are fairseq's, which published weights have: languages behind the pieces, then <mask>. transformers 5.24
gives others where tokenizer.json is missing (<mask> first, and no language that tokenizer_config.json does not name), so its
tokens are taken, and numbered here. Needs transformers, sentencepiece and protobuf.
"""
import json
import pathlib

import json_tokenizers
import sentencepiece
import transformers
from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES as NLLB

FILE = "sentencepiece.bpe.model"
KINDS = {"MBart": {}, "MBart50": {}, "Nllb": {"model_type": "bpe"}, "M2M100": {"model_type": "bpe"}}
PAIRS = {"MBart": (("en_XX", "ro_RO"), ("de_DE", "en_XX")), "MBart50": (("en_XX", "de_DE"), ("sl_SI", "ar_AR")),
         "Nllb": (("eng_Latn", "deu_Latn"), ("zul_Latn", "ace_Arab")), "M2M100": (("en", "de"), ("zu", "af"))}


def build(folder, rules=None):
    for kind, options in KINDS.items():
        place = pathlib.Path(folder) / kind
        place.mkdir()
        (place / FILE).write_bytes(json_tokenizers.sentencepiece_model(rules, bos_id=1, eos_id=2, unk_id=0, **options))
        (place / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": kind + "Tokenizer"}) + "\n")
        if kind == "M2M100":
            pieces = sentencepiece.SentencePieceProcessor(model_file=str(place / FILE))
            words = ["<s>", "<pad>", "</s>", "<unk>", *(pieces.id_to_piece(i) for i in range(3, pieces.get_piece_size()))]
            (place / "vocab.json").write_text(json.dumps({word: i for i, word in enumerate(words)}, ensure_ascii=False) + "\n")
    return list(KINDS)


class Reference:
    def __init__(self, folder):
        kind, more = pathlib.Path(folder).name, {}
        if kind == "Nllb":
            more["extra_special_tokens"] = list(NLLB)
        self.tokenizer = getattr(transformers, kind + "Tokenizer").from_pretrained(folder, **more)
        self.ids = None
        if kind == "Nllb":
            pieces = sentencepiece.SentencePieceProcessor(model_file=str(pathlib.Path(folder) / FILE))
            order = ["<s>", "<pad>", "</s>", "<unk>", *(pieces.id_to_piece(i) for i in range(3, pieces.get_piece_size())), *NLLB, "<mask>"]
            self.ids = {token: i for i, token in enumerate(order)}

    def numbered(self, ids):
        return ids if self.ids is None else [self.ids[token] for token in self.tokenizer.convert_ids_to_tokens(ids)]

    def source(self, text, language):
        self.tokenizer.src_lang = language
        return self.numbered(self.tokenizer(text).input_ids)

    def labels(self, text, language):
        self.tokenizer.tgt_lang = language
        return self.numbered(self.tokenizer(text_target=text).input_ids)

    def decode(self, text):
        """Returns a text after it has been split and joined."""
        return self.tokenizer.decode(self.tokenizer(text, add_special_tokens=False).input_ids, skip_special_tokens=True)
