"""What an imported function takes, read from its header alone: a file that nobody needs else is not parsed for it."""

from __future__ import annotations

import ast
import re
from itertools import islice

from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.text.surface import surface

_LONGEST = 4000  # characters of a header
_MOST_ENDS = 40  # lines of it that end in a colon
_CLASS_ENDS = re.compile(r"^\S", re.MULTILINE)
_INIT = re.compile(r"^[ \t]+def __init__\(", re.MULTILINE)


def imported_header(module: Module, name: ast.Name) -> tuple[ast.FunctionDef, bool] | None:
    """What `from tools import seed` in the same file brings, or the `__init__` of a class, and whether it is bound;
    None where it does not stand plainly in that file.
    """
    scope = name.at.lookup(name.id)
    bound = scope.bindings[name.id] if scope is not None else []
    if len(bound) != 1 or not isinstance(bound[0], ast.alias) or not isinstance(bound[0].up, ast.ImportFrom):
        return None
    return _header(module, bound[0])


@remembered
def _header(module: Module, alias: ast.alias) -> tuple[ast.FunctionDef, bool] | None:
    view, name, statement = module.world.view, alias.name, alias.up
    path = view.resolve(statement.module or "", statement.level, module.path)
    text = view.read(path) if path else None
    if path is None or text is None:
        return None
    near = surface(view.project, path)
    if name not in near.headers:
        near.headers[name] = _written(text, near.tops[name]) if name in near.tops else None
    return near.headers[name]


def _written(text: str, found: re.Match[str]) -> tuple[ast.FunctionDef, bool] | None:
    """The header of what begins there, or of its `__init__`."""
    if found[1] == "def":
        return _parsed(text, found.start(), False)
    end = _CLASS_ENDS.search(text, found.end())
    init = _INIT.search(text, found.end(), end.start() if end else len(text))
    return _parsed(text, init.start(), True) if init else None


def _parsed(text: str, start: int, is_bound: bool) -> tuple[ast.FunctionDef, bool] | None:
    """The function whose header begins there; lines that cannot be one are read on to the next that ends in a colon."""
    part = text[start : start + _LONGEST]
    for end in islice(re.finditer(r":[ \t]*(?:#.*)?\n", part), _MOST_ENDS):
        try:
            [function] = ast.parse(part[: end.start()].strip() + ": pass").body
        except (SyntaxError, ValueError):
            continue
        return (function, is_bound) if isinstance(function, ast.FunctionDef) else None
    return None
