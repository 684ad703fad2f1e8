"""More or fewer names than what a function of the project gives: `loss, hits = evaluate(net)`, which returns three."""

from __future__ import annotations

import ast

from torchlint.source.answers.misfit_calls import Misfit, is_expected
from torchlint.source.answers.own_callees import Target, all_targets, is_stub, targets
from torchlint.source.flow.module import Module
from torchlint.source.flow.signatures import has_decorator
from torchlint.source.text.index import within

_MOST_CALLS = 3  # of functions that return what others return


def misfit_unpacking(module: Module, assign: ast.Assign) -> Misfit | None:
    """A call that never gives as many values as are taken of it."""
    call, [target, *others] = assign.value, assign.targets
    if not isinstance(call, ast.Call) or others or not isinstance(target, (ast.Tuple, ast.List)):
        return None
    if any(isinstance(one, ast.Starred) for one in target.elts):
        return None
    for known in (targets, all_targets):  # heirs are looked for only then
        found = known(module, call)
        given = [_given(one, 0) for one in found]
        if not given or any(counts is None or len(target.elts) in counts for counts in given):
            return None
    if is_expected(module, call):
        return None
    counts = sorted(set().union(*(counts for counts in given if counts)))
    told = " or ".join(map(str, counts)) if counts else "none"
    return Misfit(f"{len(target.elts)} values are taken of {told}", found[0], target, "take as many as `return` gives")


def _given(target: Target, depth: int) -> set[int] | None:
    """How many values a function gives, one after the other; None where that is not known, empty if it gives none."""
    function = target.node
    if not isinstance(function, ast.FunctionDef) or function.yields or has_decorator(function, "contextmanager"):
        return None
    if function.name == "__init__" or not function.gives and (is_stub(function) or _always_raises(function)):
        return None
    counts = set()
    for value in function.gives:
        found = _count(target.module, value, depth)
        if found is None:
            return None
        counts |= found
    return counts


def _count(module: Module, value: ast.expr, depth: int) -> set[int] | None:
    if isinstance(value, ast.Tuple):
        return None if any(isinstance(one, ast.Starred) for one in value.elts) else {len(value.elts)}
    if isinstance(value, ast.Constant):
        return set() if isinstance(value.value, (bool, int, float, type(None))) else None
    if isinstance(value, ast.IfExp):
        found = [_count(module, one, depth) for one in (value.body, value.orelse)]
        return None if None in found else set().union(*(one for one in found if one))
    if not isinstance(value, ast.Call) or depth >= _MOST_CALLS:
        return None
    found = [_given(one, depth + 1) for one in all_targets(module, value)]
    return None if not found or None in found else set().union(*(one for one in found if one))


def _always_raises(function: ast.FunctionDef) -> bool:
    return isinstance(function.body[-1], ast.Raise) or any(
        isinstance(one, ast.While) and within(one, function) for one in function.body[-1:]
    )
