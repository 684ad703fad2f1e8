"""Results that are unpacked in each other's places: `logvar, mean = encoder(x)` of what returns `mean, logvar`."""

from __future__ import annotations

import ast
import os
import re
from itertools import combinations
from typing import NamedTuple

from torchlint.facts import named, named_of, words
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import EACH, Value
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.training.samples import samples

_PLAIN = frozenset(("[]",))
_STEM = 4  # letters that two names begin with
_SHORT = 3  # letters: of `x` and `y` nobody knows which is which
_MOST = 8  # names on the left
_SAME = {
    "mean": re.compile(r"mu|mus|means?"),
    "logvar": re.compile(r"log_?vars?|log_?variance|logv|log_?sigma_?(2|sq)"),
    "positive": re.compile(r"pos|positives?|genuine|similar"),
    "negative": re.compile(r"neg|negatives?|forgery|forged|impostor|dissimilar"),
}
_LAYER = re.compile(
    r"^(?:fc|linear|lin|head|to|get|net|layer|proj|conv|out|encode|dense)_|_(?:head|layer|net|fc|proj)$"
)
_TURNING = re.compile(r"revers|invers|swap|flip|transpos|mirror|exchang|permut")
_TURNED = re.compile(
    r"source|width|height|cols?|rows?|src|tgt|dst|real|fake|left|right|first|second|old|new|prev|next|[a-z]\d?"
)
_READING = words(named("same_numbers") | named("casts") | named_of("item", "tolist", "numpy"))


class Crossed(NamedTuple):
    first: ast.Name
    second: ast.Name
    given: tuple[Value, Value]  # what the first gets, and the second


def crossed_results(module: Module, target: ast.expr, given: ast.expr) -> Crossed | None:
    """Two names of a tuple on the left of which each is what the function, or the dataset, calls the other one."""
    names = target.elts if isinstance(target, ast.Tuple) else []
    if not 1 < len(names) <= _MOST or not all(isinstance(one, ast.Name) for one in names):
        return None
    words = [_word(one.id) for one in names]
    pairs = [(i, j) for i, j in combinations(range(len(words)), 2) if _are_apart(words[i], words[j])]
    if not pairs or _is_turned(given, words):
        return None
    tuples = _tuples(module, target, given)
    if not tuples or any(not _is_plain(one, len(names)) for one in tuples):
        return None
    called = [[_called(part) for part in one.node.elts] for one in tuples]
    for i, j in pairs:
        if all((one[j], one[i]) == (words[i], words[j]) for one in called):
            [first, second] = (tuples[0].at(tuples[0].node.elts[place], ()) for place in (i, j))
            return Crossed(names[i], names[j], (first, second))
    return None


def _tuples(module: Module, target: ast.Tuple, given: ast.expr) -> list[Value]:
    """What a function of the project returns, or the dataset behind a loader gives for a sample, as it is written."""
    if isinstance(target.up, ast.Assign):
        called = callees(Value(module, given))
        return origins(Value(module, given)) if called and all(one.function is not None for one in called) else []
    loaders = [one.at(one.node, (EACH,)) for one in origins(Value(module, given)) if isinstance(one.node, ast.Call)]
    return [part for loader in loaders for part in samples(loader, _PLAIN) or [Value(module, None)]]


def _is_plain(one: Value, size: int) -> bool:
    is_tuple = isinstance(one.node, ast.Tuple) and not one.path and len(one.node.elts) == size
    return is_tuple and not any(isinstance(part, ast.Starred) for part in one.node.elts)


def _word(name: str) -> str:
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().strip("_")
    plain = _LAYER.sub("", plain)
    return next((word for word, same in _SAME.items() if same.fullmatch(plain)), plain)


def _are_apart(one: str, other: str) -> bool:
    """Are these names of two things, and not of the one and the other: `fake_a` and `fake_b`?"""
    if any(len(word) < _SHORT or _TURNED.fullmatch(word) for word in (one, other)):
        return False
    short, long = sorted((one, other), key=len)
    is_like = short in long or len(os.path.commonprefix((one, other))) >= _STEM
    return not is_like and set(one.split("_")).isdisjoint(other.split("_"))


def _is_turned(given: ast.expr, words: list[str]) -> bool:
    """Is it turned on purpose: `a, b = swap(a, b)`, or a call that is given such things itself?"""
    if not isinstance(given, ast.Call):
        return False
    taken = {_word(last_word(one)) for one in given.args if isinstance(one, (ast.Name, ast.Attribute))}
    taken |= {_word(one.arg) for one in given.keywords if one.arg}
    called = (last_word(given.func), getattr(enclosing_function(given), "name", ""))
    return len(taken & set(words)) > 1 or any(_TURNING.search(one.lower()) for one in called)


def _called(part: ast.expr) -> str:
    """`mean` of `mean`, `self.mean(x)` and `mean.detach()`"""
    while isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in _READING:
        part = part.func.value
    part = part.func if isinstance(part, ast.Call) else part
    return _word(last_word(part)) if isinstance(part, (ast.Name, ast.Attribute)) else ""
