"""Arguments that stand in each other's places: `train(model, log_every, epochs)` where `def train(model, epochs,
log_every)` takes them.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.source.flow.flow import callees
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word, statement_of
from torchlint.source.text.spelling import is_super

_STEM = 4  # letters that two names begin with
_SHORT = 3  # letters: of `x` and `y` nobody knows which is which
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
    for place, other in _crossed(words, parameters):
        if not _is_meant(module, call, words[place], words[other]) and (
            is_kept or not _are_alike(words[place], words[other])
        ):
            return Exchanged(call.args[place], call.args[other], (parameters[place], parameters[other]))
    return None


def _word(given: ast.expr) -> str:
    """`epochs` of `epochs` and `args.epochs`"""
    return last_word(given) if isinstance(given, (ast.Name, ast.Attribute)) else ""


def _crossed(words: list[str], parameters: list[str]) -> Iterator[tuple[int, int]]:
    for place, word in enumerate(words[: len(parameters)]):
        other = parameters.index(word) if word in parameters else place
        if place < other < len(words) and words[other] == parameters[place]:
            yield place, other


def _parameters(module: Module, call: ast.Call) -> tuple[list[str], bool]:
    """The names of the parameters that a call gives its arguments to, by their places, and whether an object is made
    that keeps them.
    """
    found = callees(Value(module, call))
    if len(found) != 1 or found[0].partials:
        return [], False
    function = found[0].function
    if found[0].kind == "class" and found[0].owner is not None:
        start = found[0].owner.method("__init__")
        function = start.node if start is not None else None
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or function.decorator_list:
        return [], False
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    is_bound = isinstance(function.up, ast.ClassDef) and not is_super(call.func)
    given = names[1:] if is_bound and not _is_given_itself(call, function) else names
    return given, found[0].kind == "class"


def _is_given_itself(call: ast.Call, function: ast.FunctionDef) -> bool:
    """`Base.build(self, …)`"""
    first = call.args[0]
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    return isinstance(first, ast.Name) and first.id in ("self", *names[:1])


def _are_alike(one: str, other: str) -> bool:
    """`logits_p` and `logits_q`, `maps` and `old_maps`: a function that compares them may not mind their order."""
    short, long = sorted((one, other), key=len)
    return (
        short in long or len(os.path.commonprefix((one, other))) >= _STEM or one.split("_")[-1] == other.split("_")[-1]
    )


def _is_meant(module: Module, call: ast.Call, one: str, other: str) -> bool:
    """Are they short, two of a kind that are turned round on purpose, or given the other way round nearby?"""
    if min(len(one), len(other)) < _SHORT or any(word in one.lower() for word in _TURNED):
        return True
    results = statement_of(call).targets if isinstance(call.up, ast.Assign) else []
    if any({one, other} <= {_word(part) for part in getattr(target, "elts", ())} for target in results):
        return True  # `net, head = moved(net, head)` gives them back as it gets them
    around = enclosing_function(call) or module.tree
    return _times(module, around, last_word(call.func), frozenset((one, other))) > 1


@remembered
def _times(module: Module, around: ast.AST, function: str, words: frozenset[str]) -> int:
    """How often a function is given two things in a part of a file, whichever comes first."""
    return sum(words <= set(map(_word, again.args)) for again in module.index.calls_of(function, inside=around))
