"""What certainly stands in a list or dict: what is written into it, and what statements of its function put there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.answers.collected import gone_through
from torchlint.source.flow.changed import changes_of, names_of, only_appended
from torchlint.source.flow.flow import origins
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function
from torchlint.source.text.spelling import unparsed

_DEPTH = 4  # lists of what stands in lists
_COPIES = ("list", "tuple")


def held_in(container: Value, depth: int = _DEPTH) -> Iterator[Value]:
    """Expressions whose values stand in what `losses`, `losses.values()` or `[w * losses[k] for k in losses]` is."""
    for made in origins(container) if depth else ():
        node = made.node
        if made.path:
            continue
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            yield from _computed_of(made.at(node.elt, ()), depth)
        elif isinstance(node, ast.List):
            only = only_appended(made)
            yield from (made.at(part, ()) for part in ([only] if only is not None else node.elts))
        elif isinstance(node, ast.Dict):
            yield from (made.at(part, ()) for part in (*node.values, *_stored_in(made)))
        elif isinstance(node, ast.Call) and _is_of_values(node):
            yield from held_in(made.at(node.func.value, ()), depth - 1)
        elif isinstance(node, ast.Call) and unparsed(node.func) in _COPIES and len(node.args) == 1:
            yield from held_in(made.at(node.args[0], ()), depth - 1)


def _is_of_values(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "values" and not call.args


def _stored_in(table: Value) -> Iterator[ast.expr]:
    """`losses[name] = criterion(…)` of the dict that is made here"""
    function = enclosing_function(table.node)
    for name in names_of(table):
        for change in changes_of(table.module.index, name):
            store = change.up
            if isinstance(change, ast.Subscript) and isinstance(store, ast.Assign) and store.targets == [change]:
                if enclosing_function(change) is function:
                    yield store.value


def _computed_of(part: Value, depth: int) -> Iterator[Value]:
    """What `0.5 * loss + losses[name]` is computed of, where a comprehension goes through what holds it."""
    node = part.node
    if isinstance(node, ast.BinOp):
        yield from _computed_of(part.at(node.left, ()), depth)
        yield from _computed_of(part.at(node.right, ()), depth)
    elif isinstance(node, ast.UnaryOp):
        yield from _computed_of(part.at(node.operand, ()), depth)
    elif isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        yield from held_in(part.at(node.value, ()), depth - 1)
    elif isinstance(node, ast.Name) and (through := gone_through(node)) is not None:
        made = origins(part.at(through, ()))  # of a dict they are its keys
        if all(isinstance(o.node, ast.List) or isinstance(o.node, ast.Call) and _is_of_values(o.node) for o in made):
            yield from held_in(part.at(through, ()), depth - 1)
