"""Which layers of an nn.Sequential certainly follow each other, however it is written or filled."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.calling import sequential_layers
from torchlint.source.flow.changed import changes_of, names_of
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import block_of, enclosing_function, last_word, statement_of, within

Pairs = Iterator[tuple[Value, Value]]
_FILLING = frozenset(("append", "extend", "add_module", "register_module"))


def neighbours(made: Value) -> Pairs:
    """Those of `nn.Sequential(…)`, as it is made or filled in the same function."""
    layers = sequential_layers(made)
    yield from ((a, b) for a, b in zip(layers, layers[1:]) if not a.unknown and not b.unknown)
    function = enclosing_function(made.node)
    for name in names_of(made):
        yield from filled(made.module, name, function)
    given = made.node.args[0] if len(made.node.args) == 1 else None
    given = given.value if isinstance(given, ast.Starred) else given
    if isinstance(given, ast.Name) and (start := _start(made, given)) is not None:
        yield from filled(made.module, given.id, function, start)


def filled(module: Module, name: str, function: ast.AST | None, start: ast.AST | None = None) -> Pairs:
    """Those that a function puts into what goes by a name, one after the other: `net.append(…)`, `layers += […]`,
    `parts["norm"] = …`, `self.add_module("norm", …)`, behind those of the list that it starts with.
    """
    changes = [change for change in changes_of(module.index, name) if enclosing_function(change) is function]
    put = {change: _put(change) for change in changes}
    if isinstance(start, (ast.List, ast.Tuple)):
        put[start] = start.elts
    if None in put.values():
        return
    index, word = module.index, name.rpartition(".")[2]
    anew = [n for n in (index.stored(word) if "." in name else index.names(name)) if not isinstance(n.ctx, ast.Load)]
    for change, layers in put.items():
        following = _next(change, [*changes, *(n for n in anew if not isinstance(n.up, ast.AugAssign))])
        if following not in put:
            following = None
        layers = [*layers, *(put[following][:1] if following is not None else ())]
        yield from ((Value(module, a), Value(module, b)) for a, b in zip(layers, layers[1:]))


def _put(change: ast.AST) -> list[ast.expr] | None:
    """The layers that a change puts behind the others; None where nobody can tell."""
    if isinstance(change, ast.Call) and change.func.attr in _FILLING:
        if change.func.attr != "extend":
            return change.args[-1:] if change.args and not change.keywords else None
        added = change.args[0] if len(change.args) == 1 else None
    elif isinstance(change, ast.AugAssign) and isinstance(change.op, ast.Add):
        added = change.value
    elif isinstance(change, ast.Subscript) and isinstance(change.up, ast.Assign):
        return [change.up.value] if isinstance(change.slice, (ast.Constant, ast.JoinedStr)) else None
    else:
        return None
    return added.elts if isinstance(added, (ast.List, ast.Tuple)) else [ast.Constant(None)]


def _next(change: ast.AST, changes: list[ast.AST]) -> ast.AST | None:
    """The change that a later statement of the same block makes, with none in between."""
    block, place = block_of(statement_of(change))
    for statement in block[place + 1 :]:
        inside = [other for other in changes if within(other, statement)]
        if inside:
            return inside[0] if len(inside) == 1 and statement_of(inside[0]) is statement else None
    return None


def _start(made: Value, name: ast.Name) -> ast.AST | None:
    """The list or dict of the same function, empty or not, that is filled and given to this one Sequential, and no
    more.
    """
    function = enclosing_function(made.node)
    named = [n for n in made.module.index.names(name.id) if enclosing_function(n) is function and n is not name]
    stores = [n for n in named if isinstance(n.ctx, ast.Store) and not isinstance(n.up, ast.AugAssign)]
    if len(stores) != 1 or not isinstance(stores[0].up, ast.Assign) or not all(map(_fills, named)):
        return None
    return stores[0].up.value


def _fills(use: ast.Name) -> bool:
    around = use.up
    if isinstance(around, ast.Attribute):
        return around.attr in _FILLING
    if isinstance(around, ast.Subscript):
        return around.value is use and isinstance(around.ctx, ast.Store)
    if isinstance(around, ast.Call):
        return last_word(around.func) == "len"
    return not isinstance(use.ctx, ast.Load)
