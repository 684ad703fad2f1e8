"""The words of a command line as the values of a program's options, as argparse takes them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from torchlint.shapes.core.values import Unknown, machines
from torchlint.shapes.language import functions
from torchlint.shapes.libraries.command_lines import MISSING

_NUMBER = re.compile(r"-\d+$|-\d*\.\d+$")
_KINDS = (int, float, str, bool, complex)


class ParserArgument(NamedTuple):
    """One argument of a parser, as `add_argument` was told."""

    name: str
    flags: tuple[str, ...]  # none for one that has its place
    action: Any
    parts: Any  # nargs
    kind: Any
    const: Any
    choices: Any
    required: bool


class _Refused(Exception):
    """The program does not take this command line: it was written for another version of it."""


def given_by(options: list[ParserArgument], words: list[str], some: bool = False) -> dict[str, Any] | None:
    """The values that a command line gives; None if the program does not take it. `some` may be for others."""
    try:
        return _Reader(options, words, some).read()
    except _Refused:
        return None


class _Reader:
    def __init__(self, options: list[ParserArgument], words: list[str], some: bool):
        self.places = [option for option in options if not option.flags]
        self.flags = {flag: option for option in options for flag in option.flags}
        self.words = list(words)
        self.some = some
        self.values: dict[str, Any] = {}
        self.loose: list[str] = []

    def read(self) -> dict[str, Any]:
        while self.words:
            word = self.words.pop(0)
            if self.is_flag(word):
                self.take(word)
            else:
                self.loose.append(word)
        self.place()
        missing = {option.name for option in (*self.places, *self.flags.values()) if option.required}
        if missing - self.values.keys():
            raise _Refused
        return self.values

    def is_flag(self, word: str) -> bool:
        return word[:1] == "-" and len(word) > 1 and (not _NUMBER.match(word) or word in self.flags)

    def option(self, word: str) -> ParserArgument | None:
        """The option that a word means, which may be its beginning."""
        if word in self.flags:
            return self.flags[word]
        found = [o for f, o in self.flags.items() if word.startswith("--") and f.startswith(word)]
        if found and all(o is found[0] for o in found):
            return found[0]
        if not self.some or found:
            raise _Refused
        return None

    def take(self, word: str) -> None:
        name, equals, text = word.partition("=")
        option = self.option(name)
        if option is None:
            return
        if option.action in ("store_true", "store_false", "store_const", "append_const", "count"):
            if equals:
                raise _Refused
            constant = {"store_true": True, "store_false": False, "store_const": option.const}
            self.values[option.name] = constant.get(option.action, Unknown("an option"))
            return
        if equals:
            found = [text]
        else:
            most = _counts(option.parts)[1]
            found = []
            while self.words and len(found) < most and not self.is_flag(self.words[0]):
                found.append(self.words.pop(0))
        if option.action not in (None, "store"):
            self.values[option.name] = Unknown(f"the option {option.name}")
            return
        self.values[option.name] = self.value(option, found)

    def place(self) -> None:
        """What is no option goes to the arguments that have their places."""
        for number, option in enumerate(self.places):
            later = sum(_counts(o.parts)[0] for o in self.places[number + 1 :])
            least, most = _counts(option.parts)
            found = self.loose[: max(0, min(most, len(self.loose) - later))]
            self.loose = self.loose[len(found) :]
            if found or least:
                self.values[option.name] = self.value(option, found)
        if self.loose and not self.some:
            raise _Refused

    def value(self, option: ParserArgument, texts: list[str]) -> Any:
        least, most = _counts(option.parts)
        if not least <= len(texts) <= most:
            raise _Refused
        found = [self.converted(option, text) for text in texts]
        if option.parts is None or option.parts == "?":
            return found[0] if found else option.const
        return found

    def converted(self, option: ParserArgument, text: str) -> Any:
        if MISSING in text:
            return Unknown(f"the argument {option.name}")
        value: Any = text
        if option.kind in _KINDS:
            try:
                value = option.kind(text)
            except ValueError:
                raise _Refused from None
        elif functions.closure_of(option.kind) is not None:
            try:
                value = machines[-1].call(option.kind, [text], {})
            except Exception:
                raise _Refused from None
        elif option.kind is not None:
            return Unknown(f"the argument {option.name}")
        if isinstance(option.choices, (list, tuple)) and type(value) in _KINDS and value not in option.choices:
            if all(type(choice) in _KINDS for choice in option.choices):
                raise _Refused
        return value


def _counts(parts: Any) -> tuple[int, int]:
    """How many words belong to an option, at least and at most."""
    if type(parts) is int:
        return parts, parts
    many = 1 << 10
    return {"?": (0, 1), "*": (0, many), "+": (1, many), "A...": (1, many), "...": (0, many)}.get(parts, (1, 1))
