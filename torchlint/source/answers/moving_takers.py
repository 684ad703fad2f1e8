"""Whether all who are given a tensor move it to a device themselves, so that it does not matter where it was."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator

from torchlint.facts import fact, named, words
from torchlint.source.flow.calling import Callee
from torchlint.source.flow.flow import callees
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.signatures import bound_argument
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import has_stars, parameters_of, statement_of

_DEEPEST = 4  # from a name, or a function, to the next
_PASSED_ON = words(named("same_numbers", home="."))  # `x.view(-1, 1)` is moved as well as `x`


def is_moved_by_takers(module: Module, name: ast.Name) -> bool:
    """Is a tensor read again, and only by who moves it before anything else, here or in functions of the project?"""
    scope = name.at.lookup(name.id)
    bound = reaching(name, scope) if scope is not None else []
    reads = (_from(name, uses(module, one)) for one in bound if isinstance(one, (ast.Name, ast.arg)))
    moved = (_is_moved(module, use, _DEEPEST) for read in reads for use in read)
    return next(moved, False) and all(moved)


def _from(name: ast.Name, read: list[ast.Name]) -> Iterator[ast.Name]:
    """Those reads of a name that stand behind one of them."""
    after = range(bisect_left(read, statement_of(name).pos, key=lambda use: use.pos), len(read))
    return (read[i] for i in after if read[i] is not name and read[i].lineno >= name.lineno)


def _is_moved(module: Module, use: ast.expr, depth: int) -> bool:
    """Does one place that reads it only move it, or ask what holds on each device?"""
    node, call = use, use.up
    while isinstance(node.up, ast.Attribute):
        attribute, call = node.up, node.up.up
        if (
            attribute.attr == "shape"
            or (row := fact("." + attribute.attr)) is not None
            and row.gives in ("number", "size")
        ):
            return True
        if not isinstance(call, ast.Call) or call.func is not attribute or attribute.attr not in _PASSED_ON:
            return False
        if _moves(module, call):
            return not isinstance(call.up, ast.Expr)
        node = call
    up = node.up
    if isinstance(up, ast.Compare):
        return all(isinstance(op, (ast.Is, ast.IsNot)) for op in up.ops)
    if depth == 0:
        return False
    if isinstance(up, ast.Assign) and up.value is node:
        [target] = up.targets if len(up.targets) == 1 else [None]
        return isinstance(target, ast.Name) and all(_is_moved(module, u, depth - 1) for u in uses(module, target))
    call = up.up if isinstance(up, ast.keyword) else up
    return isinstance(call, ast.Call) and call.func is not node and _is_moved_in(module, call, node, use, depth)


def _moves(module: Module, call: ast.Call) -> bool:
    """`x.cuda()`, `x.to(self.device)`"""
    said = " ".join(module.segment(a).lower() for a in (*call.args, *(k.value for k in call.keywords)))
    return call.func.attr == "cuda" or call.func.attr == "to" and ("dev" in said or "cuda" in said)


def _is_moved_in(module: Module, call: ast.Call, given: ast.expr, use: ast.expr, depth: int) -> bool:
    """Do the functions that a call may run move what they are given? Of several objects of which each has a branch of
    its own, those are meant that take as many, and whose parameter has the name of what is given.
    """
    value = Value(module, call)
    taken = [(callee, _parameter(callee, value, given)) for callee in callees(value) if not _takes_fewer(callee, call)]
    if not taken or any(parameter is None for _, parameter in taken):
        return False
    alike = [(c, p) for c, p in taken if isinstance(use, ast.Name) and p.arg == use.id]
    return all(_is_moved(c.module, read, depth - 1) for c, p in alike or taken for read in uses(c.module, p))


def _takes_fewer(callee: Callee, call: ast.Call) -> bool:
    if not isinstance(callee.function, ast.FunctionDef) or has_stars(call) or callee.function.args.vararg is not None:
        return False
    arguments = callee.function.args
    return len(call.args) > len(arguments.posonlyargs) + len(arguments.args) - (callee.instance is not None)


def _parameter(callee: Callee, call: Value, given: ast.expr) -> ast.arg | None:
    if callee.module is None or not isinstance(callee.function, ast.FunctionDef):
        return None
    for parameter in parameters_of(callee.function):
        bound = bound_argument(callee.function, parameter, call, callee.instance is not None)
        if bound is not None and bound.node is given:
            return parameter
    return None
