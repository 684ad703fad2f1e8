"""The syntax tree of a text: what Python's own parser says, and below 3.12 also of f-strings written for it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from contextlib import suppress

_STARTS = re.compile(r"(?<![\w\"'])([rRbBuUfF]{0,2})(\"\"\"|'''|\"|')")
_DEEPEST = 20  # f-strings in each other, as nobody writes them
_F_STRING = re.compile(r"(?<!\w)[rR]?[fF][rR]?[\"']")


def syntax_tree(text: str) -> ast.Module:
    """Raises what `ast.parse` does. Quotes and backslashes within the braces of an f-string, which come with 3.12, are
    read with every version: what stands there keeps its place, and strings that an older parser refuses are blank.
    """
    try:
        return ast.parse(text)
    except SyntaxError:
        if sys.version_info < (3, 12) and _F_STRING.search(text):
            with suppress(SyntaxError):
                return ast.parse(as_older(text))
        raise


def as_older(text: str) -> str:
    """The text, character for character as long, with those strings blank that f-strings hold since 3.12."""
    parts, end = [], 0
    for start, stop, around in _held(text):
        parts += [text[end:start], _blank(text[start:stop], around)]
        end = stop
    return "".join([*parts, text[end:]])


def _held(text: str) -> Iterator[tuple[int, int, str]]:
    """The strings within f-strings that no older parser reads, of those that stand in each other the outermost: from
    where to where, and which quotes are open around them.
    """
    open_: list[_Open] = []  # f-strings and their braces, from the outside in
    at, size = 0, len(text)
    while at < size and len(open_) <= _DEEPEST:
        inside = open_[-1] if open_ else None
        if inside is not None and not inside.depth:  # in the words of an f-string
            at = inside.over_words(text, at)
            if inside.is_closed:
                open_.pop()
                if inside.clashes and not any(each.clashes for each in open_):
                    yield inside.start, at, "".join(each.quote for each in open_)
            continue
        letter = text[at]
        if inside is not None and letter in "([{":
            inside.depth += 1
        elif inside is not None and letter in ")]}":
            inside.depth -= 1
        elif inside is not None and letter == ":" and inside.depth == 1:
            inside.depth, inside.formats = 0, inside.formats + 1
        elif letter == "#":
            at = _line_end(text, at)
            continue
        elif started := _STARTS.match(text, at):
            around = "".join(each.quote for each in open_)
            if "f" in started[1].lower():
                open_.append(_Open(started[2], at, started[2][0] in around))
                at = started.end()
                continue
            stop = _string_end(text, started.end(), started[2])
            refused = around and ("\\" in text[at:stop] or any(quote in text[at:stop] for quote in set(around)))
            if refused and not any(each.clashes for each in open_):
                yield at, stop, around
            at = stop
            continue
        at += 1


class _Open:
    """An f-string that has begun: its quotes, whether they are those of one around it, how many brackets are open
    within its braces (0: in its words), and of how many braces the format after the colon is read.
    """

    def __init__(self, quote: str, start: int, clashes: bool):
        self.quote, self.start, self.clashes = quote, start, clashes
        self.depth, self.formats, self.is_closed = 0, 0, False

    def over_words(self, text: str, at: int) -> int:
        """The place behind the next thing that stands in its words."""
        if text.startswith(self.quote, at):
            self.is_closed = True
            return at + len(self.quote)
        if text[at] == "\\" or text[at : at + 2] in ("{{", "}}") and not self.formats:
            return at + 2
        if text[at] == "{":
            self.depth = 1
        elif text[at] == "}" and self.formats:
            self.formats -= 1
        elif text[at] == "\n" and len(self.quote) == 1:
            self.is_closed = True  # never ended: the parser has said so
        return at + 1


def _blank(string: str, around: str) -> str:
    """A string of the same length in the quotes that are free, with its words if they are plain; a name, which nobody
    knows, where both are taken.
    """
    free = next((quote for quote in "\"'" if quote not in around), None)
    start = string.index(string[-1])
    prefix, held = string[:start], 3 if string.startswith(string[-1] * 3, start) and len(string) > start + 5 else 1
    if free is None or "\n" in string or "f" in prefix.lower():
        return re.sub(r"[^\n]", "_", string)
    words = string[start + held : -held]
    kept = words if "\\" not in words and not set(words) & set(around + free) else " " * len(words)
    return prefix + free + kept + " " * (2 * held - 2) + free


def _string_end(text: str, at: int, quote: str) -> int:
    while at < len(text) and not text.startswith(quote, at):
        if text[at] == "\n" and len(quote) == 1:
            return at
        at += 2 if text[at] == "\\" else 1
    return min(at + len(quote), len(text))


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
