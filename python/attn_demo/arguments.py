"""Converts the arguments of a function for the libraries."""

import os
import warnings
from collections.abc import Set
from typing import Any

from .errors import UsageError

_LISTS = ("model", "set", "without", "force", "swap", "names", "forbid", "terms", "keep")  # may be given several times
_PATHS = ("model", "maps_of", "config", "from", "out")
_TEXTS = (*_LISTS, "target", "word", "instead", "corrupt", "units", "methods", "precision", "source_lang", "target_lang", "prefix")


def clean(value: "str | bytes") -> bytes:
    """Returns a text as UTF-8. The libraries replace parts that have no UTF-8, such as a lone surrogate, with a note."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if not isinstance(value, bytes):
        raise TypeError(f"expected a text (str or bytes), found {type(value).__name__}")
    return value


def given(**options: Any) -> "dict[str, Any]":
    """Returns the given options by name, without those that are None or an empty list. Texts and paths become
    bytes; numbers and truth values stay. Raises UsageError for a text that no option can have."""
    made: dict[str, Any] = {}
    for name, value in options.items():
        if value is None:
            continue
        if name in _LISTS:
            one = isinstance(value, (str, bytes, os.PathLike))
            texts = [_value(name, each) for each in ([value] if one else value)]
            if texts:
                made[name] = texts
        else:
            made[name] = _value(name, value)
    return made


def _value(name: str, value: Any) -> Any:
    if hasattr(value, "item"):
        value = value.item()  # a numpy number; numpy is not imported for this
    if isinstance(value, os.PathLike) or (name in _PATHS and isinstance(value, str)):
        value = os.fsencode(value)
    elif isinstance(value, (str, bytes)) or name in _TEXTS:
        value = clean(value if isinstance(value, bytes) else str(value))
    if name in ("target", "prefix") or not isinstance(value, bytes):  # keep text as it is, and numbers
        return value
    option = name.replace("_", "-")
    if not value:
        raise UsageError(f"--{option}: the value is empty")
    if b"\0" in value:
        raise UsageError(f"--{option}: the value holds a null byte")
    return value


def search_options(options: "dict[str, Any]", known: "Set[str]") -> "dict[str, Any]":
    """Returns the given options of a search. Raises Python's usual TypeError for a name that is not in `known`."""
    for name in options.keys() - known:
        raise TypeError(f"got an unexpected keyword argument '{name}'")
    return given(**options)


def lasting(options: "dict[str, Any]") -> "dict[str, Any]":
    """Returns the options with absolute paths, so that they also work in another folder or process. A name
    that is not a path here is a name in Hugging Face's cache, and stays."""
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
    """Turns the program's notes into warnings at the line that called translate() or attend()."""
    for note in notes:
        warnings.warn(note, stacklevel=3)
