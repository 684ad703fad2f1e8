"""Private names of classes as Python has them: `self.__size` in `class Net` is `_Net__size`, so that a subclass may
have its own, and `hasattr(self, "__size")` is False.
"""

from __future__ import annotations

import ast
import re

_FULL = re.compile(r"(?<=\.)_[A-Z]\w*?(?=__[a-z])")
_NAMES = re.compile(r"\b__\w+")


def mangle(tree: ast.Module, text: str) -> None:
    """Give the private names in the classes of a tree their full names."""
    if not any(_is_private(name) for name in set(_NAMES.findall(text))):
        return
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, owner = waiting.pop()
        if owner and not isinstance(node, ast.alias):
            _rename(node, owner)
        if isinstance(node, ast.ClassDef):
            waiting += ((part, owner) for part in (*node.decorator_list, *node.bases, *node.keywords))
            waiting += ((part, node.name.lstrip("_")) for part in node.body)
        else:
            waiting += ((child, owner) for child in ast.iter_child_nodes(node))


def _rename(node: ast.AST, owner: str) -> None:
    for field in ("attr", "id", "arg", "name"):
        name = getattr(node, field, None)
        if isinstance(name, str) and _is_private(name):
            setattr(node, field, f"_{owner}{name}")
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        node.names = [f"_{owner}{name}" if _is_private(name) else name for name in node.names]


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__") and "." not in name


def as_written(text: str) -> str:
    """`self.__size` again, for people."""
    return _FULL.sub("", text)
