"""Whether a parameter is certainly a tensor where something else stands in its function: by its annotation, or by what
is read of it, as long as nobody asks what it is and no other thing has taken its name.
"""

from __future__ import annotations

import ast
import re

from torchlint.source.flow.kinds import is_tensor
from torchlint.source.flow.module import Module
from torchlint.source.flow.signatures import default_of
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word, statement_of, within
from torchlint.source.text.spelling import receiver
from torchlint.source.training.graphs import CUTTING_ATTRIBUTES
from torchlint.source.training.regions import loops_around

_READ_OF_TENSORS = frozenset(
    "shape size dim ndim dtype device view reshape flatten squeeze unsqueeze permute transpose expand to float long"
    " new_zeros new_ones new_full new_empty new_tensor".split()
)
_MAKING = re.compile(r"(?:as_?)?array|from_numpy|(?:as_)?\w*tensor", re.IGNORECASE)
_TAKING = (ast.Assign, ast.AugAssign, ast.AnnAssign)
_ASKING = ("isinstance", "is_tensor", "type", "hasattr", "callable")


def is_at_hand(module: Module, function: ast.FunctionDef, parameter: ast.arg, place: ast.AST) -> bool:
    """Is it a tensor there, which knows the device of the others?"""
    if isinstance(default_of(function, parameter), ast.expr) or _is_hidden(function, parameter.arg, place):
        return False
    found = _bindings_at(function, parameter, place)
    return all(_is_tensor(module, bound) and not _is_asked(module, bound) for bound in found)


def _is_hidden(function: ast.FunctionDef, name: str, place: ast.AST) -> bool:
    """Does the name mean another thing there, as in `[torch.ones(x) for x in sizes]`?"""
    around = place
    while not hasattr(around, "scope"):
        around = around.up
    return around.scope.lookup(name) is not function.scope


def _bindings_at(function: ast.FunctionDef, parameter: ast.arg, place: ast.AST) -> list[ast.AST]:
    """What may have given the name its meaning there: the last that always does, and what comes after it."""
    loops, found = loops_around(place), []
    for bound in function.scope.bindings[parameter.arg]:
        if bound is parameter or not _is_later(bound, place) or any(within(bound, loop) for loop in loops):
            found.append(bound)
    always = (b for b in found if b is not parameter and not _is_later(b, place) and statement_of(b).up is function)
    start = max((bound.pos for bound in always if isinstance(statement_of(bound), _TAKING)), default=parameter.pos)
    return [bound for bound in found if bound.pos >= start]


def _is_later(bound: ast.AST, place: ast.AST) -> bool:
    """`x = x + torch.ones(3)`: what is made there is made before the name is given away."""
    statement = statement_of(bound)
    return bound.pos > place.pos or isinstance(statement, _TAKING) and within(place, statement)


def _is_tensor(module: Module, bound: ast.AST) -> bool:
    if isinstance(bound, ast.arg) and bound.annotation is not None:
        return ast.unparse(bound.annotation).endswith("Tensor")
    if not isinstance(bound, (ast.arg, ast.Name)):
        return False
    stored = bound.up
    if isinstance(stored, ast.Assign) and stored.targets == [bound]:
        if _is_on_the_cpu(stored.value):
            return False
        if is_tensor(Value(module, stored.value)):
            return True
    read = uses(module, bound)
    if any(isinstance(use.up, ast.Call) and _MAKING.fullmatch(last_word(use.up.func)) for use in read):
        return False  # an array, of which a tensor is made
    return any(isinstance(use.up, ast.Attribute) and _is_read_of_tensors(use.up) for use in read)


def _is_read_of_tensors(read: ast.Attribute) -> bool:
    """`x.shape`, `x.size(0)`; `batch.size` alone may be a field."""
    is_called = isinstance(read.up, ast.Call) and read.up.func is read
    return read.attr in _READ_OF_TENSORS and (is_called or read.attr in CUTTING_ATTRIBUTES)


def _is_on_the_cpu(value: ast.expr) -> bool:
    """`index.long().cpu()`: its device is not that of the others."""
    while isinstance(value, ast.Call):
        if last_word(value.func) == "cpu":
            return True
        value = receiver(value)
    return False


def _is_asked(module: Module, bound: ast.AST) -> bool:
    """Does a test ask what it is, `if x is None`, `isinstance(x, list)`? Then it may be another thing."""
    return any(
        isinstance(use.up, ast.BoolOp)
        or isinstance(use.up, (ast.If, ast.IfExp))
        and use.up.test is use
        or isinstance(use.up, ast.UnaryOp)
        and isinstance(use.up.op, ast.Not)
        or isinstance(use.up, ast.Compare)
        and isinstance(use.up.ops[0], (ast.Is, ast.IsNot))
        or isinstance(use.up, ast.Call)
        and last_word(use.up.func) in _ASKING
        for use in uses(module, bound)
    )
