"""Results of several tensors that are taken for one: `self.lstm(x).mean(1)`, `torch.split(images, 2).cuda()`."""

from __future__ import annotations

import ast

from torchlint.facts import Fact, fact
from torchlint.facts.fields import FIELDS, OF_RESULTS
from torchlint.source.flow.flow import callees
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.uses import is_tried, uses
from torchlint.source.flow.values import Value
from torchlint.source.text.spelling import argument

_REFUSED = (ast.Sub, ast.Div, ast.Pow, ast.MatMult, ast.FloorDiv)
_TAKING_ANY = ("Identity",)
_ASKING = ("isinstance", "type", "len", "hasattr", "is_tensor")


def taken_for_one(module: Module, call: ast.Call) -> ast.expr | None:
    """The first place where what a call gives, which is several tensors for certain, is used as a tensor is."""
    if not _gives_several(Value(module, call)):
        return None
    found = _places(module, call)
    if any(_is_asked(use) for use in found):
        return None
    return next((use for use in found if _is_refused(module, use) and not is_tried(use)), None)


def _gives_several(call: Value) -> bool:
    rows = [fact(callee.name) for callee in callees(call)]
    return bool(rows) and all(
        row is not None
        and (row.gives == "tensors" or _reduces_to_several(row) and _has_dim(call.node, row.home == "."))
        for row in rows
    )


def _reduces_to_several(row: Fact) -> bool:
    """`max`, `min`, `median`, which give one tensor, unless they are told along which dimension"""
    return row.reduces and row.gives == "tensor|tensors"


def _has_dim(call: ast.Call, is_method: bool) -> bool:
    dim = argument(call, "dim", 0 if is_method else 1)
    return isinstance(dim, ast.UnaryOp) or isinstance(dim, ast.Constant) and type(dim.value) is int


def _places(module: Module, call: ast.Call) -> list[ast.expr]:
    """Where the result is used as it is: the call itself, or the name that it is given."""
    around = call.up
    target = around.targets[0] if isinstance(around, ast.Assign) and len(around.targets) == 1 else None
    if target is None:
        return [call]
    if not isinstance(target, ast.Name):
        return []
    found = uses(module, target)
    scopes = [use.at.lookup(use.id) for use in found]
    is_alone = all(scope is not None and reaching(use, scope) == [target] for use, scope in zip(found, scopes))
    return found if is_alone else []


def _is_asked(use: ast.expr) -> bool:
    """Is it looked at first what it is?"""
    around = use.up
    is_test = isinstance(around, ast.Call) and getattr(around.func, "attr", getattr(around.func, "id", "")) in _ASKING
    return is_test and around.func is not use


def _is_refused(module: Module, use: ast.expr) -> bool:
    around = use.up
    if isinstance(around, ast.Attribute):
        is_of_tensors = around.attr in FIELDS or fact(f".{around.attr}") is not None
        return is_of_tensors and around.attr not in OF_RESULTS
    if isinstance(around, ast.BinOp):
        return isinstance(around.op, _REFUSED)
    return isinstance(around, ast.Call) and around.args[:1] == [use] and _takes_a_tensor(Value(module, around))


def _takes_a_tensor(call: Value) -> bool:
    """Does a layer or function of networks get it, which takes tensors only?"""
    rows = [fact(callee.name) for callee in callees(call)]
    return bool(rows) and all(
        row is not None and row.home in ("nn", "F") and row.gives == "tensor" and row.word not in _TAKING_ANY
        for row in rows
    )
