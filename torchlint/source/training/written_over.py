"""Whether the numbers of a tensor are changed in place under a name that it has: what made it no longer says them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlint.facts import named, words
from torchlint.source.flow.changed import changes_of
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, statement_of
from torchlint.source.text.spelling import argument, dotted

_LEAVES_NUMBERS = words(named("same_numbers"))


def is_written_over(call: Value, name: str, made: Iterable[Value]) -> bool:
    """`p.sigmoid_()`, `torch.sigmoid_(p)`, `torch.sigmoid(p, out=p)`, `p[:] = …`, where `p` is what the first argument
    of a call is, or is given what was made.
    """
    given = argument(call.node, name, 0)
    return is_changed_by_name(call.at(given, ()) if given is not None else None, made)


def is_changed_by_name(used: Value | None, made: Iterable[Value]) -> bool:
    """The same of any expression, and of the names that are given what was made."""
    places = [(used, _root(used.node))] if used is not None else []
    for origin in made:
        statement = statement_of(origin.node)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        places += [(origin, target) for target in targets]
    return any((held := dotted(part)) is not None and _is_changed(place, held) for place, part in places)


def _root(node: ast.AST) -> ast.AST:
    """`p` of `p.squeeze(1).float()`"""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return node


def _is_changed(place: Value, name: str) -> bool:
    module, function = place.module, enclosing_function(place.node)
    changed = [c for c in changes_of(module.index, name) if isinstance(c, ast.Subscript)]
    return any(enclosing_function(change) is function for change in (*changed, *_in_place(module).get(name, ())))


@remembered
def _in_place(module: Module) -> dict[str, list[ast.Call]]:
    """The calls of a file that change what a dotted name holds in place, by that name."""
    found: dict[str, list[ast.Call]] = {}
    for call in module.index.calls:
        if not isinstance(call.func, ast.Attribute):
            continue
        word = call.func.attr
        taken = [k.value for k in call.keywords if k.arg == "out"]
        if word.endswith("_") and not word.endswith("__") and word not in _LEAVES_NUMBERS:
            taken += [call.func.value, *call.args[:1]]
        for name in filter(None, map(dotted, taken)):
            found.setdefault(name, []).append(call)
    return found
