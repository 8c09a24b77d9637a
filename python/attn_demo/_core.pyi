"""The libraries; attn_demo's other modules are what people use."""

from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

version: str

class Head:
    @property
    def kind(self) -> str: ...
    @property
    def layer(self) -> int: ...
    @property
    def head(self) -> int: ...
    @property
    def sentence(self) -> int: ...
    @property
    def scale(self) -> float: ...
    @property
    def position(self) -> int | None: ...
    @property
    def query(self) -> NDArray[np.float32]: ...
    @property
    def key(self) -> NDArray[np.float32]: ...
    @property
    def value(self) -> NDArray[np.float32]: ...
    @property
    def scores(self) -> NDArray[np.float32]: ...
    @property
    def mask(self) -> NDArray[np.float32]: ...
    weights: NDArray[np.float32]

class Facts(TypedDict):
    text: str
    score: float
    tokens: list[str]
    ids: list[int]
    decoder_tokens: list[str]
    replayed: bool
    log_probs: NDArray[np.float32]

class Record:
    hypotheses: int
    source_text: str
    source_tokens: list[str]
    source_ids: list[int]
    changes: list[str]
    def maps(self, kind: str, hypothesis: int) -> NDArray[np.float32]: ...
    def vectors(
        self, kind: str, hypothesis: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]: ...
    def hypothesis(self, index: int) -> Facts: ...
    def json(self) -> str: ...

class LineTranslation:
    text: str
    score: float
    tokens: int

class Model:
    names: list[str]
    notes: list[str]
    directory: str
    sizes: dict[str, int]
    def __init__(self, options: dict[str, Any]) -> None: ...
    def translate(
        self, lines: list[bytes], options: dict[str, Any], observers: list[Callable[[Head], Any]]
    ) -> tuple[list[list[LineTranslation]], list[str]]: ...
    def attend(
        self, sentence: bytes, options: dict[str, Any], observers: list[Callable[[Head], Any]]
    ) -> tuple[list[Record], list[str]]: ...

def page(records: list[Record]) -> str: ...
def train(
    options: dict[str, Any], progress: Callable[[str, str, dict[str, Any]], Any] | None
) -> bool: ...
def set_shipped_root(directory: str) -> None: ...
