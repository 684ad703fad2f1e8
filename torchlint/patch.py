"""Changed files: a text put back on the disk as it was encoded, two texts as a patch."""

from __future__ import annotations

import difflib
import errno
import io
import os
import re
import tokenize
from collections.abc import Iterable

from torchlint.atomic import write
from torchlint.printable import UNPRINTABLE
from torchlint.project import NotText, decode
from torchlint.reading import read
from torchlint.result import shown


def rewrite(path: str, before: str, after: str, trees: Iterable[str]) -> None:
    """Puts a text in the place of a file's, in the file's own encoding. `trees` are what is linted: a link that leads
    out of them is not followed. What cannot be done without a loss is an OSError or a UnicodeEncodeError."""
    data = read(path)
    try:
        now = decode(data)
    except NotText:
        now = None
    if now == after:
        return  # under another name of the file it was done already
    if now != before:
        raise OSError(errno.EBUSY, "it has changed since it was linted")
    write(path, encoded(data, before, after), trees)


def encoded(data: bytes, before: str, after: str) -> bytes:
    """A text that has come of another one, in the encoding in which that was `data`; errors as above."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    if before.encode(encoding) != data:
        raise OSError(errno.EILSEQ, f"what {encoding} decodes does not become the same bytes again")
    return after.encode(encoding)


def unified(path: str, before: str, after: str) -> str:
    """A patch that `patch -p0` and `git apply -p0` take."""
    name = _quoted(shown(path).replace(os.sep, "/"))
    lines = []
    for line in difflib.unified_diff(_lines(before), _lines(after), name, name):
        if line.endswith("\n"):
            lines.append(line)
        else:
            lines.append(f"{line}\n\\ No newline at end of file\n")
    return "".join(lines)


def _quoted(name: str) -> str:
    """A name as git writes it: with what is not plain as octal bytes in quotes."""
    if not UNPRINTABLE.search(name) and '"' not in name and "\\" not in name:
        return name + "\t" * (" " in name)  # else a name ends at its first blank
    name = name.replace("\\", "\\\\").replace('"', '\\"')
    return '"%s"' % UNPRINTABLE.sub(lambda match: "".join(f"\\{byte:03o}" for byte in os.fsencode(match[0])), name)


def _lines(text: str) -> list[str]:
    """Lines as patch programs count them, with their ends; a carriage return is a character like any other."""
    return [line for line in re.split(r"(?<=\n)", text) if line]
