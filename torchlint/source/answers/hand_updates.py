"""Updates without an optimizer, `w -= lr * w.grad`, in a loop where nothing clears `w.grad`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.source.flow.module import Module
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.acts import BACKWARD, EVAL, SUPPLY, TRAIN, Act, acts
from torchlint.source.training.regions import under_no_grad

# `w.grad.fill_(0)`, `w.grad *= 0`, `w.grad[:] = 0`, `w.grad = None`; and what makes such a loop another story.
_CLEARED = re.compile(r"\.grad(\.data)?(\[[^\]]*\])?(\.\w+_\(| [-*/]?= )")
_OTHERWISE = re.compile(r"zero_|set_to_none|autograd|requires_grad_|detach_|break|del ")
_CHANGES = ("sub_", "add_", "add", "addcmul_", "addcdiv_")


class HandUpdate(NamedTuple):
    """A backward, the statement that uses what it adds up, and what is updated, as it is written."""

    backward: Act
    update: ast.AST
    weight: str


def hand_updates(module: Module, loop: ast.AST) -> Iterator[HandUpdate]:
    """The first one of a loop; more of them are the same mistake."""
    found = acts(module, loop.body)
    backwards = [act for act in found if act.role == BACKWARD and act.runs_always]
    if len(backwards) != 1 or any(act.role not in (BACKWARD, TRAIN, EVAL, SUPPLY) for act in found):
        return
    text = ast.unparse(loop)
    if _OTHERWISE.search(text) or _CLEARED.search(text):
        return
    for node in module.index.inside(loop, ast.AugAssign, ast.Call):
        weight, change = _changed(node)
        if weight is None or node.lineno < backwards[0].node.lineno or f"{weight}.grad" not in ast.unparse(change):
            continue
        # else torch refuses it
        quietly = f"{weight}.data" in ast.unparse(node) or under_no_grad(module, node)
        if quietly and not _is_made_in(module, loop, weight):
            yield HandUpdate(backwards[0], node, weight)
            return


def _changed(node: ast.AugAssign | ast.Call) -> tuple[str | None, ast.AST]:
    """What is changed in place, by `w -= …`, `w.data -= …`, `w.sub_(…)`, and the expression of the change."""
    target, change = None, node
    if isinstance(node, ast.AugAssign):
        target, change = node.target, node.value
    elif isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES and node.args:
        target = node.func.value
    if isinstance(target, ast.Attribute) and target.attr == "data":
        target = target.value
    return (unparsed(target), change) if isinstance(target, (ast.Name, ast.Attribute)) else (None, node)


def _is_made_in(module: Module, loop: ast.AST, name: str) -> bool:
    """Does each round begin with a new one? `for p in model.parameters()` gives the same ones again."""
    root = name.split(".")[0]
    return any(
        isinstance(target, ast.Name) and target.id == root
        for node in module.index.inside(loop, ast.Assign, ast.AnnAssign)
        for whole in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for target in ast.walk(whole)
        if not isinstance(getattr(target, "ctx", None), ast.Load)
    )
