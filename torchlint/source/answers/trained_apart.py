"""Whether each entry of a plain list of models is trained by itself: with an optimizer of its own, or by a call."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.source.flow.kinds import OPTIMIZER, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import reads, uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word
from torchlint.source.text.spelling import constant_key, paired

_TRAINS = re.compile(r"(train|fit)(_|$)")
_SEVERAL = re.compile(r"(^|_)(models|nets|networks|ensembles?|members|learners|agents|experts)$")
_NEAR = 6  # expressions between the parameters and the optimizer that is given them


def are_trained_apart(place: Value) -> bool:
    """Does a list go by a name by which each of its entries is trained?"""
    assign = place.node.up
    if not isinstance(assign, ast.Assign) or len(assign.targets) > 1:
        return False
    named = [target for target, value in paired(assign.targets[0], assign.value) if value is place.node]
    return len(named) == 1 and are_each_trained(place.module, named[0])


@remembered
def are_each_trained(module: Module, listed: ast.expr) -> bool:
    """Is each entry of what is stored under a name trained, `models[i]`, or are two that are numbered?"""
    is_of_several = _SEVERAL.search(last_word(listed)) is not None
    numbers = {
        number
        for use in reads(module, listed)
        for number, entry in _entries(module, use)
        if _is_optimized(module, entry) or is_of_several and _is_given_to_train(entry)
    }
    return None in numbers or len(numbers) > 1


def _entries(module: Module, use: ast.expr) -> Iterator[tuple[int | str | None, ast.expr]]:
    """Where an entry of a list is read: `models[i]`, `m` of `for m in models`, also behind a name; its number, if it
    has one.
    """
    around = use.up
    if isinstance(around, ast.Subscript) and use is around.value and not isinstance(around.slice, ast.Slice):
        number = constant_key(around.slice)
        yield number, around
        if isinstance(around.up, ast.Assign) and isinstance(around.up.targets[0], ast.Name):
            yield from ((number, one) for one in uses(module, around.up.targets[0]))
    elif (one := each_of(use)) is not None:
        yield from ((None, read) for read in uses(module, one))


def each_of(use: ast.expr) -> ast.Name | None:
    """`m` of `for m in models`, and of `for i, (m, x) in enumerate(zip(models, data))`, in a comprehension, too"""
    node, around, steps = use, use.up, []
    while isinstance(around, ast.Call) and last_word(around.func) in ("zip", "enumerate") and node in around.args:
        steps.append(around.args.index(node) if last_word(around.func) == "zip" else 1)
        node, around = around, around.up
    if not isinstance(around, (ast.For, ast.comprehension)) or node is not around.iter:
        return None
    target = around.target
    for step in reversed(steps):
        elements = getattr(target, "elts", ())
        target = elements[step] if step < len(elements) else None
    return target if isinstance(target, ast.Name) else None


def _is_optimized(module: Module, entry: ast.expr) -> bool:
    """`Adam(m.parameters())`, `make_optimizer(m)`"""
    node = entry.up
    for _ in range(_NEAR):
        if not isinstance(node, (ast.Attribute, ast.Call, ast.keyword, ast.List, ast.Starred, ast.Dict)):
            return False
        if isinstance(node, ast.Call) and kinds(Value(module, node)) == {OPTIMIZER}:
            return True
        node = node.up
    return False


def _is_given_to_train(entry: ast.expr) -> bool:
    """`train(m, loader)`, `fit_one(i, m)`"""
    call = entry.up
    return isinstance(call, ast.Call) and entry in call.args and _TRAINS.match(last_word(call.func)) is not None
