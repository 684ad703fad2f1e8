"""What an `except` clause does about an error, by its text: hides it, shows it, or has an answer to it."""

from __future__ import annotations

import ast


def throws_away(nodes: list[ast.stmt]) -> bool:
    """Whether statements compute what nobody uses: `_ = a + b` and `x.view(-1)` under `try` show that they fail.

    What is to be printed was meant to be there.
    """
    return all(
        isinstance(node, ast.Expr)
        and not (isinstance(node.value, ast.Call) and _is_named(node.value.func, "print"))
        or isinstance(node, ast.Assign)
        and all(isinstance(t, ast.Name) and t.id.startswith("_") for t in node.targets)
        for node in nodes
    )


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def shows(handler: ast.ExceptHandler) -> bool:
    """A handler of certain kinds of errors that prints them."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return (
        handler.name is not None
        and all(isinstance(kind, ast.Name) for kind in kinds)
        and not any(_is_named(kind, name) for kind in kinds for name in ("Exception", "BaseException"))
        and any(_is_named(n, handler.name) for s in handler.body for n in ast.walk(s))
    )


def expects(handler: ast.ExceptHandler) -> bool:
    """A handler of nothing but kinds that say what may be wrong, as ValueError does: its author knows that it comes.

    What torch refuses is a RuntimeError, and whoever catches that, or all, may hide what nobody expected.
    """
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return all(isinstance(kind, ast.Name) and kind.id not in _ANY for kind in kinds)


_ANY = frozenset(("Exception", "BaseException", "RuntimeError"))
_SHOWING = frozenset("debug info warning error exception critical log print_exc warn exit write".split())


def has_an_answer(nodes: list[ast.stmt], for_some: bool) -> bool:
    """A handler that only passes, prints, logs or raises hides an error; one that computes has an answer to it.

    One that passes in a function or a loop says that what it tries may fail for some: callers, or rounds.
    """
    return not all(_tells(node) or _goes_on(node) for node in nodes) or for_some and not any(map(_tells, nodes))


def _tells(node: ast.stmt) -> bool:
    match node:
        case ast.Raise() | ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=attr))):
            return attr in _SHOWING
        case _:
            return False


def _goes_on(node: ast.stmt) -> bool:
    match node:
        case ast.Pass() | ast.Continue() | ast.Break() | ast.Expr(value=ast.Constant()):
            return True
        case _:
            return False
