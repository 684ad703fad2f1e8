"""Python source as lines of HTML with its keywords, names, texts, numbers and comments told apart."""

from __future__ import annotations

import io
import keyword
import tokenize
from html import escape

from torchlint.printable import printable
from torchlint.result import split_lines

_KINDS = {tokenize.COMMENT: "comment", tokenize.STRING: "text", tokenize.NUMBER: "digits"}
_DEFINING = {"def", "class"}


def coloured(source: str) -> list[str]:
    """One piece of HTML for each line. What cannot be read as Python stays as it is."""
    lines = split_lines(source)
    spans: dict[int, list[tuple[int, int, str]]] = {}
    before = ""
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            kind = _KINDS.get(token.type, "")
            if token.type == tokenize.NAME:
                kind = "word" if keyword.iskeyword(token.string) else "name" if before in _DEFINING else ""
            if token.type not in (tokenize.NL, tokenize.INDENT):
                before = token.string
            if kind:
                _add(spans, token, kind)
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass  # the colours so far
    return [_line(line, spans.get(number, [])) for number, line in enumerate(lines, 1)]


def _add(spans: dict[int, list[tuple[int, int, str]]], token: tokenize.TokenInfo, kind: str) -> None:
    """The columns of a token, line by line."""
    (first, start), (last, end) = token.start, token.end
    for number in range(first, last + 1):
        begins = start if number == first else 0
        spans.setdefault(number, []).append((begins, end if number == last else -1, kind))


def _line(line: str, spans: list[tuple[int, int, str]]) -> str:
    made, at = [], 0
    for start, end, kind in spans:
        stop = len(line) if end < 0 else end
        made.append(plain(line[at:start]) + f'<span class="{kind}">{plain(line[start:stop])}</span>')
        at = stop
    return "".join(made) + plain(line[at:])


def plain(text: str) -> str:
    """A piece of a line, harmless in HTML."""
    return escape(printable(text.replace("\t", "    ")))
