"""Loads, observes and trains models, and translates with them."""

import contextlib
import contextvars
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypedDict, Unpack, overload

from . import _core
from .arguments import clean, given, lasting, search_options, tell
from .attention import Attention
from .errors import UsageError
from .options import AttendOptions, TranslateOptions, WhyOptions
from .why import Why

Path = str | os.PathLike[str]
Watcher = Callable[[_core.Head], Any]
StageWatcher = Callable[[_core.Stage], Any]
Watchers = tuple["Watcher | None", "StageWatcher | None"]
Progress = bool | Callable[[str, str, dict[str, Any]], Any]


_looking_up = threading.Lock()


def _use_arrays() -> None:
    """Loads numpy before the first array. Two threads that load it at the same time would wait for each
    other (pybind11 before 2.12)."""
    with _looking_up:
        _core.look_up_numpy()


class Training(TypedDict, total=False):
    """The options of Model.train() besides config and out."""

    from_: "Path | None"
    source_lang: "str | None"
    target_lang: "str | None"
    resume: bool
    threads: "int | None"
    set: "Sequence[str] | str"
    progress: "Progress"


class Translation(NamedTuple):
    """One of the n best translations. The score is the sum of log-probabilities divided by
    length ** length_penalty."""

    text: str
    score: float


def load(model: Path | Sequence[Path] | None = None, *, config: Path | None = None,
         preset: "str | None" = None, seed: "int | None" = None, d_model: "int | None" = None,
         heads: "int | None" = None, layers: "int | None" = None, set: "Sequence[str] | str" = (),
         maps_of: int | Path | None = None, global_: "str | None" = None,
         prefix: "str | None" = None, precision: str = "float32") -> "Model":
    """Loads a model.

    model: a directory, or several, which translate together. A file that ends in .json is a config,
    whose model gets random weights. Without model, the shipped model is loaded. The other arguments
    are the options of `attn-demo translate` with the same names (global_: --global).

    Raises UsageError, InputError, FileError or OutOfMemoryError where the program would exit with
    code 2 to 5.
    """
    if isinstance(model, (str, os.PathLike)) and os.fspath(model).endswith(".json"):
        if config is None:
            model, config = None, model
    options = given(model=model, config=config, preset=preset, seed=seed, d_model=d_model,
                    heads=heads, layers=layers, set=set, maps_of=maps_of, prefix=prefix, precision=precision,
                    **{"global": global_})
    if model is not None and "model" not in options:
        raise UsageError("--model: the list is empty; give a directory, or nothing for the shipped model")
    return Model(options)


class Model:
    """A model, which is read-only once it is loaded.

    Threads may share it, and a child of fork() may continue to use it. copy.copy and copy.deepcopy
    return the same object, and unpickling loads it again from its files.
    """

    def __init__(self, options: "dict[str, Any]") -> None:
        """Called by load()."""
        self._core = _core.Model(options)
        # The options for loading it again, for another precision or when unpickling.
        self._options = lasting(options) | {"names": self._core.names}
        own = os.fsdecode(self._core.directory)
        self._directory = own and os.path.abspath(own)
        self._cores = {options["precision"]: self._core}
        self._watchers: contextvars.ContextVar[tuple[Watchers, ...]] = contextvars.ContextVar(
            "watchers", default=())

    @property
    def name(self) -> str:
        """The directory, config or preset as you named it; several are joined by " + "."""
        return " + ".join(map(os.fsdecode, self._core.names))

    @property
    def directory(self) -> str:
        """The directory of its files, so that other libraries can load them; empty for random weights."""
        return self._directory

    @property
    def notes(self) -> "list[str]":
        """The notes on the model that the program would print on stderr."""
        return self._core.notes

    @property
    def sizes(self) -> "dict[str, int]":
        """Its d_model, layers, heads and vocabulary sizes, with the names that config.json uses."""
        return self._core.sizes

    def alone_page(self, dtype: str = "int8") -> str:
        """Returns the HTML page that `attn-demo page --alone` writes. It contains the program and this model, with
        weights in "int8", "float16" or "float32", and translates without a server."""
        if len(self._core.names) > 1:
            raise UsageError("alone_page: such a page holds one model; load one")
        return _core.alone_page(self._options, dtype)

    def _with(self, precision: "str | None") -> "_core.Model":
        """Returns the model in this precision, which is loaded on the first request."""
        options = self._options | given(precision=precision)
        if options["precision"] not in self._cores:
            self._cores[options["precision"]] = _core.Model(options)
        return self._cores[options["precision"]]

    def __repr__(self) -> str:
        s = self.sizes
        return (f"<attn_demo.Model {self.name}: {s['encoder_layers']} + {s['decoder_layers']} layers, "
                f"{s['encoder_attention_heads']} heads, d_model {s['d_model']}>")

    def __copy__(self) -> "Model":
        return self

    def __deepcopy__(self, memo: "dict[int, Any]") -> "Model":
        return self

    def __reduce__(self) -> "tuple[Any, ...]":
        return Model, (self._options,)

    # A text is also an iterable of texts, so the first two overloads accept it.
    @overload
    def translate(self, text: "str | bytes", *, n_best: None = None,  # type: ignore[overload-overlap]
                  **options: Unpack[TranslateOptions]) -> str: ...
    @overload
    def translate(self, text: "str | bytes", *, n_best: int,  # type: ignore[overload-overlap]
                  **options: Unpack[TranslateOptions]) -> "list[Translation]": ...
    @overload
    def translate(self, text: "Iterable[str | bytes]", *, n_best: None = None,
                  **options: Unpack[TranslateOptions]) -> "list[str]": ...
    @overload
    def translate(self, text: "Iterable[str | bytes]", *, n_best: int,
                  **options: Unpack[TranslateOptions]) -> "list[list[Translation]]": ...

    def translate(self, text: "str | bytes | Iterable[str | bytes]", **options: Any) -> Any:
        """Translates a text, or a list of texts.

        The arguments are the options of `attn-demo translate`, with its defaults. For a text, it
        returns a text, or with n_best a list of Translation, best first. For a list, it returns a
        list of these. Other Python threads run meanwhile, and Ctrl-C ends the call between two
        batches. If precision ("float32", "bfloat16", "int8") differs from that of load(), the
        files are loaded again, and both models stay in memory.
        """
        one = isinstance(text, (str, bytes)) or not isinstance(text, Iterable)
        texts: Any = [text] if one else text
        lines = [clean(each) for each in texts]
        precision = options.pop("precision", None)
        n_best = options.get("n_best")
        search = search_options(options, TranslateOptions.__annotations__.keys() | {"n_best"})
        found, notes = self._with(precision).translate(lines, search, list(self._watchers.get()))
        tell(notes)
        if n_best is None:
            results: list[Any] = [line[0].text for line in found]
        else:
            results = [[Translation(each.text, each.score) for each in line] for line in found]
        return results[0] if one else results

    def attend(self, text: "str | bytes", *, target: "str | bytes | None" = None,
               without: "Sequence[str] | str" = (), force: "Sequence[str] | str" = (),
               swap: "Sequence[str] | str" = (), precision: "str | None" = None,
               **options: Unpack[AttendOptions]) -> Attention:
        """Translates a text as a whole, and records where every head looked.

        target: a translation to score instead of searching for one. without ("cross:2:2",
        "cross:1"), force ("cross:1:3:ging=went") and swap ("went=ran") are what-if experiments: the
        result shows the translation under the change, and its `before` the one without it.
        """
        search = search_options(dict(options), AttendOptions.__annotations__.keys())
        search |= given(target=target, without=without, force=force, swap=swap)
        _use_arrays()
        records, notes = self._with(precision).attend(clean(text), search,
                                                      list(self._watchers.get()))
        tell(notes)
        return Attention(records)

    def why(self, text: "str | bytes", *, target: "str | bytes | None" = None,
            word: "str | int | None" = None, instead: "str | None" = None,
            methods: "Sequence[str] | str" = "receipt", corrupt: "str | None" = None,
            units: "str | None" = None, precision: "str | None" = None,
            **options: Unpack[WhyOptions]) -> Why:
        """Translates a text as a whole, and explains where each written word came from.

        The arguments are the options of `attn-demo why`. target: a translation to explain instead of
        searching for one. word: the written word to explain, or the number of one of its tokens.
        instead: the word to compare it with. methods: "receipt" (always included), "occlusion",
        "contributions", "lens", "gradients", "integrated", "patch" or "all", in a list or separated by commas.
        corrupt: the text with words swapped, for patching. units: "words" or "tokens".
        """
        if self._watchers.get():
            raise UsageError("why explains what the model itself computes; call it outside of observe()")
        search = search_options(dict(options), WhyOptions.__annotations__.keys())
        names = methods if isinstance(methods, (str, bytes)) else ",".join(methods) or None
        search |= given(target=target, word=word, instead=instead, methods=names, corrupt=corrupt,
                        units=units)
        _use_arrays()
        answer, notes = self._with(precision).why(clean(text), search)
        tell(notes)
        return Why(answer)

    @contextlib.contextmanager
    def observe(self, fn: "Watcher | None" = None, *,
                stages: "StageWatcher | None" = None) -> "Iterator[Model]":
        """Calls fn(head) for every head that this model computes inside of the `with` block.

        This applies to the current thread or task (contextvars), whichever function runs the model.
        In nested blocks, the inner fn sees the changes of the outer one.

        head has kind ("encoder", "decoder", "cross"), layer, head, sentence (in its batch), scale,
        and position. While a search writes word by word, position is that of all queries in their
        sentences; otherwise it is None, and query i is at position i. The arrays are query [L, K],
        key and value [S, K], scores, mask and weights [L, S], and output [L, K]. They are copies
        that you may keep, but head itself is only valid during the call. In a beam search, the
        queries of a sentence are its beams.

        fn may write into head.query, value, weights or output, and the model continues with the
        changed numbers after fn has returned. From a changed query, the weights are computed again.
        Changed rows of weights override this, and changed rows of output override both. If fn
        raises an exception, the call of the model raises it, and the model stays usable.

        stages(stage) is called for the rows between the heads. stage has kind, layer, position,
        name ("embedded", "block_input", "attn_output", "feed_forward_output", "layer_output", …)
        and rows [T, D], which may also be changed. docs/python.md lists the names.
        """
        _use_arrays()
        token = self._watchers.set((*self._watchers.get(), (fn, stages)))
        try:
            yield self
        finally:
            self._watchers.reset(token)

    def train(self, config: Path, out: Path, **options: Unpack[Training]) -> "Model":
        """Calls train(), starting from this model's weights and tokenizer if it has a directory."""
        if "from_" not in options and self.directory:
            options["from_"] = self.directory
        return train(config, out, **options)


def train(config: Path, out: Path, *, from_: Path | None = None,
          source_lang: "str | None" = None, target_lang: "str | None" = None,
          resume: bool = False, threads: "int | None" = None, set: "Sequence[str] | str" = (),
          progress: Progress = False) -> Model:
    """Trains like `attn-demo train CONFIG --out DIR`, and loads the resulting model.

    source_lang, target_lang: the languages of the text, if the tokenizer knows several.
    progress: True prints the program's lines on sys.stderr. A function is called with ("update" |
    "look" | "note", line, metrics). The first Ctrl-C finishes the update, saves a checkpoint and
    raises KeyboardInterrupt; resume=True continues from there. A second one ends at once.
    """
    options = given(config=config, out=out, threads=threads, set=set,
                    source_lang=source_lang, target_lang=target_lang,
                    resume=True if resume else None, **{"from": from_})
    if not _core.train(options, _print if progress is True else progress or None):
        raise KeyboardInterrupt("stopped after a checkpoint; resume=True continues")
    return load(os.path.join(os.fspath(out), "model"))


def _print(what: str, line: str, figures: "dict[str, Any]") -> None:
    if what != "update" or figures["log"]:
        print(line, file=sys.stderr, flush=True)
