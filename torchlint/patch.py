"""Changed files: a text put back on the disk as it was encoded, two texts as a patch."""

from __future__ import annotations

import difflib
import io
import re
import tokenize

from torchlint.atomic import write_atomically
from torchlint.reading import read
from torchlint.result import shown


def rewrite(path: str, text: str) -> None:
    """Puts a text in the place of a file's, in the file's own encoding and with its permissions."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(read(path)).readline)
    write_atomically(path, text.encode(encoding))


def unified(path: str, before: str, after: str) -> str:
    """A patch that `patch -p0` and `git apply -p0` take."""
    name = shown(path).replace("\\", "/")
    name += "\t" if " " in name else ""  # else a name ends at its first blank
    lines = []
    for line in difflib.unified_diff(_lines(before), _lines(after), name, name):
        if line.endswith("\n"):
            lines.append(line)
        else:
            lines.append(f"{line}\n\\ No newline at end of file\n")
    return "".join(lines)


def _lines(text: str) -> list[str]:
    """Lines as patch programs count them, with their ends; a carriage return is a character like any other."""
    return [line for line in re.split(r"(?<=\n)", text) if line]
