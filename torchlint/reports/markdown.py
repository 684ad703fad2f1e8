"""Markdown for a pull request or the summary of a build: a list for each file, with what help there is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import groupby

from torchlint.config import Settings
from torchlint.finding import Finding
from torchlint.printable import printable
from torchlint.reports.links import rule_url
from torchlint.reports.places import is_fixable, path_in_line
from torchlint.result import Result

LONGEST = 60_000  # characters: GitHub takes 65,536 in a comment
_SPAN = re.compile(r"`([^`\n]+)`")
_SPECIAL = re.compile(r"([\\`*{}\[\]<>|~&$]|(?<![^\W_])_|_(?![^\W_]))")  # an underline in a word means nothing
# A word with this in it would become a link, or a message to somebody, if it were no code.
_LINKED = re.compile(r"@\w|#\d|GH-\d|://|www\.|\b[0-9a-f]{7,40}\b", re.IGNORECASE)
_WORD = re.compile(r"(\s+)")


def render(result: Result, settings: Settings, write: Callable[[str], object], color: bool = False) -> None:
    number, files = len(result.findings), len({finding.path for finding in result.findings})
    if not number:
        write("**torchlint** found nothing.\n")
        return
    where = "1 file" if files == 1 else f"{files:,} files"
    head = f"**torchlint** found {number:,} {'mistake' if number == 1 else 'mistakes'} in {where}.\n"
    write(head)
    left, shown = LONGEST - len(head), 0
    for path, findings in groupby(result.findings, key=lambda finding: finding.path):
        title = f"\n#### {_code(path_in_line(path))}\n\n"
        for finding in findings:
            text = title + "\n".join(_item(finding, settings)) + "\n"
            if len(text) > left:
                write(f"\n… and {number - shown:,} more.\n")
                return
            write(text)
            left, shown, title = left - len(text), shown + 1, ""


def _item(finding: Finding, settings: Settings) -> Iterator[str]:
    url = rule_url(finding.code, finding.name)
    code = f"[{finding.code}]({url})" if url else finding.code
    cell = f"cell {finding.cell}, " if finding.cell else ""
    star = " (fixable)" if is_fixable(finding, settings) else ""
    yield f"- {cell}line {finding.span.line}: **{code}**{star} {inline(finding.message)}"
    for note in finding.notes:
        where = (
            f"line {note.span.line}"
            if note.path == finding.path
            else f"{_code(path_in_line(note.path))}, line {note.span.line}"
        )
        yield f"  - {where}: {inline(note.message)}"
    if finding.help:
        yield f"  - {inline(finding.help)}"


def inline(text: str) -> str:
    """A line of text in which only the code that it quotes is marked: nothing else in it means something."""
    parts = _SPAN.split(printable(text))
    return "".join(_code(part) if index % 2 else _plain(part) for index, part in enumerate(parts))


def in_table(text: str) -> str:
    """What stands in a cell of a table: nothing in it means something, nor ends the cell."""
    return _plain(printable(text).replace("|", r"\x7c"))


def _plain(text: str) -> str:
    words = _WORD.split(text)
    return "".join(_code(word) if _LINKED.search(word) else _SPECIAL.sub(r"\\\1", word) for word in words)


def _code(text: str) -> str:
    """A text as code, whatever stands in it."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest or text != text.strip() else ""
    return f"{fence}{pad}{printable(text)}{pad}{fence}"
