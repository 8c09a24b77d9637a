"""Python's values as one would type them after an option of the program."""

import os
import warnings
from decimal import Decimal
from typing import Any


def text(value: Any) -> "str | bytes":
    """A number, a truth value, a path or a text, as it is typed."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{Decimal(repr(value)):f}"  # never 1e-05
    if isinstance(value, os.PathLike):
        return os.fsencode(value)
    return clean(value) if isinstance(value, (str, bytes)) else str(value)


def clean(value: "str | bytes") -> bytes:
    """UTF-8; what is none of it (a lone surrogate) is replaced and noted by the libraries."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if not isinstance(value, bytes):
        raise TypeError(f"expected a text (str or bytes), found {type(value).__name__}")
    return value


def several(values: Any) -> "list[str | bytes]":
    """One or many, as a list of texts."""
    if isinstance(values, (str, bytes, os.PathLike)):
        values = [values]
    return [text(value) for value in values]


def given(**options: Any) -> "dict[str, Any]":
    """What was given, by the name of its option; None and empty lists were not."""
    made: dict[str, Any] = {}
    for name, value in options.items():
        if value is None:
            continue
        if isinstance(value, (list, tuple)):
            if value:
                made[name] = several(value)
        else:
            made[name] = text(value)
    return made


def tell(notes: "list[str]") -> None:
    """What the program notes on stderr, as warnings at the caller's line."""
    for note in notes:
        warnings.warn(note, stacklevel=4)
