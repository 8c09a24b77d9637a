"""What goes wrong, as exceptions. The text is the line that the program would print."""


class Error(Exception):
    """Every error of the libraries. `exit_code` is what the program would end with."""

    exit_code = 1


class UsageError(Error, ValueError):
    """An argument, or a combination, that cannot be meant (2)."""

    exit_code = 2


class InputError(Error, ValueError):
    """Bad content: a config, a model, a tokenizer or a text (3)."""

    exit_code = 3


class FileError(Error, OSError):
    """The system refuses to read or write something (4)."""

    exit_code = 4


class OutOfMemoryError(Error, MemoryError):
    """A legal size that does not fit in memory (5)."""

    exit_code = 5


def of_exit_code(code: int, line: str) -> Error:
    """The exception of an exit code (docs/commands.md)."""
    for kind in (UsageError, InputError, FileError, OutOfMemoryError):
        if kind.exit_code == code:
            return kind(line)
    return Error(line)
