"""Losses that are computed past DistributedDataParallel, which then does not average the gradients of the ranks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.graphs import graph, loss_of
from torchlint.source.training.regions import runs_without_grad, tests_around
from torchlint.source.training.sameness import identity

WRAPPER = "torch.nn.parallel.DistributedDataParallel"
_BY_HAND = re.compile(
    r"all_?reduce\w*\([^)\n]*grad|all_?reduce\w*param|(?:reduce|average|sync|aggregate|allreduce)\w*_?grad",
    re.IGNORECASE,
)
_OF_RANKS = re.compile(r"distribut|world|rank|ddp|parallel|gpu|single|debug", re.IGNORECASE)


class PassedBy(NamedTuple):
    call: Value  # `ddp.module(x)`, or `net(x)` behind `ddp = DistributedDataParallel(net)`
    called: ast.expr
    wrapper: ast.expr  # `ddp`
    wrapping: Value


def passed_by(module: Module, backward: ast.Call) -> PassedBy | None:
    """The call of a model past its wrapper from which a backward has its gradients, where none goes through one."""
    loss = loss_of(module, backward)
    if loss is None or module.finds(_BY_HAND):
        return None
    behind = list(_calls_behind(loss))
    if any(_wrapping_of(call.at(call.node.func, ())) for call in behind):
        return None
    past = (found for call in behind if (found := _through_module(call) or _before_it_was_put_in(call)) is not None)
    return next((found for found in past if not _depends_on_ranks(found.call, backward)), None)


def _is_wrapping(made: Value) -> bool:
    is_call = isinstance(made.node, ast.Call) and not made.path
    return is_call and any(callee.name == WRAPPER for callee in callees(made))


def _wrapping_of(called: Value) -> Value | None:
    """`DistributedDataParallel(net)` that an object may be."""
    return next(filter(_is_wrapping, origins(called)), None)


def _calls_behind(loss: Value) -> Iterator[Value]:
    """The calls in the graph of a loss, and those from within which its gradients come."""
    seen = set()
    for node in graph(loss).nodes.values():
        around: Value | None = node
        while around is not None:
            call = around.at(around.node, ())
            if isinstance(call.node, ast.Call) and call.key not in seen:
                seen.add(call.key)
                yield call
            around = around.frame.outside if around.frame is not None else None


def _through_module(call: Value) -> PassedBy | None:
    """`ddp.module(x)`, `ddp.module.loss(x)`"""
    func = call.node.func
    inner = func.value if isinstance(func, ast.Attribute) and func.attr != "module" else func
    if not isinstance(inner, ast.Attribute) or inner.attr != "module":
        return None
    made = _wrapping_of(call.at(inner.value, ()))
    return PassedBy(call, func, inner.value, made) if made is not None else None


def _before_it_was_put_in(call: Value) -> PassedBy | None:
    """`net(x)` behind `ddp = DistributedDataParallel(net)`"""
    func = call.node.func
    if not isinstance(func, (ast.Name, ast.Attribute)):
        return None
    for wrapping in _wrappings(call.module).get((enclosing_function(call.node), unparsed(func)), ()):
        target = _only_target(wrapping.node)
        if target is None or call.node.pos <= wrapping.node.pos:
            continue
        mine, inside = identity(call.at(func, ())), identity(wrapping.at(wrapping.node.args[0], ()))
        if mine and mine.keys() == inside.keys():
            return PassedBy(call, func, target, wrapping)
    return None


@remembered
def _wrappings(module: Module) -> dict[tuple[ast.AST | None, str], list[Value]]:
    """Those of each function, by what is put in, as it is written."""
    found: dict[tuple[ast.AST | None, str], list[Value]] = {}
    for call in (*module.index.callers("DistributedDataParallel"), *module.index.callers("DDP")):
        if call.args and _is_wrapping(made := Value(module, call)):
            found.setdefault((enclosing_function(call), unparsed(call.args[0])), []).append(made)
    return found


def _only_target(wrapping: ast.Call) -> ast.expr | None:
    """`ddp` of `ddp = DistributedDataParallel(net)`, which is not `net` itself"""
    assigned = wrapping.up
    if not isinstance(assigned, ast.Assign) or len(assigned.targets) > 1:
        return None
    [target] = assigned.targets
    is_other = isinstance(target, (ast.Name, ast.Attribute)) and unparsed(target) != unparsed(wrapping.args[0])
    return target if is_other else None


def _depends_on_ranks(call: Value, backward: ast.Call) -> bool:
    """Is it for one process: `if not args.distributed:`?"""
    tests = [*tests_around(call.node), *tests_around(backward)]
    return runs_without_grad(call) or any(_OF_RANKS.search(unparsed(test)) for test, _ in tests)
