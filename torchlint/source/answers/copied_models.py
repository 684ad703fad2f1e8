"""Models that are copies of others: their mode is that of the other when they were made, and from then on their own."""

from __future__ import annotations

import ast

from torchlint.source.flow.flow import SAME_WEIGHTS, callees, origins
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function
from torchlint.source.training.acts import EVAL, OPAQUE, Act
from torchlint.source.training.modes import COPYING
from torchlint.source.training.regions import loops_around

MAX_SWITCHES = 20  # of other models, in one trace


def is_of_another(act: Act, model: Value) -> bool:
    """Is what an act is done to certainly another object, because one of the two is a copy?"""
    assert act.on is not None
    mine, theirs = (origins(one, SAME_WEIGHTS) for one in (model, act.on))
    if not any(map(_copies, (*mine, *theirs))) or not all(isinstance(o.node, ast.Call) for o in (*mine, *theirs)):
        return False
    return {origin.key for origin in mine}.isdisjoint(origin.key for origin in theirs)


def may_be_copied_in_eval_mode(model: Value, found: list[Act]) -> bool:
    """Is it a copy that may have been made when something else had been put in eval mode?"""
    copies = [origin.node for origin in origins(model, SAME_WEIGHTS) if _copies(origin)]
    if not copies:
        return False
    others = [act.event.here for act in found if act.role in (EVAL, OPAQUE) and act.on and is_of_another(act, model)]
    return len(others) > MAX_SWITCHES or any(
        loops_around(copy) or enclosing_function(copy) is not enclosing_function(other) or copy.lineno > other.lineno
        for copy in copies
        for other in others
    )


def _copies(origin: Value) -> bool:
    names = {callee.name for callee in callees(origin)} if isinstance(origin.node, ast.Call) else set()
    return bool(names) and names <= COPYING
