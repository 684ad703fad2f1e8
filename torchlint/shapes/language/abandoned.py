"""Statements of a file that do not run to their end: what they would have set is unknown, and no older value stays.

A statement sets names, fills containers, and gives objects new attributes, itself or through the functions and methods
that it calls. Which of those it came to, nobody asks: whatever it has hold of may be another one afterwards.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from torch import nn

from torchlint.shapes.core.budget import work
from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language.cut_short import CHANGING, CONTAINERS, is_open, loosen
from torchlint.shapes.language.program import CompiledScope, Frame, Program
from torchlint.shapes.language.statements import ABANDONED, Run, abandon, statement
from torchlint.shapes.language.targets import store
from torchlint.shapes.language.walking import children, is_endless, walk

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
_SEVERAL = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)
_DEPTH = 3  # how far into containers of containers
_MISSING = object()


def whole(node: ast.stmt, scope: CompiledScope) -> Run:
    """The closure of one of a file's own statements; a later one never sees what stood there before it failed."""
    if isinstance(node, _DEFINITIONS):
        return statement(node, scope)
    targets = []
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = [store(t, scope) for t in (node.targets if isinstance(node, ast.Assign) else [node.target])]
    if not isinstance(node, _SEVERAL) and is_endless(node):
        return _gap(targets, "what a statement of very many parts makes")
    run = statement(node, scope)
    names = tuple(CompiledScope("function", [node], None, scope.program).bound) if isinstance(node, _SEVERAL) else ()
    if not names and scope.program.has_gap(node):
        return _gap(targets, "what is left to whoever does the exercise")

    def step(frame: Frame):
        before = [frame.vars.get(name, _MISSING) for name in names]
        try:
            return run(frame)
        except BaseException as error:
            if isinstance(error, Exception) and frame.machine.goes_on(error):
                loosen_reach(node, frame, scope.program)
                return abandon(node, scope, frame, error)
            unknown = Unknown(ABANDONED)
            for name, value in zip(names, before):
                if value is not _MISSING and frame.vars.get(name, _MISSING) is value:
                    frame.vars[name] = unknown
            for target in targets:
                _set(target, frame, unknown)
            failure = frame.machine.failures.get(id(error))
            given = (*failure.args, *failure.kwargs.values()) if failure is not None else ()
            loosen_reach(node, frame, scope.program, frozenset(map(id, given)))
            raise

    return step


def _gap(targets: list, reason: str) -> Run:
    def step(frame: Frame) -> None:
        for target in targets:
            _set(target, frame, Unknown(reason))

    return step


def _set(target, frame: Frame, value: Unknown) -> None:
    try:
        target(frame, value)
    except Exception:
        pass  # what would have held it is missing, too


class _Effects:
    """What some code changes, by name: variables that it declares global, containers, attributes of objects."""

    def __init__(self, nodes: Iterable[ast.AST]):
        self.globals: set[str] = set()
        self.filled: set[str] = set()
        self.attributes: set[str] = set()
        self.filled_attributes: set[str] = set()
        for node in nodes:
            match node:
                case ast.Global(names=names):
                    self.globals.update(names)
                case ast.Attribute(ctx=ast.Store(), attr=name):
                    self.attributes.add(name)
                case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in CHANGING:
                    self._fill(owner)
                case ast.Subscript(value=owner, ctx=ast.Store()) | ast.AugAssign(target=owner):
                    self._fill(owner)

    def _fill(self, owner: ast.expr) -> None:
        while isinstance(owner, (ast.Subscript, ast.Call)):
            owner = owner.value if isinstance(owner, ast.Subscript) else owner.func
        if isinstance(owner, ast.Name):
            self.filled.add(owner.id)
        elif isinstance(owner, ast.Attribute):
            self.filled_attributes.add(owner.attr)


def _in_functions(node: ast.AST) -> Iterator[ast.AST]:
    """What stands in functions that may run after the objects were made."""
    stack = children(node)
    while stack:
        one = stack.pop()
        if not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            stack += children(one)
        elif getattr(one, "name", "") != "__init__":
            yield from walk(one)


def _given(node: ast.AST) -> Iterator[str]:
    """The variables that stand in arguments of calls."""
    waiting: list[tuple[ast.AST, bool]] = [(node, False)]
    while waiting:
        one, inside = waiting.pop()
        if inside and isinstance(one, ast.Name):
            yield one.id
        called = one.func if isinstance(one, ast.Call) else None
        for child in children(one):
            waiting.append((child, inside if child is called else inside or called is not None))


@lru_cache(maxsize=64)
def _effects_of_functions(node: ast.Module | ast.ClassDef) -> _Effects:
    return _Effects(_in_functions(node))


def loosen_reach(node: ast.stmt, frame: Frame, program: Program, refused: frozenset[int] = frozenset()) -> None:
    """Let nothing be certain that a statement may have changed through others: globals, containers, and attributes of
    objects that the functions and methods it calls have hold of. What it sets itself is `statements.unset_targets`.
    What torch `refused` it has not filled, and its refusal is judged by that.
    """
    inside = list(walk(node))
    names = {one.id for one in inside if isinstance(one, ast.Name)}
    effects = [_Effects(inside)]
    if any(isinstance(one, ast.Call) for one in inside):
        effects.append(_effects_of_functions(program.tree))
    filled = set(_given(node)).union(*(e.filled for e in effects))
    work.spend(len(names) + len(filled))  # of steps there may be none left, which is why it failed
    for name in set().union(*(e.globals for e in effects)):
        if name in frame.vars:
            frame.vars[name] = Unknown(ABANDONED)
    for name in filled:
        _loosen(frame.vars.get(name), refused)
    for value in [frame.vars.get(name) for name in names]:
        if frame.machine.is_own(value) and not isinstance(value, type):
            _loosen_object(value, frame, effects, refused)


def _loosen_object(value: Any, frame: Frame, effects: list[_Effects], refused: frozenset[int]) -> None:
    codes = [frame.machine.codes.get(kind) for kind in type(value).__mro__]
    effects = [*effects, *(_effects_of_functions(code.node) for code in codes if code is not None)]
    held = getattr(value, "__dict__", {})
    modules = held.get("_modules", {}) if isinstance(value, nn.Module) else {}
    for name in set().union(*(e.attributes for e in effects)):
        for fields in (held, modules):
            if name in fields:
                del fields[name]
                held[name] = Unknown(ABANDONED)
    for name in set().union(*(e.filled_attributes for e in effects)):
        _loosen(held.get(name), refused)


def _loosen(container: Any, refused: frozenset[int]) -> None:
    found, seen = [(container, _DEPTH)], set()
    for one, depth in found:
        if isinstance(one, CONTAINERS) and depth and id(one) not in refused and id(one) not in seen:
            seen.add(id(one))  # the same may be held in many places, and by itself
            parts = list(one.values() if isinstance(one, dict) else one)
            found += [(part, depth - 1) for part in parts if isinstance(part, CONTAINERS)]
            if not is_open(one):
                loosen(one)
