"""The JSON text of a notebook: where the sources of its cells stand, and how to change them and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json.decoder import scanstring
from typing import Any

from msgspec import Struct

_SPACE = re.compile(r"[ \t\r\n]*")
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL
)
_LINE = re.compile(r"(?:\\[^n]|[^\\])*\\n|(?:\\[^n]|[^\\])+", re.DOTALL)
_decoder = json.JSONDecoder()
MOST_LINES = 200_000  # that the sources of cells are listed in: each is found by itself


class NotebookError(ValueError):
    """One line that says why a file is no notebook we can read; `line` and `column` where that is known."""

    def __init__(self, message: str, line: int = 1, column: int = 1):
        super().__init__(message)
        self.line = line
        self.column = column


class Token(Struct, frozen=True):
    """One JSON string: where the text between its quotes stands, and what it says."""

    start: int
    end: int
    value: str


class CellSource(Struct, frozen=True):
    """The strings that joined are the text of a cell. `start` and `end` enclose them with their quotes or brackets."""

    start: int
    end: int
    tokens: tuple[Token, ...]

    @property
    def text(self) -> str:
        return "".join(token.value for token in self.tokens)


class Cell(Struct, frozen=True):
    """What the JSON says of one cell."""

    kind: str
    metadata: dict
    source: CellSource
    failed: bool = False  # whether its stored output is a traceback, or its tags say that there will be one
    count: int | None = None  # its number of execution

    @property
    def ran(self) -> bool:
        return self.count is not None


class NotebookText(Struct, frozen=True):
    """What the JSON says that matters to a linter."""

    metadata: dict
    cells: list[Cell]


def read(text: str) -> NotebookText:
    """Find the cells in the text of a notebook."""
    if not text.strip("\ufeff \t\r\n"):
        raise NotebookError("the notebook is empty")
    scanner = _Scanner(text)
    try:
        document = scanner.document()
        scanner.end_of_text()
        return document
    except json.JSONDecodeError as error:
        message = error.msg[:1].lower() + error.msg[1:]
        raise NotebookError(f"the notebook is not valid JSON: {message}", error.lineno, error.colno) from None
    except RecursionError:
        raise NotebookError("the notebook is not valid JSON: it is nested too deeply") from None
    except NotebookError:
        raise
    except ValueError as error:  # a number with thousands of digits
        raise NotebookError(f"the notebook cannot be read: {error}") from None


class _Scanner:
    """Walks over the two levels that hold cells by hand and leaves all other values to Python's decoder."""

    def __init__(self, text: str):
        self.text = text
        self.at = 1 if text.startswith("\ufeff") else 0
        self.lines = 0  # of sources

    def document(self) -> NotebookText:
        if self.peek() != "{":
            self.value()
            raise NotebookError("this is not a notebook: its JSON is not an object")
        facts: dict[str, Any] = {}
        cells = None
        for key in self.members():
            if key == "cells" and self.peek() == "[":
                cells = [self.cell() for _ in self.elements()]
            else:
                facts[key] = self.value()
        major = facts.get("nbformat")
        if "worksheets" in facts or isinstance(major, int) and major < 4:
            raise NotebookError(
                f"notebooks of format {major} are too old; `jupyter nbconvert --to notebook` writes format 4"
            )
        if cells is None:
            raise NotebookError("this is not a notebook: its JSON has no list of cells")
        metadata = facts.get("metadata")
        return NotebookText(metadata if isinstance(metadata, dict) else {}, cells)

    def cell(self) -> Cell:
        facts: dict[str, Any] = {}
        source = CellSource(self.at, self.at, ())
        if self.peek() != "{":
            place = self.place()
            self.value()
            raise NotebookError("this is not a notebook: one of its cells is not an object", *place)
        for key in self.members():
            if key == "source":
                source = self.source()
            else:
                facts[key] = self.value()
        metadata = facts.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        outputs, tags = facts.get("outputs"), metadata.get("tags")
        failed = isinstance(outputs, list) and any(
            isinstance(o, dict) and o.get("output_type") == "error" for o in outputs
        )
        return Cell(
            str(facts.get("cell_type")),
            metadata,
            source,
            failed or isinstance(tags, list) and "raises-exception" in tags,
            count if type(count := facts.get("execution_count")) is int else None,
        )

    def source(self) -> CellSource:
        opening, start = self.peek(), self.at
        if opening == "[":
            tokens = [self.string() for _ in self.elements()]
        elif opening == '"':
            tokens = [self.string()]
        else:
            raise NotebookError("the source of a cell is neither text nor a list of lines", *self.place())
        return CellSource(start, self.at, tuple(tokens))

    def string(self) -> Token:
        if self.peek() != '"':
            raise NotebookError("the source of a cell holds something else than text", *self.place())
        self.lines += 1
        if self.lines > MOST_LINES:
            raise NotebookError(f"the cells of the notebook have more than {MOST_LINES:,} lines")
        start = self.at + 1
        value, self.at = scanstring(self.text, start, True)
        return Token(start, self.at - 1, value)

    def value(self) -> Any:
        self.peek()
        value, self.at = _decoder.raw_decode(self.text, self.at)
        return value

    def members(self) -> Iterator[str]:
        """The keys of an object; whoever iterates reads the value before asking for the next key."""
        self.at += 1
        if self.peek() == "}":
            self.at += 1
            return
        while True:
            if self.peek() != '"':
                raise json.JSONDecodeError("expecting property name enclosed in double quotes", self.text, self.at)
            key, self.at = scanstring(self.text, self.at + 1, True)
            self.take(":")
            yield key
            if self.take(",}") == "}":
                return

    def elements(self) -> Iterator[None]:
        """Stops before each element of a list; whoever iterates reads it before asking for the next."""
        self.at += 1
        if self.peek() == "]":
            self.at += 1
            return
        while True:
            yield
            if self.take(",]") == "]":
                return

    def peek(self) -> str:
        """The next character that is not space; the scanner then stands before it."""
        self.at = _SPACE.match(self.text, self.at).end()
        return self.text[self.at : self.at + 1]

    def take(self, expected: str) -> str:
        found = self.peek()
        if not found or found not in expected:
            wanted = " or ".join(f"'{character}'" for character in expected)
            raise json.JSONDecodeError(f"expecting {wanted}", self.text, self.at)
        self.at += 1
        return found

    def end_of_text(self) -> None:
        if self.peek():
            raise json.JSONDecodeError("extra data", self.text, self.at)

    def place(self) -> tuple[int, int]:
        error = json.JSONDecodeError("", self.text, self.at)
        return error.lineno, error.colno


def read_source(text: str, start: int) -> CellSource:
    """The source of a cell that is known to stand at `start`."""
    scanner = _Scanner(text)
    scanner.at = start
    return scanner.source()


def rewrite(text: str, source: CellSource, start: int, end: int, new: str) -> str:
    """Put `new` in the place of the characters from `start` to `end` of a cell's text; returns the whole JSON text."""
    raw, tokens = _encode(new, text), source.tokens
    first, before = _locate(tokens, start)
    last, after = _locate(tokens, end)
    left = text[tokens[first].start : _raw_offset(text, tokens[first], before)]
    right = text[_raw_offset(text, tokens[last], after) : tokens[last].end]
    if text[source.start] == '"':
        return _splice(text, tokens[first].start, tokens[last].end, left + raw + right)
    lines = _LINE.findall(left + raw + right)
    if lines:
        between = _separator(text, source)
        return _splice(text, tokens[first].start - 1, tokens[last].end + 1, between.join(f'"{line}"' for line in lines))
    if first:  # nothing is left of these lines: their items go, with the comma before them
        return _splice(text, tokens[first - 1].end + 1, tokens[last].end + 1, "")
    if last + 1 < len(tokens):
        return _splice(text, tokens[0].start - 1, tokens[last + 1].start - 1, "")
    return _splice(text, source.start, source.end, "[]")


def _splice(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def _locate(tokens: tuple[Token, ...], offset: int) -> tuple[int, int]:
    """The token that holds an offset of the joined text, and the offset in it."""
    for index, token in enumerate(tokens):
        if offset < len(token.value) or index == len(tokens) - 1:
            return index, offset
        offset -= len(token.value)
    raise AssertionError("a cell without tokens has no offsets")


def _raw_offset(text: str, token: Token, offset: int) -> int:
    """Where a character of a string's value stands in the JSON text, which may write it as an escape."""
    at = token.start
    while offset:
        match = _CHARACTER.match(text, at, token.end)
        at = match.end()
        offset -= 1
    return at


def _separator(text: str, source: CellSource) -> str:
    """What stands between two strings of this list."""
    if len(source.tokens) > 1:
        return text[source.tokens[0].end + 1 : source.tokens[1].start - 1]
    margin = text[source.start + 1 : source.tokens[0].start - 1]
    return "," + (margin or " ")


def _encode(new: str, text: str) -> str:
    """JSON for some text without its quotes, in ASCII if that is how the notebook is written."""
    ascii_only = text.lstrip("\ufeff").isascii() and re.search(r"\\u(?!00[01])", text) is not None
    return json.dumps(new, ensure_ascii=ascii_only)[1:-1]
