"""What stands on the left of an assignment: names, attributes, items, and several of them at once."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

from torchlint.shapes.language import written_windows
from torchlint.shapes.language.expressions import expression
from torchlint.shapes.language.program import CompiledScope, Frame


def store(node: ast.expr, scope: CompiledScope) -> Callable[[Frame, Any], None]:
    """The closure that assigns to a target."""
    match node:
        case ast.Name(id=name):
            keep = store_name(name, scope)
            return keep if scope.program.watch is None else scope.program.watch.bound(node, keep, scope)
        case ast.Attribute(value=value, attr=name):
            owner, place = expression(value, scope), scope.place(node)

            def set_attribute(frame, value):
                target = owner(frame)
                frame.machine.place = place
                frame.machine.set(target, name, value)

            return set_attribute
        case ast.Subscript(value=value, slice=index) if scope.takes_globals(value):
            name = expression(index, scope)
            return lambda frame, value: frame.give_global(name(frame), value)
        case ast.Subscript(value=value, slice=index):
            owner, key, place = expression(value, scope), expression(index, scope), scope.place(node)
            window = written_windows.compiled(node, partial(expression, scope=scope))

            def set_item(frame, value):
                target, at = owner(frame), key(frame)
                frame.machine.place = place
                frame.machine.put(target, at, value)

            def set_window(frame, value):
                if frame.machine.changes.running:
                    frame.machine.changes.ask([window], frame)
                set_item(frame, value)

            return set_item if window is None else set_window
        case ast.Starred(value=value):
            return store(value, scope)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            targets = [store(e, scope) for e in elts]
            star = next((i for i, e in enumerate(elts) if isinstance(e, ast.Starred)), None)
            place = scope.place(node)

            def unpack(frame, value):
                frame.machine.place = place
                for target, item in zip(targets, frame.machine.unpack(value, len(targets), star)):
                    target(frame, item)

            return unpack
    raise SyntaxError(f"cannot assign to {type(node).__name__}")


def store_name(name: str, scope: CompiledScope) -> Callable[[Frame, Any], None]:
    """The closure that assigns to a name."""
    hops = 0 if scope.kind == "module" else scope.find(name)
    if hops == 0:

        def set_local(frame, value):
            frame.vars[name] = value

        return set_local
    if hops is None:
        return lambda frame, value: frame.give_global(name, value)

    def set_free(frame, value):
        for _ in range(hops):
            frame = frame.parent
        frame.vars[name] = value

    return set_free


def read_name(word: str, at: ast.AST, scope: CompiledScope) -> Callable[[Frame], Any]:
    """The closure that reads a name, as if it stood there."""
    return expression(ast.copy_location(ast.Name(word, ast.Load()), at), scope)


def read_or_none(word: str, at: ast.AST, scope: CompiledScope) -> Callable[[Frame], Any]:
    """The same where it is only compared: a variable of a function without a value is like no other, nor like itself
    before.
    """
    if scope.kind == "module" or scope.find(word) != 0:
        return read_name(word, at, scope)

    def read(frame):
        held = frame.vars
        return held[word] if word in held else object()

    return read
