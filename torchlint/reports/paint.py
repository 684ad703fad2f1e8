"""Pieces of a line in their colours, or plain."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from torchlint.reports.frame import Piece

STYLES = {
    "code": "bold red",
    "star": "cyan",
    "title": "bold",
    "edge": "blue",
    "main": "bold red",
    "note": "bold blue",
    "help": "bold cyan",
    "gone": "red",
    "new": "green",
    "": "",
}


def painter(color: bool) -> Callable[[Iterable[Piece]], str]:
    """What makes a text of a row of pieces."""
    return _colored if color else _plain


def _plain(row: Iterable[Piece]) -> str:
    return "".join(text for _, text in row)


def _colored(row: Iterable[Piece]) -> str:
    from rich.style import Style  # only terminals pay for it

    return "".join(Style.parse(STYLES[style]).render(text) if style else text for style, text in row)


def patch(lines: Iterable[str], color: bool) -> list[str]:
    """The lines of a patch: what goes is red, what comes is green."""
    if not color:
        return list(lines)
    kinds = {"---": "title", "+++": "title", "@@ ": "edge"}
    signs = {"-": "gone", "+": "new"}
    return [_colored([(kinds.get(line[:3]) or signs.get(line[:1], ""), line)]) if line else line for line in lines]
