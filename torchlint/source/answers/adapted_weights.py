"""Weights that an inner loop adapts by gradients whose graph it has asked for, and that it cuts off at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.uses import reads
from torchlint.source.flow.values import Value
from torchlint.source.text.index import COMPREHENSIONS, ancestors, last_word, statement_of
from torchlint.source.text.spelling import argument


def cut_adaptations(grads: Value) -> Iterator[ast.Call]:
    """The `.detach()` of `[(w - rate * g).detach() for w, g in zip(weights, grads)]`, where that is all that is
    done with the gradients whose graph was asked for.
    """
    asked, statement = argument(grads.node, "create_graph"), statement_of(grads.node)
    if asked is None or getattr(asked, "value", True) in (False, None) or not isinstance(statement, ast.Assign):
        return
    if (
        len(statement.targets) != 1
        or statement.value is not grads.node
        or not isinstance(statement.targets[0], ast.Name)
    ):
        return
    found = [_cut_in(use) for use in reads(grads.module, statement.targets[0])]
    if found and all(cut is not None for cut in found):
        yield from (cut for cut in found if cut is not None)


def _cut_in(use: ast.expr) -> ast.Call | None:
    """Is it gone through beside the weights, and is each difference of the two cut off?"""
    over = use.up
    part = over.up if isinstance(over, ast.Call) and last_word(over.func) == "zip" and use in over.args else None
    around = part.up if isinstance(part, ast.comprehension) else None
    if not isinstance(around, COMPREHENSIONS) or not isinstance(part.target, ast.Tuple) or len(around.generators) > 1:
        return None
    own = part.target.elts[over.args.index(use)] if len(part.target.elts) == len(over.args) else None
    made = around.value if isinstance(around, ast.DictComp) else around.elt
    places = [n for n in ast.walk(made) if isinstance(n, ast.Name) and isinstance(own, ast.Name) and n.id == own.id]
    cuts = [_cut_around(place, made) for place in places]
    return cuts[0] if len(cuts) == 1 else None


def _cut_around(place: ast.Name, made: ast.expr) -> ast.Call | None:
    """`(w - rate * g).detach()` of `g`"""
    inner: ast.AST = place
    for one in ancestors(place):
        call = one.up if isinstance(one, ast.Attribute) and one.attr == "detach" else None
        if isinstance(call, ast.Call) and isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub):
            return call
        if inner is made:
            return None
        inner = one
    return None
