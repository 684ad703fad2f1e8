"""What a program gives to the attributes of objects of some classes, and a function to its variables."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from torchlint.source.text.index import DEFINITIONS, FUNCTIONS, last_word
from torchlint.source.text.switched_off import says

_READING = ("hasattr", "getattr", "get", "pop")  # what may be called with the name of an attribute
BY_HAND = ("setattr", "__setattr__", "__dict__", "__getattr__", "__getattribute__", "vars")
_BY_NAME = ("setattr", "__setattr__")


def assigned(tree: ast.Module, name: str, family: frozenset[str]) -> Iterator[tuple[ast.expr | None, int]]:
    """What a program gives to an attribute of objects of some classes, and in which line; None is what nobody knows."""
    followed: set[ast.AST] = set()
    left: list[tuple[ast.AST, str, str]] = [(tree, "", "")]  # with the class and the `self` of the method around it
    while left:
        node, owner, itself = left.pop()
        if isinstance(node, ast.ClassDef):
            owner, itself = node.name, ""
            if owner in family:
                yield from ((None, part.lineno) for part in node.body if name in _defined(part))
                plain = (part for part in node.body if isinstance(part, ast.Assign))
                yield from ((part.value, part.lineno) for part in plain if name in map(last_word, part.targets))
        elif isinstance(node, FUNCTIONS) and owner and not itself:
            itself = node.args.args[0].arg if node.args.args else ""
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if len(targets) == 1 and isinstance(targets[0], ast.Attribute) and targets[0].attr == name:
                followed.add(targets[0])
                if not _is_of_another(targets[0], owner, itself, family):
                    yield node.value, node.lineno
        elif isinstance(node, ast.Attribute) and node.attr == name and not isinstance(node.ctx, ast.Load):
            if node not in followed and not _is_of_another(node, owner, itself, family):
                yield None, node.lineno
        elif isinstance(node, ast.Call) and last_word(node.func) not in _READING:
            if any(isinstance(one, ast.Constant) and one.value == name for one in node.args):
                yield None, node.lineno
        left += [(part, owner, itself) for part in ast.iter_child_nodes(node)]


def _defined(part: ast.stmt) -> tuple[str, ...]:
    """The names of what is no plain value in a class."""
    if isinstance(part, ast.AnnAssign):
        return (last_word(part.target),)
    return (part.name,) if isinstance(part, DEFINITIONS) else ()


def _is_of_another(node: ast.Attribute, owner: str, itself: str, family: frozenset[str]) -> bool:
    """Is it `self.name` in a class that is none of some?"""
    return bool(itself) and isinstance(node.value, ast.Name) and node.value.id == itself and owner not in family


def said_anywhere(tree: ast.Module, name: str) -> Iterator[tuple[ast.expr | None, int]]:
    """What a program says under a name where anything may come to be an attribute: also by keywords, or in texts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == name:
            yield node.value, node.value.lineno
        elif isinstance(node, ast.Constant) and says(node, name):
            yield None, node.lineno


def sets_by_any_name(tree: ast.Module, family: frozenset[str]) -> str:
    """Does a program set attributes by names that are put together? "own" of objects of some classes, "others" of what
    may be anything.
    """
    found = ""
    left: list[tuple[ast.AST, str]] = [(tree, "")]
    while left:
        node, owner = left.pop()
        if isinstance(node, ast.ClassDef):
            owner = node.name
        of = "own" if owner in family else ""
        if isinstance(node, ast.Call) and last_word(node.func) in _BY_NAME and node.args:
            if not (len(node.args) > 1 and isinstance(node.args[1], ast.Constant)):
                found = (of if last_word(node.args[0]) == "self" else "others") or found
        elif isinstance(node, ast.Call) and last_word(node.func) == "vars" and node.args:
            found = of or found
        elif isinstance(node, ast.Attribute) and node.attr == "__dict__":
            found = (of if last_word(node.value) == "self" else "others") or found
        elif isinstance(node, DEFINITIONS) and node.name.startswith(("__getattr", "__setattr")):
            found = of or found
        if found == "own":
            return found
        left += [(part, owner) for part in ast.iter_child_nodes(node)]
    return found


def bound(
    function: ast.FunctionDef | ast.AsyncFunctionDef, nodes: Sequence[ast.AST]
) -> dict[str, list[ast.expr] | None]:
    """All that is assigned to each name in a function, of which these are the parts, from without to within; None where
    something else binds it.
    """
    found: dict[str, list[ast.expr]] = {}
    otherwise: set[str | None] = set()
    followed: set[ast.AST] = set()
    of_function = {*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs}
    for node in nodes:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if len(targets) == 1 and isinstance(targets[0], ast.Name):
                followed.add(targets[0])
                found.setdefault(targets[0].id, []).append(node.value)
        elif isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load) and node not in followed:
                otherwise.add(node.id)
        elif isinstance(node, ast.arg):
            if node not in of_function:
                otherwise.add(node.arg)
        elif node is not function:
            otherwise.update((getattr(node, "asname", None), getattr(node, "name", None)))
            otherwise.update(node.names if isinstance(node, (ast.Global, ast.Nonlocal)) else ())
    return {**found, **{name: None for name in otherwise if name is not None}}
