"""Backwards that a Lightning module runs itself, though Lightning runs its own of what `training_step` returns."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.source.answers.lightning_results import has_optimizer, method_called
from torchlint.source.flow.classes import ClassInfo
from torchlint.source.text.index import enclosing_function

OWN_WAYS = ("automatic_optimization", "def backward(self", "optimizer_step(", "optimizer_closure", "training_step_end")


class OwnBackward(NamedTuple):
    """`call` goes backward; `returned` is the loss of which Lightning does so again, None where it refuses the call."""

    call: ast.Call
    returned: ast.expr | None


def own_backwards(info: ClassInfo) -> Iterator[OwnBackward]:
    """Those of the `training_step` of a module, in a project that has no ways of its own to optimize, `OWN_WAYS`."""
    step = method_called(info, "training_step")
    if step is None or not has_optimizer(info):
        return
    for call in info.module.index.inside(step, ast.Call):
        if enclosing_function(call) is not step or not _runs_always(call, step):
            continue
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr="manual_backward"), args=[_, *_]):
                yield OwnBackward(call, None)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="backward"), args=[], keywords=[]):
                given = [_loss_of(value) for value in step.gives]
                is_given = bool(given) and all(isinstance(loss, ast.Name) and loss.id == name for loss in given)
                if is_given and _is_still(name, step, call, info):
                    yield OwnBackward(call, given[0])


def _runs_always(call: ast.Call, step: ast.FunctionDef) -> bool:
    """Is it a statement of the method, or of a `with` in it?"""
    statement = call.up
    around = statement.up
    while isinstance(around, ast.With):
        around = around.up
    return isinstance(statement, ast.Expr) and around is step


def _loss_of(value: ast.expr) -> ast.expr | None:
    """`loss` of `return loss` and of `return {"loss": loss}`"""
    if not isinstance(value, ast.Dict):
        return value
    keys = [key.value if isinstance(key, ast.Constant) else None for key in value.keys]
    return value.values[keys.index("loss")] if keys.count("loss") == 1 and None not in keys else None


def _is_still(name: str, step: ast.FunctionDef, call: ast.Call, info: ClassInfo) -> bool:
    """Is a name computed before the call, and the same when the method returns?"""
    uses = [one for one in info.module.index.names(name) if enclosing_function(one) is step]
    stores = [one for one in uses if not isinstance(one.ctx, ast.Load)]
    computed = [
        one for one in stores if isinstance(one.up, ast.Assign) and isinstance(one.up.value, (ast.Call, ast.BinOp))
    ]
    return bool(computed) and all(one.lineno < call.lineno for one in stores)
