"""The attention of every head in the translation of one sentence."""

from typing import TYPE_CHECKING, Any

from . import _core
from .errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_KINDS = ("encoder", "decoder", "cross")


class Attention:
    """The attention record of a sentence and one of its translations.

    Arrays are read-only views of the libraries' memory, without copies. They stay valid as long as
    you keep them, even without the model. (With more than 1,024 tokens, maps of sparse patterns are
    copies.) A notebook shows an Attention as the page.
    """

    def __init__(self, records: "list[_core.Record]", hypothesis: int = 0,
                 record: "int" = -1) -> None:
        """Called by Model.attend()."""
        self._records = records
        self._which = record % len(records)
        self._index = hypothesis
        self._facts = self._record.hypothesis(hypothesis)

    @property
    def _record(self) -> "_core.Record":
        return self._records[self._which]

    @property
    def text(self) -> str:
        """The translation."""
        return self._facts["text"]

    @property
    def score(self) -> float:
        """The search's score: the sum of log_probs divided by length ** length_penalty."""
        return self._facts["score"]

    @property
    def tokens(self) -> "list[str]":
        """The L written tokens, ending in "</s>": the rows of `cross` and `decoder`."""
        return list(self._facts["tokens"])

    @property
    def ids(self) -> "list[int]":
        """The ids of `tokens`."""
        return list(self._facts["ids"])

    @property
    def decoder_tokens(self) -> "list[str]":
        """The L tokens that the decoder read, beginning with the start symbol: the columns of `decoder`."""
        return list(self._facts["decoder_tokens"])

    @property
    def source_text(self) -> str:
        """The sentence."""
        return self._record.source_text

    @property
    def source_tokens(self) -> "list[str]":
        """The S source tokens, ending in "</s>": the columns of `cross`, and both axes of `encoder`."""
        return self._record.source_tokens

    @property
    def source_ids(self) -> "list[int]":
        """The ids of `source_tokens`."""
        return self._record.source_ids

    @property
    def log_probs(self) -> "Floats":
        """[L] natural log-probabilities of `tokens`, as the model computes them."""
        return self._facts["log_probs"]

    @property
    def encoder(self) -> "Floats":
        """[layers, heads, S, S] encoder self-attention: rows look at columns and sum to 1.

        For linformer it is [layers, heads, S, k], because its columns are mixtures of all tokens.
        """
        return self._record.maps("encoder", self._index)

    @property
    def decoder(self) -> "Floats":
        """[layers, heads, L, L] masked decoder self-attention; later columns are exactly 0."""
        return self._record.maps("decoder", self._index)

    @property
    def cross(self) -> "Floats":
        """[layers, heads, L, S] cross-attention: row t is the step that writes tokens[t]."""
        return self._record.maps("cross", self._index)

    def vectors(self, kind: str, layer: int, head: int) -> "tuple[Floats, Floats, Floats]":
        """Returns the queries, keys and values of a head, [tokens, K] each."""
        self._check(kind, layer, head)
        query, key, value = self._record.vectors(kind, self._index)
        return query[layer, head], key[layer, head], value[layer, head]

    @property
    def hypotheses(self) -> "list[Attention]":
        """This sentence's translations, best first. In an experiment, the last one is the translation
        before the change, scored under the change, if it differs."""
        return [Attention(self._records, i, self._which) for i in range(self._record.hypotheses)]

    @property
    def before(self) -> "Attention | None":
        """In an experiment: the translation without the change."""
        return Attention(self._records, 0, 0) if len(self._records) > 1 else None

    @property
    def changes(self) -> "list[str]":
        """In an experiment: the changes, in words."""
        return self._record.changes

    def json(self) -> str:
        """Returns the record as `attn-demo translate --json` writes it (docs/json.md)."""
        return self._record.json()

    def page(self) -> str:
        """Returns the HTML page that `attn-demo translate --html` writes. An experiment shows before and after."""
        return _core.page(self._records)

    def widget(self, view: str = "", height: int = 420) -> Any:
        """Returns a notebook widget of one head. You can read the reader's selection from its `head`
        and `cell`, and the whole view, as in the page's address, from `view`. It is `height` pixels
        high until the page says what its map needs. Needs anywidget."""
        from .widget import make_widget

        return make_widget(_core.page(self._records, embed=True), view, height)

    def plot(self, kind: str = "cross", layer: int = -1, head: int = 0, ax: Any = None) -> Any:
        """Draws one head with matplotlib, and returns the axes. Rows look at columns."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError("plot() draws with matplotlib; pip install matplotlib") from error
        layer = self._check(kind, layer, head)
        rows = self.source_tokens if kind == "encoder" else [
            f"{read} → {written}" for read, written in zip(self.decoder_tokens, self.tokens)]
        columns = self.decoder_tokens if kind == "decoder" else self.source_tokens
        if ax is None:
            size = (1.6 + 0.5 * len(columns), 1.2 + 0.4 * len(rows))
            ax = plt.subplots(figsize=size, layout="constrained")[1]
        image = ax.imshow(getattr(self, kind)[layer, head], cmap="Blues", vmin=0, vmax=1)
        ax.set_xticks(range(len(columns)), columns, rotation=45, ha="left", rotation_mode="anchor")
        ax.set_yticks(range(len(rows)), rows)
        ax.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False)
        ax.set_xlabel(f"{kind}:{layer}:{head}")
        ax.figure.colorbar(image, ax=ax, label="weight")
        return ax

    def _check(self, kind: str, layer: int, head: int) -> int:
        if kind not in _KINDS:
            raise UsageError(f'"{kind}" is not a kind of attention; expected encoder, decoder or cross')
        shape: tuple[int, ...] = self._record.maps(kind, self._index).shape
        layers, heads = shape[:2]
        if not -layers <= layer < layers or not -heads <= head < heads:
            raise UsageError(f"{kind}:{layer}:{head}: the model has layers 0 to {layers - 1} and "
                             f"heads 0 to {heads - 1}")
        return layer % layers

    def _repr_html_(self) -> str:
        import html  # only needed in notebooks, which have loaded it already

        return (f'<iframe srcdoc="{html.escape(self.page())}" style="width: 100%; height: 720px; '
                'border: 1px solid #ccc"></iframe>')

    def __repr__(self) -> str:
        what = f" ({', '.join(self.changes)})" if self.changes else ""
        return f"<attn_demo.Attention {self.source_text!r} → {self.text!r}{what}>"

    def __copy__(self) -> "Attention":
        return self

    def __deepcopy__(self, memo: "dict[int, Any]") -> "Attention":
        return self

    def __reduce__(self) -> "tuple[Any, ...]":
        raise TypeError("an Attention cannot be pickled; pickle its arrays (a.cross.copy()) or "
                        "a.json()")
