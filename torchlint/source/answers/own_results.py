"""Whether a result belongs to its one name alone, and may be made anew there where it was changed in place."""

from __future__ import annotations

import ast

from torchlint.facts import FACTS
from torchlint.facts.rows import Fact
from torchlint.source.flow.flow import callees
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import MAX_BINDINGS, reaching
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.training.dtypes import dtype
from torchlint.source.training.graphs import CUTTING_ATTRIBUTES

_COMPUTING = (ast.BinOp, ast.UnaryOp, ast.Compare)


def is_remade(module: Module, change: ast.AugAssign, made: ast.AST) -> bool:
    """Does `y = y + a` leave the program as `y += a` does: the same dtype, and nobody else who has the old `y`?

    `made` is the call of which the tensor is the result.
    """
    name = change.target
    return isinstance(name, ast.Name) and _keeps_its_dtype(module, change) and _is_of_one_name(module, name, made)


def _keeps_its_dtype(module: Module, change: ast.AugAssign) -> bool:
    """A number changes no dtype; of float64 beside float32 in place float32 is made, and else float64."""
    value = change.value.operand if isinstance(change.value, ast.UnaryOp) else change.value
    if isinstance(value, ast.Constant):
        return isinstance(value.value, (int, float))
    own, other = (dtype(Value(module, side)) for side in (change.target, change.value))
    return own is not None and own == other


def _is_of_one_name(module: Module, name: ast.Name, made: ast.AST) -> bool:
    """Is that name alone given the result, and is what reads it before the change through with it then?"""
    scope = name.at.lookup(name.id)
    if scope is None or scope is not name.at or len(scope.bindings[name.id]) > MAX_BINDINGS:
        return False  # another function may read it at any time
    for bound in reaching(name, scope):
        given = getattr(bound, "up", None)
        if not isinstance(given, ast.Assign) or given.targets != [bound] or given.value is not made:
            return False  # an element of a list, a part of a tuple
        reads = uses(module, bound)
        if not all(read.at is scope and (read.pos > name.pos or _is_consumed(module, read)) for read in reads):
            return False
    return True


def _is_consumed(module: Module, read: ast.Name) -> bool:
    """Is something new computed of it, so that nobody has the tensor itself, or a view of it?"""
    up = read.up
    if isinstance(up, _COMPUTING):
        return True
    if isinstance(up, ast.Attribute) and isinstance(up.up, ast.Call) and up.up.func is up and not _is_asked(up):
        return _makes_anew(module, up.up)
    if isinstance(up, ast.Attribute):
        return _is_asked(up)
    return isinstance(up, ast.Call) and up.func is not read and _makes_anew(module, up)


def _is_asked(read: ast.Attribute) -> bool:
    """Does it give something else than a tensor of the same memory?"""
    return read.attr in CUTTING_ATTRIBUTES and read.attr not in ("data", "grad", "numpy")


def _makes_anew(module: Module, call: ast.Call) -> bool:
    facts = [FACTS.get(one.name or "") for one in callees(Value(module, call))]
    return bool(facts) and all(one is not None and not _shares(one) for one in facts)


def _shares(one: Fact) -> bool:
    return one.view or one.may_view or one.itself or one.in_place or one.inplace
