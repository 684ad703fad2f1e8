"""What operators compute and nobody takes: `mask * weights` as a statement, `- entropy` on the line below its sum."""

from __future__ import annotations

import ast
from itertools import islice
from typing import NamedTuple

from torchlint.source.answers.lost_joins import is_timed
from torchlint.source.flow.calling import Callee
from torchlint.source.flow.choices import exclusive
from torchlint.source.flow.flow import callees, objects
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import block_of, within
from torchlint.source.training.regions import loops_around

_COMPUTING = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.MatMult, ast.Pow)
_METHODS = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.Div: "__truediv__",
    ast.FloorDiv: "__floordiv__",
    ast.MatMult: "__matmul__",
    ast.Pow: "__pow__",
}
_TRYING = (ast.Module, ast.ClassDef, ast.With, ast.AsyncWith, ast.Try, ast.ExceptHandler)
_MOST_BOUND, _MOST_USES = 4, 16  # of a name that are looked at: all others may be in other branches
_TAKING = (ast.Assign, ast.AugAssign, ast.AnnAssign)


class LostSum(NamedTuple):
    """What is wrong with a sum that stands alone: what it was to be added to, or what was to take it."""

    of: ast.stmt | None
    kept_in: ast.Name | None


def lost_sum(module: Module, statement: ast.Expr) -> LostSum | None:
    """Whether a statement that only computes was to do more, as far as that is certain."""
    value, block = statement.value, block_of(statement)
    if isinstance(statement.up, _TRYING) or not _computes(value) or is_timed(module):
        return None
    first, (statements, at) = _first(value), block
    before = statements[at - 1] if at else None
    if isinstance(first, ast.UnaryOp):
        return LostSum(before, None) if isinstance(before, _TAKING) and before.value is not None else None
    name = first.value if isinstance(first, ast.Subscript) else first
    if not isinstance(name, ast.Name) or _is_done_again(statement) or _has_operators(module, name, value):
        return None
    if isinstance(value.op, ast.Sub) or not _is_read_on(module, name, statement):  # `end - start` is no new `end`
        return LostSum(None, None) if len(statements) == 1 and isinstance(statement.up, ast.If) else None
    return LostSum(None, first if isinstance(first, ast.Name) else None)


def _computes(value: ast.expr) -> bool:
    if isinstance(value, ast.UnaryOp):
        return isinstance(value.op, (ast.UAdd, ast.USub)) and not isinstance(value.operand, ast.Constant)
    return isinstance(value, ast.BinOp) and isinstance(value.op, _COMPUTING) and not _is_text(value.right)


def _is_done_again(statement: ast.Expr) -> bool:
    """`for _ in range(3): a @ b`, to get warm: the same each time, and nothing else"""
    loop = statement.up
    if not isinstance(loop, ast.For) or len(loop.body) > 1 or not isinstance(loop.target, ast.Name):
        return False
    return all(one.id != loop.target.id for one in ast.walk(statement) if isinstance(one, ast.Name))


def _has_operators(module: Module, name: ast.Name, value: ast.expr) -> bool:
    """May it be an object with operators of its own, `pipeline + stage`, which may do anything?"""
    method = _METHODS.get(type(getattr(value, "op", None)), "")
    if module.index.functions_called(method):
        return True
    made = [first for one in objects(Value(module, name)) for first in _first_of(one, value)]
    return any(_has_own(callee, method) for one in made if isinstance(one.node, ast.Call) for callee in callees(one))


def _first_of(made: Value, value: ast.expr) -> list[Value]:
    """What begins a chain of the same operator, `Source(data) ** Scale(2)`, is what `**` is asked of."""
    if isinstance(made.node, ast.BinOp) and type(made.node.op) is type(getattr(value, "op", None)):
        return objects(made.at(_first(made.node), ()))
    return [made]


def _has_own(callee: Callee, method: str) -> bool:
    """Does it make an object of a class of the project that has the operator, or of one that nobody has seen whole?"""
    if callee.owner is not None:
        return callee.owner.method(method) is not None or bool(callee.owner.unseen)
    library = callee.name.partition(".")[0]
    return (
        callee.kind == "external" and callee.name.rpartition(".")[2][:1].isupper() and library not in ("torch", "numpy")
    )


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or isinstance(node, ast.Constant) and isinstance(node.value, str)


def _first(value: ast.expr) -> ast.expr:
    """`mask` of `mask * weights / 2`"""
    while isinstance(value, ast.BinOp):
        value = value.left
    return value


def _is_read_on(module: Module, name: ast.Name, statement: ast.stmt) -> bool:
    """Is what the name stands for read after it, or in the next round of the loop around it?"""
    scope = name.at.lookup(name.id)
    bound = reaching(name, scope) if scope is not None and scope is name.at else []
    stored = [one for one in bound[:_MOST_BOUND] if isinstance(one, (ast.Name, ast.arg))]
    loops = loops_around(statement)
    later = (use for one in stored for use in uses(module, one) if _stands_after(use, statement, one, loops))
    return any(not exclusive(use, statement) for use in islice(later, _MOST_USES))


def _stands_after(use: ast.Name, statement: ast.stmt, bound: ast.AST, loops: list[ast.AST]) -> bool:
    if within(use, statement):
        return False
    return use.pos > statement.pos or bool(loops) and within(use, loops[-1]) and not within(bound, loops[-1])
