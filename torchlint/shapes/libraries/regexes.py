"""`re` on texts that are known, as far as nobody's pattern can take long."""

from __future__ import annotations

import importlib
import re
import sys
from functools import lru_cache
from typing import Any

from torchlint.shapes.core.budget import len_of
from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown, UnknownUsed, machines

_parser: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
_WAYS = 200_000  # in which a pattern may be laid on a text
_LONGEST = 2_000  # characters of a pattern or a text
_PER_STEP = 200  # ways that are tried for a step
_PARTS_PER_STEP = 2_000  # ways times the characters of the pattern, all of which each way may come to
_PLAIN = re.I | re.M | re.S | re.X | re.A | re.U  # others print, or ask for the locale of whoever lints
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_METHODS = ("search", "match", "fullmatch", "findall", "split")


class CompiledPattern(StandIn):
    """`re.compile(…)`"""

    takes_unknown = ("sub",)  # whose function is called for each match of a text

    def __init__(self, pattern: str, flags: int = 0):
        self.pattern = pattern
        self.flags = flags
        self._compiled = re.compile(pattern, flags)

    def _ready(self, text: Any) -> re.Pattern:
        """The pattern, if trying it on a text ends soon."""
        ways = _ways(self.pattern, self.flags)
        if type(text) is not str or ways is None or len(text) > _LONGEST:
            raise UnknownUsed("what a pattern finds")
        tries = ways[0] * (len(text) + 1) ** (ways[1] + 1)
        if tries > _WAYS:
            raise UnknownUsed("what a pattern finds")
        machines[-1].budget.spend(1 + tries // _PER_STEP + tries * len(self.pattern) // _PARTS_PER_STEP)
        return self._compiled

    def sub(self, new: Any, text: Any, count: int = 0) -> Any:
        machine = machines[-1]
        if type(new) is str and type(count) is int:
            ready = self._ready(text)
            machine.budget.length(len(new) * (len(text) + 1))
            return ready.sub(new, text, count)
        if type(text) is not str or type(count) is not int:
            machine.lend_called(new)
            raise UnknownUsed("how often a function puts something in the place of a match")
        made = [machine.call(new, [found], {}) for found in self.finditer(text)[: count or None]]
        machine.budget.length(sum(map(len_of, made)) + len(text))
        parts = iter(made)
        if not all(type(one) is str for one in made):
            raise UnknownUsed("what a function puts in the place of a match")
        return self._ready(text).sub(lambda _: next(parts), text, count)

    def finditer(self, text: Any) -> Any:
        return list(self._ready(text).finditer(text))


def _method(name: str):
    def method(self, text, *more):
        return getattr(self._ready(text), name)(text, *more)

    return method


for _name in _METHODS:
    setattr(CompiledPattern, _name, _method(_name))


@lru_cache(maxsize=512)
def _ways(pattern: str, flags: int) -> tuple[int, int] | None:
    """How often a pattern can be laid on a text of n characters: a * n ** b; None where it may be many times more,
    since something within what is repeated can be read in several ways.
    """
    if len(pattern) > _LONGEST:
        return None
    counts = [1, 0]

    def walk(parts: Any, inside: bool) -> bool:
        for op, given in parts:
            word = str(op)
            choice = word in (*_REPEATS, "BRANCH", "GROUPREF_EXISTS") and not (
                word in _REPEATS and given[0] == given[1]
            )
            if choice and inside or word == "GROUPREF":
                return False
            if word in _REPEATS and not given[2].getwidth()[0]:
                counts[0] *= max(1, given[0])  # the text never ends it
            if word == "BRANCH":
                counts[0] *= len(given[1])
            elif choice and word in _REPEATS:
                if given[1] == 1:
                    counts[0] *= 2
                else:
                    counts[1] += 1
            repeated = inside or word in _REPEATS and given[1] != 1
            for inner in _inner(word, given):
                if not walk(inner, repeated):
                    return False
        return counts[0] <= _WAYS and counts[1] < 10

    return (counts[0], counts[1]) if walk(_parser.parse(pattern, flags), False) else None


def _inner(word: str, given: Any) -> list[Any]:
    if word in _REPEATS:
        return [given[2]]
    if word == "SUBPATTERN":
        return [given[3]]
    if word in ("ASSERT", "ASSERT_NOT"):
        return [given[1]]
    if word == "ATOMIC_GROUP":
        return [given]
    return list(given[1]) if word == "BRANCH" else []


def _compile(machine, pattern, flags=0):
    if isinstance(pattern, CompiledPattern):
        return pattern
    if type(pattern) is not str or not isinstance(flags, int) or flags & ~_PLAIN or len(pattern) > _LONGEST:
        return Unknown("an unknown pattern")
    machine.budget.spend(len(pattern) >> 1)
    try:
        machine.budget.spend(_letters_of(pattern, int(flags)) >> 4)
    except (re.error, RecursionError, OverflowError):
        return Unknown("a pattern that is none")
    return CompiledPattern(pattern, int(flags))


@lru_cache(maxsize=512)
def _letters_of(pattern: str, flags: int) -> int:
    return _letters(_parser.parse(pattern, flags))


def _letters(parts: Any) -> int:
    """How many letters lie in the ranges of a pattern: without regard to case, each is looked at."""
    found = 0
    for op, given in parts:
        word = str(op)
        if word == "IN":
            found += sum(bounds[1] - bounds[0] for kind, bounds in given if str(kind) == "RANGE")
        found += sum(map(_letters, _inner(word, given)))
    return found


def _escape(machine, text):
    if type(text) is not str:
        return Unknown("an unknown text")
    machine.budget.length(2 * len(text))
    return re.escape(text)


def _function(name: str, texts: int):
    """`re.search(pattern, text)`, `re.sub(pattern, new, text)`"""

    def call(machine, pattern, *args, flags=0, **options):
        made = _compile(machine, pattern, args[texts] if name not in ("sub", "split") and len(args) > texts else flags)
        return made if type(made) is Unknown else getattr(made, name)(*args[:texts], **options)

    return Special(name, call)


REGEXES: dict[str, Any] = {
    "re.compile": Special("compile", _compile),
    "re.escape": Special("escape", _escape),
    "re.sub": _function("sub", 2),
    "re.finditer": _function("finditer", 1),
    **{f"re.{name}": _function(name, 1) for name in _METHODS},
    **{f"re.{name}": int(getattr(re, name)) for name in "I IGNORECASE M MULTILINE S DOTALL X VERBOSE A ASCII".split()},
}
