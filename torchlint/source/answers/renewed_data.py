"""Loaders and samplers that each round of a loop makes over other data, so that no order comes twice."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.source.flow.changed import changes_of
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import callees
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.signatures import bound_argument, is_static
from torchlint.source.flow.values import Value, frame_of
from torchlint.source.text.index import COMPREHENSIONS, DEFINITIONS, enclosing_function, within
from torchlint.source.text.spelling import argument, dotted
from torchlint.source.training.events import Event

_PLAIN = ("torch.", "torchvision.", "torchaudio.", "datasets.", "numpy.", "builtins.")  # the same from the same
_DRAWS = re.compile(r"rand|sample|shuffle|perm|choice|split|next|Iterable")
MAX_STEPS = 200  # from the data of one sampler


def has_new_data(sampler: Value, loop: ast.AST, events: list[Event]) -> bool:
    """Is a sampler made in each round, and not seen to be made over what is the same in all?"""
    made = sampler
    if not _is_made_in(sampler, loop):
        here = [event.value for event in events if event.node is sampler.node]
        if sampler.frame is not None or not here:
            return False
        made = here[0]
    data = argument(made.node, "dataset", 0)
    return data is not None and _Round(loop, events).changes(made.at(data, ()))


def _is_made_in(value: Value | None, loop: ast.AST) -> bool:
    """Does the call that makes it, or one through which that is reached, stand in a loop?"""
    while value is not None:
        if within(value.node, loop):
            return True
        value = value.frame.call if value.frame else None
    return False


class _Round:
    """What one round of a loop changes of what expressions mean."""

    def __init__(self, loop: ast.AST, events: list[Event]):
        self.loop = loop
        self.seen: set[tuple] = set()
        self.helpers = [loop, *{id(h): h for event in events for h in event.helpers}.values()]

    def changes(self, value: Value) -> bool:
        """May an expression mean something else in each round, or is it not known?"""
        node = value.node
        if node is None or len(self.seen) > MAX_STEPS:
            return True
        if isinstance(node, ast.Name):
            return self._name(value)
        if isinstance(node, ast.Attribute):
            return self._is_set(value) or self.changes(value.at(node.value, ()))
        if isinstance(node, ast.Call):
            return self._call(value)
        return any(self.changes(value.at(part, ())) for part in _parts(node))

    def _name(self, value: Value) -> bool:
        scope = value.node.at.lookup(value.node.id)
        if scope is None:
            return False
        if self._is_set(value):
            return True
        return any(self._bound(value, binding) for binding in reaching(value.node, scope))

    def _bound(self, value: Value, binding: ast.AST) -> bool:
        frame = value.frame
        if isinstance(binding, ast.arg):
            if frame is None or frame.call is None or binding.up.up is not frame.function:
                return False  # whatever the function of the loop was given stays what it is
            is_bound = method_class(value.module, frame.function) is not None and not is_static(frame.function)
            given = bound_argument(frame.function, binding, frame.call, is_bound)
            return given is not None and self.changes(given)
        if not isinstance(binding, ast.Name):
            return False
        is_here = within(binding, self.loop)
        if not is_here and (frame is None or enclosing_function(binding) is not frame.function):
            return False  # made before the loop
        key = (id(binding), id(frame))
        if key in self.seen:
            return True  # made of what it was in the round before
        self.seen.add(key)
        statement = _binder(binding)
        if statement is self.loop or isinstance(statement, ast.AugAssign):
            return True
        if isinstance(statement, (ast.For, ast.comprehension)):
            answer = self.changes(value.at(statement.iter, ()))
        elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and statement.value is not None:
            answer = self.changes(value.at(statement.value, ()))
        else:
            answer = True
        self.seen.discard(key)
        return answer

    def _call(self, value: Value) -> bool:
        node = value.node
        given = [*(a.value if isinstance(a, ast.Starred) else a for a in node.args), *(k.value for k in node.keywords)]
        known = callees(value)
        if not known or any(self.changes(value.at(part, ())) for part in given):
            return True
        for callee in known:
            if callee.kind == "external":
                if not callee.name.startswith(_PLAIN) or _DRAWS.search(callee.name):
                    return True
            elif callee.kind == "function" and isinstance(callee.function, ast.FunctionDef):
                key = (id(node), id(value.frame))
                if key in self.seen or callee.function.yields:
                    return True
                self.seen.add(key)
                frame = frame_of(value.module, callee.function, value, callee.instance, callee.closure)
                if any(self.changes(Value(callee.module, part, frame)) for part in callee.function.gives):
                    return True
                self.seen.discard(key)
            elif callee.kind != "class":
                return True
        return False

    def _is_set(self, value: Value) -> bool:
        """Does a round give a name or an attribute another value, or change what it holds in place?"""
        node, index = value.node, value.module.index
        stores = index.stored(node.attr) if isinstance(node, ast.Attribute) else []
        places = [*stores, *changes_of(index, dotted(node) or "")]
        return any(within(place, helper) for place in places for helper in self.helpers)


def _parts(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions in one; of a comprehension what it goes through."""
    if isinstance(node, COMPREHENSIONS):
        yield from (part.iter for part in node.generators)
    elif not isinstance(node, DEFINITIONS):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield child
            elif isinstance(child, ast.keyword):
                yield child.value


def _binder(binding: ast.AST) -> ast.AST:
    """The statement or comprehension that gives a name its value: of `for (i, x) in rows` the loop."""
    around = binding.up
    while isinstance(around, (ast.Tuple, ast.List, ast.Starred)):
        around = around.up
    return around
