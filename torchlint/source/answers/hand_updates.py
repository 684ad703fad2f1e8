"""Updates without an optimizer, `w -= lr * w.grad`, in a loop where nothing clears `w.grad`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.source.flow.kinds import MODULE, kinds
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import EACH, Value
from torchlint.source.text.index import enclosing_function, last_word, standing_in, statement_of
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.acts import BACKWARD, EVAL, SUPPLY, TRAIN, Act, acts
from torchlint.source.training.regions import loops_around, under_no_grad

# `w.grad.fill_(0)`, `w.grad *= 0`, `w.grad[:] = 0`, `w.grad = None`; and what makes such a loop another story.
_CLEARED = re.compile(r"\.grad(\.data)?(\[[^\]]*\])?(\.\w+_\(| [-*/]?= )")
_OTHERWISE = re.compile(r"zero_|set_to_none|autograd|requires_grad_|detach_|break|del ")
_CHANGES = ("sub_", "add_", "add", "addcmul_", "addcdiv_")


_READS = 20  # of gradients in one loop: of more, nobody asks
_EACH = {"parameters": (EACH,), "named_parameters": (EACH, 1)}


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


def is_updated_weight(module: Module, tensor: ast.expr, origin: Value) -> bool:
    """`w` of `for w in net.parameters(): w -= lr * w.grad`, in what is called: whatever nobody knows of `net`, it has
    parameters, and these have gradients.
    """
    call, function = origin.node, enclosing_function(tensor)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not isinstance(tensor, ast.Name):
        return False
    if origin.path != _EACH.get(last_word(call.func)) or kinds(origin.at(call.func.value, ())) - {MODULE}:
        return False
    around = next(iter(loops_around(tensor)), statement_of(tensor))
    read = standing_in(around, module.index.attributes("grad"))[:_READS]
    is_run = function is None or bool(module.index.callers(getattr(function, "name", "")))
    return is_run and any(isinstance(one.ctx, ast.Load) and unparsed(one.value) == tensor.id for one in read)
