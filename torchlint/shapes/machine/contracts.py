"""A check of the program's own that fails: whether its conditions are about sizes and names it chose, and their values.

Some checks are there to fail: for an option that must be given, a file that is missing, a machine without a GPU.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import Any

import torch

from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language import program
from torchlint.shapes.language.program import Frame, Place
from torchlint.shapes.libraries.argparse import Namespace

KINDS = (ValueError, AssertionError, RuntimeError, TypeError, IndexError, KeyError, Warning, UserWarning)
_ENVIRONMENT = re.compile(
    r"available|exists|isfile|isdir|is_file|is_dir|environ|getenv|argv|version|platform|world_size|rank|device_count"
    r"|hasattr|callable|is_initialized|isnan|isinf|isfinite|allclose|equal\b|nan\b|NotImplemented|abstract|is_installed"
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
VALUES = 4  # that are shown


def broken(machine: Any, frame: Frame, error: Exception) -> str | None:
    """The values that broke a check of the program, as a text (`image = 50, patch = 16`), where it is one on values
    that are known; else None.
    """
    if type(error) not in KINDS or machine.place is None or _is_handling(frame):
        return None
    tests = _tests(machine.place)
    if not tests or any(_ENVIRONMENT.search(ast.unparse(test)) for test in tests):
        return None
    shown: dict[str, Any] = {}
    if any(_is_chosen(machine, frame, node) for test in tests for node in ast.walk(test)):
        return None
    for test in tests:
        for text, value in _values(machine, frame, test):
            if value is None or type(value) is Unknown or type(value) in (str, list, tuple, dict) and not value:
                return None  # an option that nobody has set, or something nobody knows
            if text != "__name__" and (type(value) in (int, float, str) or isinstance(value, torch.Size)):
                shown[text] = tuple(value) if isinstance(value, torch.Size) else value
    if not shown:
        return None
    return ", ".join(f"{text} = {value!r}" for text, value in list(shown.items())[:VALUES])


def _is_chosen(machine: Any, frame: Frame, node: ast.AST) -> bool:
    """`options.split`, a word, or `options.train` that nobody sets: who runs the program chooses among several, and a
    default may be no choice here.
    """
    if not isinstance(node, ast.Attribute) or not isinstance(_value(machine, frame, node.value), Namespace):
        return False
    value = _value(machine, frame, node)
    return type(value) is str or value is False


def _is_handling(frame: Frame | None) -> bool:
    while frame is not None:
        if frame.handling is not None:
            return True
        frame = frame.parent
    return False


def _tests(place: Place) -> tuple[ast.expr, ...]:
    """The conditions under which a `raise` or `assert` is reached: those around it, and those before it that leave."""
    source = program.source_of(place[0])
    return _tests_in(source, place) if source is not None else ()


@lru_cache(maxsize=256)
def _tests_in(source: program.Program, place: Place) -> tuple[ast.expr, ...]:
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.Raise, ast.Assert)) and node.lineno == place[1].line and source.span(node) == place[1]:
            found = [node.test] if isinstance(node, ast.Assert) else []
            return (*found, *_on_the_way(source.tree.body, node))
    return ()


def _on_the_way(block: list[ast.stmt], wanted: ast.stmt) -> list[ast.expr]:
    """The tests in a block of statements on the way to one of them; a function begins anew."""
    found: list[ast.expr] = []
    for statement in block:
        if statement is wanted:
            return found
        if any(node is wanted for node in ast.walk(statement)):
            if isinstance(statement, _DEFINITIONS):
                found = []
            elif isinstance(statement, (ast.If, ast.While)):
                found.append(statement.test)
            elif isinstance(statement, ast.Match):
                found.append(statement.subject)
            for part in ("body", "orelse", "finalbody"):
                for inner in (getattr(statement, part, None) or (),):
                    if any(node is wanted for one in inner for node in ast.walk(one)):
                        return [*found, *_on_the_way(inner, wanted)]
            for case in getattr(statement, "cases", ()):
                if any(node is wanted for one in case.body for node in ast.walk(one)):
                    return [*found, *_on_the_way(case.body, wanted)]
            return found
        if isinstance(statement, ast.If) and _leaves(statement):
            found += _chain(statement)
    return found


def _leaves(statement: ast.If) -> bool:
    """Whether a branch ends the function, so that what follows is for the other values."""
    return isinstance(statement.body[-1], (ast.Return, ast.Raise, ast.Continue))


def _chain(statement: ast.If) -> list[ast.expr]:
    found = [statement.test]
    while len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If):
        statement = statement.orelse[0]
        found.append(statement.test)
    return found


def _values(machine: Any, frame: Frame, test: ast.expr) -> list[tuple[str, Any]]:
    """The names, attributes and items in a condition, with what they are."""
    found, stack = [], [test]
    while stack:
        node = stack.pop()
        value = _value(machine, frame, node)
        if isinstance(node, (ast.Name, ast.Attribute)) or value is not ...:
            found.append((ast.unparse(node), value))
        elif isinstance(node, ast.Call):
            stack += [*node.args, *(k.value for k in node.keywords)]
            if isinstance(node.func, ast.Attribute):
                stack.append(node.func.value)
        elif not isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp, ast.Lambda)):
            stack += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    return found[::-1]


def _value(machine: Any, frame: Frame, node: ast.expr) -> Any:
    if isinstance(node, ast.Name):
        one: Frame | None = frame
        while one is not None:
            if node.id in one.vars:
                return one.vars[node.id]
            one = one.parent
        return frame.globals.get(node.id, machine.builtin(node.id))
    if isinstance(node, ast.Attribute):
        owner = _value(machine, frame, node.value)
        if isinstance(owner, torch.Tensor) and node.attr == "shape":
            return owner.shape
        held = getattr(owner, "__dict__", {})
        return held[node.attr] if node.attr in held else owner if type(owner) is Unknown or owner is None else ...
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):  # `vars(args)["folder"]`
        owner = _value(machine, frame, node.value)
        return owner.get(node.slice.value, ...) if type(owner) is dict else ...
    return ...
