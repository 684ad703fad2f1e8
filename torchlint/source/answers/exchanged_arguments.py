"""Arguments that stand in each other's places: `train(model, log_every, epochs)` where `def train(model, epochs,
log_every)` takes them.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from itertools import chain, islice
from string import digits
from typing import NamedTuple

from torchlint.source.flow.flow import callees
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word, statement_of
from torchlint.source.text.spelling import is_super

_STEM = 4  # letters that two names begin with
_MOST_AGAIN = 8  # calls that are given the same two things
_SHORT = 3  # letters: of `x` and `y` nobody knows which is which
_DIRECTIONS = frozenset(("in", "input", "out", "output"))
_WIDTHS = frozenset(("dim", "dims", "size", "width", "features", "channels", "planes", "units"))
_TURNING = re.compile(r"revers|invers|swap|flip|transpos|mirror")
_TURNED = ("width", "height", "cols", "rows", "src", "tgt", "dst", "real", "fake", "left", "right", "first", "second")


class Exchanged(NamedTuple):
    first: ast.expr
    second: ast.expr
    names: tuple[str, str]  # of the parameters that they are given to


def exchanged_arguments(module: Module, call: ast.Call) -> Exchanged | None:
    """Two arguments of which each is called exactly as the parameter that gets the other one."""
    if len(call.args) < 2 or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    words = [_word(one) for one in call.args]
    if len({word for word in words if word}) < 2:
        return None
    parameters, is_kept = _parameters(module, call)
    crossed = list(_crossed(words, parameters))
    given_back = _given_back(call) if crossed else []
    for place, other in crossed:
        one, two = words[place], words[other]
        pair = frozenset((one, two))
        if any(pair <= names for names in given_back) or _is_meant(module, call, pair):
            continue
        if not (_are_widths(one, two) if is_kept else _are_alike(one, two)):
            return Exchanged(call.args[place], call.args[other], (parameters[place], parameters[other]))
    return None


def _word(given: ast.expr) -> str:
    """`epochs` of `epochs` and `args.epochs`"""
    return last_word(given) if isinstance(given, (ast.Name, ast.Attribute)) else ""


def _crossed(words: list[str], parameters: list[str]) -> Iterator[tuple[int, int]]:
    places = {name: place for place, name in enumerate(parameters)}
    for place, word in enumerate(words[: len(parameters)]):
        other = places.get(word, place)
        if place < other < len(words) and words[other] == parameters[place]:
            yield place, other


def _parameters(module: Module, call: ast.Call) -> tuple[list[str], bool]:
    """The names of the parameters that a call gives its arguments to, by their places, and whether an object is made
    that keeps them.
    """
    function, is_kept = _function(module, call)
    if function is None:
        return [], False
    taken = islice(chain(function.args.posonlyargs, function.args.args), len(call.args) + 1)
    names = [one.arg for one in taken]  # with what may be `self`, and no more: it may take many
    is_bound = isinstance(function.up, ast.ClassDef) and not is_super(call.func)
    given = names[1:] if is_bound and not _is_given_itself(call, names) else names
    return given, is_kept


def _function(module: Module, call: ast.Call) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef | None, bool]:
    found = callees(Value(module, call))
    if len(found) != 1 or found[0].partials:
        return None, False
    function = found[0].function
    if found[0].kind == "class" and found[0].owner is not None:
        start = found[0].owner.method("__init__")
        function = start.node if start is not None else None
    is_plain = isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and not function.decorator_list
    return function if is_plain else None, found[0].kind == "class"


def _is_given_itself(call: ast.Call, names: list[str]) -> bool:
    """`Base.build(self, …)`"""
    first = call.args[0]
    return isinstance(first, ast.Name) and first.id in ("self", *names[:1])


def _are_alike(one: str, other: str) -> bool:
    """`logits_p` and `logits_q`, `maps` and `old_maps`, `v1` and `v2`: a function that compares them may not mind their
    order.
    """
    short, long = sorted((one, other), key=len)
    return (
        short in long
        or len(os.path.commonprefix((one, other))) >= _STEM
        or one.split("_")[-1] == other.split("_")[-1]
        or one.rstrip(digits) == other.rstrip(digits)
    )


def _are_widths(one: str, other: str) -> bool:
    """`in_channels` and `out_channels`, `input_dim` and `hidden_dim`: what leads back is made the other way round."""
    a, b = set(one.split("_")), set(other.split("_"))
    return bool(a & b & _WIDTHS) and not _DIRECTIONS.isdisjoint(a | b)


def _is_meant(module: Module, call: ast.Call, pair: frozenset[str]) -> bool:
    """Are they short, two of a kind that are turned round on purpose, or given the other way round nearby?"""
    if any(len(one) < _SHORT or word in one.lower() for one in pair for word in _TURNED):
        return True
    if _TURNING.search(getattr(enclosing_function(call), "name", "")):
        return True  # `reverse_kl`
    around = enclosing_function(call) or module.tree
    calls = _calls_given(module, around, last_word(call.func))
    if len(set.intersection(*(calls.get(word, set()) for word in pair))) > 1:
        return True
    given = _given_both(module, around, pair)
    return any(again is not call and _run_the_same(module, call, again) for again in given)


def _run_the_same(module: Module, call: ast.Call, again: ast.Call) -> bool:
    """`self.text_to_image(image, text)` and `self.image_to_text(text, image)`, two objects of one class"""
    function, _ = _function(module, call)
    return function is not None and function is _function(module, again)[0]


def _given_both(module: Module, around: ast.AST, words: frozenset[str]) -> list[ast.Call]:
    """The first calls in a part of a file that are given two things, whichever comes first."""
    calls = _calls_by_word(module, around)
    first, second = (calls.get(word, {}) for word in words)
    return list(islice((call for place, call in first.items() if place in second), _MOST_AGAIN))


@remembered
def _calls_by_word(module: Module, around: ast.AST) -> dict[str, dict[int, ast.Call]]:
    """The calls in a part of a file by what they are given, each by its place."""
    found: dict[str, dict[int, ast.Call]] = {}
    for call in module.index.inside(around, ast.Call):
        for word in map(_word, call.args):
            found.setdefault(word, {})[call.pos] = call
    return found


def _given_back(call: ast.Call) -> list[frozenset[str]]:
    """`net, head = moved(net, head)` gives them back as it gets them."""
    results = statement_of(call).targets if isinstance(call.up, ast.Assign) else []
    return [frozenset(map(_word, getattr(target, "elts", ()))) for target in results]


@remembered
def _calls_given(module: Module, around: ast.AST, function: str) -> dict[str, set[int]]:
    """Which calls of a function in a part of a file are given a word, whichever comes first."""
    found: dict[str, set[int]] = {}
    for number, again in enumerate(module.index.calls_of(function, inside=around)):
        for word in map(_word, again.args):
            found.setdefault(word, set()).add(number)
    return found
