"""The plain part of YAML, as far as nobody can mean anything else: nested mappings, lists, numbers, words.

What is not plain (anchors, tags, folded texts, several documents, a number that YAML 1.1 and its readers take for
different things) makes the value unknown, or the whole text if its form is not plain. Nothing is ever made of a text
but numbers, texts, lists and dicts.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from torchlint.shapes.core.values import Unknown

MOST = 1 << 16  # characters of a text
DEPTH = 20
_FLOW = 4000  # characters of a list or mapping in one line
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})$")
_FLOAT = re.compile(r"[-+]?[0-9]{1,18}\.[0-9]{0,18}(?:[eE][-+][0-9]{1,3})?$")
_WORD = re.compile(r"(?:[A-Za-z_/]|\.\.?/)[^:#{}\[\],&*!|>%@`\"'\n]*$")
_KEY = re.compile(r"(?:([A-Za-z_](?:[\w .-]*[\w.-])?)|(-?[0-9]{1,9})|'([^'\\\n]*)'|\"([^\"\\\n]*)\")\s*:(?:\s+|$)")
_QUOTED = re.compile(r"'([^'\\\n]*)'|\"([^\"\\\n]*)\"")
_WORDS = {
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}


class NotPlain(ValueError):
    """The form of a text is none that is read here."""


class _Line(NamedTuple):
    indent: int
    text: str


def load(text: str) -> Any:
    """What a text says; an unknown if it is not plain."""
    if len(text) > MOST:
        return Unknown("a long configuration file")
    try:
        lines = [line for line in map(_line, text.splitlines()) if line is not None]
        if lines and lines[0].text == "---":
            del lines[0]
        if not lines:
            return None
        value, end = _block(lines, 0, lines[0].indent, 0)
        if end < len(lines):
            raise NotPlain
    except NotPlain:
        return Unknown("a configuration file that is not plain")
    return value


def _line(text: str) -> _Line | None:
    bare = text.lstrip(" ")
    if "\t" in text[: len(text) - len(text.lstrip())] or bare.startswith(("%", "...")):
        raise NotPlain
    content = _without_comment(bare).rstrip()
    return _Line(len(text) - len(bare), content) if content else None


def _without_comment(text: str) -> str:
    quote = ""
    for position, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"" and (not position or text[position - 1] in " [{,:"):
            quote = letter
        elif letter == "#" and (not position or text[position - 1] in " \t"):
            return text[:position]
    return text


def _block(lines: list[_Line], at: int, indent: int, depth: int) -> tuple[Any, int]:
    """The mapping or list that begins at a line, and where it ends."""
    if depth > DEPTH:
        raise NotPlain
    if lines[at].text == "-" or lines[at].text.startswith("- "):
        return _items(lines, at, indent, depth)
    if _KEY.match(lines[at].text):
        return _mapping(lines, at, indent, depth)
    return _scalar(lines[at].text), at + 1


def _mapping(lines: list[_Line], at: int, indent: int, depth: int) -> tuple[dict, int]:
    found: dict[Any, Any] = {}
    while at < len(lines) and lines[at].indent == indent:
        match = _KEY.match(lines[at].text)
        if match is None:
            if lines[at].text.startswith("- "):
                break
            raise NotPlain
        key = int(match[2]) if match[2] else next(part for part in (match[1], match[3], match[4]) if part is not None)
        key = _WORDS[key] if match[1] and key in _WORDS else key.rstrip() if match[1] else key
        if key in found:
            raise NotPlain
        rest = lines[at].text[match.end() :].strip()
        at += 1
        if rest:
            found[key] = _scalar(rest)
            if at < len(lines) and lines[at].indent > indent:
                found[key] = Unknown("a text of several lines")
                while at < len(lines) and lines[at].indent > indent:
                    at += 1
        elif at < len(lines) and (lines[at].indent > indent or _is_item_of(lines[at], indent)):
            found[key], at = _block(lines, at, lines[at].indent, depth + 1)
        else:
            found[key] = None
    if at < len(lines) and lines[at].indent > indent:
        raise NotPlain
    return found, at


def _is_item_of(line: _Line, indent: int) -> bool:
    return line.indent == indent and (line.text == "-" or line.text.startswith("- "))


def _items(lines: list[_Line], at: int, indent: int, depth: int) -> tuple[list, int]:
    found: list[Any] = []
    while at < len(lines) and _is_item_of(lines[at], indent):
        rest = lines[at].text[1:].lstrip()
        if not rest:
            at += 1
            if at < len(lines) and lines[at].indent > indent:
                value, at = _block(lines, at, lines[at].indent, depth + 1)
            else:
                value = None
        elif _KEY.match(rest) or rest.startswith("- "):
            inner = indent + len(lines[at].text) - len(rest)
            lines[at] = _Line(inner, rest)
            value, at = _block(lines, at, inner, depth + 1)
        else:
            value, at = _scalar(rest), at + 1
        found.append(value)
    if at < len(lines) and lines[at].indent > indent:
        raise NotPlain
    return found, at


def _scalar(text: str) -> Any:
    """A value in one line."""
    if text[:1] in "[{":
        value, rest = _flow(text, 0)
        return value if not rest.strip() else Unknown("a value that is not plain")
    quoted = _QUOTED.fullmatch(text)
    if quoted:
        return next(part for part in quoted.groups() if part is not None)
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.match(text):
        return int(text)
    if _FLOAT.match(text):
        return float(text)
    return text if _WORD.match(text) and "${" not in text else Unknown("a value that is not plain")


def _flow(text: str, depth: int) -> tuple[Any, str]:
    """`[1, 2]` or `{a: 1}` at the beginning of a text, and what follows."""
    if depth > DEPTH or len(text) > _FLOW:
        raise NotPlain
    closing = {"[": "]", "{": "}"}[text[0]]
    items: list[Any] = []
    table: dict[Any, Any] = {}
    rest = text[1:].lstrip()
    while not rest.startswith(closing):
        key = None
        if closing == "}":
            match = _KEY.match(rest)
            if match is None or match[1] is None and match[3] is None and match[4] is None:
                raise NotPlain
            key, rest = next(part for part in (match[1], match[3], match[4]) if part is not None), rest[match.end() :]
        if rest[:1] in ("[", "{"):
            value, rest = _flow(rest, depth + 1)
        else:
            quoted = _QUOTED.match(rest)
            end = quoted.end() if quoted else min([i for i in map(rest.find, ",]}") if i >= 0], default=-1)
            if end < 0:
                raise NotPlain
            value, rest = _scalar(rest[:end].strip()), rest[end:]
        items.append(value)
        if closing == "}":
            table[key] = value
        rest = rest.lstrip()
        if rest.startswith(","):
            rest = rest[1:].lstrip()
        elif not rest.startswith(closing):
            raise NotPlain
    return (items if closing == "]" else table), rest[1:]
