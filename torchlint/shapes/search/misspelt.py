"""Names that torch does not have, in code that no run came to: `nn.Paramter`, `from torch.nn import Functional`.

Only what is nearly one of its names is said: what an extension of torch adds, or another version has, is called
otherwise than all that is there.
"""

from __future__ import annotations

import ast
import sys
import types
import warnings
from collections.abc import Iterator
from difflib import get_close_matches
from importlib.util import find_spec

from torchlint.facts.deprecated import DEPRECATED
from torchlint.facts.removed import REMOVED
from torchlint.shapes.core.faults import Fault
from torchlint.shapes.language.program import Program
from torchlint.shapes.language.walking import children, last_word, walk, words_set_in

_NEAR = 0.75  # how much of two names is the same
_SHORT = 4  # letters that a name has at least, of which one may be wrong
_ASKING = ("hasattr", "getattr", "version", "skip")  # in a test or decorator: it may be for other versions
_KNOWN = frozenset(row.name for row in (*REMOVED, *DEPRECATED))  # rules of their own speak of these
_MOST = 8  # said of one file


def misspelt(program: Program) -> Iterator[Fault]:
    """A fault for each name of torch that is nearly one it has."""
    if "/torch/" in program.path.replace("\\", "/"):
        return  # its own files may be those of another version
    names, own = _names_of_torch(program.tree), words_set_in(program.tree)
    nodes = list(_unguarded(program.tree))
    found = [missing for node in nodes for missing in _missing(node, names) if missing[2] not in own]
    for node, module, name in found[:_MOST]:
        near = _near(module, name)
        if near and f"{module.__name__}.{name}" not in _KNOWN:
            says = (
                f"cannot import name '{name}' from '{module.__name__}'"
                if isinstance(node, ast.alias)
                else f"module '{module.__name__}' has no attribute '{name}'"
            )
            yield Fault("operation", program.path, program.span(node), says, f"did you mean `{near}`?")


def _names_of_torch(tree: ast.Module) -> dict[str, types.ModuleType]:
    """The names that stand for one of torch's modules wherever they stand in a file."""
    found: dict[str, set[str]] = {}
    for node in walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                found.setdefault(name, set()).add(alias.name if alias.asname else name)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                found.setdefault(alias.asname or alias.name, set()).add(f"{node.module}.{alias.name}")
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.setdefault(node.id, set()).add("")
        elif isinstance(node, (ast.arg, ast.ExceptHandler, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = node.arg if isinstance(node, ast.arg) else node.name
            found.setdefault(name or "", set()).add("")
        elif isinstance(node, (ast.MatchAs, ast.MatchStar, ast.MatchMapping)):
            name = node.rest if isinstance(node, ast.MatchMapping) else node.name
            found.setdefault(name or "", set()).add("")
    modules = ((name, _module(next(iter(meant)))) for name, meant in found.items() if len(meant) == 1)
    return {name: module for name, module in modules if module is not None}


def _module(name: str) -> types.ModuleType | None:
    """A module that importing torch has made."""
    module = sys.modules.get(name) if name.split(".")[0] == "torch" else None
    return module if isinstance(module, types.ModuleType) else None


def _unguarded(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a file, but for what is tried, or done with some versions only."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, ast.Try) and node.handlers:
            stack += [*node.orelse, *node.finalbody]
        elif not any(map(_asks, _conditions(node))):
            stack += children(node)


def _conditions(node: ast.AST) -> list[ast.expr]:
    """What decides whether the rest of a node is done."""
    if isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert)):
        return [node.test]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return [item.context_expr for item in node.items]  # `suppress`, `raises`
    return list(getattr(node, "decorator_list", ()))


def _asks(condition: ast.expr) -> bool:
    words = (last_word(node).lower() for node in walk(condition))
    return any(asking in word for word in words for asking in (*_ASKING, "suppress", "raises"))


def _missing(
    node: ast.AST, names: dict[str, types.ModuleType]
) -> Iterator[tuple[ast.Attribute | ast.alias, types.ModuleType, str]]:
    """The names of a module of torch that a node says, and that are not there."""
    if isinstance(node, ast.Attribute):
        module = _meant(node.value, names)
        if module is not None and not _has(module, node.attr):
            yield node, module, node.attr
    elif isinstance(node, ast.ImportFrom) and not node.level and (module := _module(node.module or "")) is not None:
        for alias in node.names:
            if alias.name != "*" and not _has(module, alias.name):
                yield alias, module, alias.name
    elif isinstance(node, ast.Import):
        for alias in node.names:
            yield from _missing_parts(alias)


def _missing_parts(alias: ast.alias) -> Iterator[tuple[ast.alias, types.ModuleType, str]]:
    """`torch.nn.Functional`: the first part that is not there."""
    first, *parts = alias.name.split(".")
    module = _module(first)
    for part in parts:
        if module is None:
            return
        if not _has(module, part):
            yield alias, module, part
            return
        module = _module(f"{module.__name__}.{part}")


def _meant(node: ast.expr, names: dict[str, types.ModuleType]) -> types.ModuleType | None:
    """The module of torch that an expression is."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    module = _meant(node.value, names) if isinstance(node, ast.Attribute) else None
    found = vars(module).get(node.attr) if module is not None and isinstance(node, ast.Attribute) else None
    return found if isinstance(found, types.ModuleType) and found.__name__.split(".")[0] == "torch" else None


def _has(module: types.ModuleType, name: str) -> bool:
    """Has a module a name, or a part of that name that is not imported yet?"""
    if name.startswith("_") or name in vars(module):
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return hasattr(module, name) or find_spec(f"{module.__name__}.{name}") is not None
        except (ImportError, ValueError):
            return False


def _near(module: types.ModuleType, name: str) -> str:
    """The name that is meant, if there is one that is nearly the same."""
    there = [one for one in dir(module) if not one.startswith("_")]
    same = [one for one in there if one.lower() == name.lower()]
    near = same or len(name) >= _SHORT and get_close_matches(name, there, 1, _NEAR)
    return near[0] if near else ""
