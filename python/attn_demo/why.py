"""Explains where each written word came from."""

from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core
from .errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Arrays = dict[str, NDArray[Any]]


class Share(NamedTuple):
    """The share of one word in a logit."""

    text: str
    value: float


class Shares(NamedTuple):
    """A logit, or a difference of two, as a sum over words and the rest of the model."""

    source: "list[Share]"
    prefix: "list[Share]"
    feed_forward: float
    biases: float
    position: float

    @property
    def rest(self) -> float:
        """Feed-forwards, biases and the position together."""
        return self.feed_forward + self.biases + self.position

    @property
    def total(self) -> float:
        """The sum of everything: the logit."""
        return self.rest + sum(share.value for share in (*self.source, *self.prefix))


class Foil(NamedTuple):
    """The token that a word is compared with: the runner-up, or the token that you gave."""

    step: int
    word: str
    text: str
    given: bool
    difference: Shares


class Fall(NamedTuple):
    """The fall of a word's log-probability without a source word: with the word dropped, and with <unk> in its place."""

    text: str
    drop: float
    unk: float


class WordReceipt(NamedTuple):
    """A written word. It has `length` tokens, beginning with `first`, and `logit` is the sum over them.
    `occlusion` is empty unless you requested it."""

    text: str
    first: int
    length: int
    log_prob: float
    logit: Shares
    foil: Foil
    occlusion: "list[Fall]"


def _shares(parts: "_core.Sum") -> Shares:
    source, prefix, *rest = parts
    return Shares([Share(*each) for each in source], [Share(*each) for each in prefix], *rest)


def _receipt(word: "_core.Word") -> WordReceipt:
    text, first, length, log_prob, logit, (step, token, other, given, difference), occlusion = word
    return WordReceipt(text, first, length, log_prob, _shares(logit),
                       Foil(step, token, other, given, _shares(difference)),
                       [Fall(*each) for each in occlusion])


class Why:
    """Why a model wrote each word of a translation; docs/why.md defines the methods.

    The results are dicts of arrays with the keys of `attn-demo why --json` (docs/json.md). The arrays are
    read-only views of the libraries' memory, and stay valid as long as you keep them. Those of `lens`,
    and `gap` of `integrated`, are copies. A method that you did not request raises UsageError.
    """

    def __init__(self, core: "_core.Why") -> None:
        """Called by Model.why()."""
        self._core = core
        self._facts = core.facts()
        self._results = core.results()

    @property
    def source_text(self) -> str:
        """The sentence."""
        return self._facts["source_text"]

    @property
    def text(self) -> str:
        """The translation whose words are explained."""
        return self._facts["text"]

    @property
    def source_tokens(self) -> "list[str]":
        """The S source tokens, ending in "</s>"."""
        return list(self._facts["source_tokens"])

    @property
    def source_ids(self) -> "list[int]":
        """The ids of `source_tokens`."""
        return list(self._facts["source_ids"])

    @property
    def tokens(self) -> "list[str]":
        """The L written tokens: the first axis of every array about them."""
        return list(self._facts["tokens"])

    @property
    def ids(self) -> "list[int]":
        """The ids of `tokens`."""
        return list(self._facts["ids"])

    @property
    def decoder_tokens(self) -> "list[str]":
        """The L tokens that the decoder read, beginning with the start symbol."""
        return list(self._facts["decoder_tokens"])

    @property
    def foil_tokens(self) -> "list[str]":
        """The L tokens that `tokens` are compared with: the runners-up, or that of `instead`."""
        return list(self._facts["foil_tokens"])

    @property
    def foil_ids(self) -> "list[int]":
        """The ids of `foil_tokens`."""
        return list(self._facts["foil_ids"])

    @property
    def logits(self) -> "Floats":
        """[L] logits of `tokens`."""
        return self._facts["logits"]

    @property
    def log_probs(self) -> "Floats":
        """[L] natural log-probabilities of `tokens`."""
        return self._facts["log_probs"]

    @property
    def foil_logits(self) -> "Floats":
        """[L] logits of `foil_tokens`."""
        return self._facts["foil_logits"]

    @property
    def receipt(self) -> "dict[str, Arrays]":
        """"word" and "contrast": the items that sum to logit(word), and to logit(word) − logit(foil). Their
        "cross" is [L, layers, heads, S], "self" [L, layers, heads, L], "total" and "logit" [L], …"""
        result: "dict[str, Arrays]" = self._result("receipt")
        return result

    @property
    def contributions(self) -> "dict[str, Arrays]":
        """"value_weighted", "value_weighted_layer", "res_ln_layer", "mixing_ratio" and "alti", each with
        "encoder_self", "decoder_self" and "cross"; and "alti_plus" with "encoder", "layers" and "total"."""
        result: "dict[str, Arrays]" = self._result("contributions")
        return result

    @property
    def occlusion(self) -> "Arrays":
        """The falls of `log_probs`: "drop" and "unk", [L, source tokens without the last </s>]."""
        result: "Arrays" = self._result("occlusion")
        return result

    @property
    def gradients(self) -> "dict[str, Arrays]":
        """"log_prob" and "contrast", each with "source_l2" [L, S], "target_l2" [L, L], …"""
        result: "dict[str, Arrays]" = self._result("gradients")
        return result

    @property
    def integrated(self) -> "dict[str, Arrays]":
        """The same two for integrated gradients, with "gap" [L], the share that they do not explain."""
        result: "dict[str, Arrays]" = self._result("integrated")
        return result

    @property
    def lens(self) -> "dict[str, Any]":
        """"logit_lens" with "ids", "tokens" and "log_probs" [layers + 1, L, 5], "logit_lens_rank",
        "decoder_lens", the translations after each encoder layer, and "decoder_lens_log_prob"."""
        result: "dict[str, Any]" = self._result("lens")
        return result

    @property
    def patching(self) -> "dict[str, Any]":
        """The grids of recovered shares "encoder" [layers + 1, S], "decoder" [layers + 1, steps] and "cross"
        [layers, heads], and the compared step, words and positions."""
        result: "dict[str, Any]" = self._result("patch")
        return result

    @property
    def words(self) -> "list[WordReceipt]":
        """The receipts summed by words (with units="tokens": by tokens), as the command prints them."""
        return [_receipt(word) for word in self._core.words()]

    def table(self) -> "list[dict[str, Any]]":
        """Returns `words` as rows, for pandas.DataFrame(why.table()).

        A row has "word" and "step", the number of its first token; "method" ("receipt.word", "receipt.contrast",
        "occlusion.drop" or "occlusion.unk"); "part" ("source", "prefix", "feed_forward", "biases" or
        "position"); "text" and "index" of a word of the source or prefix; and "value". The rows of a word
        with method "receipt.word" add up to its logit.
        """
        rows = []
        for word in self.words:
            for method, step, shares in (("receipt.word", word.first, word.logit),
                                         ("receipt.contrast", word.foil.step, word.foil.difference)):
                parts = [(part, index, *share) for part in ("source", "prefix")
                         for index, share in enumerate(getattr(shares, part))]
                parts += [(part, None, "", getattr(shares, part)) for part in ("feed_forward", "biases", "position")]
                rows += [(word.text, step, method, *part) for part in parts]
            rows += [(word.text, word.first, f"occlusion.{how}", "source", index, fall.text, getattr(fall, how))
                     for how in ("drop", "unk") for index, fall in enumerate(word.occlusion)]
        return [dict(zip(("word", "step", "method", "part", "index", "text", "value"), row)) for row in rows]

    def json(self) -> str:
        """Returns the object that `attn-demo why --json` writes."""
        return self._core.json()

    def svg(self) -> str:
        """Returns the bars that `attn-demo why --svg` draws. A notebook shows them."""
        return self._core.svg()

    def _result(self, method: str) -> Any:
        if method not in self._results:
            how = 'corrupt="…"' if method == "patch" else f'methods="{method}"'
            raise UsageError(f"{method} was not requested; give why() {how}")
        return self._results[method]

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return f"<attn_demo.Why {self.source_text!r} → {self.text!r}: {', '.join(self._results)}>"

    def __copy__(self) -> "Why":
        return self

    def __deepcopy__(self, memo: "dict[int, Any]") -> "Why":
        return self

    def __reduce__(self) -> "tuple[Any, ...]":
        raise TypeError("a Why cannot be pickled; pickle its arrays (copies of them), table() or json()")
