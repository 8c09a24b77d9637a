"""Python's values as one would type them after an option of the program."""

import os
import warnings
from typing import Any

from .errors import UsageError

_LISTS = ("model", "set", "without", "force", "swap", "names")  # may be given more than once
_PATHS = ("model", "maps_of", "config", "from", "out")


def text(value: Any) -> bytes:
    """A number, a truth value, a path or a text, as it is typed."""
    if hasattr(value, "item"):
        value = value.item()  # a number of numpy's, which is not loaded for this
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, float):
        from decimal import Decimal  # most calls need none, and Python starts sooner
        return f"{Decimal(repr(value)):f}".encode()  # never 1e-05
    if isinstance(value, os.PathLike):
        return os.fsencode(value)
    return clean(value if isinstance(value, bytes) else str(value))


def clean(value: "str | bytes") -> bytes:
    """UTF-8; what is none of it (a lone surrogate) is replaced and noted by the libraries."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if not isinstance(value, bytes):
        raise TypeError(f"expected a text (str or bytes), found {type(value).__name__}")
    return value


def given(**options: Any) -> "dict[str, Any]":
    """What was given, by the name of its option; None and empty lists were not. UsageError for a
    value that the command line cannot have."""
    made: dict[str, Any] = {}
    for name, value in options.items():
        if value is None:
            continue
        if name in _LISTS:
            one = isinstance(value, (str, bytes, os.PathLike))
            texts = [_typed(name, each) for each in ([value] if one else value)]
            if texts:
                made[name] = texts
        else:
            made[name] = _typed(name, value)
    return made


def _typed(name: str, value: Any) -> bytes:
    path = name in _PATHS and isinstance(value, str)
    made = os.fsencode(value) if path else text(value)
    if name == "target":  # a text, not a value
        return made
    option = name.replace("_", "-")
    if not made:
        raise UsageError(f"--{option}: the value is empty")
    if b"\0" in made:
        raise UsageError(f"--{option}: the value holds a null byte")
    return made


def lasting(options: "dict[str, Any]") -> "dict[str, Any]":
    """The same options for another folder and another process: paths are whole ones. A name that is
    no path here is one of Hugging Face's cache, and stays."""
    def whole(path: bytes) -> bytes:
        return os.path.abspath(path) if os.path.exists(path) else path

    made = dict(options)
    if "model" in made:
        made["model"] = [whole(path) for path in made["model"]]
        if "maps_of" in made and made["maps_of"] in options["model"]:
            made["maps_of"] = whole(made["maps_of"])
    if "config" in made:
        made["config"] = whole(made["config"])
    return made


def tell(notes: "list[str]") -> None:
    """What the program notes on stderr, as warnings at the line that called translate() or attend()."""
    for note in notes:
        warnings.warn(note, stacklevel=3)
