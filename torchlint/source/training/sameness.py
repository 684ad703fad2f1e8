"""Whether two expressions are one object: the places that make them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.flow import callees, objects
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.values import EACH, VALUE, Value
from torchlint.source.text.index import last_word
from torchlint.source.text.spelling import constant_key, dumped

_MAKES_NOTHING = frozenset("getattr values items get pop popitem popleft".split())  # it hands out what others have made


@remembered(meanwhile={})
def identity(value: Value) -> dict[tuple, Value]:
    """The places that make an object, whichever calls lead there; `None` is no object."""
    found = {}
    for origin in objects(value):
        if not (isinstance(origin.node, ast.Constant) and origin.node.value is None):
            # Nobody is seen to set it, or what hands it out is not known: its text says which it is.
            named = isinstance(origin.node, (ast.Name, ast.Attribute)) or _is_getter(origin)
            found[(dumped(origin.node) if named else id(origin.node), origin.path)] = origin
    return found


def _is_getter(origin: Value) -> bool:
    """`self.optimizers()`: a call without arguments of what is not known to make anything."""
    node = origin.node
    if not isinstance(node, ast.Call) or node.args or node.keywords or not isinstance(node.func, ast.Attribute):
        return False
    return all(
        c.kind != "class" and c.function is None and (not c.name or c.name.startswith(".")) for c in callees(origin)
    )


def are_distinct(a: Value, b: Value) -> bool:
    """Certainly two objects: made at different places, or different parameters of one function."""
    first, second = identity(a), identity(b)
    if are_other_elements(a, b):
        return True
    if not first or not second or first.keys() & second.keys():
        return False
    nodes = [*first.values(), *second.values()]
    if all(isinstance(o.node, ast.Call) for o in nodes):
        if any(last_word(o.node.func) in _MAKES_NOTHING for o in nodes):
            return False
        return not any(_may_be_one(one, other) for one in first.values() for other in second.values())
    if all(isinstance(o.node, ast.arg) for o in nodes):
        return len({id(o.node.up) for o in nodes}) == 1
    if all(isinstance(o.node, ast.Attribute) for o in nodes):  # self.opt_g and self.opt_d, wherever they are set
        return len({dumped(o.node.value) for o in nodes}) == 1 and len({o.node.attr for o in nodes}) == len(nodes)
    return False


def _may_be_one(a: Value, b: Value) -> bool:
    """`self.optimizers()[1]` and one of `for opt in self.optimizers()`: may two parts of what is made be the same?"""
    if a.node is not b.node and not (_is_getter(a) and _is_getter(b) and dumped(a.node) == dumped(b.node)):
        return False
    steps = (*a.path, *b.path)
    return len(a.path) != len(b.path) or any(s in (EACH, VALUE) or isinstance(s, int) and s < 0 for s in steps)


def are_other_elements(a: Value, b: Value) -> bool:
    """`optimizers["G"]` and `optimizers["D"]` of one comprehension, which makes another object in each of its rounds"""
    mine, other = key_of(a), key_of(b)
    if mine is None or other is None or mine == other or type(mine) is not type(other):
        return False
    made = [*identity(a).values(), *identity(b).values()]
    return len({id(origin.node) for origin in made}) == 1 and comprehension_of(made[0]) is not None


def key_of(value: Value) -> int | str | None:
    """`"G"` of `optimizers["G"]`, also where that goes by a name."""
    node = value.node
    if isinstance(node, ast.Name) and (scope := node.at.lookup(node.id)) is not None:
        bound = scope.bindings[node.id]
        assign = bound[0].up if len(bound) == 1 else None
        node = assign.value if isinstance(assign, ast.Assign) else node
    key = constant_key(node.slice) if isinstance(node, ast.Subscript) else None
    return None if isinstance(key, int) and key < 0 else key


def comprehension_of(made: Value) -> ast.ListComp | ast.DictComp | None:
    """The comprehension whose elements a call makes."""
    node = made.node
    while isinstance(node, ast.Call) and not made.path:
        if isinstance(node.up, ast.ListComp) or isinstance(node.up, ast.DictComp) and node is node.up.value:
            return node.up
        node = node.up.up if isinstance(node.up, ast.Attribute) else node.up  # `Net().to(device)`
    return None


def is_same(a: Value | None, b: Value) -> bool:
    if a is None or are_other_elements(a, b):
        return False
    first, second = identity(a), identity(b)
    return any(not of_two_calls(first[key], second[key]) for key in first.keys() & second.keys())


def of_two_calls(a: Value, b: Value) -> bool:
    """`student, teacher = create(), create()`: one place makes them, and each call makes its own, however deep the
    place lies below the two calls.
    """
    return any(one is not other for one, other in zip(_calls_to(a), _calls_to(b)))


def _calls_to(made: Value) -> Iterator[ast.AST]:
    frame = None if isinstance(made.node, ast.arg) else made.frame
    while frame and frame.call:
        yield frame.call.node
        frame = frame.call.frame
