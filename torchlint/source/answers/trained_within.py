"""Whether a block trains round after round: what it holds, or what it calls."""

from __future__ import annotations

import ast
from itertools import islice

from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import callees
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function
from torchlint.source.training.loops import trains_once
from torchlint.source.training.regions import loops_around

_FEW = 12  # calls in a block that are looked into


def trains_within(block: Value) -> bool:
    """Is there a backward in it that a loop repeats, around it or inside, or around the calls of its function? Or does
    it call what has one?
    """
    module, node = block.module, block.node
    if any(True for _ in module.index.calls_of("backward", inside=node)):
        return _goes_round(module, node) or _is_called_again(module, enclosing_function(node))
    calls = islice(module.index.inside(node, ast.Call), _FEW)
    run = (callee for call in calls for callee in callees(block.at(call, ())))
    return any(one.module and one.function is not None and _goes_round(one.module, one.function) for one in run)


@remembered
def _goes_round(module: Module, around: ast.AST) -> bool:
    backwards = module.index.calls_of("backward", inside=around)
    return any(not trains_once(module, loop) for call in backwards for loop in loops_around(call)[-1:])


@remembered
def _is_called_again(module: Module, function: ast.AST | None) -> bool:
    if function is None:
        return False
    callers = callers_of(module, function, method_class(module, function))
    return any(loops_around(call.node) for call in callers)
