"""Collections and whether they forget: what is emptied now and then keeps nothing alive for long."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.source.flow.flow import callees
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_class, enclosing_function, last_word
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.acts import STEP, acts
from torchlint.source.training.regions import loops_around

_ALL_DATA = re.compile(r"\blen\(|batches")  # in the bound of a loop over indices


class Collecting(NamedTuple):
    place: ast.AST
    into: ast.expr
    added: list[ast.expr]
    counted: ast.AST | None = (
        None  # the loop whose counter says which slot is written: those of other loops are written again and again
    )
    held: str = ""  # where a method of `into` keeps it, as the caller would write it: `self.log_probs`
    inner: tuple[Module, ast.expr] | None = None  # where a function keeps it that is called as `into`, in its own words

    @property
    def holder(self) -> str:
        """What is emptied if it forgets."""
        return self.held or ast.unparse(base(self.into))


def base(node: ast.expr) -> ast.expr:
    """The name or attribute that holds a collection: `stats` of `stats["loss"]`, `stats.setdefault("loss", [])`."""
    while isinstance(node, ast.Subscript) or is_default(node):
        node = node.value if isinstance(node, ast.Subscript) else node.func.value
    return node


def is_default(node: ast.expr) -> bool:
    """`stats.setdefault("loss", [])`"""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "setdefault"
        and len(node.args) == 2
    )


def is_emptied(module: Module, place: Collecting, loop: ast.AST) -> bool:
    """Does it forget, each round or now and then? What a few counted rounds, or the parts of one step, collect and then
    is forgotten does no harm either.
    """
    if is_started_anew(module, place, loop.body) or forgets(module, place, loop):
        return True
    outside = [
        outer
        for outer in loops_around(loop)
        if is_started_anew(module, place, outer.body) or forgets(module, place, outer)
    ]
    if is_counted(loop) and _is_of_one_step(module, place, loop):
        return True
    return bool(outside) and (is_counted(loop) or not _steps(module, loop) and _steps(module, outside[0]))


def _is_of_one_step(module: Module, place: Collecting, loop: ast.AST) -> bool:
    """Does Lightning's `training_step`, which it calls for each batch, begin it anew?"""
    function = enclosing_function(loop)
    return getattr(function, "name", "") == "training_step" and is_started_anew(module, place, function.body)


def is_counted(loop: ast.AST) -> bool:
    """A loop of some rounds: `range(5)`, not `range(0, n, batch_size)` or `range(len(loader))`, which sees all data."""
    if isinstance(loop, ast.While):
        return True
    over = loop.iter
    if not isinstance(over, ast.Call) or last_word(over.func) not in ("range", "trange"):
        return False
    return len(over.args) < 3 and not _ALL_DATA.search(unparsed(over))


def _steps(module: Module, loop: ast.AST) -> bool:
    return any(act.role == STEP for act in acts(module, loop.body))


def forgets(module: Module, place: Collecting, around: ast.AST) -> bool:
    """`if done: memory.clear()`, `del losses[:]`, `if len(losses) > 10: losses.pop(0)`, `losses = losses[-10:]`,
    somewhere in a loop or function.
    """
    return not _forgotten_around(module, around).isdisjoint((ast.unparse(base(place.into)), place.holder))


def is_forgotten_elsewhere(module: Module, place: Collecting, method: ast.FunctionDef) -> bool:
    """Does another method of the class empty what an object holds, or somebody who has the object?"""
    others = [m for m in enclosing_class(method).body if isinstance(m, ast.FunctionDef) and m is not method]
    name = f".{last_word(base(place.into))}"
    return any(forgets(module, place, other) for other in others if other.name != "__init__") or any(
        text.endswith(name) and not text.startswith("self.") for text in _forgotten_in(module, module.tree)
    )


@remembered
def _forgotten_around(module: Module, around: ast.AST) -> set[str]:
    """What a loop or function empties, itself or by what it calls."""
    calls = {unparsed(node): node for node in ast.walk(around) if isinstance(node, ast.Call)}  # the same empty the same
    texts = {text for node in ast.walk(around) for text in _forgotten(node)}
    return texts.union(*(_forgotten_by(module, call) for call in calls.values()))


def _forgotten_by(module: Module, call: ast.Call) -> Iterator[str]:
    """What a method or function empties that is called here, as the caller would write it."""
    for callee in callees(Value(module, call)):
        function = callee.function
        if not isinstance(function, ast.FunctionDef) or function.name == "__init__":
            continue
        is_method = callee.owner is not None and isinstance(call.func, ast.Attribute)
        me = [call.func] if callee.kind == "object" else [call.func.value] if is_method else []
        given = [*me, *call.args]
        names = {p.arg: unparsed(node) for p, node in zip(function.args.args, given)}
        for text in _forgotten_in(callee.module, function):
            root, dot, rest = text.partition(".")
            if root in names and (dot or not text.isidentifier()):
                yield names[root] + dot + rest
            elif dot and callee.module is module and root not in function.scope.bindings:
                yield text


@remembered
def _forgotten_in(module: Module, around: ast.AST) -> frozenset[str]:
    return frozenset(text for node in ast.walk(around) for text in _forgotten(node))


def _forgotten(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in ("clear", "reset", "pop", "popleft", "popitem", "remove"):
            yield ast.unparse(node.func.value)
    elif isinstance(node, ast.Delete):
        yield from (ast.unparse(base(target)) for target in node.targets)
    elif isinstance(node, ast.Assign):
        for outer in node.targets:
            for target in getattr(outer, "elts", [outer]):
                holder = (
                    target.value
                    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice)
                    else target
                )
                text = ast.unparse(holder)
                is_end = isinstance(node.value, ast.Subscript) and ast.unparse(node.value.value) == text
                if is_end or not any(
                    type(inner) is type(holder) and ast.unparse(inner) == text for inner in ast.walk(node.value)
                ):
                    yield text


def is_started_anew(module: Module, place: Collecting, body: list[ast.stmt]) -> bool:
    """Does each round begin with an empty collection, or is it something that forgets?"""
    text, started = unparsed(base(place.into)), _started(module, body)
    return (
        any(statement is not place.place for statement in started.assigned.get(text, ()))
        or text in started.cleared
        or any(text in deleted for deleted in started.deleted)
    )


class _Started(NamedTuple):
    """What some statements assign, clear and delete, as text."""

    assigned: dict[str, list[ast.stmt]]
    cleared: set[str]
    deleted: set[str]


@remembered
def _started(module: Module, body: list[ast.stmt]) -> _Started:
    found = _Started({}, set(), set())
    for statement in [
        statement
        for outer in body
        for statement in ([outer] if not isinstance(outer, (ast.With, ast.Try)) else [outer, *outer.body])
    ]:
        targets = (
            statement.targets
            if isinstance(statement, ast.Assign)
            else [statement.target]
            if isinstance(statement, (ast.AnnAssign, ast.For))
            else []
        )
        for target in targets:
            for part in getattr(target, "elts", [target]):
                found.assigned.setdefault(unparsed(part), []).append(statement)
        call = statement.value if isinstance(statement, ast.Expr) else None
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr in ("clear", "reset")
            and not call.args
            and not call.keywords
        ):
            found.cleared.add(unparsed(call.func.value))
        elif isinstance(statement, ast.Delete):
            found.deleted.update(map(unparsed, statement.targets))
    return found
