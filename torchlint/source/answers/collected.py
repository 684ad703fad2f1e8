"""Tensors that a loop has put into a list, each with its graph, and that are taken out of it again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.facts import fact, named
from torchlint.source.flow.changed import only_appended
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.values import Value
from torchlint.source.training.grads import requires_grad
from torchlint.source.training.regions import runs_without_grad
from torchlint.source.training.run_without_grad import may_run_without_grad

_JOINS = named("joins")


def collected_with_graph(tensor: Value) -> Value | None:
    """What the one `append` that fills a list puts there, if it certainly has a graph: for `torch.cat(kept)`, or for
    `t.cpu()` in `for t in kept`.
    """
    for element in _elements(tensor):
        if (
            requires_grad(element) is True
            and not runs_without_grad(element)
            and not may_run_without_grad(element.module, element.node)
        ):
            return element
    return None


def _elements(tensor: Value) -> Iterator[Value]:
    node = tensor.node
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        row = fact(f".{node.func.attr}")
        if row is None or not row.same_numbers or row.cuts or _is_of_torch(tensor.at(node, ())):
            break
        node = node.func.value
    if isinstance(node, ast.Call):
        kept = node.args[0] if node.args and _joins(tensor.at(node, ())) else None
    else:
        kept = gone_through(node)
    for origin in origins(tensor.at(kept, ())) if isinstance(kept, (ast.Name, ast.Attribute)) else ():
        element = only_appended(origin) if origin.node is not None and not origin.path else None
        if element is not None:
            yield origin.at(element, ())


def gone_through(name: ast.AST) -> ast.expr | None:
    """`kept` of `for t in kept`, where `t` is nothing else"""
    scope = name.at.lookup(name.id) if isinstance(name, ast.Name) else None
    bound = reaching(name, scope) if scope is not None else []
    round = bound[0].up if len(bound) == 1 else None
    return round.iter if isinstance(round, (ast.For, ast.comprehension)) and round.target is bound[0] else None


def _is_of_torch(call: Value) -> bool:
    """`torch.clone(t)` is no method."""
    return any(callee.kind != "method" for callee in callees(call))


def _joins(call: Value) -> bool:
    names = {callee.name for callee in callees(call)}
    return bool(names) and names <= _JOINS
