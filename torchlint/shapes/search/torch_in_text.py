"""What a file says of torch by its names, wherever that stands: for code that no run comes to."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterator
from typing import Any

from torchlint.shapes.language.walking import children, last_word, walk

_ASKING = (  # in a test: it may be for other versions, or with an extension
    "hasattr",
    "getattr",
    "version",
    "available",
    "skip",
    "suppress",
    "raises",
)
_KINDS = (ast.Attribute, ast.Call, ast.Import, ast.ImportFrom)


class TorchInText:
    """The names by which a file calls things of torch, wherever they stand, and what it says without asking first
    whether that is there.
    """

    def __init__(self, tree: ast.Module):
        found: dict[str, set[str]] = {}
        for node in walk(tree):
            for name, meant in _bound(node):
                found.setdefault(name, set()).add(meant)
        things = ((name, _thing(next(iter(meant)))) for name, meant in found.items() if len(meant) == 1)
        self._names = {name: thing for name, thing in things if thing is not None}
        self.nodes = [node for node in _unguarded(tree) if isinstance(node, _KINDS)] if self._names else []
        self.set = {word for node in walk(tree) for word in _changed(node)} if self._names else set()

    def thing(self, node: ast.expr) -> Any:
        """The thing of torch that an expression is: a module, a class, a function; None for all else."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id)
        module = self.thing(node.value) if isinstance(node, ast.Attribute) else None
        if not isinstance(module, types.ModuleType) or not isinstance(node, ast.Attribute):
            return None
        found = vars(module).get(node.attr)
        if isinstance(found, types.BuiltinFunctionType):
            return found  # which does not say where it is from
        home = getattr(found, "__name__" if isinstance(found, types.ModuleType) else "__module__", None) or ""
        return found if home.split(".")[0] == "torch" else None


def _changed(node: ast.AST) -> Iterator[str]:
    """The words of what is given an attribute, and that attribute: `nn.Conv2d.__init__ = mine`."""
    owner: ast.AST | None = None
    if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
        owner = node
    elif isinstance(node, ast.Call) and last_word(node.func) == "setattr" and node.args:
        owner = node.args[0]
    while isinstance(owner, (ast.Name, ast.Attribute)):
        yield last_word(owner)
        owner = getattr(owner, "value", None)


def _bound(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that a node gives a meaning, each with the dotted name that is imported, if it is one."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            first = alias.name.split(".")[0]
            yield alias.asname or first, alias.name if alias.asname else first
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name, "" if node.level else f"{node.module}.{alias.name}"
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id, ""
    elif isinstance(node, ast.arg):
        yield node.arg, ""
    elif isinstance(node, ast.MatchMapping):
        yield node.rest or "", ""
    elif isinstance(
        node, (ast.ExceptHandler, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.MatchAs, ast.MatchStar)
    ):
        yield node.name or "", ""


def _thing(name: str) -> Any:
    """A module that importing torch has made, or what stands in one."""
    module, _, last = name.rpartition(".")
    if name.split(".")[0] != "torch":
        return None
    return sys.modules[name] if name in sys.modules else vars(sys.modules.get(module, ast)).get(last)


def _unguarded(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a file, but for what is tried, or done with some versions only."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, ast.Try) and node.handlers:
            stack += [*node.orelse, *node.finalbody]
        elif not any(map(_asks, _conditions(node))):
            told = (getattr(node, "annotation", None), getattr(node, "returns", None))  # which nobody may evaluate
            stack += [child for child in children(node) if child not in told]


def _conditions(node: ast.AST) -> list[ast.expr]:
    """What decides whether the rest of a node is done, or may fail."""
    if isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert)):
        return [node.test]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return [item.context_expr for item in node.items]
    return list(getattr(node, "decorator_list", ()))


def _asks(condition: ast.expr) -> bool:
    words = (last_word(node).lower() for node in walk(condition))
    return any(asking in word for word in words for asking in _ASKING)
