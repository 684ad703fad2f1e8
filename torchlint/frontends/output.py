"""Where the command's words go: escaped if others may have chosen them, and one line if they cannot be written."""

from __future__ import annotations

import errno
import os
import sys
from typing import TextIO

from torchlint.printable import printable

_LONGEST = 2000  # characters of a line about the run


class Failure(Exception):
    """Something the user can do something about: printed in one line, exit code 2."""


def count(number: int, word: str, plural: str = "") -> str:
    """`1 file`, `2,000 files`."""
    return f"{number:,} {word if number == 1 else plural or f'{word}s'}"


def prepare() -> None:
    """Makes the standard streams usable.

    One that is closed is occupied, or the next file that is opened would be it.
    """
    for handle in range(3):
        try:
            os.fstat(handle)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)  # so that writing fails
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def wants_color(when: str = "auto") -> bool:
    """Whether the standard output gets colours: `--color`, then NO_COLOR and FORCE_COLOR, then whether it is a
    terminal.
    """
    if when != "auto":
        return when == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()


def put(text: str, styled: bool = False, color: str = "auto") -> None:
    """Writes to the standard output, exactly, or without its styles where nobody sees them."""
    try:
        if styled and not wants_color(color):
            import click

            text = click.unstyle(text)
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unwritten(error) from None


def put_data(data: bytes) -> None:
    """Writes bytes to the standard output as they are."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unwritten(error) from None


def _unwritten(error: OSError) -> Failure:
    _abandon(sys.stdout)
    return Failure(f"cannot write to the standard output: {error.strerror or error}")


def say(line: str) -> None:
    """One line for people, on the standard error stream. If nobody can hear it, the exit code says enough."""
    line = printable(line)
    if len(line) > _LONGEST:
        line = f"{line[: _LONGEST // 2]} ... {line[-_LONGEST // 2 :]}"
    put_error(f"{line}\n")


def fail(line: str) -> None:
    say(f"error: {line}")


def put_error(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _abandon(sys.stderr)


def is_output(error: Exception) -> bool:
    """Whether an error is that of a full disk or a closed stream, not of a file."""
    return (
        isinstance(error, OSError) and error.filename is None and error.errno in (errno.ENOSPC, errno.EBADF, errno.EIO)
    )


def settle() -> None:
    """What is left of the output is written now or never: at the end of the process Python would complain."""
    try:
        sys.stdout.flush()
    except OSError:
        _abandon(sys.stdout)


def _abandon(stream: TextIO) -> None:
    handle = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(handle, stream.fileno())
    finally:
        os.close(handle)
