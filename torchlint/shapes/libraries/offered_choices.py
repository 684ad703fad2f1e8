"""What a script lets its user choose among: argparse's `choices`, and the words with which it compares an option."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from torchlint.shapes.language import program
from torchlint.shapes.libraries.given_arguments import ParserArgument

_ELSEWHERE = re.compile(
    r"devices?|backends?|accelerat|distr|launch|(local_)?rank|platform|logs?_|logg|formats?|seeds?", re.IGNORECASE
)
_LONGEST = 40  # characters of a word
_FACTORS = (2, 3, 5, 7)


class OfferedChoice(NamedTuple):
    """One option with the word that is given in place of its default."""

    name: str
    flag: str
    word: str

    @property
    def words(self) -> list[str]:
        return [self.flag, self.word] if self.word else [self.flag]


def offered(defaults: Mapping[str, Any], options: list[ParserArgument], path: str | None) -> Iterator[OfferedChoice]:
    """Each word that an option offers beside its default."""
    source = program.source_of(path) if path is not None else None
    compared = _compared(source) if source is not None else {}
    for option in options:
        default = defaults.get(option.name)
        if not option.flags or option.action not in (None, "store") or option.parts is not None:
            continue
        if option.kind not in (None, str, int) or _ELSEWHERE.search(option.name):
            continue
        given = option.choices if isinstance(option.choices, (list, tuple)) else compared.get(option.name, ())
        for word in given:
            if type(word) in (str, int) and type(word) is type(default) and word not in ("", default):
                yield OfferedChoice(option.name, option.flags[-1], str(word)[:_LONGEST])


def switches(defaults: Mapping[str, Any], options: list[ParserArgument]) -> Iterator[OfferedChoice]:
    """The options that are on or off: each is turned round."""
    for option in options:
        if option.flags and option.action in ("store_true", "store_false"):
            if defaults.get(option.name) is (option.action == "store_false"):
                yield OfferedChoice(option.name, option.flags[-1], "")


def otherwise(defaults: Mapping[str, Any]) -> dict[str, int]:
    """Other numbers for all that are given: no two change alike, so that what agrees by chance does so no more."""
    numbers = [name for name, value in defaults.items() if type(value) is int and 0 < value < 100_000]
    return {name: defaults[name] * _FACTORS[place % len(_FACTORS)] for place, name in enumerate(numbers)}


@lru_cache(maxsize=64)
def _compared(source: program.Program) -> dict[str, tuple[str, ...]]:
    """The words with which `args.model` is compared, by the name of the attribute, in the order of the text."""
    found: dict[str, dict[str, None]] = {}
    for node in ast.walk(source.tree):
        subject, words = _comparison(node)
        if isinstance(subject, ast.Attribute) and isinstance(subject.value, ast.Name):
            found.setdefault(subject.attr, {}).update(dict.fromkeys(words))
    return {name: tuple(words) for name, words in found.items()}


def _comparison(node: ast.AST) -> tuple[ast.expr | None, list[Any]]:
    """What is compared with which words: `x == "a"`, `x in ("a", "b")`, `{"a": …}[x]`, `match x: case "a"`."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        right = node.comparators[0]
        if isinstance(node.ops[0], ast.Eq):
            return node.left, [right.value] if isinstance(right, ast.Constant) else []
        if isinstance(node.ops[0], ast.In) and isinstance(right, (ast.Tuple, ast.List, ast.Set)):
            return node.left, [one.value for one in right.elts if isinstance(one, ast.Constant)]
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Dict):
        return node.slice, [key.value for key in node.value.keys if isinstance(key, ast.Constant)]
    if isinstance(node, ast.Match):
        patterns = [case.pattern for case in node.cases]
        values = [one.value for one in patterns if isinstance(one, ast.MatchValue)]
        return node.subject, [one.value for one in values if isinstance(one, ast.Constant)]
    return None, []
