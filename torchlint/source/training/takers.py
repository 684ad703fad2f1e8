"""What takes a result: the calls and operators to which it comes, through names, returns, dropout and what moves it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from torchlint.facts import named, named_of
from torchlint.source.flow.called import is_call_of
from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.uses import may_follow, reads
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function

PASSED_ON = named("same_numbers") | named_of("dropout")
_STEPS = 6  # of names and moves from the result on
_READS = 10  # of one name
_CALLERS = 5


def takers(result: Value, through: frozenset[str] = PASSED_ON, steps: int = _STEPS) -> Iterator[Value]:
    """Each call or operator that is given the numbers as they are; what it is there is for the caller to see."""
    node, up = result.node, getattr(result.node, "up", None)
    if steps == 0 or up is None:
        return
    if isinstance(up, (ast.keyword, ast.Starred, ast.IfExp, ast.NamedExpr)):
        node, up = (up, up.up) if getattr(up, "test", None) is not node else (node, None)
    if isinstance(up, (ast.List, ast.Tuple)) and isinstance(up.up, ast.Call):  # of what is joined
        node, up = up, up.up
    if isinstance(up, ast.Attribute) and isinstance(up.up, ast.Call) and up.up.func is up:
        up = up.up
    if isinstance(up, ast.Call) and up.func is not node:
        taker = result.at(up, ())
        yield from takers(taker, through, steps - 1) if is_call_of(taker, through) else (taker,)
    elif isinstance(up, ast.BinOp):
        yield result.at(up, ())
    elif isinstance(up, (ast.Assign, ast.AnnAssign)):
        for target in up.targets if isinstance(up, ast.Assign) else [up.target]:
            for read in islice(reads(result.module, target), _READS):
                yield from takers(result.at(read, ()), through, steps - 1)
    elif isinstance(up, ast.Return) and (function := enclosing_function(up)) is not None:
        owner = method_class(result.module, function)
        for call in islice(callers_of(result.module, function, owner), _CALLERS):
            yield from takers(call, through, steps - 1)


def takers_of_changed(change: Value, name: ast.Name) -> Iterator[Value]:
    """The same of a tensor that a statement changes in place under a name: `scores.masked_fill_(mask, -1e9)`."""
    scope = name.at.lookup(name.id)
    bound = set(reaching(name, scope)) if scope is not None else set()
    later = [read for read in change.module.index.names(name.id) if read.pos > name.pos]
    for read in islice(later, _READS):
        if (
            isinstance(read.ctx, ast.Load)
            and may_follow(change.node, read)
            and not bound.isdisjoint(reaching(read, scope))
        ):
            yield from takers(change.at(read, ()), steps=_STEPS - 1)
